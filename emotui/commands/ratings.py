"""`emotui ratings`: a crowd platform's table as labels of raters in generation records."""

from typing import Any

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.formats import check_writable, write
from emotui.metrics.human_labels import TIES


@click.command()
@click.argument("table", metavar="TABLE")
@click.option("--records", required=True, multiple=True, metavar="FILE", help="Generation records (again for more).")
@click.option("--checks", metavar="FILE", help="Attention checks: a table of items and the labels that they ask for.")
@click.option("--rater", metavar="COLUMN", help="Who rated (default: it is found, as participant_id).")
@click.option("--item", metavar="COLUMN", help="What was rated: MODEL/ID (default: found; else a column an item).")
@click.option("--label", metavar="COLUMN", help="Which emotion was chosen (default: it is found, as response).")
@click.option("--neutral", is_flag=True, help="The ratings are of neutral versions.")
@click.option("--allowed", type=click.IntRange(0), default=0, show_default=True, help="Checks that one may fail.")
@click.option("--wanted", type=click.IntRange(1), default=5, show_default=True, help="Labels that a text should have.")
@click.option(
    "--ties", type=click.Choice(TIES), default="none", show_default=True, help="Several most frequent labels."
)
@written_option("--to", type=click.Path(), help="Write the records with the labels.")
@skip_bad_option
@json_option
def ratings(
    table: str,
    records: tuple[str, ...],
    checks: str | None,
    rater: str | None,
    item: str | None,
    label: str | None,
    neutral: bool,
    allowed: int,
    wanted: int,
    ties: Any,
    to: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Bring the labels of raters in TABLE (CSV, TSV) into generation records, and say how far raters agree.

    Raters who fail an attention check are set aside; texts that then lack labels are named, for others to rate.
    """
    from emotui.workbench.generation.ratings import crowd_ratings

    if to is not None:
        check_writable(to)
    found = crowd_ratings(
        records,
        table,
        checks,
        rater=rater,
        item=item,
        label=label,
        allowed=allowed,
        wanted=wanted,
        neutral=neutral,
        ties=ties,
        skip_bad=skip_bad,
        warn=warn,
    )
    if to is not None:
        write(to, found.records)
    document = found.document
    if as_json:
        print_json(document)
        return
    shown = {name: document[name] for name in ("raters", "ratings", "unrated")}
    shown |= {"set aside": len(document["set_aside"]), "texts that lack labels": len(document["short"])}
    print_figures(table, shown | {"notes": document["notes"]})
    for one in document["set_aside"]:
        say(f"set aside: {one['rater']} failed {one['failed']} of {one['checks']} checks")
    for model, figures in document["models"].items():
        for version, report in figures.items():
            print_figures(f"{model}: {version}", {name: value for name, value in report.items() if name != "n"})
