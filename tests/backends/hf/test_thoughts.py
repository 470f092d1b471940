"""A model that thinks before it writes: thoughts have room of their own, and stops leave them alone."""

from typing import Any

import pytest
import torch

from emotui.backends.base import Generate, Message
from emotui.backends.hf.decoding import Thoughts, write
from tests.backends.hf.models import TINY


class Scripted:
    """Whatever it is told, it goes on with the next token of its script."""

    def __init__(self, tokens: list[int], vocabulary: int) -> None:
        self._left, self._vocabulary = list(tokens), vocabulary

    def advance(self, tokens: torch.Tensor | None = None) -> torch.Tensor:
        logits = torch.zeros((1, self._vocabulary))
        logits[0, self._left.pop(0)] = 9.0
        return logits

    def keep(self, rows: torch.Tensor) -> None:
        raise AssertionError


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(TINY)


SAID = "Is it <answer>? So</think>Well. <answer>Yes"


def said(tokenizer: Any, *, room: int, most: int, context: int = 1000, script: str = SAID) -> tuple[str, str]:
    ids = [*tokenizer.encode(script, add_special_tokens=False), tokenizer.eos_token_id]
    model = Scripted(ids, len(tokenizer))
    request = Generate((Message("user", "x"),), max_tokens=most, stop=("<answer>",))
    (answer,) = write(
        [request],
        [4],
        [context],
        model.advance(),
        model,
        tokenizer,
        frozenset([tokenizer.eos_token_id]),
        thoughts=Thoughts("</think>", room),
    )
    return answer.text, answer.finish


def test_a_stop_within_thoughts_is_part_of_them_and_one_behind_them_ends_the_answer(tokenizer: Any) -> None:
    assert said(tokenizer, room=100, most=100) == ("Is it <answer>? So</think>Well. ", "stop")


def test_thoughts_and_answer_have_rooms_of_their_own(tokenizer: Any) -> None:
    thought = len(tokenizer.encode("Is it <answer>? So</think>", add_special_tokens=False))
    text, finish = said(tokenizer, room=thought, most=2)
    assert finish == "length"
    assert text.startswith("Is it <answer>? So</think>")
    assert len(text) > len("Is it <answer>? So</think>")
    text, finish = said(tokenizer, room=thought - 4, most=100)
    assert finish == "length"
    assert "</think>" not in text


def test_the_models_context_ends_both(tokenizer: Any) -> None:
    text, finish = said(tokenizer, room=100, most=100, context=5)
    assert finish == "length"
    assert SAID.startswith(text)


def test_an_answer_without_thoughts_is_still_cut_at_its_stop(tokenizer: Any) -> None:
    assert said(tokenizer, room=100, most=100, script="Well. <answer>Yes") == ("Well. ", "stop")
