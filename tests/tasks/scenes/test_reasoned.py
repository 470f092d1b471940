"""A reasoned answer about each emotion: asked again where it comes to none, and lost alone."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from emotui.backends.base import Generate, Generation, Refused, Score, Scores
from emotui.records import PLUTCHIK, ScenesGold
from emotui.store.rows import ResultRow
from emotui.tasks.scenes.task import Scenes
from emotui.tasks.task import Asked, Parsed

SAMPLE = ScenesGold(id="s", text="Ines read it.", subject="Ines", labels=dict.fromkeys(PLUTCHIK, 0) | {"fear": 1})
DONE = Generation("So. ", 9, 9, "stop")
ENDLESS = Generation("and then", 9, 400, "length")
YES = Scores((-0.1,), (-3.0,), (0.95,))


def ask(write: Callable[[Generate], Any], score: Callable[[Score], Any] = lambda request: YES, **options: Any) -> Asked:
    def model(requests: Sequence[Any]) -> list[Any]:
        return [write(each) if isinstance(each, Generate) else score(each) for each in requests]

    (answer,) = Scenes().with_options(options, 1).ask([SAMPLE], model, "reasoned", (7,))
    return answer


def about(request: Generate, emotion: str) -> bool:
    return f"feel {emotion} " in request.messages[-1].content


def test_an_emotion_without_an_answer_costs_itself_and_is_told() -> None:
    answer = ask(lambda request: ENDLESS if about(request, "fear") else DONE, retries=1)
    assert answer.raw is not None
    said = Scenes().parse(SAMPLE, answer.raw, "reasoned")
    assert said.unanswered == {"fear": "the model came to no answer within 400 tokens"}
    assert (said.labels["fear"], said.scores["fear"]) == (0, (0.0, 0.0))
    assert (said.labels["joy"], said.scores["joy"]) == (1, (-0.1, -3.0))
    assert "fear" not in said.mass
    (score,) = Scenes().score([Parsed(SAMPLE, 0, said)], None)
    assert score.marks.endswith("!")
    told = Scenes().diagnostics([ResultRow(1, 0, 0, None, "", None, 1.0, msgspec.json.encode(said))])
    assert told["unanswered"] == {"scores": 1, "of": 8, "samples": 1}
    assert "1 of 8 questions in 1 of 1 answers" in told["notes"]["unanswered"]  # type: ignore[index]
    assert [line.predicted for line in Scenes().said(SAMPLE, said) if line.name == "fear"] == [""]


def test_an_emotion_is_asked_about_again_by_the_next_seeds_and_alone() -> None:
    asked: list[Generate] = []

    def write(request: Generate) -> Generation:
        asked.append(request)
        return ENDLESS if about(request, "trust") and request.seed < 9 else DONE

    answer = ask(write)
    assert Scenes().parse(SAMPLE, answer.raw or "", "reasoned").unanswered == {}
    again = asked[8:]
    assert [(request.seed, request.temperature) for request in again] == [(8, 0.6), (9, 0.6)]
    assert all(about(request, "trust") for request in again)
    assert {request.temperature for request in asked[:8]} == {0.0}


def test_a_server_in_trouble_over_one_emotion_leaves_the_scenario_open() -> None:
    answer = ask(lambda request: Refused("gone", again=True) if about(request, "joy") else DONE)
    assert (answer.raw, answer.again, answer.why) == (None, True, "joy: gone")


def test_a_refused_emotion_costs_itself_and_eight_of_them_the_scenario() -> None:
    one = ask(lambda request: DONE, lambda request: Refused("no") if "feel joy " in request.questions[0] else YES)
    assert Scenes().parse(SAMPLE, one.raw or "", "reasoned").unanswered == {"joy": "no"}
    every = ask(lambda request: Refused("too long"))
    assert (every.raw, every.why, every.again) == (None, "joy: too long", False)


def test_what_a_model_itself_wrote_behind_its_answer_is_not_asked_for_again() -> None:
    def never(request: Score) -> Any:
        raise AssertionError(request)

    verdict = Scores((-2.0,), (-0.2,), (0.9,), censored=("yes",))
    answer = ask(lambda request: Generation("So. <confidence>4</confidence> ", 9, 9, "stop", verdict=verdict), never)
    said = Scenes().parse(SAMPLE, answer.raw or "", "reasoned")
    assert said.scores["joy"] == (-2.0, -0.2)
    assert set(said.censored.values()) == {"yes"}
    assert set(said.confidence.values()) == {4}


def test_room_and_tries_are_part_of_what_an_answer_is_kept_under() -> None:
    plain = Scenes().settings("reasoned")
    for options in ({"max_tokens": 900}, {"retries": 0}):
        assert Scenes().with_options(options, 1).settings("reasoned") != plain


def test_a_tag_within_a_models_thoughts_is_not_its_answer() -> None:
    scored: list[Score] = []

    def score(request: Score) -> Scores:
        scored.append(request)
        return YES

    ask(lambda request: Generation("<think>an <answer>?</think>So. ", 9, 9, "stop"), score)
    assert {request.opening for request in scored} == {"<think>an <answer>?</think>So. <answer>"}
    lost = ask(lambda request: Generation("<think>an <answer>", 9, 9, "length"), score, retries=0)
    assert lost.why == "joy: the model came to no answer within 400 tokens"
