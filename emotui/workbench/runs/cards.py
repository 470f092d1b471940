"""Cards of models that were loaded before: what is known of a model lets a finished run be found without loading it."""

import msgspec

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.backends.stamps import stamp_of
from emotui.store.store import Store

SETTING = "model_cards"
_MOST = 64


class _Kept(msgspec.Struct, frozen=True):
    stamp: str
    card: ModelCard


def remembered_card(store: Store, model: ModelProcess) -> ModelCard | None:
    """The card that this model had when it was last loaded; None where anything that it is made of has changed."""
    if model.has_options:
        return None
    kept = _kept(store).get(model.spec)
    return kept.card if kept is not None and kept.stamp == stamp_of(model.spec) else None


def known_card(store: Store, spec: str) -> ModelCard | None:
    """The card that a model of this SPEC had when it was last loaded, be it as it may today."""
    kept = _kept(store).get(spec)
    return None if kept is None else kept.card


def remember_card(store: Store, model: ModelProcess, stamp: str | None, card: ModelCard) -> None:
    """Keep a card under the stamp that the model had before it was loaded."""
    if stamp is None or model.has_options or store.read_only:
        return
    known = _kept(store)
    new = _Kept(stamp, card)
    if known.pop(model.spec, None) == new:
        return
    last = dict(list(known.items())[1 - _MOST :]) | {model.spec: new}
    store.set_setting(SETTING, msgspec.to_builtins(last))


def _kept(store: Store) -> dict[str, _Kept]:
    try:
        return msgspec.convert(store.setting(SETTING, {}), dict[str, _Kept])
    except msgspec.ValidationError:  # of another version
        return {}
