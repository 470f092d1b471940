"""Annotation of a dataset by one person under a scheme. Every change is kept in the log when its call returns."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice, pairwise

import msgspec
from msgspec.structs import replace

from emotui import __version__
from emotui.errors import BadInput
from emotui.store.annotations import Entry
from emotui.store.query import Dataset, Run
from emotui.store.rows import Annotation, ResultRow
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.annotate.answers import (
    AnnotatedText,
    Answer,
    as_asked,
    fresh_spans,
    gold_answer,
    keys_of,
    text_of,
)
from emotui.workbench.annotate.events import (
    CONSENT,
    KIND,
    UNDO,
    Accept,
    Event,
    Kept,
    Present,
    Reveal,
    Settle,
    SuggestionShown,
    as_one_keystroke,
    kind_of,
)
from emotui.workbench.annotate.events import Retest as Retested
from emotui.workbench.annotate.fits import check
from emotui.workbench.annotate.log import ACCEPT, BLIND, REVEALED, Log, identity_here
from emotui.workbench.annotate.marks import Said, apply
from emotui.workbench.annotate.others import (
    GOLD,
    PERSON,
    OtherSaid,
    given_answers,
    names_of,
    others_of,
)
from emotui.workbench.annotate.planning.assignment import (
    CHECK,
    NO_RETEST,
    TRAINING,
    assigned,
    comes_back,
    last_day,
    own_order,
    roles_of,
    share_of,
)
from emotui.workbench.annotate.planning.order import FIXED, Order, order_of
from emotui.workbench.annotate.scheme import MASK, TEXT, Scheme
from emotui.workbench.datasets.label_maps import with_all_gold, with_labels_mapped
from emotui.workbench.masked.lexicons import with_lexicon
from emotui.workbench.runs.elsewhere import free_id
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import ELSEWHERE, scored
from emotui.workbench.runs.states import signed
from emotui.workbench.texts import read_sample, sample_reader

# An annotator's answers as a source like any other: browsed, scored, compared, exported, made gold.

_AT_ONCE = 1000
"""Texts of one transaction."""

_ONE_BY_ONE = 50
"""Changed texts whose entries are read a text at a time; of more they are read together."""


class Scoring:
    """A task for scoring one dataset, with what it goes by of all gold: read once a version of gold, not each time."""

    def __init__(self) -> None:
        self._gold = 0
        self._task: Task | None = None

    def of(self, store: Store, dataset: Dataset, annotator: str) -> Task:
        """The task by which an annotator's answers are scored now."""
        if self._task is None or self._gold != dataset.gold:
            self._gold, self._task = dataset.gold, with_all_gold(store, task_named(dataset.task), dataset)
        return with_labels_mapped(store, self._task, dataset, annotator)


def publish(store: Store, dataset: Dataset, annotator: str, scheme: Scheme, log: Log, scoring: Scoring) -> int:
    """Bring the annotator's sources up to what the log says; how many texts changed in them.

    Raises:
        StoreError: it could not be kept; the next time goes on.
    """
    under = f"annotated up to {dataset.dataset} {annotator}"
    there = _run_of(store, dataset, annotator, BLIND) is not None
    since = int(store.settings.get(under, 0)) if there else 0
    if log.last <= since:
        return 0
    touched = log.samples_since(since)
    if len(touched) > _ONE_BY_ONE:
        within = range(min(touched), max(touched) + 1)
        log.read_ahead(store.annotations.entries(annotator=annotator, kind=KIND, within=within))
    given = {sample: log.state(sample).blind if log.answered(sample) else None for sample in touched}
    notes = {sample: log.state(sample).note for sample in touched}
    changed = _project(store, dataset, annotator, BLIND, scheme, given, notes, scoring)
    after = {sample: log.state(sample).answer if log.answered(sample) else None for sample in touched}
    if _run_of(store, dataset, annotator, REVEALED) is not None:
        changed += _project(store, dataset, annotator, REVEALED, scheme, after, notes, scoring)
    elif any(log.answered(sample) and log.state(sample).changed for sample in touched):
        whole = {sample: log.state(sample).answer for sample in log.samples() if log.answered(sample)}
        notes = {sample: log.state(sample).note for sample in whole}
        changed += _project(store, dataset, annotator, REVEALED, scheme, whole, notes, scoring)
    store.settings.set(under, log.last)
    return changed


def _project(
    store: Store,
    dataset: Dataset,
    annotator: str,
    which: str,
    scheme: Scheme,
    wanted: Mapping[int, Answer | None],
    notes: Mapping[int, str],
    scoring: Scoring,
) -> int:
    """Let the source say these answers, and nothing of the texts where there is None."""
    run = _run_of(store, dataset, annotator, which)
    if run is None and not any(answer is not None for answer in wanted.values()):
        return 0
    read = sample_reader(store, dataset)
    by = scoring.of(store, dataset, annotator)
    changed = 0
    for some in _pieces(sorted(wanted)):
        samples = {number: read(record) for number, record in store.samples.records(some)}
        there = {} if run is None else {row.sample: row.raw for row in store.results.of_run(run.run, some)}
        outputs, withdrawn = [], []
        for number in some:
            answer = wanted[number]
            if answer is None:
                withdrawn += [number] * (number in there)
                continue
            keys = keys_of(samples[number], answer, scheme, text_of(number, samples[number]).sentences)
            if notes.get(number):
                keys["note"] = notes[number]
            raw = msgspec.json.encode(keys).decode()
            if there.get(number) != raw:
                outputs.append(ResultRow(number, 0, 0, None, raw, None, 0.0))
        if not outputs and not withdrawn:
            continue
        run = run or _start(store, dataset, annotator, which)
        rows = scored(with_lexicon(store, by, run), ELSEWHERE, outputs, samples, None)
        store.results.revise(run.run, rows, withdrawn, gold=dataset.gold)
        changed += len(rows) + len(withdrawn)
    return changed


def _pieces(numbers: list[int]) -> Iterable[list[int]]:
    return (numbers[start : start + _AT_ONCE] for start in range(0, len(numbers), _AT_ONCE))


def _run_of(store: Store, dataset: Dataset, annotator: str, which: str) -> Run | None:
    mark = identity_here(dataset, annotator, which)
    return next((run for run in store.runs.all(dataset.dataset) if run.identity == mark), None)


def _start(store: Store, dataset: Dataset, annotator: str, which: str) -> Run:
    """A new source, under the annotator's name where no other source has it."""
    taken = {run.model for run in store.runs.all(dataset.dataset)}
    names = [name for name in names_of(annotator) if (REVEALED in name) == (which == REVEALED)]
    name = next((one for one in names if one not in taken), names[-1])
    config = signed(RunConfig(emotui=__version__))
    return store.runs.start(
        free_id(name, dataset.name, store.runs.names()),
        identity_here(dataset, annotator, which),
        dataset.task,
        name,
        dataset.dataset,
        msgspec.to_builtins(config),
        0,
        PERSON,
    )


_TRIES = 20

_PAUSE = 600
"""Seconds between two answers from which on nobody was at work."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an annotator is with what is theirs.

    `accepted`: answered, or passed over; `skipped`: the latter alone. `begun`: answers that are not given yet.
    `today`: answers given since midnight; `an_hour`: how many of them an hour of work, pauses of ten minutes and more
    left out, None of fewer than two. `wanted`: how many today's share is, where an assignment has a day by which all
    are wanted.
    """

    n: int
    accepted: int
    begun: int
    flagged: int
    unsure: int
    skipped: int = 0
    today: int = 0
    an_hour: float | None = None
    wanted: int | None = None

    @property
    def left(self) -> int:
        """How many answers are not given yet."""
        return self.n - self.accepted


class Annotating:
    """One annotator's work on a dataset. Every method may be called from any thread.

    What a screen shows at once it gets by `marks.apply`, which needs no store; `do` keeps it.

    Args:
        blind: what others say is shown only after one's own answer.
    """

    moved_keys: tuple[str, ...] = ()
    """Which keys of the scheme's file are others here, in words; to be told once."""

    between: tuple[str, ...] = ()
    """The sources that are adjudicated; none: the answers are the annotator's own."""

    def __init__(self, store: Store, dataset: Dataset, annotator: str, scheme: Scheme, *, blind: bool = True) -> None:
        name = annotator.strip()
        if not name:
            raise BadInput("an annotator needs a name (--annotator)")
        self.store, self.dataset, self.annotator, self.scheme = store, dataset, name, scheme
        self.blind = blind
        self._task = task_named(dataset.task)
        self._lock = threading.RLock()
        self._publishing = threading.Lock()
        self._scoring = Scoring()
        self._log = Log(lambda sample: store.annotations.entries(sample, name, kind=KIND))
        # Publishing has a log of its own, so that no keystroke waits for it.
        self._published = Log(lambda sample: store.annotations.entries(sample, name, kind=KIND))
        self._seen = 0
        self._given: dict[int, datetime] = {}
        self._texts: dict[int, AnnotatedText] = {}
        self._numbers = store.samples.file_order(dataset.dataset)
        self.assignment = assigned(store, dataset)
        self._roles = roles_of(self.assignment)
        self.chosen, self.order = self._kept_order()
        self._time(store.annotations.entries(annotator=name, kind=ACCEPT, within=self._numbers))
        self.refresh()

    def refresh(self) -> None:
        """Take in what another terminal has kept under this name."""
        with self._lock:
            after = self._log.last
            self._log.take(
                self.store.annotations.outlines(self.annotator, kind=KIND, within=self._numbers, after=after)
            )
            self._seen = max(self._seen, self._log.last)

    # One text.

    def text(self, sample: int) -> AnnotatedText:
        """What is to be annotated, without anybody's word about it.

        Raises:
            BadInput: the dataset has no such sample.
        """
        with self._lock:
            if sample not in self._texts:
                self._texts[sample] = text_of(sample, self._sample(sample))
            return self._texts[sample]

    def said(self, sample: int) -> Said:
        """The annotator's answer as it stands; of a text that came back the second one, until it is given."""
        with self._lock:
            return self._log.state(sample, self._log.round(sample))

    def do(self, sample: int, *events: Event, seconds: float | None = None) -> Said:
        """Keep what happened, in one transaction; the answer after it. Several events are undone together.

        Args:
            seconds: since the text came into sight.

        Raises:
            BadInput: an event does not fit the text or the scheme; nothing is kept.
            StoreError: it could not be kept.
        """
        return self.do_each(sample, [events], seconds=seconds)

    def do_each(self, sample: int, keystrokes: Sequence[Sequence[Event]], *, seconds: float | None = None) -> Said:
        """The same for several keystrokes, which are kept together and undone one by one."""
        text, keystrokes = self.text(sample), [self._told(events) for events in keystrokes]
        with self._lock:
            round = self._log.round(sample)
            entries = self._checked(text, round, [event for events in keystrokes for event in events], seconds)
            left = iter(entries)
            self._append([one for events in keystrokes for one in as_one_keystroke(islice(left, len(events)))])
            return self._log.state(sample, round)

    def do_all(self, changes: Mapping[int, Sequence[Event]]) -> dict[int, str]:
        """Keep what happens to many texts at once, in one transaction, to be undone together; why some were left out.

        Raises:
            StoreError: it could not be kept; nothing is.
        """
        wanted = [sample for sample in changes if sample in self._numbers]
        read = sample_reader(self.store, self.dataset)
        for number, record in self.store.samples.records([sample for sample in wanted if sample not in self._texts]):
            self._texts[number] = text_of(number, read(record))
        refused: dict[int, str] = {}
        with self._lock:
            entries: list[tuple[str, int | None, str, bytes]] = []
            for sample in wanted:
                try:
                    text, round = self._texts[sample], self._log.round(sample)
                    entries += self._checked(text, round, self._told(changes[sample]), None)
                except BadInput as error:
                    refused[sample] = str(error)
            self._append(as_one_keystroke(entries))
        return refused

    def _told(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events of a keystroke; one that settles an answer says between whom."""
        return [*events, Settle(self.between)] if self.between and Accept() in events else events

    def _checked(
        self, text: AnnotatedText, round: int, events: Sequence[Event], seconds: float | None
    ) -> list[tuple[str, int | None, str, bytes]]:
        """The entries of events that fit the text, the scheme and each other."""
        said = self._log.state(text.number, round)
        entries: list[tuple[str, int | None, str, bytes]] = []
        for event in events:
            if isinstance(event, Reveal) and round:
                raise BadInput("this text came back for a second answer: give that first")
            check(self.scheme, text, said, event)
            kept = Kept(event, seconds, said.revealed, round)
            entries.append((kind_of(event), text.number, self.annotator, msgspec.json.encode(kept)))
            said = apply(said, event)
        return entries

    def present(self, sample: int) -> Said:
        """Note that a text came into sight, for the order of presentation; the answer as it stands."""
        return self.do(sample, Present(self._log.presented + 1))

    def undo(self) -> int | None:
        """Take back what was done last, in whichever text, also in an earlier session; that text. None: there is
        nothing left.
        """
        return self._step_back(self._log.to_undo)

    def redo(self) -> int | None:
        """Put back what was undone last, unless something new was done since; its text, or None."""
        return self._step_back(self._log.to_redo)

    # All texts.

    def choose(self, order: Order) -> Sequence[int]:
        """Choose the order of the texts, and remember it; it is computed once, so that it stays as it is.

        Raises:
            BadInput: there is nothing to go by.
        """
        found = self._computed(order, assigned=False)
        with self._lock:
            self.chosen, self.order = order, found
        return found

    @property
    def has_share(self) -> bool:
        """Whether the annotator's texts were dealt, and come in the order of that."""
        return self.assignment is not None and self.annotator in self.assignment.everybody

    def next_open(self, sample: int | None = None, *, within: Sequence[int] | None = None) -> int | None:
        """The next text in the order without an answer, behind `sample` and then from the top; None: all have one.

        It may be one that comes back for a second answer (`Retest`), which is begun by that.

        Args:
            within: the texts to go through, in their order; None: the annotator's own.
        """
        order = self.order if within is None else within
        with self._lock:
            if (again := self._due(sample)) is not None:
                return again
            start = 0 if sample is None or sample not in order else order.index(sample) + 1
            for place in range(len(order)):
                number = int(order[(start + place) % len(order)])
                if number != sample and not self._log.accepted(number):
                    return number
            return sample if sample is not None and sample in order and not self._log.accepted(sample) else None

    def progress(self) -> Progress:
        """How far the annotator is."""
        with self._lock:
            mine = frozenset(self.order) if not isinstance(self.order, range) else self.order
            there = [number for number in self._log.samples() if number in mine]
            accepted = {number for number in there if self._log.accepted(number)}
            now = datetime.now().astimezone()
            given = [at for number, at in self._given.items() if number in accepted and at.date() == now.date()]
            return Progress(
                len(self.order),
                len(accepted),
                sum(self._log.touched(number) for number in there if number not in accepted),
                sum(map(self._log.flagged, there)),
                sum(map(self._log.unsure, there)),
                sum(map(self._log.skipped, there)),
                len(given),
                an_hour(given),
                self._wanted(len(self.order) - len(accepted) + len(given), now.date()),
            )

    def _wanted(self, left: int, today: date) -> int | None:
        """How many of the answers that were left this morning fall on today."""
        until = last_day(self.assignment)
        return None if until is None else -(-left // max((until - today).days + 1, 1))

    def _time(self, entries: Iterable[Annotation]) -> None:
        """Keep when answers were given, in local time."""
        for entry in entries:
            if entry.kind.startswith(ACCEPT) and entry.sample is not None:
                self._given[entry.sample] = datetime.fromisoformat(entry.at).astimezone()

    def accepted(self) -> frozenset[int]:
        """The texts whose answer is given."""
        with self._lock:
            return frozenset(number for number in self._log.samples() if self._log.accepted(number))

    def skipped(self) -> frozenset[int]:
        """The texts that are passed over."""
        with self._lock:
            return frozenset(number for number in self._log.samples() if self._log.skipped(number))

    def people(self) -> tuple[str, ...]:
        """Everybody who has answered some text of the dataset, oneself too, in the order in which they began."""
        here = [name for name, answers in given_answers(self.store, self.dataset).items() if answers]
        inside = [name for name, _ in self.store.samples.annotators(self.dataset.dataset)]
        return tuple(dict.fromkeys([*here, *inside]))

    def role(self, sample: int) -> str:
        """Of a text whose answer is known and told: `training` or `check`; of any other nothing."""
        role = self._roles.get(sample, "")
        told = role == TRAINING or (role == CHECK and self.assignment is not None and self.assignment.checks_shown)
        return role if told else ""

    def known_answer(self, sample: int) -> OtherSaid | None:
        """What gold says of a text of training, or of a check that is shown; None: of another, or gold is not here."""
        if not self.role(sample):
            return None
        gold = gold_answer(self._sample(sample), words=bool(self.scheme.of(MASK)))
        return None if gold is None or gold.silent else OtherSaid(GOLD, GOLD, as_asked(gold, self.scheme))

    def publish(self) -> int:
        """Bring what others see of this annotator up to date: the source that Browse, Results and exports know.

        It may take a while (scoring), so it is for a worker, after an answer is given and when one leaves.

        Returns:
            How many texts changed.
        """
        with self._publishing, self.store.alone():
            log = self._published
            log.take(self.store.annotations.outlines(self.annotator, kind=KIND, within=self._numbers, after=log.last))
            dataset = (self.store.datasets.get(self.dataset.dataset) or self.dataset).read_as(self.dataset.task)
            return publish(self.store, dataset, self.annotator, self.scheme, log, self._scoring)

    def begun(self, sample: int) -> bool:
        """Whether something stands that the annotator did to a text."""
        with self._lock:
            return self._log.touched(sample)

    def consent(self) -> str:
        """The words of the assignment that the annotator has still to agree to; empty where there are none."""
        words = self.assignment.consent if self.assignment is not None else ""
        if not words:
            return ""
        agreed = self.store.annotations.entries(annotator=self.annotator, kind=CONSENT)
        return "" if any(one.payload == self._consent(words) for one in agreed) else words

    def agree(self) -> None:
        """Keep in the log that the annotator agrees to the words of `consent`."""
        if words := self.consent():
            self.store.annotations.append(CONSENT, None, self.annotator, self._consent(words))

    def _consent(self, words: str) -> bytes:
        return msgspec.json.encode({"dataset": self.dataset.dataset, "words": words})

    def guidelines(self) -> str:
        """The scheme's guidelines, Markdown; empty where it has none."""
        return self.scheme.guidelines

    # What others say.

    def others(self, sample: int) -> tuple[OtherSaid, ...]:
        """What gold, models and other people say of a text.

        Raises:
            BadInput: it is hidden until the annotator has answered and revealed it.
        """
        said = self.said(sample)
        if self.blind and not said.revealed:
            raise BadInput(
                "what others say can be revealed now" if said.accepted else "what others say is hidden until you accept"
            )
        return self._others(sample)

    def sources(self, sample: int) -> tuple[tuple[str, str], ...]:
        """(name, kind) of whoever says something about a text, without what: for choosing a suggestion."""
        return tuple((one.name, one.kind) for one in self._others(sample))

    def suggest(self, sample: int, source: str) -> Said:
        """Show what a source says as a suggestion, and keep that it was shown.

        Raises:
            BadInput: there is no such source, or it says nothing about the text.
        """
        found = next((one for one in self._others(sample) if source in (one.run, one.name)), None)
        if found is None:
            raise BadInput(f"{source} says nothing about this text")
        answer = as_asked(found.answer, self.scheme)
        if answer.labels:
            known = {name for group in self.scheme.of(TEXT) for name in group.names}
            answer = replace(answer, labels=tuple(name for name in answer.labels if name in known) or None)
        if answer.silent:
            raise BadInput(f"{source} says nothing of this text that the scheme asks for")
        return self.do(sample, SuggestionShown(found.name, replace(answer, spans=fresh_spans(answer.spans))))

    # Behind these.

    @property
    def _order_setting(self) -> str:
        return f"annotate order of {self.dataset.dataset} {self.annotator}"

    def _kept_order(self) -> tuple[Order, Sequence[int]]:
        """The order that was chosen last, else that of the assignment, else the file's; of the annotator's own texts.

        Texts that were assigned since then stand at the end.
        """
        mine = self._mine(self._numbers)
        wanted = FIXED if self.assignment is None else own_order(self.assignment, self.annotator)
        kept = self.store.settings.get(self._order_setting)
        order = None if kept is None else msgspec.convert(kept["order"], Order)
        if kept is None or order is None or (kept["assigned"] and order != wanted):
            if wanted == FIXED:
                return FIXED, mine
            try:
                return wanted, self._computed(wanted, assigned=True)
            except BadInput:  # nothing to go by: the run that there was is gone
                return FIXED, mine
        if kept["numbers"] is None:
            return order, mine
        there, known = set(mine), set(kept["numbers"])
        return order, [number for number in kept["numbers"] if number in there] + [
            number for number in mine if number not in known
        ]

    def _computed(self, order: Order, *, assigned: bool) -> Sequence[int]:
        """The annotator's texts in an order, which is kept with it: it stays when runs are added."""
        found = self._mine(order_of(self.store, self.dataset, self.scheme, order))
        numbers = None if order.kind == "fixed" else list(found)
        kept = {"order": msgspec.to_builtins(order), "numbers": numbers, "assigned": assigned}
        self.store.settings.set(self._order_setting, kept)
        return found

    def _mine(self, numbers: Sequence[int]) -> Sequence[int]:
        """The annotator's own among these, in this order; in the file's order they stand batch by batch."""
        if self.assignment is None or not self.has_share:
            return numbers
        mine = share_of(self.assignment, self._numbers, self.annotator)
        if numbers == self._numbers:
            return mine
        there = set(mine)
        first = [number for number in mine if self._roles.get(number) == TRAINING]
        there -= set(first)
        return [*first, *(number for number in numbers if number in there)]

    def _due(self, sample: int | None) -> int | None:
        """A text that is to come back now, its second answer begun; or one whose second answer was begun before."""
        retest = NO_RETEST if self.assignment is None else self.assignment.retest
        if retest.share <= 0:
            return None
        given = self._log.accepted_since()
        before = self._log.retested()
        for _, number in given[: max(0, len(given) - retest.after)]:
            if number == sample or not comes_back(retest, self.annotator, number - self._numbers.start):
                continue
            if number not in before:
                kept = Kept(Retested(), None, self._log.state(number).revealed, 1)
                self._append([(kind_of(Retested()), number, self.annotator, msgspec.json.encode(kept), None)])
                return number
            if self._log.round(number):
                return number
        return None

    def _others(self, sample: int) -> tuple[OtherSaid, ...]:
        words = bool(self.scheme.of(MASK))
        with self.store.together():
            return others_of(self.store, self.dataset, self._task, sample, self.annotator, words=words)

    def _sample(self, sample: int) -> object:
        found = self.store.samples.records([sample]) if sample in self._numbers else []
        if not found:
            raise BadInput(f"{self.dataset.name} has no text {sample}")
        return read_sample(self.store, self.dataset, found[0][1])

    def _append(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        made = self.store.annotations.append_each(entries)
        self._time(made)
        # Numbers that follow on what is known: nobody else has written, so there is nothing to read.
        alone = made[0].annotation == self._seen + 1
        self._seen = made[-1].annotation
        if alone:
            self._log.take_whole(made)
        else:
            self.refresh()

    def _step_back(self, named: Callable[[], list[tuple[int, int]]]) -> int | None:
        for last in range(_TRIES):
            with self._lock:
                found = named()
                if not found:
                    return None
                try:
                    self._append([(UNDO, sample, self.annotator, b"{}", number) for sample, number in found])
                except BadInput:
                    # Another terminal under this name was quicker.
                    if last == _TRIES - 1:
                        raise
                    self.refresh()
                    continue
                return found[-1][0]
        return None


def an_hour(moments: Iterable[datetime]) -> float | None:
    """Answers an hour of work, from when they were given: pauses of ten minutes and more are left out.

    None: no two answers follow each other within that time.
    """
    gaps = [(after - before).total_seconds() for before, after in pairwise(sorted(moments))]
    worked = [gap for gap in gaps if gap < _PAUSE]
    return 3600 * len(worked) / sum(worked) if sum(worked) else None
