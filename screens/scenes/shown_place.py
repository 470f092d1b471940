"""How Scenes is laid out and drawn: the scenario, its ribbons under alpha, and a view of the whole set."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult

from emotui.screens.keymaps import keyed
from emotui.screens.place import EMPTY_LIST, Place
from emotui.screens.requests import LatestRequest, NamedTimers
from emotui.screens.scenes import axis
from emotui.screens.scenes.axis import alpha_text, nearest_step
from emotui.screens.scenes.ribbons import Ribboned, RibbonRows
from emotui.screens.scenes.views import EMOTIONS, EVIDENCE, PAIRS, SUM, VIEWS, Shown
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.tier_layout import AnnotatedText
from emotui.screens.widgets.tiered_text import TieredText
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.records import ScenesGold
    from emotui.workbench.scenes.decoding import Chosen, Decoded, Redecoding, Ribbons, Sweep, Tuning
    from emotui.workbench.scenes.service import Published, SceneBench
    from emotui.workbench.source import BrowseSource

    Reports = tuple[Mapping[str, tuple[str, Mapping[str, Any]]], tuple[str, list[Published]]]
    """By run its name and report; and the published table with its citation."""

# What Scenes asks of the workbench and what comes back: the scenario, the fitted prior, its ribbons, the whole set.

# What Scenes asks the workbench for that is more than one call.

SETTING = "scenes"
"""The setting of a workspace that holds the prior."""


def fit(source: "BrowseSource", bench: "SceneBench", run: "Run", tuning: "Tuning | None") -> "Redecoding":
    """Fit the prior to the folds of a run; without `tuning` the one that the workspace remembers."""
    from emotui.workbench.scenes.service import tuning_from

    return bench.redecode(run, tuning or tuning_from(source.setting(SETTING)))


def _names(runs: "Sequence[Run]") -> list[str]:
    """The model of each run; where that is not enough the way it was asked too, and where that is not when."""
    told = [
        (run.model, f"{run.model} {run.config.get('way') or ''}".rstrip(), f"{run.model} {run.started[:16]}")
        for run in runs
    ]
    counts = [Counter(names) for names in zip(*told, strict=True)]
    return [
        next((name for name, often in zip(names, counts, strict=True) if often[name] == 1), f"{names[1]} {run.run[:4]}")
        for names, run in zip(told, runs, strict=True)
    ]


def read_reports(source: "BrowseSource", bench: "SceneBench", dataset: int) -> "Reports":
    """The figures of every run over a dataset, and the published ones."""
    from emotui.workbench.scenes.service import published_table

    runs = [run for run in source.runs(dataset) if run.task == "scenes"]
    reports = bench.by_emotion(runs)
    there = [run for run in runs if run.run in reports]
    named = {run.run: (name, reports[run.run]) for run, name in zip(there, _names(there), strict=True)}
    return named, published_table()


_MOST_CHOSEN = 1000
"""Scenarios of a run for which prior and temperature are chosen beside alpha; of more, `emotui decode --folds` does."""

GREY_AFTER = 0.15
"""Seconds that ribbons may be those of another scenario before they are greyed."""

_Asked = tuple["Redecoding", int, Mapping[int, int]]


class AskingScenes(Place):
    """Holds what is known, and has it drawn as soon as there is more."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.alpha, self.other = 0.0, 0.0
        self.view, self.part = EVIDENCE, SUM
        self.in_sample = False
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
        self._with_prior: Chosen | None = None
        self._reports: Reports | None = None
        self._ribbons: Ribbons | None = None
        self._moved = self._reading = False
        self._annotators = False
        self._waits = NamedTimers(self)
        self._requests: dict[str, LatestRequest[Any, Any]] = {}

    # What draws it.

    def _draw(self) -> None:
        """Draw everything that follows from the scenario, the run and alpha."""
        raise NotImplementedError

    def _draw_slider(self) -> None:
        """Draw alpha and the emotions."""
        raise NotImplementedError

    def _draw_view(self) -> None:
        """Draw the view of the whole set."""
        raise NotImplementedError

    def _tell_list(self) -> None:
        """Say beside each scenario of the list what has become of it."""
        raise NotImplementedError

    # Asking.

    @property
    def rows(self) -> RibbonRows:
        return self.query_one("#scene-rows", RibbonRows)

    @property
    def place_in_run(self) -> int | None:
        """The row of the selected scenario in the run; None where the run has no answer about it."""
        if self.redecoding is None or self._sample is None:
            return None
        return self.redecoding.scenes.place_of.get(self._sample)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        self.say("Eight emotions a scenario, decoded together", why, failed=failed)

    def bind_source(self, source: "BrowseSource") -> None:
        bench_of = source.scenes
        if bench_of is None:
            self.show_nothing(
                keyed("Files are browsed without it: {quit} leaves; ")
                + "emotui import scenes FILE brings scenarios into a workspace"
            )
            return
        made: tuple[LatestRequest[Any, Any], ...] = (
            LatestRequest("scene", self, lambda sample: bench_of().scene(sample), self._read, self._unread),
            LatestRequest("fit", self, lambda asked: fit(source, bench_of(), *asked), self._fitted, self._not_fitted),
            LatestRequest("ribbons", self, lambda asked: asked[0].ribbons(*asked[1:]), self._ribboned),
            LatestRequest("decode", self, lambda asked: asked[0].decoded(*asked[1:]), self._show_decoded),
            LatestRequest("sweep", self, lambda redecoding: redecoding.sweep(), self._swept),
            LatestRequest("choose", self, lambda redecoding: redecoding.choose(), self._chose, self._not_chosen),
            LatestRequest("choose-prior", self, lambda redecoding: redecoding.choose_prior(), self._chose_prior),
            LatestRequest("reports", self, lambda asked: read_reports(source, bench_of(), asked), self._reported),
            LatestRequest("export", self, lambda asked: bench_of().export(*asked), self._exported),
            LatestRequest("setting", self, lambda value: source.set_setting(SETTING, value), lambda *_: None),
        )
        self._requests = {request.name: request for request in made}

    @property
    def busy(self) -> bool:
        return any(request.busy for request in self._requests.values())

    @property
    def reads(self) -> bool:
        first = ("scene", "fit", "ribbons", "choose", "decode")
        waits = any(self._requests[name].busy for name in first if name in self._requests)
        return waits and (self.scene is None or self.decoded is None)

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Ask for this scenario, and for the run where it is another one or has come further."""
        if sample != self._sample:
            self.clamps = {}
        self._sample = sample
        if sample is None or not self._requests:
            self.scene = None
            self._draw()
            return
        if run != self._run or self.redecoding is None:
            self._run = run
            self._reports = None
            if run is None or not run.done:
                self.redecoding = self.decoded = None
            else:
                self._fit()
        if self.scene is None:
            self.show_nothing("the scenario is being read")
        self._requests["scene"].ask(sample)
        self._ask_ribbons()
        self._draw()

    def _fit(self) -> None:
        if self._run is not None:
            self._requests["fit"].ask((self._run, self._tuning))

    def _read(self, _: int, scene: "ScenesGold") -> None:
        self.scene = scene
        self._draw()

    def _swept(self, redecoding: "Redecoding", sweep: "Sweep") -> None:
        if redecoding is self.redecoding:
            self._sweep = sweep
            self._draw_slider()
            self._draw_view()

    def _ask_ribbons(self) -> None:
        """The emotions of the scenario at every alpha: at once where they are kept, else from a thread."""
        redecoding, place = self.redecoding, self.place_in_run
        if redecoding is None or place is None:
            self._ribbons = None
            return
        kept = redecoding.kept_ribbons(place, self.clamps)
        if kept is not None:
            self._take(kept)
        else:
            self._requests["ribbons"].ask((redecoding, place, dict(self.clamps)))
            self._waits.wait("grey", GREY_AFTER, self._grey, again=False)

    def _grey(self) -> None:
        self.rows.add_class("-stale")

    def _ribboned(self, asked: _Asked, ribbons: "Ribbons") -> None:
        if asked == (self.redecoding, self.place_in_run, self.clamps):
            self._take(ribbons)
            self._draw_slider()
            self._draw_view()

    def _take(self, ribbons: "Ribbons") -> None:
        self._waits.drop("grey")
        self.rows.remove_class("-stale")
        self._ribbons = ribbons

    def _chose(self, redecoding: "Redecoding", chosen: "Chosen") -> None:
        if redecoding is self.redecoding:
            self._chosen = chosen
            if not self._moved:
                self.alpha = chosen.choice.alpha
                self._decode()
            if len(redecoding.scenes.ids) <= _MOST_CHOSEN:
                self._requests["choose-prior"].ask(redecoding)
            self._draw_slider()
            self._draw_view()

    def _chose_prior(self, redecoding: "Redecoding", chosen: "Chosen") -> None:
        if redecoding is self.redecoding:
            self._with_prior = chosen
            self._draw_view()

    def _reported(self, _: int, reports: "Reports") -> None:
        self._reports = reports
        self._draw_view()

    def _exported(self, asked: tuple[Run, str], predictions: int) -> None:
        self.notify(f"{predictions} predictions written to {asked[1]}", markup=False)

    def _show_decoded(self, asked: "tuple[Redecoding, float, float]", decoded: "Decoded") -> None:
        redecoding = asked[0]
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

    def _unread(self, _: object, why: str, title: str = "This scenario cannot be read") -> None:
        self.redecoding = self.decoded = None
        self.say(title, why, keyed("{run} chooses another run, {next} and {previous} go on to others"), failed=True)

    def _not_fitted(self, _: object, why: str) -> None:
        self._unread(None, why, "This run cannot be decoded")

    def _not_chosen(self, redecoding: "Redecoding", why: str) -> None:
        if redecoding is self.redecoding and self.decoded is None:
            self._decode()
        self.notify(f"No honest choice of alpha: {why}", severity="warning", markup=False)

    def _fitted(self, _: object, redecoding: "Redecoding") -> None:
        from emotui.workbench.scenes.service import as_setting

        if self._tuning is not None and (self.redecoding is None or self.redecoding.tuning != redecoding.tuning):
            # Only what can be fitted is remembered: a workspace never opens on a prior that fails.
            self._requests["setting"].ask(as_setting(redecoding.tuning))
        self.redecoding, self._tuning = redecoding, redecoding.tuning
        self._sweep = self._chosen = self._with_prior = None
        self._ask_ribbons()
        if self._moved or self.decoded is not None:
            self._decode()
        self._requests["choose"].ask(redecoding)
        self._requests["sweep"].ask(redecoding)
        self._ask_view()

    def _decode(self) -> None:
        if self.redecoding is not None:
            self._requests["decode"].ask((self.redecoding, self.alpha, self.other))

    def _ask_view(self) -> None:
        if self.view == EMOTIONS and self._reports is None and self._run is not None:
            self._requests["reports"].ask(self._run.dataset)

    def _flipped(self) -> frozenset[int]:
        redecoding, decoded = self.redecoding, self.decoded
        if redecoding is None or decoded is None:
            return frozenset()
        flips, numbers = decoded.flips, redecoding.scenes.numbers
        return frozenset(numbers[place] for place in (*flips.gains, *flips.losses, *flips.even))


def _about(cells: int, *, away: bool) -> str:
    """What the slider is for, and what one looks at, in so many cells.

    Args:
        away: has the list the keys? Arrows are of the pane that has them, so another key comes first.
    """
    first = "{pane}, then " if away else ""
    slider = keyed(first + "{alpha_less} {alpha_more} α: how far other emotions overrule the model")
    ways = ("   each row where it is on: ▆ on, gold  ▒ on, not gold  ▁ gold, not on", "  ▆ hit ▒ extra ▁ missed")
    return next((slider + way for way in ways if width(slider + way) <= cells - 1), slider)


TALL, LOW = 32, 21
"""Lines from which every view of the whole set stands under the ribbons, and from which the evidence does; below,
a view takes the place of scenario and ribbons until Esc."""


class ShownScenes(AskingScenes):
    """Above the scenario, then its emotions over alpha, below one of several views of the whole set."""

    def compose(self) -> ComposeResult:
        yield Line(id="scene-title", classes="-pane")
        yield SceneText(id="scene-text")
        yield Line(id="scene-about")
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
        return self.size.height < TALL and self.part != SUM

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
        self.query_one("#scene-about").display = run and not alone and not self.has_class("-low")
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
                self.show_nothing(f"No scenario is selected, as {keyed(EMPTY_LIST)}")
            return
        scene, ready = self.scene, self.redecoding is not None and self.decoded is not None
        self._lay_out(text=True, run=ready)
        notice = self.query_one("#scene-notice", Notice)
        if ready:
            notice.hide()
        elif self._run is not None and self._run.state == "running" and not self._run.done:
            notice.say("The model is being asked", "its answers stand here as they come")
        elif self.session.starts_first and self._run is None:
            notice.say("The answers are on their way", "the first runs come one after the other; this one's turn comes")
        elif self._run is None or not self._run.done:
            notice.say(
                "Nobody has been asked yet",
                keyed("{model} runs a model over these scenarios"),
                keyed("{run} chooses among runs"),
            )
        else:
            notice.say("Fitting the prior", "to the folds of the gold vectors, and choosing α inside them")
        self.query_one("#scene-text", SceneText).show(AnnotatedText(scene.text or ""))
        self._draw_title()
        if ready:
            if self.display and self.screen.focused is None:
                self.focus_first()
            self._draw_about()
            self._draw_slider()
            self._draw_view()
        self.refresh_bindings()

    def _draw_about(self) -> None:
        focused = self.screen.focused
        away = focused is not None and self not in focused.ancestors
        self.query_one("#scene-about", Line).show([Part(f" {_about(self.size.width - 1, away=away)}", "dim")])

    def on_descendant_focus(self) -> None:
        self._draw_about()

    def on_descendant_blur(self) -> None:
        self._draw_about()

    def _draw_title(self) -> None:
        if self.scene is not None:
            way = self.redecoding.scenes.way if self.redecoding is not None else ""
            left, right = axis.title(self.scene, self._run, way, annotators=self._annotators)
            self.query_one("#scene-title", Line).show(left, right)

    def _draw_slider(self) -> None:
        """Alpha and the emotions: quick enough to be drawn while the key is still down."""
        redecoding, place = self.redecoding, self.place_in_run
        if redecoding is None:
            return
        low = self.has_class("-low")
        name = self.scene.id if low and self.scene is not None else ""
        chosen = None if self._chosen is None else self._chosen.choice.alpha
        rows, ribbons = self.rows, self._ribbons
        run, n = self._run, len(redecoding.scenes.numbers)
        goes_on = run is not None and run.state == "running" and n < run.n
        so_far = f"so far, {n} of {run.n}" if run is not None and goes_on else ""
        left, right = axis.settings(redecoding, self.alpha, chosen, place, self.size.width, name, so_far)
        if place is not None and ribbons is not None and not self._has_wrong:
            # Where lines are few, how many emotions are wrong is a figure here and no line under the ribbons.
            now = self._ribboned_now(redecoding, place, ribbons).rows
            right = [Part(f"{sum(row.now != row.gold for row in now)} of {len(now)} wrong ", "strong")]
        self.query_one("#scene-alpha", Line).show(left, right)
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
            self._has_wrong,
        )

    @property
    def _has_wrong(self) -> bool:
        """Is there a line for what is wrong along alpha?"""
        return self.size.height >= TALL

    def _draw_view(self) -> None:
        redecoding, decoded = self.redecoding, self.decoded
        if redecoding is None or decoded is None:
            return
        from emotui.workbench.scenes.decoding import ALPHAS, pair_figures

        about = "this scenario" if self.view == EVIDENCE else "all scenarios"
        self.query_one("#scene-views", Line).show(
            *axis.heading(about, VIEWS, self.view, self.part, decoded, self.size.width)
        )
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
            pairs=pair_figures(decoded, redecoding.scenes) if self.view == PAIRS else None,
            runs=runs,
            table=table,
            in_sample=self.in_sample,
            hidden=self.rows.shown if self._view_alone else None,
        )
        view = VIEWS[self.view][self.part]
        page.show_for(lambda room: view(shown, room.width, room.height))

    def _tell_list(self) -> None:
        """What the list says beside each scenario: right or wrong at the other alpha, and now."""
        beside = self.beside
        if beside is not None and self.decoded is not None and self.display:
            self.post_message(beside)

    @property
    def beside(self) -> "Place.Tagged | None":
        run = self.session.run_shown
        if (run is None or not run.done) and not self.session.starts_first:
            return None
        redecoding, decoded = self.redecoding, self.decoded
        same = run is not None and self._run is not None and run.run == self._run.run
        tags = axis.tags(redecoding.scenes, decoded) if same and redecoding and decoded else {}
        other = self.other if decoded is None else decoded.other
        # What a run scored is what its model said by itself, as at alpha 0.
        # The blank before it parts it from the figure's name, which ends in an alpha too.
        return self.Tagged(f" {alpha_text(other)}→now", tags, of="α0", legend=axis.LEGEND)

    def on_resize(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        if self.decoded is not None:
            self._draw()


class SceneText(TieredText, inherit_bindings=False):
    """Scrolls as a page does: left and right stay free for alpha."""

    BINDINGS = Page.BINDINGS
