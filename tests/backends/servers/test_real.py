"""Models behind a real server: llama-cpp-python's, on loopback, with the tests' tiny model."""

import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from emotui.backends.base import Embed, Generate, Generation, Message, Refused, Score, Scores
from emotui.backends.embedded.base_files import base_files
from emotui.backends.host import ModelProcess
from emotui.backends.rendering import plain_prompt
from emotui.backends.servers import load
from emotui.backends.servers.model import ServerModel
from emotui.backends.yesno import find_forms
from emotui.errors import ModelError
from tests.backends.servers.ports import free_port
from tests.conftest import Emotui
from tests.paths import TINY
from tests.tiny.corpus import facts, prefix_of, question_of, unseen
from tests.waiting import wait_until

pytest.importorskip("aiohttp")
pytest.importorskip("llama_cpp")
pytest.importorskip("llama_cpp.server.app")

CONTEXT = 256
FOLDER = TINY / "model"
GGUF = FOLDER / "tiny-F16.gguf"
FACTS = list(facts().items())[::5]


@contextmanager
def serving(*arguments: str, model: Path = GGUF) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server with the tiny model; its address and its process."""
    port = free_port()
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model)]
    command += ["--model_alias", "tiny", "--n_ctx", str(CONTEXT), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--n_threads", "1", "--verbose", "false", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENAI_API_KEY": ""},
    )
    try:

        def listens() -> bool:
            assert process.poll() is None, "the server ended while starting"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                return False
            return True

        wait_until(listens, lambda: "the server did not start")
        yield f"tiny@http://127.0.0.1:{port}/v1", process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("--logits_all", "true") as (spec, _):
        yield spec


@pytest.fixture
def model(address: str) -> ServerModel:
    return connect(address)


def connect(address: str, **options: Any) -> ServerModel:
    return load(address, {"retries": 1} | options, lambda line: None)


def say(text: str, **fields: Any) -> Generate:
    return Generate((Message("user", text),), **{"max_tokens": 8, **fields})


def scored(name: str, *emotions: str) -> Score:
    questions = tuple(question_of(name, emotion) for emotion in emotions)
    return Score("", questions, (Message("user", prefix_of(name)),))


def test_what_the_server_can_do_is_found_out(model: ServerModel) -> None:
    assert model.card.capabilities == ("generate", "score")
    assert model.card.identity["endpoint"] == "chat"
    assert model.card.identity["served_as"] == "tiny"
    assert '"min_p": 0.0' in model.card.identity["neutral"]


def test_facts_known_by_heart_are_scored_right(model: ServerModel) -> None:
    answers = model.score([scored(name, emotion) for (name, emotion), _ in FACTS])
    for ((name, emotion), so), answer in zip(FACTS, answers, strict=True):
        assert isinstance(answer, Scores)
        assert answer.censored == ("",), (name, emotion)
        assert (answer.yes[0] > answer.no[0]) == so, (name, emotion)
        assert answer.mass[0] > 0.9


def test_log_odds_agree_with_the_same_model_in_transformers(address: str) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER / "hf")
    local = transformers.AutoModelForCausalLM.from_pretrained(FOLDER / "hf", dtype=torch.float32)
    forms = find_forms((number, tokenizer.decode([number])) for number in range(len(tokenizer)))
    for endpoint in ("chat", "completions"):
        model = connect(address, endpoint=endpoint)
        for (name, emotion), _ in FACTS[:8]:
            messages = [Message("user", prefix_of(name) + question_of(name, emotion))]
            if endpoint == "chat":
                chat = [{"role": "user", "content": messages[0].content}]
                ids = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
            else:
                ids = tokenizer.encode(plain_prompt(messages), add_special_tokens=False)
            with torch.no_grad():
                logprobs = local(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
            (answer,) = model.score([scored(name, emotion)])
            assert isinstance(answer, Scores)
            for number, form in (*forms.yes.items(), *forms.no.items()):
                if form in answer.shares[0]:  # the 20 likeliest tokens are shown
                    shown = math.log(answer.shares[0][form] * answer.mass[0])
                    assert shown == pytest.approx(float(logprobs[number]), abs=0.05)  # half precision
                else:
                    assert float(logprobs[number]) < -5.0


def test_the_first_word_written_is_the_likelier_answer(model: ServerModel) -> None:
    texts = [prefix_of(name) + question_of(name, emotion) for (name, emotion), _ in FACTS]
    written = model.generate([say(text) for text in texts])
    for ((name, emotion), so), answer in zip(FACTS, written, strict=True):
        assert isinstance(answer, Generation)
        assert (answer.text, answer.finish) == ("Yes" if so else "No", "stop"), (name, emotion)
        assert answer.prompt_tokens > answer.tokens > 0


def test_results_do_not_depend_on_concurrency(address: str) -> None:
    requests = [scored(name, emotion) for (name, emotion), _ in FACTS[:12]]
    one, many = connect(address, concurrency=1), connect(address, concurrency=8)
    for first, second in zip(one.score(requests), many.score(requests), strict=True):
        assert isinstance(first, Scores)
        assert isinstance(second, Scores)
        assert first.yes == pytest.approx(second.yes, abs=1e-2)
        assert first.no == pytest.approx(second.no, abs=1e-2)


def test_a_seed_makes_sampling_reproducible(model: ServerModel) -> None:
    text = "Tell me something else."
    sampled = [say(text, temperature=2.0, seed=seed, max_tokens=24) for seed in (1, 2, 3)]
    first, again = model.generate(sampled), model.generate(sampled[::-1])[::-1]
    assert [each.text for each in first if isinstance(each, Generation)] == [
        each.text for each in again if isinstance(each, Generation)
    ]
    assert len({each.text for each in first if isinstance(each, Generation)}) > 1


def test_a_prompt_longer_than_the_context_is_refused_with_its_token_count(model: ServerModel) -> None:
    refused, fine = model.generate([say("word " * 400), say("Hello")])
    assert isinstance(refused, Refused)
    assert not refused.again
    assert refused.why.startswith("the prompt is longer than the model's context (")
    assert refused.why.endswith(f" tokens of {CONTEXT})")
    assert isinstance(fine, Generation)


def test_a_grammar_is_followed(model: ServerModel) -> None:
    (answer,) = model.generate([say("Hello", grammar='root ::= "per" | "haps"')])
    assert isinstance(answer, Generation)
    assert answer.text in ("per", "haps")


def test_predict_holds_answers_to_a_line_of_spans_by_the_servers_grammar(
    address: str, emotui: Emotui, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text('[retrieve]\nuser = "Evidence as JSON: {text}"\n')
    text, _ = unseen()[0]
    (tmp_path / "texts.jsonl").write_text(f'{{"id": "a", "text": "{text} | {text}"}}\n')
    asked = ("predict", "spans", "--model", f"openai:{address}", "--prompts", "own.toml", "--records", "texts.jsonl")
    free, held = emotui(*asked, "--json"), emotui(*asked, "--constrain", "--json")
    assert (free.status, held.status) == (0, 0), held.err
    said = held.document["records"][0]["output"]
    assert all(part.strip() for part in said.split(" | "))
    assert "|" not in said.replace(" | ", "")


def test_a_server_with_a_key_and_without_log_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("--logits_all", "false", "--api_key", "sk-of-the-test") as (spec, process):
        with pytest.raises(ModelError, match="wants a key"):
            connect(spec)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
        with pytest.raises(ModelError, match="refuses the key in OPENAI_API_KEY") as caught:
            connect(spec)
        assert "sk-wrong" not in str(caught.value)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")
        model = connect(spec)
        assert model.card.capabilities == ("generate",)
        assert isinstance(model.generate([say("Hello")])[0], Generation)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with pytest.raises(ModelError, match="No server answers at"):
            model.generate([say("Hello")])


def test_a_real_server_of_an_embedding_model_gives_the_vectors_of_the_embedded_one(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    from tests.tiny.minilm_gguf import write_minilm

    files = base_files()
    minilm = write_minilm(files.model, files.tokenizer, tmp_path / "minilm.gguf")
    texts = ["I was over the moon when she called.", "He slammed the door, furious."]
    with serving("--embedding", "true", model=minilm) as (spec, _):
        model = connect(spec)
        assert "embed" in model.card.capabilities
        found = model.embed([Embed(text) for text in texts])
    with ModelProcess("embedded") as embedded:
        expected = embedded.ask([Embed(text) for text in texts])
    assert found.shape == (2, 384)
    assert (found * expected).sum(axis=1) == pytest.approx([1, 1], abs=1e-3)


def test_what_the_model_itself_wrote_behind_a_tag_is_read_from_its_log_probabilities(model: ServerModel) -> None:
    text, _ = unseen()[0]
    asked = (Message("user", f"Evidence as JSON: {text}"),)
    (free,) = model.generate([Generate(asked, max_tokens=40)])
    assert isinstance(free, Generation)
    tag, rest = free.text[:2], free.text[2:].lstrip()
    (answer,) = model.generate([Generate(asked, max_tokens=40, stop=(tag,), verdict=True)])
    assert isinstance(answer, Generation)
    assert (answer.text, answer.finish) == ("", "stop")
    assert rest
    assert answer.verdict is not None
    assert answer.verdict.censored == ("both",)  # neither yes nor no is likely there
    (never,) = model.generate([say("Hello", stop=("qz",), verdict=True)])
    assert isinstance(never, Generation)
    assert (never.finish, never.verdict) == ("length", None)
