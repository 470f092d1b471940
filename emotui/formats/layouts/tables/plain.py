"""Plain text: a line a text, or texts with blank lines between them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.lost import lost
from emotui.formats.layouts.tables.decoding import broken, decoded_file, decoded_head
from emotui.formats.rows import Rows, UnreadableFile

_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f]")


def _in_paragraphs(text: str) -> bool:
    """Whether blank lines stand between the texts: there are some, and most texts go over several lines."""
    stripped = text.strip().replace("\r\n", "\n")
    parts = [part for part in _BLANK_LINES.split(stripped) if part]
    return len(parts) > 1 and 2 * sum("\n" in part.strip() for part in parts) > len(parts)


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a text, each with the line on which it begins."""
    text = decoded_file(path, options.encoding).text
    for line, part in _paragraphs(text) if _in_paragraphs(text) else enumerate(text.split("\n"), start=1):
        if part.strip():
            wrong = broken(part)
            yield line, wrong if wrong is not None else {"text": part.removesuffix("\r")}


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    begins, gathered = 0, list[str]()
    for line, content in enumerate([*text.split("\n"), ""], start=1):
        if content.strip():
            begins = begins if gathered else line
            gathered.append(content.removesuffix("\r"))
        elif gathered:
            yield begins, "\n".join(gathered)
            gathered = []


def _recognise(path: Path, head: bytes) -> str | None:
    if path.suffix.lower() not in (".txt", ".text", "") or not head.strip():
        return None
    try:
        text = decoded_head(head).text
    except UnreadableFile:
        return None
    if _CONTROLS.search(text):
        return None
    between = "texts with blank lines between them" if _in_paragraphs(text) else "a text a line"
    return f"it is plain text, {between}"


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A line a text; blank lines between them where most texts have several lines themselves."""
    contents = [row.get("text") or "" for row in rows]
    folded = ["\n".join(line for line in text.splitlines() if line.strip()) for text in contents]
    several = len(folded) > 1 and 2 * sum("\n" in text for text in folded) > sum(map(bool, folded))
    written = folded if several else [text.replace("\n", " ") for text in folded]
    path.write_text(("\n\n" if several else "\n").join(filter(None, written)) + "\n", encoding="utf-8")
    unheld = lost(rows, ("text",))
    changed = sum(one != text for one, text in zip(written, contents, strict=True) if one)
    unheld.add("line ends inside texts", "blank ones left out" if several else "written as spaces", changed)
    unheld.add("empty texts", "left out", sum(not text for text in written))
    return unheld.lines()


PLAIN_TEXT = Layout(
    name="text",
    about="Plain text: a line a text, or texts with blank lines between them.",
    recognise=_recognise,
    rows=rows,
    write=write,
)
