"""`emotui rephrasings sets`, `statistics` and `split`: from files of chains, without the store."""

from typing import Any

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.options import FiniteRange, named_files, variants_option
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.commands.rephrasings.evaluate import chains_option
from emotui.errors import BadInput
from emotui.metrics.word_distributions import SMOOTHING
from emotui.workbench.rephrase import files


@click.command()
@chains_option
@written_option(
    "--to", within=("?R.jsonl",), type=click.Path(), help="A folder to write the sets to, as 1R.jsonl to 4R.jsonl."
)
@skip_bad_option
@json_option
def sets(chains: str, to: str | None, skip_bad: bool, as_json: bool) -> None:
    """The test sets 1R to 4R: each chain's text of that round, and every original the model got wrong."""
    document = files.sets_document(chains, to=to, skip_bad=skip_bad, warn=warn)
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


@click.command()
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
        chains, named_files(variants), smoothing=smoothing, skip_bad=skip_bad, warn=warn
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


@click.command()
@chains_option
@written_option(
    "--to",
    within=[f"{part}{ending}.jsonl" for part in ("train", "dev", "test") for ending in ("", "_rephrasings")],
    required=True,
    type=click.Path(),
    help="The folder to write train, dev and test to.",
)
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
    document = files.split_files(chains, to, shares, seed=seed, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    for part, said in document["parts"].items():
        counts = f"{said['originals']} originals, {said['rephrased']} of them with {said['rephrasings']} rephrasings"
        say(f"{part}: {counts}: {', '.join(said['files'])}")
