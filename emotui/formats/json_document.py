"""One JSON document on standard output, and one hash for a set of records."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from emotui.controls import INVISIBLE
from emotui.formats.columns import marked
from emotui.formats.conversion import written


def to_json_document(obj: object) -> str:
    """`obj` as one JSON document without a line break, keys in the order in which they are given.

    NaN and the infinities become `null`. Structs, dataclasses, tuples, sets, and NumPy's scalars and arrays are taken.

    Raises: TypeError for what JSON cannot say.
    """
    try:
        return escaped(msgspec.json.encode(obj, enc_hook=_plain).decode())
    except UnicodeEncodeError:
        # Half of a surrogate pair has no UTF-8, but it has a JSON escape.
        plain = msgspec.to_builtins(obj, enc_hook=_plain)
        return json.dumps(_without_nan(plain), separators=(",", ":"))


def escaped(document: str) -> str:
    """A JSON text that says the same, with nothing in it that a terminal would act on or that nobody would see."""
    return INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], document)


def fingerprint(records: Iterable[msgspec.Struct]) -> str:
    """SHA-256, in hexadecimal, of the records in their order as canonical JSON (sorted keys, absent fields left out).

    Raises: UnicodeEncodeError for text that holds half of a surrogate pair.
    """
    digest = hashlib.sha256()
    for record in records:
        digest.update(msgspec.json.encode(present(record), order="sorted"))
        digest.update(b"\n")
    return digest.hexdigest()


def present(record: msgspec.Struct) -> dict[str, Any]:
    """The fields of a record, and of the records in it, that are not at their default, in the record's order.

    Marks are as short as they are written in files: a plain one is `[start, end]`.
    """
    fields: dict[str, Any] = {}
    for name, default, of_marks in _fields(type(record)):
        value = getattr(record, name)
        if value is default:  # nearly all of the optional ones, and quicker told than by what stands in them
            continue
        if default is msgspec.NODEFAULT or value != default:
            if of_marks:
                fields[name] = written(value)
            else:
                nested = type(value) is tuple and value and isinstance(value[0], msgspec.Struct)
                fields[name] = [present(inner) for inner in value] if nested else value
    return fields


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any, bool], ...]:
    """(name, default, whether it holds marks) of each."""
    return tuple(
        (
            field.name,
            field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory(),
            field.name in marked(kind),
        )
        for field in msgspec.structs.fields(kind)
    )


def _plain(value: Any) -> Any:
    """A NumPy scalar or array as plain Python; NumPy itself is not imported for it."""
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_without_nan(inner) for inner in value]
    return value
