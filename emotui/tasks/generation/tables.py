"""The figures of `emotui score generation` as tables: models by metrics, metrics by people, and recognition a class."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from emotui.tables import Cell, Column, ResultsTable, Row, Value, interval_notes, sure_of
from emotui.tasks.generation.document import ILLUSTRATION, ILLUSTRATIVE
from emotui.tasks.generation.people_tables import people_tables

TITLES: Mapping[str, str] = {
    "eps_emotionless": "emotionless",
    "eps_neutral": "neutral",
    "eps_emotional": "emotional",
    "eas": "EAS",
    "ers": "ERS",
    "r1_m": "R1_m",
    "r2_m": "R2_m",
    "r3_m": "R3_m",
    "r1_c": "R1_c",
    "r2_c": "R2_c",
    "r3_c": "R3_c",
    "ppl": "PPL",
}
"""As Table 11 heads them."""

_PEOPLE = (Column("human_f1", "Human F1"), Column("agreement", "Agreement"))
_LENGTHS = tuple(
    Column(f"{unit}_{kind}", f"{unit} {kind}", unit="count")
    for kind in ("original", "neutral", "emotional")
    for unit in ("words", "characters")
)
_TRUST = (
    Column("pearson", "Pearson", short="r"),
    Column("oriented_pearson", "Oriented"),
    Column("low", "From"),
    Column("high", "To"),
    Column("spearman", "Spearman", short="rho"),
    Column("p", "p"),
    Column("p_holm", "p Holm"),
    Column("p_bh", "p BH"),
    Column("n", "n", unit="count"),
)
TRUST_NOTE = (
    "Human F1 against each metric, a point a model. Oriented: turned where lower is better. From, to: 95% of Pearson "
    "by Fisher's z. p: of all orders of the points; Holm and BH: corrected over the metrics of the table."
)
TEXT_NOTE = (
    "A point a text: the metric against the share of raters who see the target. From, to: 95% of Spearman, models "
    "drawn with replacement. Within: the mean over models of rho inside each."
)


def score_tables(document: Mapping[str, Any]) -> tuple[ResultsTable, ...]:
    """All that a document holds."""
    notes = tuple(f"{name}: {why}" for name, why in document["notes"].items() if name != "illustration")
    return tables_of(document["models"], document["correlations"], document.get("texts", {}), document["notes"], notes)


def tables_of(
    models: Mapping[str, Mapping[str, Any]],
    correlations: Mapping[str, Mapping[str, Any]],
    texts: Mapping[str, Mapping[str, Any]],
    why: Mapping[str, str],
    notes: tuple[str, ...],
    runs: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[ResultsTable, ...]:
    """Every table that these figures fill.

    Args:
        why: by a figure the reason why there is none.
        notes: under the first table.
        runs: by the name of a model the id of its run, and what a reader has to know of it.
    """
    metrics = [name for name in TITLES if any(name in one for one in models.values())]
    metrics += [name for one in models.values() for name in one if name.startswith("ers:") and name not in metrics]
    columns = (*_PEOPLE, *(Column(name, TITLES.get(name, name)) for name in dict.fromkeys(metrics)))
    columns += (Column("n", "n", unit="count"), Column("silent", "Silent", unit="count"))
    known = runs or {}
    sure = interval_notes(models.values())
    notes = (*notes, *sure)
    tables = [
        ResultsTable("generation", "Models by metrics", columns, _rows(models, columns, why, known), notes),
        ResultsTable("lengths", "Length", _LENGTHS, _rows(models, _LENGTHS, {}, known), sure),
        *people_tables(models, known),
    ]
    if correlations:
        tables += [_trust_table(correlations), _text_table(texts)]
    tables += _recognition(models, known)
    mark = (ILLUSTRATION,) if any(name.endswith(ILLUSTRATIVE) for name in models) else ()
    return tuple(replace(table, notes=(*mark, *table.notes)) for table in tables)


def _rows(
    models: Mapping[str, Mapping[str, Any]],
    columns: tuple[Column, ...],
    why: Mapping[str, str],
    runs: Mapping[str, tuple[str, str]],
) -> tuple[Row, ...]:
    rows = []
    for model, figures in models.items():
        run, remark = runs.get(model, ("", ""))
        cells = []
        for column in columns:
            value = figures.get(column.key)
            low, high, note = sure_of(figures, column.key)
            lacking = (why.get(column.key) or why.get(column.key.partition("_")[0])) if value is None else None
            cells.append(Cell(value, why=lacking, run=run or None, low=low, high=high, note=note))
        rows.append(Row(model, "run", run, tuple(cells), remark))
    return tuple(rows)


def _trust_table(correlations: Mapping[str, Mapping[str, Any]]) -> ResultsTable:
    rows = []
    for name, one in correlations.items():
        ends = one["ci"] or (None, None)
        values = {**one, "low": ends[0], "high": ends[1]}
        cells = tuple(_cell(values[column.key], one["why"]) for column in _TRUST)
        rows.append(Row(TITLES.get(name, name), "run", "", cells))
    return ResultsTable("trust", "Which metric goes with people, over models", _TRUST, tuple(rows), (TRUST_NOTE,))


def _text_table(texts: Mapping[str, Mapping[str, Any]]) -> ResultsTable:
    columns = (
        Column("spearman", "Spearman", short="rho"),
        Column("oriented_spearman", "Oriented"),
        Column("low", "From"),
        Column("high", "To"),
        Column("within", "Within"),
        Column("n", "Texts", unit="count"),
        Column("models", "Models", unit="count"),
    )
    rows = []
    for name, one in texts.items():
        ends = one["ci"] or (None, None)
        values = {**one, "low": ends[0], "high": ends[1]}
        cells = tuple(_cell(values[column.key], one["why"]) for column in columns)
        rows.append(Row(TITLES.get(name, name), "run", "", cells))
    whys = dict.fromkeys(one["why"] for one in texts.values() if one["why"] and one["spearman"] is not None)
    return ResultsTable(
        "texts", "Which metric goes with people, text by text", columns, tuple(rows), (TEXT_NOTE, *whys)
    )


def _recognition(models: Mapping[str, Mapping[str, Any]], runs: Mapping[str, tuple[str, str]]) -> list[ResultsTable]:
    """Tables 13 and 14 for each model and classifier."""
    columns = (
        Column("precision", "Precision"),
        Column("recall", "Recall"),
        Column("f1", "F1"),
        Column("support", "Support", unit="count"),
    )
    tables = []
    for model, figures in models.items():
        for spec, one in figures["recognition"].items():
            named = {f"by_emotion.{name}": (name, row) for name, row in one["by_emotion"].items()}
            named |= {"macro": ("macro avg", one["macro"]), "weighted": ("weighted avg", one["weighted"])}
            named["accuracy"] = "accuracy", {"recall": one["accuracy"], "support": one["n"]}
            run, _ = runs.get(model, ("", ""))
            sure = figures
            rows = tuple(
                Row(name, "label", run, tuple(_sure(row, sure, spec, at, column.key, run) for column in columns))
                for at, (name, row) in named.items()
            )
            key = f"recognition-{model}-{spec}"
            told = f"{one['n']} texts; a text that failed, or in which no target is found, is missed."
            notes = (told, *interval_notes([figures]))
            tables.append(ResultsTable(key, f"ERS of {model} by {spec}", columns, rows, notes))
    return tables


def _sure(row: Mapping[str, Any], sure: Mapping[str, Any], spec: str, at: str, key: str, run: str) -> Cell:
    """A figure with its interval; accuracy stands under recall."""
    name = f"recognition.{spec}.{at}" if at == "accuracy" else f"recognition.{spec}.{at}.{key}"
    low, high, note = sure_of(sure, name) if key != "support" else (None, None, "")
    return Cell(row.get(key), run=run or None, low=low, high=high, note=note)


def _cell(value: Value, why: str | None) -> Cell:
    return Cell(value, why=why if value is None else None)
