"""`emotui agreement`: how far raters or sources agree, and on which texts not."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from emotui.commands.output import json_option, print_figures, print_json, skip_bad_option, warn
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.metrics.alternative_annotator import StandIn
from emotui.metrics.figure import Figure
from emotui.store.store import Store
from emotui.workbench.agreement.documents import Agreement, Behind, Estimate, Measured
from emotui.workbench.agreement.standing_in import Standing
from emotui.workbench.agreement.tables import Anchoring, Pace, Traced
from emotui.workbench.files import score

# An agreement study and the alternative annotator test as JSON documents.


class Ids:
    """Ids of samples by their numbers, asked of the store once."""

    def __init__(self, store: Store, n: int) -> None:
        self._store, self.n = store, n
        self._ids: dict[int, str] = {}

    def of(self, numbers: Sequence[int]) -> list[str]:
        missing = [number for number in dict.fromkeys(numbers) if number not in self._ids]
        self._ids |= {row.sample: row.id for row in self._store.list_rows.page(missing, None)} if missing else {}
        return [self._ids[number] for number in numbers]

    def behind(self, behind: Behind) -> dict[str, object]:
        """How many samples there are, and the first of them where they are asked for."""
        first = list(behind[: self.n])
        ids = self.of([number for number, _ in first])
        items = [{"id": key, "apart": apart} for key, (_, apart) in zip(ids, first, strict=True)]
        return {"n_items": len(behind)} | ({"items": items} if self.n else {})

    def cells(self, name: str, cells: Mapping[str, Mapping[str, Behind]]) -> dict[str, object]:
        """The first samples behind each cell of a confusion, where they are asked for."""
        if not self.n:
            return {}
        return {
            name: {
                row: {column: self.of([number for number, _ in behind[: self.n]]) for column, behind in line.items()}
                for row, line in cells.items()
            }
        }


def _estimate(found: Estimate, ids: Ids) -> dict[str, object]:
    raters = [
        {"name": one.name, "n": one.n, "accuracy": one.accuracy, "confusion": one.confusion}
        | ids.behind(one.behind)
        | ids.cells("confusion_items", one.cells)
        for one in found.raters
    ]
    return {"raters": raters, "questions": found.questions, "converged": found.converged, "steps": found.steps}


def _figure(figure: Figure) -> dict[str, object]:
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "why": figure.why,
    }


def _figures(measured: Sequence[Measured], ids: Ids) -> dict[str, object]:
    return {one.name: _figure(one.figure) | {"about": one.about} | ids.behind(one.behind) for one in measured}


def agreement_document(found: Agreement, came: Traced, store: Store, items: int) -> dict[str, object]:
    """The document of `emotui agreement --dataset`, with so many items behind each figure."""
    ids = Ids(store, items)
    return {
        "dataset": found.dataset,
        "kind": found.kind,
        "sources": [msgspec.structs.asdict(source) for source in found.sources],
        "texts": found.texts,
        "figures": _figures(found.measured, ids),
        "by_label": {label: _figures(figures, ids) for label, figures in found.by_label.items()},
        "pairs": [
            {
                "a": pair.a,
                "b": pair.b,
                "n": pair.n,
                "figures": {one.name: _figure(one.figure) | {"about": one.about} for one in pair.measured},
                "confusion": pair.confusion,
            }
            | ids.behind(pair.behind)
            | ids.cells("confusion_items", pair.cells)
            for pair in found.pairs
        ],
        "itself": [{"name": one.name, "n": one.n, "figures": _figures(one.measured, ids)} for one in found.itself],
        "estimate": None if found.estimate is None else _estimate(found.estimate, ids),
        "doubts": [
            {name: value for name, value in msgspec.to_builtins(doubt).items() if name not in ("sample", "item")}
            for doubt in found.doubts
        ],
        "pace": [_without_samples(one) for one in came.pace],
        "suggestions": [_without_samples(one) for one in came.anchoring],
        "notes": dict(found.notes),
        "resamples": found.resamples,
        "seed": found.seed,
    }


def _without_samples(one: Pace | Anchoring) -> dict[str, object]:
    return {name: value for name, value in msgspec.structs.asdict(one).items() if name not in ("samples", "others")}


def standing_document(found: Standing, store: Store, items: int) -> dict[str, object]:
    """The document of `emotui agreement --stand-in`, with so many items behind it."""
    ids = Ids(store, items)
    tests = {key: _test(test, found.of_one[key], ids) for key, test in found.tests.items()}
    passed = sum(test.passed or False for test in found.tests.values())
    several = {"by_name": tests, "passed_tests": passed, "tests": len(tests)}
    whole: Mapping[str, object] = tests[""] if set(tests) == {""} else several
    return {
        "dataset": found.dataset,
        "kind": found.kind,
        "model": found.model,
        "people": list(found.people),
        "alignment": found.alignment,
        "expert": found.expert,
        "quality": dict(found.quality),
        "balanced": found.balanced,
        **whole,
        **ids.behind(found.lost),
    }


def _test(test: StandIn, lost: Mapping[str, Behind], ids: Ids) -> dict[str, object]:
    return {
        "epsilon": test.epsilon,
        "q": test.q,
        "n": test.n,
        "winning_rate": test.winning_rate,
        "advantage": test.advantage,
        "passed": test.passed,
        "why": test.why,
        "advice": list(test.advice),
        "annotators": [
            {name: value for name, value in msgspec.structs.asdict(one).items() if name != "lost"}
            | ids.behind(lost.get(one.annotator, ()))
            for one in test.annotators
        ],
    }


# `emotui agreement`: how far raters agree, from a file of ratings or over the sources of a dataset.

_OF_STANDING_IN = ("--epsilon", "--alignment", "--expert", "--quality", "--balanced")


@click.command()
@click.option("--ratings", help="Ratings: item, rater, label.")
@click.option("--records", help="Scenes with annotators, in place of ratings: agreement on every emotion.")
@click.option("--dataset", metavar="NAME", help="Over the sources of a dataset, in place of files.")
@click.option(
    "--sources", metavar="A,B,...", help="--dataset: which: people, gold, files, runs (default: people, else all)."
)
@click.option(
    "--as",
    "kind",
    metavar="KIND",
    help="--dataset: of answers: spans, labels, values; also those beside spans.",
)
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
            other = ("--as", "--levels", "--bootstrap", "--seed", "--gamma", "--no-gold-check")
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
    from emotui.workbench.agreement.panel import kinds_beside
    from emotui.workbench.agreement.study import study
    from emotui.workbench.agreement.tables import agreement_tables, traced, traced_tables
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
    asked = dataset_named(store, dataset)
    if kind is None and (more := kinds_beside(store, asked)):
        told = f"people say {' and '.join(more)} of whole texts too: {', '.join(f'--as {one}' for one in more)}"
        found = msgspec.structs.replace(found, notes={**found.notes, "beside": told})
    came = traced(store, asked)
    if as_json:
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
    from emotui.workbench.agreement.standing_in import stand_in_tables, stand_in_test

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
        print_json(standing_document(found, store, items or 0))
        return
    from emotui.commands.results import print_tables

    print_tables(stand_in_tables(found))


__all__ = ["agreement"]
