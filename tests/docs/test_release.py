"""What is published: the workflows hold by two linters, the changelog and the citation by their forms."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.paths import CHECKOUT

HOST = CHECKOUT / ".github"
CHANGELOG = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
SCHEMAS = {
    "vendor.github-workflows": sorted(HOST.glob("workflows/*.yml")),
    "vendor.github-issue-forms": sorted(path for path in HOST.glob("ISSUE_TEMPLATE/*.yml") if path.stem != "config"),
    "vendor.github-issue-config": [HOST / "ISSUE_TEMPLATE" / "config.yml"],
    "vendor.citation-file-format": [CHECKOUT / "CITATION.cff"],
}


@pytest.mark.skipif(find_spec("check_jsonschema") is None, reason="check-jsonschema is not installed")
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_for_a_public_host_have_the_form_that_it_reads(schema: str) -> None:
    files = [str(path) for path in SCHEMAS[schema]]
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


ZIZMOR = shutil.which("zizmor", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.skipif(ZIZMOR is None, reason="zizmor is not installed")
def test_workflows_have_no_more_rights_than_they_need() -> None:
    options = ["--offline", "-q", "--config", str(HOST / "zizmor.yml")]
    assert ZIZMOR is not None
    command = [ZIZMOR, *options, str(HOST / "workflows")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_release_tries_the_wheel_everywhere_and_publishes_without_a_token() -> None:
    text = (HOST / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    classifiers = re.findall(r"Python :: (3\.\d+)", (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    for job in ("try", "suite"):
        matrix = jobs[job]["strategy"]["matrix"]
        assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
        assert matrix["python"] == classifiers
    assert jobs["publish"]["needs"] == ["try", "suite"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text


def test_the_suite_of_a_release_imports_the_wheel_alone_and_its_folders_are_there() -> None:
    steps = yaml.safe_load((HOST / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]["suite"]["steps"]
    lines = [step.get("run", "") for step in steps]
    away = next(number for number, line in enumerate(lines) if line.startswith("rm -r emotui"))
    suites = [number for number, line in enumerate(lines) if "-m pytest" in line]
    assert len(suites) == 2
    assert min(suites) > away
    folders = {word for number in suites for word in lines[number].split() if word.startswith("tests/")}
    assert [folder for folder in sorted(folders) if not (CHECKOUT / folder).is_dir()] == []
    assert {"tests/metrics", "tests/formats", "tests/store", "tests/workbench", "tests/commands"} <= folders


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    versions = re.findall(r"^## (.+)$", CHANGELOG, re.M)
    form = re.compile(r"\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d")
    assert versions
    assert [version for version in versions if not form.fullmatch(version)] == []
    kinds = re.findall(r"^### (.+)$", CHANGELOG, re.M)
    assert kinds
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
