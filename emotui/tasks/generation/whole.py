"""Records in files: a text with what one model made of it, taken apart into samples and sources, and joined again."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.eans import Reading
from emotui.metrics.eps import EPS_LABELS
from emotui.metrics.ers import METRIC as ERS
from emotui.records import Generation, GenerationGold
from emotui.tasks.parts import Parted, WholeRecords

# What further models said of the texts of a dataset, as it is kept: scores are made of it without asking again.

Value = float | str | list[float] | None

EPS, EAS, PPL, EANS = "eps", "eas", "ppl", "eans"


class Measure(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one model said.

    `spec`: the model. `of`: by the mark of what it was asked about a label, a number, or six of EAnS; None where it
    gave none. `stride`: of perplexity, in words; `stride_tokens`: what that is in tokens of these texts. `reading`,
    `template`: of EAnS. `note`: what there is to know.
    """

    spec: str
    of: dict[str, Value] = {}
    stride: int | None = None
    stride_tokens: float | None = None
    reading: Reading = "table"
    template: str = ""
    note: str = ""


Kept = Mapping[str, Measure]
"""By what is measured: `eps`, `eas`, `ppl`, `eans`, and `ers:SPEC` for each classifier."""


def mark(*texts: str) -> str:
    """What stands for one text, or several in their order, among what is kept."""
    return sha256("\x00".join(texts).encode()).hexdigest()[:20]


def classifiers(kept: Kept) -> dict[str, Measure]:
    """What classifiers said of emotional texts, by their SPEC."""
    return {one.spec: one for name, one in kept.items() if name.startswith(f"{ERS.name}:")}


def eps_values(label: object) -> dict[str, float | None]:
    """EPS of one text, 1 for its label and 0 for the other two; None each where it has none."""
    known = label in EPS_LABELS
    return {f"{EPS}_{one}": float(one == label) if known else None for one in EPS_LABELS}


def measures_of(value: object) -> Kept:
    """From what a store holds."""
    return msgspec.convert(value or {}, dict[str, Measure])


# What is kept of one answer and of its score, and by which rules it was scored.

CONVENTION = "generation 2: EAnS over {embedder}, R1 of {r1}; EPS by {eps}; ! where a version is missing or refused"


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """Both versions of a text; empty where there is none.

    `refused`: steps in which the model refused. `human`, `human_neutral`: the labels of raters, where there are some.
    """

    neutral: str = ""
    emotional: str = ""
    refused: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether a version is missing, or a refusal stands in its place."""
        return bool(self.refused) or not (self.neutral and self.emotional)


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One scored answer. Lengths are (words, characters) of original, neutral and emotional text.

    `unchanged_neutral`, `unchanged_emotional`: the step changed no word. `leaks`: forms of the label's word in the
    emotional text that the original has not. `values`: by metric what is not None. `found`: by the SPEC of a classifier
    the emotion that it finds, empty where it finds none that is a target. `human`, `human_neutral`: as of `Prediction`.
    """

    id: str
    repeat: int
    target: str
    silent: bool = False
    refused: tuple[str, ...] = ()
    unchanged_neutral: bool = False
    unchanged_emotional: bool = False
    leaks: tuple[str, ...] = ()
    lengths: tuple[tuple[int, int], ...] = ()
    values: dict[str, float] = {}
    found: dict[str, str] = {}
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()


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
