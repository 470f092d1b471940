"""A scheme: what may be said of a span, a sentence or a text, and which key says it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput

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


class Scheme(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person marks. `tasks`: for which it is meant; empty: for any. `path`: of its file, for messages.

    `spans`: whether spans are marked at all; the first group of spans gives their labels, further ones attributes.
    """

    name: str
    tasks: tuple[str, ...] = ()
    spans: bool = False
    overlap: bool = True
    groups: tuple[Group, ...] = ()
    guidelines: str = ""
    path: str = ""

    def of(self, unit: str) -> tuple[Group, ...]:
        """The groups that are about spans, sentences, texts or masks."""
        return tuple(group for group in self.groups if group.of == unit)

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
    return replace(scheme, groups=tuple(groups[group.name] for group in scheme.groups))


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
    return replace(scheme, groups=tuple(groups))


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
