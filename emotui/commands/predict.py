"""`emotui predict KIND`: a model over a file, without the store."""

import sys

import click
import msgspec

from emotui.commands.exchange.written import written_option
from emotui.commands.options import TaskName, asking_options, one_way, read_labels
from emotui.commands.output import json_option, print_json, print_json_line, say, skip_bad_option, warn
from emotui.commands.terminal.progress import bar
from emotui.formats import check_writable, write
from emotui.formats.json_document import present
from emotui.workbench.files.predict import predict as ask


@click.command()
@click.argument("kind", type=TaskName(by_kind=True))
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--records", required=True, help="Records to ask about: .jsonl, .csv, .tsv, .parquet, or - for JSONL.")
@written_option("--to", "target", help="Where to write the predicted records (default: standard output, as JSONL).")
@click.option("--labels", "labels_file", type=click.Path(), help="Your own label set: a file, one label a line.")
@click.option("--way", help="How to ask, where there are several ways (docs/prompts.md).")
@asking_options
@skip_bad_option
@json_option
def predict(
    kind: str,
    spec: str,
    records: str,
    target: str | None,
    labels_file: str | None,
    way: str | None,
    skip_bad: bool,
    written_way: str | None,
    options: dict[str, object],
    as_json: bool,
) -> None:
    """Ask a model about every record of a file, and write what it says in the order of the file.

    What comes out is what `emotui score` of the same kind takes. Exit status 1 where some records were refused, or
    where the model went away before the end: then what it had answered is written, and the rest is left out.
    """
    way = one_way(way, written_way)
    if target:
        check_writable(target)  # before hours of asking
    labels = read_labels(labels_file) if labels_file else None
    with bar(f"{spec}: {kind}") as progress:
        found = ask(
            kind,
            spec,
            records,
            labels=labels,
            way=way,
            options=options,
            skip_bad=skip_bad,
            warn=warn,
            progress=progress,
        )
    for failure in found.failures[:20]:
        say(failure, err=True)
    if target:
        write(target, found.records)
    if as_json:
        print_json(
            {
                "model": found.model,
                "kind": found.kind,
                "n": found.n,
                "failed": len(found.failures),
                "stopped": found.stopped,
                "seconds": found.seconds,
                "labels": found.labels,
                "records": [_as_in_files(record) for record in found.records],
            }
        )
    elif not target:
        for record in found.records:
            print_json_line(msgspec.json.encode(_present(record)))
    if found.stopped is not None:
        say(f"{found.stopped}: {len(found.records)} of {found.n} are written", err=True)
    if found.failures or found.stopped is not None:
        sys.exit(1)


def _as_in_files(record: msgspec.Struct) -> dict[str, object]:
    """All fields, spans as files have them."""
    fields: dict[str, object] = msgspec.to_builtins(record)
    if not fields.get("sentences", True):
        del fields["sentences"]  # no model of ours says anything of sentences
    return fields | {name: value for name, value in present(record).items() if name == "spans"}


def _present(record: msgspec.Struct) -> dict[str, object]:
    """The fields that say something."""
    fields = _as_in_files(record)
    return {name: value for name, value in fields.items() if value is not None and value != {}}
