"""`emotui decode`: emotion vectors decoded jointly under an Ising prior, from files."""

import click

from emotui.commands.options import FiniteRange
from emotui.commands.output import json_option, print_json, shown, skip_bad_option
from emotui.workbench.files import score


def _warn(line: str) -> None:
    click.echo(line, err=True)


def _alphas(ctx: click.Context, parameter: click.Parameter, value: str | None) -> list[float] | None:
    if value is None:
        return None
    try:
        alphas = [float(part) for part in value.split(",")]
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: numbers separated by commas, such as 0,0.1,0.5") from error
    if any(not 0 <= alpha < float("inf") for alpha in alphas):
        raise click.BadParameter("every alpha is a finite number of at least 0")
    return alphas


@click.command()
@click.option("--train", required=True, help="Gold vectors; the prior is fitted on them alone.")
@click.option("--scores", required=True, help="Records with scores, and gold labels beside them where there are any.")
@click.option(
    "--alpha", callback=_alphas, help="Weights of the prior, with commas between (default: the paper's grid)."
)
@click.option("--prior", type=click.Choice(["paper", "exact"]), default="paper", show_default=True)
@click.option("--smoothing", type=FiniteRange(min=0), default=0.5, show_default=True)
@click.option("--output", type=click.Choice(["marginals"]), help="Add the exact posterior of every emotion.")
@skip_bad_option
@json_option
def decode(
    train: str,
    scores: str,
    alpha: list[float] | None,
    prior: str,
    smoothing: float,
    output: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Re-decode emotion vectors jointly under an Ising prior (EmoScene)."""
    document = score.decode_scenes(
        train,
        scores,
        alphas=alpha,
        prior=prior,
        smoothing=smoothing,
        output=output,
        skip_bad=skip_bad,
        warn=_warn,
    )
    if as_json:
        print_json(document)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    figures = ("macro_f1", "micro_f1", "hamming_loss", "lexical_accuracy", "vector_accuracy")
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))  # one blank between: all fit into 80 columns
    for column in ("alpha", "emotions", *figures):
        table.add_column(column, justify="right")
    for result in document["results"]:
        on = sum(sum(vector) for vector in result["predictions"].values())
        cells = (shown(float(result["alpha"])), str(on), *(shown(result.get(figure)) for figure in figures))
        table.add_row(*(Text(cell) for cell in cells))
    Console().print(table)
