"""What every test of the store is under."""

import pytest

from emotui.store import store
from tests.templates import make_store


@pytest.fixture(autouse=True)
def _stores_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new workspace is made as a person's is."""
    monkeypatch.setattr(store, "_make", make_store)
