"""The methods of a paper in words: what was run how, on what, under which conventions."""

import hashlib
import re
from collections.abc import Mapping, Sequence

from emotui import __version__
from emotui.tables import Column, ResultsTable
from emotui.tasks.registry import task_named
from emotui.workbench.paper.material import Told, packages, parameters_of
from emotui.workbench.paper.recipe import command_of, kept_settings
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.escaping import markdown, one_line
from emotui.workbench.reports.notes import printed_notes
from emotui.workbench.reports.values import Section, asked_only, imported
from emotui.workbench.runs.machine import Measured
from emotui.workbench.runs.run_file import portable
from emotui.workbench.scenes.service import IN_WORDS

# Two paragraphs that stand in a paper as they are: data and systems; measures, uncertainty and tests.

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
        hard = any(note.startswith(IN_WORDS) for note in printed_notes(first))
        about = [(hard and one.in_words) or one.sentence for one in measures if set(one.titles) & set(titles)]
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
    columns = sorted({one.shared for one in told if one.shared})
    grouped = bool(columns)
    together = (
        ", of which those that share a " + " or a ".join(f"`{name}`" for name in columns) + " are drawn together"
        if columns
        else ""
    )
    said = [
        "In brackets we give 95% confidence intervals by the bias-corrected and accelerated (BCa) bootstrap with"
        f" {'up to ' * (len(counts) > 1)}{most} resamples of the texts"
        f"{together}; over fewer than 30 texts{' or 20 such groups' * grouped} they are Student's t intervals, and a"
        " figure of whose uncertainty nothing can be said has none."
    ]
    if any(not _RESAMPLES.search(note) for note in found):
        said.append("Where a table's intervals are computed otherwise, its note says how.")
    return said


def _grouped(told: Sequence[Told]) -> bool:
    return any(one.shared for one in told)


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


_JOULES_A_WATT_HOUR = 3600
_ORIGIN = {"file": "imported from a file", "person": "annotated by a person"}


def methods(told: Sequence[Told], sections: Sequence[Section], tested: Sequence[Best], *, prompts: bool) -> str:
    """The text, in Markdown: prose for the paper, then its appendix.

    Args:
        tested: what was tested in each table.
        prompts: whether files with the prompts stand beside.
    """
    parts = [
        "# Methods\n",
        prose(told, sections, tested),
        "\n# Appendix\n",
        "## Runs\n",
        _runs(told),
        "\n## Models\n",
        *_models(told),
        "\n## Prompts\n",
        *_prompts(told, prompts),
        "\n## Conventions\n",
        *_conventions(told, [table for section in sections for table in section.tables]),
        "\n## Hardware, time and energy\n",
        *_hardware(told),
        "\n## Software\n",
        f"emotui {__version__}; " + ", ".join(f"{name} {one}" for name, one in packages().items()) + ".",
        "\n## Commands\n",
        "```sh",
        *(line for one in told for line in _command(one)),
        "```",
    ]
    return "\n".join(parts) + "\n"


def _runs(told: Sequence[Told]) -> str:
    head = ("Run", "Source", "Dataset", "Way", "Seed", "Repeats", "Answered", "Failed", "Asked", "Seconds", "Began")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for one in told:
        run, config = one.run, one.config
        cells = (
            *(one.called, portable(run.model) if one.is_model else run.model, one.dataset.name, config.way or "–"),
            *(config.seed, config.repeats, f"{run.done} of {run.n}", run.failed, one.asked, f"{one.seconds:.1f}"),
            run.started[:10],
        )
        lines.append("| " + " | ".join(markdown(str(cell)) for cell in cells) + " |")
    return "\n".join(lines)


def _models(told: Sequence[Told]) -> list[str]:
    lines = []
    for spec, one in {one.run.model: one for one in told if one.is_model}.items():
        known = one.card
        line = f"- **{markdown(portable(spec))}**"
        if known is None:
            line += ": what it is made of is kept with the store that it ran in, not with this one"
        else:
            told_of_it = ", ".join(
                f"{markdown(name)} `{one_line(value)[:80]}`" for name, value in known.identity.items()
            )
            line += f": {told_of_it}" + "".join(f"; {markdown(_fact(note))}" for note in known.notes)
        lines.append(line + ".")
        lines += [f"  {markdown(why)}." for why in dict.fromkeys((one.config.trained_on,)) if why]
    return lines or ["None: all of this was said by people, or made elsewhere."]


def _fact(note: str) -> str:
    """A note of a model's card as part of a sentence, without where to look further."""
    return note.partition(": see ")[0].rstrip(".")


def _part(value: str) -> str:
    """A part of what a model is made of; of a path its last part."""
    short = re.split(r"[\\/]", value)[-1] if re.match(r"[/~\\]|[A-Za-z]:[\\/]", value) else value
    return f"`{one_line(short)[:80].replace('`', '')}`"


def _prompts(told: Sequence[Told], there: bool) -> list[str]:
    lines = []
    for one in told:
        if not one.is_model:
            continue
        if not one.prompts:
            lines.append(f"- {markdown(one.called)}: the model is asked without words.")
        elif there:
            file = f"prompts/{prompt_file(one.called)}"
            lines.append(f"- {markdown(one.called)}: {one.prompts:,} different prompts, each as it was sent: `{file}`.")
        else:
            lines.append(
                f"- {markdown(one.called)}: {one.prompts:,} different prompts; they hold texts, and are left out."
            )
    return lines or ["None."]


def prompt_file(called: str) -> str:
    """The name of the file with a run's prompts."""
    return f"{run_name(called)}.jsonl"


def run_name(called: str) -> str:
    """As `file_name`, and another one for each run: what was left out of two names may be all that they differ in."""
    plain = file_name(called)
    return plain if plain == called else f"{plain}-{hashlib.sha256(called.encode()).hexdigest()[:8]}"


def file_name(name: str) -> str:
    """A name that a file can have on any system."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_") else "-" for sign in name)[:100]
    return plain.strip("-") or "x"


def _conventions(told: Sequence[Told], tables: Sequence[ResultsTable]) -> list[str]:
    own = dict.fromkeys(convention for one in told for convention in one.conventions)
    notes = dict.fromkeys(note for table in tables for note in printed_notes(table))
    return [*(f"- Samples are scored by: {markdown(one)}." for one in own), *(f"- {markdown(note)}" for note in notes)]


def _hardware(told: Sequence[Told]) -> list[str]:
    lines = []
    for one in told:
        if not one.is_model:
            continue
        name = markdown(one.called)
        if one.measured is None:
            lines.append(
                f"- {name}: the store does not know what it ran on (another machine, or an earlier version of emotui);"
                f" its {one.asked:,} answers took {one.seconds:.1f} s together."
            )
        else:
            lines.append(f"- {name}: {_machine(one.measured)}; {one.measured.seconds:.1f} s. {_energy(one.measured)}")
            if one.measured.builds:
                said = ", ".join(f"`{markdown(build)}`" for build in one.measured.builds)
                lines.append(f"  - Its server reported these builds while it answered: {said}.")
    return lines or ["No model was run."]


def _machine(measured: Measured) -> str:
    graphics = ", ".join(map(markdown, measured.graphics)) or "no GPU"
    return (
        f"{markdown(measured.processor)}, {measured.cores} cores, {measured.memory_gb:g} GB of memory, {graphics};"
        f" {markdown(measured.system)}, Python {markdown(measured.python)}"
    )


def _energy(measured: Measured) -> str:
    known = []
    if measured.joules is not None:
        hours = measured.joules / _JOULES_A_WATT_HOUR
        known.append(
            f"about {hours:.3g} Wh of the processor, as its own counters say (RAPL: its packages, with whatever else"
            " ran on them)"
        )
    if measured.graphics_joules is not None:
        hours = measured.graphics_joules / _JOULES_A_WATT_HOUR
        known.append(
            f"about {hours:.3g} Wh of all graphics cards, by their power as nvidia-smi told it every half second (with"
            " whatever else ran on them)"
        )
    if not known:
        return "Energy: not known, because the machine has no counter that can be read (RAPL, nvidia-smi)."
    left = "" if measured.graphics_joules is not None or not measured.graphics else "graphics cards, "
    left += "the processor, " if measured.joules is None else ""
    return f"Energy: {'; '.join(known)}; without {left}memory of its own, disks and losses."


def _command(one: Told) -> list[str]:
    if not one.is_model:
        return [f"# {one_line(one.called)}: {_ORIGIN.get(one.run.source, one.run.source)}; nothing is run"]
    kept = kept_settings(one.config.options)
    told = [f"# with {', '.join(kept)} as kept with the run"] if kept else []
    return [*told, one_line(command_of(one.run, one.dataset, private=False))]
