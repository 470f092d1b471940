"""`emotui compare` and `emotui lexical`: figures over files, or over two sources of the store."""

import click

from emotui.commands.output import (
    as_written,
    json_option,
    print_figures,
    print_json,
    skip_bad_option,
    terminal,
    warn,
)
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.workbench.files import score


@click.command()
@click.option("--a", "first", help="Per-sample scores.")
@click.option("--b", "second", help="Per-sample scores of the same samples.")
@click.option("--runs", nargs=2, metavar="A B", help="Two sources of one dataset, in place of files.")
@click.option("--metric", help="--runs: by which metric (default: the first of the task).")
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
    metric: str | None,
    inner: bool,
    seed: int,
    skip_bad: bool,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Compare two sets of per-sample scores, paired by id: bootstrap interval, Wilcoxon, Cohen's d.

    The scores are files (--a, --b), or those of two sources of one dataset: runs, people, files (--runs).
    """
    if runs is not None:
        if first or second or skip_bad:
            raise BadInput("--a, --b and --skip-bad are for files of scores: leave them out beside --runs")
        from emotui.workbench.runs.compared import compare_runs

        store = look_into(db, read_only=read_only).store
        document = compare_runs(store, *runs, metric, inner=inner, seed=seed)
        first, second = runs
    elif first is None or second is None:
        raise BadInput("compare needs --a and --b, two files of scores, or --runs A B")
    elif metric is not None or db is not None or read_only:
        raise BadInput("--metric, --db and --read-only are for --runs")
    else:
        document = score.compare(first, second, inner=inner, seed=seed, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
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
