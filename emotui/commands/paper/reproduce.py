"""`emotui reproduce`: the command that makes a run, and whether it makes the same again."""

import shlex
import sys
from collections.abc import Sequence

import click

from emotui.backends.host import Cancelled
from emotui.commands.output import json_option, print_json, say
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.commands.terminal.progress import bar
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.workbench.paper.commands import command_of, kept_settings
from emotui.workbench.paper.reproducing import Reproduced, run_of
from emotui.workbench.paper.reproducing import reproduce as run_again
from emotui.workbench.progress import RunProgress

_NAMED = 20


@click.command()
@click.argument("run")
@click.option("--run", "wanted", is_flag=True, help="Run it, as a new run, and say whether its outputs are the same.")
@click.option("--model", "spec", metavar="SPEC", help="--run: where the run's model stands on this machine.")
@db_option
@read_only_option
@json_option
def reproduce(run: str, wanted: bool, spec: str | None, db: str | None, read_only: bool, as_json: bool) -> None:
    """Print the command that makes RUN; with --run, run it and say which outputs differ (then it exits with 1)."""
    if spec is not None and not wanted:
        raise BadInput("--model is for --run")
    if read_only and wanted:
        raise BadInput("--run keeps a new run: leave --read-only out")
    workspace = open_workspace(db) if wanted else look_into(db, read_only=read_only)
    try:
        found, dataset = run_of(workspace.store, run)
        command, kept = command_of(found, dataset, fresh=True), kept_settings(_options(found.config))
        document: dict[str, object] = {"run": found.run, "command": command, "kept_with_the_run": kept}
        if not as_json:
            say(command)
            if kept:
                said = f"{', '.join(kept)}: kept with the run, and used by"
                say(f"# {said}: {shlex.join(['emotui', 'reproduce', found.run, '--run'])}", err=True)
        if not wanted:
            if as_json:
                print_json(document)
            return
        last = ""
        with bar(f"{found.model}: {found.task}") as progress:

            def show(step: RunProgress) -> None:
                nonlocal last
                last = step.run or last
                progress(step.done, step.n)

            try:
                done = run_again(workspace, found.run, model=spec, on_progress=show)
            except (Cancelled, KeyboardInterrupt):
                say(f"interrupted; finish it with: emotui run {found.task} --resume {last}", err=True)
                sys.exit(1)
    finally:
        workspace.close()
    if as_json:
        print_json(document | _document(done))
    else:
        _tell(done)
    if not done.is_same:
        sys.exit(1)


def _options(config: dict[str, object]) -> dict[str, object]:
    options = config.get("options")
    return options if isinstance(options, dict) else {}


def _document(done: Reproduced) -> dict[str, object]:
    def pairs(found: Sequence[tuple[str, int]]) -> list[dict[str, object]]:
        return [{"id": key, "repeat": repeat} for key, repeat in found]

    return {
        "again": done.again,
        "same_settings": done.alike,
        "is_same": done.is_same,
        "same": done.same,
        "reworded": pairs(done.reworded),
        "other": pairs(done.other),
        "missing": pairs(done.missing),
    }


def _tell(done: Reproduced) -> None:
    n = done.same + len(done.reworded) + len(done.other) + len(done.missing)
    if not done.alike:
        say(f"{done.run} and {done.again} differ in model, prompts, samples or versions: outputs may differ too")
    if done.is_same:
        say(f"all {n} outputs are the same, letter by letter ({done.again} is kept)")
        return
    say(f"{done.same} of {n} outputs are the same, letter by letter ({done.again} is kept)")
    for what, found in (
        ("say the same in other words", done.reworded),
        ("say something else", done.other),
        ("are in one of the two only", done.missing),
    ):
        if found:
            named = ", ".join(
                literal(key) if not repeat else f"{literal(key)} ({repeat})" for key, repeat in found[:_NAMED]
            )
            more = f", and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            say(f"{len(found)} {what}: {named}{more}")
