"""The axis of alpha: a cell a step, two where there is room, half a one where there is little."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from emotui.screens.keymaps import keyed
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part, tabs, taken
from emotui.screens.widgets.number_format import RIGHT, WRONG
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.records import ScenesGold
    from emotui.workbench.scenes.decoding import Decoded, Redecoding, Row, SceneRun

T = TypeVar("T")

LABEL = 15
"""Cells of the names before it; the same in every chart over alpha, so that their columns stand under each other."""

TAIL = 12
"""Cells that are wanted behind it, for figures."""

_TICKS = (0.0, 0.25, 0.5, 1.0, 2.0, 5.0)
_LEVELS = "▁▂▃▄▅▆▇█"


def alpha_text(alpha: float) -> str:
    """An alpha as people write it: `0`, `.25`, `2`."""
    written = f"{alpha:.3g}"
    return written[1:] if written.startswith("0.") else written


def levels(shares: Sequence[float]) -> list[int]:
    """Eighths of a cell for shares in [0, 1]; 0 only for 0."""
    return [0 if share <= 0 else min(max(round(share * 8), 1), 8) for share in shares]


@dataclass(frozen=True, slots=True)
class Axis:
    """`label`: cells before it; `repeat`: cells a step; `together`: steps a cell."""

    alphas: tuple[float, ...]
    label: int
    repeat: int
    together: int

    @classmethod
    def of(cls, alphas: Sequence[float], cells: int, label: int = LABEL, tail: int = TAIL) -> "Axis":
        """The axis that fits into so many cells with its label and what stands behind it."""
        n, room = len(alphas), cells - label - tail
        repeat, together = (2, 1) if room >= 2 * n + 26 else (1, 1) if room >= n else (1, 2)
        return cls(tuple(alphas), label, repeat, together)

    @property
    def cells(self) -> int:
        """Cells of label and axis."""
        return self.label + -(-len(self.alphas) // self.together) * self.repeat

    def cell_of(self, step: int) -> int:
        """The cell (or pair of cells) in which a step stands."""
        return step // self.together

    def step_at(self, column: int) -> int | None:
        """The step at this column of a line; None beside the axis."""
        if not self.label <= column < self.cells:
            return None
        return min((column - self.label) // self.repeat * self.together, len(self.alphas) - 1)

    def shared(self, values: Iterable[T]) -> list[list[T]]:
        """What belongs to each step, by cell."""
        every = list(values)
        return [every[at : at + self.together] for at in range(0, len(every), self.together)]

    def curve(self, eighths: Sequence[int], step: int, kind: str) -> list[Part]:
        """One line of bars; of steps that share a cell the higher one is drawn."""
        parts = []
        for cell, sizes in enumerate(self.shared(eighths)):
            block = _LEVELS[max(sizes) - 1] if max(sizes) else " "
            parts.append(Part(block * self.repeat, f"{kind}-now" if self.cell_of(step) == cell else kind))
        return parts

    def track(self, step: int, chosen: int | None, name: str = "  α now") -> list[Part]:
        """Where alpha stands (▼), and where the one that cross-validation chose (◆). `name`: what stands before it."""
        marks = {} if chosen is None else {self.cell_of(chosen): "◆"}
        marks[self.cell_of(step)] = "▼"
        parts = [Part(fit(name, self.label), "dim")]
        for cell in range(len(self.shared(self.alphas))):
            mark = marks.get(cell)
            parts.append(Part((mark or "─") + "─" * (self.repeat - 1), "key" if mark else "rest"))
        return parts

    def ticks(self) -> str:
        """The line under it: alphas in figures, each beginning at its own cell."""
        cells = [" "] * (self.cells - self.label + 4)
        for tick in _TICKS:
            text = alpha_text(tick)
            at = self.cell_of(nearest_step(self.alphas, tick)) * self.repeat
            if not "".join(cells[max(at - 1, 0) : at + len(text)]).strip():
                cells[at : at + len(text)] = text
        return fit("  α", self.label) + "".join(cells).rstrip()


def nearest_step(alphas: Sequence[float], alpha: float) -> int:
    """The step next to an alpha."""
    return min(range(len(alphas)), key=lambda step: abs(alphas[step] - alpha))


# Headings of the Scenes place and what it tells the list, from values to parts and words.

Sides = tuple[list[Part], list[Part]]


def title(scene: "ScenesGold", run: Run | None, way: str, *, annotators: bool) -> Sides:
    """The scenario, its subject and perhaps its annotators' labels; the run and by which way it asked."""
    left = [Part(f" {scene.id}", "strong"), Part("  subject ", "dim"), Part(scene.subject or "not named")]
    if annotators:
        from emotui.workbench.scenes.service import annotator_labels

        for name, labels in annotator_labels(scene).items():
            left += [Part(f"  {name} ", "dim"), Part(labels, "gold")]
    if run is None:
        return left, []
    state = f" {run.state}" if run.state != "done" else ""
    asked = f" {way}" if way and way != "heads" else ""
    return left, [
        Part(run.model, "said", "do('run')"),
        Part(asked, "dim"),
        Part(f"{state} ", "dim" if run.state == "running" else "mark"),
    ]


_PRIORS = {
    "paper": "the paper's couplings, bias",
    "paper-couplings": "the paper's couplings alone",
    "exact": "fitted couplings, bias",
    "exact-couplings": "fitted couplings alone",
    "exact-smoothed": "fitted to smoothed data",
    "exact-dependence": "fitted, dependence alone",
}
"""What each prior is, in as few words as a heading has room for; the dialog says more."""

_WORDY = 100
"""Cells from which the settings are told in words."""


def settings(
    redecoding: "Redecoding",
    alpha: float,
    chosen: float | None,
    place: int | None,
    cells: int,
    name: str = "",
    so_far: str = "",
) -> Sides:
    """Alpha and whether cross-validation chose it, the prior, what is decoded for, and which fold the scenario is in.

    Args:
        name: of the scenario, where it has no line of its own.
        so_far: how many scenarios the run has answered, while it goes on: alpha is chosen among these, and changes.
    """
    from emotui.workbench.scenes.decoding import ABOUT_OBJECTIVES

    tuning = redecoding.tuning
    words = cells >= _WORDY
    usual = type(tuning)()
    told = words or (tuning.smoothing == usual.smoothing and tuning.scaling == usual.scaling)
    prior = f"  prior: {_PRIORS[tuning.prior] if told else tuning.prior}"
    # In few cells only what is not as usual is told.
    if words or tuning.smoothing != usual.smoothing:
        prior += f"{', smoothing' if words else ' s'} {alpha_text(tuning.smoothing)}"
    if tuning.scaling != usual.scaling:
        prior += f"{', temperature' if words else ' T'} {redecoding.temperature:.2f}"
    left = [Part(f" {name} " if name else "", "strong"), Part(f" α {alpha_text(alpha):<4}", "strong", "do('alpha')")]
    if chosen is not None:
        at = "" if chosen == alpha else f" {alpha_text(chosen)}"
        left.append(Part(f"◆{at} by cross-validation" if cells >= 70 else f"◆{at} CV", "key", "do('chosen')"))
    if so_far:
        left.append(Part(f" {so_far}", "mark"))
    left.append(Part(prior, "plain", "do('prior')"))
    if words or tuning.objective != usual.objective:
        left.append(Part(f"  {ABOUT_OBJECTIVES[tuning.objective]}", "plain", "do('objective')"))
    if place is None:
        return left, []
    fold = f"fold {redecoding.fold(place) + 1}/{len(redecoding.priors)}"
    room = cells - sum(len(part.text) for part in left) - 1
    fitting = (said for said in (f"{fold}, fitted without it ", f"{fold} ") if len(said) < room)
    return left, [Part(said, "dim") for said in fitting][:1]


def heading(
    about: str, views: Mapping[str, Iterable[str]], here: str, part: str, decoded: "Decoded", cells: int
) -> Sides:
    """What a view is about, its parts, and as far as there is room how many scenarios flip; at the right the views."""
    flips = decoded.flips
    better, worse, even = len(flips.gains), len(flips.losses), len(flips.even)
    same = len(decoded.now) - better - worse - even
    named = f" {better}▴ better, {worse}▾ worse, {even}~ even, {same}{SAME} same"
    signs = f" {better}▴ {worse}▾ {even}~ {same}{SAME}"
    told, names, margin = Part(f" {about} ", "strong"), list(views[here]), Part(" ")
    right = tabs(keyed("{view}"), list(views), here, cells)
    room = cells - taken(right) - 1
    parts = tabs(keyed("{part}"), names, part, room - taken([told]), "part") if len(names) > 1 else []
    left = [told, *parts] if taken([told, *parts]) <= room or not parts else [margin, *parts]
    versus = f" flips vs α {alpha_text(decoded.other)} "
    # Without room for what the view is about, that stands in its parts' or the views' names.
    short = [margin, *parts]
    ways = [(one, said) for one in (left, short) for said in (versus + named, named)]
    ways += [(one, signs) for one in (left, short)]
    for before, said in ways:
        if taken(before) + width(said) + _APART <= room:
            return [*before, Part(said, "dim", "do('alpha')")], right
    return left, right


SAME = "·"
"""The sign of a scenario of which as many emotions are right as before."""

_APART = 2
"""Blanks at least between what is told of flips and the names of views: a word right before their key reads on."""

_SIGNS = (WRONG, RIGHT)

LEGEND = f"  {WRONG} wrong ▴ better ▾ worse ~ even {SAME} same"
"""What the signs in the list mean."""


def tags(scenes: "SceneRun", decoded: "Decoded") -> dict[int, str]:
    """What the list says beside each scenario: its vector right or wrong at the other alpha, how it flips, and now."""
    sign: dict[int, str] = {}
    for mark, places in (("▴", decoded.flips.gains), ("▾", decoded.flips.losses), ("~", decoded.flips.even)):
        sign |= dict.fromkeys(places, mark)
    was, now = ((vectors == scenes.gold).all(axis=1).tolist() for vectors in (decoded.before, decoded.now))
    return {
        number: f"{_SIGNS[was[place]]} {sign.get(place, SAME)} {_SIGNS[now[place]]}"
        for place, number in enumerate(scenes.numbers)
    }


def as_text(scene: "ScenesGold", rows: "Sequence[Row]", alpha: float) -> str:
    """The scenario and its emotions, as they are copied."""
    lines = [f"{scene.id}  {scene.subject or ''}".rstrip(), scene.text or "", f"alpha {alpha:g}"]
    lines += [
        f"{row.label}\tlog-odds {row.own:.3f}\tP(yes) {row.posterior:.3f}"
        f"\tmodel {row.before}\tnow {row.now}\tgold {row.gold}"
        for row in rows
    ]
    return "\n".join(lines)
