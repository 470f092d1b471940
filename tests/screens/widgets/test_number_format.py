"""Counts in words."""

from emotui.screens.widgets.number_format import count, so_many
from emotui.tables import number_of


def test_one_of_a_thing_is_told_as_one() -> None:
    assert [so_many(n, "text") for n in (0, 1, 2, 2000)] == ["0 texts", "1 text", "2 texts", f"{count(2000)} texts"]
    assert [number_of(n, "text") for n in (0, 1, 2, 2000)] == ["0 texts", "1 text", "2 texts", "2000 texts"]
