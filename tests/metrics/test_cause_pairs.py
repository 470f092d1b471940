"""Pairs of emotions and causes: figures worked by hand, and against a matrix a way as the task describes them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.cause_pairs import CausePair, cause_pair_report, words_of
from tests.conftest import Emotui

TURNS = ("I got the job yesterday", "Wow that is great news", "I hate it .")


def _conversation(*pairs: Sequence[str], key: int = 1, turns: bool = True) -> dict[str, Any]:
    utterances = [
        {"utterance_ID": n, "text": text, "speaker": "A", "emotion": "joy"} for n, text in enumerate(TURNS, 1)
    ]
    held = {"conversation": utterances} if turns else {}
    return {"conversation_ID": key, **held, "emotion-cause_pairs": list(pairs)}


GOLD = _conversation(["1_joy", "1_I got the job"], ["2_joy", "1_got the job"], ["3_anger", "3_hate it ."])
PREDICTED = (["1_joy", "1_0_4"], ["2_joy", "1_3_5"], ["3_sadness", "3_1_3"], ["2_joy", "2_0_5"])


def _write(path: Path, *conversations: object) -> Path:
    path.write_text(json.dumps(conversations), encoding="utf-8")
    return path


@pytest.mark.parametrize("turns", [True, False])
def test_figures_worked_by_hand(emotui: Emotui, tmp_path: Path, turns: bool) -> None:
    gold, pred = _write(tmp_path / "g.json", GOLD), _write(tmp_path / "p.json", _conversation(*PREDICTED, turns=turns))
    got = emotui("score", "pairs", "--gold", gold, "--pred", pred, "--json").document
    assert (got["n"], got["gold"], got["predicted"]) == (1, 3, 4)

    def figures(way: str) -> list[float]:
        return [got[way][name] for name in ("precision", "recall", "f1", "weighted_f1")]

    # One of four is gold's; joy has F1 2/5 with two of gold's three pairs.
    assert figures("strict") == pytest.approx([1 / 4, 1 / 3, 2 / 7, 2 / 3 * 2 / 5])
    # Shared words: all four of "I got the job", and "job"; given 4 + 2 + 2 + 5, there 4 + 3 + 2.
    assert figures("proportional") == pytest.approx([5 / 13, 5 / 9, 10 / 22, 2 / 3 * 10 / 18])
    assert figures("turns") == pytest.approx([2 / 4, 2 / 3, 4 / 7, 2 / 3 * 4 / 5])
    assert got["turns"]["by_emotion"]["anger"] == {"n": 1, "precision": None, "recall": 0, "f1": 0}
    assert "weighted_f1" in emotui("score", "pairs", "--gold", gold, "--pred", pred).out


def test_causes_that_are_turns_are_compared_as_turns_and_gold_is_right_about_itself(
    emotui: Emotui, tmp_path: Path
) -> None:
    gold = _write(tmp_path / "g.json", GOLD, _conversation(["1_fear", "2_great news"], key=2))
    pred = _write(tmp_path / "p.json", _conversation(["1_joy", "1"], ["2_joy", "1"], ["3_anger", "3"]))
    done = emotui("score", "pairs", "--gold", gold, "--pred", pred)
    assert done.status == 2
    assert "no prediction for 1 of 2 conversations (2)" in done.err
    got = emotui("score", "pairs", "--gold", gold, "--pred", pred, "--missing", "skip", "--json").document
    assert (got["turns"]["f1"], got["missing"], "strict" in got) == (1, 1, False)
    assert "turns without words" in got["notes"]["strict"]
    got = emotui("score", "pairs", "--gold", gold, "--pred", gold, "--json").document
    assert [got[way]["weighted_f1"] for way in ("strict", "proportional", "turns")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (["9_joy", "1_0_2"], "names no emotion, or no turn"),
        (["1", "1_0_2"], "names no emotion, or no turn"),
        (["1_joy", "1_4_9"], "do not stand in its turn"),
        (["1_joy", "1_a dog"], "do not stand in its turn"),
    ],
)
def test_a_pair_that_cannot_be_is_bad_input(emotui: Emotui, tmp_path: Path, pair: list[str], why: str) -> None:
    gold, pred = _write(tmp_path / "g.json", GOLD), _write(tmp_path / "p.json", _conversation(pair))
    done = emotui("score", "pairs", "--gold", gold, "--pred", pred)
    assert done.status == 2
    assert why in done.err


def test_words_of_a_cause_stand_at_whole_words_first() -> None:
    assert words_of("up", "made up! up now") == (2, 3)
    assert words_of("made up!", "you made up! yes") == (1, 3)
    assert words_of("(that", "not that way") == (1, 2)
    assert words_of("no dog", "a cat") is None


_WORDS = st.tuples(st.integers(0, 5), st.integers(1, 4)).map(lambda one: (one[0], one[0] + one[1]))
_PAIR = st.builds(
    CausePair, st.sampled_from("12"), st.sampled_from(["joy", "fear", "neutral"]), st.sampled_from("12"), _WORDS
)
_PAIRS = st.dictionaries(st.sampled_from("ab"), st.lists(_PAIR, max_size=6, unique=True))


def _matrix(rows: np.ndarray[Any, Any]) -> tuple[float, float, float, float]:
    """Rows of joy and fear: right, given, there, pairs of gold; what the task makes of these."""

    def f(right: float, given: float, there: float) -> float:
        p, r = right / given if given else 0.0, right / there if there else 0.0
        return 2 * p * r / (p + r) if p + r else 0.0

    right, given, there, pairs = rows.sum(axis=0)
    weighted = sum(f(*row[:3]) * row[3] / pairs for row in rows)
    return (right / given if given else 0.0), (right / there if there else 0.0), f(right, given, there), weighted


@given(_PAIRS, _PAIRS)
def test_the_figures_are_those_of_the_task(
    gold: dict[str, list[CausePair]], predicted: dict[str, list[CausePair]]
) -> None:
    predicted = {key: pairs for key, pairs in predicted.items() if key in gold}
    got = cause_pair_report(gold, predicted)
    strict, shared = np.zeros((2, 4)), np.zeros((2, 4))
    for at, emotion in enumerate(("joy", "fear")):
        for key, every in gold.items():
            there = [one for one in every if one.emotion == emotion]
            given = [one for one in predicted.get(key, ()) if one.emotion == emotion]
            strict[at] += len(set(there) & set(given)), len(given), len(there), len(there)
            shared[at, 3] += len(there)
            matched = set()
            for one in given:
                assert one.place is not None
                own = set(range(*one.place))
                shared[at, 1] += len(own)
                near = [
                    (
                        len(own & set(range(*other.place))) / len(set(range(*other.place))),
                        len(own & set(range(*other.place))),
                        -n,
                    )
                    for n, other in enumerate(there)
                    if other.place is not None and other[:3] == one[:3]
                ]
                best = max(near, default=(0, 0, 0))
                if best[1]:
                    matched.add(-best[2])
                    place = there[-best[2]].place
                    assert place is not None
                    shared[at, 0] += best[1]
                    shared[at, 2] += place[1] - place[0]
            for n, other in enumerate(there):
                assert other.place is not None
                if n not in matched:
                    shared[at, 2] += other.place[1] - other.place[0]
    for way, rows in (("strict", strict), ("proportional", shared)):
        found = [got[way][name] for name in ("precision", "recall", "f1", "weighted_f1")]
        assert found == (pytest.approx(_matrix(rows)) if rows[:, 3].sum() else [None] * 4)
