"""The tables and points of Results for masked words, of answers by hand."""

import msgspec
import pytest
from msgspec.structs import replace

from emotui.metrics.masked import score_mask
from emotui.store.query import Run
from emotui.tables import Cell, ResultsTable
from emotui.tasks.masked.baselines import Detail, convention_of, lexicon_in
from emotui.tasks.masked.lexicon import UNLIKE_PAPER, word_vectors
from emotui.tasks.masked.tables import masked_tables, size_of
from emotui.tasks.parts import ScoredRun

GOLD = {"a": ("sad", "angry"), "b": ("happy",), "c": ("happy",)}
TOPICS = {"a": "work", "b": "work", "c": ""}


def run(model: str, way: str, **said: tuple[str, ...]) -> ScoredRun:
    table = word_vectors().table
    scores = []
    for number, (key, gold) in enumerate(GOLD.items(), 10):
        there = said.get(key, ())
        f1 = tuple(score_mask(word, there[at] if at < len(there) else None, table).f1 for at, word in enumerate(gold))
        detail = Detail(key, 0, gold, there, f1, TOPICS[key])
        scores.append((number, msgspec.json.encode(detail).decode()))
    kept = Run(f"{model}-{way}", "masked", model, 1, "", {"way": way}, "done", "", None, 3, 3, 0, None)
    return ScoredRun(kept, "posts", scores)


ZERO = run("Qwen3-4B", "zero-shot", a=("sad", "happy"), b=("glad",), c=("glad",))
FEW = run("Qwen3-4B", "few-shot-nearest", a=("sad", "angry"), b=("happy",), c=("glad",))
OTHER = run("mystery", "zero-shot", a=("sad",), b=("happy",), c=("happy",))


AUTHORS = replace(word_vectors(), express=True, name="theirs.csv", key="0123456789abcdef")
"""EmoLex and the supplement in the place of the authors' own, which are not here."""


@pytest.fixture(scope="module")
def tables() -> dict[str, ResultsTable]:
    return {table.key: table.shown(published=False) for table in masked_tables([ZERO, FEW, OTHER], word_vectors())}


def cell(table: ResultsTable, row: str, column: str) -> Cell:
    place = next(at for at, one in enumerate(table.columns) if one.key == column)
    return next(one for one in table.rows if one.label == row).cells[place]


def test_runs_stand_over_five_answers_that_cost_nothing(tables: dict[str, ResultsTable]) -> None:
    main = tables["masked"]
    assert [row.kind for row in main.rows] == ["run"] * 3 + ["baseline"] * 5
    assert cell(main, "Qwen3-4B few-shot-nearest", "acc_l").value == 3 / 4
    assert cell(main, "Qwen3-4B zero-shot", "valid_answers").value == 1
    assert cell(main, "mystery zero-shot", "valid_answers").value == 2 / 3  # one answer is short of a word
    assert cell(main, "commonest word: happy", "acc_l").value == 1 / 2
    assert cell(main, "ten zeros", "f1_v").value == 0
    assert main.left_out


def test_each_figure_says_how_it_is_counted_itself(tables: dict[str, ResultsTable]) -> None:
    words = word_vectors()
    told = {name: cell(tables["masked"], "Qwen3-4B zero-shot", name).convention for name in ("acc_l", "acc_v", "f1_v")}
    assert told == {name: convention_of(words, name) for name in told}
    assert "share of the masks whose word is the gold word" in told["acc_l"]
    assert "F1" not in told["acc_l"] + told["acc_v"]
    assert lexicon_in(told["acc_v"]) == lexicon_in(told["f1_v"]) == words.mark


def test_topics_are_those_of_the_records(tables: dict[str, ResultsTable]) -> None:
    topics = tables["masked-topics"]
    assert [row.label for row in topics.rows] == ["work"]
    found = cell(topics, "work", "Qwen3-4B-few-shot-nearest/acc_l")
    assert (found.value, found.samples) == (1, (10, 11))


def test_a_misprediction_has_its_share_over_all_runs_and_leads_to_its_texts(tables: dict[str, ResultsTable]) -> None:
    wrong = tables["masked-mispredictions"]
    assert {row.label for row in wrong.rows} == {"happy → glad"}  # angry stands behind one mask only
    assert cell(wrong, "happy → glad", "share").value == 3 / 6
    assert cell(wrong, "happy → glad", "Qwen3-4B-zero-shot").samples == (11, 12)
    assert cell(wrong, "happy → glad", "mystery-zero-shot").value == 0


def test_words_of_the_supplement_wear_their_sign_and_words_are_points(tables: dict[str, ResultsTable]) -> None:
    words = tables["masked-words"]
    assert [row.label for row in words.rows] == ["happy", "sad°", "angry", "glad"]
    assert cell(words, "happy", "people").value == 2
    assert cell(words, "happy", "difference").value == (1 + 1 + 2) / 3 - 2
    assert words.plot is not None
    assert words.plot.points[0] == (2, 4 / 3)
    assert words.plot.names == ("happy", "sad", "angry", "glad")


def test_pairs_are_ways_of_a_model_and_models_in_a_way(tables: dict[str, ResultsTable]) -> None:
    pairs = tables["masked-pairs"]
    assert [row.label for row in pairs.rows] == [
        "Qwen3-4B few-shot-nearest against Qwen3-4B zero-shot",
        "Qwen3-4B zero-shot against mystery zero-shot",
    ]
    first = pairs.rows[0].label
    assert [cell(pairs, first, key).value for key in ("better", "worse", "tied")] == [2, 0, 2]
    two_sided, greater = cell(pairs, first, "wilcoxon_p").value, cell(pairs, first, "greater").value
    assert isinstance(two_sided, float)
    assert greater == two_sided / 2


def test_ways_other_than_zero_shot_are_not_set_against_each_other_and_filling_counts_as_zero_shot() -> None:
    cot, filling = run("Qwen3-4B", "cot"), run("mlm", "")
    pairs = next(
        table for table in masked_tables([cot, FEW, ZERO, filling], word_vectors()) if table.key == "masked-pairs"
    )
    assert [row.label for row in pairs.shown(published=False).rows] == [
        "Qwen3-4B cot against Qwen3-4B zero-shot",
        "Qwen3-4B few-shot-nearest against Qwen3-4B zero-shot",
        "Qwen3-4B zero-shot against mlm",
    ]


def test_models_whose_name_says_their_size_stand_by_it_and_the_papers_only_when_asked() -> None:
    raw = next(table for table in masked_tables([ZERO, OTHER], AUTHORS) if table.key == "masked-sizes")
    own, both = raw.shown(published=False), raw.shown(published=True)
    assert [row.label for row in own.rows] == ["Qwen3-4B zero-shot"]
    assert own.plot is not None
    assert both.plot is not None
    assert (own.plot.n, both.plot.n) == (1, 15)
    assert sum(name.endswith("†") for name in both.plot.names) == 14


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("Qwen3-4B", 4),
        ("hf:Qwen/Qwen2.5-0.5B-Instruct", 0.5),
        ("pythia-70m", 0.07),
        ("gemma-2-27b-it", 27),
        ("gguf:model-Q4_K_M.gguf", None),
        ("embedded", None),
        ("GPT-4o", None),
    ],
)
def test_the_size_of_a_model_is_what_its_name_says(model: str, size: float | None) -> None:
    assert size_of(model) == size


def test_a_run_without_answers_makes_no_table() -> None:
    assert masked_tables([ScoredRun(ZERO.run, "posts", [])], AUTHORS) == ()


def test_the_papers_rows_stand_beside_figures_by_its_authors_lexicon_alone_and_else_it_is_said_why_not() -> None:
    for vectors, stand in ((AUTHORS, True), (word_vectors(), False), (word_vectors(supplement=False), False)):
        made = [table.shown(published=True) for table in masked_tables([ZERO, FEW, OTHER], vectors)]
        printed = [table for table in made if table.key not in ("masked-topics", "masked-words")]
        assert len(printed) == 4
        assert all(any(row.published for row in table.rows) == stand for table in printed)
        assert all(any(UNLIKE_PAPER in note for note in table.notes) != stand for table in printed)
        assert vectors.name in made[0].notes[0]


def test_a_run_whose_kept_scores_are_by_another_lexicon_says_so_and_its_figures_are_by_the_tables_own() -> None:
    kept = ScoredRun(ZERO.run, "posts", ZERO.scores, conventions=frozenset([convention_of(AUTHORS)]))
    main = masked_tables([kept, FEW], word_vectors())[0]
    assert [row.remark for row in main.rows[:2]] == ["its kept scores are by another lexicon", ""]
    assert masked_tables([kept], AUTHORS)[0].rows[0].remark == ""
    assert cell(main, "Qwen3-4B zero-shot", "f1_v").convention == convention_of(word_vectors())
