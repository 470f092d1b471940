"""Neutralise, then re-inject: what a model is asked, what its answers come to, and how they are scored."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from emotui.backends.base import Generate, Generation, ModelCard, Refused
from emotui.errors import BadInput, ModelError
from emotui.metrics.eans import EANS
from emotui.metrics.eps import EPS_LABELS
from emotui.records import Generation as Record
from emotui.records import GenerationGold, Text
from emotui.tasks.generation.options import distinct, eans_of, nearest_label, once, score_settings
from emotui.tasks.generation.task import METRICS, REWRITE, EmotionGeneration, read_generation_prompts, rewritten
from emotui.tasks.generation.whole import Detail, Prediction, joined, mark, parted
from emotui.tasks.task import Parsed

JOY = GenerationGold(id="1", text="I love this film.", label="joy")
PLAIN = GenerationGold(id="2", text="The film runs for an hour.", label="neutral")
task = EmotionGeneration()


def model(answer: Callable[[str], Any], asked: list[Generate]) -> Callable[[Sequence[Generate]], list[Any]]:
    def ask(requests: Sequence[Generate]) -> list[Any]:
        asked.extend(requests)
        found = [answer(request.messages[-1].content) for request in requests]
        return [Generation(one, 1, 1, "stop") if isinstance(one, str) else one for one in found]

    return ask


def test_the_second_prompt_is_about_the_answer_to_the_first_and_names_the_target() -> None:
    asked: list[Generate] = []

    def answer(prompt: str) -> str:
        return "What a film!" if "What is here: joy" in prompt or "sees this in it: joy" in prompt else "A film. "

    found = task.ask([JOY, PLAIN], model(answer, asked), REWRITE, [3, 4])
    assert [request.seed for request in asked] == [3, 4, 3, 4]
    assert JOY.text in asked[0].messages[-1].content
    second = asked[2].messages[-1].content
    assert "A film." in second
    assert "joy" in second
    assert JOY.text not in second
    assert "neutral" in asked[3].messages[-1].content
    said = task.parse(JOY, found[0].raw or "", REWRITE)
    assert said == Prediction("A film.", "What a film!")
    assert asked[0].messages[-1].content in (found[0].prompt or "")
    assert second in (found[0].prompt or "")


def test_a_refusal_is_kept_and_is_not_gone_on_with() -> None:
    asked: list[Generate] = []
    (found,) = task.ask([JOY], model(lambda _: "I'm sorry, but I can't help with that.", asked), REWRITE, [0])
    assert len(asked) == 1
    said = task.parse(JOY, found.raw or "", REWRITE)
    assert said.refused == ("neutralise",)
    assert task.unread(said) == "the model refused to neutralise"
    (empty,) = task.ask([JOY], model(lambda _: "  ", []), REWRITE, [0])
    assert task.unread(task.parse(JOY, empty.raw or "", REWRITE)) == "a version is empty"


def test_what_the_model_does_not_answer_stands_at_its_place() -> None:
    def answer(prompt: str) -> Any:
        if "hour" in prompt:
            return Refused("too long")
        return Refused("gone", again=True) if "sees this" in prompt else "A film."

    found = task.ask([JOY, PLAIN], model(answer, []), REWRITE, [0, 0])
    assert [(one.raw, one.why, one.again) for one in found] == [(None, "gone", True), (None, "too long", False)]


def test_a_text_that_begins_as_refusals_do_may_be_rewritten_so() -> None:
    sorry = GenerationGold(id="3", text="I cannot help but laugh.", label="joy")
    raw = msgspec.json.encode({"neutral": "I cannot help but laugh.", "emotional": "I cannot help it, ha!"}).decode()
    assert not task.parse(sorry, raw, REWRITE).silent


@pytest.mark.parametrize(
    "answer",
    [
        "A film.",
        ' "A film." ',
        "Here is the neutral version:\n\nA film.",
        "Sure! Here's the text:\nA film.",
        "Neutral text: A film.",
        "<think>Hm.</think>\n```\nA film.\n```",
        "“A film.”",
    ],
)
def test_what_models_put_around_a_text_is_taken_off(answer: str) -> None:
    assert rewritten(answer) == "A film."


def test_a_colon_inside_a_text_stays() -> None:
    assert rewritten("It has three parts: letters, a meeting.") == "It has three parts: letters, a meeting."
    assert rewritten("Answer:") == "Answer:"


def test_a_prompt_file_may_have_one_of_the_two(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[inject]\nuser = "Make {text} sound {emotion}."\n', encoding="utf-8")
    own = task.with_options({"prompts": msgspec.to_builtins(read_generation_prompts(str(file)))}, 1)
    asked: list[Generate] = []
    own.ask([JOY], model(lambda _: "A film.", asked), REWRITE, [0])
    assert asked[1].messages[-1].content == "Make A film. sound joy."
    assert own.settings(REWRITE) != task.settings(REWRITE)
    file.write_text('[inject]\nuser = "Make {text} nicer."\n', encoding="utf-8")
    with pytest.raises(BadInput, match="emotion"):
        read_generation_prompts(str(file))


def test_a_model_that_does_not_write_cannot_be_asked() -> None:
    with pytest.raises(ModelError, match="cannot generate"):
        task.ways(ModelCard("embedded", "m", ("classify",), {}))


def embed(texts: Sequence[str]) -> np.ndarray:
    """Letters counted: the same text has the same place."""
    return np.array([[text.count(letter) + 0.1 for letter in "aeiou"] for text in texts])


def test_each_distinct_text_is_embedded_once() -> None:
    seen: list[str] = []

    def counting(texts: Sequence[str]) -> np.ndarray:
        seen.extend(texts)
        return embed(texts)

    triples = [("o", "n", text, target) for text in ("a", "b") for target in ("joy", "disgust")]
    found = eans_of(triples, counting)
    assert sorted(seen) == sorted(set(seen))
    assert len(seen) == 4 + 3
    seen.clear()
    both = once(counting)
    assert eans_of(triples, both) == found
    assert nearest_label([emotional for _, _, emotional, _ in triples], both)[0].keys() == set(EPS_LABELS)
    assert sorted(seen) == sorted(set(seen))
    one = eans_of(triples[:1], embed)[0]
    assert found[0] == pytest.approx(one)
    assert distinct([], embed) == {}
    printed = eans_of(triples, embed, "printed")
    assert printed[0]["r1_c"] == printed[2]["r1_c"] != found[0]["r1_c"]
    assert eans_of(triples, embed, "printed", "{emotion}!") != printed


def test_scores_count_refusals_unchanged_texts_and_leaks_of_the_labels_word() -> None:
    answers = [
        Parsed(JOY, 0, Prediction("I saw this film.", "I saw this film with joy.")),
        Parsed(JOY, 0, Prediction("I love this film", "I love this film!")),
        Parsed(JOY, 0, Prediction("", "", ("neutralise",))),
        Parsed(PLAIN, 0, Prediction(PLAIN.text, PLAIN.text)),
    ]
    scores = task.score(answers, embed)
    assert [score.marks for score in scores] == ["", "", "!", ""]
    assert scores[0].values["leak"] == 1
    assert scores[0].values["words"] == 6
    assert scores[3].values["r3_c"] == pytest.approx(1)
    assert set(scores[0].values) == {metric.name for metric in METRICS}
    details = [msgspec.json.decode(score.detail, type=Detail) for score in scores]
    assert details[0].leaks == ("joy",)
    assert details[1].unchanged_neutral
    assert details[1].unchanged_emotional
    report = task.report([], scores)
    assert [report[name] for name in ("n", "silent", "refused", "with_emotion")] == [4, 1, 1, 2]
    assert [report[name] for name in ("unchanged_neutral", "unchanged_emotional", "leaks")] == [1, 1, 1]
    assert report["words_original"] == pytest.approx((4 + 4 + 6) / 3)
    assert report["r3_m"] is not None
    without = task.report([], task.score(answers, None))
    assert without["r3_m"] is None
    assert "r3_m" in without["notes"]  # type: ignore[operator]


def test_whole_records_come_apart_and_together_again() -> None:
    kept = {"id": "1", "target": "joy", "original": "I love this film."}
    records = [
        Record(
            **kept, model="a", neutral="A film.", emotional="Ah!", human=("Joy", "FEAR"), human_neutral=("neutral",)
        ),
        Record(**kept | {"target": "Joy"}, model="b", neutral="", emotional="", failed=True),
    ]
    parts = parted(records)
    assert parts.samples == [JOY]
    said = {model: task.taken(JOY, keys["1"]) for model, keys in parts.said.items()}
    assert said["a"].human == ("joy", "fear")
    again = [joined(JOY, prediction, model) for model, prediction in said.items()]
    assert again[0] == msgspec.structs.replace(records[0], human=("joy", "fear"))
    assert again[1] == msgspec.structs.replace(records[1], target="joy")
    with pytest.raises(BadInput, match="1 of c: another original"):
        parted([*records, Record(**kept | {"original": "x"}, model="c", neutral="n", emotional="e")])
    with pytest.raises(BadInput, match="the target is 'fear'"):
        parted([*records, Record(**kept | {"target": "fear"}, model="c", neutral="n", emotional="e")])


def test_half_an_answer_is_refused_and_a_text_has_its_own_target() -> None:
    with pytest.raises(ValueError, match="`emotional` is empty"):
        task.taken(JOY, {"neutral": "A film."})
    assert task.blank(Text(id="1", text="x", meta={"label": "joy"})).label == "joy"
    assert task.blank(Text(id="1", text="x")).label == "neutral"
    with pytest.raises(BadInput, match="no gold"):
        task.as_gold(JOY, Prediction())
    lines = task.said(JOY, Prediction("n", "e", human=("fear",)))
    assert [(line.name, line.predicted, line.mark, line.measured) for line in lines] == [
        ("neutral", "n", "", True),
        ("emotional", "e", "", True),
        ("human", "fear", "M", False),
    ]


def test_what_further_models_said_is_in_scores_without_asking_them_again() -> None:
    said = Prediction("I saw this film.", "What a film!", human=("joy",))
    kept = {
        "eps": {"spec": "nli", "of": {mark("What a film!"): "emotional"}},
        "eas": {"spec": "writer", "of": {mark("What a film!"): 1.5}},
        "eans": {"spec": "bge", "of": {mark(JOY.text, said.neutral, said.emotional, JOY.label): [1, 2, 3, 4, 5, 6]}},
        "ppl": {"spec": "gpt2", "of": {mark("What a film!"): 20.0, mark("I saw this film."): None}, "stride": 128},
        "ers:judge": {"spec": "judge", "of": {mark("What a film!"): "JOY"}},
    }
    other = Parsed(PLAIN, 0, Prediction("Ten chapters.", "Ten chapters!"))
    failed = Parsed(JOY, 1, Prediction())
    one, unknown, silent = task.with_measured(kept).score([Parsed(JOY, 0, said), other, failed], embed)
    values = [one.values[name] for name in ("eps_emotional", "eps_neutral", "eas", "ppl", "ppl_neutral", "ers:judge")]
    assert values == [1, 0, 1.5, 20, None, 1]
    assert [one.values[name] for name in EANS] == [1, 2, 3, 4, 5, 6]
    assert one.values["ers"] is None  # nobody was asked for labels here
    # What is not measured has no value: scores are no mixture of two models.
    assert [unknown.values[name] for name in ("eps_emotional", "r3_c", "eas", "ers:judge")] == [None] * 4
    assert silent.values["ers:judge"] == 0
    assert "EAnS over bge" in one.convention
    detail = msgspec.json.decode(one.detail, type=Detail)
    assert (detail.found, detail.human) == ({"judge": "JOY"}, ("joy",))
    named = task.metric_named("ers:judge")
    assert named is not None
    assert named.help.startswith("ERS by judge")
    assert task.metric_named("other") is None


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("hf:models/nli", "hf:models/nli#hypothesis=This example is {}."),
        ("hf:models/nli#device=cpu", "hf:models/nli#device=cpu&hypothesis=This example is {}."),
        ("hf:models/nli#hypothesis=It is {}.", "hf:models/nli#hypothesis=It is {}."),
        ("openai:http://localhost:1/m", "openai:http://localhost:1/m"),
    ],
)
def test_an_nli_model_is_asked_with_its_usual_hypothesis_unless_its_spec_names_one(given: str, asked: str) -> None:
    assert score_settings({"nli": given}).nli == asked
