"""What the frame knows of Results before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

ENTRY = PlaceEntry(
    title="Results",
    place="emotui.screens.results.place:Results",
    samples_of="spans",
    keeps=("masked", "scenes", "rephrase", "generation"),
    main=("samples", "figure", "next_table", "run", "model", "view", "halt", "published", "export"),
    actions=(
        Action(
            "samples",
            ("enter",),
            "Enter",
            "samples",
            "Browse the samples behind the figure",
            "Results",
            1,
            needs="no list of samples stands behind this figure (a published one, or over whole datasets)",
        ),
        Action("halt", ("escape",), "Esc", "stop counting", "Stop counting; what is counted stays", "Results", 1),
        Action(
            "figure",
            ("right",),
            "→",
            "figure",
            "Sources by the next figure; in a table the next cell",
            "Results",
            2,
            ("{figure_back} {figure}", "figure"),
            needs="only sources on an axis and tables have figures to choose",
        ),
        Action(
            "figure_back",
            ("left",),
            "←",
            "figure before",
            "Sources by the figure before; in a table the cell before",
            "Results",
        ),
        Action(
            "next_table",
            ("n",),
            "n",
            "next table",
            "Next table, plot or heatmap",
            "Results",
            2,
            ("{next_table} {previous_table}", "table"),
        ),
        Action("previous_table", ("p",), "p", "previous table", "Previous table, plot or heatmap", "Results"),
        Action(
            "values",
            ("number_sign",),
            "#",
            "numbers",
            "Numbers in heatmaps, or shades",
            "Results",
            8,
            needs="no heatmap is in sight",
        ),
        Action("published", ("P",), "P", "published", "The papers' own rows beside yours, or not", "Results", 9),
    ),
)
