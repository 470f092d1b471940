"""`--db`, `--read-only` and `--annotator` before a command, after it, and where they make no sense."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from emotui.commands import cli
from emotui.commands.options import TaskName
from emotui.errors import BadInput
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.paths import CHECKOUT

REPHRASINGS = CHECKOUT / "sample_data" / "rephrasings.jsonl"
VALUES = {"db": ("--db", "here.duckdb"), "read_only": ("--read-only",), "annotator": ("--annotator", "Ada")}


def _leaves(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _leaves(command, (*words, name))
        else:
            yield (*words, name), command


LEAVES = dict(_leaves(cli))
EVERY = pytest.mark.parametrize("words", LEAVES, ids=" ".join)


def _required(command: click.Command) -> list[str]:
    """Arguments and options that the command cannot do without, each with some value."""
    given: list[str] = []
    for param in command.params:
        if param.required:
            value = "spans" if param.name in ("task", "kind", "format_name") else "some"
            if isinstance(param, click.Option) and isinstance(param.type, click.FloatRange | click.IntRange | TaskName):
                given += [param.opts[0], "labels" if isinstance(param.type, TaskName) else "1000"]
                continue
            given += [value] if isinstance(param, click.Argument) else [param.opts[0], f"{value} {param.name}"]
    return given


def _call(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], arguments: list[str]) -> dict[str, Any] | Result:
    """What the command was called with, or how the line was refused before it was called."""
    seen: list[dict[str, Any]] = []

    def invoke(command: click.Command, ctx: click.Context) -> None:
        if not isinstance(command, click.Group):
            assert ctx.command_path == f"cli {' '.join(words)}"
            seen.append(ctx.params)

    monkeypatch.setattr(click.Command, "invoke", invoke)
    done = CliRunner().invoke(cli, arguments)
    return seen[0] if seen else done


def _taken(command: click.Command) -> set[str]:
    return {str(param.name) for param in command.params if not getattr(param, "hidden", False)} & set(VALUES)


@EVERY
@pytest.mark.parametrize("name", VALUES)
def test_an_option_of_the_program_means_the_same_wherever_it_stands_or_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], name: str
) -> None:
    command, option = LEAVES[words], list(VALUES[name])
    rest = _required(command)
    between = [words[0], *option, *words[1:], *rest]
    lines = [[*option, *words, *rest], [*words, *option, *rest], [*words, *rest, *option], between]
    for line in lines:
        got = _call(monkeypatch, words, line)
        if name in _taken(command):
            assert isinstance(got, dict), got
            assert got[name] == (VALUES[name][1] if len(option) > 1 else True)
        else:
            assert isinstance(got, Result)
            assert isinstance(got.exception, BadInput)  # which `emotui` ends with status 2
            (said,) = got.exception.problems
            assert option[0] in said
            assert "\n" not in said


@EVERY
def test_nothing_given_leaves_the_defaults(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    got = _call(monkeypatch, words, [*words, *_required(LEAVES[words])])
    assert isinstance(got, dict), got
    defaults = {"db": None, "read_only": False, "annotator": "imported" if words == ("rephrasings", "import") else None}
    assert {name: got[name] for name in _taken(LEAVES[words])} == {
        name: defaults[name] for name in _taken(LEAVES[words])
    }


@pytest.mark.parametrize("words", [words for words in LEAVES if "db" in _taken(LEAVES[words])], ids=" ".join)
def test_two_different_values_are_refused_and_the_same_one_twice_is_not(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    rest = _required(LEAVES[words])
    got = _call(monkeypatch, words, ["--db", "a.duckdb", *words, *rest, "--db", "b.duckdb"])
    assert isinstance(got, Result)
    assert str(got.exception) == "--db is given twice, as a.duckdb and as b.duckdb: give it once"
    same = _call(monkeypatch, words, ["--db", "a.duckdb", *words, *rest, "--db", "a.duckdb"])
    assert isinstance(same, dict)
    assert same["db"] == "a.duckdb"


def test_a_command_that_takes_a_store_takes_one_from_every_place_of_the_line() -> None:
    assert {" ".join(words) for words, command in LEAVES.items() if "db" in _taken(command)} >= {
        "doctor", "export", "import", "models", "rephrasings import", "report", "rescore", "results", "run", "runs",
        "serve",
    }  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A workspace with chains, beside a folder of defaults that must stay empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    path = str(tmp_path / "w.duckdb")
    done = CliRunner().invoke(cli, ["--db", path, "rephrasings", "import", str(REPHRASINGS), "--name", "mine"])
    assert done.exit_code == 0, done.output
    return path


@pytest.mark.parametrize(
    "line",
    [
        ["runs", "--json"],
        ["rephrasings", "variants", "--dataset", "mine", "--json"],
        ["rephrasings", "agreement", "--dataset", "mine", "--json"],
        ["rephrasings", "prompt"],
    ],
    ids=lambda line: " ".join(line[:2]),
)
def test_a_store_named_before_the_command_is_the_one_that_is_opened(
    store: str, tmp_path: Path, line: list[str]
) -> None:
    before = CliRunner().invoke(cli, ["--db", store, "--read-only", *line])
    after = CliRunner().invoke(cli, [*line, "--read-only", "--db", store])
    assert before.exit_code == after.exit_code == 0
    assert before.output == after.output
    assert not (tmp_path / "home").exists()


def test_a_run_goes_into_the_store_named_before_the_command(store: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["--db", store, "run", "spans", "--dataset", "nothing there"])
    assert isinstance(done.exception, BadInput)
    assert "no such file, and no dataset of this name" in str(done.exception)
    assert Workspace.look_into(store).store.datasets.get("mine") is not None
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "line",
    [
        ["models", "--folder", ".", "--keep"],
        ["rephrasings", "prompt", "--own"],
        ["rephrasings", "variants", "BT-1=back.jsonl", "--dataset", "mine"],
        ["rephrasings", "variants", "--remove", "BT-1", "--dataset", "mine"],
    ],
    ids=" ".join,
)
def test_what_would_write_says_so_where_the_workspace_is_opened_to_read_only(store: str, line: list[str]) -> None:
    done = CliRunner().invoke(cli, ["--read-only", "--db", store, *line])
    assert isinstance(done.exception, BadInput)
    assert str(done.exception).endswith("writes into the workspace: leave --read-only out")


def test_a_data_set_that_stands_where_an_option_names_it_is_told_that(emotui: Emotui) -> None:
    refused = emotui("agreement", "mine")
    assert refused.status == 2
    assert "Got unexpected extra argument (mine): a data set is named by --dataset mine" in refused.err
    assert "--dataset" not in emotui("turns", "one", "two").err
