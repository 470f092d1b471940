"""A screen whose widgets get to know that they have come into sight. It uses private parts of Textual for that."""

from textual.geometry import Size
from textual.screen import Screen


class LaidOut(Screen[None]):
    """Every widget that a layout brings into sight, or gives another size, gets `Show` and `Resize`.

    Textual (8.2) tells them apart from the map of the layout before. Where a widget is painted between its being
    displayed and its layout, that map is made anew on the way with the new widget in it, which then counts as told: it
    stands there empty, or with its lines broken for no width at all, until the terminal changes its size.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last_layout = self._compositor._full_map

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self._compositor._full_map = self._last_layout
        super()._refresh_layout(size, scroll)
        self._last_layout = self._compositor._full_map
