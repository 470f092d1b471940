"""A text by layer and word: where in a model's depth a label can be read, and off which words.

The probes are those of the lens, fitted on a dataset's labelled texts and kept in the store, the last of each model and
dataset: a text is read in seconds from the second one on. A probe is
a weighted sum, and a text's state is the mean over its tokens: so a text's score is the mean of its words' scores, each
counted as often as it has tokens. A text is read by a probe that was fitted without it, and without what shares a
passage or its words with it.
"""

import base64
import contextlib
import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import HiddenStates, Message, Progress, Refused, States
from emotui.backends.host import Cancelled, IsCancelled, ModelProcess, lacks
from emotui.backends.words import word_places
from emotui.errors import BadInput, ModelError, StoreError
from emotui.metrics.lexical import word_features
from emotui.records import Span
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.asking import asked_twice
from emotui.tasks.parts import matched
from emotui.workbench.why.lens import ASKED, CAPABILITY, OPENING, Gold, read_gold

if TYPE_CHECKING:
    import numpy as np

    from emotui.metrics.probing import Probe

AT_ONCE = 16
"""Texts that a model is asked about at a time: between two batches a cancel is seen."""

MOST = 1000
"""Texts that probes are fitted on, unless said otherwise: the first ones of the dataset."""

MEASURED = 100
"""Texts whose words say how far scores of words lie apart."""

LARGEST = 64 * 1024 * 1024
"""Bytes of probes that are kept in a store; larger ones are kept while the workbench is open."""

_KEPT = "why/layers"

_WAIT = 0.1
"""Seconds between two looks at whether somebody still waits."""


class Heat(msgspec.Struct, frozen=True):
    """One text by layer and word. Tables have a row a label, in the order of `labels`, then one a layer.

    Attributes:
        n: texts that the probes are fitted on; `left_out`: those of the dataset that are left out as they are, or share
            something with, the text that is shown.
        words: where they stand; those that the model did not read are not there.
        scores: of each word, in standard deviations of the scores of words of the dataset, from their mean.
        whole: of the text, in standard deviations of the held-out scores of the dataset's texts.
        auc: of the held-out scores of the dataset's texts.
        clear: does the layer beat its controls with this label (as in `emotui lens`)?
        said: of a model that writes, its own reading at each layer of what it is about to answer: the label's
            probability among all of them (logit lens); empty of any other model.
    """

    text: str
    model: str
    dataset: str
    n: int
    left_out: int
    labels: tuple[str, ...]
    layers: tuple[int, ...]
    words: tuple[Span, ...]
    scores: tuple[tuple[tuple[float, ...], ...], ...]
    whole: tuple[tuple[float, ...], ...]
    auc: tuple[tuple[float, ...], ...]
    clear: tuple[tuple[bool, ...], ...]
    said: tuple[tuple[float, ...], ...] = ()
    truncated: bool = False

    def best(self, label: int) -> int:
        """The place of the layer with the highest AUC among those that beat their controls, else among all."""
        clear = self.clear[label]
        return max(range(len(self.layers)), key=lambda at: (clear[at], self.auc[label][at]))

    def place_of(self, names: Sequence[str]) -> int:
        """The place of the first of these labels that the probes have, in whichever form; else of the likeliest."""
        known = (matched(name, self.labels) for name in names)
        return next((self.labels.index(name) for name in known if name is not None), self.likeliest)

    @property
    def ranked(self) -> tuple[int, ...]:
        """The places of all labels, that with the highest score of the text at its best layer first."""
        return tuple(sorted(range(len(self.labels)), key=lambda one: -self.whole[one][self.best(one)]))

    @property
    def likeliest(self) -> int:
        """The place of the label with the highest score of the text at its best layer, those with a clear one first."""
        return max(range(len(self.labels)), key=lambda at: (any(self.clear[at]), self.whole[at][self.best(at)], -at))


class LayerReader:
    """Reads texts by the layers of models. Every method may be called from any thread.

    Args:
        model: the process of a SPEC, one a SPEC.
    """

    def __init__(self, store: Store, model: Callable[[str], ModelProcess]) -> None:
        self._store, self._model = store, model
        self._fits: dict[tuple[Any, ...], Fit] = {}
        self._lock = threading.Lock()

    def read(
        self,
        spec: str,
        dataset: Dataset,
        text: str,
        *,
        label: str | None = None,
        layers: tuple[int, ...] | None = None,
        limit: int | None = None,
        seed: int = 0,
        progress: Progress = lambda line: None,
        cancelled: IsCancelled | None = None,
    ) -> Heat:
        """A text, by probes of the labels of a dataset.

        Args:
            label: one that has to be among them, in whichever form; None: whatever there are.
            layers: those wanted beside layer 0; None: all.
            limit: how many of the dataset's texts are read; None: `MOST`.

        Raises:
            BadInput: too few labelled texts, no such label or layer, or no word in the text.
            ModelError: the model tells no states, or died.
            Cancelled: `cancelled()` became true; a fit that was not done is begun anew.
        """
        if not word_places(text):
            raise BadInput("there is no word in the text")
        model = self._model(spec)
        card = model.load(progress, cancelled)
        if CAPABILITY not in card.capabilities:
            raise ModelError(lacks(spec, CAPABILITY))
        writes = "generate" in card.capabilities
        wanted = None if layers is None else tuple(dict.fromkeys((0, *sorted(layers))))
        found = dataset.read_as("labels")
        identity = msgspec.json.encode(card.identity, order="sorted")
        key = spec, identity, found.dataset, found.fingerprint, wanted, limit or MOST, seed

        def ask(requests: Sequence[States], step: str = "") -> list[HiddenStates]:
            return _asked(model, requests, cancelled, lambda n: progress(f"{step}{n:,} of {len(requests):,} texts"))

        while not self._lock.acquire(timeout=_WAIT):
            if cancelled is not None and cancelled():
                raise Cancelled
        try:
            known = self._fits.get(key)
            gold = read_gold(self._store, found, "labels", limit or MOST) if known is None else known.gold
            if label is not None and matched(label, gold.names) is None:
                names = ", ".join(gold.names)
                raise BadInput(f"{found.name}: there is no label {label!r} with enough texts: {names}")
            place, mark = f"{_KEPT}/{found.dataset}/{spec}", hashlib.sha256(repr(key).encode()).hexdigest()
            if known is None and (kept := kept_fit(self._store.settings.get(place), mark, gold, seed)) is not None:
                self._fits[key] = kept
            elif known is None:
                states = ask([States(one, wanted) for one in gold.texts], "reading ")
                self._fits[key] = fit(gold, states, seed, progress, cancelled)
            fitted = self._fits[key]
            if fitted.measure is None:
                texts = fitted.gold.texts[:MEASURED]
                fitted.set_measure(ask([States(one, wanted, "words") for one in texts], "measuring words of "))
                if fitted.size <= LARGEST and not self._store.read_only:
                    # A store that others hold for too long costs the next session a fit, and this one nothing.
                    with contextlib.suppress(StoreError):
                        self._store.settings.set(place, {"of": mark, **fitted.kept()})
        finally:
            self._lock.release()
        requests = [States(text, wanted, "words"), States(text, wanted)]
        if writes:
            chat = (Message("user", ASKED.format(text=text)),)
            ends = tuple(f" {name}" for name in fitted.gold.names)
            requests.append(States("", wanted, "last", chat, OPENING, ends))
        return fitted.heat(text, spec, found.name, ask(requests))


def _asked(
    model: ModelProcess, requests: Sequence[States], cancelled: IsCancelled | None, told: Callable[[int], object]
) -> list[HiddenStates]:
    read: list[HiddenStates] = []
    for start in range(0, len(requests), AT_ONCE):
        if cancelled is not None and cancelled():
            raise Cancelled
        for one in asked_twice(model, requests[start : start + AT_ONCE], cancelled):
            if isinstance(one, Refused):
                raise BadInput(one.why)
            read.append(one)
        told(len(read))
    return read


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def together(gold: Gold) -> tuple[str, ...]:
    """(n,) of each text a name that it shares with those of its passage, and with those that have the same words."""
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.setdefault(name, name) != name:
            name = root[name]
        return name

    for text, shared in zip(gold.texts, gold.shared, strict=True):
        if shared is not None:
            root[find(f"passage {shared}")] = find(f"text {_plain(text)}")
    return tuple(find(f"text {_plain(text)}") for text in gold.texts)


def fold_of(gold: Gold, folds: "np.ndarray", text: str) -> int | None:
    """The fold that holds a text, or one with the same words; None: it is none of the dataset's."""
    plain = _plain(text)
    return next((int(fold) for one, fold in zip(gold.texts, folds, strict=True) if _plain(one) == plain), None)


class Fit:
    """Probes of every label at every layer: one a fold, fitted without it, and one of all texts.

    Their scores are distances from the mean of the texts that each was fitted on, so that those of folds compare.

    Attributes:
        probes: by layer, those of the folds and then that of all texts.
        auc, clear: (labels, layers).

    Args:
        held: (layers, labels) means and deviations of the held-out scores of texts.
    """

    def __init__(
        self,
        gold: Gold,
        groups: tuple[str, ...],
        folds: "np.ndarray",
        layers: tuple[int, ...],
        probes: "list[list[Probe]]",
        held: "tuple[np.ndarray, np.ndarray]",
        auc: "np.ndarray",
        clear: "np.ndarray",
    ) -> None:
        self.gold, self.groups, self.folds, self.layers = gold, groups, folds, layers
        self.probes, self.auc, self.clear = probes, auc, clear
        self._around = held
        self.measure: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def size(self) -> int:
        """Bytes of its probes, as they are kept."""
        return sum(4 * (probe.weights.size + probe.centre.size) for own in self.probes for probe in own)

    def kept(self) -> dict[str, Any]:
        """What a store keeps of it, as `kept_fit` reads it."""
        import numpy as np

        assert self.measure is not None
        tables = {
            "centre": np.stack([[probe.centre for probe in own] for own in self.probes]),
            "weights": np.stack([[probe.weights for probe in own] for own in self.probes]),
            "held": np.stack(self._around),
            "measure": np.stack(self.measure),
            "auc": self.auc,
            "clear": self.clear,
        }
        packed = {name: [list(table.shape), _packed(table)] for name, table in tables.items()}
        return {"layers": list(self.layers), "tables": packed}

    def fold_of(self, text: str) -> int | None:
        """The fold that holds a text, whose probes were fitted without it; None: it is none of the dataset's."""
        return fold_of(self.gold, self.folds, text)

    def scores(self, text: str, states: HiddenStates) -> "np.ndarray":
        """(layers, rows, labels): by probes that were fitted without this text."""
        import numpy as np

        fold = self.fold_of(text)
        at = -1 if fold is None else fold
        return np.stack([own[at](rows) for own, rows in zip(self.probes, states.array(), strict=True)])

    def set_measure(self, words: Sequence[HiddenStates]) -> None:
        """See how far scores of words lie apart. Args: words: of the first texts."""
        import numpy as np

        pairs = zip(self.gold.texts, words, strict=False)
        every = np.concatenate([self.scores(text, one) for text, one in pairs], axis=1)
        self.measure = every.mean(1), every.std(1)

    def heat(self, text: str, spec: str, dataset: str, read: Sequence[HiddenStates]) -> Heat:
        """Args: read: the text's words, the text, and of a model that writes the prompt before its answer."""
        import numpy as np

        words, whole, *prompt = read
        if not words.words:
            raise BadInput("the model reads no word of the text")
        assert self.measure is not None
        by_word = _standard(self.scores(text, words), *self.measure)
        by_text = _standard(self.scores(text, whole), *self._around)[:, 0]
        said: tuple[Any, ...] = ()
        if prompt and prompt[0].logprobs:
            table = np.array(prompt[0].logprobs)
            table = np.exp(table - np.logaddexp.reduce(table, axis=1, keepdims=True))
            said = _nested(table.T)
        fold = self.fold_of(text)
        n = len(self.folds)
        left_out = 0 if fold is None else int((self.folds == fold).sum())
        return Heat(
            text,
            spec,
            dataset,
            n - left_out,
            left_out,
            self.gold.names,
            self.layers,
            words.words,
            _nested(by_word.transpose(2, 0, 1)),
            _nested(by_text.T),
            _nested(self.auc),
            _nested(self.clear),
            said,
            whole.truncated,
        )


def _nested(table: "np.ndarray") -> Any:
    """As tuples of tuples."""
    found = table.tolist()

    def of(one: Any) -> Any:
        return tuple(map(of, one)) if isinstance(one, list) else one

    return of(found)


def _standard(scores: "np.ndarray", middle: "np.ndarray", spread: "np.ndarray") -> "np.ndarray":
    """(layers, rows, labels), from (layers, labels) means and deviations; 0 where nothing varies."""
    import numpy as np

    wide = np.where(spread > 1e-9, spread, np.inf)
    return np.asarray((scores - middle[:, None]) / wide[:, None])


def fit(
    gold: Gold,
    read: Sequence[HiddenStates],
    seed: int = 0,
    progress: Progress = lambda line: None,
    cancelled: IsCancelled | None = None,
) -> Fit:
    """The probes of each layer, and whether it beats its controls label by label.

    Args:
        read: the state of each text, as a mean over its tokens.

    Raises:
        BadInput: fewer texts that share nothing than folds.
    """
    import numpy as np

    from emotui.metrics import probing
    from emotui.metrics.resampling import drawn

    groups, y = together(gold), gold.table
    if len(set(groups)) < probing.FOLDS:
        raise BadInput(f"fewer than {probing.FOLDS} of the texts share nothing with others: a probe needs more texts")
    by = drawn(groups)
    folds = probing.grouped_folds(gold.ids, groups, probing.FOLDS, seed)
    n, k = y.shape
    control = probing.shuffled(y, probing.SHUFFLES, seed)
    targets = np.concatenate([y, control.reshape(n, -1)], axis=1)
    words = probing.resampled_auc(y, probing.held_out(word_features(gold.texts), y, folds, ranked=True), by, seed)
    layers = read[0].layers
    probes, every = [], np.zeros((len(layers), n, k))
    areas, clear = np.zeros((k, len(layers))), np.zeros((k, len(layers)), dtype=bool)
    first, nothing = words, np.zeros(k)
    for at, layer in enumerate(layers):
        if cancelled is not None and cancelled():
            raise Cancelled
        progress(f"fitting layer {layer} of {layers[-1]}")
        states = np.stack([one.array()[at, 0] for one in read]).astype(np.float64)
        own, predicted = [], np.empty_like(targets)
        for fold in range(probing.FOLDS):
            test = folds == fold
            probe = probing.fitted(states[~test], targets[~test])
            predicted[test] = probe(states[test]) - probe.middle
            own.append(probing.Probe(probe.centre, probe.weights[:, :k].copy(), nothing))
        whole = probing.fitted(states, y)
        probes.append([*own, probing.Probe(whole.centre, whole.weights, nothing)])
        every[at] = predicted[:, :k]
        table = probing.resampled_auc(y, every[at], by, seed)
        areas[:, at] = table[0]
        first = first if layer else table
        shuffles = predicted[:, k:].reshape(n, -1, k)
        chance = np.max([probing.auc(control[:, one], shuffles[:, one]) for one in range(shuffles.shape[1])], axis=0)
        above = zip(probing.each_label(table - words, by), probing.each_label(table - first, by), strict=True)
        clear[:, at] = (table[0] > chance) & [all(map(probing.above_zero, pair)) for pair in above]
    return Fit(gold, groups, folds, layers, probes, (every.mean(1), every.std(1)), areas, clear)


def _packed(table: "np.ndarray") -> str:
    return base64.b64encode(table.astype("<f4").tobytes()).decode()


def kept_fit(kept: Any, mark: str, gold: Gold, seed: int) -> Fit | None:
    """The probes that a store keeps, of `Fit.kept` and `of`; None: it has none of this `mark`."""
    import numpy as np

    from emotui.metrics import probing

    if not isinstance(kept, dict) or kept.get("of") != mark:
        return None
    tables = {
        name: np.frombuffer(base64.b64decode(packed), "<f4").reshape(shape).astype(np.float64)
        for name, (shape, packed) in kept["tables"].items()
    }
    nothing = np.zeros(len(gold.names))
    probes = [
        [probing.Probe(centre, weights, nothing) for centre, weights in zip(*own, strict=True)]
        for own in zip(tables["centre"], tables["weights"], strict=True)
    ]
    groups = together(gold)
    folds = probing.grouped_folds(gold.ids, groups, probing.FOLDS, seed)
    middle, spread = tables["held"]
    clear = tables["clear"] > 0.5
    found = Fit(gold, groups, folds, tuple(kept["layers"]), probes, (middle, spread), tables["auc"], clear)
    found.measure = tables["measure"][0], tables["measure"][1]
    return found
