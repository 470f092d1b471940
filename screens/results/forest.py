"""Sources on one axis in Results: own ones on top, a row each; baselines, people and papers below."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from textual import events
from textual.binding import Binding
from textual.message import Message

from emotui.screens.keymaps import keyed
from emotui.screens.results.cells import in_words, shortened, written
from emotui.screens.widgets import drawing as axis
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.drawing import Dot, Scale
from emotui.screens.widgets.line import Part, opened, taken
from emotui.screens.widgets.page import Page, tell_end
from emotui.tables import FEW, Cell
from emotui.workbench.results.forests import Forest, Point

if TYPE_CHECKING:
    from emotui.workbench.compare.pairs import Axis, Standing

HEADINGS = {
    "run": "own runs",
    "baseline": "baselines",
    "people": "annotators",
    "gold": "former gold",
    "published": "† published: of other texts, so not on this axis",
}
PUBLISHED = "published"
"""The kind of sources that were measured on other texts: they stand off the axis, by their figure alone."""

_SIGNS = {
    "run": axis.OWN,
    "baseline": axis.BASELINE,
    "people": axis.PERSON,
    "gold": axis.BASELINE,
}
_KINDS = {"person": "people", "gold": "gold"}
"""Of the sources that are no runs: under which heading they stand."""
_LONGEST = 56
_SHORTEST = 12
_LEAST_AXIS = 16
_HEADS = 2
_SPAN = 0.2
"""Of an axis of shares, at least."""
_FIGURE, _INTERVAL = "value", "95% interval"
_LESS = "↓"
_MARGIN = 2
"""Cells at the right that stay free, also where a scroll bar comes."""
_SURE_FROM = 52
"""Cells from which on an interval is written too, where there are any."""

_WHOLE_HEADING_FROM = 100
"""Cells from which on the heading over how sources stand to one of them takes what it needs, """
_LONGEST_HEADING, _SHORT_HEADING = 26, 16
"""and how much at most, also in fewer."""
_USUAL = "+.123  p < .001"
"""What most of them say, at most."""


class Against(NamedTuple):
    """How each source stands to one of them, as it is written, over a heading."""

    heading: str
    said: tuple[str, ...]


class ForestRows(Page, inherit_bindings=False):
    """A row a source with a cursor on one. `Moved` tells that it stands on another. Left and right are the place's."""

    BINDINGS = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "page(-1000)", show=False),
        Binding("end", "page(1000)", show=False),
    ]
    footer_keys = (("↑ ↓", "source"),)

    class Moved(Message):
        """The cursor stands on another source."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.heads = _HEADS
        self.cursor = 0
        self._forest: Forest | None = None
        self._others: Sequence[Forest] = ()
        self._figures: Mapping[str, str] = {}
        self._waiting = ""
        self._against: Against | None = None
        self._asides: Sequence[str] = ()
        self._over = self._under_way = ""
        self._rows_at: dict[int, int] = {}

    @property
    def rows(self) -> "Sequence[Point]":
        """The sources, a row each."""
        return self._forest.points if self._forest is not None else ()

    @property
    def picked(self) -> "Point | None":
        """The source under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show_forest(
        self,
        forest: "Forest",
        others: "Sequence[Forest]",
        figures: tuple[str, ...],
        lower: Collection[str],
        *,
        waiting: str = "",
        against: Against | None = None,
        asides: Sequence[str] = (),
        over: str = "",
        under_way: str = "",
    ) -> None:
        """Show sources; the cursor stays on its source, else it begins at the first.

        Args:
            others: the same sources by other figures, which stand below as far as there is room.
            figures: all by which these sources could stand there.
            lower: of which of them less is better.
            waiting: why means stand there without their intervals, empty where those have come.
            against: how the sources stand to one of them.
            asides: those that say too little to stand there, in words.
            over: what the figures are over, where not all are over the same.
            under_way: which work goes on, by which runs may come.
        """
        here = None if self.picked is None else (self.picked.kind, self.picked.label, self.picked.told)
        places = [at for at, one in enumerate(forest.points) if (one.kind, one.label, one.told) == here]
        self._forest, self._others, self._waiting = forest, others, waiting
        self._against, self._asides, self._over, self._under_way = against, asides, over, under_way
        self._figures = {one: _named(one, lower=one in lower) for one in figures}
        self.cursor = places[0] if places else 0
        self._draw()
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        self._draw()

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self._draw()

    def action_move(self, step: int) -> None:
        before = self.cursor
        self.put(before + step)
        if self.cursor == before:
            tell_end(self, step, "source")

    def action_page(self, direction: int) -> None:
        self.action_move(direction * max(self.size.height - _HEADS - 1, 1))

    def put(self, at: int) -> None:
        """Put the cursor on a source, the nearest there is."""
        if self._forest is not None and self._forest.points:
            self.cursor = min(max(at, 0), len(self._forest.points) - 1)
            self._draw()
            self.post_message(self.Moved())

    async def on_click(self, event: events.Click) -> None:
        await super().on_click(event)
        offset = event.get_content_offset(self)
        row = None if offset is None else self._rows_at.get(self.line_at(offset.y))
        if row is not None:
            self.put(row)

    def _draw(self) -> None:
        forest, cells = self._forest, self.scrollable_content_region.width - _MARGIN
        if forest is None or cells <= 0:
            return
        shape = _Shape.of([forest, *self._others], cells, self._against, waiting=bool(self._waiting and self._against))
        lines, self._rows_at = drawn(
            forest,
            shape,
            self._figures,
            self.cursor,
            cells,
            waiting=self._waiting,
            against=self._against,
            asides=self._asides,
            over=self._over,
            under_way=self._under_way,
        )
        for other in self._others:
            below = beneath(other, shape)
            if len(lines) + len(below) > self.size.height:
                break
            lines += below
        self.show(lines)
        here = next((line for line, row in self._rows_at.items() if row == self.cursor), 0)
        if self.cursor == 0:
            self.scroll_home(animate=False)
        else:
            self.bring_into_sight(here)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The cells of a source's name, of its axis, its figure, its interval and how it stands to another; of these two
    0 where they are not written.
    """

    name: int
    axis: int
    figure: int
    spread: int
    against: int = 0

    @classmethod
    def of(
        cls, forests: "Sequence[Forest]", cells: int, against: Against | None = None, *, waiting: bool = False
    ) -> "_Shape":
        """Args: waiting: with room for intervals, and for how sources stand to one, which are not there yet."""
        texts = [written(point.cell, forest.unit) for forest in forests for point in forest.points]
        sure = (waiting or any(spread for _, spread in texts)) and cells >= _SURE_FROM
        figure = max((width(mean) for mean, _ in texts), default=0)
        spread = max(len(_INTERVAL), *(width(spread) for _, spread in texts)) if sure else 0
        figure = max(figure, len(_FIGURE))
        beside = 0 if against is None else max(map(width, against.said), default=0)
        if against is not None:
            longest = _LONGEST_HEADING if cells >= _WHOLE_HEADING_FROM else _SHORT_HEADING
            beside = max(beside, min(width(against.heading), longest), len(_USUAL) if beside or waiting else 0)
        right = figure + (spread + 1 if sure else 0) + (beside + 2 if beside else 0)
        names = (
            " ".join(one).rstrip()
            for forest in forests
            for point, one in zip(forest.points, _names(forest), strict=True)
            if point.kind != PUBLISHED
        )
        longest = max(map(width, names), default=0)
        name = min(longest, _LONGEST, max(cells // 3, _SHORTEST), max(cells - right - _LEAST_AXIS - 6, _SHORTEST))
        return cls(name, max(cells - name - right - 6, 8), figure, spread, beside)

    def scale(self, forest: "Forest") -> Scale:
        """The axis of these sources: of those that were measured on these texts."""
        limits = _limits(forest)
        here = [point for point in forest.points if point.kind != PUBLISHED]
        dots = [_dot(point) for point in here] + [Dot(None, *point.reach) for point in here if point.reach is not None]
        low, high = axis.ends(dots, forest.shaded, *limits, _SPAN if limits[1] else 0)
        return axis.scaled(low, high, self.axis, forest.shaded)


def drawn(
    forest: "Forest",
    shape: _Shape,
    figures: Mapping[str, str],
    cursor: int,
    cells: int,
    *,
    waiting: str,
    against: Against | None = None,
    asides: Sequence[str] = (),
    over: str = "",
    under_way: str = "",
) -> tuple[list[list[Part]], dict[int, int]]:
    """Two lines of heading, the sources in their kinds, and what the shapes mean; and which line has which source."""
    points, scale = forest.points, shape.scale(forest)
    named = _FIGURE.rjust(shape.figure) + (f" {fit(_INTERVAL, shape.spread)}" if shape.spread else "")
    if against is not None and shape.against:
        named += f"  {fit(against.heading, shape.against)}"
    dots = [_dot(point) for point in points if point.kind != PUBLISHED]
    ticks = _ticks(scale) if dots else " " * scale.cells
    head = [Part(f"  {' ' * shape.name}  "), Part(ticks, "dim"), Part("  "), Part(named, "dim")]
    chooser = _chooser(forest.figure, figures, cells)
    beside = bool(over) and taken(chooser) + width(over) + 3 <= cells
    lines: list[list[Part]] = [[*chooser, Part(f"   {over}", "dim")] if beside else chooser, head]
    rows_at: dict[int, int] = {}
    rows = _rows(forest, shape, scale, cursor)
    if against is not None and shape.against:
        rows = [
            [*row, Part(f"  {fit(said, shape.against)}", "plain" if at == cursor else "dim")]
            for at, (row, said) in enumerate(zip(rows, against.said, strict=True))
        ]
    for kind, heading in HEADINGS.items():
        own = [at for at, point in enumerate(points) if point.kind == kind]
        if not own and kind != "run":
            continue
        lines.append([Part(f"{heading}{shown(shared_ending(forest, kind))}", "dim")])
        if not own:
            key = [Part(keyed("{model}"), "key", "do('model')"), Part(" runs a model over the samples")]
            lines.append([Part("  none yet: "), *([Part(under_way)] if under_way else key)])
        for at in own:
            rows_at[len(lines)] = at
            lines.append(rows[at])
    if asides:
        n = f"{len(asides)} source{'s' * (len(asides) != 1)} of under {FEW} texts"
        told = keyed(f"aside  {n}: {', '.join(map(shown, asides))}   {{run}} ticks them in, the table has them")
        lines += [[Part(told[start:end], "dim")] for start, end in wrap(told, max(cells, 20))]
    if over and not beside:
        lines.append([Part(over, "dim")])
    lines.append([])
    if waiting:
        lines.append([Part(waiting, "dim")])
    else:
        shaded = "annotators' range" if forest.shaded else ""
        less = [Part(f"   {_LESS} lower is better", "dim")] if any(_LESS in name for name in figures.values()) else []
        legend = axis.legend(
            shaded=shaded,
            signs={dot.sign for dot in dots},
            intervals=any(dot.low is not None for dot in dots),
            deviations=any(written(point.cell, forest.unit)[1].startswith("±") for point in points),
        )
        lines += _folded([*legend, *less], cells)
        note = shown(forest.note)
        lines += [[Part(note[start:end], "plain")] for start, end in wrap(note, max(cells, 20))] if note else []
    return lines, rows_at


def _folded(parts: Sequence[Part], cells: int) -> list[list[Part]]:
    """A legend on as many lines as it needs."""
    said = "".join(part.text for part in parts)
    if width(said) <= cells:
        return [list(parts)]
    lines = [""]
    for entry in said.split("   "):
        longer = f"{lines[-1]}   {entry}" if lines[-1] else entry
        lines[-1:] = [longer] if width(longer) <= cells or not lines[-1] else [lines[-1], entry]
    return [[Part(line, "dim")] for line in lines]


def standing(axis: "Axis", aside: Callable[[str], bool]) -> "tuple[Forest, list[Standing]]":
    """The sources of an axis as a forest, without those that stand aside; and the rows of the axis in its order."""
    rows = [row for row in axis.rows if row.published or row.key == axis.first or not aside(row.key)]
    kinds = [(PUBLISHED if row.published else _KINDS.get(row.kind, "run")) for row in rows]
    sign = -1 if axis.metric.higher_is_better else 1
    order = sorted(range(len(rows)), key=lambda at: (list(HEADINGS).index(kinds[at]), sign * (rows[at].mean or 0.0)))
    points = tuple(
        Point(
            rows[at].name,
            rows[at].told,
            kinds[at],
            Cell(rows[at].mean, low=rows[at].low, high=rows[at].high, note=rows[at].note),
            at,
            0,
            kinds[at] == "people",
            rows[at].reach,
        )
        for at in order
    )
    people = [row.mean for row, kind in zip(rows, kinds, strict=True) if kind == "people" and row.mean is not None]
    metric = axis.metric
    shaded = (min(people), max(people)) if people else None
    of_gold = next((row.of_gold for row in rows if row.of_gold), "")
    names = [row.name for row in rows if row.of_gold == of_gold]
    note = f"{'each of ' * (len(names) > 1)}{', '.join(names)} is {of_gold}" if of_gold else ""
    forest = Forest(f"axis/{metric.name}", metric.title, "share", points, shaded, not metric.higher_is_better, note)
    return forest, [rows[at] for at in order]


def beneath(forest: "Forest", shape: _Shape) -> list[list[Part]]:
    """The sources by a further figure: its name with an axis of its own, and a row each."""
    scale, name = shape.scale(forest), _named(forest.figure, lower=forest.lower)
    ticks, rows = Part(_ticks(scale), "dim"), _rows(forest, shape, scale, None)
    if width(name) > shape.name:
        return [[], [Part(f"  {name}", "strong")], [Part(" " * (shape.name + 4)), ticks], *rows]
    return [[], [Part(f"  {fit(name, shape.name)}  ", "strong"), ticks], *rows]


def _ticks(scale: Scale) -> str:
    return axis.headed(scale, axis.written(scale.ticks))


def _rows(forest: "Forest", shape: _Shape, scale: Scale, cursor: int | None) -> list[list[Part]]:
    """A line a source."""
    lines = []
    for at, (point, (label, told)) in enumerate(zip(forest.points, _names(forest), strict=True)):
        mean, spread = written(point.cell, forest.unit)
        here = at == cursor
        kind = "picked" if here else "dim" if point.kind == PUBLISHED else "plain"
        # What was measured on other texts has its name where the others have their axis.
        apart = point.kind == PUBLISHED
        room = shape.name + (2 + shape.axis if apart else 0)
        if width(f"{label} {told}".rstrip()) > room:
            label, told = shortened(f"{label} {told}".rstrip(), room), ""
        said = [Part(label, kind)] + ([Part(f" {told}", kind if here else "dim")] if told else [])
        lines.append(
            [
                Part("▸ " if here else "  ", "key"),
                *said,
                Part(" " * (room - taken(said)), kind),
                *([] if apart else [Part("  "), *axis.on_axis(_dot(point), scale)]),
                Part("  "),
                Part(mean.rjust(shape.figure), "strong" if point.kind == "run" else "plain"),
                *([Part(f" {fit(spread, shape.spread)}", "dim")] if shape.spread else []),
            ]
        )
    return lines


def _named(figure: str, *, lower: bool) -> str:
    """The name of a figure with a word to a letter, and a sign where less is better."""
    return f"{in_words(figure)} {_LESS}" if lower else in_words(figure)


def _chooser(figure: str, figures: Mapping[str, str], cells: int) -> list[Part]:
    """The figures of the table, the one that is drawn marked; where they do not fit it alone with its number.

    Args:
        figures: how each is named.
    """
    lead = [Part(keyed("{figure_back} {figure} "), "key")] if len(figures) > 1 else []
    less = {one: f"{shown(one)}{_LESS * name.endswith(_LESS)}" for one, name in figures.items()}
    for named in (figures, less, {one: shown(one) for one in figures}):
        told = [(one, name, f"tell('figure', {at})") for at, (one, name) in enumerate(named.items())]
        every = [opened(name, press) if one == figure else Part(f" {name} ", "dim", press) for one, name, press in told]
        if taken([*lead, *every]) <= cells:
            return [*lead, *every]
    of = keyed(f"   figure {list(figures).index(figure) + 1} of {len(figures)}, {{metric}} lists them")
    room = max(cells - 4 - 2 - len(of), 8)
    return [*lead, opened(fit(figures[figure], room).rstrip(), ""), Part(of, "dim", "do('metric')")]


def _limits(forest: "Forest") -> tuple[float | None, float | None]:
    """What no figure here can pass: a share is not below 0, where none is, nor above 1."""
    values = [
        point.cell.value
        for point in forest.points
        if point.kind != PUBLISHED and isinstance(point.cell.value, int | float)
    ]
    return (0.0 if min(values, default=0) >= 0 else None), (1.0 if max(values, default=1) <= 1 else None)


def shared_ending(forest: "Forest", kind: str) -> str:
    """What all names of a kind end with in brackets, ` (illustration)`: it stands once, in their heading."""
    ends = {
        f" ({point.label.rpartition(' (')[2]}" if point.label.endswith(")") and " (" in point.label else ""
        for point in forest.points
        if point.kind == kind
    }
    return ends.pop() if len(ends) == 1 and kind != PUBLISHED else ""


def _names(forest: "Forest") -> list[tuple[str, str]]:
    """Of each source its name and what else tells it from others; that only where those of its kind differ in it."""
    endings = {kind: shared_ending(forest, kind) for kind in HEADINGS}
    told = {kind: {point.told for point in forest.points if point.kind == kind} for kind in HEADINGS}
    return [
        (
            shown(point.label.removesuffix(endings[point.kind])) + (" †" if point.kind == PUBLISHED else ""),
            shown(point.told) if len(told[point.kind]) > 1 else "",
        )
        for point in forest.points
    ]


def _dot(point: "Point") -> Dot:
    cell = point.cell
    value = float(cell.value) if isinstance(cell.value, int | float) else None
    sign = axis.PERSON if point.person else _SIGNS[point.kind]
    return Dot(value, cell.low, cell.high, sign)
