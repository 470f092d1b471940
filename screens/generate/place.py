"""Generate: original, neutral and emotional text beside each other, and which metric to trust over all of them."""

import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.validation import Integer
from textual.widget import Widget
from textual.widgets import Label

from emotui.errors import BadInput
from emotui.metrics.rephrasings import word_diff
from emotui.screens.dialogs.dialog import Dialog, number_field
from emotui.screens.generate.entry import ENTRY
from emotui.screens.generate.overview import (
    EMOTIONS,
    MODELS,
    PARTS,
    TEXT,
    TRUST,
    VIEWS,
    Overview,
    Selected,
    read_versions,
)
from emotui.screens.generate.tables import briefly, by_emotion, called, value_lines, version_lines
from emotui.screens.keymaps import keyed
from emotui.screens.place import EMPTY_LIST, NO_WORKSPACE, OTHERS, Place
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Line, Part, tabs
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import so_many
from emotui.screens.widgets.page import Lines, Page, side_by_side
from emotui.screens.widgets.row_list import PickedRows
from emotui.screens.widgets.switches import OneOf
from emotui.screens.widgets.textual_private_text import Input
from emotui.store.query import Run

if TYPE_CHECKING:
    from textual.geometry import Size

    from emotui.workbench.generation.bench import GenerationBench
    from emotui.workbench.generation.figures import Figures
    from emotui.workbench.generation.rating import Sitting
    from emotui.workbench.generation.rating_batches import RatingOptions
    from emotui.workbench.generation.versions import Version, Versions
    from emotui.workbench.source import BrowseSource

# Original, neutral and emotional text beside each other or stacked, the words that differ marked by sign and style.

BESIDE = 84
"""Cells from which on the three texts stand beside each other."""

WIDEST = 90
_WORD = re.compile(r"\S+")

Places = Sequence[tuple[int, int]]
"""Offsets `[start, end)` into a text."""


def differing(before: str, after: str) -> tuple[Places, Places]:
    """Where `before` has words that `after` lacks, and where `after` has words that `before` lacks."""
    changes = word_diff(before, after)
    gone = [(one.start, one.end) for one in changes if one.kind == "removed"]
    new = [(one.start, one.end) for one in changes if one.kind == "added"]
    return gone, new


def marked(text: str, places: Places, sign: str, kind: str, cells: int) -> list[list[Part]]:
    """The text in lines of so many cells; each run of words at `places` stands in brackets after its sign."""
    starts, ends = {start for start, _ in places}, {end for _, end in places}
    lines: list[list[Part]] = [[]]
    used, inside = 0, False
    for word in _WORD.finditer(text):
        inside = inside or word.start() in starts
        said = shown(word.group())
        if word.start() in starts:
            said = f"{sign}[{said}"
        closes = inside and word.end() in ends
        if closes:
            said += "]"
        size = width(said)
        if used and used + 1 + size > cells:
            lines.append([])
            used = 0
        if used:
            lines[-1].append(Part(" "))
            used += 1
        lines[-1].append(Part(said, kind if inside else "plain"))
        used += size
        inside = inside and not closes
    return lines


def three_texts(found: "Versions", version: "Version | None", cells: int, *, against_original: bool) -> Lines:
    """The texts in so many cells, each under a heading that says what its marks are of."""
    neutral = "" if version is None else version.neutral
    emotional = "" if version is None else version.emotional
    beside = cells >= BESIDE
    room = (cells - 4) // 3 if beside else min(cells, WIDEST)
    gone, new = differing(found.original, neutral) if neutral else ([], [])
    first = found.original if against_original else neutral
    injected = differing(first, emotional)[1] if emotional and first else []
    of = "original" if against_original else "neutral"
    blocks = [
        _block("original", ("−[ ] left out",) if gone else (), found.original, gone, "−", "left-out", room),
        _block("neutral", _about_neutral(neutral, gone, new), neutral, new, "+", "new", room),
        _block(
            f"emotional: {found.target}",
            (f"+[ ] not in {of}", "+[ ] new") if injected else _same(emotional, f"as the {of}"),
            emotional,
            injected,
            "+",
            "new",
            room,
        ),
    ]
    if version is not None and version.silent:
        blocks[1 if not version.neutral else 2].append([Part(_why_silent(version), "mark")])
    if beside:
        return side_by_side(blocks, [room] * 3, cells)
    return [line for block in blocks for line in block]


def _about_neutral(neutral: str, gone: Places, new: Places) -> Sequence[str]:
    if new:
        return "+[ ] not in original", "+[ ] new"
    return _same(neutral, "nothing new" if gone else "as the original")


def _same(text: str, words: str) -> Sequence[str]:
    return (words,) if text else ()


def _why_silent(version: "Version") -> str:
    if version.refused:
        return f"! refused to {version.refused[0]}"
    return f"! {shown(version.error)}" if version.error else "! there is no such version"


def _block(
    name: str, about: Sequence[str], text: str, places: Places, sign: str, kind: str, cells: int
) -> list[list[Part]]:
    """A text under its heading; `about`: what its marks are, in fewer and fewer words."""
    room = cells - width(name) - 2
    said = next((words for words in about if width(words) <= room), "")
    lines = [[Part(fit(name, min(width(name), cells)), "strong"), Part(f"  {said}" if said else "", "dim")]]
    return [*lines, *marked(text, places, sign, kind, cells)]


_COLUMN = 24
"""Cells that a writer's text needs to stand beside others'."""


def side_lines(found: "Versions", cursor: int, cells: int) -> Lines:
    """The emotional versions of all writers beside each other, what is not in their neutral ones marked."""
    n = len(found.versions)
    room = (cells - 2 * (n - 1)) // max(n, 1)
    if n < 2 or room < _COLUMN:
        return []
    blocks = []
    for at, version in enumerate(found.versions):
        head = [Part(fit(f"{'▸' if at == cursor else ''}{briefly(version.writer.name)}", room).rstrip(), "strong")]
        new = differing(version.neutral, version.emotional)[1] if version.neutral else []
        text = marked(version.emotional, new, "+", "new", room) if version.emotional else [[Part("none", "dim")]]
        blocks.append([head, *text])
    title = [Part("emotional versions side by side", "strong"), Part("  +[ ] not in their neutral ones", "dim")]
    return [[], title, *side_by_side(blocks, [room] * n, cells)]


# How to rate: who does, which versions, how many, with how many attention checks.

_WHICH = ("emotional", "neutral", "mixed")
_TIES = ("none", "target", "first")


class Wish(msgspec.Struct, frozen=True):
    """Who wants to rate, and how."""

    rater: str
    options: "RatingOptions"


class RateDialog(Dialog[Wish]):
    """A batch that was begun goes on as it was begun; what is chosen here is for the next one."""

    DEFAULT_CSS = """
    RateDialog .row { height: auto; }
    RateDialog .row > Label { width: 18; margin: 0; }
    RateDialog .row > .between { width: auto; padding: 0 1; }
    RateDialog .row > Input { width: 10; }
    RateDialog .row > #rater { width: 1fr; }
    RateDialog .row > Switches { width: 1fr; }
    """

    def __init__(self, rater: str, options: "RatingOptions") -> None:
        super().__init__("Rate blind", ("Tab", "next"), ("Enter", "begin"))
        self._rater, self._options = rater, options

    def body(self) -> list[Widget]:
        """Rater, versions, numbers, ties."""
        own = self._options
        whole = Integer(1, 1000, "A batch has 1 to 1000 texts, a text 1 to 1000 raters.")
        failing = Integer(0, 1000, "Attention checks that one may fail are a whole number.")
        return [
            _row("who rates", Input(self._rater, id="rater", compact=True)),
            _row("versions", OneOf(_WHICH, own.which, id="which")),
            _row(
                "texts a batch",
                number_field("size", str(own.size), whole),
                Label("raters a text", classes="between"),
                number_field("wanted", str(own.wanted), whole),
            ),
            _row(
                "attention checks",
                Input(_as_rate(own.checks), id="checks", compact=True),
                Label("for each text; 0: none", classes="between"),
            ),
            _row(
                "of these may fail",
                number_field("allowed", str(own.allowed), failing),
                Label("of a batch that counts", classes="between"),
            ),
            Label("In the paper: 28/277 with emotional versions, 10/84 with neutral ones."),
            _row("ties", OneOf(_TIES, own.ties, ["no label", "the target", "first in the alphabet"], id="ties")),
        ]

    def result(self) -> Wish:
        """The wish.

        Raises:
            BadInput: the name is blank, or a number is none.
        """
        from emotui.workbench.generation.rating_batches import RatingOptions, check_rate

        rater = self.text("rater")
        if not rater:
            raise BadInput("Say who rates.")
        return Wish(
            rater,
            msgspec.convert(
                {
                    "which": self.query_one("#which", OneOf).now,
                    "size": int(self.number("size") or 1),
                    "checks": check_rate(self.text("checks") or "0"),
                    "wanted": int(self.number("wanted") or 1),
                    "allowed": int(self.number("allowed") or 0),
                    "ties": self.query_one("#ties", OneOf).now,
                },
                RatingOptions,
            ),
        )


def _as_rate(rate: float) -> str:
    """As the paper writes it, where it is one of its rates."""
    known = {28 / 277: "28/277", 10 / 84: "10/84"}
    return known.get(rate) or f"{rate:g}"


def _row(name: str, *widgets: Widget) -> Horizontal:
    return Horizontal(Label(name, markup=False), *widgets, classes="row")


def _below(found: "Versions", cursor: int, room: "Size") -> Lines:
    """The metrics, then where there is room all writers' texts, and what is left for what the metrics are."""
    beside = side_lines(found, cursor, room.width)
    values = value_lines(found, cursor, room.width)
    if len(values) + len(beside) > room.height:
        return value_lines(found, cursor, room.width, room.height)
    return [*value_lines(found, cursor, room.width, room.height - len(beside)), *beside]


_TITLE = "Original, neutral and emotional, side by side"
_ILLUSTRATION = "illustration"
_ON_THEIR_WAY = (
    "70 texts with the versions of three invented writers are on their way (illustration): this takes a few seconds"
)


class Generate(Place):
    """One text with its versions, or one of two views of all writers."""

    entry = ENTRY
    headings = {
        "generate-versions": "#generate-title",
        "generate-models": "#generate-title",
        "generate-trust": "#generate-title",
        "generate-heat": "#generate-title",
    }
    DEFAULT_CSS = """
    Generate #generate-texts { height: auto; max-height: 50%; }
    Generate #generate-versions { height: auto; max-height: 8; }
    Generate #generate-seen { background: $panel; }
    Generate #generate-values { height: 1fr; min-height: 3; }
    Generate Overview { height: 1fr; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.view, self._part = TEXT, PARTS[0]
        self.found: Versions | None = None
        self.against_original = False
        self._bench: Callable[[], GenerationBench] | None = None
        self._texts: LatestRequest[Selected, Versions] | None = None
        self._desk: LatestRequest[tuple[int, object], Figures] | None = None
        self._lacks: LatestRequest[None, bool] | None = None
        self._options: LatestRequest[int, RatingOptions] | None = None
        self._begin: LatestRequest[tuple[int, Wish], Sitting] | None = None
        self._counted: object = None
        self._sample: int | None = None
        self._run: str | None = None
        self._to_pick = ""
        self._may_rate = False

    def compose(self) -> ComposeResult:
        with Vertical(id="generate-body"):
            yield Line(id="generate-title", classes="-pane")
            yield Page(id="generate-texts")
            versions: PickedRows[Version] = PickedRows(self._version_lines, id="generate-versions")
            yield versions
            yield Line(id="generate-seen", classes="-pane")
            yield Page(id="generate-values")
            yield Overview(id="generate-overview")
        yield Notice("#generate-body", id="generate-notice")

    def on_mount(self) -> None:
        self.say("Generate", "the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        bench = source.generation
        if bench is None:
            self.say("Versions are of texts in a workspace", keyed(NO_WORKSPACE))
            return
        self._bench = bench
        self._may_rate = source.sources is not None
        self._texts = LatestRequest(
            "versions",
            self,
            lambda asked: read_versions(bench, asked),
            self._show_text,
            lambda _, why: self.say("This text cannot be read", why, keyed(OTHERS), failed=True),
        )
        self._desk = LatestRequest("figures", self, lambda asked: bench().figures(asked[0]), self._show_figures)
        self.overview.ask_from(bench)
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
    def overview(self) -> Overview:
        """The views of all writers."""
        return self.query_one(Overview)

    @property
    def figures(self) -> "Figures | None":
        """What they are drawn from."""
        return self.overview.figures

    @property
    def busy(self) -> bool:
        return any_busy(self) or (self.is_mounted and self.overview.busy)

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
            self.say(_TITLE, f"no text is selected, as {keyed(EMPTY_LIST)}")
            return
        if run is not None and run.run != self._run:
            self._run = self._to_pick = run.run
            self._pick_run()
        self._texts.ask(Selected(dataset.dataset, sample, self._standing()))
        self._count()

    def _pick_run(self) -> None:
        """Put the cursor on the versions of the run that was chosen, once they are there."""
        rows = self.versions
        at = next((at for at, row in enumerate(rows.rows) if row.writer.run == self._to_pick), None)
        if at is not None:
            self._to_pick = ""
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
        if bench is None or not lacks or session.job is not None:
            return
        if session.overview.dataset is None:
            self.say(_TITLE, _ON_THEIR_WAY)
        over = threading.Event()
        session.begin(
            "sample texts",
            lambda on_progress: bench().add_samples(on_progress, over.is_set),
            over.set,
            "Stopped; the rest of the sample texts comes when Generate is opened again",
            brings=True,
        )

    def focus_first(self) -> None:
        if self.view == TEXT:
            self.versions.focus()
        else:
            self.overview.focus_first()

    def on_show(self) -> None:
        if self.session.source is not None and self.session.overview.dataset is not None:
            self._count()
            if self._lacks is not None and self.session.job is None:
                self._lacks.ask(None)
        self.focus_soon()

    # What comes back.

    def _show_text(self, asked: Selected, found: "Versions") -> None:
        self.found = found
        rows = self.versions
        rows.show_rows(found.versions, key=lambda one: one.writer.run)
        self._pick_run()
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
        self.overview.show_figures(asked[0], figures)
        self._draw()

    # How it looks.

    def on_resize(self) -> None:
        if self.found is not None:
            self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if self.found is None:
            return
        for name in ("texts", "versions", "seen", "values"):
            self.query_one(f"#generate-{name}").display = self.view == TEXT
        self.overview.display = self.view != TEXT
        self._draw_title()
        if self.view == TEXT:
            self._draw_text()
        else:
            self.overview.turn_to(self.part)
        self.refresh_bindings()

    def _draw_title(self) -> None:
        found = self.found
        assert found is not None
        left = [Part(f" {shown(found.id)}", "strong"), Part("  target ", "dim"), Part(shown(found.target), "gold")]
        if self.view != TEXT:
            models = () if self.figures is None else self.figures.models
            left = [Part(f" {so_many(len(models), 'writer')}", "strong")]
            if self._comes:
                left.append(Part(" so far, more on their way", "dim"))
            if self.figures is None:
                left = [Part(" being counted…", "dim")]
        if found.illustration:
            left.append(Part(f"  {_ILLUSTRATION}", "dim"))
        if self.view == MODELS and self.figures is not None:
            left += [Part("  "), *tabs(keyed("{part}"), PARTS, self.part, what="part")]
        self.query_one("#generate-title", Line).show(left, tabs(keyed("{view}"), VIEWS, self.view))

    def _draw_text(self) -> None:
        found, version = self.found, self.version
        assert found is not None
        page = self.query_one("#generate-texts", Page)
        cells = max(self.size.width - 3, 20)
        lines = three_texts(found, version, cells, against_original=self.against_original)
        if not found.versions:
            lines = [[Part("original", "strong")], *marked(found.original, [], "", "plain", min(cells, WIDEST)), []]
        page.styles.height = len(lines)
        page.show(lines)
        rows = self.versions
        rows.styles.height = len(found.versions) + 1
        rows.draw()
        labels = "  texts, writers and raters are invented" if found.illustration else ""
        self.query_one("#generate-seen", Line).show([Part(" all metrics of this text", "strong"), Part(labels, "dim")])
        comes = not found.versions and self._comes
        for name in ("seen", "values"):
            self.query_one(f"#generate-{name}").display = not comes
        values = self.query_one("#generate-values", Page)
        values.show_for(lambda room: _below(found, rows.cursor, room))

    @property
    def _comes(self) -> bool:
        """Are versions on their way?"""
        return self.session.job is not None and self.session.job.brings

    def _version_lines(self, rows: "Sequence[Version]", cursor: int, cells: int) -> list[list[Part]]:
        if not rows:
            none = keyed("Nobody has written versions of this text yet: {model} runs a model that writes.")
            comes = "Its versions and raters' labels are on their way: this takes a few seconds."
            return [[Part(comes if self._comes else none, "dim")]]
        return version_lines(rows, cursor, cells, "" if self.found is None else self.found.target)

    @on(PickedRows.Picked)
    def _picked(self, event: PickedRows.Picked) -> None:
        event.stop()
        self._draw()

    # Keys.

    def doing(self, action: str) -> Callable[[], None] | None:
        """`metric` is of the list, but for where figures stand by emotion; Tab goes on to the next row."""
        step = {"pane": 1, "pane_back": -1}.get(action)
        if step is not None:
            rows = self.versions if self.view == TEXT else self.overview.rows
            further = rows.has_focus and 0 <= rows.cursor + step < len(rows.rows)
            return partial(rows.action_pick, step) if further else None
        return None if action == "metric" and self.part != EMOTIONS else super().doing(action)

    def can(self, action: str) -> bool:
        if not super().can(action) or self.found is None:
            return False
        if action == "against":
            return self.view == TEXT and self.version is not None
        if action == "papers":
            return self.view == TRUST
        if action == "metric":
            return self.part == EMOTIONS and self.figures is not None
        if action in ("part", "part_back"):
            return self.view == MODELS
        if action == "copy":
            return self.view == TEXT
        return True

    def tell(self, what: str, value: object) -> None:
        if what == "view" and value in VIEWS:
            self._turn_to(str(value))
        elif what == "part" and value in PARTS:
            self._turn_to(MODELS, str(value))

    @property
    def part(self) -> str:
        """What of all writers is shown: of the view of writers the part that is open."""
        return self._part if self.view == MODELS else self.view

    def _turn_to(self, view: str, part: str = PARTS[0]) -> None:
        self.view, self._part = view, part
        self._count()
        self._draw()
        self.focus_first()

    def do_view(self) -> None:
        self._turn_to(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    def do_view_back(self) -> None:
        self._turn_to(VIEWS[VIEWS.index(self.view) - 1])

    def do_part(self) -> None:
        self._turn_to(MODELS, PARTS[PARTS.index(self._part) - 1])

    do_part_back = do_part

    def do_against(self) -> None:
        self.against_original = not self.against_original
        self._draw()

    def do_papers(self) -> None:
        self.overview.papers = not self.overview.papers
        self._draw()

    def do_metric(self) -> None:
        """Choose which figure stands by emotion."""
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        metric, figures = self.overview.heat_metric, self.figures
        if metric is None or figures is None:
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self.overview.heat = name
                self._draw()

        choices = [Choice(one.name, called(one), one.help) for one in by_emotion(figures)]
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
