"""What stands around a text: its own columns in a line, and the turns of its conversation before and after it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from textual.geometry import Size

from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.tier_layout import MOST_COLUMNS

if TYPE_CHECKING:
    from emotui.workbench.turns import Turn

_ROOMY = 30
"""Rows of a place from which all turns are shown; below it the nearest one on either side."""

_SPEAKER = 16


def own_columns(meta: Mapping[str, Any], subject: str | None = None) -> list[Part]:
    """The columns of the data's own with what they say, for one line; nothing where there are none."""
    named = ([("subject", subject)] if subject else []) + list(meta.items())
    parts: list[Part] = []
    for name, said in named:
        parts += [Part(f" {' ' if parts else ''}{name} ", "dim"), Part(_words(said))]
    return parts


def own_columns_text(meta: Mapping[str, Any]) -> str:
    """The same in full, a line a column."""
    return "\n".join(f"{name}: {_words(said)}" for name, said in meta.items())


def _words(said: object) -> str:
    if isinstance(said, str):
        return " ".join(said.split())
    return "–" if said is None else msgspec.json.encode(said).decode()


class TurnsPage(Page, can_focus=False):
    """Turns in grey, a line each; not there where there are none."""

    DEFAULT_CSS = "TurnsPage { display: none; height: 1; padding: 0 1; scrollbar-size-vertical: 0; }"

    def show_turns(self, turns: "Sequence[Turn]", rows: int, *, last: bool) -> None:
        """Show turns; where there is little room only that which is nearest to the text.

        Args:
            rows: of the whole place.
            last: whether the nearest is the last of them.
        """
        kept = turns if rows >= _ROOMY else turns[-1:] if last else turns[:1]
        self.display = bool(kept)
        self.styles.height = max(len(kept), 1)
        self.show_for(lambda room: _lines(kept, room))


def _lines(turns: "Sequence[Turn]", room: Size) -> Lines:
    cells = min(room.width, MOST_COLUMNS)
    left = Part(" " * ((room.width - cells) // 2))
    names = [" ".join(part for part in (turn.time, turn.speaker) if part) for turn in turns]
    who = min(max(map(width, names), default=0), _SPEAKER)
    lines = []
    for turn, name in zip(turns, names, strict=True):
        words = fit(" ".join(turn.text.split()), max(cells - who - 2, 8))
        lines.append([left, Part(f"{fit(name, who)}  " if who else "", "dim"), Part(words, "dim")])
    return lines
