"""What a record of a text says beside what its kind is of: a label beside spans, numbers beside labels.

In a file each stands under a key of its own; in a record of one kind what that kind has no field for stands in `meta`,
under the same key, so that it is shown, filtered and written out again.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from emotui.formats.columns import NUMBERED
from emotui.records import LabelsGold, Text

SAID = ("spans", "label", "labels", "values")
"""The keys under which something is said about a text."""


@cache
def kept_beside(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The keys that a kind of record has no field for; none where it is no record of a text with gold."""
    if kind not in NUMBERED or kind is Text:
        return ()
    return tuple(key for key in SAID if key not in kind.__struct_fields__)


def put_beside(kind: type[msgspec.Struct], row: dict[str, Any]) -> None:
    """Move what a kind of record has no field for into the `meta` of a row, in place; what stands there stays.

    Of a text with several labels and one label beside them, the one is such too.
    """
    keys = [key for key in kept_beside(kind) if row.get(key) is not None]
    if kind is LabelsGold and row.get("labels") is not None and row.get("label") is not None:
        keys.append("label")
    meta = row.get("meta")
    if keys and (meta is None or isinstance(meta, dict)):
        row["meta"] = {key: row.pop(key) for key in keys} | (meta or {})


def lifted(kind: type[msgspec.Struct], row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with what stands in its `meta` for want of a field under keys of its own again."""
    meta = row.get("meta")
    if not isinstance(meta, Mapping):
        return row
    several = kind is LabelsGold and row.get("labels") is not None and row.get("label") is None
    keys = [key for key in (*kept_beside(kind), *["label"] * several) if meta.get(key) is not None]
    if not keys:
        return row
    rest = {name: value for name, value in meta.items() if name not in keys}
    found = {name: value for name, value in row.items() if name != "meta"} | {key: meta[key] for key in keys}
    return found | ({"meta": rest} if rest else {})
