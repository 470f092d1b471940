"""`emotui score KIND`: predictions against gold, from files, without the store."""

from collections.abc import Callable
from typing import Any

import click

from emotui.commands.label_columns import label_columns_options
from emotui.commands.output import json_option, print_figures, print_json, skip_bad_option
from emotui.formats.wide import LabelColumns
from emotui.workbench.files import score as files_score


@click.group()
def score() -> None:
    """Score a file of predictions against a file of gold records."""


def _warn(line: str) -> None:
    click.echo(line, err=True)


def _show(title: str, figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(figures)
    else:
        print_figures(title, figures)


gold_option: Callable[[Any], Any] = click.option("--gold", required=True, help="Gold records.")
pred_option: Callable[[Any], Any] = click.option("--pred", required=True, help="Predicted records.")


@score.command()
@gold_option
@pred_option
@click.option("--no-sim", is_flag=True, help="Leave Sim out (no model is loaded).")
@click.option("--keywords", type=click.Path(), help="Keywords of your own, one a line, in place of Empath's.")
@click.option("--per-sample", is_flag=True, help="Add every sample's score and alignment (with --json).")
@skip_bad_option
@json_option
def spans(
    gold: str, pred: str, no_sim: bool, keywords: str | None, per_sample: bool, skip_bad: bool, as_json: bool
) -> None:
    """Evidence spans (SEER): F1, Sim, hallucination, keyword fixation, neutral false positives."""
    figures = files_score.score_spans(
        gold, pred, sim=not no_sim, keywords=keywords, per_sample=per_sample, skip_bad=skip_bad, warn=_warn
    )
    _show(f"{pred} against {gold}", figures, as_json)


@score.command()
@gold_option
@pred_option
@label_columns_options
@skip_bad_option
@json_option
def scenes(gold: str, pred: str, columns: LabelColumns, skip_bad: bool, as_json: bool) -> None:
    """Emotion vectors (EmoScene): lexical and vector accuracy, Hamming loss, macro and micro F1."""
    figures = files_score.score_scenes(gold, pred, columns=columns, skip_bad=skip_bad, warn=_warn)
    _show(f"{pred} against {gold}", figures, as_json)


@score.command()
@gold_option
@pred_option
@click.option("--thresholds", type=click.Path(), help="TOML or JSON: from which probability on a label is given (0.5).")
@label_columns_options
@skip_bad_option
@json_option
def labels(gold: str, pred: str, thresholds: str | None, columns: LabelColumns, skip_bad: bool, as_json: bool) -> None:
    """Several labels a text: F1 by label, by text and pooled, Jaccard, Brier, calibration, average precision."""
    figures = files_score.score_labels(gold, pred, thresholds, columns=columns, skip_bad=skip_bad, warn=_warn)
    _show(f"{pred} against {gold}", figures, as_json)


@click.command()
@gold_option
@pred_option
@click.option("--to", type=click.Path(), help="Write them to a .toml or .json file, as --thresholds reads it.")
@label_columns_options
@skip_bad_option
@json_option
def thresholds(gold: str, pred: str, to: str | None, columns: LabelColumns, skip_bad: bool, as_json: bool) -> None:
    """Choose for each label the probability with the best F1, for `score labels` on another file."""
    figures = files_score.choose_thresholds(gold, pred, to, columns=columns, skip_bad=skip_bad, warn=_warn)
    by_people = {name: value for name, value in figures.items() if name != "thresholds"}
    _show(f"thresholds by {pred} against {gold}", figures if as_json else by_people, as_json)


@score.command()
@gold_option
@pred_option
@click.option("--lexicon", type=click.Path(), help="A word lexicon of your own in place of EmoLex.")
@skip_bad_option
@json_option
def masked(gold: str, pred: str, lexicon: str | None, skip_bad: bool, as_json: bool) -> None:
    """Masked emotion words (EXPRESS): as words, and as ten-dimensional vectors."""
    figures = files_score.score_masked(gold, pred, lexicon, skip_bad=skip_bad, warn=_warn)
    _show(f"{pred} against {gold}", figures, as_json)


@score.command("class")
@gold_option
@pred_option
@skip_bad_option
@json_option
def class_(gold: str, pred: str, skip_bad: bool, as_json: bool) -> None:
    """Single labels: accuracy, macro F1, confusion."""
    _show(f"{pred} against {gold}", files_score.score_class(gold, pred, skip_bad=skip_bad, warn=_warn), as_json)
