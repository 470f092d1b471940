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
from emotui.screens.masked.text import (
    FILLS,
    GOLD,
    HIDDEN,
    RUN,
    STATES,
    THIS,
    GuessLine,
    mask_heading,
    tally_line,
    text_lines,
    told_lines,
    word_lines,
)
from emotui.screens.place import EMPTY_LIST, OTHERS, WHILE_TYPING
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import fit, width, wrap
from emotui.screens.widgets.line import Line, Part, tabs
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Ended, Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.store.query import Run

if TYPE_CHECKING:
    from textual.geometry import Size

    from emotui.screens.widgets.page import Lines
    from emotui.workbench.masked.looking import MaskedView
    from emotui.workbench.masked.review import Doubt
    from emotui.workbench.source import BrowseSource

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


_ABOUT = (
    " A model guesses masked emotion words; below: its guesses, and the emotions that EmoLex ties to each word",
    " A model guesses masked emotion words; below: which emotions each guess carries (EmoLex)",
    " A model guesses masked emotion words; below: the emotions that a guess carries",
    " A model guesses masked emotion words; below: the emotions of each",
    " A model guesses masked emotion words",
)
"""What one looks at, in fewer and fewer cells."""

_ABOUT_HIDDEN = (
    " A model guesses masked emotion words; guess them first, and see then how you and it have done",
    " A model guesses masked emotion words; you may guess them first",
    _ABOUT[-1],
)

_ALONE = (
    " The words of this text alone are shown; {fill} again shows those of all texts, in the list too",
    " This text alone is shown; {fill} again shows all, in the list too",
    " This text alone is shown; {fill} again shows all",
)
"""Before the words of all texts are shown, in fewer and fewer cells."""

FILL = "masked_fill"
"""The setting that says by what masks are filled: until one is chosen, by nothing."""

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
    on_sight = (
        *("guess", "judge_first", "judge_second", "judge_both", "judge_neither", "choose", "rationale", "own_codes"),
        *("keep_mask", "drop_mask", "mask_start_back", "mask_start_on", "mask_end_back", "mask_end_on"),
        *("undo", "redo"),
    )
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
        self._first_time = self._passing = False
        self._tallied: str | None = None

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
        kept = source.setting(FILL)
        self._first_time = kept is None
        self.fill = kept if isinstance(kept, str) and kept in FILLS else HIDDEN
        person = self.session.annotator
        self.bind_studies(masked, person)
        self._looks = LatestRequest(
            "masked", self, lambda asked: look(masked(), asked, person), self._show, self._refuse
        )
        self._guesses = LatestRequest(
            "guess", self, lambda guessed: guessed.keep(masked(), person), self._take_guess, each=True
        )
        self._tallies = LatestRequest(
            "tally", self, lambda asked: masked().tally(asked[0], asked[1], person), self._take_tally
        )

    # What the frame tells.

    @property
    def busy(self) -> bool:
        return any_busy(self) or self.studies_busy

    @property
    def reads(self) -> bool:
        nothing = self.view is None and self.mode is None and self.review is None and self.results is None
        return nothing and self._looks is not None and (self._looks.busy or self._passing)

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
            self.show_nothing(f"no text is selected, as {keyed(EMPTY_LIST)}")
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
        if self._passes_over(view):
            return
        self._passing = False
        self.view = view
        self.mask = min(self.mask, max(len(view.gold) - 1, 0))
        if self._arriving:
            self._choose_mismatch()
        if self.tally is None or asked.run != self._tallied:
            self._tallied = asked.run
            self.ask_tally()
        self.query_one(Notice).hide()
        self.draw()
        if self.display and self.screen.focused is None:
            self.focus_first()
        self.refresh_bindings()

    def _passes_over(self, view: "MaskedView") -> bool:
        """Is it the first text ever looked at here and without a word that can be scored? Then the next one is asked
        for.
        """
        listed = list(self.session.listed())
        first_time, self._first_time = self._first_time, False
        if not first_time or listed[:1] != [view.number] or masked_text.can_be_scored(view):
            return False
        self._passing = len(listed) > 1
        if self._passing:
            self.post_message(self.Sought(frozenset(listed[1:]), 1))
        return self._passing

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
        alone = self.fill == HIDDEN and self.filled != HIDDEN
        right = tabs(keyed("{fill}"), list(STATES.values()), STATES[THIS if alone else self.filled], what="fill")
        self.query_one("#masked-title", Line).show(masked_text.title(view, self.filled, self._wanted[1]), right)
        ways = tuple(map(keyed, _ALONE)) if alone else _ABOUT_HIDDEN if self.filled == HIDDEN else _ABOUT
        told = next((way for way in ways if width(way) < self.size.width), ways[-1])
        self.query_one("#masked-about", Line).show([Part(told, "strong" if alone else "dim")])
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
            dataset = self.session.overview.dataset
            blind, typing, n = self._is_blind(view), self.typing, 0 if dataset is None else dataset.n
            over_all = [line for line in (tally_line(self.tally),) if line]
            page.show_for(
                lambda room: [
                    *masked_text.hidden_lines(view, drafts, self.tally, n, room.width - 1, typing=typing, blind=blind),
                    *over_all,
                ]
            )
            return
        mask = self.mask
        heading.show(mask_heading(view, mask))
        said = view.said[mask] if mask < len(view.said) else None
        guessed = view.guessed[mask] if mask < len(view.guessed) else None
        tally = tally_line(self.tally)
        if self.fill == HIDDEN:
            told_last = [[Part(keyed("{next_mismatch} goes to the next text to guess"), "dim")]]
        else:
            told_last = []

        def lines(room: "Size") -> "Lines":
            # A column is left for the scroll bar, which comes once there are more lines than rows.
            cells = room.width - 1
            words = word_lines(view.gold[mask], said, guessed, cells)
            told = [*told_lines(view, mask, cells, self.filled), *told_last]
            examples = example_lines(view, cells)
            # Lines apart, as long as none is lost for that.
            gap: list[list[Part]] = [[]] * (len(words) + len(told) + len(examples) + bool(tally) + 2 <= room.height)
            return [*words, *gap, *told, *gap, *([tally, *gap] if tally else []), *examples]

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
        if what == "fill":
            fill = next(fill for fill, name in STATES.items() if name == value)
            self._fill_by(HIDDEN if fill == THIS else fill)
            if fill == THIS:
                self._reveal()
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
        """Hidden, this text by gold, all texts by gold, then one run after the other."""
        runs, shown = self._runs(), self._wanted[1]
        if self.filled == HIDDEN:
            self._reveal()
        elif self.fill == HIDDEN:
            self._fill_by(GOLD)
        elif self.fill == GOLD and runs:
            self._fill_by(RUN)
            if shown is not runs[0] and (shown is None or shown.run != runs[0].run):
                self._show_run(runs[0])
        elif self.fill == RUN and shown is not None and (later := self._after(runs, shown)) is not None:
            self._show_run(later)
        else:
            self._fill_by(HIDDEN)

    def _reveal(self) -> None:
        """Show the words of this text alone: the list and the other texts keep theirs."""
        if self.view is not None:
            self._told = self.view.number
            self.draw()
            self.refresh_bindings()

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
        self.session.remember(FILL, fill)
        self._veil()
        self.draw()
        self.refresh_bindings()

    def _veil(self) -> None:
        self.post_message(self.Veiled(self.blind))
        self.tag_guesses()

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
        there = self.tally if self.fill == HIDDEN else self._wanted[1]
        return there is not None and not self.typing

    can_previous_mismatch = can_next_mismatch

    def _seek_open(self, step: int) -> None:
        """To the next text that was not guessed, or the one before."""
        guessed = self.tally.scores if self.tally is not None else {}
        there = frozenset(one for one in self.session.listed() if one not in guessed)
        if there - {self._wanted[0]}:
            self.post_message(self.Sought(there, step))
        else:
            self.post_message(Ended("no other text waits for your guess"))

    def do_next_mismatch(self) -> None:
        self._go(1)

    def do_previous_mismatch(self) -> None:
        self._go(-1)

    def _go(self, step: int) -> None:
        """To a mask that is missed; while words are hidden, that would tell which ones are: to a text not guessed."""
        if self.fill == HIDDEN:
            self._seek_open(step)
        else:
            self._step(step)

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
