"""Names of files for rows of a layout with a file a text: their ids where these can be names."""

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import Lost


def file_names(rows: Sequence[TextRow], lost: Lost) -> list[str]:
    """A name a row, without an ending, each once on any system; folders are parted by `/`."""
    width = len(str(len(rows)))
    found: list[str] = []
    taken: set[str] = set()
    for number, row in enumerate(rows, start=1):
        name = row.get("id")
        if name is None or not _is_name(name) or name.lower() in taken:
            lost.add("ids that are no names of files, or none", "replaced by numbers")
            name = f"text-{number:0{width}d}"
        taken.add(name.lower())
        found.append(name)
    return found


def make_folders(top: Path, names: Iterable[str]) -> None:
    """Makes the folder that files of these names go into, and those within it."""
    top.mkdir(parents=True, exist_ok=True)
    for folder in {name.rpartition("/")[0] for name in names} - {""}:
        (top / folder).mkdir(parents=True, exist_ok=True)


def _is_name(name: str) -> bool:
    """Whether a file may be called so on any system, and its name be read back as this id."""
    parts = PurePosixPath(name).parts
    return (
        bool(parts)
        and "/".join(parts) == name
        and len(name.encode("utf-8", "replace")) < 200
        and all(part not in ("..", ".", "/") and not part.startswith(".") and _is_plain(part) for part in parts)
    )


def _is_plain(part: str) -> bool:
    return part.isprintable() and part == part.strip(" .") and not set(part) & set('\\:*?"<>|')
