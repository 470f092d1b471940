"""The top line: the places by number, the store, the live model and its state, or the work in progress."""

from collections.abc import Mapping

from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Part

_NAME = "emotui "


def places(titles: Mapping[int, str], here: int, cells: int) -> list[Part]:
    """Every place by its number and title, in so many cells; where they are too many only the open one has a title."""
    named = {number: f" {number} {title} " for number, title in titles.items()}
    needed = width(_NAME) + sum(width(name) + 1 for name in named.values())
    found = [Part(_NAME, "strong")]
    for number, name in named.items():
        said = name if needed <= cells or number == here else f" {number} "
        found += [Part(" "), Part(said, "here" if number == here else "plain", f"place({number})")]
    return found


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
