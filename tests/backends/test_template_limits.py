"""A chat template is a program of somebody's: whatever it does, it ends, and what it raises is one line."""

import sys
import threading

import pytest

from emotui.backends import rendering
from emotui.backends.base import Message
from emotui.backends.rendering import ChatTemplate, Specials
from emotui.errors import ModelError

GROWING = "{% set ns = namespace(x='a' * 1000) %}{% for a in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}"
LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{{ a * b }}{% endfor %}{% endfor %}"
SLOW_PATTERN = "{{ ('www.' ~ 'a.' * 90000) | urlize }}" * 99


def refusal(source: str) -> str:
    """The line that rendering a chat by a template ends with."""
    with pytest.raises(ModelError) as caught:
        ChatTemplate(source, {}, Specials(())).render((Message("user", "Is it?"),))
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    return line


@pytest.mark.faults
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
        ("{{ messages[0]['x']['y'] }}", "'dict object' has no attribute 'x'"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError: maximum recursion depth exceeded"),
        ("{{ (2 ** 1000 * 1.0) ** 99 }}", "OverflowError"),
        ("{{ None + 1 }}", "TypeError: unsupported operand"),
        ("{% include '/etc/passwd' %}", "TypeError: no loader for this environment specified"),
        ("{{ '\\ud800' }}", "UnicodeEncodeError"),
        ("{{ raise_exception('one\ntwo ' * 1000) }}", "one two one two"),
        ("{{ 'a' * 10 ** 10 }}", "it makes texts of more than 4 million characters"),
        ("{{ [1] * 10 ** 9 }}", "it makes texts of more than 4 million characters"),
        ("{{ 10 ** (10 ** 9) }}", "it computes with numbers of thousands of digits"),
        ("{% for i in range(9999) %}{{ 'a' * 1000 }}{% endfor %}", "its prompt has 9,999,000 characters"),
    ],
)
def test_what_it_raises_is_that_it_refuses_these_messages(source: str, why: str) -> None:
    assert refusal(source).startswith(f"The model's chat template refuses these messages: {why}")


@pytest.mark.faults
@pytest.mark.skipif(rendering.sys.platform != "linux", reason="memory is bounded where the system counts it")
@pytest.mark.parametrize(
    "source",
    [
        *("{{ 'x'.ljust(10 ** 10) }}", "{{ '%9999999999d' | format(1) }}", "{{ 'x' | indent(10 ** 10) }}"),
        *("{{ messages | tojson(indent=10 ** 9) }}", GROWING, "{{ [1] | batch(10 ** 10, 'x') | list }}"),
    ],
)
def test_one_that_takes_memory_without_end_is_stopped(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MEMORY", 64 * 2**20)
    assert refusal(source).endswith("refuses these messages: it takes more than 64 MB of memory")


@pytest.mark.faults
@pytest.mark.parametrize("source", [LOOPS, SLOW_PATTERN])
@pytest.mark.parametrize("main", [True, False], ids=["main thread", "another thread"])
def test_one_that_runs_without_end_is_stopped(source: str, main: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "SECONDS", 0.05)
    said: list[str] = []
    if main:
        said.append(refusal(source))
    else:
        if sys.gettrace() is not None:
            pytest.skip("under the tracer of coverage another thread is not stopped")
        thread = threading.Thread(target=lambda: said.append(refusal(source)))
        thread.start()
        thread.join()
    assert said[0].endswith("it takes more than 0.05 seconds")


@pytest.mark.parametrize(
    "source",
    ["{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "{% for a in b %}" * 50 + "{% endfor %}" * 50, "{% break %}"],
    ids=["brackets", "loops", "break"],
)
def test_one_that_python_cannot_compile_cannot_be_read(source: str) -> None:
    assert refusal(source).startswith("The model's chat template cannot be read: ")


def test_the_limits_are_gone_when_it_is_done() -> None:
    import resource
    import signal

    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)
    ChatTemplate("{{ messages[0].content }}", {}, Specials(())).render((Message("user", "x"),))
    assert (resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
