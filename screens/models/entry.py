"""What the frame knows of Models before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

ENTRY = PlaceEntry(
    title="Models",
    place="emotui.screens.models.place:Models",
    samples_of="spans",
    main=("load", "measure", "name_model", "model"),
    actions=(
        Action("load", ("enter",), "Enter", "load or end", "Load the picked model, or end its process", "Models", 2),
        Action("measure", ("b",), "b", "measure", "Measure how fast the picked model is", "Models", 3),
    ),
)
