"""How models do on originals, on variants of them, and on the sets 1R to 4R: table 3 of the paper, on own data.

Source: hard emotion test sets, section 6 (the sets), section 5.2 (prompts), appendix C (macro F1; five runs where there
is training).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import ModelCard, OnStep
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.formats import read
from emotui.formats.reading import Warn, warn_skipped
from emotui.metrics.classes import class_report
from emotui.metrics.repeats import known_sd
from emotui.metrics.rephrasings import NAMES, is_right, rephrasing_sets
from emotui.records import PLUTCHIK, Attempt, Chain, ClassGold
from emotui.tables import number_of
from emotui.tasks.asking import Asking
from emotui.tasks.prompting.settings import DIRECT, configured
from emotui.tasks.published import PublishedRow, published
from emotui.tasks.rephrase.labelling import choices
from emotui.tasks.rephrase.task import EXAMPLES, WAYS, Example, Rephrase, suited
from emotui.workbench.rephrase.files import read_variants
from emotui.workbench.runs.plan import chosen_way, sample_seed

if TYPE_CHECKING:
    from emotui.metrics.beside import Resampled

# Examples for prompts, from a file of rephrasing chains or of labelled texts.


class _Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """A chain or a labelled text, as far as an example needs it."""

    id: str
    text: str
    label: str
    attempts: tuple[Attempt, ...] = ()


def read_examples(path: str) -> list[Example]:
    """The labelled texts of a file; of a chain its original, with the attempts as its rephrasings.

    Raises:
        BadInput: the file cannot be read, or a record of it is none of both; a line each.
    """
    return [
        Example(record.id, record.text, record.label, tuple(attempt.text for attempt in record.attempts))
        for record in read(path, _Labelled).records
    ]


BESIDE, SEED = 2000, 0
"""Resamples for intervals, and the seed of their draws, as of all figures beside which an interval stands."""

ORIGINAL = "Original"
TABLE = "hard_emotions_table3"
BATCH = 64
PROMPTINGS: Mapping[str, str] = {
    name: way
    for name, way in ({way: way for way in Rephrase.asking.ways} | {**Rephrase.asking.named}).items()
    if way != Rephrase.asking.named[DIRECT]
}
"""What can be asked for, and the task's way that this is: all but that of a classifier."""

FIGURES = ("macro_f1", "accuracy")


@dataclass(frozen=True, slots=True)
class Contender:
    """A row of the table: one model, or several of one recipe that differ in their seed."""

    name: str
    specs: tuple[str, ...]


def contender(text: str) -> Contender:
    """From `SPEC`, or `NAME=SPEC,SPEC,...` for models trained alike with several seeds.

    Raises:
        BadInput: there is no SPEC in it.
    """
    name, sign, rest = text.partition("=")
    named = bool(sign) and not {":", "#"} & set(name)  # a SPEC may have options with = in it
    specs = tuple(spec.strip() for spec in rest.split(",") if spec.strip()) if named else (text.strip(),)
    if not all(specs) or not specs or (named and not name.strip()):
        raise BadInput(f"--model {text}: write SPEC, or NAME=SPEC,SPEC for models trained alike with several seeds")
    return Contender(name.strip() if named else specs[0], specs)


def columns(chains: Sequence[Chain], variants: Mapping[str, Mapping[str, str]]) -> dict[str, list[ClassGold]]:
    """The sets that models are compared on: originals, a set for each kind of variant, 1R to 4R.

    A set of variants has every text that was given, of originals that the classifier got wrong too: the paper compares
    back-translated test sets (section 6, b). An original that it got wrong and that has no variant stands there itself;
    a right one without a variant is left out.
    """
    found = {ORIGINAL: [ClassGold(id=chain.id, text=chain.text, label=chain.label) for chain in chains]}
    for name, texts in variants.items():
        found[name] = [
            ClassGold(id=chain.id, text=texts.get(chain.id, chain.text), label=chain.label)
            for chain in chains
            if chain.id in texts or not is_right(chain)
        ]
    return found | rephrasing_sets(chains)


def evaluate(
    chains: str,
    models: Sequence[str],
    *,
    variants: Mapping[str, str] | None = None,
    promptings: Sequence[str] = (),
    options: Mapping[str, object] | None = None,
    seed: int = 0,
    skip_bad: bool = False,
    warn: Warn,
    process: Callable[[str], ModelProcess] = ModelProcess,
    progress: OnStep = lambda spec, done, n: None,
    cancelled: IsCancelled | None = None,
) -> dict[str, Any]:
    """The document of `emotui rephrasings evaluate`.

    Args:
        chains: a file of rephrasing chains.
        models: each as `contender` reads it.
        variants: a column's name to a file of automatic variants of the originals.
        promptings: of `PROMPTINGS`, each a row of a model that is asked in words; none: zero-shot where it writes.
            A classifier answers by its own labels, whatever is asked for here.
        options: the rephrase task's settings (labels, prompts, examples, sampling).
        seed: of the examples' draw and of sampling.

    Returns:
        `n` (chains), `columns` (set to number of texts), `rows`: one a model, `{model, specs, way, labels, runs,
        columns: {set: {figure: {mean, sd, runs, ci95}}}}`, where `sd` (n - 1) is null for a single run and `ci95`
        where no resample differs; `published`, the rows of table 3 for the dataset with the same kind of labels;
        `notes`; `conventions`.

    Raises:
        BadInput: a file is bad, a model cannot be asked so, or does not know a label; in one line each.
        ModelError: a model cannot be loaded, or died.
        Cancelled: `cancelled()` became true.
    """
    if (options or {}).get("examples") and not any(PROMPTINGS[name] in EXAMPLES for name in promptings):
        raise BadInput("--examples is for --prompting fs and fs-r: give one of them, or leave it out")
    rows = [contender(text) for text in models]
    doubled = next((row.name for place, row in enumerate(rows) if row.name in [r.name for r in rows[:place]]), None)
    if doubled is not None:
        raise BadInput(f"--model: the name {doubled!r} is given twice")
    taken = next((name for name in variants or {} if name in (ORIGINAL, *NAMES)), None)
    if taken is not None:
        raise BadInput(f"{taken} is a column already: give these variants another name, such as BT-1")
    got = read(chains, Chain, skip_bad=skip_bad)
    warn_skipped(got, warn)
    ids = {chain.id for chain in got.records}
    texts = read_variants(variants or {}, ids, chains, skip_bad=skip_bad, warn=warn)
    sets = columns(got.records, texts)
    golds = [(chain.id, chain.label) for chain in got.records]
    notes: dict[str, str] = {}
    document: list[dict[str, Any]] = []
    gone: set[str] = set()
    left = sum(len(row.specs) for row in rows)
    for row in rows:
        by_way: dict[str, list[_Run]] = {}
        for spec in row.specs:
            with process(spec) as model:
                card = model.load(cancelled=cancelled)
                ways = _ways(card, promptings)
                gone.update(ways)
                left -= 1
                if not left:
                    _check_used(gone, promptings, options or {})
                for way in ways:
                    asking = Asked(model, golds, way, options or {}, seed, cancelled)
                    figures = _figures(asking, sets, partial(progress, spec))
                    by_way.setdefault(way, []).append(_Run(asking.labels, *figures))
                    if asking.silent:
                        have = "has" if asking.silent == 1 else "have"
                        silent = f"{number_of(asking.silent, 'text')} {have} no answer, which counts as wrong"
                        notes[spec] = f"{silent}: {asking.why}"
        document += [_row(row, way, runs) for way, runs in by_way.items()]
    for name, records in sets.items():
        if not records:
            notes[name] = "no text is in this set"
    notes["macro_f1"] = "over the labels that are gold or predicted in a set, as `emotui score class` has it"
    return {
        "n": len(got.records),
        "columns": {name: len(records) for name, records in sets.items()},
        "rows": document,
        "published": [_printed(row) for row in published_rows(golds)],
        "notes": notes,
        "conventions": {
            "ci95": f"95% BCa bootstrap over the texts of a set, {BESIDE:,} resamples, seed {SEED}, Student's t over"
            " fewer than 30; of several runs over the same draws, their mean taken first"
        },
    }


def published_rows(golds: Sequence[tuple[str, str]]) -> list[PublishedRow]:
    """The rows of table 3 that lie nearest: CancerEmo.v2 for Plutchik's eight, else GoEmotions.v2."""
    dataset = "CancerEmo.v2" if choices(golds) == PLUTCHIK else "GoEmotions.v2"
    return [row for row in published(TABLE).rows if row.dataset == dataset]


@dataclass(frozen=True, slots=True)
class _Run:
    """One model asked in one way: the labels that it chose among, and by set its figures, also over resamples."""

    labels: Sequence[str]
    figures: Mapping[str, Mapping[str, float | None]]
    resampled: "Mapping[str, Resampled]"


def _ways(card: ModelCard, promptings: Sequence[str]) -> list[str]:
    """In which ways a model is asked. Raises BadInput for one that it cannot be asked in."""
    there = Rephrase().ways(card)
    if there[0] == "classify":
        return ["classify"]  # a prompting is for models that are asked in words; this one stands beside them as it is
    plain = "zs" if "zs" in there else there[0]
    wanted = list(dict.fromkeys(PROMPTINGS[name] for name in promptings)) or [plain]
    return [chosen_way(Rephrase(), card, way) for way in wanted]


def _check_used(ways: Collection[str], promptings: Sequence[str], options: Mapping[str, object]) -> None:
    """See, when the last model is known, that what was asked for is of use to one of them.

    Raises:
        BadInput: it is for models that are asked in words, or that write, and there is none.
    """
    if promptings and not set(ways) - {"classify"}:
        raise BadInput("--prompting is for models that are asked in words: these are classifiers; leave it out")
    written = ("constrain", "max_tokens", "prompts")
    given = next((name for name in written if name in options), None)
    if given is not None and not set(ways) & set(WAYS):
        raise BadInput(f"--{given.replace('_', '-')} is for models that write their answer: none of these does so here")


def _row(row: Contender, way: str, runs: Sequence[_Run]) -> dict[str, Any]:
    return {
        "model": row.name if way == "classify" else f"{row.name} ({way.upper()})",
        "specs": list(row.specs),
        "way": way,
        "labels": list(runs[0].labels),
        "runs": len(runs),
        "columns": {name: _column(name, runs) for name in runs[0].figures},
    }


def asking_by(
    model: ModelProcess,
    golds: Sequence[tuple[str, str]],
    options: Mapping[str, object],
    seed: int,
    cancelled: IsCancelled | None,
) -> "Asked":
    """A model, asked in the way that it is asked by itself: a classifier by its labels, others zero-shot.

    Args:
        golds: (id, label) of the texts. options: the rephrase task's settings.

    Raises:
        BadInput: it cannot be asked, or does not know a label.
    """
    way = _ways(model.load(cancelled=cancelled), ())[0]
    return Asked(model, golds, way, options, seed, cancelled)


class Asked:
    """One model and the way it is asked, for all texts of all sets."""

    def __init__(
        self,
        model: ModelProcess,
        golds: Sequence[tuple[str, str]],
        way: str,
        options: Mapping[str, object],
        seed: int,
        cancelled: IsCancelled | None,
    ) -> None:
        self._model, self._seed, self.way = model, seed, way
        self._ask = Asking(model, cancelled)
        usable = {"classify": ("labels",), "score": ("labels",), "rank": ("labels", "prompts")}
        given = {name: value for name, value in options.items() if name in usable.get(way, options)}
        if way not in EXAMPLES:
            given.pop("examples", None)  # of another prompting
        settled = suited(model.load(cancelled=cancelled), golds, way, given, seed)
        self._task = configured(Rephrase(), way, settled, 1)
        self.labels: Sequence[str] = settled["labels"]  # type: ignore[assignment]
        self.silent, self.why = 0, ""

    def labels_of(
        self, samples: Sequence[ClassGold], progress: Callable[[int, int], None]
    ) -> dict[tuple[str, str], str]:
        """The label given to each (id, text); `""` where there is no answer. Each is asked about once."""
        distinct = list({(sample.id, sample.text): sample for sample in samples}.values())
        found: dict[tuple[str, str], str] = {}
        for start in range(0, len(distinct), BATCH):
            batch = distinct[start : start + BATCH]
            seeds = [sample_seed(self._seed, 0, sample.id) for sample in batch]
            for sample, answer in zip(batch, self._task.ask(batch, self._ask, self.way, seeds), strict=True):
                if answer.again:
                    raise ModelError(f"{self._model.spec}: {answer.why}")
                if answer.raw is None:
                    self.silent, self.why = self.silent + 1, self.why or answer.why or ""
                said = "" if answer.raw is None else self._task.parse(sample, answer.raw, self.way).label
                found[sample.id, sample.text] = said
            progress(len(found), len(distinct))
        return found


def _column(name: str, runs: Sequence[_Run]) -> dict[str, Any]:
    """The figures of one set over runs, with the intervals of their means."""
    from emotui.metrics.beside import intervals

    sure = intervals([run.resampled[name] for run in runs])
    return {
        key: _over([run.figures[name][key] for run in runs])
        | {"ci95": None if key not in sure or (ends := sure[key].ends) is None else list(ends)}
        for key in FIGURES
    }


def _figures(
    asking: Asked, sets: Mapping[str, Sequence[ClassGold]], progress: Callable[[int, int], None]
) -> "tuple[dict[str, dict[str, float | None]], dict[str, Resampled]]":
    """By set: the figures of one model, and what they come to over resamples of the set's texts."""
    from emotui.metrics.beside import drawn, single_labels

    answers = asking.labels_of([sample for records in sets.values() for sample in records], progress)
    found, resampled = {}, {}
    for name, records in sets.items():
        gold = {sample.id: sample.gold for sample in records}
        said = {sample.id: answers[sample.id, sample.text] for sample in records}
        report = class_report(gold, said)
        found[name] = {key: report[key] for key in FIGURES}
        labels = sorted({*gold.values(), *said.values()} - {""})
        over = single_labels(list(gold.values()), list(said.values()), labels, drawn([None] * len(gold)))
        resampled[name] = {key: over[key] for key in FIGURES if key in over}
    return found, resampled


def _over(runs: Sequence[float | None]) -> dict[str, Any]:
    values = [value for value in runs if value is not None]
    return {
        "mean": mean(values) if values else None,
        "sd": known_sd(runs),
        "runs": list(runs),
    }


def _printed(row: PublishedRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "dataset": row.dataset,
        "source": row.source,
        "columns": {
            name: {key: {"mean": one.mean, "sd": one.sd} for key, one in figures.items()}
            for name, figures in row.settings.items()
        },
    }
