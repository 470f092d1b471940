"""From answers to scores, every metric of each text, and from scores to the figures of a run."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec

from emotui.backends.host import ModelProcess
from emotui.metrics.beside import Drawn, Resampled, ratios
from emotui.metrics.eans import EANS
from emotui.metrics.eps import EPS_LABELS, eps_label
from emotui.metrics.ers import METRIC as ERS
from emotui.metrics.fluency import METRIC as PERPLEXITY
from emotui.metrics.fluency import words_and_characters
from emotui.metrics.rewriting import leaks, unchanged
from emotui.metrics.span_scoring import Embed
from emotui.metrics.thirteen import REGISTRY
from emotui.records import Generation
from emotui.store.rows import ScoreRow
from emotui.tasks.asking import UNFINISHED
from emotui.tasks.generation import whole
from emotui.tasks.generation.options import EMBEDDED, NEUTRAL, Triple, eans_of, nearest_label, once
from emotui.tasks.generation.recognising import recognise
from emotui.tasks.generation.whole import CONVENTION, Detail, Kept, classifiers, eps_values, folded, mark
from emotui.tasks.task import Parsed

Values = dict[str, float | None]

KINDS = ("original", "neutral", "emotional")
"""The versions of a text."""

_EMBEDDER = "all-MiniLM-L6-v2"
_ALWAYS = [*(metric.name for metric in REGISTRY), PERPLEXITY.name]

WHY = {
    ERS.name: "no classifier was asked, or it knows no target",
    "eas": "needs a model that writes: emotui measure DATASET --eas-model SPEC",
    "ppl": "needs a causal model: emotui measure DATASET --ppl-model SPEC",
}
"""Why a figure of a stored score is undefined."""


def score_answers(
    answers: Sequence[Parsed], embed: Embed | None, kept: Kept, names: Sequence[str], targets: Sequence[str]
) -> list[ScoreRow]:
    """One score for each answer.

    Args:
        embed: over all-MiniLM-L6-v2; where it has the model that embeds, ERS by that is among the values.
        kept: what further models said of these texts, which comes before what embeddings say.
        names: of the metrics that every score has, None where it has no value.
        targets: all of the dataset.
    """
    whole = [at for at, one in enumerate(answers) if not one.prediction.silent]
    records = [_record(answers[at]) for at in whole]
    values, found = _values(records, embed, kept, targets)
    by_place = dict(zip(whole, range(len(whole)), strict=True))
    convention = _convention(kept)
    # A failed answer matches no target, whoever looks for it.
    asked = [f"{ERS.name}:{spec}" for spec in classifiers(kept)] + [ERS.name] * (_classifier(embed) is not None)
    scores = []
    for at, answer in enumerate(answers):
        held: Values = dict.fromkeys(names, None)
        place = by_place.get(at)
        if place is None:
            scores.append(_silent(answer, held | dict.fromkeys(asked, 0.0), convention))
            continue
        own = {spec: labels[place] or "" for spec, labels in found.items()}
        scores.append(_score(answer, held | values[place], own, convention))
    return scores


def _classifier(embed: Embed | None) -> ModelProcess | None:
    """The embedded model, where it is what embeds: it knows labels too."""
    model = getattr(embed, "model", None)
    return model if isinstance(model, ModelProcess) and model.spec == EMBEDDED else None


def _record(answer: Parsed) -> Generation:
    sample, said = answer.sample, answer.prediction
    return Generation(
        id=sample.id,
        model="",
        target=sample.label,
        original=sample.text,
        neutral=said.neutral,
        emotional=said.emotional,
    )


def _values(
    records: Sequence[Generation], embed: Embed | None, kept: Kept, targets: Sequence[str]
) -> tuple[list[Values], dict[str, list[str | None]]]:
    """What the metrics say of each text, and by the SPEC of a classifier the emotion that it finds."""
    every: list[Values] = [{} for _ in records]
    found: dict[str, list[str | None]] = {}
    if not records:
        return every, found
    embed_once = None if embed is None else once(embed)
    for held, relations in zip(every, _relations(records, embed_once, kept), strict=True):
        held |= relations
    texts = [one.emotional for one in records]
    for held, label in zip(every, _eps(texts, embed_once, kept), strict=True):
        held |= eps_values(label)
    classifier = _classifier(embed)
    if classifier is not None:
        said = recognise(classifier, records, {}, targets, strict=False)
        found[EMBEDDED] = list(said.found)
        reached = set(said.images.values()) if said.images else set()
        for held, record, label in zip(every, records, said.found, strict=True):
            held[ERS.name] = float(label == record.target) if record.target in reached else None
    for spec, one in classifiers(kept).items():
        labels = [one.of.get(mark(text)) for text in texts]
        found[spec] = [str(label) if label else None for label in labels]
        for held, record, text, label in zip(every, records, texts, labels, strict=True):
            known = mark(text) in one.of
            held[f"{ERS.name}:{spec}"] = float(folded(str(label or "")) == folded(record.target)) if known else None
    _numbers(every, records, kept)
    return every, found


def _numbers(every: Sequence[Values], records: Sequence[Generation], kept: Kept) -> None:
    """EAS and perplexity, where they were measured."""
    kinds = {"eas": (whole.EAS, "emotional"), "ppl": (whole.PPL, "emotional")}
    kinds |= {"ppl_neutral": (whole.PPL, "neutral"), "ppl_original": (whole.PPL, "original")}
    for name, (of, version) in kinds.items():
        if of in kept:
            for held, record in zip(every, records, strict=True):
                value = kept[of].of.get(mark(getattr(record, version)))
                held[name] = float(value) if isinstance(value, int | float) else None


def _relations(records: Sequence[Generation], embed: Embed | None, kept: Kept) -> list[dict[str, float]]:
    """EAnS of each text, by another embedder where such was asked; never a mixture."""
    triples: list[Triple] = [(one.original, one.neutral, one.emotional, one.target) for one in records]
    one = kept.get(whole.EANS)
    if one is None:
        return [{} for _ in records] if embed is None else eans_of(triples, embed)
    found = [one.of.get(mark(*triple)) for triple in triples]
    return [dict(zip(EANS, values, strict=True)) if isinstance(values, list) else {} for values in found]


def _eps(texts: Sequence[str], embed: Embed | None, kept: Kept) -> list[object]:
    """EPS's label of each text: by an NLI model that was asked, else by the nearest of three sentences."""
    one = kept.get(whole.EPS)
    if one is not None:
        return [one.of.get(mark(text)) for text in texts]
    if embed is None:
        return [None] * len(texts)
    return [eps_label(one) if one else None for one in nearest_label(texts, embed)]


def _convention(kept: Kept) -> str:
    eans, eps = kept.get(whole.EANS), kept.get(whole.EPS)
    printed = eans is not None and eans.reading == "printed"
    return CONVENTION.format(
        embedder=_EMBEDDER if eans is None else eans.spec,
        r1="the labels" if printed else "neutral and emotional text",
        eps=f"the nearest of {len(EPS_LABELS)} sentences, a stand-in" if eps is None else eps.spec,
    )


def _silent(answer: Parsed, values: Values, convention: str) -> ScoreRow:
    said = answer.prediction
    known = {name: value for name, value in values.items() if value is not None}
    detail = Detail(
        answer.sample.id, answer.repeat, answer.sample.label, silent=True, refused=said.refused, values=known
    )
    return ScoreRow(convention, values, "!", msgspec.json.encode(detail))


def _score(answer: Parsed, values: Values, found: Mapping[str, str], convention: str) -> ScoreRow:
    sample, said = answer.sample, answer.prediction
    words = [] if folded(sample.label) == NEUTRAL else new_leaks(sample.text, said.emotional, sample.label)
    lengths = tuple(map(words_and_characters, (sample.text, said.neutral, said.emotional)))
    measures = {name: value for name, value in values.items() if value is not None}
    values |= {"words": float(lengths[2][0]), "leak": float(bool(words))}
    detail = Detail(
        sample.id,
        answer.repeat,
        sample.label,
        unchanged_neutral=unchanged(sample.text, said.neutral),
        unchanged_emotional=unchanged(said.neutral, said.emotional),
        leaks=tuple(words),
        lengths=lengths,
        values=measures,
        found=dict(found),
        human=said.human,
        human_neutral=said.human_neutral,
    )
    return ScoreRow(convention, values, "", msgspec.json.encode(detail))


def new_leaks(original: str, emotional: str, target: str) -> list[str]:
    """Forms of the target's word in the emotional text, where the original had none."""
    return [] if leaks(original, target) else leaks(emotional, target)


def resampled(details: Sequence[Detail], by: Drawn) -> Resampled:
    """The means of every metric and length over resamples of texts."""
    return ratios(parts_of(details), by)


def parts_of(details: Sequence[Detail]) -> dict[str, tuple[list[float], list[float]]]:
    """By metric and length (n,) numerators and denominators of its mean."""
    names = dict.fromkeys(name for one in details for name in one.values)
    parts = {
        name: ([one.values.get(name, 0.0) for one in details], [float(name in one.values) for one in details])
        for name in names
    }
    there = [float(not one.silent) for one in details]
    for k, kind in enumerate(KINDS):
        for unit, at in (("words", 0), ("characters", 1)):
            lengths = [0.0 if one.silent else float(one.lengths[k][at]) for one in details]
            parts[f"{unit}_{kind}"] = lengths, there
    return parts


def figures_of(details: Sequence[Detail]) -> dict[str, Any]:
    there = [one for one in details if not one.silent]
    changeable = [one for one in there if folded(one.target) != NEUTRAL]
    document: dict[str, Any] = {"n": len(details), "silent": len(details) - len(there)}
    document["refused"] = sum(bool(one.refused) for one in details)
    document["unchanged_neutral"] = sum(one.unchanged_neutral for one in changeable)
    document["unchanged_emotional"] = sum(one.unchanged_emotional for one in changeable)
    document["leaks"] = sum(bool(one.leaks) for one in changeable)
    document["with_emotion"] = len(changeable)
    notes: dict[str, str] = {}
    for name in dict.fromkeys([*_ALWAYS, *(name for one in details for name in one.values)]):
        known = [one.values[name] for one in details if name in one.values]
        document[name] = fmean(known) if known else None
        if not known:
            notes[name] = WHY.get(name, "no text has both versions, or no sentence was embedded")
        elif name in EANS and len(known) < len(there):
            notes[name] = f"{len(there) - len(known)} of {len(there)} texts have none, and are left out: {UNFINISHED}"
    if document["ppl"] is not None:
        document["ppl_emotional"] = document["ppl"]
    for k, kind in enumerate(KINDS):
        for unit, at in (("words", 0), ("characters", 1)):
            lengths = [one.lengths[k][at] for one in there]
            document[f"{unit}_{kind}"] = fmean(lengths) if lengths else None
    notes["leaks"] = "refusals and empty versions are `silent`; leaks and unchanged texts are counted of `with_emotion`"
    return document | {"notes": notes}
