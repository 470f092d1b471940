"""What every test of a screen is under."""

import pickle
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual import _callback, constants
from textual._compositor import Compositor
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from emotui.screens.app import EmotuiApp
from emotui.screens.keymaps import Keymap, hold
from emotui.screens.places import ACTIONS
from tests.screens import driving
from tests.screens.album import Album

_parse_rules = Stylesheet._parse_rules
_parsed: dict[object, list[RuleSet]] = {}
_colours: dict[frozenset[tuple[str, str]], int] = {}
_last: list[tuple[dict[str, str], int]] = []
_counted: dict[object, int] = {}
_figures: dict[bytes, bytes] = {}


@pytest.fixture(autouse=True)
def _errors_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person's workbench outlives fails a test; what it tells in passing stays until the test has read it."""
    monkeypatch.setattr(EmotuiApp, "outlives", False)
    monkeypatch.setattr(EmotuiApp, "NOTIFICATION_TIMEOUT", 600)


_KEYMAP = Keymap(ACTIONS)


@pytest.fixture(autouse=True)
def _keys_of_the_registry() -> None:
    """Sentences name the keys of the registry, whatever keys of one's own a test before had."""
    hold(_KEYMAP)


@pytest.fixture(autouse=True)
def _all_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Themes are as they are where there is any colour, whatever terminal the tests run in."""
    monkeypatch.setattr(constants, "COLOR_SYSTEM", "truecolor")


@pytest.fixture(autouse=True)
def _cells_once_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are made when all that a key leads to has happened, not at every step on the way there.

    A test's terminal shows nothing to anybody, and making cells took a third of the time of the tests of screens.
    """

    def render_update(
        compositor: Compositor,
        full: bool = False,
        screen_stack: "list[Screen[object]] | None" = None,
        simplify: bool = False,
    ) -> object:
        if full:
            return driving.render_update(compositor, full, screen_stack, simplify)
        return None

    monkeypatch.setattr(Compositor, "render_update", render_update)


@pytest.fixture(autouse=True)
def _styles_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A style sheet with the same colours is parsed once by each worker."""

    def parse_rules(
        sheet: Stylesheet,
        css: str,
        read_from: tuple[str, str],
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        how = (css, read_from, is_default_rules, tie_breaker, scope)
        # Textual puts another dict in the place of this one, and changes none.
        if not _last or _last[0][0] is not sheet._variables:
            number = _colours.setdefault(frozenset(sheet._variables.items()), len(_colours))
            _last[:] = [(sheet._variables, number)]
        key = (_last[0][1], *how)
        if key not in _parsed:
            _parsed[key] = _parse_rules(sheet, *how)
        return _parsed[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_rules)


@pytest.fixture(autouse=True)
def _parameters_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a callback takes is read once for its code; Textual asks `inspect` for each message that brings one."""

    def count(called: Callable[..., object]) -> int:
        function = getattr(called, "__func__", called)
        if not hasattr(function, "__code__"):
            return len(signature(called).parameters)
        key = (function.__code__, function is called, getattr(function, "__wrapped__", None))
        if key not in _counted:
            _counted[key] = len(signature(called).parameters)
        return _counted[key]

    monkeypatch.setattr(_callback, "_count_parameters", count)


_SLOW_FIGURES = (
    "emotui.workbench.agreement.of_spans.gamma",
    "emotui.workbench.results.span_figures.with_intervals",
    "emotui.workbench.results.baselines.with_intervals",
    "emotui.workbench.scenes.decoding.decode_honestly",
)


@pytest.fixture(autouse=True)
def _figures_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures that take seconds are counted once by each worker of the same answers: what a screen shows of them is
    tested here, and the figures where they are made."""

    def once(count: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(count)
        def counted(*given: object, **more: object) -> Any:
            key = pickle.dumps((count.__qualname__, given, more))
            if key not in _figures:
                _figures[key] = pickle.dumps(count(*given, **more))
            return pickle.loads(_figures[key])

        return counted

    for name in _SLOW_FIGURES:
        module, _, function = name.rpartition(".")
        monkeypatch.setattr(name, once(getattr(import_module(module), function)))


@pytest.fixture
def album(snapshot: SnapshotAssertion) -> Iterator[Album]:
    """Pictures of one session. All are taken before the test fails for those that have changed."""
    pictures = Album(snapshot)
    yield pictures
    if pictures.changed:
        pytest.fail("\n".join(["changed (--snapshot-update, then look):", *pictures.changed]), pytrace=False)
