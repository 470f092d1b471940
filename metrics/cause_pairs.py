"""Pairs of an emotion and what caused it, over the turns of conversations: F1 as SemEval-2024 task 3 counts it.

Wang, Ma, Xia, Yu and Cambria 2024, *SemEval-2024 Task 3: Multimodal Emotion Cause Analysis in Conversations*, and the
task's own program. Places are words: what white space divides.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from string import punctuation
from typing import Any, NamedTuple

import numpy as np

from emotui.metrics.resampling import RESAMPLES, Interval, convention
from emotui.metrics.states import Floats
from emotui.metrics.sums import SHARE, Statistic, SumFigure, intervals_within

NEUTRAL = "neutral"
"""No emotion: pairs of it do not count."""

Place = tuple[int, int]
"""(first word, behind the last one), from 0."""


class CausePair(NamedTuple):
    """An emotion of a turn, and the turn that caused it. `place`: the words of the cause there; None: the turn."""

    effect: str
    emotion: str
    cause: str
    place: Place | None = None


def words_of(cause: str, text: str) -> Place | None:
    """Where the words of a cause stand in its turn: the first place, signs at both ends of the cause left out.

    Where they are no whole words there (`up` in `up!`), the words that they are part of. None: they are not there.
    """
    cause = cause.strip().strip(punctuation + " ") or cause.strip()
    wanted, there = cause.split(), text.split()
    n = len(wanted)
    for start in range(len(there) - n + 1):
        if there[start : start + n] == wanted:
            return start, start + n
    at = " ".join(there).find(" ".join(wanted))
    if at < 0 or not wanted:
        return None
    first = " ".join(there)[:at].count(" ")
    return first, first + n


# Of each conversation and emotion: what is right, what is given, what there is, and how many pairs of gold.

_Counts = dict[str, list[float]]


def _strict(gold: Sequence[CausePair], predicted: Sequence[CausePair]) -> _Counts:
    """A pair is right where gold has the very same."""
    found = _weights(gold)
    for pair in gold:
        found[pair.emotion][2] += 1
    held = set(gold)
    for pair in predicted:
        row = found.setdefault(pair.emotion, [0.0] * 4)
        row[0] += pair in held
        row[1] += 1
    return found


def _proportional(gold: Sequence[CausePair], predicted: Sequence[CausePair]) -> _Counts:
    """Each predicted span against that of gold, of the same turns and emotion, of which it holds the most, in words.

    Of two as much covered the longer one; a span of gold that several match counts its words for each of them.
    """
    found = _weights(gold)
    left = list(gold)
    for pair in predicted:
        row = found.setdefault(pair.emotion, [0.0] * 4)
        start, end = pair.place or (0, 0)
        row[1] += end - start
        best: tuple[float, int, CausePair] | None = None
        for other in gold:
            if other[:3] == pair[:3]:
                first, last = other.place or (0, 0)
                shared = min(end, last) - max(start, first)
                if shared > 0 and (best is None or (shared / (last - first), shared) > best[:2]):
                    best = shared / (last - first), shared, other
        if best is not None:
            row[0] += best[1]
            row[2] += _words(best[2])
            if best[2] in left:
                left.remove(best[2])
    for pair in left:
        found[pair.emotion][2] += _words(pair)
    return found


def _weights(gold: Sequence[CausePair]) -> _Counts:
    found: _Counts = {}
    for pair in gold:
        found.setdefault(pair.emotion, [0.0] * 4)[3] += 1
    return found


def _words(pair: CausePair) -> int:
    start, end = pair.place or (0, 0)
    return end - start


def _turns(pairs: Iterable[CausePair]) -> list[CausePair]:
    """The pairs without their words, each once."""
    return list(dict.fromkeys(pair._replace(place=None) for pair in pairs))


# The report.


def cause_pair_report(
    gold: Mapping[str, Sequence[CausePair]],
    predicted: Mapping[str, Sequence[CausePair]],
    *,
    words: bool = True,
    seed: int = 0,
) -> dict[str, Any]:
    """How far the pairs of conversations are found.

    Args:
        gold, predicted: by conversation its pairs; one of gold that `predicted` lacks has none there.
        words: causes have places in their turn; without, only the turns are compared.

    Returns:
        `n` conversations, `gold` and `predicted` (pairs, each once, `neutral` left out), and by the way of comparing
        `strict` (turns, emotion and words are the same), `proportional` (in shared words) and `turns` (turns and
        emotion are the same, as of the task's second part): `precision`, `recall`, `f1` over all pairs,
        `weighted_f1` (the mean over emotions, by how many pairs of gold each has), `by_emotion`
        `{emotion: {n, precision, recall, f1}}`. With `ci95`, `conventions`. Without words `strict` and `proportional`
        are left out. A figure is 0 where gold has pairs and nothing is right, and None where gold has none.
    """
    keys = list(gold)
    told = [_once(gold[key]) for key in keys]
    given = [_once(predicted.get(key, ())) for key in keys]
    emotions = sorted({pair.emotion for side in (*told, *given) for pair in side})
    ways = {"strict": _strict, "proportional": _proportional} if words else {}
    report: dict[str, Any] = {
        "n": len(keys),
        "gold": sum(map(len, told)),
        "predicted": sum(map(len, given)),
    }
    intervals: dict[str, list[float] | None] = {}
    notes: dict[str, str] = {}
    for name in (*ways, "turns"):
        if name == "turns":
            counts = [_strict(_turns(g), _turns(p)) for g, p in zip(told, given, strict=True)]
        else:
            counts = [ways[name](g, p) for g, p in zip(told, given, strict=True)]
        table = np.array(
            [[value for emotion in emotions for value in one.get(emotion, [0.0] * 4)] for one in counts]
        ).reshape(len(keys), 4 * len(emotions))
        statistics = {"precision": _precision, "recall": _recall, "f1": _f1, "weighted_f1": _weighted}
        there = np.ones(len(keys), dtype=bool)
        figures: dict[str, Any] = {}
        for figure, statistic in statistics.items():
            part = SumFigure(table, _defined(statistic), there, SHARE)
            figures[figure] = part.over(there)
            interval = Interval()
            if figures[figure] is not None:
                (interval,) = intervals_within(part, None, [there], seed=seed)
            known = interval.low is not None and interval.high is not None
            intervals[f"{name}.{figure}"] = [interval.low, interval.high] if known else None  # type: ignore[list-item]
            if interval.note:
                notes[f"ci95.{name}.{figure}"] = interval.note
        sums = table.sum(axis=0).reshape(len(emotions), 4)
        figures["by_emotion"] = {
            emotion: {
                "n": int(row[3]),
                "precision": float(row[0] / row[1]) if row[1] else None,
                "recall": float(row[0] / row[2]) if row[2] else None,
                "f1": float(2 * row[0] / (row[1] + row[2])) if row[3] else None,
            }
            for emotion, row in zip(emotions, sums, strict=True)
        }
        report[name] = figures
    ways_told = {
        "strict": "a pair is right where both turns, the emotion and the words of the cause are gold's",
        "proportional": "words that a predicted cause shares with the one of gold that it covers most of",
        "turns": "a pair is right where both turns and the emotion are gold's, whatever the words",
        "weighted_f1": "mean over emotions, by their pairs in gold; neutral left out",
    }
    report["ci95"] = intervals
    report["conventions"] = {
        name: why for name, why in ways_told.items() if name in report or name == "weighted_f1"
    } | {"ci95": convention(len(keys), "conversations", RESAMPLES, seed)}
    report["notes"] = notes
    return report


def _once(pairs: Collection[CausePair]) -> list[CausePair]:
    return [pair for pair in dict.fromkeys(pairs) if pair.emotion.casefold() != NEUTRAL]


def _sums(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """(m, emotions) each: what is right, given, there, and the pairs of gold."""
    right, given, there, weight = np.moveaxis(sums.reshape(len(sums), -1, 4), 2, 0)
    return right, given, there, weight


def _share(above: Floats, below: Floats) -> Floats:
    """0 where there is nothing below."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _defined(statistic: Statistic) -> Statistic:
    """The same, undefined where gold has no pair."""

    def where_there_is_gold(sums: Floats) -> Floats:
        return np.where(_sums(sums)[3].sum(axis=1) > 0, statistic(sums), np.nan)

    return where_there_is_gold


def _precision(sums: Floats) -> Floats:
    right, given, _, _ = _sums(sums)
    return _share(right.sum(axis=1), given.sum(axis=1))


def _recall(sums: Floats) -> Floats:
    right, _, there, _ = _sums(sums)
    return _share(right.sum(axis=1), there.sum(axis=1))


def _f1(sums: Floats) -> Floats:
    right, given, there, _ = _sums(sums)
    return _share(2 * right.sum(axis=1), (given + there).sum(axis=1))


def _weighted(sums: Floats) -> Floats:
    right, given, there, weight = _sums(sums)
    return _share((_share(2 * right, given + there) * weight).sum(axis=1), weight.sum(axis=1))
