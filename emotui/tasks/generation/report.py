"""The document of `emotui score generation`: every metric of each model, and which of them goes with people."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from statistics import fmean
from typing import Any

import msgspec

from emotui.backends.host import ModelProcess
from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.metrics.eans import EANS
from emotui.metrics.eps import EPS_LABELS, eps, eps_label
from emotui.metrics.fluency import words_and_characters
from emotui.metrics.human_labels import human_report, neutral_report, of_people
from emotui.metrics.metric_trust import trust
from emotui.metrics.rating_subset import representative
from emotui.metrics.text_trust import text_trust
from emotui.records import Generation
from emotui.tasks.generation.embedding import eans_of, nearest_label
from emotui.tasks.generation.measuring import (
    EPS_STAND_IN,
    MISSING,
    eas_by_model,
    embedder_of,
    eps_by_nli,
    perplexities,
    stride_note,
)
from emotui.tasks.generation.options import ScoreSettings, score_settings
from emotui.tasks.generation.recognising import Recognised, recognise
from emotui.tasks.generation.whole import in_one_case
from emotui.tasks.spans.label_maps import read_label_map

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
    models = list(dict.fromkeys(one.model for one in every))
    document: dict[str, Any] = {"n": len(every), "silent": len(every) - len(there)}
    document["models"] = {model: _figures(model, every, there, measured, settings) for model in models}
    notes = dict(measured.notes)
    human = {
        model: figures["human_f1"]
        for model, figures in document["models"].items()
        if figures.get("human_f1") is not None
    }
    names = list(measured.values)
    document["correlations"] = {}
    if human:
        by_model = {name: {model: document["models"][model][name] for model in human} for name in names}
        thirteen = {name: row for name, row in by_model.items() if not name.startswith(PPL)}
        document["correlations"] = trust(human, thirteen, settings.seed)
        fluency = {name: row for name, row in by_model.items() if name.startswith(PPL)}
        document["correlations"] |= trust(human, fluency, settings.seed)
        seen = of_people([one.human for one in there], [one.target for one in there])
        document["texts"] = text_trust(measured.values, seen, [one.model for one in there], settings.seed)
    else:
        notes["correlations"] = "no record has labels of raters under `human`"
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
        embed = embedder_of(models.of(settings.embedder))
        if settings.nli is None:
            labels = [eps_label(each) for each in nearest_label(texts, embed)]
            notes[EPS] = EPS_STAND_IN.format(embedder=settings.embedder)
        else:
            labels = eps_by_nli(models.of(settings.nli), texts)
        for label in EPS_LABELS:
            values[f"{EPS}_{label}"] = [float(one == label) for one in labels]
        if settings.eas_model is None:
            values[EAS], notes[EAS] = [None] * len(records), MISSING[EAS]
        else:
            values[EAS] = eas_by_model(models.of(settings.eas_model), texts)
            if unread := sum(one is None for one in values[EAS]):
                notes[EAS] = f"{settings.eas_model} gave no six ratings for {unread} texts, which are left out"
        triples = [(one.original, one.neutral, one.emotional, one.target) for one in records]
        relations = eans_of(triples, embed, settings.reading, settings.template)
        for name in EANS:
            values[name] = [one[name] for one in relations]
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


def _figures(
    model: str,
    every: Sequence[Generation],
    there: Sequence[Generation],
    measured: Measured,
    settings: ScoreSettings,
) -> dict[str, Any]:
    """One model's row of Tables 4, 7, 8, 9, 10 and 11. A failed answer matches no target and is in no other figure."""
    places = [at for at, one in enumerate(there) if one.model == model]
    own = [there[at] for at in places]
    n = sum(one.model == model for one in every)
    figures: dict[str, Any] = {"n": n, "silent": n - len(own)}
    for name, column in measured.values.items():
        known = [value for at in places if (value := column[at]) is not None]
        figures[name] = fmean(known) if known else None
        if name.startswith(ERS) and n:
            figures[name] = sum(known) / n
    if measured.values and places:
        shares = eps([next(label for label in EPS_LABELS if measured.values[f"{EPS}_{label}"][at]) for at in places])
        figures |= {f"{EPS}_{label}": share for label, share in (shares or {}).items()}
    targets = [one.target for one in there]
    failed = [one.target for one in every if one.model == model and one.failed]
    figures["recognition"] = {one.spec: _with_failed(one, places, targets, failed) for one in measured.recognised}
    figures |= _lengths(own)
    if any(one.human for one in own):
        people = human_report([one.target for one in own], [one.human for one in own], settings.ties)
        figures |= {"human_f1": people["human_f1"], "agreement": people["agreement"], "human": people}
    if any(one.human_neutral for one in own):
        figures["human_neutral"] = neutral_report([one.human_neutral for one in own], settings.ties)
    return figures


def _with_failed(
    recognised: Recognised, places: Sequence[int], targets: Sequence[str], failed: Sequence[str]
) -> dict[str, Any]:
    from emotui.metrics.ers import ers_report

    found = ers_report(
        [*(targets[at] for at in places), *failed],
        [*(recognised.found[at] for at in places), *(None for _ in failed)],
    )
    return found | {"way": recognised.way, "images": dict(recognised.images)}


def _lengths(records: Sequence[Generation]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for kind in ("original", "neutral", "emotional"):
        lengths = [words_and_characters(getattr(one, kind)) for one in records]
        for unit, at in (("words", 0), ("characters", 1)):
            found[f"{unit}_{kind}"] = fmean(length[at] for length in lengths) if lengths else None
    return found


class _Models:
    """Models by SPEC, each in one process however often it is asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack, self._models = stack, dict[str, ModelProcess]()

    def of(self, spec: str) -> ModelProcess:
        if spec not in self._models:
            self._models[spec] = self._stack.enter_context(ModelProcess(spec))
        return self._models[spec]
