"""Files of gold and predicted labels: their figures, and thresholds chosen on them."""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.metrics.baselines import drawn_golds, majority
from emotui.metrics.labels import Answer, Gold, as_table, label_names, labels_report
from emotui.records import LabelsGold, LabelsPrediction
from emotui.tasks.labels.thresholds import chosen_thresholds, read_thresholds
from emotui.tasks.parts import Embedding
from emotui.tasks.sharing import shared_by


def score_files(
    golds: Sequence[LabelsGold], answers: Sequence[LabelsPrediction], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, Any]:
    """The document of `emotui score labels`. A record without an answer counts as no label predicted."""
    path = given.get("thresholds")
    chosen = read_thresholds(path) if path else None
    labelled, records = _labelled(golds, answers)
    own = {key: one.given for key, one in records.items() if one.given is not None}
    said = {key: _within_bounds(one.labels) for key, one in records.items()}
    shared = [shared_by(one.meta) for one in golds if one.said is not None]
    document = labels_report(labelled, said, chosen, own, shared)
    silent = sum(said[key] == {} for key in labelled)
    if silent:
        document["notes"]["n"] = f"{silent} records without an answer count as no label predicted"
    return document


def score_baselines(
    golds: Sequence[LabelsGold], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, Any]]:
    """The figures of `majority` (a label that is gold in more than half of the records is given to all) and `random`
    (each record gets the gold labels of one that is drawn).
    """
    labelled: dict[str, Gold] = {one.id: one.said for one in golds if one.said is not None}
    names = label_names(labelled.values())
    table = as_table(list(labelled.values()), names).astype(int).tolist()
    most = tuple(name for name, there in zip(names, majority(table), strict=True) if there)
    guesses = drawn_golds([tuple(name for name, there in zip(names, row, strict=True) if there) for row in table])
    shared = [shared_by(one.meta) for one in golds if one.said is not None]
    return {
        "majority": labels_report(labelled, dict.fromkeys(labelled, most), shared=shared),
        "random": labels_report(labelled, dict(zip(labelled, guesses, strict=True)), shared=shared),
    }


def choose_thresholds(golds: Sequence[LabelsGold], answers: Sequence[LabelsPrediction]) -> dict[str, Any]:
    """The document of `emotui thresholds`.

    Raises:
        BadInput: a gold record has no prediction, or the predictions are no probabilities.
    """
    labelled, records = _labelled(golds, answers)
    missing = [f"{key}: no prediction for this gold record" for key in labelled if key not in records]
    if missing:
        raise BadInput(*missing)
    document = chosen_thresholds(labelled, {key: _within_bounds(one.labels) for key, one in records.items()})
    return document | {"unlabelled": len(golds) - len(labelled)}


def _labelled(
    golds: Sequence[LabelsGold], answers: Sequence[LabelsPrediction]
) -> tuple[dict[str, Gold], dict[str, LabelsPrediction]]:
    """Gold labels and predictions by id, without the records of which gold says nothing."""
    labelled: dict[str, Gold] = {one.id: one.said for one in golds if one.said is not None}
    unlabelled = {one.id for one in golds} - labelled.keys()
    return labelled, {one.id: one for one in answers if one.id not in unlabelled}


def _within_bounds(labels: Answer) -> Answer:
    """Probabilities without the rounding by which a softmax may overshoot 1."""
    return {name: min(p, 1.0) for name, p in labels.items()} if isinstance(labels, Mapping) else labels
