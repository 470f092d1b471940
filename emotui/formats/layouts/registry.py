"""Every layout by name, in the order in which a file is tried: what is told apart most surely comes first."""

from emotui.formats.layouts.layout import Layout

LAYOUTS: tuple[Layout, ...] = ()


def layout_named(name: str) -> Layout | None:
    """The layout of that name, None where there is none."""
    return next((layout for layout in LAYOUTS if layout.name == name), None)
