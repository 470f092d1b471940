"""The masked task: how a model is asked, how its words are read and scored, and the way through store and files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.base import Filled, FillMask, Generate, Generation, ModelCard, Refused, Request
from emotui.backends.host import Cancelled, ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.metrics.masked import masked_report
from emotui.records import MaskedGold
from emotui.store.store import Store
from emotui.tasks.masked.lexicon import word_vectors
from emotui.tasks.masked.task import Masked, Prediction, read_masked_prompts, read_words
from emotui.tasks.task import Parsed
from emotui.workbench.datasets.whole_records import import_files
from emotui.workbench.progress import RunOptions, RunProgress
from emotui.workbench.runs.run import run_task
from tests.conftest import Emotui
from tests.paths import CHECKOUT, TESTS

TINY = TESTS / "tiny" / "model" / "hf"
TASK = Masked()


def card(*capabilities: str) -> ModelCard:
    return ModelCard("some:model", "some", capabilities, {})


def sample(text: str | None = "I felt <mask>, then <mask>.", *labels: str) -> MaskedGold:
    return MaskedGold(id="m", text=text, labels=labels or ("sad", "angry"))


def saying(text: str, asked: list[Request]) -> Any:
    def answer(requests: Sequence[Request]) -> list[object]:
        asked.extend(requests)
        return [Generation(text, 1, 1, "stop") for _ in requests]

    return answer


# Asking.


def test_a_model_that_fills_masks_is_asked_one_way_and_its_best_words_are_the_answer() -> None:
    asked: list[Request] = []

    def fill(requests: Sequence[Request]) -> list[object]:
        asked.extend(requests)
        return [Filled(((("sad", 0.6), ("low", 0.3)), (("angry", 0.9),)))]

    assert TASK.ways(card("fill_mask")) == ()
    (answer,) = TASK.ask([sample()], fill, "", (0,))
    assert asked == [FillMask("I felt <mask>, then <mask>.", top=5)]
    said = TASK.parse(sample(), answer.raw or "", "")
    assert said == Prediction(("sad", "angry"), ((("sad", 0.6), ("low", 0.3)), (("angry", 0.9),)), asked=2)


def test_a_model_that_writes_is_told_the_number_of_words_and_the_form_of_their_list() -> None:
    asked: list[Request] = []
    (answer,) = TASK.ask([sample()], saying('["sad", "angry"]', asked), "zero-shot", (3,))
    (request,) = asked
    assert isinstance(request, Generate)
    question = request.messages[-1].content
    assert question.startswith("I felt <mask>, then <mask>.\n\nCovered words in this text: 2.")
    assert '["word1", "word2"]' in question
    assert (request.seed, request.grammar, request.temperature) == (3, None, 0.0)
    assert answer.raw == '["sad", "angry"]'
    assert question in (answer.prompt or "")


def test_constrained_answers_are_held_to_a_list_of_as_many_words_as_masks() -> None:
    asked: list[Request] = []
    held = TASK.with_options({"constrain": True}, 1)
    held.ask([sample(), sample("one <mask>", "sad")], saying("[]", asked), "zero-shot", (0, 0))
    assert [request.grammar.count(" word") for request in asked if isinstance(request, Generate)] == [2, 1]  # type: ignore[union-attr]
    assert held.settings("zero-shot") != TASK.settings("zero-shot")
    with pytest.raises(BadInput, match="no grammar holds that"):
        held.settings("cot")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (sample(None), "this record has no text"),
        (sample("nothing hidden", "sad"), "the text has 0 <mask>, but there are 1 words"),
        (sample("one <mask>"), "the text has 1 <mask>, but there are 2 words"),
    ],
)
def test_a_record_that_cannot_be_asked_about_says_why_and_the_others_are_asked(wrong: MaskedGold, why: str) -> None:
    asked: list[Request] = []
    first, second = TASK.ask([wrong, sample()], saying('["a", "b"]', asked), "zero-shot", (1, 2))
    assert (first.raw, first.why) == (None, why)
    assert second.raw == '["a", "b"]'
    assert [request.seed for request in asked if isinstance(request, Generate)] == [2]


def test_a_refused_text_keeps_the_reason() -> None:
    (answer,) = TASK.ask([sample()], lambda requests: [Refused("too long")], "", (0,))
    assert (answer.raw, answer.why) == (None, "too long")


def test_a_model_that_can_do_neither_is_refused_in_one_sentence_that_names_those_that_can() -> None:
    with pytest.raises(ModelError, match=r"cannot fill mask.*embedded.*any model that writes will do too"):
        TASK.ways(card("classify"))


def test_repeats_are_sampled_unless_they_say_otherwise_and_a_wrong_setting_is_named() -> None:
    assert TASK.with_options({}, 3).settings("zero-shot")["temperature"] == 0.6
    assert TASK.with_options({"temperature": 0.2}, 3).settings("zero-shot")["temperature"] == 0.2
    with pytest.raises(BadInput, match="retries"):
        TASK.with_options({"retries": 2}, 1)


# Reading.


@pytest.mark.parametrize(
    ("output", "count", "words", "form"),
    [
        ('["sad"]', 1, ("sad",), "json"),
        (' ["sad", "very angry"]\n', 2, ("sad", "very angry"), "json"),
        ('["sad"]', 2, ("sad",), "lenient"),  # a short list
        ('["sad", "low"]', 1, ("sad", "low"), "lenient"),  # a long one
        ('```json\n["sad"]\n```', 1, ("sad",), "lenient"),
        ('<think>["joy"]?</think>["sad"]', 1, ("sad",), "lenient"),
        ("The words are: ['sad', 'angry'].", 2, ("sad", "angry"), "lenient"),
        ("[sad, angry]", 2, ("sad", "angry"), "lenient"),
        ('["sad", 3]', 2, ("sad",), "lenient"),
        ('["joy"] or rather ["sad"]', 1, ("sad",), "lenient"),
        ("sad, angry", 2, ("sad", "angry"), "lenient"),
        ("1. sad\n2. **angry**", 2, ("sad", "angry"), "lenient"),
        ("Sad.", 1, ("sad",), "lenient"),
        ("I think that the writer is sad here", 1, (), "unread"),
        ("", 1, (), "unread"),
        ("[]", 1, (), "unread"),
        ('[""]', 1, (), "unread"),
    ],
)
def test_a_list_is_read_strictly_first_and_then_by_the_documented_leniencies(
    output: str, count: int, words: tuple[str, ...], form: str
) -> None:
    assert read_words(output, "zero-shot", count) == (words, form)


def test_behind_reasons_the_list_after_the_last_answer_counts() -> None:
    assert read_words('Answer: hm ["joy"]\nSo.\nAnswer: ["sad"]', "cot", 1) == (("sad",), "json")
    assert read_words('It is ["sad"]', "cot", 1) == (("sad",), "lenient")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="<"), min_size=1, max_size=12), min_size=1))
def test_every_json_list_of_words_is_read_in_lower_case_and_its_order(words: list[str]) -> None:
    words = [f"x{word}x" for word in words]
    assert read_words(json.dumps(words), "zero-shot", len(words)) == (tuple(map(str.lower, words)), "json")


@pytest.mark.parametrize(
    ("output", "words", "form"),
    [
        ('["Sad."]', ("sad",), "json"),
        ('[" \u201cSad\u201d ", "very ANGRY!"]', ("sad", "very angry"), "json"),
        ("Answer: sad", ("sad",), "lenient"),
        ("**Final answer:** Sad.", ("sad",), "lenient"),
        ('answer : ["Sad"] or so', ("sad",), "lenient"),
        ("Answer: sad, angry", ("sad", "angry"), "lenient"),
        ('["."]', (), "unread"),
    ],
)
def test_a_words_case_and_points_and_a_label_before_it_are_not_part_of_it(
    output: str, words: tuple[str, ...], form: str
) -> None:
    assert read_words(output, "zero-shot", len(words)) == (words, form)


@given(st.text(max_size=80), st.integers(1, 3))
def test_any_output_is_read_without_a_fault_and_never_gives_an_empty_word(output: str, count: int) -> None:
    for way in ("zero-shot", "cot"):
        words, form = read_words(output, way, count)
        assert all(word.strip() for word in words)
        assert (form == "unread") == (not words)


@pytest.mark.parametrize("raw", ["[[]]", '[[["sad",0.5]]]', "{}", "nonsense"])
def test_a_kept_answer_with_another_number_of_masks_cannot_be_parsed(raw: str) -> None:
    with pytest.raises((ValueError, msgspec.DecodeError)):
        TASK.parse(sample(), raw, "")


# Scoring.


def parsed(repeat: int, *words: str, form: str = "") -> Parsed:
    return Parsed(sample(), repeat, Prediction(words, form=form))


def test_a_texts_score_is_the_mean_vector_f1_of_its_masks() -> None:
    rows = TASK.score([parsed(0, "sad", "furious"), parsed(0, "sad"), parsed(0, form="unread")], None)
    table = word_vectors().table
    shared = sum(a and b for a, b in zip(table["angry"], table["furious"], strict=True))
    second = 2 * shared / (sum(table["angry"]) + sum(table["furious"]))
    assert [row.values["f1_v"] for row in rows] == [pytest.approx((1 + second) / 2), 0.5, 0.0]
    assert [row.marks for row in rows] == ["" if second else "M", "M", "M!"]


def test_the_report_is_the_document_of_score_masked_and_repeats_give_means_and_deviations() -> None:
    once = TASK.report([sample()], TASK.score([parsed(0, "sad", "furious")], None))
    words = word_vectors()
    told = masked_report({"m": ("sad", "angry")}, {"m": ("sad", "furious")}, words.table, supplement=words.supplement)
    assert once == told | {"mean_words": 5, "lexicon": words.document()}
    twice = TASK.report([sample()], TASK.score([parsed(0, "sad", "angry"), parsed(1, "glad", "merry")], None))
    assert twice["acc_l"] == 0.5
    assert twice["sd"]["acc_l"] == pytest.approx(0.5**0.5)  # type: ignore[index]


# Prompts of the person's own.


def test_own_prompts_need_the_text_once_and_may_name_count_and_form(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("[zero-shot]\nuser = '{count} of {form}: {text}'\n")
    own = TASK.with_options({"prompts": msgspec.to_builtins(read_masked_prompts(str(file)))}, 1)
    asked: list[Request] = []
    own.ask([sample("one <mask>", "sad")], saying("[]", asked), "zero-shot", (0,))
    assert isinstance(asked[0], Generate)
    assert asked[0].messages[0].content == '1 of ["word"]: one <mask>'
    with pytest.raises(BadInput, match=r"your prompts have none for cot"):
        own.settings("cot")
    file.write_text("[zero-shot]\nuser = 'no text'\n")
    with pytest.raises(BadInput, match=r"\{text\} should stand in it once"):
        read_masked_prompts(str(file))


# The command line.


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


def test_embedded_runs_over_the_sample_data_and_its_export_scores_to_the_same_figures(
    emotui: Emotui, db: Path, tmp_path: Path
) -> None:
    got = emotui("run", "masked", "--model", "embedded", "--dataset", "masked", "--db", db, "--json").document
    assert (got["task"], got["n"], got["done"], got["failed"]) == ("masked", 98, 98, 0)
    predicted = tmp_path / "p.jsonl"
    assert emotui("export", got["run"], "--to", predicted, "--db", db).status == 0
    gold = CHECKOUT / "sample_data" / "masked.jsonl"
    scored = emotui("score", "masked", "--gold", gold, "--pred", predicted, "--json").document
    assert scored == got["metrics"]
    assert scored["ci95"]["f1_v"][0] < scored["f1_v"] < scored["ci95"]["f1_v"][1]
    assert emotui("rescore", got["run"], "--db", db, "--json").document["metrics"] == got["metrics"]


def test_an_imported_file_is_run_by_a_model_that_writes_and_resumed_to_the_same_result(
    emotui: Emotui, db: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.jsonl"
    lines = (CHECKOUT / "sample_data" / "masked.jsonl").read_text(encoding="utf-8").splitlines()[:36]
    file.write_text("\n".join(lines))
    assert emotui("import", "masked", file, "--db", db, "--json").document["n"] == 36
    asking = ("run", "masked", "--dataset", "mine", "--model", f"hf:{TINY}", "--db", db, "--max-tokens", 24, "--json")
    whole = emotui(*asking).document
    assert whole["done"] == 36
    kept = {row.sample: row.raw for row in Store.open(db).results.of_run(whole["run"])}
    stopped = _stopped_after_a_batch(tmp_path / "other.duckdb", file)
    assert 0 < len(list(Store.open(tmp_path / "other.duckdb").results.of_run(stopped))) < 36
    finished = emotui("run", "masked", "--resume", stopped, "--db", tmp_path / "other.duckdb", "--json").document
    assert finished["done"] == 36
    assert finished["metrics"] == whole["metrics"]
    assert {row.sample: row.raw for row in Store.open(tmp_path / "other.duckdb").results.of_run(stopped)} == kept


def _stopped_after_a_batch(db: Path, file: Path) -> str:
    store = Store.open(db)
    dataset = import_files(store, "masked", [str(file)], warn=print)
    seen: list[RunProgress] = []

    def cancelled() -> bool:
        return any(step.done for step in seen)

    with ModelProcess(f"hf:{TINY}") as model, pytest.raises(Cancelled):
        run_task(
            store, model, dataset, RunOptions(options={"max_tokens": 24}), on_progress=seen.append, cancelled=cancelled
        )
    return seen[-1].run


def test_bad_files_are_told_by_their_lines(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": 1, "labels": ["sad"]}\n{"id": 2, "text": "a <mask>", "labels": ["sad", "low"]}\n')
    done = emotui("run", "masked", "--dataset", file, "--db", db, "--json")
    assert done.status == 2
    assert done.err.splitlines() == [
        f"{file}:1: this record has no text",
        f"{file}:2: the text has 1 <mask>, but there are 2 words",
    ]


def test_prompts_for_a_model_that_writes_nothing_are_refused(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("[zero-shot]\nuser = '{text}'\n")
    done = emotui("run", "masked", "--prompts", file, "--db", db)
    assert done.status == 2
    assert "embedded writes no text" in done.err


def test_a_mask_is_missed_where_two_known_words_share_no_emotion_or_there_is_none() -> None:
    guesses = {"joy": "M", "sadness": "", "not-a-word": "", "": "M"}
    for guess, mark in guesses.items():
        (row,) = TASK.score([Parsed(sample("one <mask>", "sad"), 0, Prediction((guess,) if guess else ()))], None)
        assert (guess, row.marks) == (guess, mark)
        (line,) = TASK.said(sample("one <mask>", "sad"), Prediction((guess,) if guess else ()))
        assert line.mark == mark
