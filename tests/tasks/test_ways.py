"""Ways of asking go by the same words in every task; a task's own names stay valid, and runs keep them."""

from pathlib import Path

import pytest

from emotui.backends.base import ModelCard
from emotui.errors import BadInput
from emotui.tasks.prompting.settings import Writing, all_options, check_options, options_from
from emotui.tasks.registry import task_named
from emotui.workbench.runs.plan import chosen_way

WRITER = ModelCard("some:writer", "writer", ("generate", "score", "rank"), {})
HEADS = ModelCard(
    "some:heads",
    "heads",
    ("extract", "score", "classify", "fill_mask"),
    {},
    labels={"score": ("joy",), "plutchik": ("joy", "fear")},
)


@pytest.mark.parametrize(
    ("task", "word", "own"),
    [
        ("spans", "zero-shot", "retrieve"),
        ("spans", "cot", "retrieve-cot"),
        ("scenes", "zero-shot", "first-token"),
        ("scenes", "cot", "reasoned"),
        ("masked", "zero-shot", "zero-shot"),
        ("masked", "cot", "cot"),
        ("rephrase", "zero-shot", "zs"),
        ("rephrase", "few-shot", "fs"),
        ("rephrase", "few-shot-rephrased", "fs-r"),
    ],
)
def test_the_words_that_all_tasks_share_are_their_own_ways(task: str, word: str, own: str) -> None:
    found = task_named(task)
    assert chosen_way(found, WRITER, word) == chosen_way(found, WRITER, own) == own


@pytest.mark.parametrize(
    ("task", "own"), [("spans", ""), ("masked", ""), ("scenes", "heads"), ("rephrase", "classify")]
)
def test_a_model_that_needs_no_words_is_asked_directly_and_one_that_writes_is_not(task: str, own: str) -> None:
    found = task_named(task)
    assert chosen_way(found, HEADS, "direct") == chosen_way(found, HEADS, None) == own
    with pytest.raises(BadInput, match="'direct'"):
        chosen_way(found, WRITER, "direct")


def test_a_prompt_file_may_have_the_shared_words_too(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("[zero-shot]\nuser = '{text}?'\n")
    read = task_named("class").asking.prompts
    assert read is not None
    assert list(read(str(file))) == ["zs"]
    file.write_text("[zero-shot]\nuser = '{text}?'\n[zs]\nuser = '{text}!'\n")
    with pytest.raises(BadInput, match="zero-shot and zs are one way: write one table"):
        read(str(file))


@pytest.mark.parametrize(
    ("task", "options", "why"),
    [
        ("scenes", {"examples": []}, "the scenes task has no setting 'examples': leave --examples out"),
        ("masked", {"temperature": 9}, "--temperature must be a number from 0 to 5, not 9"),
        ("spans", {"retries": -1}, "--retries must be a whole number from 0 to 20, not -1"),
        ("spans", {"max_tokens": "many"}, "--max-tokens must be a whole number from 1 on, not 'many'"),
        ("scenes", {"constrain": "yes"}, "--constrain must be true or false, not 'yes'"),
    ],
)
def test_a_wrong_option_is_a_sentence_that_names_it(task: str, options: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput) as error:
        options_from(task_named(task), options, 1, Writing)
    assert error.value.problems == (why,)


def test_an_option_of_another_way_is_refused_and_one_of_this_way_is_not() -> None:
    task = task_named("rephrase")
    check_options(task, ["examples", "labels"], "fs")
    with pytest.raises(BadInput, match="--examples is not for zs: leave it out"):
        check_options(task, ["examples"], "zs")
    assert all_options(task) >= {"examples", "labels", "temperature"}
