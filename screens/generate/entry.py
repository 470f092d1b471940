"""What the frame knows of Generate before it is opened."""

from emotui.screens.actions import Action, PlaceEntry

ENTRY = PlaceEntry(
    title="Generate",
    place="emotui.screens.generate.place:Generate",
    samples_of="generation",
    needs="no text with versions of a model is shown",
    main=("next", "rate", "against", "view", "run", "model"),
    actions=(
        Action(
            "against",
            ("o",),
            "o",
            "compare with",
            "What the emotional text's marks are against: the neutral text, or the original",
            "Generate",
            4,
        ),
        Action("rate", ("f4",), "F4", "rate", "Rate texts blind: one at a time, an emotion by one key", "Generate", 2),
        Action("papers", ("P",), "P", "published", "The paper's own models in the plot, or not", "Generate", 9),
    ),
)
