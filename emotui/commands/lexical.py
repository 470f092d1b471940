"""`emotui lexical`: explicit, implicit and misleading texts by their words."""

import click

from emotui.commands.output import as_written, json_option, print_figures, print_json, skip_bad_option
from emotui.workbench.files import score


@click.command()
@click.option("--records", required=True, help="Texts with one gold label each: .jsonl, .csv, .tsv, .parquet, or -.")
@click.option("--inflections", is_flag=True, help="Look a word that EmoLex lacks up by its dictionary form.")
@skip_bad_option
@json_option
def lexical(records: str, inflections: bool, skip_bad: bool, as_json: bool) -> None:
    """How texts show their emotion, by EmoLex: explicit, implicit or misleading, and negated or not."""
    document = score.lexical(
        records, inflections=inflections, skip_bad=skip_bad, warn=lambda line: click.echo(line, err=True)
    )
    if as_json:
        print_json(document)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("id", "category", "explicit", "negated", "cues"):
        table.add_column(column)
    for row in document["records"]:
        cues = ", ".join(f"{cue['word']} ({' '.join(cue['emotions'])})" for cue in row["cues"])
        cells = row["id"], row["category"], str(row["explicit_words"]), "yes" if row["negated"] else "", cues
        table.add_row(*map(as_written, cells))
    Console().print(table)
    print_figures(records, document)
