"""The embedded model's states by layer: its last ones are what its heads read, by ONNX Runtime and by NumPy alike."""

import numpy as np
import pytest

from emotui.backends.base import HiddenStates, Refused, States
from emotui.backends.embedded.base_files import base_files
from emotui.backends.embedded.inference import hidden_states, text_states
from emotui.backends.embedded.weights import Weights
from emotui.backends.host import ModelProcess

TEXTS = ["I wept all night.", "Wonderful, thank you!", "unbelievably"]


def states_of(weights: Weights, requests: list[States]) -> list[HiddenStates]:
    found = text_states(weights.goemotions.encoder, weights.pieces, requests, 256)
    return [one for one in found if isinstance(one, HiddenStates)]


def test_the_last_layer_is_what_the_heads_read() -> None:
    weights = Weights(base_files())
    found = states_of(weights, [States(text) for text in TEXTS])
    ids = weights.pieces.ids(TEXTS, 256)
    read = dict(hidden_states(weights.goemotions.encoder, ids))
    for number, one in enumerate(found):
        assert one.layers == (0, 1, 2, 3, 4, 5, 6)
        assert one.array()[6, 0] == pytest.approx(read[number][1:-1].mean(0), abs=2e-3)


def test_both_engines_agree_at_every_layer() -> None:
    requests = [States(text, over="words") for text in TEXTS]
    one, other = (states_of(Weights(base_files(), engine=engine), requests) for engine in ("onnxruntime", "numpy"))
    for a, b in zip(one, other, strict=True):
        assert a.words == b.words
        assert a.array() == pytest.approx(b.array(), abs=4e-3)


def test_states_come_from_the_models_process() -> None:
    with ModelProcess("embedded") as model:
        whole, part, strange, chat = model.ask(
            [
                States(TEXTS[0]),
                States(TEXTS[0], (6,), "words"),
                States(TEXTS[0], (7,)),
                States(TEXTS[0], continuations=("joy",)),
            ]
        )
    assert whole.array().shape == (7, 1, 384)
    assert part.array().shape == (1, 4, 384)
    # "I wept all night.": four words, a token each, and the full stop.
    assert part.words == ((0, 1), (2, 6), (7, 10), (11, 16))
    assert np.isfinite(part.array()).all()
    assert strange == Refused("there is no layer 7: the model has 0 to 6")
    assert isinstance(chat, Refused)
