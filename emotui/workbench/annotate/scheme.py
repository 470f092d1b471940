"""A scheme: what may be said of a span, a sentence or a text, and which key says it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.resources import as_file, files
from math import ceil, floor
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.toml_text import parse_toml

SPAN, SENTENCE, TEXT, MASK = "span", "sentence", "text", "mask"
UNITS = (SPAN, SENTENCE, TEXT, MASK)
_WITHOUT_SPAN = (SENTENCE, TEXT, MASK)
"""Units whose keys hold at once: while no span is chosen."""

OF_SENTENCES = ("emotion", "valence")
"""What records hold of a sentence."""

COLOURS = ("red", "orange", "yellow", "green", "cyan", "blue", "purple", "magenta", "grey")
"""The names that a label's colour may have; a screen gives each the tone that fits its theme."""


_USUAL = {
    "joy": "yellow",
    "happy": "yellow",
    "happiness": "yellow",
    "trust": "green",
    "fear": "purple",
    "surprise": "cyan",
    "sadness": "blue",
    "sad": "blue",
    "disgust": "magenta",
    "anger": "red",
    "angry": "red",
    "anticipation": "orange",
    "positive": "green",
    "negative": "red",
    "neutral": "grey",
    "other": "grey",
    "others": "grey",
    "none": "grey",
    "mixed": "grey",
    "unclear": "grey",
}
"""The colours of labels that a scheme gives none."""


class Label(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A label with its key and colour. `about`: a line for the card of keys. `line`: of the file, 0 where unknown."""

    name: str
    key: str = ""
    colour: str = ""
    about: str = ""
    line: int = 0


class Scale(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A scale of numbers. `low` and `high` are words for its ends."""

    minimum: float
    maximum: float
    step: float = 1
    low: str = ""
    high: str = ""

    def fits(self, value: float) -> bool:
        """Whether a number is on the scale; steps are counted from the minimum."""
        steps = (value - self.minimum) / self.step
        return self.minimum <= value <= self.maximum and abs(steps - round(steps)) < 1e-6


class Group(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Labels of which one or several are chosen, or a number on a scale (`scale`), or free words (neither).

    `of`: span, sentence, text or mask. `exclusive`: at most one of its labels. `required`: an answer is not given
    without it. `key`: that of the number. `own`: its labels are those that the dataset has, where it has any.
    """

    name: str
    of: str = SPAN
    labels: tuple[Label, ...] = ()
    exclusive: bool = True
    required: bool = False
    scale: Scale | None = None
    key: str = ""
    own: bool = False
    line: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its labels."""
        return tuple(label.name for label in self.labels)


class Relation(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"source": "from", "target": "to"}
):
    """A kind of relation from one span to another. `source`, `target`: labels that its ends have; empty: any."""

    name: str
    key: str = ""
    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    about: str = ""
    line: int = 0


class Scheme(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person marks. `tasks`: for which it is meant; empty: for any. `path`: of its file, for messages.

    `spans`: whether spans are marked at all; the first group of spans gives their labels, further ones attributes.
    `parts`: whether a span may have several. `relations`: what ties one span to another.
    `auto_accept`: an answer that says all that is asked is given by that, and the next text comes.
    """

    name: str
    tasks: tuple[str, ...] = ()
    spans: bool = False
    overlap: bool = True
    parts: bool = False
    relations: tuple[Relation, ...] = ()
    auto_accept: bool = False
    groups: tuple[Group, ...] = ()
    guidelines: str = ""
    path: str = ""

    def of(self, unit: str) -> tuple[Group, ...]:
        """The groups that are about spans, sentences, texts or masks."""
        return tuple(group for group in self.groups if group.of == unit)

    @property
    def asks_of_places(self) -> bool:
        """Does it ask about spans, masks or sentences, and not of texts as a whole alone?"""
        return self.spans or any(group.of != TEXT for group in self.groups)

    @property
    def endless(self) -> str:
        """Why no answer is ever known to be whole; empty where one is once every group has something."""
        if self.spans:
            return "spans are marked, and there may always be one more"
        several = [group.name for group in self.groups if group.labels and not group.exclusive]
        return f"a text may have several labels of {several[0]!r}" if several else ""

    @property
    def span_labels(self) -> Group | None:
        """The group that labels spans."""
        return next((group for group in self.of(SPAN) if group.labels), None)

    def group(self, name: str) -> Group | None:
        """The group of this name."""
        return next((group for group in self.groups if group.name == name), None)

    def keys_of(self, unit: str) -> list[tuple[str, str, int]]:
        """(key, what it sets, the line of the file) of everything of a unit that has a key, in the scheme's order."""
        found = []
        for group in self.of(unit):
            if group.key:
                found.append((group.key, group.name, group.line))
            found += [(label.key, f"{group.name}: {label.name}", label.line) for label in group.labels if label.key]
        if unit == SPAN:
            found += [(one.key, f"the relation {one.name}", one.line) for one in self.relations if one.key]
        return found


def shared_keys(scheme: Scheme) -> list[str]:
    """A line for each key that means one thing while a span is chosen and another elsewhere."""
    of_spans = {key: what for key, what, _ in scheme.keys_of(SPAN)}
    elsewhere = {key: what for unit in _WITHOUT_SPAN for key, what, _ in scheme.keys_of(unit)}
    return [
        f"the key {key!r} sets {of_spans[key]} while a span is selected or chosen, and {what} else"
        for key, what in elsewhere.items()
        if key in of_spans
    ]


def check_keys(scheme: Scheme, reserved: Collection[str] | Mapping[str, str] = ()) -> None:
    """See to it that no key stands twice, and that none is the place's own.

    A span's key may be that of a sentence, a text or a mask too: it holds while a span is chosen, theirs while none is.

    Args:
        reserved: the keys of the place, with what they do where it is known.

    Raises:
        BadInput: a line for each clash, `FILE:LINE: what`.
    """
    problems = []
    for units in ((SPAN,), _WITHOUT_SPAN):
        seen: dict[str, str] = {}
        for key, what, line in (one for unit in units for one in scheme.keys_of(unit)):
            where = _place(scheme, line)
            if key in reserved:
                does = f", for {reserved[key]}" if isinstance(reserved, Mapping) else ""
                problems.append(f"{where}the key {key!r} of {what} is the place's own{does}: choose another")
            elif key in seen:
                problems.append(f"{where}the key {key!r} of {what} is that of {seen[key]} already")
            seen.setdefault(key, what)
    if problems:
        raise BadInput(*problems)


def with_keys(scheme: Scheme, reserved: Collection[str] = ()) -> Scheme:
    """The scheme with a key for each label and number that has none: a capital of its name, else any that is free.

    No key that is dealt is that of anything else in the scheme. Where none is left, a label stays without one and is
    chosen from a list.
    """
    groups = {group.name: group for group in scheme.groups}
    taken = {*reserved, *(key for unit in UNITS for key, _, _ in scheme.keys_of(unit))}
    for unit in UNITS:
        for group in scheme.of(unit):
            if group.scale is not None and not group.key:
                key = _free_key(group.name, taken)
                taken.add(key)
                groups[group.name] = replace(group, key=key)
                continue
            labels = []
            for label in group.labels:
                if not label.key:
                    label = replace(label, key=_free_key(label.name, taken))
                    taken.add(label.key)
                labels.append(label)
            groups[group.name] = replace(groups[group.name], labels=tuple(labels))
    relations = []
    for relation in scheme.relations:
        relations.append(relation if relation.key else replace(relation, key=_free_key(relation.name, taken)))
        taken.add(relations[-1].key)
    return replace(scheme, groups=tuple(groups[group.name] for group in scheme.groups), relations=tuple(relations))


def without_keys(scheme: Scheme, reserved: Collection[str]) -> Scheme:
    """The scheme without those of its keys that the place has for itself."""
    groups = [
        replace(
            group,
            key="" if group.key in reserved else group.key,
            labels=tuple(replace(one, key="") if one.key in reserved else one for one in group.labels),
        )
        for group in scheme.groups
    ]
    relations = [replace(one, key="") if one.key in reserved else one for one in scheme.relations]
    return replace(scheme, groups=tuple(groups), relations=tuple(relations))


def moved_keys(given: Scheme, dealt: Scheme) -> tuple[str, ...]:
    """A line for each label or number with a key of its own in the one that has another in the other.

    Args:
        given: as its file has it.
        dealt: the same with keys that no place has for itself.
    """
    after = {group.name: group for group in dealt.groups}
    lines = []
    for group in given.groups:
        now = after.get(group.name, group)
        keys = {label.name: label.key for label in now.labels}
        named = [(group.name, group.key, now.key)]
        named += [(one.name, one.key, keys[one.name]) for one in group.labels if one.name in keys]
        lines += [
            f"{name} is on {new or 'no key'}, no longer on {old}" for name, old, new in named if old and old != new
        ]
    return tuple(lines)


def _free_key(name: str, taken: Collection[str]) -> str:
    letters = [letter for letter in name.lower() if letter.isascii() and letter.isalnum()]
    rest = "1234567890abcdefghijklmnopqrstuvwxyz"
    # Capitals first: small letters are what places have most of their own keys on.
    tried = (*(letter.upper() for letter in letters), *letters, *rest[10:].upper(), *rest)
    return next((key for key in tried if key not in taken), "")


def with_own_labels(scheme: Scheme, of_spans: Sequence[str], of_texts: Sequence[str]) -> Scheme:
    """The scheme with the dataset's labels in the groups that take them."""
    there = {SPAN: of_spans, TEXT: of_texts}
    groups = [
        replace(group, labels=_labels(there.get(group.of, ()), group)) if group.own and there.get(group.of) else group
        for group in scheme.groups
    ]
    return replace(scheme, groups=tuple(groups))


def with_scales(scheme: Scheme, ranges: Mapping[str, tuple[float, float, bool]]) -> Scheme:
    """The scheme with the numbers that gold has, where these are others or lie outside its scales.

    Args:
        ranges: of each number of gold the least, the greatest and whether all are whole. A scale goes from the whole
            number below the least to the one above the greatest, by tenths where not all are whole and it is 1 or 2
            wide, else by whole numbers, which people give.
    """
    known = {group.name: group.scale for group in scheme.groups if group.scale is not None}
    fit = [
        name in known and known[name].minimum <= low and high <= known[name].maximum
        for name, (low, high, _) in ranges.items()
    ]
    if all(fit):
        return scheme
    groups = []
    for name, (low, high, whole) in ranges.items():
        least, most = float(floor(low)), float(ceil(high))
        most = max(most, least + 1)
        scale = Scale(minimum=least, maximum=most, step=0.1 if not whole and most - least <= 2 else 1)
        groups.append(Group(name=name, of=TEXT, required=True, scale=scale))
    return replace(scheme, name=f"numbers: {', '.join(ranges)}", groups=tuple(groups), guidelines="")


def _labels(names: Iterable[str], group: Group) -> tuple[Label, ...]:
    known = {label.name: label for label in group.labels}
    return tuple(known.get(name, Label(name=name)) for name in dict.fromkeys(names))


def with_colours(scheme: Scheme) -> Scheme:
    """The scheme with a colour for each label that has none: the usual one of its emotion, else the least used."""
    groups = []
    for group in scheme.groups:
        used = Counter({colour: 0 for colour in COLOURS if colour != "grey"})
        given = [label.colour or _USUAL.get(label.name.casefold(), "") for label in group.labels]
        used.update(colour for colour in given if colour)
        labels = []
        for label, colour in zip(group.labels, given, strict=True):
            if not colour:
                colour = min(used, key=lambda one: used[one])
                used[colour] += 1
            labels.append(replace(label, colour=colour))
        groups.append(replace(group, labels=tuple(labels)))
    return replace(scheme, groups=tuple(groups))


def _place(scheme: Scheme, line: int) -> str:
    if not scheme.path:
        return f"scheme {scheme.name}: "
    return f"{scheme.path}:{line}: " if line else f"{scheme.path}: "


# Schemes in TOML files, with their guidelines in Markdown beside them; some come with this package.

_PACKAGE = "emotui.workbench.annotate"
_FOLDER = "schemes"

BUILT_IN = {
    "spans": "spans",
    "labels": "labels",
    "rephrase": "class",
    "scenes": "scenes",
    "values": "values",
    "masked": "masked",
}
"""The scheme that a dataset of a task begins with. Beside them: `seer` also asks for emotion and valence a sentence,
`emolex` what a word is tied to."""

FURTHER = ("seer", "emolex")

NAMES = (*dict.fromkeys(BUILT_IN.values()), *FURTHER)
"""The names of all schemes that come with this package."""


def is_built_in(name: str) -> bool:
    """Whether a scheme, or each of several joined by `+`, comes with this package."""
    return set(name.split("+")) <= set(NAMES)


def scheme_of(name: str) -> Scheme:
    """The scheme of this name that comes with this package, or that of a TOML file.

    Raises:
        BadInput: there is neither, or the file is wrong; `FILE:LINE: what`, a line for each fault.
    """
    # What looks like no file is meant as a name: "No such file" would not say which names there are.
    no_file = not name.endswith(".toml") and Path(name).name == name and not Path(name).exists()
    return built_in(name) if no_file or is_built_in(name) else read_scheme(name)


def built_in(name: str) -> Scheme:
    """A scheme that comes with this package, or several as one: `spans+labels+values` asks for all of these.

    Raises:
        BadInput: there is none of this name.
    """
    if not is_built_in(name):
        wrong = ", ".join(repr(part) for part in dict.fromkeys(name.split("+")) if part not in NAMES)
        raise BadInput(f"there is no scheme {wrong}: write a file of your own, or use one of {', '.join(NAMES)}")
    parts = [_of_package(one) for one in dict.fromkeys(name.split("+"))]
    if len(parts) == 1:
        return parts[0]
    return Scheme(
        name=" and ".join(part.name for part in parts),
        spans=any(part.spans for part in parts),
        overlap=all(part.overlap for part in parts),
        # Labels of one and numbers of another would share letters: those of labels are dealt anew.
        groups=tuple(
            replace(group, labels=tuple(replace(label, key="") for label in group.labels))
            for part in parts
            for group in part.groups
        ),
        guidelines="\n\n".join(part.guidelines for part in parts if part.guidelines),
    )


def _of_package(name: str) -> Scheme:
    with as_file(files(_PACKAGE) / _FOLDER) as folder:
        return replace(read_scheme(str(folder / f"{name}.toml")), path="")


def read_scheme(path: str) -> Scheme:
    """The scheme of a TOML file, with its guidelines: those of `guidelines = "FILE.md"`, relative to it.

    Raises:
        BadInput: it cannot be read or is wrong; `FILE:LINE: what`, a line for each fault.
    """
    source = _text(path)
    content = parse_toml(path, source)
    problems: list[str] = []
    scheme = _scheme(path, content, _Lines(source), problems)
    if problems:
        raise BadInput(*dict.fromkeys(problems))
    assert scheme is not None
    check_keys(scheme)
    if scheme.guidelines:
        beside = Path(path).parent / scheme.guidelines
        scheme = replace(scheme, guidelines=_text(str(beside)))
    return scheme


def _text(path: str) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}:1: cannot be read: it is no UTF-8 text") from error


class _Lines:
    """Where in a file the k-th group stands, and in it a label: TOML's reader does not say."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        heads = [number for number, line in enumerate(self._lines) if re.match(r"\s*\[\[\s*groups\s*\]\]", line)]
        self._starts = [*heads, len(self._lines)]

    def group(self, place: int) -> int:
        """From 1; 0 where it cannot be told."""
        return self._starts[place] + 1 if place < len(self._starts) - 1 else 0

    def within(self, place: int, word: str) -> int:
        """The first line of a group that holds the word in quotes, else its head."""
        if place >= len(self._starts) - 1:
            return 0
        for number in range(self._starts[place], self._starts[place + 1]):
            if f'"{word}"' in self._lines[number] or f"'{word}'" in self._lines[number]:
                return number + 1
        return self.group(place)


_TOP: dict[str, type] = {
    "name": str,
    "tasks": list,
    "spans": bool,
    "overlap": bool,
    "parts": bool,
    "auto_accept": bool,
    "guidelines": str,
    "groups": list,
    "relations": list,
}
_RELATION: dict[str, type] = {"name": str, "key": str, "from": list, "to": list, "about": str}
_GROUP: dict[str, type] = {
    "name": str,
    "of": str,
    "labels": list,
    "exclusive": bool,
    "required": bool,
    "scale": dict,
    "key": str,
    "own": bool,
}
_LABEL: dict[str, type] = {"name": str, "key": str, "colour": str, "about": str}


def _scheme(path: str, content: dict[str, Any], lines: _Lines, problems: list[str]) -> Scheme | None:
    problems += _faults(f"{path}:1: ", content, _TOP)
    if problems:
        return None
    groups = []
    for place, table in enumerate(content.get("groups", ())):
        if (group := _group(path, place, table, lines, problems)) is not None:
            groups.append(group)
    names = [group.name for group in groups]
    for group in groups:
        if names.count(group.name) > 1:
            problems.append(f"{path}:{group.line}: there are {names.count(group.name)} groups {group.name!r}")
    relations = [one for table in content.get("relations", ()) if (one := _relation(path, table, groups, problems))]
    parts = content.get("parts", False)
    spans = content.get("spans", bool(relations) or parts or any(group.of == SPAN for group in groups))
    if not spans and not groups:
        problems.append(f"{path}:1: there is nothing to mark in it: write spans = true, or a table [[groups]]")
    problems += [
        f"{path}:{group.line}: {group.name!r} is about spans, and spans = false"
        for group in groups
        if group.of == SPAN and not spans
    ]
    if not spans and (relations or parts):
        problems.append(
            f"{path}:1: spans = false, and {'relations are' if relations else 'parts = true is'} about spans"
        )
    if problems:
        return None
    scheme = Scheme(
        name=content["name"],
        tasks=tuple(content.get("tasks", ())),
        spans=spans,
        overlap=content.get("overlap", True),
        parts=parts,
        relations=tuple(relations),
        auto_accept=content.get("auto_accept", False),
        groups=tuple(groups),
        guidelines=content.get("guidelines", ""),
        path=path,
    )
    if scheme.auto_accept and scheme.endless:
        problems.append(f"{path}:1: auto_accept = true: {scheme.endless}")
    return scheme


def _relation(path: str, table: object, groups: Sequence[Group], problems: list[str]) -> Relation | None:
    found = _faults(f"{path}: ", table, _RELATION)
    if isinstance(table, dict) and not found:
        known = {name for group in groups if group.of == SPAN for name in group.names}
        named = [label for end in ("from", "to") for label in table.get(end, ())]
        open_ended = any(group.own for group in groups if group.of == SPAN)
        found = [
            f"{path}: the relation {table['name']!r}: no label {label!r} of spans"
            for label in named
            if label not in known and not open_ended
        ]
        if not found:
            return msgspec.convert(table, Relation)
    problems += found
    return None


def _group(path: str, place: int, table: object, lines: _Lines, problems: list[str]) -> Group | None:
    line = lines.group(place)
    where = f"{path}:{line}: " if line else f"{path}: "
    found = _faults(where, table, _GROUP)
    if isinstance(table, dict) and not found:
        found += [f"{where}{fault}" for fault in _wrong(table)]
        labels = []
        for label in table.get("labels", ()):
            label = {"name": label} if isinstance(label, str) else label
            name = label.get("name", "") if isinstance(label, dict) else ""
            at = lines.within(place, str(name)) or line
            faults = _faults(f"{path}:{at}: ", label, _LABEL)
            if not faults and label.get("colour", "") not in ("", *COLOURS):
                faults = [f"{path}:{at}: no colour {label['colour']!r}; there are {', '.join(COLOURS)}"]
            found += faults
            if not faults:
                labels.append({**label, "line": at})
        named = [label["name"] for label in labels]
        found += [
            f"{path}:{label['line']}: {label['name']!r} stands twice"
            for label in labels
            if named.count(label["name"]) > 1
        ]
        if not found:
            return msgspec.convert({**table, "labels": labels, "line": line}, Group)
    problems += found
    return None


def _wrong(table: dict[str, Any]) -> list[str]:
    of, name = table.get("of", SPAN), table["name"]
    if of not in UNITS:
        return [f"of = {of!r}: it is one of {', '.join(UNITS)}"]
    faults = []
    labelled = bool(table.get("labels")) or table.get("own", False)
    if of == SENTENCE and name not in OF_SENTENCES:
        faults.append(f"a sentence has an {OF_SENTENCES[0]} and a {OF_SENTENCES[1]}, and no {name!r}")
    if of != MASK and not labelled and "scale" not in table:
        faults.append(f"{name!r} has neither labels nor a scale")
    if "scale" in table and labelled:
        faults.append(f"{name!r} has both labels and a scale: leave one out")
    if "scale" in table and of != TEXT:
        faults.append(f"{name!r}: numbers are of texts, not of a {of}")
    if of in (SPAN, SENTENCE) and table.get("exclusive") is False:
        faults.append(f"{name!r}: a {of} has one label of a group (exclusive = false is for texts)")
    if table.get("own") and of not in (SPAN, TEXT):
        faults.append(f"{name!r}: own = true is for spans and texts")
    scale = table.get("scale")
    if scale is not None:
        faults += _scale_faults(name, scale)
    return faults


def _scale_faults(name: str, scale: dict[str, Any]) -> list[str]:
    strange = [key for key in scale if key not in ("minimum", "maximum", "step", "low", "high")]
    if strange:
        return [f"{name!r}: a scale has no {strange[0]!r}"]
    numbers = [scale.get("minimum"), scale.get("maximum"), scale.get("step", 1)]
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        return [f"{name!r}: a scale needs the numbers minimum and maximum"]
    minimum, maximum, step = (float(one) for one in numbers if one is not None)
    if not (minimum < maximum and 0 < step <= maximum - minimum):
        return [f"{name!r}: the scale from {minimum:g} to {maximum:g} in steps of {step:g} has no numbers"]
    words = [key for key in ("low", "high") if not isinstance(scale.get(key, ""), str)]
    return [f"{name!r}: {key} should be a string" for key in words]


def _faults(where: str, table: object, fields: dict[str, type]) -> list[str]:
    """What is wrong with a table: unknown keys, wrong types, no name."""
    if not isinstance(table, dict):
        return [f"{where}this should be a table"]
    found = [f"{where}no key {key!r}; there are {', '.join(fields)}" for key in table if key not in fields]
    found += [
        f"{where}{key} should be {_TYPES[kind]}"
        for key, kind in fields.items()
        if key in table and not isinstance(table[key], kind)
    ]
    if not found and not str(table.get("name", "")).strip():
        found.append(f"{where}it has no name")
    return found


_TYPES = {str: "a string", list: "a list", bool: "true or false", dict: "a table"}
