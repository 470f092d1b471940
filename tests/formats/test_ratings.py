"""Tables of ratings as people have them: a column a rater, other names, other separators."""

from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.formats.ratings import read_ratings
from tests.conftest import Emotui

WIDE = "item,ann,ben,note\n1,joy,joy,x\n2,fear,,\n"


def told(path: Path, text: str) -> list[tuple[str, str, str]] | None:
    path.write_text(text, encoding="utf-8")
    found = read_ratings(str(path))
    return None if found is None else [(one.item, one.rater, one.label) for one in found.ratings]


@pytest.mark.parametrize(("separator", "ending"), [(",", "csv"), (";", "csv"), ("\t", "tsv"), ("\t", "txt")])
def test_a_column_for_each_rater_and_an_empty_cell_is_no_rating(tmp_path: Path, separator: str, ending: str) -> None:
    said = [("1", "ann", "joy"), ("1", "ben", "joy"), ("2", "ann", "fear")]
    assert told(tmp_path / f"r.{ending}", WIDE.replace(",", separator)) == said


def test_a_rating_a_row_under_other_names(tmp_path: Path) -> None:
    text = "\ufefftext_id;text;Annotator;Emotion\n1;so;ann;joy\n\n1;so;ben;fear\n"
    assert told(tmp_path / "r.csv", text) == [("1", "ann", "joy"), ("1", "ben", "fear")]


@pytest.mark.parametrize(
    "text",
    ["item,rater,label\n1,a,x\n", "id,text,label\n1,so,joy\n", "id,text,rater\n1,so,ann\n", "id,ann\n1,joy\n", ""],
)
def test_what_is_promised_or_no_such_table_is_left_to_its_reader(tmp_path: Path, text: str) -> None:
    assert told(tmp_path / "r.csv", text) is None
    assert read_ratings("-") is None
    assert read_ratings(str(tmp_path / "missing.csv")) is None


def test_a_bad_row_is_told_by_its_line_and_left_out_on_request(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("item,ann,ben\n1,joy\n,joy,joy\n3,joy,fear\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_ratings(str(file))
    assert list(caught.value.problems) == [
        f"{file}:2: 2 cells, and the header has 3",
        f"{file}:3: 'item' is empty",
    ]
    found = read_ratings(str(file), skip_bad=True)
    assert found is not None
    assert (len(found.ratings), len(found.problems)) == (2, 2)


def test_the_command_tells_what_it_took_a_table_for(tmp_path: Path, emotui: Emotui) -> None:
    file = tmp_path / "r.csv"
    file.write_text(WIDE, encoding="utf-8")
    ran = emotui("agreement", "--ratings", file, "--json")
    assert (ran.document["items"], ran.document["raters"]) == (2, 2)
    assert f"{file}: taken as a column a rater: ann, ben; items by item" in ran.err
    file.write_text("id,who,ann,ben\n1,x,joy,fear\n1,x,joy,fear\n", encoding="utf-8")
    assert f"{file}:3: 1: who rated it twice" in emotui("agreement", "--ratings", file).err
