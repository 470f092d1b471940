"""Whether a source is to be made gold, with what that does said first."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import count

if TYPE_CHECKING:
    from emotui.workbench.datasets.sources import Proposed


class GoldDialog(Dialog["tuple[Proposed, bool]"]):
    """Enter makes it gold, Space ticks that runs are scored again after that. Gives back what was proposed, and that.

    Args:
        look: what would happen, asked in a thread.
    """

    BINDINGS = [Binding("space", "tick", show=False, priority=True)]
    DEFAULT_CSS = "GoldDialog Label.line { margin: 0; color: $foreground; }"

    def __init__(self, name: str, look: "Callable[[], Proposed]") -> None:
        super().__init__(f"Use {shown(name)} as gold", ("Enter", "do it"), ("Space", "score again too"))
        self._proposal: Proposed | None = None
        self._again = False
        self._looking: LatestRequest[None, Proposed] = LatestRequest(
            "proposal", self, lambda _: look(), self._show, lambda _, why: self.refuse(why)
        )

    def body(self) -> list[Widget]:
        return [Label("looking at what it says", id="what", classes="line", markup=False)]

    def on_mount(self) -> None:
        super().on_mount()
        self._looking.ask(None)

    def _show(self, _: None, proposal: "Proposed") -> None:
        self._proposal = proposal
        self.query_one("#what", Label).update("\n".join(lines_of(proposal, again=self._again)))
        self.refuse(proposal.fault)

    def action_tick(self) -> None:
        """Score the runs again after that, or not."""
        if self._proposal is not None and self._proposal.scored:
            self._again = not self._again
            self._show(None, self._proposal)

    def result(self) -> "tuple[Proposed, bool] | None":
        if self._proposal is None or self._proposal.fault:
            return None
        return self._proposal, self._again


def lines_of(proposal: "Proposed", *, again: bool) -> Sequence[str]:
    """What making this source gold does, a sentence a line."""
    dataset, scored = proposal.dataset, len(proposal.scored)
    lines = [
        f"Gold of {shown(dataset.name)} becomes version {dataset.gold + 1}: what {shown(proposal.told)} says.",
        f"Version {dataset.gold} is kept, and no model is asked again.",
    ]
    if proposal.missing:
        lines.append(f"{count(proposal.missing)} of {count(dataset.n)} texts it says nothing about keep their gold.")
    if scored:
        many = f"{count(scored)} sources have scores" if scored > 1 else "One source has scores"
        lines += [f"{many}: they stay and say of which gold they are,", "until S in r scores one again.", ""]
        lines.append(f"[{'x' if again else ' '}] score {'them' if scored > 1 else 'it'} again at once")
    return lines
