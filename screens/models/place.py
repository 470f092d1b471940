"""Models: which are at hand, which are loaded, in how much memory, how fast, and what went wrong with them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from emotui.screens.keymaps import keyed
from emotui.screens.models.entry import ENTRY
from emotui.screens.place import NO_WORKSPACE, Place
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.models.benchmark import Rate
    from emotui.workbench.models.loaded import LoadedModels, OnShelf
    from emotui.workbench.progress import OnProgress, RunProgress
    from emotui.workbench.source import BrowseSource

# The models at hand, a line each: how it stands, the memory it holds, its speed, and what it can do.

_SIGNS = {"loaded": "●", "loading": "◐", "measuring": "◐", "ended": "○", "failed": "!", "": " "}
ABILITIES = {
    "generate": "write",
    "score": "score",
    "rank": "ranks",
    "classify": "label",
    "embed": "embed",
    "fill_mask": "masks",
    "extract": "spans",
    "attribute": "words",
    "regress": "value",
}
"""What models can do, in five letters each; where these have no room the columns are told by the first two."""

CAN, CANNOT, UNKNOWN = "●", "·", "?"
HELD, FILES = "■", "□"

_MEMORY, SPEED, _ROWS_STATE = 9, 18, 10
_SHORTEST, _LONGEST = 14, 60
_MOST_BAR = 24
_WORDS, _LETTERS = 5, 2
_WAYS = (
    (_WORDS, True, True, 8),
    (_LETTERS, True, True, 6),
    (_LETTERS, True, False, 6),
    (_WORDS, False, True, 8),
    (_LETTERS, False, True, 6),
    (_LETTERS, False, False, 6),
    (_LETTERS, False, False, 4),
    (_LETTERS, False, False, 0),
    (0, False, False, 0),
)
"""Cells of a column of what models can do, whether speed and state in words are there, and the least cells of a bar;
the best one first."""


def _between(can: int) -> int:
    """Cells before each column of what models can do."""
    return 2 if can == _WORDS else 1 if can else 0


@dataclass(frozen=True, slots=True)
class _Shape:
    """The cells of a SPEC, of a bar of memory or speed, and of a column of what models can do; that is 0 for none."""

    spec: int
    bar: int
    speed: bool
    state: bool
    can: int

    @classmethod
    def of(cls, rows: "Sequence[OnShelf]", cells: int) -> "_Shape":
        """Speed stands there once it was measured. Where there is no room, first the names of what models can do are
        cut to two letters, then the state is a sign, then there is no speed, no bar, and not what they can do.
        """
        longest = min(max((width(row.spec) for row in rows), default=0), _LONGEST)
        longest = max(longest, len("model"))
        measured = any(row.rates for row in rows)
        for can, speed, state, least in _WAYS:
            if speed and not measured:
                continue
            abilities = 2 + (can + _between(can)) * len(ABILITIES) if can else 0
            fixed = 4 + 2 + _MEMORY + abilities + (2 + SPEED if speed else 0) + (2 + _ROWS_STATE if state else 0)
            bars = 2 if speed else 1
            room = cells - fixed - bars * (least + 1 if least else 0)
            if room >= min(longest, _SHORTEST + (4 if least else 0)) or not can:
                spec = min(longest, max(room, _SHORTEST))
                bar = min(least + (room - spec) // bars, _MOST_BAR) if least else 0
                return cls(spec, bar, speed, state, can)
        raise AssertionError


def heading(rows: "Sequence[OnShelf]", machine: int | None, cells: int) -> tuple[list[Part], list[Part]]:
    """How many there are, and the memory that the loaded ones hold of the machine's, as a bar where there is room;
    on the right what the bars of the list are.
    """
    loaded = [row for row in rows if row.state == "loaded"]
    held = sum(row.memory or 0 for row in loaded)
    left = [Part(" models", "strong"), Part(f"   {len(rows)} at hand, {len(loaded)} loaded", "dim")]
    right = [Part(HELD, "said"), Part(f" held  {FILES} size of its files ", "dim")]
    room = cells - sum(len(part.text) for part in (*left, *right))
    said = f" {bytes_said(held)}" + (f" of {bytes_said(machine)}" if machine else "") + " held"
    if held and room > len(said) + 2:
        left.append(Part("  "))
        if machine and room > len(said) + _MOST_BAR + 5:
            full = min(max(round(held / machine * _MOST_BAR), 1), _MOST_BAR)
            left += [Part(" "), Part(HELD * full, "said"), Part("·" * (_MOST_BAR - full), "rest")]
        left.append(Part(said, "dim"))
    return left, right


def lines(rows: "Sequence[OnShelf]", cursor: int, cells: int) -> Lines:
    """The heading, a line a model in so many cells, and what headings of two letters mean."""
    shape = _Shape.of(rows, cells)
    head = f"    {'model':{shape.spec}}  {'memory':>{_MEMORY}}" + (" " * (shape.bar + 1) if shape.bar else "")
    if shape.speed:
        head += f"  {'speed':>{SPEED}}" + " " * (shape.bar + 1)
    if shape.can:
        head += "  " + "".join(" " * _between(shape.can) + name[: shape.can] for name in ABILITIES.values())
    if shape.state:
        head += "  state"
    meant = "  ".join(f"{name[:2]}\xa0{name}" for name in ABILITIES.values()) if shape.can == _LETTERS else ""
    return [
        [Part(head, "dim")],
        *(_line(row, rows, shape, here=number == cursor) for number, row in enumerate(rows)),
        *(
            [Part(f"    {meant[a:b].rstrip().replace(chr(0xA0), ' ')}", "dim")]
            for a, b in wrap(meant, cells - 4)
            if meant
        ),
    ]


def _line(row: "OnShelf", rows: "Sequence[OnShelf]", shape: _Shape, *, here: bool) -> list[Part]:
    kind = state_kind(row)
    held = row.memory if row.memory is not None else _size(row)
    most = max((row.memory or _size(row) or 0 for row in rows), default=0)
    parts = [
        Part("▸ " if here else "  ", "picked" if here else "plain"),
        Part(f"{'!' if _broken(row) else _SIGNS[row.state]} ", kind),
        Part(fit(end_of(row.spec, shape.spec), shape.spec), "picked" if here else "plain"),
        Part(f"  {bytes_said(held):>{_MEMORY}}", "plain" if row.memory is not None else "dim"),
    ]
    if shape.bar:
        parts += bar(held, most, shape.bar, HELD if row.memory is not None else FILES)
    if shape.speed:
        rate = _main_rate(row)
        same = [one.per_second for other in rows if (one := _main_rate(other)) and rate and one.unit == rate.unit]
        parts.append(Part(f"  {rate_said(rate) if rate else '':>{SPEED}}"))
        parts += bar(rate.per_second if rate else None, max(same, default=0.0), shape.bar, HELD)
    if shape.can:
        parts.append(Part("  "))
        for name in ABILITIES:
            sign, kind_of = ability(row, name)
            parts.append(Part(" " * _between(shape.can) + f"{sign:^{shape.can}}", kind_of))
    return [*parts, Part(f"  {state_said(row)}", kind)] if shape.state else parts


def ability(row: "OnShelf", name: str) -> tuple[str, str]:
    """Whether it can do this, as a sign with its kind: it can, it cannot, or nobody knows before it is loaded."""
    able = able_to(row)
    if name in able:
        return CAN, "said"
    return (CANNOT, "rest") if able else (UNKNOWN, "dim")


def state_said(row: "OnShelf") -> str:
    """How it stands, in a word."""
    return "broken" if _broken(row) else row.state or "not loaded"


def state_kind(row: "OnShelf") -> str:
    """The kind of part that suits how it stands."""
    if _broken(row) or row.state == "failed":
        return "mark"
    return "said" if row.state == "loaded" else "plain"


def _broken(row: "OnShelf") -> bool:
    return row.model is not None and row.model.problem is not None


def bar(value: float | None, most: float, cells: int, sign: str) -> list[Part]:
    """A bar behind a blank, full at the most; what is not known or nothing draws nothing."""
    full = round(value / most * cells) if value and most else 0
    full = max(full, 1) if value else 0
    return [Part(" "), Part(sign * full, "said" if sign == HELD else "dim"), Part(" " * (cells - full))]


def _size(row: "OnShelf") -> int | None:
    return row.model.size if row.model is not None else None


def _main_rate(row: "OnShelf") -> "Rate | None":
    """Of what was measured that by which models are compared: writing, or else the first."""
    return row.rates.get("tokens out") or next(iter(row.rates.values()), None)


def rate_said(rate: "Rate", word: str = "") -> str:
    """Units a second: `51 tokens/s`, `3.2 texts/s`; with a word behind the unit, as in `51 tokens out/s`."""
    many = count(round(rate.per_second)) if rate.per_second >= 10 else f"{rate.per_second:.1f}"
    return f"{many} {rate.unit}{word}/s"


def able_to(row: "OnShelf") -> Sequence[str]:
    """What it can do, as far as that is known."""
    return row.card.capabilities if row.card is not None else row.model.capabilities if row.model is not None else ()


def end_of(spec: str, cells: int) -> str:
    """A SPEC whose end is what tells it from others: a long one is cut in its middle."""
    if width(spec) <= cells:
        return spec
    kind = spec.partition(":")[0][: cells - 2]
    return fit(f"{kind}:…{spec[-(cells - len(kind) - 2) :]}", cells)


def bytes_said(size: int | None) -> str:
    """Bytes in a few cells: `96 MB`, `1.2 GB`; a dash where they are not known."""
    if size is None:
        return UNDEFINED
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


# All about one model: what it is, what it can do and what that is for with its speed as bars, and its last errors.

_USES = {
    "generate": "every task by its prompt, versions in Generate",
    "score": "Scenes, labels by yes or no",
    "rank": "which label is likelier to follow, perplexity",
    "classify": "labels, Rephrase as you type",
    "embed": "similarity of spans and texts, nearest examples",
    "fill_mask": "which word stands behind a mask, in Masked",
    "extract": "evidence in Browse",
    "attribute": "which words a label rests on",
    "regress": "values such as valence",
}
"""By what models can do: what of emotui it is for."""

_NAME, _USE = 9, 50
_REMARK = 13
_BAR = 20
_STATE = 14
_WIDEST = 110
MORE = (
    ("{name_model}", "takes any model by its SPEC: hf:NAME_OR_DIR, gguf:FILE, openai:MODEL@URL"),
    ("", "emotui models --folder DIR --keep looks for models in a folder from now on"),
)
"""How other models come to be at hand: a key and what it does."""


def about(row: "OnShelf", cells: int) -> Lines:
    """Everything about one model in lines of so many cells."""
    cells = min(cells, _WIDEST)
    lines: list[list[Part]] = _said("", row.spec, cells) if width(row.spec) > cells - _STATE else []
    lines += _said("", " · ".join(_facts(row)), cells)
    lines.append([])
    lines += _abilities(row, cells)
    for note in row.card.notes if row.card is not None else ():
        lines += _said("note", note, cells)
    if row.model is not None and row.model.problem is not None:
        lines += _said("broken", row.model.problem, cells, "mark")
    for number, error in enumerate(row.errors):
        lines += _said("last errors" if not number else "", error, cells, "mark")
    lines.append([])
    for key, words in MORE:
        lines += [
            [
                Part(keyed(key) if not number else "", "key"),
                Part(f"{'' if number or not key else ' '}{words[a:b]}", "dim"),
            ]
            for number, (a, b) in enumerate(wrap(words, max(cells - 2, 20)))
        ]
    return lines


def title_of(row: "OnShelf", cells: int) -> tuple[list[Part], list[Part]]:
    """Its SPEC, and how it stands."""
    return [Part(f" {end_of(row.spec, max(cells - _STATE, 20))}", "strong")], [
        Part(f"{state_said(row)} ", state_kind(row))
    ]


def _said(name: str, text: str, cells: int, kind: str = "plain") -> list[list[Part]]:
    """A remark on as many lines as it takes, under its name where it has one."""
    label = _REMARK if name or kind == "mark" else 0
    return [
        [Part(f"{name if not number else '':<{label}}", "dim"), Part(shown(text, start, end), kind)]
        for number, (start, end) in enumerate(wrap(text, max(cells - label, 20)))
    ]


def _facts(row: "OnShelf") -> list[str]:
    """What it is, in a few words each; what is not known is left out."""
    model, card = row.model, row.card
    facts = [card.name if card is not None else model.name if model is not None else ""]
    if model is not None and model.size is not None:
        facts.append(f"{bytes_said(model.size)} of files" + (f", {model.quantisation}" if model.quantisation else ""))
    if row.memory is not None:
        facts.append(f"{bytes_said(row.memory)} of memory at most since it was loaded")
    if row.load_seconds is not None:
        facts.append(f"loaded in {row.load_seconds:.1f} s")
    if model is not None and model.context is not None:
        facts.append(f"context {count(model.context)} tokens")
    return [fact for fact in facts if fact]


def _abilities(row: "OnShelf", cells: int) -> list[list[Part]]:
    """A line each thing that it can do, with what that is for and its speed; what it cannot in one line."""
    able = able_to(row)
    if not able:
        return _said("can", "told when it is loaded", cells)
    figures = SPEED + 2 + 9 if row.rates else 0
    use = min(max(cells - _NAME - figures, 0), _USE)
    room = min(max(cells - _NAME - use - SPEED - 2, 0), _BAR)
    rates = _by_ability(row)
    lines = []
    if row.rates:
        lines.append([Part(" " * (_NAME + use) + f"{'speed':>{SPEED}}", "dim")])
    for name in (one for one in _USES if one in able):
        word, used = ABILITIES[name], _USES[name]
        what = wrap(used, max(use - 1, 12)) if use >= 20 else []
        mine = rates.get(name, [])
        for number in range(max(len(what), len(mine), 1)):
            text = used[slice(*what[number])].rstrip() if number < len(what) else ""
            line = [Part(f"{CAN} " if not number else "  ", "said"), Part(f"{word if not number else '':<{_NAME - 2}}")]
            line += [Part(text, "dim"), Part(" " * (use - width(text)))]
            if number < len(mine):
                line += _speed(mine[number][0], mine[number][1], row, room)
            lines.append(line)
    cannot = [word for name, word in ABILITIES.items() if name not in able]
    if cannot:
        lines += [
            [Part(f"{CANNOT} ", "dim"), Part(f"cannot {', '.join(cannot)}"[a:b], "dim")]
            for a, b in wrap(f"cannot {', '.join(cannot)}", max(cells - 2, 20))
        ]
    if not row.rates:
        lines.append([Part(keyed("{measure}"), "key", "do('measure')"), Part(" measures how fast it is", "dim")])
    return lines


def _by_ability(row: "OnShelf") -> "Mapping[str, list[tuple[str, Rate]]]":
    """What was measured, by what it measures, with a word where there is more than one."""
    found: dict[str, list[tuple[str, Rate]]] = {}
    for trial, rate in row.rates.items():
        tokens = trial.startswith("tokens ")
        name = "generate" if tokens else trial.replace(" ", "_")
        found.setdefault(name, []).append((f" {trial.removeprefix('tokens ')}" if tokens else "", rate))
    return found


def _speed(word: str, rate: "Rate", row: "OnShelf", room: int) -> list[Part]:
    """Units a second, and a bar on one scale for all of the same unit."""
    most = max(one.per_second for one in row.rates.values() if one.unit == rate.unit)
    said = Part(f"{rate_said(rate, word):>{SPEED}}")
    return [said, *(bar(rate.per_second, most, room, "■") if room >= 4 else [])]


_MOVES = ("next", "previous", "first", "last")


class Models(Place):
    """The models above, everything about the picked one below."""

    entry = ENTRY
    marks_errors = False
    alone = True
    headings = {"model-rows": "#models-title", "model-about": "#model-title"}
    DEFAULT_CSS = """
    Models #model-rows { height: auto; min-height: 4; max-height: 60%; }
    Models #model-about { height: 1fr; min-height: 5; }
    """

    class Turned(Message):
        """Loading or measuring a model has begun, is over, was stopped or has failed."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._shelf: Callable[[], LoadedModels] | None = None
        self._desk: LatestRequest[str | None, tuple[list[OnShelf], int | None]] | None = None
        self._machine: int | None = None
        self._failed = False

    def compose(self) -> ComposeResult:
        yield Line(id="models-title", classes="-pane")
        yield PickedRows(lines, id="model-rows")
        yield Line(id="model-title", classes="-pane")
        yield Page(id="model-about")
        yield Notice("Line, ScrollView", id="models-notice")

    def on_mount(self) -> None:
        self.show_nothing("the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        models = source.models
        if models is None:
            self.say("Models are loaded in a workspace", keyed(NO_WORKSPACE))
            return
        self._shelf = models.shelf

        def ask(unload: str | None) -> "tuple[list[OnShelf], int | None]":
            from emotui.workbench.models.benchmark import machine_memory

            shelf = models.shelf()
            if unload is not None:
                shelf.unload(unload)
            return shelf.rows(), machine_memory()

        self._desk = LatestRequest("models", self, ask, self._show, self._refuse)
        self.say("Models", "looking for what is at hand")
        self._desk.ask(None)

    @property
    def rows(self) -> "PickedRows[OnShelf]":
        return self.query_one("#model-rows", PickedRows)

    @property
    def busy(self) -> bool:
        return self._desk is not None and self._desk.busy

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Models do not depend on the sample; but how they stand may have changed."""
        if self._desk is not None and self.display:
            self._desk.ask(None)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if self._desk is None:
            self.say("Models at hand, and those that are loaded", why, failed=failed)

    def focus_first(self) -> None:
        self.rows.focus()

    def _refuse(self, _: str | None, why: str) -> None:
        self._failed = True
        self.say("The models cannot be listed", why, keyed("{load} looks again"), failed=True)

    def _show(self, _: str | None, found: "tuple[list[OnShelf], int | None]") -> None:
        rows, self._machine = found
        self._failed = False
        self.query_one(Notice).hide()
        self.rows.show_rows(rows, lambda row: row.spec)
        if self.display and self.screen.focused is None:
            self.focus_first()
        self._draw()

    @on(PickedRows.Picked)
    def _picked(self, event: PickedRows.Picked) -> None:
        event.stop()
        self._draw()

    @on(Turned)
    def _turned(self, event: Turned) -> None:
        event.stop()
        if self._desk is not None:
            self._desk.ask(None)

    def _draw(self) -> None:
        rows = self.rows
        title = self.query_one("#models-title", Line)
        title.show(*heading(rows.rows, self._machine, max(title.size.width, 20)))
        picked = rows.picked
        if picked is not None:
            self.query_one("#model-title", Line).show(*title_of(picked, title.size.width))
            self.query_one("#model-about", Page).show_for(lambda room: about(picked, room.width))
        self.refresh_bindings()

    def on_resize(self) -> None:
        if self.rows.rows:
            self._draw()

    # Keys.

    def can(self, action: str) -> bool:
        """One thing at a time: nothing is loaded or ended while a model is at work."""
        if not super().can(action) or self._desk is None:
            return False
        if self._failed:
            return action == "load"
        picked = self.rows.picked
        if picked is None or action in _MOVES:
            return picked is not None
        return self.session.job is None and (action != "end" or picked.state == "loaded")

    def do_next(self) -> None:
        self.rows.action_pick(1)

    def do_previous(self) -> None:
        self.rows.action_pick(-1)

    def do_first(self) -> None:
        self.rows.pick(0)

    def do_last(self) -> None:
        self.rows.pick(len(self.rows.rows) - 1)

    def do_load(self) -> None:
        """Load the model; one that is loaded is asked from now on, in Spot check. Look again where none is listed."""
        if self._failed:
            if self._desk is not None:
                self._desk.ask(None)
            return
        picked = self.rows.picked
        if picked is None:
            return
        if picked.state == "loaded":
            self.session.use_model(picked.spec)
            self.post_message(Place.Turned("Spot check", "", ""))
        else:
            self._load(picked.spec)

    def do_end(self) -> None:
        picked = self.rows.picked
        if picked is not None and self._desk is not None:
            self._desk.ask(picked.spec)

    def do_measure(self) -> None:
        picked = self.rows.picked
        if picked is not None:
            self._begin(f"measuring {picked.spec}", lambda shelf, tell: shelf.measure(picked.spec, tell))

    def _load(self, spec: str) -> None:
        self._begin(f"loading {spec}", lambda shelf, tell: shelf.load(spec, tell))

    def _begin(self, what: str, do: "Callable[[LoadedModels, OnProgress], object]") -> None:
        """Long work stands in the top line, where it can be stopped."""
        shelf_of = self._shelf
        if shelf_of is None:
            return

        def work(on_progress: "OnProgress") -> None:
            from emotui.errors import ModelError

            begun = False

            def tell(progress: "RunProgress") -> None:
                nonlocal begun
                if not begun:
                    begun = True
                    self.post_message(self.Turned())
                on_progress(progress)

            try:
                do(shelf_of(), tell)
            except ModelError:
                # Whoever still looks at this place reads it below, in the model's own words.
                if not self.display:
                    raise
            finally:
                self.post_message(self.Turned())

        self.session.begin(what, work, lambda: shelf_of().stop())
