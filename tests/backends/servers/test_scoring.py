"""Yes against no on a server: what it shows is summed over the forms, what it keeps back is marked and bounded."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.base import Message, Refused, Score, Scores
from emotui.backends.host import ModelProcess
from emotui.backends.servers import load
from emotui.backends.servers.model import ServerModel
from emotui.backends.servers.scoring import read_verdict
from emotui.backends.yesno import NO, YES
from emotui.errors import ModelError
from tests.backends.servers.faulty_server import FaultyServer

pytest.importorskip("aiohttp")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def connect(server: FaultyServer, **options: Any) -> ServerModel:
    return load(server.spec, {"retries": 1} | options, lambda line: None)


def test_forms_are_summed_and_their_shares_told(server: FaultyServer) -> None:
    (scores,) = connect(server).score([Score("He won.", ("Is he glad?",))])
    assert isinstance(scores, Scores)
    yes, no = math.exp(-0.5) + math.exp(-1.5), math.exp(-2.0) + math.exp(-4.0)
    assert scores.yes == pytest.approx((math.log(yes),))
    assert scores.no == pytest.approx((math.log(no),))
    assert scores.mass == pytest.approx((yes + no,))
    assert scores.shares[0][" Yes"] == pytest.approx(math.exp(-0.5) / (yes + no))
    assert sum(scores.shares[0].values()) == pytest.approx(1.0)
    assert scores.censored == ("",)


def test_a_side_that_is_not_shown_is_censored_and_given_the_most_that_it_can_be() -> None:
    with FaultyServer(logprobs={" Yes": math.log(0.7), "Maybe": math.log(0.2), "The": math.log(0.04)}) as server:
        (scores,) = connect(server).score([Score("x", ("y?",))])
        assert isinstance(scores, Scores)
        assert scores.censored == ("no",)
        assert scores.yes == pytest.approx((math.log(0.7),))
        assert scores.mass == pytest.approx((0.7,))
        assert scores.no == pytest.approx((math.log(0.06),))  # what is left of 1: six times 0.04 is more


def test_a_model_whose_first_word_is_no_answer_is_noted() -> None:
    with FaultyServer(logprobs={"<think>": -0.001}) as server:
        assert "It began its answer to a yes/no question with neither (mass 0.00)" in " ".join(
            connect(server).card.notes
        )


def test_a_form_of_probability_zero_is_not_taken_for_a_figure() -> None:
    verdict = read_verdict([("Yes", -0.01), ("The", -5.0), ("No", -9999.0)])
    assert verdict.censored == "no"
    assert verdict.no == pytest.approx(math.log(1 - math.exp(-0.01) - math.exp(-5.0)))


def test_neither_side_shown_is_censored_on_both() -> None:
    verdict = read_verdict([("<think>", -0.0001)])
    assert (verdict.censored, verdict.mass, verdict.shares) == ("both", 0.0, {})
    assert verdict.yes == verdict.no


@given(
    st.lists(st.floats(0.001, 1.0), min_size=14, max_size=14),
    st.integers(1, 13),
)
def test_a_censored_value_is_never_below_the_truth(weights: list[float], shown: int) -> None:
    total = sum(weights)
    tokens = [*YES, *NO, "The", "Maybe"]
    whole = sorted(
        ((token, math.log(weight / total)) for token, weight in zip(tokens, weights, strict=True)),
        key=lambda pair: -pair[1],
    )
    verdict = read_verdict(whole[:shown])
    truth = {
        side: math.log(sum(math.exp(logprob) for token, logprob in whole if token in forms))
        for side, forms in (("yes", YES), ("no", NO))
    }
    for side in ("yes", "no"):
        value = getattr(verdict, side)
        assert math.isfinite(value)
        if verdict.censored in (side, "both"):
            assert value >= truth[side] - 1e-9
        else:
            assert value <= truth[side] + 1e-9


def test_a_log_probability_above_zero_is_no_answer(server: FaultyServer) -> None:
    model = connect(server, retries=0)
    server.logprobs = {"Yes": 1000.0}
    with pytest.raises(ModelError, match="is not what the protocol says"):
        model.score([Score("x", ("y?",))])


def test_many_texts_and_questions_come_back_in_their_places(server: FaultyServer) -> None:
    scores = connect(server).score([Score("a", ("q1?", "q2?")), Score("b", ()), Score("c", ("q3?",))])
    assert [len(each.yes) for each in scores if isinstance(each, Scores)] == [2, 0, 1]
    assert sorted(server.prompts()) == ["a\n\nq1?", "a\n\nq2?", "c\n\nq3?"]


def test_a_question_is_added_to_the_last_user_message(server: FaultyServer) -> None:
    messages = (Message("system", "s"), Message("user", "text. "), Message("assistant", "ok"))
    connect(server).score([Score("", ("Glad?",), messages)])
    assert [each["content"] for each in server.asked[-1].body["messages"]] == ["s", "text. Glad?", "ok"]
    with pytest.raises(ModelError, match="A question needs a message of the user's"):
        connect(server).score([Score("", ("Glad?",), (Message("system", "s"),))])


def test_a_text_with_a_question_that_is_refused_is_refused_and_the_others_answered(server: FaultyServer) -> None:
    refused, fine = connect(server).score([Score("LONG", ("a?", "b?")), Score("x", ("a?",))])
    assert refused == Refused("the prompt is longer than the model's context (600 tokens of 512)")
    assert isinstance(fine, Scores)


def test_a_server_that_shows_fewer_alternatives_is_still_asked_for_what_it_gives() -> None:
    with FaultyServer(most_logprobs=2) as server:
        (scores,) = connect(server).score([Score("x", ("y?",))])
        assert isinstance(scores, Scores)
        assert scores.censored == ("no",)


def test_plain_completions_are_scored_too() -> None:
    with FaultyServer(chat=False) as server:
        (scores,) = connect(server).score([Score("x", ("y?",), opening="Well,")])
        assert isinstance(scores, Scores)
        assert scores.censored == ("",)
        assert server.asked[-1].prompt == "x\n\ny?\n\nAnswer: Well,"


def test_a_server_without_log_probabilities_can_write_and_says_that_it_cannot_score() -> None:
    with FaultyServer(most_logprobs=0) as server, ModelProcess(f"openai:{server.spec}") as model:
        card = model.load()
        assert card.capabilities == ("generate",)
        assert "The server gives no log-probabilities: it can write, not score" in card.notes
        with pytest.raises(ModelError, match="cannot score; kinds of model that can: "):
            model.ask([Score("x", ("y?",))])
