"""Attempts, skips and reviews in the annotation log, and what of it is in force.

The log only grows. An undo is an entry that takes another one back, and a redo an entry that takes the undo back, so an
attempt keeps its number through both.
"""

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.agreement import agreement_report
from emotui.records import ClassGold
from emotui.store.rows import Annotation
from emotui.workbench.rephrase.views import ReviewItem

ATTEMPT = "rephrasing"
SKIP = "rephrasing-skip"
REVIEW = "rephrasing-review"
UNDO = "rephrasing-undo"
REDO = "rephrasing-redo"

FROM_A_FILE = "file:"
"""How the identity of a classifier begins that nobody noted: its chains came from a file."""


class ClassifierMark(msgspec.Struct, frozen=True, kw_only=True):
    """Which classifier an entry was made against."""

    spec: str
    identity: str


class AttemptEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One submitted rephrasing; `confidence` and `probs` are the classifier's, `confidence` that of the gold label.

    `suggested`: a model wrote it. It stays so for ever.
    """

    text: str
    predicted: str
    model: ClassifierMark
    round: int
    confidence: float | None = None
    probs: dict[str, float] | None = None
    suggested: bool = False
    similarity: float | None = None


class SkipEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A text that the annotator leaves."""

    model: ClassifierMark
    round: int


class ReviewEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What a second person says of an attempt.

    `emotion` was picked blind. `kept`: whether they say that the emotion is the original's; None: as `emotion` says.
    """

    attempt: int
    meaning: bool
    emotion: str
    kept: bool | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt, skip or review in the log."""

    number: int
    sample: int
    annotator: str
    content: AttemptEntry | SkipEntry | ReviewEntry


_KINDS: dict[str, type[AttemptEntry] | type[SkipEntry] | type[ReviewEntry]] = {
    ATTEMPT: AttemptEntry,
    SKIP: SkipEntry,
    REVIEW: ReviewEntry,
}


@dataclass(slots=True)
class Log:
    """The log as far as it is about some samples; entries of other kinds of work are passed over.

    `entries`: every attempt, skip and review by its number, also those taken back; `tips`: for each of them that was
    ever taken back, the last entry of its undos and redos, and whether the entry is in force. `last`: the number of the
    last entry that was taken in, of any kind.
    """

    entries: dict[int, Entry] = field(default_factory=dict)
    tips: dict[int, tuple[int, bool]] = field(default_factory=dict)
    last: int = 0
    _first_of: dict[int, int] = field(default_factory=dict)

    def take(self, annotations: Iterable[Annotation], samples: Container[int]) -> None:
        """Take in what came after `last`, in its order."""
        for each in annotations:
            self.last = each.annotation
            if each.kind in _KINDS and each.sample is not None and each.sample in samples:
                content = msgspec.json.decode(each.payload, type=_KINDS[each.kind])
                self.entries[each.annotation] = Entry(each.annotation, each.sample, each.annotator, content)
                self._first_of[each.annotation] = each.annotation
            elif each.kind in (UNDO, REDO) and each.undoes in self._first_of:
                first = self._first_of[each.annotation] = self._first_of[each.undoes]
                self.tips[first] = (each.annotation, each.kind == REDO)

    def in_force(self) -> list[Entry]:
        """In the order in which they were made."""
        return [entry for entry in self.all() if self.stands(entry.number)]

    def all(self) -> list[Entry]:
        """Also those taken back, in the order in which they were made.

        A copy made in one step: another thread may take in more meanwhile.
        """
        return list(self.entries.values())

    def stands(self, number: int) -> bool:
        """Whether an entry is in force."""
        return self.tips.get(number, (number, True))[1]

    def tip(self, number: int) -> int:
        """The entry that an undo or redo of this one has to name."""
        return self.tips.get(number, (number, True))[0]


def read_log(annotations: Iterable[Annotation], samples: Container[int]) -> Log:
    """The log about these samples."""
    log = Log()
    log.take(annotations, samples)
    return log


def last_made(log: Log, annotator: str, identity: str) -> Entry | None:
    """What an undo takes back: the annotator's last attempt or skip of the round that is in force."""
    own = [entry for entry in _of(log, annotator, identity) if log.stands(entry.number)]
    return own[-1] if own else None


def last_undone(log: Log, annotator: str, identity: str) -> Entry | None:
    """What a redo puts back: what was undone last, unless the annotator has made something new since."""
    own = _of(log, annotator, identity)
    taken = [entry for entry in own if not log.stands(entry.number)]
    if not taken:
        return None
    latest = max(taken, key=lambda entry: log.tip(entry.number))
    newest = max((entry.number for entry in own if log.stands(entry.number)), default=0)
    return latest if log.tip(latest.number) > newest else None


def last_review(log: Log, reviewer: str) -> Entry | None:
    """The last judgement by this person that is in force, of an attempt that is."""
    own = [
        entry
        for entry in log.in_force()
        if entry.annotator == reviewer and isinstance(entry.content, ReviewEntry) and log.stands(entry.content.attempt)
    ]
    return own[-1] if own else None


def _of(log: Log, annotator: str, identity: str) -> list[Entry]:
    return [
        entry
        for entry in log.all()
        if entry.annotator == annotator
        and isinstance(entry.content, AttemptEntry | SkipEntry)
        and entry.content.model.identity == identity
    ]


@dataclass(slots=True)
class Made:
    """What an annotator made of one text in a round. `began`: the number of the first entry."""

    began: int = 0
    attempts: list[tuple[int, AttemptEntry]] = field(default_factory=list)
    skipped: bool = False


def made(entries: Sequence[Entry], annotator: str, identity: str) -> dict[int, Made]:
    """By sample: attempts in order, with their numbers, of one annotator and classifier.

    A text is skipped while nothing was written to it after the skip.
    """
    found: dict[int, Made] = {}
    for entry in entries:
        content = entry.content
        if entry.annotator != annotator or isinstance(content, ReviewEntry) or content.model.identity != identity:
            continue
        one = found.setdefault(entry.sample, Made(entry.number))
        if isinstance(content, AttemptEntry):
            one.attempts.append((entry.number, content))
        one.skipped = isinstance(content, SkipEntry)
    return found


def rounds(entries: Iterable[Entry]) -> list[ClassifierMark]:
    """The classifiers of all entries, in the order in which they were first used."""
    seen: dict[str, ClassifierMark] = {}
    for entry in entries:
        if not isinstance(entry.content, ReviewEntry):
            seen.setdefault(entry.content.model.identity, entry.content.model)
    return list(seen.values())


def numbered(entries: Iterable[Entry]) -> list[ClassifierMark]:
    """Those that make a round with a number: not those of files that do not say which classifier they are from."""
    return [mark for mark in rounds(entries) if not mark.identity.startswith(FROM_A_FILE)]


# A second pair of eyes on rephrasings (section 3, Quality Assessment): the queue, what is confirmed, and agreement.

Judged = tuple[str, str, Entry, ReviewEntry]
"""The rephrasing's name among the ratings, the reviewer, the attempt and the review."""


def review_queue(entries: Sequence[Entry], samples: Mapping[int, ClassGold], reviewer: str) -> list[ReviewItem]:
    """What this reviewer has not judged: attempts of others, in an order that tells nothing of how they went.

    The same text by two annotators, or in two rounds, comes once.

    Args:
        entries: of the log, those in force.
    """
    judged_before = {_key(entry) for _, who, entry, _ in judged(entries) if who == reviewer}
    items: dict[tuple[int, str], Entry] = {}
    for entry in entries:
        if isinstance(entry.content, AttemptEntry) and entry.annotator != reviewer and _key(entry) not in judged_before:
            items.setdefault(_key(entry), entry)
    order = sorted(items.values(), key=lambda entry: hashlib.sha256(str(entry.number).encode()).digest())
    return [ReviewItem(entry.number, samples[entry.sample].text, entry.content.text) for entry in order]  # type: ignore[union-attr]


def check_review(
    entries: Sequence[Entry], samples: Mapping[int, ClassGold], reviewer: str, attempt: int, emotion: str
) -> Entry:
    """The attempt that is judged. Raises BadInput where it cannot be judged by this person, or the answer is none."""
    found = next((entry for entry in entries if entry.number == attempt), None)
    if found is None or not isinstance(found.content, AttemptEntry) or found.sample not in samples:
        raise BadInput(f"there is no rephrasing {attempt} to judge (was it taken back?)")
    if not reviewer.strip():
        raise BadInput("a reviewer needs a name (--annotator)")
    if found.annotator == reviewer:
        raise BadInput(f"{reviewer} wrote this rephrasing: somebody else has to judge it")
    if not emotion.strip():
        raise BadInput("which emotion is in the rephrasing? Pick one")
    return found


def confirmed(entries: Sequence[Entry], samples: Mapping[int, ClassGold]) -> set[int]:
    """The attempts that count as valid where only confirmed ones do: more than half of their reviewers say that both
    meaning and emotion are kept.

    A review stands for every attempt of the same words on the same text.
    """
    votes: dict[tuple[int, str], list[bool]] = {}
    for _, _, entry, review in judged(entries):
        votes.setdefault(_key(entry), []).append(review.meaning and emotion_kept(review, samples[entry.sample].gold))
    good = {key for key, given in votes.items() if 2 * sum(given) > len(given)}
    return {entry.number for entry in entries if isinstance(entry.content, AttemptEntry) and _key(entry) in good}


def emotion_kept(review: ReviewEntry, gold: str) -> bool:
    """As the reviewer says; where they were not asked, whether the emotion picked blind is the gold label."""
    return review.kept if review.kept is not None else review.emotion.strip().casefold() == gold.strip().casefold()


def reviews_report(entries: Sequence[Entry], samples: Mapping[int, ClassGold]) -> dict[str, Any]:
    """How far reviewers agree with each other, and with those who wrote the rephrasings.

    Returns:
        `rephrasings` (distinct ones in force), `reviewed`, `confirmed` (of those reviewed), `reviewers`, `reviews`,
        `meaning_kept` and `emotion_kept` (shares of reviews), `meaning_alpha` and `emotion_alpha` (Krippendorff's,
        nominal, among reviewers: meaning kept or not, and the emotion picked blind), `emotion_alpha_with_author` (the
        same with the gold label as one more rating of each, as in section 3), `meaning` and `emotion` (the documents of
        `emotui agreement` over the same ratings), `notes`.
    """
    found = judged(entries)
    keys = {_key(entry) for entry in entries if isinstance(entry.content, AttemptEntry)}
    meaning = [(item, who, "kept" if review.meaning else "not kept") for item, who, _, review in found]
    picked = [(item, who, review.emotion.strip().casefold()) for item, who, _, review in found]
    authors = {item: samples[entry.sample].gold.strip().casefold() for item, _, entry, _ in found}
    with_author = picked + [(item, "(author)", label) for item, label in authors.items()]
    of_meaning, of_emotion, of_both = (agreement_report(ratings) for ratings in (meaning, picked, with_author))
    kept = [emotion_kept(review, samples[entry.sample].gold) for _, _, entry, review in found]
    n = len(found)
    good = {_key(entry) for entry in entries if entry.number in confirmed(entries, samples)}
    notes = {
        name: report["notes"]["krippendorff_alpha"]
        for name, report in (
            ("meaning_alpha", of_meaning),
            ("emotion_alpha", of_emotion),
            ("emotion_alpha_with_author", of_both),
        )
        if "krippendorff_alpha" in report["notes"]
    }
    if not n:
        notes |= dict.fromkeys(("meaning_kept", "emotion_kept"), "nothing was reviewed")
    return {
        "rephrasings": len(keys),
        "reviewed": len(authors),
        "confirmed": len(good),
        "reviewers": of_meaning["raters"],
        "reviews": n,
        "meaning_kept": sum(review.meaning for *_, review in found) / n if n else None,
        "emotion_kept": sum(kept) / n if n else None,
        "meaning_alpha": of_meaning["krippendorff_alpha"],
        "emotion_alpha": of_emotion["krippendorff_alpha"],
        "emotion_alpha_with_author": of_both["krippendorff_alpha"],
        "meaning": of_meaning,
        "emotion": of_emotion,
        "notes": notes,
    }


def judged(entries: Sequence[Entry]) -> list[Judged]:
    """Reviews in force of attempts in force; of two by one person on one rephrasing the later."""
    names: dict[tuple[int, str], str] = {}
    attempts = {entry.number: entry for entry in entries if isinstance(entry.content, AttemptEntry)}
    last: dict[tuple[str, str], Judged] = {}
    for entry in entries:
        if isinstance(entry.content, ReviewEntry) and entry.content.attempt in attempts:
            attempt = attempts[entry.content.attempt]
            name = names.setdefault(_key(attempt), str(attempt.number))
            last[name, entry.annotator] = (name, entry.annotator, attempt, entry.content)
    return list(last.values())


def _key(entry: Entry) -> tuple[int, str]:
    """One rephrasing: a text of the dataset, and the words that were written for it."""
    assert isinstance(entry.content, AttemptEntry)
    return entry.sample, entry.content.text
