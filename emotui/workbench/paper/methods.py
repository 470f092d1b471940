"""The methods of a paper in words: what was run how, on what, under which conventions."""

import hashlib
import re
from collections.abc import Sequence

from emotui import __version__
from emotui.tables import ResultsTable
from emotui.workbench.paper.commands import command_of, kept_settings
from emotui.workbench.paper.material import Told, packages
from emotui.workbench.paper.prose import prose
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.escaping import markdown, one_line
from emotui.workbench.reports.notes import printed_notes
from emotui.workbench.reports.values import Section
from emotui.workbench.runs.machine import Measured
from emotui.workbench.runs.run_file import portable

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
