"""Scenes: eight emotions at once, joined by a prior whose weight moves under the arrow keys."""

from emotui.screens import scene_parts
from emotui.screens.page import Page
from emotui.screens.scene_place import ScenePlace
from emotui.screens.scene_rows import SceneRows
from emotui.screens.scene_views import VIEWS


class Scenes(ScenePlace):
    """What the keys of the place do."""

    def can(self, action: str) -> bool:
        """All but the sample's own actions need a run that has answered."""
        if not super().can(action):
            return False
        if action == "prior":
            return self._run is not None and self._run.done > 0
        if action == "annotators":
            return self.scene is not None and bool(self.scene.annotators)
        if action in ("next_flip", "previous_flip"):
            return self.decoded is not None and bool(self._flipped())
        if action == "free":
            return bool(self.clamps)
        if action in ("clamp", "why", "copy"):
            return self.place_in_run is not None
        return self.decoded is not None

    def tell(self, what: str, value: object) -> None:
        """A view's name or a scenario was clicked."""
        if what == "view":
            self.show_view(str(value))
        elif what == "scene" and isinstance(value, int):
            self.post_message(self.Sought(frozenset({value}), 0))

    def move_to(self, alpha: float) -> None:
        """Weigh the prior by this much: the scenario at once, the whole set as soon as it is decoded."""
        self.alpha = alpha
        self._draw_slider()
        self._decode()

    def do_alpha_less(self) -> None:
        """The next smaller step."""
        from emotui.workbench.scenes import ALPHAS

        self.move_to(max((step for step in ALPHAS if step < self.alpha - 1e-9), default=0.0))

    def do_alpha_more(self) -> None:
        """The next larger step."""
        from emotui.workbench.scenes import ALPHAS

        self.move_to(min((step for step in ALPHAS if step > self.alpha + 1e-9), default=max(self.alpha, ALPHAS[-1])))

    def do_alpha(self) -> None:
        """Type alpha, and the one that flips are counted against."""
        from emotui.screens.prior_sheet import AlphaSheet

        def taken(alphas: tuple[float, float] | None) -> None:
            if alphas is not None:
                self.other = alphas[1]
                self.move_to(alphas[0])

        self.app.push_screen(AlphaSheet(self.alpha, self.other), taken)

    def do_prior(self) -> None:
        """Choose prior, smoothing and temperature."""
        from emotui.screens.prior_sheet import PriorSheet
        from emotui.workbench.scenes import ABOUT_PRIORS, Tuning, as_setting, tuning_from

        def taken(choice: "tuple[str, float, float | str] | None") -> None:
            if choice is not None:
                kept = dict(zip(as_setting(tuning), choice, strict=True))
                self._tuning = tuning_from(kept)
                self._fit()

        tuning = self._tuning or Tuning()
        self.app.push_screen(PriorSheet(ABOUT_PRIORS, tuning.prior, tuning.smoothing, tuning.scaling), taken)

    def do_clamp(self) -> None:
        """Take the picked emotion as known: yes, no, free again."""
        label = self.query_one(SceneRows).cursor
        following = {None: 1, 1: 0}
        value = following.get(self.clamps.get(label))
        self.clamps.pop(label, None)
        if value is not None:
            self.clamps[label] = value
        self._draw_slider()
        self._draw_view()
        self.refresh_bindings()

    def do_free(self) -> None:
        """No emotion is taken as known."""
        self.clamps = {}
        self._draw_slider()
        self._draw_view()
        self.refresh_bindings()

    def do_why(self) -> None:
        """Why the picked emotion is as it is, or the view before."""
        self.show_view("why" if self.view != "why" else "sweep")

    def do_view(self) -> None:
        """The next view."""
        names = list(VIEWS)
        self.show_view(names[(names.index(self.view) + 1) % len(names)])

    def do_view_back(self) -> None:
        """The view before."""
        names = list(VIEWS)
        self.show_view(names[names.index(self.view) - 1])

    def show_view(self, name: str) -> None:
        """Show this view in the lower pane."""
        self.view = name
        self.query_one("#scene-view", Page).scroll_home(animate=False)
        self._ask_view()
        self._draw_view()

    def do_values(self) -> None:
        """Numbers in heatmaps, or shades."""
        self.values = not self.values
        self._draw_view()

    def do_leaked(self) -> None:
        """The figures that look at what they are scored on, or the honest ones."""
        self.leaked = not self.leaked
        if self.view != "sweep":
            self.view = "sweep"
        self._draw_view()

    def do_annotators(self) -> None:
        """The annotators' vectors in the heading, or not."""
        self._annotators = not self._annotators
        self._draw_title()

    def do_next_flip(self) -> None:
        """The next scenario of the list that flips."""
        self.post_message(self.Sought(self._flipped(), 1))

    def do_previous_flip(self) -> None:
        """The one before."""
        self.post_message(self.Sought(self._flipped(), -1))

    def do_export(self) -> None:
        """The run's logits, as records that emotui decode takes, to a file."""
        from emotui.screens.export_sheet import ExportSheet

        def chosen(path: str | None) -> None:
            if path is not None and self._run is not None:
                self._desks["export"].ask((self._run, path))

        if self.redecoding is not None:
            self.app.push_screen(ExportSheet(len(self.redecoding.scenes.ids), self._run), chosen)

    def do_copy(self) -> None:
        """The scenario and its emotions to the clipboard."""
        scene, rows = self.scene, self.query_one(SceneRows).rows
        if scene is None:
            return
        self.app.copy_to_clipboard(scene_parts.as_text(scene, rows, self.alpha))
        self.notify(f"{scene.id} copied", markup=False)
