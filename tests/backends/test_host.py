"""A model that dies, hangs or is stopped costs one error, and the next request starts it afresh: each really dies."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.backends import host
from emotui.backends.base import Classify, Evidence, Extract, Refused
from emotui.backends.host import Cancelled, ModelProcess
from emotui.errors import BadInput, ModelError, Unanswered
from tests.backends.installed_kind import install_kind
from tests.waiting import LONGEST, wait_until

KIND = "breaking"


@pytest.fixture(autouse=True)
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind `breaking:` here and, through the environment's boot line, in the child."""
    install_kind(monkeypatch, KIND, "tests.backends.breaking_backend:load")


@pytest.fixture
def model() -> Iterator[ModelProcess]:
    with ModelProcess(f"{KIND}:", limit=LONGEST) as process:
        yield process


def test_answers_stand_in_the_order_of_their_requests(model: ModelProcess) -> None:
    answers = model.ask([Extract("one two"), Extract(""), Extract("three")])
    assert answers == [(Evidence(0, 3, "happy", 0.5),), (), (Evidence(0, 5, "happy", 0.5),)]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not tell a process's environment")
@pytest.mark.parametrize("own", ["", "7"])
def test_threads_of_a_model_wait_for_each_other_only_briefly_unless_told_otherwise(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    if own:
        monkeypatch.setenv("GOMP_SPINCOUNT", own)
    with ModelProcess(f"{KIND}:") as model:
        model.load()
        told = Path(f"/proc/{model.pid}/environ").read_bytes().split(b"\0")
    assert f"GOMP_SPINCOUNT={own or 2000}".encode() in told


def test_a_process_that_was_begun_is_the_one_that_answers(model: ModelProcess) -> None:
    model.begin()
    begun = model.pid
    assert begun is not None
    model.begin()
    assert model.load().spec
    assert model.ask([Extract("three")]) == [(Evidence(0, 5, "happy", 0.5),)]
    assert model.pid == begun


def test_a_process_that_was_begun_and_died_is_told_once_and_started_again(model: ModelProcess) -> None:
    model.begin()
    assert model.pid is not None
    os.kill(model.pid, signal.SIGKILL)
    with pytest.raises(ModelError):
        model.load()
    assert model.ask([Extract("x")]) == [(Evidence(0, 1, "happy", 0.5),)]


def test_no_requests_need_no_process(model: ModelProcess) -> None:
    assert model.ask([]) == []
    assert model.pid is None


def test_what_a_library_prints_does_not_mix_with_the_answers(model: ModelProcess) -> None:
    assert len(model.ask([Extract("PRINT a"), Extract("x")])) == 2


def test_one_refused_request_leaves_the_others_answered(model: ModelProcess) -> None:
    first, second = model.ask([Extract("REFUSE"), Extract("word")])
    assert isinstance(first, Refused)
    assert second == (Evidence(0, 4, "happy", 0.5),)


def test_an_embedding_is_one_array(model: ModelProcess) -> None:
    from emotui.backends.base import Embed

    assert model.ask([Embed("a"), Embed("bb")]).shape == (2, 2)


def test_requests_of_several_types_are_answered_in_one_batch_each_at_its_place(model: ModelProcess) -> None:
    from emotui.backends.base import Embed

    first, row, second, other = model.ask([Extract("one two"), Embed("a"), Extract(""), Embed("bb")])
    assert (first, second) == ((Evidence(0, 3, "happy", 0.5),), ())
    assert [row.shape, other.shape] == [(2,), (2,)]
    assert row.tolist() == model.ask([Embed("a")])[0].tolist()
    with pytest.raises(ModelError, match="cannot classify"):
        model.ask([Extract("x"), Classify("x")])


def test_a_capability_that_a_model_lacks_is_named_with_the_kinds_that_have_it(model: ModelProcess) -> None:
    with pytest.raises(ModelError, match=r"breaking: cannot classify; kinds of model that can: embedded, hf:"):
        model.ask([Classify("x")])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SEGFAULT", "was killed by SIGSEGV; its last words: .*"),
        ("KILL", r"was killed by SIGKILL \(out of memory\?\)"),
        ("EXIT", "ended with status 1; its last words: gave up"),
        ("BUG", "ended with status 1; its last words: RuntimeError: a bug in the backend"),
    ],
)
def test_a_death_is_told_with_its_last_words_and_the_next_request_starts_afresh(
    model: ModelProcess, text: str, words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        model.ask([Extract("fine"), Extract(text)])
    assert model.ask([Extract("word")]) == [(Evidence(0, 4, "happy", 0.5),)]


def test_a_batch_that_fails_leaves_the_process_alive(model: ModelProcess) -> None:
    model.load()
    before = model.pid
    with pytest.raises(ModelError, match="breaking:: this batch is too much for me"):
        model.ask([Extract("RAISE")])
    assert model.ask([Extract("x")])
    assert model.pid == before


def test_a_process_killed_from_outside_is_replaced(model: ModelProcess) -> None:
    model.load()
    assert model.pid is not None
    os.kill(model.pid, signal.SIGKILL)
    wait_until(lambda: model.pid is None)
    assert model.ask([Extract("word")]) == [(Evidence(0, 4, "happy", 0.5),)]


@pytest.mark.faults
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are another matter there")
def test_an_interrupt_of_the_models_process_alone_changes_nothing_at_any_moment(model: ModelProcess) -> None:
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.extend(model.ask([Extract("SLEEP 0.2"), Extract("word")])))
    asking.start()
    wait_until(lambda: model.pid is not None)
    pid = model.pid
    sent = 0
    while asking.is_alive():
        assert pid is not None
        os.kill(pid, signal.SIGINT)
        sent += 1
    asking.join()
    assert len(answers) == 2
    assert sent > 1
    assert model.pid == pid


def test_a_cancel_in_the_middle_of_a_batch_acts_within_a_second(model: ModelProcess) -> None:
    model.load()
    stops: list[float] = []
    threading.Timer(0.2, lambda: stops.append(time.monotonic())).start()
    with pytest.raises(Cancelled):
        model.ask([Extract("SLEEP 600")], cancelled=lambda: bool(stops))
    assert host._GRACE + host._POLL < 1
    assert time.monotonic() - stops[0] < 300, "waited for the answer"
    assert model.ask([Extract("word")])


def test_loading_can_be_cancelled() -> None:
    stop = threading.Event()
    with ModelProcess(f"{KIND}:slow") as model:
        threading.Timer(0.5, stop.set).start()
        with pytest.raises(Cancelled):
            model.load(cancelled=stop.is_set)
        assert model.pid is None


def test_a_model_that_hangs_past_its_limit_is_stopped_with_its_last_words() -> None:
    with ModelProcess(f"{KIND}:", limit=8) as model:
        model.ask([Extract("PRINT")])
        with pytest.raises(Unanswered, match=r"no answer for 8 s and was stopped: .* words: noise from a library$"):
            model.ask([Extract("SLEEP 600")])
        assert model.pid is None


def test_a_model_that_cannot_be_loaded_says_why_in_its_own_words() -> None:
    with ModelProcess(f"{KIND}:cannot") as model, pytest.raises(ModelError, match=r"^model.bin is cut short"):
        model.load()


def test_a_crash_while_loading_is_an_error() -> None:
    with ModelProcess(f"{KIND}:crashes") as model, pytest.raises(ModelError, match="SIGSEGV"):
        model.load()


def test_progress_of_loading_is_passed_on(model: ModelProcess) -> None:
    lines: list[str] = []
    model.load(progress=lines.append)
    assert lines == ["thinking about it"]


def test_an_identity_comes_over_as_plain_strings(model: ModelProcess) -> None:
    assert {type(value) for value in model.load().identity.values()} == {str}


def test_two_models_live_side_by_side(model: ModelProcess) -> None:
    with ModelProcess(f"{KIND}:") as other:
        ((mine,),) = model.ask([Extract("PID")])
        ((its,),) = other.ask([Extract("PID")])
        assert mine.label != its.label
        assert mine.label == str(model.pid)


def test_closing_from_another_thread_ends_a_wait(model: ModelProcess) -> None:
    model.load()
    threading.Timer(0.2, model.close).start()
    with pytest.raises(Cancelled):
        model.ask([Extract("SLEEP 60")])


def test_a_child_leaves_when_its_parent_is_gone(tmp_path: object) -> None:
    import subprocess
    import sys

    code = (
        "import sys, time, threading\n"
        f"sys.path[:] = {sys.path!r}\n"
        "from emotui.backends import host, spec\n"
        f"spec.BUILT_IN['{KIND}'] = 'tests.backends.breaking_backend:load'\n"
        f"host._BOOT = {__import__('emotui.backends.host', fromlist=['host'])._BOOT!r}\n"
        "from emotui.backends.base import Extract\n"
        f"model = host.ModelProcess('{KIND}:')\n"
        "model.load(); print(model.pid, flush=True)\n"
        "model.ask([Extract('SLEEP 60')])\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()

    def is_gone() -> bool:
        try:
            return Path(f"/proc/{child}/stat").read_text().split()[2] == "Z"
        except OSError:
            return True

    wait_until(is_gone, lambda: "the child outlived its parent")


def test_an_unknown_kind_of_model_is_bad_input_that_names_the_kinds() -> None:
    with pytest.raises(
        BadInput, match=r"'magic:x' is not a model: no backend of kind 'magic' is installed \(there are: "
    ):
        ModelProcess("magic:x")
