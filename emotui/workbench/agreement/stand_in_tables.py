"""The alternative annotator test as tables: its verdict, and each annotator against the model."""

from emotui.metrics.alternative_annotator import LeftOut, StandIn
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.agreement.documents import Behind
from emotui.workbench.agreement.standing_in import Standing

_TESTS = {"t": "t-test", "wilcoxon": "Wilcoxon", "weighted t": "weighted t"}

_COLUMNS = (
    Column("advantage", "model as good", short="model"),
    Column("human", "annotator as good", short="annotator"),
    Column("p", "p"),
    Column("test", "by", unit="words"),
    Column("won", "won", unit="words"),
    Column("n", "over", unit="count"),
)


def stand_in_tables(found: Standing) -> tuple[ResultsTable, ...]:
    """Of each test its verdict, and each annotator; of several tests first how many are passed."""
    tables = [_passed(found)] if len(found.tests) > 1 else []
    for key, test in found.tests.items():
        tables += [_verdict(found, key, test), _annotators(found, key, test)]
    return tuple(tables)


def _numbers(behind: Behind) -> tuple[int, ...]:
    return tuple(number for number, _ in behind)


def _passed(found: Standing) -> ResultsTable:
    """The paper's summary of several aspects (appendix A): passed in so many of so many."""
    known = [test for test in found.tests.values() if test.passed is not None]
    about = "the winning rates are of one correction for all tests (Calderon, Reichart and Dror 2025, appendix A)"
    passed = sum(bool(test.passed) for test in known)
    cell = Cell(f"{passed} of {len(known)}", convention=about, samples=_numbers(found.lost))
    title = f"May {found.model} stand in for an annotator?"
    return ResultsTable(
        "stand-in-passed", title, (Column("value", "passed", unit="words"),), (Row("tests", "run", "", (cell,)),)
    )


def _verdict(found: Standing, key: str, test: StandIn) -> ResultsTable:
    of = f", {key}" if key else ""
    who = f" of {found.expert}" if found.expert else ""
    balanced = "; labels balanced (C.1)" if found.balanced else ""
    quality = "; by quality " + ", ".join(f"{name} {weight:g}" for name, weight in found.quality.items())
    about = (
        f"alignment by {found.alignment}{who}; epsilon {test.epsilon:g}, false discoveries {test.q:g}{balanced}"
        f"{quality if found.quality else ''} (Calderon, Reichart and Dror 2025)"
    )
    samples = tuple(dict.fromkeys(number for own in found.of_one[key].values() for number in _numbers(own)))
    samples = tuple(number for number in _numbers(found.lost) if number in set(samples))
    verdict = None if test.passed is None else "may stand in" if test.passed else "may not stand in"
    values = (("winning rate", test.winning_rate), ("advantage", test.advantage), ("verdict", verdict))
    rows = [
        Row(name, "run", "", (Cell(value, convention=about, why=test.why, samples=samples),)) for name, value in values
    ]
    title = f"May {found.model} stand in for an annotator{of}?"
    if found.expert:
        title = f"Does {found.model} represent {found.expert} better than people do{of}?"
    notes = (about, *test.advice, "its texts: those in which an annotator represents the others better")
    return ResultsTable(f"stand-in{key and '-'}{key}", title, (Column("value", "value"),), tuple(rows), notes)


def _annotators(found: Standing, key: str, test: StandIn) -> ResultsTable:
    of = f", {key}" if key else ""
    rows = [_annotator(one, found.of_one[key].get(one.annotator, ())) for one in test.annotators]
    title = f"Each annotator left out{of}" if found.expert is None else f"Each annotator beside {found.model}{of}"
    return ResultsTable(f"stand-in-annotators{key and '-'}{key}", title, _COLUMNS, tuple(rows))


def _annotator(one: LeftOut, lost: Behind) -> Row:
    why = None if one.n else "no item with another annotator"
    samples = _numbers(lost)
    values = [Cell(value, why=why, samples=samples) for value in (one.advantage, one.human_advantage, one.p)]
    told = [Cell(value, samples=samples) for value in (_TESTS.get(one.test, one.test), one.won, one.n)]
    return Row(one.annotator, "people", "1", (*values, *told))
