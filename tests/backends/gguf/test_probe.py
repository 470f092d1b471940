"""`probe_build` says which llama.cpp is installed and whether it runs, and survives one that crashes."""

from pathlib import Path

import pytest

from emotui.backends.gguf import probe
from emotui.backends.gguf.header import read_header
from tests.backends.gguf.probe_model import write_probe_model
from tests.paths import CHECKOUT


def test_the_model_that_builds_are_tried_on_is_a_whole_quantised_gguf(tmp_path: Path) -> None:
    path = CHECKOUT / "backends" / "gguf" / "probe.gguf"
    write_probe_model(tmp_path / "again.gguf")
    assert (tmp_path / "again.gguf").read_bytes() == path.read_bytes()
    header = read_header(path)
    assert header.architecture == "llama"
    assert 0 <= path.stat().st_size - header.size < 32


def test_where_it_is_not_installed_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "package_version", lambda: "")
    works, said = probe.probe_build()
    assert not works
    assert said.startswith("llama-cpp-python is not installed: ")
    assert "pip install 'llama-cpp-python>=" in said


def crashing(condition: str) -> str:
    """A trial that dies as a build with broken kernels does."""
    return (
        "import os, signal\n"
        "extra = {extra!r}\n"
        f"if {condition}: os.kill(os.getpid(), signal.SIGSEGV)\n"
        "print('CPU build [CPU : AMX_INT8]')\n"
        "{path!r}, {model!r}\n"
    )


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "package_version", lambda: "0.3.36")


@pytest.mark.usefixtures("installed")
def test_a_build_that_crashes_with_repacked_weights_only_is_told_with_both_remedies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "_TRIAL", crashing("extra"))
    works, said = probe.probe_build()
    assert not works
    assert "a quantised decode dies of SIGSEGV with repacked weights" in said
    assert "gguf: models run without them" in said
    assert "GGML_NATIVE=OFF" in said
    assert probe.crashes_with_extra_buffers()


@pytest.mark.usefixtures("installed")
def test_a_build_that_always_crashes_is_told_to_be_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_TRIAL", crashing("True"))
    works, said = probe.probe_build()
    assert not works
    assert "a quantised decode dies of SIGSEGV; build it again with GGML_NATIVE=OFF" in said


@pytest.mark.usefixtures("installed")
def test_a_build_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_TRIAL", "import time\n{path!r}, {model!r}, {extra!r}\ntime.sleep(60)\n")
    monkeypatch.setattr(probe, "_LIMIT", 1.0)
    assert probe.try_decode(extra_buffers=True).ended == "hangs for 1 s"


@pytest.mark.usefixtures("installed")
def test_a_trial_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        probe, "_TRIAL", "{path!r}, {model!r}, {extra!r}\nraise SystemExit('its logits are no numbers')\n"
    )
    trial = probe.try_decode(extra_buffers=False)
    assert (trial.ended, trial.said) == ("ends with status 1", "its logits are no numbers")


def test_the_installed_build_is_tried_for_real() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
    trial = probe.try_decode(extra_buffers=False)
    assert trial.ended == ""
    assert trial.said.split(" build")[0] in ("CPU", "GPU")
    works, said = probe.probe_build()
    assert said.startswith("llama-cpp-python ")
    assert works == ("a quantised decode works" in said)
    assert works == (not probe.crashes_with_extra_buffers())
