"""Sentence embeddings from servers, and the two names of an answer's longest length."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from emotui.backends.base import Embed, Generate, Message
from emotui.backends.host import ModelProcess
from emotui.backends.servers import load
from emotui.backends.servers.model import ServerModel
from emotui.errors import ModelError
from tests.backends.servers.faulty_server import FaultyServer

pytest.importorskip("aiohttp")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with FaultyServer() as server:
        yield server


def connect(server: FaultyServer, **options: Any) -> ServerModel:
    return load(server.spec, {"timeout": 10, "retries": 1, **options}, lambda line: None)


def test_a_server_that_embeds_gives_vectors_of_length_one_in_order(server: FaultyServer) -> None:
    server.embeds = True
    model = connect(server)
    assert model.card.capabilities == ("generate", "score", "embed")
    found = model.embed([Embed("a b."), Embed("FAIL 1 x"), Embed("")])
    expected = np.array([[4, 1, 1], [8, 2, 0], [0, 0, 0]], dtype=np.float32)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected / np.where(lengths > 0, lengths, 1), rtol=1e-6)
    assert found.dtype == np.float32


def test_a_server_that_only_embeds_can_do_that(server: FaultyServer) -> None:
    server.embeds, server.writes = True, False
    model = connect(server)
    assert model.card.capabilities == ("embed",)
    assert "It gives sentence embeddings and nothing else" in model.card.notes
    assert model.embed([Embed("a b.")]).shape == (1, 3)


def test_a_server_that_does_not_embed_is_told_in_one_line(server: FaultyServer) -> None:
    with (
        ModelProcess(f"openai:{server.spec}") as model,
        pytest.raises(ModelError, match=r"cannot embed; kinds of model that can: embedded, hf:, gguf:, other openai:$"),
    ):
        model.ask([Embed("x")])


def test_a_text_that_is_not_embedded_fails_its_batch_in_one_line(server: FaultyServer) -> None:
    server.embeds = True
    with pytest.raises(ModelError, match="longer than the model's context"):
        connect(server).embed([Embed("a"), Embed("LONG text")])


def test_embeddings_count_against_the_budget(server: FaultyServer) -> None:
    server.embeds = True
    model = connect(server, token_budget=400)
    with pytest.raises(ModelError, match="the budget of 400 tokens has no room"):
        model.embed([Embed("x" * 500)])
    model.embed([Embed("one two")])


@pytest.mark.parametrize("known", ["max_tokens", "max_completion_tokens"])
def test_an_answers_length_goes_by_the_name_that_the_server_knows(server: FaultyServer, known: str) -> None:
    server.unknown = tuple({"max_tokens", "max_completion_tokens"} - {known})
    model = connect(server)
    model.generate([Generate((Message("user", f"word {n}"),), max_tokens=20) for n in range(3)])
    assert [each.body[known] for each in server.asked if each.prompt.startswith("word")] == [20, 20, 20]
    assert "score" in model.card.capabilities


def test_a_server_that_knows_neither_name_is_told(server: FaultyServer) -> None:
    server.unknown = ("max_tokens", "max_completion_tokens")
    with pytest.raises(ModelError, match="does not answer a test question"):
        connect(server)


def test_a_length_that_is_merely_too_large_is_no_reason_for_another_name(server: FaultyServer) -> None:
    model = connect(server)
    server.refuses = ("max_tokens=99",)
    (refused,) = model.generate([Generate((Message("user", "x"),), max_tokens=99)])
    assert "max_tokens may not be 99" in refused.why
    assert not any("max_completion_tokens" in each.body for each in server.asked)


def test_half_a_character_is_told_before_it_is_sent(server: FaultyServer) -> None:
    server.embeds = True
    with pytest.raises(ModelError, match="lone surrogate"):
        connect(server).embed([Embed("a \ud800")])
