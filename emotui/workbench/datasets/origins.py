"""The files that a dataset came from, which nothing is written over."""

from pathlib import Path

from emotui.formats import check_not_over
from emotui.store.query import Dataset


def check_not_over_origin(path: str, dataset: Dataset) -> None:
    """Whether writing to `path` leaves the files as they are that the dataset was imported from, where these are known.

    Raises:
        BadInput: one of them would be overwritten.
    """
    target = Path(path)
    for name in dict.fromkeys((dataset.source, *dataset.source.split(", "))):
        try:
            origin = Path(name).expanduser()
            inside = target.exists() and origin.is_dir() and target.resolve().is_relative_to(origin.resolve())
        except (OSError, ValueError, RuntimeError):
            continue
        check_not_over(target, target if inside and target.is_file() else origin)
