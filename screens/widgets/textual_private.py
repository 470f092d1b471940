"""Every use of what Textual keeps to itself (8.2), with the reason for each. Look here first when Textual changes.

Those of its text area stand in `textual_private_text`: the first paint has none, and does not wait for it.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import cast

from rich.style import Style
from textual._compositor import Compositor
from textual._styles_cache import StylesCache
from textual._time import get_time
from textual.app import App
from textual.cache import LRUCache
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.filter import ANSIToTruecolor, Monochrome, NoColor
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.style import Style as CellStyle
from textual.timer import Timer
from textual.widget import Widget

PAINT_S = 1 / 120


class Painting(Timer):
    """Paints as soon as something has changed, but at the earliest `PAINT_S` seconds after it painted last.

    Textual's timer ticks at fixed moments. After a painting between two of them it waits for the next but one: an
    answer of a model that came 5 ms after the letter was painted would be seen up to 16 ms later.
    """

    async def _run(self) -> None:
        changed = cast("asyncio.Event", self._active)  # which Textual's own types do not tell
        painted = -PAINT_S
        while True:
            await changed.wait()
            await asyncio.sleep(max(painted + PAINT_S - get_time(), 0.0))
            if changed.is_set():  # else a layout has painted it meanwhile
                painted = get_time()
                await self._tick(next_timer=painted, count=0)


class PartPainter(Compositor):
    """Of a part that is to be painted anew, draws the widgets that stand in it, and of each the lines in it.

    Textual draws every line of every widget in whose container the part lies: at a letter that is typed, the whole
    screen, from which it then takes the one line. What it draws of a screen painted as a whole is as it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self._has_part: Callable[[int], bool] = lambda y: True

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        self._has_part = is_rendered_line
        return super()._render_chops(crop, is_rendered_line)

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            asked = seen if crop is None else seen.intersection(crop)
            lines = [y for y in asked.line_range if self._has_part(y)]
            if asked and lines:
                # Whole lines: where they are cut is told by the widgets that lie over them.
                part = Region(seen.x, lines[0], seen.width, lines[-1] + 1 - lines[0])
                yield region, part, widget.render_lines(part.translate((-region.x, -region.y)))


class LaidOut(Screen[None]):
    """Every widget that a layout brings into sight, or gives another size, gets `Show` and `Resize`.

    Textual tells them apart from the map of the layout before. Where a widget is painted between its being displayed
    and its layout, that map is made anew on the way with the new widget in it, which then counts as told: it stands
    there empty, or with its lines broken for no width at all, until the terminal changes its size.
    """

    def __init__(self) -> None:
        super().__init__()
        self._compositor = PartPainter()
        self._last_layout = self._compositor._full_map
        self._painting: Timer | None = None

    @property
    def _update_timer(self) -> Timer:
        if self._painting is None:
            self._painting = Painting(self, PAINT_S, name="screen_update", callback=self._on_timer_update, pause=True)
            self._painting._start()
            self._timers.add(self._painting)
        return self._painting

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self._compositor._full_map = self._last_layout
        super()._refresh_layout(size, scroll)
        self._last_layout = self._compositor._full_map


class KeptStylesheet(Stylesheet):
    """Parses each source once, as long as the variables of the theme stay what they are.

    Textual sets them a second time as it starts, forgets for that what is parsed, and parses everything for a
    stylesheet that it drops. Of what is parsed it keeps 64 sources, fewer than all places and sheets have.
    """

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(1024)

    def set_variables(self, variables: dict[str, str]) -> None:
        """Use other variables; what is parsed under the same ones stays."""
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse what is not parsed under today's variables."""
        self.parse()


def use_two_colours(app: "App[None]") -> None:
    """Under NO_COLOR use the terminal's own two colours: Textual would show shades of grey, and has no setting.

    What is dim stays so: its own filter would make a colour of it, which then is left out.
    """
    kept = [one for one in app._filters if not isinstance(one, ANSIToTruecolor)]
    app._filters = [NoColor() if isinstance(one, Monochrome) else one for one in kept]


def let_go_of_closed_widgets() -> None:
    """Textual keeps what it drew of the last 1,024 widgets, closed ones too: 100 MB in an hour of sheets and places.

    It remembers two colours by a cache over a method, and with them the widget's drawn lines; these two are remembered
    by the colours alone.
    """
    StylesCache.get_inner_outer = _inner_outer  # type: ignore[assignment]


def _inner_outer(_: StylesCache, base: Color, background: Color) -> tuple[CellStyle, CellStyle]:
    return _backgrounds(base, background)


@lru_cache(1024)
def _backgrounds(base: Color, background: Color) -> tuple[CellStyle, CellStyle]:
    return CellStyle(background=base + background), CellStyle(background=base)


def part_style(widget: Widget, name: str) -> Style:
    """The style that the stylesheet gives to a part of a widget by its component class, worked out when first drawn.

    For a class in `COMPONENT_CLASSES` Textual goes through the stylesheet each time that it styles the widget, drawn or
    not, which took more than half of the time to the first paint. A widget that asks here names none there, and calls
    `forget_part_styles` in its `notify_style_update`. Nor is Textual's own question for the style of a part asked here:
    it forgets its answers with every refresh, and finds the widget's whole background for each.
    """
    if name not in widget._component_styles:
        part = DOMNode(classes=name)
        part._attach(widget)
        widget.app.stylesheet.apply(part)
        widget._component_styles[name] = part.styles
    return widget._component_styles[name].partial_rich_style


def forget_part_styles(widget: Widget) -> None:
    """The widget has been styled anew: the styles of its parts may be others."""
    widget._component_styles.clear()
