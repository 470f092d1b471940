"""What the workbench and a model's process say to each other, and what counts as an answer to what was asked.

Both ends write msgpack of these types alone. A model may be of anybody's making, and so may its process: its answers
are read as the types that were asked for, counted and measured, and are never run.
"""

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec

from emotui.backends.base import (
    METHODS,
    Attribution,
    Classification,
    Classify,
    Embed,
    Evidence,
    Filled,
    FillMask,
    Generation,
    HiddenStates,
    ModelCard,
    Push,
    Pushed,
    Rank,
    Ranked,
    Refused,
    Regressed,
    Request,
    Scores,
    States,
)
from emotui.errors import ModelError

if TYPE_CHECKING:
    import numpy as np

# Frames over a pipe between the workbench and a model's process: a msgpack document and, behind it, an array's
# bytes.

LONGEST = 64 * 2**20
"""Bytes of a document that a model's process may write: a batch of answers is a few megabytes."""

LARGEST = 2**30
"""Bytes of an array that it may write: 65,536 texts in 4,096 dimensions of float32."""

_HEADER = struct.Struct("<QQ")


class TooLong(ValueError):
    """The other end announces more than may come."""


def send(pipe: IO[bytes], document: bytes, array: "bytes | memoryview" = b"") -> None:
    """Write one frame and flush. Raises BrokenPipeError where the other end is gone."""
    pipe.write(_HEADER.pack(len(document), len(array)) + document)
    if array:
        pipe.write(array)
    pipe.flush()


def receive(pipe: IO[bytes], *, bounded: bool = True) -> tuple[bytes, bytearray]:
    """Read one frame: its document and its array's bytes, which may be none.

    Args:
        bounded: no more than `LONGEST` and `LARGEST`; the process of a model takes whatever its parent sends.

    Raises:
        EOFError: the other end is gone, in the middle of a frame too.
        TooLong: more is announced; none of it was read.
    """
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    length, size = _HEADER.unpack(header)
    if bounded and (length > LONGEST or size > LARGEST):
        raise TooLong(f"a message of {length + size:,} bytes")
    document = pipe.read(length)
    array = bytearray(size)
    if len(document) < length or pipe.readinto(array) < size:  # type: ignore[attr-defined]
        raise EOFError
    return document, array


_MOST_LETTERS = 20_000

_MOST_CARD = 4 * 2**20
"""Bytes of a card, which is kept with every run: ten thousand labels have a tenth."""

_Words = Annotated[str, msgspec.Meta(max_length=_MOST_LETTERS)]
_DType = Literal["float16", "float32", "float64"]
_DTYPES: tuple[str, ...] = get_args(_DType)
_MASK = "<mask>"


class Load(msgspec.Struct, frozen=True, tag=True):
    """The first message: the model to be loaded."""

    spec: str
    options: dict[str, Any]


class Ask(msgspec.Struct, frozen=True, tag=True):
    """Requests, each behind the name of its capability (`METHODS`)."""

    number: int
    requests: list[tuple[str, msgspec.Raw]]


class TakeBack(msgspec.Struct, frozen=True, tag=True):
    """The answer to an ask is no longer wanted."""

    number: int


class Step(msgspec.Struct, frozen=True, tag=True):
    """A step of loading."""

    line: _Words


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The model cannot be loaded; `at_fault`: because of what was named."""

    why: _Words
    at_fault: bool


class Loaded(msgspec.Struct, frozen=True, tag=True):
    """The model is loaded."""

    card: ModelCard


class Build(msgspec.Struct, frozen=True, tag=True):
    """A build that a server has named for the first time."""

    name: _Words


class Rows(msgspec.Struct, frozen=True):
    """The array behind the document: C order, in the machine's own byte order."""

    dtype: _DType
    shape: tuple[int, int]


class Answer(msgspec.Struct, frozen=True, tag=True):
    """The results of an ask.

    `results`: an array of (whether it is refused, the result), one for each request but for `Embed`, in their order;
    `rows`: one row for each `Embed`, in their order.
    """

    number: int
    results: msgspec.Raw
    rows: Rows | None = None


class Error(msgspec.Struct, frozen=True, tag=True):
    """An ask that has no answer; `again`: it may have one another time."""

    number: int
    why: _Words
    again: bool


Told = Load | Ask | TakeBack
Said = Step | Failed | Loaded | Build | Answer | Error

_TOLD: "msgspec.msgpack.Decoder[Told]" = msgspec.msgpack.Decoder(Told)
_SAID: "msgspec.msgpack.Decoder[Said]" = msgspec.msgpack.Decoder(Said)
_REQUESTS: Mapping[str, "msgspec.msgpack.Decoder[Any]"] = {
    name: msgspec.msgpack.Decoder(kind) for kind, name in METHODS.items()
}
_RESULTS: Mapping[str, "msgspec.msgpack.Decoder[Any]"] = {
    name: msgspec.msgpack.Decoder(kind)
    for name, kind in {
        "generate": Generation,
        "score": Scores,
        "rank": Ranked,
        "classify": Classification,
        "fill_mask": Filled,
        "extract": tuple[Evidence, ...],
        "attribute": Attribution,
        "regress": Regressed,
        "states": HiddenStates,
        "push": Pushed,
    }.items()
}
_REFUSED = msgspec.msgpack.Decoder(Refused)
_PAIR = msgspec.msgpack.Decoder(list[tuple[bool, msgspec.Raw]])
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError, MemoryError)


class SomethingElse(ModelError):
    """What a model answered is no answer to what it was asked."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the model answered something else: {why}")


def encoded(message: Told | Said) -> bytes:
    """The document of a message."""
    return _ENCODER.encode(message)


def ask(number: int, requests: Sequence[Request]) -> bytes:
    """The document that asks. Raises: ModelError, where a text holds what no document can."""
    try:
        return encoded(Ask(number, [(METHODS[type(one)], msgspec.Raw(_ENCODER.encode(one))) for one in requests]))
    except UnicodeEncodeError:
        raise ModelError("a text holds half a character (a lone surrogate): no model can be asked about it") from None


def requests_of(asked: Ask) -> list[Request]:
    """What an ask is about."""
    return [_REQUESTS[name].decode(one) for name, one in asked.requests]


def told(document: bytes) -> Told:
    """What the workbench says to a model's process."""
    return _TOLD.decode(document)


def said(document: bytes) -> Said:
    """What a model's process says. Raises: SomethingElse, where it is nothing of the kind."""
    try:
        return _SAID.decode(document)
    except _UNREADABLE as error:
        raise SomethingElse(_line(error)) from None


def cut(words: str) -> str:
    """As much of a library's words as a message holds, without what is no character."""
    return words[:_MOST_LETTERS].encode("utf-8", "replace").decode()


def counted(results: Any, requests: Sequence[object]) -> Any:
    """A backend's results, which are as many as the requests. Raises: SomethingElse."""
    if not hasattr(results, "__len__") or not hasattr(results, "__getitem__"):
        raise SomethingElse(f"{type(results).__name__} instead of {len(requests)} results")
    if len(results) != len(requests):
        raise SomethingElse(f"{len(results)} results to {len(requests)} requests")
    return results


def answer(number: int, requests: Sequence[Request], results: Any) -> "tuple[bytes, bytes | memoryview]":
    """Document and array of an answer, at the model's end. Raises: SomethingElse."""
    embeds = [place for place, request in enumerate(requests) if isinstance(request, Embed)]
    counted(results, requests)
    try:
        rows, array = _rows(results if len(embeds) == len(requests) else [results[place] for place in embeds])
        pairs = [
            _ENCODER.encode((isinstance(result, Refused), msgspec.Raw(_result(result))))
            for request, result in zip(requests, results, strict=True)
            if not isinstance(request, Embed)
        ]
        document = encoded(Answer(number, msgspec.Raw(_ENCODER.encode(list(map(msgspec.Raw, pairs)))), rows))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise SomethingElse(_line(error)) from None
    if len(document) > LONGEST or len(array) > LARGEST:
        raise SomethingElse(f"{len(document) + len(array):,} bytes: ask about fewer texts at a time")
    return document, array


def results_of(requests: Sequence[Request], answered: Answer, array: bytearray) -> Any:
    """The results of requests: a list, or where all are `Embed` one array (n, d).

    Raises:
        SomethingElse: they are of other types, too many, too few, or not of the size of what was asked.
    """
    others = [place for place, request in enumerate(requests) if not isinstance(request, Embed)]
    embeds = len(requests) - len(others)
    try:
        if (length := _length(bytes(answered.results))) != len(others):
            raise SomethingElse(f"{length:,} results to {len(others):,} requests")
        rows = _array(answered.rows, embeds, array)
        if not others:
            return rows
        found: list[Any] = [None] * len(requests)
        for place, (refused, result) in zip(others, _PAIR.decode(answered.results), strict=True):
            found[place] = _REFUSED.decode(result) if refused else _checked(requests[place], result)
    except _UNREADABLE as error:
        raise SomethingElse(_line(error)) from None
    lines = iter(() if rows is None else rows)
    return [next(lines) if isinstance(one, Embed) else result for one, result in zip(requests, found, strict=True)]


def check_card(card: ModelCard) -> ModelCard:
    """The card of a loaded model. Raises: SomethingElse, where no model can be so."""
    if card.at_once < 1 or card.at_once > 10_000 or min(card.together, card.grows_to) < 0:
        raise SomethingElse("a card of so many asks at a time, or texts in a batch, as cannot be")
    if unknown := [name for name in card.capabilities if name not in METHODS.values()]:
        raise SomethingElse(f"a card with a capability that there is not: {unknown[0][:100]!r}")
    if (size := len(_ENCODER.encode(card))) > _MOST_CARD:
        raise SomethingElse(f"a card of {size:,} bytes")
    return card


def _result(result: Any) -> bytes:
    try:
        return _ENCODER.encode(result)
    except UnicodeEncodeError:
        raise SomethingElse("half a character (a lone surrogate)") from None


def _rows(rows: Any) -> "tuple[Rows | None, bytes | memoryview]":
    """An array (n, d) as it goes over; None for no rows."""
    if not len(rows):
        return None, b""
    import numpy as np

    vectors = np.ascontiguousarray(rows)
    if vectors.dtype.name not in _DTYPES or vectors.ndim != 2:
        raise SomethingElse(f"an array of {vectors.dtype.name} {vectors.shape} instead of embeddings")
    return Rows(vectors.dtype.name, vectors.shape), memoryview(vectors).cast("B")  # type: ignore[arg-type]


def _array(rows: Rows | None, n: int, array: bytearray) -> "np.ndarray | None":
    if rows is None or not n:
        if n or rows is not None or array:
            raise SomethingElse(f"{'no' if rows is None else 'an'} array to {n:,} texts to embed")
        return None
    import numpy as np

    size = np.dtype(rows.dtype).itemsize * math.prod(rows.shape)
    if rows.shape[0] != n or rows.shape[1] < 1 or size != len(array):
        width = f"{rows.shape[0]} x {rows.shape[1]} in {len(array):,} bytes"
        raise SomethingElse(f"an array of {width} to {n:,} texts to embed")
    return np.frombuffer(array, rows.dtype).reshape(rows.shape)


def _length(document: bytes) -> int:
    """Entries of a msgpack array, which are counted before any is made."""
    first = document[0]
    if first >> 4 == 9:
        return first & 15
    if first in (0xDC, 0xDD):
        return int.from_bytes(document[1 : 3 if first == 0xDC else 5], "big")
    raise SomethingElse("no list of results")


def _checked(request: Request, result: msgspec.Raw) -> Any:
    """A result of the type and the size that its request asks for."""
    name = METHODS[type(request)]
    found = _RESULTS[name].decode(result)
    if name in _SIZES and not _SIZES[name](request, found):
        raise SomethingElse(f"another size than that of what it was asked to {name.replace('_', ' ')}")
    if name in _PLACES and (outside := _outside(request, _PLACES[name](found))):
        # One text's trouble: the answers to the others stand.
        return Refused(f"span [{outside[0]}, {outside[1]}] lies outside the text")
    return found


def _are_scores(found: Scores, n: int) -> bool:
    each = (found.yes, found.no, found.mass)
    return all(len(one) == n for one in each) and all(len(one) in (0, n) for one in (found.shares, found.censored))


def _is_written(_: Any, found: Generation) -> bool:
    verdict = found.verdict
    return min(found.tokens, found.prompt_tokens) >= 0 and (verdict is None or _are_scores(verdict, 1))


def _is_ranked(asked: Rank, found: Ranked) -> bool:
    return {len(found.logprobs), len(found.tokens), len(found.greedy)} == {len(asked.continuations)}


def _is_classified(_: Classify, found: Classification) -> bool:
    return found.label in found.probs


def _is_filled(asked: FillMask, found: Filled) -> bool:
    return len(found.masks) == asked.text.count(_MASK)


def _are_states(asked: States, found: HiddenStates) -> bool:
    rows = len(found.words) if asked.over == "words" else 1
    n = len(found.layers)
    asked_for = range(found.depth + 1) if asked.layers is None else asked.layers
    read = [len(one) for one in found.logprobs]
    return (
        tuple(asked_for) == found.layers
        and len(found.scales) == n
        and found.size > 0
        and len(found.values) == 2 * n * rows * found.size
        and read == [len(asked.continuations)] * (n if asked.continuations else 0)
    )


def _is_pushed(asked: Push, found: Pushed) -> bool:
    named = asked.continuations or asked.labels or ()
    return set(found.probs) >= set(named) and found.tokens >= (0 if found.logprob is None else 1)


def _outside(asked: Any, places: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    return next(((start, end) for start, end in places if not 0 <= start <= end <= len(asked.text)), None)


_SIZES: Mapping[str, Callable[[Any, Any], bool]] = {
    "generate": _is_written,
    "score": lambda asked, found: _are_scores(found, len(asked.questions)),
    "rank": _is_ranked,
    "classify": _is_classified,
    "fill_mask": _is_filled,
    "states": _are_states,
    "push": _is_pushed,
}
_PLACES: Mapping[str, Callable[[Any], Iterable[tuple[int, int]]]] = {
    "extract": lambda found: ((one.start, one.end) for one in found),
    "attribute": lambda found: ((start, end) for start, end, _ in found.words),
    "states": lambda found: found.words,
}
"""Where in its text an answer points."""
"""Whether a result has the size of what was asked."""


def _plain(value: Any) -> Any:
    """A library's own number as Python's."""
    item = getattr(value, "item", None)
    if callable(item) and isinstance(number := item(), bool | int | float):
        return number
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} in a result")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
