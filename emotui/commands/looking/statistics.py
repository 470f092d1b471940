"""`emotui compare`, `lexical` and `lens`: figures over files, two sources of the store, or a model's layers."""

from typing import TYPE_CHECKING, Any

import click

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
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.workbench.files import score

if TYPE_CHECKING:
    from emotui.workbench.workspace import Workspace


@click.command()
@click.option("--a", "first", help="Per-sample scores.")
@click.option("--b", "second", help="Per-sample scores of the same samples.")
@click.option("--runs", nargs=2, metavar="A B", help="Two sources of one dataset, in place of files.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="--runs: by which figure (default: the first of the task); again for several, corrected together.",
)
@click.option("--metrics", "list_metrics", is_flag=True, help="--runs: list the figures that can be compared.")
@click.option("--by", metavar="FACET,...", help="--runs: does a part change the difference? (see emotui slices facets)")
@click.option(
    "--correction",
    type=click.Choice(["holm", "benjamini-hochberg"]),
    default="holm",
    show_default=True,
    help="--runs: of p over all figures, or all parts, that are asked for.",
)
@click.option("--inner", is_flag=True, help="Compare the ids that both have.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap.")
@skip_bad_option
@db_option
@read_only_option
@json_option
def compare(
    first: str | None,
    second: str | None,
    runs: tuple[str, str] | None,
    metrics: tuple[str, ...],
    list_metrics: bool,
    by: str | None,
    correction: Any,
    inner: bool,
    seed: int,
    skip_bad: bool,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Compare two sets of per-sample scores, paired by id: bootstrap interval, Wilcoxon, Cohen's d.

    The scores are files (--a, --b), or those of two sources of one dataset: runs, people, files (--runs). These are
    compared by any figure of a run that is a mean or a rate, in all samples and, with --by, in parts of them.
    """
    if runs is not None:
        if first or second or skip_bad:
            raise BadInput("--a, --b and --skip-bad are for files of scores: leave them out beside --runs")
        workspace = look_into(db, read_only=read_only)
        if list_metrics:
            _list_figures(workspace, runs, as_json)
            return
        if by is not None:
            _by_part(workspace, runs, metrics, by, correction, as_json)
            return
        from emotui.workbench.runs.compared import compare_figures, compare_runs

        if len(metrics) > 1:
            document = compare_figures(workspace.store, *runs, metrics, correction, inner=inner, seed=seed)
        else:
            document = compare_runs(workspace.store, *runs, *metrics, inner=inner, seed=seed)
        first, second = runs
    elif first is None or second is None:
        raise BadInput("compare needs --a and --b, two files of scores, or --runs A B")
    elif metrics or list_metrics or by is not None or db is not None or read_only:
        raise BadInput("--metric, --metrics, --by, --db and --read-only are for --runs")
    else:
        document = score.compare(first, second, inner=inner, seed=seed, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    print_figures(f"{first} minus {second}", document)


def _list_figures(workspace: "Workspace", runs: tuple[str, str], as_json: bool) -> None:
    from emotui.workbench.runs.compared import comparable_figures

    names = comparable_figures(workspace.store, *runs)
    if as_json:
        print_json({"metrics": names})
        return
    for name in names:
        say(literal(name))


def _by_part(
    workspace: "Workspace", runs: tuple[str, str], metrics: tuple[str, ...], by: str, correction: Any, as_json: bool
) -> None:
    """The difference of two sources in each part, and how far it is from that in the rest."""
    from emotui.commands.looking.slices import facet_names, parts_document, print_parts
    from emotui.workbench.runs.compared import both_sources

    if len(metrics) > 1:
        raise BadInput("--by takes one --metric: ask for each by itself")
    dataset, sources = both_sources(workspace.store, *runs)
    parts = workspace.slicing().parts(
        dataset.dataset, sources[0].key, sources[1].key, next(iter(metrics), None), facet_names(by), correction
    )
    if as_json:
        print_json({"dataset": dataset.name, "runs": [one.key for one in sources]} | parts_document(parts))
    else:
        print_parts(parts)


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
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("id", "category", "explicit", "negated", "cues"):
        table.add_column(column)
    for row in document["records"]:
        cues = ", ".join(f"{cue['word']} ({' '.join(cue['emotions'])})" for cue in row["cues"])
        cells = row["id"], row["category"], str(row["explicit_words"]), "yes" if row["negated"] else "", cues
        table.add_row(*map(as_written, cells))
    terminal().print(table)
    print_figures(records, document)


@click.command()
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC): embedded or hf:.")
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample scenes).")
@click.option("--values", is_flag=True, help="Probe for gold numbers (valence), not for labels.")
@click.option("--layers", metavar="N,...", help="These layers and layer 0. [default: all]")
@click.option("--answers", metavar="RUN", help="Beside which answers; none: leave them out. [default: the model's own]")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N texts.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of folds, shuffles and resamples.")
@db_option
@json_option
def lens(
    spec: str,
    dataset: str | None,
    values: bool,
    layers: str | None,
    answers: str | None,
    limit: int | None,
    seed: int,
    db: str | None,
    as_json: bool,
) -> None:
    """What each layer of a model knows: probes beside their controls, and what it knew and did not say.

    A probe is fitted at each layer on labelled texts, and judged on others. Its figure stands beside that of shuffled
    labels, of a word list and of the embedding layer; a layer that does not beat all three is marked (docs/why.md).
    """
    from emotui.commands.run import asked_dataset
    from emotui.errors import ModelError
    from emotui.workbench.lens import lens as probed

    chosen = None if layers is None else _numbers(layers)
    workspace = open_workspace(db)
    try:
        workspace.model(spec)  # a wrong SPEC is told before anything is imported
        kept = workspace.store.dataset(asked_dataset(workspace, "scenes", dataset))
        assert kept is not None
        run, why = None, ""
        if answers is not None and answers != "none":
            run = workspace.store.run(answers)
            if (run.task, run.dataset) != ("labels", kept.dataset):
                raise BadInput(f"{run.run} is no run of the labels task over {kept.name}")
        elif answers is None and not values:
            try:
                with bar(f"{spec}: labels") as progress:
                    run = workspace.run_model(
                        spec, kept.dataset, task="labels", on_progress=lambda step: progress(step.done, step.n)
                    )
            except (BadInput, ModelError) as error:
                why = str(error)
        with bar(f"{spec}: layers") as progress:
            found = probed(
                workspace,
                spec,
                kept,
                kind="values" if values else "labels",
                layers=chosen,
                answers=run,
                limit=limit,
                seed=seed,
                on_text=progress,
            )
    finally:
        workspace.close()
    if why:
        found["notes"] = {**found["notes"], "not_said": f"the model's own answers are left out: {why}"}
    if as_json:
        print_json(found)
        return
    head = f"{found['model']} over {found['dataset']}: {found['figure']} of probes, {found['state']}"
    cosines = found.pop("cosines", {})
    texts = found.get("not_said", {}).pop("texts", {})
    print_figures(head, found)
    valences = [(layer, one) for layer, one in cosines.items() if "same_valence" in one]
    if valences:
        layer, one = valences[-1]
        ends = f"{one['same_valence']:.2f} between labels of one valence, {one['other_valence']:.2f} across"
        say(f"cosines of the labels' directions at layer {layer}: {ends} (--json has all)")
    if texts:
        say(f"known at layer {found['best_layer']} and not said, {len(texts)} texts:")
        for key, names in list(texts.items())[:_MOST_TEXTS]:
            say(f"  {literal(key)}  {literal(', '.join(names))}")
        if len(texts) > _MOST_TEXTS:
            say(f"  and {len(texts) - _MOST_TEXTS} more (--json has all)")


_MOST_TEXTS = 10


def _numbers(layers: str) -> tuple[int, ...]:
    """Raises BadInput where they are no whole numbers."""
    try:
        return tuple(int(one) for one in layers.split(","))
    except ValueError:
        raise BadInput(f"--layers {layers}: give whole numbers with commas between, such as 2,5,11") from None
