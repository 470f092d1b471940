"""`emotui lens gradients` and `lens push`: what a model's answers follow inside it, and what moves them there."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from emotui.commands.output import as_written, bar, json_option, print_figures, print_json, say, terminal
from emotui.commands.program_options import db_option, open_workspace
from emotui.errors import BadInput
from emotui.formats.rows import literal

if TYPE_CHECKING:
    from emotui.store.query import Dataset
    from emotui.workbench.workspace import Workspace


def _opened(workspace: "Workspace", spec: str, dataset: str | None) -> "Dataset":
    """The dataset that is asked about. Raises BadInput where there is none, or the SPEC is wrong."""
    from emotui.commands.run import asked_dataset

    workspace.model(spec)  # a wrong SPEC is told before anything is imported
    kept = workspace.store.datasets.get(asked_dataset(workspace, "scenes", dataset))
    assert kept is not None
    return kept


@click.command()
@click.option("--model", "spec", required=True, help="The model (SPEC): hf:, a classifier or one that writes.")
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample scenes).")
@click.option("--text", metavar="ID", help="Show the words of this text of the dataset.")
@click.option("--label", metavar="LABEL", help="Explain this label. [default: as --explain says]")
@click.option("--explain", type=click.Choice(["own", "gold"]), help="The model's likeliest label, or gold's. [own]")
@click.option("--evidence", metavar="RUN", help="Beside the drops of this run over the evidence.")
@click.option("--steps", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Of integrated gradients.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N texts.")
@db_option
@json_option
def gradients(
    spec: str,
    dataset: str | None,
    text: str | None,
    label: str | None,
    explain: str | None,
    evidence: str | None,
    steps: int,
    limit: int | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Which words a label's log-odds follow: gradient times input and integrated gradients, beside leaving words out.

    Each method's words stand beside those that gold marks, beside what leaving them out does, and beside what its
    parts should come to (docs/why.md). Needs captum.
    """
    from emotui.workbench.why.gradients import find_gradients

    if label is not None and explain is not None:
        raise BadInput("--label and --explain both say which label is explained: leave one out")
    workspace = open_workspace(db)
    try:
        kept = _opened(workspace, spec, dataset)
        run = None if evidence is None else workspace.store.runs.get(evidence)
        if run is not None and (run.task, run.dataset) != ("evidence", kept.dataset):
            raise BadInput(f"{run.run} is no run of the evidence task over {kept.name}")
        with bar(f"{spec}: gradients") as progress:
            found = find_gradients(
                workspace.store,
                workspace.model(spec),
                kept,
                label=label,
                explain=explain or "own",
                evidence=run,
                limit=limit,
                steps=steps,
                on_text=progress,
            )
    finally:
        workspace.close()
    if text is not None and text not in found["texts"]:
        raise BadInput(f"{found['dataset']}: there is no text {text!r} among the {found['n']} that were asked about")
    if as_json:
        print_json(found)
        return
    texts = found.pop("texts")
    if text is not None:
        _print_words(text, texts[text])
        return
    print_figures(f"{found['model']} over {found['dataset']}: words that answers follow", found)


def _print_words(key: str, text: dict[str, Any]) -> None:
    from rich.table import Table

    from emotui.workbench.why.gradients import METHODS

    say(f"{literal(key)}: log-odds of {literal(text['label'])}, by word")
    table = Table(box=None, pad_edge=False)
    table.add_column("word", no_wrap=True)
    for method in METHODS:
        table.add_column(method, justify="right", no_wrap=True)
    table.add_column("gold", no_wrap=True)
    for word in text["words"]:
        parts = ["" if word[method] is None else f"{word[method]:+.3f}" for method in METHODS]
        table.add_row(*map(as_written, (word["word"], *parts, "▌" if word["gold"] else "")))
    terminal().print(table)
    for method, sums in text["sums"].items():
        due = sums["whole"] - sums["without"]
        say(
            f"{method}: parts come to {sums['parts']:+.3f} (of no word {sums['rest']:+.3f}); text {sums['whole']:+.3f} "
            f"less baseline {sums['without']:+.3f} is {due:+.3f}: off by {sums['off']:.1%}"
        )
    if text.get("truncated"):
        say("the text is longer than the model reads, and was cut")


@click.command()
@click.argument("label")
@click.option("--model", "spec", required=True, help="The model (SPEC): hf:, a classifier or one that writes.")
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample scenes).")
@click.option("--layer", required=True, type=click.IntRange(0), metavar="N", help="Where the direction is added.")
@click.option("--strength", "strengths", default="1", show_default=True, metavar="S,...", help="Times the direction.")
@click.option("--direction", type=click.Choice(["means", "probe"]), default="means", show_default=True,
              help="Difference of the classes' means, or the weights of the lens's probe.")  # fmt: skip
@click.option("--draws", type=click.IntRange(0, 100), help="Random directions of equal length. [default: 10]")
@click.option("--texts", type=click.IntRange(min=1), help="Texts that are pushed. [default: 50]")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N texts make the direction.")
@click.option("--write", "prompt", metavar="PROMPT", help="Also show what the model writes, pushed and not.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of folds and random directions.")
@db_option
@json_option
def push(
    label: str,
    spec: str,
    dataset: str | None,
    layer: int,
    strengths: str,
    direction: Literal["means", "probe"],
    draws: int | None,
    texts: int | None,
    limit: int | None,
    prompt: str | None,
    seed: int,
    db: str | None,
    as_json: bool,
) -> None:
    """What a model answers while the direction of LABEL is added to its states at a layer.

    What this does to every label stands beside random directions of equal length, and beside what it does to the
    perplexity of the texts (docs/why.md). Nothing is pushed elsewhere, and nothing is kept.
    """
    from emotui.workbench.why.pushing import DRAWS, TEXTS, find_push

    wanted = _strengths(strengths)
    workspace = open_workspace(db)
    try:
        kept = _opened(workspace, spec, dataset)
        with bar(f"{spec}: pushed") as progress:
            found = find_push(
                workspace.store,
                workspace.model(spec),
                kept,
                label,
                layer,
                wanted,
                kind=direction,
                draws=DRAWS if draws is None else draws,
                texts=TEXTS if texts is None else texts,
                limit=limit,
                prompt=prompt,
                seed=seed,
                on_text=progress,
            )
    finally:
        workspace.close()
    if as_json:
        print_json(found)
        return
    written = found.pop("written", [])
    by_strength = found.pop("by_strength")
    ends = found.get("ci95", {})
    for key, rows in by_strength.items():
        _print_push(f"strength {key}", rows, {name: ends.get(f"by_strength.{key}.{name}.change") for name in rows})
    found.pop("ci95", None)
    print_figures(f"{found['model']} over {found['dataset']}: towards {found['label']} at layer {layer}", found)
    for one in written:
        worth = "" if one["perplexity"] is None else f", perplexity without a push {one['perplexity']:.1f}"
        say(f"{one['direction']}, strength {one['strength']:g}{worth}: {literal(one['text'])}")


def _print_push(title: str, rows: dict[str, Any], ends: dict[str, Any]) -> None:
    from rich.table import Table

    say(title)
    table = Table(box=None, pad_edge=False)
    table.add_column("label", no_wrap=True)
    for name in ("plain", "change", "95%", "random", "least, most", "above"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, row in rows.items():
        cells = [label, f"{row['plain']:.3f}", f"{row['change']:+.3f}", _range(ends.get(label))]
        if "random" in row:
            cells += [f"{row['random']:+.3f}", _range((row["low"], row["high"])), f"{row['above_random']:+.3f}"]
        table.add_row(*map(as_written, cells))
    terminal().print(table)


def _range(ends: Sequence[float] | None) -> str:
    return "" if ends is None else f"[{ends[0]:+.2f}, {ends[1]:+.2f}]"


def _strengths(given: str) -> tuple[float, ...]:
    """Raises BadInput where they are no numbers."""
    try:
        found = tuple(dict.fromkeys(float(one) for one in given.split(",")))
    except ValueError:
        found = ()
    if not found or not all(map(math.isfinite, found)):
        raise BadInput(f"--strength {given}: give numbers with commas between, such as 0.5,1,2")
    return found
