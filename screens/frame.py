"""The one frame of the workbench: top line, list, place, footer. It holds the state; what it shows gets values."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.screen import Screen

from emotui.screens import actions, jobs
from emotui.screens.list_state import ListState, from_setting, to_setting
from emotui.screens.place import Place
from emotui.screens.places import BROWSE, PLACES
from emotui.screens.requests import Answer, LatestRequest
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import LIVE_MODEL, Opened, Overview, list_setting, look, open_up
from emotui.screens.widgets import top_line
from emotui.screens.widgets.footer import KeyBar
from emotui.screens.widgets.line import Line
from emotui.screens.widgets.search_input import SearchLine
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.source import BrowseSource

NARROW = 110
"""Below so many columns the list folds away behind a key."""

_TITLES = {"list": "#list-title", "text": "#sample-title", "alignment": "#below-title", "raw": "#below-title"}
_TITLES |= {"scene-text": "#scene-title", "scene-rows": "#scene-alpha", "scene-view": "#scene-views"}
_TITLES |= {"rephrase-original": "#rephrase-title", "rephrase-editor": "#rephrase-attempt"}
_TITLES |= {"rephrase-below": "#rephrase-views"}
_TITLES |= {"spot-editor": "#spot-title", "spot-rows": "#spot-title", "spot-page": "#spot-models"}
_TITLES |= {"model-rows": "#models-title", "model-about": "#model-title"}
_TITLES |= {"results-grid": "#results-title", "results-about": "#results-cell"}


class LaidOut(Screen[None]):
    """Every widget that a layout brings into sight, or gives another size, gets `Show` and `Resize`.

    Textual (8.2) tells them apart from the map of the layout before. Where a widget is painted between its being
    displayed and its layout, that map is made anew on the way with the new widget in it, which then counts as told: it
    stands there empty, or with its lines broken for no width at all, until the terminal changes its size.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last_layout = self._compositor._full_map

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self._compositor._full_map = self._last_layout
        super()._refresh_layout(size, scroll)
        self._last_layout = self._compositor._full_map


class Frame(LaidOut):
    """Opens the source after the first paint, follows what changes in it, and hands what is selected to the place."""

    BINDINGS = [*actions.bindings()]
    AUTO_FOCUS = "#list"
    DEFAULT_CSS = """
    Frame #top { dock: top; padding: 0 1; background: $panel; }
    Frame #body { height: 1fr; }
    Frame ListPane { width: 40%; min-width: 44; max-width: 68; border-right: solid $rule; }
    Frame.-slim ListPane { width: 28%; }
    Frame #places { width: 1fr; }
    Frame.-narrow ListPane { display: none; width: 1fr; max-width: 100%; border-right: none; }
    Frame.-narrow.-list ListPane { display: block; }
    Frame.-narrow.-list #places { display: none; }
    """

    def __init__(self, open_source: "Callable[[], BrowseSource]", poll: float | None) -> None:
        super().__init__()
        self.source: BrowseSource | None = None
        self.state: ListState = ListState()
        self.overview: Overview = Overview()
        self.work: jobs.Job | None = None
        self.leaving = False
        self._poll = poll
        self._marker: object = None
        self._number = 1
        self._list_task = "spans"
        self._title = ""
        self.live: str | None = None
        self._told: dict[int, str] = {}
        self.looking_for = ""
        self._live_state = ""
        self._dirty = False
        self._lists: dict[str, ListState] = {}
        self._open: LatestRequest[None, Opened] = LatestRequest(
            "open", self, lambda _: open_up(open_source(), _tasks())
        )
        self._overviews: LatestRequest[tuple[str, str | None], Overview] = LatestRequest(
            "overview", self, lambda question: look(self.bound, *question)
        )
        self._markers: LatestRequest[str | None, tuple[object, str]] = LatestRequest("marker", self, self._look_up)
        self._settings: LatestRequest[tuple[str, object], None] = LatestRequest(
            "settings", self, lambda setting: self.bound.set_setting(*setting)
        )

    def compose(self) -> ComposeResult:
        """The frame with its first place; other places are made when they are first opened."""
        self.set_class(self.app.size.width < NARROW, "-narrow")
        yield Line(id="top")
        with Horizontal(id="body"):
            yield ListPane(id="list-pane")
            with Horizontal(id="places"):
                yield PLACES[self._number](id=f"place-{self._number}")
        yield KeyBar()

    @property
    def bound(self) -> "BrowseSource":
        """The source, once it is open."""
        assert self.source is not None
        return self.source

    @property
    def pane(self) -> ListPane:
        """The list."""
        return self.query_one(ListPane)

    @property
    def place(self) -> Place:
        """The place that is open."""
        return self.query_one(f"#place-{self._number}", Place)

    @property
    def list_task(self) -> str:
        """Of which task the list has the samples: the place's, or that of the place before where it takes any."""
        return self.place.samples_of or self._list_task

    @property
    def run_shown(self) -> Run | None:
        """The run over the list."""
        return self.state.chosen_run(self.overview.runs)

    @property
    def busy(self) -> bool:
        """Is an answer to any question on its way? (The poll for changes does not count.)"""
        desks = (self._open, self._overviews, self._settings)
        return any(desk.busy for desk in desks) or self.pane.busy or self.place.busy

    # Opening, and following what changes.

    def on_mount(self) -> None:
        """Paint first, then open."""
        self._top()
        self._say("Opening", "the workspace is being read")
        self.call_after_refresh(self._open.ask, None)

    @on(Answer)
    def _answered(self, answer: Answer) -> None:
        answer.stop()
        newest = answer.desk.take(answer)
        if answer.desk is self._settings:
            self._saved(answer.error)
        elif answer.error is not None:
            self._failed(answer)
        elif answer.desk is self._open:
            self._show_opened(answer.value)
        elif answer.desk is self._overviews and newest:
            self._show_overview(answer.value)
        elif answer.desk is self._markers:
            self._take_marker(*answer.value)

    def _say(self, title: str, why: str, *, failed: bool = False) -> None:
        """There is nothing to show, and this is why; in both panes, since the list may be folded away."""
        self.pane.show_nothing(title, why, failed=failed)
        self.place.show_nothing(why, failed=failed)

    def _failed(self, answer: Answer) -> None:
        if answer.desk is self._open:
            self._say("Cannot be opened", answer.error or "", failed=True)
            self._title = "not open"
            self._top()
        elif answer.desk is self._overviews:
            self.notify(answer.error or "", severity="error", markup=False)

    def _show_opened(self, opened: Opened) -> None:
        self.source, self._title, self.live = opened.source, opened.title, opened.live
        self._lists = {task: from_setting(kept) for task, kept in opened.lists.items()}
        self.state = self._lists[self.list_task]
        if isinstance(opened.theme, str) and opened.theme in self.app.available_themes:
            self.app.theme = opened.theme
        self.pane.bind_source(opened.source)
        self.place.bind_source(opened.source)
        self.place.recall(to_setting(self.state))
        self._tell_model()
        self._follow()
        self._top()
        self.look_again()
        if opened.is_new:
            source: Any = opened.source
            self.begin("first start", source.first_start, source.stop)
        if self._poll:
            self.set_interval(self._poll, self._follow)
            self.set_interval(20, self._save_if_changed)

    def _follow(self) -> None:
        if not self._markers.busy and not self.leaving:
            self._markers.ask(self.live)

    def _look_up(self, live: str | None) -> tuple[object, str]:
        source: Any = self.bound
        return source.marker(), "" if live is None else source.model_state(live)

    def _take_marker(self, marker: object, live_state: str) -> None:
        if live_state != self._live_state:
            self._live_state = live_state
            self._top()
        if marker != self._marker:
            self._marker = marker
            self.look_again()

    def use_model(self, spec: str) -> None:
        """Ask this model from now on, wherever one text at a time is asked about; remembered."""
        self.live, self._live_state = spec, ""
        self._settings.ask((LIVE_MODEL, spec))
        self._told.clear()
        self._tell_model()
        self._top()

    def _tell_model(self) -> None:
        """Tell the open place which model is live, where it does not know yet."""
        if self.live is not None and self._told.get(self._number) != self.live:
            self._told[self._number] = self.live
            self.place.use_model(self.live)

    def look_again(self) -> None:
        """Ask what there is: datasets, runs, and through them the list and the sample."""
        self._overviews.ask((self.list_task, self.state.dataset))

    def _show_overview(self, overview: Overview) -> None:
        self.overview = overview
        if overview.dataset is None:
            how = f"emotui import {self.list_task} FILE brings some in"
            self._say("No samples yet", "the sample data is on its way" if self.work else how)
        else:
            self.pane.ask(self.state, overview.dataset, self.run_shown, overview.metrics)
        self._top()
        self.refresh_bindings()

    def change(self, state: ListState) -> None:
        """Show another list: filter, order, dataset or run have changed."""
        asks_again = state.dataset != self.state.dataset
        self.state, self._dirty = state, True
        if asks_again or self.overview.dataset is None:
            self.look_again()
        else:
            self.pane.ask(state, self.overview.dataset, self.run_shown, self.overview.metrics)
        self.refresh_bindings()

    @on(ListPane.Selected)
    def _select(self, event: ListPane.Selected) -> None:
        event.stop()
        if event.sample != self.state.sample:
            self.state, self._dirty = replace(self.state, sample=event.sample), True
        self._tell_place()
        self.place.look_for(self.looking_for or self.state.only_mark or self.state.marks)
        self.looking_for = ""
        self.place.show_sample(event.sample, self.run_shown)
        if self.focused is None and event.sample is not None:
            self.focus_shown()
        self.refresh_bindings()

    def _tell_place(self) -> None:
        self.place.show_dataset(self.overview.dataset, self.overview.runs)
        self.place.show_beside(self.state.runs_beside(self.overview.runs))

    @on(Place.Listed)
    async def _list_just(self, event: Place.Listed) -> None:
        event.stop()
        only: dict[str, Any] = {"only": event.samples, "only_why": event.why, "only_mark": event.mark}
        state = replace(self.state.unfiltered(), sample=event.samples[0], **only)
        dataset, run = event.dataset or state.dataset, event.run or state.run
        self.change(replace(state, dataset=dataset, run=run))
        await self.action_place(BROWSE)
        self.notify(f"Just the samples behind {event.why}: x shows all again", markup=False)

    @on(Place.Changed)
    def _remember_choice(self, event: Place.Changed) -> None:
        event.stop()
        choices: Any = event.choices
        self.state, self._dirty = replace(self.state, **choices), True

    @on(Place.Tagged)
    def _tag(self, event: Place.Tagged) -> None:
        event.stop()
        self.pane.rows.show_tags(event.name, event.tags)

    @on(Place.Sought)
    def _seek(self, event: Place.Sought) -> None:
        event.stop()
        self.pane.seek(event.samples, event.step)

    def action_tell(self, what: str, value: object) -> None:
        """A part of a line of the place was clicked."""
        self.place.tell(what, value)

    # Work.

    def begin(self, what: str, do: Callable[..., object], halt: Callable[[], object]) -> None:
        """Start long work; its progress stands in the top line."""
        self.work = jobs.begin(self, what, do, halt)
        self._top()
        self.refresh_bindings()

    def stop_work(self) -> None:
        """Ask the work to end; what it has done is kept."""
        if self.work is not None:
            self.work.stopping = True
            self.work.halt()
            self._top()
            self.refresh_bindings()

    @on(jobs.Progressed)
    def _progressed(self, event: jobs.Progressed) -> None:
        event.stop()
        if self.work is not None:
            self.work.progress = event.progress
            self._top()

    @on(jobs.Finished)
    def _finished(self, event: jobs.Finished) -> None:
        event.stop()
        self.work = None
        if event.error:
            self.notify(event.error, title=f"{event.what} failed", severity="error", timeout=15, markup=False)
        elif event.stopped:
            self.notify("Stopped; what was done is kept", markup=False)
        self._top()
        self.refresh_bindings()
        if not self.leaving:
            self.look_again()
            self._follow()

    # Keys.

    def can(self, action: str) -> bool:
        """Can this action of the registry be done now?"""
        from emotui.screens import frame_actions

        known = None if hasattr(self.place, f"do_{action}") else frame_actions.CAN.get(action)
        return known(self) if known is not None else self.place.can(action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What cannot be done is not offered."""
        if action == "do":
            return self.is_mounted and (self.can(str(parameters[0])) or self._has_to_wait(str(parameters[0])))
        if action == "place":
            return parameters[0] in PLACES
        return True

    def _has_to_wait(self, action: str) -> bool:
        """Is it an action that begins long work, while other work goes on? Its key then says so."""
        return self.work is not None and action in ("model", "name_model", "export")

    def action_do(self, action: str) -> None:
        """Do an action of the registry: the place's, or else the frame's own."""
        from emotui.screens import frame_actions

        if self._has_to_wait(action) and not self.can(action):
            self.notify("One thing at a time: wait for what the top line shows, or stop it with Esc", markup=False)
            return
        own = getattr(self.place, f"do_{action}", None)
        if own is not None:
            own()
        else:
            frame_actions.DO[action](self)

    async def action_place(self, number: int) -> None:
        """Open a place; what is selected travels along."""
        if number == self._number:
            return
        task = self._list_task = self.list_task
        self._lists[task] = self.state
        if self._dirty and self.source is not None:
            self.save()
        had_keys = self.focused is not None and self.place in self.focused.ancestors
        self.place.display = False
        self._number = number
        if not self.query(f"#place-{number}"):
            place = PLACES[number](id=f"place-{number}")
            # Shown only once it knows what to ask: what a place does when it comes into sight counts on that.
            place.display = False
            await self.query_one("#places").mount(place)
            self.place.recall(to_setting(self.state))
            if self.source is not None:
                self.place.bind_source(self.source)
        self._tell_model()
        self.place.display = True
        self.set_class(self.place.slim_list, "-slim")
        self.pane.rows.show_tags("", None)
        if self.list_task == task:
            self._tell_place()
            self.place.show_sample(self.pane.sample, self.run_shown)
        else:
            self.state, self.overview = self._lists.get(self.list_task, ListState()), Overview()
            self.pane.forget()
            self.place.show_nothing("the list is being read")
            if self.source is not None:
                self.look_again()
        self._top()
        if had_keys:
            self.place.focus_first()
        self.refresh_bindings()

    @on(SearchLine.Changed)
    def _search(self, event: SearchLine.Changed) -> None:
        event.stop()
        if event.value != self.state.text:
            self.change(replace(self.state, text=event.value))

    @on(SearchLine.Closed)
    def _searched(self, event: SearchLine.Closed) -> None:
        event.stop()
        if event.text != self.state.text:
            self.change(replace(self.state, text=event.text))
        self.query_one(SearchLine).remove()
        self.pane.rows.focus()

    # How it looks.

    def on_resize(self, event: events.Resize) -> None:
        """Fold the list away where there is no room for both."""
        narrow = event.size.width < NARROW
        self.set_class(narrow, "-narrow")
        self.focus_shown()
        self._top()
        self.refresh_bindings()

    def move_focus(self, direction: int) -> None:
        """Put the arrow keys into the next (1) or previous (-1) pane."""
        if direction > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def focus_shown(self) -> None:
        """Put the focus into a pane that is in sight."""
        folded = self.has_class("-narrow") and not self.has_class("-list")
        if folded and self.focused in (None, self.pane.rows):
            self.place.focus_first()
        elif not folded and (self.focused is None or self.has_class("-narrow")) and not self.query(SearchLine):
            self.pane.rows.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Mark the heading of the pane that has the keys."""
        here = _TITLES.get(event.widget.id or "")
        for title in set(_TITLES.values()):
            for line in self.query(title):
                line.set_class(title == here, "-focused")

    def _top(self) -> None:
        cells = self.size.width - 3
        room = cells - top_line.taken(top_line.places(PLACES, self._number, 0))
        if self.work is not None:
            right = jobs.parts(self.work, room)
        else:
            right = top_line.standing(self._title, self.live, self._live_state, max(cells // 3, 24), room)
        left = top_line.places(PLACES, self._number, cells - top_line.taken(right))
        self.query_one("#top", Line).show(left, right)

    # Remembering, and leaving.

    def _save_if_changed(self) -> None:
        if self._dirty and self.work is None and not self.leaving and not self._settings.busy:
            self.save()

    def save(self) -> None:
        """Remember the list for the next session."""
        self._dirty = False
        self._settings.ask((list_setting(self.list_task), to_setting(self.state)))

    def remember_theme(self, theme: str) -> None:
        """Use these colours from now on."""
        self.app.theme = theme
        if self.source is not None:
            self._settings.ask(("theme", theme))

    def leave(self) -> None:
        """Remember, end the models, and go."""
        if self.source is None or self.leaving:
            self.app.exit()
            return
        self.leaving = True
        self.stop_work()
        self._top()
        self._settings.ask((list_setting(self.list_task), to_setting(self.state)))

    def _saved(self, error: str | None) -> None:
        if not self.leaving:
            if error:
                self.notify(error, severity="error", markup=False)
        elif not self._settings.busy:
            self.run_worker(self._close, thread=True, name="close")

    def _close(self) -> None:
        close = getattr(self.source, "close", None)
        if close is not None:
            close()
        self.app.call_from_thread(self.app.exit)


def _tasks() -> set[str]:
    return {place.samples_of for place in PLACES.values() if place.samples_of}
