"""A task of another package that never comes back, or raises, costs what it was called for."""

import sys
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from emotui import plugins
from emotui.errors import BadInput, EmotuiError
from emotui.tasks.registry import MOST_HANGING, in_time, task_named
from emotui.tasks.task import Parsed, Task

pytestmark = pytest.mark.faults


def hang(*_: object) -> str:
    return str(threading.Event().wait())


def task(**methods: Callable[..., Any]) -> Task:
    return in_time(cast(Task, SimpleNamespace(name="theirs", version="7", labels=None, **methods)))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "LIMIT", 0.01)


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_it_hangs_over_cannot_be_parsed_and_after_some_it_is_not_called() -> None:
    theirs = task(parse=hang, said=lambda *_: ())
    for _ in range(MOST_HANGING):
        with pytest.raises(ValueError, match=f"the task 'theirs' of another package, `parse`: .* {plugins.LIMIT:g} s"):
            theirs.parse(None, "raw", "")
    with pytest.raises(EmotuiError, match="hangs"):
        theirs.said(None, None)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["row", "ask", "report", "said", "score", "tables"])
def test_what_it_hangs_over_is_a_line(name: str) -> None:
    with pytest.raises(EmotuiError, match=f"`{name}`: it did not answer in {plugins.LIMIT:g} s"):
        getattr(task(**{name: hang}), name)(None)


@pytest.mark.parametrize(
    ("wrong", "line"), [(lambda _: {}["felt"], "`row`: KeyError: 'felt'"), (lambda _: sys.exit(3), "SystemExit: 3")]
)
def test_what_it_raises_is_a_line(wrong: Callable[..., Any], line: str) -> None:
    with pytest.raises(EmotuiError, match=line):
        task(row=wrong).row(None)


def test_a_refusal_of_its_own_is_as_it_is() -> None:
    def refuse(*_: object) -> None:
        raise BadInput("a line of its own")

    def bad(*_: object) -> None:
        raise ValueError("not what `ask` keeps")

    with pytest.raises(BadInput, match=r"^a line of its own$"):
        task(problem=refuse).problem(None, None)
    with pytest.raises(ValueError, match=r"^not what `ask` keeps$"):
        task(parse=bad).parse(None, "", "")


def test_what_a_model_takes_does_not_count_and_happens_where_it_was_called() -> None:
    def model(requests: Any) -> Any:
        asked.append(threading.current_thread())
        return [one.upper() for one in requests]

    asked: list[threading.Thread] = []
    theirs = task(ask=lambda samples, model, way, seeds: [model([one]) for one in samples])
    assert theirs.ask(["a", "b"], model, "", [0, 0]) == [["A"], ["B"]]
    assert asked == [threading.current_thread()] * 2


def test_what_a_model_raises_reaches_who_asked() -> None:
    def model(requests: Any) -> Any:
        raise EmotuiError("stopped")

    with pytest.raises(EmotuiError, match=r"^stopped$"):
        task(ask=lambda samples, model, *_: model(samples)).ask([], model, "", [])


def test_samples_that_it_reads_come_from_the_thread_that_has_them() -> None:
    def golds() -> Iterator[threading.Thread]:
        yield threading.current_thread()

    theirs = task(with_golds=lambda golds: SimpleNamespace(score=lambda *_: golds()))
    assert list(theirs.with_golds(golds).score([Parsed(None, 0, "")], None)) == [threading.current_thread()]


def test_a_task_of_our_own_has_no_thread_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "within", lambda *_: pytest.fail("it was bounded"))
    assert task_named("labels").score([], None) == []
