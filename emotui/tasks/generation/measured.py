"""What further models said of the texts of a dataset, as it is kept: scores are made of it without asking again."""

from collections.abc import Mapping
from hashlib import sha256

import msgspec

from emotui.metrics.eans import Reading
from emotui.metrics.eps import EPS_LABELS
from emotui.metrics.ers import METRIC as ERS

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
