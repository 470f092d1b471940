"""What a model writes under a grammar has the form that the grammar is for, however unlikely the model finds it.

The tests that write need llama-cpp-python: `pip install llama-cpp-python`, which compiles for minutes.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from emotui.backends import gguf
from emotui.backends.base import Generate, Generation, Message
from emotui.backends.grammars import json_words, literal, one_of, retrieved_line
from emotui.metrics.span_output import parse_output
from tests.paths import TESTS

TINY = TESTS / "tiny" / "model" / "tiny-Q8_0.gguf"


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
    loaded = gguf.load(str(TINY), {"threads": 1}, lambda line: None)
    yield loaded
    loaded.close()


def answers(model: Any, grammar: str, *, most: int = 200) -> list[Generation]:
    """Six answers to one question, greedy and wild."""
    prompt = (Message("user", "Evidence: Ada wept for hours."),)
    found = model.generate(
        [
            Generate(prompt, grammar=grammar, max_tokens=most, temperature=temperature, seed=seed)
            for seed, temperature in enumerate((0.0, 1.0, 3.0, 3.0, 8.0, 8.0))
        ]
    )
    assert all(isinstance(each, Generation) for each in found), found
    return found


def test_one_of_two_labels_is_nothing_else(model: Any) -> None:
    assert {(each.text, each.finish) for each in answers(model, one_of(["Yes", "No"]))} <= {
        ("Yes", "stop"),
        ("No", "stop"),
    }


def test_a_label_is_written_letter_for_letter(model: Any) -> None:
    labels = ['a "quoted" one', "two\nlines", "caf\u00e9 \U0001f622", "back\\slash", "plain"]
    found = {each.text for each in answers(model, one_of(labels))}
    assert found <= set(labels)
    for label in labels:
        assert {each.text for each in answers(model, one_of([label]))} == {label}


@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_list_of_words_is_json_of_that_length(model: Any, count: int) -> None:
    for each in answers(model, json_words(count), most=450):
        if each.finish == "stop":
            words = json.loads(each.text)
            assert len(words) == count
            assert all(isinstance(word, str) and word for word in words)
    assert answers(model, json_words(count))[0].finish == "stop"


def test_a_retrieved_line_is_one_line_that_the_parser_reads_back(model: Any) -> None:
    for each in answers(model, retrieved_line()):
        assert "\n" not in each.text
        spans = parse_output(each.text, "retrieve", False, "").spans
        assert all("|" not in span for span in spans)
        assert " | ".join(spans) == each.text.strip() or each.finish == "length"


def test_reasoning_before_a_line_ends_with_its_word(model: Any) -> None:
    for each in answers(model, retrieved_line(after="Response:")):
        if each.finish == "stop":
            assert parse_output(each.text, "retrieve", True, "").invalid is None


def test_letters_that_grammars_reserve_are_escaped() -> None:
    assert literal('a"b\\c\nd\x01\u00e9') == '"a\\"b\\\\c\\nd\\x01\u00e9"'


def test_what_cannot_be_a_form_is_refused() -> None:
    for labels in ([], ["a", ""]):
        with pytest.raises(ValueError, match="needs one or more"):
            one_of(labels)
    with pytest.raises(ValueError, match="a list of 0 words"):
        json_words(0)
