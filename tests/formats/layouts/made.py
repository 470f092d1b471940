"""Rows as hypothesis makes them, within what a layout says that it can hold."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.rows import Flaw

SIGNS = "ab .,é😀日\"'\\|_*[]#<&;->\t"
TEXTS = st.text(SIGNS, max_size=24)
NAMES = st.text("abcdé😀 -'", min_size=1, max_size=6).filter(lambda name: name == " ".join(name.split()))
NUMBERS = st.integers(-5, 5) | st.floats(-1, 1).map(lambda value: round(value, 3))


@st.composite
def spans_of(
    draw: Callable[..., Any],
    text: str,
    labels: st.SearchStrategy[str] = NAMES,
    scores: bool = False,
    attributes: st.SearchStrategy[dict[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """Spans of a text in any order, which may overlap."""
    found = []
    for _ in range(draw(st.integers(0, 3 if text else 0))):
        start = draw(st.integers(0, len(text) - 1))
        span: dict[str, Any] = {"start": start, "end": draw(st.integers(start + 1, len(text))), "label": draw(labels)}
        if scores and draw(st.booleans()):
            span["score"] = draw(NUMBERS)
        if attributes is not None and (said := draw(attributes)):
            span["attributes"] = said
        found.append(span)
    return found


def read_all(layout: Layout, path: Path, **options: Any) -> list[TextRow | Flaw]:
    """The rows of a file without their lines."""
    return [row for _, row in layout.rows(path, ReadOptions(**options))]


def written_and_read(layout: Layout, path: Path, rows: Sequence[TextRow]) -> tuple[Sequence[str], list[TextRow | Flaw]]:
    """What writing says is lost, and the rows as they are read back."""
    assert layout.write is not None
    return layout.write(path, rows), read_all(layout, path)


def recognised(layout: Layout, path: Path) -> bool:
    """Whether a file is taken for this layout by its first bytes."""
    return layout.recognise(path, b"" if path.is_dir() else path.read_bytes()[: 1 << 16]) is not None
