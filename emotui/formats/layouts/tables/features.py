"""The names of labels that files of the library `datasets` have as numbers."""

from collections.abc import Mapping
from typing import Any

from emotui.formats import jsonl
from emotui.formats.rows import Flaw

Names = Mapping[str, tuple[str, ...]]


def names_of(features: object) -> dict[str, tuple[str, ...]]:
    """By column the names of its labels, of `features` as `dataset_info.json` or a Parquet file's metadata has them."""
    found = {}
    for column, feature in features.items() if isinstance(features, Mapping) else ():
        if (names := _class_label(feature)) is not None:
            found[str(column)] = names
    return found


def names_in_json(text: bytes) -> dict[str, tuple[str, ...]]:
    """Those in a document that is `{features: ...}`, or has it below `info`; none where it is something else."""
    value = jsonl.decode(text)
    if isinstance(value, Flaw) or not isinstance(value, dict):
        return {}
    inner = value.get("info")
    return names_of((inner if isinstance(inner, dict) else value).get("features"))


def names_in_card(card: str) -> dict[str, tuple[str, ...]]:
    """Those in the head of a README.md on the Hub, of its first configuration."""
    import yaml

    parts = card.split("---\n", 2)
    if len(parts) < 3 or parts[0].strip():
        return {}
    try:
        head = yaml.safe_load(parts[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    described = head.get("dataset_info") if isinstance(head, dict) else None
    described = described[0] if isinstance(described, list) and described else described
    features = described.get("features") if isinstance(described, dict) else None
    found = {}
    for feature in features if isinstance(features, list) else ():
        if isinstance(feature, dict) and (names := _in_card(feature)) is not None:
            found[str(feature.get("name"))] = names
    return found


def _class_label(feature: Any) -> tuple[str, ...] | None:
    if isinstance(feature, list):
        return next((names for one in feature if (names := _class_label(one)) is not None), None)
    if not isinstance(feature, Mapping):
        return None
    if feature.get("_type") == "ClassLabel" and isinstance(feature.get("names"), list):
        return tuple(map(str, feature["names"]))
    return next((names for one in feature.values() if (names := _class_label(one)) is not None), None)


def _in_card(feature: Any) -> tuple[str, ...] | None:
    """`class_label: names: {'0': joy}`, wherever it stands below."""
    if isinstance(feature, list):
        return next((names for one in feature if (names := _in_card(one)) is not None), None)
    if not isinstance(feature, dict):
        return None
    label = feature.get("class_label")
    names = label.get("names") if isinstance(label, dict) else None
    if isinstance(names, dict):
        try:
            return tuple(str(names[key]) for key in sorted(names, key=int))
        except (ValueError, TypeError):
            return None
    if isinstance(names, list):
        return tuple(map(str, names))
    return next((found for one in feature.values() if (found := _in_card(one)) is not None), None)
