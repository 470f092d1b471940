"""How records come in from files and go out to them: JSON Lines, CSV, TSV, Parquet."""

from emotui.formats.json_document import fingerprint, to_json_document
from emotui.formats.reading import ENDINGS, MOST_PROBLEMS, Read, capped, read
from emotui.formats.writing import check_writable, write
from emotui.formats.written import check_not_over, write_text

__all__ = [
    "ENDINGS",
    "MOST_PROBLEMS",
    "Read",
    "capped",
    "check_not_over",
    "check_writable",
    "fingerprint",
    "read",
    "to_json_document",
    "write",
    "write_text",
]
