"""An agreement study and the alternative annotator test as JSON documents."""

from collections.abc import Mapping, Sequence

import msgspec

from emotui.metrics.alternative_annotator import StandIn
from emotui.metrics.figure import Figure
from emotui.store.store import Store
from emotui.workbench.agreement.documents import Agreement, Behind, Estimate, Measured
from emotui.workbench.agreement.standing_in import Standing
from emotui.workbench.agreement.suggestions import Anchoring, Pace, Traced


class Ids:
    """Ids of samples by their numbers, asked of the store once."""

    def __init__(self, store: Store, n: int) -> None:
        self._store, self.n = store, n
        self._ids: dict[int, str] = {}

    def of(self, numbers: Sequence[int]) -> list[str]:
        missing = [number for number in dict.fromkeys(numbers) if number not in self._ids]
        self._ids |= {row.sample: row.id for row in self._store.page(missing, None)} if missing else {}
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
