"""What the frame knows of Spot check before it is opened."""

from emotui.screens.actions import Action, PlaceEntry

_PUSHED = "the model is not pushed: {push} pushes it"

ENTRY = PlaceEntry(
    title="Spot check",
    place="emotui.screens.spot.place:Spot",
    samples_of="",
    needs="nothing is written yet",
    main=("write", "leave", "take", "second", "keep", "ask", "name_model", "view", "push"),
    actions=(
        Action("take", ("T",), "T", "take text", "Try the text of the selected sample", "Spot check", 2),
        Action(
            "second", ("B",), "B", "second model", "A second model beside the live one; away again", "Spot check", 3
        ),
        Action("keep", ("f8",), "F8", "keep", "Keep the text as a sample", "Spot check", 4),
        Action("ask", ("f5",), "F5", "ask again", "Ask everything now, what takes long too", "Spot check", 5),
        Action(
            "push",
            ("z",),
            "z",
            "push",
            "Push the live model along a label's direction, and off again",
            "Spot check",
            6,
            needs="it takes a text and a live model of a workspace",
        ),
        Action("push_less", ("left",), "←", "push less", "Push less, or the other way", "Spot check", needs=_PUSHED),
        Action("push_more", ("right",), "→", "push more", "Push more", "Spot check", needs=_PUSHED),
    ),
)
