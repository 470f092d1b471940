"""What the frame knows of a place before it is opened: its name, its keys, and where to find it.

The first paint waits for one place only; the others are imported when somebody opens them.
"""

import msgspec

from emotui.screens.actions import Action


class PlaceEntry(msgspec.Struct, frozen=True):
    """How a place is known from outside.

    Attributes:
        place: its class, as `module:name`.
        samples_of: of which task the list has the samples while it is open; empty: it takes the list as it is.
        keeps: further tasks whose list stays while it is open.
        actions: what no other place answers.
        needs: what most of its actions take, said of one that cannot be done now and has no reason of its own.
        main: what one does here before all else, by the ids of its actions: these stand first in the footer.
        signs: what the marks mean that it puts into the list: a heading, and a sign with its words for each.
    """

    title: str
    place: str
    samples_of: str
    keeps: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    needs: str = ""
    main: tuple[str, ...] = ()
    signs: tuple[str, tuple[tuple[str, str], ...]] = ("", ())
