"""Two paragraphs that stand in a paper as they are: data and systems; measures, uncertainty and tests."""

import re
from collections.abc import Mapping, Sequence

from emotui.tables import Column, ResultsTable
from emotui.tasks.registry import task_named
from emotui.workbench.paper.material import Told, parameters_of
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.escaping import markdown
from emotui.workbench.reports.notes import printed_notes
from emotui.workbench.reports.values import Section, asked_only, imported
from emotui.workbench.runs.run_file import portable

_ELSEWHERE = ("[low, high]", "†", "Baseline", "Annotators")
"""How notes begin that define no measure."""
_REPORTED = ("share", "cosine", "fine-share", "difference", "number")
_RESAMPLES = re.compile(r"BCa bootstrap.*?([\d,]+) resamples")


def prose(told: Sequence[Told], sections: Sequence[Section], tested: Sequence[Best]) -> str:
    """Both paragraphs. Args: tested: what was tested in each table."""
    asked = dict.fromkeys((one.dataset.dataset, one.run.task) for one in told)
    data = " ".join(sentence for dataset, task in asked for sentence in _data(dataset, task, told))
    return f"{data}\n\n{_measures(told, sections, tested)}"


def name_of(one: Told) -> str:
    """A source by the name that it has in tables."""
    if one.is_model:
        return markdown(portable(one.run.model))
    return markdown(imported(one.run.model)) if one.run.source == "file" else f"{markdown(one.run.model)} (annotator)"


def _data(number: int, task: str, told: Sequence[Told]) -> list[str]:
    own = [one for one in told if (one.dataset.dataset, one.run.task) == (number, task)]
    named, dataset, words = {name_of(one): one for one in own}, own[0].dataset, task_named(task).words
    asked = {one.run.n for one in own}
    n = f"{dataset.n:,} text{'s' * (dataset.n != 1)}"
    if asked != {dataset.n}:
        n = f"{'–'.join(f'{count:,}' for count in sorted({min(asked), max(asked)}))} of its {n}"
    compared = f"compare {_list(list(named))}" if len(named) > 1 else f"evaluate {_list(list(named))}"
    return [
        f"We {compared} on *{markdown(dataset.name)}* ({n}) for {words.asks or words.title}.",
        *([own[0].gold] if own[0].gold else []),
        *_asked(named),
    ]


def _asked(named: Mapping[str, Told]) -> list[str]:
    """How big models are, how often and in which way they were asked, and where other answers are from."""
    said = []
    for name, one in named.items():
        if not one.is_model:
            continue
        size = parameters_of(one.card)
        has = (
            f"The model {name} has {size} parameters" if size else f"The number of parameters of {name} is not recorded"
        )
        times = "once" if one.config.repeats == 1 else f"{one.config.repeats} times"
        how = f" in the setting *{markdown(one.config.way)}*" if one.config.way else ""
        said.append(f"{has}; it was asked about each text {times}{how}, with seed {one.config.seed}.")
    files = [name for name, one in named.items() if one.run.source == "file"]
    if files:
        said.append(f"The predictions of {_list(files)} were made elsewhere and imported; no model was run for them.")
    people = [name for name, one in named.items() if one.run.source not in ("file", "model")]
    return [*said, *([f"{_list(people)} annotated the texts by hand."] if people else [])]


def _measures(told: Sequence[Told], sections: Sequence[Section], tested: Sequence[Best]) -> str:
    tasks = {one.dataset.dataset: one.run.task for one in reversed(told)}
    said = []
    for section in sections:
        first = asked_only(section.tables[0])
        titles = list(dict.fromkeys(_title(first, one) for one in first.columns if one.unit in _REPORTED))
        where = f"On *{markdown(section.dataset.name)}* we" if section.dataset and len(sections) > 1 else "We"
        said.append(f"{where} report {_list([markdown(title) for title in titles])}.")
        task = None if section.dataset is None else tasks.get(section.dataset.dataset)
        measures = task_named(task).words.measures if task else ()
        about = [one.sentence for one in measures if set(one.titles) & set(titles)]
        said += [markdown(one) for one in about or _noted(first)]
        kinds = {row.kind for row in first.rows}
        if "people" in kinds:
            said.append("Annotators are scored against the same gold as if they were systems.")
        if "baseline" in kinds:
            said.append("As a baseline stand predictions that need no model.")
    if any(one.config.repeats > 1 for one in told):
        said.append("Repeats are averaged first; ± is the sample standard deviation over repeats.")
    return " ".join([*said, *_intervals(told, sections), *_tests(told, tested)])


def _title(table: ResultsTable, column: Column) -> str:
    """What a column's figure is called, whether or not the setting stands under it."""
    return column.group if table.settings == "titles" else column.title


def _noted(table: ResultsTable) -> list[str]:
    """What a table's notes say of its figures."""
    return [note for note in printed_notes(table) if not note.startswith(_ELSEWHERE)]


def _intervals(told: Sequence[Told], sections: Sequence[Section]) -> list[str]:
    """How the intervals are computed; nothing where there are none."""
    notes = [note for section in sections for table in section.tables for note in printed_notes(table)]
    found = [note for note in notes if note.startswith("[low, high]")]
    counts = {match[1] for note in found if (match := _RESAMPLES.search(note))}
    if not found or not counts:
        return [markdown(note) for note in dict.fromkeys(found)]
    most = max(counts, key=lambda count: int(count.replace(",", "")))
    grouped = _grouped(told)
    said = [
        "In brackets we give 95% confidence intervals by the bias-corrected and accelerated (BCa) bootstrap with"
        f" {'up to ' * (len(counts) > 1)}{most} resamples of the texts"
        f"{', of which those that share a passage, post or original are drawn together' * grouped}; over fewer than 30"
        f" texts{' or 20 such groups' * grouped} they are Student's t intervals, and a figure of whose uncertainty"
        " nothing can be said has none."
    ]
    if any(not _RESAMPLES.search(note) for note in found):
        said.append("Where a table's intervals are computed otherwise, its note says how.")
    return said


def _grouped(told: Sequence[Told]) -> bool:
    return any(one.grouped for one in told)


def _tests(told: Sequence[Told], tested: Sequence[Best]) -> list[str]:
    names = sorted({name for best in tested for name in best.tests})
    if not names:
        return ["Differences between systems are not tested."]
    over = "groups of texts" if _grouped(told) else "texts"
    some = "A figure is bold where its system differs from every other system of the column at the 5% level"
    bold = any(best.cells for best in tested)
    return [
        f"Differences between systems are tested pair by pair over {over} by {_list(names)}, two-sided, with p-values"
        " corrected by Holm's method within a column.",
        f"{some}; columns that are not tested are named in the table's note."
        if bold
        else "No system differs from every other one at the 5% level, so no figure is bold.",
    ]


def _list(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
