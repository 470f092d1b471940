"""People at work, as programs that may be struck at any moment: what each does, and what of it stands.

`python -m tests.faults.people` reads a line for each program that it is to start (`Wanted`), and forks it from a
process that has imported all of it. The program writes `begun`, then `+KEY=VALUE` before each act and `=KEY=VALUE`
once that is kept, or `refused MESSAGE`; when it is gone, the server writes `ended`.
"""

import os
import random
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from emotui.errors import EmotuiError
from emotui.store.store import Store
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, SetNote
from emotui.workbench.generation.rating import Answer, begin, rating_log
from emotui.workbench.generation.rating_batches import RatingOptions
from emotui.workbench.masked.looking import Guess, guess_of, keep_guess
from emotui.workbench.masked.study import ANSWERS, Coding, begin_study
from emotui.workbench.masked.study_log import answers_of
from emotui.workbench.notes import NoteBook
from tests.screens.generate.workspace import workspace as generation_workspace
from tests.screens.masked.workspace import WRITES, masked_workspace
from tests.workbench.annotate.small_sets import begin as begin_annotating
from tests.workbench.annotate.small_sets import numbers, store_with

WHO = "ann"
PATIENCE = 120.0
ENDS = {"ann": 7, "ben": 16}
"""Where each annotator's span of the second text ends."""

Act = tuple[str, str, Callable[[], object]]
"""What is said, the new word of it (empty: none any more), and what keeps that."""


class Wanted(msgspec.Struct):
    """A program: whose work on which store, by which chances.

    `room`: bytes up to which it may write a file, such as the store's log; more fails, as on a full disk.
    """

    work: str
    path: str
    seed: int
    room: int | None = None


@dataclass(frozen=True)
class Work:
    """One kind of it.

    Attributes:
        make: a store in a folder in which it can be done; its path.
        sit_down: what one does there again and again; a call gives the next act.
        kept: what stands, by its key.
    """

    make: Callable[[Path], Path]
    sit_down: Callable[[Store, random.Random], Callable[[], Act]]
    kept: Callable[[Store], Mapping[str, str]]


def _word(chance: random.Random) -> str:
    return f"word {chance.randrange(10**9)} " + "so late again " * chance.randrange(4)


def _first(store: Store) -> int:
    return store.datasets.all()[0].dataset


def _make_versions(folder: Path) -> Path:
    return generation_workspace(folder / "w.duckdb").store.path


def _rate(store: Store, chance: random.Random) -> Callable[[], Act]:
    batch = begin(store, _first(store), WHO, RatingOptions(which="mixed", wanted=9, allowed=99))
    number = next(one for one in rating_log(store, _first(store)).batches)
    serial = iter(range(1, 10**9))

    def act() -> Act:
        at = chance.randrange(3)  # they are rated again and again, and the batch stays open
        label = chance.choice([*batch.labels, ""])
        return f"{number}/{at}", label, lambda: batch.keep([Answer(next(serial), at, label, 1.5)])

    return act


def _ratings(store: Store) -> dict[str, str]:
    return {f"{one.batch}/{one.at}": one.emotion for one in rating_log(store, _first(store)).ratings}


def _make_masked(folder: Path) -> Path:
    made = masked_workspace(folder)
    dataset = made.store.datasets.get("masked")
    assert dataset is not None
    begin_study(made.store, dataset, "study", "gold", WRITES)
    return made.store.path


def _guess(store: Store, chance: random.Random) -> Callable[[], Act]:
    texts = numbers(store, "masked")

    def act() -> Act:
        text, word = chance.choice(texts), _word(chance)
        return str(text), word, lambda: keep_guess(store, text, WHO, Guess((word,)))

    return act


def _guesses(store: Store) -> dict[str, str]:
    found = {text: guess_of(store, text, WHO) for text in numbers(store, "masked")}
    return {str(text): guess.words[0] for text, guess in found.items() if guess is not None}


def _code(store: Store, chance: random.Random) -> Callable[[], Act]:
    coding = Coding(store, "study", WHO)

    def act() -> Act:
        text, answer, why = chance.choice(coding.texts), chance.choice(sorted(ANSWERS)), _word(chance).strip()
        return str(text), f"{answer}: {why}", lambda: coding.say(text, answer, rationale=why)

    return act


def _codings(store: Store) -> dict[str, str]:
    return {str(one.sample): f"{said.answer}: {said.rationale}" for one, said in answers_of(store, "study", WHO)}


def _make_spans(folder: Path) -> Path:
    """Two annotators disagree about the second text, and agree about the first and the third."""
    store = store_with(folder / "w.duckdb", "spans")
    for name, end in ENDS.items():
        work = begin_annotating(store, "spans", name)
        for text in numbers(store, "spans"):
            span = SpanMark(id=f"{name}-{text}", start=0, end=end if text == numbers(store, "spans")[1] else 2)
            work.do(text, AddSpan(span), Accept())
    return store.path


def _note(store: Store, chance: random.Random) -> Callable[[], Act]:
    book, dataset = NoteBook(store), _first(store)

    def act() -> Act:
        text, words = chance.choice(numbers(store, "spans")), chance.choice([_word(chance).strip(), ""])
        codes = ("late", f"code {chance.randrange(9)}") if words else ()
        return str(text), words, lambda: book.write(dataset, text, WHO, words, codes)

    return act


def _notes(store: Store) -> dict[str, str]:
    return {str(one.sample): one.text for one in NoteBook(store).notes(_first(store)) if one.annotator == WHO}


def _note_answer(store: Store, chance: random.Random) -> Callable[[], Act]:
    work = begin_annotating(store, "spans", WHO)

    def act() -> Act:
        text, words = chance.choice(numbers(store, "spans")), chance.choice([_word(chance).strip(), ""])
        return str(text), words, lambda: work.do(text, SetNote(words))

    return act


def _notes_of_answers(store: Store) -> dict[str, str]:
    work = begin_annotating(store, "spans", WHO)
    return {str(text): work.said(text).note for text in numbers(store, "spans")}


def _adjudicate(store: Store, chance: random.Random) -> Callable[[], Act]:
    work = Desk(store).adjudicate("spans", tuple(ENDS), "settled")

    def act() -> Act:
        text, source = chance.choice(work.disagreed), chance.choice(list(ENDS))
        accept = chance.random() < 0.5
        return str(text), source, lambda: work.take(text, source, accept=accept)

    return act


def _adjudicated(store: Store) -> dict[str, str]:
    work = begin_annotating(store, "spans", "settled")
    whose = {end: name for name, end in ENDS.items()}
    said = {str(text): work.said(text).spans for text in numbers(store, "spans")}
    return {text: whose[spans[0].end] for text, spans in said.items() if spans}


WORKS = {
    "ratings": Work(_make_versions, _rate, _ratings),
    "guesses": Work(_make_masked, _guess, _guesses),
    "studies": Work(_make_masked, _code, _codings),
    "notes": Work(_make_spans, _note, _notes),
    "notes of answers": Work(_make_spans, _note_answer, _notes_of_answers),
    "adjudication": Work(_make_spans, _adjudicate, _adjudicated),
}


def plain(said: Mapping[str, str]) -> dict[str, str]:
    """What stands, without what was taken back."""
    return {key: word.strip() for key, word in said.items() if word.strip()}


def after(said: Mapping[str, str], lines: Iterable[str]) -> dict[str, str]:
    """What stands once these acts (`+KEY=VALUE` or `=KEY=VALUE`) are done."""
    found = dict(said)
    for line in lines:
        key, _, word = line[1:].partition("=")
        found[key] = word
    return plain(found)


def _go(wanted: Wanted) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    work, chance = WORKS[wanted.work], random.Random(wanted.seed)
    if wanted.room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (wanted.room, wanted.room))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = Store.open(Path(wanted.path), patience=PATIENCE)
    _say("begun")
    try:
        next_act = work.sit_down(store, chance)
        while True:
            key, word, keep = next_act()
            _say(f"+{key}={word}")
            keep()
            _say(f"={key}={word}")
    except EmotuiError as error:
        _say(f"refused {error}")


def _say(line: str) -> None:
    os.write(1, line.encode() + b"\n")  # at once, whoever else writes there


def main() -> None:
    """Start programs one after the other, and say when each is gone."""
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a fork would lack the other threads"
    for line in sys.stdin:
        wanted = msgspec.json.decode(line, type=Wanted)
        child = os.fork()
        if child == 0:
            try:
                _go(wanted)
            except BaseException as error:
                _say(f"broke {error!r}")
            finally:
                os._exit(0)
        _say(f"pid {child}")
        os.waitpid(child, 0)
        _say("ended")


if __name__ == "__main__":
    main()
