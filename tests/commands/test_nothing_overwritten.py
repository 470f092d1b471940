"""No command writes onto its store or onto a file that it reads, whatever the file is called."""

from pathlib import Path

import pytest

from tests.conftest import Emotui

GOLD = '{"id": "1", "text": "I was glad.", "spans": [[0, 5, "joy"]]}\n'


@pytest.fixture
def store(tmp_path: Path, emotui: Emotui) -> Path:
    """A store whose name ends as a file of records does."""
    gold = tmp_path / "gold.jsonl"
    gold.write_text(GOLD, encoding="utf-8")
    path = tmp_path / "store.jsonl"
    assert emotui("import", "spans", gold, "--db", path).status == 0
    (tmp_path / "link.jsonl").symlink_to(path)
    return path


@pytest.mark.parametrize("name", ["store.jsonl", "link.jsonl", "./store.jsonl"])
@pytest.mark.parametrize(
    "words",
    [
        ("export", "gold"),
        ("export", "gold", "--format", "text"),
        ("sql", "select 1"),
        ("map-labels", "gold", "--set", "glad=joy"),
    ],
    ids=" ".join,
)
def test_the_store_is_not_written_over(
    emotui: Emotui, tmp_path: Path, store: Path, words: tuple[str, ...], name: str
) -> None:
    before = store.read_bytes()
    done = emotui(*words, "--to", tmp_path / name, "--db", store)
    assert (done.status, done.out) == (2, "")
    assert "which would be lost: name another file" in done.err
    assert store.read_bytes() == before


def test_a_mapping_is_written_over_no_file_that_is_imported_and_not_over_the_store(
    emotui: Emotui, tmp_path: Path, store: Path
) -> None:
    gold, before = tmp_path / "gold.jsonl", store.read_bytes()
    for target in (gold, store):
        done = emotui("import", gold, "--name", "other", "--save-map", target, "--db", store)
        assert (done.status, done.out) == (2, "")
        assert "which would be lost" in done.err
    assert gold.read_text(encoding="utf-8") == GOLD
    assert store.read_bytes() == before
