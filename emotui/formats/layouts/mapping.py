"""A mapping kept in a file (TOML): of which layout files are, how they are written, and which column is what."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.rows import literal
from emotui.toml_text import parse_toml


@dataclass(frozen=True, slots=True)
class KeptMapping:
    """What a file says; None where it does not."""

    layout: str | None
    kind: str | None
    options: ReadOptions


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    format: str | None = None
    kind: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    labels: tuple[str, ...] = ()
    columns: Mapping[str, str] = {}


def read_mapping(path: str) -> KeptMapping:
    """Raises BadInput where it cannot be read, or says what no mapping can say."""
    place = literal(path)
    try:
        found = msgspec.convert(parse_toml(place, read_text(path)), _Document)
    except OSError as error:
        raise BadInput(f"{place}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{place}:1: no mapping: {literal(str(error))}") from None
    options = ReadOptions(found.delimiter, found.encoding, found.columns, found.labels)
    return KeptMapping(found.format, found.kind, options)


def mapping_text(kept: KeptMapping) -> str:
    """The TOML of a mapping."""
    options = kept.options
    said: list[tuple[str, object]] = [
        ("format", kept.layout),
        ("kind", kept.kind),
        ("delimiter", options.delimiter),
        ("encoding", options.encoding),
        ("labels", list(options.label_names) or None),
    ]
    lines = [f"{name} = {_toml(value)}" for name, value in said if value is not None]
    lines += ["", "[columns]", *(f"{_toml(key)} = {_toml(column)}" for key, column in options.columns.items())]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    """A string or a list of them: TOML's basic strings are JSON's, but for DEL."""
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
