"""The document of `emotui score generation`: every metric of each model, and which of them goes with people."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from statistics import fmean
from typing import Any

import msgspec

from emotui.backends.host import ModelProcess
from emotui.backends.relabelled import read_label_map
from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.metrics.eans import EANS
from emotui.metrics.eps import EPS_LABELS, eps_label
from emotui.metrics.fluency import words_and_characters
from emotui.metrics.rating_subset import representative
from emotui.records import Generation
from emotui.tasks.asking import UNFINISHED
from emotui.tasks.generation.document import ILLUSTRATION, ILLUSTRATIVE, ScoredText, is_ers, model_figures, trusted
from emotui.tasks.generation.measuring import (
    EPS_STAND_IN,
    MISSING,
    eas_by_model,
    embedder_of,
    eps_by_nli,
    perplexities,
    stride_note,
)
from emotui.tasks.generation.options import ScoreSettings, eans_of, nearest_label, once, score_settings
from emotui.tasks.generation.recognising import Recognised, recognise
from emotui.tasks.generation.whole import in_one_case

ERS, EAS, PPL, EPS = "ers", "eas", "ppl", "eps"


class Measured(msgspec.Struct, frozen=True):
    """What every metric says of every text, by the metric's name; None where it says nothing of a text."""

    values: Mapping[str, Sequence[float | None]]
    recognised: Sequence[Recognised]
    notes: Mapping[str, str]


def score_records(records: Sequence[Generation], given: Mapping[str, Any]) -> dict[str, Any]:
    """The document over records of any number of models.

    Returns:
        `n`, `silent` (failed answers), `models` `{model: figures}`, `correlations` over models and `texts` over single
        texts where there are raters' labels, `settings`, `notes`; with `per_sample` a list `samples`.

    Raises:
        BadInput: a target that a classifier does not know, or an option that does not fit.
        ModelError: a model cannot be loaded or cannot do its part.
    """
    settings = score_settings(given)
    every = in_one_case(records)
    there = [one for one in every if not one.failed]
    measured = measure(there, settings)
    texts = _scored(every, there, measured)
    names = list(measured.values)
    models = {
        model: model_figures([one for one in texts if one.model == model], names, settings.ties, {})
        for model in dict.fromkeys(one.model for one in every)
    }
    for figures in models.values():
        for one in measured.recognised:
            report = figures["recognition"].get(one.spec)
            if report is not None:
                report |= {"way": one.way, "images": dict(one.images)}
    document: dict[str, Any] = {"n": len(every), "silent": len(every) - len(there), "models": models}
    document["correlations"], of_texts = trusted(texts, models, names, settings.seed)
    notes = dict(measured.notes)
    if of_texts:
        document["texts"] = of_texts
    else:
        notes["correlations"] = "no record has labels of raters under `human`"
    if any(model.endswith(ILLUSTRATIVE) for model in models):
        notes["illustration"] = ILLUSTRATION
    if settings.subset is not None:
        document["subset"] = _on_subset(settings.subset, there, measured, document["models"])
    document["settings"] = msgspec.to_builtins(settings)
    if settings.per_sample:
        document["samples"] = [
            {"id": one.id, "model": one.model} | {name: measured.values[name][at] for name in names}
            for at, one in enumerate(there)
        ]
    return document | {"notes": notes}


def _on_subset(
    path: str, there: Sequence[Generation], measured: Measured, models: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Table 5: for each metric Pearson's r over models between its mean on these texts and on all."""
    try:
        ids = {line.strip() for line in read_text(path).splitlines() if line.strip()}
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    strange = sorted(ids - {one.id for one in there})
    if strange:
        raise BadInput(f"{path}: no record has the id {strange[0]!r}")
    places = {model: [at for at, one in enumerate(there) if one.model == model and one.id in ids] for model in models}
    found: dict[str, float | None] = {}
    for name, column in measured.values.items():
        pairs = []
        for model, own in places.items():
            known = [value for at in own if (value := column[at]) is not None]
            whole = models[model][name]
            if known and whole is not None:
                pairs.append((fmean(known), whole))
        found[name] = representative([one for one, _ in pairs], [one for _, one in pairs])
    return {"texts": len(ids), "models": len(places), "pearson": found}


def measure(records: Sequence[Generation], settings: ScoreSettings) -> Measured:
    """Every metric of every text; each model is loaded once, and each distinct text embedded once."""
    values: dict[str, Sequence[float | None]] = {}
    notes: dict[str, str] = {}
    texts = [one.emotional for one in records]
    with ExitStack() as stack:
        models = _Models(stack)
        mapping = read_label_map(settings.map_labels) if settings.map_labels else {}
        recognised = [recognise(models.of(spec), records, mapping) for spec in settings.classifiers]
        for at, one in enumerate(recognised):
            name = ERS if at == 0 else f"{ERS}:{one.spec}"
            values[name] = [float(label == record.target) for label, record in zip(one.found, records, strict=True)]
            if one.unmapped:
                said = ", ".join(f"{label} ({n})" for label, n in sorted(one.unmapped.items()))
                notes[f"{name}.unmapped"] = f"labels of {one.spec} that mean no target count as wrong: {said}"
            if one.unread:
                notes[f"{name}.unread"] = f"{one.spec} gave no label for {one.unread} texts, which count as wrong"
        embed = once(embedder_of(models.of(settings.embedder)))
        if settings.nli is None:
            labels: Sequence[str | None] = [eps_label(one) if one else None for one in nearest_label(texts, embed)]
            notes[EPS] = EPS_STAND_IN.format(embedder=settings.embedder)
        else:
            labels = eps_by_nli(models.of(settings.nli), texts)
            if unread := labels.count(None):
                notes[EPS] = f"{settings.nli} gave no label for {unread} texts, which are left out"
        for label in EPS_LABELS:
            values[f"{EPS}_{label}"] = [None if one is None else float(one == label) for one in labels]
        if settings.eas_model is None:
            values[EAS], notes[EAS] = [None] * len(records), MISSING[EAS]
        else:
            values[EAS] = eas_by_model(models.of(settings.eas_model), texts)
            if unread := sum(one is None for one in values[EAS]):
                notes[EAS] = f"{settings.eas_model} gave no six ratings for {unread} texts, which are left out"
        triples = [(one.original, one.neutral, one.emotional, one.target) for one in records]
        relations = eans_of(triples, embed, settings.reading, settings.template)
        for name in EANS:
            values[name] = [one.get(name) for one in relations]
        if unfinished := sum(not one for one in relations):
            notes["eans"] = f"{unfinished} texts have no EAnS, and are left out: {UNFINISHED}"
        if settings.ppl_model is None:
            values[PPL], notes[PPL] = [None] * len(records), MISSING[PPL]
        else:
            every = [text for one in records for text in (one.original, one.neutral, one.emotional)]
            found = perplexities(models.of(settings.ppl_model), every, settings.stride)
            values[PPL] = [found.of[text] for text in texts]
            values["ppl_neutral"] = [found.of[one.neutral] for one in records]
            values["ppl_original"] = [found.of[one.original] for one in records]
            notes[f"{PPL}.stride"] = stride_note(settings.stride, found)
    return Measured(values, recognised, notes)


def _scored(every: Sequence[Generation], there: Sequence[Generation], measured: Measured) -> list[ScoredText]:
    """Each record with what is measured of it, in the order of the records."""
    zeros = {name: 0.0 for name in measured.values if is_ers(name)}
    known = iter(enumerate(there))
    found = []
    for one in every:
        if one.failed:
            found.append(ScoredText(one.id, one.model, one.target, failed=True, values=zeros))
            continue
        at, _ = next(known)
        found.append(
            ScoredText(
                one.id,
                one.model,
                one.target,
                values={name: value for name, column in measured.values.items() if (value := column[at]) is not None},
                found={each.spec: each.found[at] for each in measured.recognised},
                lengths=[words_and_characters(text) for text in (one.original, one.neutral, one.emotional)],
                human=one.human,
                human_neutral=one.human_neutral,
            )
        )
    return found


class _Models:
    """Models by SPEC, each in one process however often it is asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack, self._models = stack, dict[str, ModelProcess]()

    def of(self, spec: str) -> ModelProcess:
        if spec not in self._models:
            self._models[spec] = self._stack.enter_context(ModelProcess(spec))
        return self._models[spec]
