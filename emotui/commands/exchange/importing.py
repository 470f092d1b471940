"""`emotui import` and `export`: samples from files of any hand into the store, and out of it."""

from collections.abc import Callable, Sequence
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any

import click

from emotui.bounded import is_there
from emotui.commands.exchange.written import is_forced, written_option
from emotui.commands.options import read_labels, tell_troubles
from emotui.commands.output import json_option, print_json, say, skip_bad_option, warn
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.errors import BadInput
from emotui.formats.beside import lifted
from emotui.formats.columns import FOUND, LabelColumns
from emotui.formats.json_document import present
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.rows import literal
from emotui.tables import number_of
from emotui.tasks.registry import SPANS, kinds, task_named, tasks
from emotui.workbench.datasets.foreign import Foreign, Wish, import_foreign, read_foreign
from emotui.workbench.datasets.importing import SHOWN, columns_in, described, first_records, save_mapping, with_mapping
from emotui.workbench.datasets.merging import BY, Added, import_into
from emotui.workbench.datasets.whole_records import Imported, import_files, import_seer, task_of_whole_records

# The options of every command that reads labels: tables with a column a label.


def label_columns_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--labels` and `--label-threshold`, and give the command `columns` made of them."""

    @wraps(command)
    def with_columns(*args: Any, labels: str | None, label_threshold: float | None, **others: Any) -> Any:
        if label_threshold is not None and not isfinite(label_threshold):
            raise BadInput(f"--label-threshold {label_threshold}: a finite number is needed")
        return command(*args, columns=LabelColumns(_names(labels), label_threshold), **others)

    threshold = click.option(
        "--label-threshold", type=float, help="In a gold table with a column a label: it is there from this number on."
    )
    names = click.option(
        "--labels", metavar="NAME,...", help="In such a table: the columns that are labels (all with numbers)."
    )
    return names(threshold(with_columns))


def _names(given: str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    if not names:
        raise BadInput("--labels names no column: write joy,anger or the like")
    return names


# What `emotui import` does with files of other hands: says what it took them for, shows them, brings them in.


def bring_in(
    files: Sequence[str],
    wish: Wish,
    name: str | None,
    save_map: str | None,
    *,
    dry_run: bool,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Read the files, and import them where it is no dry run; print what they were taken for."""
    if dry_run:
        found = read_foreign(files, wish, skip_bad=skip_bad)
        for line in found.skipped:
            warn(f"skipped {line}")
        document: dict[str, object] = {"dataset": None}
    else:
        dataset, found = import_foreign(open_workspace(db).store, files, wish, name, skip_bad=skip_bad, warn=warn)
        document = {"dataset": dataset.name, "fingerprint": dataset.fingerprint}
    if save_map is not None:
        save_mapping(save_map, found)
    if as_json:
        print_json(document | _document(found))
        return
    for line in described(found):
        say(line)
    if dry_run:
        for record in first_records(found):
            say(record)
        say(f"{len(found.samples):,} samples of {found.task.files.kind}; nothing was written")
    else:
        say(literal(f"{dataset.name}: {number_of(dataset.n, 'sample')}"))


def _document(found: Foreign) -> dict[str, object]:
    return {
        "task": found.task.name,
        "kind": found.task.files.kind,
        "n": len(found.samples),
        "files": [
            {
                "file": str(taken.path),
                "format": taken.layout.name,
                "why": taken.why,
                "columns": dict(taken.options.columns),
                "delimiter": taken.options.delimiter,
                "encoding": taken.options.encoding,
            }
            for taken in found.taken
        ],
        "skipped": list(found.skipped),
        "notes": list(found.notes),
        "first": [lifted(type(sample), present(sample)) for sample in found.samples[:SHOWN]],
    }


_SEER = "seer"


@click.command("import")
@click.argument("words", nargs=-1, metavar="[KIND|seer] FILE...")
@click.option("--as", "kind", help="What the records are: spans, labels, ... (default: by what is said in them).")
@click.option("--format", "layout", metavar="NAME", help="How the files are laid out (default: it looks at them).")
@click.option("--map", "mapped", multiple=True, metavar="FIELD=COLUMN,...", help="Which column is what: text=Tweet.")
@click.option("--delimiter", metavar="C", help="What parts the cells of a table (default: it is found out).")
@click.option("--encoding", metavar="E", help="Of a text file: cp1252, utf-16 (default: it is found out).")
@click.option("--map-file", metavar="FILE.toml", help="A mapping that --save-map wrote.")
@written_option("--save-map", metavar="FILE.toml", help="Keep what the file was taken for, and which column is what.")
@click.option("--dry-run", is_flag=True, help="Say what it is taken for, show three records, and write nothing.")
@click.option("--name", help="The dataset's name (default: the first file's, without its ending).")
@click.option("--into", metavar="DATASET", help="Add what FILES say to the texts of a dataset that is there.")
@click.option("--by", type=click.Choice(BY), help="--into: match by id or by text (default: by id where ids match).")
@click.option("--no-sim", is_flag=True, help="--into: score runs anew without Sim (no model is loaded).")
@click.option("--task1", multiple=True, help="seer: a CSV of the release for Task 1 (again for more).")
@click.option("--task2", multiple=True, help="seer: a CSV of the release for Task 2 (again for more).")
@click.option("--transcripts", help="seer: the folder with MSP-Podcast's transcripts.")
@click.option("--readable-words", is_flag=True, help="seer: count only words with a letter or digit in them.")
@click.option("--trim", is_flag=True, help="seer: cut passages to their five sentences.")
@label_columns_options
@skip_bad_option
@db_option
@json_option
def import_(
    words: tuple[str, ...],
    kind: str | None,
    layout: str | None,
    mapped: tuple[str, ...],
    delimiter: str | None,
    encoding: str | None,
    map_file: str | None,
    save_map: str | None,
    dry_run: bool,
    name: str | None,
    into: str | None,
    by: str | None,
    no_sim: bool,
    task1: tuple[str, ...],
    task2: tuple[str, ...],
    transcripts: str | None,
    readable_words: bool,
    trim: bool,
    columns: LabelColumns,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Bring samples from FILES into the store as one dataset.

    It looks at the files, says what it took them for, and reads them: tables, Excel, JSON, annotation programs, corpora
    (docs/data_formats.md). With KIND before the files they are records of that kind, in emotui's own formats; with
    `seer` the SEER benchmark's release, by --task1 and --task2 in place of FILES.
    """
    of_seer = bool(task1 or task2 or transcripts or readable_words or trim)
    if words[:1] == (_SEER,):
        if words[1:]:
            raise BadInput("name the release's files by --task1 and --task2")
        imported = import_seer(
            open_workspace(db).store,
            task1,
            task2,
            transcripts,
            name,
            readable=readable_words,
            trim=trim,
            skip_bad=skip_bad,
            warn=warn,
        )
        _print_seer(imported, as_json)
        return
    named, files = _split(words)
    if into is None and (by is not None or no_sim):
        raise BadInput(f"{'--by' if by is not None else '--no-sim'} goes with --into DATASET")
    if into is not None and (name is not None or dry_run or save_map is not None):
        raise BadInput("--into adds to a dataset that is there: --name, --dry-run and --save-map are for a new one")
    if of_seer or not files:
        raise BadInput(f"emotui import {named or ''} FILE...: options like --task1 are for seer".replace("  ", " "))
    if into is not None:
        wish = wish_of(kind or named, layout, mapped, delimiter, encoding, map_file, columns.names or ())
        store = look_into(db).store
        added = import_into(store, into, files, wish, by, sim=not no_sim, skip_bad=skip_bad, warn=warn)
        _print_added(added, as_json)
        return
    looked_for = (kind, layout, mapped, delimiter, encoding, map_file, save_map, dry_run or None)
    if named is None and not any(looked_for) and (own := task_of_whole_records(files[0])) is not None:
        named = own.name
    if named is not None and not any(looked_for):
        _import_own(named, files, name, columns, skip_bad=skip_bad, db=db, as_json=as_json)
        return
    if columns.threshold is not None:
        raise BadInput("--label-threshold is for emotui import KIND FILE...")
    wish = wish_of(kind or named, layout, mapped, delimiter, encoding, map_file, columns.names or ())
    bring_in(files, wish, name, save_map, dry_run=dry_run, skip_bad=skip_bad, db=db, as_json=as_json)


def _split(words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The kind of record before the files, where one is named there, and the files."""
    first = words[0] if words else ""
    there = {**kinds(), **tasks()}
    if first in there and (len(words) > 1 or not is_there(first)):
        return task_named(first).name, words[1:]
    if len(words) > 1 and not Path(first).suffix and not is_there(first):
        tell_troubles()
        raise BadInput(f"{literal(first)} is neither a file nor a kind of record: {', '.join(dict.fromkeys(there))}")
    return None, words


def _import_own(
    kind: str,
    files: tuple[str, ...],
    name: str | None,
    columns: LabelColumns,
    *,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    if columns != FOUND and not task_named(kind).files.label_columns:
        there = [kind for kind, task in kinds().items() if task.files.label_columns]
        raise BadInput(f"--labels and --label-threshold are for {' and '.join(there)}, not for {kind}")
    workspace = open_workspace(db)
    dataset = import_files(workspace.store, kind, files, name, columns=columns, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json({"dataset": dataset.name, "task": dataset.task, "n": dataset.n, "fingerprint": dataset.fingerprint})
    else:
        say(literal(f"{dataset.name}: {number_of(dataset.n, 'sample')}"))


def wish_of(
    kind: str | None,
    layout: str | None,
    mapped: tuple[str, ...],
    delimiter: str | None,
    encoding: str | None,
    map_file: str | None = None,
    labels: tuple[str, ...] = (),
) -> Wish:
    """What the options say together; what is given by itself goes before what a mapping's file says."""
    from emotui.formats.layouts.layout import read_mapping

    columns = columns_in(",".join(mapped))
    if len(labels) == 1 and Path(labels[0]).is_file():
        labels = tuple(read_labels(labels[0]))
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter)
    if map_file is None:
        return Wish(kind, layout, ReadOptions(delimiter, encoding, columns, labels))
    return with_mapping(read_mapping(map_file), kind, layout, ReadOptions(delimiter, encoding, columns, labels))


def _print_added(added: Added, as_json: bool) -> None:
    dataset = added.dataset
    if as_json:
        names = ("by", "matched", "keys", "strangers", "rescored")
        print_json({"dataset": dataset.name, "gold": dataset.gold} | {name: getattr(added, name) for name in names})
        return
    said = ", ".join(f"{key} of {n:,}" for key, n in added.keys.items()) or "nothing that was not there"
    say(literal(f"{dataset.name}: {said}, by {added.by}; gold version {dataset.gold}"))
    if added.rescored:
        say(f"  {len(added.rescored)} run{'s' * (len(added.rescored) != 1)} scored anew")


def _print_seer(imported: Imported, as_json: bool) -> None:
    found = {"samples": imported.samples, "labels": imported.labels}
    if as_json:
        documents = {
            key: {"dataset": one.name, "n": one.n, "fingerprint": one.fingerprint} if one else None
            for key, one in found.items()
        }
        print_json({**documents, "task": SPANS, "missing": imported.missing})
        return
    for one in found.values():
        if one is not None:
            say(literal(f"{one.name}: {number_of(one.n, 'sample')}"))


# `emotui export`: predictions, datasets and what sources say of them out of the store, into files.


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="DATASET|RUN|ANNOTATOR...")
@written_option("--to", "target", required=True, help="The file to write; its ending says how, or --format.")
@click.option("--format", "layout", metavar="NAME", help="How it is laid out: wide, long, label-studio, ... .")
@click.option("--with", "parts", metavar="PART,...", help="text, gold, scores, marks (default: text,gold).")
@db_option
@read_only_option
@json_option
def export(
    names: tuple[str, ...],
    target: str,
    layout: str | None,
    parts: str | None,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Write a dataset with its gold and what chosen runs and annotators say, in any layout (docs/data_formats.md).

    A RUN alone, without --format and --with, is written as predictions that `emotui score` of its task takes.
    """
    from emotui.workbench.datasets.samples import check_not_over_origin
    from emotui.workbench.runs.export_rows import (
        PARTS,
        export_rows,
        export_run,
        found_sources,
        layout_to_write,
        write_rows,
    )

    store = look_into(db, read_only=read_only).store
    if len(names) == 1 and layout is None and parts is None and store.datasets.get(names[0]) is None:
        n = export_run(store, names[0], target)
        if as_json:
            print_json({"run": names[0], "to": target, "n": n})
        else:
            say(f"{n} predictions written to {target}")
        return
    wanted = ("text", "gold") if parts is None else tuple(part.strip() for part in parts.split(",") if part.strip())
    if unknown := [part for part in wanted if part not in PARTS]:
        raise BadInput(f"--with {unknown[0]}: name some of {', '.join(PARTS)}")
    writer = layout_to_write(target, layout)
    sources = found_sources(store, names)
    check_not_over_origin(target, sources.dataset)
    rows = export_rows(store, sources, wanted)
    lost = write_rows(target, writer, rows, force=is_forced())
    for line in lost:
        warn(f"{target}: {writer.name} cannot hold {line}")
    if as_json:
        print_json({"sources": names, "to": target, "format": writer.name, "n": len(rows), "lost": lost})
    else:
        say(literal(f"{number_of(len(rows), 'sample')} written to {target}"))
