from pathlib import Path

import msgspec
import pytest

from emotui.records import SpanSample
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.workbench.annotate.answers import SentenceSaid, SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import (
    Accept,
    AddSpan,
    Event,
    RemoveSpan,
    Reopen,
    Reveal,
    SetLabels,
    SetNumber,
    SetSentence,
    SetWord,
)
from emotui.workbench.annotate.scheme import built_in
from emotui.workbench.datasets.sets import delete
from emotui.workbench.datasets.sources import make_gold, sources
from emotui.workbench.runs.export_rows import export_rows, found_sources
from emotui.workbench.runs.run import rescore
from emotui.workbench.runs.scores import metrics
from tests.workbench.annotate.small_sets import begin, numbers, store_with


def add(id: str, start: int, end: int, label: str | None = None) -> AddSpan:
    return AddSpan(SpanMark(id=id, start=start, end=end, label=label))


def runs(store: Store, dataset: str) -> list[Run]:
    found = store.datasets.get(dataset)
    assert found is not None
    return store.runs.all(found.dataset)


def said(store: Store, run: Run) -> dict[int, object]:
    return {row.sample: msgspec.json.decode(row.raw or "null") for row in store.results.of_run(run.run)}


def test_given_answers_are_a_source_of_their_annotator_scored_against_gold(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, three = numbers(store, "spans")
    work = begin(store, "spans")
    work.do(one, add("a", 12, 23, "joy"), Accept())
    work.do(two, Accept())
    work.do(three, add("b", 0, 8))
    assert work.publish() == 2
    (run,) = runs(store, "spans")
    assert (run.model, run.source, run.state, run.n, run.done) == ("ann", "person", "done", 2, 2)
    # An answer without marks says that there are none; one that is not given yet says nothing.
    assert said(store, run) == {one: {"spans": [[12, 23, "joy"]]}, two: {"spans": []}}
    figures = metrics(store, run)
    assert (figures["n"], figures["f1"]) == (2, 1.0)
    assert [(source.name, source.kind, source.n) for source in sources(store, "spans")] == [
        ("gold", "gold", 3),
        ("A1", "person", 1),
        ("ann", "person", 2),
    ]


def test_only_what_changed_is_written_again(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, _ = numbers(store, "spans")
    work = begin(store, "spans")
    work.do(one, add("a", 0, 5), Accept())
    work.do(two, Accept())
    assert (work.publish(), work.publish(), begin(store, "spans").publish()) == (2, 0, 0)
    work.do(two, Reopen(), add("b", 0, 7), Accept())
    assert begin(store, "spans").publish() == 1
    (run,) = runs(store, "spans")
    assert said(store, run) == {one: {"spans": [[0, 5]]}, two: {"spans": [[0, 7]]}}
    assert len(list(store.results.of_run(run.run))) == 2


def test_an_answer_that_is_open_again_is_taken_back_and_stays_so_when_scored_again(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, _ = numbers(store, "spans")
    work = begin(store, "spans")
    work.do(one, add("a", 0, 5), Accept())
    work.do(two, Accept())
    work.publish()
    assert work.undo() == two
    work.publish()
    (run,) = runs(store, "spans")
    assert list(said(store, run)) == [one]
    assert (run.n, run.done, metrics(store, run)["n"]) == (1, 1, 1)
    assert metrics(store, rescore(store, run.run, sim=False))["n"] == 1
    work.redo()
    work.publish()
    assert list(said(store, run)) == [one, two]


def test_what_is_changed_after_the_reveal_is_another_source(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, _ = numbers(store, "spans")
    work = begin(store, "spans")
    work.do(one, add("a", 0, 5), Accept(), Reveal())
    work.do(two, Accept())
    work.publish()
    work.do(one, RemoveSpan("a"), add("b", 12, 23))
    work.publish()
    after, blind = runs(store, "spans")
    assert (blind.model, after.model) == ("ann", "ann, after reveal")
    assert said(store, blind) == {one: {"spans": [[0, 5]]}, two: {"spans": []}}
    assert said(store, after) == {one: {"spans": [[12, 23]]}, two: {"spans": []}}
    assert [other.name for other in work.others(one)] == ["gold", "A1"]


def test_a_source_in_the_trash_does_not_take_the_answers_with_it(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    work = begin(store, "spans")
    work.do(one, add("a", 0, 5), Accept())
    work.publish()
    delete(store, runs(store, "spans")[0].run)
    assert begin(store, "spans").publish() == 1
    (run,) = runs(store, "spans")
    assert said(store, run) == {one: {"spans": [[0, 5]]}}


@pytest.mark.parametrize(
    ("task", "events", "keys"),
    [
        ("labels", (SetLabels(("joy",)),), {"labels": ["joy"]}),
        ("labels", (), {"labels": []}),
        ("scenes", (SetLabels(("fear",)),), {"labels": {"joy": 0, "fear": 1}}),
        ("scenes", (), {"labels": {"joy": 0, "fear": 0}}),
        ("rephrase", (SetLabels(("anger",)),), {"label": "anger"}),
        ("masked", (SetWord(0, "glad"), SetWord(1, "worn")), {"labels": ["glad", "worn"]}),
        (
            "values",
            tuple(SetNumber(name, 5.0) for name in ("valence", "arousal", "dominance")),
            {"values": {"valence": 5.0, "arousal": 5.0, "dominance": 5.0}},
        ),
    ],
)
def test_answers_of_every_task_are_scored_and_can_become_gold(
    tmp_path: Path, task: str, events: tuple[Event, ...], keys: object
) -> None:
    store = store_with(tmp_path / "w.duckdb", task)
    work = begin(store, task)
    for number in numbers(store, task):
        work.do(number, *events, Accept())
    work.publish()
    (run,) = runs(store, task)
    assert set(map(str, said(store, run).values())) == {str(keys)}
    assert metrics(store, run)["n"] == len(numbers(store, task))
    assert make_gold(store, task, "ann").gold == 2
    work.do(numbers(store, task)[0], Reveal())
    gold = work.others(numbers(store, task)[0])[0]
    assert gold.answer.same_as(work.said(numbers(store, task)[0]).blind) or not events


def test_emotions_and_valences_of_sentences_become_gold_with_the_spans(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, three = numbers(store, "spans")
    work = Desk(store).begin("spans", "ann", scheme=built_in("seer"))
    happy, sad = SentenceSaid(emotion="happy", valence="positive"), SentenceSaid(emotion="sad", valence="negative")
    work.do(one, SetSentence(0, sad), SetSentence(1, happy), add("a", 0, 5), Accept())
    work.do(two, SetSentence(0, happy), Accept())
    work.do(three, SetSentence(0, sad), Accept())
    work.publish()
    make_gold(store, "spans", "ann")
    golds = [msgspec.json.decode(record, type=SpanSample) for _, record in store.samples.records([one, two])]
    assert [(part.start, part.end, part.emotion) for part in golds[0].sentences] == [(0, 11, "sad"), (12, 40, "happy")]
    assert (golds[1].emotion, golds[1].valence, golds[1].spans) == ("happy", "positive", ())


def test_what_is_said_of_sentences_is_exported(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, _ = numbers(store, "spans")
    work = Desk(store).begin("spans", "ann", scheme=built_in("seer"))
    work.do(one, *(SetSentence(n, SentenceSaid(emotion="sad", valence="negative")) for n in (0, 1)), Accept())
    work.do(two, SetSentence(0, SentenceSaid(emotion="happy", valence="positive")), Accept())
    work.publish()
    rows = export_rows(store, found_sources(store, ["ann"]), ["text"])
    assert rows[0]["sentences"] == [
        {"start": 0, "end": 11, "emotion": "sad", "valence": "negative"},
        {"start": 12, "end": 40, "emotion": "sad", "valence": "negative"},
    ]
    assert (rows[1]["emotion"], rows[1]["valence"], rows[1]["spans"]) == ("happy", "positive", [])
    beside = export_rows(store, found_sources(store, ["ann"]), ["gold"])
    assert beside[0]["sentences"][1]["emotion"] == "happy"
    assert beside[0]["annotators"]["ann"]["sentences"] == rows[0]["sentences"]


def test_somebody_who_annotates_several_datasets_is_exported_with_the_one_that_is_named(tmp_path: Path) -> None:
    store = store_with(tmp_path / "s.duckdb", "labels", "rephrase")
    for dataset in ("labels", "rephrase"):
        work = begin(store, dataset)
        labels = ("joy",) if dataset == "labels" else ("anger",)
        work.do(numbers(store, dataset)[0], SetLabels(labels))
        work.do(numbers(store, dataset)[0], Accept())
        work.publish()
    for names in (["rephrase", "ann"], ["ann", "rephrase"]):
        found = found_sources(store, names)
        assert (found.dataset.name, [run.dataset for run in found.runs]) == ("rephrase", [found.dataset.dataset])
