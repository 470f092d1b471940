"""Texts with a label, spans, numbers and annotators side by side, and sources that answer a task each about them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emotui.workbench.workspace import FIRST_START, Workspace
from tests.conftest import Emotui
from tests.templates import copy_of

ROWS: Sequence[Mapping[str, Any]] = (
    {
        "id": "1",
        "text": "I was so happy that I danced.",
        "topic": "home",
        "label": "joy",
        "spans": [[2, 14]],
        "values": {"suddenness": 4, "effort": 1},
        "annotators": {
            "ann": {"spans": [[6, 14]], "label": "fear", "values": {"suddenness": 5}},
            "ben": {"label": "joy"},
        },
    },
    {"id": "2", "text": "The dog died.", "topic": "home", "label": "sadness", "spans": [], "values": {"effort": 2}},
    {"id": "3", "text": "It rains again.", "topic": "away"},
)
LABELS = ({"id": "1", "labels": ["fear"]}, {"id": "2", "labels": ["sadness"]}, {"id": "3", "labels": ["sadness"]})
NUMBERS = tuple({"id": row["id"], "values": {"suddenness": 3.5, "effort": -1}} for row in ROWS)
MARKS = tuple({"id": row["id"], "spans": [[0, 5]]} for row in ROWS)


def written(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The name of a file in a folder with these records, a line each."""
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def mixed_workspace(emotui: Emotui, folder: Path) -> Workspace:
    """A workspace with the dataset `mixed` and three files of predictions about it: labels, numbers and spans."""
    for name, rows in (("mixed", ROWS), ("marks", MARKS), ("numbers", NUMBERS), ("plain", LABELS)):
        written(folder, f"{name}.jsonl", rows)

    def make(path: Path) -> None:
        assert emotui("import", "mixed.jsonl", "--db", path).status == 0
        for name in ("marks", "numbers", "plain"):
            into = ("--dataset", "mixed", "--source", name, "--no-sim", "--db", path)
            done = emotui("import", "predictions", f"{name}.jsonl", *into)
            assert done.status == 0, done.err
        Workspace.open(path).set_setting(FIRST_START, "done")

    copy_of(folder / "mixed.duckdb", "mixed corpus", make)
    return Workspace.open(folder / "mixed.duckdb")
