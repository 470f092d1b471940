"""Training and calibration: what a resumed run gives, and the arithmetic of the figures."""

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.embedded.base_files import base_files
from emotui.backends.embedded.extraction import (
    CONTEXT,
    WINDOW,
    CueRule,
    Reading,
    clause_runs,
    clauses,
    cue_runs,
    windows,
)
from emotui.backends.embedded.tokens import WordPieces
from emotui.backends.embedded.words import words
from emotui.errors import BadInput
from tools.embedded.calibration import f1_thresholds, fit_probabilities
from tools.embedded.data import Labelled, goemotions, reman, split_off
from tools.embedded.encoder import load_encoder, pooled
from tools.embedded.evaluation import macro_f1
from tools.embedded.labels import train_labels
from tools.embedded.logistic import logistic
from tools.embedded.loop import Schedule, near_in_length


class Stopped(Exception):
    """Stands for whatever breaks a training off."""


def test_a_resumed_training_ends_in_the_same_weights(tmp_path: Path) -> None:
    files = base_files()
    base, pieces = load_encoder(files.model), WordPieces(files.tokenizer)
    examples = [
        Labelled(f"I am {word} today", (number % 2,)) for number, word in enumerate(["glad", "sad", "fine", "low"])
    ]

    def run(folder: Path, resume: bool, stop_after: int | None = None) -> dict[str, torch.Tensor]:
        def progress(_stage: str, done: int, _total: int) -> None:
            if done == stop_after:
                raise Stopped

        schedule = Schedule(epochs=3, warm_up=1, batch=2)
        return train_labels("tiny", base, pieces, examples, 2, schedule, 7, folder, resume, progress)

    whole = run(tmp_path / "whole", resume=False)
    with pytest.raises(Stopped):
        run(tmp_path / "broken", resume=False, stop_after=3)
    resumed = run(tmp_path / "broken", resume=True)
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert any(value.abs().sum() > 0 for name, value in whole.items() if name.endswith(".up"))


def test_a_checkpoint_that_was_cut_is_one_line(tmp_path: Path) -> None:
    files = base_files()
    base, pieces = load_encoder(files.model), WordPieces(files.tokenizer)
    (tmp_path / "tiny.checkpoint").write_bytes(b"PK\x03\x04half")
    with pytest.raises(BadInput, match=r"tiny\.checkpoint cannot be read .*: remove it and resume"):
        train_labels("tiny", base, pieces, [Labelled("glad", (0,))], 2, Schedule(1), 0, tmp_path, True, lambda *_: None)


@given(length=st.integers(0, 2000))
def test_windows_keep_every_piece_once_with_its_context(length: int) -> None:
    kept = []
    for start, end, keep_from, keep_to in windows(length):
        assert end - start <= WINDOW
        assert start <= keep_from <= keep_to <= end
        assert keep_from - start >= min(CONTEXT, keep_from)
        assert end - keep_to >= min(CONTEXT, length - keep_to)
        kept += range(keep_from, keep_to)
    assert kept == list(range(length))


def test_pooling_does_not_see_padding() -> None:
    hidden = torch.tensor([[[1.0, -2.0], [3.0, -4.0], [99.0, 99.0]]])
    present = torch.tensor([[True, True, False]])
    assert pooled(hidden, present).tolist() == [[2.0, -3.0, 3.0, -2.0]]


def test_every_text_is_in_one_batch_of_an_epoch() -> None:
    batches = near_in_length([random.Random(1).randrange(60) for _ in range(333)], 8, random.Random(0))
    assert sorted(itertools.chain(*batches)) == list(range(333))


def test_words_are_freed_of_punctuation_and_keep_their_marks() -> None:
    text = 'Hello, wo\u0301rld—it\'s "great"... 👩‍👩‍👧!! foo--bar and/or'
    found = [text[start:end] for start, end in words(text)]
    assert found == ["Hello", "wo\u0301rld", "it's", "great", "👩‍👩‍👧", "foo", "bar", "and", "or"]


def test_a_clause_ends_at_punctuation_and_before_a_word_that_opens_one() -> None:
    text = "I cried, and she laughed because it rained. We left."
    places = words(text)
    found = [text[places[clause.first][0] : places[clause.last][1]] for clause in clauses(text, places)]
    assert found == ["I cried", "and she laughed", "because it rained", "We left"]


def test_likely_clauses_are_joined_unless_punctuation_stands_between() -> None:
    text = "I cried, and she laughed because it rained. We left."
    parts = clauses(text, words(text))
    assert [(a, b) for a, b, _ in clause_runs(parts, [0.9, 0.9, 0.7, 0.1], 0.5)] == [(0, 1), (2, 7)]
    assert clause_runs(parts, [0.1, 0.9, 0.7, 0.1], 0.5)[0][2] == pytest.approx(0.8)


def test_a_cue_is_a_run_above_low_that_reaches_high_within_one_sentence() -> None:
    text = "so very glad. Sad now"
    places = words(text)
    reading = Reading(text, places, [[number] for number in range(len(places))], list(range(len(places))))
    inside = [0.4, 0.6, 0.9, 0.8, 0.4]
    table = np.array([[p, 0.0] for p in inside], np.float32)
    assert [(a, b) for a, b, _ in cue_runs(reading, table, CueRule(0.5, 0.7, 2.0))] == [(1, 2), (3, 3)]
    assert [(a, b) for a, b, _ in cue_runs(reading, table, CueRule(0.5, 0.85, 2.0))] == [(1, 2)]
    table[2, 1] = 0.9
    assert [(a, b) for a, b, _ in cue_runs(reading, table, CueRule(0.5, 0.5, 0.8))] == [(1, 1), (2, 2), (3, 3)]


def test_calibration_finds_the_temperature_that_made_the_labels() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (4000, 3))
    gold = (rng.random(logits.shape) < 1 / (1 + np.exp(-(0.5 * logits - 1)))).astype(float)
    slope, shifts = fit_probabilities(logits, gold, shift_cost=0.0, top_weight=0.0)
    assert slope == pytest.approx(0.5, abs=0.03)
    assert shifts == pytest.approx([-1, -1, -1], abs=0.15)


def test_the_threshold_has_the_best_f1_of_all() -> None:
    rng = np.random.default_rng(1)
    p = rng.random((60, 1))
    gold = (rng.random((60, 1)) < p).astype(float)

    def f1(threshold: float) -> float:
        return macro_f1((p >= threshold).astype(float), gold)

    assert f1(f1_thresholds(p, p, gold, trust=1.0)[0]) == max(f1(threshold) for threshold in p[:, 0])


def test_macro_f1_counts_a_label_that_is_never_there_as_zero() -> None:
    assert macro_f1(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])) == pytest.approx(1 / 3)


def test_the_logistic_head_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(2)
    features = rng.normal(3, 2, (200, 4))
    gold = (features[:, 0] - features[:, 1] + rng.normal(0, 1, 200) > 0).astype(float)
    weights, bias = logistic(features, gold, penalty=2.0)
    scaler = StandardScaler().fit(features)
    reference = LogisticRegression(C=0.5, tol=1e-8).fit(scaler.transform(features), gold)
    wanted = reference.decision_function(scaler.transform(features))
    assert np.allclose(features @ weights + bias, wanted, atol=1e-2)


def test_what_is_held_out_is_never_trained_on() -> None:
    kept, held = split_off(list(range(100)), 0.3, 5)
    assert (len(kept), len(held)) == (70, 30)
    assert sorted(kept + held) == list(range(100))
    assert (kept, held) == split_off(list(range(100)), 0.3, 5)


def test_missing_and_malformed_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"reman_spans\.jsonl: no such file: --data names"):
        reman(tmp_path)
    (tmp_path / "goemotions").mkdir()
    (tmp_path / "goemotions" / "dev.tsv").write_text("fine\t3\tid1\nno tabs here\n")
    with pytest.raises(BadInput, match=r"dev\.tsv:2: not TEXT"):
        goemotions(tmp_path, "dev")
    (tmp_path / "goemotions" / "dev.tsv").write_text("fine\t3,28\tid1\n")
    with pytest.raises(BadInput, match=r"dev\.tsv:1: a label that is not one of 0 to 27"):
        goemotions(tmp_path, "dev")
    (tmp_path / "goemotions" / "dev.tsv").write_bytes(b"fine\t3\tid1\n\xff\t3\tid2\n")
    with pytest.raises(BadInput, match=r"dev\.tsv:2: not UTF-8"):
        goemotions(tmp_path, "dev")
    (tmp_path / "reman").mkdir()
    outside = {"text": "fine", "emotion_spans": [{"start": 2, "end": 9}], "book_title": "x"}
    (tmp_path / "reman" / "reman_spans.jsonl").write_text(json.dumps(outside) + "\n")
    with pytest.raises(BadInput, match=r"reman_spans\.jsonl:1: a span that does not lie in the text"):
        reman(tmp_path)
