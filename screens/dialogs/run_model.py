"""Which model to run over the dataset, over how much of it, and how it is asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal
from textual.validation import Integer, Number
from textual.widget import Widget
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from emotui.errors import BadInput
from emotui.screens.dialogs.dialog import Dialog, number_field, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.switches import OneOf, Switches
from emotui.screens.widgets.textual_private_text import Input
from emotui.store.query import Run
from emotui.workbench.progress import RunOptions

if TYPE_CHECKING:
    from emotui.workbench.runs.choices import RunChoices

EMBEDDED = "embedded"
OWN_WAY, HERE = "its own", "here"
"""The model's own way to be asked, and the dataset that is shown."""
HELD = "answers held to their form by a grammar"

_EXPERIMENTS = {0: "copy a text", 1: "find a sentence", 2: "evidence, three shown", 3: "evidence, none shown"}
"""What is asked in each of SEER's prompting experiments (its appendices A and B)."""

_OF_EXPERIMENTS = "experiments: SEER's tests of prompts, on sentences of their own"

_NUMBERS: Mapping[str, tuple[str, str, str]] = {
    "temperature": ("temperature", "0", "a temperature is a figure from 0 to 5"),
    "top_p": ("top-p", "1", "top-p is a figure above 0, up to 1"),
    "max_tokens": ("tokens", "auto", "tokens are a whole number from 1 on"),
    "retries": ("retries", "3", "retries are a whole number from 0 to 20"),
}
"""The settings that are numbers: their name, what holds without one, and what is said to one that is wrong."""

_WHOLE = ("max_tokens", "retries")


@dataclass(frozen=True, slots=True)
class Wish:
    """A run that a person wants. `experiment`: a prompting experiment, whose samples are a dataset of its own."""

    model: str
    wanted: RunOptions
    experiment: int | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """What a model is to run over. `experiment`: the prompting experiment that the dataset is of.

    `held`: by run who says to be at it, where nobody can tell from here. `choices(spec, experiment)` says what can be
    chosen for a model, `options(way, settings, prompts, repeats)` checks what was.
    """

    dataset: str
    n: int
    runs: Sequence[Run]
    experiment: int | None
    experiments: Sequence[int]
    choices: "Callable[[str, int | None], RunChoices]"
    options: Callable[[str | None, Mapping[str, object], str, int], dict[str, object]]
    held: Mapping[str, str] = field(default_factory=dict)


class ModelDialog(Dialog[Wish]):
    """A model SPEC is typed, or one that was used before is chosen; a stopped run can be finished."""

    BINDINGS = [
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]
    DEFAULT_CSS = """
    ModelDialog > #sheet { overflow-y: auto; scrollbar-size-vertical: 1; }
    ModelDialog Label { width: auto; margin: 0; }
    ModelDialog .row { height: auto; }
    ModelDialog .row > .name { width: 10; }
    ModelDialog .row > .between { padding: 0 1; }
    ModelDialog .row > .number { width: 6; }
    ModelDialog .row > #limit, ModelDialog .row > #seed { width: 9; }
    ModelDialog .row > Switches { width: 1fr; }
    ModelDialog #forms, ModelDialog .beside { width: 1fr; padding: 0 0 0 11; }
    ModelDialog #prompts, ModelDialog #spec { width: 1fr; }
    ModelDialog OptionList, ModelDialog OptionList:focus { padding: 0 0 0 9; max-height: 5; }
    ModelDialog #about { height: auto; width: 1fr; margin: 1 0 0 0; }
    ModelDialog #why { width: 1fr; }
    """

    def __init__(self, over: Over, live: str | None = None) -> None:
        super().__init__(f"Run a model over {shown(over.dataset)}", ("Tab", "next"), ("Enter", "start"))
        self._over = over
        self._open = [
            run
            for run in over.runs
            if run.done < run.n and (run.state in ("stopped", "failed") or run.run in over.held)
        ]
        self._warned = ""
        self._models = list(
            dict.fromkeys([live or EMBEDDED, EMBEDDED, *(run.model for run in over.runs if run.source == "model")])
        )

    def body(self) -> list[Widget]:
        """The model, over what, and how it is asked; what cannot be chosen for this model is not there."""
        known = PickList(*self._known(), id="models")
        known.display = len(self._open) + len(self._models) > 1
        experiments = [f"experiment {number}" for number in self._over.experiments]
        labels = [f"{number}: {_EXPERIMENTS[number]}" for number in self._over.experiments]
        labels = [shown(self._over.dataset), *(f"experiment {label}" for label in labels[:1]), *labels[1:]]
        rows: list[Widget] = [
            _row("model", Input(self._models[0], id="spec", compact=True)),
            Label("embedded, hf:NAME_OR_DIR, gguf:FILE or openai:MODEL@URL", id="forms"),
            known,
        ]
        if experiments and self._over.experiment is None:
            rows.append(_row("samples", OneOf([HERE, *experiments], HERE, labels, id="over")))
            rows.append(Label(_OF_EXPERIMENTS, classes="beside"))
        rows += [
            _row("way", OneOf([OWN_WAY], OWN_WAY, id="way"), id="ways"),
            _row(
                "the first",
                *(_whole("limit", "all", "A run needs at least one sample."), _between(f"of {count(self._over.n)}")),
                *(_between("repeats"), _whole("repeats", "1", "A run has at least one repeat.")),
                *(_between("seed"), _whole("seed", "0", "A seed is a whole number.", r"-?[0-9]*", least=None)),
            ),
            _row("sampling", *_numbers(), id="settings"),
            _row(
                "prompts",
                Input("", placeholder="your own (TOML); empty: this project's", id="prompts", compact=True),
                id="own-prompts",
            ),
            _row("format", Switches([HELD], (), id="constrain"), id="format"),
            Label("", id="about", markup=False),
        ]
        return rows

    def _known(self) -> list[Option]:
        return [
            *map(self._unfinished, self._open),
            *(option(model, "") for model in self._models),
        ]

    def _unfinished(self, run: Run) -> Option:
        holder = self._over.held.get(run.run)
        done = f"   {count(run.done)} of {count(run.n)} done"
        return option(f"take over {run.model}", f"{done}, {holder}") if holder else option(f"finish {run.model}", done)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#models", OptionList).highlighted = None
        self._offer()

    def _experiment(self) -> int | None:
        """The prompting experiment that is to be run, whether it is the dataset or was chosen here."""
        for over in self.query("#over").results(OneOf):
            if over.now != HERE:
                return int(over.now.rpartition(" ")[2])
        return self._over.experiment

    @on(Input.Changed, "#spec")
    @on(OneOf.Chosen)
    def _changed(self, event: "Input.Changed | OneOf.Chosen") -> None:
        event.stop()
        self._offer()

    def _offer(self) -> None:
        """Offer what can be chosen for the model that is named."""
        found = self._over.choices(self.text("spec"), self._experiment())
        ways = self.query_one("#way", OneOf)
        # An experiment is asked in ways of its own, so there the model's own is none of them.
        own = [] if any(way.startswith("experiment") for way in found.ways) else [OWN_WAY]
        ways.offer([*own, *found.ways], ways.now, [*own, *(way.removeprefix("experiment-") for way in found.ways)])
        self.query_one("#ways").display = bool(found.ways)
        self.query_one("#settings").display = any(name in found.settings for name in _NUMBERS)
        self.query_one("#format").display = "constrain" in found.settings
        for name in _NUMBERS:
            for widget in self.query(f".of-{name}"):
                widget.display = name in found.settings
        self.query_one("#own-prompts").display = found.prompts
        about = self.query_one("#about", Label)
        about.update(found.why)
        about.display = bool(found.why)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        number = event.option_index - len(self._open)
        if number >= 0 and self.focused is event.option_list:
            self.query_one("#spec", Input).value = self._models[number]

    def result(self) -> Wish:
        """The run that is wanted, or the one under the cursor that is to be finished.

        Raises:
            BadInput: what is typed cannot be run.
        """
        models = self.query_one("#models", OptionList)
        if self.focused is models and models.highlighted is not None and models.highlighted < len(self._open):
            return self._finishing(self._open[models.highlighted])
        spec = self.text("spec")
        if not spec:
            raise BadInput("Name a model.")
        experiment = self._experiment()
        found = self._over.choices(spec, experiment)
        if not found.possible:
            raise BadInput(found.why)
        limit, repeats = self.number("limit"), int(self.number("repeats") or 1)
        settings: dict[str, object] = {
            name: value for name in _NUMBERS if name in found.settings and (value := self._setting(name)) is not None
        }
        if "constrain" in found.settings and self.query_one("#constrain", Switches).chosen:
            settings["constrain"] = True
        chosen = self.query_one("#way", OneOf).now if found.ways else OWN_WAY
        way = None if chosen == OWN_WAY else chosen
        return Wish(
            model=self.model(spec, typed=spec not in self._models),
            wanted=RunOptions(
                limit=None if limit is None else int(limit),
                way=way,
                repeats=repeats,
                seed=int(self.number("seed") or 0),
                options=self._over.options(way, settings, self.text("prompts") if found.prompts else "", repeats),
            ),
            experiment=experiment if experiment != self._over.experiment else None,
        )

    def _finishing(self, run: Run) -> Wish:
        """The wish to go on with a run; one that another process says to be at has to be accepted twice."""
        holder = self._over.held.get(run.run)
        if holder and self._warned != run.run:
            self._warned = run.run
            raise BadInput(
                f"Its model may be running in {holder}, which cannot be seen from here. Where that is gone for good, "
                "Enter again takes the run over."
            )
        return Wish(self.model(run.model, typed=False), RunOptions(resume=run.run, take_over=bool(holder)))

    def _setting(self, name: str) -> float | int | None:
        value = self.number(name)
        return int(value) if value is not None and name in _WHOLE else value


def _row(name: str, *widgets: Widget, id: str | None = None) -> Horizontal:
    return Horizontal(Label(name, classes="name", markup=False), *widgets, classes="row", id=id)


def _whole(name: str, default: str, why: str, restrict: str = r"[0-9]*", *, least: int | None = 1) -> Input:
    return number_field(name, "", Integer(least, None, why), empty=default, restrict=restrict, classes="number")


def _between(name: str, classes: str = "") -> Label:
    return Label(name, markup=False, classes=f"between {classes}".strip())


def _numbers() -> list[Widget]:
    widgets: list[Widget] = []
    for name, (label, default, why) in _NUMBERS.items():
        validator = Integer(None, None, why) if name in _WHOLE else Number(None, None, why)
        classes, restrict = f"number of-{name}", r"[0-9]*[.,]?[0-9]*"
        widgets.append(_between(label, f"of-{name}"))
        widgets.append(number_field(name, "", validator, empty=default, restrict=restrict, classes=classes))
    return widgets
