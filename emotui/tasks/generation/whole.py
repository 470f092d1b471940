"""Records in files: a text with what one model made of it, taken apart into samples and sources, and joined again."""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.records import Generation, GenerationGold
from emotui.tasks.generation.detail import Prediction
from emotui.tasks.parts import Parted, WholeRecords


def place(record: Generation) -> str:
    """How a problem names a record; ids occur once a model."""
    return f"{record.id} of {record.model}"


def folded(label: str) -> str:
    """A label without case and ends: in another case it is the same one."""
    return label.strip().casefold()


def in_one_case(records: Sequence[Generation]) -> list[Generation]:
    """The records with each label written as it first stands among the targets, else in lower case.

    `Joy` and `joy` are one label, of targets and of raters.
    """
    first: dict[str, str] = {}
    for record in records:
        first.setdefault(folded(record.target), record.target.strip())

    def named(label: str) -> str:
        return first.get(folded(label), folded(label))

    return [
        Generation(
            id=one.id,
            model=one.model,
            target=named(one.target),
            original=one.original,
            neutral=one.neutral,
            emotional=one.emotional,
            human=tuple(map(named, one.human)),
            human_neutral=tuple(map(named, one.human_neutral)),
            failed=one.failed,
        )
        for one in records
    ]


def parted(records: Sequence[Generation]) -> Parted:
    """Samples are texts with their targets, sources are models.

    Raises:
        BadInput: two models have another original or target under one id.
    """
    samples: dict[str, GenerationGold] = {}
    said: dict[str, dict[str, Mapping[str, Any]]] = {}
    problems = []
    for one in in_one_case(records):
        first = samples.setdefault(one.id, GenerationGold(id=one.id, text=one.original, label=one.target))
        if first.text != one.original:
            problems.append(f"{place(one)}: another original than a model before it has under this id")
        elif first.label != one.target:
            problems.append(f"{place(one)}: the target is {one.target!r}, and of a model before it {first.label!r}")
        keys: dict[str, Any] = {} if one.failed else {"neutral": one.neutral, "emotional": one.emotional}
        keys |= {name: list(labels) for name in ("human", "human_neutral") if (labels := getattr(one, name))}
        said.setdefault(one.model, {})[one.id] = keys
    if problems:
        raise BadInput(*problems)
    return Parted(list(samples.values()), said)


def joined(sample: GenerationGold, prediction: Prediction | None, model: str) -> Generation:
    """The record of what a model made of a text."""
    said = prediction or Prediction()
    return Generation(
        id=sample.id,
        model=model,
        target=sample.label,
        original=sample.text,
        neutral=said.neutral,
        emotional=said.emotional,
        human=said.human,
        human_neutral=said.human_neutral,
        failed=said.silent,
    )


WHOLE = WholeRecords(record=Generation, marks=("original", "emotional"), parted=parted, place=place, joined=joined)
