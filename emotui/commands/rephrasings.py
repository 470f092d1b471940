"""`emotui rephrasings`: chains of rephrasings as sets, statistics, splits and files."""

from typing import Any

import click

from emotui.commands.options import FiniteRange, named_files, variants_option
from emotui.commands.output import db_option, json_option, print_figures, print_json, skip_bad_option
from emotui.commands.rephrasings_evaluate import evaluate
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.metrics.word_distributions import SMOOTHING
from emotui.tasks.rephrase.suggesting import PROMPTS, WAY, read_suggestion_prompts
from emotui.workbench.rephrase import files as files
from emotui.workbench.rephrase.suggestions import keep_prompts, kept_prompts, suggestions_for
from emotui.workbench.rephrase.variants import drop_variants
from emotui.workbench.workspace import Workspace

chains_option = click.option("--chains", required=True, help="Rephrasing chains: .jsonl, .csv, .tsv, .parquet, or -.")
dataset_option = click.option("--dataset", default="rephrase", show_default=True, help="A dataset of the store.")
annotator_option = click.option("--annotator", metavar="NAME", help="Only what this person wrote.")
confirmed_option = click.option("--confirmed-only", is_flag=True, help="Only rephrasings that reviewers confirmed.")


def _warn(line: str) -> None:
    click.echo(line, err=True)


@click.group()
def rephrasings() -> None:
    """Sets 1R to 4R of rephrased texts, their statistics, and splits for training."""


rephrasings.add_command(evaluate)


@rephrasings.command()
@chains_option
@click.option("--to", type=click.Path(), help="A folder to write the sets to, as 1R.jsonl to 4R.jsonl.")
@skip_bad_option
@json_option
def sets(chains: str, to: str | None, skip_bad: bool, as_json: bool) -> None:
    """The test sets 1R to 4R: each chain's text of that round, and every original the model got wrong."""
    document = files.sets_document(chains, to=to, skip_bad=skip_bad, warn=_warn)
    if as_json:
        print_json(document)
        return
    counted = {"T_correct": len(document["t_correct"]), "T_incorrect": len(document["t_incorrect"])}
    sizes = {name: len(records) for name, records in document["sets"].items()}
    rounds = document["rounds"]
    ends = {"failed": rounds["failed"], "skipped": rounds["skipped"], "open": document["open"]}
    print_figures(chains, counted | sizes | ends | {"notes": document["notes"]})
    means = rounds["mean_explicit_words"]
    by_round = {
        name: {"succeeded": rounds["succeeded"].get(name), "mean_explicit_words": mean} for name, mean in means.items()
    }
    print_figures("rounds", {"by round": by_round})


@rephrasings.command()
@chains_option
@variants_option
@click.option(
    "--smoothing",
    type=FiniteRange(min=0, min_open=True),
    default=SMOOTHING,
    show_default=True,
    help="Added to every word's count for KL.",
)
@skip_bad_option
@json_option
def statistics(chains: str, variants: tuple[str, ...], smoothing: float, skip_bad: bool, as_json: bool) -> None:
    """What rephrasing does to texts: rephrasings needed, word divergence, explicit words, categories, negation."""
    document = files.statistics_document(
        chains, named_files(variants), smoothing=smoothing, skip_bad=skip_bad, warn=_warn
    )
    if as_json:
        print_json(document)
    else:
        print_statistics(chains, document)


def print_statistics(title: str, document: dict[str, Any]) -> None:
    """The figures of one set of chains, and a table with a row a figure and a column a set."""
    needed = {f"succeeded at {k}": n for k, n in document["needed"].items()}
    single = {name: value for name, value in document.items() if not isinstance(value, dict)}
    print_figures(title, single | needed | {"notes": document["notes"]})
    columns = document["columns"]
    figures = next(iter(columns.values()))
    print_figures("columns", {"by set": {name: {of: columns[of][name] for of in columns} for name in figures}})


@rephrasings.command()
@chains_option
@click.option("--to", required=True, type=click.Path(), help="The folder to write train, dev and test to.")
@click.option("--dev", type=FiniteRange(0, 1), default=0.1, show_default=True, help="The share of dev.")
@click.option("--test", type=FiniteRange(0, 1), default=0.2, show_default=True, help="The share of test.")
@click.option("--seed", type=int, default=0, show_default=True)
@skip_bad_option
@json_option
def split(chains: str, to: str, dev: float, test: float, seed: int, skip_bad: bool, as_json: bool) -> None:
    """Split for training: an original and its rephrasings, and chains with a text in common, stay together."""
    if dev + test >= 1:
        raise BadInput(f"--dev {dev} and --test {test} leave nothing for training")
    wanted = {"train": 1 - dev - test, "dev": dev, "test": test}
    shares = {part: share for part, share in wanted.items() if share > 0}
    document = files.split_files(chains, to, shares, seed=seed, skip_bad=skip_bad, warn=_warn)
    if as_json:
        print_json(document)
        return
    for part, said in document["parts"].items():
        counts = f"{said['originals']} originals, {said['rephrased']} of them with {said['rephrasings']} rephrasings"
        click.echo(f"{part}: {counts}: {', '.join(said['files'])}")


@rephrasings.command()
@dataset_option
@click.option("--to", required=True, help="The file to write: .jsonl, .csv, .tsv or .parquet.")
@confirmed_option
@annotator_option
@click.option("--round", "number", type=int, help="The round's number (default: the one worked on last).")
@db_option
@json_option
def export(
    dataset: str,
    to: str,
    confirmed_only: bool,
    annotator: str | None,
    number: int | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Write the chains of a dataset in the store as a file."""
    service = Workspace.look_into(db).rephrasing()
    document = files.export_chains(
        service, dataset, to, confirmed_only=confirmed_only, annotator=annotator, round=number
    )
    if as_json:
        print_json(document)
        return
    people = literal(", ".join(document["annotators"])) or "nobody"
    click.echo(f"{document['chains']} chains with {document['attempts']} attempts by {people} written to {to}")


@rephrasings.command("import")
@click.argument("chain_files", metavar="FILES...", nargs=-1, required=True)
@click.option("--name", help="The dataset's name (default: the first file's, without its ending).")
@click.option("--annotator", default="imported", show_default=True, help="Who wrote chains that do not say it.")
@skip_bad_option
@db_option
@json_option
def import_(
    chain_files: tuple[str, ...], name: str | None, annotator: str, skip_bad: bool, db: str | None, as_json: bool
) -> None:
    """Bring chains from FILES into the store: the originals as a dataset, and what was written for them."""
    if not annotator.strip():
        raise BadInput("--annotator: the name is blank")
    store = Workspace.open(db).store
    done = files.import_chain_files(store, chain_files, name, annotator, skip_bad=skip_bad, warn=_warn)
    if as_json:
        said = {"dataset": done.dataset.name, "n": done.dataset.n, "chains": done.chains, "attempts": done.attempts}
        print_json(said)
    else:
        name = literal(done.dataset.name)
        click.echo(f"{name}: {done.dataset.n} texts, {done.chains} new chains, {done.attempts} attempts")


@rephrasings.command()
@dataset_option
@db_option
@json_option
def agreement(dataset: str, db: str | None, as_json: bool) -> None:
    """How far reviewers of a dataset's rephrasings agree: Krippendorff's alpha over meaning and the blind emotion."""
    document = Workspace.look_into(db).rephrasing().agreement(dataset)
    if as_json:
        print_json(document)
        return
    single = {name: value for name, value in document.items() if name not in ("meaning", "emotion")}
    print_figures(f"reviews of {dataset}", single)


@rephrasings.command()
@click.option("--model", "spec", required=True, help="A model that writes: hf:, gguf: or openai:.")
@click.option("--text", required=True, help="The original.")
@click.option("--label", required=True, help="Its gold label.")
@click.option("--classifier", default="embedded", show_default=True, help="The model whose verdict is wanted (SPEC).")
@click.option("--prompts", type=click.Path(), help="Your own prompt (TOML, docs/prompts.md).")
@json_option
def suggest(spec: str, text: str, label: str, classifier: str, prompts: str | None, as_json: bool) -> None:
    """Three rephrasings by a model that avoid the words which give the emotion away, each with the verdict."""
    own = read_suggestion_prompts(prompts) if prompts else PROMPTS
    if not text.strip():
        raise BadInput("--text is empty: give the text that is to be rephrased")
    found = suggestions_for(text, label, spec, classifier, prompts=own, progress=_warn)
    if as_json:
        names = ("text", "predicted", "confidence", "similarity", "cues")
        print_json({"suggestions": [{name: getattr(one, name) for name in names} for one in found]})
        return
    for one in found:
        similarity = "–" if one.similarity is None else f"{one.similarity:.2f}"
        verdict = f"{one.predicted}   {label} {one.confidence:.2f}   similarity {similarity}"
        click.echo(f"{literal(one.text)}\n    {literal(verdict)}")


@rephrasings.command()
@click.argument("file", type=click.Path(), required=False)
@click.option("--own", is_flag=True, help="Go back to emotui's own prompt.")
@db_option
def prompt(file: str | None, own: bool, db: str | None) -> None:
    """Keep the prompt of FILE in the workspace, for suggestions in the Rephrase place; without FILE, show it."""
    if file and own:
        raise BadInput("give a FILE, or --own, not both")
    store = Workspace.open(db).store
    if file or own:
        keep_prompts(store, file)
        return
    kept = kept_prompts(store)[WAY]
    click.echo(f"[system]\n{kept.system}\n\n[user]\n{kept.user}")


@rephrasings.command()
@click.argument("named", metavar="[NAME=FILE]...", nargs=-1)
@dataset_option
@click.option("--remove", metavar="NAME", help="Take this column out.")
@skip_bad_option
@db_option
@json_option
def variants(
    named: tuple[str, ...], dataset: str, remove: str | None, skip_bad: bool, db: str | None, as_json: bool
) -> None:
    """Keep automatic variants of a dataset's originals (BT-1=FILE) as columns of its statistics; list them."""
    service = Workspace.look_into(db).rephrasing()
    if remove is not None:
        drop_variants(service.store, service.dataset(dataset), remove)
    document = files.import_variants(service, dataset, named_files(named), skip_bad=skip_bad, warn=_warn)
    if as_json:
        print_json(document)
        return
    for name, n in document["variants"].items():
        click.echo(f"{name}: {n} texts")
    if not document["variants"]:
        click.echo(f"{dataset} has no variants. Keep some: emotui rephrasings variants BT-1=FILE")
