"""What real servers answered is read: their lists of models, texts, log-probabilities and refusals, as they came."""

import json

import pytest

from emotui.backends.base import Generation, Refused, Scores
from tests.backends.servers.recorded.exchanges import HERE, Relay, replayed

pytest.importorskip("aiohttp")


def test_llama_cpp_pythons_server() -> None:
    card, written, scored = replayed("llama_cpp_server.json")
    assert card.capabilities == ("generate", "score")
    assert card.identity["top_logprobs"] == "20"
    assert written[:2] == [
        Generation("sighed with relief", 16, 4, "stop"),
        Generation("ughed out loud", 8, 3, "stop"),
    ]
    assert isinstance(written[2], Refused)
    assert written[2].why.startswith("the prompt is longer than the model's context (")
    (scores,) = scored
    assert isinstance(scores, Scores)
    assert scores.yes == pytest.approx((-4.11e-05, -2.47e-04), rel=0.01)
    assert scores.no == pytest.approx((-12.8564, -8.6607), abs=1e-4)
    assert scores.censored == ("", "")


def test_transformers_serve_writes_gives_no_log_probabilities_and_lists_nothing() -> None:
    card, written, scored = replayed("transformers_serve.json")
    assert card.capabilities == ("generate",)
    assert card.identity["served_as"] == "tiny-hf@main"
    assert "The server does not list this model, but answers to its name" in card.notes
    assert "The server gives no log-probabilities: it can write, not score" in card.notes
    assert [each.finish for each in written if isinstance(each, Generation)] == ["stop", "stop", "stop"]
    assert scored == []


def test_each_recording_names_the_server_and_its_version() -> None:
    for path in sorted(HERE.glob("*.json")):
        assert any(letter.isdigit() for letter in json.loads(path.read_text("utf-8"))["server"]), path


def test_of_several_kept_answers_that_of_the_likest_request_is_given() -> None:
    kept = [
        {"path": "/v1/x", "asked": {"prompt": word, "seed": 0}, "status": 200, "answer": word} for word in ("a", "b")
    ]
    relay = Relay(kept)
    with relay:
        assert relay.answer("/v1/x", b'{"prompt": "b", "seed": 1}') == (200, b"b")
        assert relay.answer("/v1/y", b"{}")[0] == 404
