"""`emotui decode`: emotion vectors decoded jointly under an Ising prior, from files."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from emotui.commands.output import (
    as_written,
    json_option,
    print_figures,
    print_json,
    say,
    shown,
    skip_bad_option,
    terminal,
    warn,
)
from emotui.commands.program_options import FiniteRange
from emotui.errors import BadInput
from emotui.workbench.files import score

if TYPE_CHECKING:
    from emotui.metrics.expected import Objective
    from emotui.metrics.nested_cv import Grid

FIGURES = ("macro_f1", "micro_f1", "hamming_loss", "lexical_accuracy", "vector_accuracy")
FIT = "fit"


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


def _temperature(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | str | None:
    if value is None or value == FIT:
        return value
    try:
        number = float(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: a number, or {FIT}") from error
    if not 0.02 <= number <= 50:
        raise click.BadParameter("a temperature is a number from 0.02 to 50")
    return number


@click.command()
@click.option(
    "--train",
    help="Gold vectors; the prior is fitted on them alone. With --folds: gold labels by id, where --scores has none.",
)
@click.option("--scores", required=True, help="Records with scores, and gold labels beside them where there are any.")
@click.option(
    "--alpha", callback=_alphas, help="Weights of the prior, with commas between (default: the paper's grid)."
)
@click.option(
    "--prior", type=click.Choice(["paper", "exact"]), help="(default: paper; with --folds it is chosen among them)"
)
@click.option(
    "--smoothing",
    type=FiniteRange(min=0),
    help="Of the counts (default: 0.5; of --prior exact none, and with it the smoothed data is matched).",
)
@click.option("--couplings-only", is_flag=True, help="Leave out the prior's biases: logits hold base rates already.")
@click.option(
    "--temperature",
    metavar="T|fit",
    callback=_temperature,
    help="What log-odds are divided by, or fit: by the gold labels (default: 1; with --folds 1 or fit is chosen).",
)
@click.option(
    "--objective",
    type=click.Choice(["map", "hamming", "macro-f1"]),
    default="map",
    show_default=True,
    help="The best vector, the least expected Hamming loss, or the greatest expected macro F1 of the set.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Choose prior, temperature and alpha inside so many folds of the records with scores and gold labels.",
)
@click.option(
    "--output",
    "outputs",
    type=click.Choice(["marginals", "statistics"]),
    multiple=True,
    help="Add the exact posterior of every emotion, or what the training vectors are like (again for both).",
)
@skip_bad_option
@json_option
def decode(
    train: str | None,
    scores: str,
    alpha: list[float] | None,
    prior: str | None,
    smoothing: float | None,
    couplings_only: bool,
    temperature: float | str | None,
    objective: "Objective",
    folds: int | None,
    outputs: tuple[str, ...],
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Re-decode emotion vectors jointly under an Ising prior (EmoScene).

    With --folds every record is decoded by what was fitted and chosen without it, and the folds are told.
    """
    if folds is not None:
        if outputs:
            raise BadInput(f"--output {outputs[0]} makes no sense with --folds, which fit a prior each")
        grid = _grid(alpha, prior, smoothing, couplings_only, temperature, objective)
        document = score.decode_scenes_in_folds(scores, train, grid, folds, skip_bad=skip_bad, warn=warn)
    elif train is None:
        raise BadInput("decode needs --train, the gold vectors of the prior, or --folds")
    else:
        if "marginals" in outputs and not as_json:
            raise BadInput("--output marginals is for --json: a table has no room for them")
        document = score.decode_scenes(
            train,
            scores,
            alphas=alpha,
            prior="exact-smoothed" if prior == "exact" and smoothing else prior or "paper",
            smoothing=0.5 if smoothing is None else smoothing,
            couplings_only=couplings_only,
            temperature=1.0 if temperature is None else temperature,
            objective=objective,
            output=outputs,
            skip_bad=skip_bad,
            warn=warn,
        )
    if as_json:
        print_json(document)
    elif folds is not None:
        _print_folds(document)
    else:
        _print_alphas(document["results"])
        if "statistics" in document:
            print_figures(f"training vectors: {train}", document["statistics"])
        _print_weights(document)


def _grid(
    alphas: Sequence[float] | None,
    prior: str | None,
    smoothing: float | None,
    couplings_only: bool,
    temperature: float | str | None,
    objective: "Objective",
) -> "Grid":
    """What there is to choose from: what is given is settled, what is not is chosen."""
    from emotui.metrics.nested_cv import Grid, Scaling

    usual = Grid()
    ending = "-couplings" if couplings_only else ""
    if prior == "exact" and smoothing:
        if couplings_only:
            raise BadInput("--prior exact --smoothing --couplings-only cannot be chosen inside folds: leave one out")
        priors: Sequence[str] = ("exact-smoothed",)
    elif prior is not None:
        priors = (prior + ending,)
    else:
        priors = ("paper-couplings", "exact-couplings") if couplings_only else usual.priors
    scalings: Sequence[Scaling] = (1.0, "fitted")
    if temperature is not None:
        scalings = ("fitted",) if isinstance(temperature, str) else (temperature,)
    return Grid(
        priors=priors,
        temperatures=scalings,
        alphas=usual.alphas if alphas is None else alphas,
        smoothing=usual.smoothing if smoothing is None else smoothing,
        target="hamming_loss" if objective == "hamming" else "macro_f1",
        objective=objective,
    )


def _print_alphas(results: Sequence[Mapping[str, Any]]) -> None:
    _print_rows("alpha", [(shown(float(result["alpha"])), result) for result in results])


def _print_rows(first: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))  # one blank between: all fit into 80 columns
    for column in (first, "emotions", *FIGURES):
        table.add_column(column, justify="right")
    for name, result in rows:
        on = sum(sum(vector) for vector in result["predictions"].values())
        table.add_row(
            as_written(name), as_written(str(on)), *(as_written(shown(result.get(figure))) for figure in FIGURES)
        )
    terminal().print(table)


def _print_folds(document: Mapping[str, Any]) -> None:
    title = f"{document['n']} records in {len(document['by_fold'])} folds, {document['unlabelled']} without gold"
    chosen = {f"fold {one['fold']}": {k: v for k, v in one.items() if k != "fold"} for one in document["by_fold"]}
    print_figures(title, {"chosen without the fold": chosen | {"all records": document["chosen"]}})
    parts = {"nested": "nested", "alone": "alone", "leaked": "in_sample"}
    _print_rows("", [(name, document[part]) for name, part in parts.items()])
    say("each alpha, with the prior of all records' choice fitted on the other folds:")
    _print_alphas(document["results"])
    _print_weights(document)


def _print_weights(document: Mapping[str, Any]) -> None:
    """How often hard answers are right, and what that and a fitted temperature rest on."""
    weighed = {"reliability": document["reliability"]} if "reliability" in document else {}
    notes = {name: why for name, why in document["notes"].items() if name in ("reliability", "temperature")}
    if weighed or notes:
        print_figures("", weighed | {"notes": notes})
