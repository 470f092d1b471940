"""`emotui score KIND`: predictions against gold, from files, without the store."""

import click

from emotui.commands.output import json_option, print_figures, print_json, skip_bad_option
from emotui.workbench import scoring


@click.group()
def score() -> None:
    """Score a file of predictions against a file of gold records."""


def _warn(line: str) -> None:
    click.echo(line, err=True)


@score.command()
@click.option("--gold", required=True, help="Gold records.")
@click.option("--pred", required=True, help="Predicted records.")
@click.option("--no-sim", is_flag=True, help="Leave Sim out (no model is loaded).")
@click.option("--keywords", type=click.Path(), help="Keywords of your own, one a line, in place of Empath's.")
@click.option("--per-sample", is_flag=True, help="Add every sample's score and alignment (with --json).")
@skip_bad_option
@json_option
def spans(
    gold: str, pred: str, no_sim: bool, keywords: str | None, per_sample: bool, skip_bad: bool, as_json: bool
) -> None:
    """Evidence spans (SEER): F1, Sim, hallucination, keyword fixation, neutral false positives."""
    figures = scoring.score_spans(
        gold, pred, sim=not no_sim, keywords=keywords, per_sample=per_sample, skip_bad=skip_bad, warn=_warn
    )
    if as_json:
        print_json(figures)
    else:
        print_figures(f"{pred} against {gold}", figures)
