"""Thresholds of labels as a file (TOML or JSON), and chosen on predictions whose gold labels are known."""

import json
from collections.abc import Mapping
from typing import Any

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats import write_text
from emotui.formats.rows import shown
from emotui.metrics.labels import Answer, Gold, as_table, label_names, probable
from emotui.metrics.thresholds import best_thresholds
from emotui.toml_text import parse_toml

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
        raise BadInput("the predictions are no probabilities: there is no threshold to choose")
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
