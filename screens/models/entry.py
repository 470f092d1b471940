"""What the frame knows of Models before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

ENTRY = PlaceEntry(
    title="Models",
    place="emotui.screens.models.place:Models",
    samples_of="spans",
    needs="no model is picked, or one is at work",
    main=("load", "end", "measure", "name_model", "model"),
    actions=(
        Action("load", ("enter",), "Enter", "open", "Load the picked model; a loaded one: try it", "Models", 2),
        Action(
            "end", ("E",), "E", "end", "End the picked model's process", "Models", 3, needs="this model is not loaded"
        ),
        Action("measure", ("b",), "b", "measure", "Measure how fast the picked model is", "Models", 3),
    ),
    signs=(
        "In Models",
        (
            ("● ◐ ○ !", "loaded, being loaded or measured, ended, failed"),
            ("■ □", "memory that its process has held at most, size of its files"),
            ("● · ?", "it can do this, it cannot, told when it is loaded"),
        ),
    ),
)
