"""What the panes of Rephrase are drawn from, and which actions make sense as it stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emotui.metrics.lexical import Lexical
    from emotui.metrics.rephrasings import Change
    from emotui.workbench.rephrase.views import CarryingWords, ChainView, Live, Progress, Round


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it is before anything was asked about it."""

    number: int
    id: str
    text: str
    gold: str


@dataclass(slots=True)
class ChainState:
    """All that the panes are drawn from; what has not come yet is None."""

    round: "Round | None" = None
    chain: "ChainView | None" = None
    waiting: "Text | None" = None
    """The text at work while its round has not begun: it can be written already."""
    history: tuple[float, ...] = ()
    """The probability of gold after each key that was answered, since the text was put into the editor."""
    progress: "Progress | None" = None
    live: "Live | None" = None
    words: "CarryingWords | None" = None
    before: "Lexical | None" = None
    now: "Lexical | None" = None
    warnings: tuple[str, ...] = ()
    nearness: tuple[float | None, bool] = (None, False)
    """The similarity to the original, and whether it is that of the text as it is now."""
    difference: "Sequence[Change]" = ()
    suggested: bool = False
    draft: str = ""
    """What is told of a draft that stands in the editor as it came back."""
    drafts: tuple[tuple[str, str], ...] = ()
    """What else was written for this text and never submitted: what is told of each, and the text."""
    last: str = ""
    trouble: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which actions make sense.

    Args:
        mode: writing, figures or review: which panes are shown.
        chain: the text at work; None also where no round is.
        waiting: whether a text can be written before its round has begun.
        refused: whether the round could not begin.
        beginning: whether a round is being begun.
        editing: whether the editor has the keys.
        acting: whether a decision is being kept.
        others_written: whether another draft of the text can be taken into the editor.
        others_open: whether any text of the round is open.
        judging: whether the review shows a rephrasing.
        judged: whether the review has a judgement to take back.
    """

    mode: str
    chain: "ChainView | None"
    waiting: bool
    refused: bool
    beginning: bool
    editing: bool
    acting: bool
    others_written: bool
    others_open: bool
    judging: bool
    judged: bool

    def makes_sense(self, action: str) -> bool:
        """Can this action be done now?"""
        if action == "write" and self.refused:
            return True
        if action == "leave":
            return self.editing or self.mode != "writing"
        if self.waiting and action == "write":
            return not self.editing
        if self.beginning or self.chain is None:
            return False
        match action:
            case "annotators":
                return self.mode == "figures"
            case "words" if not self.editing:
                return False
            case "other_draft" if not self.others_written:
                return False
            case "judge":
                return self.judging
            case "next_open" | "previous_open":
                return self.others_open if self.mode == "writing" else self.mode == "review"
        if action not in _WRITING:
            return True
        if self.mode == "review":
            return action == "undo" and self.judged
        if self.mode != "writing":
            return action in ("view", "view_back") and self.mode == "figures"
        if action in _OPEN:
            return is_open(self.chain) and not self.acting and (self.editing or action != "submit")
        return not (action == "write" and self.editing)


def is_open(chain: "ChainView") -> bool:
    """Whether an attempt at this text can be submitted."""
    return chain.offered and chain.state == "open"


_WRITING = ("submit", "write", "skip", "suggest", "undo", "redo", "words", "view", "view_back", "copy", "other_draft")
_OPEN = ("submit", "skip", "suggest", "other_draft")
