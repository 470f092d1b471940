"""`emotui agreement`, `emotui compare`, `emotui lexical`: figures over files, without a model or the store."""

from typing import Any

import click

from emotui.commands.output import as_written, json_option, print_figures, print_json, skip_bad_option, warn
from emotui.errors import BadInput
from emotui.workbench.files import score


@click.command()
@click.option("--ratings", help="Ratings: item, rater, label.")
@click.option("--records", help="Scenes with annotators, in place of ratings: agreement on every emotion.")
@skip_bad_option
@json_option
def agreement(ratings: str | None, records: str | None, skip_bad: bool, as_json: bool) -> None:
    """How far raters agree beyond chance: all of them, each two, and on each label."""
    if (ratings is None) == (records is None):
        raise BadInput("agreement needs --ratings or --records, one of them")
    if ratings is not None:
        document = score.agreement(ratings, skip_bad=skip_bad, warn=warn)
    else:
        document = score.scenes_agreement(str(records), skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    pairs = {f"{one['a']} and {one['b']}": {"n": one["n"], "kappa": one["kappa"]} for one in _pairs(document)}
    print_figures(str(ratings or records), document | {"each two": pairs})


def _pairs(document: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["pairwise_cohen_kappa"]
    return found


@click.command()
@click.option("--a", "first", required=True, help="Per-sample scores.")
@click.option("--b", "second", required=True, help="Per-sample scores of the same samples.")
@click.option("--inner", is_flag=True, help="Compare the ids that both files have.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@skip_bad_option
@json_option
def compare(first: str, second: str, inner: bool, seed: int, skip_bad: bool, as_json: bool) -> None:
    """Compare two sets of per-sample scores, paired by id: bootstrap interval, Wilcoxon, Cohen's d."""
    document = score.compare(first, second, inner=inner, seed=seed, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
    else:
        print_figures(f"{first} minus {second}", document)


@click.command()
@click.option("--records", required=True, help="Texts with one gold label each: .jsonl, .csv, .tsv, .parquet, or -.")
@click.option("--inflections", is_flag=True, help="Look a word that EmoLex lacks up by its dictionary form.")
@skip_bad_option
@json_option
def lexical(records: str, inflections: bool, skip_bad: bool, as_json: bool) -> None:
    """How texts show their emotion, by EmoLex: explicit, implicit or misleading, and negated or not."""
    document = score.lexical(records, inflections=inflections, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("id", "category", "explicit", "negated", "cues"):
        table.add_column(column)
    for row in document["records"]:
        cues = ", ".join(f"{cue['word']} ({' '.join(cue['emotions'])})" for cue in row["cues"])
        cells = row["id"], row["category"], str(row["explicit_words"]), "yes" if row["negated"] else "", cues
        table.add_row(*map(as_written, cells))
    Console().print(table)
    print_figures(records, document)
