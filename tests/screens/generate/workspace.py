"""A small real workspace for the tests of Generate: six texts with the versions of two writers, rated by five."""

from pathlib import Path

from emotui.records import Generation
from emotui.store.store import Store
from emotui.workbench.datasets.whole_records import add_whole_records
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.templates import copy_of

TARGETS = ("joy", "neutral", "disgust")
SEEN = {
    ("ann", 0): ("joy", "joy", "joy", "joy", "neutral"),
    ("ann", 1): ("neutral", "neutral", "neutral", "joy", "joy"),
    ("ann", 2): ("disgust", "disgust", "disgust", "disgust", "disgust"),
    ("bob", 0): ("neutral", "neutral", "neutral", "joy", "joy"),
    ("bob", 1): ("neutral", "neutral", "neutral", "neutral", "neutral"),
    ("bob", 2): ("joy", "disgust", "joy", "disgust", "neutral"),
}
"""Labels by writer and number of the target; the last has two that are the most frequent."""


def records() -> list[Generation]:
    """Both writers' versions of six texts, two a target."""
    found = []
    for writer, word in (("ann", "truly"), ("bob", "rather")):
        for at in range(6):
            kind = at % 3
            found.append(
                Generation(
                    id=f"t-{at + 1}",
                    model=writer,
                    target=TARGETS[kind],
                    original=f"We took the early train, and honestly the view {at} was a delight",
                    neutral=f"We took the early train, and the view {at} was there",
                    emotional=f"We took the early train, and the view {at} was {word} something else",
                    human=SEEN[writer, kind],
                    human_neutral=("neutral",) * 4 + ("joy",) if at < 3 else (),
                )
            )
    return found


def _make(path: Path) -> None:
    opened = Workspace.open(path)
    add_whole_records(opened.store, "generation", "trains", records(), "written for tests")
    opened.set_setting(FIRST_START, "done")
    opened.set_setting("theme", "dark")
    opened.close()


def workspace(path: Path) -> Workspace:
    """A workspace in a new file, past its first start."""
    copy_of(path, "versions", _make)
    return Workspace(Store.open(path))
