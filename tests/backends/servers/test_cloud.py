"""Servers in the cloud, as OpenAI's: builds that change, models that take no temperature, names that no list has.

And yes against no read from what the model itself wrote, where no answer can be begun with given words.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from emotui.backends.base import Generate, Generation, Message, Refused, Score
from emotui.backends.servers import load
from emotui.backends.servers.abilities import behind
from emotui.backends.servers.model import ServerModel
from emotui.errors import ModelError
from tests.backends.servers.faulty_server import FaultyServer
from tests.conftest import Emotui

pytest.importorskip("aiohttp")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def connect(server: FaultyServer, **options: Any) -> ServerModel:
    return load(server.spec, {"retries": 1} | options, lambda line: None)


def say(text: str, **fields: Any) -> Generate:
    return Generate((Message("user", text),), **{"max_tokens": 8, **fields})


def test_another_build_is_noted_and_nothing_is_refused() -> None:
    with FaultyServer() as server:
        model = connect(server)
        server.fingerprint = "build-2"
        assert all(isinstance(each, Generation) for each in model.generate([say("a"), say("b")]))
        assert model.new_builds() == ("build-1", "build-2")
        assert model.new_builds() == ()
        assert any("'build-1', which may change" in note for note in model.card.notes)


def test_a_run_keeps_which_builds_answered_and_says_so(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": f"text {n}"}) + "\n" for n in range(4)))
    with FaultyServer() as server:
        original = server._arrived

        def arrived(asked: Any) -> int:
            server.fingerprint = f"build-{len(server.asked) % 2 + 1}"
            return original(asked)

        server._arrived = arrived  # type: ignore[method-assign]
        spec = f"openai:{server.spec}"
        got = emotui("run", "spans", "--model", spec, "--dataset", "texts.jsonl", "--retries", "0", "--json")
        assert (got.status, got.document["done"]) == (0, 4), got.err
        assert "its server reported 2 builds while it answered: build-" in got.err
        assert "build-2" in got.err
        # The builds are no part of what the run is kept under: it is found again.
        again = emotui("run", "spans", "--model", spec, "--dataset", "texts.jsonl", "--retries", "0", "--json")
        assert again.document["run"] == got.document["run"]


def test_a_model_that_takes_only_its_own_temperature_is_asked_without_one_and_that_is_told() -> None:
    with FaultyServer(unknown=("temperature", "top_p", "stop", "max_tokens")) as server:
        model = connect(server)
        (answer,) = model.generate([say("one two three", stop=("TWO",), top_p=0.5)])
        assert isinstance(answer, Generation)
        assert (answer.text, answer.finish) == ("ONE ", "stop")
        assert not {"temperature", "top_p", "stop"} & set(server.asked[-1].body)
        assert any("takes no temperature but its own (1)" in note for note in model.card.notes)
        assert model.card.identity["without"] == "temperature"


def test_a_named_model_is_tried_where_the_list_fails_or_does_not_have_it() -> None:
    with FaultyServer(models_body=b"<html>") as server:
        assert connect(server).card.name == "tiny"
    with FaultyServer(models=("tiny", "hidden")) as server:
        server.models_body = json.dumps({"data": [{"id": "tiny"}]}).encode()
        card = load(f"hidden@{server.url}", {}, lambda line: None).card
        assert "The server does not list this model, but answers to its name" in card.notes
        with pytest.raises(ModelError, match=r"has no model 'absent'; it has: tiny"):
            load(f"absent@{server.url}", {}, lambda line: None)
        server.models_body = json.dumps({"data": [{"id": "tiny", "owned_by": "vllm"}]}).encode()
        with pytest.raises(ModelError, match=r"has no model 'hidden'; it has: tiny"):
            load(f"hidden@{server.url}", {}, lambda line: None)


def test_a_server_that_answers_any_name_by_what_it_has_is_not_taken_for_the_named_model() -> None:
    with FaultyServer(models=("tiny", "typo"), served_as="tiny") as server:
        server.models_body = json.dumps({"data": [{"id": "tiny"}]}).encode()
        with pytest.raises(ModelError, match=r"has no model 'typo'; it has: tiny"):
            load(f"typo@{server.url}", {}, lambda line: None)


def test_thoughts_have_room_of_their_own() -> None:
    with FaultyServer() as server:
        connect(server, thinking="on", thinking_room=500).generate([say("x", max_tokens=8)])
        assert server.asked[-1].body["max_tokens"] == 508
        connect(server).generate([say("x", max_tokens=8)])
        assert server.asked[-1].body["max_tokens"] == 8


def token(text: str, **others: float) -> dict[str, Any]:
    found = {text: -0.1, **others}
    tops = [{"token": each, "logprob": value} for each, value in found.items()]
    return {"token": text, "logprob": -0.1, "top_logprobs": tops}


def answering(*tokens: dict[str, Any], finish: str = "stop") -> bytes:
    """A recorded shape of OpenAI's answers."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "".join(each["token"] for each in tokens), "refusal": None},
        "logprobs": {"content": list(tokens), "refusal": None},
        "finish_reason": finish,
    }
    document = {"id": "chatcmpl-1", "object": "chat.completion", "model": "tiny", "choices": [choice]}
    return json.dumps(document).encode()


ASKED = say("Does she feel joy?", stop=("<answer>",), verdict=True, max_tokens=400)


def test_yes_and_no_are_read_from_what_the_model_wrote_behind_its_answer() -> None:
    said = [token(each) for each in ("Her", " smile", ". <", "answer", ">")]
    body = answering(*said, token("No", Yes=-2.5, no=-4.0), token("</answer>"))
    with FaultyServer(answer_body=body) as server:
        (answer,) = connect(server).generate([ASKED])
        assert isinstance(answer, Generation)
        assert (answer.text, answer.finish) == ("Her smile. ", "stop")
        assert answer.verdict is not None
        assert answer.verdict.yes == pytest.approx((-2.5,))
        assert answer.verdict.no == pytest.approx((math.log(math.exp(-0.1) + math.exp(-4.0)),))
        assert "stop" not in server.asked[-1].body
        assert server.asked[-1].body["max_tokens"] == 416


def test_an_answer_that_never_comes_to_its_tag_is_not_finished() -> None:
    with FaultyServer(answer_body=answering(token("Well"), token("."))) as server:
        (answer,) = connect(server).generate([ASKED])
        assert isinstance(answer, Generation)
        assert (answer.text, answer.finish, answer.verdict) == ("Well.", "length", None)


def test_a_tag_with_nothing_behind_it_is_refused() -> None:
    with FaultyServer(answer_body=answering(token("<answer>"), finish="length")) as server:
        (answer,) = connect(server).generate([ASKED])
        assert answer == Refused("the server sent no log-probabilities for what stands behind <answer>")


def test_a_server_that_begins_answers_is_stopped_at_the_tag() -> None:
    with FaultyServer() as server:
        (answer,) = connect(server, prefill="continue").generate([ASKED])
        assert isinstance(answer, Generation)
        assert answer.verdict is None
        assert server.asked[-1].body["stop"] == ["<answer>"]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([("<answer>", []), ("\n", []), ("Yes", [("Yes", -1.0)])], [("Yes", -1.0)]),
        (
            [("<ans", []), ("wer>Yes", [("wer>Yes", -1.0), ("wer>No", -2.0), ("wax", -3.0)])],
            [("Yes", -1.0), ("No", -2.0)],
        ),
        ([("<answer", []), (">", [])], []),
        ([("▁<answer>", []), ("▁No", [("▁No", -1.0)])], [(" No", -1.0)]),
        ([("No <", []), ("answer>", [("x", -1.0)]), ("Yes", [("Yes", -2.0)])], [("Yes", -2.0)]),
    ],
)
def test_what_stands_behind_a_tag_is_found_however_it_is_cut_into_tokens(
    tokens: list[tuple[str, list[tuple[str, float]]]], expected: list[tuple[str, float]]
) -> None:
    assert behind(tokens, "<answer>") == expected


def test_reasoned_scenes_need_one_request_an_emotion_where_no_answer_can_be_begun(
    emotui: Emotui, tmp_path: Path
) -> None:
    body = answering(token("So. <answer>"), token("Yes", No=-3.0))
    (tmp_path / "one.jsonl").write_text(json.dumps({"id": "a", "text": "Ines smiles.", "subject": "Ines"}) + "\n")
    with FaultyServer(answer_body=body) as server:
        got = emotui(
            "predict",
            "scenes",
            "--model",
            f"openai:{server.spec}",
            "--way",
            "reasoned",
            "--records",
            "one.jsonl",
            "--json",
        )
        assert got.status == 0, got.err
        (record,) = got.document["records"]
        assert [yes > no for yes, no in record["scores"].values()] == [True] * 8
        assert sum("Ines smiles." in each.prompt for each in server.asked if each.body) == 8
        assert isinstance(connect(server).score([Score("", ("x",), (Message("user", "y"),), "Begun")])[0], Refused)
