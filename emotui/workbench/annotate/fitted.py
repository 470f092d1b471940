"""Suggestions fitted to an annotator's own answers: heads over the embedded model's sentence embeddings.

Heads are logistic regressions with a ridge (one label: a softmax, several: one each), and ridge regressions of numbers.
They are fitted to answers given blind by this annotator alone. Of texts that are answered the source says what heads
fitted without them (in folds) say, so it may be compared with the answers; of the others what heads fitted to all say.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import msgspec

from emotui import __version__
from emotui.backends.host import Cancelled, IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tables import number_of
from emotui.tasks.asking import embedded
from emotui.tasks.parts import shared_by
from emotui.workbench.annotate.answers import Answer
from emotui.workbench.annotate.others import given_answers
from emotui.workbench.annotate.scheme import TEXT, Scheme
from emotui.workbench.annotate.service import Scoring
from emotui.workbench.progress import OnProgress, RunProgress
from emotui.workbench.runs.elsewhere import FILE, free_id
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import ELSEWHERE, scored
from emotui.workbench.runs.states import signed
from emotui.workbench.texts import stored_samples

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

LEAST = 20
"""Answers that heads are fitted to at least."""

FOLDS = 5
MOST = 20_000
"""Texts that something is said of: those answered, then those nearest to the top of the file."""

_RIDGE = 0.3
"""Of .03, .1, .3, 1 and 3 the best for 40 to 1,000 texts of GoEmotions' dev part with one of ten labels each."""

_AT_ONCE = 256
_KINDS = {"labels": "labels", "rephrase": "label", "values": "values"}

Embed = Callable[[Sequence[str]], "np.ndarray"]


class Fitted(msgspec.Struct, frozen=True):
    """What came of it. `run`: the source's id; `n`: answers that it is fitted to; `texts`: of which it says something.

    `figure`: `right`, the share of answered texts of which heads fitted without them say exactly the answer, or `mae`,
    the mean distance of numbers; `value`, and `usual`: the same of the most frequent answer (of numbers the mean).
    """

    run: str
    source: str
    n: int
    texts: int
    figure: str
    value: float
    usual: float

    @property
    def told(self) -> str:
        """All of it in a line."""
        fitted = f"{self.source}, of {self.n} answers:"
        if self.figure == "mae":
            return f"{fitted} off by {self.value:.2f} where unseen, the mean by {self.usual:.2f}"
        return f"{fitted} right {self.value:.0%} of those unseen, the usual answer {self.usual:.0%}"


def can_fit(dataset: Dataset, scheme: Scheme) -> bool:
    """Whether a scheme asks for labels or numbers of whole texts, in a dataset that is read as texts with these."""
    kind = _KINDS.get(dataset.task)
    groups = scheme.of(TEXT)
    return kind is not None and any(group.scale if kind == "values" else group.labels for group in groups)


def is_fitted(run: Run) -> bool:
    """Whether a source is of heads fitted here."""
    options = run.config.get("options")
    return isinstance(options, dict) and "fitted" in options


def source_of(store: Store, dataset: Dataset, annotator: str) -> Run | None:
    """What heads fitted to an annotator's answers say; None where none are fitted."""
    mark = _identity(dataset, annotator)
    return next((one for one in store.runs.all(dataset.dataset) if one.identity == mark), None)


def _identity(dataset: Dataset, annotator: str) -> str:
    content: list[object] = ["fitted here", dataset.dataset, dataset.task, annotator]
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()


_embedded: "WeakKeyDictionary[Store, dict[int, np.ndarray]]" = WeakKeyDictionary()


def refit(
    store: Store,
    dataset: Dataset,
    scheme: Scheme,
    annotator: str,
    *,
    embed: Embed | None = None,
    on_progress: OnProgress = lambda progress: None,
    cancelled: IsCancelled | None = None,
) -> Fitted:
    """Fit heads to what an annotator answered so far, and let their source say something of all texts.

    A second time the same source says what the new heads say.

    Args:
        embed: texts to (n, d); None: the embedded model, which is loaded where texts are new.

    Raises:
        BadInput: the scheme asks for nothing of whole texts, or there are too few answers, or only one kind of them.
        Cancelled: nothing is changed then.
    """
    import numpy as np

    if not can_fit(dataset, scheme):
        raise BadInput(f"heads are fitted to labels and numbers of whole texts, and {dataset.name} asks for none")
    kind = _KINDS[dataset.task]
    answers = {at: one.blind for at, one in given_answers(store, dataset).get(annotator, {}).items()}
    asked = _Asked(scheme, kind, answers.values())
    answers = {at: answer for at, answer in answers.items() if asked.says(answer)}
    if len(answers) < LEAST:
        raise BadInput(
            f"{annotator} has answered {number_of(len(answers), 'text')} of {dataset.name}: "
            f"heads are fitted from {LEAST} on"
        )
    samples = dict(stored_samples(store, dataset, dataset.n))
    open_ones = [number for number in samples if number not in answers]
    numbers = [*answers, *open_ones][:MOST]
    vectors = _vectors(store, {at: samples[at].text or "" for at in numbers}, embed, on_progress, cancelled)
    there = [number for number in numbers if not np.isnan(vectors[number]).any()]
    own = [number for number in there if number in answers]
    x, y = np.stack([vectors[number] for number in own]), asked.targets([answers[number] for number in own])
    groups = [shared_by(getattr(samples[number], "meta", None) or {}) or number for number in own]
    held = np.full(y.shape, np.nan)
    for fold in sorted(set(folds := _folds(groups))):
        aside = np.array([each == fold for each in folds])
        if not aside.all():
            held[aside] = asked.predicted(x[~aside], y[~aside], x[aside])
    rest = [number for number in there if number not in answers]
    told = asked.predicted(x, y, np.stack([vectors[number] for number in rest])) if rest else np.zeros((0, y.shape[1]))
    if cancelled is not None and cancelled():
        raise Cancelled
    said = {at: asked.keys(row) for at, row in zip([*own, *rest], [*held, *told], strict=True)}
    run = _keep(store, dataset, annotator, said, samples)
    value, usual = asked.off(held, y), asked.off(np.broadcast_to(asked.usual(y), y.shape), y)
    return Fitted(run.run, run.model, len(own), len(said), asked.figure, value, usual)


class _Asked:
    """What of whole texts is asked for: labels, one or several, or numbers, as a column each."""

    def __init__(self, scheme: Scheme, kind: str, answers: Iterable[Answer]) -> None:
        self.kind = kind
        groups = scheme.of(TEXT)
        given = list(answers)
        names = [label.name for group in groups for label in group.labels]
        numbers = [group.name for group in groups if group.scale]
        self.names = list(dict.fromkeys(numbers if kind == "values" else [*names, *_labels_in(given)]))
        of_labels = [group for group in groups if group.labels]
        self.one = kind == "label" or (kind == "labels" and len(of_labels) == 1 and of_labels[0].exclusive)
        self.scales = {group.name: group.scale for group in groups if group.scale}
        self.figure = "mae" if kind == "values" else "right"

    def says(self, answer: Answer) -> bool:
        """Whether an answer says all that heads are fitted to."""
        if self.kind == "values":
            return bool(self.names) and all(name in answer.values for name in self.names)
        return bool(answer.labels) if self.one else answer.labels is not None

    def targets(self, answers: Sequence[Answer]) -> "Floats":
        """(n, columns): 1 where the label is given, or the numbers."""
        import numpy as np

        if self.kind == "values":
            return np.array([[answer.values[name] for name in self.names] for answer in answers])
        return np.array([[float(name in (answer.labels or ())) for name in self.names] for answer in answers])

    def predicted(self, x: "Floats", y: "Floats", of: "Floats") -> "Floats":
        """(m, columns): probabilities, or numbers on their scales, of the rows of `of` by heads fitted to x and y."""
        import numpy as np

        if self.kind == "values":
            told = ridge(x, y, of)
            low = np.array([self.scales[name].minimum for name in self.names])
            high = np.array([self.scales[name].maximum for name in self.names])
            return np.clip(told, low, high)
        return logistic(x, y, of, several=not self.one)

    def usual(self, y: "Floats") -> "Floats":
        """(columns,): the most frequent answer, or the mean numbers."""
        import numpy as np

        if self.kind == "values":
            mean: Floats = y.mean(axis=0)
            return mean
        return np.array(Counter(map(tuple, y)).most_common(1)[0][0])

    def off(self, told: "Floats", y: "Floats") -> float:
        """The figure of predictions: the share of rows that are exactly right, or the mean distance."""
        import numpy as np

        known = ~np.isnan(told).any(axis=1)
        if self.kind == "values":
            return float(np.abs(told - y)[known].mean())
        return float((self._decided(told[known]) == (y[known] > 0)).all(axis=1).mean())

    def _decided(self, p: "Floats") -> "np.ndarray":
        import numpy as np

        return p >= 0.5 if not self.one else p == np.max(p, axis=1, keepdims=True)

    def keys(self, row: "Floats") -> Mapping[str, Any]:
        """A row as the keys of records in files."""
        told = {name: round(float(value), 6) for name, value in zip(self.names, row, strict=True)}
        if self.kind == "values":
            return {"values": told}
        top = max(told, key=lambda name: told[name])
        if self.kind == "label":
            return {"label": top, "probs": told}
        return {"labels": told, "given": [top]} if self.one else {"labels": told}


def _labels_in(answers: Sequence[Answer]) -> list[str]:
    return sorted({label for answer in answers for label in answer.labels or ()})


def _folds(groups: Sequence[object]) -> list[int]:
    """The fold of each text; texts that share a passage have one."""
    return [hashlib.sha256(str(group).encode()).digest()[0] % FOLDS for group in groups]


# The heads.


def logistic(x: "Floats", y: "Floats", of: "Floats", *, several: bool, penalty: float = _RIDGE) -> "Floats":
    """Probabilities by logistic regression with a ridge of `penalty` / 2 times the squared weights, none of offsets.

    Args:
        x: (n, d); y: (n, k) of 0 and 1; of: (m, d).
        several: a yes and no for each label; else a softmax over them, of which each row of y has one.

    Returns: (m, k).
    """
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit, softmax

    ones = np.hstack([x, np.ones((len(x), 1))])
    shape = ones.shape[1], y.shape[1]
    squash = expit if several else lambda z: softmax(z, axis=1)

    def loss(flat: "Floats") -> "tuple[float, Floats]":
        w = flat.reshape(shape)
        z = ones @ w
        held = w.copy()
        held[-1] = 0
        if several:
            fit = np.logaddexp(0, z).sum() - (y * z).sum()
        else:
            top = z.max(axis=1, keepdims=True)
            fit = (top[:, 0] + np.log(np.exp(z - top).sum(axis=1))).sum() - (y * z).sum()
        gradient = ones.T @ (squash(z) - y) + penalty * held
        return float(fit + penalty / 2 * (held**2).sum()), gradient.ravel()

    w = minimize(
        loss,
        np.zeros(shape[0] * shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 300, "ftol": 1e-8, "gtol": 1e-3},
    ).x
    found: Floats = squash(np.hstack([of, np.ones((len(of), 1))]) @ w.reshape(shape))
    return found


def ridge(x: "Floats", y: "Floats", of: "Floats", *, penalty: float = _RIDGE) -> "Floats":
    """Numbers (m, k) by least squares with a ridge of `penalty` times the squared weights, none of offsets."""
    import numpy as np

    middle, mean = x.mean(axis=0), y.mean(axis=0)
    centred = x - middle
    w = np.linalg.solve(centred.T @ centred + penalty * np.eye(x.shape[1]), centred.T @ (y - mean))
    found: Floats = mean + (of - middle) @ w
    return found


# Embeddings, kept while the store is open, and what the source says.


def _vectors(
    store: Store, texts: Mapping[int, str], embed: Embed | None, tell: OnProgress, cancelled: IsCancelled | None
) -> "dict[int, np.ndarray]":
    kept = _embedded.setdefault(store, {})
    new = [number for number in texts if number not in kept]
    model = ModelProcess("embedded") if new and embed is None else None
    try:
        for start in range(0, len(new), _AT_ONCE):
            if cancelled is not None and cancelled():
                raise Cancelled
            some = new[start : start + _AT_ONCE]
            rows = [texts[number] for number in some]
            found = embedded(model, rows, cancelled) if model is not None else embed(rows) if embed else ()
            kept.update(zip(some, found, strict=True))
            tell(RunProgress("", "embedded", start + len(some), len(new), 0, None, None, "reading texts"))
    finally:
        if model is not None:
            model.close()
    return {number: kept[number] for number in texts}


def _keep(store: Store, dataset: Dataset, annotator: str, said: Mapping[int, Any], samples: Mapping[int, Any]) -> Run:
    run = source_of(store, dataset, annotator)
    if run is None:
        name = f"like {annotator}"
        config = msgspec.to_builtins(signed(RunConfig(emotui=__version__, options={"fitted": annotator})))
        taken = free_id(name, dataset.name, store.runs.names())
        run = store.runs.start(
            taken, _identity(dataset, annotator), dataset.task, name, dataset.dataset, config, 0, FILE
        )
    outputs = [ResultRow(at, 0, 0, None, msgspec.json.encode(keys).decode(), None, 0.0) for at, keys in said.items()]
    rows = scored(Scoring().of(store, dataset, run.model), ELSEWHERE, outputs, dict(samples), None)
    gone = [row.sample for row in store.results.of_run(run.run) if row.sample not in said]
    store.results.revise(run.run, rows, gone, gold=dataset.gold)
    return run
