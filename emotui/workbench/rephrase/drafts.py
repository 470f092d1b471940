"""Texts that were being written and not submitted: kept, so that the end of a session loses nothing that was typed."""

from collections.abc import Mapping

import msgspec

from emotui.store.store import Store
from emotui.workbench.rephrase.views import Round


class Draft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands in the editor. `attempts`: how many there were by then; after another one it is of no use.

    `suggested`: a model wrote it, or what it was made from.
    """

    text: str
    attempts: int = 0
    suggested: bool = False


def kept_drafts(store: Store, round_: Round) -> dict[int, Draft]:
    """By number of the text: what this annotator was writing in this round."""
    return msgspec.convert(store.setting(_key(round_), {}), dict[int, Draft], strict=False)


def keep_drafts(store: Store, round_: Round, changed: Mapping[int, Draft | None]) -> None:
    """Keep these, or forget those that are None; the others stay.

    Raises:
        StoreError: they could not be kept.
    """

    def with_changes(kept: dict[str, object] | None) -> dict[str, object]:
        drafts = (kept or {}) | {
            str(number): None if draft is None else msgspec.to_builtins(draft) for number, draft in changed.items()
        }
        return {number: draft for number, draft in drafts.items() if draft is not None}

    store.change_setting(_key(round_), with_changes)


def _key(round_: Round) -> str:
    return f"rephrasing-drafts/{round_.dataset.fingerprint[:16]}/{round_.identity}/{round_.annotator}"
