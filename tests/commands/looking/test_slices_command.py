"""`emotui slices`: filters with a name, figures by part, rules."""

import json
from pathlib import Path

import pytest

from tests.commands.looking.two_questions import two_questions
from tests.conftest import Emotui
from tests.templates import copy_of


@pytest.fixture
def store(emotui: Emotui, tmp_path: Path) -> Path:
    """Forty texts of two kinds; the source is wrong about every second one of kind a."""
    texts = [
        {"id": f"t{at}", "text": "so glad", "spans": [[3, 7]], "emotion": "happy", "meta": {"kind": "ab"[at % 2]}}
        for at in range(40)
    ]
    said = [{"id": f"t{at}", "spans": [] if at % 4 == 0 else [[3, 7]]} for at in range(40)]
    for name, records in (("t", texts), ("said", said)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))

    def make(path: Path) -> None:
        assert emotui("import", "t.jsonl", "--name", "t", "--db", path).status == 0
        taken = ("import", "predictions", "said.jsonl", "--dataset", "t", "--source", "them", "--no-sim")
        assert emotui(*taken, "--db", path).status == 0

    copy_of(tmp_path / "w.duckdb", __name__, make)
    return tmp_path / "w.duckdb"


def test_slices_are_saved_listed_asked_for_and_removed(emotui: Emotui, store: Path) -> None:
    def asked(*words: str) -> dict[str, object]:
        done = emotui("slices", *words, "--db", store, "--json")
        assert (done.status, done.err) == (0, "")
        document: dict[str, object] = done.document
        return document

    assert asked("save", "t", "wrong", "f1<1", "--run", "them") == {"dataset": "t", "name": "wrong", "replaced": False}
    (listed,) = asked("list", "t")["slices"]  # type: ignore[misc]
    assert (listed["conditions"], listed["n"]) == ("f1<1", None)
    assert asked("ids", "t", "slice=wrong & kind=a", "--run", "them")["n"] == 10
    figures = asked("figures", "t", "--of", "them", "--by", "kind")
    assert [(row["value"], row["n"], row["mean"]) for row in figures["slices"]] == [("a", 20, 0.5), ("b", 20, 1.0)]  # type: ignore[index, attr-defined]
    found = asked("find", "t", "--of", "them", "--fewest", "5", "--by", "kind")
    assert [row["conditions"] for row in found["rules"]] == ["kind=a"]  # type: ignore[index, attr-defined]
    assert "kind" in [one["facet"] for one in asked("facets", "t")["facets"]]  # type: ignore[attr-defined]
    assert asked("remove", "t", "wrong")["removed"] is True


@pytest.mark.parametrize(
    "words",
    [
        ("save", "t", "x", "nix=1"),
        ("save", "t", "x", "kind"),
        ("ids", "t", "slice=none"),
        ("remove", "t", "none"),
        ("figures", "t", "--of", "nobody"),
        ("figures", "t", "--of", "them", "--metric", "nix"),
        ("find", "t", "--of", "them", "--by", "nix"),
    ],
)
def test_what_is_not_there_is_one_line_on_standard_error(emotui: Emotui, store: Path, words: tuple[str, ...]) -> None:
    done = emotui("slices", *words, "--db", store)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)


@pytest.fixture
def asked_twice(emotui: Emotui, tmp_path: Path) -> Path:
    return two_questions(emotui, tmp_path)


def test_slices_are_of_whatever_question_the_source_answers(emotui: Emotui, asked_twice: Path) -> None:
    figures = emotui("slices", "figures", "t", "--of", "numbers", "--by", "kind", "--db", asked_twice, "--json")
    assert figures.status == 0, figures.err
    a, b = (row["mean"] for row in figures.document["slices"])
    assert (a, b) == (pytest.approx(0.0), pytest.approx(0.1))
    found = ("slices", "find", "t", "--of", "numbers", "--by", "kind", "--fewest", "5", "--db", asked_twice, "--json")
    assert [row["conditions"] for row in emotui(*found).document["rules"]] == ["kind=b"]
    refused = emotui("slices", "find", "t", "--of", "spans", "--db", asked_twice)
    assert (refused.status, refused.err) == (2, "no sample has a f1 of spans\n")
    unknown = emotui("slices", "find", "t", "--of", "nobody", "--db", asked_twice)
    assert (unknown.status, unknown.err) == (2, "t has no source 'nobody'; it has: near, numbers, spans\n")
    apart = emotui("slices", "find", "t", "--of", "numbers", "--against", "spans", "--db", asked_twice)
    assert apart.status == 2
    assert apart.err == "numbers answers values, spans answers spans: these cannot be compared with each other\n"


def test_a_source_that_says_what_gold_does_not_leaves_the_tables_of_the_others(
    emotui: Emotui, asked_twice: Path
) -> None:
    shown = emotui("results", "--dataset", "t", "--db", asked_twice)
    assert shown.status == 0, shown.err
    assert "numbers" in shown.out
