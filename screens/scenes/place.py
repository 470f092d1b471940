"""Scenes: eight emotions at once, joined by a prior whose weight moves under the arrow keys."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from textual import on
from textual.content import Content
from textual.validation import Number
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.dialog import Dialog, OptionDialog, number_field
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.scenes import axis
from emotui.screens.scenes.entry import ENTRY
from emotui.screens.scenes.ribbons import RibbonRows
from emotui.screens.scenes.shown_place import ShownScenes
from emotui.screens.scenes.views import EVIDENCE, SUM, SWEEP, VIEWS, WHY
from emotui.screens.widgets.page import Page

# Dialogs of the Scenes place: which prior, and which alpha.


class AlphaDialog(Dialog[tuple[float, float]]):
    """Two alphas: the one that is shown, and the one that flips are counted against."""

    def __init__(self, alpha: float, other: float) -> None:
        super().__init__("Alpha: how much the prior weighs", ("Tab", "next"), ("Enter", "take"))
        self._alphas = alpha, other

    def body(self) -> list[Widget]:
        within = Number(0, 1000, "An α is a number from 0 to 1000.")
        fields = [
            number_field(name, f"{alpha:g}", within)
            for name, alpha in zip(("alpha", "other"), self._alphas, strict=True)
        ]
        return [Label("α (0: the model alone)"), fields[0], Label("flips are counted against α"), fields[1]]

    def result(self) -> tuple[float, float]:
        """Both alphas.

        Raises:
            BadInput: one is no number from 0 to 1000.
        """
        return self.number("alpha") or 0.0, self.number("other") or 0.0


class PriorDialog(OptionDialog[tuple[str, float, "float | str"]]):
    """The prior with its smoothing, and the temperature of the logits."""

    DEFAULT_CSS = "PriorDialog OptionList { max-height: 14; }"

    def __init__(self, about: Mapping[str, str], prior: str, smoothing: float, scaling: "float | str") -> None:
        super().__init__("Prior over emotion vectors", ("Tab", "next"), ("Enter", "take"))
        self._about, self._prior, self._smoothing, self._scaling = about, prior, smoothing, scaling

    def body(self) -> list[Widget]:
        options = [
            Content.assemble((f"{name:<17}", "bold"), (words, "$text-muted")) for name, words in self._about.items()
        ]
        smoothing = Number(0, 1000, "A smoothing is a number from 0 to 1000.")
        scaling = Number(0.02, 50, "A temperature is a number from 0.02 to 50, or: fitted.")
        return [
            PickList(*options),
            Label("smoothing: pseudo-scenarios, spread evenly over all vectors"),
            number_field("smoothing", f"{self._smoothing:g}", smoothing),
            Label("temperature of the logits: a number, or: fitted (on the other folds)"),
            number_field("scaling", f"{self._scaling}", scaling),
        ]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = list(self._about).index(self._prior)

    def result(self) -> tuple[str, float, "float | str"]:
        """The prior's name, its smoothing and the temperature.

        Raises:
            BadInput: a field holds no number within its bounds.
        """
        smoothing = self.number("smoothing") or 0.0
        scaling = "fitted" if self.text("scaling") == "fitted" else self.number("scaling") or 0.0
        return list(self._about)[self.at], smoothing, scaling


class Scenes(ShownScenes):
    """What keys and the mouse do."""

    entry = ENTRY
    headings = {"scene-text": "#scene-title", "scene-rows": "#scene-alpha", "scene-view": "#scene-views"}
    DEFAULT_CSS = """
    Scenes #scene-text { height: 2fr; min-height: 3; max-height: 9; padding: 0 1; scrollbar-gutter: auto; }
    Scenes #scene-alpha { padding: 0; background: $panel; }
    Scenes #scene-view { height: 5fr; min-height: 3; }
    Scenes.-low #scene-text { height: 1fr; min-height: 1; }
    """

    def on_show(self) -> None:
        self._tell_list()

    @on(RibbonRows.Picked)
    def _picked(self, event: RibbonRows.Picked) -> None:
        event.stop()
        if self.view == EVIDENCE:
            self._draw_view()

    # Keys.

    def doing(self, action: str) -> Callable[[], None] | None:
        """In the ribbons Tab goes on to the next emotion, and past the last one to the next pane."""
        step = {"pane": 1, "pane_back": -1}.get(action)
        if step is None:
            return super().doing(action)
        further = 0 <= self.rows.cursor + step < len(self.rows.rows)
        return (lambda: self.rows.pick(self.rows.cursor + step)) if self.rows.has_focus and further else None

    @property
    def at_once(self) -> Collection[str]:
        """To move α and to look on, where a run has answers."""
        run = self.session.run_shown
        if self.decoded is not None or run is None or not run.done or not self._requests:
            return ()
        return ("alpha_less", "emotion", "clamp", "why", "view")

    def can(self, action: str) -> bool:
        if not super().can(action):
            return False
        if action in ("pane", "pane_back"):
            return True
        if action in ("prior", "objective"):
            return self._run is not None and self._run.done > 0
        if action == "annotators":
            return self.scene is not None and bool(self.scene.annotators)
        if action in ("next_flip", "previous_flip"):
            return self.decoded is not None and bool(self._flipped())
        if action == "free":
            return bool(self.clamps)
        if action == "leave":
            return self._view_alone
        if action in ("part", "part_back"):
            return self.decoded is not None and len(VIEWS[self.view]) > 1
        if action == "chosen":
            return self._chosen is not None
        if action in ("clamp", "why", "copy", "emotion", "emotion_back"):
            return self.place_in_run is not None
        return self.decoded is not None

    def tell(self, what: str, value: object) -> None:
        if what == "view":
            self.show_view(str(value))
        elif what == "part":
            self.show_view(self.view, str(value))
        elif what == "alpha" and isinstance(value, int) and self._ribbons is not None:
            self.move_to(self._ribbons.alphas[value])
        elif what == "scene" and isinstance(value, int):
            self.post_message(self.Sought(frozenset({value}), 0))

    def move_to(self, alpha: float) -> None:
        """Weigh the prior by this much: the scenario at once, the whole set as soon as it is decoded."""
        self.alpha, self._moved = alpha, True
        self._draw_slider()
        if self.part == SUM:
            self._draw_view()
        self._decode()

    def do_alpha_less(self) -> None:
        from emotui.workbench.scenes.decoding import ALPHAS

        self.move_to(max((step for step in ALPHAS if step < self.alpha - 1e-9), default=0.0))

    def do_alpha_more(self) -> None:
        from emotui.workbench.scenes.decoding import ALPHAS

        self.move_to(min((step for step in ALPHAS if step > self.alpha + 1e-9), default=max(self.alpha, ALPHAS[-1])))

    def do_alpha(self) -> None:
        def chosen(alphas: tuple[float, float]) -> None:
            self.other = alphas[1]
            self.move_to(alphas[0])

        AlphaDialog(self.alpha, self.other).ask(self.app, chosen)

    def do_chosen(self) -> None:
        """Back to the alpha that cross-validation chose, and with it where another prior has another one."""
        if self._chosen is not None:
            self.move_to(self._chosen.choice.alpha)
            self._moved = False

    def do_emotion(self) -> None:
        self.rows.pick(self.rows.cursor + 1)

    def do_emotion_back(self) -> None:
        self.rows.pick(self.rows.cursor - 1)

    def do_prior(self) -> None:
        from emotui.workbench.scenes.decoding import ABOUT_PRIORS, Tuning
        from emotui.workbench.scenes.service import as_setting, tuning_from

        def chosen(choice: "tuple[str, float, float | str]") -> None:
            named = dict(zip(("prior", "smoothing", "scaling"), choice, strict=True))
            self._tuning = tuning_from(as_setting(tuning) | named)
            self._fit()

        tuning = self._tuning or Tuning()
        PriorDialog(ABOUT_PRIORS, tuning.prior, tuning.smoothing, tuning.scaling).ask(self.app, chosen)

    def do_objective(self) -> None:
        from emotui.workbench.scenes.decoding import ABOUT_OBJECTIVES, Tuning

        tuning = self._tuning or Tuning()
        names = list(ABOUT_OBJECTIVES)
        self._tuning = replace(tuning, objective=names[(names.index(tuning.objective) + 1) % len(names)])
        self._fit()

    def do_clamp(self) -> None:
        """Take the picked emotion as known: yes, no, free again."""
        label = self.rows.cursor
        following = {None: 1, 1: 0}
        value = following.get(self.clamps.get(label))
        self.clamps.pop(label, None)
        if value is not None:
            self.clamps[label] = value
        self._clamped()

    def do_free(self) -> None:
        self.clamps = {}
        self._clamped()

    def _clamped(self) -> None:
        self._ask_ribbons()
        self._draw_slider()
        self._draw_view()
        self.refresh_bindings()

    def do_why(self) -> None:
        self.show_view(EVIDENCE, WHY if self.part != WHY else SUM)

    def do_view(self) -> None:
        self._step_view(1)

    def do_view_back(self) -> None:
        self._step_view(-1)

    def _step_view(self, by: int) -> None:
        names = list(VIEWS)
        closed = self.has_class("-low") and not self._reading
        if closed:
            self.show_view(self.view, self.part)
        else:
            self.show_view(names[(names.index(self.view) + by) % len(names)])

    def do_part(self) -> None:
        self._step_part(1)

    def do_part_back(self) -> None:
        self._step_part(-1)

    def _step_part(self, by: int) -> None:
        parts = list(VIEWS[self.view])
        self.show_view(self.view, parts[(parts.index(self.part) + by) % len(parts)])

    def do_leave(self) -> None:
        """From a view that took the place of the scenario back to it."""
        self.view, self.part, self._reading = EVIDENCE, SUM, False
        self._draw()
        self.focus_first()

    def show_view(self, name: str, part: str = "") -> None:
        """Show this view, or this part of it, in the lower pane; where that has no room, in place of the scenario."""
        self.view, self.part, self._reading = name, part or next(iter(VIEWS[name])), True
        if self.decoded is not None:
            self._lay_out(text=self.scene is not None, run=True)
            self.refresh_bindings()
        self.query_one("#scene-view", Page).scroll_home(animate=False)
        self._ask_view()
        self._draw_view()

    def do_leaked(self) -> None:
        self.in_sample = not self.in_sample
        self.show_view(SWEEP)

    def do_annotators(self) -> None:
        self._annotators = not self._annotators
        self._draw_title()

    def do_next_flip(self) -> None:
        self.post_message(self.Sought(self._flipped(), 1))

    def do_previous_flip(self) -> None:
        self.post_message(self.Sought(self._flipped(), -1))

    def do_export(self) -> None:
        from emotui.screens.dialogs.file import ExportDialog

        if self.redecoding is not None:
            dialog = ExportDialog(len(self.redecoding.scenes.ids), self._run)
            dialog.ask(self.app, lambda path: self._requests["export"].ask((self._run, path)))

    def do_copy(self) -> None:
        scene, rows = self.scene, self.rows.rows
        if scene is None:
            return
        self.app.copy_to_clipboard(axis.as_text(scene, rows, self.alpha))
        self.notify(f"{scene.id} copied", markup=False)
