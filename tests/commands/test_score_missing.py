"""`emotui score KIND`: gold records without a prediction, unlabelled ones, and the baselines beside."""

import json
from pathlib import Path

import pytest

from tests.conftest import Emotui

GOLD: dict[str, list[dict[str, object]]] = {
    "spans": [{"id": i, "text": "I am sad now.", "spans": [[5, 8]]} for i in "abcd"],
    "scenes": [{"id": i, "labels": {"joy": 1, "fear": 0}} for i in "abcd"],
    "masked": [{"id": i, "labels": ["glad"]} for i in "abcd"],
    "class": [{"id": i, "text": "t", "label": "joy"} for i in "abcd"],
    "labels": [{"id": i, "text": "t", "labels": ["joy"]} for i in "abcd"],
}
RIGHT: dict[str, dict[str, object]] = {
    "spans": {"spans": ["sad"]},
    "scenes": {"labels": {"joy": 1, "fear": 0}},
    "masked": {"labels": ["glad"]},
    "class": {"label": "joy"},
    "labels": {"labels": ["joy"]},
}
FIGURE = {"spans": "f1", "scenes": "vector_accuracy", "masked": "acc_l", "class": "accuracy", "labels": "jaccard"}


def _write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _files(folder: Path, kind: str, ids: str) -> tuple[object, ...]:
    gold = _write(folder / "gold.jsonl", *GOLD[kind])
    pred = _write(folder / "pred.jsonl", *({"id": i, **RIGHT[kind]} for i in ids))
    return ("score", kind, "--gold", gold, "--pred", pred, *(("--no-sim",) if kind == "spans" else ()), "--json")


@pytest.mark.parametrize("kind", GOLD)
def test_gold_ids_without_a_prediction_are_refused_or_count_as_silent_or_are_left_out(
    emotui: Emotui, tmp_path: Path, kind: str
) -> None:
    asked = _files(tmp_path, kind, "b")
    refused = emotui(*asked)
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "no prediction for 3 of 4 gold ids ('a', 'c', 'd')" in refused.err
    silent = emotui(*asked, "--missing", "empty").document
    assert (silent["n"], silent["missing"], silent[FIGURE[kind]]) == (4, 3, 0.25)
    skipped = emotui(*asked, "--missing", "skip").document
    assert (skipped["n"], skipped["missing"], skipped[FIGURE[kind]]) == (1, 3, 1.0)


def test_no_more_than_three_ids_are_named(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(tmp_path / "gold.jsonl", *({"id": str(n), "text": "t", "label": "joy"} for n in range(9)))
    pred = _write(tmp_path / "pred.jsonl", {"id": "8", "label": "joy"})
    err = emotui("score", "class", "--gold", gold, "--pred", pred).err
    assert err.startswith(f"{pred}: no prediction for 8 of 9 gold ids ('0', '1', '2', …): ")


def test_a_repeat_that_lacks_an_id_is_refused_and_skipped_in_that_repeat_alone(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(tmp_path / "gold.jsonl", *GOLD["spans"][:2])
    rows = [("a", 0, ["sad"]), ("b", 0, []), ("a", 1, ["sad"])]
    pred = _write(tmp_path / "p.jsonl", *({"id": i, "repeat": n, "spans": spans} for i, n, spans in rows))
    asked = ("score", "spans", "--gold", gold, "--pred", pred, "--no-sim", "--json")
    assert "no prediction for 1 of 2 gold ids ('b')" in emotui(*asked).err
    assert emotui(*asked, "--missing", "empty").document["f1"] == 0.5
    skipped = emotui(*asked, "--missing", "skip").document
    assert (skipped["f1"], skipped["n"], skipped["missing"]) == (0.75, 1.5, 1)


def test_a_line_that_is_skipped_leaves_its_id_without_a_prediction(emotui: Emotui, tmp_path: Path) -> None:
    asked = _files(tmp_path, "class", "abcd")
    with (tmp_path / "pred.jsonl").open("a") as file:
        file.write('{"id": "e", "label": 3}\n')
    assert emotui(*asked).status == 2
    assert emotui(*asked, "--skip-bad").document["n"] == 4
    (tmp_path / "pred.jsonl").write_text('{"id": "a", "label": "joy"}\n{"id": "b", "label": 3}\n')
    assert "3 of 4 gold ids ('b', 'c', 'd')" in emotui(*asked, "--skip-bad").err


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("spans", {"nothing", "everything", "keywords"}),
        ("scenes", {"majority", "random"}),
        ("labels", {"majority", "random"}),
        ("class", {"majority", "random"}),
        ("masked", {"zeros", "random", "constant", "best_constant", "random_vectors"}),
    ],
)
def test_baselines_have_the_same_figures_and_are_the_same_each_time(
    emotui: Emotui, tmp_path: Path, kind: str, names: set[str]
) -> None:
    asked = _files(tmp_path, kind, "abcd")
    got = emotui(*asked, "--baselines").document
    assert set(got["baselines"]) == names
    for document in got["baselines"].values():
        assert set(got) - {"baselines", "unlabelled"} <= {*document, "notes"}
        assert document["n"] == 4
    assert emotui(*asked, "--baselines").document == got
    assert "baselines" not in emotui(*asked).document


def test_what_the_baselines_of_spans_reach(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(
        tmp_path / "gold.jsonl",
        {"id": "a", "text": "What joy, what joy!", "spans": [[0, 8]]},
        {"id": "b", "text": "The desk is brown.", "spans": []},
    )
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "spans": ["What joy"]}, {"id": "b", "spans": []})
    (tmp_path / "words.txt").write_text("joy\n")
    asked = ("score", "spans", "--gold", gold, "--pred", pred, "--keywords", tmp_path / "words.txt", "--no-sim")
    found = emotui(*asked, "--baselines", "--json").document["baselines"]
    assert found["nothing"]["f1"] == 0.5
    # "What joy" against "What joy, what joy!": 2 of 2 tokens, 2 of 4. Of b everything is too much.
    assert found["everything"]["f1"] == pytest.approx((2 * 2 / (2 + 4)) / 2)
    assert found["everything"]["predicted_spans"] == 2
    # Two spans "joy", one of which meets "What joy" by 2/3; b has no keyword.
    assert found["keywords"]["f1"] == pytest.approx((2 / 3 / 2 + 1) / 2)


def test_the_baselines_of_masked_words_are_zeros_the_most_frequent_word_and_a_drawn_one(
    emotui: Emotui, tmp_path: Path
) -> None:
    gold = _write(tmp_path / "g.jsonl", {"id": "1", "labels": ["glad", "glad", "afraid"]})
    asked = ("score", "masked", "--gold", gold, "--pred", gold, "--baselines", "--json")
    found = emotui(*asked).document["baselines"]
    assert (found["zeros"]["f1_v"], found["zeros"]["acc_l"], found["zeros"]["acc_v"]) == (0, 0, 0)
    assert found["constant"]["acc_l"] == pytest.approx(2 / 3)
    assert found["random"]["masks"] == 3


def test_the_majority_of_several_labels_is_what_more_than_half_of_the_records_have(
    emotui: Emotui, tmp_path: Path
) -> None:
    labels = (["joy", "fear"], ["joy"], ["joy", "anger"], [])
    gold = _write(tmp_path / "g.jsonl", *({"id": str(n), "labels": row} for n, row in enumerate(labels)))
    asked = ("score", "labels", "--gold", gold, "--pred", gold, "--baselines", "--json")
    majority = emotui(*asked).document["baselines"]["majority"]
    assert majority["by_label"]["joy"]["f1"] == pytest.approx(6 / 7)
    assert majority["by_label"]["fear"]["f1"] == 0


def test_a_person_reads_the_baselines_beside_the_predictions(emotui: Emotui, tmp_path: Path) -> None:
    out = emotui(*_files(tmp_path, "spans", "abcd")[:-1], "--baselines").out
    head, _, rest = out.partition("baselines\n")
    assert rest.split("\n")[0].split() == ["predicted", "nothing", "everything", "keywords"]
    assert "nothing" not in head


def test_spans_of_unlabelled_records_are_left_out_and_counted(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(tmp_path / "gold.jsonl", *GOLD["spans"], {"id": "e", "text": "Nobody has looked at this."})
    pred = _write(tmp_path / "p.jsonl", *({"id": i, "spans": ["sad"]} for i in "abcd"), {"id": "e", "spans": ["this"]})
    got = emotui("score", "spans", "--gold", gold, "--pred", pred, "--no-sim", "--json").document
    assert (got["n"], got["unlabelled"], got["f1"], got["empty_gold"]) == (4, 1, 1, 0)


def test_gold_is_read_as_import_reads_it(emotui: Emotui, tmp_path: Path) -> None:
    meld = tmp_path / "meld.csv"
    meld.write_text(
        "Sr No.,Utterance,Speaker,Emotion,Sentiment,Dialogue_ID,Utterance_ID\n"
        "1,Hi.,Ross,neutral,neutral,0,0\n2,No!,Joey,anger,negative,0,1\n4,Oh.,Ross,neutral,neutral,1,0\n"
    )
    pred = _write(tmp_path / "pred.jsonl", *({"id": i, "label": "neutral"} for i in "124"))
    done = emotui("score", "class", "--gold", meld, "--pred", pred, "--json")
    assert done.document["accuracy"] == pytest.approx(2 / 3)
    assert done.err.startswith(f"{meld}: taken for meld, because it has Utterance, Speaker and Dialogue_ID\n")
    people = tmp_path / "people.csv"
    people.write_text("text_id,text,annotator_1,annotator_2\na,Hi.,joy,anger\nb,No!,anger,anger\n")
    pred = _write(tmp_path / "pred.jsonl", {"id": "a", "label": "joy"}, {"id": "b", "label": "anger"})
    got = emotui("score", "class", "--gold", people, "--pred", pred, "--against", "people", "--json").document
    assert got["people"]["n"] == 2


def test_records_of_the_project_are_blamed_by_its_own_reader(emotui: Emotui, tmp_path: Path) -> None:
    pred = _write(tmp_path / "pred.jsonl", {"id": "a", "label": "joy"})
    gold = _write(tmp_path / "gold.jsonl", *2 * [{"id": "a", "text": "t", "label": "joy"}])
    done = emotui("score", "class", "--gold", gold, "--pred", pred)
    assert (done.status, done.err) == (2, f"{gold}:2: duplicate id 'a': already on line 1\n")


def test_a_gold_span_given_twice_counts_once_and_is_told(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(tmp_path / "gold.jsonl", {"id": "a", "text": "I am sad now.", "spans": [[5, 8], [5, 8]]})
    pred = _write(tmp_path / "pred.jsonl", {"id": "a", "spans": ["sad"]})
    done = emotui("score", "spans", "--gold", gold, "--pred", pred, "--no-sim", "--json")
    assert done.document["f1"] == 1.0
    assert f"{gold}: 1 span given twice with the same label: kept once\n" in done.err


def test_thresholds_are_chosen_on_gold_as_import_reads_it(emotui: Emotui, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("Tweet No,Tweet,joy,anger\n7,Ha!,1,0\n8,No!,0,1\n")
    said = ({"id": i, "labels": {"joy": joy, "anger": 1 - joy}} for i, joy in (("2", 0.4), ("3", 0.1)))
    pred = _write(tmp_path / "pred.jsonl", *said)
    done = emotui("thresholds", "--gold", gold, "--pred", pred, "--json")
    assert done.status == 0, done.err
    assert done.document["thresholds"] == pytest.approx({"joy": 0.25, "anger": 0.75})


@pytest.mark.parametrize("kind", ["class", "labels"])
def test_labels_that_gold_has_nowhere_are_told_with_the_white_space_that_makes_them_others(
    kind: str, emotui: Emotui, tmp_path: Path
) -> None:
    gold, said = tmp_path / "g.jsonl", tmp_path / "p.jsonl"
    gold.write_text('{"id": "1", "text": "a", "label": "joy"}\n{"id": "2", "text": "b", "label": "fear"}\n')
    key, some = ("label", "{}") if kind == "class" else ("labels", "[{}]")
    lines = [f'{{"id": "{n}", "{key}": {some.format(name)}}}\n' for n, name in ((1, '"Joy"'), (2, '"fear "'))]
    said.write_text("".join(lines))
    done = emotui("score", kind, "--gold", gold, "--pred", said, "--json")
    assert f"p.jsonl: no text of {gold} has the label 'Joy', 'fear ' (2 such labels)" in done.err
    assert done.status == 0
    said.write_text("".join(lines).replace('"Joy"', '"joy"').replace('"fear "', '"joy"'))
    assert "no text of" not in emotui("score", kind, "--gold", gold, "--pred", said, "--json").err
