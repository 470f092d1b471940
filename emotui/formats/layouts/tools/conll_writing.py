"""Rows as tokens with BIO tags, each text under a comment with how it stands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import Lost

TEXT_COMMENTS = ("subject", "label", "emotion", "valence")
"""Keys of a row that stand in comments as they are."""
JSON_COMMENTS: dict[str, type[Any] | tuple[type[Any], ...]] = {"labels": (list, dict), "values": dict}
"""Keys of a row that stand in comments as JSON, and what they are."""
_HELD = ("id", "meta", "spans", *TEXT_COMMENTS, *JSON_COMMENTS)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_BREAK = re.compile(r"[\r\n]")
_KEY = re.compile(r"[^\s=](?:[^=\t\r\n]*[^\s=])?")


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a block a text: comments, then a token and its tag a line."""
    lost = Lost()
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in rows:
            file.write("\n".join(_block(row, lost)) + "\n\n")
    return lost.lines()


def _block(row: TextRow, lost: Lost) -> Iterator[str]:
    lost.fields(row, _HELD)
    text = _BREAK.sub(" ", row["text"])
    if text != row["text"]:
        lost.add("line breaks", "written as spaces")
    if row.get("id") is not None:
        yield from _comment("id", row["id"], lost)
    yield f"# text = {text}"
    for key in TEXT_COMMENTS:
        if row.get(key) is not None:
            yield from _comment(key, row[key], lost)
    for key in JSON_COMMENTS:
        if row.get(key) is not None:
            yield f"# {key} = {msgspec.json.encode(row[key]).decode()}"
    for key, value in (row.get("meta") or {}).items():
        if not isinstance(value, str) or key in ("text", "sent_id", "comments", "global.columns", *_HELD):
            lost.add("own columns that are no text, or are named like a field of it")
        elif not _KEY.fullmatch(key):
            lost.add("own columns with a name that is no comment's")
        else:
            yield from _comment(key, value, lost)
    yield from _tagged(text, row.get("spans"), lost)


def _comment(key: str, value: str, lost: Lost) -> Iterator[str]:
    if not value and key in ("id", *TEXT_COMMENTS):
        return
    if _BREAK.search(value):
        lost.add("line breaks in comments", "written as spaces")
    yield f"# {key} = {_BREAK.sub(' ', value)}"


def _tagged(text: str, spans: Sequence[Mapping[str, Any]] | None, lost: Lost) -> Iterator[str]:
    kept = _apart(text, spans or (), lost)
    borders = {border for start, end, _ in kept for border in (start, end)}
    tokens = [piece for found in _TOKEN.finditer(text) for piece in _cut(*found.span(), borders)]
    if spans is not None and not tokens:
        lost.add("that a text without words has no spans", "read back as not said")
    number = 0
    for start, end in tokens:
        while number < len(kept) and kept[number][1] <= start:
            number += 1
        tag = "_" if spans is None else "O"
        if number < len(kept) and kept[number][0] <= start:
            tag = ("B" if kept[number][0] == start else "I") + kept[number][2]
        yield f"{text[start:end]}\t{tag}"


def _apart(text: str, spans: Sequence[Mapping[str, Any]], lost: Lost) -> list[tuple[int, int, str]]:
    """The spans that tags can hold, in order: what overlaps one before it is left out."""
    lost.of_spans(spans, ("label",))
    kept: list[tuple[int, int, str]] = []
    for span in sorted(spans, key=lambda span: (span["start"], -span["end"])):
        held = text[span["start"] : span["end"]]
        inner = held.strip()
        start = span["start"] + len(held) - len(held.lstrip())
        if not inner:
            lost.add("spans of white space alone")
        elif kept and start < kept[-1][1]:
            lost.add("spans that overlap")
        else:
            if inner != held:
                lost.add("white space at the ends of spans")
            kept.append((start, start + len(inner), _suffix(span.get("label"), lost)))
    return kept


def _suffix(label: str | None, lost: Lost) -> str:
    plain = re.sub(r"[\t\r\n]", " ", label or "")
    if plain != (label or ""):
        lost.add("tabs and line breaks in labels", "written as spaces")
    return f"-{plain}" if plain else ""


def _cut(start: int, end: int, borders: set[int]) -> Iterator[tuple[int, int]]:
    """One token, cut where a span begins or ends within it."""
    at = start
    for border in range(start + 1, end):
        if border in borders:
            yield at, border
            at = border
    yield at, end
