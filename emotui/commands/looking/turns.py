"""`emotui turns`: does a model see the turn? Changes along conversations or people, and labels decoded over turns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from emotui.commands.output import as_written, bar, json_option, print_figures, print_json, say, shown, terminal
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.tables import number_of

if TYPE_CHECKING:
    from emotui.metrics.over_time import Objective

_FIGURES = ("macro_f1", "micro_f1", "hamming_loss", "vector_accuracy", "changes")
_SIGNS = {(True, True): "●", (True, False): "○", (False, True): "×", (False, False): "·"}
"""By whether gold and whether the model has a label."""


@click.command()
@click.argument("run")
@click.option("--by", metavar="COLUMN", help="The column of the sequences (default: a conversation, else a person).")
@click.option("--label", "labels", multiple=True, metavar="NAME", help="Only this label (again for more).")
@click.option("--decode", is_flag=True, help="Decode the labels with a prior over turns, honestly in folds.")
@click.option(
    "--objective",
    type=click.Choice(["map", "hamming"]),
    help="--decode: the best path (map), or each label by its own probability.",
)
@click.option("--folds", type=click.IntRange(min=2), help="--decode: folds of whole conversations (5).")
@click.option("--seed", type=int, help="--decode: of the folds (0).")
@click.option("--show", multiple=True, metavar="KEY", help="A strip of one conversation or person (again for more).")
@db_option
@read_only_option
@json_option
def turns(
    run: str,
    by: str | None,
    labels: tuple[str, ...],
    decode: bool,
    objective: "Objective | None",
    folds: int | None,
    seed: int | None,
    show: tuple[str, ...],
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Along conversations or people: which changes of gold RUN sees, and what a prior over turns gains.

    For labels a change is a step in which any label comes or goes; for numbers it is their difference. With --decode
    labels are decoded by couplings within and between turns, exactly, each conversation without its own gold.
    """
    given = {"--objective": objective, "--folds": folds, "--seed": seed}
    if not decode and (stray := next((name for name, value in given.items() if value is not None), None)):
        raise BadInput(f"{stray} goes with --decode")
    from emotui.workbench.runs.over_time import over_time

    workspace = look_into(db, read_only=read_only)
    try:
        with bar(f"{run}: turns") as progress:
            document = over_time(
                workspace.store,
                workspace.store.runs.get(run),
                by=by,
                decode=decode,
                labels=labels or None,
                folds=folds or 5,
                seed=seed or 0,
                objective=objective or "map",
                show=show,
                on_fold=progress,
            )
    finally:
        workspace.close()
    if as_json:
        print_json(document)
        return
    counts = f"{document['texts']} texts in {document['sequences']} sequences by {document['by']}"
    left_out = f", {document['left_out']} left out" if document["left_out"] else ""
    title = f"{document['run']} over {document['dataset']}: {counts}{left_out}"
    if "labels" in document:
        print_figures(title, {name: value for name, value in document["changes"].items() if name != "by_label"})
        _print_by_label(document["changes"]["by_label"])
    else:
        say(title)
        for name, changes in document["changes"].items():
            print_figures(name, changes)
    if "decoded" in document:
        _print_decoded(document["decoded"])
    for key, rows in document.get("strips", {}).items():
        _print_strip(key, rows, document.get("labels"))


def _print_by_label(by_label: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("label", "", "gold", "model", "precision", "recall", "F1"):
        table.add_column(column, justify="left" if column in ("label", "") else "right")
    for label, ways in by_label.items():
        for way, one in ways.items():
            figures = [as_written(shown(one[name])) for name in ("gold", "predicted", "precision", "recall", "f1")]
            table.add_row(
                as_written(label if way == "comes" else ""), way, *(as_written(shown(each)) for each in figures)
            )
    terminal().print(table)


def _print_decoded(decoded: Mapping[str, Any]) -> None:
    from rich.table import Table

    say(f"\nDecoded over turns, {decoded['folds']} folds of whole sequences ({decoded['objective']}):")
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for column in ("macro F1", "micro F1", "Hamming", "vector", "changes F1"):
        table.add_column(column, justify="right")
    names = {"alone": "the model alone", "within": "prior within a turn", "over_turns": "and between turns"}
    for part, name in {**names, "in_sample": "fitted on these (flatters)"}.items():
        table.add_row(name, *(as_written(shown(decoded[part][figure])) for figure in _FIGURES))
    terminal().print(table)
    for against, figures in decoded["gain"].items():
        one = figures["macro_f1"]
        if one["difference"] is None:
            continue
        ends = "no interval" if one["ci95"] is None else f"[{one['ci95'][0]:+.3f}, {one['ci95'][1]:+.3f}]"
        say(f"macro F1 {against.replace('_', ' ')}: {one['difference']:+.3f} {ends}  p {shown(one['p'])}")
    best = decoded["chosen_for_all"]["over_turns"]
    say(f"weights by all sequences: {best['alpha']:g} within a turn, {best['turns']:g} between turns")
    say("what a label in one turn (row) adds to a label in the next (column), in nats:")
    couplings = decoded["prior"]["turns"]
    table = Table(box=None, pad_edge=False)
    for column in ("", *couplings):
        table.add_column(as_written(column), justify="left" if not column else "right")
    for label, row in couplings.items():
        table.add_row(as_written(label), *(f"{value:+.2f}" for value in row.values()))
    terminal().print(table)


def _print_strip(key: str, rows: Sequence[Mapping[str, Any]], labels: Sequence[str] | None) -> None:
    """A line a label: what each text has of it; of numbers both lines."""
    say(f"\n{literal(key)}: {number_of(len(rows), 'text')} in order")
    if labels is None:
        for name in sorted({name for row in rows for name in row["gold"]}):
            for side, word in (("gold", "gold"), ("said", "model")):
                cells = (row[side].get(name) for row in rows)
                say(f"{name:>12} {word:5} " + " ".join("   –" if one is None else f"{one:4.3g}" for one in cells))
        return
    width = max(map(len, labels), default=0)
    for label in labels:
        gold = [label in row["gold"] for row in rows]
        line = "".join(_SIGNS[there, label in row["said"]] for there, row in zip(gold, rows, strict=True))
        again = ""
        if all("over_turns" in row for row in rows):
            again = "   " + "".join(
                _SIGNS[there, label in row["over_turns"]] for there, row in zip(gold, rows, strict=True)
            )
        say(f"{literal(label):>{width}}  {line}{again}")
    behind = "; behind it the same decoded over turns" if rows and "over_turns" in rows[0] else ""
    say(f"● both  ○ gold alone  × model alone  · neither{behind}")
