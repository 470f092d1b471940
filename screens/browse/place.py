"""Browse: gold and predicted spans over the text, and under it what met what."""

from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer

from emotui.screens.browse import panes
from emotui.screens.browse.alignment_table import AlignmentTable
from emotui.screens.browse.around import TurnsPage, own_columns
from emotui.screens.browse.entry import ENTRY
from emotui.screens.browse.requests import SampleView, look
from emotui.screens.browse.said import SAID_HEADINGS, SaidPane
from emotui.screens.place import Place
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.tiered_text import TieredText
from emotui.store.query import Dataset, Run
from emotui.workbench.turns import Turns

if TYPE_CHECKING:
    from emotui.workbench.source import BrowseSource, Evidence

SPANS = "spans"
_OF_ANY_TASK = ("raw", "repeat", "copy")
_PATIENCE = 0.15
"""Seconds before a stale answer is greyed; a quick one would only flicker."""


class Browse(Place):
    """The text with its overlays above, the alignment or the raw output below."""

    entry = ENTRY
    headings = {"text": "#sample-title", "alignment": "#below-title", "raw": "#below-title"} | SAID_HEADINGS
    DEFAULT_CSS = """
    Browse > #above { height: 3fr; }
    Browse > #below { height: 2fr; min-height: 5; }
    Browse #text { padding: 1 1 0 1; }
    Browse #raw { display: none; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.overlay = "both"
        self.repeat = 0
        self._seen: SampleView | None = None
        self._sample: int | None = None
        self._run: Run | None = None
        self._beside: tuple[str, ...] = ()
        self._raw = False
        self._looking_for = self._shown_for = ""
        self._desk: LatestRequest[tuple[int, str | None, tuple[str, ...]], SampleView] | None = None
        self._grey: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="above"):
            yield Line(id="sample-title", classes="-pane")
            yield TieredText(id="text")
            yield Notice("#text", id="sample-notice")
        with Vertical(id="below"):
            yield Line(id="below-title", classes="-pane")
            yield AlignmentTable(id="alignment")
            yield TieredText(id="raw")
        yield SaidPane(id="said")

    def bind_source(self, source: "BrowseSource") -> None:
        if self.session.state.overlay in panes.OVERLAYS:
            self.overlay = self.session.state.overlay
        self._desk = LatestRequest("evidence", self, lambda question: look(source, *question), self._show, self._refuse)
        self._said.bind_source(source)

    @property
    def busy(self) -> bool:
        return (self._desk is not None and self._desk.busy) or self._said.busy

    @property
    def _said(self) -> SaidPane:
        return self.query_one(SaidPane)

    @property
    def of_other_task(self) -> Dataset | None:
        """The dataset of the list, where its samples are not of spans."""
        dataset = self.session.overview.dataset
        return None if dataset is None or dataset.task == SPANS else dataset

    @property
    def evidence(self) -> "Evidence | None":
        """What is shown."""
        return None if self._seen is None else self._seen.evidence

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Ask for this sample; what is here stays until the answer comes, greyed if that takes long."""
        dataset = self.of_other_task
        self._turn(of_spans=dataset is None or sample is None)
        if dataset is not None and sample is not None:
            self._sample, self._run, self._seen = sample, run, None
            self._said.show_sample(dataset.dataset, sample, run)
            return
        self._compare()
        if sample != self._sample:
            self.repeat, self._shown_for = 0, self._looking_for
        self._looking_for = ""
        self._sample, self._run = sample, run
        if sample is None:
            self._seen = None
            self._draw()
        elif self._desk is not None:
            self._desk.ask((sample, run.run if run else None, self._beside))
            if self._grey is None:
                self._grey = self.set_timer(_PATIENCE, self._turn_grey)

    def _turn(self, *, of_spans: bool) -> None:
        if self._said.display == of_spans:
            self._said.display = not of_spans
            self.query("#above, #below").set(display=of_spans)

    def _compare(self) -> None:
        """Compare with further runs, in the rows of everyone, which are shown where there were none."""
        beside = tuple(run.run for run in self.session.runs_beside)
        if beside and not self._beside and self._desk is not None and self._desk.asked:
            self._remember(panes.EVERYONE)
        self._beside = beside

    def _refuse(self, _: object, why: str) -> None:
        self._stop_grey()
        if self._sample is not None:
            self._seen = None
            self.say("This sample cannot be read", why, "k and j go on to others", failed=True)

    def _show(self, _: object, seen: SampleView) -> None:
        self._stop_grey()
        if self._sample is None:
            return
        self._seen = seen
        mark = self._choose_answer(self._shown_for)
        self._shown_for = ""
        self._draw()
        if mark:
            self.call_after_refresh(self._reveal, mark)

    def look_for(self, marks: str) -> None:
        self._looking_for = marks

    def _choose_answer(self, marks: str) -> str:
        """Turn to the first of the run's answers with one of these letters, and give back the letter."""
        for number, said in enumerate(self._seen.evidence.repeats if self._seen is not None else ()):
            found = [mark for mark in marks if said.detail is not None and mark in said.detail.marks]
            if found:
                self.repeat = number
                return found[0]
        return ""

    def _reveal(self, mark: str) -> None:
        if self._seen is None:
            return
        self.query_one(AlignmentTable).reveal(mark)
        place = panes.place_of(self._seen, self.repeat, mark)
        if place is not None:
            self.query_one("#text", TieredText).reveal(place)

    def _stop_grey(self) -> None:
        if self._grey is not None:
            self._grey.stop()
            self._grey = None
        self._set_stale(False)

    def _turn_grey(self) -> None:
        self._grey = None
        if self.busy:
            self._set_stale(True)

    def _set_stale(self, stale: bool) -> None:
        for name in ("#text", "#raw", "#alignment"):
            self.query_one(name).set_class(stale, "-stale")

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        self.say("Gold and predicted evidence, in the text itself", why, failed=failed)

    def say(self, title: str, *lines: str, failed: bool = False) -> None:
        """Say why there is no text; the line over it stays, empty."""
        self._turn(of_spans=True)
        self.query_one("#sample-notice", Notice).say(title, *lines, failed=failed)
        self.query_one("#below").display = False
        self.query_one("#sample-title", Line).show([])

    def focus_first(self) -> None:
        self.query_one("#said-lines" if self._said.display else "#text").focus()

    def _draw(self) -> None:
        seen = self._seen
        if seen is None:
            self.show_nothing("No sample is selected: the list is empty")
            return
        self.query_one("#sample-notice", Notice).hide()
        self.query_one("#below").display = True
        text, raw = self.query_one("#text", TieredText), self.query_one("#raw", TieredText)
        table = self.query_one("#alignment", AlignmentTable)
        evidence = seen.evidence
        left, right = panes.heading(evidence, self.repeat, self.overlay)
        self.query_one("#sample-title", Line).show(left, right)
        self._surround(evidence)
        text.show(panes.score(seen, self.repeat, self.overlay))
        table.display, raw.display = not self._raw, self._raw
        if self._raw:
            raw.show(panes.raw_score(evidence, self.repeat))
        else:
            table.show_rows(panes.alignment_rows(seen, self.repeat), panes.notes(evidence, self.repeat))
        self._title_below()
        if not table.scrollable_content_region.width:
            # The first rows have columns only after the next layout.
            self.call_after_refresh(self._title_below)
        self.refresh_bindings()

    def _surround(self, evidence: "Evidence") -> None:
        """Show its own columns under the title, and the turns around it; their widgets are made for the first ones."""
        sample, turns = evidence.sample, evidence.turns
        own = own_columns(sample.meta, sample.subject)
        if not self.query("#own-columns"):
            if not own and turns == Turns():
                return
            before = [Line(id="own-columns"), TurnsPage(id="turns-before")]
            self.query_one("#above").mount(*before, before="#text")
            self.query_one("#above").mount(TurnsPage(id="turns-after"), after="#text")
        line, rows = self.query_one("#own-columns", Line), self.size.height
        line.display = bool(own)
        line.show(own)
        self.query_one("#turns-before", TurnsPage).show_turns(turns.before, rows, last=True)
        self.query_one("#turns-after", TurnsPage).show_turns(turns.after, rows, last=False)

    def on_resize(self) -> None:
        if self._seen is not None:
            self._surround(self._seen.evidence)
            self.call_after_refresh(self._title_below)

    def _title_below(self) -> None:
        evidence = self.evidence
        answered = evidence is not None and bool(evidence.repeats)
        name = "raw output and prompt" if self._raw else "alignment" if answered else "gold spans"
        run = [Part("run ", "dim"), Part(self._run.model, "said", "do('run')")] if self._run else []
        state = f" {self._run.state}" if self._run and self._run.state != "done" else ""
        if self._run and self._run.config.get("flattered"):
            state += " (fitted on these samples)"
        room = self.query_one("#alignment", AlignmentTable).after_figures
        figures = [] if self._raw or not answered else [Part("  F1   Sim" + " " * room, "dim")]
        left = [Part(f" {name}", "strong", "do('raw')"), Part("   "), *run, Part(state, "mark")]
        repeats = len(evidence.repeats) if evidence is not None else 0
        if repeats > 1:
            left.append(Part(f"   answer {self.repeat % repeats + 1} of {repeats}", "dim", "do('repeat')"))
        if self._seen is not None:
            left += panes.beside(self._seen, self.repeat)
        self.query_one("#below-title", Line).show(left, figures)

    def can(self, action: str) -> bool:
        """What needs a sample, a run or annotators can be done only where there are some."""
        if self._said.display:
            return action in _OF_ANY_TASK and self._said.can(action)
        evidence = self.evidence
        if evidence is None or not super().can(action):
            return False
        if action == "raw":
            return bool(evidence.repeats or evidence.sample.meta)
        if action == "annotators":
            return bool(evidence.sample.annotators or evidence.repeats or self._beside)
        if action == "repeat":
            return len(evidence.repeats) > 1
        return True

    def do_overlay(self) -> None:
        overlays = [one for one in panes.OVERLAYS if one != panes.EVERYONE]
        here = overlays.index(self.overlay) if self.overlay in overlays else -1
        self._overlay(overlays[(here + 1) % len(overlays)])

    def do_annotators(self) -> None:
        self._overlay("both" if self.overlay == panes.EVERYONE else panes.EVERYONE)

    def _overlay(self, overlay: str) -> None:
        self._remember(overlay)
        self._draw()

    def _remember(self, overlay: str) -> None:
        self.overlay = overlay
        self.session.note(replace(self.session.state, overlay=overlay))

    def do_raw(self) -> None:
        if self._said.display:
            self._said.raw = not self._said.raw
            self._said.draw()
            return
        self._raw = not self._raw
        self._draw()

    def do_repeat(self) -> None:
        if self._said.display:
            self._said.repeat += 1
            self._said.draw()
            return
        self.repeat += 1
        self._draw()

    def do_copy(self) -> None:
        evidence, said = self.evidence, self._said.said
        if self._said.display and said is not None:
            self.app.copy_to_clipboard(self._said.as_text())
            self.notify(f"{said.id} copied", markup=False)
        elif evidence is not None:
            self.app.copy_to_clipboard(panes.as_text(evidence, self.repeat))
            self.notify(f"{evidence.sample.id} copied", markup=False)
