"""What is to be known of answers that are no plain ones: counted beside a run's figures, and told."""

from collections.abc import Mapping, Sequence
from typing import Protocol

LITTLE_MASS = 0.5
"""Probability of yes and no together; with less, a model's first token is likelier something else."""


def little_mass(counts: Sequence[int], scores: int) -> dict[str, object]:
    """How often that was so. Args: counts: scores of little mass in each answer. scores: how many there are in all."""
    samples = sum(map(bool, counts))
    return {"scores": sum(counts), "of": scores, "samples": samples, "below": LITTLE_MASS}


def said_of_little_mass(counts: Sequence[int]) -> str:
    """The same in words."""
    samples = sum(map(bool, counts))
    where = f"in {samples} of {len(counts)} answers (marked !) the first word is likelier something else than"
    return f"{where} yes or no: they say little of what it thinks"


def with_notes(found: dict[str, object], notes: Mapping[str, str]) -> dict[str, object]:
    """The figures with what a reader of them has to know."""
    return found | ({"notes": dict(notes)} if notes else {})


class Labelled(Protocol):
    """An answer by labels: how it was to be read where a model wrote it, and where yes and no had little mass."""

    @property
    def form(self) -> str: ...
    @property
    def probs(self) -> Mapping[str, float]: ...
    @property
    def little_mass(self) -> Sequence[str]: ...


def of_labels(kept: Sequence[Labelled], forms: Sequence[str]) -> dict[str, object]:
    """Under `answers`, of a model that writes: how many were read in which of `forms`. `little_mass`: as above."""
    found: dict[str, object] = {}
    notes: dict[str, str] = {}
    if read := [one.form for one in kept if one.form]:
        found["answers"] = {"n": len(read)} | {form: read.count(form) for form in forms}
    if any(astray := [len(one.little_mass) for one in kept]):
        found["little_mass"] = little_mass(astray, sum(len(one.probs) for one in kept))
        notes["little_mass"] = said_of_little_mass(astray)
    return with_notes(found, notes)
