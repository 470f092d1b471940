"""The pictures of the documentation keep what a terminal draws."""

import importlib.util
from types import ModuleType

import pytest
from rich.segment import Segment
from rich.style import Style

from tests.paths import CHECKOUT

LINES = [
    [Segment("gold", Style(underline=True, color="#ffcc00", bgcolor="#101010")), Segment(" &  ", Style(reverse=True))],
    [Segment("▌wide 語", Style(color="#00ff00"))],
]


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("drawing", CHECKOUT / "docs" / "drawing.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_underlines_grounds_and_widths_are_in_the_svg(drawing: ModuleType) -> None:
    made = drawing.svg(LINES, "a <title>")
    assert '<text x="0" y="13.5" textLength="36" fill="#ffcc00">gold</text>' in made
    assert '<rect x="0" y="15.5" width="36" height="1.2" fill="#ffcc00"/>' in made
    assert '<rect x="36" y="0" width="36" height="18" fill="#d7dade"/>' in made
    assert '<rect x="0" y="18" width="4.5" height="18" fill="#00ff00"/>' in made
    assert 'textLength="63" fill="#00ff00">wide 語</text>' in made
    assert "a &lt;title&gt;" in made
    assert "http" not in made.replace("http://www.w3.org/2000/svg", "")


def test_an_image_has_the_colours_of_the_cells(drawing: ModuleType) -> None:
    made = drawing.image(LINES)
    assert made.size == (8 * 9, 2 * 18)
    assert [made.getpixel(at) for at in ((1, 16), (40, 1), (2, 20), (6, 20))] == [
        (255, 204, 0),
        (215, 218, 222),
        (0, 255, 0),
        (12, 12, 12),
    ]


def test_a_cast_sends_the_lines_that_differ(drawing: ModuleType) -> None:
    sent = drawing.cast(LINES, [LINES[0], [Segment("now", Style.null())]])
    assert sent == "\x1b[2;1Hnow\x1b[0m"
