"""Drafts: what a person was writing in a field and had not kept, so that no end of a session loses what was typed.

A draft hangs on its field, person, dataset and sample, by numbers that never change; so it is found again whatever
becomes of gold, models, names, the trash and the program. It is nobody's answer: nothing that lists, scores, publishes
or exports answers reads it.
"""

import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from emotui.store.store import Store

REPHRASING = "rephrasing"
"""The field of an attempt at a rephrasing; its drafts have the identity of their classifier as names."""

_KEPT, _FORMER = "draft/", "rephrasing-drafts/"


class Field(msgspec.Struct, frozen=True):
    """Where a person writes.

    Attributes:
        name: which field it is, such as `note`.
        dataset, sample: what it is about, by number; None: nothing in particular.
        draft: tells several drafts of one field apart, such as those of several studies or classifiers.
    """

    name: str
    person: str
    dataset: int | None = None
    sample: int | None = None
    draft: str = ""


class Draft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stood in a field, and what is told beside it.

    Attributes:
        at: when it was typed, UTC, ISO 8601; empty: nobody knows.
        suggested: a model wrote it, or what it was made from.
        model, gold: the classifier that it was written against, and the gold label that its text had then.
    """

    text: str
    at: str = ""
    suggested: bool = False
    model: str = ""
    gold: str = ""


class DraftBook:
    """The drafts of a store. Every method is one short transaction; safe across threads."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def of(self, person: str) -> dict[Field, Draft]:
        """All of a person's drafts, those that an older program kept among them."""
        with self._store.together():
            kept = self._store.settings.beginning(_KEPT)
            former = self._store.settings.beginning(_FORMER)
            datasets = [*self._store.datasets.all(), *self._store.datasets.all(trash=True)] if former else []
            first = {one.dataset: self._store.samples.file_order(one.dataset) for one in datasets}
        found: dict[Field, Draft] = {}
        for key, drafts in former.items():
            writer, identity = _former(key)
            for number, draft in _numbered(drafts).items() if writer == person else ():
                dataset = next((one for one, numbers in first.items() if number in numbers), None)
                found[Field(REPHRASING, person, dataset, number, identity)] = draft
        for key, kept_one in kept.items():
            field = _field(key)
            if field is not None and field.person == person:
                with contextlib.suppress(msgspec.MsgspecError):  # what others wrote into the store
                    found[field] = msgspec.convert(kept_one, Draft)
        return found

    def keep(self, changed: Mapping[Field, Draft | None]) -> None:
        """Keep these, or forget those that are None; all others stay.

        Raises:
            StoreError: they could not be kept.
        """

        def with_changes(former: dict[str, Any]) -> dict[str, Any]:
            new = {_key(field): None if one is None else msgspec.to_builtins(one) for field, one in changed.items()}
            for key, drafts in former.items():
                writer, identity = _former(key)
                of_it = (REPHRASING, writer, identity)
                moved = {str(one.sample) for one in changed if (one.name, one.person, one.draft) == of_it}
                if isinstance(drafts, dict) and moved & drafts.keys():
                    new[key] = {number: one for number, one in drafts.items() if number not in moved} or None
            return new

        self._store.settings.change_all(_FORMER, with_changes)

    def move(self, old: int, new: int, moved: Mapping[int, int]) -> None:
        """Hang the drafts about one dataset on another with the same texts; one that stands there already stays.

        Args:
            moved: by the number of each sample of the old dataset that in the new one.
        """

        def hung_anew(kept: dict[str, Any]) -> dict[str, Any]:
            changed: dict[str, Any] = {}
            for key, draft in kept.items():
                field = _field(key)
                if field is not None and field.dataset == old and field.sample in (None, *moved):
                    sample = None if field.sample is None else moved[field.sample]
                    there = _key(msgspec.structs.replace(field, dataset=new, sample=sample))
                    changed |= {key: None} if there in kept else {key: None, there: draft}
            return changed

        def numbered_anew(former: dict[str, Any]) -> dict[str, Any]:
            texts = {str(number): str(there) for number, there in moved.items()}
            return {
                key: {texts.get(number, number): draft for number, draft in drafts.items()}
                for key, drafts in former.items()
                if isinstance(drafts, dict) and texts.keys() & drafts.keys()
            }

        self._store.settings.change_all(_KEPT, hung_anew)
        self._store.settings.change_all(_FORMER, numbered_anew)


def _key(field: Field) -> str:
    return _KEPT + json.dumps(msgspec.to_builtins(field), ensure_ascii=False, sort_keys=True)


def _field(key: str) -> Field | None:
    """The field whose draft stands under a key; None: no draft does."""
    try:
        return msgspec.json.decode(key.removeprefix(_KEPT), type=Field)
    except msgspec.MsgspecError:
        return None


def _former(key: str) -> tuple[str, str]:
    """Of a key that an older program made: whose drafts stand under it, and the identity of their classifier."""
    identity, _, person = key.removeprefix(_FORMER).partition("/")[2].partition("/")
    return person, identity


def _numbered(drafts: object) -> dict[int, Draft]:
    """What an older program kept, by the number of the sample."""
    try:
        return msgspec.convert(drafts, dict[int, Draft], strict=False)
    except msgspec.MsgspecError:
        return {}
