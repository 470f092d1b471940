"""`emotui measure`: further models asked about the versions of texts that runs have made."""

from typing import Any

import click

from emotui.commands.output import json_option, print_json, say
from emotui.commands.program_options import db_option, look_into
from emotui.metrics.eans import READINGS


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
