"""Everything that is said of a text, by gold, people and runs of any task, read in one place."""

import json
from pathlib import Path

import pytest

from emotui.records import Mark, SpanSample
from emotui.workbench.answers import Told, Voice, gold_said, people_said, voices_in, voices_of
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.sample_data.mixed_corpus import mixed_workspace


@pytest.fixture
def source(emotui: Emotui, tmp_path: Path) -> Workspace:
    return mixed_workspace(emotui, tmp_path)


def _voices(source: Workspace, place: int) -> dict[tuple[str, str], Voice]:
    (dataset,) = source.datasets()
    number = source.store.samples.file_order(dataset.dataset)[place]
    return {(one.name, one.task): one for one in voices_of(source.store, number, source.runs(dataset.dataset))}


def test_gold_people_and_runs_of_every_task_say_what_they_say_each_in_its_kind(source: Workspace) -> None:
    voices = _voices(source, 0)
    gold = voices["gold", ""]
    assert gold.told == (Told("label", "joy"),)
    assert gold.values == {"suddenness": 4.0, "effort": 1.0}
    assert gold.spans == (Mark(2, 14),)
    ann = voices["ann", ""]
    assert (ann.kind, ann.told, ann.values) == ("person", (Told("label", "fear"),), {"suddenness": 5.0})
    labels = voices["plain", "labels"]
    assert [(one.name, one.words, one.mark) for one in labels.told or ()] == [("fear", "yes", "X")]
    assert (labels.marks, labels.figure and labels.figure[1]) == ("MX", 0.0)
    numbers = voices["numbers", "values"]
    assert numbers.values == {"suddenness": 3.5, "effort": -1.0}
    assert numbers.told == ()
    spans = voices["marks", "spans"]
    assert (spans.told, spans.spans, spans.tells) == (None, (Mark(0, 5),), False)


def test_a_text_that_nobody_has_asked_about_has_a_silent_gold_and_runs_without_a_score(source: Workspace) -> None:
    voices = _voices(source, 2)
    assert not voices["gold", ""].tells
    figure = voices["plain", "labels"].figure
    assert figure is None or figure[1] is None
    assert [one.name for one in voices["plain", "labels"].told or ()] == ["sadness"]


def test_what_a_run_says_is_there_whatever_task_the_dataset_came_for(source: Workspace) -> None:
    (dataset,) = source.datasets()
    assert dataset.task == "spans"
    assert {run.task for run in source.runs(dataset.dataset)} == {"spans", "labels", "values"}
    for run in source.runs(dataset.dataset):
        assert [metric.title for metric in source.metrics(dataset.dataset, run.task)]
        assert not any("not installed" in metric.help for metric in source.metrics(dataset.dataset, run.task))


def test_gold_says_one_label_several_numbers_masks_a_target_and_keys_of_another_package() -> None:
    said = {
        "id": "1",
        "text": "t",
        "label": "joy",
        "labels": {"joy": 1, "trust": 1, "fear": 0},
        "values": {"valence": 2},
        "words": ["glad"],
        "target": "anger",
        "felt": 1,
        "meta": {"topic": "x"},
    }
    gold = gold_said(said)
    assert [(one.name, one.words) for one in gold.told or ()] == [
        ("label", "joy"),
        ("trust", "yes"),
        ("mask 1", "glad"),
        ("target", "anger"),
        ("felt", "1"),
    ]
    assert gold.values == {"valence": 2.0}


def test_no_labels_is_an_answer_and_nothing_said_is_none() -> None:
    assert gold_said({"id": "1", "text": "t", "labels": []}).tells
    assert not gold_said({"id": "1", "text": "t", "spans": [[0, 1]]}).tells


def test_people_in_a_record_of_spans_say_what_stands_beside_their_spans() -> None:
    sample = SpanSample(
        id="1", text="I ran.", annotators={"A": (Mark(0, 1),)}, meta={"annotators": {"A": {"label": "fear"}}}
    )
    (_, person) = voices_in("spans", sample)
    assert (person.name, person.spans, person.told) == ("A", (Mark(0, 1),), (Told("label", "fear"),))
    assert people_said({"id": "1", "text": "t"}) == []


def test_columns_of_the_datas_own_are_told_without_what_is_said_beside(source: Workspace) -> None:
    (dataset,) = source.datasets()
    first = source.store.samples.file_order(dataset.dataset).start
    assert source.evidence(first, None).meta == {"topic": "home"}
    assert source.said(dataset.dataset, first, None).meta == {"topic": "home"}
    assert json.loads(json.dumps(dict(source.evidence(first, None).sample.meta)))["label"] == "joy"
