"""Masked: the words behind masks by gold, runs and oneself; their vectors; what the prompt showed."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.screens.keymaps import keyed
from emotui.screens.masked import text as masked_text
from emotui.screens.masked.entry import ENTRY
from emotui.screens.masked.review_mode import WHILE_REVIEWING, ReviewMode, doubt_lines
from emotui.screens.masked.review_place import GuessPlace, Looked, look
from emotui.screens.masked.study_mode import ALLOWED, Row, StudyMode
from emotui.screens.masked.study_mode import lines as choice_lines
from emotui.screens.masked.text import FILLS, GOLD, HIDDEN, RUN, GuessLine, text_lines
from emotui.screens.place import EMPTY_LIST, OTHERS, WHILE_TYPING
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import fit, width, wrap
from emotui.screens.widgets.line import Line, Part, bar, tabs
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import UNDEFINED, share
from emotui.screens.widgets.page import Page, side_by_side
from emotui.screens.widgets.row_list import PickedRows
from emotui.store.query import Run
from emotui.tables import short_names

if TYPE_CHECKING:
    from textual.geometry import Size

    from emotui.screens.widgets.page import Lines
    from emotui.workbench.masked.looking import MaskedView, MaskSaid, WordEntry
    from emotui.workbench.masked.review import Doubt
    from emotui.workbench.source import BrowseSource

# Under the text: ten dimensions of two words as bars, the words' entries, the likeliest words, the examples shown.

_STANDINGS = {
    "known": "in EmoLex",
    "zero": "in EmoLex, all zeros",
    "supplement": "not in EmoLex: emotui's word °",
    "unknown": "unknown: it has no vector",
}
_NAME, _WORD = 12, 14

_SURE = 12
"""Cells of a likeliest word's bar, which is full at probability 1."""
_LEAST = 32
"""Cells that the entries beside the bars need."""


def told(standing: str) -> str:
    """How a word stands to the lexicon, in words."""
    return _STANDINGS[standing]


def vector_lines(view: "MaskedView", mask: int, guessed: "WordEntry | None", cells: int) -> list[list[Part]]:
    """The ten dimensions beside the words' entries; under each other where there is no room."""
    gold, said = view.gold[mask], view.said[mask] if mask < len(view.said) else None
    bars = _NAME + 1 + (_bar(guessed) + 1) * (3 if guessed is not None else 2) + 6
    beside = cells - bars - 2 >= _LEAST
    room = cells - bars - 2 if beside else cells
    blocks = [_dimensions(gold, said, guessed), _words(view, gold, said, guessed, room)]
    if not beside:
        return [*blocks[0], *blocks[1]]
    return [list(line) for line in side_by_side(blocks, [bars, room - 2], cells)]


def _bar(guessed: "WordEntry | None") -> int:
    """Cells of a bar: fewer where there are three of them side by side."""
    return 8 if guessed is None else 6


def _dimensions(gold: "WordEntry", said: "MaskSaid | None", guessed: "WordEntry | None") -> list[list[Part]]:
    from emotui.metrics.masked import DIMENSIONS

    entry, cells = None if said is None else said.entry, _bar(guessed)
    columns = [("gold", gold, "gold"), ("run", entry, "said")]
    if guessed is not None:
        columns.append(("you", guessed, "mark"))
    lines: list[list[Part]] = [
        [Part(" " * _NAME + " ", "dim"), *(Part(f"{name:{cells + 1}}", "dim") for name, _, _ in columns)]
    ]
    for place, name in enumerate(DIMENSIONS):
        line = [Part(f"{name:{_NAME}} ", "plain")]
        for _, one, kind in columns:
            on = None if one is None or one.vector is None else one.vector[place]
            sign = "" if one is None else UNDEFINED if on is None else ("■" if on else "·") * cells
            line += [Part(f"{sign:{cells}}", kind if on else "rest"), Part(" ")]
        how = _difference(gold, entry, place)
        lines.append([*line, Part(how, "dim" if how == "both" else "mark")])
    unknown = any(one is not None and one.vector is None for _, one, _ in columns)
    return [*lines, [Part("■ carries it  · does not" + (f"  {UNDEFINED} no entry" if unknown else ""), "dim")]]


def _difference(gold: "WordEntry", said: "WordEntry | None", place: int) -> str:
    if gold.vector is None or said is None or said.vector is None:
        return ""
    pair = gold.vector[place], said.vector[place]
    return {(1, 0): "missed", (0, 1): "extra", (1, 1): "both"}.get(pair, "")


def _words(
    view: "MaskedView", gold: "WordEntry", said: "MaskSaid | None", guessed: "WordEntry | None", cells: int
) -> list[list[Part]]:
    rows: list[tuple[str, WordEntry]] = [("gold", gold)]
    if said is not None and said.entry is not None:
        rows.append(("run", said.entry))
    if guessed is not None:
        rows.append(("you", guessed))
    lines: list[list[Part]] = []
    for name, one in rows:
        kind = {"gold": "gold", "run": "said"}.get(name, "mark")
        lines.append([Part(f"{name:5}", "dim"), Part(fit(one.word, cells - 5).rstrip(), kind)])
        lines.append([Part("     "), Part(told(one.standing), "dim")])
    if said is None:
        return [*lines, [Part(view.why, "mark")]]
    if said.entry is None:
        lines.append([Part("run  ", "dim"), Part("no word for this mask", "mark")])
    if not said.likeliest:
        return [*lines, [Part("likeliest: none, as it writes", "dim")]]
    lines.append([Part("likeliest" + ("" if said.gold_rank else ", gold not among them"), "dim")])
    for rank, (word, p) in enumerate(said.likeliest, start=1):
        right = Part(" gold", "gold") if rank == said.gold_rank else Part("")
        drawn = bar(p, 1.0, _SURE)
        lines.append([Part(f"{rank} {fit(word, _WORD)} {share(p)} "), drawn[0], right])
    return lines


def likeliest_lines(gold: "WordEntry", said: "MaskSaid", cells: int) -> list[list[Part]]:
    """Which emotions gold and each of the likeliest words carry, a row a word; nothing where a model gives none."""
    if not said.entries:
        return []
    from emotui.metrics.masked import DIMENSIONS

    word = min(max(width(one.word) for one in (gold, *said.entries)), _WORD)
    heads = list(DIMENSIONS)
    if sum(map(len, heads)) + 2 * len(heads) > cells - word - 5:
        heads = list(short_names(heads))
    lines = [[Part(" " * (word + 5)), *(Part(f"  {head}", "dim") for head in heads)]]
    for rank, one in enumerate((gold, *said.entries)):
        kind = "plain" if rank else "gold"
        line = [Part(f"{rank or 'gold':<4} ", "dim"), Part(fit(one.word, word), kind)]
        for place, head in enumerate(heads):
            sign = UNDEFINED if one.vector is None else "■" if one.vector[place] else "·"
            line.append(Part(f"  {sign:{len(head)}}", (kind if rank == 0 else "said") if sign == "■" else "rest"))
        lines.append(line)
    return lines


_MOST = 3
"""Lines of an example's text."""


def example_lines(view: "MaskedView", cells: int) -> list[list[Part]]:
    """The examples that the prompt showed, the nearest first, with their distances."""
    if not view.examples:
        return [[Part(view.unshown or view.why, "dim")]]
    near = view.examples[0].distance is not None
    how = "the nearest first, by Euclidean distance of unit vectors, at most 2" if near else "drawn"
    n = len(view.examples)
    told = f"{n} examples were shown, {how}" if n > 1 else f"one example was shown, {how}"
    lines = [[Part(told[start:end].rstrip(), "dim")] for start, end in wrap(told, max(cells, 20))]
    for one in view.examples:
        distance = "  –  " if one.distance is None else f"{one.distance:.3f}"
        head = [Part(f"{distance} ", "strong"), Part(f"{one.id}  "), Part(", ".join(one.labels), "gold")]
        lines.append(head)
        lines += [[Part("      " + line, "dim")] for line in _short(one.text, cells - 6)]
    return lines


def _short(text: str, cells: int) -> list[str]:
    flat, room = " ".join(text.split()), max(cells, 20)
    places = wrap(flat, room)
    lines = [flat[start:end].rstrip() for start, end in places[:_MOST]]
    if len(places) > _MOST:
        lines[-1] = fit(flat[places[_MOST - 1][0] :], room).rstrip()
    return lines


def mask_heading(view: "MaskedView", mask: int, guesses: Sequence[str]) -> list[Part]:
    """The line over the bars: which mask, its words, and how far their vectors are the same."""
    parts = [Part(f" mask {mask + 1} of {len(view.gold)} ", "strong"), Part(" gold "), _gold(view.gold[mask].word)]
    if mask < len(view.said):
        said = view.said[mask]
        word = "no word" if said.entry is None else said.entry.word
        parts += [Part("  run "), Part(fit(word, 20).rstrip(), "ground")]
        lacks = "" if said.entry is None else masked_text.without_vector(view.gold[mask], said.entry)
        counts = bool(lacks) and not said.same_vector
        parts.append(Part(f"  F1 of vectors {UNDEFINED if counts else share(said.f1).strip()}"))
        if counts:
            parts.append(Part(f", {lacks}: 0", "mark"))
        elif said.entry is not None:
            same = said.same_vector
            parts.append(Part("  same vector" if same else "  ≠ they differ", "dim" if same else "mark"))
    if mask < len(guesses):
        parts += [Part("  you "), Part(fit(guesses[mask], 16).rstrip(), "mark")]
    return parts


def _gold(word: str) -> Part:
    return Part(fit(word, 20).rstrip(), "gold-line")


_ABOUT = (
    " {fill} shows the gap, gold's word or the run's; the table: which of ten emotions EmoLex ties to each word; "
    "M in the list: none in both",
    " {fill} gap, gold's word, the run's; table: emotions in EmoLex; M: none shared",
    " {fill} gap, gold's word, the run's; the table: a word's emotions in EmoLex",
    " {fill} gap, gold's word, the run's",
)
"""What the switch is for, and what one looks at, in fewer and fewer cells."""

_TALL = 34
"""Rows from which the examples stand under the bars."""


class Masked(GuessPlace):
    """The text above; under it the chosen mask's words as ten bars, or the examples that the prompt showed."""

    entry = ENTRY
    modes = (StudyMode, ReviewMode)
    headings = {
        "masked-text": "#masked-title",
        "masked-guess": "#masked-title",
        "masked-detail": "#masked-mask",
        "masked-choices": "#masked-title",
        "masked-doubts": "#masked-mask",
    }
    marks_errors = False
    DEFAULT_CSS = """
    Masked #masked-text { height: auto; min-height: 3; max-height: 50%; }
    Masked.-study #masked-text, Masked.-review #masked-text, Masked.-results #masked-text {
        height: 1fr;
        max-height: 100%;
    }
    Masked #masked-detail { height: 1fr; min-height: 13; }
    Masked #masked-choices { height: 11; display: none; }
    Masked.-tall #masked-choices { height: 17; }
    Masked.-study #masked-choices { display: block; }
    Masked #masked-doubts { height: 11; display: none; }
    Masked.-tall #masked-doubts { height: 20; }
    Masked.-review #masked-doubts { display: block; }
    Masked.-review #masked-detail { display: none; }
    Masked.-study #masked-about, Masked.-review #masked-about, Masked.-results #masked-about { display: none; }
    Masked.-study #masked-detail, Masked.-study #masked-mask { display: none; }
    Masked.-results #masked-detail, Masked.-results #masked-mask { display: none; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._looks: LatestRequest[Looked, MaskedView] | None = None
        self._arriving = 0

    def compose(self) -> ComposeResult:
        with Vertical(id="masked-body"):
            yield Line(id="masked-title", classes="-pane")
            yield Line(id="masked-about")
            yield Page(id="masked-text")
            yield GuessLine(id="masked-guess")
            yield Line(id="masked-mask", classes="-pane")
            yield Page(id="masked-detail")
            choices: PickedRows[Row] = PickedRows(choice_lines, id="masked-choices")
            yield choices
            doubts: PickedRows[Doubt] = PickedRows(doubt_lines, id="masked-doubts")
            yield doubts
        yield Notice("#masked-body", id="masked-notice")

    def on_mount(self) -> None:
        self.guess_line.display = False
        self.show_nothing("the list is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        masked = source.masked
        if masked is None:
            self.show_nothing(
                keyed(
                    "Files are browsed without it: {quit} leaves; "
                    "emotui import masked FILE brings texts into a workspace"
                )
            )
            return
        person = self.session.annotator
        self.bind_studies(masked, person)
        self._looks = LatestRequest(
            "masked", self, lambda asked: look(masked(), asked, person), self._show, self._refuse
        )
        self._guesses = LatestRequest(
            "guess", self, lambda guessed: guessed.keep(masked(), person), self._take_guess, each=True
        )

    # What the frame tells.

    @property
    def busy(self) -> bool:
        return any_busy(self) or self.studies_busy

    @property
    def reads(self) -> bool:
        nothing = self.view is None and self.mode is None and self.review is None and self.results is None
        return nothing and self._looks is not None and self._looks.busy

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Ask for this text and what the run says of it."""
        if self.mode is not None and sample is not None:
            self._wanted = sample, run
            self.selected_in_study(sample)
            return
        if self.review is not None:
            self._wanted = sample, run
            return
        if sample is None or self._looks is None:
            self.view = None
            self.show_nothing(f"no text is selected: {keyed(EMPTY_LIST)}")
            return
        if sample != self._wanted[0]:
            self._typed, self._told = {}, None
            self.mask = 0
            if self.typing:
                self._stop_typing()
        self._wanted = sample, run
        if self.view is None:
            self.show_nothing("the text is being read")
        self._looks.ask(Looked(sample, run.run if run is not None else None))

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if self._looks is not None or failed or self.view is None:
            self.say("The words behind masks, as words and as vectors", why, failed=failed)

    def focus_first(self) -> None:
        if self.review is not None:
            self.doubts.focus()
        else:
            (self.choices if self.mode is not None else self.query_one("#masked-text")).focus()

    def on_show(self) -> None:
        self._veil()
        self.focus_soon()

    def on_resize(self) -> None:
        self.set_class(self.size.height >= _TALL, "-tall")

    # What came back.

    def _refuse(self, _: Looked, why: str) -> None:
        self.view = None
        self.say("This text cannot be shown", why, keyed(OTHERS), failed=True)

    def _show(self, asked: Looked, view: "MaskedView") -> None:
        if self._wanted[0] != asked.sample or self.mode is not None or self.review is not None:
            return
        self.view = view
        self.mask = min(self.mask, max(len(view.gold) - 1, 0))
        if self._arriving:
            self._choose_mismatch()
        self.query_one(Notice).hide()
        self.draw()
        if self.display and self.screen.focused is None:
            self.focus_first()
        self.refresh_bindings()

    # Drawing.

    @property
    def blind(self) -> bool:  # type: ignore[override]
        return self.fill == HIDDEN or self.mode is not None

    def draw(self) -> None:
        """Everything that follows from the text, the fill and the chosen mask."""
        view = self.view
        if view is None or self.mode is not None or self.results is not None or self.review is not None:
            return
        if self.filled != HIDDEN:
            self._seen.add(view.number)
        right = tabs(keyed("{fill}"), FILLS, self.filled, what="fill")
        self.query_one("#masked-title", Line).show(masked_text.title(view, self.filled, self._wanted[1]), right)
        ways = [keyed(way) for way in _ABOUT]
        told = next((way for way in ways if width(way) < self.size.width), ways[-1])
        self.query_one("#masked-about", Line).show([Part(told, "dim")])
        text = self.query_one("#masked-text", Page)
        fillings = [masked_text.filling(view, place, self.filled, self._typed) for place in range(len(view.gold))]
        chosen = self.mask if view.gold else None
        text.show_for(lambda room: text_lines(view.pieces, fillings, chosen, room.width)[0])
        text.bring_into_sight(text_lines(view.pieces, fillings, chosen, text.scrollable_content_region.width)[1])
        self._draw_detail(view)

    def _draw_detail(self, view: "MaskedView") -> None:
        heading, page = self.query_one("#masked-mask", Line), self.query_one("#masked-detail", Page)
        if self.filled == HIDDEN or not view.gold:
            last = self.mask + 1 == len(view.gold)
            told = f"Enter keeps it and {'shows gold' if last else 'asks for the next'}, Esc leaves it as a draft"
            told = told if self.typing else "its word is hidden"
            heading.show([Part(f" mask {self.mask + 1} of {len(view.gold)}", "strong"), Part(f"  {told}", "dim")])
            drafts = {} if self.typing else self.drafts_of(view)
            page.show(masked_text.hidden_lines(view, drafts, blind=self._is_blind(view)))
            return
        mask = self.mask
        heading.show(mask_heading(view, mask, self.guessed))
        guessed = view.guess_entries[mask] if mask < len(view.guess_entries) else None

        def lines(room: "Size") -> "Lines":
            # A column is left for the scroll bar, which comes once there are more lines than rows.
            cells = room.width - 1
            vectors, examples = vector_lines(view, mask, guessed, cells), example_lines(view, cells)
            likely = likeliest_lines(view.gold[mask], view.said[mask], cells) if mask < len(view.said) else []
            if not likely or len(vectors) + len(likely) + len(examples) + 2 > room.height:
                return [*vectors, [], *examples]
            return [*vectors, [], *likely, [], *examples]

        page.show_for(lines)

    # Keys.

    def doing(self, action: str) -> Callable[[], None] | None:
        if self.review is not None:
            return self.review.doing(action)
        if self.mode is not None:
            return self.mode.doing(action)
        if self.results is not None:
            return self.close_results if action == "leave" else None
        if action in ("pane", "pane_back"):
            return self._tab(action)
        return super().doing(action)

    def can(self, action: str) -> bool:
        if self.review is not None:
            return self.review.can(action)
        if self.mode is not None:
            return self.mode.can(action)
        if self.results is not None:
            return action == "leave"
        return super().can(action) and self.view is not None

    @property
    def only(self) -> Collection[str] | None:
        if self.typing:
            return WHILE_TYPING
        if self.review is not None:
            return WHILE_REVIEWING
        return ALLOWED if self.mode is not None else None

    def tell(self, what: str, value: object) -> None:
        if self.mode is not None or self.results is not None or self.review is not None:
            return
        if what == "fill" and isinstance(value, str):
            self._fill_by(value)
        elif what == "mask" and isinstance(value, int):
            self._choose(value)

    def _has_place_keys(self) -> bool:
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors and not self.typing

    def _several(self) -> bool:
        return self.view is not None and len(self.view.gold) > 1 and self._has_place_keys()

    can_mask_on = can_mask_back = _several

    def do_mask_on(self) -> None:
        self._choose(self.mask + 1)

    def do_mask_back(self) -> None:
        self._choose(self.mask - 1)

    def _tab(self, action: str) -> Callable[[], None] | None:
        """Tab goes on to the next mask, and past the last one to the next pane."""
        step = 1 if action == "pane" else -1
        further = self.view is not None and 0 <= self.mask + step < len(self.view.gold)
        return (lambda: self._choose(self.mask + step)) if further and self._several() else None

    def _choose(self, mask: int) -> None:
        if self.view is not None and self.view.gold:
            self.mask = mask % len(self.view.gold)
            self.draw()

    def can_fill(self) -> bool:
        return not self.typing

    def do_fill(self) -> None:
        """Hidden, gold, then one run after the other."""
        runs, shown = self._runs(), self._wanted[1]
        if self.fill == HIDDEN:
            self._fill_by(GOLD)
        elif self.fill == GOLD and runs:
            self._fill_by(RUN)
            if shown is not runs[0] and (shown is None or shown.run != runs[0].run):
                self._show_run(runs[0])
        elif self.fill == RUN and shown is not None and (later := self._after(runs, shown)) is not None:
            self._show_run(later)
        else:
            self._fill_by(HIDDEN)

    def _runs(self) -> list[Run]:
        return [run for run in self.session.overview.runs if run.done]

    def _after(self, runs: Sequence[Run], shown: Run) -> Run | None:
        names = [run.run for run in runs]
        at = names.index(shown.run) + 1 if shown.run in names else len(names)
        return runs[at] if at < len(runs) else None

    def _show_run(self, run: Run) -> None:
        """The list and the place are about this run from now on."""
        self.session.change(replace(self.session.state, run=run.run))

    def _fill_by(self, fill: str) -> None:
        if fill == RUN and not self._runs():
            self.notify(keyed("No run has filled these masks yet: {model} runs a model"), markup=False)
            return
        self.fill, self._told = fill, None
        self._veil()
        self.draw()
        self.refresh_bindings()

    def _veil(self) -> None:
        self.post_message(self.Veiled(self.blind))

    def can_copy(self) -> bool:
        return self.view is not None and not self.typing

    def do_copy(self) -> None:
        """The text as it stands there."""
        view = self.view
        if view is None:
            return
        fillings = [masked_text.filling(view, place, self.filled, self._typed) for place in range(len(view.gold))]
        words = [one.word for one in fillings]
        text = "".join(piece + word for piece, word in zip(view.pieces, [*words, ""], strict=True))
        self.app.copy_to_clipboard(f"{view.id}\n{text}")
        self.notify(f"{view.id} copied as it is filled", markup=False)

    # Mismatches.

    def _mismatches(self) -> list[int]:
        said = () if self.view is None else self.view.said
        return [place for place, one in enumerate(said) if one.missed]

    def can_next_mismatch(self) -> bool:
        return self._wanted[1] is not None and self.filled != HIDDEN and not self.typing

    can_previous_mismatch = can_next_mismatch

    def do_next_mismatch(self) -> None:
        self._step(1)

    def do_previous_mismatch(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        ahead = [place for place in self._mismatches() if (place - self.mask) * step > 0]
        if ahead:
            self._choose(ahead[0] if step > 0 else ahead[-1])
        else:
            self._arriving = step
            self.post_message(self.Stepped(step))

    def _choose_mismatch(self) -> None:
        places, step = self._mismatches(), self._arriving
        self._arriving = 0
        if places:
            self.mask = places[0] if step > 0 else places[-1]

    # Blind studies.

    def can_study(self) -> bool:
        return not self.typing and bool(self._asks)

    can_study_results = can_review = can_study

    def do_study(self) -> None:
        """Open a blind study, or begin one."""
        self.offer_studies("study")

    def do_study_results(self) -> None:
        """What a blind study came to."""
        self.offer_studies("results")

    @on(PickedRows.Picked)
    def _picked(self, event: PickedRows.Picked) -> None:
        event.stop()
        if self.mode is not None:
            self.mode.row = self.choices.picked
        self.picked_doubt()

    def left_study(self) -> None:
        self._veil()
        sample, run = self._wanted
        if self.mode is None and self.results is None:
            self.show_sample(sample, run)
            self.focus_first()
