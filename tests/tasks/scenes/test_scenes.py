"""The scenes task: how a model is asked, what is kept of it, how that is scored, stored, exported and imported."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.backends.base import Generate, Generation, ModelCard, Refused, Request, Score, Scores
from emotui.errors import ModelError
from emotui.records import PLUTCHIK, ScenesGold
from emotui.store.rows import ResultRow
from emotui.tasks.registry import BUILT_IN, tasks
from emotui.tasks.scenes.task import Prediction, Scenes
from emotui.tasks.task import Parsed
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.screens.scenes_workspace import raw, scenarios

TASK = Scenes()


def card(*capabilities: str, **labels: tuple[str, ...]) -> ModelCard:
    return ModelCard("some:model", "some", capabilities, {}, labels)


def sample(text: str | None = "Ines read the letter twice.", subject: str | None = "Ines") -> ScenesGold:
    return ScenesGold(id="s-1", text=text, subject=subject, labels=dict.fromkeys(PLUTCHIK, 0) | {"fear": 1})


def parsed(answer: str | None) -> Prediction:
    return TASK.parse(sample(), answer or "", "heads")


def yes_to(*labels: str, asked: list[Request]) -> Any:
    """A model that writes a short reason and says yes where a question names one of these emotions."""

    def answer(request: Request) -> Any:
        asked.append(request)
        if isinstance(request, Generate):
            return Generation("She reads it twice. <confidence>4</confidence> ", 10, 8, "stop")
        assert isinstance(request, Score)
        yes = tuple(-0.1 if any(name in question for name in labels) else -3.0 for question in request.questions)
        return Scores(yes, (-1.0,) * len(yes), (0.95,) * len(yes))

    return lambda requests: [answer(request) for request in requests]


def test_a_model_with_heads_is_asked_the_labels_themselves() -> None:
    asked: list[Request] = []
    assert TASK.ways(card("score", score=PLUTCHIK)) == ("heads",)
    (answer,) = TASK.ask([sample()], yes_to("fear", asked=asked), "heads", (0, 0))
    assert asked == [Score("Ines read the letter twice.", PLUTCHIK)]
    assert parsed(answer.raw).labels == dict.fromkeys(PLUTCHIK, 0) | {"fear": 1}


def test_first_token_asks_eight_questions_after_one_shared_prefix() -> None:
    asked: list[Request] = []
    (answer,) = TASK.ask([sample()], yes_to("fear", "joy", asked=asked), "first-token", (0, 0))
    (request,) = asked
    assert isinstance(request, Score)
    assert len(request.questions) == 8
    assert request.messages[-1].content.endswith("Person: Ines\n\n")
    assert "Ines read the letter twice." in request.messages[-1].content
    assert [name for name, value in parsed(answer.raw).labels.items() if value] == ["joy", "fear"]
    assert "Ines read the letter twice." in (answer.prompt or "")


def test_reasoned_scores_yes_against_no_right_behind_the_models_own_reasoning() -> None:
    asked: list[Request] = []
    (answer,) = TASK.ask([sample()], yes_to("fear", asked=asked), "reasoned", (0, 0))
    written = [request for request in asked if isinstance(request, Generate)]
    scored = [request for request in asked if isinstance(request, Score)]
    assert (len(written), len(scored)) == (8, 8)
    assert all(request.opening.endswith("</confidence> <answer>") for request in scored)
    prediction = parsed(answer.raw)
    assert prediction.way == "reasoned"
    assert prediction.confidence == dict.fromkeys(PLUTCHIK, 4)
    assert prediction.scores["fear"] == (-0.1, -1.0)


def test_a_scenario_whose_reasoning_never_comes_to_an_answer_says_which_emotion_it_was() -> None:
    def endless(requests: Sequence[Request]) -> list[object]:
        return [Generation("and then and then", 10, 400, "length") for _ in requests]

    (answer,) = TASK.ask([sample()], endless, "reasoned", (0, 0))
    assert answer.raw is None
    assert answer.why == "joy: the model came to no answer within 400 tokens"


def test_a_refused_scenario_and_one_without_text_keep_their_reasons() -> None:
    refuse = [Refused("too long for the context")]
    first, second = TASK.ask([sample(None), sample()], lambda requests: refuse, "heads", (0, 0))
    assert (first.raw, first.why) == (None, "this scenario has no text")
    assert (second.raw, second.why) == (None, "too long for the context")


def test_the_ways_are_those_that_the_model_can_go_and_their_prompts_are_part_of_the_identity() -> None:
    assert TASK.ways(card("score", "generate")) == ("first-token", "reasoned", "yes-no")
    assert TASK.ways(card("generate")) == ("yes-no",)
    assert TASK.ways(card("score")) == ("first-token",)
    with pytest.raises(ModelError, match="cannot score; kinds of model that can"):
        TASK.ways(card("embed"))
    assert TASK.settings("first-token") != TASK.settings("reasoned")


def test_braces_in_a_scenario_stay_as_they_are() -> None:
    asked: list[Request] = []
    TASK.ask([sample("He wrote {subject} and {0}.")], yes_to(asked=asked), "first-token", (0, 0))
    (request,) = asked
    assert isinstance(request, Score)
    assert "He wrote {subject} and {0}." in request.messages[-1].content


@pytest.mark.parametrize("value", ["1e999", "NaN", "null", '"x"'])
def test_a_logit_that_is_no_finite_number_is_refused(value: str) -> None:
    kept = raw([0.0] * 8).replace('"yes":0.0', f'"yes":{value}', 1)
    with pytest.raises((ValueError, msgspec.DecodeError)):
        parsed(kept)


def test_a_tie_of_yes_and_no_is_no() -> None:
    assert parsed(raw([0.0] * 8)).labels == dict.fromkeys(PLUTCHIK, 0)


@pytest.mark.parametrize(
    ("odds", "f1", "marks"),
    [
        ([-1, -1, 1, -1, -1, -1, -1, -1], 1.0, ""),  # fear alone, as in gold
        ([1, -1, 1, -1, -1, -1, -1, -1], 2 / 3, "X"),  # one hit, one too many: 2 / (2 + 1)
        ([1, -1, -1, -1, -1, -1, -1, -1], 0.0, "MX"),
        ([-1] * 8, 0.0, "M"),
    ],
)
def test_a_vector_scores_its_f1_with_a_mark_for_what_is_missed_and_what_is_too_much(
    odds: list[float], f1: float, marks: str
) -> None:
    (row,) = TASK.score([Parsed(sample(), 0, parsed(raw(odds)))], None)
    assert row.values["vector_f1"] == pytest.approx(f1)
    assert row.marks == marks


def test_an_empty_vector_that_should_be_empty_is_right() -> None:
    empty = ScenesGold(id="e", text="x", labels=dict.fromkeys(PLUTCHIK, 0))
    (row,) = TASK.score([Parsed(empty, 0, TASK.parse(empty, raw([-1.0] * 8), "heads"))], None)
    assert (row.values["vector_f1"], row.marks) == (1.0, "")


def test_repeats_give_means_and_standard_deviations() -> None:
    good, bad = [-1, -1, 1, -1, -1, -1, -1, -1], [-1.0] * 8
    answers = [Parsed(sample(), n, parsed(raw(odds))) for n, odds in enumerate((good, bad))]
    report = TASK.report([sample()], TASK.score(answers, None))
    assert report["vector_accuracy"] == 0.5
    assert report["sd"]["vector_accuracy"] == pytest.approx(0.5**0.5)  # type: ignore[index]


def test_the_list_names_the_emotions_of_a_scenario_and_says_where_there_are_none() -> None:
    labels = dict.fromkeys(PLUTCHIK, 0)
    assert TASK.row(msgspec.structs.replace(sample(), labels=labels)).emotion == "·"
    assert TASK.row(msgspec.structs.replace(sample(), labels={**labels, "joy": 1, "trust": 1})).emotion == "joy, trust"


def test_every_task_is_known_by_its_own_name() -> None:
    assert {name: task.name for name, task in tasks().items()} == {name: name for name in BUILT_IN}


# The command line, with the embedded model.


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


def test_a_first_word_that_is_hardly_yes_or_no_is_marked_counted_and_told() -> None:
    answers = {name: {"yes": -3.0, "no": -2.0, "mass": 0.49 if name == "joy" else 0.5} for name in PLUTCHIK}
    kept = [raw([-1.0] * 8), json.dumps({"way": "first-token", "answers": answers})]
    marks = [row.marks for row in TASK.score([Parsed(sample(), n, parsed(one)) for n, one in enumerate(kept)], None)]
    assert [mark.endswith("!") for mark in marks] == [False, True]
    rows = [ResultRow(n, 0, 0, None, one, None, 0.1, msgspec.json.encode(parsed(one))) for n, one in enumerate(kept)]
    told = TASK.diagnostics(rows)
    assert told["little_mass"] == {"scores": 1, "of": 16, "samples": 1, "below": 0.5}
    assert "in 1 of 2 answers (marked !)" in str(told["notes"])
    assert TASK.diagnostics(rows[:1]) == {}


def test_run_export_score_and_decode_fit_together(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    gold = tmp_path / "some.jsonl"
    gold.write_bytes(b"\n".join(msgspec.json.encode(one) for one in scenarios(20)))
    assert emotui("import", "scenes", gold, "--db", db, "--json").document["task"] == "scenes"
    got = emotui("run", "scenes", "--db", db, "--dataset", "some", "--json").document
    assert (got["task"], got["n"], got["done"], got["failed"]) == ("scenes", 20, 20, 0)
    assert got["metrics"]["labels"] == list(PLUTCHIK)
    predicted = tmp_path / "predicted.jsonl"
    assert emotui("export", got["run"], "--to", predicted, "--db", db).status == 0
    again = emotui("score", "scenes", "--gold", gold, "--pred", predicted, "--json").document
    for figure in ("lexical_accuracy", "vector_accuracy", "hamming_loss", "macro_f1", "micro_f1"):
        assert again[figure] == pytest.approx(got["metrics"][figure]), figure
    decoded = emotui("decode", "--train", gold, "--scores", predicted, "--alpha", "0,1", "--json").document
    first = json.loads(predicted.read_text().splitlines()[0])
    alone = [int(yes > no) for yes, no in first["scores"].values()]
    assert decoded["results"][0]["predictions"][first["id"]] == alone
    stopped = emotui("run", "scenes", "--db", db, "--resume", got["run"], "--json").document
    assert stopped["metrics"] == got["metrics"]
    assert emotui("rescore", got["run"], "--db", db, "--json").document["metrics"] == got["metrics"]
    wrong = emotui("run", "spans", "--db", db, "--resume", got["run"])
    assert wrong.status == 2
    assert "emotui run scenes --resume" in wrong.err
    way = emotui("run", "scenes", "--db", db, "--dataset", "some", "--way", "reasoned")
    assert way.status == 2
    assert "it can be asked by heads" in way.err


def test_import_refuses_scenarios_without_text_or_with_other_labels(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(
        '{"id": "a", "text": "A day.", "labels": {"joy": 1, "fear": 0}}\n{"id": "b", "labels": {"joy": 1, "fear": 0}}\n'
    )
    second.write_text('{"id": "c", "text": "A night.", "labels": {"joy": 1}}\n')
    refused = emotui("import", "scenes", first, second, "--db", db)
    assert refused.status == 2
    assert f"{first}:2: a scenario needs its text" in refused.err
    assert f"{second}:1: its labels are not those of the first scenario: joy, fear" in refused.err
    taken = emotui("import", "scenes", first, second, "--db", db, "--skip-bad", "--json")
    assert taken.document["n"] == 1


def test_scenarios_come_in_from_csv_as_from_jsonl(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    from emotui.formats import write

    file = tmp_path / "scenes.csv"
    write(str(file), scenarios(3))
    assert emotui("import", "scenes", file, "--db", db, "--json").document["n"] == 3


def test_texts_that_came_as_scenes_are_asked_for_spans_and_kept_unscored(emotui: Emotui, db: Path) -> None:
    file = CHECKOUT / "sample_data" / "scenes.jsonl"
    assert emotui("import", "scenes", file, "--db", db, "--name", "mine").status == 0
    run = emotui("run", "spans", "--db", db, "--dataset", "mine", "--limit", "3", "--json").document
    assert (run["task"], run["n"], run["done"]) == ("spans", 3, 3)
    assert run["metrics"].get("f1") is None


@pytest.mark.slow
def test_a_generative_model_is_asked_by_first_token_and_its_run_says_so(emotui: Emotui, db: Path) -> None:
    model = f"hf:{CHECKOUT / 'tests' / 'tiny' / 'model' / 'hf'}"
    got = emotui("run", "scenes", "--db", db, "--model", model, "--limit", 2, "--json").document
    assert (got["done"], got["failed"]) == (2, 0)
    (run,) = emotui("runs", "--db", db, "--json").document
    assert run["config"]["way"] == "first-token"
