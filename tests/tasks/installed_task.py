"""A package with a task, written to a folder as pip would have installed it."""

import sys
from pathlib import Path

import pytest

from emotui.tasks import registry


def install_task(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, code: str, value: str) -> None:
    """Until the test ends, a package `name` with this code adds the task `value` (`module:attribute`)."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code)
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[emotui.tasks]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(str(folder))
    sys.modules.pop(name, None)  # that of another test
    registry.forget()
