"""What order and suggestions do to the answers of those who annotate here: pace, and what becomes of suggestions."""

from collections.abc import Sequence
from statistics import fmean, median

import msgspec

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.annotate.traces import AnswerTrace, answer_traces


class Pace(msgspec.Struct, frozen=True):
    """How quickly an annotator gives first answers: medians in seconds, None where nothing was measured.

    `n`: answers with a time. `early`, `late`: of the first and of the second half of them in the order in which the
    texts came into sight. `samples`: the slowest first.
    """

    annotator: str
    n: int
    seconds: float | None
    early: float | None
    late: float | None
    samples: Sequence[int] = ()


class Anchoring(msgspec.Struct, frozen=True):
    """What an annotator does with the suggestions of a source.

    `n`: answers given after one was shown; `before`: of these, those in which something was said before. `followed`:
    the share that says what the suggestion says; `away`: the mean distance from it, in [0, 1]. `taken`, `mended`,
    `refused`: shares of all that was suggested. `seconds`, `without`: medians of answers with a suggestion and, of the
    same annotator, of the `n_without` without. `samples`: answers that follow; `others`: those that do not, the
    farthest from the suggestion first.
    """

    annotator: str
    source: str
    n: int
    before: int
    followed: float
    away: float | None
    taken: float | None
    mended: float | None
    refused: float | None
    seconds: float | None
    without: float | None
    n_without: int
    samples: Sequence[int] = ()
    others: Sequence[int] = ()


class Traced(msgspec.Struct, frozen=True):
    """Pace by annotator, and anchoring by annotator and by whose suggestions."""

    pace: Sequence[Pace]
    anchoring: Sequence[Anchoring]


def traced(store: Store, dataset: Dataset) -> Traced:
    """How answers came about, of everybody who annotates the dataset here; second answers of a retest do not count."""
    number_of = store.numbers_by_id(dataset.dataset)
    of: dict[str, list[AnswerTrace]] = {}
    for trace in answer_traces(store, dataset):
        if not trace.round:
            of.setdefault(trace.annotator, []).append(trace)
    pace = [_pace(name, traces, number_of) for name, traces in of.items()]
    anchoring = []
    for name, traces in of.items():
        free = _times([trace for trace in traces if trace.source is None])
        for source in dict.fromkeys(trace.source for trace in traces if trace.source is not None):
            shown = [trace for trace in traces if trace.source == source]
            anchoring.append(_anchoring(name, source, shown, free, number_of))
    return Traced(pace, anchoring)


def _times(traces: Sequence[AnswerTrace]) -> list[float]:
    return [trace.answered for trace in traces if trace.answered is not None]


def _pace(name: str, traces: Sequence[AnswerTrace], number_of: dict[str, int]) -> Pace:
    timed = sorted((one for one in traces if one.answered is not None), key=lambda one: (one.place is None, one.place))
    times = _times(timed)
    half = (len(times) + 1) // 2
    slowest = sorted(timed, key=lambda one: -(one.answered or 0))
    return Pace(
        name,
        len(times),
        _median(times),
        _median(times[:half]) if len(times) > 1 else None,
        _median(times[half:]),
        [number_of[one.id] for one in slowest],
    )


def _anchoring(
    name: str, source: str, shown: Sequence[AnswerTrace], free: Sequence[float], number_of: dict[str, int]
) -> Anchoring:
    items = sum(one.shown for one in shown)
    away = [one.away for one in shown if one.away is not None]
    unlike = sorted((one for one in shown if not one.followed), key=lambda one: -(one.away or 0))
    return Anchoring(
        name,
        source,
        len(shown),
        sum(bool(one.before) for one in shown),
        sum(bool(one.followed) for one in shown) / len(shown),
        fmean(away) if away else None,
        sum(one.taken for one in shown) / items if items else None,
        sum(one.mended for one in shown) / items if items else None,
        sum(one.refused for one in shown) / items if items else None,
        _median(_times(shown)),
        _median(free),
        len(free),
        [number_of[one.id] for one in shown if one.followed],
        [number_of[one.id] for one in unlike],
    )


def _median(times: Sequence[float]) -> float | None:
    return median(times) if times else None


def traced_tables(found: Traced) -> tuple[ResultsTable, ...]:
    """Pace and anchoring as tables; none where nobody annotated here, or nothing was suggested."""
    tables = []
    if any(one.n for one in found.pace):
        tables.append(_pace_table([one for one in found.pace if one.n]))
    if found.anchoring:
        tables.append(_anchoring_table(found.anchoring))
    return tuple(tables)


_UNTIMED = "no answer was timed"


def _pace_table(pace: Sequence[Pace]) -> ResultsTable:
    about = "seconds from when a text came into sight to the answer that stands, median; the slowest texts first"
    columns = (
        Column("seconds", "seconds", unit="count"),
        Column("early", "first half", unit="count"),
        Column("late", "second half", unit="count"),
        Column("n", "answers", unit="count"),
    )
    rows = [
        Row(
            one.annotator,
            "people",
            "",
            tuple(
                Cell(value, convention=about, why=_UNTIMED, samples=tuple(one.samples))
                for value in (one.seconds, one.early, one.late, one.n)
            ),
        )
        for one in pace
    ]
    return ResultsTable("agreement-pace", "Pace, in the order of one's texts", columns, tuple(rows), (about,))


def _anchoring_table(anchoring: Sequence[Anchoring]) -> ResultsTable:
    columns = (
        Column("followed", "followed"),
        Column("away", "away"),
        Column("taken", "taken"),
        Column("mended", "mended"),
        Column("refused", "refused"),
        Column("seconds", "seconds", unit="count"),
        Column("without", "without one", short="without", unit="count"),
        Column("n", "answers", unit="count"),
        Column("n_without", "answers without", unit="count"),
    )
    rows = []
    for one in anchoring:
        unlike, like = tuple(one.others), tuple(one.samples)
        both = (*unlike, *like)
        rows.append(
            Row(
                f"{one.annotator}, shown {one.source}",
                "people",
                "",
                (
                    Cell(one.followed, convention="answers that say what the suggestion says", samples=like),
                    Cell(one.away, convention="mean distance of the answer from the suggestion", samples=unlike),
                    *(
                        Cell(value, convention="of all that was suggested", why="nothing was in it", samples=unlike)
                        for value in (one.taken, one.mended, one.refused)
                    ),
                    Cell(one.seconds, convention="median, with a suggestion", why=_UNTIMED, samples=both),
                    Cell(one.without, convention="median, without one", why="no timed answer without a suggestion"),
                    Cell(one.n, convention=f"in {one.before} of them something was said before", samples=both),
                    Cell(one.n_without),
                ),
            )
        )
    note = "answers before anything was revealed, beside the suggestion that was shown last; times are in seconds"
    return ResultsTable("agreement-suggestions", "Suggestions and what became of them", columns, tuple(rows), (note,))
