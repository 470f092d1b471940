"""What `emotui score generation` can be told, and its values as settings."""

from collections.abc import Mapping
from typing import Any

import msgspec

from emotui.backends.options import split_options
from emotui.errors import BadInput
from emotui.metrics.eans import READINGS, Reading
from emotui.metrics.human_labels import TIES, Ties
from emotui.tasks.generation.embedding import TEMPLATE
from emotui.tasks.parts import ScoreOption

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
