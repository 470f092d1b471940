"""`emotui agreement`: how far raters agree, from a file of ratings or over the sources of a dataset."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from emotui.commands.output import json_option, print_figures, print_json, skip_bad_option, warn
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.workbench.files import score

if TYPE_CHECKING:
    from emotui.store.store import Store


_OF_STANDING_IN = ("--epsilon", "--alignment", "--expert", "--quality", "--balanced")


@click.command()
@click.option("--ratings", help="Ratings: item, rater, label.")
@click.option("--records", help="Scenes with annotators, in place of ratings: agreement on every emotion.")
@click.option("--dataset", metavar="NAME", help="Over the sources of a dataset, in place of files.")
@click.option(
    "--sources", metavar="A,B,...", help="--dataset: which: people, gold, files, runs (default: people, else all)."
)
@click.option("--as", "kind", metavar="KIND", help="--dataset: of answers: spans, labels, values (default: its own).")
@click.option("--levels", metavar="L,...", help="--dataset: of alpha: nominal, ordinal, interval, ratio.")
@click.option(
    "--bootstrap", type=click.IntRange(0), metavar="N", help="--dataset: resamples of intervals (default: 1000)."
)
@click.option("--seed", type=click.IntRange(0), help="--dataset: of intervals and of gamma's chance (default: 0).")
@click.option(
    "--items",
    type=click.IntRange(1),
    metavar="N",
    help="--dataset --json: the N texts behind each figure, worst first.",
)
@click.option("--gamma/--no-gamma", default=None, help="--dataset: gamma of spans (default: up to four sources).")
@click.option("--no-gold-check", is_flag=True, help="--dataset: no estimate of sources and doubtful gold.")
@click.option("--stand-in", metavar="RUN", help="--dataset: may RUN stand in for an annotator?")
@click.option(
    "--epsilon", type=click.FloatRange(0, 1), help="--stand-in: what a person's work has to be better by (0.2)."
)
@click.option("--alignment", metavar="NAME", help="--stand-in: how answers are compared (default: by the task).")
@click.option("--expert", metavar="NAME", help="--stand-in: one source, or gold, that RUN and people are to represent.")
@click.option("--quality", metavar="A=Q,...", help="--stand-in: how much people weigh (default: 1 each).")
@click.option("--balanced", is_flag=True, help="--stand-in: rare labels count as much as frequent ones.")
@skip_bad_option
@db_option
@read_only_option
@json_option
def agreement(
    ratings: str | None,
    records: str | None,
    dataset: str | None,
    sources: str | None,
    kind: str | None,
    levels: str | None,
    bootstrap: int | None,
    seed: int | None,
    items: int | None,
    gamma: bool | None,
    no_gold_check: bool,
    stand_in: str | None,
    epsilon: float | None,
    alignment: str | None,
    expert: str | None,
    quality: str | None,
    balanced: bool,
    skip_bad: bool,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """How far raters agree beyond chance: all of them, each two, and on each label.

    From a file of ratings, or over the sources of a dataset: spans, labels or numbers, each by figures of its own, with
    intervals and the texts behind every figure; how good each source is, and which gold is doubtful.
    """
    if [ratings, records, dataset].count(None) != 2:
        raise BadInput("agreement needs --ratings, --records or --dataset, one of them")
    of_dataset = {
        "--sources": sources,
        "--as": kind,
        "--levels": levels,
        "--bootstrap": bootstrap,
        "--seed": seed,
        "--items": items,
        "--gamma": gamma,
        "--no-gold-check": no_gold_check or None,
        "--stand-in": stand_in,
        "--epsilon": epsilon,
        "--alignment": alignment,
        "--expert": expert,
        "--quality": quality,
        "--balanced": balanced or None,
        "--db": db,
        "--read-only": read_only or None,
    }
    given = [name for name, value in of_dataset.items() if value is not None]
    if dataset is None:
        if given:
            raise BadInput(f"{given[0]} is for --dataset")
        _of_files(ratings, records, skip_bad, as_json)
        return
    if skip_bad:
        raise BadInput("--skip-bad is for files")
    if stand_in is None and (strange := [name for name in given if name in _OF_STANDING_IN]):
        raise BadInput(f"{strange[0]} is for --stand-in")
    names = None if sources is None else _names(sources)
    workspace = look_into(db, read_only=read_only)
    try:
        if stand_in is not None:
            other = ("--levels", "--bootstrap", "--seed", "--gamma", "--no-gold-check")
            if strange := [name for name in given if name in other]:
                raise BadInput(f"{strange[0]} has no say in --stand-in")
            weights = {} if quality is None else _qualities(quality)
            test = stand_in, names, alignment, epsilon, expert, weights, balanced
            _stand_in(workspace.store, dataset, *test, items=items, as_json=as_json)
        else:
            _study(
                workspace.store,
                dataset,
                names,
                kind,
                levels,
                1000 if bootstrap is None else bootstrap,
                seed or 0,
                gamma,
                not no_gold_check,
                items,
                as_json,
            )
    finally:
        workspace.close()


def _names(given: str) -> list[str]:
    return [name for part in given.split(",") if (name := part.strip())]


def _of_files(ratings: str | None, records: str | None, skip_bad: bool, as_json: bool) -> None:
    if ratings is not None:
        document = score.agreement(ratings, skip_bad=skip_bad, warn=warn)
    else:
        document = score.scenes_agreement(str(records), skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(document)
        return
    found: list[dict[str, Any]] = document["pairwise_cohen_kappa"]
    pairs = {f"{one['a']} and {one['b']}": {"n": one["n"], "kappa": one["kappa"]} for one in found}
    print_figures(str(ratings or records), document | {"each two": pairs})


def _study(
    store: "Store",
    dataset: str,
    sources: Sequence[str] | None,
    kind: str | None,
    levels: str | None,
    resamples: int,
    seed: int,
    gamma: bool | None,
    check_gold: bool,
    items: int | None,
    as_json: bool,
) -> None:
    from emotui.metrics.alpha import LEVELS
    from emotui.workbench.agreement.study import study
    from emotui.workbench.agreement.suggestions import traced, traced_tables
    from emotui.workbench.agreement.tables import agreement_tables
    from emotui.workbench.datasets.sets import dataset_named

    wanted = None if levels is None else [level for level in LEVELS if level in _names(levels)]
    if levels is not None and (strange := [name for name in _names(levels) if name not in LEVELS] or not wanted):
        raise BadInput(
            f"there is no level {strange[0] if isinstance(strange, list) else levels!r}: {', '.join(LEVELS)}"
        )
    found = study(
        store,
        dataset,
        sources,
        kind=kind,
        levels=wanted,
        resamples=resamples,
        seed=seed,
        with_gamma=gamma,
        check_gold=check_gold,
    )
    came = traced(store, dataset_named(store, dataset))
    if as_json:
        from emotui.commands.agreement.documents import agreement_document

        print_json(agreement_document(found, came, store, items or 0))
        return
    from emotui.commands.results import print_tables

    print_tables((*agreement_tables(found, most_doubts=20), *traced_tables(came)))


def _qualities(given: str) -> dict[str, float]:
    found = {}
    for one in _names(given):
        name, _, weight = one.rpartition("=")
        try:
            found[name.strip()] = float(weight)
        except ValueError:
            raise BadInput(f"--quality {one}: write NAME=NUMBER, with commas between") from None
    return found


def _stand_in(
    store: "Store",
    dataset: str,
    run: str,
    people: Sequence[str] | None,
    alignment: str | None,
    epsilon: float | None,
    expert: str | None,
    quality: dict[str, float],
    balanced: bool,
    *,
    items: int | None,
    as_json: bool,
) -> None:
    from emotui.workbench.agreement.stand_in_tables import stand_in_tables
    from emotui.workbench.agreement.standing_in import stand_in_test

    found = stand_in_test(
        store,
        dataset,
        run,
        people,
        alignment=alignment,
        epsilon=epsilon,
        expert=expert,
        quality=quality,
        balanced=balanced,
    )
    if as_json:
        from emotui.commands.agreement.documents import standing_document

        print_json(standing_document(found, store, items or 0))
        return
    from emotui.commands.results import print_tables

    print_tables(stand_in_tables(found))
