"""Automatic variants of originals (back-translations, say), kept in a workspace as columns of the statistics."""

from collections.abc import Mapping

from emotui.errors import BadInput
from emotui.metrics.rephrasing_statistics import COLUMNS
from emotui.records import ClassGold
from emotui.store.query import Dataset
from emotui.store.store import Store

Variants = Mapping[str, Mapping[str, str]]
"""Column to (id of the original to text)."""


def check_name(name: str) -> None:
    """Raises BadInput for a column's name that is empty or taken."""
    if not name.strip():
        raise BadInput("a column of variants needs a name, such as BT-1")
    if name in COLUMNS:
        raise BadInput(f"{name} is a column already: choose another name, such as BT-1")


def kept_variants(store: Store, dataset: Dataset) -> dict[str, dict[str, str]]:
    """The columns of a dataset, in the order in which they came."""
    found: dict[str, dict[str, str]] = store.setting(_key(dataset), {})
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
    store.set_setting(_key(dataset), kept | {name: dict(texts) for name, texts in variants.items()})


def drop_variants(store: Store, dataset: Dataset, name: str) -> None:
    """Take a column out. Raises BadInput where there is none of this name."""
    kept = kept_variants(store, dataset)
    if name not in kept:
        raise BadInput(f"{dataset.name} has no column {name!r}; it has: {', '.join(kept) or 'none'}")
    store.set_setting(_key(dataset), {other: texts for other, texts in kept.items() if other != name})


def _key(dataset: Dataset) -> str:
    return f"rephrasing-variants/{dataset.fingerprint[:16]}"
