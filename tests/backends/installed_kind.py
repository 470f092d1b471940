"""A kind of model of the tests' own, here and in the child processes that load it."""

import pytest

from emotui.backends import host
from emotui.backends import spec as specs
from tests.paths import CHECKOUT


def install_kind(monkeypatch: pytest.MonkeyPatch, kind: str, loader: str) -> None:
    """Until the test ends, `kind:` is loaded by `loader` (`module:function`)."""
    monkeypatch.setitem(specs.BUILT_IN, kind, loader)
    line = f"from emotui.backends import spec; spec.BUILT_IN[{kind!r}] = {loader!r}; "
    boot = host._BOOT.replace("from emotui.backends.child", line + "from emotui.backends.child")
    monkeypatch.setattr(host, "_BOOT", boot)
    monkeypatch.syspath_prepend(str(CHECKOUT))
