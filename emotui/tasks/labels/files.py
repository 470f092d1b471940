"""Files of gold and predicted labels: their figures, and thresholds chosen on them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats import write_text
from emotui.formats.rows import shown
from emotui.metrics.baselines import drawn_golds, majority
from emotui.metrics.labels import Answer, Gold, as_table, label_names, labels_report, probable
from emotui.metrics.thresholds import USUAL, best_thresholds
from emotui.records import LabelsGold, LabelsPrediction
from emotui.tables import number_of
from emotui.tasks.parts import CALIBRATE, CALIBRATED, Embedding, shared_by
from emotui.toml_text import parse_toml

# Thresholds of labels as a file (TOML or JSON), and chosen on predictions whose gold labels are known.

TABLE = "thresholds"


def read_thresholds(path: str) -> dict[str, float]:
    """A number from 0 to 1 by label.

    TOML where the name ends in `.toml`, else JSON: `label = number` each, or all of them in a table `thresholds`.

    Raises:
        BadInput: it cannot be read, or a label's number is none; one line a problem.
    """
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    found = parse_toml(path, text) if path.lower().endswith(".toml") else _json(path, text)
    if isinstance(found, dict) and isinstance(found.get(TABLE), dict):
        found = found[TABLE]
    if not isinstance(found, dict) or not found:
        raise BadInput(f"{path}: there is no threshold in it; write a number for each label, such as joy = 0.3")
    wrong = [name for name, value in found.items() if not _probability(value)]
    if wrong:
        raise BadInput(*(f"{path}: {name}: must be a number from 0 to 1, not {shown(found[name])}" for name in wrong))
    return {name: float(value) for name, value in found.items()}


def _json(path: str, text: str) -> object:
    try:
        found: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}:{error.lineno}: this is no JSON: {error.msg.lower()}") from error
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply") from None
    except ValueError:  # Python's own, of a number with more than 4,300 digits
        raise BadInput(f"{path}: this is no JSON: a number in it has thousands of digits") from None
    return found


def _probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def write_thresholds(path: str, thresholds: Mapping[str, float]) -> None:
    """The file that `read_thresholds` reads, by its ending.

    Raises:
        EmotuiError: as `write_text`.
    """
    if path.lower().endswith(".toml"):
        text = "".join(f"{json.dumps(name, ensure_ascii=False)} = {value!r}\n" for name, value in thresholds.items())
    else:
        text = json.dumps(dict(thresholds), ensure_ascii=False, indent=1) + "\n"
    write_text(path, text)


def chosen_thresholds(gold: Mapping[str, Gold], predicted: Mapping[str, Answer]) -> dict[str, Any]:
    """The threshold with the best F1 for each label, over records that have both.

    Returns:
        `n`; `thresholds` by label; `by_label` with `threshold`, the `f1` that it reaches here, how many other cuts
        reach the same (`ties`), and `support`; `notes`. A label that is never gold keeps 0.5, and its `f1` is None.

    Raises:
        BadInput: the predictions are no probabilities.
    """
    answers = [predicted[key] for key in gold]
    if not probable(answers):
        raise BadInput(
            "the predictions are no probabilities: there is no threshold to choose "
            "(classify, heads, nli and score give them)"
        )
    labels = label_names([*gold.values(), *answers])
    choices = best_thresholds(as_table(list(gold.values()), labels), as_table(answers, labels))
    by_label = {
        name: {"threshold": one.value, "f1": one.f1, "ties": one.ties, "support": one.positives}
        for name, one in zip(labels, choices, strict=True)
    }
    notes = {
        f"by_label.{name}.f1": f"{name} is never gold: it keeps the usual threshold"
        for name, one in zip(labels, choices, strict=True)
        if one.f1 is None
    }
    values = {name: one.value for name, one in zip(labels, choices, strict=True)}
    return {"n": len(gold), TABLE: values, "by_label": by_label, "notes": notes}


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
        document["notes"]["n"] = f"{number_of(silent, 'record')} without an answer: counted as no label predicted"
    return document


def score_people(
    golds: Sequence[LabelsGold], answers: Sequence[LabelsPrediction], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The figures of `emotui score labels --against people`. A record without an answer has no label with any
    probability.
    """
    from emotui.metrics.people_spread import label_people_report

    path = given.get("thresholds")
    chosen = read_thresholds(path) if path else None
    records = {one.id: one for one in answers}
    own = [records[one.id] for one in golds]
    said = [_within_bounds(one.labels) for one in own]
    people = [one.annotators for one in golds]
    labels = label_names(
        [*(one.said or () for one in golds), *(each for one in people for each in one.values()), *said]
    )
    probabilities = [one if isinstance(one, Mapping) else dict.fromkeys(one, 1.0) for one in said]
    decided = [
        record.given if record.given is not None and chosen is None else _from_thresholds(row, chosen or {})
        for record, row in zip(own, probabilities, strict=True)
    ]
    shared = [shared_by(one.meta) for one in golds]
    document = label_people_report(people, probabilities, decided, labels, shared)
    if folds := given.get(CALIBRATE):
        from emotui.metrics.calibration import calibration_report

        p, given_before = as_table(probabilities, labels), as_table(decided, labels)
        ids = [one.id for one in golds]
        document[CALIBRATED] = calibration_report(
            people, p, given_before, labels, ids, shared, folds=int(folds), independent=True
        )
    return document


def _from_thresholds(row: Mapping[str, float], thresholds: Mapping[str, float]) -> list[str]:
    return [name for name, p in row.items() if p >= thresholds.get(name, USUAL)]


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
