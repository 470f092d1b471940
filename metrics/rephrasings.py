"""Rephrasing chains: which rephrasing counts at which round, and what to warn a person of while they write one.

Source: hard emotion test sets (Sosea and Caragea), sections 3 and 6.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from emotui.metrics.lexical import Lexicon, lexical
from emotui.records import Attempt, Chain, ClassGold

ROUNDS = 4
"""Attempts that a text gets (section 3, Annotation Process)."""

NAMES = tuple(f"{k}R" for k in range(1, ROUNDS + 1))
"""The sets' names in table 3: 1R to 4R."""

SIMILAR = 0.3
"""Cosine below which a rephrasing is doubted; seven of a hundred sample rephrasings are below it."""

ALIKE = 0.9
"""Share of words in common, in order, from which two attempts are nearly the same."""

LONGER = 2.5
"""How many times as many words, or as few, as the original a rephrasing may have before it is doubted."""

_FEW = 4
"""Words that a text needs for its length to be compared."""

_MOST_PAIRS = 400_000
"""Pairs of words that a difference compares at most, so that it stays a matter of milliseconds."""


def is_right(chain: Chain) -> bool:
    """Whether the classifier got the original right (T_correct, section 3, Setup).

    A chain without `predicted` counts as right: only such originals are rephrased.
    """
    return chain.predicted is None or chain.predicted == chain.label


def tried(chain: Chain) -> tuple[Attempt, ...]:
    """The attempts that count: up to the first success, and at most four."""
    success = succeeded_at(chain)
    return chain.attempts[: success or ROUNDS]


def succeeded_at(chain: Chain) -> int | None:
    """The attempt, from 1, at which the classifier was wrong first; None where that is none of the first four."""
    for k, attempt in enumerate(chain.attempts[:ROUNDS], start=1):
        if attempt.predicted != chain.label:
            return k
    return None


def rephrasing_of(chain: Chain, k: int) -> str | None:
    """The text that stands for a right original in set kR; None where the chain has no text in that set.

    It is the successful rephrasing if it came before round k, else the k-th rephrasing if there is one.

    Source: section 6: 2R is the union of R1's successes, all second rephrasings, and T_incorrect.
    """
    success = succeeded_at(chain)
    place = k if success is None else min(k, success)
    return chain.attempts[place - 1].text if place <= len(chain.attempts) else None


def rephrasing_sets(chains: Sequence[Chain]) -> dict[str, list[ClassGold]]:
    """The sets 1R to 4R, records in the order of the chains; originals that the model got wrong are in each of them."""
    found: dict[str, list[ClassGold]] = {}
    for k, name in enumerate(NAMES, start=1):
        found[name] = []
        for chain in chains:
            text = rephrasing_of(chain, k) if is_right(chain) else chain.text
            if text is not None:
                found[name].append(ClassGold(id=chain.id, text=text, label=chain.label))
    return found


def kth_rephrasings(chains: Iterable[Chain], k: int) -> list[tuple[Chain, str]]:
    """The k-th rephrasings that were written, successful or not, each with its chain (R1 to R4 of section 4)."""
    return [(chain, tried(chain)[k - 1].text) for chain in chains if is_right(chain) and len(tried(chain)) >= k]


def closing(chain: Chain) -> Literal["succeeded", "failed", "skipped", "open"]:
    """How a chain of a right original ended."""
    if succeeded_at(chain) is not None:
        return "succeeded"
    if chain.skipped:
        return "skipped"
    return "failed" if len(chain.attempts) >= ROUNDS else "open"


def sets_report(chains: Sequence[Chain], lexicon: Lexicon) -> dict[str, Any]:
    """The document of `emotui rephrasings sets`.

    Returns:
        `n`, `t_correct`, `t_incorrect` (ids), `sets` (`{"1R": [{id, text, label}], ...}`), `failed`, `skipped`, `open`
        (chains), `rounds` with `succeeded` (by set, the chains that succeeded at attempt k), `failed`, `skipped` and
        `mean_explicit_words` (by set, a text of the k-th rephrasings, and of the `original`s of T_correct), `notes`.
    """
    right = [chain for chain in chains if is_right(chain)]
    ends = [closing(chain) for chain in right]
    notes: dict[str, str] = {}
    mean = {"original": mean_explicit_words([(one, one.text) for one in right], lexicon, "original", notes)}
    for k, name in enumerate(NAMES, start=1):
        mean[name] = mean_explicit_words(kth_rephrasings(chains, k), lexicon, name, notes)
    unknown = sum(chain.predicted is None for chain in chains)
    if unknown:
        notes["t_correct"] = f"{unknown} chains do not say what the model made of the original: taken as right"
    late = sum(len(chain.attempts) > len(tried(chain)) for chain in right)
    if late:
        notes["sets"] = f"{late} chains go on after their success or after four attempts: what comes then is left out"
    counts = {end: ends.count(end) for end in ("failed", "skipped", "open")}
    succeeded = {name: sum(succeeded_at(one) == k for one in right) for k, name in enumerate(NAMES, start=1)}
    return {
        "n": len(chains),
        "t_correct": [chain.id for chain in right],
        "t_incorrect": [chain.id for chain in chains if not is_right(chain)],
        "sets": {
            name: [{"id": one.id, "text": one.text, "label": one.label} for one in records]
            for name, records in rephrasing_sets(chains).items()
        },
        **counts,
        "rounds": {
            "succeeded": succeeded,
            "failed": counts["failed"],
            "skipped": counts["skipped"],
            "mean_explicit_words": mean,
        },
        "notes": notes,
    }


def mean_explicit_words(
    texts: Sequence[tuple[Chain, str]], lexicon: Lexicon, name: str, notes: dict[str, str]
) -> float | None:
    """The mean number of words tied to the gold emotion (section 4); None, with a note, where it is undefined.

    Texts whose label has no counterpart among Plutchik's eight are left out.
    """
    counts = []
    for chain, text in texts:
        try:
            counts.append(lexical(text, chain.label, lexicon).explicit_words)
        except ValueError as problem:
            notes["mean_explicit_words"] = f"texts are left out: {problem}"
    if not counts:
        notes.setdefault(f"mean_explicit_words.{name}", "there is no text")
        return None
    return sum(counts) / len(counts)


@dataclass(frozen=True, slots=True)
class Change:
    """A run of words of a difference.

    `same` and `added` stand in the rephrasing, at `text[start:end]`; `removed` in the original, likewise.
    """

    kind: Literal["same", "added", "removed"]
    words: str
    start: int
    end: int


_RUN = re.compile(r"\S+")
_EDGE = re.compile(r"^\W+|\W+$")


def word_diff(original: str, text: str) -> tuple[Change, ...]:
    """What was changed, word by word, removed words before those added in their place.

    Words are the same without regard to case and to punctuation around them. Of very long texts only what they
    have in common at both ends is found.
    """
    before, after = list(_RUN.finditer(original)), list(_RUN.finditer(text))
    old, new = [_key(run.group()) for run in before], [_key(run.group()) for run in after]
    changes: list[Change] = []

    def add(kind: Literal["same", "added", "removed"], source: str, runs: Sequence[re.Match[str]]) -> None:
        if runs:
            start, end = runs[0].start(), runs[-1].end()
            changes.append(Change(kind, source[start:end], start, end))

    for tag, i1, i2, j1, j2 in _opcodes(old, new):
        if tag == "equal":
            add("same", text, after[j1:j2])
        else:
            add("removed", original, before[i1:i2])
            add("added", text, after[j1:j2])
    return tuple(changes)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """As difflib's, over what is left between the common beginning and the common end."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    codes: list[tuple[str, int, int, int, int]] = [("equal", 0, head, 0, head)] if head else []
    if len(inner_old) * len(inner_new) > _MOST_PAIRS:
        codes.append(("replace", head, len(old) - tail, head, len(new) - tail))
    else:
        matcher = SequenceMatcher(None, inner_old, inner_new, autojunk=False)
        codes += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]
    if tail:
        codes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return codes


def _key(word: str) -> str:
    return _EDGE.sub("", word).casefold() or word


def warnings(
    original: str,
    earlier: Sequence[str],
    text: str,
    similarity: float | None,
    *,
    similar: float = SIMILAR,
) -> tuple[str, ...]:
    """What to doubt in a rephrasing, a line each; empty where there is nothing, and for an empty text.

    Args:
        earlier: the attempts before it, in order.
        similarity: cosine with the original; None where it is not known.
        similar: the similarity below which a line says so.
    """
    new = [_key(run.group()) for run in _RUN.finditer(text)]
    if not new:
        return ()
    found = []
    if similarity is not None and similarity < similar:
        found.append(f"similarity {similarity:.2f} is below {similar:.2f}: does it still mean the same?")
    for k, other in enumerate([original, *earlier]):
        old = [_key(run.group()) for run in _RUN.finditer(other)]
        if old == new:
            found.append("the same as " + (f"attempt {k}" if k else "the original"))
        elif k and _alike(old, new):
            found.append(f"nearly the same as attempt {k}")
    words = len(_RUN.findall(original))
    if words >= _FEW and len(new) > LONGER * words:
        found.append(f"much longer than the original: {len(new)} words against {words}")
    if words >= _FEW and len(new) * LONGER < words:
        found.append(f"much shorter than the original: {len(new)} words against {words}")
    return tuple(found)


def _alike(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether at least `ALIKE` of the words of both are common to them, in order."""
    total = len(old) + len(new)
    if 2 * min(len(old), len(new)) < ALIKE * total:
        return False
    shared = sum(i2 - i1 for tag, i1, i2, _, _ in _opcodes(old, new) if tag == "equal")
    return 2 * shared >= ALIKE * total
