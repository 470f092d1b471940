"""CoNLL: a token a line with its tag, a blank line between sentences; BIO, IOB1, BIOES, BILOU and CoNLL-U."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import text_lines
from emotui.formats.layouts.tools.said import Lost
from emotui.formats.rows import Flaw, Rows, UnreadableFile, shown

# Rows as tokens with BIO tags, each text under a comment with how it stands.

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


_TAG = re.compile(r"(?:O|_|-|[BILUESM](?:-.*)?)", re.DOTALL)
_RANGE = re.compile(r"(\d+)-(\d+)", re.ASCII)
_ENDINGS = (".conll", ".conllu", ".iob", ".iob2", ".bio", ".bilou", ".bioes")
_OPENS, _CLOSES = frozenset("BUS"), frozenset("LEUS")
_IN_MISC = ("NER", "ner", "NE", "Entity")
_START_OF_DOCUMENT = "-DOCSTART-"


def recognise(path: Path, head: bytes) -> str | None:
    """Why a file is in columns with tags."""
    if path.suffix.lower() in _ENDINGS:
        return f"its name ends in {path.suffix.lower()}"
    lines = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")[:-1][:200]
    rows = [_cells(line.rstrip("\r")) for line in lines if line.strip() and not _is_comment(line)]
    if rows and rows[0][0] == _START_OF_DOCUMENT:
        return f"it begins with {_START_OF_DOCUMENT}"
    widths = {len(cells) for cells in rows}
    if len(rows) < 2 or len(widths) != 1 or widths == {1}:
        return None
    if widths == {10} and all(cells[0].partition("-")[0].partition(".")[0].isdigit() for cells in rows):
        return "its lines have the ten columns of CoNLL-U"
    tags = {cells[-1] for cells in rows}
    if all(_TAG.fullmatch(tag) for tag in tags) and any(tag.startswith(("B-", "I-", "S-", "U-")) for tag in tags):
        return "the last column of its lines holds tags such as B-, I- and O"
    return None


@dataclass(slots=True)
class _Sentence:
    line: int
    comments: list[str] = field(default_factory=list)
    tokens: list[tuple[int, list[str]]] = field(default_factory=list)


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a sentence, by the line on which it begins.

    Tokens are joined by `# text =` if there is one, else by single spaces; in CoNLL-U not after `SpaceAfter=No`.
    """
    columns: _Columns | None = None
    for sentence in _sentences(text_lines(path, options.encoding)):
        if columns is None and sentence.tokens:
            columns = _Columns(sentence, options)
        yield sentence.line, _row(sentence, columns)


def _sentences(lines: Iterator[tuple[int, str]]) -> Iterator[_Sentence]:
    sentence: _Sentence | None = None
    for number, line in lines:
        if not line or line.isspace():
            if sentence is not None:
                yield sentence
            sentence = None
            continue
        if line.startswith(_START_OF_DOCUMENT):
            continue
        if sentence is None:
            sentence = _Sentence(number)
        if line[0] == "#" and _is_comment(line):
            sentence.comments.append(line)
        else:
            sentence.tokens.append((number, _cells(line)))
    if sentence is not None:
        yield sentence


def _cells(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else line.split()


def _is_comment(line: str) -> bool:
    """Whether a line is a comment; a token may begin with the same sign."""
    if not line.startswith("#"):
        return False
    if line.startswith("# ") and _key_and_value(line) is not None:
        return True
    cells = _cells(line)
    return len(cells) < 2 or _TAG.fullmatch(cells[-1]) is None


def _key_and_value(comment: str) -> tuple[str, str] | None:
    """What stands on the two sides of the first ` = ` of a comment."""
    before, _, value = comment[1:].partition("=")
    key = before.strip()
    if not key or "\t" in key or len(before) == len(comment) - 1 or not (value.startswith(" ") or not value.strip()):
        return None
    return key, value[1:]


class _Columns:
    """In which columns tokens and tags stand, by the first sentence of a file."""

    def __init__(self, sentence: _Sentence, options: ReadOptions) -> None:
        rows = [cells for _, cells in sentence.tokens]
        self.width = len(rows[0])
        numbered = all(cells[0].partition("-")[0].partition(".")[0].isdigit() for cells in rows)
        self.universal = self.width == 10 and numbered
        self.token = 1 if numbered and self.width > 2 else 0
        self.tags = [] if self.universal or self.width == 1 else [self.width - 1]
        if self.token and not self.universal:  # several columns of tags, one within the other
            inner = range(2, self.width)
            self.tags = [n for n in inner if all(len(c) > n and _TAG.fullmatch(c[n]) for c in rows)] or self.tags
        self.misc = options.columns.get("spans") if self.universal else None
        if "text" in options.columns:
            self.token = self._asked(options.columns["text"])
        if "spans" in options.columns and not self.universal:
            self.tags = [self._asked(name) for name in options.columns["spans"].split(",")]

    def _asked(self, number: str) -> int:
        if not number.strip().isdecimal() or not 1 <= int(number) <= self.width:
            raise UnreadableFile(f"columns are numbers from 1 to {self.width} there, not {shown(number)}", 1)
        return int(number) - 1


def _row(sentence: _Sentence, columns: _Columns | None) -> TextRow | Flaw:
    row: TextRow = {}
    text = _take_comments(sentence.comments, row)
    if columns is None or not sentence.tokens:
        return {"text": text, **row} if text is not None else Flaw("has comments, but neither tokens nor `# text =`")
    tokens = _tokens(sentence, columns)
    if isinstance(tokens, Flaw):
        return tokens
    if text is None:
        text = "".join(form + " " * space for form, space, _ in tokens).rstrip(" ")
    places = _places(tokens, text)
    if isinstance(places, Flaw):
        return places
    spans: list[dict[str, Any]] = []
    said = False
    for layer in range(max(len(tags) for _, _, tags in tokens)):
        tags = [tags[layer] for _, _, tags in tokens]
        if all(tag == "_" for tag in tags):
            continue
        said = True
        found = _spans(tags, places)
        if isinstance(found, Flaw):
            return found
        spans += found
    return {"text": text, **({"spans": spans} if said else {}), **row}


def _tokens(sentence: _Sentence, columns: _Columns) -> list[tuple[str, bool, list[str]]] | Flaw:
    """The form of each token, whether a space follows it, and its tags."""
    if columns.universal:
        return _universal(sentence, columns)
    found = []
    form, tags, width = columns.token, columns.tags, columns.width
    for number, cells in sentence.tokens:
        if len(cells) != width:
            return Flaw(f"line {number} has {len(cells)} column{'s' * (len(cells) != 1)} where the file has {width}")
        if not cells[form]:
            return Flaw(f"line {number} has no token")
        found.append((cells[form], True, [cells[tag] for tag in tags]))
    return found


def _universal(sentence: _Sentence, columns: _Columns) -> list[tuple[str, bool, list[str]]] | Flaw:
    found: list[tuple[str, bool, list[str]]] = []
    joined_to, pending = 0, False
    for number, cells in sentence.tokens:
        if len(cells) != 10:
            return Flaw(f"line {number} has {len(cells)} column{'s' * (len(cells) != 1)} where CoNLL-U has 10")
        of_id, form, misc = cells[0], cells[1], cells[9].split("|")
        if "." in of_id or not form:
            continue
        keys = (columns.misc,) if columns.misc else _IN_MISC
        tag = next((each.split("=", 1)[1] for each in misc if each.split("=", 1)[0] in keys and "=" in each), "_")
        if several := _RANGE.fullmatch(of_id):
            joined_to, pending = int(several[2]), True
            found.append((form, "SpaceAfter=No" not in misc, [tag]))
            continue
        if of_id.isdigit() and int(of_id) <= joined_to:
            if pending and found[-1][2] == ["_"]:  # the tag of what is written together is that of its first word
                found[-1] = (*found[-1][:2], [tag])
            pending = False
            continue
        found.append((form, "SpaceAfter=No" not in misc, [tag]))
    return found or Flaw("has no token")


def _take_comments(comments: Sequence[str], row: TextRow) -> str | None:
    """Puts what comments say into the row; the text, if one of them says it."""
    text, meta, others = None, {}, []
    for comment in comments:
        found = _key_and_value(comment)
        if found is None:
            others.append(comment)
            continue
        key, value = found
        if key == "text":
            text = value
        elif key in ("id", "sent_id") and value:
            row["id"] = value
        elif key in TEXT_COMMENTS and value:
            row[key] = value
        elif key in JSON_COMMENTS and isinstance(said := jsonl.decode(value.encode()), JSON_COMMENTS[key]):
            row[key] = said
        elif key != "global.columns":
            meta[key] = value
    if others:
        meta["comments"] = "\n".join(others)
    if meta:
        row["meta"] = meta
    return text


def _places(tokens: Sequence[tuple[str, bool, list[str]]], text: str) -> list[tuple[int, int]] | Flaw:
    places = []
    at = 0
    for form, _, _ in tokens:
        start = text.find(form, at)
        if start < 0 or not (start == at or text[at:start].isspace()):
            return Flaw(f"its text has {shown(text[at : at + 20])} where the token {shown(form)} should stand")
        at = start + len(form)
        places.append((start, at))
    return places


def _spans(tags: Sequence[str], places: Sequence[tuple[int, int]]) -> list[dict[str, Any]] | Flaw:
    """The spans of one column, whichever of the schemes its tags are in."""
    spans: list[dict[str, Any]] = []
    label: str | None = None
    is_open = False
    for tag, (start, end) in zip(tags, places, strict=True):
        if tag in ("O", "_", "-"):
            is_open = False
            continue
        prefix, _, named = tag.partition("-")
        if len(prefix) != 1 or prefix not in "BILUESM":
            if any(sign in tag for sign in "()*[]"):
                return Flaw(f"{shown(tag)} is no tag such as B-joy, I-joy or O")
            prefix, named = "I", tag  # only what is within, without where it begins
        said = named or None
        if is_open and label == said and prefix not in _OPENS:
            spans[-1]["end"] = end
        else:
            spans.append({"start": start, "end": end} | ({"label": said} if said else {}))
        label, is_open = said, prefix not in _CLOSES
    return spans


LAYOUT = Layout(
    "conll",
    "a token a line with a tag in BIO, IOB1, BIOES or BILOU (CoNLL-2003, CoNLL-U)",
    recognise,
    rows,
    write,
)
