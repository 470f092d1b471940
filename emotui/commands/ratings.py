"""`emotui ratings`: a crowd platform's table as labels of raters in generation records."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from emotui.commands.browse import user_name
from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.commands.program_options import annotator_option, db_option, look_into, read_only_option
from emotui.formats import check_not_over, check_writable, write
from emotui.formats.written import refusal, replacing
from emotui.metrics.human_labels import TIES

_ties = click.option(
    "--ties", type=click.Choice(TIES), default="none", show_default=True, help="Several most frequent labels."
)


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
@_ties
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
    _tell(table, found.document, as_json=as_json)


def _tell(name: str, document: Mapping[str, Any], *, as_json: bool) -> None:
    """The document of ratings, wherever they are from."""
    if as_json:
        print_json(document)
        return
    shown = {name: document[name] for name in ("raters", "ratings", "unrated")}
    shown |= {"set aside": len(document["set_aside"]), "texts that lack labels": len(document["short"])}
    print_figures(name, shown | {"notes": document["notes"]})
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
    from emotui.workbench.generation.ratings import choose_subset

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


@click.command()
@click.argument("dataset")
@_ties
@click.option("--alone", is_flag=True, help="Leave out the labels that versions came with.")
@click.option(
    "--as",
    "what",
    type=click.Choice(("ratings", "records")),
    default="ratings",
    show_default=True,
    help="What --to writes: a rating a row, or generation records with their labels.",
)
@written_option("--to", type=click.Path(), help="Write them, format by ending.")
@db_option
@read_only_option
@json_option
def kept(
    dataset: str,
    ties: Any,
    alone: bool,
    what: str,
    to: str | None,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Say what the ratings made in the workbench come to: as `emotui ratings` says it of a table."""
    from emotui.workbench.datasets.samples import check_not_over_origin
    from emotui.workbench.datasets.sets import dataset_named
    from emotui.workbench.generation.ratings import kept_ratings, rating_rows

    store = look_into(db, read_only=read_only).store
    held = dataset_named(store, dataset)
    if to is not None:
        check_writable(to)
        check_not_over(to, store.path)
        check_not_over_origin(to, held)
    found = kept_ratings(store, held.dataset, ties=ties, alone=alone)
    if to is not None:
        write(to, found.records if what == "records" else rating_rows(store, held.dataset))
    _tell(held.name, found.document, as_json=as_json)


@click.command()
@click.argument("dataset")
@click.option("--versions", "which", type=click.Choice(("emotional", "neutral", "mixed")), help="Which, or both mixed.")
@click.option("--size", type=click.IntRange(1, 1000), help="Texts of a batch, about (50).")
@click.option("--checks", metavar="RATE", help="Attention checks a text: 28/277, .1, 10%; 0: none (28/277).")
@click.option("--wanted", type=click.IntRange(1, 1000), help="Raters of a text (5).")
@click.option("--allowed", type=click.IntRange(0), help="Attention checks that one may fail (0).")
@annotator_option("Who rates (default: your user name).")
@db_option
def rate(
    dataset: str,
    which: str | None,
    size: int | None,
    checks: str | None,
    wanted: int | None,
    allowed: int | None,
    annotator: str | None,
    db: str | None,
) -> None:
    """Rate versions blind, one text at a time: your batch that is not finished, else a new one.

    What is not said here is as it was the last time.
    """
    from emotui.commands.browse import show_app
    from emotui.errors import BadInput
    from emotui.screens.generate.rate import RateApp
    from emotui.workbench.datasets.sets import dataset_named
    from emotui.workbench.generation.bench import GenerationBench
    from emotui.workbench.generation.rating import changed_options
    from emotui.workbench.generation.rating_batches import check_rate

    store = look_into(db).store
    held = dataset_named(store, dataset)
    if held.task != "generation":
        raise BadInput(f"{held.name} is of the {held.task} task: what is rated are versions of texts (generation)")
    bench = GenerationBench(store)
    share = None if checks is None else check_rate(checks)
    given = {"which": which, "size": size, "checks": share, "wanted": wanted, "allowed": allowed}
    options = changed_options(bench.rating_options(), given)
    sitting = bench.begin_rating(held.dataset, (annotator if annotator is not None else user_name()).strip(), options)
    show_app(RateApp(sitting, store.settings.get("theme")))
