"""What a folder says of itself, so that it can be made again: `paper.json`."""

from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats.rows import literal

FORMAT = "emotui paper"
VERSION = 1
FILE = "paper.json"


class RecipeDataset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dataset. `file`: its samples in the folder, empty where they are left out. `source`: what emotui knows of where
    its own samples are from. `label_maps`: what sources call the labels of spans, by source.
    """

    name: str
    task: str
    fingerprint: str
    file: str = ""
    source: str = ""
    experiment: int | None = None
    label_maps: dict[str, dict[str, str]] = {}


class RecipeRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run. `file`: all that is kept of it. `config`: what its model was asked for."""

    run: str
    dataset: str
    model: str
    by_model: bool
    identity: str
    file: str
    limit: int | None = None
    config: dict[str, Any] = {}


class Stated(msgspec.Struct, frozen=True):
    """What only a person knows, for the metadata; empty: marked as to be stated."""

    creator: str = ""
    license: str = ""
    url: str = ""
    organisation: str = ""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`tables`: the SHA-256 of each file of tables, which are the same when they are made again.

    `figures`: of each figure; they are the same where `drawn_by`, the version of matplotlib, is. `stated`: what was
    said for the metadata.
    """

    format: str = FORMAT
    version: int = VERSION
    emotui: str
    sim: bool
    published: bool
    texts: bool
    datasets: list[RecipeDataset]
    runs: list[RecipeRun]
    tables: dict[str, str]
    figures: dict[str, str] = {}
    drawn_by: str = ""
    stated: Stated = Stated()


def read_recipe(text: bytes, path: str) -> Recipe:
    """Raises: BadInput where it is none of this version."""
    try:
        found = msgspec.json.decode(text, type=Recipe)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{literal(path)}:1: {literal(str(error))[:200]}") from None
    if (found.format, found.version) != (FORMAT, VERSION):
        raise BadInput(f"{literal(path)}:1: is not version {VERSION} of {FORMAT}")
    names = [
        *(one.file for one in found.datasets if one.file),
        *(one.file for one in found.runs),
        *found.tables,
        *found.figures,
    ]
    if wrong := next((name for name in names if not _inside(name)), None):
        raise BadInput(f"{literal(path)}:1: {literal(wrong)} is no file of such a folder")
    return found


def _inside(name: str) -> bool:
    """Whether a name is that of a file in one of the folders beside the recipe."""
    folder, _, file = name.partition("/")
    plain = file and not set(file) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    return bool(plain) and folder in ("data", "figures", "runs", "tables") and not file.startswith(".")
