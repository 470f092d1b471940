"""Batches asked about side by side: none waits for another, and however it ends, what was answered is handed on."""

import threading
from collections.abc import Callable, Iterable
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.backends.host import Cancelled
from emotui.errors import ModelError, NotNow, Unanswered
from emotui.workbench.runs.window import PATIENCE, Pace, Stop, Window

PROMPT = 30.0
"""Seconds in which what is waited for comes, or the test fails."""


def run(
    batches: Iterable[int],
    ask: Callable[[int], object],
    at_once: int = 1,
    stop: Stop | None = None,
    on_group: Callable[[list[int]], None] = lambda _: None,
) -> list[tuple[int, object]]:
    """All that is handed on; what ends it is raised with that as its only note."""
    kept: list[tuple[int, object]] = []
    window: Window[int, object] = Window(ask, at_once, stop or Stop(None))
    try:
        with closing(window.answers(iter(batches))) as groups:
            for group in groups:
                kept += group
                on_group([batch for batch, _ in kept])
    except BaseException as error:
        error.add_note(str(sorted(batch for batch, _ in kept)))
        raise
    return kept


@given(st.integers(0, 40), st.integers(1, 8))
@settings(max_examples=20, deadline=None)
def test_every_batch_is_answered_once_and_one_by_one_they_come_in_their_order(n: int, at_once: int) -> None:
    kept = run(range(n), lambda batch: batch * 2, at_once)
    assert sorted(kept) == [(batch, batch * 2) for batch in range(n)]
    if at_once == 1:
        assert kept == sorted(kept)


def test_a_slow_answer_delays_no_other() -> None:
    others = threading.Event()

    def ask(batch: int) -> int:
        if batch == 0:
            assert others.wait(PROMPT), "the others wait for the slow one"
        return batch

    def see(kept: list[int]) -> None:
        if set(range(1, 30)) <= set(kept):
            others.set()

    assert len(run(range(30), ask, 4, on_group=see)) == 30


def test_as_many_are_under_way_as_are_asked_for_and_no_more() -> None:
    together = threading.Barrier(4)  # breaks, and fails the test, where fewer ever are under way
    now, most, lock = 0, 0, threading.Lock()

    def ask(batch: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        together.wait(PROMPT)
        with lock:
            now -= 1
        return batch

    assert len(run(range(16), ask, 4)) == 16
    assert most == 4


def test_a_server_in_trouble_over_some_leaves_the_others_and_over_one_after_the_other_ends_it() -> None:
    def at_times(batch: int) -> int:
        if batch % 3 == 0:
            raise NotNow("busy")
        return batch

    kept = run(range(12), at_times)
    assert [batch for batch, answer in kept if isinstance(answer, NotNow)] == [0, 3, 6, 9]

    def never(batch: int) -> int:
        raise NotNow("the server is on fire")

    with pytest.raises(ModelError, match=f"{PATIENCE + 1} requests in a row failed; the last one: the server is on"):
        run(range(12), never)


def test_what_was_answered_before_a_model_dies_is_handed_on() -> None:
    def ask(batch: int) -> int:
        if batch == 5:
            raise Unanswered("it died", slow=False)
        return batch

    with pytest.raises(Unanswered, match="it died") as caught:
        run(range(9), ask)
    assert caught.value.__notes__ == ["[0, 1, 2, 3, 4]"]


def test_a_cancel_ends_what_is_under_way_and_keeps_what_was_answered() -> None:
    stopped = threading.Event()
    stop = Stop(stopped.is_set)

    def ask(batch: int) -> int:
        if batch == 3:
            stopped.set()
            while not stop():
                pass
            raise Cancelled
        return batch

    with pytest.raises(Cancelled) as caught:
        run(range(9), ask, stop=stop)
    assert caught.value.__notes__ == ["[0, 1, 2]"]


def test_an_interrupt_while_answers_are_kept_ends_the_threads_that_ask() -> None:
    def interrupt(_: list[int]) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run(range(99), lambda batch: batch, 3, on_group=interrupt)
    assert threading.active_count() <= before


def grown(rate: Callable[[int], float], *, first: int = 128, most: int = 1024, batches: int = 12) -> list[int]:
    """The sizes of batches on a device that answers so many texts a second, by the size of the batch."""
    pace = Pace(first, most)
    sizes = []
    for _ in range(batches):
        sizes.append(pace.size)
        pace.tell(pace.size, pace.size / rate(pace.size))
    return sizes


def test_batches_grow_while_the_device_answers_more_texts_a_second() -> None:
    assert grown(lambda size: 10.0 * size) == [128, 256, 512, *[1024] * 9]
    # 300 rows fit into its memory at once, so that a larger batch is computed in parts.
    assert grown(lambda size: 10.0 * min(size, 300)) == [128, 256, 512, 1024, *[512] * 8]
    assert grown(lambda size: 5000.0) == [128, 256, *[128] * 10]
    assert grown(lambda size: 1e6 / size)[:3] == [128, 256, 128], "a device that more texts slow down"
    assert grown(lambda size: 10.0) == [128] * 12, "a batch that takes long"
    assert grown(lambda size: 10.0 * size, first=16, most=0) == [16] * 12, "a model whose batches do not grow"


def test_a_batch_of_another_size_says_nothing_of_the_pace() -> None:
    pace = Pace(128, 1024)
    for texts in (1, 127, 129):
        pace.tell(texts, 0.1)
    assert pace.size == 128
