"""What holds for the repository as a whole: sizes of folders, names, and what stands in more than one file."""

import ast
import re
import sys
from collections import Counter
from importlib.metadata import packages_distributions
from pathlib import Path

import yaml

import emotui
from tests.paths import CHECKOUT

CODE = ("emotui", "backends", "screens", "themes", "sample_data", "benchmarks", "metrics", "tests", "tools")
MOST = 20
FLAT = {"metrics", "tests/metrics"}
"""Folders that may hold more: the files of the first are a public list of paths, and the second mirrors it."""

MODULES = 658
"""As many as the package may have, `metrics` and all. It only goes down: a new idea that is small joins another."""

WINGS = {"scenes", "rephrase", "generation", "masked"}
"""Folders of what only one task does, which may import it."""


def _sources(*folders: str) -> list[Path]:
    found = (file for folder in folders for file in (CHECKOUT / folder).rglob("*.py"))
    return [file.relative_to(CHECKOUT) for file in found if "__pycache__" not in file.parts]


def test_no_folder_of_code_has_more_than_twenty_files() -> None:
    sizes = Counter(file.parent.as_posix() for file in _sources(*CODE))
    assert {folder: size for folder, size in sizes.items() if size > MOST and folder not in FLAT} == {}


def test_the_package_has_no_more_modules_than_it_had() -> None:
    there = len(_sources("emotui", "backends", "screens", "themes", "sample_data", "metrics"))
    assert there <= MODULES, "make a small module part of the one that uses it"


def test_the_store_is_its_parts_and_forwards_nothing() -> None:
    tree = ast.parse((CHECKOUT / "emotui" / "store" / "store.py").read_text(encoding="utf-8"))
    (store,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    methods = {node.name for node in store.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    assert methods == {"open", "leave_no_empty", "waiting", "together", "alone", "look_through", "listing", "marker"}


def _names_a_task(file: Path) -> bool:
    own = {folder.parent.name for folder in (CHECKOUT / "emotui" / "tasks").glob("*/task.py")}
    tree = ast.parse((CHECKOUT / file).read_text(encoding="utf-8"))
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)):
        room, inside = (node.module or "").split(".")[:2], (node.module or "").split(".")[2:3]
        if room == ["emotui", "tasks"] and {*(inside or [alias.name for alias in node.names])} & own:
            return True
    return False


def test_what_is_general_asks_a_task_and_imports_none() -> None:
    above = _sources("emotui/workbench", "emotui/commands", "screens")
    found = [file.as_posix() for file in above if not WINGS & set(file.parts) and _names_a_task(file)]
    assert found == [], "let the task say it (emotui/tasks/task.py, parts.py), or put it into the task's folder"


def test_right_and_wrong_have_one_sign_each_and_one_module_has_them() -> None:
    # What signs mean stands beside them in words: an entry's legend, the glossary.
    tells = {"entry.py", "glossary.py", "number_format.py"}
    texts = {file: (CHECKOUT / file).read_text(encoding="utf-8") for file in _sources("screens")}
    assert [file for file, text in texts.items() if file.name not in tells and re.search("[✓✗✔✘]", text)] == []


def test_what_is_promised_of_security_is_checked_by_tests_that_are_there() -> None:
    text = (CHECKOUT / "docs" / "security.md").read_text(encoding="utf-8")
    named = [path for call in re.findall("`pytest ([^`]+)`", text) for path in call.split()]
    assert named
    assert [path for path in named if not (CHECKOUT / path).is_file()] == []


def test_no_benchmark_has_the_name_of_another_module() -> None:
    # Python looks beside a script first, so that every script there would import it in place of the real one.
    others = {*sys.stdlib_module_names, *packages_distributions()}
    assert [file.name for file in _sources("benchmarks") if file.stem in others] == []


def test_the_citation_is_of_this_version_and_names_the_five_papers() -> None:
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert str(citation["version"]) == emotui.__version__
    assert {"message", "title", "authors", "license"} <= set(citation)
    assert len(citation["references"]) == 5
    for paper in citation["references"]:
        assert paper["title"]
        assert paper["type"]
        assert all("name" in author or {"given-names", "family-names"} <= set(author) for author in paper["authors"])
