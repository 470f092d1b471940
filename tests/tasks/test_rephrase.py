"""The rephrase task: the labels that a model chooses among, how it is asked, read and scored, in store and files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.base import (
    Classification,
    Classify,
    Generate,
    Generation,
    ModelCard,
    Rank,
    Ranked,
    Refused,
    Request,
    Score,
    Scores,
)
from emotui.backends.host import Cancelled, ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK
from emotui.metrics.classes import class_report
from emotui.records import PLUTCHIK, ClassGold
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import resolve_labels, tasks
from emotui.tasks.rephrase.labelling import labelling
from emotui.tasks.rephrase.task import (
    PROMPTS,
    SHOTS,
    SPARE,
    Example,
    Prediction,
    Rephrase,
    drawn,
    read_label,
    read_rephrase_prompts,
    shots,
    suited,
)
from emotui.tasks.task import Parsed
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.progress import RunOptions, RunProgress
from emotui.workbench.rephrase.evaluation import read_examples
from emotui.workbench.runs.run import run_task
from tests.conftest import Emotui
from tests.paths import CHECKOUT, TESTS

TINY = TESTS / "tiny" / "model" / "hf"
CHAINS = CHECKOUT / "sample_data" / "rephrasings.jsonl"
TASK = Rephrase()
SAMPLE = ClassGold(id="t", text="I cannot stop smiling.", label="joy")
GOLDS = [("t", "joy")]


def card(*capabilities: str, **labels: tuple[str, ...]) -> ModelCard:
    return ModelCard("some:model", "some", capabilities, {}, labels)


def answering(answer: object, asked: list[Request]) -> Any:
    def ask(requests: Sequence[Request]) -> list[object]:
        asked.extend(requests)
        return [answer for _ in requests]

    return ask


def written(way: str, answer: str, **options: object) -> tuple[str, Prediction]:
    """The question that a model that writes is asked about SAMPLE, and what is read from its answer."""
    asked: list[Request] = []
    task = TASK.with_options({"labels": list(PLUTCHIK), **options}, 1)
    task.settings(way)
    (kept,) = task.ask([SAMPLE], answering(Generation(answer, 1, 1, "stop"), asked), way, (0,))
    assert isinstance(asked[0], Generate)
    assert kept.raw is not None
    return asked[0].messages[-1].content, task.parse(SAMPLE, kept.raw, way)


# Which labels.


def test_a_classifier_answers_over_its_own_label_set_that_holds_all_gold_labels() -> None:
    own = card("classify", goemotions=("gratitude", "joy", "neutral"), plutchik=PLUTCHIK)
    fine = suited(own, [("a", "gratitude"), ("b", " Joy ")], "classify", {}, 0)
    assert (fine["label_set"], fine["labels"]) == ("goemotions", ["gratitude", "joy", "neutral"])
    assert suited(own, [("a", "trust")], "classify", {}, 0)["label_set"] == "plutchik"


@pytest.mark.parametrize(
    ("golds", "labels"),
    [
        (["joy", "fear"], list(PLUTCHIK)),
        (["joy", "gratitude"], sorted([*GOEMOTIONS_TO_PLUTCHIK, "neutral"])),
        (["joy", "schadenfreude"], ["joy", "schadenfreude"]),
    ],
)
def test_a_model_without_labels_chooses_among_the_smallest_known_set_that_holds_the_gold_labels(
    golds: list[str], labels: list[str]
) -> None:
    pairs = list(enumerate(golds))
    assert suited(card("generate"), [(str(n), name) for n, name in pairs], "zs", {}, 0)["labels"] == labels


def test_a_gold_label_that_the_model_does_not_know_is_named_with_those_that_it_knows() -> None:
    with pytest.raises(BadInput) as caught:
        suited(card("classify", labels=("joy", "fear")), [("a", "joy"), ("b", "awe")], "classify", {}, 0)
    hint = '; --map-labels FILE names the model\'s labels anew, with lines such as: theirs = "awe"'
    assert caught.value.problems == (f"b: some:model does not know the label 'awe'; it knows: joy, fear{hint}",)


def test_labels_of_the_persons_own_have_to_be_the_classifiers_and_to_hold_the_gold_labels() -> None:
    own = card("classify", labels=("joy", "fear", "calm"))
    assert suited(own, GOLDS, "classify", {"labels": ["joy", "calm"]}, 0)["labels"] == ["joy", "calm"]
    with pytest.raises(BadInput, match="has no label 'awe'; it knows: joy, fear, calm"):
        suited(own, GOLDS, "classify", {"labels": ["joy", "awe"]}, 0)
    with pytest.raises(BadInput, match="t: some:model does not know the label 'joy'; it knows: fear"):
        suited(own, GOLDS, "classify", {"labels": ["fear"]}, 0)
    assert suited(card("classify"), GOLDS, "classify", {"labels": ["joy", "awe"]}, 0)["labels"] == ["joy", "awe"]


# Asking.


def test_the_ways_are_those_that_the_model_can_go() -> None:
    assert TASK.ways(card("classify", "score")) == ("classify",)
    assert TASK.ways(card("generate", "score", "rank")) == ("rank", "score", "zs", "fs", "fs-r")
    assert TASK.ways(card("generate")) == ("zs", "fs", "fs-r")
    with pytest.raises(ModelError, match=r"cannot classify.*any model that writes, ranks or scores will do too"):
        TASK.ways(card("embed"))


def test_a_writer_that_cannot_be_the_classifier_of_chains_is_told_what_can() -> None:
    with pytest.raises(ModelError, match=r"cannot classify.*ranks or scores labels will do too, such as"):
        labelling(card("generate"), GOLDS)
    with pytest.raises(ModelError, match=r"ranks or scores labels will do too$"):
        labelling(card("embed"), GOLDS)


def test_a_classifier_is_asked_over_the_label_set_of_the_run_and_keeps_its_probabilities() -> None:
    asked: list[Request] = []
    task = TASK.with_options({"labels": ["joy", "fear"], "label_set": "own"}, 1)
    answer = Classification({"joy": 0.7, "fear": 0.3}, "joy", False)
    (kept,) = task.ask([SAMPLE], answering(answer, asked), "classify", (0,))
    assert asked == [Classify(SAMPLE.text, "own")]
    assert task.parse(SAMPLE, kept.raw or "", "classify") == Prediction("joy", {"joy": 0.7, "fear": 0.3})


def test_ranked_labels_are_compared_by_the_sums_of_their_log_probabilities_whatever_their_lengths() -> None:
    asked: list[Request] = []
    task = TASK.with_options({"labels": ["joy", "anticipation"]}, 1)
    answer = Ranked((-2.0, -2.1), (1, 7), (False, False))  # per token the longer one would be far ahead
    (kept,) = task.ask([SAMPLE], answering(answer, asked), "rank", (0,))
    assert isinstance(asked[0], Rank)
    assert asked[0].continuations == ("joy", "anticipation")
    assert "joy, anticipation" in asked[0].messages[-1].content
    said = task.parse(SAMPLE, kept.raw or "", "rank")
    assert said.label == "joy"
    assert said.probs["joy"] == pytest.approx(1 / (1 + 2.718281828 ** (-0.1)), abs=1e-6)


def test_scored_labels_are_compared_by_yes_against_no() -> None:
    asked: list[Request] = []
    task = TASK.with_options({"labels": ["joy", "fear"]}, 1)
    answer = Scores((-0.1, -3.0), (-2.0, -0.1), (0.9, 0.9))
    (kept,) = task.ask([SAMPLE], answering(answer, asked), "score", (0,))
    assert isinstance(asked[0], Score)
    assert [question.split("?")[0] for question in asked[0].questions] == [
        "Does its writer show joy",
        "Does its writer show fear",
    ]
    assert task.parse(SAMPLE, kept.raw or "", "score").label == "joy"


def test_a_scored_label_on_which_yes_and_no_have_little_probability_is_marked_counted_and_told() -> None:
    task = TASK.with_options({"labels": ["joy", "fear"]}, 1)
    answer = Scores((-0.1, -3.0), (-2.0, -0.1), (0.9, 0.2))
    (kept,) = task.ask([SAMPLE], answering(answer, []), "score", (0,))
    said = task.parse(SAMPLE, kept.raw or "", "score")
    assert said.little_mass == ("fear",)
    assert task.record("t", said).little_mass == ("fear",)
    (row,) = task.score([Parsed(SAMPLE, 0, said)], None)
    assert row.marks == "!"  # its label is right
    told = task.diagnostics([ResultRow(1, 0, 0, None, "", None, 1.0, msgspec.json.encode(said))])
    assert told["little_mass"] == {"scores": 1, "of": 2, "samples": 1, "below": 0.5}
    assert "1 of 1 answers" in told["notes"]["little_mass"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("answer", "why", "again"),
    [
        (Refused("too long"), "too long", False),
        (Refused("the server is gone", again=True), "the server is gone", True),
        (Ranked((float("nan"),) * 8, (1,) * 8, (False,) * 8), "gives no probability to any of the labels", False),
    ],
)
def test_a_text_without_an_answer_keeps_the_reason(answer: object, why: str, again: bool) -> None:
    (kept,) = TASK.ask([SAMPLE], answering(answer, []), "rank", (0,))
    assert kept.raw is None
    assert why in (kept.why or "")
    assert kept.again == again


EXAMPLES = [
    Example(f"e{n}", f"Text number {n}.", ("joy", "fear", "anger")[n % 3], (f"Said again {n}.",)) for n in range(40)
]


def test_zero_shot_shows_the_text_and_the_labels() -> None:
    question, said = written("zs", "joy")
    assert SAMPLE.text in question
    assert ", ".join(PLUTCHIK) in question
    assert said == Prediction("joy", form="exact")


def test_few_shot_shows_ten_examples_with_their_labels_and_then_the_text() -> None:
    question, _ = written("fs", "joy", examples=msgspec.to_builtins(EXAMPLES))
    assert question.count("Text: Text number") == SHOTS
    assert "Said again" not in question
    assert question.endswith(f"Text: {SAMPLE.text}\nEmotion:")


def test_few_shot_with_rephrasings_says_that_they_have_the_emotion_too() -> None:
    question, _ = written("fs-r", "joy", examples=msgspec.to_builtins(EXAMPLES))
    assert question.count("- Said again") == SHOTS
    assert "the emotion is fear here too:\n- Said again 1.\n" in question


def test_examples_are_needed_where_they_are_shown_and_for_fs_r_with_rephrasings() -> None:
    with pytest.raises(BadInput, match="give a file of chains or of labelled texts by --examples FILE"):
        TASK.settings("fs")
    bare = [msgspec.structs.replace(example, rephrasings=()) for example in EXAMPLES]
    with pytest.raises(BadInput, match="no chain in the file has any"):
        suited(card("generate"), GOLDS, "fs-r", {"examples": msgspec.to_builtins(bare)}, 0)
    with pytest.raises(BadInput, match="example e0: some:model does not know the label 'joy'"):
        suited(card("generate"), [("t", "awe")], "fs", {"examples": msgspec.to_builtins(EXAMPLES)}, 0)


def test_the_draw_of_examples_is_even_over_labels_and_the_seeds() -> None:
    ten = [example.label for example in drawn(EXAMPLES, 1)[:SHOTS]]
    assert sorted(ten.count(label) for label in ("joy", "fear", "anger")) == [3, 3, 4]
    assert drawn(EXAMPLES, 1) == drawn(EXAMPLES, 1)
    assert drawn(EXAMPLES, 1) != drawn(EXAMPLES, 2)
    assert len(drawn(EXAMPLES, 1)) == SHOTS + SPARE


@given(st.integers(0, 29), st.sampled_from(["id", "text", "rephrasing"]))
def test_no_example_is_ever_about_the_text_asked_about(place: int, by: str) -> None:
    pool = drawn(EXAMPLES, 3)
    same = pool[place]
    key = same.id if by == "id" else "other"
    text = {"id": "elsewhere", "text": f" {same.text.upper()} ", "rephrasing": same.rephrasings[0]}[by]
    found = shots(pool, key, text)
    assert len(found) == SHOTS
    assert same not in found


def test_own_prompts_may_have_words_for_one_example_and_need_their_places(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("[fs]\nuser = '{labels}|{examples}|{text}'\n[fs-example]\nuser = '<{text}={label}>'\n")
    own = msgspec.to_builtins(read_rephrase_prompts(str(file)))
    question, _ = written("fs", "joy", examples=msgspec.to_builtins(EXAMPLES[:2]), prompts=own)
    assert question == (
        "joy, trust, fear, surprise, sadness, disgust, anger, anticipation|"
        "<Text number 0.=joy>\n\n<Text number 1.=fear>|I cannot stop smiling."
    )
    file.write_text("[fs-r-example]\nuser = '{text} {label}'\n")
    with pytest.raises(BadInput, match=r"\{rephrasings\} should stand in it once"):
        read_rephrase_prompts(str(file))


@pytest.mark.parametrize(
    ("way", "options", "why"),
    [
        ("classify", {"temperature": 1.0}, "--temperature is not for classify"),
        ("rank", {"max_tokens": 4}, "--max-tokens is not for rank"),
        ("score", {"prompts": {"zs": {"user": "{text}"}}}, "--prompts is not for score"),
        ("zs", {"examples": []}, "--examples is not for zs"),
        ("zs", {"retries": 3}, "retries"),
        ("zs", {"prompts": {"fs": {"user": "{text}{examples}"}}}, "your prompts have none for zs"),
    ],
)
def test_a_setting_that_a_way_cannot_use_is_refused_by_its_name(way: str, options: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        configured(TASK, way, options, 1)


def test_constrained_answers_are_held_to_the_labels() -> None:
    asked: list[Request] = []
    task = TASK.with_options({"labels": ["joy", "fear"], "constrain": True}, 1)
    task.ask([SAMPLE], answering(Generation("joy", 1, 1, "stop"), asked), "zs", (0,))
    assert isinstance(asked[0], Generate)
    assert asked[0].grammar == 'root ::= "joy" | "fear"'
    assert task.settings("zs") != TASK.with_options({"labels": ["joy", "fear"]}, 1).settings("zs")


# Reading.


@pytest.mark.parametrize(
    ("output", "label", "form"),
    [
        ("joy", "joy", "exact"),
        (" Joy\n", "joy", "exact"),
        ("Joy.", "joy", "lenient"),
        ("**joy**", "joy", "lenient"),
        ("2. joy", "joy", "lenient"),
        ("The emotion is joy, clearly: joy.", "joy", "lenient"),
        ("<think>fear? anger?</think>joy", "joy", "lenient"),
        ("I would say\njoy\nand not fear", "joy", "lenient"),
        ("```\njoy\n```", "joy", "lenient"),
        ("self-joy", "self-joy", "exact"),
        ("It is self-joy.", "self-joy", "lenient"),  # not joy, which stands in it
        ("joy or fear", "", "unread"),
        ("joyful", "", "unread"),
        ("happiness", "", "unread"),
        ("", "", "unread"),
        ("<think>joy", "", "unread"),
    ],
)
def test_a_label_is_read_strictly_first_and_then_by_the_documented_leniencies(
    output: str, label: str, form: str
) -> None:
    assert read_label(output, ("joy", "fear", "anger", "self-joy")) == (label, form)


@given(st.text(max_size=60))
def test_any_output_gives_one_of_the_labels_or_none(output: str) -> None:
    label, form = read_label(output, PLUTCHIK)
    assert (label in PLUTCHIK) != (form == "unread")


def test_a_label_that_differs_in_case_only_is_written_as_the_sample_writes_it() -> None:
    kept = '{"label":"Joy","probs":{"Joy":0.9,"Fear":0.1}}'
    said = TASK.parse(SAMPLE, kept, "classify")
    assert said.label == "joy"
    (row,) = TASK.score([Parsed(SAMPLE, 0, said)], None)
    assert (row.values["accuracy"], row.marks, json.loads(row.detail)["confidence"]) == (1.0, "", 0.9)


# Scoring.


def test_a_text_scores_one_or_nothing_and_the_report_is_the_document_of_score_class() -> None:
    other = ClassGold(id="u", text="x", label="fear")
    third = ClassGold(id="v", text="x", label="fear")
    answers = [
        Parsed(SAMPLE, 0, Prediction("joy", {"joy": 0.8, "fear": 0.2})),
        Parsed(other, 0, Prediction("joy", {"joy": 0.6, "fear": 0.4})),
        Parsed(third, 0, Prediction("", form="unread")),
    ]
    rows = TASK.score(answers, None)
    assert [(row.values["accuracy"], row.marks) for row in rows] == [(1.0, ""), (0.0, "M"), (0.0, "M!")]
    assert json.loads(rows[1].detail)["confidence"] == 0.4
    report = TASK.report([SAMPLE, other, third], rows)
    figures = class_report({"t": "joy", "u": "fear", "v": "fear"}, {"t": "joy", "u": "joy", "v": ""})
    assert report == {**figures, "unlabelled": 0}
    assert report["accuracy"] == pytest.approx(1 / 3)


def test_a_missing_answer_is_wrong_but_is_no_label_of_its_own() -> None:
    report = class_report({"a": "joy", "b": "fear"}, {"a": "joy", "b": ""})
    assert list(report["by_label"]) == ["joy", "fear"]
    assert report["macro_f1"] == 0.5  # joy 1, fear 0
    assert report["confusion"] == {"joy": {"joy": 1}, "fear": {"": 1}}
    assert report["notes"]["n"] == "1 record without an answer counts as wrong"


def test_repeats_are_sampled_and_give_means_and_deviations() -> None:
    assert TASK.with_options({}, 5).settings("zs")["temperature"] == 0.6
    answers = [Parsed(SAMPLE, 0, Prediction("joy")), Parsed(SAMPLE, 1, Prediction("fear"))]
    report = TASK.report([SAMPLE], TASK.score(answers, None))
    assert report["accuracy"] == 0.5
    assert report["sd"]["accuracy"] == pytest.approx(0.5**0.5)  # type: ignore[index]


def test_only_this_task_has_its_labels_settled_by_the_samples() -> None:
    options = {"temperature": 0.3}
    for other in (task for name, task in tasks().items() if name in ("spans", "scenes", "masked")):
        assert resolve_labels(other, card(), lambda: pytest.fail("read"), "", options, 0) == options


# The command line.


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


def test_embedded_classifies_the_sample_texts_and_its_export_scores_to_the_same_figures(
    emotui: Emotui, db: Path, tmp_path: Path
) -> None:
    got = emotui("run", "rephrase", "--db", db, "--json").document
    assert (got["task"], got["done"], got["failed"]) == ("rephrase", 84, 0)
    predicted = tmp_path / "p.jsonl"
    assert emotui("export", got["run"], "--to", predicted, "--db", db).status == 0
    again = emotui("score", "class", "--gold", CHAINS, "--pred", predicted, "--json").document
    assert {name: again[name] for name in got["metrics"]} == got["metrics"]
    assert again.keys() == got["metrics"].keys()
    assert "84 samples" in again["conventions"]["ci95"]
    assert emotui("rescore", got["run"], "--db", db, "--json").document["metrics"] == got["metrics"]
    right = [json.loads(line) for line in CHAINS.open(encoding="utf-8")]
    assert got["metrics"]["accuracy"] == sum(one["predicted"] == one["label"] for one in right) / 84


@pytest.mark.parametrize("way", ["rank", "score", "zs", "fs"])
def test_a_model_that_writes_goes_every_way_and_its_kept_answers_score_again_without_it(
    emotui: Emotui, db: Path, tmp_path: Path, way: str
) -> None:
    few = [{"id": f"t{n}", "text": text, "label": label} for n, (text, label) in enumerate(_FEW)]
    file = tmp_path / "few.jsonl"
    file.write_text("\n".join(map(json.dumps, few)))
    examples = tmp_path / "examples.jsonl"
    examples.write_text(json.dumps({"id": "e", "text": "I hum.", "label": "joy"}))
    more = ("--examples", examples) if way == "fs" else ()
    asking = ("run", "rephrase", "--dataset", file, "--model", f"hf:{TINY}", "--way", way, "--db", db, "--json", *more)
    got = emotui(*asking).document
    assert (got["done"], got["failed"]) == (4, 0)
    assert ("answers" in got["metrics"]) == (way in ("zs", "fs"))
    assert emotui("rescore", got["run"], "--db", db, "--json").document["metrics"] == got["metrics"]
    assert emotui(*asking).document["run"] == got["run"]  # kept, not asked again


_FEW = (
    ("We won.", "joy"),
    ("He left without a word.", "sadness"),
    ("Who moved my keys again?", "anger"),
    ("Is someone there?", "fear"),
)


def test_gold_labels_that_embedded_does_not_know_are_told_a_line_each(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"id": 1, "text": "a", "label": "joy"}\n{"id": 2, "text": "b", "label": "ennui"}\n')
    done = emotui("run", "rephrase", "--dataset", file, "--db", db, "--json")
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("2: embedded does not know the label 'ennui'; it knows: admiration, amusement, ")


def test_an_empty_text_is_no_text_to_classify(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"id": 1, "text": " ", "label": "joy"}\n')
    done = emotui("import", "rephrase", file, "--db", db)
    assert (done.status, done.err.strip()) == (2, f"{file}:1: the text is empty")


def test_examples_are_read_from_chains_and_from_labelled_texts(tmp_path: Path) -> None:
    chains = read_examples(str(CHAINS))
    assert len(chains) == 84
    assert chains[0].rephrasings == (
        "Thanks for sitting with my dad at the hospital, it stays with me.",
        "I owe you so much for sitting with my dad at the hospital.",
    )
    file = tmp_path / "x.csv"
    file.write_text("id,text,label\n1,I hum.,joy\n")
    assert read_examples(str(file)) == [Example("1", "I hum.", "joy")]
    file.write_text("id,text\n1,I hum.\n")
    with pytest.raises(BadInput, match="label"):
        read_examples(str(file))


def test_every_own_prompt_names_what_its_file_would_have_to(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("".join(f"[{name}]\nuser = {json.dumps(prompt.user)}\n" for name, prompt in PROMPTS.items()))
    assert set(read_rephrase_prompts(str(file))) == set(PROMPTS)


def test_a_stopped_run_is_resumed_with_its_own_labels_and_examples_to_the_same_result(tmp_path: Path) -> None:
    texts = [ClassGold(id=f"{label}{n}", text=f"{text} {n}", label=label) for n in range(5) for text, label in _FEW]
    options = {
        "labels": ["joy", "sadness", "anger", "fear"],
        "examples": [{"id": "e", "text": "I hum.", "label": "joy", "rephrasings": ["My feet are light."]}],
        "constrain": True,
    }
    kept = []
    for name, stop in (("whole", False), ("stopped", True)):
        store = Store.open(tmp_path / f"{name}.duckdb")
        dataset = add_samples(store, "rephrase", "texts", texts, "test")
        seen: list[RunProgress] = []
        with ModelProcess(f"hf:{TINY}") as model:
            wanted = RunOptions(way="fs-r", options=options)
            if stop:
                with pytest.raises(Cancelled):
                    run_task(
                        store,
                        model,
                        dataset,
                        wanted,
                        on_progress=seen.append,
                        cancelled=lambda seen=seen: any(s.done for s in seen),
                    )
                assert store.runs.get(seen[-1].run).done == 16
                run = run_task(store, model, dataset, RunOptions(resume=seen[-1].run))
            else:
                run = run_task(store, model, dataset, wanted)
        assert (run.done, run.failed) == (20, 0)
        kept.append([(row.prompt, row.raw, row.prediction) for row in store.results.of_run(run.run)])
    assert kept[0] == kept[1]
    assert "- My feet are light." in (kept[0][0][0] or "")
