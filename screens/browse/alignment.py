"""Which gold span met which predicted one, in rows: what the score of a sample is made of."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from emotui.metrics.span_report import SampleDetail

_WORDS = {
    "H": "not in the text",
    "F": "only the keyword",
    "N": "neutral sentence",
    "M": "missed",
    "X": "extra",
    "L": "wrong label",
}


Labels = tuple[str | None, str | None]
"""Of a gold and a predicted span; None where there is no span, or it has no label."""


class Near(msgspec.Struct, frozen=True):
    """The passage of the text that comes nearest to a hallucinated span, and their token F1."""

    text: str
    f1: float


class Row(msgspec.Struct, frozen=True):
    """One line: a gold span, the predicted span that it was matched with, their figures, and what went wrong.

    `scored` is false where there is no pair, so that figures stay empty instead of undefined. `near`: of a
    hallucinated span; None where nothing in the text is near. `labels`: the gold span's and the predicted one's;
    `strength`: what the predicted one's source gave it.
    """

    gold: str | None
    predicted: str | None
    f1: float | None
    sim: float | None
    marks: str
    words: str
    scored: bool
    near: Near | None = None
    labels: Labels = (None, None)
    strength: float | None = None


def rows(
    detail: "SampleDetail",
    near: Mapping[int, Near | None] = MappingProxyType({}),
    gold_labels: Sequence[str | None] = (),
    said_labels: Sequence[str | None] = (),
    strengths: Sequence[float | None] = (),
) -> list[Row]:
    """Matched pairs in the order of the gold spans, then missed gold spans, then predicted spans without a partner.

    Args:
        near: by the place of a predicted span.
        gold_labels, said_labels, strengths: one a span, where there are any.
    """
    theirs = gold_labels or [None] * len(detail.gold)
    ours = said_labels or [None] * len(detail.predicted)
    given = strengths or [None] * len(detail.predicted)
    paired_gold = {pair.gold for pair in detail.pairs}
    paired_predicted = {pair.predicted for pair in detail.pairs}
    found = []
    for pair in sorted(detail.pairs, key=lambda pair: pair.gold):
        labels = theirs[pair.gold], ours[pair.predicted]
        marks = _predicted_marks(detail, pair.predicted) + ("M" if pair.gold in detail.missed else "")
        if pair.f1 and None not in labels and labels[0] != labels[1]:
            marks += "L"
        gold, predicted = detail.gold[pair.gold], detail.predicted[pair.predicted]
        words, strength = _say(marks), given[pair.predicted]
        found.append(
            Row(gold, predicted, pair.f1, pair.sim, marks, words, True, near.get(pair.predicted), labels, strength)
        )
    for index, text in enumerate(detail.gold):
        if index not in paired_gold:
            found.append(Row(text, None, None, None, "M", _say("M"), False, labels=(theirs[index], None)))
    for index, text in enumerate(detail.predicted):
        if index not in paired_predicted:
            marks = _predicted_marks(detail, index)
            labels = None, ours[index]
            words = _say(marks)
            found.append(Row(None, text, None, None, marks, words, False, near.get(index), labels, given[index]))
    return found


def alone(texts: Iterable[tuple[str, str | None]], *, gold: bool) -> list[Row]:
    """Spans with their labels that there is nothing to align with."""
    return [
        Row(text, None, None, None, "", "", False, labels=(label, None))
        if gold
        else Row(None, text, None, None, "", "", False, labels=(None, label))
        for text, label in texts
    ]


def _predicted_marks(detail: "SampleDetail", index: int) -> str:
    by_mark = {
        "H": detail.hallucinated,
        "F": detail.fixated,
        "N": detail.neutral_hits,
        "X": detail.extra,
    }
    return "".join(mark for mark, members in by_mark.items() if index in members)


def _say(marks: str) -> str:
    return ", ".join(_WORDS[mark] for mark in sharp(marks))


def sharp(marks: str) -> str:
    """The marks without X where a sharper one says why the span is extra: not in the text, or in a neutral sentence."""
    return marks.replace("X", "") if "H" in marks or "N" in marks else marks
