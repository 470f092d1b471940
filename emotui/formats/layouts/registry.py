"""Every layout by name, in the order in which a file is tried: what is told apart most surely comes first."""

from emotui.formats.layouts.layout import Layout
from emotui.formats.layouts.tools import brat, conll, doccano, label_studio, prodigy, webanno

LAYOUTS: tuple[Layout, ...] = (
    webanno.LAYOUT,
    label_studio.LAYOUT,
    prodigy.LAYOUT,
    doccano.LAYOUT,
    brat.LAYOUT,
    conll.LAYOUT,
)


def layout_named(name: str) -> Layout | None:
    """The layout of that name, None where there is none."""
    return next((layout for layout in LAYOUTS if layout.name == name), None)
