"""The figures of `emotui score generation` as tables: models by metrics, metrics by people, and recognition a class."""

from collections.abc import Mapping
from typing import Any

from emotui.tables import Cell, Column, ResultsTable, Row, Value

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

_PEOPLE = (Column("human_f1", "human F1"), Column("agreement", "agreement"))
_LENGTHS = tuple(
    Column(f"{unit}_{kind}", f"{unit} {kind}", unit="count")
    for kind in ("original", "neutral", "emotional")
    for unit in ("words", "characters")
)
_TRUST = (
    Column("pearson", "Pearson", short="r"),
    Column("oriented_pearson", "oriented"),
    Column("low", "from"),
    Column("high", "to"),
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
    notes = tuple(f"{name}: {why}" for name, why in document["notes"].items())
    models: Mapping[str, Mapping[str, Any]] = document["models"]
    metrics = [name for name in TITLES if any(name in one for one in models.values())]
    metrics += [name for one in models.values() for name in one if name.startswith("ers:") and name not in metrics]
    columns = (*_PEOPLE, *(Column(name, TITLES.get(name, name)) for name in dict.fromkeys(metrics)))
    columns += (Column("n", "n", unit="count"), Column("silent", "silent", unit="count"))
    tables = [
        ResultsTable("generation", "Models by metrics", columns, _rows(models, columns, document["notes"]), notes),
        ResultsTable("lengths", "Length", _LENGTHS, _rows(models, _LENGTHS, {})),
    ]
    if document["correlations"]:
        tables.append(_trust_table(document["correlations"]))
        tables.append(_text_table(document["texts"]))
    return (*tables, *_recognition(models))


def _rows(
    models: Mapping[str, Mapping[str, Any]], columns: tuple[Column, ...], notes: Mapping[str, str]
) -> tuple[Row, ...]:
    return tuple(
        Row(model, "run", "", tuple(_cell(figures.get(column.key), notes.get(column.key)) for column in columns))
        for model, figures in models.items()
    )


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
        Column("oriented_spearman", "oriented"),
        Column("low", "from"),
        Column("high", "to"),
        Column("within", "within"),
        Column("n", "texts", unit="count"),
        Column("models", "models", unit="count"),
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


def _recognition(models: Mapping[str, Mapping[str, Any]]) -> list[ResultsTable]:
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
            named = {**one["by_emotion"], "macro avg": one["macro"], "weighted avg": one["weighted"]}
            rows = tuple(
                Row(name, "run", "", tuple(_cell(row.get(column.key), None) for column in columns))
                for name, row in named.items()
            )
            key = f"recognition-{model}-{spec}"
            tables.append(ResultsTable(key, f"ERS of {model} by {spec}", columns, rows))
    return tables


def _cell(value: Value, why: str | None) -> Cell:
    return Cell(value, why=why if value is None else None)
