"""Two paragraphs that stand in a paper as they are: data and systems; measures, uncertainty and tests."""

import re
from collections.abc import Mapping, Sequence

from emotui.store.query import Dataset
from emotui.tasks.registry import task_named
from emotui.workbench.paper.material import Told, datasets_of, parameters_of
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.escaping import markdown
from emotui.workbench.reports.notes import printed_notes
from emotui.workbench.reports.values import Section, asked_only, imported
from emotui.workbench.runs.run_file import portable

_TASKS = {
    "spans": "extraction of the spans that are evidence of an emotion",
    "scenes": "multi-label classification of the emotions of a scene",
    "masked": "prediction of masked emotion words",
    "rephrase": "single-label emotion classification",
    "labels": "multi-label emotion classification",
    "values": "prediction of emotion ratings on numeric scales",
    "evidence": "emotion classification with and without the evidence spans",
    "generation": "generation of texts with a target emotion",
}
_INTERVAL = re.compile(
    r"^\[low, high\]: (?:95% interval, none where no resample differs; of repeats their mean is taken first\. )?"
)
_ELSEWHERE = ("[low, high]", "†", "Baseline", "Annotators")
"""How notes begin that define no measure."""
_REPORTED = ("share", "cosine", "fine-share", "difference", "number")


def prose(told: Sequence[Told], sections: Sequence[Section], tested: Sequence[Best]) -> str:
    """Both paragraphs. Args: tested: what was tested in each table."""
    data = " ".join(sentence for one in datasets_of(told) for sentence in _data(one, told))
    return f"{data}\n\n{_measures(told, sections, tested)}"


def name_of(one: Told) -> str:
    """A source by the name that it has in tables."""
    if one.is_model:
        return markdown(portable(one.run.model))
    return markdown(imported(one.run.model)) if one.run.source == "file" else f"{markdown(one.run.model)} (annotator)"


def _data(dataset: Dataset, told: Sequence[Told]) -> list[str]:
    own = [one for one in told if one.dataset.dataset == dataset.dataset]
    named = {name_of(one): one for one in own}
    task = _TASKS.get(dataset.task, task_named(dataset.task).words.title)
    n = f"{dataset.n:,} text{'s' * (dataset.n != 1)}"
    compared = f"compare {_list(list(named))}" if len(named) > 1 else f"evaluate {_list(list(named))}"
    return [f"We {compared} on *{markdown(dataset.name)}* ({n}) for {task}.", *_asked(named)]


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
    said = []
    for section in sections:
        first = asked_only(section.tables[0])
        titles = dict.fromkeys(column.title for column in first.columns if column.unit in _REPORTED)
        said.append(f"We report {markdown(_list(list(titles)))}.")
        said += [markdown(note) for note in printed_notes(first) if not note.startswith(_ELSEWHERE)]
    notes = [note for section in sections for table in section.tables for note in printed_notes(table)]
    intervals = dict.fromkeys(_INTERVAL.sub("", note).rstrip(".") for note in notes if note.startswith("[low, high]"))
    if intervals:
        said.append(f"Brackets hold 95% confidence intervals ({markdown(next(iter(intervals)).removeprefix('95% '))}).")
    if len(intervals) > 1:
        said.append("Where a table's intervals are computed otherwise, its note says how.")
    if any(one.config.repeats > 1 for one in told):
        said.append("Repeats are averaged first; ± is the sample standard deviation over repeats.")
    return " ".join([*said, *_tests(tested)])


def _tests(tested: Sequence[Best]) -> list[str]:
    names = sorted({name for best in tested for name in best.tests})
    if not names:
        return ["Differences between systems are not tested."]
    some = "A figure is bold where its system differs from every other system of the column at the 5% level"
    bold = any(best.cells for best in tested)
    return [
        f"Differences between systems are tested pair by pair by {_list(names)}, two-sided, with p-values corrected by"
        " Holm's method within a column.",
        f"{some}; columns that are not tested are named in the table's note."
        if bold
        else "No system differs from every other one at the 5% level, so no figure is bold.",
    ]


def _list(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def _lower(text: str) -> str:
    return text.rstrip(".").replace("; ", ", ")
