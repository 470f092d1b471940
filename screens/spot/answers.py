"""One model of the Spot check place: what it said, about which text, and when it is worth asking again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from emotui.workbench.models.probe import ModelCard, Probe

QUICK = ("classes", "emotions", "spans", "masks")
"""What is asked as soon as typing rests, in this order."""

LATER = ("words", "generation")
"""What is asked when typing rests longer."""

TASK = "task "
"""Before the name of a task: the part that is the task's own prompt and output."""

LONG = 1.0
"""A part that takes longer than so many seconds, twice, is asked only on a key: the first time may be a cold start."""

_TOO_LONG = 4 * LONG
"""A part that takes so long is asked only on a key from then on."""

_READ_WHOLE = ("spans", "words")
_MOST_LONGER = 4.0
"""How many times as long the other parts may take for a longer text: models read only so much of it."""

_ALREADY_LONG = LONG / 4
"""A model whose quick parts take so long would write for longer than that."""

When = Literal["quick", "later", "key"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a model said in one part about one text; `note`: why it said nothing."""

    text: str
    probe: "Probe"
    seconds: float
    note: str


class Column:
    """A model by its SPEC, with its newest answer in each part.

    `trouble`: why it answers nothing; `doing`: what it is doing now, in words; both empty otherwise.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.card: ModelCard | None = None
        self.answers: dict[str, Answered] = {}
        self.trouble = ""
        self.doing = ""
        self.since = 0.0
        self._cost: dict[str, tuple[float, int, int]] = {}

    def take(self, part: str, text: str, probe: "Probe") -> None:
        """Keep an answer."""
        self.card = probe.card
        seconds = probe.seconds.get(part, 0.0)
        note = probe.notes.get(part, "")
        self.answers[part] = Answered(text, probe, seconds, note)
        if part not in probe.lacking and not note:
            times = self._cost.get(part, (0.0, 0, 0))[2]
            self._cost[part] = seconds, max(len(text), 1), times + 1

    def lacks(self, part: str) -> bool:
        """Is this nothing that the model can do, whatever the text?"""
        answer = self.answers.get(part)
        return answer is not None and part in answer.probe.lacking

    def missing(self, text: str, parts: Sequence[str]) -> list[str]:
        """Of these parts those that have no answer to this text."""
        return [part for part in parts if not self.lacks(part) and not self.knows(part, text)]

    def knows(self, part: str, text: str) -> bool:
        """Is its answer one to this text?"""
        answer = self.answers.get(part)
        return answer is not None and answer.text == text

    def when(self, part: str, text: str) -> When:
        """When this part is asked, as far as its cost is known; a longer text costs more."""
        known = self._cost.get(part)
        if known is not None:
            seconds, length, times = known
            longer = max(len(text) / length, 1.0)
            expected = seconds * (longer if part in _READ_WHOLE else min(longer, _MOST_LONGER))
            if expected > (LONG if times > 1 else _TOO_LONG):
                return "key"
        if part in QUICK:
            return "quick"
        writes = part == "generation" or part.startswith(TASK)
        if writes and known is None and sum(self._cost.get(each, (0.0, 0, 0))[0] for each in QUICK) > _ALREADY_LONG:
            can_write = self.card is not None and "generate" in self.card.capabilities
            return "key" if can_write else "later"
        return "later"
