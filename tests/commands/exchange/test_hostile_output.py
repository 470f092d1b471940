"""Text of data reaches a terminal with nothing in it that the terminal would act on."""

import ast
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.commands.output import say
from emotui.formats import to_json_document
from tests.paths import CHECKOUT

HOSTILE = "a\x1b]52;c;ZXZpbA==\x07b\x9b31mc\u202ed\u2066e\x1b[2Jf"
PRINTING = {"print", "echo", "secho", "confirm", "prompt", "echo_via_pager", "Console"}
"""What prints: done in `commands.output` alone, which every other module of commands goes through."""


def _acted_on(text: str) -> list[str]:
    return [sign for sign in text if not sign.isprintable() and sign not in "\n\t"]


def test_no_command_prints_around_the_one_place() -> None:
    commands = CHECKOUT / "emotui" / "commands"
    around = [
        f"{file.relative_to(commands)}:{node.lineno}"
        for file in commands.rglob("*.py")
        if file != commands / "output.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and _prints(node.func)
    ]
    assert around == []


def _prints(called: ast.expr) -> bool:
    said = ast.unparse(called)
    written = said.startswith(("sys.stdout.", "sys.stderr.")) and "write" in said
    return written or said.removeprefix("click.") in PRINTING


def test_what_is_said_is_escaped_but_for_lines_and_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{HOSTILE}\n\t{HOSTILE}")
    said = capsys.readouterr().out
    assert said.count("\n") == 2
    assert "\n\ta\\x1b]52" in said
    assert _acted_on(said) == []


def test_json_says_the_same_with_controls_escaped() -> None:
    document = to_json_document({HOSTILE: [HOSTILE]})
    assert _acted_on(document) == []
    assert "\\u009b31m" in document
    assert json.loads(document) == {HOSTILE: [HOSTILE]}


@given(st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp"]) | st.sampled_from("a é日😀\u3000"), max_size=8))
def test_json_says_what_nobody_would_see_by_its_number(text: str) -> None:
    document = to_json_document({"text": text})
    assert json.loads(document) == {"text": text}
    assert not [sign for sign in document if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp")]


def test_a_space_without_width_is_escaped_in_json_and_words_are_not() -> None:
    assert to_json_document("so\u200bgut 日本\u3000語 é 😀") == '"so\\u200bgut 日本\u3000語 é 😀"'
