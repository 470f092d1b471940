"""One text read for any question: what is said comes back whole, and what is not said stays unsaid."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.tasks.registry import task_named
from emotui.tasks.texts import said_of_text, sample_of_text

LABELS = st.sampled_from(["joy", "sadness", "fear"])
SPANS = st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)).map(list), max_size=3)
PERSON = st.fixed_dictionaries(
    {},
    optional={
        "spans": SPANS,
        "labels": st.lists(LABELS, unique=True),
        "values": st.dictionaries(st.sampled_from(["valence", "arousal"]), st.integers(0, 9), min_size=1),
    },
).filter(bool)
SAID = st.fixed_dictionaries(
    {"id": st.just("a"), "text": st.just("I am <mask>")},
    optional={
        "subject": st.just("Ada"),
        "meta": st.just({"page": 3}),
        "spans": SPANS,
        "labels": st.lists(LABELS, unique=True),
        "label": LABELS,
        "values": st.dictionaries(st.sampled_from(["valence", "arousal"]), st.integers(0, 9), min_size=1),
        "words": st.just(["glad"]),
        "target": LABELS,
        "annotators": st.dictionaries(st.sampled_from(["A1", "A2"]), PERSON, min_size=1),
    },
)


def _kept(task: str, said: dict[str, Any]) -> dict[str, Any]:
    """What a store keeps of a text as a record of a task."""
    found = task_named(task)
    record: dict[str, Any] = msgspec.json.decode(found.row(sample_of_text(found, said)).record)
    return record


@given(said=SAID, first=st.sampled_from(["spans", "labels", "values"]))
def test_whatever_a_text_came_for_all_that_is_said_of_it_comes_back(said: dict[str, Any], first: str) -> None:
    back = said_of_text(task_named(first), _kept(first, said))
    for key in ("spans", "labels", "values", "words", "target", "subject", "meta", "annotators"):
        assert back.get(key) == said.get(key), key
    # A label of a text with spans is its emotion too; nothing else is made of anything.
    assert back.get("label") == said.get("label")
    assert set(back) - set(said) <= {"emotion"}


@given(said=SAID)
def test_a_question_reads_the_same_from_whichever_record_the_text_is_kept_as(said: dict[str, Any]) -> None:
    for task in ("spans", "labels", "values", "rephrase", "masked", "generation"):
        found = task_named(task)
        read = {
            msgspec.json.encode(
                found.question(sample_of_text(found, said_of_text(task_named(first), _kept(first, said))))
            )
            for first in ("spans", "labels", "values")
        }
        assert len(read) == 1


def test_labels_of_a_masked_text_are_its_words_and_no_labels() -> None:
    masked = task_named("masked")
    said = said_of_text(masked, {"id": "1", "text": "so <mask>", "labels": ["proud"]})
    assert said["words"] == ["proud"]
    assert sample_of_text(task_named("labels"), said).said is None
    assert sample_of_text(masked, said).labels == ("proud",)


def test_the_target_of_a_generation_is_no_gold_label() -> None:
    said = said_of_text(task_named("generation"), {"id": "1", "text": "a text", "label": "joy"})
    assert said["target"] == "joy"
    assert sample_of_text(task_named("labels"), said).said is None


def test_a_label_that_golds_own_set_lacks_is_unknown_and_not_absent() -> None:
    said = {"id": "1", "text": "a text", "labels": {"joy": 1}}
    sample = sample_of_text(task_named("scenes"), said, ["joy", "trust"])
    assert sample.labels == {"joy": 1, "trust": 0}
    assert sample.unknown == ("trust",)
    assert sample.gold is None


def test_a_text_of_which_nothing_is_said_is_unlabelled_for_every_question() -> None:
    said = {"id": "1", "text": "so <mask>"}
    for name in ("spans", "labels", "scenes", "values", "masked"):
        task = task_named(name)
        labelled = task.files.labelled
        sample = sample_of_text(task, said, ["joy", "fear"])
        assert (labelled(sample) if labelled is not None else sample.spans is not None) is False, name


@pytest.mark.parametrize("mark", [[0, 4, "joy", 0.5], [0, 4, None, 0.5], [0, 4, "joy", None, {"who": "I"}]])
def test_a_span_keeps_how_sure_its_source_is_and_its_own_columns(mark: list[Any]) -> None:
    said = said_of_text(task_named("spans"), {"id": "1", "text": "a text of some length", "spans": [mark]})
    back = _kept("spans", {**said})
    assert back["spans"][0][: len(mark)] == mark
    assert said_of_text(task_named("labels"), _kept("labels", said))["spans"] == said["spans"]


def test_a_column_of_the_datas_own_that_has_such_a_name_by_chance_stays_a_column() -> None:
    record = {"id": "1", "text": "a text", "meta": {"labels": 3, "values": "high", "spans": "none"}}
    said = said_of_text(task_named("spans"), record)
    assert said == record
