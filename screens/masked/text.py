"""A masked text as lines of parts: each mask hidden, or filled by a word, and a sign before the chosen one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.screens.keymaps import keyed
from emotui.screens.long_text import Drafts, LongInput
from emotui.screens.widgets.cell_width import wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.screens.widgets.page import Lines
    from emotui.workbench.drafts import Field
    from emotui.workbench.masked.looking import MaskedView, WordEntry

# The line in which a person types: the word behind a mask, why, codes of their own.


class GuessLine(LongInput):
    """Enter keeps the word and asks for the next one; Esc is the place's."""

    DEFAULT_CSS = """
    GuessLine, GuessLine:focus {
        height: 1;
        border: none;
        padding: 0 1;
        background: $field;
        background-tint: transparent;
    }
    """
    footer_keys = (("Enter", "keep"),)

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True)
        self.cursor_blink = False

    def begin(self, prompt: str, value: str = "", drafts: Drafts | None = None, field: "Field | None" = None) -> None:
        """Ask for something; where it was being written before, that stands there and is told."""
        self.placeholder = prompt
        self.put(value, drafts, field)
        if self.told:
            self.notify(self.told, markup=False)


WIDEST = 90
"""Cells of a line of text."""

CURSOR, DIFFERS = "▸", "≠"


class Filling(msgspec.Struct, frozen=True):
    """What stands in place of a mask: its words, the kind of its part, and a sign behind it."""

    word: str
    kind: str
    sign: str = ""


def hidden(number: int, guessed: str = "") -> Filling:
    """A mask whose word is not shown: its number, or what the person guessed."""
    return Filling(f"[{number} {guessed or '____'}]", "strong")


def text_lines(
    pieces: Sequence[str], fillings: Sequence[Filling], chosen: int | None, cells: int
) -> tuple[list[list[Part]], int]:
    """The lines of a text in so many cells, and on which of them the chosen mask stands."""
    text, stretches, at_chosen = _laid_out(pieces, fillings, chosen)
    lines: list[list[Part]] = []
    line_of_chosen = 0
    for number, (start, end) in enumerate(wrap(text, min(max(cells, 10), WIDEST))):
        parts: list[Part] = []
        for first, last, kind, press in stretches:
            low, high = max(first, start), min(last, end)
            if low < high:
                parts.append(Part(text[low:high].replace("\n", ""), kind, press))
        if start <= at_chosen < end:
            line_of_chosen = number
        lines.append(parts)
    return lines, line_of_chosen


def _laid_out(
    pieces: Sequence[str], fillings: Sequence[Filling], chosen: int | None
) -> tuple[str, list[tuple[int, int, str, str]], int]:
    """The text with its fillings; stretches of one kind as (start, end, kind, press); where the chosen one stands."""
    parts: list[str] = []
    stretches: list[tuple[int, int, str, str]] = []
    length, at_chosen = 0, 0

    def put(text: str, kind: str, press: str = "") -> None:
        nonlocal length
        if text:
            parts.append(text)
            stretches.append((length, length + len(text), kind, press))
            length += len(text)

    for number, piece in enumerate(pieces):
        put(piece, "plain")
        if number < len(fillings):
            filling, press = fillings[number], f"tell('mask', {number})"
            if number == chosen:
                at_chosen = length
                put(CURSOR, "key", press)
            put(filling.word, filling.kind, press)
            put(filling.sign, "mark", press)
    return "".join(parts), stretches, at_chosen


# By what the masks of a text are filled, and how that is told: hidden words, gold's, or a run's.

HIDDEN, GOLD, RUN = "hidden", "gold", "run"
FILLS = (HIDDEN, GOLD, RUN)

_LONGEST = 24
"""Cells of a model's name."""


def filling(view: "MaskedView", place: int, filled: str, typed: Mapping[int, str]) -> Filling:
    """What stands in place of a mask; `typed`: by place the word that a person has guessed so far."""
    if filled == HIDDEN:
        return hidden(place + 1, typed.get(place, ""))
    said = view.said[place] if place < len(view.said) else None
    differs = DIFFERS if said is not None and not said.same_vector else ""
    if filled == GOLD:
        return Filling(view.gold[place].word, "gold-line", differs)
    if said is None or said.entry is None:
        return Filling("[no word]", "mark", differs)
    return Filling(said.entry.word, "ground", differs)


def without_vector(gold: "WordEntry", said: "WordEntry") -> str:
    """Why the vectors of two words cannot share an emotion, whatever the words are; empty: they can."""
    vectors = gold.vector, said.vector
    if None in vectors:
        return "no vector"
    return "" if all(any(one or ()) for one in vectors) else "ten zeros"


def title(view: "MaskedView", filled: str, run: Run | None) -> list[Part]:
    """The text, how many masks it has, and where they are shown how the run did."""
    left = [Part(f" {view.id}", "strong"), Part(f"  {len(view.gold)} mask{'s' * (len(view.gold) != 1)}", "dim")]
    if filled != HIDDEN:
        if view.said:
            mean = sum(one.f1 for one in view.said) / len(view.said)
            left.append(Part(f"  F1 of vectors {share(mean).strip()}"))
        left += [Part("  run "), Part(_run_name(run), "said", "do('run')")]
        if view.repeats > 1:
            left.append(Part(f"  first of {view.repeats} answers", "dim"))
    return left


def _run_name(run: Run | None) -> str:
    if run is None:
        return "none"
    # Of a long SPEC the end tells more.
    return run.model if len(run.model) <= _LONGEST else f"…{run.model[1 - _LONGEST :]}"


def hidden_lines(view: "MaskedView", drafts: Mapping[int, str], *, blind: bool) -> "Lines":
    """What can be done while words are hidden.

    Args:
        drafts: by mask what the person has written and not handed in.
        blind: the person has not seen the words yet.
    """
    lines = [
        [
            Part(keyed("{guess} "), "key"),
            Part("guesses: a word for each mask, and then gold and the run are shown"),
        ],
        [Part(keyed("{fill} "), "key"), Part("shows the words without a guess")],
    ]
    if drafts:
        written = ", ".join(f"mask {place + 1} “{word}”" for place, word in drafts.items())
        lines.append(
            [Part("your draft: ", "dim"), Part(written, "mark"), Part(keyed("; {guess} goes on with it"), "dim")]
        )
    if view.guess is not None:
        lines.append([Part(f"you guessed before: {', '.join(view.guess.words)}", "dim")])
    if not blind:
        lines.append([Part("you have seen these words: a guess is kept as one that is not blind", "dim")])
    return lines
