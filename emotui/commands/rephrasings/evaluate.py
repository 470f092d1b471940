"""`emotui rephrasings evaluate`: models on the originals, their variants, and the sets 1R to 4R."""

import re
from collections.abc import Callable
from typing import Any

import click
from msgspec import to_builtins

from emotui.commands.options import named_files, read_labels, variants_option
from emotui.commands.output import as_written, json_option, print_json, skip_bad_option, terminal, warn
from emotui.commands.terminal.progress import bar
from emotui.metrics.rephrasings import NAMES
from emotui.tasks.rephrase.prompts import read_rephrase_prompts
from emotui.workbench.rephrase.evaluation import PROMPTINGS
from emotui.workbench.rephrase.evaluation import evaluate as compare
from emotui.workbench.rephrase.examples import read_examples

FIGURE = "macro_f1"
"""What the table shows; `--json` has accuracy too."""

chains_option: Callable[[Any], Any] = click.option(
    "--chains", required=True, help="Rephrasing chains: .jsonl, .csv, .tsv, .parquet, or -."
)


@click.command()
@chains_option
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="SPEC",
    help="A model, or NAME=SPEC,SPEC,... for models trained alike with several seeds (again for more).",
)
@variants_option
@click.option(
    "--prompting",
    "promptings",
    type=click.Choice(list(PROMPTINGS)),
    multiple=True,
    help="How models without labels are asked: zero-shot (the default), few-shot, ... (again for more).",
)
@click.option("--examples", type=click.Path(), help="A file of chains or labelled texts, for fs and fs-r.")
@click.option("--prompts", type=click.Path(), help="Your own prompts (TOML, docs/prompts.md).")
@click.option("--labels", "labels_file", type=click.Path(), help="The labels to choose among, one a line.")
@click.option("--constrain", is_flag=True, help="Hold written answers to the labels by a grammar.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="The longest written answer.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of the examples.")
@skip_bad_option
@json_option
def evaluate(
    chains: str,
    models: tuple[str, ...],
    variants: tuple[str, ...],
    promptings: tuple[str, ...],
    examples: str | None,
    prompts: str | None,
    labels_file: str | None,
    constrain: bool,
    max_tokens: int | None,
    seed: int,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Macro F1 of models on the originals, their variants and the sets 1R to 4R, beside the paper's table 3."""
    options: dict[str, object] = {}
    if labels_file is not None:
        options["labels"] = read_labels(labels_file)
    if prompts is not None:
        options["prompts"] = to_builtins(read_rephrase_prompts(prompts))
    if examples is not None:
        options["examples"] = to_builtins(read_examples(examples))
    if constrain:
        options["constrain"] = True
    if max_tokens is not None:
        options["max_tokens"] = max_tokens
    with bar("evaluating") as progress:
        document = compare(
            chains,
            models,
            variants=named_files(variants),
            promptings=promptings,
            options=options,
            seed=seed,
            skip_bad=skip_bad,
            warn=warn,
            progress=lambda spec, done, n: progress(done, n, spec),
        )
    if as_json:
        print_json(document)
    else:
        print_evaluation(document)


def print_evaluation(document: dict[str, Any]) -> None:
    """Models as rows, sets as columns; published rows below, with a dagger."""
    from rich.table import Table

    console = terminal()
    own = list(document["columns"])
    printed = dict.fromkeys(name for row in document["published"] for name in row["columns"])
    names = [*(name for name in own if name not in NAMES), *(name for name in printed if name not in own), *NAMES]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("macro F1", no_wrap=True)
    for name in names:
        table.add_column(as_written(name), justify="right", overflow="fold")
    counts = document["columns"]
    table.add_row(as_written("texts", "dim"), *(as_written(str(counts.get(name, "")), "dim") for name in names))
    for row in document["rows"]:
        seeds = f" ×{row['runs']}" if row["runs"] > 1 else ""
        table.add_row(as_written(row["model"] + seeds), *(_cell(row["columns"].get(name)) for name in names))
        sure = [_ends(row["columns"].get(name)) for name in names]
        if any(sure):
            table.add_row(as_written("  95%", "dim"), *(as_written(one, "dim") for one in sure))
    for row in document["published"]:
        table.add_row(as_written(f"† {row['model']}"), *(_cell(row["columns"].get(name), digits=2) for name in names))
    console.print(table)
    if document["published"]:
        first = document["published"][0]
        console.print(as_written(f"† {first['source']}, on {first['dataset']}: other texts, other models", "dim"))
    for name, why in (*document["notes"].items(), *document["conventions"].items()):
        console.print(as_written(f"{name}: {why}", "dim"))


def _cell(figures: dict[str, Any] | None, digits: int = 3) -> Any:

    if figures is None or figures[FIGURE]["mean"] is None:
        return as_written("–")
    mean, sd = figures[FIGURE]["mean"], figures[FIGURE]["sd"]
    shown = f"{mean:.{digits}f}" + (f"±{sd:.3f}" if sd or (sd == 0 and digits == 3) else "")
    return as_written(re.sub(r"\b0\.", ".", shown))  # eight columns fit into 80


def _ends(figures: dict[str, Any] | None) -> str:
    """The interval under a figure: `.48–.54`; empty where there is none."""
    ends = None if figures is None else figures[FIGURE]["ci95"]
    return "" if ends is None else re.sub(r"\b0\.", ".", "–".join(f"{end:.2f}" for end in ends))
