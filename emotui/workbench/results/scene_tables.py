"""EmoScene's Table 1 with own runs beside the published ones."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from emotui.errors import BadInput
from emotui.store.query import Run
from emotui.tables import FINE, Cell, Column, ResultsTable, Row, interval_notes, sure_of
from emotui.tasks.scenes.task import Scenes
from emotui.workbench.results.published import published_table
from emotui.workbench.scenes.decoding import Tuning
from emotui.workbench.scenes.service import SceneBench

_FIGURES = (
    ("lexical_accuracy", "Lexical accuracy", FINE),
    ("vector_accuracy", "Vector accuracy", FINE),
    ("hamming_loss", "Hamming loss", FINE),
    ("macro_f1", "Macro-F1", "share"),
)
NOTES = (
    "Alone: yes where its logit is the greater. Prior: decoded jointly under the paper's prior, at the alpha that "
    "nested cross-validation chooses on the other folds (EmoScene, section 4; the folds are ours).",
    "Of a run with repeats the first is decoded.",
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
    for run in runs:
        own, sure = _cells(bench, run)
        told += sure
        rows.append(Row(run.model, "run", run.run, own, _remark(bench, run)))
    cite, published = published_table()
    for row in published:
        cells = [Cell(side[key], None, "EmoScene, Table 1") for key, *_ in _FIGURES for side in (row.before, row.after)]
        rows.append(Row(row.model, "published", "EmoScene, Table 1", tuple(cells)))
    note = f"† as printed in the paper: other scenarios, so not to be compared figure by figure. {cite}."
    title = "Emotion vectors of scenarios"
    return ResultsTable(
        Scenes.name,
        title,
        tuple(columns),
        tuple(rows),
        (*NOTES, *interval_notes(told)),
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
    sides = (chosen.alone, "the logits alone", alone), (chosen.nested_cv, at, prior)
    cells = tuple(
        Cell(getattr(side, key), None, convention, None, scenes.numbers, run.run, *sure_of(sure, key))
        for key, *_ in _FIGURES
        for side, convention, sure in sides
    )
    return cells, (alone, prior)


def _remark(bench: SceneBench, run: Run) -> str:
    parts = [f"{run.done} of {run.n} answered"] if run.done < run.n else []
    with suppress(BadInput):  # its cells say why it cannot be decoded
        if doubtful := bench.load(run).doubtful:
            parts.append(f"{doubtful} answers (marked !) have little probability on yes and no, or none for an emotion")
    if run.config.get("flattered"):
        parts.append("fitted on these samples, which flatters it")
    return "; ".join(parts)
