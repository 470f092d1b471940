"""What goes with a paper: runs as files, the same again, and the folder of tables, figures and words."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from emotui.backends.host import Cancelled
from emotui.commands.exchange.written import written_option
from emotui.commands.output import bar, json_option, print_json, say, stopping
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.installing import install
from emotui.tables import number_of, number_that
from emotui.workbench.paper.again import Again, Reproduced, make_again, run_of
from emotui.workbench.paper.again import reproduce as run_again
from emotui.workbench.paper.folder import write_paper
from emotui.workbench.paper.recipe import Stated, command_of, kept_settings
from emotui.workbench.progress import RunProgress
from emotui.workbench.reports import figures
from emotui.workbench.runs.packing import pack as pack_run
from emotui.workbench.runs.packing import unpack as unpack_run

# `emotui reproduce`: the command that makes a run, and whether it makes the same again.

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
        print_json(document | _reproduce_document(done))
    else:
        _reproduce_tell(done)
    if not done.is_same:
        sys.exit(1)


def _options(config: dict[str, object]) -> dict[str, object]:
    options = config.get("options")
    return options if isinstance(options, dict) else {}


def _reproduce_document(done: Reproduced) -> dict[str, object]:
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


def _reproduce_tell(done: Reproduced) -> None:
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


# `emotui runs pack` and `emotui runs unpack`: a run as one file, and back under its own id.


@click.command()
@click.argument("run")
@written_option("--to", "target", required=True, help="The file to write, such as RUN.emotui-run.")
@click.option("--without-texts", is_flag=True, help="Leave the samples out: for texts that must not travel.")
@db_option
@read_only_option
@json_option
def pack(run: str, target: str, without_texts: bool, db: str | None, read_only: bool, as_json: bool) -> None:
    """Write RUN as one file: manifest, samples, prompts, outputs, scores."""
    store = look_into(db, read_only=read_only).store
    found = pack_run(store, run, target, texts=not without_texts)
    if as_json:
        print_json({"run": found.run, "to": target, "n": found.done})
    else:
        say(f"run {found.run} is written to {target}")


@click.command()
@click.argument("file")
@db_option
@json_option
def unpack(file: str, db: str | None, as_json: bool) -> None:
    """Keep the run of FILE under its own id; its dataset comes along where the store has it not."""
    workspace = open_workspace(db)
    try:
        found = unpack_run(workspace.store, file)
        dataset = workspace.store.datasets.get(found.dataset)
        name = dataset.name if dataset is not None else None
    finally:
        workspace.close()
    if as_json:
        print_json({"run": found.run, "task": found.task, "model": found.model, "dataset": name, "n": found.done})
    else:
        say(f"run {found.run} of {found.model} is kept, over the dataset {name}")


# `emotui paper`: the folder that goes with a paper, and the same again.


@click.command()
@click.argument("runs", nargs=-1)
@written_option(
    "--to", "target", new=True, required=True, metavar="DIR", help="The folder to make: a new one, or an empty one."
)
@click.option(
    "--again", "folder", metavar="DIR", help="Make this folder again: ask its models, compare tables, figures."
)
@click.option("--kept", is_flag=True, help="--again: take the models' kept answers, and ask none.")
@click.option("--model", "models", multiple=True, metavar="OLD=NEW", help="--again: where a model stands here.")
@click.option("--no-sim", is_flag=True, help="Leave the annotators' Sim out (no model is loaded).")
@click.option("--published/--no-published", default=False, help="The papers' rows too (default: not).")
@click.option("--without-texts", is_flag=True, help="Leave samples and prompts out: for texts that must not travel.")
@click.option("--creator", default="", help="Metadata: who made the data.")
@click.option("--license", "licence", default="", metavar="URL", help="Metadata: the licence of the data.")
@click.option("--url", default="", help="Metadata: where the data can be found.")
@click.option("--organisation", default="", help="Metadata: who ran the models.")
@db_option
@read_only_option
@json_option
def paper(
    runs: tuple[str, ...],
    target: str,
    folder: str | None,
    kept: bool,
    models: tuple[str, ...],
    no_sim: bool,
    published: bool,
    without_texts: bool,
    creator: str,
    licence: str,
    url: str,
    organisation: str,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Make the folder that goes with a paper about RUNS: tables, figures, methods, prompts, data, runs, metadata.

    With --again DIR: the folder DIR once more, in a store of its own (--db: in that one).
    """
    if folder is not None:
        if runs or no_sim or published or without_texts or read_only or creator or licence or url or organisation:
            raise BadInput("--again takes all from the folder: leave runs and other options out")
        _again(folder, target, kept, _named(models), db, as_json)
        return
    if kept or models:
        raise BadInput("--kept and --model go with --again DIR")
    workspace = look_into(db, read_only=read_only)
    try:
        if not figures.at_hand():
            say(f"figures/ will be missing: {install('figures')} brings what draws them", err=True)
        with bar("paper") as progress, stopping() as asked:

            def show(step: RunProgress) -> None:
                progress(step.done, step.n, step.step)

            written = write_paper(
                workspace.store,
                workspace.results(),
                runs,
                target,
                sim=not no_sim,
                published=published,
                texts=not without_texts,
                stated=Stated(creator, licence, url, organisation),
                on_progress=show,
                cancelled=asked,
            )
    except Cancelled:
        say(f"interrupted: {literal(target)} is not written", err=True)
        sys.exit(1)
    finally:
        workspace.close()
    if as_json:
        print_json(written)
        return
    n = len(written["runs"])
    say(f"{number_of(len(written['files']), 'file')} about {number_of(n, 'run')} written to {target}")


def _named(pairs: Sequence[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (old and equals and new):
            raise BadInput(f"--model {literal(pair)}: write OLD=NEW, both a SPEC")
        found[old] = new
    return found


def _again(folder: str, target: str, kept: bool, models: dict[str, str], db: str | None, as_json: bool) -> None:
    """In a store beside the new folder, where none is named."""
    workspace = open_workspace(db if db is not None else str(Path(f"{target.rstrip('/')}.duckdb")))
    try:
        with bar("paper again") as progress:
            done = make_again(
                workspace,
                folder,
                target,
                kept=kept,
                models=models,
                on_progress=lambda step: progress(step.done, step.n, step.step),
            )
    except (Cancelled, KeyboardInterrupt):
        say(f"interrupted: {literal(target)} is not written", err=True)
        sys.exit(1)
    finally:
        workspace.close()
    if as_json:
        print_json(_document(folder, target, done))
    else:
        _tell(done, target)
    if done.other:
        sys.exit(1)


def _document(folder: str, target: str, done: Again) -> dict[str, object]:
    runs = [
        {
            "run": one.run,
            "again": one.again,
            "same_settings": one.alike,
            "same": one.same,
            "reworded": len(one.reworded),
            "other": len(one.other),
            "missing": len(one.missing),
        }
        for one in done.runs
    ]
    return {
        "again": folder,
        "to": target,
        "same": done.same,
        "other": done.other,
        "figures": done.figures,
        "runs": runs,
    }


def _tell(done: Again, target: str) -> None:
    for one in done.runs:
        n = one.same + len(one.reworded) + len(one.other) + len(one.missing)
        settings = "" if one.alike else "; model, prompts, samples or versions are not the same"
        say(f"{literal(one.run)}: {one.same} of {n} outputs are the same, letter by letter{settings}")
    if done.other:
        say(
            f"{number_that(len(done.same), 'file', 'is', 'are')} the same, {len(done.other)} not: "
            f"{', '.join(done.other)}"
        )
    else:
        say(f"{target}: all {len(done.same)} files of tables and figures are the same, byte for byte")
    if done.figures:
        say(f"figures are not compared: {done.figures}")
