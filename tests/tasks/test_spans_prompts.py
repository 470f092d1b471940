"""The prompts of the spans task: this project's own, and a user's file."""

from pathlib import Path

import pytest

from emotui.backends.base import Message
from emotui.errors import BadInput
from emotui.metrics.span_output import STYLES
from emotui.tasks.prompting.files import Prompt
from emotui.tasks.spans.prompts import (
    ALL_WAYS,
    EXPERIMENT_WAYS,
    PROMPTS,
    WAYS,
    messages,
    read_prompts,
    style_of,
    way_of,
)


def test_every_way_has_a_prompt_with_the_contract_of_its_style() -> None:
    for way in WAYS:
        prompt = PROMPTS[way]
        assert prompt.user.count("{text}") == 1
        assert ("**" in prompt.system + prompt.user) == way.startswith("highlight")
        assert ('" | "' in prompt.system) == way.startswith("retrieve")
        assert ("Reasoning:" in prompt.user and "Response:" in prompt.user) == way.endswith("-cot")


def test_every_way_has_a_prompt_of_this_projects_own() -> None:
    assert tuple(PROMPTS) == ALL_WAYS
    for way in ALL_WAYS:
        assert style_of(way)[0] in STYLES
        assert way_of(*style_of(way), int(way[11]) if way in EXPERIMENT_WAYS else None) == way


def test_an_experiment_has_only_the_ways_that_the_paper_gives_it() -> None:
    assert (way_of("highlight", True, 3), way_of("highlight", False, 2)) == ("highlight-cot", "experiment-2-highlight")
    for style, cot, number in (("highlight", False, 0), ("retrieve", True, 0), ("retrieve", True, 1)):
        with pytest.raises(BadInput, match=f"experiment {number} is not asked by {style}"):
            way_of(style, cot, number)


@pytest.mark.parametrize("text", ["{text} {0} $1 \\1", "a\n\nb", "{user}", "{target} {options}"])
def test_the_text_is_put_in_as_it_is(text: str) -> None:
    assert messages(Prompt("Look: {text}."), {"text": text}) == (Message("user", f"Look: {text}."),)
    assert messages(Prompt("{text}", "Be exact {text"), {"text": text})[0] == Message("system", "Be exact {text")


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
        ("[experiment-1-retrieve]\nuser='{text}'", "experiment-1-retrieve.user: {target} should stand in it once"),
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
