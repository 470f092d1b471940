"""A workspace with a few texts to rephrase, against the real embedded model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emotui.records import ClassGold
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import Workspace

TEXTS = (
    ClassGold(id="a", text="Thank you so much for helping me move, it meant a lot.", label="gratitude"),
    ClassGold(id="b", text="I am terrified of what the doctor will say tomorrow.", label="fear"),
    ClassGold(id="c", text="He told me that it was fine.", label="grief"),
    ClassGold(id="d", text="I am so angry, they lied to us again!", label="anger"),
)
"""The embedded model gets a, b and d right, and c wrong."""

THANKS = tuple(f"Thanks for helping me move {when}." for when in ("today", "house", "again", "out"))
"""Four rephrasings of a that the model still takes for gratitude."""

HIDDEN = "You carried every box up the stairs and never asked for a thing."
"""One that it does not."""


@contextmanager
def rephrasing_workspace(
    folder: Path, texts: tuple[ClassGold, ...] = TEXTS, lender: Workspace | None = None
) -> Iterator[Workspace]:
    """A workspace whose dataset `rephrase` holds the texts, numbered from 1.

    Args:
        lender: another workspace, whose loaded embedded model is used and left alive.
    """
    opened = Workspace.open(folder / "rephrase.duckdb")
    add_samples(opened.store, "rephrase", "rephrase", texts, "tests")
    if lender is not None:
        opened._models["embedded"] = lender.model("embedded")
    try:
        yield opened
    finally:
        if lender is not None:
            del opened._models["embedded"]
        opened.close()
