"""Every layout by name, in the order in which a file is tried: what is told apart most surely comes first."""

from emotui.formats.layouts.corpora.released import (
    BRIGHTER,
    EMOBANK,
    GOEMOTIONS,
    GOEMOTIONS_RATERS,
    ISEAR,
    MELD,
    SEMEVAL_2018,
    XED,
)
from emotui.formats.layouts.corpora.reman import REMAN
from emotui.formats.layouts.layout import Layout
from emotui.formats.layouts.tables.excel import EXCEL
from emotui.formats.layouts.tables.json_records import JSON_LINES, JSON_LIST, PLAIN_TEXT
from emotui.formats.layouts.tables.layouts import LONG, TABLE, WIDE
from emotui.formats.layouts.tables.parquet_files import DATASETS, PARQUET
from emotui.formats.layouts.tools import brat, cas_xmi, conll, doccano, label_studio, prodigy
from emotui.formats.layouts.tools.webanno import layout as webanno

LAYOUTS: tuple[Layout, ...] = (
    PARQUET,
    EXCEL,
    webanno.LAYOUT,
    label_studio.LAYOUT,
    label_studio.MINIMAL,
    prodigy.LAYOUT,
    REMAN,
    doccano.LAYOUT,
    cas_xmi.LAYOUT,
    brat.LAYOUT,
    conll.LAYOUT,
    DATASETS,
    GOEMOTIONS,
    XED,
    GOEMOTIONS_RATERS,
    SEMEVAL_2018,
    BRIGHTER,
    EMOBANK,
    ISEAR,
    MELD,
    JSON_LINES,
    JSON_LIST,
    LONG,
    WIDE,
    TABLE,
    PLAIN_TEXT,
)


def layout_named(name: str) -> Layout | None:
    """The layout of that name, None where there is none."""
    return next((layout for layout in LAYOUTS if layout.name == name), None)
