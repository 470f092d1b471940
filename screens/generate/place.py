"""Generate: original, neutral and emotional text beside each other, and which metric to trust over all of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from emotui.screens.generate.entry import ENTRY
from emotui.screens.generate.people import briefly, value_lines, version_lines
from emotui.screens.generate.plot import Point, legend, plotted
from emotui.screens.generate.requests import (
    EMOTIONS,
    MODELS,
    TEXT,
    TRUST,
    VIEWS,
    OnTexts,
    Selected,
    count_on_texts,
    read_versions,
)
from emotui.screens.generate.tables import (
    between,
    by_emotion,
    folded,
    heat_lines,
    model_lines,
    on_texts_in_words,
    trust_lines,
)
from emotui.screens.generate.texts import three_texts
from emotui.screens.place import Place
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Line, Part, tabs
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.screens.generate.dialogs import Wish
    from emotui.workbench.generation.bench import GenerationBench
    from emotui.workbench.generation.figures import Figures
    from emotui.workbench.generation.rating import Sitting
    from emotui.workbench.generation.rating_batches import RatingOptions
    from emotui.workbench.generation.versions import Version, Versions
    from emotui.workbench.source import BrowseSource

_TITLE = "Original, neutral and emotional, side by side"
_ILLUSTRATION = "illustration"
_BESIDE = 100
"""Cells from which the legend stands beside the plot; in fewer the letters are told over it."""

_REMARKS = 6


class Generate(Place):
    """One text with its versions, or one of three views of all models."""

    entry = ENTRY
    headings = {
        "generate-versions": "#generate-title",
        "generate-models": "#generate-title",
        "generate-trust": "#generate-title",
        "generate-heat": "#generate-title",
    }
    slim_list = True
    DEFAULT_CSS = """
    Generate #generate-texts { height: auto; max-height: 50%; }
    Generate #generate-versions { height: auto; max-height: 8; }
    Generate #generate-seen { background: $panel; }
    Generate #generate-values { height: 1fr; min-height: 3; }
    Generate #generate-models, Generate #generate-heat { height: 1fr; min-height: 4; }
    Generate #generate-trust { height: 2fr; min-height: 4; }
    Generate #generate-plots { height: 3fr; min-height: 6; }
    Generate #generate-legend { width: 44; height: 1fr; display: none; }
    Generate #generate-plots.-wide #generate-legend { display: block; }
    Generate #generate-note { height: 4; color: $text-muted; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.view = TEXT
        self.found: Versions | None = None
        self.figures: Figures | None = None
        self.heat = ""
        self.against_original = self.papers = False
        self._bench: Callable[[], GenerationBench] | None = None
        self._texts: LatestRequest[Selected, Versions] | None = None
        self._desk: LatestRequest[tuple[int, object], Figures] | None = None
        self._by_text: LatestRequest[OnTexts, Mapping[str, Any]] | None = None
        self._lacks: LatestRequest[None, bool] | None = None
        self._options: LatestRequest[int, RatingOptions] | None = None
        self._begin: LatestRequest[tuple[int, Wish], Sitting] | None = None
        self._counted: object = None
        self._on_texts: dict[OnTexts, Mapping[str, Any]] = {}
        self._sample: int | None = None
        self._run: str | None = None
        self._may_rate = False

    def compose(self) -> ComposeResult:
        with Vertical(id="generate-body"):
            yield Line(id="generate-title", classes="-pane")
            yield Page(id="generate-texts")
            versions: PickedRows[Version] = PickedRows(self._version_lines, id="generate-versions")
            yield versions
            yield Line(id="generate-seen", classes="-pane")
            yield Page(id="generate-values")
            models: PickedRows[Metric] = PickedRows(self._model_lines, id="generate-models")
            yield models
            with Horizontal(id="generate-plots"):
                yield Page(id="generate-plot")
                yield Page(id="generate-legend")
            metrics: PickedRows[Metric] = PickedRows(self._trust_lines, id="generate-trust")
            yield metrics
            yield Page(id="generate-heat")
            yield Page(id="generate-note")
        yield Notice("#generate-body", id="generate-notice")

    def on_mount(self) -> None:
        self.say("Generate", "the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        bench = source.generation
        if bench is None:
            self.say("Versions are of texts in a workspace", "files are browsed without it")
            return
        self._bench = bench
        self._may_rate = source.sources is not None
        self._texts = LatestRequest("versions", self, lambda asked: read_versions(bench, asked), self._show_text)
        self._desk = LatestRequest("figures", self, lambda asked: bench().figures(asked[0]), self._show_figures)
        self._by_text = LatestRequest("texts", self, lambda asked: count_on_texts(bench, asked), self._show_on_texts)
        self._options = LatestRequest("options", self, lambda _: bench().rating_options(), self._ask_how)
        self._begin = LatestRequest(
            "batch",
            self,
            lambda asked: bench().begin_rating(asked[0], asked[1].rater, asked[1].options),
            lambda _, sitting: self._rate(sitting),
        )
        self._lacks = LatestRequest("samples", self, lambda _: bench().lacks_samples(), self._add_samples)

    # What the frame tells.

    @property
    def versions(self) -> "PickedRows[Version]":
        """The writers of the text that is shown."""
        return self.query_one("#generate-versions", PickedRows)

    @property
    def rows(self) -> "PickedRows[Metric]":
        """The metrics of the view that is open."""
        return self.query_one("#generate-trust" if self.view == TRUST else "#generate-models", PickedRows)

    @property
    def busy(self) -> bool:
        return any_busy(self)

    @property
    def version(self) -> "Version | None":
        """The version under the cursor."""
        return self.versions.picked

    def _standing(self) -> object:
        return tuple((one.run, one.done, one.state) for one in self.session.overview.runs)

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Read this text's versions, and the figures anew where its sources have come further."""
        dataset = self.session.overview.dataset
        self._sample = sample
        if self._texts is None:
            return
        if dataset is None or sample is None:
            self.say(_TITLE, "no text is selected: the list is empty", "x shows all texts again")
            return
        if run is not None and run.run != self._run:
            self._run = run.run
            self._pick_run(run.run)
        self._texts.ask(Selected(dataset.dataset, sample, self._standing()))
        self._count()

    def _pick_run(self, run: str) -> None:
        rows = self.versions
        at = next((at for at, row in enumerate(rows.rows) if row.writer.run == run), None)
        if at is not None:
            rows.pick(at)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        """Say why; where there is no text of the task at all, bring in those that come with it."""
        if self._bench is None and not failed:
            return
        self.say(_TITLE, why, failed=failed)
        if self._lacks is not None and not failed and self.display and self.session.job is None:
            self._lacks.ask(None)

    def _add_samples(self, _: None, lacks: bool) -> None:
        bench, session = self._bench, self.session
        if bench is None or not lacks or session.job is not None or session.overview.dataset is not None:
            return
        self.say(_TITLE, "70 texts with the versions of three invented writers are on their way (illustration)")
        session.begin("sample texts", lambda on_progress: bench().add_samples(on_progress), lambda: None)

    def focus_first(self) -> None:
        if self.view == TEXT:
            self.versions.focus()
        elif self.view == EMOTIONS:
            self.query_one("#generate-heat", Page).focus()
        else:
            self.rows.focus()

    def on_show(self) -> None:
        if self.session.source is not None and self.session.overview.dataset is not None:
            self._count()
        self.call_after_refresh(self.focus_first)

    # What comes back.

    def _show_text(self, asked: Selected, found: "Versions") -> None:
        before = self.version
        self.found = found
        rows = self.versions
        rows.show_rows(found.versions, key=lambda one: one.writer.run)
        if before is None and self._run is not None:
            self._pick_run(self._run)
        self.query_one(Notice).hide()
        self.call_after_refresh(self._draw)
        if self.display and self.screen.focused is None:
            self.focus_first()

    def _count(self) -> None:
        """Count all models' figures, where a view needs them and they are not those of now."""
        dataset = self.session.overview.dataset
        if self.view == TEXT or self._desk is None or dataset is None or not self.display:
            return
        runs = tuple((one.run, one.state, one.done * (one.state != "running")) for one in self.session.overview.runs)
        wanted = (dataset.dataset, runs)
        if wanted != self._counted:
            self._counted = wanted
            self._desk.ask(wanted)

    def _show_figures(self, asked: tuple[int, object], figures: "Figures") -> None:
        self.figures = figures
        self._on_texts.clear()
        metrics = [metric for metric in figures.metrics if not metric.name.startswith("human")]
        self.query_one("#generate-models", PickedRows).show_rows(figures.metrics)
        self.query_one("#generate-trust", PickedRows).show_rows([one for one in metrics if one.name in figures.trust])
        self._draw()

    def _show_on_texts(self, asked: OnTexts, found: Mapping[str, Any]) -> None:
        self._on_texts[asked] = found
        self._draw_note()

    # How it looks.

    def on_resize(self) -> None:
        if self.found is not None:
            self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if self.found is None:
            return
        for view, names in {
            TEXT: ("texts", "versions", "seen", "values"),
            MODELS: ("models", "note"),
            TRUST: ("plots", "trust", "note"),
            EMOTIONS: ("heat", "note"),
        }.items():
            for name in names:
                if name != "note":
                    self.query_one(f"#generate-{name}").display = view == self.view
        self.query_one("#generate-note").display = self.view != TEXT
        self._draw_title()
        if self.view == TEXT:
            self._draw_text()
        elif self.figures is not None:
            self._draw_figures()
        self.refresh_bindings()

    def _draw_title(self) -> None:
        found = self.found
        assert found is not None
        left = [Part(f" {shown(found.id)}", "strong"), Part("  target ", "dim"), Part(shown(found.target), "gold")]
        if self.view != TEXT:
            models = () if self.figures is None else self.figures.models
            left = [Part(f" {count(len(models))} models", "strong")]
            if self.figures is None:
                left = [Part(" being counted…", "dim")]
        if found.illustration:
            left.append(Part(f"  {_ILLUSTRATION}", "mark"))
        right = [Part("v ", "key", "do('view')"), *tabs(VIEWS, self.view, "view"), Part(" ")]
        self.query_one("#generate-title", Line).show(left, right)

    def _draw_text(self) -> None:
        found, version = self.found, self.version
        assert found is not None
        page = self.query_one("#generate-texts", Page)
        cells = max(self.size.width - 3, 20)
        lines = three_texts(found, version, cells, against_original=self.against_original)
        page.styles.height = len(lines)
        page.show(lines)
        rows = self.versions
        rows.styles.height = len(found.versions) + 1
        if found.versions:
            rows.draw()
        else:
            rows.show([[Part("Nobody has written versions of this text yet: R runs a model that writes.", "dim")]])
        labels = f"  {_ILLUSTRATION}: invented texts, writers and raters" if found.illustration else ""
        self.query_one("#generate-seen", Line).show([Part(" all metrics of this text", "strong"), Part(labels, "mark")])
        values = self.query_one("#generate-values", Page)
        values.show_for(lambda room: value_lines(found, rows.cursor, room.width))

    def _draw_figures(self) -> None:
        figures = self.figures
        assert figures is not None
        if self.view == EMOTIONS:
            metric = self._heat_metric()
            page = self.query_one("#generate-heat", Page)
            if metric is not None:
                signs = self.app.no_color
                page.show_for(lambda room: heat_lines(figures, metric, room.width, signs=signs))
            else:
                page.show([[Part("No model has a figure yet: R runs one that writes.", "dim")]])
        elif self.view == TRUST:
            self._draw_plot()
        self.rows.draw()
        self._draw_note()

    def _heat_metric(self) -> "Metric | None":
        drawable = [] if self.figures is None else by_emotion(self.figures)
        return next((one for one in drawable if one.name == self.heat), next(iter(drawable), None))

    def _points(self, metric: "Metric") -> list[Point]:
        from emotui.workbench.generation.figures import HUMAN_F1
        from emotui.workbench.generation.published import CORRELATION, HUMAN, published_tables

        points = []
        for model in () if self.figures is None else self.figures.models:
            x, y = model.values.get(metric.name), model.values.get(HUMAN_F1)
            if x is not None and y is not None and x.value is not None and y.value is not None:
                x_ends = None if x.low is None or x.high is None else (x.low, x.high)
                y_ends = None if y.low is None or y.high is None else (y.low, y.high)
                points.append(Point(model.writer.name, x.value, y.value, x_ends, y_ends))
        if self.papers:
            rows = published_tables().tables["11"]
            points += [
                Point(name, row[metric.name], row[HUMAN], published=True)
                for name, row in rows.items()
                if name != CORRELATION and metric.name in row
            ]
        return points

    def _draw_plot(self) -> None:
        metric = self.rows.picked
        plots = self.query_one("#generate-plots", Horizontal)
        plots.set_class(self.size.width >= _BESIDE, "-wide")
        page, names = self.query_one("#generate-plot", Page), self.query_one("#generate-legend", Page)
        if metric is None:
            page.show([[Part("Correlations need raters' labels of two models at least.", "dim")]])
            names.show([])
            return
        points = self._points(metric)
        across = f"{metric.title} ({'higher' if metric.higher_is_better else 'lower'} is better)"
        told = self.size.width < _BESIDE
        page.show_for(lambda room: plotted(points, across, room.width, room.height, told=told))
        names.show_for(lambda room: legend(points, room.width))

    def _draw_note(self) -> None:
        figures = self.figures
        if figures is None or self.view == TEXT:
            return
        metric = self._heat_metric() if self.view == EMOTIONS else self.rows.picked
        said = [] if metric is None else [f"{metric.title}: {metric.help}"]
        if metric is not None and self.view == MODELS:
            sure = [
                f"{briefly(one.writer.name)} {between(estimate.low, estimate.high)} n {count(estimate.n)}"
                for one in figures.models
                if (estimate := one.values.get(metric.name)) is not None
            ]
            said.append("95%: " + "   ".join(sure))
        elif metric is not None and self.view == TRUST:
            said.append(on_texts_in_words(metric, self._ask_on_texts(metric)))
        elif self.view == EMOTIONS:
            said.append("% another figure   the stronger the ground, the better")
        said.append(self._trust_words() if self.view == TRUST else f"ties: {figures.ties}   95%: bootstrap over texts")
        if figures.illustration:
            said[-1] = f"{_ILLUSTRATION}: texts, writers or raters are invented.   {said[-1]}"
        page = self.query_one("#generate-note", Page)
        lines = folded(said, self.size.width - 3)
        page.styles.height = min(len(lines), _REMARKS)
        page.show(lines)

    def _trust_words(self) -> str:
        dagger = "   † the paper's models, its texts" if self.papers else ""
        return f"r over models by Fisher's z, p over all their orders, Holm over the metrics{dagger}"

    def _ask_on_texts(self, metric: "Metric") -> Mapping[str, Any] | None:
        dataset = self.session.overview.dataset
        if dataset is None or self._by_text is None:
            return None
        asked = OnTexts(dataset.dataset, metric.name, self._counted)
        if asked not in self._on_texts:
            self._by_text.ask(asked)
        return self._on_texts.get(asked)

    def _version_lines(self, rows: "Sequence[Version]", cursor: int, cells: int) -> list[list[Part]]:
        return version_lines(rows, cursor, cells, "" if self.found is None else self.found.target)

    def _model_lines(self, rows: "Sequence[Metric]", cursor: int, cells: int) -> list[list[Part]]:
        return model_lines(self.figures, rows, cursor, cells)

    def _trust_lines(self, rows: "Sequence[Metric]", cursor: int, cells: int) -> list[list[Part]]:
        return trust_lines(self.figures, rows, cursor, cells)

    @on(PickedRows.Picked)
    def _picked(self, event: PickedRows.Picked) -> None:
        event.stop()
        if self.view == TEXT:
            self._draw()
        else:
            if self.view == TRUST:
                self._draw_plot()
            self._draw_note()

    # Keys.

    def doing(self, action: str) -> Callable[[], None] | None:
        """`metric` is of the list, but for where figures stand by emotion."""
        return None if action == "metric" and self.view != EMOTIONS else super().doing(action)

    def can(self, action: str) -> bool:
        if not super().can(action) or self.found is None:
            return False
        if action == "against":
            return self.view == TEXT and self.version is not None
        if action == "papers":
            return self.view == TRUST
        if action == "metric":
            return self.view == EMOTIONS and self.figures is not None
        if action == "copy":
            return self.view == TEXT
        return True

    def tell(self, what: str, value: object) -> None:
        if what == "view" and value in VIEWS:
            self._turn_to(str(value))

    def _turn_to(self, view: str) -> None:
        self.view = view
        self._count()
        self._draw()
        self.focus_first()

    def do_view(self) -> None:
        self._turn_to(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    def do_view_back(self) -> None:
        self._turn_to(VIEWS[VIEWS.index(self.view) - 1])

    def do_against(self) -> None:
        self.against_original = not self.against_original
        self._draw()

    def do_papers(self) -> None:
        self.papers = not self.papers
        self._draw()

    def do_metric(self) -> None:
        """Choose which figure stands by emotion."""
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        metric, figures = self._heat_metric(), self.figures
        if metric is None or figures is None:
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self.heat = name
                self._draw()

        choices = [Choice(one.name, one.title, one.help) for one in by_emotion(figures)]
        self.app.push_screen(ChoiceDialog("By emotion: which figure", choices, metric.name), chosen)

    # Rating.

    def can_rate(self) -> bool:
        return self.found is not None and bool(self.found.versions) and self._may_rate

    def do_rate(self) -> None:
        """Ask who rates and how; then text after text, over the whole screen."""
        dataset = self.session.overview.dataset
        if self._options is not None and dataset is not None:
            self._options.ask(dataset.dataset)

    def _ask_how(self, dataset: int, options: "RatingOptions") -> None:
        from emotui.screens.generate.dialogs import RateDialog

        def chosen(wish: "Wish") -> None:
            if self._begin is not None:
                self._begin.ask((dataset, wish))

        RateDialog(self.session.annotator, options).ask(self.app, chosen)

    def _rate(self, sitting: "Sitting") -> None:
        from emotui.screens.generate.rate import RateScreen

        self.app.push_screen(RateScreen(sitting), lambda _: self._rated())

    def _rated(self) -> None:
        """What was rated stands in every view."""
        dataset = self.session.overview.dataset
        self._counted = None
        if dataset is not None and self._sample is not None and self._texts is not None:
            self._texts.ask(Selected(dataset.dataset, self._sample, self._standing()))
        self._count()

    def do_copy(self) -> None:
        found, version = self.found, self.version
        if found is None:
            return
        lines = [f"{found.id}  target {found.target}", f"original\t{found.original}"]
        if version is not None:
            lines += [f"{version.writer.name}", f"neutral\t{version.neutral}", f"emotional\t{version.emotional}"]
        self.app.copy_to_clipboard("\n".join(lines))
        self.notify(f"{found.id} copied", markup=False)
