"""`--as NAME`: a model asked as one of the annotators, with earlier answers of theirs, and scored against them."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from statistics import mean

import pytest

from emotui.records import LabelsGold, Mark, SpanSample
from emotui.tasks.prompting.settings import Annotator, Example
from emotui.tasks.spans.prompts import _as_answer
from emotui.workbench.annotate.others import description_in
from tests.backends.servers.test_bounded import _chat, send, server
from tests.conftest import Emotui

pytestmark = pytest.mark.faults
pytest.importorskip("aiohttp")

ANN, BEN, CEM = (0, 1, 1, 1, 0, 1), (0, 0, 1, 0, 0, 0), (1, 1, 1, 0, 0, 0)
"""Whether each of six texts has joy, by annotator; gold is what Ben says."""


def _rows(talks: tuple[str, ...] = ()) -> list[dict[str, object]]:
    people = {"Ann": ANN, "Ben": BEN, "Cem": CEM}
    return [
        {
            "id": f"t{at}",
            "text": f"Text number {at}.",
            "labels": ["joy"] * BEN[at],
            "annotators": {name: {"labels": ["joy"] * own[at]} for name, own in people.items()},
        }
        | ({"conversation": talks[at]} if talks else {})
        for at in range(6)
    ]


@pytest.fixture
def prompts() -> list[str]:
    return []


@pytest.fixture
def spec(prompts: list[str]) -> Iterator[str]:
    """A model that gives joy where most of the examples have it; without examples never."""

    def answer(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        prompts.append(prompt)
        before = re.findall(r"^Answer: (\[.*\])$", prompt, re.MULTILINE)
        joyful = bool(before) and 2 * sum("joy" in one for one in before) > len(before)
        if "Yes or No" in prompt:
            send(handler, _chat("Yes" if joyful else "No"))
        elif "valence" in prompt:
            send(handler, _chat("I cannot say." if "number 3" in prompt[-120:] else '{"valence": 2}'))
        else:
            send(handler, _chat('["joy"]' if joyful else "[]"))

    with server(answer) as spec:
        yield f"openai:{spec}"


def _imported(tmp_path: Path, emotui: Emotui, talks: tuple[str, ...] = ()) -> str:
    rows = _rows(talks)
    (tmp_path / "six.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = emotui("import", "six.jsonl")
    assert done.status == 0, done.err
    return "six"


def _as(own: tuple[int, ...], at: int) -> int:
    """What the model says of a text: joy where most of the annotator's other answers are joy."""
    rest = [each for place, each in enumerate(own) if place != at]
    return int(2 * sum(rest) > len(rest))


def test_a_run_as_each_annotator_is_scored_against_what_they_say_beside_the_others_and_gold(
    emotui: Emotui, tmp_path: Path, spec: str, prompts: list[str]
) -> None:
    asked = ("run", "labels", "--model", spec, "--dataset", _imported(tmp_path, emotui), "--way", "zero-shot")
    assert emotui(*asked).status == 0
    done = emotui(*asked, "--as", "Ann", "--as", "Ben", "--as-examples", "5", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert [row["as"] for row in found["runs"]] == ["Ann", "Ben"]
    against = found["against"]
    of = {"Ann": ANN, "Ben": BEN, "Cem": CEM}
    for name, own in (("Ann", ANN), ("Ben", BEN)):
        expected = mean(_as(own, at) != own[at] for at in range(6))
        assert against["asked_as"]["by_annotator"][name] == {"n": 6, "error_rate": pytest.approx(expected)}
        assert against["plain"]["by_annotator"][name]["error_rate"] == pytest.approx(mean(own))
        rest = [answers for other, answers in of.items() if other != name]
        most = [int(all(answers[at] for answers in rest)) for at in range(6)]
        assert against["others"]["by_annotator"][name]["error_rate"] == pytest.approx(
            mean(most[at] != own[at] for at in range(6))
        )
        assert against["gold"]["by_annotator"][name]["error_rate"] == pytest.approx(
            mean(BEN[at] != own[at] for at in range(6))
        )
        assert against["to_others"]["by_annotator"][name]["error_rate"] == pytest.approx(
            mean(_as(own, at) != most[at] for at in range(6))
        )
    # No prompt has the annotator's answer to its own text, nor the name.
    for prompt in prompts[6:]:
        own_text = re.findall(r"Text number \d\.", prompt)[-1]
        assert prompt.count(own_text) == 1
        assert "Ann" not in prompt
    n = len(prompts)
    table = emotui(*asked, "--as", "Ann", "--as", "Ben", "--as-examples", "5")
    assert len(prompts) == n, "asked again, nothing is"
    assert "asked as them" in table.out
    assert "as nobody" in table.out
    other = json.loads(emotui(*asked, "--as", "Ann", "--as-examples", "2", "--json").out)
    assert other["runs"][0]["run"] != found["runs"][0]["run"]


def test_no_answer_about_the_same_conversation_is_among_the_examples(
    emotui: Emotui, tmp_path: Path, spec: str, prompts: list[str]
) -> None:
    name = _imported(tmp_path, emotui, ("a", "a", "b", "b", "c", "c"))
    asked = ("run", "labels", "--model", spec, "--dataset", name, "--way", "yes-no", "--as", "Ann")
    done = emotui(*asked, "--as-examples", "4", "--json")
    assert done.status == 0, done.err
    for prompt in prompts:
        *examples, own = (int(at) for at in re.findall(r"Text number (\d)\.", prompt))
        assert sorted({at // 2 for at in examples}) == [talk for talk in range(3) if talk != own // 2]
        assert len(examples) == 4


def test_what_is_known_of_an_annotator_stands_before_the_examples(
    emotui: Emotui, tmp_path: Path, spec: str, prompts: list[str]
) -> None:
    (tmp_path / "people.json").write_text('{"Ann": {"Age": 31, "Country": ""}, "Ben": "A nurse."}', encoding="utf-8")
    asked = ("run", "labels", "--model", spec, "--dataset", _imported(tmp_path, emotui), "--way", "zero-shot")
    done = emotui(*asked, "--as", "Ben", "--as-description", "people.json", "--as-examples", "0")
    assert done.status == 0, done.err
    assert all("About this annotator:\nA nurse.\n\nNow the text" in prompt for prompt in prompts)
    assert description_in(str(tmp_path / "people.json"), ["Ann"]) == {"Ann": "Age: 31"}
    (tmp_path / "people.csv").write_text("who,Age\nAnn,31\n", encoding="utf-8")
    assert description_in(str(tmp_path / "people.csv"), ["Ann"]) == {"Ann": "Age: 31"}
    (tmp_path / "one.txt").write_text("A nurse.\n", encoding="utf-8")
    refused = emotui(*asked, "--as", "Ann", "--as", "Ben", "--as-description", "one.txt")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    refused = emotui(*asked, "--as", "Cem", "--as-description", "people.csv")
    assert "says nothing of Cem" in refused.err


@pytest.mark.parametrize(
    ("task", "more", "why"),
    [
        ("labels", ("--as", "Zoe"), "there is no source 'Zoe'"),
        ("labels", ("--as-examples", "3"), "go with --as NAME"),
        ("labels", ("--model", "embedded", "--as", "Ann"), "--as is not for"),
        ("scenes", ("--model", "embedded", "--as", "Ann"), "--as is for labels, rephrase, values, spans"),
        ("labels", ("--as", "Ann", "--before", "0,1"), "without --resume, --ppl-model and several"),
    ],
)
def test_what_cannot_be_asked_as_somebody_is_refused_in_a_line(
    emotui: Emotui, tmp_path: Path, spec: str, task: str, more: tuple[str, ...], why: str
) -> None:
    given = () if "--model" in more else ("--model", spec)
    refused = emotui("run", task, "--dataset", _imported(tmp_path, emotui), *given, *more)
    assert (refused.status, refused.err.strip().count("\n")) == (2, 0), refused.err
    assert why in refused.err


def test_a_prompt_of_ones_own_says_where_the_annotator_stands(
    emotui: Emotui, tmp_path: Path, spec: str, prompts: list[str]
) -> None:
    own = tmp_path / "own.toml"
    asked = ("run", "labels", "--model", spec, "--dataset", _imported(tmp_path, emotui), "--way", "zero-shot")
    own.write_text('[zero-shot]\nuser = "Text: {text} of {labels}"\n', encoding="utf-8")
    refused = emotui(*asked, "--prompts", "own.toml", "--as", "Ann")
    assert "has no {annotator}" in refused.err
    own.write_text('[zero-shot]\nuser = "{annotator}Text: {text} of {labels}"\n', encoding="utf-8")
    assert "by --as NAME" in emotui(*asked, "--prompts", "own.toml").err
    assert emotui(*asked, "--prompts", "own.toml", "--as", "Ann").status == 0
    assert all(prompt.startswith("Answer as one particular annotator") for prompt in prompts)


def test_examples_of_the_same_words_are_passed_over_and_the_next_take_their_place() -> None:
    examples = tuple(Example(str(at), words, ["joy"]) for at, words in enumerate(("One.", "one. ", "Two.", "Three.")))
    ann = Annotator("Ann", "", examples, 2)
    assert [one.id for one in ann.examples_for(LabelsGold(id="x", text="ONE."))] == ["2", "3"]
    assert [one.id for one in ann.examples_for(LabelsGold(id="2", text="other"))] == ["0", "1"]


def test_spans_of_an_example_have_the_form_that_the_answer_is_to_have() -> None:
    example = Example("1", "I won the race and cried.", [[2, 5], [4, 9], [19, 24]])
    assert _as_answer("retrieve", example) == "won | cried"
    assert _as_answer("highlight", example) == "I **won** the race and **cried**."
    assert SpanSample(id="1", text=example.text, spans=(Mark(2, 5),)).text == example.text


def test_a_run_as_an_annotator_of_spans_one_label_and_numbers(
    emotui: Emotui, tmp_path: Path, spec: str, prompts: list[str]
) -> None:
    said = {
        "spans": ([[0, 4]], [[5, 11]]),
        "label": ("joy", "fear"),
        "values": ({"valence": 2}, {"valence": 4}),
    }
    for kind, task in (("spans", "spans"), ("label", "rephrase"), ("values", "values")):
        first, second = said[kind]
        rows = [
            {
                "id": str(at),
                "text": f"Text number {at}.",
                kind: first,
                "annotators": {"Ann": {kind: first if at % 2 else second}, "Ben": {kind: first}},
            }
            for at in range(4)
        ]
        (tmp_path / f"{kind}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert emotui("import", f"{kind}.jsonl").status == 0
        way = {"spans": "retrieve", "label": "zs", "values": "zero-shot"}[kind]
        done = emotui("run", task, "--model", spec, "--dataset", kind, "--way", way, "--as", "Ann", "--json")
        assert done.status == 0, done.err
        against = json.loads(done.out)["against"]
        assert against["asked_as"]["by_annotator"]["Ann"]["n"] == 4, "an answer that says nothing counts as wrong"
        expected = {"spans": mean((10 / 12, 0)), "label": 1 / 2, "values": 1 / 2}[kind]
        figure = "normalised_absolute_distance" if kind == "values" else "error_rate"
        assert against["others"]["by_annotator"]["Ann"][figure] == pytest.approx(expected)
