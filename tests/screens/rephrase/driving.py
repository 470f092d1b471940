"""Driving Rephrase in tests: open it, write, submit, read its panes."""

from textual.pilot import Pilot

from emotui.screens.rephrase.place import Rephrase
from emotui.screens.widgets.page import Page
from emotui.workbench.workspace import Workspace
from tests.screens.driving import frame, press, settle

IMPLICIT = "My sister moved out last spring and I set the table for two."
"""Without a word that the scripted model knows: it says anticipation."""


def place(pilot: "Pilot[None]") -> Rephrase:
    return frame(pilot).query_one(Rephrase)


def page(pilot: "Pilot[None]", name: str) -> str:
    return place(pilot).query_one(name, Page).text


async def arrive(pilot: "Pilot[None]", *keys: str) -> Rephrase:
    """Open the place and wait for its round."""
    await press(pilot, "3")
    await settle(pilot, work=True)
    await press(pilot, *keys)
    return place(pilot)


async def write(pilot: "Pilot[None]", text: str) -> None:
    """Replace what is in the editor, and wait for the answers."""
    place(pilot).editor.put(text)
    place(pilot).editor.focus()
    await settle(pilot)


async def submit(pilot: "Pilot[None]", text: str) -> None:
    await write(pilot, text)
    await press(pilot, "enter")


def kinds(source: Workspace) -> list[str]:
    return [one.kind for one in source.store.annotations.entries()]
