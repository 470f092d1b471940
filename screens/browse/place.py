"""Browse: gold and predicted spans over the text, what met what in its margin, a cursor on one of them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer

from emotui.records import Span
from emotui.screens.browse import panes
from emotui.screens.browse.entry import ENTRY
from emotui.screens.browse.requests import SampleView, TurnsPage, look, own_columns
from emotui.screens.browse.said import SAID_HEADINGS, SaidPane
from emotui.screens.browse.score import Score
from emotui.screens.browse.things import Thing, first_wrong, things
from emotui.screens.browse.voices import names_by_run, run_names, telling
from emotui.screens.keymaps import keyed
from emotui.screens.place import EMPTY_LIST, OTHERS, Place
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.why import WhyPane
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.tiered_text import TieredText
from emotui.screens.widgets.why_lines import margin
from emotui.store.query import Dataset, Run

if TYPE_CHECKING:
    from emotui.records import SpanSample
    from emotui.workbench.source import BrowseSource, Evidence
    from emotui.workbench.why.removal import Removed

SPANS = "spans"
_OF_ANY_TASK = ("raw", "repeat", "copy")
_WHY = ("take_away", "leave", "next_label", "part", "part_back")
_PATIENCE = 0.15
"""Seconds before a stale answer is greyed; a quick one would only flicker."""

_LONGEST_NAME = 32

_NOT_IN_TEXT = "No span of the text is under the cursor: nothing can be taken away."
"""Cells for the name of a run over the text."""


class Browse(Place):
    """The score of a sample; below it, where they are asked for, the raw output, or a span taken out of the text."""

    entry = ENTRY
    into_sight = ("take_away", "annotators", "raw", "overlay", "repeat")
    headings = {"text": "#sample-title", "raw": "#below-title", "why-page": "#why-title"} | SAID_HEADINGS
    DEFAULT_CSS = """
    Browse > #above { height: 3fr; }
    Browse > #below { height: 2fr; min-height: 5; display: none; }
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
        self._noted = False
        self._looking_for = self._shown_for = ""
        self._told: tuple[str, ...] = ()
        self._desk: LatestRequest[tuple[int, str | None, tuple[str, ...], tuple[str, ...]], SampleView] | None = None
        self._grey: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="above"):
            yield Line(id="sample-title", classes="-pane")
            yield Score(id="text")
            yield Notice("#text", id="sample-notice")
        with Vertical(id="below"):
            yield Line(id="below-title", classes="-pane")
            yield TieredText(id="raw")
        yield SaidPane(id="said")
        yield WhyPane(self._tell_removed, _NOT_IN_TEXT, id="why")

    def bind_source(self, source: "BrowseSource") -> None:
        if self.session.state.overlay in panes.OVERLAYS:
            self.overlay = self.session.state.overlay
        self._desk = LatestRequest("evidence", self, lambda question: look(source, *question), self._show, self._refuse)
        self._said.bind_source(source)
        self._why.bind_source(source)

    def use_model(self, spec: str) -> None:
        """The live model: the one that is asked without a span."""
        self._why.use_model(spec)
        if self._why.is_open and self._seen is not None:
            self._draw()

    @property
    def busy(self) -> bool:
        return (self._desk is not None and self._desk.busy) or self._said.busy or self._why.busy

    @property
    def _said(self) -> SaidPane:
        return self.query_one(SaidPane)

    @property
    def _why(self) -> WhyPane:
        return self.query_one(WhyPane)

    def _of_other_task(self, run: Run | None) -> Dataset | None:
        """The dataset of the list, where what is shown of its texts is not of spans."""
        dataset = self.session.overview.dataset
        if dataset is None or (dataset.task if run is None else run.task) == SPANS:
            return None
        return dataset

    @property
    def evidence(self) -> "Evidence | None":
        """What is shown."""
        return None if self._seen is None else self._seen.evidence

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Ask for this sample; what is here stays until the answer comes, greyed if that takes long."""
        dataset = self._of_other_task(run)
        self._turn(of_spans=dataset is None or sample is None)
        if dataset is not None and sample is not None:
            self._sample, self._run, self._seen = sample, run, None
            self._said.show_sample(dataset.dataset, sample, run, self.session.runs_told)
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
            ask = self._desk.ask_painted if self._seen is None else self._desk.ask
            self._told = tuple(one.run for one in self.session.runs_told)
            ask((sample, run.run if run else None, self._beside, self._told))
            if self._grey is None:
                self._grey = self.set_timer(_PATIENCE, self._turn_grey)

    def _turn(self, *, of_spans: bool) -> None:
        if self._said.display == of_spans:
            self._said.display = not of_spans
            self.query("#above, #below").set(display=of_spans)
            if not of_spans:
                self._why.close()

    def _compare(self) -> None:
        """Compare with further runs, in the rows of everyone, which are shown where there were none."""
        beside = tuple(run.run for run in self.session.runs_beside if run.task == SPANS)
        if beside and not self._beside and self._desk is not None and self._desk.asked:
            self._remember(panes.EVERYONE)
        self._beside = beside

    def _refuse(self, _: object, why: str) -> None:
        self._stop_grey()
        if self._sample is not None:
            self._seen = None
            self.say("This sample cannot be read", why, keyed(OTHERS), failed=True)

    def _show(self, _: object, seen: SampleView) -> None:
        self._stop_grey()
        if self._sample is None:
            return
        known = self._seen is not None and self._seen.evidence.number == seen.evidence.number
        self._seen = seen
        mark = self._choose_answer(self._shown_for)
        self._shown_for = ""
        self._draw(mark, stay=known and not mark)

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
        for name in ("#text", "#raw"):
            self.query_one(name).set_class(stale, "-stale")

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        self.say("Gold and predicted evidence, in the text itself", why, failed=failed)

    def say(self, title: str, *lines: str, failed: bool = False) -> None:
        """Say why there is no text; the line over it stays, empty."""
        self._turn(of_spans=True)
        self.query_one("#sample-notice", Notice).say(title, *lines, failed=failed)
        self.query_one("#below").display = False
        self._why.close()
        self.query_one("#sample-title", Line).show([])

    def focus_first(self) -> None:
        self.query_one("#said-lines" if self._said.display else "#text").focus()

    @property
    def score(self) -> Score:
        return self.query_one(Score)

    def _draw(self, mark: str = "", *, stay: bool = True) -> None:
        """Draw what is known. The cursor stands on the first error, with this letter where there is one, or stays."""
        seen = self._seen
        if seen is None:
            self.show_nothing(f"No sample is selected: {keyed(EMPTY_LIST)}")
            return
        self.query_one("#sample-notice", Notice).hide()
        evidence, score = seen.evidence, self.score
        self._draw_title(evidence)
        self._surround(evidence)
        near = seen.near[self.repeat % len(seen.near)] if seen.near else {}
        found = self._with_drops(things(evidence.sample, panes.answer(evidence, self.repeat), near))
        score.show_things(
            panes.score(seen, self.repeat, self.overlay),
            found,
            score.cursor if stay else first_wrong(found, mark),
            panes.about(
                seen,
                self.repeat,
                "Tab",
                telling(seen.voices, names_by_run(self.session.runs_told)),
                first_start=self.session.starts_first,
            ),
            panes.of_run(seen, self.repeat, self._run_name()),
        )
        self._draw_raw(evidence)
        self._look_at()
        self.refresh_bindings()

    def show_noted(self, *, noted: bool) -> None:
        if noted != self._noted:
            self._noted = noted
            self._said.show_noted(noted=noted)
            if self._seen is not None:
                self._draw_title(self._seen.evidence)

    def _draw_title(self, evidence: "Evidence") -> None:
        left, right = panes.heading(evidence, self.repeat, self.overlay, self.size.width, noted=self._noted)
        self.query_one("#sample-title", Line).show(left, right)

    def _draw_raw(self, evidence: "Evidence") -> None:
        self.query_one("#below").display = self._raw and not self._why.is_open
        if self._raw:
            self.query_one("#below-title", Line).show([Part(" raw output and prompt", "strong", "do('raw')")])
            self.query_one("#raw", TieredText).show(panes.raw_score(evidence, self.repeat))

    def _run_name(self) -> str:
        """The name of the run over the list, among all that there are over it."""
        runs = self.session.overview.runs
        names = dict(zip((run.run for run in runs), run_names(runs, _LONGEST_NAME), strict=True))
        return "" if self._run is None else names.get(self._run.run, self._run.model)

    def _surround(self, evidence: "Evidence") -> None:
        """Show its own columns under the title, and the turns around it; their widgets are made for the first ones."""
        sample, turns = evidence.sample, evidence.turns
        own = own_columns(evidence.meta, sample.subject)
        if not self.query("#own-columns"):
            if not own and not turns.before and not turns.after:
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
            self._draw()

    # The cursor.

    def doing(self, action: str) -> Callable[[], None] | None:
        """Tab walks the spans while the score has the keys; after the last one it goes on to the next pane."""
        step = {"pane": 1, "pane_back": -1}.get(action)
        if step is not None:
            return self._walking(step)
        return super().doing(action)

    def _walking(self, step: int) -> Callable[[], None] | None:
        score = self.score
        if not score.has_focus or not score.display or not 0 <= score.cursor + step < len(score.things):
            return None
        return lambda: score.action_walk(step)

    def can(self, action: str) -> bool:
        """What needs a sample, a run or annotators can be done only where there are some."""
        if self._said.display:
            if action in _WHY:
                return self._said.said is not None and self._can_why(action)
            return action in _OF_ANY_TASK and self._said.can(action)
        evidence = self.evidence
        if evidence is None or not super().can(action):
            return False
        if action == "raw":
            return bool(evidence.repeats or evidence.meta)
        if action == "annotators":
            return bool(evidence.sample.annotators or evidence.repeats or self._beside)
        if action == "repeat":
            return len(evidence.repeats) > 1
        return self._can_why(action) if action in _WHY else True

    def _can_why(self, action: str) -> bool:
        why = self._why
        if action in ("part", "part_back"):
            return why.has_parts
        return why.able if action == "take_away" else why.is_open if action == "leave" else why.has_labels

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
        self._why.close()
        self._draw()

    # A span taken away.

    def do_take_away(self) -> None:
        self._why.turn()
        self._show_why()

    def do_leave(self) -> None:
        """Close what was opened last: the span that is taken away, or the layers."""
        self._why.close()
        self._show_why()

    def _show_why(self) -> None:
        if self._said.display:
            self._look_at_parts()
            self.refresh_bindings()
        else:
            self._draw()

    def do_next_label(self) -> None:
        self._why.next_label()

    def do_part(self) -> None:
        self._why.turn_part()

    def do_part_back(self) -> None:
        self._why.turn_part()

    @on(SaidPane.Arrived)
    def _look_at_parts(self) -> None:
        """Take away gold's spans of a text of another task; where none is marked, each word or sentence."""
        said, pane = self._said.said, self._said
        if said is None or not pane.display:
            return
        parts: tuple[Span, ...] = ()
        if self._why.is_open:
            from emotui.workbench.why.removal import parts_of

            parts = pane.gold_places or parts_of(said.text)
        self._why.look_at(
            said.id,
            said.text,
            parts,
            dataset=self.session.overview.dataset,
            gold=pane.gold_places,
            labels=pane.gold_labels,
            parts=True,
        )

    @on(Score.Walked)
    def _look_at(self) -> None:
        """Take away what is under the cursor now."""
        if self._seen is not None:
            sample, here = self._seen.evidence.sample, self.score.thing
            others = [place for one in self.score.things for place in _places(one)]
            # The predicted one first: it is the one whose figure stands in the margin.
            places = [] if here is None else _places(here)[::-1]
            gold, said = (None, None) if here is None else here.labels
            self._why.look_at(
                sample.id,
                sample.text,
                places,
                others,
                ("predicted", "gold"),
                dataset=self.session.overview.dataset,
                gold=sample.places,
                predicted=[one.said_place for one in self.score.things if one.said_place is not None],
                labels=[label for label in (gold, sample.emotion, said) if label],
                of_spans=_labels_by_place(self.score.things),
                gold_of={place: emotion for place in places if (emotion := _gold_of(sample, here, place))},
            )

    def _tell_removed(self) -> None:
        """One more span was taken away: its figure stands in the margin."""
        if self._seen is not None and self._why.is_open:
            self._draw()

    def _with_drops(self, found: list[Thing]) -> list[Thing]:
        """With what is known of the text without each of them: of a pair, without the predicted span."""
        if not self._why.is_open:
            return found
        removed = [self._why.known(one.said_place or one.gold_place) for one in found]
        return [replace(one, drop=_drop(one, of)) for one, of in zip(found, removed, strict=True)]

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


def _drop(one: Thing, found: "Removed | None") -> tuple[str, str]:
    """The change without a span and its kind; of another label than the span's that label is named before it."""
    text, kind = margin(found)
    if found is None or {label for label in one.labels if label} == {found.explains}:
        return text, kind
    return f"{fit(found.explains, min(width(shown(found.explains)), _NAMED)).rstrip()} {text}", kind


_NAMED = 7
"""Cells of a label's name before its change."""


def _places(one: Thing) -> list[Span]:
    """Where it stands in the text: gold's place, then the predicted one where that is another."""
    return list(dict.fromkeys(place for place in (one.gold_place, one.said_place) if place is not None))


def _gold_of(sample: "SpanSample", one: Thing | None, place: Span) -> str:
    """What gold says is felt at a place: the gold span's label, else its sentence's emotion, else the text's."""
    if one is not None and one.labels[0]:
        return one.labels[0]
    of_sentence = (each.emotion for each in sample.sentences if each.start <= place[0] < each.end)
    return next(of_sentence, None) or sample.emotion or ""


def _labels_by_place(things: Sequence[Thing]) -> dict[Span, str]:
    """The label of each span: of a place that both sides have, gold's."""
    sides = [(one.said_place, one.labels[1]) for one in things] + [(one.gold_place, one.labels[0]) for one in things]
    return {place: label for place, label in sides if place is not None and label}
