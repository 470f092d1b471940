"""`emotui train` and `emotui evaluate`: classifiers of the person's own, the embedded model, and its card's figures."""

from typing import Any

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_json, say, shown
from emotui.commands.terminal.progress import bar
from emotui.commands.train_classifier import train_classifier


@click.group()
def train() -> None:
    """Train a classifier of your own, or this package's model on the open data."""


train.add_command(train_classifier)


@train.command("embedded")
@click.option("--data", required=True, type=click.Path(), help="The folder of open data that the model card names.")
@written_option(
    "--to",
    "target",
    within=("*.safetensors", "*.json"),
    required=True,
    type=click.Path(),
    help="The folder to write the weights to.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--epochs", type=click.IntRange(min=1), help="Of GoEmotions (default: as in the model card).")
@click.option("--threads", type=click.IntRange(min=1), help="Of torch (default: torch's own choice).")
@click.option("--resume", is_flag=True, help="Go on where an earlier training into the same folder broke off.")
def train_embedded(data: str, target: str, seed: int, epochs: int | None, threads: int | None, resume: bool) -> None:
    """Train the embedded model's adapters and heads; Ctrl-C stops it, --resume goes on."""
    from emotui.backends.embedded.training import train as training_train

    chosen = {} if epochs is None else {"epochs": epochs}
    with bar("training") as progress:
        out = training_train.train(
            data,
            target,
            seed,
            progress=lambda stage, done, n: progress(done, n, stage),
            resume=resume,
            threads=threads,
            **chosen,
        )
    say(f"weights written to {out}", err=True)


@click.group()
def evaluate() -> None:
    """Compute a model's published figures again."""


@evaluate.command("embedded")
@click.option("--data", type=click.Path(), help="The folder of open data (default: only figures on the sample data).")
@click.option("--threads", type=click.IntRange(min=1), help="Of torch (default: torch's own choice).")
@json_option
def evaluate_embedded(data: str | None, threads: int | None, as_json: bool) -> None:
    """Every figure of the embedded model's card; without --data those on the sample data (5-fold)."""
    from emotui.backends.embedded.training import evaluation

    figures: dict[str, Any] = evaluation.evaluate(data, threads=threads)
    if as_json:
        print_json(figures)
        return
    for name, value in evaluation.rows(figures):
        say(f"{name:<86} {shown(value)}")
