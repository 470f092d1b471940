"""What raters come to, as tables: agreement and human F1 by model and emotion (Tables 6 to 10)."""

from collections.abc import Mapping
from typing import Any

from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, sure_of

_BEYOND = (
    Column("agreement", "Agreement"),
    Column("krippendorff_alpha", "Krippendorff's alpha", short="alpha"),
    Column("fleiss_kappa", "Fleiss' kappa", short="kappa"),
    Column("ties", "Ties", unit="count"),
    Column("n", "Texts", unit="count"),
)
_EMOTIONAL = (Column("human_f1", "Human F1"), Column("accuracy", "Accuracy"), *_BEYOND)
_NEUTRAL = (Column("f1", "F1"), Column("recall", "Seen as neutral"), *_BEYOND)
AGREEMENT = "Agreement: mean share of the most frequent label (equation 6). Human F1: weighted by support (Table 10)."
CHANCE = "Intervals of alpha: emotui agreement."
SPREAD = (
    "People's spread: none here, since people grade texts and no model gives grades to set against theirs. "
    "How far raters agree stands here."
)
NEUTRAL = "F1: the neutral class's 2r / (1 + r), as all texts are gold neutral; r: the share seen as neutral (Table 7)."


_NONE = (None, None, "")


def people_tables(models: Mapping[str, Mapping[str, Any]], runs: Mapping[str, tuple[str, str]]) -> list[ResultsTable]:
    """Tables of the emotional texts (8, 9, 10) and of the neutral ones (6, 7), where these were rated."""
    tables, notes, hints = [], interval_notes(models.values()), (CHANCE,)
    rated = {model: {**one["human"], "sure": _sure(one, "human")} for model, one in models.items() if "human" in one}
    if rated:
        title, rows = "What raters see in the emotional texts", _rows(rated, _EMOTIONAL, runs)
        tables.append(ResultsTable("raters", title, _EMOTIONAL, rows, (AGREEMENT, SPREAD, *notes), hints=hints))
        title, rows = "Agreement and human F1 by emotion", _by_emotion(rated, runs)
        tables.append(ResultsTable("raters-by-emotion", title, _by_model(rated), rows, (AGREEMENT, *notes)))
    of_neutral = {
        model: {**one["human_neutral"], "sure": _sure(one, "human_neutral")}
        for model, one in models.items()
        if "human_neutral" in one
    }
    if of_neutral:
        seen = dict.fromkeys(label for one in of_neutral.values() for label in one["by_emotion"])
        columns = (*_NEUTRAL, *(Column(f"seen/{label}", label, "texts seen as", "count") for label in seen))
        flat = {
            model: {**one, **{f"seen/{label}": one["by_emotion"].get(label, 0) for label in seen}}
            for model, one in of_neutral.items()
        }
        title, rows = "What raters see in the neutral texts", _rows(flat, columns, runs)
        tables.append(ResultsTable("raters-neutral", title, columns, rows, (NEUTRAL, *notes), hints=hints))
    return tables


def _sure(figures: Mapping[str, Any], people: str) -> dict[str, Any]:
    """The intervals of what people see by the names that its figures have by themselves."""
    sure = {name: sure_of(figures, name) for name in figures.get("ci95", {})}
    own = {name.removeprefix(f"{people}."): ends for name, ends in sure.items() if name.startswith(f"{people}.")}
    return own if people == "human_neutral" else {**sure, **own}


def _rows(
    figures: Mapping[str, Mapping[str, Any]], columns: tuple[Column, ...], runs: Mapping[str, tuple[str, str]]
) -> tuple[Row, ...]:
    rows = []
    for model, one in figures.items():
        run, remark = runs.get(model, ("", ""))
        notes = one["notes"]
        cells = []
        for column in columns:
            value, ends = one[column.key], one["sure"].get(column.key, ())
            cells.append(
                Cell(value, None, "", notes.get(column.key) if value is None else None, (), run or None, *ends)
            )
        rows.append(Row(model, "run", run, tuple(cells), remark))
    return tuple(rows)


def _by_model(rated: Mapping[str, Mapping[str, Any]]) -> tuple[Column, ...]:
    titles = (("agreement", "agreement", "share"), ("f1", "F1", "share"), ("n", "texts", "count"))
    return tuple(Column(f"{model}/{key}", title, model, unit) for model in rated for key, title, unit in titles)


def _by_emotion(rated: Mapping[str, Mapping[str, Any]], runs: Mapping[str, tuple[str, str]]) -> tuple[Row, ...]:
    emotions = dict.fromkeys(emotion for one in rated.values() for emotion in one["by_emotion"])
    rows = []
    for emotion in (*emotions, None):
        cells: list[Cell] = []
        for model, one in rated.items():
            total = {"agreement": one["agreement"], "f1": one["human_f1"], "n": one["n"]}
            figures = total if emotion is None else one["by_emotion"].get(emotion, {})
            run = runs.get(model, ("", ""))[0] or None
            for key in ("agreement", "f1", "n"):
                at = f"by_emotion.{emotion}.{key}" if emotion is not None else {"f1": "human_f1"}.get(key, key)
                low, high, note = one["sure"].get(at, _NONE) if key != "n" else _NONE
                cells.append(Cell(figures.get(key), run=run, low=low, high=high, note=note))
        rows.append(Row("total (weighted F1)" if emotion is None else emotion, "label", "", tuple(cells)))
    return tuple(rows)
