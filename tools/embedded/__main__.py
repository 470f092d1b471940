"""`python -m tools.embedded train`, `evaluate` or `graphs`, in a checkout with the extra `test`."""

import sys
from pathlib import Path
from typing import Any

import click

from emotui.commands.output import bar, json_option, print_json, say, shown
from emotui.errors import EmotuiError


@click.group()
def main() -> None:
    """Make the embedded model, its figures and its graphs again."""


@main.command()
@click.option("--data", required=True, type=click.Path(), help="The folder of open data that the model card names.")
@click.option("--to", "target", required=True, type=click.Path(), help="The folder to write the weights to.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--epochs", type=click.IntRange(min=1), help="Of GoEmotions (default: as in the model card).")
@click.option("--threads", type=click.IntRange(min=1), help="Of torch (default: torch's own choice).")
@click.option("--resume", is_flag=True, help="Go on where an earlier training into the same folder broke off.")
def train(data: str, target: str, seed: int, epochs: int | None, threads: int | None, resume: bool) -> None:
    """Train the embedded model's adapters and heads; Ctrl-C stops it, --resume goes on."""
    from tools.embedded.train import train as train_all

    chosen = {} if epochs is None else {"epochs": epochs}
    with bar("training") as progress:
        out = train_all(
            data,
            target,
            seed,
            progress=lambda stage, done, n: progress(done, n, stage),
            resume=resume,
            threads=threads,
            **chosen,
        )
    say(f"weights written to {out}", err=True)


@main.command()
@click.option("--data", type=click.Path(), help="The folder of open data (default: only figures on the sample data).")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True)
@json_option
def evaluate(data: str | None, threads: int, as_json: bool) -> None:
    """Every figure of the embedded model's card; without --data those on the sample data (5-fold)."""
    from tools.embedded import evaluation

    figures: dict[str, Any] = evaluation.evaluate(data, threads=threads)
    if as_json:
        print_json(figures)
        return
    for name, value in evaluation.rows(figures):
        say(f"{name:<86} {shown(value)}")


@main.command()
@click.option("--to", default="backends/embedded", show_default=True, type=click.Path(path_type=Path))
def graphs(to: Path) -> None:
    """Write `layer.onnx` and `layer_int8.onnx`, what ONNX Runtime computes of a layer."""
    from tools.embedded.graphs import write

    write(to)


if __name__ == "__main__":
    try:
        main()
    except EmotuiError as error:
        say(str(error), err=True)
        sys.exit(2)
