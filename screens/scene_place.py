"""What Scenes shows: a scenario, its emotions joined by a prior, and views of the whole set."""

from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult

from emotui.screens import scene_parts
from emotui.screens.desk import Answer, Desk
from emotui.screens.line import Line, Part
from emotui.screens.notice import Notice
from emotui.screens.page import Page
from emotui.screens.place import Place
from emotui.screens.scene_asking import desks
from emotui.screens.scene_charts import alpha_text
from emotui.screens.scene_rows import SceneRows
from emotui.screens.scene_text import SceneText
from emotui.screens.scene_views import VIEWS, Shown
from emotui.screens.stave_layout import Score
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.records import ScenesGold
    from emotui.workbench.scenes import Chosen, Decoded, Published, Redecoding, Sweep, Tuning
    from emotui.workbench.source import BrowseSource

_NEED_RUNS = ("emotions", "Table 1")


class ScenePlace(Place):
    """Above the scenario, then alpha and the emotions, below one of several views of the whole set."""

    title = "Scenes"
    samples_of = "scenes"
    DEFAULT_CSS = """
    ScenePlace #scene-text { height: 2fr; min-height: 3; max-height: 9; padding: 0 1; }
    ScenePlace #scene-alpha { padding: 0; background: $panel; }
    ScenePlace #scene-rows { height: auto; max-height: 9; }
    ScenePlace #scene-view { height: 5fr; min-height: 4; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.alpha, self.other = 0.5, 0.0
        self.view = "sweep"
        self.values = self.leaked = False
        self.clamps: dict[int, int] = {}
        self.redecoding: Redecoding | None = None
        self.decoded: Decoded | None = None
        self._drawn: Redecoding | None = None
        self.scene: ScenesGold | None = None
        self._tuning: Tuning | None = None
        self._sample: int | None = None
        self._run: Run | None = None
        self._sweep: Sweep | None = None
        self._chosen: Chosen | None = None
        self._table: tuple[dict[str, tuple[str, Any]], tuple[str, list[Published]]] | None = None
        self._annotators = False
        self._desks: dict[str, Desk[Any, Any]] = {}

    def compose(self) -> ComposeResult:
        """Heading, text, slider, rows, and a pane with views."""
        yield Line(id="scene-title", classes="-pane")
        yield SceneText(id="scene-text")
        yield Line(id="scene-alpha")
        yield SceneRows(id="scene-rows")
        yield Line(id="scene-views", classes="-pane")
        yield Page(id="scene-view")
        yield Notice(id="scene-notice")

    # Asking.

    def bind_source(self, source: "BrowseSource") -> None:
        """Ask this source from now on."""
        bench_of = getattr(source, "scenes", None)
        if bench_of is None:
            self.show_nothing(
                "Files are browsed without it; emotui import scenes FILE brings scenarios into a workspace"
            )
            return
        self._desks = desks(self, source, bench_of)

    @property
    def busy(self) -> bool:
        """Is an answer on its way?"""
        return any(desk.busy for desk in self._desks.values())

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Ask for this scenario, and for the run where it is another one or has come further."""
        if sample != self._sample:
            self.clamps = {}
        self._sample = sample
        if sample is None or not self._desks:
            self.scene = None
            self._draw()
            return
        if run != self._run or self.redecoding is None:
            self._run = run
            self._table = None
            if run is None or not run.done:
                self.redecoding = self.decoded = None
            else:
                self._fit()
        self._desks["scene"].ask(sample)
        self._draw()

    def refresh_sample(self, run: Run | None) -> None:
        """Ask again for what is shown."""
        self.show_sample(self._sample, run)

    def _fit(self) -> None:
        if self._run is not None:
            self._desks["fit"].ask((self._run, self._tuning))

    @on(Answer)
    def _answered(self, answer: Answer) -> None:
        answer.stop()
        if not answer.desk.take(answer):
            return
        name = next((name for name, desk in self._desks.items() if desk is answer.desk), "")
        if answer.error is not None:
            self._refused(name, answer.error)
        elif name == "scene":
            self.scene = answer.value
            self._draw()
        elif name == "fit":
            self._fitted(answer.value)
        elif name == "decode":
            self._show_decoded(*answer.value)
        elif name == "sweep" and answer.value[0] is self.redecoding:
            self._sweep = answer.value[1]
            self._draw_view()
        elif name == "choose" and answer.value[0] is self.redecoding:
            self._chosen = answer.value[1]
            self._draw_view()
        elif name == "runs":
            self._table = answer.value
            self._draw_view()
        elif name == "export":
            self.notify(f"{answer.value} predictions written to {answer.question[1]}", markup=False)

    def _show_decoded(self, redecoding: "Redecoding", decoded: "Decoded") -> None:
        if redecoding is not self.redecoding:
            return
        first, could = self.decoded is None or self._drawn is not redecoding, bool(self._flipped())
        self.decoded, self._drawn = decoded, redecoding
        self._tell_list()
        if first:
            self._draw()
        else:
            # The slider has drawn the scenario already; only what is about the whole set is new.
            self._draw_view()
            if could != bool(self._flipped()):
                self.refresh_bindings()

    def _refused(self, name: str, why: str) -> None:
        if name in ("fit", "scene"):
            self.redecoding = self.decoded = None
            self._say(
                "This run cannot be decoded" if name == "fit" else "This scenario cannot be read", why, failed=True
            )
        elif name == "choose":
            self.notify(f"No honest choice of alpha: {why}", severity="warning", markup=False)
        else:
            self.notify(why, severity="error", markup=False)

    def _fitted(self, redecoding: "Redecoding") -> None:
        from emotui.workbench.scenes import as_setting

        if self._tuning is not None and (self.redecoding is None or self.redecoding.tuning != redecoding.tuning):
            # Only what can be fitted is remembered: a workspace never opens on a prior that fails.
            self._desks["setting"].ask(as_setting(redecoding.tuning))
        self.redecoding, self._tuning = redecoding, redecoding.tuning
        self._sweep = self._chosen = None
        self._decode()
        self._desks["sweep"].ask(redecoding)
        self._desks["choose"].ask(redecoding)
        self._ask_view()

    def _decode(self) -> None:
        if self.redecoding is not None:
            self._desks["decode"].ask((self.redecoding, self.alpha, self.other))

    def _ask_view(self) -> None:
        if self.view in _NEED_RUNS and self._table is None and self._run is not None:
            self._desks["runs"].ask((self._run.dataset, self._run.run))

    # Showing.

    @property
    def place_in_run(self) -> int | None:
        """The row of the selected scenario in the run; None where the run has no answer about it."""
        if self.redecoding is None or self._sample is None:
            return None
        return self.redecoding.scenes.place_of.get(self._sample)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        """Say what Scenes is for, and why it is empty."""
        self._say("Eight emotions a scenario, decoded together", why, failed=failed)

    def focus_first(self) -> None:
        """Put the keys into the emotions, or into the text where there are none yet."""
        rows = self.query_one(SceneRows)
        (rows if rows.display else self.query_one("#scene-text")).focus()

    def _say(self, title: str, *lines: str, failed: bool = False) -> None:
        self._lay_out(text=False, run=False)
        self.query_one("#scene-notice", Notice).say(title, *lines, failed=failed)

    def _lay_out(self, *, text: bool, run: bool) -> None:
        for name in ("#scene-title", "#scene-text"):
            self.query_one(name).display = text
        for name in ("#scene-alpha", "#scene-rows", "#scene-views", "#scene-view"):
            self.query_one(name).display = run

    def _draw(self) -> None:
        """Everything that follows from the scenario, the run and alpha."""
        if self.scene is None:
            if not self.busy:
                self.show_nothing("No scenario is selected: the list is empty")
            return
        scene, ready = self.scene, self.redecoding is not None and self.decoded is not None
        self._lay_out(text=True, run=ready)
        notice = self.query_one("#scene-notice", Notice)
        if ready:
            notice.hide()
        elif self._run is None or not self._run.done:
            notice.say("Nobody has been asked yet", "R runs a model over these scenarios", "r chooses among runs")
        else:
            notice.say("Fitting the prior", "to the folds of the gold vectors")
        self.query_one("#scene-text", SceneText).show(Score(scene.text or ""))
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
            left, right = scene_parts.title(self.scene, self._run, way, annotators=self._annotators)
            self.query_one("#scene-title", Line).show(left, right)

    def _draw_slider(self) -> None:
        """Alpha and the emotions: quick enough to be drawn while the key is still down."""
        redecoding, place = self.redecoding, self.place_in_run
        if redecoding is None:
            return
        left, right = scene_parts.slider(redecoding, self.alpha, place, self.size.width)
        self.query_one("#scene-alpha", Line).show(left, right)
        rows = self.query_one(SceneRows)
        rows.show_rows([] if place is None else redecoding.rows(place, self.alpha, self.clamps))
        if place is None:
            rows.show([[Part("The run has no answer about this scenario (yet).", "dim")]])

    def _draw_view(self) -> None:
        redecoding, decoded = self.redecoding, self.decoded
        if redecoding is None or decoded is None:
            return
        from emotui.workbench.scenes import nearest, pair_figures

        self.query_one("#scene-views", Line).show(*scene_parts.tabs(VIEWS, self.view, decoded, self.size.width))
        page = self.query_one("#scene-view", Page)
        runs, table = self._table if self._table is not None else (None, None)
        shown = Shown(
            redecoding=redecoding,
            decoded=decoded,
            step=nearest(self.alpha),
            place=self.place_in_run,
            label=self.query_one(SceneRows).cursor,
            clamps=self.clamps,
            sweep=self._sweep,
            chosen=self._chosen,
            pairs=pair_figures(decoded, redecoding.scenes) if self.view in ("info", "together") else None,
            runs=runs,
            table=table,
            values=self.values,
            leaked=self.leaked,
        )
        view = VIEWS[self.view]
        page.show_for(lambda room: view(shown, room.width - 2, room.height))

    def _tell_list(self) -> None:
        """What the list says beside each scenario: right or wrong at the other alpha, and now."""
        redecoding, decoded = self.redecoding, self.decoded
        if redecoding is None or decoded is None or not self.display:
            return
        tags = scene_parts.tags(redecoding.scenes, decoded)
        self.post_message(self.Tagged(f"α{alpha_text(decoded.other)} now", tags))

    def on_show(self) -> None:
        """The list has forgotten what it was told while another place was open."""
        self._tell_list()

    def on_resize(self) -> None:
        """Share the width out anew."""
        if self.decoded is not None:
            self._draw()

    @on(SceneRows.Picked)
    def _picked(self, event: SceneRows.Picked) -> None:
        event.stop()
        if self.view == "why":
            self._draw_view()

    def _flipped(self) -> frozenset[int]:
        redecoding, decoded = self.redecoding, self.decoded
        if redecoding is None or decoded is None:
            return frozenset()
        flips, numbers = decoded.flips, redecoding.scenes.numbers
        return frozenset(numbers[place] for place in (*flips.gains, *flips.losses, *flips.even))
