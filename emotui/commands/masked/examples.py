"""`emotui masked examples`: what few-shot prompts about masked texts will show."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_json, say, warn
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.workbench.files.masked_examples import CHOICES


@click.command()
@click.option("--records", required=True, help="Masked records to choose examples for.")
@click.option("--pool", type=click.Path(), help="Masked records to take examples from (default: the records).")
@click.option("--choose", type=click.Choice(CHOICES), default="nearest", show_default=True)
@click.option("--encoder", default="embedded", show_default=True, help="The model (SPEC) whose embeddings are near.")
@click.option("--shots", type=click.IntRange(1, 100), default=4, show_default=True, help="Examples for each record.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of drawing.")
@written_option("--to", required=True, type=click.Path(), help="The file to write (.jsonl), for --examples.")
@db_option
@read_only_option
@json_option
def examples(
    records: str,
    pool: str | None,
    choose: str,
    encoder: str,
    shots: int,
    seed: int,
    to: str,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Choose what few-shot-random and few-shot-nearest show: texts with as many masks, never of the same post.

    What is embedded for the nearest is kept in the workspace: no text is embedded twice.
    """
    from emotui.workbench.files import masked_examples

    store = look_into(db, read_only=read_only).store if choose == "nearest" else None
    found = masked_examples.choose_examples(
        records, pool, choose, encoder=encoder, seed=seed, shots=shots, store=store, warn=warn
    )
    masked_examples.write_examples(found, to)
    told = {"records": len(found), "examples": sum(len(one.examples) for one in found), "choose": choose}
    if as_json:
        print_json(told)
    else:
        say(f"{to}: {told['examples']} examples for {told['records']} records")
