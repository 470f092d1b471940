"""`emotui ratings`: a crowd platform's table as labels of raters in generation records."""

from pathlib import Path
from typing import Any

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.formats import check_writable, write
from emotui.formats.written import refusal, replacing
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


@click.command()
@click.argument("texts", metavar="FILE")
@click.option("--source", required=True, metavar="COLUMN", help="The video or document that a text is of.")
@click.option("--order", metavar="COLUMN", help="Where it stands there (default: the order of the file).")
@click.option("--annotations", metavar="COLUMN", help="Labels that several annotators gave it.")
@click.option("--least", type=click.FloatRange(0, 1), default=0.6, show_default=True, help="Agreement to be above.")
@written_option("--to", type=click.Path(), help="Write the ids, one a line.")
@json_option
def subset(
    texts: str,
    source: str,
    order: str | None,
    annotations: str | None,
    least: float,
    to: str | None,
    as_json: bool,
) -> None:
    """Choose texts to have rated: of each source and emotion the first and the last, and those agreed upon."""
    from emotui.workbench.generation.subset import choose_subset

    found = choose_subset(texts, source=source, order=order, annotations=annotations, least=least)
    if to is not None:
        try:
            with replacing(Path(to)) as beside:
                beside.write_text("".join(f"{key}\n" for key in found["ids"]), encoding="utf-8")
        except OSError as error:
            raise refusal(to, error) from None
    if as_json:
        print_json(found)
        return
    say(f"{found['chosen']} of {found['n']} texts, {len(found['agreed'])} of them agreed upon")
    if to is None:
        say("\n".join(found["ids"]))
