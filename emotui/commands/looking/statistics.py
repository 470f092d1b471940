"""`emotui compare` and `lexical`: figures over files, or two sources of the store."""

from typing import TYPE_CHECKING, Any

import click

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
@click.option("--dataset", "of", metavar="NAME", help="--runs: of which dataset, where names stand in several.")
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
    of: str | None,
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
            _list_figures(workspace, runs, of, as_json)
            return
        if by is not None:
            _by_part(workspace, runs, of, metrics, by, correction, as_json)
            return
        from emotui.workbench.runs.compared import compare_figures, compare_runs

        if len(metrics) > 1:
            document = compare_figures(workspace.store, *runs, metrics, correction, inner=inner, seed=seed, of=of)
        else:
            document = compare_runs(workspace.store, *runs, *metrics, inner=inner, seed=seed, of=of)
        first, second = runs
    elif first is None or second is None:
        raise BadInput("compare needs --a and --b, two files of scores, or --runs A B")
    elif metrics or list_metrics or by is not None or of or db is not None or read_only:
        raise BadInput("--metric, --metrics, --by, --dataset, --db and --read-only are for --runs")
    else:
        document = score.compare(first, second, inner=inner, seed=seed, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    print_figures(f"{first} minus {second}", _in_words(document))


def _in_words(document: dict[str, Any]) -> dict[str, Any]:
    """The figures as they are printed: of the first source, in how many samples it is better, worse and equal.

    `won` and `lost` of the document are the samples in which it is above and below. Where neither end of a figure is
    better, or nobody knows which is (of files), they are called so.
    """
    better = document.get("higher_is_better")
    words = {"won": "above", "lost": "below", "tied": "equal"}
    told = {name: value for name, value in document.items() if name != "higher_is_better"}
    if better is not None:
        words |= {"won": "better", "lost": "worse"}
    if better is False:
        told |= {"won": document["lost"], "lost": document["won"]}
    conventions = {words.get(name, name): value for name, value in told.get("conventions", {}).items()}
    return {words.get(name, name): value for name, value in told.items()} | {"conventions": conventions}


def _list_figures(workspace: "Workspace", runs: tuple[str, str], of: str | None, as_json: bool) -> None:
    from emotui.workbench.runs.compared import comparable_figures

    names = comparable_figures(workspace.store, *runs, of)
    if as_json:
        print_json({"metrics": names})
        return
    for name in names:
        say(literal(name))


def _by_part(
    workspace: "Workspace",
    runs: tuple[str, str],
    of: str | None,
    metrics: tuple[str, ...],
    by: str,
    correction: Any,
    as_json: bool,
) -> None:
    """The difference of two sources in each part, and how far it is from that in the rest."""
    from emotui.commands.looking.slices import facet_names, parts_document, print_parts
    from emotui.workbench.runs.compared import both_sources

    if len(metrics) > 1:
        raise BadInput("--by takes one --metric: ask for each by itself")
    dataset, sources = both_sources(workspace.store, *runs, of)
    parts = (
        workspace.slicing()
        .read_as(dataset.task)
        .parts(dataset.dataset, sources[0].key, sources[1].key, next(iter(metrics), None), facet_names(by), correction)
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
