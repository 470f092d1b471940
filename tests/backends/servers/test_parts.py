"""Addresses, options, context refusals and budgets of server models, by value."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.base import Refused
from emotui.backends.servers.address import parse_address
from emotui.backends.servers.asking import Budget, Spent
from emotui.backends.servers.faults import Teller, Unanswered, context_line, is_context, message_of
from emotui.backends.servers.model import answer_all
from emotui.backends.servers.settings import Settings, parse_settings
from emotui.errors import ModelError


@pytest.mark.parametrize(
    ("argument", "model", "url", "loopback"),
    [
        ("tiny@http://127.0.0.1:8000/v1", "tiny", "http://127.0.0.1:8000/v1", True),
        ("tiny@http://localhost:8000", "tiny", "http://localhost:8000/v1", True),
        ("@http://[::1]:8000/v1/", "", "http://[::1]:8000/v1", True),
        ("org/m@v2@https://API.example.org/openai/v1", "org/m@v2", "https://api.example.org/openai/v1", False),
        ("/models/tiny.gguf@http://10.0.0.7:80/v1", "/models/tiny.gguf", "http://10.0.0.7:80/v1", False),
    ],
)
def test_an_address_is_a_model_and_a_web_address(argument: str, model: str, url: str, loopback: bool) -> None:
    address = parse_address(argument)
    assert (address.model, address.url, address.loopback) == (model, url, loopback)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("", "needs a model and the address of its server"),
        ("tiny", "needs a model and the address of its server"),
        ("tiny@localhost:8000", "needs a model and the address of its server"),
        ("tiny@http://", "is no web address"),
        ("tiny@http://host:99999/v1", "is no web address"),
        ("tiny@http://[::1/v1", "is no web address"),
        ("tiny@http://host/v1?key=x", r"leave '\?' out"),
        ("tiny@http://host/v1#concurrency", "the option 'concurrency' has no value"),
    ],
)
def test_what_is_no_address_says_how_one_looks(argument: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        parse_address(argument)


def test_options_may_follow_the_address() -> None:
    address = parse_address('tiny@http://host:8000#concurrency=32&extra={"a":%201}')
    assert address.url == "http://host:8000/v1"
    assert parse_settings(address.options) == Settings(concurrency=32, extra={"a": 1})


def test_options_come_as_values_or_as_text() -> None:
    assert parse_settings({"concurrency": "4", "timeout": 2, "extra": '{"min_p": 0}'}) == Settings(
        concurrency=4, timeout=2.0, extra={"min_p": 0}
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"speed": 3}, r"has no option 'speed' \(it has: concurrency, "),
        ({"concurrency": 0}, "concurrency is a whole number of 1 or more, not 0"),
        ({"timeout": "soon"}, "timeout is a number of 0 or more, not 'soon'"),
        ({"timeout": float("nan")}, "timeout is a number"),
        ({"endpoint": "fax"}, "endpoint is one of auto, chat, completions, not 'fax'"),
        ({"extra": "{"}, "extra is not JSON"),
        ({"extra": [1]}, "extra is one JSON object"),
        ({"money_budget": 5}, "money_budget needs price_in or price_out"),
    ],
)
def test_a_bad_option_is_one_clear_line(options: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        parse_settings(options)


@pytest.mark.parametrize(
    ("words", "body", "line"),
    [
        (  # llama_cpp.server, plain completion
            "This model's maximum context length is 512 tokens, however you requested 616 tokens (600 in your prompt; "
            "16 for the completion). Please reduce your prompt; or completion length.",
            {"code": "context_length_exceeded"},
            "the prompt is longer than the model's context (600 tokens of 512)",
        ),
        (  # vLLM
            "This model's maximum context length is 512 tokens. However, you requested 600 tokens (500 in the "
            "messages, 100 in the completion). Please reduce the length of the messages or completion.",
            {},
            "the prompt (500 tokens) leaves no room for the answer in the model's context (512 tokens)",
        ),
        (  # vLLM, newer
            "This model's maximum context length is 512 tokens. However, your request has 700 input tokens.",
            {},
            "the prompt is longer than the model's context (700 tokens of 512)",
        ),
        (  # vLLM, newest
            "You passed 700 input tokens and requested 1 output tokens. However, the model's context length is only "
            "512 tokens, resulting in a maximum input length of 511 tokens.",
            {},
            "the prompt is longer than the model's context (700 tokens of 512)",
        ),
        (  # words of a server that nobody knows
            "context window exceeded!",
            {},
            "the prompt does not fit into the model's context: context window exceeded!",
        ),
        (  # llama-server
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            {"type": "exceed_context_size_error", "n_prompt_tokens": 900, "n_ctx": 256},
            "the prompt is longer than the model's context (900 tokens of 256)",
        ),
        (  # SGLang
            "The input (1030 tokens) is longer than the model's context length (1024 tokens).",
            {},
            "the prompt is longer than the model's context (1030 tokens of 1024)",
        ),
        (  # OpenAI
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            {"code": "context_length_exceeded"},
            "the prompt is longer than the model's context (9000 tokens of 8192)",
        ),
    ],
)
def test_a_refusal_for_length_is_read_from_each_servers_words(words: str, body: dict[str, object], line: str) -> None:
    assert is_context(words, body)
    assert context_line(words, body) == line


@given(st.text(max_size=400), st.text(min_size=4, max_size=20))
def test_a_servers_words_become_one_printable_line_without_the_key(around: str, key: str) -> None:
    line = Teller("http://h/v1", "m", key).clean(around + key + around)
    assert line.isprintable()
    assert len(line) <= 300
    assert key.strip() == "" or key not in line.replace("(key)", "")


@given(st.integers(200, 3000), st.lists(st.tuples(st.integers(0, 200), st.integers(1, 100)), max_size=30))
def test_a_budget_is_never_overrun(limit: int, requests: list[tuple[int, int]]) -> None:
    async def spend() -> Budget:
        budget = Budget(Settings(token_budget=limit))

        async def one(size: int, most: int) -> None:
            async with budget.hold(size, most) as bill:
                await asyncio.sleep(0)
                bill.read, bill.written = size, most

        await asyncio.gather(*(one(*request) for request in requests), return_exceptions=True)
        return budget

    budget = asyncio.run(spend())
    assert budget.read + budget.written <= limit


def test_what_is_under_way_is_waited_for_before_a_request_is_turned_away() -> None:
    async def spend() -> list[object]:
        budget = Budget(Settings(token_budget=400))

        async def one() -> str:
            async with budget.hold(100, 100) as bill:
                await asyncio.sleep(0)
                bill.read, bill.written = 10, 10
            return "done"

        return await asyncio.gather(*(one() for _ in range(3)), return_exceptions=True)

    # Each may take 328 of 400, so they go one after the other; the second starts at 20, the third at 40.
    assert asyncio.run(spend()) == ["done", "done", "done"]


def test_a_budget_that_is_used_up_says_so() -> None:
    async def spend() -> None:
        budget = Budget(Settings(money_budget=1.0, price_in=2e6))
        async with budget.hold(10, 10):
            pass

    with pytest.raises(Spent, match="the budget of 1 has no room for another request"):
        asyncio.run(spend())


def test_a_web_page_in_an_error_is_named_and_not_quoted() -> None:
    assert message_of("<!DOCTYPE HTML>\n<html><h1>Not Found</h1></html>") == "it answers with a web page"
    assert message_of("<model> is not served") == "<model> is not served"


@given(st.lists(st.sampled_from(["answer", "refuse", "again"]), max_size=20), st.integers(1, 5))
def test_every_result_stands_at_the_place_of_its_request(fates: list[str], concurrency: int) -> None:
    async def answer(request: tuple[int, str]) -> int:
        number, fate = request
        await asyncio.sleep(0)
        if fate != "answer":
            raise Unanswered(str(number), again=fate == "again")
        return number

    async def run() -> list[int | Refused]:
        return await answer_all(
            list(enumerate(fates)), answer, gate=asyncio.Semaphore(concurrency), most=concurrency, limit=10
        )

    try:
        results = asyncio.run(run())
    except ModelError:
        assert set(fates) == {"again"} or fates.count("again") > max(concurrency, 3)
        return
    assert len(results) == len(fates)
    for number, (fate, result) in enumerate(zip(fates, results, strict=True)):
        if isinstance(result, int):
            assert (fate, result) == ("answer", number)
        elif "requests in a row failed" not in result.why:
            assert result == Refused(str(number), again=fate == "again")
