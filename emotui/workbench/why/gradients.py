"""Which words a gradient names, beside the annotators' spans and beside what their removal does, over a dataset.

Words are those of `emotui.backends.words`; a word's part is the sum over its tokens, and a token is of the word in
which most of its letters stand. Three methods answer about the same number, the log-odds of one label: leaving words
out one at a time, gradient times input, and integrated gradients.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import Attribute, Attribution, Classify, Refused, Score
from emotui.backends.host import ModelProcess
from emotui.backends.words import word_places
from emotui.errors import BadInput, ModelError
from emotui.installing import check_captum
from emotui.metrics.beside import beside, intervals, with_beside
from emotui.metrics.evidence import touched
from emotui.metrics.values import spearman
from emotui.records import SpanSample
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.asking import asked_twice
from emotui.tasks.label_questions import yes_or_no
from emotui.tasks.parts import matched, shared_by
from emotui.tasks.taken_away import Prediction
from emotui.workbench.texts import stored_samples
from emotui.workbench.why.asking import OnText

if TYPE_CHECKING:
    import numpy as np

METHODS = "removal", "gradient", "integrated"
AT_ONCE = 8
"""Texts that a model is asked about in one call: each is asked about many times over."""

WITHOUT = "{model} gives no gradients: hf: classifiers, NLI models and models that write do"
INSTEAD = "; for this one: emotui words, emotui run evidence (words taken away)"
"""What is said of other models, and of those that answer."""

CONVENTION = (
    "gradients 1: parts of the label's log-odds; removal: these less those without the word; gradient: gradient times "
    "embedding; integrated: from the model's mask token, or padding, in place of every token, {steps} steps; a word is "
    "the sum over the tokens that stand mostly in it; of a model that writes the log-odds of Yes against No where it "
    "is asked whether the writer shows the label"
)
AGAINST = (
    "auc: how often a word that gold marks is above one that it does not, mean over texts; f1: of the words that gold "
    "marks and the first k, k being the mean share that gold marks (DeYoung and others 2020), mean over texts; chance: "
    "k words at random"
)
SUMS = (
    "completeness: how far a text's parts are from the log-odds of the text less those of what it is set against, as a "
    "share of that difference: median, and the largest"
)


class Read(msgspec.Struct, frozen=True):
    """One text: the label that is explained, and each method's part of each word, NaN where a word was not read."""

    sample: SpanSample
    label: str
    words: tuple[tuple[int, int], ...]
    parts: Mapping[str, tuple[float, ...]]
    found: Mapping[str, Attribution]

    def error(self, method: str) -> float | None:
        """How far the parts are from the difference that they should come to, as a share of it (completeness)."""
        one = self.found[method]
        if one.whole is None or one.without is None:
            return None
        due, total = one.whole - one.without, one.rest + math.fsum(part for *_, part in one.words)
        return abs(total - due) / max(abs(due), 1e-9)


def find_gradients(
    store: Store,
    model: ModelProcess,
    dataset: Dataset,
    *,
    label: str | None = None,
    explain: str = "own",
    evidence: Run | None = None,
    limit: int | None = None,
    steps: int = 50,
    on_text: OnText = lambda done, n: None,
) -> dict[str, Any]:
    """What three methods make of the words of each text: the document of `emotui lens gradients`.

    Args:
        label: this one is explained; None: that of `explain`.
        explain: `own`, the model's likeliest label of each text, or `gold`.
        evidence: a run over the evidence of the same texts by the same model: drops that spans' parts are set beside.

    Raises:
        BadInput: there is no text, or no such label.
        ModelError: the model has no gradients to give, or captum is missing.
    """
    card = model.load()
    if "attribute" not in card.capabilities or model.spec.partition(":")[0] == "embedded":
        answers = {"classify", "score"} & set(card.capabilities)
        raise ModelError(WITHOUT.format(model=model.spec) + (INSTEAD if answers else ""))
    check_captum()
    found = dataset.read_as("spans")
    samples = [sample for _, sample in stored_samples(store, found, min(found.n, limit or found.n))]
    samples = [sample for sample in samples if word_places(sample.text)]
    writes = "generate" in card.capabilities
    names = next(iter(card.labels.values()), ())
    if not names:
        names = tuple(dict.fromkeys(name for sample in samples for name in _said(sample)))
    if label is not None and matched(label, names) is None:
        raise BadInput(f"{model.spec} is not asked about {label!r}: its labels are {', '.join(names)}")
    explained = _explained(model, samples, names, label, explain)
    kept = [(sample, name) for sample, name in zip(samples, explained, strict=True) if name is not None]
    if not kept:
        raise BadInput(f"{dataset.name}: no text has a label of gold that {model.spec} knows" if samples else
                       f"{dataset.name} has no text")  # fmt: skip
    read: list[Read] = []
    for start in range(0, len(kept), AT_ONCE):
        some = kept[start : start + AT_ONCE]
        asked = [yes_or_no(sample.text, name) if writes else ((), "") for sample, name in some]
        requests = [
            Attribute(sample.text, name, method, steps, *question)  # type: ignore[arg-type]
            for (sample, name), question in zip(some, asked, strict=True)
            for method in METHODS
        ]
        answers = iter(asked_twice(model, requests))
        for sample, name in some:
            read.append(_read(sample, name, {method: next(answers) for method in METHODS}))
        on_text(len(read), len(kept))
    document = gradients_of(read, steps, None if evidence is None else _predictions(store, evidence))
    notes = {"n": f"{len(samples) - len(kept)} texts without a label to explain are left out"}
    notes = notes if len(kept) < len(samples) else {}
    of = {"dataset": dataset.name, "model": model.spec, "explained": label or explain}
    return {**of, **document, "notes": {**document.get("notes", {}), **notes}}


def _said(sample: SpanSample) -> list[str]:
    return [name for name in (sample.emotion, *(mark.label for mark in sample.spans or ())) if name]


def _explained(
    model: ModelProcess, samples: Sequence[SpanSample], names: Sequence[str], label: str | None, explain: str
) -> list[str | None]:
    """The label of each text that is explained; None where gold has none that the model knows."""
    if label is not None:
        return [matched(label, names)] * len(samples)
    if explain == "gold":
        known = ((matched(name, names) for name in _said(sample)) for sample in samples)
        return [next((name for name in each if name is not None), None) for each in known]
    card = model.load()
    if "generate" in card.capabilities:
        asked = [yes_or_no(sample.text, name) for sample in samples for name in names]
        odds: list[float] = [
            math.nan if isinstance(one, Refused) else one.yes[0] - one.no[0]
            for one in asked_twice(model, [Score("", (question,), chat) for chat, question in asked])
        ]
        rows = [odds[at : at + len(names)] for at in range(0, len(odds), len(names))]
        return [None if any(map(math.isnan, row)) else names[row.index(max(row))] for row in rows]
    given = tuple(names) if card.judges else None
    answers = asked_twice(model, [Classify(sample.text, labels=given) for sample in samples])
    return [None if isinstance(one, Refused) else one.label for one in answers]


def _read(sample: SpanSample, label: str, found: Mapping[str, Attribution | Refused]) -> Read:
    for one in found.values():
        if isinstance(one, Refused):
            raise BadInput(f"{sample.id}: {one.why}")
    known: Any = found
    words = tuple(word_places(sample.text))
    parts = {}
    for method, one in known.items():
        by_place = {(start, end): part for start, end, part in one.words}
        parts[method] = tuple(by_place.get(word, math.nan) for word in words)
    return Read(sample, label, words, parts, known)


def _predictions(store: Store, run: Run) -> dict[str, Prediction]:
    """What a run over the evidence says, by the id of the text."""
    rows = {row.sample: row.prediction for row in store.results.of_run(run.run) if row.repeat == 0 and row.prediction}
    return {
        row.id: msgspec.json.decode(rows[row.sample] or b"", type=Prediction)
        for row in store.list_rows.page(list(rows), None)
    }


def gradients_of(read: Sequence[Read], steps: int, evidence: Mapping[str, Prediction] | None = None) -> dict[str, Any]:
    """The document, of texts that were read."""
    import numpy as np

    from emotui.metrics.resampling import drawn, mean_replicates

    share = _share(read)
    by = drawn([shared_by(one.sample.meta) for one in read])
    rows: dict[str, dict[str, Any]] = {}
    sure: dict[str, Any] = {}
    for method in METHODS:
        table = np.array([_figures(one, method, share) for one in read])
        each = dict(zip(("auc", "f1", "with_removal"), mean_replicates(table, by), strict=True))
        each["with_removal"] = replace(each["with_removal"], bounds=(-1.0, 1.0))
        each = {name: one for name, one in each.items() if not np.isnan(one.whole)}
        each = {name: one for name, one in each.items() if (method, name) != ("removal", "with_removal")}
        rows[method] = {name: float(one.whole) for name, one in each.items()}
        sure |= {f"by_method.{method}.{name}": one for name, one in each.items()}
        errors = [error for one in read if (error := one.error(method)) is not None]
        if errors:
            rows[method] |= {"sum_off": float(np.median(errors)), "most_off": max(errors)}
        if evidence is not None:
            rows[method]["with_evidence"], spans = _beside_evidence(read, method, evidence)
    marked = [_gold(one) for one in read]
    marked = [gold for gold in marked if 0 < gold.sum() < len(gold)]
    document: dict[str, Any] = {"n": len(read), "with_gold": len(marked), "by_method": rows}
    if marked:
        document["chance"] = {"auc": 0.5, "f1": float(np.mean([_by_chance(gold, share) for gold in marked]))}
    conventions = {"parts": CONVENTION.format(steps=steps), "sum_off": SUMS}
    conventions |= {"gold": AGAINST} if marked else {}
    if evidence is not None:
        document["spans"] = spans
        conventions["with_evidence"] = "Spearman over spans: the sum of a span's parts, and the run's drop without it"
    conventions["with_removal"] = "Spearman over a text's words, of parts and drops without each; mean over texts"
    texts = {one.sample.id: _told(one) for one in read}
    document |= {"texts": texts, "conventions": conventions}
    return with_beside(document, beside(intervals([sure]), [shared_by(one.sample.meta) for one in read], "texts"))


def _gold(one: Read) -> "np.ndarray":
    """(words,): which of them a gold span touches."""
    import numpy as np

    marked = np.zeros(len(one.words), dtype=bool)
    marked[list(touched(one.sample.places, one.words))] = True
    return marked


def _share(read: Sequence[Read]) -> float:
    """The mean share of a text's words that gold marks, over the texts in which it marks something."""
    import numpy as np

    shares = [gold.mean() for gold in map(_gold, read) if gold.any()]
    return float(np.mean(shares)) if shares else 0.0


def _first(n: int, share: float) -> int:
    return max(1, round(n * share))


def _by_chance(gold: "np.ndarray", share: float) -> float:
    """F1 of as many words at random, as the expected overlap has it."""
    n, marked, k = len(gold), int(gold.sum()), _first(len(gold), share)
    return 2 * (k * marked / n) / (k + marked)


def _figures(one: Read, method: str, share: float) -> tuple[float, float, float]:
    """AUC and F1 of a text's words against gold, and their rank correlation with removal; NaN where there is none."""
    import numpy as np

    from emotui.metrics import probing

    parts, removal = np.array(one.parts[method]), np.array(one.parts["removal"])
    gold = _gold(one)
    both = ~np.isnan(parts) & ~np.isnan(removal)
    ranks = spearman(parts[both].tolist(), removal[both].tolist())
    area = f1 = math.nan
    if 0 < gold.sum() < len(gold):
        scores = np.where(np.isnan(parts), -np.inf, parts)
        area = float(probing.auc(gold[:, None], scores[:, None])[0])
        first = np.argsort(-scores, kind="stable")[: _first(len(gold), share)]
        f1 = float(2 * gold[first].sum() / (len(first) + gold.sum()))
    return area, f1, math.nan if ranks is None else ranks


def _beside_evidence(read: Sequence[Read], method: str, evidence: Mapping[str, Prediction]) -> tuple[float | None, int]:
    """Over spans of a run that follow the label that is explained here; and how many these are."""
    sums, drops = [], []
    for one in read:
        said = evidence.get(one.sample.id)
        for trial in () if said is None else said.spans:
            inside = [one.parts[method][at] for at in touched(trial.places, one.words)]
            if said is not None and trial.explains == one.label and inside and not any(map(math.isnan, inside)):
                sums.append(math.fsum(inside))
                without = trial.masked if said.removal == "mask" else trial.deleted
                drops.append(said.probs[one.label] - without[one.label])
    return spearman(sums, drops), len(sums)


def _told(one: Read) -> dict[str, Any]:
    """What is told of one text: of each method the sums and what they should come to, and of each word its parts."""
    gold = _gold(one)
    sums = {}
    for method, found in one.found.items():
        if found.whole is not None:
            total: dict[str, float | None] = {"parts": found.rest + math.fsum(part for *_, part in found.words)}
            total |= {"rest": found.rest, "whole": found.whole, "without": found.without, "off": one.error(method)}
            sums[method] = total
    words = [
        {"word": one.sample.text[start:end], "place": [start, end], "gold": bool(gold[at])}
        | {method: None if math.isnan(parts[at]) else parts[at] for method, parts in one.parts.items()}
        for at, (start, end) in enumerate(one.words)
    ]
    cut = any(found.truncated for found in one.found.values())
    return {"label": one.label, "sums": sums, "words": words} | ({"truncated": True} if cut else {})
