"""What `emotui score generation` can be told, and its values as settings."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.backends.options import split_options
from emotui.errors import BadInput
from emotui.metrics.eans import READINGS, Reading, eans
from emotui.metrics.eps import EPS_LABELS
from emotui.metrics.human_labels import TIES, Ties
from emotui.metrics.span_scoring import Embed
from emotui.tasks.parts import ScoreOption

# EAnS and a stand-in for EPS over sentence embeddings, each distinct text embedded once.

Floats = NDArray[np.float64]

TEMPLATE = "This text shows {emotion}."
"""The sentence about an emotion that is embedded for E_t and E_n; the paper does not print its own."""

HYPOTHESIS = "This text is {label}."
NEUTRAL = "neutral"

Triple = tuple[str, str, str, str]
"""Original, neutral and emotional text, and the target."""


def once(embed: Embed) -> Embed:
    """The same embeddings, each text asked for once however many metrics ask about it."""
    known: dict[str, NDArray[np.floating]] = {}

    def remembered(texts: Sequence[str]) -> NDArray[np.floating]:
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known.update(zip(fresh, embed(fresh), strict=True))
        return np.stack([known[text] for text in texts])

    return remembered


def distinct(texts: Sequence[str], embed: Embed) -> Mapping[str, Floats]:
    """The unit embedding of each text, asked for once however often it occurs."""
    different = list(dict.fromkeys(texts))
    if not different:
        return {}
    rows = np.asarray(embed(different), dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return dict(zip(different, rows / np.where(lengths > 0, lengths, 1.0), strict=True))


def eans_of(
    triples: Sequence[Triple], embed: Embed, reading: Reading = "table", template: str = TEMPLATE
) -> list[dict[str, float]]:
    """The six relations of each triple (`emotui.metrics.eans`); none of one with a text that was not embedded.

    Args:
        template: with `{emotion}` in it.
    """
    if not triples:
        return []
    labels = {target: template.replace("{emotion}", target) for *_, target in triples}
    neutral = template.replace("{emotion}", NEUTRAL)
    known = distinct([*(text for one in triples for text in one[:3]), *labels.values(), neutral], embed)
    original, of_neutral, emotional = (np.stack([known[one[k]] for one in triples]) for k in range(3))
    found = eans(
        original,
        of_neutral,
        emotional,
        np.stack([known[labels[target]] for *_, target in triples]),
        np.stack([known[neutral]] * len(triples)),
        reading,
    )
    rows = ({name: float(column[row]) for name, column in found.items()} for row in range(len(triples)))
    return [row if all(map(isfinite, row.values())) else {} for row in rows]


def nearest_label(texts: Sequence[str], embed: Embed) -> list[dict[str, float]]:
    """For each text the cosine with a sentence for each of EPS's labels: what stands in where no NLI model is given.

    Nothing of a text that was not embedded.
    """
    hypotheses = [HYPOTHESIS.replace("{label}", label) for label in EPS_LABELS]
    known = distinct([*texts, *hypotheses], embed)
    against = np.stack([known[one] for one in hypotheses])
    found = (dict(zip(EPS_LABELS, (against @ known[text]).tolist(), strict=True)) for text in texts)
    return [one if all(map(isfinite, one.values())) else {} for one in found]


EMBEDDED = "embedded"
STRIDE = 128
"""Words by which the window of perplexity moves on, where a text is longer than it."""

SCORE_OPTIONS = (
    ScoreOption("classifier", "ERS: a classifier, or a model that judges (default: embedded; again for more).",
                several=True, metavar="SPEC"),
    ScoreOption("map-labels", 'TOML of lines theirs = "ours": which label of a classifier means which target.'),
    ScoreOption("nli", "EPS: an NLI model (the paper: hf:facebook/bart-large-mnli).", metavar="SPEC"),
    ScoreOption("eas-model", "EAS: a model that writes (the paper: GPT-5-nano).", metavar="SPEC"),
    ScoreOption("embedder", "EAnS: a model that embeds (the paper: BGE-M3; default: embedded).", metavar="SPEC"),
    ScoreOption("eans", "EAnS: table (R1 of neutral and emotional text) or printed (of the two labels).",
                choices=READINGS),
    ScoreOption("template", "EAnS: the sentence about an emotion, with {emotion} in it.", metavar="TEXT"),
    ScoreOption("ppl-model", "Perplexity: a causal model (the paper: hf:gpt2).", metavar="SPEC"),
    ScoreOption("stride", f"Words that the window of perplexity moves on by, of long texts ({STRIDE}).", least=1),
    ScoreOption("ties", "Human F1: what several most frequent labels give (none).", choices=TIES),
    ScoreOption("subset", "Ids, one a line: how each metric on these goes with that on all texts (Table 5)."),
    ScoreOption("seed", "Of resamples and drawn orders (0).", least=0),
    ScoreOption("per-sample", "Add what each metric says of each text.", switch=True),
)  # fmt: skip


class ScoreSettings(msgspec.Struct, frozen=True):
    """The values of `SCORE_OPTIONS`."""

    classifiers: tuple[str, ...] = (EMBEDDED,)
    map_labels: str | None = None
    nli: str | None = None
    eas_model: str | None = None
    embedder: str = EMBEDDED
    reading: Reading = "table"
    template: str = TEMPLATE
    ppl_model: str | None = None
    stride: int = STRIDE
    ties: Ties = "none"
    subset: str | None = None
    seed: int = 0
    per_sample: bool = False


USUAL_HYPOTHESIS = "This example is {}."
"""What an NLI model is asked about a label unless its SPEC says otherwise: the default of transformers' zero-shot
classification, by which bart-large-mnli and its like are used and reported.
"""


def asked_usually(spec: str) -> str:
    """The SPEC of an NLI model with the usual hypothesis, where it names none."""
    kind, _, argument = spec.partition(":")
    if kind != "hf" or "hypothesis" in (given := split_options(kind, argument)[1]):
        return spec
    return f"{spec}{'&' if given else '#'}hypothesis={USUAL_HYPOTHESIS}"


def score_settings(given: Mapping[str, Any]) -> ScoreSettings:
    """From the options that were given. Raises BadInput where a template has no place for the emotion."""
    names = {
        "classifier": "classifiers",
        "eans": "reading",
    }
    fields = {names.get(name, name): value for name, value in given.items() if value not in (None, (), False)}
    known = {name: value for name, value in fields.items() if name in ScoreSettings.__struct_fields__}
    if "classifiers" in known:
        known["classifiers"] = tuple(dict.fromkeys(known["classifiers"]))
    if "nli" in known:
        known["nli"] = asked_usually(str(known["nli"]))
    found = ScoreSettings(**known)
    if "{emotion}" not in found.template:
        raise BadInput(f"--template needs {{emotion}} where the emotion's name goes: {found.template!r} has none")
    return found
