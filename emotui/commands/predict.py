"""`emotui predict KIND`: a model over a file, without the store."""

import os
import sys
from pathlib import Path

import click
import msgspec

from emotui.commands.exchange.importing import wish_of
from emotui.commands.exchange.written import written_option
from emotui.commands.options import TaskName, asking_options, map_labels_option, one_way, read_labels, under_labels
from emotui.commands.output import bar, json_option, print_json_line, print_json_of_many, say, skip_bad_option, warn
from emotui.formats import check_not_over, check_writable, write
from emotui.formats.json_document import present
from emotui.formats.written import is_stream
from emotui.workbench.files.predict import Predictions
from emotui.workbench.files.predict import predict as ask
from emotui.workbench.shards.shard import Shard, read_shard


@click.command()
@click.argument("kind", type=TaskName(by_kind=True))
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option(
    "--records",
    required=True,
    help="Texts: what emotui import reads; .jsonl, .csv, .tsv, .parquet and - (JSONL) also where they are large.",
)
@click.option("--format", "layout", metavar="NAME", help="How the file is laid out (default: it looks at it).")
@click.option("--map", "mapped", multiple=True, metavar="FIELD=COLUMN,...", help="Which column is what: text=Tweet.")
@click.option("--delimiter", metavar="C", help="What parts the cells of a table (default: it is found out).")
@click.option("--encoding", metavar="E", help="Of a text file: cp1252, utf-16 (default: it is found out).")
@written_option(
    "--to",
    "target",
    goes_on=lambda target: _has_unfinished(target),
    help="Where to write the predicted records (default: standard output, as JSONL).",
)
@click.option("--labels", "labels_file", type=click.Path(), help="Your own label set: a file, one label a line.")
@map_labels_option
@click.option("--way", help="How to ask, where there are several ways (docs/models.md).")
@asking_options
@skip_bad_option
@click.option(
    "--shard", metavar="I/N", help="Only part I of N of the records; the parts after each other are the whole."
)
@click.option("--fresh", is_flag=True, help="Ask again about what was answered before a stop.")
@json_option
def predict(
    kind: str,
    spec: str,
    records: str,
    layout: str | None,
    mapped: tuple[str, ...],
    delimiter: str | None,
    encoding: str | None,
    target: str | None,
    labels_file: str | None,
    map_labels: str | None,
    way: str | None,
    skip_bad: bool,
    shard: str | None,
    fresh: bool,
    written_way: str | None,
    options: dict[str, object],
    as_json: bool,
) -> None:
    """Ask a model about every record of a file, and write what it says in the order of the file.

    What comes out is what `emotui score` of the same kind takes. With --to, answers are kept beside FILE, in FILE.part,
    as they come: after a kill or a Ctrl-C the same command goes on where it stopped, to the same file.

    Exit status 1 where some records were refused, or where the model went away before the end: then what it had
    answered is written, and the rest is left out.
    """
    way, spec = one_way(way, written_way), under_labels(spec, map_labels)
    part = None if shard is None else read_shard(shard)
    kept = None
    if target:
        check_writable(target)  # before hours of asking
        kept = _kept_beside(target)
    if kept is not None:
        check_not_over(kept, records)
    labels = read_labels(labels_file) if labels_file else None
    wish = None
    if any((layout, mapped, delimiter, encoding)):
        wish = wish_of(None, layout, mapped, delimiter, encoding)
    printing = not target and not as_json
    with bar(f"{spec}: {kind}", printing=printing) as progress:
        found = ask(
            kind,
            spec,
            records,
            labels=labels,
            way=way,
            options=options,
            wish=wish,
            skip_bad=skip_bad,
            shard=part,
            kept=kept,
            fresh=fresh,
            warn=warn,
            progress=progress,
            each=_print if printing else None,
        )
    whole = False
    try:
        for failure in found.failures:
            say(failure, err=True)
        if target:
            write(target, found.answers)
        if as_json:
            _print_document(found, part)
        whole = found.stopped is None
    finally:
        found.answers.close(remove=whole)
    if found.doubtful:
        say(f"{found.doubtful} answers are doubtful: yes and no have little probability, or one has none", err=True)
    if found.stopped is not None:
        say(f"{found.stopped}: {found.answers.done} of {found.n} are written", err=True)
    if found.answers.failed or found.stopped is not None:
        sys.exit(1)


def _print(record: msgspec.Struct) -> None:
    print_json_line(msgspec.json.encode(_present(record)))


def _kept_beside(target: str) -> Path | None:
    """Where answers are kept until all are there; None where nothing can stand beside what is written."""
    if target == "-" or is_stream(target):
        return None
    path = Path(os.path.realpath(target))
    return path.with_name(f"{path.name[:100] if len(path.name.encode()) > 250 else path.name}.part")


def _has_unfinished(target: str) -> bool:
    """Whether answers of a call that stopped lie beside the file, which is written anew from them."""
    kept = _kept_beside(target)
    return kept is not None and kept.is_file()


def _print_document(found: Predictions, shard: Shard | None) -> None:
    """One JSON document, its records written as they are read."""
    head = {
        **({} if shard is None else {"shard": str(shard)}),
        "model": found.model,
        "kind": found.kind,
        "n": found.n,
        "failed": found.answers.failed,
        "doubtful": found.doubtful,
        "stopped": found.stopped,
        "seconds": found.seconds,
        "labels": found.labels,
    }
    print_json_of_many(head, "records", map(_as_in_files, found.answers))


def _as_in_files(record: msgspec.Struct) -> dict[str, object]:
    """All fields, spans as files have them."""
    fields: dict[str, object] = msgspec.to_builtins(record)
    if not fields.get("sentences", True):
        del fields["sentences"]  # no model of ours says anything of sentences
    fields = {name: value for name, value in fields.items() if value or name not in ("little_mass", "unanswered")}
    return fields | {name: value for name, value in present(record).items() if name == "spans"}


def _present(record: msgspec.Struct) -> dict[str, object]:
    """The fields that say something."""
    fields = _as_in_files(record)
    return {name: value for name, value in fields.items() if value is not None and value != {}}
