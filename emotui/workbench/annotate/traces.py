"""How answers came about, for measuring what suggestions do to them: order, latency, whether they were followed."""

from collections.abc import Iterator

import msgspec

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.annotate.answers import Answer
from emotui.workbench.annotate.events import (
    Accept,
    Present,
    SuggestionMended,
    SuggestionRefused,
    SuggestionShown,
    SuggestionTaken,
)
from emotui.workbench.annotate.log import Entry, Log
from emotui.workbench.annotate.marks import LABELS, WHOLE, items
from emotui.workbench.annotate.others import logs_of
from emotui.workbench.annotate.planning.order import distance


class EventTrace(msgspec.Struct, frozen=True):
    """One event as it stands in the log.

    `id`: of the text. `what`: the event, with all that it says. `at`: UTC, ISO 8601. `seconds`: since the text came
    into sight. `stands`: it was not taken back. `round`: 1 in the second answer of a retest.
    """

    annotator: str
    id: str
    number: int
    at: str
    what: object
    seconds: float | None
    revealed: bool
    stands: bool
    round: int


class AnswerTrace(msgspec.Struct, frozen=True):
    """How one answer came about.

    `place`: as which of the annotator's it came into sight first. `first`, `answered`: seconds from there to the first
    event that is about the answer, and to the accepting that stands. `at`: when that was (UTC, ISO 8601). `events`: how
    many are about the answer, those taken back among them. `source`: of the suggestion shown last before the answer was
    given, None where there was none; of what it has (`shown`) some is taken as it is, mended or refused. `followed`:
    the answer says what the suggestion says; `away`: how far it is from that, in [0, 1]. `before`: something was said
    before it was shown.
    """

    annotator: str
    id: str
    round: int
    place: int | None
    first: float | None
    answered: float | None
    events: int
    source: str | None = None
    shown: int = 0
    taken: int = 0
    mended: int = 0
    refused: int = 0
    followed: bool | None = None
    away: float | None = None
    before: bool | None = None
    at: str | None = None


_ABOUT_NO_ANSWER = (Present, SuggestionShown)


def event_traces(store: Store, dataset: Dataset, annotator: str | None = None) -> Iterator[EventTrace]:
    """Every event of one annotator, or of all, in the order of the log."""
    ids = _ids(store, dataset)
    for name, log in logs_of(store, dataset).items():
        if annotator in (None, name):
            entries = [entry for sample in log.samples() for entry in log.entries(sample)]
            for one in sorted(entries, key=lambda entry: entry.number):
                yield EventTrace(
                    name,
                    ids[one.sample],
                    one.number,
                    one.at,
                    one.kept.event,
                    one.kept.seconds,
                    one.kept.revealed,
                    one.stands,
                    one.kept.round,
                )


def answer_traces(store: Store, dataset: Dataset, annotator: str | None = None) -> Iterator[AnswerTrace]:
    """A line for each answer that is given, the second ones of a retest among them."""
    ids = _ids(store, dataset)
    for name, log in logs_of(store, dataset).items():
        if annotator in (None, name):
            for sample in log.samples():
                for round in (0, 1) if sample in log.retested() else (0,):
                    if (said := log.state(sample, round)).accepted and not said.skipped:
                        yield _answer_trace(name, ids[sample], log, sample, round)


def _answer_trace(annotator: str, id: str, log: Log, sample: int, round: int) -> AnswerTrace:
    entries = [entry for entry in log.entries(sample) if entry.kept.round == round]
    places = [entry.kept.event.place for entry in entries if isinstance(entry.kept.event, Present)]
    about = [entry for entry in entries if not isinstance(entry.kept.event, _ABOUT_NO_ANSWER)]
    given = [entry for entry in entries if entry.stands and isinstance(entry.kept.event, Accept)]
    last = given[-1].number if given else None
    plain = AnswerTrace(
        annotator,
        id,
        round,
        places[0] if places else None,
        next((entry.kept.seconds for entry in about if entry.kept.seconds is not None), None),
        given[-1].kept.seconds if given else None,
        len(about),
        at=given[-1].at if given else None,
    )
    shown = [entry for entry in entries if isinstance(entry.kept.event, SuggestionShown)]
    shown = [entry for entry in shown if last is None or entry.number < last]
    return _with_suggestion(plain, shown[-1], entries, log.state(sample, round).blind) if shown else plain


def _with_suggestion(plain: AnswerTrace, shown: Entry, entries: list[Entry], answer: Answer) -> AnswerTrace:
    event = shown.kept.event
    assert isinstance(event, SuggestionShown)
    suggested = event.answer
    after = [entry.kept.event for entry in entries if entry.stands and entry.number > shown.number]
    kinds = (SuggestionTaken, SuggestionMended, SuggestionRefused)
    taken, mended, refused = ({_item(one) for one in after if isinstance(one, kind)} for kind in kinds)
    ids = {span.id: span for span in suggested.spans}
    # A span that was taken as it is and then changed is a mended one.
    changed = {span.id for span in answer.spans if span.id in taken and span != ids.get(span.id)}
    changed |= {item for item in WHOLE if item in taken and _without(answer, suggested, item)}
    before = any(
        entry.stands and entry.number < shown.number and not isinstance(entry.kept.event, _ABOUT_NO_ANSWER)
        for entry in entries
    )
    return msgspec.structs.replace(
        plain,
        source=event.source,
        shown=len(items(suggested)),
        taken=len(taken - changed),
        mended=len(mended | changed),
        refused=len(refused),
        followed=answer.same_as(suggested),
        away=distance(answer, suggested),
        before=before,
    )


def _without(answer: Answer, suggested: Answer, item: str) -> bool:
    """Whether an answer says otherwise what a suggestion says of the labels, numbers, sentences or words."""
    theirs, own = getattr(suggested, item), getattr(answer, item)
    if item == LABELS:
        return set(own or ()) != set(theirs or ())
    return any(own.get(key) != value for key, value in theirs.items())


def _item(event: object) -> str:
    return event.span.id if isinstance(event, SuggestionMended) else str(getattr(event, "item", ""))


def _ids(store: Store, dataset: Dataset) -> dict[int, str]:
    return {number: id for id, number in store.samples.numbers_by_id(dataset.dataset).items()}
