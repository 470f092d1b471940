"""`emotui lens gradients` and `lens push`: what a model's answers follow inside it, and what moves them there."""

from typing import TYPE_CHECKING, Any

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
    kept = workspace.store.dataset(asked_dataset(workspace, "scenes", dataset))
    assert kept is not None
    return kept


@click.command()
@click.option("--model", "spec", required=True, help="The model (SPEC): an hf: classifier.")
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
        run = None if evidence is None else workspace.store.run(evidence)
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
