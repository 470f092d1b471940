"""Scenes: how they are cut and averaged, what their head is fitted on, and where yes wins."""

import math
from collections import Counter

import numpy as np
import pytest

from emotui.backends import embedded
from emotui.backends.base import Score, Scores
from emotui.backends.embedded.backend import EmbeddedBackend, scene_embeddings, scene_logits, sentences
from emotui.backends.embedded.inference import sentence_embeddings, sigmoid
from emotui.backends.embedded.tokens import END, MASK, START
from emotui.records import PLUTCHIK
from tools.embedded.scenes import Situation, put_together, situations

SCENE = 'Ada shut the gate. "Who is there?" she asked, and nobody spoke. Her hand shook as she felt for the lamp.'


@pytest.fixture(scope="module")
def backend() -> EmbeddedBackend:
    return embedded.load("", {}, lambda _: None)


def odds(backend: EmbeddedBackend, texts: list[str]) -> np.ndarray:
    answers = backend.score([Score(text, PLUTCHIK) for text in texts])
    return np.array([np.subtract(answer.yes, answer.no) for answer in answers if isinstance(answer, Scores)])


def test_a_text_is_cut_where_sentences_end_and_nothing_is_lost() -> None:
    assert sentences("One. Two!  Three?\n\nFour") == ["One.", "Two!", "Three?", "Four"]
    assert sentences("It cost 3.50 then") == ["It cost 3.50 then"]
    assert sentences("") == [""]
    assert " ".join(sentences(SCENE)) == SCENE


def test_a_scene_is_the_mean_of_its_sentences_averaged_with_the_whole(backend: EmbeddedBackend) -> None:
    base, pieces = backend.weights.base, backend.weights.pieces
    parts = sentences(SCENE)
    alone = sentence_embeddings(base, pieces.ids([SCENE, *parts], 256))
    wanted = (alone[0] + alone[1:].mean(0)) / 2
    found = scene_embeddings(base, pieces, [parts, ["Rain.", "Rain.", "Rain."]])
    assert np.allclose(found[0], wanted, atol=1e-5)
    assert scene_embeddings(base, pieces, []).shape == (0, 384)


def test_logits_are_scaled_and_shifted() -> None:
    head = {"weight": np.array([[1.0, 2.0]], np.float32), "bias": np.array([0.5], np.float32)}
    assert scene_logits(head, {"slope": 2.0, "shifts": [-1.0]}, np.array([[3.0, 4.0]], np.float32)).tolist() == [[22.0]]


def test_yes_wins_from_the_threshold_on_and_lines_do_not_change_scenes(backend: EmbeddedBackend) -> None:
    weights, fitted = backend.weights, backend.weights.calibration["scenes"]
    embedded_scene = scene_embeddings(weights.base, weights.pieces, [sentences(SCENE)])
    probabilities = sigmoid(scene_logits(weights.scenes, fitted, embedded_scene))[0].tolist()
    line, scene, other = odds(backend, ["I am glad.", SCENE, "It rained. It rained. It rained again."])
    for value, probability, threshold in zip(scene, probabilities, fitted["thresholds"], strict=True):
        assert math.isclose(
            value, math.log(probability / (1 - probability) * (1 - threshold) / threshold), abs_tol=1e-4
        )
    assert np.allclose(odds(backend, [SCENE])[0], scene, atol=1e-5)
    assert np.allclose(odds(backend, ["I am glad."])[0], line, atol=1e-5)
    assert scene[PLUTCHIK.index("fear")] > other[PLUTCHIK.index("fear")]


def test_every_setting_has_each_emotion_once_and_no_text_stands_twice() -> None:
    given = situations()
    settings = Counter(situation.setting for situation in given)
    assert set(settings.values()) == {9}
    assert {(situation.setting, situation.emotion) for situation in given} == {
        (setting, emotion) for setting in settings for emotion in (*PLUTCHIK, None)
    }
    assert len({situation.text for situation in given}) == len(given)


def test_a_scene_put_together_has_one_or_two_sentences_an_emotion_and_the_rest_without() -> None:
    given = [Situation("s", emotion, f"{emotion} {n}") for emotion in (*PLUTCHIK, None) for n in range(9)]
    scenes = put_together(given, 50, seed=3)
    assert scenes == put_together(given, 50, seed=3)
    for scene in scenes:
        counts = Counter(situation.emotion for situation in scene)
        felt = [count for emotion, count in counts.items() if emotion is not None]
        assert len(felt) <= 3
        assert set(felt) <= {1, 2}
        assert len(set(scene)) == len(scene)
        assert 4 <= len(scene) <= 7


def test_masks_stand_in_the_whole_scene_and_in_each_of_its_sentences(backend: EmbeddedBackend) -> None:
    base, pieces, fitted = backend.weights.base, backend.weights.pieces, backend.weights.calibration["scenes"]
    told = ["Ada shut the gate.", "Nobody \ue000.", "Her hand \ue000 as she felt for it."]

    def ids(text: str) -> list[int]:
        first, *others = pieces.encode(text.split("\ue000"))
        return [START, *first.ids, *(one for part in others for one in (MASK, *part.ids)), END]

    rows = sentence_embeddings(base, [ids(" ".join(told)), *map(ids, told)])
    logits = scene_logits(backend.weights.scenes, fitted, ((rows[0] + rows[1:].mean(0)) / 2)[None])[0]
    thresholds = np.array(fitted["thresholds"])
    # A single line stands before it, so that masks have to be dealt to the right texts.
    _, found = backend.score([Score("I am glad.", PLUTCHIK), Score(" ".join(told), PLUTCHIK, mask="\ue000")])
    assert isinstance(found, Scores)
    assert np.subtract(found.yes, found.no) == pytest.approx(logits - np.log(thresholds / (1 - thresholds)), abs=1e-4)
