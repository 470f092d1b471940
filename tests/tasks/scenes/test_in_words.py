"""Yes and no in words: read, marked as hard, kept apart from logits, and told."""

from collections.abc import Sequence

import msgspec
import pytest

from emotui.backends.base import Generate, Generation, Refused, Request
from emotui.records import PLUTCHIK, ScenesGold, ScenesPrediction
from emotui.store.rows import ResultRow
from emotui.tasks.prompting.settings import ROOM, yes_or_no
from emotui.tasks.scenes.asking import MAX_TOKENS
from emotui.tasks.scenes.task import Scenes
from emotui.tasks.task import Asked

TASK = Scenes()
SAMPLE = ScenesGold(id="s", text="Ines read it twice.", subject="Ines", labels=dict.fromkeys(PLUTCHIK, 0) | {"fear": 1})


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Yes", True),
        (" yes.", True),
        ("**No**", False),
        ("NO, she does not.", False),
        ("Answer: Yes", True),
        ("<answer>No</answer>", False),
        ("<think>no doubt</think>\n\nYes.", True),
        ("<think>no doubt, no", None),
        ("Nothing says so.", None),
        ("Perhaps yes.", None),
        ("", None),
    ],
)
def test_the_word_that_an_answer_begins_with_counts(written: str, said: bool | None) -> None:
    assert yes_or_no(written) is said


def ask(answers: dict[str, str | Refused], asked: list[Request] | None = None, task: Scenes = TASK) -> Asked:
    def model(requests: Sequence[Request]) -> list[object]:
        if asked is not None:
            asked.extend(requests)
        found: list[object] = []
        for request in requests:
            assert isinstance(request, Generate)
            name = next(name for name in PLUTCHIK if f" {name} " in request.messages[-1].content)
            said = answers.get(name, "No.")
            found.append(said if isinstance(said, Refused) else Generation(said, 9, 2, "stop"))
        return found

    (answer,) = task.ask([SAMPLE], model, "yes-no", (3,))
    return answer


def test_each_emotion_is_asked_about_in_a_few_tokens_and_its_words_are_kept() -> None:
    asked: list[Request] = []
    answer = ask({"fear": "Yes, she does."}, asked)
    assert [request.max_tokens for request in asked if isinstance(request, Generate)] == [ROOM] * 8
    assert asked[0].messages[-1].content.endswith("Does Ines feel joy in this scene? Answer with one word, Yes or No.")
    assert msgspec.json.decode(answer.raw)["said"]["fear"] == "Yes, she does."
    prediction = TASK.parse(SAMPLE, answer.raw, "yes-no")
    assert (prediction.hard, prediction.scores, prediction.mass) == (True, {}, {})
    assert prediction.labels == dict.fromkeys(PLUTCHIK, 0) | {"fear": 1}


def test_a_hard_answer_is_marked_in_its_record_and_comes_back_the_same() -> None:
    prediction = TASK.parse(SAMPLE, ask({"fear": "Yes", "joy": "Hm.", "trust": Refused("too long")}).raw, "yes-no")
    assert prediction.unanswered["joy"] == "the model says neither yes nor no: 'Hm.'"
    record = TASK.record("s", prediction)
    assert record == ScenesPrediction(
        id="s", labels=dict.fromkeys(PLUTCHIK, 0) | {"fear": 1}, hard=True, unanswered=("joy", "trust")
    )
    back = TASK.taken(SAMPLE, msgspec.to_builtins(record))
    assert (back.hard, back.labels, set(back.unanswered)) == (True, prediction.labels, {"joy", "trust"})


ORDER = "Think, then write <answer>Yes</answer> or <answer>No</answer>."
ABOUT = "Scene: {text}\n\nDoes {subject} feel {emotion} in it?"


@pytest.mark.parametrize("prompt", [{"user": f"{ABOUT} {ORDER}"}, {"user": ABOUT, "system": ORDER}])
@pytest.mark.parametrize(
    ("written", "said", "sure"),
    [
        ("No doubt she waits. <confidence>4</confidence> <answer>Yes</answer>", 1, 4),
        ("Yes, it is late. <confidence>9</confidence>\n<answer> no", 0, None),
        ("<answer>Yes</answer>? I must write it. <answer>No</answer>", 0, None),
        ("No doubt she waits, and then", None, None),
        ("Yes. <confidence>2</confidence> <answer>Perhaps</answer>", None, None),
    ],
)
def test_where_the_prompt_asks_for_reasons_only_what_stands_behind_the_tag_is_read(
    prompt: dict[str, str], written: str, said: int | None, sure: int | None
) -> None:
    task = TASK.with_options({"prompts": {"yes-no": prompt}}, 1)
    assert MAX_TOKENS in task.settings("yes-no")["prompts"]
    asked: list[Request] = []
    answer = ask({"fear": written, "joy": "So. <answer>Yes</answer>"}, asked, task)
    assert [request.max_tokens for request in asked if isinstance(request, Generate)] == [MAX_TOKENS] * 8
    found = task.parse(SAMPLE, answer.raw, "yes-no")
    assert found.labels["joy"] == 1
    assert (None if "fear" in found.unanswered else found.labels["fear"]) == said
    assert found.confidence == ({} if sure is None else {"fear": sure})
    assert task.record("s", found).confidence == found.confidence
    assert found.unanswered["trust"] == "the model says neither yes nor no: 'No.'"


def test_nothing_but_other_words_is_no_answer_and_a_server_in_trouble_leaves_it_open() -> None:
    with pytest.raises(ValueError, match="neither yes nor no"):
        TASK.parse(SAMPLE, ask(dict.fromkeys(PLUTCHIK, "Well.")).raw, "yes-no")
    gone = ask({"fear": Refused("gone", again=True)})
    assert (gone.raw, gone.why) == (None, "fear: gone")
    assert ask(dict.fromkeys(PLUTCHIK, Refused("too long"))).why == "joy: too long"


def test_figures_say_that_answers_are_hard() -> None:
    prediction = TASK.parse(SAMPLE, ask({"fear": "Yes", "joy": "Hm."}).raw, "yes-no")
    found = TASK.diagnostics([ResultRow(1, 0, 0, None, None, None, 0.1, msgspec.json.encode(prediction))])
    assert found["hard"] == {"samples": 1, "of": 1}
    assert found["unanswered"] == {"scores": 1, "of": 8, "samples": 1}
    assert "without probabilities" in found["notes"]["hard"]
    (line,) = (line for line in TASK.said(SAMPLE, prediction) if line.name == "fear")
    assert (line.predicted, line.p) == ("yes", None)
