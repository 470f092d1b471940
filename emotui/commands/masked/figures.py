"""`emotui masked errors`, `compare`, `sizes` and `published`: what the paper tells beside its accuracies."""

from collections.abc import Sequence
from typing import Any

import click

from emotui.commands.options import asking_options, lexicon_options, one_way
from emotui.commands.output import (
    as_written,
    json_option,
    print_figures,
    print_json,
    say,
    skip_bad_option,
    terminal,
    warn,
)
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.metrics.masked_pairs import ALTERNATIVES, SCORES
from emotui.metrics.paired import Alternative
from emotui.tables import Plot, digits
from emotui.tasks.masked.lexicon import SIGNED, UNLIKE_PAPER_BESIDE, WordVectors, word_vectors
from emotui.tasks.published import EXPRESS_TABLES

# Points of a plane in plain text, for terminals and files: the same `Plot` that Results draws.

OWN, PRINTED = "●", "○"
DAGGER = "†"
"""At the end of the name of a published point."""

_LEFT = 7


def text_plot(plot: Plot, width: int = 79, height: int = 18) -> list[str]:
    """Lines of a frame with the points and as many of their names as have room, own ones first."""
    across, down = max(width - _LEFT - 2, 20), max(height, 6)
    field = [[" "] * across for _ in range(down)]
    names = plot.names or ("",) * len(plot.points)
    order = sorted(range(len(plot.points)), key=lambda at: names[at].endswith(DAGGER))
    places = [
        (
            _plot_cell(plot.points[at][0], plot.x, across),
            down - 1 - _plot_cell(plot.points[at][1], plot.y, down),
        )
        for at in order
    ]
    for at, (column, row) in reversed(list(zip(order, places, strict=True))):
        field[row][column] = PRINTED if names[at].endswith(DAGGER) else OWN
    for at, (column, row) in zip(order, places, strict=True):
        _name(field[row], column, names[at])
    lines = [f"{plot.up}"]
    for row, cells in enumerate(field):
        value = plot.y[1] - (plot.y[1] - plot.y[0]) * row / (down - 1)
        tick = digits(round(value, 3)) if row % 4 == 0 or row == down - 1 else ""
        lines.append(f"{tick:>{_LEFT - 1}} │{''.join(cells).rstrip()}")
    lines.append(f"{' ' * _LEFT}└{'─' * across}")
    ends = [digits(10**end if plot.powers else end) for end in plot.x]
    lines.append(f"{' ' * (_LEFT + 1)}{ends[0]}{plot.across:^{across - len(ends[0]) - len(ends[1])}}{ends[1]}")
    return lines


def _plot_cell(value: float, ends: tuple[float, float], cells: int) -> int:
    low, high = ends
    return min(max(round((value - low) / ((high - low) or 1) * (cells - 1)), 0), cells - 1)


def _name(line: list[str], column: int, name: str) -> None:
    """Write a name behind its point, else before it, where nothing stands there yet."""
    if not name:
        return
    for start in (column + 2, column - 1 - len(name)):
        around = line[max(start - 1, 0) : start + len(name) + 1]
        beside = [cell for at, cell in enumerate(around, max(start - 1, 0)) if at != column]
        if start >= 0 and start + len(name) <= len(line) and set(beside) <= {" "}:
            line[start : start + len(name)] = name
            return


def bar(value: float, most: float, cells: int) -> str:
    """A bar of as many cells as the value's share of the greatest."""
    return "█" * (round(cells * value / most) if most else 0)


def bars(values: Sequence[float], most: float, cells: int) -> list[str]:
    """Each value with its bar behind it, figures aligned."""
    wide = max((len(digits(value)) for value in values), default=0)
    return [f"{digits(value):>{wide}} {bar(value, most, cells)}" for value in values]


BAR = 20
"""Cells of the longest bar."""


@click.command()
@click.option("--gold", required=True, help="Gold records.")
@click.option("--pred", "predicted", required=True, multiple=True, metavar="[NAME=]FILE", help="Predicted; several.")
@click.option("--least", type=click.IntRange(1), default=1, show_default=True, help="Masks that a gold word must have.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Mispredictions that are listed.")
@click.option("--words", "listed", type=click.IntRange(1), default=75, show_default=True, help="Words that are listed.")
@lexicon_options
@json_option
def errors(
    gold: str,
    predicted: tuple[str, ...],
    least: int,
    top: int,
    listed: int,
    by: WordVectors | None,
    as_json: bool,
) -> None:
    """Mispredictions by their share of a word (Table A.6), and the words of people against models (Figure A.3)."""
    from emotui.workbench.masked import of_files

    words = by or word_vectors()
    document = of_files.errors(gold, _named(predicted), words, least=least, top=top, listed=listed)
    if as_json:
        print_json(document)
        return
    for row in document["mispredictions"]:
        row |= {name: words.marked(row[name]) for name in ("label", "predicted")}
    print_rows(document["mispredictions"], ("label", "predicted", "count", "masks", "share"))
    say()
    _print_words(document["words"], tuple(_named(predicted)), words)
    if words.supplement:
        say(SIGNED)


def _print_words(rows: list[dict[str, Any]], models: tuple[str, ...], words: WordVectors) -> None:
    """A word a line, with a bar for people and for each model, the longest ones farthest (Figure A.3)."""
    counts = {"people": [row["gold"] for row in rows]} | {
        name: [row["models"][name] for row in rows] for name in models
    }
    most = max((n for each in counts.values() for n in each), default=0)
    drawn = {name: bars(each, most, BAR) for name, each in counts.items()}
    named = [words.marked(row["word"]) for row in rows]
    print_rows(
        [{"word": word} | {name: drawn[name][at] for name in drawn} for at, word in enumerate(named)],
        ("word", *drawn),
    )


@click.command()
@click.option("--gold", help="Gold records, for --a and --b.")
@click.option("--a", "first", help="Predicted records.")
@click.option("--b", "second", help="Predicted records of another model or way.")
@click.option("--runs", nargs=2, metavar="A B", help="Two runs or sources of one dataset, in place of files.")
@click.option("--score", type=click.Choice(SCORES), default="f1_v", show_default=True, help="What a mask is worth.")
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default="two-sided",
    show_default=True,
    help="Of the test: greater asks whether a is better.",
)
@lexicon_options
@db_option
@read_only_option
@json_option
def compare(
    gold: str | None,
    first: str | None,
    second: str | None,
    runs: tuple[str, str] | None,
    score: str,
    alternative: Alternative,
    by: WordVectors | None,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Two predictions mask by mask: Wilcoxon signed-rank test and Cohen's d (Tables A.10 and A.11).

    They are files (--gold, --a, --b), or runs, people and files of a dataset in the store (--runs). The unit is the
    mask; masks where both are equal are left out of the test, which is Wilcoxon's own way with them.
    """
    from emotui.workbench.masked import of_files

    if runs is not None:
        if gold or first or second:
            raise BadInput("--gold, --a and --b are for files: leave them out beside --runs")
        store = look_into(db, read_only=read_only).store
        document = of_files.compare_sources(store, *runs, by, score, alternative)
        first, second = runs
    elif gold is None or first is None or second is None:
        raise BadInput("compare needs --gold, --a and --b, or --runs A B")
    elif db is not None or read_only:
        raise BadInput("--db and --read-only are for --runs")
    else:
        document = of_files.compare(gold, first, second, by or word_vectors(), score, alternative)
    if as_json:
        print_json(document)
    else:
        print_figures(f"{first} minus {second}", document)


@click.command()
@click.option("--gold", help="Gold records, for --model.")
@click.option("--model", "models", nargs=3, multiple=True, type=(str, float, str), metavar="NAME SIZE FILE")
@lexicon_options
@json_option
def sizes(
    gold: str | None,
    models: tuple[tuple[str, float, str], ...],
    by: WordVectors | None,
    as_json: bool,
) -> None:
    """Accuracy by vectors against size in thousand millions of weights: the paper's models (Figure 2), and yours."""
    from emotui.workbench.masked import of_files

    document = of_files.sizes(gold, models, by or word_vectors())
    if as_json:
        print_json(document)
        return
    from emotui.tasks.masked.tables import size_plot

    for row in document["models"]:
        row["from"] = "paper" if row["published"] else "you"
    print_rows(document["models"], ("model", "size_b", "from", "acc_l", "acc_v", "f1_v"))
    drawn = [(row["size_b"], row["acc_v"], f"{row['model']}{' †' * row['published']}") for row in document["models"]]
    say()
    for line in text_plot(size_plot(drawn), min(terminal().width, 110)):
        say(line)
    for note in document["notes"]:
        say(note)


@click.command()
@click.argument("table", metavar=f"[{'|'.join(EXPRESS_TABLES)}]")
@json_option
def published(table: str, as_json: bool) -> None:
    """A table of the paper (EXPRESS) as it is printed, with notes on what is printed wrongly."""
    from emotui.tasks.published import express_table as printed

    document = printed(table)
    if as_json:
        print_json(document)
        return
    say(document["cite"])
    rows = [_flat(row) for row in document["rows"]]
    print_rows(rows, tuple(dict.fromkeys(name for row in rows for name in row)))
    for note in document["notes"]:
        say(f"- {note}")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    settings = row.get("settings", {})
    inside = {f"{way} {name}": value for way, figures in settings.items() for name, value in figures.items()}
    return {name: value for name, value in row.items() if name != "settings"} | inside


def print_rows(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    """A row a line, under the columns named."""
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


# `emotui masked lengths`: a model on segments against full posts (Table 4).


@click.command()
@click.option("--posts", required=True, type=click.Path(), help="Raw posts with a text each, as for masked build.")
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--words", type=click.Path(), help="Emotion words of your own, one a line, in place of emotui's.")
@click.option("--tokenizer", default="", help="Measure segments by this model's tokenizer: a folder or tokenizer.json.")
@click.option("--way", help="How to ask, where there are several ways (docs/models.md).")
@click.option("--published", is_flag=True, help="The paper's Table 4 beside.")
@click.option("--kind", hidden=True, default="masked", type=click.Choice(["masked"]))
@asking_options
@lexicon_options
@skip_bad_option
@json_option
def lengths(
    posts: str,
    spec: str,
    words: str | None,
    tokenizer: str,
    way: str | None,
    published: bool,
    kind: str,
    written_way: str | None,
    options: dict[str, object],
    by: WordVectors | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Segments against full posts: build both of one file of posts, ask a model about both, and score both (Table 4).

    Few-shot ways need examples for each record, which have other ids in segments: build and run both by themselves.
    """
    from emotui.tasks.published import express_table as printed
    from emotui.workbench.masked.building import Building
    from emotui.workbench.masked.of_files import masked_lengths

    document = masked_lengths(
        posts,
        spec,
        Building(words=words, tokenizer=tokenizer),
        way=one_way(way, written_way),
        options=options,
        lexicon=by,
        skip_bad=skip_bad,
        warn=warn,
    )
    table = printed("4")
    if as_json:
        print_json(document | ({"published": table} if published else {}))
        return
    rows = [{"setting": name} | figures for name, figures in document["settings"].items()]
    if published:
        rows += [row | {"setting": f"{row['setting']}, GPT-4o †", "mean_words": row["words"]} for row in table["rows"]]
    print_rows(rows, ("setting", "n", "masks", "mean_words", "acc_l", "acc_v", "f1_v", "valid_answers", "failed"))
    if published:
        say(f"† {table['cite']}")
        if by is None or not by.express:
            say(UNLIKE_PAPER_BESIDE)
