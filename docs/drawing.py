"""Draw a terminal's cells: as SVG, as an image, or as what a terminal is sent; true to grounds, lines and underlines.

No font is fetched: an SVG names monospaced ones, and gives each run its width. Blocks and rules are drawn as shapes, so
they meet whatever the font.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

import matplotlib
from PIL import Image, ImageDraw, ImageFont
from rich.cells import cell_len
from rich.color import Color, ColorSystem
from rich.segment import Segment
from rich.style import Style

WIDE, HIGH = 9, 18
_TEXT, _PAGE = (215, 218, 222), (12, 12, 12)
_FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"

RGB = tuple[int, int, int]
Lines = Sequence[Sequence[Segment]]


class Run(NamedTuple):
    """Cells of one style: the first one's column, how many, their text, its colours and its style."""

    column: int
    cells: int
    text: str
    fore: RGB
    back: RGB
    style: Style


def runs(line: Sequence[Segment]) -> Iterator[Run]:
    """The runs of a line; each block or rule is a run of its own."""
    column = 0
    for text, given, _ in line:
        style = given or Style.null()
        fore, back = _rgb(style.color, _TEXT), _rgb(style.bgcolor, _PAGE)
        if style.reverse:
            fore, back = back, fore
        for part in _parts(text):
            cells = cell_len(part)
            yield Run(column, cells, part, fore, back, style)
            column += cells


def _parts(text: str) -> Iterator[str]:
    at = 0
    for place, character in enumerate(text):
        if _box(character) is not None:
            if place > at:
                yield text[at:place]
            yield character
            at = place + 1
    if at < len(text):
        yield text[at:]


@cache
def _box(character: str) -> tuple[float, float, float, float] | None:
    """The part of its cell that a block or a rule fills: left, top, right, bottom."""
    code = ord(character)
    if 0x2581 <= code <= 0x2588:
        return 0, 1 - (code - 0x2580) / 8, 1, 1
    if 0x2589 <= code <= 0x258F:
        return 0, 0, (0x2590 - code) / 8, 1
    rules = {0x2580: (0, 0, 1, 0.5), 0x2590: (0.5, 0, 1, 1), 0x2500: (0, 0.46, 1, 0.54), 0x2501: (0, 0.42, 1, 0.58)}
    return (rules | {0x2502: (0.45, 0, 0.55, 1), 0x2503: (0.4, 0, 0.6, 1)}).get(code)


def _rgb(color: Color | None, default: RGB) -> RGB:
    return default if color is None or color.is_default else tuple(color.get_truecolor())  # type: ignore[return-value]


def _name(colour: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def svg(lines: Lines, title: str) -> str:
    """The picture as SVG."""
    columns = max(sum(cell_len(text) for text, _, _ in line) for line in lines)
    grounds, marks, texts = [], [], []
    for row, line in enumerate(lines):
        y, reach = row * HIGH, (0, 0, _PAGE)
        for run in (*runs(line), Run(columns, 0, "", _TEXT, _PAGE, Style.null())):
            x, wide = run.column * WIDE, run.cells * WIDE
            if run.back != reach[2] or not run.cells:
                grounds.append(_rect(reach[0], y, x - reach[0], HIGH, reach[2]))
                reach = (x, 0, run.back)
            if (box := _box(run.text) if len(run.text) == 1 else None) is not None:
                left, top, right, bottom = box
                marks.append(
                    _rect(x + left * WIDE, y + top * HIGH, (right - left) * WIDE, (bottom - top) * HIGH, run.fore)
                )
            elif run.text.strip():
                bold = ' font-weight="bold"' if run.style.bold else ""
                texts.append(
                    f'<text x="{x}" y="{y + 13.5:g}" textLength="{wide}" fill="{_name(run.fore)}"{bold}>'
                    f"{escape(run.text)}</text>"
                )
            for drawn, at in ((run.style.underline, HIGH - 2.5), (run.style.strike, HIGH / 2)):
                if drawn:
                    marks.append(_rect(x, y + at, wide, 1.2, run.fore))
    size = f'viewBox="0 0 {columns * WIDE} {len(lines) * HIGH}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONTS}" font-size="15" xml:space="preserve">'
    return "\n".join([head, f"<title>{escape(title)}</title>", *grounds, *marks, *texts, "</svg>", ""])


def _rect(x: float, y: float, wide: float, high: float, colour: RGB) -> str:
    if wide <= 0:
        return ""
    return f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" fill="{_name(colour)}"/>'


@cache
def _font(bold: bool) -> ImageFont.FreeTypeFont:
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return ImageFont.truetype(str(folder / f"DejaVuSansMono{'-Bold' if bold else ''}.ttf"), 15)


def image(lines: Lines) -> Image.Image:
    """The picture in pixels."""
    drawn = [_line(tuple(runs(line))) for line in lines]
    whole = Image.new("RGB", (max(line.width for line in drawn), len(lines) * HIGH), _PAGE)
    for row, line in enumerate(drawn):
        whole.paste(line, (0, row * HIGH))
    return whole


@cache
def _line(line: tuple[Run, ...]) -> Image.Image:
    """One line in pixels; most are the same in many frames."""
    drawing = Image.new("RGB", (sum(run.cells for run in line) * WIDE, HIGH), _PAGE)
    draw = ImageDraw.Draw(drawing)
    for run in line:
        x, wide = run.column * WIDE, run.cells * WIDE
        draw.rectangle([x, 0, x + wide - 1, HIGH - 1], fill=run.back)
        if (box := _box(run.text) if len(run.text) == 1 else None) is not None:
            left, top, right, bottom = box
            corner = x + round(right * WIDE) - 1, round(bottom * HIGH) - 1
            draw.rectangle([x + round(left * WIDE), round(top * HIGH), *corner], fill=run.fore)
        elif run.text.strip():
            for place, character in enumerate(run.text):
                at = x + cell_len(run.text[:place]) * WIDE
                draw.text((at, 0), character, font=_font(bool(run.style.bold)), fill=run.fore)
        for drawn, at in ((run.style.underline, HIGH - 2), (run.style.strike, HIGH // 2)):
            if drawn:
                draw.line([x, at, x + wide - 1, at], fill=run.fore)
    return drawing


def gif(frames: Sequence[Lines], seconds: Sequence[float], target: Path) -> None:
    """Frames, each shown so long, as one GIF that begins again."""
    first, *others = (image(lines).quantize(64, dither=Image.Dither.NONE) for lines in frames)
    shown = [round(one * 1000) for one in seconds]
    first.save(target, save_all=True, append_images=others, duration=shown, loop=0, optimize=True)


def cast(before: Lines | None, now: Lines) -> str:
    """What a terminal is sent to turn one frame into the next: the lines that differ."""
    sent = "\x1b[?25l\x1b[2J" if before is None else ""
    for row, line in enumerate(now):
        if before is None or list(before[row]) != list(line):
            styled = "".join(
                (style or Style.null()).render(text, color_system=ColorSystem.TRUECOLOR) for text, style, _ in line
            )
            sent += f"\x1b[{row + 1};1H{styled}\x1b[0m"
    return sent
