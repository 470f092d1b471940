"""GoEmotions by rater: the full CSV, in which each row is what one person said of one comment."""

from collections.abc import Mapping
from pathlib import Path

from emotui.formats.layouts.corpora.numbered import GOEMOTIONS_LABELS
from emotui.formats.layouts.corpora.released import first_table, table_of_release
from emotui.formats.layouts.tables.table import Table

_OWN = {"text", "id", "rater_id", "example_very_unclear", *GOEMOTIONS_LABELS}


def _recognise(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or not set(table.header) >= _OWN:
        return None
    return "it has rater_id, example_very_unclear and a column for each of its 28 labels"


def _columns(table: Table) -> Mapping[str, str]:
    """`example_very_unclear`, of which each rater has an own opinion, is not kept: all labels are 0 where it is."""
    own = {"id": "id", "text": "text", "annotator": "rater_id", "ignore.unclear": "example_very_unclear"}
    return own | {f"labels.{name}": name for name in GOEMOTIONS_LABELS}


GOEMOTIONS_RATERS = table_of_release(
    "goemotions-raters",
    "GoEmotions by rater (goemotions_1.csv and so on): what each person said, without a gold label.",
    _recognise,
    _columns,
)
