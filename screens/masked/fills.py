"""By what the masks of a text are filled, and how that is told: hidden words, gold's, or a run's."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from emotui.screens.keymaps.words import keyed
from emotui.screens.masked.text import DIFFERS, Filling, hidden
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.screens.widgets.page import Lines
    from emotui.workbench.masked.looking import MaskedView

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


def title(view: "MaskedView", filled: str, run: Run | None) -> list[Part]:
    """The text, how many masks it has, and where they are shown how the run did."""
    left = [Part(f" {view.id}", "strong"), Part(f"  {len(view.gold)} mask{'s' * (len(view.gold) != 1)}", "dim")]
    if filled != HIDDEN:
        if view.said:
            mean = sum(one.f1 for one in view.said) / len(view.said)
            left.append(Part(f"  F1 {share(mean).strip()}"))
        left += [Part("  run "), Part(_run_name(run), "said", "do('run')")]
        if view.repeats > 1:
            left.append(Part(f"  first of {view.repeats} answers", "dim"))
    return left


def _run_name(run: Run | None) -> str:
    if run is None:
        return "none"
    # Of a long SPEC the end tells more.
    return run.model if len(run.model) <= _LONGEST else f"…{run.model[1 - _LONGEST :]}"


def hidden_lines(view: "MaskedView", *, blind: bool) -> "Lines":
    """What can be done while words are hidden; `blind`: the person has not seen them yet."""
    lines = [
        [
            Part(keyed("{guess} "), "key"),
            Part("guesses: a word for each mask, and then gold and the run are shown"),
        ],
        [Part(keyed("{fill} "), "key"), Part("shows the words without a guess")],
    ]
    if view.guess is not None:
        lines.append([Part(f"you guessed before: {', '.join(view.guess.words)}", "dim")])
    if not blind:
        lines.append([Part("you have seen these words: a guess is kept as one that is not blind", "dim")])
    return lines
