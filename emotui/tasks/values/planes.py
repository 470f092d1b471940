"""Numbers drawn as counts over a plane: gold against given, and valence against arousal (the affective circumplex)."""

from collections.abc import Mapping, Sequence
from math import floor

from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.tasks.parts import ScoredRun
from emotui.tasks.values.detail import Detail

STEPS = 9
"""Into how many equal steps each side of a plane is cut."""

VALENCE, AROUSAL = "valence", "arousal"

Numbered = Sequence[tuple[int, Detail]]
"""Answers to labelled texts, each with the number of its sample."""

SCATTER = (
    "Texts by their gold number (row, the highest at the top) and the given one (column); both sides have one scale, "
    "from the lowest to the highest number of either, so what agrees lies on the line from bottom left to top right."
)
CIRCUMPLEX = (
    "Texts by valence (column) and arousal (row, the highest at the top), after Russell 1980; gold and given planes "
    "have one scale, from the lowest to the highest number of either."
)


class _Axis:
    """A range cut into equal steps; the highest number belongs to the last."""

    def __init__(self, values: Sequence[float]) -> None:
        self._low, high = min(values), max(values)
        self._step = (high - self._low) / STEPS or 1 / STEPS
        self.names = [f"{self._low + (place + 0.5) * self._step:.3g}" for place in range(STEPS)]

    def step(self, value: float) -> int:
        """In which step a number lies."""
        return min(STEPS - 1, max(0, floor((value - self._low) / self._step)))


def planes(scored: ScoredRun, model: str, known: Numbered, names: Sequence[str]) -> tuple[ResultsTable, ...]:
    """Gold against given for each name; of valence and arousal their planes too, of gold and of given numbers."""
    found = [plane for name in names if (plane := _scatter(scored, model, known, name)) is not None]
    return (*found, *_circumplex(scored, model, known, {name.casefold(): name for name in names}))


def _scatter(scored: ScoredRun, model: str, known: Numbered, name: str) -> ResultsTable | None:
    points = [
        (number, one.predicted[name], one.gold[name])
        for number, one in known
        if one.gold is not None and name in one.gold and name in one.predicted
    ]
    if not points:
        return None
    axis = _Axis([value for _, *both in points for value in both])
    key, title = f"scatter-{name}-{scored.run.run}", f"{model} {name}: gold against given"
    return _plane(scored, key, title, points, axis, axis, "given", SCATTER)


def _circumplex(scored: ScoredRun, model: str, known: Numbered, names: Mapping[str, str]) -> tuple[ResultsTable, ...]:
    if not {VALENCE, AROUSAL} <= names.keys():
        return ()
    across, up = names[VALENCE], names[AROUSAL]
    sides = {
        "gold": [(number, one.gold or {}) for number, one in known],
        "given": [(number, one.predicted) for number, one in known],
    }
    points = {
        side: [(number, said[across], said[up]) for number, said in told if across in said and up in said]
        for side, told in sides.items()
    }
    both = [point for side in points.values() for point in side]
    if not both:
        return ()
    x, y = _Axis([point[1] for point in both]), _Axis([point[2] for point in both])
    return tuple(
        _plane(
            scored,
            f"circumplex-{side}-{scored.run.run}",
            f"{model}: {side} valence and arousal",
            there,
            x,
            y,
            across,
            CIRCUMPLEX,
        )
        for side, there in points.items()
        if there
    )


def _plane(
    scored: ScoredRun,
    key: str,
    title: str,
    points: Sequence[tuple[int, float, float]],
    across: _Axis,
    up: _Axis,
    heading: str,
    note: str,
) -> ResultsTable:
    """Counts of (sample, across, up); repeats count once each."""
    there: dict[tuple[int, int], list[int]] = {}
    for number, x, y in points:
        there.setdefault((up.step(y), across.step(x)), []).append(number)
    rows = []
    for row in reversed(range(STEPS)):
        cells = [there.get((row, column), []) for column in range(STEPS)]
        rows.append(
            Row(
                up.names[row],
                "gold",
                scored.run.run,
                tuple(Cell(len(one), samples=tuple(sorted(set(one))), run=scored.run.run) for one in cells),
            )
        )
    columns = tuple(Column(f"step-{place}", name, heading, "count") for place, name in enumerate(across.names))
    return ResultsTable(key, title, columns, tuple(rows), (note,), heat=True, plane=True)
