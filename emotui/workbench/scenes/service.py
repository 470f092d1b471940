"""What the Scenes place asks of a store: runs with their logits beside gold, and the tuning it remembers."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np

from emotui.errors import BadInput
from emotui.metrics.beside import beside, of_vectors
from emotui.metrics.decoding import checked_log_odds
from emotui.metrics.expected import OBJECTIVES
from emotui.metrics.nested_cv import Scaling
from emotui.metrics.priors import PRIORS
from emotui.metrics.reliability import NONE, Evidence, alone, hard_answers
from emotui.metrics.scenes import AnnotatorAgreement, annotator_agreement
from emotui.metrics.states import Bits
from emotui.records import ScenesGold
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tables import FINE, Cell, Column, ResultsTable, Row, interval_notes, short_names, sure_of
from emotui.tasks.published import Published as Published
from emotui.tasks.published import published_table as published_table
from emotui.tasks.scenes.task import Prediction, Scenes
from emotui.workbench.runs.export_rows import export_run
from emotui.workbench.runs.scores import groups_of, metrics
from emotui.workbench.scenes.decoding import Redecoding, SceneRun, Tuning
from emotui.workbench.texts import read_sample, run_dataset, stored_samples

SCENES = Scenes.name


class SceneBench:
    """What the Scenes place asks of a store. Every method may be called from any thread, and may take a while."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaded: dict[tuple[object, ...], SceneRun] = {}

    def scene(self, sample: int) -> ScenesGold:
        """The scenario of a sample number."""
        ((_, record),) = self._store.samples.records([sample])
        dataset = self._store.datasets.of_sample(sample)
        found: ScenesGold = read_sample(self._store, dataset.read_as(Scenes.name), record)
        return found

    def load(self, run: Run) -> SceneRun:
        """A run's logits beside gold.

        Raises:
            BadInput: scenarios have different labels, or a logit cannot be decoded.
        """
        key = (run.run, run.done, run.failed, run.finished)
        if key not in self._loaded:
            self._loaded = {known: kept for known, kept in self._loaded.items() if known[0] != run.run}
            self._loaded[key] = self._load(run)
        return self._loaded[key]

    def _load(self, run: Run) -> SceneRun:
        dataset = run_dataset(self._store, run)
        if dataset is None:
            raise BadInput(f"run {run.run} has lost its dataset")
        samples = dict(stored_samples(self._store, dataset, dataset.n))
        said = {
            row.sample: msgspec.json.decode(row.prediction, type=Prediction)
            for row in self._store.results.of_run(run.run)
            if row.prediction is not None and row.repeat == 0
        }
        numbers = tuple(number for number, sample in samples.items() if number in said and not sample.unknown)
        if said and not numbers:
            raise BadInput(f"{dataset.name} has no gold vectors to fit a prior on: emotui import FILE --into adds them")
        labels = tuple(next(iter(samples.values())).labels) if samples else ()
        odd = next((samples[n].id for n in numbers if set(samples[n].labels) != set(labels)), None)
        if odd is not None:
            raise BadInput(f"{odd}: its labels are not those of the first scenario: {', '.join(labels)}")
        gold = [[samples[n].labels[name] for name in labels] for n in numbers]
        shape = (len(numbers), len(labels))
        try:
            evidence = _evidence([said[n] for n in numbers], labels)
        except _Broken as broken:
            raise BadInput(f"{samples[numbers[broken.row]].id}: {broken}") from None
        return SceneRun(
            run=run,
            labels=labels,
            numbers=numbers,
            ids=tuple(samples[number].id for number in numbers),
            log_odds=evidence,
            gold=np.array(gold, dtype=np.uint8).reshape(shape),
            alone=alone(evidence),
            place_of={number: place for place, number in enumerate(numbers)},
            silent=dataset.n - len(numbers),
            agreement=_agreement(list(samples.values()), labels),
            doubtful=sum(said[number].doubtful for number in numbers),
        )

    def redecode(self, run: Run, tuning: Tuning) -> Redecoding:
        """The run under a tuning. Raises BadInput as `load` and `Redecoding`."""
        return Redecoding(self.load(run), tuning)

    def sureness(self, run: Run, predicted: Bits) -> dict[str, Any]:
        """`ci95` of the figures of what was decoded of a run, and its convention. Args: predicted: (n, k)."""
        scenes, found = self.load(run), groups_of(self._store, run.dataset)
        shared = {} if found is None else found[1]
        groups = [None if number not in shared else str(shared[number]) for number in scenes.numbers]
        return beside(of_vectors(scenes.gold, predicted, scenes.labels, groups), groups)

    def export(self, run: Run, path: str) -> int:
        """Write a run's logits as predicted records; how many. Raises BadInput as `export_run`."""
        return export_run(self._store, run.run, path)

    def by_emotion(self, runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
        """Run id to the figures of Table 1 and Figure 4 of each run (alpha 0); runs without answers are left out."""
        found = {run.run: metrics(self._store, run) for run in runs}
        return {run: report for run, report in found.items() if report}


class _Broken(ValueError):
    """What cannot be decoded, and in which row."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row


def _evidence(said: Sequence[Prediction], labels: Sequence[str]) -> Evidence:
    """Log-odds, or hard answers where there is no score. Raises _Broken where both are there, or a logit is none."""
    shape = len(said), len(labels)
    hard = [not one.scores for one in said]
    if said and all(hard):
        rows = [[NONE if name in one.unanswered else one.labels[name] for name in labels] for one in said]
        return hard_answers(np.array(rows).reshape(shape))
    if any(hard):
        raise _Broken(hard.index(True), "an answer without scores among others that have them: decode them apart")
    odds = [[one.scores[name][0] - one.scores[name][1] for name in labels] for one in said]
    log_odds = np.array(odds, dtype=np.float64).reshape(shape)
    broken = np.flatnonzero(~np.isfinite(log_odds).all(axis=1))
    if len(broken):
        raise _Broken(int(broken[0]), "a logit is not finite")
    return checked_log_odds(log_odds) if said else log_odds


def _agreement(samples: Sequence[ScenesGold], labels: Sequence[str]) -> AnnotatorAgreement | None:
    """How far annotators agree, where each scenario has as many."""
    said = [[[int(one.get(name, 0)) for name in labels] for one in sample.annotators.values()] for sample in samples]
    if not said or len({len(one) for one in said}) > 1 or len(said[0]) < 2:
        return None
    return annotator_agreement(said)


def as_setting(tuning: Tuning) -> dict[str, object]:
    """As plain values that a store can keep."""
    return {
        "prior": tuning.prior,
        "smoothing": tuning.smoothing,
        "scaling": tuning.scaling,
        "objective": tuning.objective,
    }


def tuning_from(value: object) -> Tuning:
    """What was remembered; whatever in it makes no sense any more is left at its default."""
    if not isinstance(value, dict):
        return Tuning()
    prior, smoothing, scaling = value.get("prior"), value.get("smoothing"), value.get("scaling")
    objective = value.get("objective")
    return Tuning(
        prior=prior if isinstance(prior, str) and prior in PRIORS else Tuning().prior,
        smoothing=float(smoothing) if isinstance(smoothing, int | float) and 0 <= smoothing <= 1000 else 0.5,
        scaling=_scaling(scaling),
        objective=next((one for one in OBJECTIVES if one == objective), "map"),
    )


def _scaling(value: object) -> Scaling:
    if value == "fitted":
        return "fitted"
    return float(value) if isinstance(value, int | float) and 0.02 <= value <= 50 else 1.0


def annotator_labels(scene: ScenesGold) -> dict[str, str]:
    """What each annotator said of a scenario, in short names: `joy ant`, or `none`."""
    short = dict(zip(scene.labels, short_names(list(scene.labels)), strict=True))
    return {
        name: " ".join(short[label] for label in scene.labels if said.get(label)) or "none"
        for name, said in scene.annotators.items()
    }


# EmoScene's Table 1 with own runs beside the published ones.

_FIGURES = (
    ("lexical_accuracy", "Lexical accuracy", FINE),
    ("vector_accuracy", "Vector accuracy", FINE),
    ("hamming_loss", "Hamming loss", FINE),
    ("macro_f1", "Macro-F1", "share"),
)
_PRIOR = (
    "Prior: decoded jointly under the paper's prior, at the alpha that nested cross-validation chooses on the other "
    "folds (EmoScene, section 4; the folds are ours)."
)
_FIRST = "Of a run with repeats the first is decoded."
NOTES = (f"Alone: yes where its logit is the greater. {_PRIOR}", _FIRST)
IN_WORDS = "Answers in words"
"""How the note on hard answers begins."""
HARD_NOTES = (
    f"Alone: what the model answers; of logits, yes where its logit is the greater. {_PRIOR}",
    f"{IN_WORDS} have no logits: with the prior each counts for as much as such answers about the emotion are right on "
    "the other folds (sensitivity and specificity; Dawid and Skene 1979).",
    _FIRST,
)


def scene_table(bench: SceneBench, runs: Iterable[Run]) -> ResultsTable:
    """The figures of runs over scenarios, alone and with a prior, beside Table 1."""
    columns = [
        Column(f"{key}/{step}", title, group, unit)
        for key, group, unit in _FIGURES
        for step, title in (("alone", "Alone"), ("prior", "Prior"))
    ]
    rows: list[Row] = []
    told: list[Mapping[str, Any]] = []
    hard = False
    for run in runs:
        own, sure = _cells(bench, run)
        told += sure
        hard = hard or _answers_in_words(bench, run)
        rows.append(Row(run.model, "run", run.run, own, _remark(bench, run)))
    cite, published = published_table()
    for row in published:
        cells = [Cell(side[key], None, "EmoScene, Table 1") for key, *_ in _FIGURES for side in (row.before, row.after)]
        rows.append(Row(row.model, "published", "EmoScene, Table 1", tuple(cells)))
    note = f"† as printed in the paper: other scenarios, so not to be compared figure by figure. {cite}."
    title = "Emotion vectors of scenarios"
    return ResultsTable(
        SCENES,
        title,
        tuple(columns),
        tuple(rows),
        (*(HARD_NOTES if hard else NOTES), *interval_notes(told)),
        published_notes=(note,),
        settings="titles",
    )


def _cells(bench: SceneBench, run: Run) -> tuple[tuple[Cell, ...], Sequence[Mapping[str, Any]]]:
    """The figures of a run, and what is told of their intervals."""
    try:
        chosen = bench.redecode(run, Tuning()).choose()
    except BadInput as problem:
        return tuple(Cell(why=str(problem), run=run.run) for _ in range(2 * len(_FIGURES))), ()
    scenes = bench.load(run)
    at = f"the paper's prior, alpha {chosen.choice.alpha:g} on all folds"
    alone = bench.sureness(run, scenes.alone)
    prior = bench.sureness(run, chosen.held_out)
    own = "the answers alone" if _answers_in_words(bench, run) else "the logits alone"
    sides = (chosen.alone, own, alone), (chosen.nested_cv, at, prior)
    cells = tuple(
        Cell(getattr(side, key), None, convention, None, scenes.numbers, run.run, *sure_of(sure, key))
        for key, *_ in _FIGURES
        for side, convention, sure in sides
    )
    return cells, (alone, prior)


def _answers_in_words(bench: SceneBench, run: Run) -> bool:
    """Whether a run's answers are hard; False where it cannot be decoded."""
    with suppress(BadInput):
        return bench.load(run).reliability() is not None
    return False


def _remark(bench: SceneBench, run: Run) -> str:
    parts = [f"{run.done} of {run.n} answered"] if run.done < run.n else []
    hard = _answers_in_words(bench, run)
    if hard:
        parts.append("answers in words, without logits")
    with suppress(BadInput):  # its cells say why it cannot be decoded
        if doubtful := bench.load(run).doubtful:
            little = "" if hard else "little probability on yes and no, or "
            parts.append(f"{doubtful} answers (marked !) have {little}none for an emotion")
    if run.config.get("flattered"):
        parts.append("fitted on these samples, which flatters it")
    return "; ".join(parts)
