"""Which of a model's labels is meant by a task's: the same word in another form counts, another word does not."""

import re
from collections.abc import Iterable, Mapping, Sequence

from emotui.errors import BadInput

_FORMS: Mapping[str, tuple[str, ...]] = {
    "joy": ("happiness", "happy", "joyful", "joyous"),
    "trust": ("trusting", "trustful"),
    "fear": ("fearful", "afraid", "scared"),
    "surprise": ("surprised", "surprising"),
    "sadness": ("sad",),
    "disgust": ("disgusted", "disgusting"),
    "anger": ("angry",),
    "anticipation": ("anticipating", "anticipatory"),
}
"""Plutchik's eight, and under what names classifiers have them; happiness is what Ekman calls joy."""

_NUMBERED = re.compile(r"LABEL_\d+")
"""What transformers calls the labels of a model that says no names."""

_NAMED = {form: name for name, forms in _FORMS.items() for form in forms}


def matched(label: str, own: Iterable[str]) -> str | None:
    """The one of a model's own labels that a label is: the same, case and ends apart, else the same in another form.

    None where there is none, or more than one in another form.
    """
    names = list(own)
    name = label.strip().casefold()
    same = next((each for each in names if each.strip().casefold() == name), None)
    if same is not None:
        return same
    alike = [each for each in names if _named(each) == _named(label)]
    return alike[0] if len(alike) == 1 else None


def matched_all(labels: Sequence[str], own: Sequence[str], spec: str) -> dict[str, str]:
    """The model's label for each of these.

    Raises:
        BadInput: the model lacks one, or two of them would be one label of its; one line.
    """
    found = {label: matched(label, own) for label in labels}
    lacking = [label for label, known in found.items() if known is None]
    if lacking:
        first, *more = lacking
        others = f" and {len(more)} more of these {len(labels)} labels" if more else ""
        unnamed = all(map(_NUMBERED.fullmatch, own))
        hint = " (numbers in place of names: id2label in its config.json gives names)" if unnamed else ""
        raise BadInput(f"{spec} has no label {first!r}{others}; it knows: {', '.join(own)}{hint}")
    whole = {label: known for label, known in found.items() if known is not None}
    taken: dict[str, str] = {}
    for label, known in whole.items():
        if known in taken:
            raise BadInput(f"{spec} has one label, {known!r}, for both {taken[known]!r} and {label!r}")
        taken[known] = label
    return whole


def _named(label: str) -> str:
    name = label.strip().casefold()
    return _NAMED.get(name, name)
