"""A folder of Parquet files is read as one file, in the order of its names."""

import json
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.formats import read, write
from emotui.records import Text
from emotui.workbench.files.texts import Texts
from tests.conftest import Emotui


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "texts"
    (found / "b").mkdir(parents=True)
    (found / "_temporary").mkdir()
    for name, numbers in (("b/part-1.parquet", (3, 4)), ("a.parquet", (1, 2)), ("_temporary/x.parquet", (1,))):
        write(str(found / name), [Text(id=f"t{n}", text=f"we felt joy {n}") for n in numbers])
    (found / "_SUCCESS").write_text("")
    return found


def test_its_rows_come_in_the_order_of_names_and_are_counted_through(folder: Path) -> None:
    got = read(str(folder), Text)
    assert [one.id for one in got.records] == ["t1", "t2", "t3", "t4"]
    assert list(got.lines) == [1, 2, 3, 4]
    texts = Texts(str(folder))
    assert (texts.n, [text.id for _, text in texts]) == (4, ["t1", "t2", "t3", "t4"])
    write(str(folder / "b" / "part-2.parquet"), [Text(id="t5", text="more")])
    with pytest.raises(BadInput, match="has changed since it was first read"):
        list(texts)


def test_predict_over_it_is_predict_over_one_file(emotui: Emotui, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(
        "".join(json.dumps({"id": f"t{n}", "text": f"we felt joy {n}"}) + "\n" for n in (1, 2, 3, 4))
    )
    for records, to in ((folder, "many"), ("one.jsonl", "single")):
        assert emotui("predict", "class", "--records", records, "--to", f"{to}.jsonl").status == 0
    assert (tmp_path / "many.jsonl").read_bytes() == (tmp_path / "single.jsonl").read_bytes()


def test_what_is_wrong_in_it_is_named_with_its_file(folder: Path, emotui: Emotui) -> None:
    write(str(folder / "b" / "part-2.parquet"), [Text(id="t1", text="again")])
    with pytest.raises(BadInput, match=r"texts:5: duplicate id 't1': already on line 1"):
        read(str(folder), Text)
    (folder / "b" / "part-2.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadInput, match=r"texts.*b/part-2.parquet: "):
        read(str(folder), Text)
    for path in folder.rglob("*.parquet"):
        path.unlink()
    with pytest.raises(BadInput, match="is a folder, not a file"):
        read(str(folder), Text)
