"""Slices of a dataset: facets, filters with a name, figures in each part, rules."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind

from emotui.errors import BadInput
from emotui.metrics.paired import wilcoxon_p
from emotui.metrics.significance import adjusted
from emotui.metrics.sums import ratio
from emotui.records import Mark, Sentence, SpanSample, ValuesGold
from emotui.store.query import ListQuery
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.slices.slicing import _p_here, _p_of_contrast
from emotui.workbench.workspace import Workspace
from tests.workbench.results_store import ERRING, EXACT, add_run, workspace

COLUMN = {"speaker": "Ann", "age": 3}

KEPT = {
    "emotion=happy|surprise": ["glad", "bus"],
    "emotion=love": ["glad"],
    "emotion!=happy": ["not", "bus"],
    "valence=positive": ["bus"],
    "cues=explicit": ["glad"],
    "cues=misleading": ["not"],
    "cues=implicit": ["bus"],
    "negation=yes": ["not"],
    "sentences=2 to 4": ["not"],
    "agreement=full": ["glad"],
    "agreement=low": ["not"],
    "length=long": ["bus"],
    "words>=9": ["not", "bus"],
    "text=IT RAINED": ["not"],
    "speaker=ANN": ["glad"],
    "speaker=": ["bus"],
    "age>3 & age<30.5": ["not"],
    "age=30.5": ["bus"],
    "code=irony": ["not"],
    "note=yes": ["glad", "not"],
    "slice=mine & note=yes": ["glad"],
}


def of(opened: Workspace, dataset: int, line: str, run: str | None = None) -> list[str]:
    ids = {number: key for key, number in opened.store.samples.numbers_by_id(dataset).items()}
    return [ids[number] for number in opened.slicing().samples(dataset, line, run)]


@pytest.fixture
def mixed(tmp_path: Path) -> tuple[Workspace, int]:
    opened, _ = workspace(tmp_path / "w.duckdb")
    samples = [
        SpanSample(
            id="glad",
            text="I am glad.",
            spans=(Mark(5, 9, "love"),),
            emotion="happy",
            annotators={"ann": (Mark(5, 9),), "bob": (Mark(5, 9),)},
            meta=COLUMN,
        ),
        SpanSample(
            id="not",
            text="I am not angry, they say. And it rained.",
            spans=(),
            emotion="sad",
            valence="negative",
            annotators={"ann": (Mark(0, 4),), "bob": (Mark(4, 8),)},
            meta={"speaker": "bo", "age": 30},
        ),
        SpanSample(
            id="bus",
            text="The bus came at nine and went on at ten.",
            spans=(),
            emotion="fear",
            sentences=(Sentence(start=0, end=40, emotion="surprise", valence="positive"),),
            meta={"age": 30.5},
        ),
    ]
    return opened, add_samples(opened.store, "spans", "mixed", samples, "mixed.jsonl").dataset


def test_a_condition_keeps_the_samples_of_which_it_is_true(mixed: tuple[Workspace, int]) -> None:
    opened, dataset = mixed
    first = opened.store.samples.file_order(dataset).start
    opened.notes().write(dataset, first, "ada", "why")
    opened.notes().write(dataset, first + 1, "ada", "", ["irony"])
    opened.slicing().save(dataset, "mine", "emotion=happy|surprise")
    assert {line: of(opened, dataset, line) for line in KEPT} == KEPT
    listed = opened.order(ListQuery(dataset, conditions="words>=9", sort="id"))
    assert [row.id for row in opened.page(listed, None)] == ["bus", "not"]


def test_a_slice_is_checked_before_it_is_kept_and_none_is_made_of_itself(mixed: tuple[Workspace, int]) -> None:
    opened, dataset = mixed
    slicing = opened.slicing()
    assert not slicing.save(dataset, " sad  ones ", "emotion=sad")
    assert slicing.save(dataset, "sad ones", "emotion=sad & negation=yes")
    assert [(one.name, one.n, one.conditions) for one in slicing.saved(dataset)] == (
        [("sad ones", 1, "emotion=sad & negation=yes")]
    )
    for name, line in (
        ("", "emotion=sad"),
        ("x", ""),
        ("x", "slice=x"),
        ("x", "nothing=1"),
        ("x", "mark=H"),
        ("x", "a"),
    ):
        with pytest.raises(BadInput):
            slicing.save(dataset, name, line)
    slicing.save(dataset, "a", "emotion=sad")
    slicing.save(dataset, "b", "slice=a")
    slicing.save(dataset, "a", "slice=b")
    with pytest.raises(BadInput, match="made of itself"):
        slicing.keeps(dataset, "slice=b")
    slicing.remove(dataset, "a")
    with pytest.raises(BadInput, match="there is no slice"):
        slicing.remove(dataset, "a")


def test_errors_and_figures_of_a_run_are_conditions_where_one_is_named(tmp_path: Path) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "right", "retrieve", EXACT)
    add_run(opened, dataset, "r2", "wrong", "retrieve", ERRING)
    assert of(opened, dataset.dataset, "f1=1", "r1") == ["s1", "s2", "p1"]
    assert of(opened, dataset.dataset, "f1<0.5", "r2") == ["s2", "p1"]
    assert of(opened, dataset.dataset, "mark=H", "r2") == ["s2"]
    with pytest.raises(BadInput, match="choose one"):
        opened.slicing().keeps(dataset.dataset, "mark=H")


@pytest.fixture
def many(tmp_path: Path) -> tuple[Workspace, int, np.ndarray]:
    """Sixty samples of two kinds and two colours; of kind a in red the run says nothing."""
    opened, _ = workspace(tmp_path / "w.duckdb")
    samples = [
        SpanSample(
            id=f"m{at}",
            text="I was so glad.",
            spans=(Mark(9, 13),),
            meta={"kind": "ab"[at % 2], "colour": "red" if at % 3 else "blue"},
        )
        for at in range(60)
    ]
    dataset = add_samples(opened.store, "spans", "many", samples, "many.jsonl")
    bad = np.array([at % 2 == 0 and at % 3 > 0 for at in range(60)])
    draw = np.random.default_rng(0)
    add_run(opened, dataset, "r1", "one", "retrieve", {f"m{at}": [[] if bad[at] else ["glad"]] for at in range(60)})
    add_run(
        opened,
        dataset,
        "r2",
        "two",
        "retrieve",
        {f"m{at}": [["so glad"] if draw.random() < 0.5 else ["glad"]] for at in range(60)},
    )
    return opened, dataset.dataset, bad


def test_figures_of_each_part_are_those_of_its_samples(many: tuple[Workspace, int, np.ndarray]) -> None:
    opened, dataset, bad = many
    parts = opened.slicing().parts(dataset, "r1", by=["kind", "colour"])
    assert (parts.whole.n, parts.whole.mean) == (60, pytest.approx(1 - bad.mean()))
    rows = {(row.facet, row.value): row for row in parts.rows}
    kind_a = rows["kind", "a"]
    values = 1.0 - bad
    assert (kind_a.n, kind_a.mean) == (30, pytest.approx(values[::2].mean()))
    assert kind_a.p == pytest.approx(ttest_ind(values[::2], values[1::2], equal_var=False).pvalue)
    # A facet of two values is one test: a against the rest is b against the rest.
    assert rows["kind", "b"].p == pytest.approx(kind_a.p)
    assert kind_a.adjusted == pytest.approx(2 * kind_a.p)
    assert "corrected over 2 tests (two parts that are each other's rest count once)" in parts.convention
    assert kind_a.low is not None
    assert kind_a.low < kind_a.mean
    both = opened.slicing().parts(dataset, "r1", "r2", by=["kind"])
    second = opened.store.listing.metric_means(dataset, "r2", "f1")
    of_b = next(row for row in both.rows if row.value == "b")
    assert (of_b.mean, of_b.other) == (1.0, pytest.approx(second[1::2].mean()))
    assert of_b.p == wilcoxon_p(1.0 - second[1::2])
    # Whether the two differ in a, and whether in b, are two questions; whether a changes the difference is one.
    p = [row.p for row in both.rows]
    assert [row.adjusted for row in both.rows] == pytest.approx(adjusted(p).tolist())
    assert [row.apart_adjusted for row in both.rows] == pytest.approx([row.apart_p for row in both.rows])
    assert (
        "2 tests in parts, and over 1 against the rest (two parts that are each other's rest count once)"
        in both.convention
    )
    with pytest.raises(BadInput, match="no facet 'nix'"):
        opened.slicing().parts(dataset, "r1", by=["nix"])


def test_where_a_source_wins_are_the_parts_of_its_greatest_differences(many: tuple[Workspace, int, np.ndarray]) -> None:
    opened, dataset, _ = many
    slicing = opened.slicing()
    for one, other in (("r1", "r2"), ("r2", "r1")):
        parts = slicing.parts(dataset, one, other, "f1").rows
        expected = [(row.facet, row.value, row.n) for row in parts if row.n >= 10 and (row.difference or 0) > 0]
        won = slicing.wins(dataset, one, other, "f1")
        assert {(row.facet, row.value, row.n) for row in won} == set(expected)
        differences = [row.difference or 0.0 for row in won]
        assert differences == sorted(differences, reverse=True)
    assert slicing.wins(dataset, "r1", "r2", "f1")[0].conditions == "kind=b"
    assert slicing.wins(dataset, "r1", "r2", "f1", least=61) == []


def test_a_slice_that_is_a_part_by_another_name_is_no_test_of_its_own(
    many: tuple[Workspace, int, np.ndarray],
) -> None:
    opened, dataset, _ = many
    opened.slicing().save(dataset, "of kind a", "kind=a")
    parts = opened.slicing().parts(dataset, "r1", by=["kind", "slice"])
    assert len(parts.rows) == 3
    assert [row.adjusted for row in parts.rows] == pytest.approx([parts.rows[0].p] * 3)


def test_scores_that_are_equal_but_for_rounding_are_ties_in_a_part_too() -> None:
    first, second = np.full(24, 0.1 + 0.2), np.full(24, 0.3)
    figures = [ratio(values, np.ones(24)) for values in (first, second)]
    part = np.arange(24) < 12
    assert (figures[0].by_sample != figures[1].by_sample).all()
    assert _p_here(figures, part, None, is_mean=True) is None
    assert _p_of_contrast(figures, part, np.ones(24, dtype=bool), None) is None


def test_the_rule_under_which_a_source_is_worst_is_found_and_is_a_line_of_conditions(
    many: tuple[Workspace, int, np.ndarray],
) -> None:
    opened, dataset, bad = many
    findings = opened.slicing().found(dataset, "r1", fewest=4)
    best = findings.rows[0]
    assert best.conditions == "kind=a & colour=red"
    assert best.rule.mean == 0.0
    assert opened.slicing().samples(dataset, best.conditions) == (
        (np.flatnonzero(bad) + opened.store.samples.file_order(dataset).start).tolist()
    )
    assert opened.slicing().found(dataset, "r1", "r2", fewest=4).rows[0].conditions == best.conditions


def test_texts_with_numbers_are_parted_by_how_near_their_annotators_are(tmp_path: Path) -> None:
    opened, _ = workspace(tmp_path / "w.duckdb")
    apart = {"a": (1, 1), "b": (1, 2), "c": (1, 5), "d": (2, 2), "e": (3,), "f": (4, 1)}
    samples = [
        ValuesGold(
            id=key, text=key, annotators={f"p{at}": {"values": {"valence": float(n)}} for at, n in enumerate(numbers)}
        )
        for key, numbers in apart.items()
    ]
    dataset = add_samples(opened.store, "values", "numbers", samples, "x").dataset
    # Distances 0, 1, 4, 0, none and 3 of a range of 4.
    assert of(opened, dataset, "agreement=low") == ["c", "f"]
    assert of(opened, dataset, "agreement=high") == ["a", "d"]
    assert of(opened, dataset, "agreement=middle") == ["b"]
