"""How Scenes is laid out and drawn: the scenario, its ribbons under alpha, and a view of the whole set."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from emotui.screens.keymaps import keyed
from emotui.screens.place import EMPTY_LIST
from emotui.screens.scenes import headings
from emotui.screens.scenes.asking_place import AskingScenes
from emotui.screens.scenes.axis import alpha_text, nearest_step
from emotui.screens.scenes.ribbons import Ribboned, RibbonRows
from emotui.screens.scenes.views import VIEWS, Shown
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.tier_layout import AnnotatedText
from emotui.screens.widgets.tiered_text import TieredText

if TYPE_CHECKING:
    from emotui.workbench.scenes.decoding import Redecoding, Ribbons

_NEED_PAIRS = ("info", "together", "given")

TALL, LOW = 32, 21
"""Lines from which every view of the whole set stands under the ribbons, and from which the evidence does; below,
a view takes the place of scenario and ribbons until Esc."""


class ShownScenes(AskingScenes):
    """Above the scenario, then its emotions over alpha, below one of several views of the whole set."""

    def compose(self) -> ComposeResult:
        yield Line(id="scene-title", classes="-pane")
        yield SceneText(id="scene-text")
        yield Line(id="scene-alpha")
        yield RibbonRows(id="scene-rows")
        yield Line(id="scene-views", classes="-pane")
        yield Page(id="scene-view")
        yield Notice(id="scene-notice")

    @property
    def _view_alone(self) -> bool:
        """Does a view take the place of scenario and ribbons, since there is no room for both?"""
        if self.has_class("-low"):
            return self._reading
        return self.size.height < TALL and self.view != "evidence"

    def focus_first(self) -> None:
        """Put the keys into the emotions, or into the text where there are none yet."""
        rows = self.rows
        (rows if rows.display else self.query_one("#scene-text")).focus()

    def say(self, title: str, *lines: str, failed: bool = False) -> None:
        self._lay_out(text=False, run=False)
        self.query_one("#scene-notice", Notice).say(title, *lines, failed=failed)

    def _lay_out(self, *, text: bool, run: bool) -> None:
        alone = run and self._view_alone
        under = run and (alone or not self.has_class("-low"))
        focused = self.screen.focused
        self.query_one("#scene-title").display = text and not (self.has_class("-low") and run)
        self.query_one("#scene-text").display = text and not alone
        self.query_one("#scene-alpha").display = run
        self.query_one("#scene-rows").display = run and not alone
        for name in ("#scene-views", "#scene-view"):
            self.query_one(name).display = under
        if alone and focused is not None and focused.id in ("scene-text", "scene-rows"):
            self.query_one("#scene-view").focus()
        elif not alone and not under and focused is not None and focused.id == "scene-view":
            self.rows.focus()

    def _draw(self) -> None:
        """Everything that follows from the scenario, the run and alpha."""
        if self.scene is None:
            if not self.busy:
                self.show_nothing(f"No scenario is selected: {keyed(EMPTY_LIST)}")
            return
        scene, ready = self.scene, self.redecoding is not None and self.decoded is not None
        self._lay_out(text=True, run=ready)
        notice = self.query_one("#scene-notice", Notice)
        if ready:
            notice.hide()
        elif self._run is not None and self._run.state == "running" and not self._run.done:
            notice.say("The model is being asked", "its answers stand here as they come")
        elif self._run is None or not self._run.done:
            notice.say(
                "Nobody has been asked yet",
                keyed("{model} runs a model over these scenarios"),
                keyed("{run} chooses among runs"),
            )
        else:
            notice.say("Fitting the prior", "to the folds of the gold vectors, and choosing alpha inside them")
        self.query_one("#scene-text", SceneText).show(AnnotatedText(scene.text or ""))
        self._draw_title()
        if ready:
            if self.display and self.screen.focused is None:
                self.focus_first()
            self._draw_slider()
            self._draw_view()
        self.refresh_bindings()

    def _draw_title(self) -> None:
        if self.scene is not None:
            way = self.redecoding.scenes.way if self.redecoding is not None else ""
            left, right = headings.title(self.scene, self._run, way, annotators=self._annotators)
            self.query_one("#scene-title", Line).show(left, right)

    def _draw_slider(self) -> None:
        """Alpha and the emotions: quick enough to be drawn while the key is still down."""
        redecoding, place = self.redecoding, self.place_in_run
        if redecoding is None:
            return
        low = self.has_class("-low")
        name = self.scene.id if low and self.scene is not None else ""
        chosen = None if self._chosen is None else self._chosen.choice.alpha
        sides = headings.settings(redecoding, self.alpha, chosen, place, self.size.width, name)
        self.query_one("#scene-alpha", Line).show(*sides)
        rows, ribbons = self.rows, self._ribbons
        if place is None:
            rows.put(None)
            rows.show([[Part("The run has no answer about this scenario (yet).", "dim")]])
        elif ribbons is not None:
            rows.put(self._ribboned_now(redecoding, place, ribbons))

    def _ribboned_now(self, redecoding: "Redecoding", place: int, ribbons: "Ribbons") -> Ribboned:
        """The ribbons with the emotions at alpha: of the arrays, or decoded where alpha is none of their steps."""
        step = nearest_step(ribbons.alphas, self.alpha)
        exact = ribbons.alphas[step] == self.alpha
        rows = ribbons.rows(step) if exact else redecoding.rows(place, self.alpha, self.clamps)
        chosen, swept = self._chosen, self._sweep
        return Ribboned(
            ribbons,
            tuple(rows),
            step,
            None if chosen is None else nearest_step(ribbons.alphas, chosen.choice.alpha),
            None if swept is None else [figures.macro_f1 for figures in swept.nested_cv],
        )

    def _draw_view(self) -> None:
        redecoding, decoded = self.redecoding, self.decoded
        if redecoding is None or decoded is None:
            return
        from emotui.workbench.scenes.decoding import ALPHAS, pair_figures

        self.query_one("#scene-views", Line).show(*headings.tabs(list(VIEWS), self.view, decoded, self.size.width))
        page = self.query_one("#scene-view", Page)
        runs, table = self._reports if self._reports is not None else (None, None)
        shown = Shown(
            redecoding=redecoding,
            decoded=decoded,
            step=nearest_step(ALPHAS, self.alpha),
            place=self.place_in_run,
            rows=self.rows.rows,
            label=self.rows.cursor,
            clamps=self.clamps,
            sweep=self._sweep,
            chosen=self._chosen,
            with_prior=self._with_prior,
            pairs=pair_figures(decoded, redecoding.scenes) if self.view in _NEED_PAIRS else None,
            runs=runs,
            table=table,
            in_sample=self.in_sample,
        )
        view = VIEWS[self.view]
        page.show_for(lambda room: view(shown, room.width, room.height))

    def _tell_list(self) -> None:
        """What the list says beside each scenario: right or wrong at the other alpha, and now."""
        redecoding, decoded = self.redecoding, self.decoded
        if redecoding is None or decoded is None or not self.display:
            return
        tags = headings.tags(redecoding.scenes, decoded)
        self.post_message(self.Tagged(f"α{alpha_text(decoded.other)} now", tags))

    def on_resize(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        if self.decoded is not None:
            self._draw()


class SceneText(TieredText, inherit_bindings=False):
    """Scrolls as a page does: left and right stay free for alpha."""

    BINDINGS = Page.BINDINGS
