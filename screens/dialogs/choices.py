"""Choosing one of a few: the order of the list, the run, the dataset, the colours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Label
from textual.widgets.option_list import Option

from emotui.metrics.metric import Metric
from emotui.screens.dialogs.dialog import MOST, Dialog, OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.list_state import NO_RUN, key_of
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.number_format import count, so_many
from emotui.screens.widgets.textual_private_text import Input
from emotui.store.query import Dataset, Run

if TYPE_CHECKING:
    from emotui.workbench.datasets.sources import Source

# A dialog that asks for a name.


class NameDialog(Dialog[str]):
    """One line to type: a model's SPEC, or a person's name. `why`: what was wrong with the last one."""

    def __init__(self, title: str, about: Sequence[str], now: str, *, why: str = "") -> None:
        super().__init__(title, ("Enter", "go on"))
        self._about, self._now, self._why = about, now, why

    def body(self) -> list[Widget]:
        return [
            *(Label(shown(line), markup=False) for line in self._about),
            Input(self._now, id="name", compact=True),
        ]

    def on_mount(self) -> None:
        """Type at once."""
        super().on_mount()
        self.refuse(self._why)
        self.query_one(Input).focus()

    def result(self) -> str | None:
        """The name, where something was typed."""
        name = self.text("name")
        return self.model(name, typed=name != self._now) if name else None


_ORDERS = {"file": "as in the file", "id": "id"}
_LATER_ORDERS = {"emotion": "emotion", "length": "length of the text"}


_LINE = 68
"""Cells of a choice beside its mark and what parts its name from the rest."""

_SHORTEST = 12
"""Cells of where a dataset is from at least: less says nothing."""

_LONGEST = 24
"""Cells for a model's name among runs; of a longer one the end is shown, which tells more."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of them: its value, its name, and what is worth knowing about it.

    `person`: it is a person whose word stands inside the gold records alone, by name.
    """

    value: str
    name: str
    about: str = ""
    person: bool = False


class ChoiceDialog(OptionDialog[str]):
    """Arrow keys or j and k, Enter; or a click. `about`: what is true of all of them, told once under them."""

    def __init__(self, title: str, choices: Sequence[Choice], now: str, *, about: str = "") -> None:
        super().__init__(title, ("j k", "move"), ("Enter", "choose"))
        self._choices, self._now, self._about = list(choices), now, about

    def body(self) -> list[Widget]:
        told = [Label(shown(self._about), markup=False)] if self._about else []
        return [PickList(*marked_options(self._choices, {self._now: "● "})), *told]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = place_of(self._choices, self._now)

    def result(self) -> str:
        return self._choices[self.at].value


class OrderDialog(ChoiceDialog):
    """Space turns the order round; gives back the order and whether it is turned, as one that is set already too."""

    BINDINGS = [Binding("space", "turn", show=False)]

    def __init__(self, title: str, choices: Sequence[Choice], now: str, *, descending: bool) -> None:
        super().__init__(title, choices, now)
        self._keys = (("j k", "move"), ("Space", "turn round"), ("Enter", "choose"), ("Esc", "back"))
        self.descending = descending

    def body(self) -> list[Widget]:
        return [*super().body(), Line(id="turned")]

    def on_mount(self) -> None:
        super().on_mount()
        self._tell()

    @on(PickList.OptionHighlighted)
    def _moved(self, event: PickList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    def action_turn(self) -> None:
        """The other way round."""
        self.descending = not self.descending
        self._tell()

    def _tell(self) -> None:
        name = self._choices[self.at].name
        turned = [Part("turned round: ", "dim"), Part(_turned(name), "strong")]
        self.query_one("#turned", Line).show(turned if self.descending else [])


def _turned(name: str) -> str:
    """An order's name where it is turned round."""
    for one, other in (("lowest first", "highest first"), ("wrong ones", "right ones")):
        for here, there in ((one, other), (other, one)):
            if here in name:
                return name.replace(here, there)
    return f"{name}, the last first"


def marked_options(choices: Sequence[Choice], marks: Mapping[str, str]) -> list[Option]:
    """An option a choice, with the mark of its value before it."""
    widest = _widest(choices)
    return [option(one.name, f"   {one.about}", marks.get(one.value, "  "), widest) for one in choices]


def _widest(choices: Sequence[Choice]) -> int:
    return max((width(choice.name) for choice in choices), default=0)


def heading_of(name: str, about: str, choices: Sequence[Choice]) -> str:
    """The line over marked options: what their names are, and what stands over what is told of them."""
    return f"  {fit(name, min(_widest(choices), MOST))}   {about}"


def place_of(choices: Sequence[Choice], value: str) -> int:
    """The place of a value among the choices; the first where it is none of them."""
    return next((place for place, choice in enumerate(choices) if choice.value == value), 0)


def sorts(metrics: Sequence[Metric]) -> list[Choice]:
    """Orders of the list; `metrics`: those of the run, if there is one."""
    by_metric = []
    for metric in metrics:
        first = "lowest" if metric.higher_is_better else "highest"
        about = "wrong ones first" if metric.yes_or_no else f"{metric.title} of the run, {first} first"
        by_metric.append(Choice(key_of(metric, metrics), about))
    return [
        *(Choice(name, about) for name, about in _ORDERS.items()),
        *by_metric,
        *(Choice(name, about) for name, about in _LATER_ORDERS.items()),
    ]


def figures(metrics: Sequence[Metric]) -> list[Choice]:
    """The metrics of a run, one of which stands in the list."""
    return [Choice(key_of(metric, metrics), metric.title, metric.help) for metric in metrics]


def _id_of(run: Run) -> str:
    """A run's id in few cells; nothing of a file's answers whose id is the name that stands before it."""
    return "" if run.run == run.model else fit(run.run, 12).rstrip()


def runs(found: Sequence[Run], without: str) -> tuple[list[Choice], str]:
    """Runs and other sources, newest first, and none; and what stands over the columns of what is told of them.

    Args:
        without: what is shown without any.
    """
    several = len({run.task for run in found}) > 1
    table = [("question" if several else "", "asked", "texts", "began", "run")]
    for run in found:
        done = count(run.done) if run.done == run.n else f"{count(run.done)} of {count(run.n)}"
        failed = f", {count(run.failed)} failed" if run.failed else ""
        state = "" if run.state == "done" else f"  {run.state}"
        way = str(run.config.get("way") or "") if run.source == "model" else f"a {run.source}"
        started = run.started[5:16].replace("T", " ")
        table.append((run.task if several else "", way, f"{done}{failed}{state}", started, _id_of(run)))
    cells = [
        0 if len(set(column[1:])) == 1 and not column[1] else max(map(width, column))
        for column in zip(*table, strict=True)
    ]
    heads, *lines = ["  ".join(fit(one, size) for one, size in zip(row, cells, strict=True) if size) for row in table]
    choices = []
    for run, about in zip(found, lines, strict=True):
        name = shown(run.model)
        name = name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST :]
        choices.append(Choice(run.run, name, about))
    return [*choices, Choice(NO_RUN, "none", without)], heads if found else ""


def people(found: Sequence["Source"]) -> list[Choice]:
    """People who are not kept beside the runs yet; a name may be that of a run too, so their values are told apart."""
    return [
        Choice(
            f"person {one.name}",
            shown(one.name),
            f"{so_many(one.n, 'text')} in gold: Enter scores and shows them",
            True,
        )
        for one in found
    ]


def datasets(found: Sequence[Dataset]) -> list[Choice]:
    """Datasets, oldest first; where they are from only where that tells them apart, in the room that there is."""
    told = not same_source(found)
    most = max((width(count(dataset.n)) for dataset in found), default=0)
    names = min(max((width(shown(dataset.name)) for dataset in found), default=0), MOST)
    choices = []
    for dataset in found:
        about = f"{count(dataset.n):>{most}} texts, {dataset.task}"
        room = _LINE - names - width(about)
        source = f"   {fit(shown(dataset.source), room).rstrip()}" if told and room >= _SHORTEST else ""
        choices.append(Choice(dataset.name, dataset.name, about + source))
    return choices


def same_source(found: Sequence[Dataset]) -> str:
    """Where several datasets are from, if all are from there; else empty."""
    sources = {dataset.source for dataset in found}
    return sources.pop() if len(found) > 1 and len(sources) == 1 else ""


def themes() -> list[Choice]:
    """The themes of this package."""
    from emotui.themes import THEMES

    return [Choice(name, name) for name in THEMES]
