"""The figures of `emotui score generation` as tables: models by metrics, metrics by people, and recognition a class."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.metrics.fluency import METRIC as PERPLEXITY
from emotui.metrics.thirteen import REGISTRY
from emotui.tables import Cell, Column, ResultsTable, Row, Value, interval_notes, sure_of
from emotui.tasks.generation.document import ILLUSTRATION, ILLUSTRATIVE, ScoredText, model_figures, trusted
from emotui.tasks.generation.options import EMBEDDED
from emotui.tasks.generation.scoring import WHY
from emotui.tasks.generation.whole import Detail
from emotui.tasks.parts import ScoredRun

# What raters come to, as tables: agreement and human F1 by model and emotion (Tables 6 to 10).

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
    rated = {
        model: {**one["human"], "sure": _people_sure(one, "human")} for model, one in models.items() if "human" in one
    }
    if rated:
        title, rows = "What raters see in the emotional texts", _people_rows(rated, _EMOTIONAL, runs)
        tables.append(ResultsTable("raters", title, _EMOTIONAL, rows, (AGREEMENT, SPREAD, *notes), hints=hints))
        title, rows = "Agreement and human F1 by emotion", _by_emotion(rated, runs)
        tables.append(ResultsTable("raters-by-emotion", title, _by_model(rated), rows, (AGREEMENT, *notes)))
    of_neutral = {
        model: {**one["human_neutral"], "sure": _people_sure(one, "human_neutral")}
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
        title, rows = "What raters see in the neutral texts", _people_rows(flat, columns, runs)
        tables.append(ResultsTable("raters-neutral", title, columns, rows, (NEUTRAL, *notes), hints=hints))
    return tables


def _people_sure(figures: Mapping[str, Any], people: str) -> dict[str, Any]:
    """The intervals of what people see by the names that its figures have by themselves."""
    sure = {name: sure_of(figures, name) for name in figures.get("ci95", {})}
    own = {name.removeprefix(f"{people}."): ends for name, ends in sure.items() if name.startswith(f"{people}.")}
    return own if people == "human_neutral" else {**sure, **own}


def _people_rows(
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


TITLES: Mapping[str, str] = {
    "eps_emotionless": "emotionless",
    "eps_neutral": "neutral",
    "eps_emotional": "emotional",
    "eas": "EAS",
    "ers": "ERS",
    "r1_m": "R1L1",
    "r2_m": "R2L1",
    "r3_m": "R3L1",
    "r1_c": "R1cos",
    "r2_c": "R2cos",
    "r3_c": "R3cos",
    "ppl": "PPL",
}
"""In the order of Table 11, which heads the distances R1_m, R1_c and so on; the names are those of the metrics."""

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


# The tables of Results for generation: those of `emotui score generation`, of what the store keeps of runs.

# The texts behind the figures of generation, for the tables of Results: the worst first where a metric tells.

Said = Sequence[tuple[int, Detail]]
"""The answers of a run, each with the number of its text."""

_HIGHER = {metric.name for metric in (*REGISTRY, PERPLEXITY) if metric.higher_is_better}


def with_texts(table: ResultsTable, said: Mapping[str, Said]) -> ResultsTable:
    """The same table with the texts behind each figure of a run.

    Args:
        said: by the id of a run.
    """

    def filled(row: Row, at: int, cell: Cell) -> Cell:
        if cell.value is None or cell.run is None or cell.run not in said:
            return cell
        return replace(cell, samples=texts_behind(said[cell.run], table.columns[at].key, row.label))

    rows = tuple(
        replace(row, cells=tuple(filled(row, at, cell) for at, cell in enumerate(row.cells))) for row in table.rows
    )
    return replace(table, rows=rows)


def texts_behind(said: Said, key: str, label: str) -> tuple[int, ...]:
    """The numbers of the texts that a figure counts.

    Args:
        key: of the figure's column. Where it is a metric's, those without a value are left out, the worst first.
        label: of its row. Where it is a target emotion, only texts of that.
    """
    targets = {one.target for _, one in said}
    own = [(number, one) for number, one in said if label not in targets or one.target == label]
    if key == "silent":
        own = [(number, one) for number, one in own if one.silent]
    valued = [(one.values[key], number) for number, one in own if key in one.values]
    if valued:
        ordered = sorted(valued, reverse=key not in _HIGHER)
        return tuple(dict.fromkeys(number for _, number in ordered))
    return tuple(dict.fromkeys(number for number, _ in own))


SEED = 0
BY = f"ers: by {EMBEDDED}."
MEASURE = "Other classifiers, an NLI model, EAS and perplexity: emotui measure DATASET."


def run_tables(runs: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
    """Models by metrics, what raters see, which metric goes with them, and ERS by emotion; none without an answer."""
    decode = msgspec.json.Decoder(Detail).decode
    said = {scored.run.run: [(number, decode(detail)) for number, detail in scored.scores] for scored in runs}
    values = (name for details in said.values() for _, one in details for name in one.values)
    names = list(dict.fromkeys([*(metric.name for metric in REGISTRY), PERPLEXITY.name, *values]))
    every = [scored.run.model for scored in runs]
    models, known, texts = {}, {}, list[ScoredText]()
    for scored in runs:
        run, details = scored.run, said[scored.run.run]
        if not details:
            continue
        model = f"{run.model} {run.run}" if every.count(run.model) > 1 else run.model
        own = [_text(model, one, *scored.rated.get(number, ((), ()))) for number, one in details]
        texts += own
        models[model] = model_figures(own, names, "none", scored.shared((number, one.id) for number, one in details))
        known[model] = run.run, f"{run.done} of {run.n} answered" if run.done < run.n else ""
    if not models:
        return ()
    correlations, each = trusted(texts, models, names, SEED)
    tables = tables_of(models, correlations, each, WHY, (BY,), known)
    first, *rest = (with_texts(table, said) for table in tables)
    return replace(first, hints=(MEASURE,)), *rest


def _text(model: str, one: Detail, human: tuple[str, ...] = (), neutral: tuple[str, ...] = ()) -> ScoredText:
    """Args: human, neutral: labels that came after the answer."""
    return ScoredText(
        one.id,
        model,
        one.target,
        repeat=one.repeat,
        failed=one.silent,
        values=one.values,
        found={spec: label or None for spec, label in one.found.items()},
        lengths=one.lengths,
        human=(*one.human, *human),
        human_neutral=(*one.human_neutral, *neutral),
    )
