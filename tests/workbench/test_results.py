"""Results: the paper's tables from the store, with the samples behind every figure."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import msgspec
import pytest
from msgspec.structs import replace

from emotui.backends.host import Cancelled
from emotui.errors import BadInput
from emotui.records import ScenesGold, SpanSample
from emotui.store.query import Dataset
from emotui.tables import Cell, ResultsTable, Row
from emotui.tasks.published import published
from emotui.workbench.datasets.samples import add_experiment, add_samples, experiment_of
from emotui.workbench.results.service import Results
from emotui.workbench.runs.scores import metrics
from emotui.workbench.workspace import Workspace
from tests.workbench.results_store import ERRING, EXACT, add_run, workspace

Made = tuple[Workspace, Dataset, Results]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    yield opened, dataset, opened.results()
    opened.close()


def tables(made: Made, *runs: str) -> dict[str, ResultsTable]:
    return {table.key: table for table in made[2].tables("three", runs or None, sim=False, published=True)}


def row(table: ResultsTable, label: str, at: int = 0) -> Row:
    return [row for row in table.rows if row.label == label][at]


def cell(table: ResultsTable, label: str, column: str, at: int = 0) -> Cell:
    place = [one.key for one in table.columns].index(column)
    return row(table, label, at).cells[place]


def test_published_rows_and_what_is_to_be_known_of_them_stand_only_where_they_are_asked_for(made: Made) -> None:
    add_run(made[0], made[1], "r1", "m", "retrieve", EXACT)
    own, both = made[2].tables("three", sim=False), tables(made)
    assert not any(row.published for table in own for row in table.rows)
    assert not any("†" in note for table in own for note in table.notes)
    assert "cot-task-1" in {table.key for table in own}
    for table in own:
        beside = both[table.key]
        assert [row for row in beside.rows if not row.published] == list(table.rows)
        assert beside.notes[: len(table.notes)] == table.notes
    assert any("†" in note for note in both["task-1"].notes)


def test_a_table_is_called_after_the_papers_task_only_where_every_sample_is_what_it_says(made: Made) -> None:
    opened, _, results = made
    assert results.titles("three") == {"task-1": "Task 1: one sentence", "task-2": "three, passages"}
    one = SpanSample(id="a", text="I cried. Then I laughed.", spans=(), emotion="sad")
    two = SpanSample(id="b", text="I cried, Dr. no less", spans=())
    add_samples(opened.store, "spans", "long texts", [one], "x")
    add_samples(opened.store, "spans", "no\x1bemotion", [two], "x")
    assert results.titles("long texts") == {"task-1": "long texts"}
    assert results.titles("no\x1bemotion") == {"task-1": "no\\x1bemotion"}


def test_every_row_of_every_table_has_a_cell_for_every_column_and_published_rows_cite_their_table(made: Made) -> None:
    add_run(made[0], made[1], "r1", "m", "retrieve", EXACT)
    found = made[2].tables("three", sim=False, published=True)
    assert [table.key for table in found] == [
        *("task-1", "errors-task-1", "labels-task-1", "cot-task-1"),
        *("task-2", "errors-task-2", "labels-task-2", "cot-task-2", "asking"),
        *("spread-words", "spread-annotators-words"),
    ]
    for table in found:
        assert {len(row.cells) for row in table.rows} == {len(table.columns)}
        assert len({column.key for column in table.columns}) == len(table.columns)
        assert all(row.source.startswith("SEER, ") for row in table.rows if row.published)
        assert table.notes


def test_a_models_settings_stand_side_by_side_and_a_second_run_of_one_opens_a_second_row(made: Made) -> None:
    opened, dataset, _ = made
    add_run(opened, dataset, "r1", "m", "retrieve", EXACT)
    add_run(opened, dataset, "r2", "m", "highlight-cot", ERRING)
    add_run(opened, dataset, "r3", "m", "retrieve", ERRING)
    add_run(opened, dataset, "r4", "embedded", "", EXACT)
    table = tables(made, "r1", "r2", "r3", "r4")["task-1"]
    own = [row for row in table.rows if row.kind == "run"]
    assert [(row.label, row.source) for row in own] == [
        ("m (1 of 2)", "r1, r2"),
        ("m (2 of 2)", "r3"),
        ("embedded", "r4"),
    ]
    assert cell(table, "m (1 of 2)", "retrieve/f1").value == 1.0
    assert cell(table, "m (1 of 2)", "retrieve-cot/f1") == Cell()
    assert cell(table, "embedded", "own/f1").run == "r4"
    # Of s1 2/5, and then all; of s2 half, and then nothing.
    each = [fmean([0.4, 0.5]), fmean([1.0, 0.0])]
    erring = cell(table, "m (1 of 2)", "highlight-cot/f1")
    assert (erring.value, erring.sd) == pytest.approx((fmean(each), stdev(each)))
    assert [len(erring.samples), erring.run] == [2, "r2"]
    assert "spans 3" in erring.convention


def test_without_runs_named_the_newest_finished_one_of_each_model_and_setting_counts(made: Made) -> None:
    opened, dataset, _ = made
    add_run(opened, dataset, "r1", "m", "retrieve", ERRING)
    add_run(opened, dataset, "r2", "m", "retrieve", EXACT)
    add_run(opened, dataset, "r3", "m", "retrieve", {"s1": [["joy"]]}, n=3)
    table = tables(made)["task-1"]
    assert [row.source for row in table.rows if row.kind == "run"] == ["r2"]
    part = tables(made, "r3")
    assert row(part["task-1"], "m").remark == "1 of 3 scored"
    assert "task-2" in part
    assert [row.kind for row in part["task-2"].rows[:1]] == ["people"]


def test_the_errors_are_those_of_the_runs_own_report(made: Made) -> None:
    opened, dataset, results = made
    add_run(opened, dataset, "r1", "m", "retrieve", ERRING)
    found = metrics(opened.store, opened.store.runs.get("r1"))
    figures = results.figures("r1")
    one, two = (figures.parts[part].figures for part in ("task-1", "task-2"))
    errors = tables(made)["errors-task-1"]
    # Task 1: of four spans one is made up in repeat 0 (3 spans), none in repeat 1 (1 span).
    assert cell(errors, "m", "hallucination_rate").value == pytest.approx(fmean([1 / 3, 0]))
    assert cell(errors, "m", "hallucination_rate").samples == one["hallucination_rate"].samples
    assert len(cell(errors, "m", "hallucination_rate").samples) == 1
    assert cell(errors, "m", "fixation_rate").value == pytest.approx(
        0.5
    )  # s1 alone has a keyword; fixated once of twice
    assert "neutral_sentence_fpr" not in {column.key for column in errors.columns}
    two_errors = tables(made)["errors-task-2"]
    assert cell(two_errors, "m", "neutral_sentence_fpr").value == found["neutral_sentence_fpr"] == 0.5
    assert cell(two_errors, "m", "neutral_span_share").value == pytest.approx(fmean([1 / 2, 1]))
    assert two["n"].value == 1


def test_the_papers_rates_of_section_10_stand_in_the_error_tables(made: Made) -> None:
    found = tables(made)
    assert cell(found["errors-task-1"], "Phi 4 Mini 3.8B", "hallucination_rate").value == 0.163
    assert cell(found["errors-task-2"], "LLaMA 3.3 70B", "fixation_rate_by_sentence").value == 0.536
    assert cell(found["errors-task-2"], "Crowd annotators", "fixation_rate_by_sentence").value == 0.03
    assert row(found["errors-task-1"], "Phi 4 Mini 3.8B").source == "SEER, section 10.2"


def test_annotators_stand_in_the_same_tables_as_average_and_best(made: Made) -> None:
    table = tables(made)["task-1"]
    average = cell(table, "Annotators, average", "own/f1")
    # By ann all and nothing, by bob 2/5 and all.
    assert (average.value, average.sd) == pytest.approx((fmean([0.5, 0.7]), stdev([0.5, 0.7])))
    best = cell(table, "Annotators, best of each sample", "own/f1")
    assert (best.value, best.sd) == (1.0, None)
    assert cell(table, "Annotators, average", "own/sim").why == "no embedding model was asked"
    assert row(table, "Annotators, average").source == "2 annotators"
    # The keyword is "joy"; Empath has it too. bob marked nothing but it.
    assert cell(tables(made)["errors-task-1"], "Annotators, average", "fixation_rate").value == 0.5
    assert row(tables(made)["task-2"], "Annotators, average").source == "1 annotator"


def test_annotators_have_their_sim_from_the_embedded_model(made: Made) -> None:
    people = made[2].annotators("three")
    sim = people["task-1"].best.figures["sim"].value
    assert sim == pytest.approx(1.0, abs=1e-6)
    average = people["task-1"].average.figures["sim"].value
    assert average is not None
    assert 0.5 < average < 1


def test_a_label_has_its_samples_and_bars_have_the_same_figures(made: Made) -> None:
    opened, dataset, results = made
    add_run(opened, dataset, "r1", "m", "retrieve", ERRING)
    table = tables(made)["labels-task-1"]
    sad = cell(table, "m", "emotion/sad")
    assert (sad.value, len(sad.samples)) == (pytest.approx(0.25), 1)
    bars = results.bars("three", ["r1"], by="emotion")
    assert bars.labels == ("happy", "sad")
    assert [(one.label, one.kind) for one in bars.series] == [
        ("m, Retrieve (Base)", "run"),
        ("Annotators, average", "people"),
    ]
    assert bars.series[0].cells[1] == sad
    valence = results.bars("three", ["r1"], part="task-2", by="valence")
    assert (valence.labels, valence.series[0].cells[0].value) == (("positive",), pytest.approx(0.5))
    with pytest.raises(BadInput, match="no bars of f1 by mood"):
        results.bars("three", by="mood")


def test_precision_and_recall_stand_beside_f1_and_the_best_that_costs_nothing_under_it(made: Made) -> None:
    opened, dataset, results = made
    add_run(opened, dataset, "r1", "m", "retrieve", ERRING)
    table = tables(made)["task-1"]
    # First 2/5 and 1 by three spans, and then 1 by one; there are two gold spans.
    precision, recall = [1.4 / 3, 1.0], [1.4 / 2, 1 / 2]
    for name, each in (("precision", precision), ("recall", recall)):
        found = cell(table, "m", f"retrieve/{name}")
        assert (found.value, found.sd) == pytest.approx((fmean(each), stdev(each)))
    assert "metrics-task-1" not in tables(made)
    assert [row.kind for row in table.rows[:2]] == ["run", "baseline"]
    # The whole text: 4 of 6 tokens of s1, 2 of 3 of s2; no keyword is more than a part of it, and nothing is 0.
    assert (table.rows[1].label, table.rows[1].source) == ("Baseline: everything", "2 samples")
    assert cell(table, "Baseline: everything", "retrieve/f1").value == pytest.approx(0.8)
    assert cell(table, "Baseline: everything", "highlight/f1") == Cell()
    assert any("counts 1" in note for note in table.notes)
    add_run(opened, dataset, "r2", "exact", "retrieve", EXACT)
    bars = results.bars("three", ["r2"], figure="precision")
    assert [one.value for one in bars.series[0].cells] == [1.0, 1.0]
    assert len(bars.series[0].cells[0].samples) == 1
    with pytest.raises(BadInput, match="no bars of loudness by emotion"):
        results.bars("three", figure="loudness")


def test_reasoning_against_base_is_their_difference(made: Made) -> None:
    opened, dataset, _ = made
    add_run(opened, dataset, "r1", "m", "retrieve", EXACT)
    add_run(opened, dataset, "r2", "m", "retrieve-cot", ERRING)
    table = tables(made)["cot-task-1"]
    assert cell(table, "m", "retrieve/change").value == pytest.approx(0.475 - 1)
    assert cell(table, "m", "highlight/change") == Cell()
    assert cell(table, "Qwen 3 8B", "retrieve/change").value == pytest.approx(0.487 - 0.646)
    assert cell(tables(made)["cot-task-2"], "Qwen 3 8B", "retrieve/change").value == pytest.approx(0.355 - 0.358)


def test_failed_format_retries_and_empty_answers_are_counted_apart(made: Made) -> None:
    opened, dataset, _ = made
    add_run(opened, dataset, "r1", "m", "retrieve", ERRING, before=2, breach="spans on more than one line", n=7)
    table = tables(made)["asking"]
    counts = {key: cell(table, "m", key).value for key in ("questions", "retried", "retries", "failed_format", "empty")}
    assert counts == {"questions": 6, "retried": 2, "retries": 4, "failed_format": 2, "empty": 1}
    assert len(cell(table, "m", "retried").samples) == 1


def test_scores_of_two_conventions_say_so(made: Made) -> None:
    opened, dataset, _ = made
    add_run(opened, dataset, "r1", "m", "retrieve", EXACT, convention="spans 0: older")
    assert cell(tables(made)["task-1"], "m", "retrieve/f1").convention == "spans 0: older"


def test_new_scores_are_seen_and_old_ones_are_not_counted_again(made: Made) -> None:
    opened, dataset, results = made
    add_run(opened, dataset, "r1", "m", "retrieve", EXACT)
    first = results.figures("r1")
    assert results.figures("r1") is first
    add_run(opened, dataset, "r2", "other", "retrieve", EXACT)
    assert results.figures("r1") is first
    rows = list(opened.store.results.of_run("r1"))
    assert rows[0].score is not None
    worse = replace(
        rows[0], score=replace(rows[0].score, detail=rows[0].score.detail.replace(b'"f1":1.0', b'"f1":0.0'))
    )
    opened.store.results.replace_scores("r1", [worse, *rows[1:]])
    assert results.figures("r1").parts["task-1"].figures["f1"].value == 0.5


def test_transitions_are_counted_in_gold_with_their_samples(made: Made) -> None:
    found = made[2].transitions("three")
    assert found.labels == ("neutral", "happy")
    assert found.counts == ((0, 1), (1, 0))
    assert found.shares == ((0.0, 0.5), (0.5, 0.0))
    assert found.row_shares == ((0.0, 1.0), (1.0, 0.0))
    assert [[len(cell) for cell in row] for row in found.samples] == [[0, 1], [1, 0]]
    assert made[2].transitions("three", "valence").labels == ("neutral", "positive")
    with pytest.raises(BadInput, match="no transitions by mood"):
        made[2].transitions("three", "mood")


def test_prompting_experiments_have_the_papers_tables_and_the_gate(made: Made) -> None:
    opened, _, results = made
    for number in (0, 3):
        dataset = add_experiment(opened.store, number)
        assert experiment_of(dataset) == number
        gold = [msgspec.json.decode(r, type=SpanSample) for _, r in opened.store.samples.of_dataset(dataset.dataset)]
        answers = {one.id: [[one.text[a:b] for a, b in one.places]] for one in gold}
        way = "experiment-0" if number == 0 else "highlight"
        add_run(opened, dataset, f"x{number}", "m", way, answers, with_sim=False)
    found = {table.key: table for table in results.tables("three", sim=False, published=True)}
    assert {"task-1", "experiment-0", "experiments-retrieve", "experiments-highlight", "asking-experiments"} <= set(
        found
    )
    assert cell(found["experiment-0"], "m", "em").value == 1.0
    assert len(cell(found["experiment-0"], "m", "em").samples) == 100
    marked = found["experiments-highlight"]
    assert cell(marked, "m", "experiment-3-categorical/f1").value == 1.0
    assert len(cell(marked, "m", "experiment-3-categorical/f1").samples) == 252
    assert cell(marked, "m", "experiment-3-categorical/em").value == 1.0
    assert len(cell(marked, "m", "experiment-3-valence/em").samples) == 180
    assert cell(marked, "Qwen 3 32B", "experiment-3-valence/em") == Cell()
    assert cell(marked, "m", "experiment-3-valence/sim").why == "no embedding model was asked"
    assert cell(marked, "m", "experiment-2-valence/f1") == Cell()
    assert cell(marked, "m", "goes_on").value == "yes"
    assert [row.label for row in found["experiments-retrieve"].rows if row.kind == "run"] == []
    alone = [table.key for table in results.tables("experiment-3", sim=False, published=True)]
    assert alone == ["experiment-0", "experiments-retrieve", "experiments-highlight", "asking-experiments"]
    assert set(tables(made, "x3")) >= {"task-1", "experiments-highlight"}


@pytest.mark.parametrize(("key", "left_out"), [("experiments-retrieve", 3), ("experiments-highlight", 11)])
def test_the_gate_keeps_the_models_that_the_paper_kept(made: Made, key: str, left_out: int) -> None:
    add_experiment(made[0].store, 3)
    (table,) = [table for table in made[2].tables("experiment-3", published=True) if table.key == key]
    kept = {row.label for row in table.rows if row.cells[-1].value == "yes"}
    style = key.removeprefix("experiments-")
    main = {row.label for row in tables(made)["task-1"].rows if row.published and "Crowd" not in row.label}
    shown = {
        label
        for label in main
        if any(cell(tables(made)["task-1"], label, f"{style}{cot}/f1").asked for cot in ("", "-cot"))
    }
    assert kept == shown
    assert len(table.rows) - len(kept) == left_out


def test_what_is_not_there_is_one_sentence(made: Made, tmp_path: Path) -> None:
    opened, _, results = made
    add_samples(opened.store, "scenes", "rooms", [ScenesGold(id="1", text="t", labels={"joy": 1})], "x")
    with pytest.raises(BadInput, match=r"no dataset 'nowhere' \(there: three\)"):
        results.tables("nowhere")
    assert results.tables("rooms") == ()
    with pytest.raises(BadInput, match="'rooms' is one of the scenes task"):
        results.bars("rooms")
    with pytest.raises(BadInput, match="there is no run 'r9'"):
        results.tables("three", ["r9"])


def test_a_count_can_be_cancelled_and_asked_again(made: Made) -> None:
    opened, dataset, results = made
    add_run(opened, dataset, "r1", "m", "retrieve", EXACT)
    with pytest.raises(Cancelled):
        results.tables("three", cancelled=lambda: True)
    assert len(results.tables("three", sim=False)) == 11


@pytest.mark.parametrize(("part", "questions"), [("task-1", 5 * 61), ("task-2", 5 * 84)])
def test_the_fixation_rates_of_section_10_are_whole_counts_over_five_runs(part: str, questions: int) -> None:
    rates = [
        figures[name].mean
        for row in published("seer_section10").rows
        for setting, figures in row.settings.items()
        for name in figures
        if setting.startswith(part) and row.kind == "model" and name.startswith("fixation_rate")
    ]
    assert len(rates) == {"task-1": 12, "task-2": 7}[part]
    for rate in rates:
        assert abs(round(rate * questions) / questions - rate) <= 0.0005
