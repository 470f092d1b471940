"""What every test of the store is under."""

import pytest

from emotui.store import access, store
from emotui.store.access import Access
from tests.kept_engines import close_file, engines, let_go, new_file, settings, start_engines
from tests.templates import make_store


@pytest.fixture(autouse=True)
def _stores_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new workspace is made as a person's is."""
    monkeypatch.setattr(store, "_make", make_store)


@pytest.fixture(autouse=True)
def _engines_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each store has an engine of its own, of as many threads as a person's, and its file is closed after each turn."""
    engines.close_all()
    monkeypatch.setattr(access, "settings", settings)
    monkeypatch.setattr(access, "new_file", new_file)
    monkeypatch.setattr(Access, "_try", start_engines)
    monkeypatch.setattr(Access, "_detach", close_file)
    # One of an earlier test may still have an engine that others wait for, which has to know that it ends.
    monkeypatch.setattr(Access, "_let_go", let_go)
