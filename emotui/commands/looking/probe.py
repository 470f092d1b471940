"""`emotui probe`: one text through everything that a model can do.

Its process is started before what asks it is imported: on two cores, the model loads meanwhile.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from emotui.bounded import first_bytes
from emotui.commands.output import as_written, json_option, print_json, say, show_step, terminal
from emotui.commands.program_options import db_option, read_only_option
from emotui.errors import BadInput

if TYPE_CHECKING:
    from emotui.backends.host import ModelProcess
    from emotui.workbench.models.doctor import Check, Terminal
    from emotui.workbench.models.probe import Probe


@click.command()
@click.argument("text")
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--prompt", help="For a model that writes: what to ask it; {text} becomes TEXT.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=200, show_default=True, help="Of what it writes.")
@click.option("--labels", "labels_file", type=click.Path(), help="Labels to choose from, for NLI: a file, one a line.")
@click.option("--task", "tasks", multiple=True, help="Ask by this task's own prompt too: spans, scenes, masked, class.")
@click.option("--way", help="How the task asks, where there are several ways (with one --task).")
@click.option("--constrain", is_flag=True, help="Hold the answers to the tasks' forms by a grammar.")
@json_option
def probe(
    text: str,
    spec: str,
    prompt: str | None,
    max_tokens: int,
    labels_file: str | None,
    tasks: tuple[str, ...],
    way: str | None,
    constrain: bool,
    as_json: bool,
) -> None:
    """Run TEXT (- for standard input) through everything that a model can do.

    With a <mask> in TEXT, words are ranked for it. The --json document has the model's `spans`, `classes`, `numbers`,
    `emotions`, `words`, `masks`, `generation` and `embedding`; what it cannot do is null, and `notes` says why. With
    --task, the prompt of a task as the model read it and its raw output are shown instead; there under `tasks`.
    """
    if text == "-":
        try:
            text = first_bytes(sys.stdin.buffer, "-").decode("utf-8", "replace").strip()
        except OSError as error:
            raise BadInput(f"-: cannot be read: {error.strerror}") from None
    if not text.strip():
        raise BadInput("the text is empty")
    if way is not None and len(tasks) != 1:
        raise BadInput("--way says how one task asks: give one --task with it")
    if constrain and not tasks:
        raise BadInput("--constrain holds the answer to a task's form: give a --task with it")
    from emotui.backends.host import ModelProcess

    # One text: its answer is there sooner, in less memory. What a person asks of the model by name stays as it is.
    with ModelProcess(f"{spec}#layers=shared" if spec == "embedded" else spec) as model:
        if not labels_file:
            model.begin()
        found = _asked(model, text, prompt, max_tokens, labels_file, tasks, way, constrain)
        from emotui.commands.models import print_probe, probe_document

        if as_json:
            print_json(probe_document(found))
        else:
            print_probe(found)
    if tasks and not found.tasks:
        sys.exit(1)


def _asked(
    model: "ModelProcess",
    text: str,
    prompt: str | None,
    max_tokens: int,
    labels_file: str | None,
    tasks: tuple[str, ...],
    way: str | None,
    constrain: bool,
) -> "Probe":
    from emotui.commands.models import steps
    from emotui.workbench.models.probe import PARTS
    from emotui.workbench.models.probe import probe as ask

    labels: Sequence[str] = ()
    if labels_file:
        from emotui.commands.options import read_labels

        labels = read_labels(labels_file)
    options: dict[str, dict[str, object]] = {name: {"constrain": True} if constrain else {} for name in tasks}
    if tasks:
        from emotui.tasks.prompting.settings import all_options
        from emotui.tasks.registry import kinds

        for name in options:
            if labels and name in kinds() and "labels" in all_options(kinds()[name]):
                options[name]["labels"] = labels
    with steps() as step:
        return ask(
            model,
            text,
            prompt=prompt,
            max_tokens=max_tokens,
            labels=labels,
            parts=() if tasks else PARTS,
            tasks=tuple(dict.fromkeys(tasks)),
            ways={} if way is None else {tasks[0]: way},
            options=options,
            progress=step,
        )


# What this installation can do, what is broken, and the remedy.


@click.command()
@db_option
@read_only_option
@json_option
def doctor(db: str | None, read_only: bool, as_json: bool) -> None:
    """Look at versions, devices, builds, folders, the store and the terminal. Nothing is changed.

    Exit status 1 if something is broken; each such line ends with what to do.
    """
    from emotui.workbench.models.doctor import examine

    terminal = _terminal()
    checks: list[Check] = []
    for check in examine(db, terminal, progress=show_step):
        checks.append(check)
        if not as_json:
            _print(check, first=len(checks) == 1 or checks[-2].group != check.group)
    broken = sum(check.state == "broken" for check in checks)
    if as_json:
        print_json({"ok": not broken, "broken": broken, "checks": checks})
    else:
        say(f"\n{broken} broken" if broken else "\nNothing is broken.")
    if broken:
        sys.exit(1)


def _print(check: "Check", *, first: bool) -> None:
    show_step("")
    console = terminal()
    if first:
        console.print()
        console.print(as_written(check.group, "bold"))
    mark = {"ok": "✓", "note": "·", "broken": "✗"}[check.state]
    line = as_written(f"  {mark} {check.name}: {check.said}", "bold" if check.state == "broken" else "")
    console.print(line, soft_wrap=True)
    if check.remedy:
        console.print(as_written(f"    → {check.remedy}"), soft_wrap=True)


def _terminal() -> "Terminal | None":
    """As it is told to programs; None where standard output is no terminal."""
    if not sys.stdout.isatty():
        return None
    from emotui.workbench.models.doctor import Terminal

    size = shutil.get_terminal_size()
    colours = terminal().color_system
    return Terminal(os.environ.get("TERM", ""), size.columns, size.lines, colours, sys.stdout.encoding or "ascii")
