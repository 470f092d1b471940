"""The task of several labels a text: how models are asked, what is read, and what comes of it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.backends.base import Classification, Generate, Generation, ModelCard, Refused, Score, Scores
from emotui.backends.grammars import some_of
from emotui.errors import BadInput, ModelError
from emotui.metrics.labels import labels_report
from emotui.records import LabelsGold, LabelsPrediction, Text
from emotui.store.rows import ResultRow
from emotui.tasks.labels.task import Labels, LabelSets, Prediction, read_list
from emotui.tasks.prompting.settings import configured
from emotui.tasks.task import Asked, Parsed
from tests.conftest import Emotui
from tests.screens.labels_workspace import LABELS, THRESHOLDS, samples, workspace

GOLD = LabelsGold(id="1", text="I am glad.", labels=("joy",))


def _card(*capabilities: str, **others: Any) -> ModelCard:
    return ModelCard("m", "m", capabilities, {}, **others)  # type: ignore[arg-type]


def _task(**options: Any) -> Labels:
    return Labels().with_options({"labels": list(LABELS), **options}, 1)


def _parsed(task: Labels, way: str, answer: Any) -> Prediction:
    (asked,) = task.ask([GOLD], lambda requests: [answer for _ in requests], way, [0])
    assert asked.raw is not None, asked.why
    return task.parse(GOLD, asked.raw, way)


def test_the_ways_go_by_what_the_model_can_do() -> None:
    assert Labels().ways(_card("classify", "score", labels={"score": ("joy",)})) == ("classify", "heads")
    assert Labels().ways(_card("score", "generate")) == ("score", "zero-shot", "cot", "yes-no")
    with pytest.raises(ModelError, match="classify"):
        Labels().ways(_card("embed"))


def test_a_classifiers_labels_are_those_from_their_own_threshold_on() -> None:
    answer = Classification({"joy": 0.4, "fear": 0.5, "anger": 0.1, "neutral": 0.2}, "fear", multi_label=True)
    assert _parsed(_task(), "classify", answer).labels == ("fear",)
    assert _parsed(_task(thresholds={"joy": 0.4, "fear": 0.6}), "classify", answer).labels == ("joy",)
    assert _parsed(_task(), "classify", answer).probs["joy"] == 0.4


def test_a_classifier_of_one_label_gives_that_one_however_probable() -> None:
    answer = Classification({"Joy": 0.4, "fear": 0.3, "anger": 0.2, "neutral": 0.1}, "Joy", multi_label=False)
    task = _task()
    said = _parsed(task, "classify", answer)
    assert said.labels == ("joy",)
    record = task.record("1", said)
    assert record.given == ("joy",)
    row = task.score([Parsed(GOLD, 0, said)], None)[0]
    figures = task.report([GOLD], [row])
    assert figures["by_label"]["joy"]["threshold"] is None  # type: ignore[index]


def test_heads_and_yes_or_no_give_the_odds_of_yes_as_a_probability() -> None:
    asked: list[Score] = []

    def model(requests: Sequence[Score]) -> list[Scores]:
        asked.extend(requests)
        return [Scores((0.0, -1.0, -2.0, -5.0), (-1.0, 0.0, -2.0, 0.0), (1.0,) * 4) for _ in requests]

    for way in ("heads", "score"):
        (answer,) = _task().ask([GOLD], model, way, [0])
        said = _task().parse(GOLD, answer.raw or "", way)
        assert said.labels == ("joy", "anger")  # even odds count as yes, as p >= 0.5 does
        assert said.probs["joy"] == pytest.approx(0.731058579)
    heads, words = asked
    assert heads.questions == LABELS
    assert words.questions[0] == "Does its writer show joy? Answer with one word, Yes or No."
    assert "I am glad." in words.messages[-1].content


def test_logits_that_are_no_numbers_are_refused() -> None:
    raw = json.dumps({"scores": {"joy": [0, 1]}})
    with pytest.raises(ValueError, match="'fear'"):
        _task().parse(GOLD, raw, "score")


def test_a_model_that_writes_is_shown_the_text_and_all_labels_and_may_be_held_to_a_list() -> None:
    asked: list[Generate] = []

    def model(requests: Sequence[Generate]) -> list[Generation]:
        asked.extend(requests)
        return [Generation('["joy", "fear"]', 1, 1, "stop") for _ in requests]

    task = _task(constrain=True)
    (answer,) = task.ask([GOLD], model, "zero-shot", [0])
    assert task.parse(GOLD, answer.raw or "", "zero-shot") == Prediction(("joy", "fear"), form="json")
    prompt = asked[0].messages[-1].content
    assert "I am glad." in prompt
    assert ", ".join(LABELS) in prompt
    assert asked[0].grammar == some_of(LABELS)
    with pytest.raises(BadInput, match="no grammar"):
        task.settings("cot")


def _in_words(task: Labels, said: dict[str, str | Refused], asked: list[Generate] | None = None) -> Asked:
    """What is kept of a model that says no of every other label."""

    def model(requests: Sequence[Generate]) -> list[Generation | Refused]:
        if asked is not None:
            asked.extend(requests)
        replies = [said.get(label, "No.") for label in LABELS]
        return [one if isinstance(one, Refused) else Generation(one, 9, 2, "stop") for one in replies]

    (answer,) = task.ask([GOLD], model, "yes-no", [3])
    return answer


def test_yes_and_no_in_words_are_asked_as_score_asks_and_have_no_probabilities() -> None:
    asked: list[Generate] = []
    task = _task()
    answer = _in_words(task, {"joy": "**Yes**, clearly.", "fear": "<think>no doubt</think>yes"}, asked)
    texts = [request.messages[-1].content for request in asked]
    assert texts[0] == "Text:\nI am glad.\n\nDoes its writer show joy? Answer with one word, Yes or No."
    assert {(request.max_tokens, request.seed, request.temperature) for request in asked} == {(32, 3, 0.0)}
    assert _task(max_tokens=5).settings("yes-no")["max_tokens"] == 5
    said = task.parse(GOLD, answer.raw or "", "yes-no")
    assert said == Prediction(("joy", "fear"))
    assert task.record("1", said) == LabelsPrediction(id="1", labels=("joy", "fear"))
    figures = task.report([GOLD], task.score([Parsed(GOLD, 0, said)], None))
    assert figures["brier"] is None
    assert "probabilities" in figures["notes"]["brier"]  # type: ignore[index]
    with pytest.raises(BadInput, match="--thresholds is not for yes-no"):
        configured(Labels(), "yes-no", {"labels": ["joy"], "thresholds": {"joy": 0.4}}, 1)


def test_neither_yes_nor_no_is_marked_and_counted_and_comes_back_from_a_file() -> None:
    task = _task()
    said = task.parse(
        GOLD, _in_words(task, {"joy": "Hm.", "fear": "Yes", "anger": Refused("too long")}).raw or "", "yes-no"
    )
    assert (said.labels, set(said.unanswered)) == (("fear",), {"joy", "anger"})
    (row,) = task.score([Parsed(GOLD, 0, said)], None)
    assert row.marks == "MX!"
    told = task.diagnostics([ResultRow(1, 0, 0, None, "", None, 1.0, msgspec.json.encode(said))])
    assert told["unanswered"] == {"scores": 2, "of": 4, "samples": 1}
    assert "neither yes nor no: 'Hm.'" in told["notes"]["unanswered"]  # type: ignore[index]
    assert {line.name: line.predicted for line in task.said(GOLD, said)} == {"joy": "", "fear": "yes", "anger": ""}
    record = task.record("1", said)
    assert record == LabelsPrediction(id="1", labels=("fear",), unanswered=("joy", "anger"))
    back = task.taken(GOLD, msgspec.to_builtins(record))
    assert (back.labels, set(back.unanswered)) == (("fear",), {"joy", "anger"})
    elsewhere = ResultRow(1, 0, 0, None, "", None, None, msgspec.json.encode(back))
    assert Labels().diagnostics([elsewhere])["unanswered"] == {"scores": 2, "of": None, "samples": 1}
    with pytest.raises(ValueError, match="neither yes nor no"):
        task.parse(GOLD, _in_words(task, dict.fromkeys(LABELS, "Well.")).raw or "", "yes-no")
    gone = _in_words(task, {"fear": Refused("gone", again=True)})
    assert (gone.raw, gone.why, gone.again) == (None, "fear: gone", True)


@pytest.mark.parametrize(
    ("output", "way", "labels", "form"),
    [
        ('["fear", "Joy"]', "zero-shot", ("joy", "fear"), "json"),
        ("[]", "zero-shot", (), "json"),
        ('```json\n["joy"]\n```', "zero-shot", ("joy",), "lenient"),
        ('I think ["joy", "glee"]', "zero-shot", ("joy",), "lenient"),
        ("['joy', 'fear']", "zero-shot", ("joy", "fear"), "lenient"),
        ("Joy and fear.", "zero-shot", ("joy", "fear"), "lenient"),
        ("None of them.", "zero-shot", (), "lenient"),
        ("[glee]", "zero-shot", (), "unread"),
        ("What a text!", "zero-shot", (), "unread"),
        ('It is anger at first.\nAnswer: ["joy"]', "cot", ("joy",), "json"),
        ("It beams.\nAnswer: joy", "cot", ("joy",), "lenient"),
        ("<think>fear?</think>[]", "zero-shot", (), "lenient"),
    ],
)
def test_a_written_list_is_read_however_it_is_written(
    output: str, way: str, labels: tuple[str, ...], form: str
) -> None:
    assert read_list(output, way, LABELS) == (labels, form)


def test_of_a_label_within_another_the_longer_one_counts() -> None:
    assert read_list("disapproval", "zero-shot", ("approval", "disapproval")) == (("disapproval",), "lenient")


def test_a_refusal_is_told_and_is_no_answer() -> None:
    (answer,) = _task().ask([GOLD], lambda requests: [Refused("too long")], "classify", [0])
    assert (answer.raw, answer.why) == (None, "too long")
    assert Labels().record("1", None) == LabelsPrediction(id="1", labels={})


def test_the_labels_of_a_run_are_those_of_the_dataset_and_a_model_that_lacks_one_says_so_in_one_line() -> None:
    card = _card("classify", labels={"big": ("Joy", "fear", "anger", "neutral", "grief"), "small": ("joy",)})
    found = LabelSets().settled(card, samples, "classify", {}, 0)
    assert found["labels"] == ["joy", "fear", "neutral", "anger"]
    assert found["label_set"] == "big"
    strange = [LabelsGold(id="1", text="a", labels=("glee", "joy", "awe"))]
    with pytest.raises(BadInput) as refusal:
        LabelSets().settled(card, lambda: strange, "classify", {}, 0)
    (line,) = refusal.value.problems
    assert line.startswith("m has no label 'glee' and 1 more of these 3 labels; it knows: ")


def test_a_models_own_thresholds_hold_unless_a_person_gives_others() -> None:
    card = _card("classify", labels={"own": LABELS}, thresholds={"own": THRESHOLDS})
    assert LabelSets().settled(card, samples, "classify", {}, 0)["thresholds"] == THRESHOLDS
    assert LabelSets().settled(card, samples, "classify", {"thresholds": {"joy": 0.1}}, 0)["thresholds"] == {"joy": 0.1}
    assert "thresholds" not in LabelSets().settled(card, samples, "score", {}, 0)


def test_an_unlabelled_text_has_no_score_and_is_left_out_of_figures() -> None:
    task = _task()
    blank = task.blank(Text(id="9", text="What now?"))
    rows = task.score([Parsed(GOLD, 0, Prediction(("joy",))), Parsed(blank, 0, Prediction(("fear",)))], None)
    assert rows[1].values == {"f1": None, "jaccard": None, "exact": None}
    assert rows[1].marks == ""
    figures = task.report([GOLD, blank], rows)
    assert (figures["n"], figures["unlabelled"]) == (1, 1)


@pytest.mark.parametrize(
    ("said", "values", "marks"),
    [
        (("joy",), (1.0, 1.0, 1.0), ""),
        (("joy", "fear"), (2 / 3, 0.5, 0.0), "X"),
        (("fear",), (0.0, 0.0, 0.0), "MX"),
        ((), (0.0, 0.0, 0.0), "M"),
    ],
)
def test_a_text_is_scored_by_its_two_sets_of_labels(
    said: tuple[str, ...], values: tuple[float, ...], marks: str
) -> None:
    (row,) = _task().score([Parsed(GOLD, 0, Prediction(said))], None)
    assert tuple(row.values[name] for name in ("f1", "jaccard", "exact")) == pytest.approx(values)
    assert row.marks == marks


def test_results_have_the_runs_by_label_and_what_was_given_for_what(tmp_path: Path) -> None:
    space = workspace(tmp_path / "w.duckdb")
    summary, by_label, confusion = space.results().tables("dev")
    own, chosen = summary.rows
    figures = dict(zip((column.key for column in summary.columns), own.cells, strict=True))
    # Right: texts 0, 2, 4, 5; missed: fear in 1, anger in 3, for which fear is given.
    assert figures["vector_accuracy"].value == pytest.approx(4 / 6)
    assert len(figures["hamming_loss"].samples) == 2
    assert "embedded has learnt" in own.remark
    assert "chosen on other" in chosen.remark
    rows = {row.label: row for row in by_label.rows}
    columns = [column.key for column in by_label.columns]
    fear = dict(zip(columns, rows["fear"].cells, strict=True))
    assert (fear["support"].value, fear["precision"].value, fear["recall"].value) == (2, 0.5, 0.5)
    assert fear["threshold"].value == 0.35
    assert fear["chosen/threshold"].value == pytest.approx((0.25 + 0.1) / 2)
    counts = {row.label: [cell.value for cell in row.cells] for row in confusion.rows}
    names = [column.key for column in confusion.columns]
    assert counts["anger"][names.index("fear")] == 1
    assert counts["fear"][names.index("")] == 1
    assert counts["joy"][names.index("joy")] == 2
    assert counts["no label"][names.index("")] == 1


def test_without_another_split_thresholds_are_chosen_in_folds(tmp_path: Path) -> None:
    space = workspace(tmp_path / "w.duckdb")
    space.store.runs.set_state("run-dev", "failed")
    summary, by_label, _ = space.results().tables("other")
    assert "5 folds" in summary.rows[1].label
    assert any("chosen on the other 4 of 5 folds" in note for note in by_label.notes)


def test_a_dataset_of_goemotions_kind_goes_all_the_way(emotui: Emotui, tmp_path: Path) -> None:
    texts = [
        ("Thank you so much, this made my day!", ["gratitude", "joy"]),
        ("I am so sorry for your loss.", ["sadness", "remorse"]),
        ("This is disgusting.", ["disgust"]),
        ("Ok.", ["neutral"]),
        ("Why would anybody do that?", ["curiosity", "confusion"]),
    ]
    gold, pred, db = tmp_path / "g.jsonl", tmp_path / "p.jsonl", tmp_path / "w.duckdb"
    lines = [{"id": str(place), "text": text, "labels": labels} for place, (text, labels) in enumerate(texts)]
    gold.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert emotui("import", "labels", gold, "--db", db, "--json").document["n"] == 5
    run = emotui("run", "labels", "--dataset", "g", "--db", db, "--json").document
    assert (run["n"], run["failed"], len(run["metrics"]["labels"])) == (5, 0, 8)
    assert "GoEmotions' train part" in run["metrics"]["notes"]["run"]
    assert emotui("export", run["run"], "--to", pred, "--db", db).status == 0
    scored = emotui("score", "labels", "--gold", gold, "--pred", pred, "--json").document
    for figure in ("macro_f1", "samples_f1", "jaccard", "brier", "ece", "average_precision", "confusion"):
        assert scored[figure] == run["metrics"][figure]
    again = emotui("rescore", run["run"], "--db", db, "--json").document
    assert again["metrics"]["macro_f1"] == run["metrics"]["macro_f1"]
    tables = emotui("results", run["run"], "--db", db, "--json").document["tables"]
    assert [table["key"] for table in tables] == ["labels", f"labels-{run['run']}", f"confusion-{run['run']}"]
    straight = emotui("predict", "labels", "--records", gold, "--json").document
    assert (straight["kind"], len(straight["labels"])) == ("labels", 28)
    assert straight["records"][0]["labels"]["gratitude"] > 0.5
    heads = emotui("predict", "labels", "--records", gold, "--way", "heads", "--json").document
    assert heads["labels"] == ["joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"]


def test_an_answer_that_failed_counts_as_no_label_and_leaves_the_figures_of_probabilities() -> None:
    other = LabelsGold(id="other", text="I am glad.", labels=("joy",))
    task = Labels().with_options({"labels": ["joy", "fear"]}, 1)
    said = Prediction(("joy",), {"joy": 0.9, "fear": 0.2})
    answers = [Parsed(GOLD, 0, said), Parsed(other, 0, task.taken(other, {}))]
    figures = task.report([GOLD, other], task.score(answers, None))
    files = labels_report({one.id: one.said or () for one in (GOLD, other)}, {GOLD.id: said.probs, "other": {}})
    assert figures["brier"] == files["brier"] is not None
    assert figures["macro_f1"] == files["macro_f1"]


def test_a_label_on_which_yes_and_no_have_little_probability_is_marked_counted_and_told() -> None:
    def model(requests: Sequence[Score]) -> list[Scores]:
        return [Scores((0.0,) * 4, (-1.0,) * 4, (0.9, 0.2, 0.8, 0.1)) for _ in requests]

    task = _task()
    (answer,) = task.ask([GOLD], model, "score", [0])
    said = task.parse(GOLD, answer.raw or "", "score")
    astray = (LABELS[1], LABELS[3])
    assert said.little_mass == astray
    assert task.record("1", said).little_mass == astray
    (row,) = task.score([Parsed(GOLD, 0, said)], None)
    assert row.marks.endswith("!")
    kept = ResultRow(1, 0, 0, None, "", None, 1.0, msgspec.json.encode(said))
    told = task.diagnostics([kept])
    assert told["little_mass"] == {"scores": 2, "of": 4, "samples": 1, "below": 0.5}
    assert "1 of 1 answers" in told["notes"]["little_mass"]  # type: ignore[index]
