"""`emotui agreement --dataset`: every kind of answer, from every kind of source, with the texts behind each figure."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emotui.errors import BadInput
from emotui.metrics.agreement import agreement_report, vectors_agreement_report
from emotui.metrics.alpha import alpha
from emotui.metrics.unitizing import MarkedText, unitizing_alpha
from emotui.records import ClassGold, LabelsGold, Mark, MaskedGold, ScenesGold, SpanSample, ValuesGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import ILLUSTRATION
from emotui.workbench.agreement.documents import Agreement, Measured
from emotui.workbench.agreement.study import study
from emotui.workbench.agreement.tables import agreement_tables
from emotui.workbench.datasets.label_maps import keep_label_map
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs.elsewhere import Said, keep_said
from tests.conftest import Emotui

TEXT = "I was glad at first and then so very afraid"
GLAD, AFRAID, VERY = Mark(6, 10, "joy"), Mark(37, 43, "fear"), Mark(32, 43, "fear")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "w.duckdb")


def keep(store: Store, dataset: Dataset, name: str, said: Sequence[dict[str, Any] | None], again: Any = ()) -> None:
    """A person's answers by the order of the texts; None: no answer. `again`: to a second asking."""
    first = store.samples.file_order(dataset.dataset)[0]
    answers = [Said(first + at, 0, keys) for at, keys in enumerate(said) if keys is not None]
    answers += [Said(first + at, 1, keys) for at, keys in enumerate(again) if keys is not None]
    keep_said(store, dataset, name, "person", answers, sim=False)


def named(measured: Sequence[Measured]) -> dict[str, Measured]:
    return {one.name: one for one in measured}


def spans(store: Store) -> Dataset:
    people = [
        {"ann": (GLAD, AFRAID), "bob": (GLAD, AFRAID)},
        {"ann": (GLAD,), "bob": (AFRAID,)},
        {"ann": (AFRAID,), "bob": (VERY,)},
        {"ann": (GLAD,)},
    ]
    samples = [
        SpanSample(id=f"t{at}", text=TEXT, spans=(GLAD,), annotators=annotators) for at, annotators in enumerate(people)
    ]
    return add_samples(store, "spans", "mine", samples, "here")


def test_annotators_that_were_composed_for_sample_data_are_told_as_such(store: Store) -> None:
    samples = [SpanSample(id="t", text=TEXT, spans=(GLAD,), annotators={"ann": (GLAD,), "bob": (AFRAID,)})]
    composed = add_samples(store, "spans", "sample", samples, ILLUSTRATION)
    add_samples(store, "spans", "mine", samples, "here")
    keep(store, composed, "root", [{"spans": [[6, 10]]}])
    assert study(store, "sample", resamples=0).notes["ann, bob"] == "composed for the sample data, no people"
    assert "ann, bob" not in study(store, "mine", resamples=0).notes


def test_labels_are_read_by_the_mapping_that_is_kept_for_their_source(store: Store) -> None:
    ours, theirs = GLAD, Mark(6, 10, "happy")
    texts = [SpanSample(id="t", text=TEXT, spans=(ours,), annotators={"ann": (ours,), "bob": (theirs,)})]
    mine = add_samples(store, "spans", "mine", texts, "here")
    keep_label_map(store, mine, {"happy": "joy"}, "ann")
    assert named(study(store, "mine", resamples=0).measured)["u_alpha"].figure.value != 1
    keep_label_map(store, mine, {"happy": "joy"}, "bob")
    assert named(study(store, "mine", resamples=0).measured)["u_alpha"].figure.value == 1


def test_spans_have_their_figures_and_the_worst_text_first(store: Store) -> None:
    spans(store)
    found = study(store, "mine", resamples=0)
    assert found.kind == "spans"
    assert [(source.name, source.kind, source.n) for source in found.sources] == [
        ("ann", "person", 4),
        ("bob", "person", 3),
    ]
    assert found.texts == 3
    figures = named(found.measured)
    texts = [
        MarkedText(len(TEXT), {"ann": (GLAD, AFRAID), "bob": (GLAD, AFRAID)}),
        MarkedText(len(TEXT), {"ann": (GLAD,), "bob": (AFRAID,)}),
        MarkedText(len(TEXT), {"ann": (AFRAID,), "bob": (VERY,)}),
    ]
    family = unitizing_alpha(texts)
    assert figures["u_alpha"].figure == family.u_alpha
    assert figures["u_alpha_binary"].figure == family.binary
    # Ten characters apart in the second text, five in the third; the first is not behind any figure.
    assert [number for number, _ in figures["u_alpha"].behind] == [2, 3]
    assert [number for number, _ in figures["gamma"].behind] == [2, 3]
    by_label = {label: named(own) for label, own in found.by_label.items()}
    assert {label: own["ku_alpha"].figure for label, own in by_label.items()} == family.by_label
    assert not any("u_alpha" in own for own in by_label.values())  # that name is the coefficient over all labels
    assert figures["gamma_cat"].figure.value is None or figures["gamma_cat"].figure.value == 1
    (pair,) = found.pairs
    assert pair.n == 3
    assert named(pair.measured)["exact_f1"].figure.value == pytest.approx(2 * 2 / 8)
    assert pair.confusion == {"joy": {"joy": 1, "": 1}, "fear": {"fear": 2}, "": {"fear": 1}}
    assert [number for number, _ in pair.behind] == [2, 3]


def test_a_source_is_a_source_whoever_it_is_and_labels_are_mapped(store: Store) -> None:
    dataset = spans(store)
    keep(store, dataset, "eve", [{"spans": [[6, 10, "happiness"]]}] * 4)
    keep_label_map(store, dataset, {"happiness": "joy"})
    found = study(store, "mine", ["gold", "eve"], resamples=0)
    assert {source.name: source.kind for source in found.sources} == {"gold": "gold", "eve": "person"}
    assert named(found.measured)["u_alpha"].figure.value == 1
    assert "mapped" in found.notes["labels"]
    assert {source.name for source in study(store, "mine", resamples=0).sources} == {"ann", "bob", "eve"}


def test_vectors_are_the_questions_that_the_file_command_asks(store: Store) -> None:
    names = ("joy", "fear")
    vectors = [((1, 0), (1, 0), (1, 1)), ((0, 0), (0, 1), (0, 1)), ((1, 1), (1, 0), (0, 0)), ((0, 0), (0, 0), (0, 0))]
    said = {
        f"s{at}": {f"r{r}": dict(zip(names, vector, strict=True)) for r, vector in enumerate(row)}
        for at, row in enumerate(vectors)
    }
    samples = [
        ScenesGold(id=key, labels=raters["r0"], text="a scene", annotators=raters) for key, raters in said.items()
    ]
    add_samples(store, "scenes", "scenes", samples, "here")
    found, plain = study(store, "scenes", resamples=50), vectors_agreement_report(said)
    figures = named(found.measured)
    assert figures["krippendorff_alpha"].figure.value == pytest.approx(plain["krippendorff_alpha"])
    assert figures["fleiss_kappa"].figure.value == pytest.approx(plain["fleiss_kappa"])
    assert figures["mean_cohen_kappa"].figure.value == pytest.approx(plain["mean_pairwise_cohen_kappa"])
    for label in names:
        own = named(found.by_label[label])
        assert own["krippendorff_alpha"].figure.value == pytest.approx(plain["by_label"][label]["krippendorff_alpha"])
        assert own["mean_cohen_kappa"].figure.value == pytest.approx(
            plain["by_label"][label]["mean_pairwise_cohen_kappa"]
        )
    # Of twelve pairs of vectors the same: one in the first text, one in the second, none, and three.
    assert figures["vectors"].figure.value == pytest.approx(5 / 12)
    assert [number for number, _ in figures["krippendorff_alpha"].behind] == [3, 1, 2]


def test_one_label_a_text_is_not_taken_apart_and_numbers_can_be_ordinal(store: Store) -> None:
    rows = ["112", "233", "131", "221"]
    samples = [
        LabelsGold(
            id=f"t{at}", text="a text", labels=(row[0],), annotators={f"r{r}": (label,) for r, label in enumerate(row)}
        )
        for at, row in enumerate(rows)
    ]
    add_samples(store, "labels", "grades", samples, "here")
    found = study(store, "grades", levels=["nominal", "ordinal"], resamples=0)
    plain = agreement_report((f"t{at}", f"r{r}", label) for at, row in enumerate(rows) for r, label in enumerate(row))
    figures = named(found.measured)
    assert found.kind == "label"
    assert figures["krippendorff_alpha"].figure.value == pytest.approx(plain["krippendorff_alpha"])
    table = [[float(label) for label in row] for row in rows]
    assert figures["krippendorff_alpha_ordinal"].figure.value == pytest.approx(alpha(table, "ordinal").value)
    kappas = {(pair["a"], pair["b"]): pair["kappa"] for pair in plain["pairwise_cohen_kappa"]}
    for pair in found.pairs:
        assert named(pair.measured)["kappa"].figure.value == pytest.approx(kappas[pair.a, pair.b])
    assert {label: named(own)["krippendorff_alpha"].figure.value for label, own in found.by_label.items()} == {
        label: pytest.approx(own["krippendorff_alpha"]) for label, own in plain["by_label"].items()
    }


def test_labels_that_are_no_numbers_have_no_order(store: Store) -> None:
    samples = [LabelsGold(id="t", text="a", labels=("joy",), annotators={"a": ("joy",), "b": ("fear",)})]
    add_samples(store, "labels", "words", samples, "here")
    with pytest.raises(BadInput, match="'fear' is none"):
        study(store, "words", levels=["ordinal"])
    with pytest.raises(BadInput, match="no level 'cardinal'"):
        study(store, "words", levels=["cardinal"])  # type: ignore[list-item]


def test_numbers_have_an_alpha_by_name_and_the_furthest_apart_first(store: Store) -> None:
    rows = [(1, 1), (2, 5), (3, 4), (5, 5)]
    samples = [
        ValuesGold(
            id=f"t{at}",
            text="a",
            values={"valence": a},
            annotators={"a": {"values": {"valence": a}}, "b": {"values": {"valence": b}}},
        )
        for at, (a, b) in enumerate(rows)
    ]
    add_samples(store, "values", "numbers", samples, "here")
    found = study(store, "numbers", resamples=100)
    (own,) = found.by_label["valence"]
    assert own.figure.value == pytest.approx(alpha(rows, "interval").value)
    assert own.figure.low is not None
    assert [number for number, _ in own.behind] == [2, 3]
    assert found.measured == []
    assert found.estimate is None
    assert found.notes["estimate"].startswith("numbers have no classes")


def test_words_of_masks_and_labels_of_chains_are_compared_too(store: Store) -> None:
    masked = add_samples(
        store,
        "masked",
        "masks",
        [MaskedGold(id=f"m{at}", labels=("sad", "glad"), text="I am [MASK] not [MASK]") for at in range(3)],
        "x",
    )
    keep(store, masked, "ann", [{"labels": ["sad", "glad"]}, {"labels": ["sad", "mad"]}, None])
    found = study(store, "masks", ["gold", "ann"], resamples=0)
    assert found.kind == "words"
    assert named(found.pairs[0].measured)["percent"].figure.value == pytest.approx(3 / 4)
    assert found.pairs[0].n == 4
    assert [number for number, _ in found.pairs[0].behind] == [2]
    chains = add_samples(
        store, "rephrase", "chains", [ClassGold(id=f"c{at}", text="a", label="joy") for at in range(2)], "x"
    )
    keep(store, chains, "ann", [{"label": "joy"}, {"label": "fear"}])
    of_classes = study(store, "chains", ["gold", "ann"], resamples=0)
    assert of_classes.kind == "label"
    assert named(of_classes.measured)["percent"].figure.value == 0.5


def test_who_is_asked_twice_is_compared_with_themselves(store: Store) -> None:
    samples = [LabelsGold(id=f"t{at}", text="a", labels=("joy",)) for at in range(4)]
    dataset = add_samples(store, "labels", "again", samples, "here")
    joy, fear = {"labels": ["joy"]}, {"labels": ["fear"]}
    keep(store, dataset, "ann", [joy, fear, joy, fear], [joy, joy, None, None])
    keep(store, dataset, "bob", [joy, fear, fear, fear])
    found = study(store, "again", resamples=0)
    (itself,) = found.itself
    assert (itself.name, itself.n) == ("ann", 2)
    figures = named(itself.measured)
    assert figures["percent"].figure.value == 0.5
    assert [number for number, _ in figures["percent"].behind] == [2]
    # The figures between people are over first answers alone.
    assert named(found.measured)["percent"].figure.value == 0.75


def test_gold_that_all_contradict_is_doubted_with_its_votes(store: Store) -> None:
    people = ["abc", "abc", "ab", "abc", "ab", ""]  # who gives joy in each text
    samples = [
        LabelsGold(
            id=f"t{at}",
            text="a",
            labels=("fear",) if at in (0, 2, 5) else ("joy",),
            annotators={name: ("joy",) if name in row else ("fear",) for name in "abc"},
        )
        for at, row in enumerate(people)
    ]
    add_samples(store, "labels", "doubts", samples, "here")
    found = study(store, "doubts", resamples=0)
    assert [(doubt.id, doubt.gold, doubt.kind, list(doubt.votes)) for doubt in found.doubts] == [
        ("t0", "fear", "likely wrong", [("joy", 3)]),
        ("t2", "fear", "matter of view", [("joy", 2), ("fear", 1)]),
    ]
    assert found.estimate is not None
    assert {rater.name: rater.n for rater in found.estimate.raters} == {"a": 6, "b": 6, "c": 6}
    assert study(store, "doubts", resamples=0, check_gold=False).doubts == []


def test_a_gold_span_that_nobody_marked_is_doubted_at_its_place(store: Store) -> None:
    people = dict.fromkeys(("ann", "bob", "cem"), (GLAD,))
    samples = [
        SpanSample(id=f"t{at}", text=TEXT, spans=(GLAD, AFRAID)[: 1 + (at == 0)], annotators=people) for at in range(4)
    ]
    add_samples(store, "spans", "mine", samples, "here")
    (doubt,) = study(store, "mine", resamples=0).doubts
    assert (doubt.id, doubt.gold, doubt.kind, doubt.rival) == ("t0", "fear", "likely wrong", "nothing")
    assert doubt.question == "[37,43] afraid"
    assert list(doubt.votes) == [("nothing", 3)]


def test_every_cell_of_a_figure_has_the_samples_behind_it_worst_first(store: Store) -> None:
    spans(store)
    tables = {table.key: table for table in agreement_tables(study(store, "mine", resamples=20))}
    assert set(tables) >= {"agreement", "agreement-pairs", "agreement-labels"}
    (u_alpha,) = [row for row in tables["agreement"].rows if row.label == "u-alpha"]
    assert u_alpha.cells[0].samples == (2, 3)
    undefined = [cell for row in tables["agreement"].rows for cell in row.cells if cell.asked and cell.value is None]
    assert all(cell.why for cell in undefined)


def test_a_course_of_thirty_and_a_model_have_a_row_each_and_whoever_said_nothing_none(store: Store) -> None:
    texts = [SpanSample(id=f"t{at}", text=TEXT) for at in range(3)]
    dataset = add_samples(store, "spans", "mine", texts, "here")
    marked, late = {"spans": [[6, 10, "joy"], [37, 43, "fear"]]}, {"spans": [[32, 43, "fear"]]}
    for number in range(30):
        keep(store, dataset, f"s{number:02}", [late if number == 7 else marked] * 3)
    first = store.samples.file_order(dataset.dataset)[0]
    keep_said(store, dataset, "theirs", "model", [Said(first + at, 0, marked) for at in range(3)], sim=False)
    names = [f"s{number:02}" for number in range(30)]
    assert [one.name for one in study(store, "mine", resamples=0).sources] == names[::-1]
    found = study(store, "mine", [*names, "theirs"], resamples=0)
    assert "one source after another" in found.notes["estimate"]
    assert found.estimate is not None
    assert {one.name for one in found.estimate.raters if (one.accuracy or 0) < 0.9} == {"s07"}
    tables = {table.key: table for table in agreement_tables(found)}
    assert not any("confusion" in key or "rates" in key for key in tables)
    rows = [row.label for row in tables["agreement-others"].rows]
    assert (len(rows), rows[0]) == (31, "s07")
    others = tables["agreement-others"]
    means = {column.key: cell for column, cell in zip(others.columns, others.rows[1].cells, strict=True)}
    assert means["exact_f1"].value == pytest.approx(29 / 30)  # nothing in common with s07, everything with all others


def test_confusions_and_estimated_sources_open_their_texts(store: Store) -> None:
    rows = ["jjf", "fff", "jjj", "jjf", "fff", "jjj"]  # who says joy or fear: the third is wrong twice
    names = {"j": "joy", "f": "fear"}
    samples = [
        LabelsGold(
            id=f"t{at}",
            text="a",
            labels=("joy",),
            annotators={name: (names[letter],) for name, letter in zip("abc", row, strict=True)},
        )
        for at, row in enumerate(rows)
    ]
    add_samples(store, "labels", "mine", samples, "here")
    found = study(store, "mine", resamples=0)
    assert found.pairs[1].cells == {
        "joy": {"fear": [(1, 1), (4, 1)], "joy": [(3, 1), (6, 1)]},
        "fear": {"fear": [(2, 1), (5, 1)]},
    }
    assert found.estimate is not None
    raters = {one.name: one for one in found.estimate.raters}
    assert [number for number, _ in raters["c"].behind] == [1, 4]
    assert raters["a"].behind == []
    assert [number for number, _ in raters["c"].cells["joy"]["fear"]] == [1, 4]
    tables = {table.key: table for table in agreement_tables(found)}
    confusion = tables["agreement-confusion-a-c"]
    assert [[cell.value for cell in row.cells] for row in confusion.rows] == [[2, 0], [2, 2]]
    assert [row.cells[0].samples for row in confusion.rows] == [(2, 5), (1, 4)]
    assert {row.label: row.cells[0].samples for row in tables["agreement-sources"].rows}["c"] == (1, 4)
    assert [cell.value for cell in tables["agreement-rates-c"].rows[0].cells] == [pytest.approx(1), 0]


def test_what_cannot_be_compared_is_one_line(store: Store) -> None:
    dataset = spans(store)
    with pytest.raises(BadInput, match="no source 'nobody'; it has: gold, ann, bob"):
        study(store, "mine", ["gold", "nobody"])
    with pytest.raises(BadInput, match="needs two sources"):
        study(store, "mine", ["gold"])
    with pytest.raises(BadInput, match="--levels is for labels"):
        study(store, "mine", levels=["nominal"])
    lone = add_samples(store, "spans", "lone", [SpanSample(id="t", text="a", spans=())], "x")
    assert lone.dataset != dataset.dataset
    with pytest.raises(BadInput, match="agreement needs two sources; lone has 1"):
        study(store, "lone")


def test_where_two_sources_share_no_text_every_figure_says_why_it_is_undefined(store: Store) -> None:
    samples = [
        LabelsGold(id="t0", text="a", labels=("joy",), annotators={"a": ("joy",)}),
        LabelsGold(id="t1", text="a", labels=("joy",), annotators={"b": ("fear",)}),
    ]
    add_samples(store, "labels", "apart", samples, "here")
    found = study(store, "apart")
    assert found.texts == 0
    for one in found.measured:
        if one.name != "fleiss_kappa":
            assert one.figure.value is None
            assert one.figure.why


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "a", "b"]])
def test_the_order_of_sources_changes_no_figure_of_all(store: Store, order: list[str]) -> None:
    draw = np.random.default_rng(2)
    samples = [
        LabelsGold(id=f"t{at}", text="a", labels=("x",), annotators={n: ("xyz"[draw.integers(3)],) for n in "abc"})
        for at in range(20)
    ]
    add_samples(store, "labels", "many", samples, "here")
    found: Agreement = study(store, "many", order, resamples=0)
    first = study(store, "many", resamples=0)
    assert {one.name: one.figure.value for one in found.measured} == {
        one.name: pytest.approx(one.figure.value) for one in first.measured
    }


def test_the_command_prints_one_document_with_items_and_its_tables(tmp_path: Path, emotui: Emotui) -> None:
    rows = [
        {"id": f"t{at}", "text": "a", "labels": [own], "annotators": {"a": [own], "b": ["joy"], "c": [own]}}
        for at, own in enumerate(["joy", "fear", "fear", "joy"])
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert emotui("import", "labels", file).status == 0
    document = emotui("agreement", "--dataset", "mine", "--bootstrap", 50, "--seed", 3, "--items", 1, "--json").document
    assert document["kind"] == "label"
    assert document["resamples"] == 50
    figure = document["figures"]["krippendorff_alpha"]
    assert {"value", "low", "high", "n", "why", "about", "n_items", "items"} == set(figure)
    assert (figure["n_items"], [item["id"] for item in figure["items"]]) == (2, ["t1"])
    assert document["pairs"][0]["confusion"] == {"joy": {"joy": 2}, "fear": {"joy": 2}}
    assert "items" not in emotui("agreement", "--dataset", "mine", "--json").document["figures"]["percent"]
    printed = emotui("agreement", "--dataset", "mine", "--no-gold-check").out
    assert "Agreement of a, b, c" in printed
    assert "a and b" in printed
    both = emotui("agreement", "--dataset", "mine", "--ratings", "r.csv")
    assert "--ratings, --records or --dataset, one of them" in both.err
    assert "--items is for --dataset" in emotui("agreement", "--ratings", "r.csv", "--items", 3).err
    assert "there is no level 'cardinal'" in emotui("agreement", "--dataset", "mine", "--levels", "cardinal").err


def test_texts_in_which_neither_of_two_marks_anything_add_nothing_to_f1_and_are_told(store: Store) -> None:
    dataset = add_samples(
        store, "spans", "silent", [SpanSample(id=f"t{at}", text=TEXT, spans=()) for at in range(4)], "here"
    )
    keep(store, dataset, "ann", [{"spans": [[6, 10]]}, {"spans": []}, {"spans": []}, {"spans": [[37, 43]]}])
    keep(store, dataset, "bob", [{"spans": [[6, 10]]}, {"spans": []}, {"spans": []}, {"spans": [[32, 43]]}])
    found = study(store, "silent", ["ann", "bob"], resamples=0, with_gamma=False)
    (pair,) = found.pairs
    exact = named(pair.measured)["exact_f1"]
    assert (pair.n, exact.figure.n, exact.figure.value) == (4, 2, pytest.approx(2 * 1 / 4))
    assert found.notes["both silent"].endswith("counted under “n”: ann and bob 2 of 4")


def test_a_title_names_all_of_few_sources_and_the_first_of_many(store: Store) -> None:
    people = {f"p{at:03}": ["joy"] for at in range(160)}
    add_samples(store, "labels", "many", [LabelsGold(id="a", text="a text", labels=["joy"], annotators=people)], "here")
    study_of_many = study(store, "many", resamples=0, check_gold=False)
    assert agreement_tables(study_of_many)[0].title == "Agreement of p000, p001, p002 and 157 more"
    few = study(store, "many", [f"p{at:03}" for at in range(8)], resamples=0, check_gold=False)
    assert agreement_tables(few)[0].title == f"Agreement of {', '.join(f'p{at:03}' for at in range(8))}"


THREADS, COPIES = 25, 4


def _in_threads(kind: str) -> list[Any]:
    """Texts of three people, alike within a thread: so many copies tell no more than one."""
    draw = np.random.default_rng(3)
    samples: list[Any] = []
    for thread in range(THREADS):
        sure = draw.random(3) < 0.7
        said: dict[str, Any]
        for copy in range(COPIES):
            own = {"id": f"t{thread}-{copy}", "text": TEXT, "meta": {"thread": f"h{thread}"}}
            if kind == "spans":
                said = {name: (GLAD, AFRAID) if yes else (GLAD,) for name, yes in zip("abc", sure, strict=True)}
                samples.append(SpanSample(**own, spans=(GLAD,), annotators=said))
            elif kind == "values":
                said = {
                    n: {"values": {"valence": int(yes) * (1 + thread % 3)}} for n, yes in zip("abc", sure, strict=True)
                }
                samples.append(ValuesGold(**own, values={"valence": 1}, annotators=said))
            else:
                more = ("fear",) if kind == "several" else ()
                said = {n: ("joy", *more) if yes else ("anger",) for n, yes in zip("abc", sure, strict=True)}
                samples.append(LabelsGold(**own, labels=("joy",), annotators=said))
    return samples


@pytest.mark.parametrize("kind", ["spans", "values", "label", "several"])
def test_texts_of_one_thread_are_drawn_together(store: Store, kind: str) -> None:
    task = kind if kind in ("spans", "values") else "labels"
    samples = _in_threads(kind)
    add_samples(store, task, "threads", samples, "here")
    add_samples(store, task, "once", samples[::COPIES], "here")
    found, once = (study(store, name, resamples=300, check_gold=False) for name in ("threads", "once"))
    assert found.notes["intervals"] == "texts with one `thread` are drawn together: 25 groups"
    assert "intervals" not in once.notes

    def widths(one: Agreement) -> dict[str, float]:
        parts = {"": one.measured} | dict(one.by_label) | {f"{pair.a} {pair.b}": pair.measured for pair in one.pairs}
        return {
            f"{part} {each.name}": each.figure.high - each.figure.low
            for part, measured in parts.items()
            for each in measured
            if each.figure.low is not None and each.figure.high is not None
        }

    together, alone = widths(found), widths(once)
    assert len(together) > 3
    # Drawn apart, four copies of each text would make every interval half as wide.
    assert {name: width > 0.8 * alone[name] for name, width in together.items()} == dict.fromkeys(together, True)
