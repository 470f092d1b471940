"""Which source is shown over gold, which others stand beside it, and what else can be done with one of them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.choices import Choice, heading_of, marked_options, people, place_of
from emotui.screens.dialogs.dialog import Dialog, OptionDialog
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import count

if TYPE_CHECKING:
    from emotui.workbench.datasets.sources import Proposed, Source

# Whether a source is to be made gold, with what that does said first.


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
    lines += [f"{shown(note[:1].upper() + note[1:])}." for note in proposal.notes]
    if scored:
        many = f"{count(scored)} sources have scores" if scored > 1 else "One source has scores"
        lines += [f"{many}: they stay and say of which gold they are,", "until S in r scores one again.", ""]
        lines.append(f"[{'x' if again else ' '}] score {'them' if scored > 1 else 'it'} again at once")
    return lines


SHOW, GOLD, RESCORE = "show", "gold", "rescore"


class Picked(msgspec.Struct, frozen=True):
    """What was chosen: a source, those beside it, and what to do: show it, make it gold, or score it again.

    `value`: the id of a run, `NO_RUN`, or of a `person` the name.
    """

    value: str
    beside: tuple[str, ...] = ()
    what: str = SHOW
    person: bool = False


class RunDialog(OptionDialog[Picked]):
    """j and k move, Space ticks a run for comparing, Enter shows the picked one; U and S do more with it.

    A ticked run stands beside the one that is shown, so Enter on it leaves that as it is. A run is one or the other.

    Args:
        heads: what stands over the columns of what is told of each.
        compares: whether runs can stand beside the one that is shown.
        look: finds people inside the gold records, in a thread; None: where nothing may be written, and then nothing
            can be made gold or scored again either.
    """

    BINDINGS = [
        Binding("space", "tick", show=False, priority=True),
        Binding("U", f"leave_for('{GOLD}')", show=False),
        Binding("S", f"leave_for('{RESCORE}')", show=False),
    ]
    wide = True
    DEFAULT_CSS = """
    RunDialog OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    RunDialog #heads { margin: 0; padding: 0 1 0 2; }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        now: str,
        beside: Sequence[str],
        *,
        heads: str = "",
        compares: bool,
        look: "Callable[[], Sequence[Source]] | None" = None,
    ) -> None:
        keys = [("j k", "move"), ("Enter", "show")]
        keys += [("Space", "compare")] if compares else []
        keys += [("U", "as gold"), ("S", "rescore")] if look else []
        super().__init__(title, *keys)
        self._choices, self._now, self._compares = list(choices), now, compares
        self._heads = heads
        self._beside = [value for value in beside if value != now]
        self._looking: LatestRequest[None, Sequence[Source]] | None = None
        if look is not None:
            self._looking = LatestRequest("people", self, lambda _: look(), self._add_people)

    def body(self) -> list[Widget]:
        """The runs: ● is shown, ■ is compared with it."""
        heads = (
            [Label(heading_of("source", self._heads, self._choices), id="heads", markup=False)] if self._heads else []
        )
        return [*heads, PickList(*marked_options(self._choices, self._marks))]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = place_of(self._choices, self._now)
        if self._looking is not None:
            self._looking.ask(None)

    @property
    def _marks(self) -> dict[str, str]:
        return dict.fromkeys(self._beside, "■ ") | {self._now: "● "}

    def _add_people(self, _: None, found: "Sequence[Source]") -> None:
        if found:
            here = self.at
            self._choices += people(found)
            for heads in self.query("#heads").results(Label):
                heads.update(heading_of("source", self._heads, self._choices))
            self.options.clear_options()
            self.options.add_options(marked_options(self._choices, self._marks))
            self.options.highlighted = here

    def action_tick(self) -> None:
        """Compare the picked run with the one that is shown, or not; none is nothing to compare with."""
        choice = self._choices[self.at]
        if not self._compares:
            return
        if choice.person:
            self.refuse(f"Enter keeps {choice.name} beside the runs first")
            return
        value = choice.value
        if value in self._beside:
            self._beside.remove(value)
        elif value and value != self._now:
            self._beside.append(value)
        self.options.replace_option_prompt_at_index(self.at, marked_options(self._choices, self._marks)[self.at].prompt)

    def action_leave_for(self, what: str) -> None:
        """Do something else with the picked source than to show it."""
        choice = self._choices[self.at]
        if self._looking is None:
            return
        if not choice.value:
            self.refuse("That is gold alone: choose one of the others")
        elif choice.person and what == RESCORE:
            self.refuse(f"{choice.name} is not scored yet: Enter scores and shows it")
        else:
            self.dismiss(self._picked(what))

    def _picked(self, what: str) -> Picked:
        choice = self._choices[self.at]
        value = choice.value.removeprefix("person ") if choice.person else choice.value
        return Picked(value, tuple(self._beside), what, choice.person)

    def result(self) -> Picked:
        picked = self._picked(SHOW)
        return msgspec.structs.replace(picked, value=self._now) if picked.value in self._beside else picked
