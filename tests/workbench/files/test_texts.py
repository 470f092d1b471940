"""Texts one after the other are those that a file read as a whole has, and the same lines are wrong with it."""

import io
import json
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.formats import read
from emotui.formats.layouts.layout import ReadOptions
from emotui.records import Text
from emotui.workbench.datasets.foreign import Wish, read_foreign
from emotui.workbench.files import texts as of_files
from emotui.workbench.files.texts import Answered, Answers, Texts

LINES = st.one_of(
    st.builds(lambda key: json.dumps({"id": key, "text": "I wept"}), st.sampled_from("abcdef")),
    st.builds(lambda key: json.dumps({"text": key}), st.sampled_from("xyz")),
    st.sampled_from(["", "{", '{"id": "", "text": "b"}', '{"id": "q"}', "[1]"]),
)


def told(call: Callable[[], list[tuple[int, Text]]]) -> object:
    try:
        return call()
    except BadInput as error:
        return str(error)


def one_by_one(path: Path, *, skip_bad: bool) -> list[tuple[int, Text]]:
    found = Texts(str(path), skip_bad=skip_bad)
    try:
        assert list(found) == list(found)
        assert found.n == len(list(found))
        return list(found)
    finally:
        found.close()


def at_once(path: Path, *, skip_bad: bool) -> list[tuple[int, Text]]:
    found = read(path, Text, skip_bad=skip_bad)
    return list(zip(found.lines, found.records, strict=True))


@given(st.lists(LINES, max_size=30), st.booleans())
@settings(max_examples=40, deadline=None)
def test_texts_and_troubles_are_those_of_a_file_read_as_a_whole(lines: list[str], skip_bad: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jsonl")
        path.write_text("\n".join(lines), encoding="utf-8")
        assert told(lambda: one_by_one(path, skip_bad=skip_bad)) == told(lambda: at_once(path, skip_bad=skip_bad))


def test_what_comes_through_a_pipe_can_be_gone_through_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Piped:
        buffer = io.BytesIO(b'{"text": "I wept", "meta": {"a": 1}}\n{"text": "I sang"}\n')
        closed = False

    monkeypatch.setattr(sys, "stdin", Piped())
    found = Texts("-")
    assert [(line, text.id, text.text, dict(text.meta)) for line, text in found] == [
        (1, "1", "I wept", {"a": 1}),
        (2, "2", "I sang", {}),
    ]
    assert [line for line, _ in found] == [1, 2]
    found.close()


def test_an_id_is_found_twice_wherever_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_files, "_PART", 4)
    path = tmp_path / "t.jsonl"
    keys = [*range(30), 7, 29]
    path.write_text("".join(json.dumps({"id": key, "text": "I wept"}) + "\n" for key in keys))
    with pytest.raises(BadInput) as found:
        Texts(str(path))
    assert str(found.value).splitlines() == [
        f"{path}:31: duplicate id '7': already on line 8",
        f"{path}:32: duplicate id '29': already on line 30",
    ]


def test_a_file_that_changes_meanwhile_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "I wept"}\n')
    found = Texts(str(path))
    path.write_text('{"text": "I wept and wept"}\n')
    with pytest.raises(BadInput, match="has changed since"):
        list(found)


def test_the_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def most(n: int) -> int:
        path = tmp_path / f"{n}.jsonl"
        path.write_text("".join(f'{{"id": {place}, "text": "{"I wept. " * 40}"}}\n' for place in range(n)))
        tracemalloc.start()
        try:
            texts = Texts(str(path))
            answers: Answers[Text] = Answers(Text, texts.n, tmp_path / f"{n}.part", "x")
            for place, (line, text) in enumerate(texts):
                answers.keep([Answered(n - 1 - place, line, text)])
            assert sum(1 for _ in answers) == n
            answers.close()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    import numpy  # noqa: F401 - its import is no memory of a file's

    few, many = most(300), most(3000)
    assert many - few < 3000 * 100  # a third of the texts alone


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.txt", "I wept\nI sang\n"),
        ("t.csv", "Tweet;Author\nI wept;a\nI sang;b\n"),
        ("t.json", '[{"sentence": "I wept"}, {"sentence": "I sang"}]'),
        ("t.jsonl", '{"sentence": "I wept"}\n{"sentence": "I sang"}\n'),
    ],
)
def test_files_of_other_programs_are_read_as_import_reads_them_and_again(
    name: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with closing(Texts(str(path))) as found:
        assert found.n == 2
        assert [text.text for _, text in found] == [text.text for _, text in found] == ["I wept", "I sang"]
        assert found.taken is not None
        of_import = read_foreign([str(path)], Wish(kind="class"))
        assert [text.id for _, text in found] == [sample.id for sample in of_import.samples]


def test_a_column_can_be_named_for_the_texts_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("text,reply\nI wept,I sang\n", encoding="utf-8")
    with closing(Texts(str(path), wish=Wish(options=ReadOptions(columns={"text": "reply"})))) as found:
        assert [text.text for _, text in found] == ["I sang"]
    with pytest.raises(BadInput, match=r"t\.csv"):
        Texts(str(path), wish=Wish(options=ReadOptions(columns={"text": "gone"})))


def test_a_file_of_the_projects_own_is_taken_for_nothing_else_and_one_without_texts_is_refused(tmp_path: Path) -> None:
    own, silent = tmp_path / "own.csv", tmp_path / "silent.csv"
    own.write_text("id,text\na,I wept\n", encoding="utf-8")
    silent.write_text("id,number\na,1\nb,2\n", encoding="utf-8")
    with closing(Texts(str(own))) as found:
        assert found.taken is None
    with pytest.raises(BadInput, match=r"silent\.csv.*text"):
        Texts(str(silent))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("reman.jsonl", '{"doc_id": "8|1", "text": "I wept", "emotion_spans": [], "adjudicated": true}\n'),
        ("named.jsonl", '{"tweet_id": "t7", "text": "I wept"}\n{"tweet_id": "t8", "text": "I sang"}\n'),
        ("named.csv", "text_id,text,label\n17,I wept,sadness\n18,I sang,joy\n"),
        ("people.csv", "id,text,annotator,label\na,I wept,eve,sadness\na,I wept,bob,joy\n"),
        ("spans.csv", "id,text,start,end,label\na,I wept,2,6,sadness\na,I wept,0,1,joy\n"),
        ("ids.jsonl", '{"id": "a", "text": "I wept", "key": 3}\n'),
        ("plain.csv", "text,label\nI wept,sadness\nI sang,joy\n"),
    ],
)
def test_texts_have_the_ids_that_an_import_gives_them(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    imported = read_foreign([str(path)], Wish()).samples
    assert [text.id for _, text in one_by_one(path, skip_bad=False)] == [sample.id for sample in imported]
