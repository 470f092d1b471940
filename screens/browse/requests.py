"""What Browse knows of one sample: what the run said, what other runs said beside it, and what came nearest."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from textual.geometry import Size

from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.tier_layout import MOST_COLUMNS

if TYPE_CHECKING:
    from emotui.metrics.nearest import Nearest
    from emotui.workbench.answers import Voice
    from emotui.workbench.source import BrowseSource, Evidence
    from emotui.workbench.turns import Turn

# What stands around a text: its own columns in a line, and the turns of its conversation before and after it.

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


class SampleView(msgspec.Struct, frozen=True):
    """`beside`: the same sample in further runs. `near`: for each repeat, by the place of a hallucinated span.

    `voices`: everything that is said of the text.
    """

    evidence: "Evidence"
    beside: tuple["Evidence", ...] = ()
    near: "tuple[dict[int, Nearest | None], ...]" = ()
    voices: "tuple[Voice, ...]" = ()


def look(
    source: "BrowseSource", sample: int, run: str | None, beside: Sequence[str], told: Sequence[str]
) -> SampleView:
    """Ask for all of it. A run that is gone meanwhile is left out of those beside.

    Args:
        run, beside: runs that give spans.
        told: runs of any task, whose answers are told under the text.

    Raises:
        EmotuiError: the sample cannot be read.
    """
    from emotui.errors import EmotuiError

    with source.together():
        evidence = source.evidence(sample, run)
        others = []
        for other in beside:
            try:
                others.append(source.evidence(sample, other))
            except EmotuiError:
                continue
        voices = voices_of(source, sample, told)
    return SampleView(evidence, tuple(others), _near(evidence), voices)


def voices_of(source: "BrowseSource", sample: int, runs: Sequence[str]) -> "tuple[Voice, ...]":
    """Everything that is said of a text; where a run is gone meanwhile, what is said beside all runs."""
    from emotui.errors import EmotuiError

    try:
        return source.voices(sample, runs)
    except EmotuiError:
        return source.voices(sample, ())


def _near(evidence: "Evidence") -> "tuple[dict[int, Nearest | None], ...]":
    from emotui.metrics.nearest import nearest

    found = []
    for said in evidence.repeats:
        detail = said.detail
        places = detail.hallucinated if detail else ()
        strings = [detail.predicted[place] for place in places] if detail else []
        found.append(dict(zip(places, nearest(evidence.sample.text, strings), strict=True)) if strings else {})
    return tuple(found)
