"""`--before`: the turns of a conversation stand before a text in the question."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.records import LabelsGold
from emotui.tasks.prompting.settings import NO_TURNS
from emotui.workbench.turns import turns_before
from tests.backends.servers.test_bounded import _chat, send, server
from tests.conftest import Emotui

pytestmark = pytest.mark.faults
pytest.importorskip("aiohttp")

TALK = (
    ("1", "1", "Ann", "I won the race!", []),
    ("1", "2", "Ben", "Really?", ["joy"]),
    ("1", "3", "Ann", "Yes.", ["joy"]),
    ("2", "2", "Eve", "What now?", []),
    ("2", "1", "Dan", "The bus is late.", []),
)
"""Conversation, turn, speaker, text, gold: joy is told by whether somebody said before that he won."""


def rows() -> list[dict[str, object]]:
    return [
        {"id": f"{talk}-{turn}", "text": text, "labels": gold, "dialogue_id": talk, "turn": turn, "speaker": speaker}
        for talk, turn, speaker, text, gold in TALK
    ]


@pytest.fixture
def prompts() -> list[str]:
    return []


@pytest.fixture
def spec(prompts: list[str]) -> Iterator[str]:
    """A model that says joy where somebody has won in the turns before the text."""

    def answer(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        prompts.append(prompt)
        won = "won the race" in prompt.partition("Text:")[0]
        written = ("Yes" if won else "No") if "Yes or No" in prompt else '["joy"]' if won else "[]"
        send(handler, _chat(written))

    with server(answer) as spec:
        yield f"openai:{spec}"


@pytest.fixture
def talk(tmp_path: Path, emotui: Emotui) -> str:
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    assert emotui("import", "talk.jsonl").status == 0
    return "talk"


def _labels(tmp_path: Path) -> str:
    (tmp_path / "labels.txt").write_text("joy\nanger\n", encoding="utf-8")
    return "labels.txt"


def test_turns_are_a_line_each_with_their_speaker_the_nearest_last() -> None:
    texts = [LabelsGold(id=str(row["id"]), text=str(row["text"]), labels=(), meta=row) for row in rows()]
    assert turns_before(texts, "all") == {
        "1-2": "Ann: I won the race!",
        "1-3": "Ann: I won the race!\nBen: Really?",
        "2-2": "Dan: The bus is late.",
    }
    assert turns_before(texts, 1)["1-3"] == "Ben: Really?"
    assert turns_before(texts, 0) == {}
    with pytest.raises(BadInput, match="no text says which conversation"):
        turns_before([LabelsGold(id="1", text="alone", labels=())], 3)


def test_a_run_with_none_one_and_all_turns_is_one_set_compared_with_the_first(
    emotui: Emotui, tmp_path: Path, spec: str, talk: str, prompts: list[str]
) -> None:
    asked = ("run", "labels", "--model", spec, "--dataset", talk, "--labels", _labels(tmp_path), "--way", "zero-shot")
    done = emotui(*asked, "--before", "0,1,all", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert [row["before"] for row in found["runs"]] == [0, 1, "all"]
    means = [row["compared"]["mean_a"] for row in found["runs"]]
    assert means == pytest.approx([3 / 5, 4 / 5, 1])  # F1 a text: two of joy missed, one, none
    assert [row["compared"]["mean_difference"] for row in found["runs"]] == pytest.approx([0, 1 / 5, 2 / 5])
    assert all(row["compared"]["shared"] == "dialogue_id" for row in found["runs"])
    assert sum(NO_TURNS in prompt for prompt in prompts) == 4  # first turns of both talks, in two of the runs
    first = found["runs"][0]["run"]
    again = json.loads(emotui(*asked, "--json").out)
    assert again["run"] == first, "no turns at all are asked as without --before, and not again"
    table = emotui(*asked, "--before", "0,1,all")
    assert "over whole conversations (dialogue_id)" in table.out
    assert [line.split()[0] for line in table.out.splitlines()[2:5]] == ["0", "1", "all"]
    assert len(prompts) == 15


def test_a_run_with_other_turns_is_another_run_and_one_that_stopped_goes_on_with_its_own(
    emotui: Emotui, tmp_path: Path, spec: str, talk: str, prompts: list[str]
) -> None:
    for way in ("yes-no", "zero-shot"):
        asked = ("run", "labels", "--model", spec, "--dataset", talk, "--labels", _labels(tmp_path), "--way", way)
        kept = {json.loads(emotui(*asked, "--before", n, "--json").out)["run"] for n in ("1", "2")}
        assert len(kept) == 2
        n = len(prompts)
        run = min(kept)
        resumed = emotui("run", "labels", "--resume", run, "--json")
        assert resumed.status == 0, resumed.err
        assert len(prompts) == n, "all of it was answered"


@pytest.mark.parametrize("apart", [True, False], ids=["in meta", "as columns"])
def test_predict_puts_turns_before_texts_of_a_file_and_of_its_shards(
    emotui: Emotui, tmp_path: Path, spec: str, apart: bool
) -> None:
    texts = [{"id": row["id"], "text": row["text"], "meta": row} if apart else row for row in rows()]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
    labels = _labels(tmp_path)
    asked = ("predict", "labels", "--model", spec, "--records", "texts.jsonl", "--labels", labels)
    asked = (*asked, "--way", "zero-shot")
    for shard, to in (((), "all.jsonl"), (("--shard", "1/2"), "1.jsonl"), (("--shard", "2/2"), "2.jsonl")):
        done = emotui(*asked, "--before", "all", "--to", to, *shard)
        assert done.status == 0, done.err
    whole = (tmp_path / "all.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["labels"] for line in whole.splitlines()] == [[], ["joy"], ["joy"], [], []]
    parts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("1.jsonl", "2.jsonl")]
    assert "".join(parts) == whole


def test_a_prompt_of_ones_own_says_where_the_turns_stand(
    emotui: Emotui, tmp_path: Path, spec: str, talk: str, prompts: list[str]
) -> None:
    own = tmp_path / "own.toml"
    asked = ("run", "labels", "--model", spec, "--dataset", talk, "--labels", _labels(tmp_path), "--way", "zero-shot")
    own.write_text('[zero-shot]\nuser = "Text: {text} of {labels}"\n', encoding="utf-8")
    refused = emotui(*asked, "--prompts", "own.toml", "--before", "2")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "has no {before}" in refused.err
    own.write_text('[zero-shot]\nuser = "Said: {before}. Text: {text} of {labels}"\n', encoding="utf-8")
    refused = emotui(*asked, "--prompts", "own.toml")
    assert refused.status == 2
    assert "say how many turns by --before" in refused.err
    assert emotui(*asked, "--prompts", "own.toml", "--before", "0").status == 0
    assert all(prompt.startswith(f"Said: {NO_TURNS}. Text:") for prompt in prompts)


@pytest.mark.parametrize(
    ("task", "more", "why"),
    [
        ("labels", ("--before", "x"), "'x' is no number of turns"),
        ("labels", ("--before", "1,1001"), "'1001' is no number of turns"),
        ("labels", ("--model", "embedded", "--before", "1"), "--before is not for"),
        ("scenes", ("--model", "embedded", "--before", "1"), "no setting 'before'"),
    ],
)
def test_what_cannot_have_turns_is_refused_in_a_line(
    emotui: Emotui, talk: str, task: str, more: tuple[str, ...], why: str
) -> None:
    refused = emotui("run", task, "--dataset", talk, *more)
    assert refused.status == 2
    assert why in refused.err


def test_texts_of_no_conversation_are_refused_in_a_line(emotui: Emotui, tmp_path: Path, spec: str) -> None:
    (tmp_path / "bare.jsonl").write_text('{"id": "1", "text": "I danced.", "labels": ["joy"]}\n', encoding="utf-8")
    refused = emotui("run", "labels", "--model", spec, "--dataset", "bare.jsonl", "--way", "zero-shot", "--before", "1")
    assert refused.status == 2
    assert "no text says which conversation it is from" in refused.err
