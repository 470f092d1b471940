"""Guessing in Masked: a person's word for each mask of a text, asked for one after the other, kept and taken back."""

from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on
from textual.widgets import Input

from emotui.screens.masked.requests import Guessed
from emotui.screens.masked.review_place import ReviewPlace
from emotui.screens.masked.text import GOLD, HIDDEN
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.drafts import Field
    from emotui.workbench.masked.looking import MaskedView

GUESS = "guess"
"""The field of a word for a mask, as drafts name it: one word is a name, and the words of a text are more."""


class GuessPlace(ReviewPlace):
    """What a place needs to have words guessed; `view` is the text, `mask` the chosen one of its masks."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.view: MaskedView | None = None
        self.fill = GOLD
        self.mask = 0
        self._guesses: LatestRequest[Guessed, MaskedView] | None = None
        self._wanted: tuple[int | None, Run | None] = (None, None)
        self._typed: dict[int, str] = {}
        self._told: int | None = None
        self._seen: set[int] = set()

    def draw(self) -> None:
        """Draw everything that follows from the text, the fill and the chosen mask."""
        raise NotImplementedError

    def _veil(self) -> None:
        """Have the list keep to itself what is hidden here."""
        raise NotImplementedError

    @property
    def typing(self) -> bool:
        """Is a guess being typed?"""
        return self.guess_line.display

    @property
    def filled(self) -> str:
        """By what the masks are filled now: hidden words are shown once the person has guessed all of them."""
        revealed = self.view is not None and self._told == self.view.number
        return GOLD if self.fill == HIDDEN and revealed else self.fill

    @property
    def guessed(self) -> tuple[str, ...]:
        """The person's words for the masks of this text, as far as there are any."""
        return self.view.guess.words if self.view is not None and self.view.guess is not None else ()

    def can_guess(self) -> bool:
        return not self.typing and bool(self.view and self.view.gold) and self._guesses is not None

    def do_guess(self) -> None:
        """Hide the words, and ask for one after the other."""
        view = self.view
        if view is None:
            return
        if self.filled != HIDDEN:
            self.fill, self._told = HIDDEN, None
            self._veil()
        self._typed = {}
        self.mask = 0
        self.guess_line.display = True
        self._ask_word()
        self.draw()
        self.refresh_bindings()

    def _ask_word(self) -> None:
        view = self.view
        assert view is not None
        prompt = f"your word for mask {self.mask + 1} of {len(view.gold)}   Enter keeps it   Esc leaves"
        self.guess_line.begin(prompt, "", self.session.drafts, self._guess_of(view.number, self.mask))
        self.guess_line.focus()

    def _guess_of(self, sample: int, mask: int) -> "Field":
        return self.session.field(GUESS, sample=sample, draft=str(mask))

    def _is_blind(self, view: "MaskedView") -> bool:
        return view.number not in self._seen and view.guess is None

    @on(Input.Submitted, "#masked-guess")
    def _word(self, event: Input.Submitted) -> None:
        event.stop()
        if self.mode is not None:
            self.end_line(event.value)
            return
        view, word = self.view, event.value.strip()
        if view is None or not word:
            return
        self._typed[self.mask] = word
        open_masks = [place for place in range(len(view.gold)) if place not in self._typed]
        if open_masks:
            self.mask = open_masks[0]
            self._ask_word()
            self.draw()
            return
        words = tuple(self._typed[place] for place in range(len(view.gold)))
        assert self._guesses is not None
        self._guesses.ask(Guessed(view.number, words, self._is_blind(view)))
        self._told = view.number
        self._stop_typing()
        self.mask = 0
        self.draw()

    def can_leave(self) -> bool:
        return self.typing

    def do_leave(self) -> None:
        self._typed = {}
        self._stop_typing()
        self.draw()

    def _stop_typing(self) -> None:
        self.guess_line.display = False
        self.focus_first()
        self.refresh_bindings()

    def can_undo(self) -> bool:
        return not self.typing and bool(self.guessed) and self.filled != HIDDEN and self._guesses is not None

    def do_undo(self) -> None:
        """Take the last guess about this text back."""
        if self.view is not None and self._guesses is not None:
            self._guesses.ask(Guessed(self.view.number, None, False))

    def _take_guess(self, guessed: Guessed, view: "MaskedView") -> None:
        for mask, word in enumerate(guessed.words or ()):
            self.session.drafts.kept(self._guess_of(guessed.sample, mask), word)
        if self._wanted[0] == guessed.sample and self.view is not None:
            self.view = replace(self.view, guess=view.guess, guess_entries=view.guess_entries)
            self.draw()
            self.refresh_bindings()
