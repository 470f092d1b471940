"""`emotui datasets`, `rename`, `delete`, `restore` and `replace-gold`: the sets of a workspace."""

from typing import Any

import click
import msgspec

from emotui.commands.output import as_written, json_option, print_json, say, skip_bad_option, terminal, warn
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.controls import as_unicode
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.metrics.eans import READINGS
from emotui.store.query import Dataset, Run
from emotui.tables import number_of
from emotui.workbench.datasets import merging, sets
from emotui.workbench.shards.merge import merge as merge_stores
from emotui.workbench.shards.people import MergedBeside, merge_people
from emotui.workbench.texts import said_counts

# `emotui merge`: runs of several stores in one.


@click.command()
@click.argument("stores", nargs=-1, required=True, metavar="STORE...")
@db_option
@json_option
def merge(stores: tuple[str, ...], db: str | None, as_json: bool) -> None:
    """Bring the runs of each STORE into the store of --db, shards of one run together as that run, predictions from
    files, and what people annotated, noted, and rated.

    The datasets that they are over come along. What else was done in a STORE (rephrasings, guesses and reviews of
    masked words, filters with a name) stays there.
    """
    twice = next((path for number, path in enumerate(stores) if path in stores[:number]), None)
    if twice is not None:
        raise BadInput(f"{literal(twice)} is named twice")
    sources = [look_into(path, read_only=True).store for path in stores]
    workspace = open_workspace(db)
    try:
        own = next(
            (path for path, one in zip(stores, sources, strict=True) if one.path.samefile(workspace.store.path)), None
        )
        if own is not None:
            raise BadInput(f"{literal(own)} is the store that the others are merged into: leave it out")
        with workspace.store.alone():
            found = merge_stores(workspace.store, sources)
            people = merge_people(workspace.store, sources, found)
    finally:
        workspace.close()
    if as_json:
        names = ("run", "task", "model", "state", "n", "done", "failed")
        runs = [
            {name: getattr(one.run, name) for name in names} | {"shards": one.shards, "there": one.there}
            for one in found
        ]
        logs = ({"dataset": one.dataset, **msgspec.to_builtins(one.log)} for one in people.logs)
        print_json([*runs, *map(msgspec.to_builtins, people.files), *logs, *map(msgspec.to_builtins, people.beside)])
        return
    if not found and not people.logs and not people.beside and not people.files:
        say("these stores hold no run of a model, and nothing that people annotated, noted or rated: nothing is merged")
    for one in found:
        parts = f", shards {', '.join(one.shards)}" if one.shards else ""
        kept = "was there already" if one.there else f"{one.run.done} of {one.run.n} done"
        say(f"run {literal(one.run.run)}   {literal(one.run.model)}{parts}: {kept}")
    for file in people.files:
        kept = "were there already" if file.there else f"{file.n:,} answers"
        say(f"predictions {literal(file.source)} over {literal(file.dataset)}: {kept}")
    if people.logs:
        from emotui.commands.annotate import tell_taken
    for name in dict.fromkeys(one.dataset for one in people.logs):
        say(f"annotations of {literal(name)}")
        tell_taken([one.log for one in people.logs if one.dataset == name])
    for beside in people.beside:
        _tell_beside(beside)
    if people.left:
        kinds = ", ".join(f"{n:,} {literal(kind)}" for kind, n in sorted(people.left.items()))
        warn(f"these entries stay where they are: {kinds}")


def _tell_beside(one: MergedBeside) -> None:
    rated = f", {one.ratings:,} new ratings" if one.ratings else ""
    say(f"notes of {literal(one.dataset)}: {one.notes:,} new entries{rated}")
    if one.twice:
        warn(f"{one.twice:,} ratings were given twice at one place, apart: the newer count")
    if one.strangers:
        warn(f"{one.strangers:,} ratings are of versions of a run that is not here; emotui runs pack takes a run along")


# `emotui measure`: further models asked about the versions of texts that runs have made.


@click.command()
@click.argument("name", metavar="DATASET|RUN")
@click.option("--classifier", multiple=True, metavar="SPEC", help="ERS: a classifier, or a model that judges (again).")
@click.option("--map-labels", type=click.Path(), help='TOML of lines theirs = "ours": labels of classifiers.')
@click.option("--nli", metavar="SPEC", help="EPS: an NLI model (the paper: hf:facebook/bart-large-mnli).")
@click.option("--eas-model", metavar="SPEC", help="EAS: a model that writes.")
@click.option("--embedder", metavar="SPEC", help="EAnS: a model that embeds (the paper: BGE-M3).")
@click.option("--eans", type=click.Choice(READINGS), help="EAnS: the reading of R1.")
@click.option("--template", metavar="TEXT", help="EAnS: the sentence about an emotion, with {emotion} in it.")
@click.option("--ppl-model", metavar="SPEC", help="Perplexity: a causal model (the paper: hf:gpt2).")
@click.option("--stride", type=click.IntRange(min=1), help="Words that the window of perplexity moves on by (128).")
@db_option
@json_option
def measure(name: str, db: str | None, as_json: bool, **given: Any) -> None:
    """Ask models about every version of a text that DATASET's runs, or RUN, have; their scores then have what is said.

    Nothing is asked twice: of a text that a model was asked about before the answer is kept.
    """
    from emotui.workbench.generation.measuring import measure as measured

    store = look_into(db).store
    document = measured(store, name, given, lambda what, spec: say(f"{what}: {spec}", err=True))
    if as_json:
        print_json(document)
        return
    for what, one in document["measured"].items():
        lacking = f", {one['without']} without an answer" if one["without"] else ""
        say(f"{what} by {one['spec']}: {one['texts']} texts, {one['asked']} asked now{lacking}")
    for what, note in document["notes"].items():
        say(f"{what}: {note}")


@click.command()
@click.option("--trash", is_flag=True, help="What is in the trash, with runs, in place of what is in use.")
@db_option
@read_only_option
@json_option
def datasets(trash: bool, db: str | None, read_only: bool, as_json: bool) -> None:
    """List the datasets in the store."""
    store = look_into(db, read_only=read_only).store
    found = store.datasets.all(trash=trash)
    thrown = store.runs.all(trash=True) if trash else []
    if as_json:
        listed: list[dict[str, object]] = [sets.described(one) | {"said": said_counts(store, one)} for one in found]
        print_json({"datasets": listed, "runs": [_thrown(run) for run in thrown]} if trash else listed)
        return
    if not found and not thrown:
        say("The trash is empty." if trash else "No datasets yet. Bring your own: emotui import FILE")
        return
    from rich.table import Table

    runs = {one.dataset: len(store.runs.all(one.dataset)) for one in found}
    table = Table(box=None, pad_edge=False)
    # One line for where all are from leaves the table its columns at eighty cells.
    sources = {one.source for one in found}
    same = sources.pop() if len(found) > 1 and len(sources) == 1 and not thrown else ""
    columns = ("name", "texts", "gold says", "sources", "version", "deleted" if trash else "added")
    for column in (*columns, *(() if same else ("from",))):
        table.add_column(column, justify="right" if column in ("texts", "sources", "version") else "left")
    for one in found:
        at = (one.deleted if trash else one.added) or "–"
        told = ", ".join(f"{key} {n:,}" for key, n in said_counts(store, one).items()) or "nothing"
        cells = one.name, str(one.n), told, str(runs[one.dataset]), str(one.gold), at[:10], one.source
        table.add_row(*map(as_written, cells[:-1] if same else cells))
    for run in thrown:
        table.add_row(*map(as_written, (run.run, str(run.n), run.task, "–", "–", (run.deleted or "")[:10], run.model)))
    terminal().print(table)
    if same:
        terminal().print(f"all from: {as_written(same)}")


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--no-sim", is_flag=True, help="Score without Sim (no model is loaded).")
@db_option
@json_option
def join(first: str, second: str, no_sim: bool, db: str | None, as_json: bool) -> None:
    """Make of FIRST and SECOND, which hold the same texts, one dataset: FIRST, with what both say.

    Runs, scores, annotations and notes of both stay. SECOND goes into the trash, without them.
    """
    joined, rescored = merging.join(look_into(db).store, first, second, sim=not no_sim)
    if as_json:
        print_json(sets.described(joined) | {"rescored": list(rescored)})
        return
    runs = f", {len(rescored)} scored anew" if rescored else ""
    texts = f"{number_of(joined.n, 'text')} with what {second} said of them"
    say(literal(f"{joined.name}: {texts}; gold version {joined.gold}{runs}"))


def _thrown(run: Run) -> dict[str, object]:
    return {"run": run.run, "task": run.task, "model": run.model, "deleted": run.deleted}


@click.command()
@click.argument("old")
@click.argument("new")
@db_option
@json_option
def rename(old: str, new: str, db: str | None, as_json: bool) -> None:
    """Give the dataset or run OLD the name NEW."""
    new = as_unicode(new)
    was = sets.rename(look_into(db).store, old, new)
    _done(was, as_json, f"{_kind(was)} {_name(was)} is now {new}", {"old": _name(was), "new": new})


@click.command()
@click.argument("name")
@db_option
@json_option
def delete(name: str, db: str | None, as_json: bool) -> None:
    """Put the dataset NAME, with its runs, or the run NAME into the trash. `emotui restore NAME` brings it back."""
    was = sets.delete(look_into(db).store, name)
    _done(was, as_json, f"{_kind(was)} {_name(was)} is in the trash: emotui restore {_name(was)}")


@click.command()
@click.argument("name")
@db_option
@json_option
def restore(name: str, db: str | None, as_json: bool) -> None:
    """Bring the dataset or run NAME back from the trash."""
    was = look_into(db).store.by_name.restore(name)
    _done(was, as_json, f"{_kind(was)} {_name(was)} is back")


def _kind(was: Dataset | Run) -> str:
    return "dataset" if isinstance(was, Dataset) else "run"


def _name(was: Dataset | Run) -> str:
    return was.name if isinstance(was, Dataset) else was.run


def _done(was: Dataset | Run, as_json: bool, line: str, more: dict[str, object] | None = None) -> None:
    if as_json:
        print_json(more or {_kind(was): _name(was)})
    else:
        say(literal(line))


@click.command("replace-gold")
@click.argument("dataset")
@click.argument("file")
@click.option("--no-sim", is_flag=True, help="Score without Sim (no model is loaded).")
@skip_bad_option
@db_option
@json_option
def replace_gold(dataset: str, file: str, no_sim: bool, skip_bad: bool, db: str | None, as_json: bool) -> None:
    """Replace the gold of DATASET by the records of FILE, which have the same ids and texts.

    What was said about the texts stays and is scored anew; the former gold is kept as a version of its own.
    """
    store = look_into(db).store
    replaced = sets.replace_gold(store, dataset, file, sim=not no_sim, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(sets.described(replaced.dataset) | {"rescored": list(replaced.rescored)})
        return
    runs = f", {len(replaced.rescored)} scored anew" if replaced.rescored else ""
    say(literal(f"{replaced.dataset.name}: gold version {replaced.dataset.gold}{runs}"))
