"""Models behind a server: what is asked of it, what comes back, and what its faults cost. The server is real."""

import asyncio
import contextlib
import gc
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.backends import host
from emotui.backends.base import Generate, Generation, Message, Refused
from emotui.backends.host import Cancelled, ModelProcess
from emotui.backends.servers import load
from emotui.backends.servers.address import parse_address
from emotui.backends.servers.connection import models_at
from emotui.backends.servers.model import ServerModel
from emotui.backends.servers.transport import Came, proxy_of
from emotui.errors import ModelError
from tests.backends.servers.faulty_server import FaultyServer
from tests.effort import times, tried
from tests.waiting import LONGEST, wait_until

pytest.importorskip("aiohttp")

QUICK = {"retries": 2}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, and a proxy that nobody listens at: loopback must not be asked for through it."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_CUSTOM_HEADERS",
        "NO_PROXY",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def connect(server: FaultyServer, **options: Any) -> ServerModel:
    return load(server.spec, QUICK | options, lambda line: None)


def say(text: str, **fields: Any) -> Generate:
    return Generate((Message("user", text),), **{"max_tokens": 20, **fields})


def test_answers_stand_in_the_order_of_their_requests(server: FaultyServer) -> None:
    model = connect(server)
    answers = model.generate([say("DELAY 0.3 late"), say("early"), say("next")])
    assert answers == [
        Generation("DELAY 0.3 LATE", 3, 2, "stop"),
        Generation("EARLY", 1, 2, "stop"),
        Generation("NEXT", 1, 2, "stop"),
    ]


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside a loop"])
def test_a_model_that_nobody_closes_closes_itself(
    server: FaultyServer,
    caplog: pytest.LogCaptureFixture,
    recwarn: pytest.WarningsRecorder,
    monkeypatch: pytest.MonkeyPatch,
    inside: bool,
) -> None:
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    model = connect(server)
    model.generate([say("early")])
    runner, models = model.runner, [model]
    del model

    async def let_go() -> None:
        models.clear()
        gc.collect()

    if inside:
        asyncio.run(let_go())
    models.clear()
    gc.collect()
    assert not unraisable
    with pytest.raises(RuntimeError, match="closed"):
        runner.get_loop()
    assert not caplog.records
    assert not [str(each.message) for each in recwarn if each.category is ResourceWarning]


def test_a_closed_model_may_be_closed_again(server: FaultyServer) -> None:
    model = connect(server)
    model.close()
    model.close()


def test_sampling_is_passed_request_by_request(server: FaultyServer) -> None:
    model = connect(server, extra={"min_p": 0.0})
    model.generate([say("a", temperature=0.7, top_p=0.9, seed=11, stop=("x", "y")), say("b", seed=12)])
    first, second = (each.body for each in sorted(server.asked[-2:], key=lambda each: each.prompt))
    assert {key: first[key] for key in ("temperature", "top_p", "seed", "stop", "max_tokens", "min_p")} == {
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 11,
        "stop": ["x", "y"],
        "max_tokens": 20,
        "min_p": 0.0,
    }
    assert (second["seed"], second["temperature"]) == (12, 0.0)
    assert "stop" not in second


@pytest.mark.parametrize(
    ("refuses", "sent"), [((), {"top_k": 0}), (("top_k=0",), {"top_k": -1}), (("top_k=0", "top_k=-1"), {})]
)
def test_a_servers_own_ways_of_sampling_are_switched_off_where_it_lets_us(
    refuses: tuple[str, ...], sent: dict[str, object]
) -> None:
    with FaultyServer(refuses=refuses) as server:
        model = connect(server)
        model.generate([say("x")])
        body = server.asked[-1].body
        assert {key: value for key, value in body.items() if key == "top_k"} == sent
        assert ("min_p" in body) == bool(sent)
        assert any("Samples are drawn with what the server adds" in note for note in model.card.notes) != bool(sent)


@pytest.mark.parametrize(("thinking", "sent"), [("off", False), ("on", True)])
def test_thinking_is_told_to_the_chat_template(server: FaultyServer, thinking: str, sent: bool) -> None:
    connect(server, thinking=thinking).generate([say("x")])
    assert server.asked[-1].body["chat_template_kwargs"] == {"enable_thinking": sent, "thinking": sent}
    connect(server, thinking="auto").generate([say("x")])
    assert "chat_template_kwargs" not in server.asked[-1].body


def test_a_conversation_is_sent_as_it_is(server: FaultyServer) -> None:
    model = connect(server)
    model.generate([Generate((Message("system", "be brief"), Message("user", "hi ❤")))])
    assert server.asked[-1].body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi ❤"},
    ]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_are_under_way_than_allowed(server: FaultyServer, concurrency: int) -> None:
    model = connect(server, concurrency=concurrency)
    model.generate([say(f"DELAY 0.05 {number}") for number in range(9)])
    assert server.most_at_once == concurrency


@pytest.mark.parametrize("fault", ["DROP", "FAIL", "LIMIT", "HALF", "WRONG", "EMPTY", "CUT"])
def test_a_passing_fault_costs_another_try(server: FaultyServer, fault: str) -> None:
    model = connect(server)
    assert model.generate([say(f"{fault} 1 x")]) == [Generation(f"{fault} 1 X", 3, 2, "stop")]
    assert server.prompts() == [f"{fault} 1 x"] * 2


VALID = b"""{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "model": "tiny",
 "usage": {"prompt_tokens": 1, "completion_tokens": 2}, "system_fingerprint": "build-1"}"""


@pytest.mark.fuzz
@settings(max_examples=times(60, 6000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(VALID)), st.integers(0, 40), st.binary(max_size=20))
def test_a_mangled_answer_is_an_answer_or_a_model_error_and_nothing_worse(
    server: FaultyServer, start: int, length: int, new: bytes
) -> None:
    if not hasattr(server, "model"):
        server.model = connect(server, retries=0)  # type: ignore[attr-defined]
    server.answer_body = VALID[:start] + new + VALID[start + length :]
    tried("bad inputs")
    with contextlib.suppress(ModelError):
        (answer,) = server.model.generate([say("x")])  # type: ignore[attr-defined]
        assert isinstance(answer, Generation | Refused)


@pytest.mark.parametrize(
    "body", [b'{"x":' + b"[" * 100_000, b'{"choices":[{"message":{"content":"\xff"}}]}', b"", b"null", b"[]"]
)
def test_answers_that_break_readers_are_refused(server: FaultyServer, body: bytes) -> None:
    model = connect(server, retries=0)
    server.answer_body = body
    with pytest.raises(ModelError, match="is not what the protocol says"):
        model.generate([say("x")])


def test_half_a_character_is_refused_before_it_is_sent(server: FaultyServer) -> None:
    refused, fine = connect(server).generate([say("\ud800"), say("fine")])
    assert refused == Refused("the text holds half a character (a lone surrogate), which no request can carry")
    assert isinstance(fine, Generation)


def test_a_server_that_asks_for_time_is_given_it() -> None:
    with FaultyServer(retry_after="1.5") as server:
        model = connect(server)
        started = time.monotonic()
        model.generate([say("LIMIT 1 x")])
        assert time.monotonic() - started >= 1.5


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("FAIL", r"the server failed with HTTP 500 \(2 tries\): the accelerator is on fire"),
        ("LIMIT", r"the server limits the rate of requests \(2 tries\): lower the concurrency"),
        ("DROP", r"the server dropped the connection \(2 tries\)"),
        ("HALF", "the answer of the server is not what the protocol says"),
        ("WRONG", r"not what the protocol says \(Expected `str \| null`, got `int`"),
    ],
)
def test_a_lasting_fault_refuses_its_request_for_now_and_answers_the_others(
    server: FaultyServer, fault: str, words: str
) -> None:
    model = connect(server, retries=1)
    refused, answered = model.generate([say(f"{fault} always"), say("fine")])
    assert isinstance(refused, Refused)
    assert refused.again
    assert re.search(words, refused.why)
    assert answered == Generation("FINE", 1, 2, "stop")


@pytest.mark.parametrize(("retries", "times_asked"), [(0, 1), (1, 2), (4, 3)])
@pytest.mark.parametrize("fault", ["HALF", "WRONG"])
def test_a_garbled_success_is_asked_for_again_twice_at_most(
    server: FaultyServer, fault: str, retries: int, times_asked: int
) -> None:
    refused, _ = connect(server, retries=retries).generate([say(f"{fault} always"), say("fine")])
    assert isinstance(refused, Refused)
    assert refused.again
    assert sorted(server.prompts()) == [f"{fault} always"] * times_asked + ["fine"]


def test_a_late_answer_is_given_up(server: FaultyServer) -> None:
    model = connect(server, timeout=2, retries=0)
    late, fine = model.generate([say("DELAY 600"), say("fine")])
    assert late == Refused("the server did not answer in time", again=True)
    assert isinstance(fine, Generation)


def test_a_prompt_longer_than_the_context_is_refused_with_its_token_count(server: FaultyServer) -> None:
    refused, fine = connect(server).generate([say("LONG story"), say("fine")])
    assert refused == Refused("the prompt is longer than the model's context (600 tokens of 512)")
    assert isinstance(fine, Generation)
    assert server.prompts().count("LONG story") == 1


def test_a_withheld_answer_is_a_refusal(server: FaultyServer) -> None:
    refused, _ = connect(server).generate([say("FILTERED"), say("fine")])
    assert refused == Refused("the server's content filter withholds the answer")


def test_what_was_answered_is_kept_when_the_server_goes_away(server: FaultyServer) -> None:
    model = connect(server, concurrency=2, retries=1)

    def stop() -> None:
        """Two are late at once when both of the others are answered."""
        wait_until(lambda: sum(prompt.startswith("DELAY") for prompt in server.prompts()) == 2)
        server.stop()

    threading.Thread(target=stop, daemon=True).start()
    answers = model.generate([say("first"), say("second"), *(say(f"DELAY 600 {n}") for n in range(6))])
    assert answers[:2] == [Generation("FIRST", 1, 2, "stop"), Generation("SECOND", 1, 2, "stop")]
    assert all(isinstance(each, Refused) and each.again for each in answers[2:])
    with pytest.raises(ModelError, match=r"^No server answers at .* \(Connection refused\): start it"):
        model.generate([say("third")])


def test_a_batch_of_which_nothing_is_answered_is_an_error(server: FaultyServer) -> None:
    model = connect(server, retries=0)
    with pytest.raises(ModelError, match="the server failed with HTTP 500: the accelerator is on fire"):
        model.generate([say("FAIL 9 a"), say("FAIL 9 b")])


def test_a_server_that_only_fails_is_not_asked_to_the_end(server: FaultyServer) -> None:
    model = connect(server, retries=0, concurrency=2)
    answers = model.generate([say("fine"), *(say(f"FAIL always {n}") for n in range(40))])
    assert isinstance(answers[0], Generation)
    assert all(isinstance(each, Refused) and each.again for each in answers[1:])
    # The one that is fine, three that fail beside it, four in a row, and two that are under way by then.
    assert len(server.prompts()) <= 1 + 3 + 4 + 2


def test_a_batch_past_its_limit_hands_back_what_it_has(server: FaultyServer) -> None:
    model = connect(server, batch_limit=2)
    fine, late = model.generate([say("fine"), say("DELAY 600")])
    assert isinstance(fine, Generation)
    assert late == Refused("the batch was cut off after 2 s", again=True)


def test_a_token_budget_is_not_overrun_and_what_was_answered_is_kept(server: FaultyServer) -> None:
    model = connect(server, token_budget=400)
    answers = model.generate([say(f"word {n}") for n in range(100)])
    used = sum(each.prompt_tokens + each.tokens for each in answers if isinstance(each, Generation))
    assert 0 < used <= 400
    assert isinstance(answers[-1], Refused)
    assert answers[-1].why.startswith("the budget of 400 tokens has no room for another request (")
    with pytest.raises(ModelError, match="budget of 400 tokens"):
        model.generate([say("word and more words")])


def test_a_money_budget_counts_reading_and_writing_at_their_prices(server: FaultyServer) -> None:
    # Of each answer 2 tokens are read and 2 written: 2 * 1e6/1e6 + 2 * 10e6/1e6 = 22.
    model = connect(server, money_budget=1000, price_in=1e6, price_out=1e7)
    answers = model.generate([say(f"word {n}", max_tokens=20) for n in range(100)])
    answered = sum(isinstance(each, Generation) for each in answers)
    assert 0 < answered * 22 <= 1000
    assert answered < 100


def test_a_server_that_becomes_another_is_not_believed(server: FaultyServer) -> None:
    model = connect(server, fingerprint="hold")
    server.fingerprint = "build-2"
    with pytest.raises(ModelError, match="now reports the build 'build-2', not 'build-1': load it again"):
        model.generate([say("x")])
    server.fingerprint, server.served_as = "build-1", "other"
    with pytest.raises(ModelError, match="now answers as 'other', not as 'tiny': load it again"):
        model.generate([say("x")])


def test_changing_builds_can_be_allowed(server: FaultyServer) -> None:
    model = connect(server, fingerprint="ignore")
    server.fingerprint = "build-2"
    assert model.generate([say("x")])
    assert model.card.identity["fingerprint"] == "ignored"


def test_no_server_is_one_clear_line_at_once() -> None:
    with FaultyServer() as server:
        spec = server.spec
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"^No server answers at http://127\.0\.0\.1:\d+/v1 \(Connection refused\)"):
        load(spec, {"retries": 100}, lambda line: None)
    assert time.monotonic() - started < 60, "it was tried again"


def test_an_unknown_model_names_those_that_there_are() -> None:
    with FaultyServer(models=("small", "large")) as server:
        with pytest.raises(ModelError, match=r"has no model 'middle'; it has: small, large"):
            load(f"middle@{server.url}", {}, lambda line: None)
        with pytest.raises(ModelError, match=r"Name one of the models of .* before the '@': small, large"):
            load(f"@{server.url}", {}, lambda line: None)


def test_the_only_model_of_a_server_needs_no_name(server: FaultyServer) -> None:
    model = load(f"@{server.url}", {}, lambda line: None)
    assert model.card.spec == f"openai:tiny@{server.url}"


def test_something_else_that_answers_is_told_apart() -> None:
    line = r"What answers at .* is no OpenAI-compatible server"
    page = b"<html>hello</html>"
    with FaultyServer(models_body=page, answer_body=page) as server, pytest.raises(ModelError, match=line):
        load(server.spec, {}, lambda line: None)


def test_no_other_host_is_followed_to(server: FaultyServer) -> None:
    line = r"sends requests on to .*: name that address in the SPEC"
    with FaultyServer(redirect=f"{server.url}/models") as forward, pytest.raises(ModelError, match=line):
        load(f"tiny@{forward.url}", {}, lambda line: None)
    assert server.asked == []


def test_a_server_without_a_chat_template_gets_plain_prompts() -> None:
    with FaultyServer(chat=False) as server:
        model = connect(server)
        assert model.card.identity["endpoint"] == "completions"
        assert "No chat endpoint: prompts are sent as plain text" in model.card.notes
        request = Generate((Message("system", "one"), Message("user", "two")), opening="three")
        assert model.generate([request])[0] == Generation("ONE\n\nTWO\n\nANSWER: THREE", 4, 2, "stop")


def test_an_opening_needs_a_server_that_can_go_on_with_it(server: FaultyServer) -> None:
    refused, _ = connect(server).generate([say("x", opening="Well,"), say("y")])
    assert isinstance(refused, Refused)
    assert "set prefill=continue" in refused.why
    connect(server, prefill="continue").generate([say("x", opening="Well,")])
    body = server.asked[-1].body
    assert body["messages"][-1] == {"role": "assistant", "content": "Well,"}
    assert body["continue_final_message"] is True
    assert body["add_generation_prompt"] is False


def test_a_grammar_is_refused_where_the_server_does_not_follow_one(server: FaultyServer) -> None:
    with pytest.raises(ModelError, match=r"^the server does not follow a grammar: run without --constrain$"):
        connect(server).generate([say("x", grammar='root ::= "yes"'), say("y", grammar='root ::= "no"')])


def test_the_card_names_all_that_can_change_the_outputs(server: FaultyServer) -> None:
    card = connect(server, extra={"top_k": 0}).card
    neutral = {
        "top_k": 0,
        "min_p": 0.0,
        "repeat_penalty": 1.0,
        "repetition_penalty": 1.0,
        "chat_template_kwargs": {"enable_thinking": False, "thinking": False},
    }
    assert card.identity == {
        "server": server.url,
        "model": "tiny",
        "served_as": "tiny",
        "root": "",
        "endpoint": "chat",
        "top_logprobs": "20",
        "prefill": "none",
        "neutral": json.dumps(neutral, sort_keys=True),
        "fingerprint": "noted",
        "extra": '{"top_k": 0}',
    }
    assert card.capabilities == ("generate", "score")


def test_missing_the_client_library_is_one_clear_line(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("tenacity", "aiohttp"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            with pytest.raises(
                ModelError, match=r"need the aiohttp and tenacity packages: .*pip install 'aiohttp>=.*' 'tenacity"
            ):
                connect(server)


def test_what_a_server_answers_or_refuses_for_good_is_asked_once(server: FaultyServer) -> None:
    written, refused = connect(server, retries=3).generate([say("hello"), say("LONG story")])
    assert written == Generation("HELLO", 1, 2, "stop")
    assert isinstance(refused, Refused)
    assert sorted(server.prompts()) == ["LONG story", "hello"]


def test_a_proxy_is_asked_for_other_machines_and_never_for_this_one(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, away = parse_address(server.spec), parse_address("tiny@http://models.example/v1")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
    assert connect(server).generate([say("x")])
    # The server stands for a proxy, which is told the whole address of the other machine.
    before = len(server.asked)
    with pytest.raises(ModelError):
        models_at("http://models.example/v1")
    assert [each.path for each in server.asked[before:]] == ["http://models.example/v1/models"]
    monkeypatch.setenv("no_proxy", "models.example")
    assert proxy_of(away) is None
    assert here.loopback


@pytest.mark.parametrize(
    ("status", "headers", "passing", "wait"),
    [
        (500, {}, True, None),
        (429, {"retry-after": "2.5"}, True, 2.5),
        (429, {"retry-after-ms": "250"}, True, 0.25),
        (503, {"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}, True, None),
        (429, {"retry-after": "121"}, False, 121.0),
        (429, {"retry-after": "soon"}, True, None),
        (429, {"retry-after": "nan"}, True, None),
        (500, {"x-should-retry": "false"}, False, None),
        (400, {"x-should-retry": "true"}, True, None),
        (400, {}, False, None),
        (200, {}, False, None),
    ],
)
def test_a_server_is_asked_again_where_that_may_help_and_when_it_says(
    status: int, headers: dict[str, str], passing: bool, wait: float | None
) -> None:
    came = Came(status, headers, b"")
    assert (came.is_passing, came.wait) == (passing, wait)


def test_a_server_works_through_the_host_and_a_cancel_acts_within_a_second(server: FaultyServer) -> None:
    with ModelProcess(f"openai:{server.spec}", QUICK, limit=LONGEST) as model:
        assert model.ask([say("hello")]) == [Generation("HELLO", 1, 2, "stop")]
        stops: list[float] = []
        threading.Timer(0.2, lambda: stops.append(time.monotonic())).start()
        with pytest.raises(Cancelled):
            model.ask([say("DELAY 600")], cancelled=lambda: bool(stops))
        assert host._GRACE + host._POLL < 1
        assert time.monotonic() - stops[0] < 300, "waited for the answer"
        assert model.ask([say("again")]) == [Generation("AGAIN", 1, 2, "stop")]
