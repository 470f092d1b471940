"""What the frame knows of Masked before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

ENTRY = PlaceEntry(
    title="Masked",
    place="emotui.screens.masked.place:Masked",
    samples_of="masked",
    actions=(
        Action("fill", ("o",), "o", "fill", "Fill the masks by gold, by each run, or hide them", "Masked", 2),
        Action("guess", ("i",), "i", "guess", "Guess the hidden words first, blind; then all is shown", "Masked", 2),
        Action("mask_on", ("right",), "→", "next mask", "The next mask of the text", "Masked", 3, ("← →", "mask")),
        Action("mask_back", ("left",), "←", "mask before", "The mask before", "Masked"),
        Action(
            "next_mismatch",
            ("n",),
            "n",
            "next mismatch",
            "Next mask whose two vectors differ, in this text or a later one",
            "Masked",
            1,
            ("n p", "mismatch"),
        ),
        Action("previous_mismatch", ("p",), "p", "mismatch before", "The mask before whose vectors differ", "Masked"),
    ),
)
