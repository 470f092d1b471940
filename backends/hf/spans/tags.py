"""From a tag a word to spans of words, in whatever scheme a model names its tags."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PREFIXED = re.compile(r"([BILUEMSW])(?:[-_](.+))?")
_OPENING, _SINGLE, _CLOSING = frozenset("BUSW"), frozenset("USW"), frozenset("LE")
_OUTSIDE = ("o", "outside", "none", "no emotion", "no_emotion", "neutral", "label_0")


@dataclass(frozen=True, slots=True)
class Tag:
    """What a tag says of a word. `part`: a letter of the scheme; `O` for a word that is in no span."""

    part: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class TaggedSpan:
    """Words from `first` up to and with `last`. `label` is empty where the scheme knows one kind of span only."""

    first: int
    last: int
    label: str


def read_tags(names: Sequence[str], outside: Sequence[str] = ()) -> tuple[Tag, ...]:
    """What each of a model's tags means.

    Tags with a letter before their label are of BIO, BIOES (S, E), BILUO (L, U) or BMEWO (M, W); a letter alone has no
    label. In any other scheme a tag is its label, and neighbours of one label are one span.

    Args:
        outside: the tags of words in no span; without any, the first that there is of `O`, `outside`, `none`,
            `neutral`, and `LABEL_0` of a model whose tags have no names.
    """
    by_lower = {name.lower(): name for name in names}
    known = set(outside) or set([by_lower[each] for each in _OUTSIDE if each in by_lower][:1])
    matches = {name: _PREFIXED.fullmatch(name) for name in names if name not in known}
    if matches and all(matches.values()) and any(name[0] in "BI" for name in matches):
        return tuple(
            Tag(found[1], found[2] or "") if (found := matches.get(name)) is not None else Tag("O") for name in names
        )
    return tuple(Tag("O") if name in known else Tag("I", name) for name in names)


def tagged_spans(tags: Sequence[Tag]) -> list[TaggedSpan]:
    """The spans of a text's words, in order; what breaks the scheme is read as conlleval reads it.

    A span goes on where a tag within or at the end of one follows a word of the same label; else that tag begins one.
    """
    spans: list[TaggedSpan] = []
    going = False
    for place, tag in enumerate(tags):
        if tag.part == "O":
            going = False
            continue
        if going and tag.part not in _OPENING and spans[-1].label == tag.label:
            spans[-1] = TaggedSpan(spans[-1].first, place, tag.label)
        else:
            spans.append(TaggedSpan(place, place, tag.label))
        going = tag.part not in _SINGLE and tag.part not in _CLOSING
    return spans
