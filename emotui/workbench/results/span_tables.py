"""SEER's tables, laid out as in the paper, from the figures of runs and annotators and from what is published."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from emotui.metrics.beside import SEED
from emotui.metrics.metric import Metric
from emotui.metrics.resampling import BESIDE
from emotui.metrics.span_errors import Figure, SpanErrors
from emotui.metrics.span_report import EMPTY_RULE
from emotui.metrics.transitions import ordered
from emotui.tables import (
    Bars,
    Cell,
    Column,
    ResultsTable,
    Row,
    Series,
    Transitions,
    metric_column,
    number_of,
    shown_cell,
)
from emotui.tasks.published import Printed, PublishedRow, published
from emotui.workbench.datasets.samples import COMPOSED
from emotui.workbench.results.baselines import BASELINE_SAMPLES, BaselineFigures
from emotui.workbench.results.span_figures import AnnotatorFigures, RunFigures, confusion_tables

OWN = "own"
"""The setting of who is not asked by a prompt: a model that marks evidence itself, and people."""

SETTINGS = {
    "retrieve": "Retrieve (Base)",
    "retrieve-cot": "Retrieve (CoT)",
    "highlight": "Highlight (Base)",
    "highlight-cot": "Highlight (CoT)",
    OWN: "No prompt",
}
AVERAGE, BEST = "Annotators, average", "Annotators, best of each sample"
_MAIN = {"task-1": "seer_table3", "task-2": "seer_table4"}

SCORES = (
    "F1 and Sim of a sample: the aligned pairs' sum over the greater number of spans; means over samples, then over "
    f"repeats; ± is the standard deviation (n-1) over repeats (SEER, section 6). F1 alone misleads: {EMPTY_RULE}."
)
INTERVALS = (
    "[low, high]: 95% BCa bootstrap over samples (over the passages, posts or originals that samples share), "
    f"all repeats together, {BESIDE:,} resamples (fewer of more than 20,000 samples), seed {SEED}; none where no "
    "resample differs."
)
_CAUTIONED = 4
"""Sources that a caution names, at most."""

BOTH = "P and R: the aligned pairs' F1 over the number of predicted and of gold spans, over all samples."
OVER = "P, R: over all spans together; F1, Sim: means over texts"
"""Why a mean F1 may stand above P and R, though that of a single text cannot."""

_COVERED = f"that the runs above it cover, at most {BASELINE_SAMPLES:,}; runs that cover others have"
FREE = (
    "Baseline: the best F1 without a model (no span, the whole text, every emotion keyword) over the samples "
    f"{_COVERED} a baseline of their own."
)
EACH_FREE = (
    "Baselines: without a model (no span, the whole text, every emotion keyword), each over the samples "
    f"{_COVERED} baselines of their own."
)
HEADLINE = (("f1", "F1", "share"), ("precision", "P", "share"), ("recall", "R", "share"), ("sim", "Sim", "cosine"))
"""The columns of each setting."""

PEOPLE = (
    "Annotators as if they were models: average over annotators (± over annotators), and the best annotation of each "
    "sample by F1, whose Sim is its own (SEER, section 9)."
)
PUBLISHED = "† as printed in the paper: other samples, other prompts, so not to be compared figure by figure."
ERRORS = (
    "Hallucinated: not in the text, case and punctuation aside (SEER, section 10.2); over predicted spans.",
    "Fixated: a prediction is nothing but an emotion keyword while the gold span around it is longer; over samples "
    "with a keyword in a gold span (SEER, section 10.4); of passages also by sentence, as SEER's of Task 2 are.",
    "Neutral: SEER measures two things under one name (section 10.3 and the captions of Figures 5 and 6): neutral "
    "sentences that a prediction touches over neutral sentences, and predictions in neutral ones over predictions.",
    "Invalid: outputs that break their format to the end, over samples; a highlight answer that changed the text "
    "scores 0 (SEER, section 8.1).",
)
LABELS = (
    "Without neutral sentences. In passages F1 is by sentence: gold and predicted spans cut to it (SEER, Figures "
    "3 to 6, which print no numbers)."
)
CHANGE = "Change: reasoning less base, of the mean F1 (SEER, section 10.1)."
COT = (
    "The paper counts Qwen 3 8B among those that reasoning "
    "helps in Task 2; in its Table 4 F1 falls from 0.358 to 0.355 and Sim rises."
)
GATE = (
    "Goes on: F1 of at least 0.5 in both halves of experiment 3, at two decimals (SEER, section 7.2; the halves are "
    "emotui's)."
)
UNSCORED = "the run was scored without it: emotui rescore RUN"
ASKING = (
    "Counts over all repeats. Failed format: broke the contract to the last attempt. Empty: kept it and gave no span. "
    "Unanswered: no output at all."
)


@dataclass(frozen=True, slots=True)
class Material:
    """What tables are made of: figures of runs over one dataset, newest first, and of its annotators by part.

    `titles`: what the samples of each part are called, for the parts that there are. `metrics`: what samples are scored
    by. `baselines`: of those that cost nothing, for each set of samples that runs cover the best; or, `each_baseline`,
    all. `composed`: the annotators are no people, but were written with the samples.
    """

    runs: Sequence[RunFigures]
    people: Mapping[str, AnnotatorFigures]
    titles: Mapping[str, str]
    metrics: Sequence[Metric]
    baselines: Sequence[BaselineFigures] = ()
    composed: bool = False
    each_baseline: bool = False


def task_tables(material: Material) -> list[ResultsTable]:
    """For each part that there is: the main table (Tables 3 and 4), errors, labels, reasoning against base, the other
    metrics, and the labels of spans that met; then the asking.
    """
    tables = []
    for part in material.titles:
        tables += [_main(material, part), _errors(material, part), _labels(material, part), _cot(material, part)]
        tables += _metrics(material, part)
        for run in material.runs:
            tables += confusion_tables(material.titles[part], part, run, SETTINGS.get(setting_of(run), run.way))
    return [*tables, asking(material.runs)]


# Main tables.


def _main(material: Material, part: str) -> ResultsTable:
    columns = [
        Column(f"{way}/{name}", title, group, unit) for way, group in SETTINGS.items() for name, title, unit in HEADLINE
    ]
    rows = []
    for label, by_way, remark in _by_model(material.runs, part):
        cells = [cell for way in SETTINGS for cell in _scores(by_way.get(way), part)]
        rows.append(Row(label, "run", _run_ids(by_way.values()), tuple(cells), remark))
    rows += _baselines(material, part)
    for label, kind, errors, convention in _people(material, part):
        empty = (Cell(),) * (len(HEADLINE) * (len(SETTINGS) - 1))
        cells = [*empty, *_scored_cells(errors.figures, convention, None)]
        rows.append(Row(label, "people", kind, tuple(cells), _of_people(material)))
    table = published(_MAIN[part])
    for row in table.rows:
        cells = [
            _printed(row.settings.get("people" if way == OWN and row.kind == "people" else way, {}).get(name), row)
            for way in SETTINGS
            for name, _, _ in HEADLINE
        ]
        rows.append(Row(row.model, "published", row.source, tuple(cells)))
    caution = _caution(material, part)
    notes, papers = (
        (SCORES, *filter(None, (caution,)), INTERVALS, BOTH, EACH_FREE if material.each_baseline else FREE, PEOPLE),
        (f"{PUBLISHED} {table.cite}.", *table.notes),
    )
    return ResultsTable(
        part,
        material.titles[part],
        tuple(columns),
        tuple(rows),
        notes,
        published_notes=papers,
        settings="groups",
        ranges=_ranges(material, part),
        hints=(OVER,),
        cautions=(("F1", caution),) if caution else (),
    )


def _caution(material: Material, part: str) -> str:
    """For how many texts F1 counts 1 because nothing is there and nothing given, and what it is over the others.

    Of each source whose texts include some without gold spans; empty where there is none such.
    """
    lines = [(label, str(setting.value), errors) for label, _, _, setting, errors, *_ in _rows(material, part)]
    settings = {setting for _, setting, _ in lines}
    told = [(f"{label}, {setting}" if len(settings) > 1 else label, errors) for label, setting, errors in lines]
    free = [(f"Baseline: {one.name}", one.errors) for one in material.baselines if one.over.part == part]
    each = [(label, errors.figures) for label, errors in (*told, *free) if errors.figures["empty_gold"].value]
    if not each:
        return ""
    if len(each) == 1:
        counts = f"F1 counts 1 for {_both_empty(each[0][1])} texts, which have neither gold nor predicted spans"
        return f"{counts}; over texts with gold spans it is {_of_marked(each[0][1])}."
    named = each[:_CAUTIONED]
    counts = ", ".join(f"{_both_empty(figures)} of {label}" for label, figures in named)
    over = ", ".join(f"{_of_marked(figures)} ({label})" for label, figures in named)
    left = len(each) - _CAUTIONED
    more = f"; {left} more source{'s are' if left > 1 else ' is'} not named here" if left > 0 else ""
    rule = "F1 counts 1 for texts with neither gold nor predicted spans"
    return f"{rule}: {counts}. Over texts with gold spans it is {over}{more}."


def _both_empty(figures: Mapping[str, Figure]) -> str:
    """`312 of 700`; over repeats, or annotators, their means."""
    both, n = (shown_cell(Cell(figures[name].value), "count") for name in ("empty_both", "n"))
    return f"{both} of {n}"


def _of_marked(figures: Mapping[str, Figure]) -> str:
    value = figures["f1_gold"].value
    return f"undefined ({figures['f1_gold'].why})" if value is None else f"{value:.3f}"


def _ranges(material: Material, part: str) -> tuple[tuple[str, float, float], ...]:
    """By the key of each column of people the least and the greatest of them."""
    people = material.people.get(part)
    if people is None:
        return ()
    known = {name: people.ranges[name] for name, _, _ in HEADLINE if name in people.ranges}
    return tuple((f"{OWN}/{name}", low, high) for name, (low, high) in known.items())


def _baselines(material: Material, part: str) -> list[Row]:
    """A row for each set of samples that runs cover, with figures under the settings of these runs."""
    found = [one for one in material.baselines if one.over.part == part]
    rows = []
    for one in found:
        ways = {setting_of(run) for run in material.runs if run.run.run in one.over.runs}
        same = _scored_cells(one.errors.figures, one.convention, None)
        cells = [cell for way in SETTINGS for cell in (same if way in ways else (Cell(),) * len(HEADLINE))]
        over = _over(one, found)
        label = f"Baseline: {one.name}, n {one.n}" if over else f"Baseline: {one.name}"
        rows.append(Row(label, "baseline", number_of(one.n, "sample"), tuple(cells), over, n=one.n))
    return rows


def _over(baseline: BaselineFigures, others: Sequence[BaselineFigures]) -> str:
    """Over which samples a baseline is, where others are over other ones."""
    if len({other.over for other in others}) == 1:
        return ""
    return f"over the {number_of(baseline.over.n, 'sample')} of {', '.join(baseline.over.runs)}"


def _by_model(runs: Sequence[RunFigures], part: str) -> list[tuple[str, dict[str, RunFigures], str]]:
    """A row for each model with its settings side by side; a second run of one setting opens a second row."""
    models: dict[str, list[dict[str, RunFigures]]] = {}
    for run in runs:
        if part not in run.parts:
            continue
        held = models.setdefault(run.run.model, [{}])
        free = next((row for row in held if setting_of(run) not in row), None)
        if free is None:
            held.append(free := {})
        free[setting_of(run)] = run
    found = []
    for model, held in models.items():
        for at, row in enumerate(held):
            label = model if len(held) == 1 else f"{model} ({at + 1} of {len(held)})"
            found.append((label, row, "; ".join(dict.fromkeys(r for run in row.values() if (r := remark_of(run))))))
    return found


def setting_of(run: RunFigures) -> str:
    """A run's setting: one of `SETTINGS`, or the way of an experiment."""
    return run.way or OWN


def remark_of(run: RunFigures) -> str:
    """What a reader has to know of a run: that it is not done, or that the model has seen these samples."""
    remarks = []
    if run.scored < run.run.n:
        remarks.append(f"{run.scored} of {run.run.n} scored")
    if run.run.config.get("flattered"):
        remarks.append("fitted on these samples, which flatters it")
    return "; ".join(remarks)


def _scores(run: RunFigures | None, part: str) -> tuple[Cell, ...]:
    if run is None or part not in run.parts:
        return (Cell(),) * len(HEADLINE)
    return _scored_cells(run.parts[part].figures, run.convention, run.run.run)


def _scored_cells(figures: Mapping[str, Figure], convention: str, run: str | None) -> tuple[Cell, ...]:
    """A cell for each of `HEADLINE`."""
    return tuple(cell_of(figures[name], convention, run) for name, _, _ in HEADLINE)


def cell_of(figure: Figure, convention: str, run: str | None) -> Cell:
    """A figure as a cell."""
    return Cell(
        figure.value, figure.sd, convention, figure.why, figure.samples, run, figure.low, figure.high, figure.note
    )


def _printed(figure: Printed | None, row: PublishedRow) -> Cell:
    return Cell() if figure is None else Cell(figure.mean, figure.sd, row.source)


def _run_ids(runs: Iterable[RunFigures]) -> str:
    return ", ".join(run.run.run for run in runs)


def _of_people(material: Material) -> str:
    return COMPOSED if material.composed else ""


def _people(material: Material, part: str) -> list[tuple[str, str, SpanErrors, str]]:
    people = material.people.get(part)
    if people is None:
        return []
    of = f"{people.annotators} annotator{'s' * (people.annotators != 1)}"
    return [
        (AVERAGE, of, people.average, people.convention),
        (BEST, of, people.best, people.convention),
    ]


# Errors.

_RATES = (
    Column("hallucination_rate", "Rate", "Hallucinated"),
    Column("hallucinated_spans", "Spans", "Hallucinated", "count"),
    Column("fixation_rate", "Rate", "Fixated"),
    Column("fixation_rate_by_sentence", "By sentence", "Fixated"),
    Column("fixated_samples", "Samples", "Fixated", "count"),
    Column("neutral_sentence_fpr", "Sentences", "Neutral hit"),
    Column("neutral_span_share", "Spans", "Neutral hit"),
    Column("invalid_share", "Invalid", "Format"),
)


def _errors(material: Material, part: str) -> ResultsTable:
    # A sample of Task 1 is one sentence, and never a neutral one (section 4.2).
    of_passages = ("fixation_rate_by_sentence", "neutral_sentence_fpr", "neutral_span_share")
    rates = [column for column in _RATES if part == "task-2" or column.key not in of_passages]
    rows = [
        Row(label, kind, source, (setting, *(cell_of(errors.figures[c.key], why, run) for c in rates)), remark)
        for label, kind, source, setting, errors, why, run, remark in _rows_of_all(material, part)
    ]
    table = published("seer_section10")
    for row in table.rows:
        for setting, figures in row.settings.items():
            task, _, way = setting.partition("/")
            if task == part:
                name = Cell(SETTINGS[OWN if way == "people" else way])
                cells = (name, *(_printed(figures.get(column.key), row) for column in rates))
                rows.append(Row(row.model, "published", row.source, cells))
    columns = (Column("setting", "Setting", unit="words"), *rates)
    notes = (note for note in ERRORS if part == "task-2" or not note.startswith("Neutral"))
    title, papers = f"{material.titles[part]}: errors", (f"{PUBLISHED} {table.cite}.",)
    return ResultsTable(f"errors-{part}", title, columns, tuple(rows), tuple(notes), published_notes=papers)


_Line = tuple[str, str, str, Cell, SpanErrors, str, str | None, str]


def _rows(material: Material, part: str) -> list[_Line]:
    """A line for each run and for annotators: label, kind, source, setting, figures, convention, run, remark."""
    lines: list[_Line] = [
        (
            *(run.run.model, "run", run.run.run, Cell(SETTINGS.get(setting_of(run), run.way))),
            *(run.parts[part], run.convention, run.run.run, remark_of(run)),
        )
        for run in material.runs
        if part in run.parts
    ]
    for label, source, errors, convention in _people(material, part):
        setting = Cell(SETTINGS[OWN])
        lines.append((label, "people", source, setting, errors, convention, None, _of_people(material)))
    return lines


def _rows_of_all(material: Material, part: str) -> list[_Line]:
    """The same, with the baselines between runs and annotators where each is asked for."""
    lines = _rows(material, part)
    if not material.each_baseline:
        return lines
    there = [one for one in material.baselines if one.over.part == part]
    free: list[_Line] = [
        (
            *(f"Baseline: {one.name}", "baseline", number_of(one.n, "sample"), Cell()),
            *(one.errors, one.convention, None, _over(one, there)),
        )
        for one in there
    ]
    runs = [line for line in lines if line[1] == "run"]
    return [*runs, *free, *lines[len(runs) :]]


# Metrics that the paper's tables do not have.


def _metrics(material: Material, part: str) -> list[ResultsTable]:
    """The means of all metrics but those of the main table, where there are any."""
    headline = {name for name, _, _ in HEADLINE}
    lines = [line for line in _rows(material, part) if line[1] == "run"]
    there = {name for line in lines for name in line[4].figures}
    metrics = [metric for metric in material.metrics if metric.name in there and metric.name not in headline]
    if not metrics:
        return []
    columns = [Column("setting", "Setting", unit="words"), *map(metric_column, metrics)]
    rows = []
    for label, kind, source, setting, errors, convention, run, remark in lines:
        known = [errors.figures.get(metric.name) for metric in metrics]
        cells = [Cell(why=UNSCORED) if one is None else cell_of(one, convention, run) for one in known]
        rows.append(Row(label, kind, source, (setting, *cells), remark))
    notes = [f"{metric.title}: {metric.help}; means over samples that have a value." for metric in metrics]
    return [
        ResultsTable(
            f"metrics-{part}",
            f"{material.titles[part]}: further metrics",
            tuple(columns),
            tuple(rows),
            (*notes, SCORES),
        )
    ]


# Emotions and valences.


def _labels(material: Material, part: str) -> ResultsTable:
    lines = _rows_of_all(material, part)
    names = {
        "Emotion": ordered({name for line in lines for name in line[4].by_emotion}),
        "Valence": ordered({name for line in lines for name in line[4].by_valence}),
    }
    columns = [Column("setting", "Setting", unit="words")]
    columns += [Column(f"{group.lower()}/{name}", name, group) for group, found in names.items() for name in found]
    rows = []
    for label, kind, source, setting, errors, convention, run, remark in lines:
        cells = [setting]
        for group, by in (("Emotion", errors.by_emotion), ("Valence", errors.by_valence)):
            cells += [cell_of(by[name]["f1"], convention, run) if name in by else Cell() for name in names[group]]
        rows.append(Row(label, kind, source, tuple(cells), remark))
    title = f"{material.titles[part]}: F1 by emotion and valence"
    return ResultsTable(f"labels-{part}", title, tuple(columns), tuple(rows), (LABELS, SCORES, INTERVALS))


def bars_of(material: Material, part: str, by: str, metric: Metric) -> Bars:
    """A metric by `emotion` or `valence`, a series for each run and for the annotators' average."""
    lines = [line for line in _rows(material, part) if line[0] != BEST]
    found = [line[4].by_emotion if by == "emotion" else line[4].by_valence for line in lines]
    labels = ordered({name for means in found for name in means})
    series = []
    for (label, kind, _, setting, _, convention, run, _), means in zip(lines, found, strict=True):
        known = [means.get(name, {}).get(metric.name) for name in labels]
        cells = tuple(Cell() if one is None else cell_of(one, convention, run) for one in known)
        whose = f"{label}, {setting.value}" if kind == "run" else f"{label} (composed)" if material.composed else label
        series.append(Series(whose, kind, cells))
    return Bars(f"{material.titles[part]}: {metric.title} by {by}", metric.name, labels, tuple(series))


# Base against reasoning.


def _cot(material: Material, part: str) -> ResultsTable:
    styles = ("retrieve", "highlight")
    columns = [
        Column(f"{style}/{key}", title, style.capitalize(), unit)
        for style in styles
        for key, title, unit in (("base", "Base", "share"), ("cot", "CoT", "share"), ("change", "Change", "difference"))
    ]
    rows = []
    for label, by_way, remark in _by_model(material.runs, part):
        pairs = [(_scores(by_way.get(s), part)[0], _scores(by_way.get(f"{s}-cot"), part)[0]) for s in styles]
        if any(cell.asked for pair in pairs for cell in pair):
            cells = [cell for pair in pairs for cell in (*pair, _change(*pair))]
            rows.append(Row(label, "run", _run_ids(by_way.values()), tuple(cells), remark))
    table = published(_MAIN[part])
    for row in table.rows:
        if row.kind == "people":
            continue
        pairs = [
            (
                _printed(row.settings.get(s, {}).get("f1"), row),
                _printed(row.settings.get(f"{s}-cot", {}).get("f1"), row),
            )
            for s in styles
        ]
        cells = [cell for pair in pairs for cell in (*pair, _change(*pair))]
        rows.append(Row(row.model, "published", row.source, tuple(cells)))
    return ResultsTable(
        f"cot-{part}",
        f"{material.titles[part]}: base against reasoning (F1)",
        tuple(columns),
        tuple(rows),
        (CHANGE,),
        published_notes=(COT, PUBLISHED),
        settings="groups",
    )


def _change(base: Cell, cot: Cell) -> Cell:
    if not isinstance(base.value, float) or not isinstance(cot.value, float):
        return Cell()
    return Cell(cot.value - base.value, None, cot.convention, None, cot.samples, cot.run)


# How the asking went.

_COUNTS = (
    ("questions", "Questions"),
    ("unanswered", "Unanswered"),
    ("failed_format", "Failed format"),
    ("retried", "Retried"),
    ("retries", "Retries"),
    ("empty", "Empty"),
)


def asking(runs: Sequence[RunFigures], key: str = "asking") -> ResultsTable:
    """Failed format, retries and empty answers of each run, counted apart."""
    columns = (Column("setting", "Setting", unit="words"), *(Column(k, title, unit="count") for k, title in _COUNTS))
    rows = [
        Row(
            run.run.model,
            "run",
            run.run.run,
            (
                Cell(SETTINGS.get(setting_of(run), run.way)),
                *(cell_of(run.asking[name], ASKING, run.run.run) for name, _ in _COUNTS),
            ),
            remark_of(run),
        )
        for run in runs
    ]
    return ResultsTable(key, "Asking: formats, retries, empty answers", columns, tuple(rows), (ASKING,))


def transition_table(found: Transitions) -> ResultsTable:
    """Appendix C: from the sentence of a row to that of a column, counts of pairs with the samples that have one."""
    columns = tuple(Column(name, name, "to", "count") for name in found.labels)
    rows = tuple(
        Row(label, "gold", "gold", tuple(Cell(n, samples=there) for n, there in zip(counts, numbers, strict=True)))
        for label, counts, numbers in zip(found.labels, found.counts, found.samples, strict=True)
    )
    note = (
        f"{number_of(found.pairs, 'pair')} of adjacent sentences in the gold passages, by {found.by} (SEER, appendix "
        "C): from the row's to the column's."
    )
    left_out = f"{found.unlabelled} pairs are left out: a sentence of theirs has no {found.by}."
    notes = (note, left_out) if found.unlabelled else (note,)
    return ResultsTable(f"transitions-{found.by}", f"{found.of}: {found.by} transitions", columns, rows, notes)
