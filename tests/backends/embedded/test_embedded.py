"""The embedded model: the right base, exact arithmetic, honest offsets, and what it refuses."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.backends import embedded, stopping
from emotui.backends.base import (
    Attribute,
    Classification,
    Classify,
    Embed,
    Extract,
    Filled,
    FillMask,
    Generate,
    Message,
    Refused,
    Score,
    Scores,
)
from emotui.backends.embedded import backend as embedded_backend
from emotui.backends.embedded import base_files, weights
from emotui.backends.embedded.backend import EKMAN, GOEMOTIONS, LABEL_SETS, EmbeddedBackend, grouped
from emotui.backends.embedded.inference import label_logits, sigmoid
from emotui.backends.embedded.tokens import END, MASK, START
from emotui.backends.embedded.words import words
from emotui.errors import ModelError
from emotui.records import PLUTCHIK

TEXTS = (
    "I'm so happy that you came!",
    "He slammed the door, and I was afraid to breathe.",
    "The bus was late.",
    "Thank you. Honestly, I never expected anyone to remember, and it made my week.",
)
AWKWARD = (
    "",
    "   \n\t ",
    "...!?",
    "😭😭 I can't 👩‍👩‍👧 believe it ❤️",
    "cafe\u0301 cre\u0301me bru\u0302le\u0301e: I love it",
    "אני כל כך שמח היום, but she was sad.",
    "\u202eI hate this\u202c and I \x1b[31mmean\x1b[0m it [red]really[/]",
    "[MASK] [SEP] I am scared [CLS]",
    "a\u200bb \u200b \ufeff",
    "x" * 500 + " I was terrified",
    "我很高兴，今天天气很好。",
)


@pytest.fixture(scope="module")
def backend() -> EmbeddedBackend:
    return embedded.load("", {}, lambda _: None)


def probs_of(result: Classification | Refused) -> np.ndarray:
    assert isinstance(result, Classification)
    return np.array(list(result.probs.values()))


def test_a_base_model_of_another_hash_is_refused_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "model.safetensors"
    other.write_bytes(b"not the original")
    monkeypatch.setattr(base_files, "files_at_hand", lambda: base_files.BaseFiles(other, other))
    with pytest.raises(ModelError, match=r"not the original all-MiniLM-L6-v2 .* so it is not loaded") as caught:
        embedded.load("", {}, lambda _: None)
    assert "\n" not in str(caught.value)


def test_the_encoder_computes_what_transformers_computes(backend: EmbeddedBackend) -> None:
    from transformers import BertModel

    folder = base_files.base_files().model.parent
    reference = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids = np.array([[101, 2023, 2003, 2307, 102, 0, 0], [101, 1045, 2572, 2061, 6517, 2651, 102]])
    present = ids != 0
    with torch.inference_mode():
        wanted = reference(torch.tensor(ids), attention_mask=torch.tensor(present).long()).last_hidden_state.numpy()
    found = backend.weights.base(ids, np.array([5, 7], np.int32))
    assert np.allclose(found[present], wanted[present], atol=2e-5)


@pytest.mark.slow
def test_embeddings_are_those_of_sentence_transformers(backend: EmbeddedBackend) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base_files.base_files().model.parent), device="cpu")
    long = " ".join(TEXTS) * 20
    wanted = model.encode([*TEXTS, "", long], normalize_embeddings=True)
    found = backend.embed([Embed(text) for text in [*TEXTS, "", long]])
    assert np.abs(found - wanted).max() < 1e-5


def test_an_embedding_has_length_one(backend: EmbeddedBackend) -> None:
    lengths = np.linalg.norm(backend.embed([Embed(text) for text in (*TEXTS, *AWKWARD)]), axis=1)
    assert np.allclose(lengths, 1, atol=1e-5)


def test_what_stands_beside_a_text_in_its_batch_changes_nothing(backend: EmbeddedBackend) -> None:
    together = backend.classify([Classify(text) for text in TEXTS + AWKWARD])
    for text, result in zip(TEXTS + AWKWARD, together, strict=True):
        alone = probs_of(backend.classify([Classify(text)])[0])
        assert np.abs(alone - probs_of(result)).max() < 1e-5, text


def test_the_same_question_twice_has_the_same_answer_bit_for_bit(backend: EmbeddedBackend) -> None:
    requests = [Classify(text) for text in TEXTS]
    assert backend.classify(requests) == backend.classify(requests)
    assert backend.extract([Extract(text) for text in TEXTS]) == backend.extract([Extract(text) for text in TEXTS])


def test_plain_feelings_are_named(backend: EmbeddedBackend) -> None:
    texts = ("I am so sad, I cried all night.", "Thank you so much!", "This makes me so angry!", "I'm scared.")
    labels = [result.label for result in backend.classify([Classify(text) for text in texts])]  # type: ignore[union-attr]
    assert labels == ["sadness", "gratitude", "anger", "fear"]


@pytest.mark.parametrize("name", ["goemotions", "ekman", "plutchik"])
def test_the_label_is_the_most_probable_of_its_set(backend: EmbeddedBackend, name: str) -> None:
    for result in backend.classify([Classify(text, label_set=name) for text in TEXTS]):
        assert isinstance(result, Classification)
        assert list(result.probs) == list(LABEL_SETS[name])
        assert result.probs[result.label] == max(result.probs.values())
        assert all(0 <= p <= 1 for p in result.probs.values())


@pytest.mark.parametrize("name", ["ekman", "plutchik"])
def test_every_label_stands_in_exactly_one_group(name: str) -> None:
    members = [label for group in LABEL_SETS[name].values() for label in group]
    assert sorted(members) == sorted(GOEMOTIONS)


def test_a_group_holds_where_one_of_its_labels_holds() -> None:
    probs = dict.fromkeys(GOEMOTIONS, 0.0) | {"anger": 0.5, "annoyance": 0.5, "disgust": 0.25}
    found = grouped(probs, "ekman")
    assert found["anger"] == 0.75
    assert found["disgust"] == 0.25
    assert set(found) == set(EKMAN)


def test_a_long_text_says_that_it_was_cut(backend: EmbeddedBackend) -> None:
    short, long = backend.classify([Classify("good"), Classify("good " * 400)])
    assert isinstance(short, Classification)
    assert isinstance(long, Classification)
    assert (short.truncated, long.truncated) == (False, True)


def test_unknown_labels_are_refused_and_the_others_of_the_batch_answered(backend: EmbeddedBackend) -> None:
    answers = backend.classify([Classify("Oh.", labels=("hungry",)), Classify("Oh.", labels=("joy", "grief"))])
    assert isinstance(answers[0], Refused)
    assert isinstance(answers[1], Classification)
    assert list(answers[1].probs) == ["joy", "grief"]
    (scored,) = backend.score([Score("Oh.", ("joy", "hungry"))])
    assert isinstance(scored, Refused)
    assert "hungry" in scored.why


def test_scores_are_log_probabilities_and_yes_wins_from_the_threshold_on(backend: EmbeddedBackend) -> None:
    thresholds = backend.weights.calibration["plutchik"]["thresholds"]
    for text, scores in zip(TEXTS, backend.score([Score(text, PLUTCHIK) for text in TEXTS]), strict=True):
        assert isinstance(scores, Scores)
        p = sigmoid(backend.weights.plutchik_logits(backend.weights.pieces.ids([text], 256)))[0].tolist()
        for yes, no, probability, threshold in zip(scores.yes, scores.no, p, thresholds, strict=True):
            assert math.isclose(math.exp(yes) + math.exp(no), 1, rel_tol=1e-9)
            assert (yes > no) == (probability > threshold)
        assert scores.mass == (1.0,) * 8


def test_free_text_is_refused_in_one_sentence_that_names_the_kinds_that_can(backend: EmbeddedBackend) -> None:
    (refused,) = backend.generate([Generate((Message("user", "Write a poem."),))])
    for kind in ("hf:", "gguf:", "openai:"):
        assert kind in refused.why
    assert "generate" not in backend.card.capabilities


def assert_honest_spans(backend: EmbeddedBackend, text: str) -> None:
    (spans,) = backend.extract([Extract(text)])
    starts, ends = {start for start, _ in words(text)}, {end for _, end in words(text)}
    last = 0
    for span in spans:
        assert last <= span.start < span.end <= len(text)
        assert span.start in starts
        assert span.end in ends
        assert 0 <= span.strength <= 1
        assert span.label in GOEMOTIONS
        assert span.label != "neutral"
        last = span.end


@pytest.mark.parametrize("text", [*TEXTS, *AWKWARD])
@pytest.mark.parametrize("way", ["cues", "clauses"])
def test_spans_lie_on_word_edges_in_order(backend: EmbeddedBackend, text: str, way: str) -> None:
    assert_honest_spans(EmbeddedBackend(backend.weights, way), text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60), way=st.sampled_from(["cues", "clauses", "auto"]))
def test_any_text_gives_honest_spans(backend: EmbeddedBackend, text: str, way: str) -> None:
    assert_honest_spans(EmbeddedBackend(backend.weights, way), text)


def test_evidence_late_in_a_long_text_is_found_at_its_place(backend: EmbeddedBackend) -> None:
    filler = "The clerk put the file back on the second shelf. "  # 11 tokens; a window has 256
    text = filler * 26 + "I was so terrified that I screamed. " + filler * 4
    place = text.index("terrified")
    for way in ("cues", "clauses"):
        (spans,) = EmbeddedBackend(backend.weights, way).extract([Extract(text)])
        assert any(span.start <= place < span.end for span in spans), way


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_text_of_a_megabyte_is_read_to_its_end(backend: EmbeddedBackend) -> None:
    text = "The clerk put the file back on the second shelf. " * 21_000 + "I was so terrified that I screamed."
    assert len(text) > 1_000_000
    (spans,) = backend.extract([Extract(text)])
    assert spans[-1].end > len(text) - 30
    assert isinstance(backend.classify([Classify(text)])[0], Classification)


def test_a_control_token_in_a_text_is_plain_letters(backend: EmbeddedBackend) -> None:
    (row,) = backend.weights.pieces.ids(["[MASK] [SEP]"], 256)
    assert row.count(103) == 0
    assert row.count(102) == 1


def test_an_attribution_is_the_drop_of_the_logit_without_the_word(backend: EmbeddedBackend) -> None:
    text = "I was happy, then sad."
    (result,) = backend.attribute([Attribute(text, "sadness")])
    assert not isinstance(result, Refused)
    assert [text[start:end] for start, end, _ in result.words] == ["I", "was", "happy", "then", "sad"]

    def logit(written: str) -> float:
        p = backend.classify([Classify(written)])[0].probs["sadness"]  # type: ignore[union-attr]
        return math.log(p / (1 - p))

    for start, end, drop in result.words:
        assert math.isclose(drop, logit(text) - logit(text[:start] + text[end:]), abs_tol=1e-4)
    assert max(result.words, key=lambda word: word[2])[:2] == (18, 21)


def test_an_attribution_without_a_label_explains_the_predicted_one(backend: EmbeddedBackend) -> None:
    (result,) = backend.attribute([Attribute("Thank you so much!")])
    assert not isinstance(result, Refused)
    assert result.label == "gratitude"
    assert isinstance(backend.attribute([Attribute("Oh.", "hungry")])[0], Refused)


def test_each_mask_gets_its_candidates_with_probabilities_that_sum_to_one(backend: EmbeddedBackend) -> None:
    candidates = ("happy", "furious", "heart-broken", "scared")
    (filled,) = backend.fill_mask([FillMask("I was <mask> and then <mask>.", candidates)])
    assert isinstance(filled, Filled)
    assert len(filled.masks) == 2
    for ranked in filled.masks:
        assert {word for word, _ in ranked} == set(candidates)
        assert math.isclose(sum(p for _, p in ranked), 1, abs_tol=1e-5)
        assert [p for _, p in ranked] == sorted((p for _, p in ranked), reverse=True)
    assert isinstance(backend.fill_mask([FillMask("No mask here.")])[0], Refused)


def test_every_mask_of_a_long_text_is_filled_and_what_is_far_from_it_does_not_matter(backend: EmbeddedBackend) -> None:
    candidates, filler = ("happy", "sad"), "word " * 400
    near, far = "We won the cup, I am so <mask>!", "My dog died last night and I feel so <mask>."
    other = "They lost the match, which made her <mask>."
    one, two = backend.fill_mask([FillMask(f"{near} {filler}{last}", candidates) for last in (far, other)])
    assert isinstance(one, Filled)
    assert isinstance(two, Filled)
    assert len(one.masks) == len(two.masks) == 2
    assert dict(one.masks[0]) == pytest.approx(dict(two.masks[0]), abs=1e-6)
    assert dict(one.masks[1]) != pytest.approx(dict(two.masks[1]), abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 600), st.integers(0, 600), st.integers(0, 600))
def test_a_window_holds_its_mask_and_as_much_text_as_can_be_read(
    backend: EmbeddedBackend, before: int, between: int, after: int
) -> None:
    text = "a " * before + "<mask>" + " b" * between + " <mask>" + " c" * after
    length, windows = before + between + after + 2, embedded_backend.mask_windows(backend.weights, text)
    assert sum(len(places) for _, places in windows) == 2
    for ids, places in windows:
        assert len(ids) == min(length, embedded_backend.LONGEST - 2) + 2
        assert [ids[place] for place in places] == [MASK] * len(places)


def test_a_mask_is_filled_by_what_its_text_says(backend: EmbeddedBackend) -> None:
    pair = ("happy", "sad")
    texts = ("We won the cup, I am so <mask>!", "My dog died last night and I feel so <mask>.")
    best = [filled.masks[0][0][0] for filled in backend.fill_mask([FillMask(text, pair) for text in texts])]  # type: ignore[union-attr]
    assert best == ["happy", "sad"]


def test_an_empty_batch_has_an_empty_answer(backend: EmbeddedBackend) -> None:
    assert backend.classify([]) == []
    assert backend.score([]) == []
    assert backend.extract([]) == []
    assert backend.fill_mask([]) == []
    assert backend.attribute([]) == []
    assert backend.embed([]).shape == (0, 384)


def test_the_committed_weights_stay_under_six_megabytes(backend: EmbeddedBackend) -> None:
    sizes = [path.stat().st_size for path in backend.weights.folder.glob("*.safetensors")]
    assert len(sizes) == 8
    assert sum(sizes) < 6_000_000


def test_a_way_of_marking_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModelError, match="auto, cues, clauses"):
        embedded.load("", {"spans": "lines"}, lambda _: None)


def test_adapters_are_those_that_came_with_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = weights.committed_weights()
    files = [path for path in here.iterdir() if path.name in weights.OWN_SHA256]
    assert len(files) == len(weights.OWN_SHA256) == len([*here.glob("*.safetensors")]) + 1
    for path in files:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(weights, "committed_weights", lambda: tmp_path)
    own = weights.Weights.__new__(weights.Weights)
    own.folder = tmp_path
    assert own.hashes() == weights.OWN_SHA256
    changed = tmp_path / "spans.safetensors"
    whole = changed.read_bytes()
    changed.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(
        ModelError, match=r"spans\.safetensors is not as it came with emotui .* so it is not loaded: pip"
    ):
        own.hashes()
    changed.unlink()
    with pytest.raises(ModelError, match=r"spans\.safetensors is not as it came with emotui \(SHA-256 of no file"):
        own.hashes()
    changed.write_bytes(whole)
    (tmp_path / "more.safetensors").write_bytes(whole)
    with pytest.raises(ModelError, match=r"more\.safetensors is not as it came"):
        own.hashes()


def test_a_cancel_is_seen_within_one_batch_and_the_next_text_is_answered(
    backend: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    checked = stopping.check

    def taken_back_at_the_third() -> None:
        looked.append(1)
        if len(looked) == 3:
            stopping.take_back(2)
        checked()

    new = Classify("A text that was not read before.")
    monkeypatch.setattr(stopping, "check", taken_back_at_the_third)
    stopping.begin(2)
    with pytest.raises(stopping.Stopped):
        backend.classify([new])
    stopping.begin(3)
    (answer,) = backend.classify([new])
    assert np.abs(probs_of(answer) - probs_of(EmbeddedBackend(backend.weights).classify([new])[0])).max() == 0


def test_a_masked_word_is_minilms_mask_token_and_its_name_in_a_text_is_letters(backend: EmbeddedBackend) -> None:
    assert backend.card.mask == "[MASK]"
    text = "I am \ue000 of [MASK], \ue000"
    (before, between, after) = backend.weights.pieces.encode(text.split("\ue000"))
    ids = [START, *before.ids, MASK, *between.ids, MASK, *after.ids, END]
    assert ids.count(MASK) == 2
    (found,) = backend.classify([Classify(text, "goemotions", mask="\ue000")])
    assert isinstance(found, Classification)
    expected = sigmoid(label_logits(backend.weights.goemotions, [ids]).astype(np.float64))[0]
    assert list(found.probs.values()) == pytest.approx(expected.tolist(), abs=1e-6)
    (scores,) = backend.score([Score(text, PLUTCHIK, mask="\ue000")])
    (other,) = backend.score([Score(text, PLUTCHIK)])
    assert isinstance(scores, Scores)
    assert isinstance(other, Scores)
    odds = backend.weights.plutchik_logits([ids])[0].astype(np.float64)
    fitted = np.array(backend.weights.calibration["plutchik"]["thresholds"])
    assert np.subtract(scores.yes, scores.no) == pytest.approx(odds - np.log(fitted / (1 - fitted)), abs=1e-4)
    assert scores != other
