"""Files of raw posts to files of masked records, with what was decided about each emotion word."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.backends.host import Cancelled, IsCancelled
from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import MOST_PROBLEMS, capped, check_writable, read, write, write_text
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.lexicons import keywords_from
from emotui.metrics.masked import fold
from emotui.records import MaskedGold, Text
from emotui.tasks.masked.building.build import BuiltPost, build, own_words, problem
from emotui.tasks.masked.building.protocol import CONDITION, QUOTED, Decision, Words, hanta
from emotui.tasks.masked.word_vectors import read_forms

COLUMNS = ("post", "start", "end", "word", "masked", "pattern", "why", "gap", "review", "around")
"""Of a file of decisions."""

_AROUND = 60
"""Characters on either side of a word, in a file of decisions."""

Place = tuple[int, int]

Decided = Mapping[str, Mapping[Place, Place | None]]
"""By post and the place of an emotion word: where a mask stands instead, or None for no mask."""


class Building(msgspec.Struct, frozen=True):
    """How posts are built.

    Attributes:
        words: a file of emotion words in place of this project's: one a line, or forms with their words.
        segmented: whether long posts are cut.
        tokenizer: a folder or file of the tokenizer that segments are measured by; empty: that of `embedded`.
        decided: a file of decisions that a person has gone through.
    """

    words: str | None = None
    segmented: bool = True
    tokenizer: str = ""
    decided: str | None = None


class Built(msgspec.Struct, frozen=True):
    """The posts of a file in its order, and the words of the list that were looked for."""

    posts: tuple[BuiltPost, ...]

    @property
    def records(self) -> list[MaskedGold]:
        """Those of all posts."""
        return [record for post in self.posts for record in post.records]

    def document(self) -> dict[str, Any]:
        """What was built, counted; and by how often they stand so the words between quotation marks (left), in a
        condition (left, or masked and to be looked at), and behind "I feel" without being on the list.
        """
        kept = [post for post in self.posts if post.records]
        decided = [one for post in self.posts for one in post.decisions]
        masked = [one for one in decided if one.masked]
        return {
            "posts": len(self.posts),
            "with_masks": len(kept),
            "left_out": len(self.posts) - len(kept),
            "records": len(self.records),
            "masks": len(masked),
            "emotion_words": len(decided),
            "to_review": sum(bool(one.review) for one in masked),
            "patterns": {name: sum(one.pattern == name for one in masked) for name in ("I feel", "I am", "feeling")},
            "quoted": _by_word(one.word for one in decided if one.why == QUOTED),
            "conditional": _by_word(
                one.word for one in decided if "conditional" in one.review or one.why.startswith(CONDITION)
            ),
            "unlisted": _by_word(word for post in self.posts for word in post.unlisted),
        }


def build_file(
    path: str,
    how: Building,
    *,
    skip_bad: bool,
    warn: Warn,
    said: Decided | None = None,
    cancelled: IsCancelled = lambda: False,
) -> Built:
    """Build every post of a file.

    A post without an emotion word of its writer's own is left out, and told with its line.

    Args:
        said: what a person decided, where it is at hand and not in a file.

    Raises:
        Cancelled: `cancelled()` became true between two posts.
        BadInput: a post has no text, or a mask in it already; a file cannot be read; or no post is left.
    """
    words = _looked_for(how.words) if how.words else own_words()
    tokens = _tokens(how)
    # All that is wrong with a file is told at once, what cannot be read and what cannot be masked.
    got = read(path, Text, skip_bad=True)
    posts = list(zip(got.records, got.lines, strict=True))
    bad = [
        *got.skipped,
        *(f"{literal(path)}:{line}: {why}" for post, line in posts if (why := problem(post)) is not None),
    ]
    bad.sort(key=_line)
    if bad and not skip_bad:
        raise BadInput(*capped(bad))
    for one in bad:
        warn(f"skipped {one}")
    good = [(post, line) for post, line in posts if problem(post) is None]
    decided = said if said is not None else _decided(how.decided, {post.id for post, _ in good})
    tag = hanta()
    built: list[BuiltPost] = []
    for post, at in good:
        if cancelled():
            raise Cancelled
        built.append(_built(path, at, post, words, tag, tokens, decided.get(post.id)))
    _check_decided(how.decided, decided, built)
    without = [
        f"{literal(path)}:{line}: no emotion word that the writer says of themselves, left out"
        for (_, line), post in zip(good, built, strict=True)
        if not post.records
    ]
    if len(without) == len(good):
        raise BadInput(*capped([*bad, *without]))
    for line in without[:MOST_PROBLEMS]:
        warn(line)
    if len(without) > MOST_PROBLEMS:
        warn(f"... and {len(without) - MOST_PROBLEMS} more posts without one")
    return Built(tuple(built))


def _by_word(words: Iterable[str]) -> dict[str, int]:
    """How often each word comes, folded, the commonest first."""
    counts = Counter(map(fold, words))
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _looked_for(path: str) -> Words:
    """The words of a file: one a line, or inflected forms with their words, of which both are looked for."""
    plain = keywords_from(path)
    if not any("," in line or "\t" in line or "{" in line for line in plain):
        return Words(plain)
    forms = read_forms(path).words
    return Words({*forms, *forms.values()})


def _line(problem: str) -> int:
    """The line that a problem names; 0 where it is about the file."""
    found = re.search(r":(\d+): ", problem)
    return int(found[1]) if found else 0


def _built(path: str, line: int, post: Text, *how: Any) -> BuiltPost:
    try:
        return build(post, *how)
    except BadInput as error:
        raise BadInput(f"{literal(path)}:{line}: {error}") from error


def write_built(built: Built, to: str) -> None:
    """The records, in the format of the file's ending. Raises BadInput where it cannot be written."""
    check_writable(to)
    write(to, built.records)


def write_decisions(built: Built, posts: Mapping[str, str], to: str) -> None:
    """A table of all decisions, to be gone through and given back with `decided`.

    Args:
        posts: their texts by id.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for post in built.posts:
        for one in post.decisions:
            rows.writerow([post.post, *_cells(one, posts[post.post])])
    write_text(Path(to), out.getvalue())


def texts_of(path: str, *, skip_bad: bool) -> dict[str, str]:
    """The posts' texts by id."""
    return {post.id: post.text for post in read(path, Text, skip_bad=skip_bad).records}


def explained(built: Built) -> list[str]:
    """A line a decision, for people."""
    return [
        f"{post.post} {one.start}-{one.end} {one.word}: {'masked' if one.masked else 'left'}; {one.why}"
        + (f" [{' '.join(f'{word}/{label}' for word, label in one.gap)}]" if one.gap else "")
        + (f" (look at it: {', '.join(one.review)})" if one.review else "")
        for post in built.posts
        for one in post.decisions
    ]


def _cells(one: Decision, text: str) -> list[object]:
    around = f"{text[max(0, one.start - _AROUND) : one.start]}[{one.word}]{text[one.end : one.end + _AROUND]}"
    gap = " ".join(f"{word}/{label}" for word, label in one.gap)
    review = " ".join(one.review)
    return [one.start, one.end, one.word, int(one.masked), one.pattern, one.why, gap, review, " ".join(around.split())]


def _tokens(how: Building) -> Any:
    if not how.segmented:
        if how.tokenizer:
            raise BadInput("--tokenizer measures segments, and --full-posts has none")
        return None
    from emotui.backends.words import token_places

    return token_places(how.tokenizer)


def _decided(path: str | None, ids: set[str]) -> Decided:
    """What a person decided, by post and place; `to_start` and `to_end`, where they stand, move the mask.

    Raises:
        BadInput: lines that say nothing of a post; they are named.
    """
    if path is None:
        return {}
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{literal(path)}: not UTF-8") from error
    rows = csv.DictReader(lines)
    if not {"post", "start", "end", "masked"} <= set(rows.fieldnames or ()):
        raise BadInput(f"{literal(path)}:1: a file of decisions has the columns post, start, end and masked")
    found: dict[str, dict[Place, Place | None]] = {}
    problems = []
    for row in rows:
        where = f"{literal(path)}:{rows.line_num}"
        if row["post"] not in ids:
            problems.append(f"{where}: there is no post {literal(str(row['post']))}")
        elif row["masked"] not in ("0", "1"):
            problems.append(f"{where}: masked is {literal(str(row['masked']))}, not 0 or 1")
        elif not (str(row["start"]).isdigit() and str(row["end"]).isdigit()):
            problems.append(f"{where}: start and end are not two numbers")
        elif not all(not (row.get(name) or "") or str(row[name]).isdigit() for name in ("to_start", "to_end")):
            problems.append(f"{where}: to_start and to_end are not two numbers")
        else:
            here = int(row["start"]), int(row["end"])
            to = int(row.get("to_start") or here[0]), int(row.get("to_end") or here[1])
            found.setdefault(row["post"], {})[here] = to if row["masked"] == "1" else None
    if problems:
        raise BadInput(*capped(problems))
    return found


def _check_decided(path: str | None, decided: Decided, built: Sequence[BuiltPost]) -> None:
    there = {post.post: set(post.places) for post in built}
    problems = [
        f"{literal(str(path))}: no emotion word of post {literal(post)} stands at {start}-{end}"
        for post, places in decided.items()
        for start, end in places
        if (start, end) not in there[post]
    ]
    if problems:
        raise BadInput(*capped(problems))
