"""Rating blind: who gets what, what stands of it, and that it comes to what a crowd platform's table comes to."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.formats import write
from emotui.store.store import Store
from emotui.workbench.generation.bench import GenerationBench
from emotui.workbench.generation.rating import Answer, Sitting, begin, rating_log
from emotui.workbench.generation.rating_batches import (
    Item,
    RatingOptions,
    batch_size,
    check_rate,
    checks_among,
    drawn,
)
from emotui.workbench.generation.ratings import crowd_ratings, kept_ratings
from tests.screens.generate.workspace import records, workspace

LABELS = ["disgust", "joy", "neutral"]


def test_the_paper_has_ten_checks_among_84_texts_and_28_among_277_and_any_rate_has_one_at_least() -> None:
    assert checks_among(84, check_rate("10/84")) == 10
    assert checks_among(277, check_rate("28 in 277")) == 28
    assert checks_among(3, check_rate("10%")) == 1
    assert checks_among(50, check_rate("0")) == checks_among(0, 0.1) == 0
    assert check_rate(".25") == 0.25
    for wrong in ("", "many", "3/2", "1/0", "-1"):
        with pytest.raises(BadInput):
            check_rate(wrong)


def test_batches_are_about_as_large_as_wanted_and_none_is_a_small_rest() -> None:
    assert [batch_size(n, 50) for n in (0, 7, 50, 60, 110, 277)] == [0, 7, 50, 60, 55, 47]


ITEMS = [Item(version, sample, run) for sample in range(8) for run in "ab" for version in ("emotional", "neutral")]


@given(st.data())
def test_a_batch_holds_only_what_the_rater_has_not_rated_and_needs_ratings_with_its_checks(data: st.DataObject) -> None:
    valid = data.draw(st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 5)))
    own = data.draw(st.sets(st.sampled_from(ITEMS)))
    options = RatingOptions(size=data.draw(st.integers(1, 20)), checks=data.draw(st.sampled_from([0.0, 0.1, 0.5])))
    found = drawn(ITEMS, valid, {}, own, LABELS, options, "seed")
    texts = [one for one in found if not one.check]
    checks = [one for one in found if one.check]
    assert len(set(texts)) == len(texts)
    assert not own & set(texts)
    assert all(valid.get(one, 0) < options.wanted for one in texts)
    assert len(checks) == checks_among(len(texts), options.checks)
    counts = Counter(one.asked for one in checks)
    assert not checks or max(counts.values()) - min(counts[label] for label in LABELS) <= 1
    assert found == drawn(ITEMS, valid, {}, own, LABELS, options, "seed")


def test_texts_that_have_fewest_ratings_come_first_and_no_text_comes_in_two_versions_while_there_are_others() -> None:
    options = RatingOptions(size=8, checks=0.0)
    needy = [one for one in ITEMS if one.run == "a" and one.version == "neutral"]
    valid = {one: 3 for one in ITEMS if one not in needy}
    assert set(drawn(ITEMS, valid, {}, (), LABELS, options, "s")) == set(needy)
    found = drawn(ITEMS, {}, {}, (), LABELS, options, "s")
    assert len({one.sample for one in found}) == len(found) == 8


def test_what_others_have_begun_is_left_to_them_until_nothing_else_is_left() -> None:
    options = RatingOptions(size=50, checks=0.0, wanted=1)
    reserved = dict.fromkeys(ITEMS[:30], 1)
    assert set(drawn(ITEMS, {}, reserved, (), LABELS, options, "s")) == set(ITEMS[30:])
    assert set(drawn(ITEMS[:30], {}, reserved, (), LABELS, options, "s")) == set(ITEMS[:30])


def sitting(store: Store, rater: str, options: RatingOptions) -> Sitting:
    return begin(store, store.datasets.all()[0].dataset, rater, options)


def answer_all(one: Sitting, label: str, *, fails: bool = False) -> None:
    """Every text gets the label, every check what it asks for, or something else."""
    answers = []
    for at, text in enumerate(one.texts):
        asked = text.removeprefix("Please choose the emotion ").removesuffix(".") if text.startswith("Please") else None
        said = label if asked is None else asked if not fails else next(name for name in LABELS if name != asked)
        answers.append(Answer(at + 1, at, said))
    one.keep(answers)


NEUTRALS = RatingOptions(which="neutral", size=50, checks=0.2)


def test_every_answer_is_in_the_store_at_once_and_a_rater_goes_on_where_they_were(tmp_path: Path) -> None:
    workspace(tmp_path / "w.duckdb")
    store = Store.open(tmp_path / "w.duckdb")
    first = sitting(store, "eve", NEUTRALS)
    first.keep([Answer(1, 0, "joy", 1.5), Answer(2, 1, "neutral")])
    again = sitting(Store.open(tmp_path / "w.duckdb"), "eve", NEUTRALS)
    assert (again.texts, again.answers) == (first.texts, {0: "joy", 1: "neutral"})
    again.keep([Answer(1, 1, "")])
    assert sitting(store, "eve", NEUTRALS).answers == {0: "joy"}
    assert rating_log(store, store.datasets.all()[0].dataset).ratings[0].seconds == 1.5


def test_answers_that_are_sent_twice_are_kept_once(tmp_path: Path) -> None:
    store = workspace(tmp_path / "w.duckdb").store
    one = sitting(store, "eve", NEUTRALS)
    one.keep([Answer(1, 0, "joy")])
    one.keep([Answer(1, 0, "joy"), Answer(2, 1, "joy")])
    assert len(rating_log(store, store.datasets.all()[0].dataset).ratings) == 2


def test_a_rater_who_fails_checks_is_set_aside_and_others_get_the_texts(tmp_path: Path) -> None:
    store = workspace(tmp_path / "w.duckdb").store
    dataset = store.datasets.all()[0].dataset
    options = RatingOptions(which="neutral", size=50, checks=0.2, wanted=1)
    careless = sitting(store, "max", options)
    texts = sum(not text.startswith("Please") for text in careless.texts)
    # t-1 to t-3 of both writers came with five labels: t-4 to t-6 are left.
    assert texts == 6
    answer_all(careless, "joy", fails=True)
    assert careless.came_to() == {"texts": 6, "checks": 1, "failed": 1, "left": 0, "aside": 1}
    with pytest.raises(BadInput, match="set aside"):
        sitting(store, "max", options)
    bench = GenerationBench(store)
    before = bench.versions(dataset, store.samples.numbers_by_id(dataset)["t-4"])
    assert before.versions[0].human_neutral == ()
    good = sitting(store, "eve", options)
    assert sorted(good.texts[:9]) != []
    answer_all(good, "neutral")
    after = bench.versions(dataset, store.samples.numbers_by_id(dataset)["t-4"])
    assert [one.human_neutral for one in after.versions] == [("neutral",), ("neutral",)]
    with pytest.raises(BadInput, match="nothing is left"):
        sitting(store, "kim", options)


def test_ratings_made_here_come_to_the_document_of_the_same_ratings_in_a_table(tmp_path: Path) -> None:
    store = workspace(tmp_path / "w.duckdb").store
    dataset = store.datasets.all()[0].dataset
    options = RatingOptions(which="mixed", size=50, checks=0.3, wanted=9)
    for rater, label, fails in (("eve", "neutral", False), ("max", "joy", True), ("kim", "joy", False)):
        answer_all(sitting(store, rater, options), label, fails=fails)
    here = kept_ratings(store, dataset)
    numbers = {run.run: run.model for run in store.runs.all(dataset)}
    ids = {number: key for key, number in store.samples.numbers_by_id(dataset).items()}
    log = rating_log(store, dataset)
    with (tmp_path / "crowd.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["participant_id", "item", "response"])
        for one in log.ratings:
            item = one.item
            ending = "/neutral" if item.version == "neutral" else ""
            name = f"c{one.batch}-{one.at}" if item.check else f"{numbers[item.run]}/{ids[item.sample or 0]}{ending}"
            rows.writerow([one.rater, name, one.emotion])
    with (tmp_path / "checks.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "label"])
        rows.writerows([f"c{one.batch}-{one.at}", one.item.asked] for one in log.ratings if one.item.check)
    write(str(tmp_path / "records.jsonl"), records())
    there = crowd_ratings(
        [str(tmp_path / "records.jsonl")],
        str(tmp_path / "crowd.csv"),
        str(tmp_path / "checks.csv"),
        warn=print,
    )
    assert here.document == there.document
    assert [one["rater"] for one in here.document["set_aside"]] == ["max"]
    by_place = {(one.model, one.id): one for one in there.records}
    assert all(
        (one.human, one.human_neutral) == (by_place[one.model, one.id].human, by_place[one.model, one.id].human_neutral)
        for one in here.records
    )
