"""`emotui masked errors`, `compare`, `sizes` and `published`: what the paper tells beside its accuracies."""

from collections.abc import Callable
from typing import Any

import click

from emotui.commands.output import as_written, json_option, print_figures, print_json, say, terminal
from emotui.errors import BadInput
from emotui.metrics.masked_pairs import ALTERNATIVES, SCORES, Alternative
from emotui.tasks.masked.published import TABLES

BAR = 30
"""Cells of the longest bar."""

_lexicon: Callable[[Any], Any] = click.option("--lexicon", type=click.Path(), help="A word lexicon of your own.")
_supplement: Callable[[Any], Any] = click.option(
    "--no-supplement", is_flag=True, help="Without emotui's vectors for words that EmoLex lacks."
)


@click.command()
@click.option("--gold", required=True, help="Gold records.")
@click.option("--pred", "predicted", required=True, multiple=True, metavar="[NAME=]FILE", help="Predicted; several.")
@click.option("--least", type=click.IntRange(1), default=1, show_default=True, help="Masks that a gold word must have.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Mispredictions that are listed.")
@click.option("--words", "listed", type=click.IntRange(1), default=75, show_default=True, help="Words that are listed.")
@_lexicon
@_supplement
@json_option
def errors(
    gold: str,
    predicted: tuple[str, ...],
    least: int,
    top: int,
    listed: int,
    lexicon: str | None,
    no_supplement: bool,
    as_json: bool,
) -> None:
    """Mispredictions by their share of a word (Table A.6), and the words of people against models (Figure A.3)."""
    from emotui.workbench.files import masked_figures

    document = masked_figures.errors(
        gold, _named(predicted), _vectors(lexicon, no_supplement), least=least, top=top, listed=listed
    )
    if as_json:
        print_json(document)
        return
    _print_rows(document["mispredictions"], ("label", "predicted", "count", "masks", "share"))
    say()
    flat = [{"word": row["word"], "gold": row["gold"], **row["models"]} for row in document["words"]]
    _print_rows(flat, tuple(flat[0]) if flat else ())


@click.command()
@click.option("--gold", required=True, help="Gold records.")
@click.option("--a", "first", required=True, help="Predicted records.")
@click.option("--b", "second", required=True, help="Predicted records of another model or way.")
@click.option("--score", type=click.Choice(SCORES), default="f1_v", show_default=True, help="What a mask is worth.")
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default="two-sided",
    show_default=True,
    help="Of the test: greater asks whether a is better.",
)
@_lexicon
@_supplement
@json_option
def compare(
    gold: str,
    first: str,
    second: str,
    score: str,
    alternative: Alternative,
    lexicon: str | None,
    no_supplement: bool,
    as_json: bool,
) -> None:
    """Two predictions mask by mask: Wilcoxon signed-rank test and Cohen's d (Tables A.10 and A.11)."""
    from emotui.workbench.files import masked_figures

    words = _vectors(lexicon, no_supplement)
    document = masked_figures.compare(gold, first, second, words, score, alternative)
    if as_json:
        print_json(document)
    else:
        print_figures(f"{first} minus {second}", document)


@click.command()
@click.option("--gold", help="Gold records, for --model.")
@click.option("--model", "models", nargs=3, multiple=True, type=(str, float, str), metavar="NAME SIZE FILE")
@_lexicon
@_supplement
@json_option
def sizes(
    gold: str | None,
    models: tuple[tuple[str, float, str], ...],
    lexicon: str | None,
    no_supplement: bool,
    as_json: bool,
) -> None:
    """Accuracy by vectors against size in thousand millions of weights: the paper's models (Figure 2), and yours."""
    from emotui.workbench.files import masked_figures

    document = masked_figures.sizes(gold, models, _vectors(lexicon, no_supplement))
    if as_json:
        print_json(document)
        return
    best = max(row["acc_v"] or 0 for row in document["models"]) or 1
    for row in document["models"]:
        row["vectors"] = "█" * round(BAR * (row["acc_v"] or 0) / best)
        row["from"] = "paper" if row["published"] else "you"
    _print_rows(document["models"], ("model", "size_b", "from", "acc_v", "vectors"))


@click.command()
@click.argument("table", metavar=f"[{'|'.join(TABLES)}]")
@json_option
def published(table: str, as_json: bool) -> None:
    """A table of the paper (EXPRESS) as it is printed, with notes on what is printed wrongly."""
    from emotui.tasks.masked.published import published as printed

    document = printed(table)
    if as_json:
        print_json(document)
        return
    say(document["cite"])
    rows = [_flat(row) for row in document["rows"]]
    _print_rows(rows, tuple(dict.fromkeys(name for row in rows for name in row)))
    for note in document["notes"]:
        say(f"- {note}")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    settings = row.get("settings", {})
    inside = {f"{way} {name}": value for way, figures in settings.items() for name, value in figures.items()}
    return {name: value for name, value in row.items() if name != "settings"} | inside


def _print_rows(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(as_written(column))
    for row in rows:
        table.add_row(*(as_written(_cell(row.get(column))) for column in columns))
    terminal().print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _vectors(lexicon: str | None, no_supplement: bool) -> Any:
    from emotui.tasks.masked.lexicon import given_vectors

    return given_vectors({"lexicon": lexicon, "no_supplement": no_supplement})


def _named(predicted: tuple[str, ...]) -> dict[str, str]:
    """Files by the names before `=`, or by their own. Raises BadInput where two have one name."""
    found: dict[str, str] = {}
    for one in predicted:
        name, equals, path = one.partition("=")
        name, path = (name, path) if equals else (one, one)
        if name in found:
            raise BadInput(f"two files of predictions are called {name}: give them names, --pred NAME=FILE")
        found[name] = path
    return found
