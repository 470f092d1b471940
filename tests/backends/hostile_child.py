"""Stands in for the process of a model, and says what no model says: `main` reads the messages, and then does so."""

import os
import pickle
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from emotui.backends import messages
from emotui.backends.base import ModelCard, Ranked, Scores

CARD = ModelCard("hostile", "hostile", ("embed", "extract", "score", "rank", "generate", "classify", "fill_mask"), {})
HUGE = 2**62


class Code:
    """Unpickled it makes a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (Path(self.path),)


def _frame(document: bytes, array: bytes = b"") -> bytes:
    return struct.pack("<QQ", len(document), len(array)) + document + array


def _pickled() -> bytes:
    return pickle.dumps(Code(os.environ["HOSTILE_FILE"]))


def _said(**fields: object) -> bytes:
    return _frame(msgspec.msgpack.encode({"type": "Answer", "number": 1, "results": [], "rows": None} | fields))


def _rows(shape: object, dtype: object = "float32", array: bytes = b"\0" * 16) -> bytes:
    rows = {"dtype": dtype, "shape": shape}
    return _frame(msgspec.msgpack.encode({"type": "Answer", "number": 1, "results": [], "rows": rows}), array)


def _results(*results: object) -> bytes:
    return _said(results=[(False, result) for result in results])


NAN = float("nan")
TO_EXTRACT: dict[str, Callable[[], bytes]] = {
    "a pickle": lambda: _frame(_pickled()),
    "a pickle as the program once read it": lambda: struct.pack("<Q", len(_pickled())) + _pickled() + b"\0" * 32,
    "a pickle for a result": lambda: _results(_pickled()),
    "a pickle for all results": lambda: _said(results=_pickled()),
    "a pickle behind the document": lambda: _frame(
        msgspec.msgpack.encode({"type": "Answer", "number": 1, "results": [(False, [])]}), _pickled()
    ),
    "noise": lambda: os.urandom(1) + b"\xc1" * 4000,
    "text": lambda: b"Hello, how can I help you today?\n" * 10,
    "nothing": lambda: _frame(b""),
    "a gigantic length": lambda: struct.pack("<QQ", HUGE, 0),
    "a gigantic array": lambda: struct.pack("<QQ", 0, HUGE),
    "the longest length": lambda: b"\xff" * 16,
    "a list of four billion": lambda: _frame(b"\xdd\xff\xff\xff\xff"),
    "results of four billion": lambda: _frame(b"\x83\xa4type\xa6Answer\xa6number\x01\xa7results\xdd\xff\xff\xff\xff"),
    "lists in lists": lambda: _said(results=msgspec.Raw(b"\x91" * 100_000 + b"\x90")),
    "lists in lists of the result": lambda: _said(results=[(False, msgspec.Raw(b"\x91" * 100_000 + b"\x90"))]),
    "a message of another kind": lambda: _frame(msgspec.msgpack.encode({"type": "Run", "code": "1"})),
    "a second card": lambda: _frame(messages.encoded(messages.Loaded(CARD))),
    "builds without end": lambda: _frame(messages.encoded(messages.Build("b"))) * 2000,
    "an endless line": lambda: _frame(msgspec.msgpack.encode({"type": "Step", "line": "x" * 30_000})),
    "a number that is text": lambda: _said(number="1"),
    "results that are text": lambda: _said(results="none"),
    "no result": lambda: _results(),
    "two results": lambda: _results([], []),
    "a million results": lambda: _said(results=[0] * 1_000_000),
    "a result without a pair": lambda: _said(results=[[]]),
    "text for a result": lambda: _results("happy"),
    "a span of text": lambda: _results([{"start": "0", "end": 1, "label": "x", "strength": 0.5}]),
    "a span from NaN on": lambda: _results([{"start": NAN, "end": 1, "label": "x", "strength": 0.5}]),
    "scores of a span": lambda: _results(Scores((0.1,), (0.2,), (1.0,))),
    "an array for spans": lambda: _rows([1, 4]),
    "a refusal without a reason": lambda: _said(results=[(True, {})]),
    "an error that is a number": lambda: _frame(msgspec.msgpack.encode({"type": "Error", "number": 1, "why": 1})),
    "no UTF-8": lambda: _frame(b"\x84\xa4type\xa5Error\xa6number\x01\xa3why\xa2\xff\xfe\xa5again\xc2"),
}
"""By name what is written when one text, `Glad.`, is to be marked."""

TO_EMBED: dict[str, Callable[[], bytes]] = {
    "text where rows are due": lambda: _results("a vector"),
    "no rows": lambda: _said(),
    "a list for rows": lambda: _results([0.1, 0.2]),
    "rows of NaN by NaN": lambda: _rows([NAN, NAN]),
    "one NaN": lambda: _rows([1, NAN]),
    "rows of another number": lambda: _rows([2, 2]),
    "rows of no width": lambda: _rows([1, 0], array=b""),
    "rows below zero": lambda: _rows([-1, -4]),
    "a width below zero": lambda: _rows([1, -4]),
    "a gigantic width": lambda: _rows([1, HUGE]),
    "a width that overflows": lambda: _rows([1, 2**62 + 4]),
    "three dimensions": lambda: _rows([1, 2, 2]),
    "fewer bytes than the shape": lambda: _rows([1, 400]),
    "more bytes than the shape": lambda: _rows([1, 1]),
    "objects": lambda: _rows([1, 2], dtype="object"),
    "a dtype that is code": lambda: _rows([1, 2], dtype="O,(2)i4"),
    "a dtype that is a number": lambda: _rows([1, 2], dtype=4),
}
"""Likewise when it is to be embedded."""

WHEN_LOADED: dict[str, Callable[[], bytes]] = {
    "a pickle for a card": lambda: _frame(_pickled()),
    "an answer before a card": lambda: _results([]) + struct.pack("<QQ", HUGE, 0),
    "a card of text": lambda: _frame(msgspec.msgpack.encode({"type": "Loaded", "card": "me"})),
    "a card without a name": lambda: _frame(msgspec.msgpack.encode({"type": "Loaded", "card": {}})),
    "no asks at a time": lambda: _frame(messages.encoded(messages.Loaded(msgspec.structs.replace(CARD, at_once=0)))),
    "a batch below zero": lambda: _frame(messages.encoded(messages.Loaded(msgspec.structs.replace(CARD, together=-5)))),
    "a card without end": lambda: _frame(
        messages.encoded(messages.Loaded(msgspec.structs.replace(CARD, identity={"weights": "x" * 2**23})))
    ),
    "an ability of its own": lambda: _frame(
        messages.encoded(messages.Loaded(msgspec.structs.replace(CARD, capabilities=("obey",))))
    ),
    "a card and a half": lambda: b"\x10" + b"\xff" * 40,
}
"""Likewise when the model is to be loaded."""

HALVES: dict[str, Callable[[], bytes]] = {
    "half a header": lambda: b"\x10\0\0",
    "half a document": lambda: struct.pack("<QQ", 1000, 0) + b"\x84",
    "half an array": lambda: _rows([1, 4])[:-3],
}
"""What is written before nothing more is."""


def main(name: str) -> None:
    """Say what `name` names; then hang, until the parent ends this process."""
    out = os.fdopen(os.dup(1), "wb")
    messages.receive(sys.stdin.buffer, bounded=False)
    if name not in WHEN_LOADED:
        messages.send(out, messages.encoded(messages.Loaded(CARD)))
        if name == "reads nothing":
            time.sleep(600)
        messages.receive(sys.stdin.buffer, bounded=False)
    out.write((TO_EXTRACT | TO_EMBED | WHEN_LOADED | HALVES)[name]())
    out.flush()
    time.sleep(600)


RANKED: dict[str, Ranked] = {
    "too few": Ranked((-1.0,), (1,), (True,)),
    "of other lengths": Ranked((-1.0, -2.0), (1,), (True, False)),
}
SCORED = {
    "too few": Scores((0.1,), (0.2,), (1.0,)),
    "too many": Scores((0.1,) * 3, (0.2,) * 3, (1.0,) * 3),
    "of other lengths": Scores((0.1, 0.1), (0.2,), (1.0, 1.0)),
    "with other shares": Scores((0.1, 0.1), (0.2, 0.1), (1.0, 1.0), shares=({},)),
}
