"""llama.cpp writing for a model that thinks first: thoughts have room of their own, stops and grammars wait for the
answer. The model is a script, so that no library is needed."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from emotui.backends.base import Generate, Generation, Message
from emotui.backends.gguf.writing import write_all

END = "<end>"
MARK = "</think>"
WORDS = ["a", "b", "c", " ", "<stop>", MARK, END]
PROMPT = 4


class Words:
    """A vocabulary of `WORDS`: the mark and the end are control tokens."""

    control = frozenset([WORDS.index(MARK), WORDS.index(END)])

    def ends(self, token: int) -> bool:
        return WORDS[token] == END

    def name(self, token: int) -> str:
        return WORDS[token]

    def piece(self, token: int) -> bytes:
        return b"" if token in self.control else WORDS[token].encode()


class Scripted:
    """A context whose sequences each say their own script, and how many at a time."""

    def __init__(self, scripts: Sequence[Sequence[str]], branches: int, capacity: int, shared: bool) -> None:
        self.branches, self.capacity, self.shared = branches, capacity, shared
        self._scripts = [list(script) for script in scripts]
        self._said: dict[int, list[str]] = {}

    def read(self, ids: Sequence[int]) -> Any:
        self._now = self._scripts[ids[0]]
        return self._next(self._now)

    def keep_as(self, sequence: int) -> None:
        self._said[sequence] = self._now

    def step(self, following: Sequence[tuple[int, int, int]]) -> list[Any]:
        sequences = [sequence for sequence, _, _ in following]
        assert self.shared or sequences == list(range(1, len(sequences) + 1)), "a gap between rooms of their own"
        return [self._next(self._said[sequence]) for sequence in sequences]

    def move(self, source: int, to: int) -> None:
        assert to not in self._said
        self._said[to] = self._said.pop(source)

    def drop(self, sequence: int) -> None:
        del self._said[sequence]

    def _next(self, script: list[str]) -> Any:
        return _likely(script.pop(0))


def _likely(word: str) -> Any:
    logits = np.zeros(len(WORDS), np.float32)
    logits[WORDS.index(word)] = 9.0
    return logits


class Only:
    """A grammar that allows `c` and nothing else; it notes what it was shown."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def allows(self, token: int) -> bool:
        return WORDS[token] == "c"

    def narrow(self, logits: Any) -> Any:
        return np.where([word == "c" for word in WORDS], logits, -np.inf).astype(np.float32)

    def accept(self, token: int) -> None:
        self.taken.append(WORDS[token])

    def close(self) -> None: ...


def written(
    *scripts: Sequence[str],
    most: int = 10,
    room: int = 10,
    capacity: int = 100,
    grammar: Any = None,
    branches: int = 4,
    shared: bool = True,
) -> list[tuple[str, str, int]]:
    request = Generate((Message("user", "x"),), max_tokens=most, stop=("<stop>",), grammar=grammar and "root ::= x")
    asked = [(request, [place] * PROMPT) for place in range(len(scripts))]
    context: Any = Scripted(scripts, branches, capacity, shared)
    found = write_all(context, cast(Any, Words()), lambda _: grammar, asked, (MARK, room))
    return [(each.text, each.finish, each.tokens) for each in found if isinstance(each, Generation)]


THINKS = ["a", "<stop>", "b", MARK, "c", " ", "a", "<stop>", "b", END]


def test_a_stop_within_thoughts_is_part_of_them_and_one_behind_them_ends_the_answer() -> None:
    assert written(THINKS) == [(f"a<stop>b{MARK}c a", "stop", 8)]


def test_thoughts_and_answer_have_rooms_of_their_own_and_the_context_ends_both() -> None:
    assert written(THINKS, room=3) == [("a<stop>b", "length", 3)]
    assert written(THINKS, room=4, most=1) == [(f"a<stop>b{MARK}c", "length", 5)]
    assert written(THINKS, capacity=PROMPT + 6) == [(f"a<stop>b{MARK}c ", "length", 6)]
    assert written(["a", END]) == [("a", "stop", 1)]


def test_a_grammar_begins_behind_the_thoughts() -> None:
    grammar = Only()
    assert written(["a", MARK, "b", "b", END], grammar=grammar, most=2) == [(f"a{MARK}cc", "length", 4)]
    assert grammar.taken == ["c", "c"]


def test_several_think_side_by_side_as_each_does_alone() -> None:
    scripts = [THINKS, ["b", MARK, "a", END], ["a"] * 30, [MARK, "c", "<stop>"], ["c", END]]
    alone = [written(script)[0] for script in scripts]
    for branches in (1, 2, 4):
        for shared in (True, False):
            assert written(*scripts, branches=branches, shared=shared) == alone
