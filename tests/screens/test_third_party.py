"""A package with a task and a metric, installed by pip: on the command line, in the list, the sample and Results."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from emotui.tasks import added_metrics, registry
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.screens.driving import frame, listed, opened, press, screen_text

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "emotui-felt"
version = "1.0"

[project.entry-points."emotui.tasks"]
felt = "emotui_felt:Felt"

[project.entry-points."emotui.metrics"]
words = "emotui_felt:Words"

[tool.setuptools]
py-modules = ["emotui_felt"]
"""
METRIC = '''

class Words:
    """How many words the text has, where a feeling is shown."""

    task = "felt"
    range = (0, None)
    higher_is_better = False
    help = "words of a text with a feeling"
    heading = "words"

    def value(self, sample, prediction):
        return len(sample.text.split()) if prediction.felt else None
'''
TEXTS = [
    {"id": "glad", "text": "I am so happy, thank you!", "felt": 1},
    {"id": "train", "text": "The train leaves at noon.", "felt": 0},
    {"id": "wrong", "text": "I love you, I love you, I love you so much!", "felt": 0},
]
"""The embedded model says yes, no, yes: the last answer is wrong."""


def package(folder: Path) -> Path:
    """The template of docs/new_task.md and a metric, as a project that pip installs."""
    (code,) = re.findall(r"^```python\n(.*?)^```", (CHECKOUT / "docs" / "new_task.md").read_text(), re.M | re.S)
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "emotui_felt.py").write_text(code + METRIC)
    return folder


def forget() -> None:
    """Look anew for what other packages add."""
    sys.modules.pop("emotui_felt", None)
    registry.forget()
    added_metrics._all.cache_clear()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has put the package."""
    folder = tmp_path_factory.mktemp("package")
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target", folder / "site")
    subprocess.run([sys.executable, *pip, package(folder / "project")], check=True, capture_output=True)
    return folder / "site"


@pytest.fixture
def _installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(added_metrics, "_troubles", {})
    forget()
    yield
    forget()


@pytest.fixture
def workspace(emotui: Emotui, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with passages of spans, and with texts of the other package's task and a run over them."""
    (tmp_path / "texts.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, TEXTS)))
    (tmp_path / "marked.jsonl").write_text('{"id": "m", "text": "I was happy.", "spans": [[6, 11]]}')
    for kind, file in (("spans", "marked.jsonl"), ("felt", "texts.jsonl")):
        assert emotui("import", kind, file, "--db", "w.duckdb").status == 0
    assert emotui("run", "felt", "--dataset", "texts", "--db", "w.duckdb").status == 0
    opened = Workspace.open(tmp_path / "w.duckdb")
    opened.set_setting(FIRST_START, "done")
    yield opened
    opened.close()


@pytest.mark.usefixtures("_installed")
def test_a_package_that_pip_installs_adds_its_task_and_its_metric_to_the_command_line(
    emotui: Emotui, workspace: Workspace
) -> None:
    workspace.close()
    said = emotui("predict", "felt", "--records", "texts.jsonl", "--to", "said.jsonl", "--json").document
    assert (said["kind"], said["n"]) == ("felt", 3)
    scored = emotui("score", "felt", "--gold", "texts.jsonl", "--pred", "said.jsonl", "--json").document
    assert scored == {"n": 3, "unlabelled": 0, "accuracy": 2 / 3, "words": 8.5}
    (table,) = emotui("results", "--dataset", "texts", "--db", "w.duckdb", "--json").document["tables"]
    cells = {name: cell["value"] for name, cell in table["rows"][0]["cells"].items()}
    assert cells == {"n": 3, "accuracy": 2 / 3, "words": 8.5}


@pytest.mark.usefixtures("_installed")
async def test_its_samples_and_its_metric_are_in_the_list_the_sample_and_the_results(workspace: Workspace) -> None:
    async with opened(workspace) as pilot:
        await press(pilot, "d", "j", "enter")
        assert listed(pilot) == ["glad", "train", "wrong"]
        await press(pilot, "percent_sign", "j", "enter", "G")
        text = screen_text(pilot)
        assert re.search(r"id +words", text)
        assert re.search(r"▸ wrong +11 +X +no", text)
        assert re.search(r"wrong +run embedded +right ✗ +words 11", text)
        assert "0 right   0 missed   1 extra" in text
        assert re.search(r"X felt +given", text)
        await press(pilot, "s", "j", "j", "j", "enter")
        assert listed(pilot) == ["wrong", "glad", "train"], "the worst first: the metric says that fewer are better"
        await press(pilot, "s", "space", "enter")
        assert listed(pilot)[:2] == ["glad", "wrong"]
        await press(pilot, "7", "V", "V")
        text = screen_text(pilot)
        assert "Texts with a feeling" in text
        assert re.search(r"Texts +Accuracy +Words", text)
        assert re.search(r"embedded +▸ *3 +\.667 +8\.500", text)
        assert frame(pilot).can("export")
        await press(pilot, "q")
