"""Files of gold and predicted numbers: their figures."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from emotui.metrics.values import value_names, values_report
from emotui.records import ValuesGold, ValuesPrediction
from emotui.tasks.parts import Embedding
from emotui.tasks.sharing import shared_by


def score_files(
    golds: Sequence[ValuesGold], answers: Sequence[ValuesPrediction], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, Any]:
    """The document of `emotui score values`. A text without an answer has no number on the answer's side."""
    said = {one.id: one.values for one in answers}
    shared = [shared_by(one.meta) for one in golds]
    document = values_report([one.values or {} for one in golds], [said.get(one.id, {}) for one in golds], shared)
    silent = sum(not said.get(one.id) for one in golds)
    if silent:
        document["notes"]["n"] = f"{silent} records without an answer are in no figure: see `without` of each name"
    return document


def score_baselines(
    golds: Sequence[ValuesGold], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, Any]]:
    """The figures of `mean`: every text gets the mean of each name's gold numbers."""
    labelled = [one.values or {} for one in golds]
    means = {name: fmean(one[name] for one in labelled if name in one) for name in value_names(labelled)}
    return {"mean": values_report(labelled, [means] * len(labelled), [shared_by(one.meta) for one in golds])}
