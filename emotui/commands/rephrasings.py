"""`emotui rephrasings`: chains of rephrasings as sets, statistics, splits and files."""

import re
from collections.abc import Callable
from typing import Any

import click
from msgspec import to_builtins

from emotui.commands.exchange.written import written_option
from emotui.commands.options import named_files, read_labels, read_prompts, variants_option
from emotui.commands.output import (
    as_written,
    bar,
    json_option,
    print_figures,
    print_json,
    say,
    skip_bad_option,
    terminal,
    warn,
)
from emotui.commands.program_options import (
    FiniteRange,
    annotator_option,
    check_may_write,
    db_option,
    look_into,
    open_workspace,
    read_only_option,
)
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.metrics.rephrasings import NAMES
from emotui.metrics.word_distributions import SMOOTHING
from emotui.tables import number_of
from emotui.tasks.registry import task_named
from emotui.workbench.rephrase import files
from emotui.workbench.rephrase.evaluation import PROMPTINGS, read_examples
from emotui.workbench.rephrase.evaluation import evaluate as compare
from emotui.workbench.rephrase.live import keep_prompts, kept_prompts, prompts_of, suggestions_for
from emotui.workbench.rephrase.originals import drop_variants

# `emotui rephrasings suggest` and `prompt`: rephrasings by a model, and how it is asked for them.


@click.command()
@click.option("--model", "spec", required=True, help="A model that writes: hf:, gguf: or openai:.")
@click.option("--text", required=True, help="The original.")
@click.option("--label", required=True, help="Its gold label.")
@click.option("--classifier", default="embedded", show_default=True, help="The model whose verdict is wanted (SPEC).")
@click.option("--prompts", type=click.Path(), help="Your own prompt (TOML, docs/models.md).")
@json_option
def suggest(spec: str, text: str, label: str, classifier: str, prompts: str | None, as_json: bool) -> None:
    """Three rephrasings by a model that avoid the words which give the emotion away, each with the verdict."""
    own = prompts_of(prompts or None)
    if not text.strip():
        raise BadInput("--text is empty: give the text that is to be rephrased")
    found = suggestions_for(text, label, spec, classifier, prompts=own, progress=warn)
    if as_json:
        names = ("text", "predicted", "confidence", "similarity", "cues")
        print_json({"suggestions": [{name: getattr(one, name) for name in names} for one in found]})
        return
    for one in found:
        similarity = "–" if one.similarity is None else f"{one.similarity:.2f}"
        verdict = f"{one.predicted}   {label} {one.confidence:.2f}   similarity {similarity}"
        say(f"{literal(one.text)}\n    {literal(verdict)}")


@click.command()
@click.argument("file", type=click.Path(), required=False)
@click.option("--own", is_flag=True, help="Go back to emotui's own prompt.")
@db_option
@read_only_option
def prompt(file: str | None, own: bool, db: str | None, read_only: bool) -> None:
    """Keep the prompt of FILE in the workspace, for suggestions in the Rephrase place; without FILE, show it."""
    if file and own:
        raise BadInput("give a FILE, or --own, not both")
    if file or own:
        check_may_write(read_only, "a prompt that is kept")
    store = open_workspace(db, read_only=read_only).store
    if file or own:
        keep_prompts(store, file)
        return
    (kept,) = kept_prompts(store).values()
    say(f"[system]\n{kept.system}\n\n[user]\n{kept.user}")


# `emotui rephrasings export`, `import`, `agreement` and `variants`: the chains that a workspace keeps.

dataset_option = click.option("--dataset", default="rephrase", show_default=True, help="A dataset of the store.")
confirmed_option = click.option("--confirmed-only", is_flag=True, help="Only rephrasings that reviewers confirmed.")


@click.command()
@dataset_option
@written_option("--to", required=True, help="The file to write: .jsonl, .csv, .tsv or .parquet.")
@confirmed_option
@annotator_option("Only what this person wrote.")
@click.option("--round", "number", type=int, help="The round's number (default: the one worked on last).")
@db_option
@read_only_option
@json_option
def export(
    dataset: str,
    to: str,
    confirmed_only: bool,
    annotator: str | None,
    number: int | None,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Write the chains of a dataset in the store as a file."""
    service = look_into(db, read_only=read_only).rephrasing()
    document = files.export_chains(
        service, dataset, to, confirmed_only=confirmed_only, annotator=annotator, round=number
    )
    if as_json:
        print_json(document)
        return
    people = literal(", ".join(document["annotators"])) or "nobody"
    say(f"{document['chains']} chains with {document['attempts']} attempts by {people} written to {to}")


@click.command("import")
@click.argument("chain_files", metavar="FILES...", nargs=-1, required=True)
@click.option("--name", help="The dataset's name (default: the first file's, without its ending).")
@annotator_option("Who wrote chains that do not say it.", default="imported")
@skip_bad_option
@db_option
@json_option
def import_(
    chain_files: tuple[str, ...], name: str | None, annotator: str, skip_bad: bool, db: str | None, as_json: bool
) -> None:
    """Bring chains from FILES into the store: the originals as a dataset, and what was written for them."""
    if not annotator.strip():
        raise BadInput("--annotator: the name is blank")
    store = open_workspace(db).store
    done = files.import_chain_files(store, chain_files, name, annotator, skip_bad=skip_bad, warn=warn)
    if as_json:
        said = {"dataset": done.dataset.name, "n": done.dataset.n, "chains": done.chains, "attempts": done.attempts}
        print_json(said)
    else:
        name = literal(done.dataset.name)
        say(f"{name}: {number_of(done.dataset.n, 'text')}, {done.chains} new chains, {done.attempts} attempts")


@click.command()
@dataset_option
@db_option
@read_only_option
@json_option
def agreement(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """How far reviewers of a dataset's rephrasings agree: Krippendorff's alpha over meaning and the blind emotion."""
    document = look_into(db, read_only=read_only).rephrasing().agreement(dataset)
    if as_json:
        print_json(document)
        return
    single = {name: value for name, value in document.items() if name not in ("meaning", "emotion")}
    print_figures(f"reviews of {dataset}", single)


@click.command()
@click.argument("named", metavar="[NAME=FILE]...", nargs=-1)
@dataset_option
@click.option("--remove", metavar="NAME", help="Take this column out.")
@skip_bad_option
@db_option
@read_only_option
@json_option
def variants(
    named: tuple[str, ...],
    dataset: str,
    remove: str | None,
    skip_bad: bool,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Keep automatic variants of a dataset's originals (BT-1=FILE) as columns of its statistics; list them."""
    if named or remove is not None:
        check_may_write(read_only, "a column that is kept or taken out")
    service = look_into(db, read_only=read_only).rephrasing()
    if remove is not None:
        drop_variants(service.store, service.dataset(dataset), remove)
    document = files.import_variants(service, dataset, named_files(named), skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    for name, n in document["variants"].items():
        say(f"{name}: {number_of(n, 'text')}")
    if not document["variants"]:
        say(f"{dataset} has no variants. Keep some: emotui rephrasings variants BT-1=FILE")


# `emotui rephrasings sets`, `statistics` and `split`: from files of chains, without the store.

# `emotui rephrasings evaluate`: models on the originals, their variants, and the sets 1R to 4R.

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
@click.option("--prompts", type=click.Path(), help="Your own prompts (TOML, docs/models.md).")
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
        options["prompts"] = to_builtins(read_prompts(prompts, task_named("rephrase")))
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


@click.command()
@chains_option
@written_option(
    "--to", within=("?R.jsonl",), type=click.Path(), help="A folder to write the sets to, as 1R.jsonl to 4R.jsonl."
)
@skip_bad_option
@json_option
def sets(chains: str, to: str | None, skip_bad: bool, as_json: bool) -> None:
    """The test sets 1R to 4R: each chain's text of that round, and every original the model got wrong."""
    document = files.sets_document(chains, to=to, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    counted = {"T_correct": len(document["t_correct"]), "T_incorrect": len(document["t_incorrect"])}
    sizes = {name: len(records) for name, records in document["sets"].items()}
    rounds = document["rounds"]
    ends = {"failed": rounds["failed"], "skipped": rounds["skipped"], "open": document["open"]}
    print_figures(chains, counted | sizes | ends | {"notes": document["notes"]})
    means = rounds["mean_explicit_words"]
    by_round = {
        name: {"succeeded": rounds["succeeded"].get(name), "mean_explicit_words": mean} for name, mean in means.items()
    }
    print_figures("rounds", {"by round": by_round})


@click.command()
@chains_option
@variants_option
@click.option(
    "--smoothing",
    type=FiniteRange(min=0, min_open=True),
    default=SMOOTHING,
    show_default=True,
    help="Added to every word's count for KL.",
)
@skip_bad_option
@json_option
def statistics(chains: str, variants: tuple[str, ...], smoothing: float, skip_bad: bool, as_json: bool) -> None:
    """What rephrasing does to texts: rephrasings needed, word divergence, explicit words, categories, negation."""
    document = files.statistics_document(
        chains, named_files(variants), smoothing=smoothing, skip_bad=skip_bad, warn=warn
    )
    if as_json:
        print_json(document)
    else:
        print_statistics(chains, document)


def print_statistics(title: str, document: dict[str, Any]) -> None:
    """The figures of one set of chains, and a table with a row a figure and a column a set."""
    needed = {f"succeeded at {k}": n for k, n in document["needed"].items()}
    single = {name: value for name, value in document.items() if not isinstance(value, dict)}
    print_figures(title, single | needed | {"notes": document["notes"]})
    columns = document["columns"]
    figures = next(iter(columns.values()))
    print_figures("columns", {"by set": {name: {of: columns[of][name] for of in columns} for name in figures}})


@click.command()
@chains_option
@written_option(
    "--to",
    within=[f"{part}{ending}.jsonl" for part in ("train", "dev", "test") for ending in ("", "_rephrasings")],
    required=True,
    type=click.Path(),
    help="The folder to write train, dev and test to.",
)
@click.option("--dev", type=FiniteRange(0, 1), default=0.1, show_default=True, help="The share of dev.")
@click.option("--test", type=FiniteRange(0, 1), default=0.2, show_default=True, help="The share of test.")
@click.option("--seed", type=int, default=0, show_default=True)
@skip_bad_option
@json_option
def split(chains: str, to: str, dev: float, test: float, seed: int, skip_bad: bool, as_json: bool) -> None:
    """Split for training: an original and its rephrasings, and chains with a text in common, stay together."""
    if dev + test >= 1:
        raise BadInput(f"--dev {dev} and --test {test} leave nothing for training")
    wanted = {"train": 1 - dev - test, "dev": dev, "test": test}
    shares = {part: share for part, share in wanted.items() if share > 0}
    document = files.split_files(chains, to, shares, seed=seed, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    for part, said in document["parts"].items():
        counts = f"{said['originals']} originals, {said['rephrased']} of them with {said['rephrasings']} rephrasings"
        say(f"{part}: {counts}: {', '.join(said['files'])}")


# `emotui rephrasings contrast` and `consistency`: a suspected cause taken away, and who answers both texts rightly.


@click.command()
@dataset_option
@click.option("--where", default="", metavar="CONDITIONS", help="Originals of this slice alone (see emotui slices).")
@click.option("--run", help="Of whose errors and figures the conditions are.")
@annotator_option("Only what this person wrote.")
@written_option("--to", required=True, help="The file to write: .jsonl, .csv, .tsv or .parquet.")
@db_option
@read_only_option
@json_option
def contrast(
    dataset: str,
    where: str,
    run: str | None,
    annotator: str | None,
    to: str,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Keep a contrast set: each rephrased original of a slice beside the last version that a person made of it."""
    from emotui.workbench.rephrase.contrast import write_contrast

    workspace = look_into(db, read_only=read_only)
    document = write_contrast(
        workspace.rephrasing(), workspace.slicing(), dataset, to, where=where, run=run, annotator=annotator
    )
    if as_json:
        print_json(document)
        return
    goes, comes = document["error_goes"], document["error_comes"]
    say(f"{document['pairs']} pairs of {document['texts']} texts written to {literal(to)}")
    say(f"by the classifier that they were written against the error goes in {goes} of them, and comes in {comes}")


@click.command()
@click.option("--pairs", required=True, help="A contrast set: .jsonl, .csv, .tsv, .parquet, or -.")
@click.option("--model", "models", multiple=True, required=True, metavar="SPEC", help="A model (again for more).")
@click.option("--labels", "labels_file", type=click.Path(), help="The labels to choose among, one a line.")
@skip_bad_option
@json_option
def consistency(pairs: str, models: tuple[str, ...], labels_file: str | None, skip_bad: bool, as_json: bool) -> None:
    """How many pairs of a contrast set models answer rightly on both sides, and how many answers flip."""
    from emotui.workbench.rephrase.contrast import score_contrast

    options: dict[str, object] = {} if labels_file is None else {"labels": read_labels(labels_file)}
    with bar("contrast set") as progress:
        document = score_contrast(
            pairs,
            models,
            options=options,
            skip_bad=skip_bad,
            warn=warn,
            progress=lambda spec, done, n: progress(done, n, spec),
        )
    if as_json:
        print_json(document)
        return
    for spec, figures in document["models"].items():
        print_figures(f"{spec} over {pairs}", figures)
    say(document["conventions"]["contrast"])


@click.group()
def rephrasings() -> None:
    """Sets 1R to 4R of rephrased texts, their statistics, and splits for training."""


for command in (
    *(agreement, consistency, contrast, evaluate, export, import_, prompt, sets, split, statistics, suggest, variants),
):
    rephrasings.add_command(command)
