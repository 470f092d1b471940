"""`emotui rephrasings export`, `import`, `agreement` and `variants`: the chains that a workspace keeps."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.options import named_files
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.commands.program_options import (
    annotator_option,
    check_may_write,
    db_option,
    look_into,
    open_workspace,
    read_only_option,
)
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.workbench.rephrase import files
from emotui.workbench.rephrase.variants import drop_variants

dataset_option = click.option("--dataset", default="rephrase", show_default=True, help="A dataset of the store.")
confirmed_option = click.option("--confirmed-only", is_flag=True, help="Only rephrasings that reviewers confirmed.")


@click.command()
@dataset_option
@written_option("--to", required=True, help="The file to write: .jsonl, .csv, .tsv or .parquet.")
@confirmed_option
@annotator_option("Only what this person wrote.")
@click.option("--round", "number", type=int, help="The round's number (default: the one worked on last).")
@db_option
@read_only_option
@json_option
def export(
    dataset: str,
    to: str,
    confirmed_only: bool,
    annotator: str | None,
    number: int | None,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Write the chains of a dataset in the store as a file."""
    service = look_into(db, read_only=read_only).rephrasing()
    document = files.export_chains(
        service, dataset, to, confirmed_only=confirmed_only, annotator=annotator, round=number
    )
    if as_json:
        print_json(document)
        return
    people = literal(", ".join(document["annotators"])) or "nobody"
    say(f"{document['chains']} chains with {document['attempts']} attempts by {people} written to {to}")


@click.command("import")
@click.argument("chain_files", metavar="FILES...", nargs=-1, required=True)
@click.option("--name", help="The dataset's name (default: the first file's, without its ending).")
@annotator_option("Who wrote chains that do not say it.", default="imported")
@skip_bad_option
@db_option
@json_option
def import_(
    chain_files: tuple[str, ...], name: str | None, annotator: str, skip_bad: bool, db: str | None, as_json: bool
) -> None:
    """Bring chains from FILES into the store: the originals as a dataset, and what was written for them."""
    if not annotator.strip():
        raise BadInput("--annotator: the name is blank")
    store = open_workspace(db).store
    done = files.import_chain_files(store, chain_files, name, annotator, skip_bad=skip_bad, warn=warn)
    if as_json:
        said = {"dataset": done.dataset.name, "n": done.dataset.n, "chains": done.chains, "attempts": done.attempts}
        print_json(said)
    else:
        name = literal(done.dataset.name)
        say(f"{name}: {done.dataset.n} texts, {done.chains} new chains, {done.attempts} attempts")


@click.command()
@dataset_option
@db_option
@read_only_option
@json_option
def agreement(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """How far reviewers of a dataset's rephrasings agree: Krippendorff's alpha over meaning and the blind emotion."""
    document = look_into(db, read_only=read_only).rephrasing().agreement(dataset)
    if as_json:
        print_json(document)
        return
    single = {name: value for name, value in document.items() if name not in ("meaning", "emotion")}
    print_figures(f"reviews of {dataset}", single)


@click.command()
@click.argument("named", metavar="[NAME=FILE]...", nargs=-1)
@dataset_option
@click.option("--remove", metavar="NAME", help="Take this column out.")
@skip_bad_option
@db_option
@read_only_option
@json_option
def variants(
    named: tuple[str, ...],
    dataset: str,
    remove: str | None,
    skip_bad: bool,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Keep automatic variants of a dataset's originals (BT-1=FILE) as columns of its statistics; list them."""
    if named or remove is not None:
        check_may_write(read_only, "a column that is kept or taken out")
    service = look_into(db, read_only=read_only).rephrasing()
    if remove is not None:
        drop_variants(service.store, service.dataset(dataset), remove)
    document = files.import_variants(service, dataset, named_files(named), skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    for name, n in document["variants"].items():
        say(f"{name}: {n} texts")
    if not document["variants"]:
        say(f"{dataset} has no variants. Keep some: emotui rephrasings variants BT-1=FILE")
