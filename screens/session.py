"""What is open and how it stands, for the frame and every place: the source, the list, the live model, long work."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace
from textual.widget import Widget

from emotui.metrics.metric import Metric
from emotui.screens import jobs
from emotui.screens.keymaps import Keymap, keyed
from emotui.screens.list_state import HEADLINE, NO_RUN, ListState, from_setting, to_setting, usual_run
from emotui.screens.long_text import Drafts
from emotui.screens.requests import LatestRequest
from emotui.store.query import Dataset, Run

if TYPE_CHECKING:
    from emotui.workbench.drafts import Draft, DraftBook, Field
    from emotui.workbench.progress import RunProgress
    from emotui.workbench.source import BrowseSource, Models
    from emotui.workbench.task_words import TaskWords


EMBEDDED = "embedded"

LIST_WIDTH = "list width"
"""The setting that remembers how many cells the list has."""

TOUR = "tour"
"""The setting that says that the tour was shown."""

QUERY = "sql query"
"""The setting that remembers what was asked last in SQL."""

_FIRST_START = "first start"

LIVE_MODEL = "live model"
"""The setting that remembers which model is live."""

_GENERATION = "generation"

_LIST_SETTINGS = {"spans": "browse"}
"""By task: under which name the list is remembered, where it is not the task's."""


class Overview(msgspec.Struct, frozen=True):
    """What there is to show. `metrics`: by the task of a run what it is scored by, those of the dataset's own too.
    `datasets`: those of the list's task; `every`: those of all tasks, in the same order. `settled`: the ids of runs
    that hold the result of an adjudication, and are nobody's own answers.
    """

    datasets: tuple[Dataset, ...] = ()
    dataset: Dataset | None = None
    runs: tuple[Run, ...] = ()
    emotions: tuple[str, ...] = ()
    metrics: Mapping[str, tuple[Metric, ...]] = {}
    words: "TaskWords | None" = None
    every: tuple[Dataset, ...] = ()
    settled: frozenset[str] = frozenset()


class Opened(msgspec.Struct, frozen=True):
    """A source that has just been opened, with what it remembers; `lists` by task.

    `live`: the SPEC of the model that answers wherever one text at a time is asked about, `live_state` how it stands.
    `list_width`: how many cells the list had. `marker`: the source's, from before anything else was
    read. `overview`: for the list of the first task. `tour`: has the tour still to be shown? `drafts`: what the
    annotator was writing. `query`: what was asked last in SQL.
    """

    source: "BrowseSource"
    title: str
    lists: Mapping[str, object]
    theme: object
    list_width: object
    first_start: "Models | None"
    live: str | None
    live_state: str
    marker: object
    overview: Overview
    tour: bool = False
    drafts: "Mapping[Field, Draft]" = {}
    query: object = None


class Step(msgspec.Struct, frozen=True):
    """Something written that can be taken back by work that `words` name; `halt` ends that work early."""

    words: str
    take_back: Callable[..., object]
    halt: Callable[[], object] | None = None


class SessionView(Protocol):
    """Who shows a session. It is told on the screen's own thread, as soon as something has changed."""

    def show_opened(self, opened: Opened) -> None:
        """The source is open."""

    def show_unopened(self, why: str) -> None:
        """The source cannot be opened."""

    def show_overview(self) -> None:
        """There are other datasets or runs, or another list is to be shown, and it is known of which dataset."""

    def show_list(self) -> None:
        """The same dataset in another list: filter, order or run have changed."""

    def show_standing(self) -> None:
        """The live model, how it stands, or the work in progress has changed."""

    def show_live_model(self) -> None:
        """Another model is live."""

    def show_left(self) -> None:
        """All is remembered: the source can be closed."""


class Session:
    """One for the whole workbench. Every method is called on the screen's own thread and returns at once.

    Args:
        owner: its threads ask the source, and the answers come back in its message pump.
        view: shows the session.
        open_source: called in a thread.
        tasks: of which tasks there are lists; the first is the one that is shown at first.
        annotator: under whose name attempts and reviews are kept.
        annotates: whether it is opened for what was assigned to the annotator.
    """

    def __init__(
        self,
        owner: Widget,
        view: SessionView,
        open_source: "Callable[[], BrowseSource]",
        tasks: tuple[str, ...],
        annotator: str,
        *,
        annotates: bool = False,
    ) -> None:
        self.source: BrowseSource | None = None
        self.title = ""
        self.annotator = annotator
        self.list_task, self._tasks = tasks[0], tasks
        self.state = ListState()
        self.overview = Overview()
        self._first_runs: Models | None = None
        self._waiting: Callable[[], None] | None = None
        self.live: str | None = None
        self.live_state = ""
        self.job: jobs.Job | None = None
        self.leaving = False
        self.steps: list[Step | None] = []
        """What was written from here, the last step at the end; None: a note, whose log knows the way back."""
        self.slices: tuple[str, ...] = ()
        """The names of the saved slices of the dataset in sight: told by what reads notes."""
        self.listed: Callable[[], Iterable[int]] = tuple
        """What the list holds, in its order: told by the list."""
        self.query = ""
        """What was asked last in SQL."""
        self.keymap = Keymap(())
        """The actions with their keys: told by the frame."""
        self.other_places: Mapping[str, str] = {}
        """By task the place that has its list, where that is not the first one: told by the frame."""
        self._owner, self._view = owner, view
        self._marker: object = None
        self._dirty = False
        self._first_time = self._at_worst = self._tour = False
        self._unsaved: dict[str, object] = {}
        self._lists: dict[str, ListState] = {}
        self._looked_at: dict[int, str] = {}
        self._told: set[int] = set()
        self._own = self._shown_own = NO_RUN
        self.drafts = Drafts(owner, self._book)
        self._opening: LatestRequest[None, Opened] = LatestRequest(
            "open",
            owner,
            lambda _: open_up(open_source(), tasks, annotator, annotates=annotates),
            self._take_opened,
            self._not_opened,
        )
        self._overviews: LatestRequest[tuple[str, str | None], Overview] = LatestRequest(
            "overview", owner, lambda question: look(self.bound, tasks, *question), self._take_overview
        )
        self._markers: LatestRequest[str | None, tuple[object, str]] = LatestRequest(
            "marker", owner, self._look_up, self._take_marker, lambda *_: None
        )
        self._settings: LatestRequest[Mapping[str, object], None] = LatestRequest(
            "settings", owner, self._keep, self._saved, self._saved, older=True
        )

    @property
    def bound(self) -> "BrowseSource":
        """The source, once it is open."""
        assert self.source is not None
        return self.source

    @property
    def models(self) -> "Models | None":
        """What the source does with models; None where it has none, and until it is open."""
        return None if self.source is None else self.source.models

    @property
    def under_way(self) -> str:
        """Which work goes on, by which what is empty may be filled; empty: none does."""
        return "" if self.job is None else f"{self.job.what}: the top line says how far"

    @property
    def filled_by(self) -> str:
        """What brings samples of the list's task in."""
        here = (
            keyed("here: {import}")
            if self.source is not None and self.source.importing is not None
            else keyed("{quit} leaves")
        )
        return f"emotui import {self.list_task} FILE brings some in; {here}"

    @property
    def run_shown(self) -> Run | None:
        """The run over the list: the chosen one; where none was chosen the one looked at first, or one's own."""
        return self._with_run(self.state).chosen_run(self.overview.runs, self._own_task)

    @property
    def runs_beside(self) -> list[Run]:
        """The runs that are compared with it."""
        return self._with_run(self.state).runs_beside(self.overview.runs, self._own_task)

    @property
    def runs_told(self) -> list[Run]:
        """The runs whose answers to a text are told: the one over the list and those beside it. Where none was chosen
        to stand beside it, the newest of each other question, which competes with nothing.
        """
        shown, beside = self.run_shown, self.runs_beside
        if not beside:
            known = {self._own_task if shown is None else shown.task}
            for run in self.overview.runs:
                if run.source != "person" and run.task not in known and run.done:
                    known.add(run.task)
                    beside.append(run)
        return beside if shown is None else [shown, *beside]

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What the run over the list is scored by; where there is none, what runs of the dataset's own task are."""
        run = self.run_shown
        return self.overview.metrics.get(self._own_task if run is None else run.task, ())

    @property
    def _own_task(self) -> str:
        return own_task(self.overview)

    def _with_run(self, state: ListState) -> ListState:
        """The state with the run that stays on the screen where none was chosen."""
        dataset = self.overview.dataset
        if state.run is not None or dataset is None:
            return state
        return replace(state, run=self._looked_at.get(dataset.dataset))

    @property
    def stoppable(self) -> bool:
        """Is there work that can be asked to end?"""
        return self.job is not None and self.job.halt is not None and not self.job.stopping

    @property
    def starts_first(self) -> bool:
        """Is a new workspace being given its first runs?"""
        return self.job is not None and self.job.what == _FIRST_START

    @property
    def gives_way(self) -> bool:
        """Do the first runs stop now for work that waits?"""
        return self._waiting is not None

    @property
    def opens(self) -> bool:
        """Has the source been asked for?"""
        return self._opening.asked

    @property
    def is_empty(self) -> bool:
        """Is it known that there are no samples of the list's task?"""
        return self.source is not None and self.overview.dataset is None and not self._overviews.busy

    @property
    def busy(self) -> bool:
        return self.reads or self._settings.busy or self.drafts.busy

    @property
    def reads(self) -> bool:
        """Is the source being opened, or what there is to show on its way?"""
        return self._opening.busy or self._overviews.busy

    def _book(self) -> "DraftBook | None":
        made = None if self.source is None else self.source.drafts
        return None if made is None else made()

    def field(self, name: str, *, sample: int | None = None, dataset: int | None = None, draft: str = "") -> "Field":
        """Where the annotator writes: a field, about a sample where one is named.

        Args:
            dataset: the sample's; None: it is in the dataset in sight.
            draft: which of several drafts.
        """
        from emotui.workbench.drafts import Field

        if sample is not None and dataset is None and self.overview.dataset is not None:
            dataset = self.overview.dataset.dataset
        return Field(name, self.annotator, dataset, sample, draft)

    # Opening, and following what changes.

    def open(self) -> None:
        """Open the source."""
        self._opening.ask(None)

    def _not_opened(self, _: None, why: str) -> None:
        self.title = "not open"
        self._view.show_unopened(why)

    def _take_overview(self, _: object, overview: Overview) -> None:
        self.overview = overview
        self._stay(overview)
        self._sort_first_time(overview)
        self._view.show_overview()

    def _sort_first_time(self, overview: Overview) -> None:
        """A workspace that has a finished run when its list is first shown: its worst samples first.

        A list that is in sight keeps its order, and one that a run still goes through would change it all the time.
        """
        if not self._first_time:
            return
        run = usual_run(overview.runs, own_task(overview))
        if run is None:
            return
        self._first_time = False
        state, in_sight = self.state, next(iter(self.listed()), None) is not None
        untouched = state.sort == ListState().sort and not state.filtered and state.sample is None
        if untouched and not in_sight and run.state != "running":
            self.note(replace(state, sort=HEADLINE, sample=None))
            self._at_worst = True

    def opens_at_worst(self) -> bool:
        """Is the list to open at its worst error? To be asked once."""
        at_worst, self._at_worst = self._at_worst, False
        return at_worst

    def tour_is_due(self) -> bool:
        """Is there something to show a newcomer now: a text? Once in a workspace; it waits for a file that is brought
        in, and not for the first runs.
        """
        due = self._tour and self.overview.dataset is not None and (self.job is None or self.starts_first)
        if due:
            self._tour = False
            self.remember(TOUR, "shown")
        return due

    def _stay(self, overview: Overview) -> None:
        """What is looked at stays, gold alone too, whatever is run elsewhere; a run of one's own is shown from its
        beginning."""
        if overview.dataset is None:
            return
        number, there = overview.dataset.dataset, [run.run for run in overview.runs]
        usual = usual_run(overview.runs, own_task(overview))
        if self._own in there:
            self._looked_at[number], self._own = self._own, NO_RUN
        elif (looked_at := self._looked_at.get(number)) == NO_RUN and usual is not None:
            self._tell_of_first(number, usual)
        elif looked_at not in there:
            self._looked_at[number] = NO_RUN if usual is None else usual.run

    def _tell_of_first(self, dataset: int, run: Run) -> None:
        """Say, once, that a list which had no run has one now; not while it may be one's own that begins, nor of texts
        that are written, since Generate shows those of all writers at once.
        """
        if dataset not in self._told and self.job is None and self._own_task != _GENERATION:
            self._told.add(dataset)
            self._owner.notify(
                f"There are first answers about these samples, by {run.model}: "
                + keyed("{run} shows them beside the texts"),
                markup=False,
            )

    def _take_opened(self, _: None, opened: Opened) -> None:
        self.source, self.title = opened.source, opened.title
        self.live, self.live_state = opened.live, opened.live_state
        self._marker = opened.marker
        self._lists = {task: from_setting(kept) for task, kept in opened.lists.items()}
        self.state = self._lists[self.list_task]
        self.drafts.begin(opened.drafts)
        self.query = opened.query if isinstance(opened.query, str) else ""
        self._first_time = opened.first_start is not None and opened.lists.get(self.list_task) is None
        self._tour = opened.tour
        self._view.show_opened(opened)
        self._first_runs = opened.first_start
        self._start_first()
        if self.list_task == next(iter(self._lists)):
            self._take_overview(None, opened.overview)
        else:
            self.look_again()

    def follow(self) -> None:
        """Look whether something has changed."""
        if not self._markers.busy and not self.leaving:
            self._markers.ask(self.live)

    def _look_up(self, live: str | None) -> tuple[object, str]:
        models = self.models
        return self.bound.marker(), "" if live is None or models is None else models.model_state(live)

    def _take_marker(self, _: str | None, found: tuple[object, str]) -> None:
        marker, live_state = found
        if live_state != self.live_state:
            self.live_state = live_state
            self._view.show_standing()
        if marker != self._marker:
            self._marker = marker
            self.look_again()

    def look_again(self) -> None:
        """Ask what there is: datasets, runs, and through them the list and the sample."""
        self._overviews.ask((self.list_task, self.state.dataset))

    # The list and the live model.

    def change(self, state: ListState) -> None:
        """Show another list: filter, order, dataset or run have changed."""
        asks_again = state.dataset != self.state.dataset
        self.note(state)
        if asks_again or self.overview.dataset is None:
            self.look_again()
        else:
            self._view.show_list()

    def show_dataset(self, dataset: Dataset) -> bool:
        """Show a dataset whole, in this list or in that of its own task; says whether it is another list."""
        turned = dataset not in self.overview.datasets and self.turn_to(list_of(dataset.task, self._tasks))
        self.change(replace(self.state.unfiltered(), dataset=dataset.name, run=None, sample=None))
        return turned

    def note(self, state: ListState) -> None:
        """Remember a position or a choice that does not change the list."""
        self.state, self._dirty = state, True

    def select(self, sample: int | None) -> None:
        """This sample is selected."""
        if sample != self.state.sample:
            self.note(replace(self.state, sample=sample))

    def turn_to(self, task: str) -> bool:
        """From now on the list has samples of this task, empty: of the same; says whether they were of another one."""
        task = task or self.list_task
        self._lists[self.list_task] = self.state
        if self._dirty and self.source is not None:
            self.save()
        if task == self.list_task:
            return False
        self.list_task = task
        self.state, self.overview = self._lists.get(task, ListState()), Overview()
        return True

    def use_model(self, spec: str) -> None:
        """Ask this model from now on, wherever one text at a time is asked about; remembered."""
        self.live, self.live_state = spec, ""
        self.remember(LIVE_MODEL, spec)
        self._view.show_live_model()
        self._view.show_standing()

    # Work.

    def begin(
        self,
        what: str,
        do: Callable[..., object],
        halt: Callable[[], object] | None,
        stopped: str = jobs.STOPPED,
        *,
        brings: bool = False,
        loses: bool = False,
    ) -> None:
        """Start long work; its progress stands in the top line. `halt`: None where nothing can end it before its time;
        `stopped`: what is said where it was stopped; `brings`: does it bring samples? `loses`: is nothing
        kept of it then?
        """
        self.job = jobs.begin(self._owner, what, do, halt, stopped)
        self.job.brings, self.job.loses = brings, loses
        self._view.show_standing()

    def begin_before(
        self, what: str, do: Callable[..., object], halt: Callable[[], object] | None, stopped: str = jobs.STOPPED
    ) -> None:
        """Bring samples, all or none; the first runs of a new workspace stop for it and go on after it."""
        if self.starts_first:
            self._waiting = partial(self.begin, what, do, halt, stopped, brings=True, loses=True)
            self._halt()
        else:
            self.begin(what, do, halt, stopped, brings=True, loses=True)

    def _start_first(self) -> None:
        """Give a new workspace its first runs, or go on with them."""
        models = self._first_runs
        if models is None:
            return
        over = threading.Event()

        def first_start(on_progress: Callable[["RunProgress"], None]) -> None:
            def tell(progress: "RunProgress") -> None:
                from emotui.workbench.progress import Cancelled

                # A run takes back a wish to stop that came before it began.
                if over.is_set():
                    raise Cancelled
                on_progress(progress)

            models.first_start(tell)

        def halt() -> None:
            over.set()
            models.stop()

        self.begin(_FIRST_START, first_start, halt, brings=True)

    def progressed(self, progress: "RunProgress") -> None:
        """The work has come further."""
        if self.job is None:
            return
        self.job.progress = progress
        if progress.run and progress.run != self._shown_own:
            self._own = self._shown_own = progress.run
            before = self.run_shown
            self._stay(self.overview)
            if self.run_shown != before:
                self._view.show_overview()

    def stop_work(self) -> None:
        """Ask the work to end; what it has done is kept."""
        self._first_runs = self._waiting = None
        self._halt()

    def _halt(self) -> None:
        if self.job is not None and self.job.halt is not None:
            self.job.stopping = True
            self.job.halt()
            self._view.show_standing()

    def finished(self) -> None:
        """The work is over: there may be something new, or something waits for its turn."""
        begin, first, self.job, self._waiting = self._waiting, self.starts_first, None, None
        if first and begin is None:
            self._first_runs = None
        self._view.show_standing()
        if self.leaving:
            return
        if begin is not None:
            begin()
        else:
            self._start_first()
        self.look_again()
        self.follow()

    # Remembering, and leaving.

    def save_if_changed(self) -> None:
        """Remember the list where it has changed and nothing else is going on."""
        if self._dirty and self.job is None and not self.leaving and not self._settings.busy:
            self.save()

    def save(self) -> None:
        """Remember the list for the next session."""
        self._dirty = False
        self.remember(list_setting(self.list_task), to_setting(self.state))

    def remember(self, setting: str, value: object) -> None:
        """Remember a choice for the next session."""
        if self.source is not None:
            self._unsaved[setting] = value
            self._settings.ask(dict(self._unsaved))

    def _keep(self, settings: Mapping[str, object]) -> None:
        for setting, value in settings.items():
            self.bound.set_setting(setting, value)

    def keep_query(self, query: str) -> None:
        """This was asked in SQL: it stands there the next time."""
        self.query = query
        self.remember(QUERY, query)

    def leave(self) -> None:
        """Stop the work and remember the list; then the view is told."""
        self.leaving = True
        self.stop_work()
        self._view.show_standing()
        self.save()

    def _saved(self, settings: Mapping[str, object], error: str | None) -> None:
        for setting, value in settings.items():
            if self._unsaved.get(setting) is value:
                del self._unsaved[setting]
        if not self.leaving:
            if error:
                self._owner.notify(error, severity="error", markup=False)
        elif not self._settings.busy:
            self._view.show_left()


def own_task(overview: Overview) -> str:
    """The task that the dataset of the list came for; empty where there is none."""
    return "" if overview.dataset is None else overview.dataset.task


def list_setting(task: str) -> str:
    """Under which name the list of a task is remembered."""
    return _LIST_SETTINGS.get(task, f"list of {task}")


def open_up(source: "BrowseSource", tasks: tuple[str, ...], annotator: str, *, annotates: bool = False) -> Opened:
    """Ask a source that has just been opened for what it remembers.

    Args:
        annotates: whether it is opened for the annotator's work: the list is of a dataset that was assigned.
    """
    with source.together():
        marker = source.marker()
        models = source.models
        kept = source.setting(LIVE_MODEL)
        live = None if models is None else kept if isinstance(kept, str) and kept else EMBEDDED
        lists = {task: source.setting(list_setting(task)) for task in tasks}
        if annotates and source.annotating is not None:
            assigned = [one.name for one in source.annotating().assigned_to(annotator)]
            if assigned and from_setting(lists[tasks[0]]).dataset not in assigned:
                lists[tasks[0]] = {"dataset": assigned[0]}
        first_start = models if models is not None and models.needs_first_start() else None
        return Opened(
            source,
            source.title(),
            lists,
            source.setting("theme"),
            source.setting(LIST_WIDTH),
            first_start,
            live,
            "" if models is None or live is None else models.model_state(live),
            marker,
            look(source, tasks, tasks[0], from_setting(lists[tasks[0]]).dataset),
            tour=first_start is not None and source.setting(TOUR) is None,
            drafts={} if source.drafts is None else source.drafts().of(annotator),
            query=source.setting(QUERY),
        )


def look(source: "BrowseSource", tasks: tuple[str, ...], task: str, name: str | None) -> Overview:
    """What there is now of a task; of its datasets the one called `name`, or else the first.

    In the list of the first of `tasks`, which have lists of their own, are those of any task: its own, and those of
    tasks without a list, come first.
    """
    from emotui.workbench.task_words import words_of

    with source.together():
        datasets = tuple(one for one in source.datasets() if list_of(one.task, tasks) == task)
        every = datasets + tuple(one for one in source.datasets() if one not in datasets)
        if task == tasks[0]:
            datasets = every
        dataset = ListState(dataset=name).chosen_dataset(datasets)
        if dataset is None:
            return Overview(datasets, every=every)
        number = dataset.dataset
        # A person who has taken every answer back is no source.
        runs = tuple(run for run in source.runs(number) if run.done or run.source != "person")
        emotions = tuple(source.emotions(number))
        asked = dict.fromkeys((dataset.task, *(run.task for run in runs)))
        return Overview(
            datasets,
            dataset,
            runs,
            emotions,
            {one: source.metrics(number, one) for one in asked},
            words_of(task),
            every,
            source.settled(number),
        )


def list_of(task: str, tasks: Sequence[str]) -> str:
    """The task whose list has the datasets of a task: its own, or else the first."""
    return task if task in tasks else tasks[0]
