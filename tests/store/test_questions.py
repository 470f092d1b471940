"""A researcher's own questions: one SELECT that changes nothing and reads nothing else, and copies of the store."""

import json
from pathlib import Path

import duckdb
import pytest

from emotui.errors import BadInput, EmotuiError
from emotui.store import questions
from emotui.store.rows import ResultRow, SampleRow
from emotui.store.store import Store
from emotui.workbench.notes import standing
from tests.store.store_samples import score
from tests.templates import copy_of

TEXT = "🙂 I slammed the door."


def row(name: str, record: dict[str, object], text: str = TEXT) -> SampleRow:
    return SampleRow(name, text, None, None, (), (), json.dumps({"id": name, "text": text, **record}).encode())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    path = tmp_path / "workspace.duckdb"
    copy_of(path, "questions", _make)
    return Store.open(path)


def _make(path: Path) -> None:
    made = Store.open(path)
    made.datasets.add(
        "stories",
        "spans",
        [
            row("a", {"spans": [[2, 3], {"start": 4, "end": 11, "label": "angry", "score": 0.5}, [12, 20, "sad"]]}),
            row("b", {"spans": [], "annotators": {'A "B"': [[4, 11]], "c'd": {"spans": [[2, 3]]}}}),
        ],
        "stories.jsonl",
        "abc",
    )
    made.datasets.add(
        "posts", "labels", [row("p", {"labels": {'jo"y': 1, "fear": 0}}), row("q", {"labels": ["joy"]})], "", "d"
    )
    made.datasets.add("classes", "rephrase", [row("k", {"label": "joy", "meta": {"turn": 3}})], "", "e")
    made.datasets.add("masks", "masked", [row("m", {"labels": ["sad", "sad"]})], "", "f")
    made.runs.start("run", "identity", "spans", "model", 1, {"way": "retrieve"}, 2)
    said = b'{"spans":["slammed","nowhere"],"offsets":[[4,11]],"labels":["angry"],"strengths":[0.25]}'
    made.results.commit("run", [ResultRow(1, 0, 0, "p", "r", None, 0.5, said, score(0.5, marks="MX"))])
    made.runs.start("other", "identity", "labels", "m", 2, {}, 1, "file")
    said = b'{"labels":["joy"],"probs":{"joy":0.75,"fear":0.25}}'
    made.results.commit("other", [ResultRow(3, 0, 0, None, "r", None, 0.5, said, score(1.0))])


def asked(store: Store, question: str, **how: object) -> list[tuple[object, ...]]:
    return list(questions.ask(store.path, question, **how).rows)  # type: ignore[arg-type]


def written(store: Store, question: str, to: Path) -> int:
    with questions.written_to(to) as beside:
        return questions.write(store.path, question, beside, to.suffix)


def test_gold_has_a_row_for_each_thing_that_a_record_says_whatever_its_form(store: Store) -> None:
    assert asked(store, "select id, place, start, stop, label, value, words from gold where dataset = 'stories'") == [
        ("a", 1, 2, 3, None, None, "I"),
        ("a", 2, 4, 11, "angry", 0.5, "slammed"),
        ("a", 3, 12, 20, "sad", None, "the door"),
    ]
    assert sorted(asked(store, "select id, part, label, value from gold where dataset != 'stories'")) == [
        ("k", "label", "joy", 1.0),
        ("m", "mask", "sad", 1.0),
        ("m", "mask", "sad", 1.0),
        ("p", "label", "fear", 0.0),
        ("p", "label", 'jo"y', 1.0),
        ("q", "label", "joy", 1.0),
    ]


def test_what_every_source_says_has_the_form_of_gold(store: Store) -> None:
    columns = "source, kind, id, start, stop, label, value, words"
    found = asked(store, f"select {columns} from said where dataset = 'stories' and kind != 'gold'")
    assert sorted(found, key=lambda said: (said[0], str(said[3]))) == [
        ('A "B"', "person", "b", 4, 11, None, None, "slammed"),
        ("c'd", "person", "b", 2, 3, None, None, "I"),
        ("run", "model", "a", 4, 11, "angry", 0.25, "slammed"),
        ("run", "model", "a", None, None, None, None, "nowhere"),
    ]
    assert asked(store, "select id, label, value from said where source = 'other' order by label") == [
        ("p", "fear", 0.25),
        ("p", "joy", 0.75),
    ]
    counts = asked(store, "select kind, count(*) from said group by all order by all")
    assert counts == [("file", 2), ("gold", 9), ("model", 2), ("person", 2)]


def test_scores_have_letters_for_their_errors_and_values_by_name(store: Store) -> None:
    assert asked(store, "select dataset, id, gold_version, marks from scores order by all") == [
        ("posts", "p", 1, ""),
        ("stories", "a", 1, "MX"),
    ]
    assert asked(store, "select run, name, value from score_values where run = 'run' order by name") == [
        ("run", "f1", 0.5),
        ("run", "sim", None),
    ]
    assert asked(store, "select meta->>'turn' from texts where id = 'k'") == [("3",)]
    assert asked(store, "select kind, config->>'way' from runs where run = 'run'") == [("model", "retrieve")]


def test_a_rating_that_was_taken_back_is_none_until_it_is_put_back(store: Store) -> None:
    first = store.annotations.append("review", 1, "ada", b'{"emotion":"joy"}')
    kept = store.annotations.append("review", 1, "bob", b'{"emotion":"fear"}')
    undone = store.annotations.append("undo", 1, "ada", b"{}", undoes=first)
    assert asked(store, "select rating, rater, label, id from ratings") == [(kept, "bob", "fear", "a")]
    store.annotations.append("redo", 1, "ada", b"{}", undoes=undone)
    assert asked(store, "select rating from ratings order by 1") == [(first,), (kept,)]


def test_notes_stand_as_they_are_now_with_codes_by_their_present_names(store: Store) -> None:
    number = next(one.dataset for one in store.datasets.all() if one.name == "stories")
    first = store.samples.file_order(number).start
    log = store.notes
    log.write(number, [(first, "ada", "first", ["irony", "cue"])])
    log.write(number, [(first, "ada", "", ["irony", "short"]), (first, "bob", "seen", [])])
    log.rename(number, "irony", "sarcasm", "ada")
    log.write(number, [(first, "cyd", "", ["irony"])])  # made anew under the old name
    log.rename(number, "sarcasm", "short", "ada")
    log.rename(number, "short", "brief", "bob")
    log.undo(number, "bob")
    log.write(number, [(first, "dee", "gone", [])])
    log.write(number, [(first, "dee", "", [])])
    stand = [(note.annotator, note.text, sorted(note.codes)) for note in standing(log.entries(number))]
    assert sorted(stand) == [("ada", "", ["short"]), ("bob", "seen", []), ("cyd", "", ["irony"])]
    assert asked(store, "select annotator, note, codes from notes order by annotator") == sorted(stand)
    assert asked(store, "select distinct dataset, sample from notes") == [("stories", first)]


def test_what_is_in_the_trash_is_in_no_view(store: Store) -> None:
    for name in ("stories", "other", "posts"):
        store.by_name.delete(name)
    for view in questions.NAMES:
        if view not in ("ratings", "runs", "scores", "score_values"):
            assert asked(store, f"select distinct dataset from {view} where dataset in ('stories', 'posts')") == []
    assert asked(store, "select * from runs") == asked(store, "select * from scores") == []


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("drop table store.main.runs", "one SELECT: nothing can be changed"),
        ("update store.main.runs set run = 'x'", "one SELECT"),
        ("select 1; select 2", "these are 2 statements"),
        (" ", "the query is empty"),
        ("selec 1", "syntax error"),
        ("select nope from runs", 'Referenced column "nope" not found'),
        ("select now()", r"cast it, as in now\(\)::timestamp"),
        ("select * from read_csv('/etc/passwd')", "Cannot access file"),
        ("select * from read_text('/etc/passwd')", "Cannot access file"),
        ("select * from glob('/etc/*')", "Cannot access|disabled"),
        ("copy (select 1) to '/tmp/x.csv'", "one SELECT"),
        ("attach '/tmp/x.duckdb'", "one SELECT"),
        ("set enable_external_access = true", "one SELECT"),
        ("install httpfs", "one SELECT"),
    ],
)
def test_a_question_changes_nothing_and_reads_nothing_else(store: Store, question: str, why: str) -> None:
    before = store.path.read_bytes()
    with pytest.raises(BadInput, match=why) as refused:
        questions.ask(store.path, question)
    assert "\n" not in str(refused.value)
    assert store.path.read_bytes() == before


def test_the_store_can_be_used_after_a_question_and_beside_it(store: Store) -> None:
    assert asked(store, "select count(*) from texts") == [(6,)]
    store.by_name.delete("posts")
    assert asked(store, "select count(*) from texts") == [(4,)]


def test_rows_come_as_long_as_there_is_room_for_them_and_it_says_so(store: Store) -> None:
    question = "select repeat('x', 10), [i] from range(50) t(i)"  # a row is 18 bytes
    answer = questions.ask(store.path, question, most=18 * 30)
    assert (len(answer.rows), answer.more, answer.full) == (30, True, True)
    answer = questions.ask(store.path, question, most=18 * 50)
    assert (len(answer.rows), answer.more, answer.full) == (50, False, False)
    with pytest.raises(EmotuiError, match="a row of the answer is longer than"):
        questions.ask(store.path, question, most=17)


def test_no_more_rows_than_asked_for_come_and_it_says_so(store: Store) -> None:
    answer = questions.ask(store.path, "select i from range(5) t(i)", limit=3)
    assert (answer.columns, answer.rows, answer.more) == (("i",), ((0,), (1,), (2,)), True)
    assert not questions.ask(store.path, "select i from range(3) t(i) -- all", limit=3).more


def test_an_answer_is_written_in_each_format_whole_or_not_at_all(store: Store, tmp_path: Path) -> None:
    question = "select id, words from gold where words is not null order by place -- with a remark"
    for ending in questions.ENDINGS:
        assert written(store, question, tmp_path / f"it's{ending}") == 3
    assert (tmp_path / "it's.csv").read_text() == "id,words\na,I\na,slammed\na,the door\n"
    assert (tmp_path / "it's.tsv").read_text().splitlines()[0] == "id\twords"
    assert [json.loads(line)["words"] for line in (tmp_path / "it's.jsonl").read_text().splitlines()][2] == "the door"
    with duckdb.connect() as connection:
        assert connection.execute(
            "select count(*) from read_parquet(?)", [str(tmp_path / "it's.parquet")]
        ).fetchall() == [(3,)]
    with pytest.raises(BadInput, match="unknown ending"):
        written(store, question, tmp_path / "a.xls")
    with pytest.raises(BadInput, match="there is no folder"):
        written(store, question, tmp_path / "no" / "a.csv")
    with pytest.raises(BadInput, match="not found"):
        written(store, "select nope from runs", tmp_path / "it's.csv")
    assert (tmp_path / "it's.csv").read_text().startswith("id,words")
    assert not list(tmp_path.glob(".*.part"))


def test_a_snapshot_is_a_store_with_the_views_that_others_may_hold_open(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "it's a copy.duckdb"
    questions.snapshot(store.path, copy)
    with duckdb.connect(copy, read_only=True) as held:
        assert held.execute("select count(*) from views.said").fetchall() == [(15,)]
        store.by_name.delete("stories")
        assert [one.name for one in store.datasets.all()] == ["posts", "classes", "masks"]
    again = Store.open(copy)
    assert [one.name for one in again.datasets.all()] == ["stories", "posts", "classes", "masks"]
    again.results.commit("run", [ResultRow(2, 0, 0, "p", "r", None, 0.5)])
    assert [result.output for result in again.results.of_run("run")] == [1, 3]


def test_a_snapshot_never_replaces_the_store_nor_without_force_another_file(store: Store, tmp_path: Path) -> None:
    (tmp_path / "link.duckdb").symlink_to(store.path)
    (tmp_path / "there").write_text("mine")
    for to, force in ((store.path, True), (tmp_path / "link.duckdb", True), (tmp_path / "there", False)):
        with pytest.raises(BadInput):
            questions.snapshot(store.path, to, force=force)
    assert (tmp_path / "there").read_text() == "mine"
    questions.snapshot(store.path, tmp_path / "there", force=True)
    assert len(Store.open(tmp_path / "there").datasets.all()) == 4
    assert not list(tmp_path.glob(".*"))


def test_what_gold_and_people_say_beside_their_own_task_is_told_apart_and_labels_of_spans_are_no_labels(
    tmp_path: Path,
) -> None:
    made = Store.open(tmp_path / "beside.duckdb")
    beside = {"meta": {"label": "joy", "values": {"valence": 2.5}, "annotators": {"bo": {"labels": ["fear"]}}, "n": 7}}
    made.datasets.add("mixed", "spans", [row("a", {"spans": [[4, 11, "anger"]], **beside})], "", "a")
    made.datasets.add("labelled", "labels", [row("b", {"labels": ["joy"]})], "", "b")
    made.datasets.add("masks", "masked", [row("m", {"labels": ["sad"], "meta": {"labels": ["joy"]}})], "", "c")
    made.runs.start("cy", "identity", "spans", "cy", 1, {}, 1, "person")
    said = b'{"spans":["slammed"],"offsets":[[4,11]],"labels":["anger"]}'
    raw = '{"spans":[[4,11,"anger"]],"labels":["joy"],"values":{"valence":3.0}}'
    made.results.commit("cy", [ResultRow(1, 0, 0, None, raw, None, 0.5, said, None)])
    made.runs.start("model", "other", "spans", "m", 2, {}, 1)
    made.results.commit("model", [ResultRow(2, 0, 0, "p", raw, None, 0.5, said, None)])
    question = "select source, part, label, value from said where dataset = '{}' order by all"
    assert asked(made, question.format("mixed")) == [
        ("bo", "label", "fear", 1.0),
        ("cy", "label", "joy", 1.0),
        ("cy", "number", "valence", 3.0),
        ("cy", "span", "anger", None),
        ("gold", "label", "joy", 1.0),
        ("gold", "number", "valence", 2.5),
        ("gold", "span", "anger", None),
    ]
    assert asked(made, question.format("labelled")) == [("gold", "label", "joy", 1.0), ("model", "span", "anger", None)]
    assert asked(made, question.format("masks")) == [("gold", "label", "joy", 1.0), ("gold", "mask", "sad", 1.0)]
