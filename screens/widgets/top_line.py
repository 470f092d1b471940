"""The top line: the places by number, the store, the live model and its state, or the work in progress."""

from collections.abc import Mapping

from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Part

_NAME = "emotui "


def places(titles: Mapping[int, str], here: int, cells: int) -> list[Part]:
    """Every place by its number, in so many cells: the open one with its title, of the others the first that fit."""
    if width(_NAME) + sum(width(f"  {number} {title} ") for number, title in titles.items()) <= cells:
        found = [Part(_NAME, "strong")]
        for number, title in titles.items():
            found += [Part(" "), Part(f" {number} {title} ", "here" if number == here else "plain", _opens(number))]
        return found
    room = cells - width(_NAME) - sum(width(f" {number}") for number in titles) - width(f" {titles[here]} ")
    found = [Part(_NAME, "strong")]
    for number, title in titles.items():
        if number == here:
            found.append(Part(f" {number} {title} ", "here", _opens(number)))
            continue
        named = f" {title}" if width(f" {title}") <= room else ""
        room = room - width(named) if named else 0
        found += [Part(f" {number}", "key", _opens(number)), Part(named, "plain", _opens(number))]
    return found


def _opens(number: int) -> str:
    return f"place({number})"


def standing(store: str, live: str | None, state: str, cells: int, most: int) -> list[Part]:
    """Which store is open and which model is live, in so many cells; of a long SPEC the end is shown, which tells more.

    Args:
        live: None where there are no models.
        most: the cells that the numbers of the places leave; the state, which Models tells too, gives way to them.
    """
    if live is None:
        return [Part(fit(store, most).rstrip(), "dim")]
    said = shown(live)
    if width(store) + min(width(said), 8) + width(state) + 4 > most:
        state = ""
    store = fit(store, max(most - min(width(said), 8) - width(state) - 4, 8)).rstrip()
    room = max(cells - width(store) - width(state) - 4, 8)
    if width(said) > room:
        said = "…" + said[1 - room :]
    press = "do('name_model')"
    how = Part(f" {state}".rstrip(), "dim", press)
    return [Part(store, "dim"), Part(" · ", "dim"), Part(said, "strong", press), how]
