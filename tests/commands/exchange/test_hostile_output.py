"""Text of data reaches a terminal with nothing in it that the terminal would act on."""

import ast
from pathlib import Path

import pytest

from emotui.commands.output import say
from emotui.formats import to_json_document
from tests.conftest import Emotui
from tests.paths import CHECKOUT

HOSTILE = "a\x1b]52;c;ZXZpbA==\x07b\x9b31mc\u202ed\u2066e\x1b[2Jf"
PRINTS = {"output.py", "__init__.py"}
"""Where commands print; all others go through `emotui.commands.output`."""


def _acted_on(text: str) -> list[str]:
    return [sign for sign in text if not sign.isprintable() and sign not in "\n\t"]


def test_no_command_prints_around_the_one_place() -> None:
    places = (CHECKOUT / "emotui" / "commands").rglob("*.py")
    around = [
        f"{file.name}:{node.lineno}"
        for file in places
        if not (file.name in PRINTS and file.parent.name == "commands")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("echo", "secho") and isinstance(node.value, ast.Name)
    ]
    assert around == []


def test_what_is_said_is_escaped_but_for_lines_and_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{HOSTILE}\n\t{HOSTILE}")
    said = capsys.readouterr().out
    assert said.count("\n") == 2
    assert "\n\ta\\x1b]52" in said
    assert _acted_on(said) == []


def test_json_says_the_same_with_controls_escaped() -> None:
    import json

    document = to_json_document({HOSTILE: [HOSTILE]})
    assert _acted_on(document) == []
    assert "\\u009b31m" in document
    assert json.loads(document) == {HOSTILE: [HOSTILE]}


def test_commands_over_hostile_names_and_labels_print_none_of_it(emotui: Emotui, tmp_path: Path) -> None:
    import json

    gold = {"id": HOSTILE, "text": f"I was {HOSTILE} glad.", "label": HOSTILE, "meta": {HOSTILE: HOSTILE}}
    (tmp_path / "in.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    assert emotui("import", "class", "in.jsonl", "--name", HOSTILE, "--db", "w.duckdb").status == 0
    for words in (
        ("datasets",),
        ("datasets", "--json"),
        ("runs", "--json"),
        ("sources", HOSTILE),
        ("rename", HOSTILE, f"{HOSTILE}2"),
        ("delete", f"{HOSTILE}2"),
        ("restore", f"{HOSTILE}2"),
        ("export", f"{HOSTILE}2", "--to", "out.jsonl"),
        ("export", HOSTILE, "--to", "out.jsonl"),
        ("sql", "select * from texts"),
        ("sql", "select * from texts", "--json"),
        ("results", "--dataset", HOSTILE),
        ("report", HOSTILE, "--to", "r.md"),
        ("rephrasings", "variants", "--dataset", f"{HOSTILE}2"),
        ("run", HOSTILE),
        ("import", f"{HOSTILE}.jsonl"),
    ):
        done = emotui(*words, "--db", "w.duckdb")
        assert _acted_on(done.out + done.err) == [], words
    for words in (
        ("score", "class", "--gold", "in.jsonl", "--pred", "in.jsonl"),
        ("predict", "class", "--records", "in.jsonl"),
        ("probe", HOSTILE, "--model", f"hf:{HOSTILE}"),
        ("models", "--folder", HOSTILE),
        ("lexical", "--records", f"{HOSTILE}.jsonl"),
    ):
        done = emotui(*words)
        assert _acted_on(done.out + done.err) == [], words
