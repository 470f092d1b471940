"""What a layout is: a reader and a writer between files of one program or corpus and rows of one shape.

A row is a plain object with the keys of an "any text" record: `id` (may be missing: then it is the line's number),
`text`, `subject`, `meta`, `spans` (a list of `{start, end, label?, score?, attributes?}`), `label`, `labels` (a list of
strings, or numbers by label), `values` (numbers by name), `emotion`, `valence`, `sentences`, and `annotators` (by name
an object with some of these keys). A key that is missing is unlabelled; an empty list says that there is nothing.
Offsets are Unicode code points into `text`, half open, whatever the file counts in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats.rows import Rows, literal
from emotui.toml_text import parse_toml

TextRow = dict[str, Any]
"""One text with what is said about it, as above."""

HEAD = 1 << 16
"""Bytes of a file that are looked at to find out what it is."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person says about a file; None and empty: it is found out.

    Attributes:
        delimiter: of the cells of a table.
        encoding: of a text file, as Python names it.
        columns: by the key of a row the column that it stands in; for JSON the field. `labels.joy` and `values.joy` are
            the number of one label or scale; `start`, `end`, `span` (its text), `span_label` and `annotator` belong to
            tables with a row a span or a row a person; what stands under `ignore.` and any name is left out. An empty
            column: there is none for that key.
        label_names: the labels of a file that has them as numbers, in their order.
        predicted: whether spans may be strings, as a model wrote them; else strings are located in their text.
        remarks: lines about what was made of the file and may be meant otherwise; found out, never given.
    """

    delimiter: str | None = None
    encoding: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    label_names: tuple[str, ...] = ()
    predicted: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to lay out texts in a file or a folder.

    Attributes:
        name: as `--format` takes it.
        about: one line of help, with the program or corpus that writes it.
        recognise: from a path and the first bytes of it (none of a folder) to why it is taken for this layout, in words
            after "because"; None where it is not. The first layout of the registry that recognises a path has it.
        rows: its rows by line (from 1; of a folder or a document by their place), and a `Flaw` for each that is wrong.
            Raises UnreadableFile where nothing can be read.
        write: writes rows into a file or folder that is not there yet, and gives a line for each kind of thing that
            the layout cannot hold; None: it is only read.
        settled: the options with what was found out about a file filled in, where columns have a say: `rows` with them
            gives the same rows. None: nothing is to be found out.
    """

    name: str
    about: str
    recognise: Callable[[Path, bytes], str | None]
    rows: Callable[[Path, ReadOptions], Rows]
    write: Callable[[Path, Sequence[TextRow]], Sequence[str]] | None = None
    settled: Callable[[Path, ReadOptions], ReadOptions] | None = None


# A mapping kept in a file (TOML): of which layout files are, how they are written, and which column is what.


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
