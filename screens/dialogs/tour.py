"""A tour of the workbench: what one sees and the one key that goes on, in a line or two under the panes."""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from emotui.screens.actions import Action
from emotui.screens.keymaps import keyed
from emotui.screens.widgets.line import Line, Part, taken


class Step(msgspec.Struct, frozen=True):
    """What is seen in a place, and what leads on: another place by its title, or an action by its id.

    Each is a sentence that is true when it is shown. `folded` is said instead of `says` where the list is folded away,
    and `soon` while the first runs go on: what the step is about comes by them, and is there once `there` can be done;
    `typed` while one types.
    """

    place: str
    says: str
    to: str
    label: str
    folded: str = ""
    soon: str = ""
    there: str = ""
    typed: str = ""


STEPS = (
    Step(
        "Browse",
        "Here you see where models err about emotions in texts.",
        "next",
        "next text",
        "See where models err about emotions; {list} shows the texts.",
    ),
    Step(
        "Browse",
        "Gold is underlined; what a model says is shaded.",
        "next_error",
        "next error",
        soon="Gold is underlined; what a model says comes shaded.",
    ),
    Step(
        "Browse",
        "Letters mark errors: M missed, X extra, N neutral hit.",
        "Results",
        "Results",
        soon="As answers come: M missed, X extra, N neutral hit.",
    ),
    Step(
        "Results",
        "Each dot is a source, and its line the 95% interval.",
        "Scenes",
        "Scenes",
        soon="Each source gets its dot here as its answers come.",
    ),
    Step(
        "Scenes",
        "A row is filled where its emotion is on; {alpha_less} {alpha_more} move α.",
        "Rephrase",
        "Rephrase",
        soon="Each emotion gets its row here as answers come.",
        there="alpha_less",
    ),
    Step(
        "Rephrase",
        "Reword it so that only the model errs; {write} begins.",
        "help",
        "all keys",
        soon="{write} lets you write now; the model reads it after the runs.",
        typed="Reword it so that only the model errs; {submit} submits.",
    ),
)


class Meant(Protocol):
    """Who knows where one is and what keys mean."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action, with the keys that it has."""

    @property
    def title(self) -> str:
        """The name of the open place."""

    @property
    def titles(self) -> Mapping[int, str]:
        """The places by their numbers."""

    @property
    def in_field(self) -> bool:
        """Are characters typed into a field?"""

    @property
    def starts_first(self) -> bool:
        """Do the first runs of a new workspace go on?"""

    def can(self, action: str) -> bool:
        """Can this be done now?"""

    def meant(self, key: str) -> Action | None:
        """What a key does now."""


class Tour(Vertical):
    """Takes a row or two of its own and no keys: it looks which are pressed.

    Args:
        keys: what keys mean now.
        end: called when the last step is over.
    """

    DEFAULT_CSS = """
    Tour { height: auto; background: $panel; }
    Tour > Line { padding: 0 1; }
    """

    def __init__(self, keys: Meant, end: Callable[[], None]) -> None:
        super().__init__()
        self.step = 0
        self._keys, self._end = keys, end

    def compose(self) -> ComposeResult:
        """The line with what is seen, and one for the keys where they do not fit beside it."""
        yield Line(id="tour-says")
        yield Line(id="tour-keys")

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)
        self.draw()

    def on_resize(self) -> None:
        self.draw()

    def begin_again(self) -> None:
        """Go back to the first step."""
        self.step = 0
        self.draw()

    def pressed(self, key: str) -> None:
        """This key is about to do what it does: go on where it is the one that was named."""
        step = STEPS[self.step]
        leads = any(one.id == step.to and key in one.keys for one in self._keys.actions)
        if not leads or step.place != self._keys.title:
            return
        if self.step + 1 == len(STEPS):
            self._end()
        else:
            self.step += 1
            self.draw()

    @property
    def leads(self) -> str:
        """What Enter does where it means nothing else: what goes on from here; empty: nothing does.

        It never ends the tour, nor acts while one types: there it submits. A list gives it up to the tour.
        """
        if self._keys.in_field or self.step + 1 == len(STEPS):
            return ""
        step = STEPS[self.step]
        return _leading(step.to if step.place == self._keys.title else step.place, self._keys)[1]

    def _follow(self, _: Screen[object]) -> None:
        if STEPS[self.step].to == self._keys.title:
            self.step += 1
        self.draw()

    def draw(self) -> None:
        """Show the step, on one line where it fits."""
        folded = self.screen.has_class("-narrow") and not self.screen.has_class("-list")
        says, keys, right = told(self.step, self._keys, folded=folded)
        both = [keys[0], Part("  "), *says, Part("  "), *keys[2:]]
        first, second = self.query_one("#tour-says", Line), self.query_one("#tour-keys", Line)
        second.display = taken(both) + taken(right) + 1 > self.size.width - 2
        first.show(says if second.display else both, () if second.display else right)
        second.show(keys, right)


def told(number: int, keys: Meant, *, folded: bool) -> tuple[list[Part], list[Part], list[Part]]:
    """What a step says, which key leads on, and what Esc does; in another place than the step's, the way back to it.

    Enter leads on too where it does nothing else, but at the last step.
    """
    step = STEPS[number]
    here = step.place == keys.title
    comes = keys.starts_first and not (step.there and keys.can(step.there))
    meant = (step.typed if keys.in_field else "", step.soon if comes else "", step.folded if folded else "")
    said = next(filter(None, meant), step.says)
    says = keyed(said) if here else f"It goes on in {step.place}."
    to, label = (step.to, keyed(step.label)) if here else (step.place, step.place)
    key, press = _leading(to, keys)
    before = [Part("Esc", "key"), Part(" and ")] if keys.in_field else []
    enters = not keys.in_field and keys.meant("enter") is None and number + 1 < len(STEPS)
    leads = [
        Part(f"tour {number + 1} of {len(STEPS)}", "strong"),
        Part("  "),
        Part("then ", "dim"),
        *before,
        Part(key, "key", press),
        *([Part(" or ", "dim"), Part("Enter", "key", press)] if enters else []),
        Part(f": {label}", "plain", press),
    ]
    ends = keys.meant("escape")
    leaves = ends is not None and ends.id == "end_tour"
    right = [Part("Esc", "key", "do('end_tour')"), Part(" ends the tour", "dim", "do('end_tour')")] if leaves else []
    return [Part(says)], leads, right


def _leading(to: str, keys: Meant) -> tuple[str, str]:
    """The sign of the key that opens a place or does an action, and what a click on it does."""
    for number, title in keys.titles.items():
        if title == to:
            return str(number), f"place({number})"
    action = next(one for one in keys.actions if one.id == to)
    return action.shown, f"press('{action.keys[0]}')" if action.keys else f"do('{to}')"
