"""Blind studies: what they are about, orders that are kept, answers that are kept at once, sheets and results."""

import csv
from pathlib import Path

import msgspec
import pytest

from emotui.errors import BadInput
from emotui.records import MaskedGold
from emotui.store.query import Dataset
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.masked.finished_study import EXPORTED, export_answers, take_sheet, write_sheet
from emotui.workbench.masked.study import Coding, begin_study, results
from emotui.workbench.masked.study_log import STUDY, Answer, express_codes, read_codes, studies, write_codes
from emotui.workbench.workspace import Workspace
from tests.screens.masked.workspace import WRITES, add_masked_run, masked_workspace


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return masked_workspace(tmp_path)


def dataset(source: Workspace, name: str = "masked") -> Dataset:
    found = source.store.datasets.get(name)
    assert found is not None
    return found


def test_a_study_is_about_texts_whose_vectors_differ_one_of_each_post(source: Workspace) -> None:
    texts = [
        MaskedGold(id="p-1", text="I am <mask>.", labels=("Sad",), meta={"post": "p"}),
        MaskedGold(id="p-2", text="I feel <mask>.", labels=("sad",), meta={"post": "p"}),
        MaskedGold(id="same", text="I am <mask>!", labels=("livid",)),
        MaskedGold(id="silent", text="I was <mask>!", labels=("sad",)),
        MaskedGold(id="two", text="<mask> or <mask>?", labels=("angry", "PROUD")),
    ]
    own = add_samples(source.store, "masked", "own", texts, "a test")
    said = (["happy"], ["happy"], ["angry"], [], ["furious", "ashamed"])
    add_masked_run(source, own, "own-1", [msgspec.json.encode(one).decode() for one in said], "zero-shot")
    study = begin_study(source.store, own, "s", "gold", "own-1")
    ids = [item.id for item in study.items]
    assert ids in (["p-1", "two"], ["p-2", "two"])
    assert (study.items[1].a, study.items[1].b) == (("angry", "proud"), ("furious", "ashamed")), "in small letters"
    assert len(begin_study(source.store, own, "one", "gold", "own-1", most=1).items) == 1
    for name, a, b in (("s", "gold", "own-1"), (" ", "gold", "own-1"), ("t", "gold", "gold"), ("t", "nobody", "gold")):
        with pytest.raises(BadInput):
            begin_study(source.store, own, name, a, b)


def test_what_a_coder_is_shown_does_not_say_whose_word_is_whose_and_stays(source: Workspace) -> None:
    begin_study(source.store, dataset(source), "s", "gold", WRITES)
    coding = Coding(source.store, "s", "Ada")
    items = {item.sample: item for item in studies(source.store)["s"].items}
    shown = [coding.shown(sample) for sample in coding.texts]
    assert sorted(coding.texts) == sorted(items)
    first_is_gold = [one.first == items[one.sample].a for one in shown]
    assert {True, False} == set(first_is_gold)
    assert all({one.first, one.second} == {items[one.sample].a, items[one.sample].b} for one in shown)
    assert [one.number for one in shown] == list(range(1, len(items) + 1))
    for one in shown:
        encoded = msgspec.json.encode(one)
        assert b"gold" not in encoded
        assert WRITES.encode() not in encoded
    again = Coding(source.store, "s", "Ada")
    assert [again.shown(sample) for sample in again.texts] == shown
    other = Coding(source.store, "s", "Ben")
    assert other.texts != coding.texts or [other.shown(one).first for one in other.texts] != [
        coding.shown(one).first for one in coding.texts
    ]


def test_answers_are_kept_at_once_and_taken_back_one_by_one(source: Workspace) -> None:
    begin_study(source.store, dataset(source), "s", "gold", WRITES)
    coding = Coding(source.store, "s", "Ada")
    one, two = coding.texts[:2]
    coding.say(one, "first", rationale=" it fits ", own=("tone", "tone", ""), codes=("3", "5"))
    coding.say(one, "both", codes=("11",))
    coding.say(two, "neither")
    fresh = Coding(source.store, "s", "Ada")
    kept = fresh.shown(one).answer
    assert kept is not None
    assert (kept.answer, kept.codes) == ("both", ("11",))
    assert fresh.answered == {one, two}
    assert fresh.next_open(one) == coding.texts[2]
    assert [fresh.undo(), fresh.undo()] == [two, one]
    before = fresh.shown(one).answer
    assert before is not None
    assert (before.answer, before.rationale, before.open) == ("first", "it fits", ("tone",))
    assert [fresh.undo(), fresh.undo()] == [one, None]
    for answer, codes in (("first", ("11",)), ("both", ("3",)), ("neither", ("99",)), ("left", ())):
        with pytest.raises(BadInput):
            fresh.say(one, answer, codes=codes)
    assert len([entry for entry in source.store.annotations.entries(kind=STUDY) if entry.sample is not None]) == 6


def test_an_answer_is_for_the_source_whose_word_stood_there() -> None:
    assert [Answer("s", one, False).verdict for one in ("first", "second", "both")] == ["a", "b", "both"]
    assert [Answer("s", one, True).verdict for one in ("first", "second", "neither")] == ["b", "a", "neither"]


def test_a_sheet_goes_out_and_comes_back_and_wrong_lines_are_named(source: Workspace, tmp_path: Path) -> None:
    begin_study(source.store, dataset(source), "s", "gold", WRITES)
    coding, path = Coding(source.store, "s", "Ada"), tmp_path / "sheet.csv"
    assert write_sheet(coding, str(path)) == len(coding.texts)
    assert WRITES not in path.read_text("utf-8")
    assert "gold" not in path.read_text("utf-8").partition("\n")[0]
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))

    def put(changes: dict[int, dict[str, str]]) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows({**row, **changes.get(at, {})} for at, row in enumerate(rows))

    put({0: {"answer": "first", "codes": "3, 9", "open": "tone; haste"}, 2: {"answer": "both", "codes": "11"}})
    assert take_sheet(coding, str(path)) == 2
    assert take_sheet(coding, str(path)) == 0, "nothing is new"
    kept = Coding(source.store, "s", "Ada").shown(coding.texts[0]).answer
    assert kept is not None
    assert (kept.codes, kept.open) == (("3", "9"), ("tone", "haste"))
    put({1: {"answer": "maybe"}, 2: {"answer": "both", "codes": "3"}, 3: {"first": "x", "answer": "first"}})
    with pytest.raises(BadInput) as wrong:
        take_sheet(coding, str(path))
    assert [line.split(": ")[0] for line in wrong.value.problems] == [f"{path}:{line}" for line in (3, 4, 5)]


def test_results_name_the_sources_and_every_answer_can_be_written_out(source: Workspace, tmp_path: Path) -> None:
    study = begin_study(source.store, dataset(source), "s", "gold", WRITES)
    for name, wanted in (("Ada", "a"), ("Ben", "a"), ("Cem", "b")):
        coding = Coding(source.store, "s", name)
        for item in study.items:
            gold_first = coding.shown(item.sample).first == item.a
            coding.say(item.sample, "first" if gold_first == (wanted == "a") else "second", codes=("3",))
    document = results(source.store, "s")
    n = len(study.items)
    assert document["majority"]["a"] == {"n": n, "share": 1.0}
    assert document["unanimous"]["n"] == 0
    assert document["totals"] == {"a": 2 * n, "b": n, "both": 0, "neither": 0}
    assert (document["paper"]["totals"]["sd"], document["paper"]["totals"]["llm"]) == (277, 300)
    assert export_answers(source.store, "s", str(tmp_path / "all.csv")) == 3 * n
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text("utf-8").splitlines()))
    assert tuple(rows[0]) == EXPORTED
    assert {row["verdict"] for row in rows if row["coder"] == "Cem"} == {"b"}


def test_codes_are_the_papers_eleven_or_those_of_a_file(tmp_path: Path) -> None:
    book = express_codes()
    assert [code.code for code in book] == [str(number) for number in range(1, 12)]
    assert [code.applies for code in book] == ["one"] * 9 + ["neither", "both"]
    assert book[0].fits("second")
    assert not book[0].fits("both")
    path = tmp_path / "codes.csv"
    write_codes(book, str(path))
    assert read_codes(str(path)) == book
    path.write_text("code,applies,about\nx,one,fits\nx,one,again\ny,often,\n,one,nameless\n", "utf-8")
    with pytest.raises(BadInput) as wrong:
        read_codes(str(path))
    assert [line.split(": ")[0] for line in wrong.value.problems] == [f"{path}:{line}" for line in (3, 4, 5)]
