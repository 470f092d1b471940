"""`emotui notes`: notes on samples, and the codes that grow out of them."""

from typing import TYPE_CHECKING

import click
import msgspec

from emotui.commands.exchange.written import written_option
from emotui.commands.output import as_written, json_option, print_figures, print_json, say, terminal
from emotui.commands.program_options import annotator_option, db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.formats import check_writable, read, write
from emotui.formats.rows import literal
from emotui.metrics.saturation import BASE, RUN, THRESHOLD
from emotui.records import SampleNote
from emotui.tables import number_of, number_that
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.notes import NoteBook, codes_in

if TYPE_CHECKING:
    from emotui.store.query import Dataset

_whose = annotator_option("Whose note it is (default: your user name).")


@click.group()
def notes() -> None:
    """Notes on samples, and the codes that grow out of them. In the workbench `;` writes one."""


def _book(db: str | None, dataset: str, *, read_only: bool = False) -> "tuple[NoteBook, Dataset]":
    store = look_into(db, read_only=read_only).store
    return NoteBook(store), dataset_named(store, dataset)


def _name(annotator: str | None) -> str:
    """Who writes. Raises BadInput where the name is blank."""
    from emotui.commands.browse import user_name

    if annotator is not None and not annotator.strip():
        raise BadInput("--annotator: the name is blank")
    return (annotator or user_name()).strip()


def _number(book: NoteBook, dataset: "Dataset", sample: str) -> int:
    number = book.store.samples.numbers_by_id(dataset.dataset).get(sample)
    if number is None:
        raise BadInput(f"{dataset.name} has no sample {sample!r}")
    return number


@notes.command("list")
@click.argument("dataset")
@click.option("--code", metavar="CODE", help="Only notes with this code.")
@annotator_option("Only this person's.")
@db_option
@read_only_option
@json_option
def list_(
    dataset: str, code: str | None, annotator: str | None, db: str | None, read_only: bool, as_json: bool
) -> None:
    """List the notes on the samples of DATASET."""
    book, found = _book(db, dataset, read_only=read_only)
    kept = [
        one
        for one in book.records(found)
        if (code is None or code in one.codes) and (annotator is None or one.annotator == annotator)
    ]
    if as_json:
        print_json({"dataset": found.name, "notes": [msgspec.to_builtins(one) for one in kept]})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("id", "annotator", "codes", "note"):
        table.add_column(column)
    for one in kept:
        table.add_row(*map(as_written, (one.id, one.annotator or "", ", ".join(one.codes), one.note)))
    if kept:
        terminal().print(table)
    else:
        say("No notes yet. In the workbench ; writes one.")


@notes.command()
@click.argument("dataset")
@click.argument("sample")
@click.argument("text", required=False)
@click.option("--codes", metavar="A,B,...", help="The codes that stand for it; new ones are made.")
@_whose
@db_option
@json_option
def add(
    dataset: str,
    sample: str,
    text: str | None,
    codes: str | None,
    annotator: str | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Note TEXT about SAMPLE of DATASET, in place of what you noted about it before; what is not given stays."""
    if text is None and codes is None:
        raise BadInput("say what is noted: a TEXT, --codes, or both")
    book, found = _book(db, dataset)
    who, number = _name(annotator), _number(book, found, sample)
    before = next((one for one in book.of(found.dataset, number) if one.annotator == who), None)
    kept_text = text if text is not None else before.text if before is not None else ""
    kept_codes = codes_in(codes) if codes is not None else before.codes if before is not None else ()
    book.write(found.dataset, number, who, kept_text, kept_codes)
    if as_json:
        said = next((one for one in book.of(found.dataset, number) if one.annotator == who), None)
        print_json(
            {"dataset": found.name, "id": sample, "annotator": who}
            | {"note": said.text if said else "", "codes": list(said.codes) if said else []}
        )
        return
    say(literal(f"{sample}: noted by {who}"))


@notes.command()
@click.argument("dataset")
@click.argument("sample")
@_whose
@db_option
@json_option
def remove(dataset: str, sample: str, annotator: str | None, db: str | None, as_json: bool) -> None:
    """Remove your note on SAMPLE of DATASET; `emotui notes undo` brings it back."""
    book, found = _book(db, dataset)
    who, number = _name(annotator), _number(book, found, sample)
    if not any(one.annotator == who for one in book.of(found.dataset, number)):
        raise BadInput(f"{who} has no note on {sample!r}")
    book.write(found.dataset, number, who, "")
    if as_json:
        print_json({"dataset": found.name, "id": sample, "annotator": who, "removed": True})
    else:
        say(literal(f"{sample}: the note of {who} is removed"))


@notes.command()
@click.argument("dataset")
@_whose
@db_option
@json_option
def undo(dataset: str, annotator: str | None, db: str | None, as_json: bool) -> None:
    """Take back what you did last to notes or codes of DATASET."""
    book, found = _book(db, dataset)
    entry = book.undo(found.dataset, _name(annotator))
    if entry is None:
        raise BadInput(f"{_name(annotator)} has nothing to take back in {found.name}")
    if as_json:
        print_json({"dataset": found.name, "kind": entry.kind, "made": entry.at, "codes": list(entry.codes)})
    else:
        what = "the new name of a code" if entry.kind == "rename" else "a note"
        say(literal(f"Taken back: {what} of {entry.at[:19]}"))


@notes.command()
@click.argument("dataset")
@db_option
@read_only_option
@json_option
def codes(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """List the codes of DATASET: on how many samples each stands, and by whom."""
    book, found = _book(db, dataset, read_only=read_only)
    kept = book.codes(found.dataset)
    if as_json:
        listed = [
            {"code": one.name, "samples": len(one.samples), "annotators": list(one.annotators), "example": one.example}
            for one in kept
        ]
        print_json({"dataset": found.name, "codes": listed})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("code", "samples", "by", "newest note"):
        table.add_column(column, justify="right" if column == "samples" else "left")
    for one in kept:
        table.add_row(*map(as_written, (one.name, str(len(one.samples)), ", ".join(one.annotators), one.example)))
    if kept:
        terminal().print(table)
    else:
        say("No codes yet: emotui notes add DATASET SAMPLE --codes A,B")


@notes.command()
@click.argument("dataset")
@click.argument("old")
@click.argument("new")
@_whose
@db_option
@json_option
def rename(dataset: str, old: str, new: str, annotator: str | None, db: str | None, as_json: bool) -> None:
    """Call the code OLD of DATASET NEW, in all notes. Where there is a code NEW, both are one from then on."""
    book, found = _book(db, dataset)
    merged = book.rename(found.dataset, old, new, _name(annotator))
    if as_json:
        print_json({"dataset": found.name, "old": old, "new": new, "merged": merged})
    else:
        say(literal(f"{old} is {'part of ' if merged else ''}{new} now"))


@notes.command()
@click.argument("dataset")
@click.option("--base", type=click.IntRange(1), default=BASE, show_default=True, help="The first samples.")
@click.option("--run", type=click.IntRange(1), default=RUN, show_default=True, help="The samples of a run after them.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=THRESHOLD,
    show_default=True,
    help="New codes of a run over those of the base.",
)
@db_option
@read_only_option
@json_option
def saturation(
    dataset: str, base: int, run: int, threshold: float, db: str | None, read_only: bool, as_json: bool
) -> None:
    """Say whether new samples of DATASET still bring new codes (Guest, Namey and Chen 2020)."""
    book, found = _book(db, dataset, read_only=read_only)
    curve = book.saturation(found.dataset, base=base, run=run, threshold=threshold)
    if as_json:
        head = {"dataset": found.name, "samples": len(curve.new), "base": base, "run": run, "threshold": threshold}
        why = f"fewer than {base + run} samples have codes" if len(curve.new) < base + run else "the base has no code"
        notes = {} if curve.share is not None else {"notes": {"share": why}}
        figures = {"new": list(curve.new), "known": list(curve.known), "share": curve.share, "reached": curve.reached}
        print_json(head | figures | notes)
        return
    say(f"{number_of(len(curve.new), 'sample')} with codes, {number_of(curve.known[-1] if curve.known else 0, 'code')}")
    if curve.share is None:
        say(f"Saturation is told from {base + run} samples on.")
        return
    say(f"The last {run} samples brought {100 * curve.share:.0f}% as many new codes as the first {base}.")
    reached = f"after {curve.reached} samples" if curve.reached is not None else "not yet"
    say(f"At most {100 * threshold:g}%: {reached}.")


@notes.command()
@click.argument("dataset")
@db_option
@read_only_option
@json_option
def agreement(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """How far coders of DATASET agree, code by code, over the samples that two of them coded."""
    book, found = _book(db, dataset, read_only=read_only)
    document = book.agreement(found.dataset)
    if as_json:
        print_json({"dataset": found.name} | document)
    else:
        print_figures(f"codes of {found.name}", document)


@notes.command()
@click.argument("dataset")
@written_option("--to", "target", type=click.Path(), default="-", help="The file, by its ending (default: JSONL here).")
@db_option
@read_only_option
@json_option
def export(dataset: str, target: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """Write the notes and codes of DATASET: .jsonl, .csv, .tsv or .parquet."""
    if as_json and target == "-":
        raise BadInput("--json prints what was done: name a file with --to")
    book, found = _book(db, dataset, read_only=read_only)
    if target != "-":
        check_writable(target)
    n = write(target, book.records(found))
    if as_json:
        print_json({"dataset": found.name, "notes": n, "to": target})
    elif target != "-":
        say(literal(f"{number_of(n, 'note')} written to {target}"), err=True)


@notes.command("import")
@click.argument("dataset")
@click.argument("file")
@_whose
@db_option
@json_option
def import_(dataset: str, file: str, annotator: str | None, db: str | None, as_json: bool) -> None:
    """Bring notes of FILE (id, note, codes, annotator) to the samples of DATASET, all or none."""
    book, found = _book(db, dataset)
    came = read(file, SampleNote)
    places = [f"{literal(file)}:{line}" for line in came.lines]
    n = book.bring_in(found, came.records, places, _name(annotator))
    if as_json:
        print_json({"dataset": found.name, "notes": len(came.records), "new": n})
    else:
        say(literal(f"{found.name}: {n} of {number_that(len(came.records), 'note', 'is', 'are')} new"))
