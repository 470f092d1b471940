"""Automatic variants of originals (back-translations, say), kept in a workspace as columns of the statistics."""

from collections.abc import Mapping
from typing import Any

from emotui.errors import BadInput
from emotui.metrics.rephrasing_statistics import COLUMNS
from emotui.records import ClassGold
from emotui.store.query import Dataset
from emotui.store.store import Store

_NAME = "rephrasing-variants"

Variants = Mapping[str, Mapping[str, str]]
"""Column to (id of the original to text)."""


def check_name(name: str) -> None:
    """Raises BadInput for a column's name that is empty or taken."""
    if not name.strip():
        raise BadInput("a column of variants needs a name, such as BT-1")
    if name in COLUMNS:
        raise BadInput(f"{name} is a column already: choose another name, such as BT-1")


def kept_of(store: Store, dataset: Dataset, name: str, behind: str = "") -> list[Any]:
    """What is kept about a dataset under this name, whatever has become of its gold, the newest first.

    Older programs kept it by the fingerprint of the gold that the dataset had; what they kept counts until it is
    kept anew under `key_of`.
    """
    with store.together():
        own = store.setting(key_of(dataset, name, behind))
        if own is not None:
            return [own]
        former = [store.setting(f"{name}/{mark[:16]}{behind}") for mark in store.fingerprints(dataset.dataset)]
    return [each for each in former if each is not None]


def key_of(dataset: Dataset, name: str, behind: str = "") -> str:
    """Under which setting something about a dataset is kept: by its number, which it has for good."""
    return f"{name}/{dataset.dataset}{behind}"


def kept_variants(store: Store, dataset: Dataset) -> dict[str, dict[str, str]]:
    """The columns of a dataset, in the order in which they came; of two of one name the newer one."""
    found: dict[str, dict[str, str]] = {}
    for columns in reversed(kept_of(store, dataset, _NAME)):
        found |= columns
    return found


def keep_variants(store: Store, dataset: Dataset, samples: Mapping[int, ClassGold], variants: Variants) -> None:
    """Add columns, or replace those of the same name.

    Raises:
        BadInput: a column's name is taken, or a variant is of no text of the dataset.
    """
    ids = {sample.id for sample in samples.values()}
    for name, texts in variants.items():
        check_name(name)
        strange = [key for key in texts if key not in ids]
        if strange:
            raise BadInput(f"{name}: {dataset.name} has no text {strange[0]!r}")
    kept = kept_variants(store, dataset)
    store.set_setting(key_of(dataset, _NAME), kept | {name: dict(texts) for name, texts in variants.items()})


def move_variants(store: Store, old: Dataset, new: Dataset, ids: Mapping[str, str]) -> None:
    """Keep the columns of one dataset for another with the same texts too; of two of one name its own stays.

    Args:
        ids: by the id of each text of the old dataset that in the new one.
    """
    columns = kept_variants(store, old)
    if columns:
        moved = {name: {ids.get(key, key): text for key, text in texts.items()} for name, texts in columns.items()}
        store.set_setting(key_of(new, _NAME), moved | kept_variants(store, new))


def drop_variants(store: Store, dataset: Dataset, name: str) -> None:
    """Take a column out. Raises BadInput where there is none of this name."""
    kept = kept_variants(store, dataset)
    if name not in kept:
        raise BadInput(f"{dataset.name} has no column {name!r}; it has: {', '.join(kept) or 'none'}")
    store.set_setting(key_of(dataset, _NAME), {other: texts for other, texts in kept.items() if other != name})
