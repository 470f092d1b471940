"""The one frame of the workbench: top line, list, place, footer. The session holds the state; this shows it."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message_pump import MessagePump
from textual.widget import Widget

from emotui.screens import jobs
from emotui.screens.actions import Acting, PlaceEntry
from emotui.screens.folding import Divider, Folding
from emotui.screens.keymaps import Keymap, bindings, hold, keyed, sign_of
from emotui.screens.keys import LONG, EarlyKeys, Keys
from emotui.screens.models.actions import ModelActions
from emotui.screens.notes.actions import NoteActions, NoteLine
from emotui.screens.place import Place
from emotui.screens.places import ACTIONS, ANNOTATE, OPENED, SIGNS, TITLES, WAYS, OpenPlaces, Top, list_tasks, place_of
from emotui.screens.samples.actions import ListActions, SourceActions
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import Opened, Session
from emotui.screens.tool import OwnKeys, ToolActions
from emotui.screens.widgets.footer import KeyBar
from emotui.screens.widgets.notice import Told
from emotui.screens.widgets.number_format import count, so_many
from emotui.screens.widgets.page import Ended
from emotui.screens.widgets.textual_private import LaidOut

if TYPE_CHECKING:
    from emotui.workbench.source import BrowseSource

_ENDS = dict.fromkeys(("next", "page_down", "last"), "this is the last sample of the list") | dict.fromkeys(
    ("previous", "page_up", "first"), "this is the first sample of the list"
)
"""What is said where the list cannot go further."""


class Frame(Acting, LaidOut):
    """Shows the session: hands what is selected to the place that is open, and keys to whoever answers them.

    Args:
        open_source: opens the source, after the first paint.
        poll: how many seconds between two looks whether the source has changed; None: never.
        annotator: under whose name attempts and reviews are kept.
        keys_file: says where a person's own keys are; None: they hold for this session.
        file: is looked at, to be brought in, as soon as the source is open; empty: none.
        annotates: begins in Annotate, unless the workspace is new.
        answer_key: does what a key does that has waited; returns what it passes through.
    """

    BINDINGS = [*bindings()]
    AUTO_FOCUS = "#list"
    DEFAULT_CSS = """
    Frame #body { height: 1fr; }
    Frame #places { width: 1fr; }
    Frame.-narrow ListPane { display: none; }
    Frame.-narrow Divider { display: none; }
    Frame.-narrow.-list ListPane { display: block; }
    Frame.-narrow.-list #places { display: none; }
    Frame.-alone ListPane, Frame.-alone Divider { display: none; }
    Frame.-under *:focus > .list--cursor { color: $field; background: $foreground; }
    Frame.-under *:nocolor:focus > .list--cursor { text-style: bold; }
    """

    def __init__(
        self,
        open_source: "Callable[[], BrowseSource]",
        poll: float | None,
        annotator: str,
        keys_file: Callable[[], Path] | None = None,
        file: str = "",
        annotates: bool = False,
        *,
        answer_key: Callable[[events.Key], Awaitable[Sequence[MessagePump]]],
    ) -> None:
        super().__init__()
        self._file, self._annotates = file, annotates
        self.session = Session(self, self, open_source, list_tasks(), annotator, annotates=annotates)
        self.session.other_places = {task: TITLES[place_of(task)] for task in list_tasks()[1:]}
        self.session.keymap = Keymap(ACTIONS)
        hold(self.session.keymap)
        self.pane = ListPane(self.session, id="list-pane")
        self._poll = poll
        self._begun = ""
        self._notes_due = self._tagged = False
        self._told: int | None = None
        self._veiled = ""
        self.places = OpenPlaces(self.session)
        self.note_line = NoteLine(id="note-line")
        self.notes = NoteActions(
            self.session, self.pane, self.note_line, lambda noted: self.place.show_noted(noted=noted)
        )
        self.tool = ToolActions(self.session, self, lambda: self.keys, SIGNS)
        self.folding = Folding(self.session, self.pane, self, lambda: self.place, self.can)
        self._listing = ListActions(self.session, self.pane)
        self._anywhere: tuple[Acting, ...] = (
            self._listing,
            SourceActions(self.session, self),
            ModelActions(self.session, self),
            self.notes,
            self.tool,
            self.folding,
            self,
        )
        self.own_keys = OwnKeys(self.session, self, keys_file)
        self.keys = Keys(self.session, self.pane, self.places, self._anywhere, self)
        self.early = EarlyKeys(
            self,
            self._reads,
            self._means_nothing_yet,
            self._opens_other,
            self._meant_by,
            answer_key,
            self._tell_given_up,
        )

    def compose(self) -> ComposeResult:
        """The frame with its first place; other places are made when they are first opened."""
        self.folding.fit(self.app.size.width)
        yield Top(id="top")
        with Horizontal(id="body"):
            yield self.pane
            yield Divider()
            yield self.places
        yield self.note_line
        yield Told(id="told")
        yield KeyBar(self.keys)

    @property
    def place(self) -> Place:
        """The place that is open."""
        return self.places.here

    @property
    def told(self) -> Told:
        """What is told in passing."""
        return self.query_one(Told)

    @property
    def busy(self) -> bool:
        return self.session.busy or self.pane.busy or self.place.busy or self.notes.busy or self.early.busy

    # What the session tells.

    def on_unmount(self) -> None:
        self.session.drafts.save_at_once()

    def on_mount(self) -> None:
        self._top()
        self._say("Opening", "the workspace is being read")
        self.call_after_refresh(self.own_keys.read)

    def _say(self, title: str, why: str, *, failed: bool = False) -> None:
        """There is nothing to show, and this is why: in both panes, as the list may be folded away; an error in one."""
        self.pane.show_nothing(title, *([] if failed else [why]), failed=failed)
        self.place.show_nothing(why, failed=failed)

    def show_unopened(self, why: str) -> None:
        """The source cannot be opened."""
        self._say("Cannot be opened", f"{why}; " + keyed("{quit} leaves"), failed=True)
        self._top()

    def show_opened(self, opened: Opened) -> None:
        """The source is open."""
        if isinstance(opened.theme, str) and opened.theme in self.app.available_themes:
            self.app.theme = opened.theme
        self.folding.take_width(opened.list_width)
        for place in self.places.opened:  # a key may have opened others meanwhile
            place.bind_source(opened.source)
        self.places.tell_model()
        self._top()
        if self._poll:
            self.set_interval(self._poll, self.session.follow)
            self.set_interval(20, self.session.save_if_changed)
            self.set_interval(0.5, self._tick)
        if self._annotates and opened.first_start is None:
            self.call_later(self.action_place, ANNOTATE)
        if self._file:
            self._bring_in(self._file)

    def _bring_in(self, file: str) -> None:
        if self._listing.can_import():
            self._listing.import_file(file)
        else:
            self.notify(f"{file} cannot be brought in: the workspace is only read", severity="error", markup=False)

    def show_live_model(self) -> None:
        """Another model is live, or the same was chosen once more."""
        self.places.tell_model(again=True)

    def show_overview(self) -> None:
        """There are other datasets or runs, or another dataset is to be shown."""
        if self.session.overview.dataset is None:
            if self.session.turn_to(self._samples_for(self.place.entry, same_list=False)):
                self.session.look_again()  # the place was opened before it was known that its list has no sample
                return
            job = self.session.job
            title = "Samples are on their way" if job is not None and job.brings else "No samples yet"
            self._say(title, self.session.under_way or self.session.filled_by)
        else:
            self.show_list()
            self._notes_due = True
        if self.session.tour_is_due():
            self.tool.do_tour()
        self._top()

    def show_list(self) -> None:
        """Filter, order, dataset or run have changed."""
        session = self.session
        if session.overview.dataset is not None:
            if not self._tagged:
                self._say_beside(self.place.beside)  # it may depend on the run over the list
            self.pane.ask(session.state, session.overview.dataset, session.run_shown, session.metrics)
        self.refresh_bindings()

    def show_standing(self) -> None:
        """The live model, how it stands, or the work in progress has changed."""
        self._top()
        self.refresh_bindings()

    def show_left(self) -> None:
        """All is remembered: end the models, and go."""
        self.run_worker(self._close, thread=True, name="close")

    def _close(self) -> None:
        try:
            self.session.bound.close()
        finally:
            self.app.call_from_thread(self.app.exit)

    @on(jobs.Progressed)
    def _progressed(self, event: jobs.Progressed) -> None:
        event.stop()
        if self.session.job is not None:
            self.session.progressed(event.progress)
            self._top()

    @on(jobs.Finished)
    def _finished(self, event: jobs.Finished) -> None:
        event.stop()
        if event.error:
            self.notify(event.error, title=f"{event.what} failed", severity="error", timeout=15, markup=False)
        elif event.stopped and not self.session.gives_way:
            stopped = self.session.job.stopped if self.session.job is not None else jobs.STOPPED
            self.notify(stopped, markup=False)
        self.session.finished()

    # What list and place tell.

    @on(ListPane.Selected)
    def _select(self, event: ListPane.Selected) -> None:
        event.stop()
        session = self.session
        if event.sample is not None and session.overview.dataset is None:
            return  # it was selected in the list before: another one is being read
        session.select(event.sample)
        self._told = event.sample
        self.place.look_for(event.kind or session.state.only_mark or session.state.marks)
        self.place.show_sample(event.sample, session.run_shown)
        if self._notes_due:
            self._notes_due = False
            self.notes.read()
        self.notes.draw()
        if self.focused is None and event.sample is not None:
            self.folding.focus_shown()
        self.refresh_bindings()

    @on(Place.Listed)
    async def _list_just(self, event: Place.Listed) -> None:
        event.stop()
        state = self.session.state.just(event.samples, event.why, event.mark, at=event.at)
        self.session.change(replace(state, dataset=event.dataset or state.dataset, run=event.run or state.run))
        await self.action_place(place_of(self.session.list_task))
        behind = "" if event.why.startswith("where ") else "behind "
        told = f"{so_many(len(event.samples), 'sample')} {behind}{event.why}: " + keyed("{clear} shows all")
        self.notify(told, markup=False)

    @on(Place.Opened)
    async def _open_dataset(self, event: Place.Opened) -> None:
        event.stop()
        await self.action_place(place_of(event.task))
        self.session.change(replace(self.session.state.unfiltered(), dataset=event.dataset, run=None, sample=None))

    @on(Place.OfList)
    def _list_as_told(self, event: Place.OfList) -> None:
        """The list follows the place that is open; one that was left meanwhile has no say in it any more."""
        event.stop()
        pane = self.pane
        if event.place is not self.place:
            return
        match event:
            case Place.Tagged():
                self._tagged = True
                self._say_beside(event)
            case Place.Arranged() | Place.Released():
                if self._order_as_told(event):
                    self.show_list()
            case Place.Veiled():
                pane.blind = event.veiled
                self._veiled = self.session.list_task if event.veiled else ""
            case Place.Sought():
                pane.seek(event.samples, event.step)

    def _say_beside(self, said: Place.Tagged | None) -> None:
        """What the list is to say beside samples; None: its own marks."""
        if said is None:
            self.pane.show_beside("", None)
        else:
            self.pane.show_beside(said.name, said.tags, said.of, said.legend)

    def _order_as_told(self, said: Place.OfList) -> bool:
        """The order in which the open place has the list; says whether that is new, and to be asked for."""
        if isinstance(said, Place.Arranged):
            new = self.pane.hold_order(said.samples, said.why)
        else:
            new = self.pane.as_it_was()
        if new:
            self.pane.wait_for_order(asked=True)
        else:
            self.pane.show_rows()
        return new

    @on(Place.Secluded)
    def _seclude(self, event: Place.Secluded) -> None:
        event.stop()
        self.folding.seclude()
        self.refresh_bindings()

    @on(Place.Stepped)
    def _step(self, event: Place.Stepped) -> None:
        event.stop()
        self.pane.next_error(event.step)

    @on(Place.Turned)
    async def _turn(self, event: Place.Turned) -> None:
        event.stop()
        number = next(number for number, title in TITLES.items() if title == event.title)
        await self.action_place(number, same_list=True)
        self.place.tell(event.what, event.value)

    def action_tell(self, what: str, value: object) -> None:
        """A part of a line of the place was clicked."""
        self.place.tell(what, value)

    async def action_place(self, number: int, *, same_list: bool = False) -> None:
        """Open a place, or a view of one that has a digit of its own.

        What is selected travels along, and with `same_list` the list, whatever task it is of.
        """
        if number in WAYS:
            of, what, value = WAYS[number]
            await self.action_place(of)
            self.place.tell(what, value)
            return
        if number == self.places.number:
            return
        if not self.places.is_mounted:  # pressed while the first screen is made
            self.call_later(self.action_place, number, same_list=same_list)
            return
        session = self.session
        self.early.place_opens()
        await self.places.open(number)
        self.folding.seclude()
        if self.place.in_front and self.folding.covers:
            self.folding.show_list(False)
        self.pane.steps_errors = self.place.marks_errors
        samples_of = self._samples_for(self.place.entry, same_list=same_list)
        # What one place keeps from who guesses, no other tells beside the same list.
        self.pane.blind = self.place.blind or self._veiled == (samples_of or session.list_task)
        self.pane.of_any_task = self.place.entry.of_any_task
        self._tagged = False
        told = self.place.list_order
        rearranged = told is not None and self._order_as_told(told)
        if session.turn_to(samples_of):
            self.pane.forget()
            self._say_beside(self.place.beside)
            self._told = None
            self.place.show_nothing("the list is being read")
            if session.source is not None:
                session.look_again()
        else:
            self._told = self.pane.sample
            self._say_beside(self.place.beside)
            self.place.show_sample(self._told, session.run_shown)
            if rearranged:
                self.show_list()
        if told is None:
            self.pane.wait_for_order(asked=False)
        self._top()
        if not self.folding.covers:
            self.place.focus_first()
        self.refresh_bindings()

    def _samples_for(self, entry: PlaceEntry, *, same_list: bool) -> str:
        """Of which task the list has samples in a place, empty: of the same. No place keeps a list without any."""
        session = self.session
        if same_list or (session.list_task in entry.keeps and not session.is_empty):
            return ""
        return entry.samples_of or (list_tasks()[0] if session.is_empty else "")

    # Keys.

    def can(self, action: str) -> bool:
        return self.keys.can(action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "do":
            return self.is_mounted and (self.can(str(parameters[0])) or self._has_to_wait(str(parameters[0])))
        if action == "place":
            return parameters[0] in OPENED
        return True

    def _has_to_wait(self, action: str) -> bool:
        """Is it an action that begins long work, while other work goes on? A click on it then says so."""
        return self.session.job is not None and action in LONG

    async def action_press(self, key: str) -> None:
        """Do what a key means in the pane that has the focus, or else here; or say why it does nothing."""
        bar = self.query_one(KeyBar)
        bar.say("")
        begun, self._begun = self._begun, ""
        action = (self.keys.meant(f"{begun} {key}") if begun else None) or self.keys.meant(key)
        if action is None and self.session.keymap.begins(key) and not begun:
            self._begun = key
            bar.say(self.keys.going_on(key), stays=True)
            return
        self.tool.pressed(key)
        if key == "escape" and self.selections:
            self.clear_selection()
            return
        chosen = self.get_selected_text() if "copy" in {one.id for one in self.session.keymap.on(key)} else None
        if chosen:
            self.app.copy_to_clipboard(chosen)
            self.clear_selection()
            self.notify(f"{count(len(chosen))} characters copied", markup=False)
        elif action is not None:
            before = self.pane.rows.cursor
            self.action_do(action.id)
            if action.id in _ENDS and self.pane.rows.cursor == before and not self.place.doing(action.id):
                bar.say(_ENDS[action.id])
        elif unseen := self.keys.unseen(key):
            self.folding.show_list(False)
            bar.say(f"{sign_of(key)} “{unseen}” was not done: the text was not in sight; here it is")
        elif key == "enter" and (leads := self.tool.tour_leads):
            await self.run_action(leads)
        elif self._opens_other(key):
            await self.action_place(int(key))
        else:
            bar.say(self.keys.why_not(key))

    def _opens_other(self, key: str) -> bool:
        return len(key) == 1 and key.isdigit() and int(key) in OPENED and int(key) != self.places.number

    def _means_nothing_yet(self, key: str) -> bool:
        return not self.keys.in_field and self.keys.meant(key) is None

    def _meant_by(self, key: str) -> str:
        action = None if self.keys.in_field else self.keys.meant(key)
        return "" if action is None else action.id

    def _tell_given_up(self, keys: int) -> None:
        self.query_one(KeyBar).say(f"{so_many(keys, 'key')} given up: what it was pressed for has not come")

    def _reads(self, opened: bool) -> bool:
        """Is what the place shows first on its way; of one that was just opened, the list that it is of too?"""
        listing = self.session.reads or self.places.opens or self.pane.orders or self._told != self.pane.sample
        return (opened and listing and not self.keys.in_field) or self.place.reads

    def key_came(self) -> None:
        """Another key is about to be answered, maybe by the pane that has the focus: the footer shows keys again."""
        # Textual remembers where the one of a kind is; a look through every widget was a third of a key's work.
        bar, told = self.query_one_optional(KeyBar), self.query_one_optional(Told)
        if bar is not None:
            bar.say("")
        if told is not None:
            told.key_came()

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        event.stop()
        self.query_one(KeyBar).say(event.why)

    def get_selected_text(self) -> str | None:
        """What is selected with the mouse, to be copied."""
        return super().get_selected_text() or self.place.selected_text or None

    def action_do(self, action: str) -> None:
        """Do an action: the place's, or else the list's or the frame's own."""
        if self._has_to_wait(action) and not self.can(action):
            self.notify(keyed(jobs.WAIT), markup=False)
            return
        one = self.keys.answering(action)
        do = one.doing(action) if one is not None else None
        if do is not None:
            try:
                do()
            except Exception as error:
                error.add_note(f"{self._named(action)} failed")
                raise
            if one is self.place and action in self.place.into_sight and self.folding.covers:
                self.folding.show_list(False)

    def _named(self, action: str) -> str:
        """An action as it is told of: its key and what that does."""
        one = next((one for one in self.keys.actions if one.id == action), None)
        return action if one is None else f"{one.shown} {one.label}".strip()

    def do_own_keys(self) -> None:
        """Put other keys in place of these."""
        self.own_keys.show()

    def do_pane(self) -> None:
        self._turn_from(self.focused, self.focus_next())

    def do_panes(self) -> None:
        """On to the next pane, or between list and place where both do not fit."""
        if self.folding.can_list():
            self.folding.do_list()
        else:
            self.do_pane()

    def do_pane_back(self) -> None:
        self._turn_from(self.focused, self.focus_previous())

    def _turn_from(self, before: Widget | None, now: Widget | None) -> None:
        if now is before:
            self.query_one(KeyBar).say("there is no other pane to go to")

    def can_back(self) -> bool:
        """From the list: search, then filter, then the list itself where it covers the place. From the place: to it."""
        narrow = self.folding.narrow
        if self.keys.in_list:
            return self.session.state.filtered or narrow
        ends = any(self.place.can(one.id) for one in self.session.keymap.on("escape"))
        return self.focused is not None and not narrow and not ends and not self.place.alone

    def do_back(self) -> None:
        state = self.session.state
        if not self.keys.in_list:
            self.pane.rows.focus()
        elif state.text:
            self.session.change(replace(state, text=""))
        elif state.filtered:
            self.session.change(state.unfiltered())
        else:
            self.folding.show_list(False)

    def can_open(self) -> bool:
        return self.keys.in_list and self.pane.n > 0 and not self.tool.tour_leads

    def do_open(self) -> None:
        """Into the place, with the selected sample."""
        if self.folding.narrow:
            self.folding.show_list(False)
        else:
            self.place.focus_first()

    def can_close_view(self) -> bool:
        return self.keys.closes

    def do_close_view(self) -> None:
        """Out of the view that is open in the place."""
        self.action_do("leave")

    def can_search(self) -> bool:
        return self.session.overview.dataset is not None

    def do_search(self) -> None:
        self.folding.show_list(True)
        self.pane.search()

    def can_stop(self) -> bool:
        return self.session.stoppable and not self.keys.in_field

    def do_stop(self) -> None:
        """End the work; where much of it would be lost, at the second time."""
        asks = "" if self.session.job is None else self.session.job.asks_to_stop()
        if asks:
            self.query_one(KeyBar).say(asks, warns=True)
        else:
            self.session.stop_work()

    # How it looks.

    def on_resize(self, event: events.Resize) -> None:
        """Fold the list away where there is no room for both."""
        self.folding.fit(event.size.width)
        self.folding.focus_shown()
        self.show_standing()

    @on(Divider.Moved)
    def _drag(self, event: Divider.Moved) -> None:
        event.stop()
        self.folding.drag(event)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if any(not place.display and place in event.widget.ancestors for place in self.places.opened):
            self.set_focus(None)  # asked for before the place was left
            return
        panes: list[ListPane | Place] = [self.pane, *self.places.opened]
        for pane in panes:
            here = pane.headings.get(event.widget.id or "")
            for heading in set(pane.headings.values()):
                for line in pane.query(heading):
                    line.set_class(heading == here, "-focused")
        self._top_again()

    @property
    def _key_stops(self) -> bool:
        """Would the key of that stop the work now? In a sheet it means nothing, and in a text it cuts."""
        return self.is_current and not self.keys.in_field and self.can("stop")

    def _tick(self) -> None:
        if self.session.job is not None:
            self.session.job.ticks += 1
            self._top()

    def on_screen_suspend(self) -> None:
        """The accent is the sheet's: where the keys go."""
        self.add_class("-under")
        self._top_again()

    def on_screen_resume(self) -> None:
        self.remove_class("-under")
        self._top_again()

    def _top_again(self) -> None:
        if self.session.job is not None:
            self._top()

    def _top(self) -> None:
        self.query_one(Top).draw(self.session, self.places.number, key_stops=self._key_stops)
