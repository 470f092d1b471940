"""A task of another package that never comes back costs the answer that it hangs over."""

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from emotui import plugins
from emotui.errors import EmotuiError
from emotui.tasks import in_time
from emotui.tasks.in_time import MOST_HANGING, parse_in_time, score_in_time
from emotui.tasks.registry import task_named
from emotui.tasks.task import Parsed, Task

pytestmark = pytest.mark.faults


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setattr(plugins, "LIMIT", 0.01)
    monkeypatch.setattr(in_time, "_hung", {})

    def parse(sample: object, raw: str, way: str) -> str:
        return raw.upper() if raw != "hang" else str(threading.Event().wait())

    def score(answers: list[Any], embed: object) -> list[Any]:
        if answers[0].prediction == "hang":
            threading.Event().wait()
        return ["a score"] * len(answers)

    return cast(Task, SimpleNamespace(name="theirs", parse=parse, score=score))


def test_an_answer_that_it_hangs_over_cannot_be_parsed_and_after_some_it_is_not_asked(task: Task) -> None:
    for _ in range(MOST_HANGING):
        with pytest.raises(ValueError, match=f"the task 'theirs' of another package: .* {plugins.LIMIT:g} s"):
            parse_in_time(task, None, "hang", "")
    with pytest.raises(EmotuiError, match="hangs"):
        parse_in_time(task, None, "good", "")


def test_one_that_comes_back_is_as_it_is(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "LIMIT", 60.0)
    assert parse_in_time(task, None, "good", "") == "GOOD"
    assert score_in_time(task, [Parsed(None, 0, "good")], None) == ["a score"]


def test_scoring_without_end_is_a_line(task: Task) -> None:
    with pytest.raises(EmotuiError, match="scores without end"):
        score_in_time(task, [Parsed(None, 0, "hang")], None)


def test_a_task_of_our_own_has_no_thread_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "within", lambda *_: pytest.fail("it was bounded"))
    assert score_in_time(task_named("labels"), [], None) == []
