"""Which model to run over the dataset, and over how much of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from emotui.screens.cells import shown
from emotui.screens.figures import count
from emotui.screens.sheet import Sheet
from emotui.store.query import Run

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class Wish:
    """A run that a person wants: a new one, or one to be finished (`resume`)."""

    model: str
    limit: int | None = None
    resume: str | None = None


class ModelSheet(Sheet[Wish]):
    """A model SPEC is typed, or one that was used before is chosen; a stopped run can be finished."""

    BINDINGS = [Binding("enter", "start", show=False, priority=True)]
    DEFAULT_CSS = """
    ModelSheet Label { color: $text-muted; margin: 1 0 0 0; width: 1fr; }
    ModelSheet Input, ModelSheet Input:focus { height: 1; border: none; padding: 0 1; background: $raised; }
    ModelSheet OptionList, ModelSheet OptionList:focus {
        border: none; padding: 0 1; height: auto; max-height: 6; background: $surface;
    }
    ModelSheet #why { color: $error; height: auto; display: none; }
    """

    def __init__(self, dataset: str, n: int, runs: Sequence[Run], live: str | None = None) -> None:
        super().__init__(f"Run a model over {shown(dataset)}", (("Tab", "next"), ("Enter", "start")))
        self._n = n
        self._open = [run for run in runs if run.state in ("stopped", "failed") and run.done < run.n]
        self._models = list(dict.fromkeys([live or EMBEDDED, EMBEDDED, *(run.model for run in runs)]))

    def body(self) -> list[Widget]:
        """SPEC, limit, and what is there already."""
        options = [
            Option(
                Content.assemble(
                    "finish ", shown(run.model), (f"   {count(run.done)} of {count(run.n)} done", "$text-muted")
                )
            )
            for run in self._open
        ]
        options += [Option(Content(shown(model))) for model in self._models]
        known = OptionList(*options, id="models")
        known.display = len(options) > 1
        return [
            Label("model: embedded, hf:NAME_OR_DIR, gguf:FILE or openai:MODEL@URL"),
            Input(self._models[0], id="spec", compact=True),
            known,
            Label(f"how many of the {count(self._n)} samples, from the first (empty: all)"),
            Input("", id="limit", compact=True, restrict=r"[0-9]*"),
            Label("", id="why", markup=False),
        ]

    def on_mount(self) -> None:
        """Nothing is chosen of what is there until somebody goes there."""
        super().on_mount()
        self.query_one("#models", OptionList).highlighted = None

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        number = event.option_index - len(self._open)
        if number >= 0 and self.focused is event.option_list:
            self.query_one("#spec", Input).value = self._models[number]

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_start()

    def action_start(self) -> None:
        """Give the wish back, where it is one."""
        models = self.query_one("#models", OptionList)
        if self.focused is models and models.highlighted is not None and models.highlighted < len(self._open):
            run = self._open[models.highlighted]
            self.dismiss(Wish(run.model, resume=run.run))
            return
        spec = self.query_one("#spec", Input).value.strip()
        limit = self.query_one("#limit", Input).value.strip()
        if not spec:
            self._refuse("Name a model.")
        elif limit and int(limit) < 1:
            self._refuse("A run needs at least one sample.")
        else:
            self.dismiss(Wish(spec, int(limit) if limit else None))

    def _refuse(self, why: str) -> None:
        label = self.query_one("#why", Label)
        label.update(why)
        label.display = True
