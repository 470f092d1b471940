"""README and docs: every link leads somewhere, every command in them exists with its options, and no page is lost."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import takewhile
from pathlib import Path

import click
import pytest

from emotui.commands import COMMANDS, cli
from tests.paths import CHECKOUT

DOCS = CHECKOUT / "docs"
PAGES = sorted(
    [*DOCS.rglob("*.md"), *CHECKOUT.glob("*.md"), *(CHECKOUT / "sample_data").glob("*.md"), DOCS / "llms.txt"]
)
_LINK = re.compile(r"!?\[[^\]\[]*(?:\[[^\]]*\][^\]\[]*)*\]\(([^()\s]+)\)")
_BLOCK = re.compile(r"^(`{3,})[^\n]*\n(.*?)^\1\s*$", re.M | re.S)
_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\n)+", re.M)
_SPAN = re.compile(r"(?<!`)`(emotui [^`]+)`(?!`)")
_BLANKS = re.compile(r"\.\.\.|…|[\[\]|]")
"""What a line has that stands for something else: such a line is no command as it stands."""


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What `#...` may name in a page: its headings, as GitHub and MkDocs make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        found |= {slug, re.sub("-+", "-", slug)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_leads_to_a_file_and_a_heading_of_it(page: Path) -> None:
    lost = []
    for target in _LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (heading and there.suffix == ".md" and heading not in anchors(there)):
            lost.append(target)
    assert lost == []


def commands(page: Path) -> Iterator[str]:
    """Each line of a page that calls emotui, without its comment; lines that go on are one."""
    text = page.read_text(encoding="utf-8")
    blocks = [block for _, block in _BLOCK.findall(text)] + _INDENTED.findall(_BLOCK.sub("", text))
    for block in blocks:
        for line in re.sub(r" *\\\n\s*", " ", block).splitlines():
            for part in re.split(r"\s*(?:;|&&|\|\s)\s*", re.sub(r"\s+#.*$", "", line.strip().removeprefix("$ "))):
                if part.startswith("emotui "):
                    yield part
    yield from _SPAN.findall(text)


def fault(line: str) -> str:
    """What is wrong with a command; empty: nothing."""
    try:
        words = shlex.split(_BLANKS.sub(" ", line))[1:]
    except ValueError:
        return ""
    command: click.Command = cli
    context = click.Context(cli, info_name="emotui")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        both = " ".join(words[:2])
        name = both if command is cli and both in COMMANDS else words[0]
        inner = command.get_command(context, name)
        if inner is None:
            # In capitals stands what one puts there oneself; `felt` is the task that docs/new_task.md writes.
            return f"emotui has no {name!r}: {line}" if name.islower() and name != "felt" else ""
        command, words = inner, words[len(name.split()) :]
        context = click.Context(command, parent=context)
    options = {name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)}
    options |= {name for one in cli.get_params(context) for name in one.opts}
    # What follows `--` is passed on to another command.
    for word in takewhile(lambda word: word != "--", words):
        if (named := re.match(r"--[a-z][a-z0-9-]*", word)) and named[0] not in options:
            return f"{named[0]} is no option: {line}"
    return ""


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: str(page.relative_to(CHECKOUT))
)
def test_every_command_exists_with_its_options(page: Path) -> None:
    assert [why for line in commands(page) if (why := fault(line))] == []


def test_lines_of_code_are_found_and_what_does_not_exist_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```\n$ emotui run spans --nowhere  # no\nemotui fly; emotui runs\n```\n\n    emotui sql \\\n      --no\n"
    )
    assert [fault(line) for line in commands(page)] == [
        "--nowhere is no option: emotui run spans --nowhere",
        "emotui has no 'fly': emotui fly",
        "",
        "--no is no option: emotui sql --no",
    ]


def test_every_page_is_in_the_navigation_and_in_llms_txt() -> None:
    listed = set(re.findall(r"[\w/]+\.md", (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8").split("nav:")[1]))
    there = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {
        f"papers/{one}/README.md" for one in ("labels", "spans")
    }
    assert listed == there
    told = set(_LINK.findall((DOCS / "llms.txt").read_text(encoding="utf-8")))
    assert told == {page for page in there if not page.startswith("papers/")}


def test_the_figures_stand_as_metrics_declare_them() -> None:
    spec = spec_from_file_location("figures", DOCS / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    figures = module_from_spec(spec)
    spec.loader.exec_module(figures)
    page = figures.PAGE.read_text(encoding="utf-8")
    assert figures.written(page) == page, "python docs/figures.py"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("material") is None, reason='pip install -e ".[docs]"')
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-P", "-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path / "site"]
    done = subprocess.run(
        build, cwd=CHECKOUT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    for page in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=.https?://", page.read_text(encoding="utf-8")), (
            page
        )
