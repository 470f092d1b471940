"""Broken packages that add something cost a line each, and none of their code is run to tell so."""

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui import plugins
from emotui.backends.spec import loader
from emotui.errors import ModelError
from emotui.plugins import entry_points_of, problem_of
from emotui.tasks import added_metrics, registry
from emotui.workbench.models import doctor
from tests.conftest import Emotui

LISTS = {
    "notutf8": b"[emotui.backends]\nbad = x\xff:load\n",
    "nolist": b"emotui.backends = \x00[[[\n",
    "raises": b"[emotui.backends]\nraises = emotui_raises:load\n[emotui.tasks]\nraises = emotui_raises:task\n"
    b"[emotui.metrics]\nraises = emotui_raises:metric\n",
    "leaves": b"[emotui.tasks]\nleaves = emotui_leaves:task\n[emotui.metrics]\nleaves = emotui_leaves:m\n",
    "absent": b"[emotui.backends]\nabsent = emotui_absent:load\n[emotui.tasks]\nabsent = emotui_absent:t\n",
    "strange": b"[emotui.backends]\nstrange = emotui_strange:load\nnothing = :\n"
    b"[emotui.tasks]\nstrange = emotui_strange:load\n[emotui.metrics]\nstrange = emotui_strange:load\n",
}
HANGS = b"""
[emotui.tasks]
hangs = emotui_hangs:task
[emotui.metrics]
hangs = emotui_hangs:metric
slow = emotui_slow:Slow
"""
SLOW = """
import threading

class Slow:
    task, range, higher_is_better, help = "spans", (0.0, 1.0), True, "It waits."
    value = staticmethod(lambda sample, prediction: threading.Event().wait())
"""
MODULES = {
    "raises": "open(__file__ + '.ran', 'w').close()\nraise RuntimeError('bro\\x1b]0;ken')\n",
    "leaves": "raise SystemExit(3)\n",
    "strange": "load = 17\n",
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the packages are installed in."""
    folder = tmp_path / "site"
    for name, points in LISTS.items():
        metadata = folder / f"emotui_{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_bytes(f"Metadata-Version: 2.1\nName: emotui-{name}\nVersion: 1.0\n".encode())
        (metadata / "entry_points.txt").write_bytes(points)
    (folder / "emotui_notutf8-1.0.dist-info" / "METADATA").write_bytes(b"Name: \xff\n")
    for name, text in MODULES.items():
        (folder / f"emotui_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    before = dict(added_metrics._troubles)
    registry.forget()
    added_metrics._all.cache_clear()
    yield folder
    registry.forget()
    added_metrics._all.cache_clear()
    added_metrics._troubles.clear()
    added_metrics._troubles.update(before)
    for name in MODULES:
        sys.modules.pop(f"emotui_{name}", None)


def test_a_list_that_cannot_be_read_is_a_line_and_hides_no_other(installed: Path) -> None:
    points, wrong = entry_points_of("emotui.backends")
    assert {"raises", "absent", "strange"} <= {point.name for point in points}
    assert any("entry_points.txt cannot be read (not UTF-8)" in line for line in wrong)


def test_models_names_broken_kinds_without_running_them(installed: Path, emotui: Emotui) -> None:
    done = emotui("models", "--json")
    assert done.status == 0
    problems = {one["spec"]: one["problem"] for one in done.document["models"] if one["kind"] in ("absent", "nothing")}
    assert problems["absent:"] == "'emotui_absent:load' names no function of a module that is installed"
    assert "not UTF-8" in json.dumps(done.document)
    assert not (installed / "emotui_raises.py.ran").exists()
    assert problem_of("emotui_raises:load") is None
    assert not (installed / "emotui_raises.py.ran").exists()


def test_broken_tasks_and_metrics_are_lines_in_doctor_and_cost_no_command(installed: Path, emotui: Emotui) -> None:
    said = "\n".join(check.said for check in doctor._plugins() if check.state == "broken")
    for name in ("raises", "leaves", "strange"):
        assert f"the task {name!r} of emotui-{name} is left out" in said
        assert f"the metric {name!r} of emotui-{name} is left out" in said
    assert "'emotui_absent:load' names no function" in said
    record = '{"id": "1", "text": "I was glad.", "label": "joy"}\n'
    (installed.parent / "in.jsonl").write_text(record)
    done = emotui("score", "class", "--gold", "in.jsonl", "--pred", "in.jsonl")
    assert done.status == 0
    assert "\x1b" not in done.err


@pytest.mark.parametrize("kind", ["raises", "strange", "absent"])
def test_a_broken_kind_is_a_refusal_in_its_models_process(installed: Path, kind: str) -> None:
    with pytest.raises(ModelError, match=f"The backend '{kind}' could not load"):
        loader(kind)


def test_a_package_that_hangs_is_left_out_after_its_time(
    installed: Path, emotui: Emotui, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "LIMIT", 1.0)
    monkeypatch.setattr(added_metrics, "_hung", set())
    metadata = installed / "emotui_hangs-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: emotui-hangs\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_bytes(HANGS)
    (installed / "emotui_hangs.py").write_text("import threading\nthreading.Event().wait()\n")
    (installed / "emotui_slow.py").write_text(SLOW)
    assert "the task 'hangs' of emotui-hangs is left out: it did not answer in 1 s" in registry.troubles()
    (installed.parent / "gold.jsonl").write_text('{"id": "1", "text": "I wept.", "spans": [[2, 6]]}\n')
    (installed.parent / "pred.jsonl").write_text('{"id": "1", "spans": ["wept"]}\n')
    done = emotui("score", "spans", "--gold", "gold.jsonl", "--pred", "pred.jsonl", "--no-sim", "--json")
    assert (done.status, done.document["slow"]) == (0, None)
    assert "the metric 'hangs' of emotui-hangs is left out: it did not answer in 1 s" in added_metrics.metric_troubles()
    assert added_metrics._hung == {"slow"}


def test_other_packages_are_called_in_one_thread_and_what_they_raise_comes_back() -> None:
    first, second = (plugins.within(threading.current_thread) for _ in range(2))
    assert first is second is not threading.current_thread()
    assert plugins.within(lambda: plugins.within(threading.current_thread)) is first
    with pytest.raises(SystemExit):
        plugins.within(sys.exit)
    with pytest.raises(TimeoutError):
        plugins.within(threading.Event().wait, 0.01)
    assert plugins.within(threading.current_thread) is not first
