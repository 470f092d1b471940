"""A run again: its command, and whether it says the same."""

import shlex
from pathlib import Path

import msgspec
import pytest

from emotui.store.query import Dataset, Run
from emotui.workbench.paper.recipe import command_of, kept_settings
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui

DATASET = Dataset(1, "my texts", "labels", 10, "f", "x")


def run(**config: object) -> Run:
    told = {"seed": 3, "repeats": 2, "way": "choose", "pid": 7, "host": "here"} | config
    return Run("r", "labels", "hf:/home/me/m $(x)", 1, "i", told, "done", "", None, 10, 10, 0, None)


def test_the_command_has_all_that_a_line_can_say() -> None:
    found = shlex.split(command_of(run(options={"temperature": 0.6, "constrain": True, "prompts": {}}), DATASET))
    assert found == [
        *("emotui", "run", "labels", "--model", "hf:/home/me/m $(x)", "--dataset", "my texts", "--limit", "5"),
        *("--repeats", "2", "--seed", "3", "--way", "choose", "--temperature", "0.6", "--constrain"),
    ]
    assert kept_settings({"temperature": 0.6, "constrain": True, "prompts": {}, "labels": []}) == [
        "--prompts FILE",
        "--labels FILE",
    ]


def test_a_command_for_others_names_no_folder() -> None:
    assert "/home" not in command_of(run(), DATASET, private=False)


@pytest.fixture
def made(emotui: Emotui) -> str:
    return str(emotui("run", "scenes", "--limit", 3, "--db", "w.duckdb", "--json").document["run"])


def test_a_run_of_a_model_without_chance_is_the_same_letter_by_letter(emotui: Emotui, made: str) -> None:
    told = emotui("reproduce", made, "--db", "w.duckdb")
    assert told.out.startswith("emotui run scenes --model embedded --dataset scenes")
    assert "--limit 3" in told.out
    done = emotui("reproduce", made, "--run", "--db", "w.duckdb", "--json")
    assert done.status == 0
    assert {name: done.document[name] for name in ("same_settings", "is_same", "same", "other")} == {
        "same_settings": True,
        "is_same": True,
        "same": 3,
        "other": [],
    }
    assert done.document["again"] == made[:-1] + "2"


def test_outputs_that_differ_are_named_and_cost_the_status(emotui: Emotui, made: str, tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "w.duckdb")
    first, second, third = last_attempts(workspace.store.results.of_run(made))
    changed = msgspec.structs.replace(first, raw=(first.raw or "") + " ", output=None)
    other = msgspec.structs.replace(second, raw="no", prediction=third.prediction, score=third.score, output=None)
    workspace.store.results.commit(made, [changed, other])
    ids = [row.id for row in workspace.page([first.sample, second.sample], None)]
    workspace.close()
    done = emotui("reproduce", made, "--run", "--db", "w.duckdb")
    assert done.status == 1
    assert done.out.splitlines()[1:] == [
        f"1 of 3 outputs are the same, letter by letter ({made[:-1]}2 is kept)",
        f"1 say the same in other words: {ids[0]}",
        f"1 say something else: {ids[1]}",
    ]


def test_what_no_model_said_is_not_run_again(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "g.jsonl").write_text('{"id": "1", "text": "I wept.", "label": "sad"}\n', encoding="utf-8")
    (tmp_path / "p.jsonl").write_text('{"id": "1", "label": "sad"}\n', encoding="utf-8")
    assert emotui("import", "class", "g.jsonl", "--name", "g", "--db", "w.duckdb").status == 0
    assert emotui("import", "predictions", "p.jsonl", "--dataset", "g", "--source", "s", "--db", "w.duckdb").status == 0
    done = emotui("reproduce", "s", "--db", "w.duckdb")
    assert (done.status, done.err) == (2, "s is what a file says: there is nothing to run again\n")
