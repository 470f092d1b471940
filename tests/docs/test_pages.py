"""The pages: every link leads somewhere, every command is one that there is, and the five walks can be walked."""

import json
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import click
import pytest
import yaml

from emotui.commands import COMMANDS, cli
from tests.conftest import Emotui
from tests.paths import CHECKOUT

DOCS = CHECKOUT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [*PAGES, *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), DOCS / "llms.txt"]
WALKS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", (DOCS / "walks.md").read_text("utf-8"), re.M | re.S))
DATA = CHECKOUT / "sample_data"


def named(path: Path) -> str:
    """A page by its path in the checkout."""
    return path.relative_to(CHECKOUT).as_posix()


def without_code(text: str) -> str:
    """A page's prose: links in examples lead nowhere."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))


def anchors(page: Path) -> set[str]:
    """What may stand behind `#`: headings as the hosts of repositories, and the site, turn them into anchors."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", TEXTS, ids=named)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


def test_every_page_is_in_the_navigation_and_in_llms_txt() -> None:
    listed = set(re.findall(r"- ([\w/]+\.md)$", (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8"), re.M))
    for_models = set(re.findall(r"\]\(([\w/]+\.md)\)", (DOCS / "llms.txt").read_text(encoding="utf-8")))
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES}
    assert listed == pages
    assert for_models == pages


def commands(page: Path) -> list[str]:
    """The commands that a page shows, a line each: in blocks, and in the middle of prose."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^ *```(?:sh|console)?\n(.*?)^ *```", text, re.M | re.S)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    lines += [" ".join(code.split()) for code in re.findall(r"`(emotui [^`]+)`", prose)]
    return [part.strip() for line in lines for part in line.split("; ") if re.match(r"emotui [a-z]", part.strip())]


def words(line: str) -> list[str]:
    """What the shell would hand over; a comment and what a pipe or a redirection leads to are left out."""
    split = shlex.shlex(line.replace("…", "..."), posix=True, punctuation_chars="|>&")
    split.whitespace_split = True
    given: list[str] = []
    for word in split:
        if word and set(word) <= set("|>&"):
            break
        given.append(word)
    return given[1:]


def wrong(line: str) -> str | None:
    """Why a line is no command, or None. `...` and `[...]` stand for whatever a reader puts there."""
    try:
        args = words(line)
    except ValueError as error:
        return str(error)
    command: click.Command = cli
    context = click.Context(cli, info_name="emotui", resilient_parsing=True)
    while isinstance(command, click.Group) and args and not args[0].startswith("-"):
        if args[0].startswith((".", "[")) or args[0].isupper():
            return None
        pair = " ".join(args[:2])
        if command is cli and pair in COMMANDS:
            found, args = command.get_command(context, pair), args[2:]
        else:
            found, args = command.get_command(context, args[0]), args[1:]
        if found is None:
            return "no such command"
        command = found
        context = click.Context(command, parent=context, resilient_parsing=True)
    options = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}
    options |= dict.fromkeys(("-h", "--help", "--version"))
    if "--" in args:  # what follows goes on to another command
        args = args[: args.index("--")]
    for word, value in pairwise([*args, ""]):
        name, _, joined = word.partition("=")
        if not re.match(r"--[a-z]", word):
            continue
        if name not in options:
            return f"{name} is no option of it"
        option = options[name]
        if isinstance(option, click.Option) and isinstance(option.type, click.Choice):
            chosen = joined or value
            known = [str(choice) for choice in option.type.choices]
            if chosen not in known and not chosen.isupper() and not re.search(r"[.|\[]", chosen):
                return f"{name} takes no {chosen}"
    return None


@pytest.mark.parametrize("page", TEXTS[:-1], ids=named)
def test_every_command_and_every_option_is_one_that_there_is(page: Path) -> None:
    if page.name == "CHANGELOG.md":  # of former versions too
        return
    assert {line: why for line in commands(page) if (why := wrong(line)) is not None} == {}


def test_the_check_of_commands_sees_what_is_wrong() -> None:
    assert wrong("emotui run spans --model embedded") is None
    assert wrong("emotui bun spans") == "no such command"
    assert wrong("emotui run spans --modell embedded") == "--modell is no option of it"
    assert wrong("emotui run spans --style loud") == "--style takes no loud"
    assert wrong("emotui batch write spans --too x") == "--too is no option of it"


def walk_files(folder: Path) -> None:
    """The files that walks name, made of the sample data."""
    spans = [json.loads(line) for line in (DATA / "spans_sentences.jsonl").read_text("utf-8").splitlines()]
    for record in spans:
        people = record["annotators"]
        record["annotators"] = {"ann": people["A1"], "ben": people["A2"]}
    theirs = [{"id": record["id"], "spans": record["annotators"]["ben"]} for record in spans]
    for name, rows in (("mine.jsonl", spans), ("theirs.jsonl", theirs), ("predicted.jsonl", theirs)):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    scenes = (DATA / "scenes.jsonl").read_text("utf-8").splitlines(keepends=True)[:60]  # a model reads them all
    (folder / "scenarios.jsonl").write_text("".join(scenes), encoding="utf-8")
    chains = [json.loads(line) for line in (DATA / "rephrasings.jsonl").read_text("utf-8").splitlines()]
    originals = [{key: chain[key] for key in ("id", "text", "label")} for chain in chains]
    for name, rows in (("chains.jsonl", chains), ("originals.jsonl", originals)):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def test_there_are_five_walks() -> None:
    assert len(WALKS) == 5


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_can_be_walked_from_its_first_line_to_its_last(
    walk: str, emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RUN is the newest run; the workspace is a new one, the files are made of the sample data."""
    monkeypatch.chdir(tmp_path)
    walk_files(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```", WALKS[walk], re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines() if line]
    assert len(lines) >= 4
    run = ""
    for line in lines:
        args = [run if word == "RUN" else word for word in words(line)]
        database = [] if args[0] in ("decode", "score") or "--chains" in args else ["--db", "w.duckdb"]
        done = emotui(*args, *([] if "--again" in args else database))
        assert done.status == 0, f"{line}\n{done.err}"
        if args[0] == "run":
            run = json.loads(emotui("runs", "--json", "--db", "w.duckdb").out)[0]["run"]


def test_notebooks_do_what_their_cells_say(emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell of every notebook, one after the other, over a store with a run."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    walk_files(tmp_path)
    assert emotui("import", "spans", "mine.jsonl", "--name", "mine", "--db", "study.duckdb").status == 0
    assert emotui("run", "spans", "--dataset", "mine", "--limit", "40", "--db", "study.duckdb").status == 0
    notebooks = sorted(DOCS.glob("notebooks/*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        (tmp_path / "cells.py").write_text("\n".join(code), encoding="utf-8")
        done = subprocess.run([sys.executable, "cells.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{notebook.name}: {done.stderr}"
    assert (tmp_path / "f1.svg").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="the extra docs is not installed")
def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "--site-dir", str(site)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    pages = {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in PAGES}
    assert [page for page in pages if not (site / page).is_file()] == []
    fetched = re.compile(
        r"<(?:script|img|iframe)[^>]+src=\"?https?:|<link[^>]+rel=\"?(?:stylesheet|preconnect)[^>]+https?:"
    )
    assert [page for page in pages if fetched.search((site / page).read_text(encoding="utf-8"))] == []
    everything = (site / "commands.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"emotui {name}" not in everything] == []
    assert "Token overlap of two spans" in (site / "python.html").read_text(encoding="utf-8")
    assert "Rows under named columns" in (site / "python.html").read_text(encoding="utf-8")


def test_configuration_is_yaml_but_for_its_one_function() -> None:
    text = (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8")
    config = yaml.safe_load(re.sub(r"!!python/object/apply:\S+ \{[^}]*\{[^}]*\}\}", "null", text))
    assert config["strict"] is True
    assert config["theme"]["font"] is False
