"""A text that a model cannot finish costs itself: it is told, counted and passed over, and the others are answered."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from emotui.backends.base import Embed, Extract, Refused, Request
from emotui.backends.host import ModelProcess
from emotui.errors import Unanswered
from emotui.records import Mark, SpanSample
from emotui.tasks.asking import MOST_IN_A_ROW, PASSED_OVER, Asking
from emotui.workbench.progress import RunOptions
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui
from tests.screens.browse_workspace import workspace


class Poisoned:
    """A model that gives no answer to a batch with a text called `slow`, and dies over one called `deadly`."""

    limit = 600.0

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def ask(self, requests: Sequence[Request], *, cancelled: object = None) -> list[str]:
        texts = [cast(Any, request).text for request in requests]
        self.asked.append(texts)
        if "slow" in texts:
            raise Unanswered("gave no answer", slow=True)
        if "deadly" in texts:
            raise Unanswered("was killed", slow=False)
        return [text.upper() for text in texts]


def asking(model: Poisoned) -> Asking:
    return Asking(cast(ModelProcess, model))


def test_the_others_of_its_batch_are_asked_alone_and_answered() -> None:
    model = Poisoned()
    answers = asking(model)([Extract(text) for text in ("a", "slow", "b")])
    why = f"{PASSED_OVER}the model gave no answer in 600 s when asked about this text alone"
    assert answers == ["A", Refused(why), "B"]
    assert model.asked == [["a", "slow", "b"], ["a"], ["slow"], ["b"]]


def test_a_batch_of_one_is_not_asked_twice() -> None:
    model = Poisoned()
    (answer,) = asking(model)([Extract("slow")])
    assert isinstance(answer, Refused)
    assert model.asked == [["slow"]]


def test_a_model_that_dies_twice_over_a_batch_is_asked_one_by_one() -> None:
    model = Poisoned()
    first, second = asking(model)([Extract("a"), Extract("deadly")])
    assert first == "A"
    assert second == Refused(f"{PASSED_OVER}the model died when asked about this text alone")
    assert model.asked == [["a", "deadly"], ["a", "deadly"], ["a"], ["deadly"]]


def test_a_model_that_something_else_ended_is_asked_the_same_once_more() -> None:
    class Struck(Poisoned):
        def ask(self, requests: Sequence[Request], *, cancelled: object = None) -> list[str]:
            if not self.asked:
                self.asked.append([])
                raise Unanswered("was killed", slow=False)
            return super().ask(requests)

    model = Struck()
    assert asking(model)([Extract("a"), Extract("b")]) == ["A", "B"]
    assert model.asked == [[], ["a", "b"]]


def test_where_one_text_after_the_other_is_too_much_it_is_the_model() -> None:
    model = Poisoned()
    with pytest.raises(Unanswered):
        asking(model)([Extract("slow")] * 10)
    assert len(model.asked) == 1 + MOST_IN_A_ROW
    spread = [Extract(text) for text in ("slow", "slow", "a") * 3]
    assert [isinstance(answer, Refused) for answer in asking(Poisoned())(spread)] == [True, True, False] * 3


def test_embeddings_are_one_array_and_have_no_place_for_a_refusal() -> None:
    with pytest.raises(Unanswered):
        asking(Poisoned())([Embed("slow"), Embed("a")])


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
    monkeypatch.setattr("emotui.workbench.runs.run.Embedder", lambda model, cancelled: None)
    texts = [f"word number {n}" for n in range(20)]
    texts[17] = "KILL is what this text does"
    samples = [SpanSample(id=f"w-{n}", text=text, spans=(Mark(0, 4),)) for n, text in enumerate(texts)]
    found = workspace(tmp_path / "w.duckdb", samples=samples, run=False)
    yield found
    found.close()


@pytest.mark.faults
def test_a_text_that_kills_the_model_costs_itself(opened: Workspace) -> None:
    finished = opened.run_model("breaking:", 1)
    assert (finished.state, finished.done, finished.failed) == ("done", 19, 1)
    (error,) = [row.error for row in opened.store.results.of_run(finished.run) if row.error is not None]
    assert error == f"{PASSED_OVER}the model died when asked about this text alone"
    process = opened.model("breaking:").pid
    again = opened.run_model("breaking:", 1, RunOptions(resume=finished.run))
    assert (again.done, again.failed) == (19, 1)
    assert opened.model("breaking:").pid == process, "the text was asked about again"
    opened.run_model("breaking:", 1, RunOptions(resume=finished.run, retry=True))
    assert opened.model("breaking:").pid is None


def test_options_of_passing_over_are_told_where_they_do_not_fit(emotui: Emotui) -> None:
    got = emotui("run", "spans", "--retry")
    assert (got.status, got.err) == (2, "--retry goes with --resume RUN: name the run\n")
    assert emotui("run", "spans", "--patience", "0").status == 2
