"""A second pair of eyes on rephrasings (section 3, Quality Assessment): the queue, what is confirmed, and agreement."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.metrics.agreement import agreement_report
from emotui.records import ClassGold
from emotui.workbench.rephrase.log import AttemptEntry, Entry, ReviewEntry
from emotui.workbench.rephrase.views import ReviewItem

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
