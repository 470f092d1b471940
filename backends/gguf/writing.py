"""`Generate`: token by token, several answers side by side, each with its own seed, grammar and stops."""

import codecs
import ctypes
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from emotui.backends.base import Generate, Generation, Refused
from emotui.backends.gguf.context import Context, Logits
from emotui.backends.gguf.library import Library
from emotui.backends.gguf.vocabulary import Vocabulary
from emotui.backends.sampling import Draws, pick
from emotui.backends.stopping import Stopped
from emotui.errors import ModelError

# A grammar (GBNF) that an answer keeps to, held by llama.cpp.

_ENTRY = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)


class Grammar:
    """Where one answer stands in a grammar. Its rule `root` is the whole answer.

    Raises:
        ModelError: llama.cpp cannot read it.
    """

    def __init__(self, library: Library, vocabulary: Vocabulary, text: str) -> None:
        self._c = library.c
        self._entries = np.zeros(vocabulary.size, dtype=_ENTRY)
        self._numbers = np.arange(vocabulary.size, dtype=np.intc)
        library.why()
        self._sampler = self._c.llama_sampler_init_grammar(vocabulary.pointer, text.encode(), b"root")
        if not self._sampler:
            why = library.why()
            raise ModelError("llama.cpp cannot read the grammar" + (f": {why}" if why else ""))

    def close(self) -> None:
        """Free llama.cpp's part."""
        if self._sampler:
            self._c.llama_sampler_free(self._sampler)
            self._sampler = None

    def allows(self, token: int) -> bool:
        """Whether this token may come next. Far quicker than `narrow`."""
        self._entries[0] = (token, 0.0, 0.0)
        self._apply(1)
        return bool(np.isfinite(self._entries["logit"][0]))

    def narrow(self, logits: Logits) -> Logits:
        """The logits with minus infinity where a token may not come next. Args and returns: (vocabulary,).

        Raises:
            ModelError: nothing may.
        """
        self._entries["id"] = self._numbers
        self._entries["logit"] = logits
        self._apply(len(self._entries))
        allowed: Logits = self._entries["logit"].copy()
        if not np.isfinite(allowed).any():
            raise ModelError("the grammar leaves no token that could follow")
        return allowed

    def accept(self, token: int) -> None:
        """Go on behind this token, which must be allowed."""
        self._c.llama_sampler_accept(self._sampler, token)

    def _apply(self, count: int) -> None:
        data = self._entries.ctypes.data_as(self._c.llama_token_data_p)
        array = self._c.llama_token_data_array(data=data, size=count, selected=-1, sorted=False)
        self._c.llama_sampler_apply(self._sampler, ctypes.byref(array))


NewGrammar = Callable[[str], Grammar]
"""Reads a grammar. Raises ModelError where llama.cpp cannot."""


Thoughts = tuple[str, int]


class _Writing:
    """One answer so far; `result` is there when it has ended.

    Args:
        prompt: tokens of it.
        room: tokens that fit behind it, 1 or more.
        thoughts: as `write_all`.

    Raises:
        ModelError: its grammar cannot be read.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        new_grammar: NewGrammar,
        request: Generate,
        prompt: int,
        room: int,
        thoughts: Thoughts | None,
    ) -> None:
        self._vocabulary, self._request, self._prompt, self._room = vocabulary, request, prompt, room
        self._ends, most = ("", request.max_tokens) if thoughts is None else thoughts
        self._most = min(most, room)
        self._grammar = None if request.grammar is None else new_grammar(request.grammar)
        self._draws = Draws(request.seed)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text, self._count, self._begins = "", 0, 0
        self.result: Generation | None = Generation("", prompt, 0, "length") if self._most <= 0 else None

    def take(self, logits: Logits) -> int:
        """Choose the next token, and see whether it is the last. Raises: ModelError, where a grammar allows none."""
        words, ends = self._vocabulary, self._ends
        token = _choose(logits, None if ends else self._grammar, self._request, self._draws)
        if words.ends(token):
            self._end("stop")
            return token
        self._count += 1
        seen = len(self._text)
        named = ends and token in words.control
        self._text += self._decoder.decode(words.name(token).encode() if named else words.piece(token))
        if ends:
            if ends in self._text[max(0, seen - len(ends)) :]:
                self._ends, self._begins = "", len(self._text)
                self._most = min(self._count + self._request.max_tokens, self._room)
        else:
            begins, stops = self._begins, self._request.stop
            if (end := find_stop(self._text[begins:], stops, max(0, seen - begins))) is not None:
                self.result = Generation(self._text[: begins + end], self._prompt, self._count, "stop")
                return token
        if self._count >= self._most:
            self._end("length")
        return token

    def close(self) -> None:
        """Free the grammar."""
        if self._grammar is not None:
            self._grammar.close()

    def _end(self, finish: str) -> None:
        self._text += self._decoder.decode(b"", final=True)
        self.result = Generation(self._text, self._prompt, self._count, finish)


def write_all(
    context: Context,
    vocabulary: Vocabulary,
    new_grammar: NewGrammar,
    asked: Sequence[tuple[Generate, list[int]]],
    thoughts: Thoughts | None = None,
) -> list[Generation | Refused]:
    """Continue prompts, each of which fits into the context with a token more, as many at a time as fit together.

    The draws are a request's own, and its prompt is computed in fixed steps: what it writes depends, up to the rounding
    of logits, on nothing that is asked before or beside it.

    Args:
        thoughts: how those end that the model writes before its answer, and how many tokens they may have; stops and
            the grammar leave them alone.
    """
    return _Side(context, vocabulary, new_grammar, asked, thoughts).write()


class _Side:
    """Answers side by side: each reads its prompt, gets a sequence of the context, and leaves it when it has ended."""

    def __init__(
        self,
        context: Context,
        vocabulary: Vocabulary,
        new_grammar: NewGrammar,
        asked: Sequence[tuple[Generate, list[int]]],
        thoughts: Thoughts | None,
    ) -> None:
        self._context, self._vocabulary, self._new_grammar, self._asked = context, vocabulary, new_grammar, asked
        self._thoughts = thoughts
        self._results: list[Generation | Refused | None] = [None] * len(asked)
        self._waiting = deque(range(len(asked)))
        self._going: dict[int, tuple[int, _Writing, int, int]] = {}
        """By sequence: place of the request, its answer, the token to read next and its position."""
        self._reserved: dict[int, int] = {}
        self._free = list(range(max(1, context.branches), 0, -1))

    def write(self) -> list[Generation | Refused]:
        try:
            while self._waiting or self._going:
                while self._waiting and self._free and self._fits(self._waiting[0]):
                    self._begin(self._waiting.popleft())
                if self._going:
                    self._step()
        finally:
            for sequence in list(self._going):
                self._leave(sequence)
        return [result for result in self._results if result is not None]

    def _room(self, place: int) -> int:
        request, prompt = self._asked[place]
        thoughts = 0 if self._thoughts is None else self._thoughts[1]
        return min(len(prompt) + thoughts + request.max_tokens, self._context.capacity)

    def _fits(self, place: int) -> bool:
        context = self._context
        return (
            not self._going
            or not context.shared
            or sum(self._reserved.values()) + self._room(place) <= context.capacity
        )

    def _begin(self, place: int) -> None:
        request, prompt = self._asked[place]
        writing: _Writing | None = None
        try:
            room = self._context.capacity - len(prompt)
            writing = _Writing(self._vocabulary, self._new_grammar, request, len(prompt), room, self._thoughts)
            token = -1 if writing.result is not None else writing.take(self._context.read(prompt))
        except Stopped:
            if writing is not None:
                writing.close()
            raise
        except ModelError as error:
            self._refuse(place, error, writing)
            return
        if writing.result is not None:
            self._results[place] = writing.result
            writing.close()
            return
        sequence = self._free.pop()
        self._context.keep_as(sequence)
        self._reserved[sequence] = self._room(place)
        self._going[sequence] = (place, writing, token, len(prompt))

    def _step(self) -> None:
        """One more token of each."""
        if not self._context.shared:
            self._close_ranks()
        going = sorted(self._going.items())
        try:
            rows = self._context.step([(sequence, at, token) for sequence, (_, _, token, at) in going])
        except ModelError as error:
            for sequence, (place, _, _, _) in going:
                self._results[place] = Refused(str(error))
                self._leave(sequence)
            return
        for row, (sequence, (place, writing, _, at)) in zip(rows, going, strict=True):
            try:
                token = writing.take(row)
            except ModelError as error:
                self._results[place] = Refused(str(error))
                self._leave(sequence)
                continue
            self._going[sequence] = (place, writing, token, at + 1)
            if writing.result is not None:
                self._results[place] = writing.result
                self._leave(sequence)

    def _close_ranks(self) -> None:
        """Number the sequences from 1 without a gap: llama.cpp computes those with rooms of their own together where
        they stand next to each other.
        """
        while (last := max(self._going)) > len(self._going):
            gap = min(set(range(1, last)) - set(self._going))
            self._context.move(last, gap)
            self._going[gap], self._reserved[gap] = self._going.pop(last), self._reserved.pop(last)
            self._free[self._free.index(gap)] = last

    def _leave(self, sequence: int) -> None:
        _, writing, _, _ = self._going.pop(sequence)
        writing.close()
        self._context.drop(sequence)
        del self._reserved[sequence]
        self._free.append(sequence)

    def _refuse(self, place: int, error: ModelError, writing: _Writing | None) -> None:
        self._results[place] = Refused(str(error))
        if writing is not None:
            writing.close()


def find_stop(text: str, stops: tuple[str, ...], seen: int) -> int | None:
    """Where the first stop begins, None where there is none. Args: seen: none ends within so many characters."""
    places = [text.find(stop, max(0, seen - len(stop) + 1)) for stop in stops if stop]
    return min((place for place in places if place >= 0), default=None)


def _choose(logits: Logits, grammar: Grammar | None, request: Generate, draws: Draws) -> int:
    draw = draws.next() if request.temperature > 0 else 0.0
    if grammar is None:
        return pick(logits, request.temperature, request.top_p, draw)
    token = int(logits.argmax())
    # The likeliest token mostly fits as it is; trying every token of the vocabulary costs far more than one.
    if request.temperature > 0 or not grammar.allows(token):
        token = pick(grammar.narrow(logits), request.temperature, request.top_p, draw)
    grammar.accept(token)
    return token
