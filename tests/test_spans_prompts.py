"""The prompts of the spans task: this project's own, and a user's file."""

from pathlib import Path

import pytest

from emotui.backends.base import Message
from emotui.errors import BadInput
from emotui.tasks.spans_prompts import PROMPTS, WAYS, Prompt, messages, read_prompts


def test_every_way_has_a_prompt_with_the_contract_of_its_style() -> None:
    assert tuple(PROMPTS) == WAYS
    for way, prompt in PROMPTS.items():
        assert prompt.user.count("{text}") == 1
        assert ("**" in prompt.system + prompt.user) == way.startswith("highlight")
        assert ('" | "' in prompt.system) == way.startswith("retrieve")
        assert ("Reasoning:" in prompt.user and "Response:" in prompt.user) == way.endswith("-cot")


@pytest.mark.parametrize("text", ["{text} {0} $1 \\1", "a\n\nb", "{user}"])
def test_the_text_is_put_in_as_it_is(text: str) -> None:
    assert messages(Prompt("Look: {text}."), text) == (Message("user", f"Look: {text}."),)
    assert messages(Prompt("{text}", "Be exact {text"), text)[0] == Message("system", "Be exact {text")


def written(folder: Path, content: str) -> str:
    path = folder / "p.toml"
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_a_file_keeps_every_sign_of_a_prompt(tmp_path: Path) -> None:
    """So it can carry a paper's exact words, with its line ends and blanks at their ends."""
    user = '*Begin*\n - a  \n\n"b" ‘**‘ {set} \\\nEnd*\n{text}'
    path = written(tmp_path, f"[highlight]\nsystem = '''\nRules \n1.'''\nuser = '''\n{user}'''\n")
    assert read_prompts(path) == {"highlight": Prompt(user, "Rules \n1.")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[retrieve]\nuser = {text}\n", "p.toml:2: this is no TOML:"),
        ("", "p.toml: there is no prompt in it; write a table for at least one of: retrieve, highlight"),
        ("[Retrieve]\nuser='{text}'", "p.toml: Retrieve: no setting has this name; there are: retrieve, highlight"),
        ("retrieve = 'x'", r"p.toml: retrieve: should be a table: \[retrieve\]"),
        ("[retrieve]\nsystem='x'", "p.toml: retrieve.user: is missing"),
        ("[retrieve]\nuser='x'", "p.toml: retrieve.user: {text} should stand in it once, .* it stands 0 times"),
        ("[retrieve]\nuser='{text}{text}'", "retrieve.user: .* it stands 2 times"),
        ("[retrieve]\nuser=3", "p.toml: retrieve.user: should be a string"),
        ("[retrieve]\nuser='{text}'\nsytem='x'", "p.toml: retrieve.sytem: no such key; there are: system, user"),
        ("[retrieve]\nuser='{text}'\nsystem='{text}'", "p.toml: retrieve.system: {text} belongs in user"),
    ],
)
def test_a_wrong_file_is_told_by_its_line_or_key(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_prompts(written(tmp_path, content))


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gone.toml: cannot be read"):
        read_prompts(str(tmp_path / "gone.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match=r"bytes.toml: cannot be read"):
        read_prompts(str(tmp_path / "bytes.toml"))
