"""Whatever a model's process writes, it costs one line in time, and nothing of it is run."""

import ast
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends import host, messages
from emotui.backends.base import (
    Attribute,
    Attribution,
    Capability,
    Classification,
    Classify,
    Embed,
    Evidence,
    Extract,
    Filled,
    FillMask,
    Generate,
    Generation,
    HiddenStates,
    Message,
    ModelCard,
    Push,
    Pushed,
    Rank,
    Refused,
    Regress,
    Regressed,
    Request,
    Score,
    Scores,
    States,
)
from emotui.backends.host import Cancelled, ModelProcess
from emotui.errors import ModelError, Unanswered
from tests.backends.hostile_child import HALVES, RANKED, SCORED, TO_EMBED, TO_EXTRACT, WHEN_LOADED
from tests.backends.installed_kind import install_kind
from tests.effort import tried
from tests.paths import CHECKOUT

pytestmark = pytest.mark.faults

KIND = "hostile"
IN_TIME = 300.0
"""Seconds on a busy machine; a hang would take the model's limit, ten minutes."""


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the code of a hostile message would make."""
    monkeypatch.setenv("HOSTILE_FILE", str(tmp_path / "ran"))
    return tmp_path / "ran"


def _hostile(monkeypatch: pytest.MonkeyPatch, name: str, limit: float = 600.0) -> ModelProcess:
    """A model whose process says what `name` names."""
    install_kind(monkeypatch, KIND, "tests.backends.test_hostile_models:load")
    boot = f"import sys; sys.path[:] = {{path!r}}; from tests.backends.hostile_child import main; main({name!r})"
    monkeypatch.setattr(host, "_BOOT", boot)
    return ModelProcess(f"{KIND}:", limit=limit)


def _problem(model: ModelProcess, *requests: Request) -> str:
    tried("hostile calls")
    begun = time.monotonic()
    with model, pytest.raises(ModelError) as caught:
        model.ask(requests)
    assert time.monotonic() - begun < IN_TIME
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "request_"),
    [*((name, Extract("Glad.")) for name in TO_EXTRACT), *((name, Embed("Glad.")) for name in TO_EMBED)],
)
def test_an_answer_that_is_none_costs_one_line_and_runs_nothing(
    name: str, request_: Request, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = _problem(_hostile(monkeypatch, name), request_)
    assert problem.startswith("hostile:: the model answered something else: ")
    assert len(problem) < 600
    assert not ran.exists()


@pytest.mark.parametrize("name", WHEN_LOADED)
def test_nor_does_a_model_that_says_something_else_before_it_is_loaded(
    name: str, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried("hostile calls")
    model = _hostile(monkeypatch, name)
    with model, pytest.raises(ModelError, match=r"^hostile:: the model answered something else: [^\n]+$"):
        model.load()
    assert not ran.exists()


@pytest.mark.parametrize("name", [*HALVES, "reads nothing"])
def test_one_that_hangs_in_the_middle_of_a_message_is_stopped_at_its_limit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = time.monotonic()
    request = Extract("x" * 2**22)  # more than a pipe holds
    with _hostile(monkeypatch, name, limit=2) as model, pytest.raises(Unanswered, match="gave no answer for 2 s"):
        model.ask([request])
    assert time.monotonic() - begun < IN_TIME


@pytest.mark.parametrize("name", ["half a document", "reads nothing"])
def test_and_can_be_cancelled_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with _hostile(monkeypatch, name) as model:
        model.load()
        begun = time.monotonic()
        with pytest.raises(Cancelled):
            model.ask([Extract("x" * 2**22)], cancelled=lambda: time.monotonic() - begun > 0.2)
        assert model.pid is None
        assert time.monotonic() - begun < IN_TIME


GLAD = Generate((Message("user", "Glad?"),))
TWO = Score("Glad.", ("joy?", "anger?"))
PUSH = Push("Glad.", 1, b"\0" * 8, 1.0, None, (), "", (" joy", " fear"))
SURE = {" joy": 0.5, " fear": 0.5}
PUSHED = {
    "one of two continuations": Pushed({" joy": 1.0}),
    "below zero tokens": Pushed(SURE, -1.0, -1),
    "a text of no token": Pushed(SURE, -1.0, 0),
    "words for numbers": Pushed({" joy": "much", " fear": "little"}),  # type: ignore[dict-item]
}
STATES = States("Glad.", (0, 1))
READ = {
    "of one layer of two": HiddenStates((0,), 2, b"\0" * 4, (1.0,), 1),
    "of half a row": HiddenStates((0, 1), 2, b"\0" * 6, (1.0, 1.0), 1),
    "of no size": HiddenStates((0, 1), 0, b"", (1.0, 1.0), 1),
    "without a scale": HiddenStates((0, 1), 2, b"\0" * 8, (1.0,), 1),
}
ANSWERS: Mapping[str, tuple[Sequence[Request], object]] = {
    "nothing": ([GLAD], None),
    "text": ([GLAD], "ok"),
    "a generator": ([GLAD], iter(())),
    "a set": ([GLAD], {1}),
    "none": ([GLAD], []),
    "two": ([GLAD], [Generation("a", 1, 1, "stop")] * 2),
    "an object": ([GLAD], [object()]),
    "an array in a result": ([GLAD], [np.zeros((2, 2))]),
    "a number for text": ([GLAD], [Generation(5, 1, 1, "stop")]),  # type: ignore[arg-type]
    "half a character": ([GLAD], [Generation("\ud800", 1, 1, "stop")]),
    "tokens below zero": ([GLAD], [Generation("a", 1, -1, "stop")]),
    "a number past all": ([GLAD], [Generation("a", 1, 2**70, "stop")]),
    "a verdict of two": ([GLAD], [Generation("a", 1, 1, "stop", verdict=SCORED["too many"])]),
    **{f"scores {name}": ([TWO], [scores]) for name, scores in SCORED.items()},
    **{f"ranks {name}": ([Rank("a", ("b", "c"))], [ranked]) for name, ranked in RANKED.items()},
    **{f"pushes {name}": ([PUSH], [pushed]) for name, pushed in PUSHED.items()},
    **{f"states {name}": ([STATES], [states]) for name, states in READ.items()},
    "a number without a name": ([Regress("Glad.")], [Regressed({5: 0.1})]),  # type: ignore[dict-item]
    "a label without a probability": ([Classify("Glad.")], [Classification({"joy": 1.0}, "anger", False)]),
    "words for two masks": ([FillMask("a <mask>")], [Filled(((("b", 1.0),),) * 2)]),
    "a list for rows": ([Embed("a")], [[0.1, "x"]]),
    "a flat array": ([Embed("a")], np.zeros(1)),
    "whole numbers": ([Embed("a")], np.zeros((1, 2), np.int64)),
    "objects": ([Embed("a")], np.array([[object()]])),
    "rows of several widths": ([Embed("a"), Embed("b")], [np.zeros(2), np.zeros(3)]),
    "no rows beside spans": ([Embed("a"), Extract("b")], []),
}
"""What a package's own backend hands back, which runs in a process of this program's."""

CARD = ModelCard("hostile", "hostile", get_args(Capability), {})


class Package:
    """Answers with what its argument names, whatever it is asked."""

    def __init__(self, name: str) -> None:
        self.card = CARD
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return lambda requests: ANSWERS[self._name.replace("+", " ")][1]


def load(argument: str, options: Mapping[str, Any], progress: Any) -> Package:
    return Package(argument)


@pytest.mark.parametrize("name", ANSWERS)
def test_nor_does_a_package_that_answers_something_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install_kind(monkeypatch, KIND, "tests.backends.test_hostile_models:load")
    problem = _problem(ModelProcess(f"{KIND}:{name.replace(' ', '+')}"), *ANSWERS[name][0])
    assert "the model answered something else: " in problem
    assert len(problem) < 600


@pytest.mark.parametrize(
    ("request_", "outside", "within"),
    [
        (Extract("ab"), (Evidence(0, 10**9, "x", 0.5),), (Evidence(0, 2, "x", 0.5),)),
        (Extract("ab"), (Evidence(0, 1, "x", 0.5), Evidence(2, 1, "x", 0.5)), ()),
        (Extract("ab"), (Evidence(-1, 1, "x", 0.5),), (Evidence(2, 2, "x", 0.5),)),
        (Attribute("ab"), Attribution("joy", ((0, 9, 0.1),)), Attribution("joy", ((0, 2, 0.1),))),
    ],
)
def test_a_place_outside_its_text_refuses_that_text_alone(request_: Request, outside: object, within: object) -> None:
    requests = [request_] * 3
    document, array = messages.answer(7, requests, [within, outside, within])
    said = messages.said(document)
    assert isinstance(said, messages.Answer)
    first, refused, last = messages.results_of(requests, said, bytearray(array))
    assert (first, last) == (within, within)
    assert isinstance(refused, Refused)
    assert refused.why.endswith("lies outside the text")


def test_a_request_with_half_a_character_is_told_and_the_model_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
    with ModelProcess("breaking:") as model:
        with pytest.raises(ModelError, match=r"^a text holds half a character \(a lone surrogate\)"):
            model.ask([Extract("\ud800")])
        assert model.ask([Extract("")]) == [()]


REQUESTS: Sequence[Request] = (Extract("Glad."), Embed("Glad."), TWO, Extract(""), Embed(""))
RESULTS: Sequence[Any] = (
    (Evidence(0, 4, "joy", 0.5),),
    np.array([0.5, -1.0], np.float32),
    Scores((0.1, float("-inf")), (0.2, 0.3), (1.0, 0.0), ({" Yes": 0.5}, {}), ("", "no")),
    Refused("too long", again=True),
    np.array([2.0, 3.0], np.float32),
)


@given(places=st.lists(st.integers(0, len(REQUESTS) - 1), min_size=1, max_size=12))
def test_answers_come_over_as_they_were(places: list[int]) -> None:
    requests = [REQUESTS[place] for place in places]
    sent: Any = [RESULTS[place] for place in places]
    if all(isinstance(request, Embed) for request in requests):
        sent = np.stack(sent)
    document, array = messages.answer(7, requests, sent)
    said = messages.said(document)
    assert isinstance(said, messages.Answer)
    assert said.number == 7
    back = messages.results_of(requests, said, bytearray(array))
    assert len(back) == len(sent)
    for result, before in zip(back, sent, strict=True):
        if isinstance(before, np.ndarray):
            assert result.dtype == before.dtype
            assert result.tolist() == before.tolist()
        else:
            assert result == before


@given(document=st.binary(max_size=60) | st.builds(lambda it: msgspec.msgpack.encode(it), st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(["Answer", "Error", "Step", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "number", "results", "rows", "dtype", "shape", "why", "again", "line", "card"]), inner
    ),
)), array=st.binary(max_size=16))  # fmt: skip
def test_no_bytes_whatever_are_more_than_something_else(document: bytes, array: bytes) -> None:
    try:
        said = messages.said(document)
        if isinstance(said, messages.Answer):
            messages.results_of([Extract("Glad.")], said, bytearray(array))
    except messages.SomethingElse:
        pass


UNPICKLES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "multiprocessing"}
"""Modules that read objects by running what they say, or whose pipes, queues and pools do."""

BY_CALL = {"recv", "ProcessPoolExecutor", "read_pickle", "allow_pickle"}
"""Names of `multiprocessing.connection`, `concurrent.futures`, pandas and numpy that do."""


def _unpickling(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                found += [alias.name for alias in node.names if alias.name.split(".")[0] in UNPICKLES]
            case ast.ImportFrom(module=str(module)):
                found += [module] if module.split(".")[0] in UNPICKLES else []
                found += [alias.name for alias in node.names if alias.name in UNPICKLES | BY_CALL]
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=str(name)) if name in BY_CALL:
                found.append(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="load"), keywords=given):
                safe = [each for each in given if each.arg == "weights_only" and ast.unparse(each.value) == "True"]
                found += [] if safe else ["torch.load"]
    return found


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "def f():\n    from multiprocessing.connection import Client",
        "from concurrent.futures import ProcessPoolExecutor",
        "from concurrent import futures\nfutures.ProcessPoolExecutor()",
        "pipe.recv()",
        "np.load(path, allow_pickle=True)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
    ],
)
def test_what_unpickles_is_found(source: str) -> None:
    assert _unpickling(source)


def test_nothing_of_this_program_unpickles() -> None:
    folders = ("emotui", "backends", "metrics", "screens", "themes", "sample_data")
    sources = [file for folder in folders for file in (CHECKOUT / folder).rglob("*.py")]
    assert len(sources) > 400
    assert {str(file): found for file in sources if (found := _unpickling(file.read_text("utf-8")))} == {}
