"""From messages to the pieces of a prompt: the same for every library that runs a model on this machine.

A chat template is untrusted: it runs in a sandbox and sees nothing but strings. What a sample's text looks like never
matters: where it holds a model's control token (`<|end|>`), that is broken up, so that it is read as characters.
"""

import contextlib
import ctypes
import json
import re
import secrets
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Template, TemplateError, nodes
from jinja2.ext import Extension
from jinja2.meta import find_undeclared_variables
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from emotui.backends.base import Message
from emotui.errors import ModelError

# Limits on a model's own chat template, which is a program of somebody's: processor time, memory and length.

SECONDS = 3.0
"""Of processor time that one rendering may take; those of known models take milliseconds."""

MEMORY = 512 * 2**20
"""Bytes that one rendering may take beside what the process has. Held on Linux, where the system counts them."""

LONGEST = 4 * 2**20
"""Characters of a prompt, beside twice what its messages have."""


class OverLimit(BaseException):
    """A template took too much. No `Exception`: what a template calls catches those."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox in which no single product, power or format is larger than a prompt may be."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Raises: OverLimit, before a library's loop begins that nothing can stop."""
        if operator == "*":
            for many, times in ((left, right), (right, left)):
                if isinstance(times, int) and hasattr(many, "__len__") and len(many) * times > LONGEST:
                    raise OverLimit(_LENGTH)
        if all(isinstance(each, int) for each in (left, right)):
            bits = left.bit_length() * (max(1, right) if operator == "**" else 1)
            if operator in ("*", "**") and bits > 1 << 16:
                raise OverLimit("it computes with numbers of thousands of digits")
        if operator == "%" and isinstance(left, str) and len(left) > LONGEST:
            raise OverLimit(_LENGTH)
        return super().call_binop(context, operator, left, right)


_LENGTH = f"it makes texts of more than {LONGEST // 2**20} million characters"


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Within it, time and memory have an end.

    Raises:
        OverLimit: that was reached; the message says which.
    """
    with _bounded_memory(), _bounded_time():
        try:
            yield
        except MemoryError:
            raise OverLimit(f"it takes more than {MEMORY // 2**20} MB of memory") from None


def _slow() -> str:
    return f"it takes more than {SECONDS:g} seconds"


@contextlib.contextmanager
def _bounded_time() -> Iterator[None]:
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        yield from _with_timer()
    else:
        yield from _with_watch()


def _with_timer() -> Iterator[None]:
    """By a signal of the system's, which ends the loops of regular expressions too."""

    def stop(number: int, frame: object) -> None:
        raise OverLimit(_slow())

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _with_watch() -> Iterator[None]:
    """By another thread, which the interpreter heeds between two of its steps."""
    over, raised = threading.Event(), threading.Event()
    thread = ctypes.c_ulong(threading.get_ident())

    def watch() -> None:
        if not over.wait(SECONDS):
            raised.set()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(OverLimit))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        try:
            yield
        finally:
            over.set()
            watching.join()
            if raised.is_set():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)
    except OverLimit as limit:
        raise OverLimit(str(limit) or _slow()) from None


@contextlib.contextmanager
def _bounded_memory() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    wanted = pages * resource.getpagesize() + MEMORY
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *known]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


TODAY = datetime(2026, 1, 1)
"""What templates that write the date are told: a run of today and one of tomorrow have the same prompts."""

SWITCHES = ("enable_thinking", "thinking")
"""The variables by which templates turn a model's thinking on or off (Qwen and GLM; Granite and DeepSeek)."""

_OPEN, _CLOSE = "<think>", "</think>"
_BUDGET = "thinking_budget"
"""The variable by which other templates (Seed-OSS) limit thinking, in tokens: 0 is none."""

_THOUGHT = re.compile(r"</[\w:]*think\w*>|<\|channel\|>", re.IGNORECASE)
"""By what a beginning of an answer tells that a thought might have stood there."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a prompt. `literal`: to be tokenised without control tokens; else those that it holds are meant."""

    text: str
    literal: bool = False


class Specials:
    """The control tokens of a vocabulary, found in texts that may not hold any."""

    def __init__(self, tokens: Iterable[str]) -> None:
        # Longest first: `<|end|>` may be the beginning of `<|end|>_more`. White space is text even where it is a token.
        names = sorted({token for token in tokens if token.strip()}, key=lambda token: (-len(token), token))
        self._pattern = re.compile("|".join(map(re.escape, names))) if names else None

    def pieces(self, text: str) -> list[Piece]:
        """The text, with its look-alikes of control tokens apart and literal."""
        found: list[Piece] = []
        end = 0
        for match in self._pattern.finditer(text) if self._pattern else ():
            found += [Piece(text[end : match.start()]), Piece(match.group(), literal=True)]
            end = match.end()
        return [piece for piece in (*found, Piece(text[end:])) if piece.text]

    def hide(self, text: str, hidden: dict[str, str]) -> str:
        """The text with a mark in place of each look-alike; `hidden` learns what each mark stands for."""

        def mark(match: re.Match[str]) -> str:
            name = f"\ue000{secrets.token_hex(8)}\ue001"
            hidden[name] = match.group()
            return name

        return self._pattern.sub(mark, text) if self._pattern else text


class ChatTemplate:
    """A model's own chat template.

    Args:
        source: Jinja.
        variables: what it is given by name besides the messages: `bos_token` and the like.
        specials: the vocabulary's control tokens.

    Raises:
        ModelError: it is no Jinja template.
    """

    def __init__(self, source: str, variables: Mapping[str, str], specials: Specials) -> None:
        try:
            with bounded():
                self._template = _compile(source)
                known = find_undeclared_variables(_environment().parse(source))
        except (Exception, OverLimit) as error:
            raise ModelError(f"The model's chat template cannot be read: {_said(error)}") from error
        self._variables = dict(variables)
        self._specials = specials
        self._off: dict[str, int] = dict.fromkeys((name for name in SWITCHES if name in known), False)
        self._on = dict.fromkeys(self._off, True)
        if _BUDGET in known:
            self._off[_BUDGET] = 0
        asked = secrets.token_hex(8)
        probe = [Message("user", asked)]
        off, on = self._text(probe, False), self._text(probe, True)
        self._left_open = off.rfind(_OPEN) > off.rfind(_CLOSE)
        self._at_end = off.rpartition(asked)[2] != on.rpartition(asked)[2]
        self._unthought = "" if self._left_open or off != on else self._beginning(probe, off)
        self.thinking = "switch" if off != on or self._unthought else "always" if self._left_open else "none"
        """`switch`: thinking can be turned on and off; `always`: only cut short; `none`: there is no such mode."""
        self.ends_thought = _end_of_thought(self._unthought or off.rpartition(asked)[2])
        """What a model that thinks writes between its thoughts and its answer."""
        self.takes_system = self._takes_system()

    def render(self, messages: Sequence[Message], *, opening: str = "", thinking: bool = False) -> list[Piece]:
        """The prompt up to where the model writes on.

        Args:
            messages: their texts are read as characters, whatever they look like.
            opening: what the model's turn already begins with; thoughts of its own in it are read as such.
            thinking: whether the model may think before it answers; refused where it cannot.

        Raises:
            ModelError: the template refuses these messages, or does not do about thinking what it is told.
        """
        if not self.takes_system:
            messages = _without_system(messages)
        hidden: dict[str, str] = {}
        shown = [Message(each.role, self._specials.hide(each.content, hidden)) for each in messages]
        text = self._text(shown, thinking)
        if thinking and self.thinking == "none":
            raise ModelError("This model's chat template has no thinking mode")
        if self.thinking == "switch" and not self._unthought and text == self._text(shown, not thinking):
            # Some (Granite's) ask for thoughts in a system's turn of their own, and not where there is one already.
            alone = _without_system(shown)
            if thinking and self._text(alone, True) != self._text(alone, False):
                text = self._text(alone, True)
            elif thinking or self._at_end:
                raise ModelError("The model's chat template does not turn its thinking on or off after these messages")
        if not thinking:
            text += self._unthought
        if self._left_open and not thinking:
            # A thought that the template opens in any case is ended before it begins.
            text = f"{text.rstrip()}\n\n{_CLOSE}\n\n"
        pieces: list[Piece] = []
        end = 0
        for match in re.finditer("|".join(hidden), text) if hidden else ():
            pieces += [Piece(text[end : match.start()]), Piece(hidden[match.group()], literal=True)]
            end = match.end()
        pieces.append(Piece(text[end:]))
        if thinking and self.holds_thought(opening):
            thought, ended, opening = opening.partition(self.ends_thought)
            pieces.append(Piece(thought + ended))
        return _joined([*pieces, *self._specials.pieces(opening)])

    def holds_thought(self, opening: str) -> bool:
        """Whether the beginning of a model's turn has thoughts that have ended."""
        return self.thinking != "none" and self.ends_thought in opening

    def _beginning(self, probe: Sequence[Message], asked: str) -> str:
        """What the template itself puts before an answer without thoughts, behind where the model would write on.

        Models whose answers begin with a channel or a thought (gpt-oss, Kimi) say so by how they write a past answer.
        """
        mark = secrets.token_hex(8)
        try:
            told = self._text([*probe, Message("assistant", mark)], False, ask=False)
        except ModelError:
            return ""
        before = told.partition(mark)[0]
        begun = before[len(asked) :] if mark in told and before.startswith(asked) else ""
        return begun if _THOUGHT.search(begun) else ""

    def _text(self, messages: Sequence[Message], thinking: bool, *, ask: bool = True) -> str:
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            with bounded():
                text = self._template.render(
                    messages=turns,
                    add_generation_prompt=ask,
                    **self._variables,
                    **(self._on if thinking else self._off),
                )
            if len(text) > LONGEST + 2 * sum(len(message.content) for message in messages):
                raise OverLimit(f"its prompt has {len(text):,} characters")
            text.encode()  # half of a surrogate pair is no character, and no tokeniser takes one
        # It is a program of somebody's: what it can raise is whatever Python can.
        except (Exception, OverLimit) as error:
            raise ModelError(f"The model's chat template refuses these messages: {_said(error)}") from error
        return text

    def _takes_system(self) -> bool:
        rule = secrets.token_hex(8)
        try:
            return rule in self._text([Message("system", rule), Message("user", "x")], False)
        except ModelError:
            return False


def _end_of_thought(beginning: str) -> str:
    """What stands between thoughts and an answer, by how an answer without thoughts begins."""
    tags = [found[0] for found in _THOUGHT.finditer(beginning) if found[0].startswith("</")]
    if tags:
        return tags[-1]
    return beginning.strip() if _THOUGHT.search(beginning) else _CLOSE


def _said(error: BaseException) -> str:
    """One line of what a template raised, whatever it put into it."""
    try:
        words = " ".join(str(error).split())
    except Exception:
        words = ""
    kind = "" if isinstance(error, TemplateError | OverLimit) else type(error).__name__
    return ": ".join(each for each in (kind, words[:_MOST_SAID]) if each) or "it says nothing of why"


_MOST_SAID = 300


def plain_prompt(messages: Sequence[Message]) -> str:
    """The prompt for a model that continues texts and knows no chat: all that is said, then a place for the answer."""
    return "\n\n".join(message.content for message in messages) + "\n\nAnswer:"


def with_question(messages: Sequence[Message], question: str) -> tuple[Message, ...]:
    """The messages with `question` at the end of the user's last one.

    Raises:
        ModelError: no message is the user's.
    """
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "user":
            asked = Message("user", messages[place].content + question)
            return (*messages[:place], asked, *messages[place + 1 :])
    raise ModelError("A question needs a message of the user's to stand in")


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbours that are tokenised alike as one piece: tokens may not break where nothing is."""
    joined: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if joined and not joined[-1].literal and not piece.literal:
            joined[-1] = Piece(joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined


def _without_system(messages: Sequence[Message]) -> Sequence[Message]:
    """For a template that knows no system's turn: its text begins the user's first one instead."""
    rules = "\n\n".join(message.content for message in messages if message.role == "system")
    others = [message for message in messages if message.role != "system"]
    if not rules or not others:
        return others or [Message("user", rules)]
    return [Message(others[0].role, f"{rules}\n\n{others[0].content}"), *others[1:]]


class _Generation(Extension):
    """`{% generation %}` marks what a model is trained on; it says nothing here."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


@lru_cache(maxsize=1)
def _environment() -> BoundedEnvironment:
    environment = BoundedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"]
    )

    def refuse(why: str) -> None:
        raise TemplateError(why)

    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = TODAY.strftime
    environment.filters["tojson"] = lambda value, **how: json.dumps(value, ensure_ascii=False, **how)
    return environment


@lru_cache(maxsize=8)
def _compile(source: str) -> Template:
    return _environment().from_string(source)
