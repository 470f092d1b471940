"""What the frame knows of Browse before it is opened."""

from emotui.screens.actions import Action, PlaceEntry

ENTRY = PlaceEntry(
    title="Browse",
    place="emotui.screens.browse.place:Browse",
    samples_of="spans",
    needs="no sample is shown",
    main=("next", "next_error", "search", "filter", "sort", "take_away", "run", "list", "model"),
    actions=(
        Action(
            "overlay",
            ("o",),
            "o",
            "overlay",
            "Cycle what is drawn: both, gold, predicted",
            "Sample",
            11,
            needs="it takes a run over samples with spans",
        ),
        Action(
            "repeat",
            ("full_stop",),
            ".",
            "next repeat",
            "Show the run's next answer to the same sample",
            "Sample",
            13,
            needs="the run answers each sample once",
        ),
    ),
)
