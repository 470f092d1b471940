"""What the frame knows of Compare before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

_OF_TWO = "it takes two sources side by side: {view} goes on to them"

ENTRY = PlaceEntry(
    title="Compare",
    place="emotui.screens.compare.place:Compare",
    samples_of="",
    needs="there are no two sources to compare yet",
    main=("compare_open", "changed_on", "run", "compare_with", "alone", "within", "view", "metric"),
    actions=(
        Action(
            "compare_open",
            ("enter",),
            "Enter",
            "browse",
            "Browse what changed, a slice or a rule; or compare with the source",
            "Compare",
            1,
        ),
        Action(
            "changed_on",
            ("n", "greater_than_sign"),
            "n",
            "next change",
            "Next sample in which the two differ (> too)",
            "Compare",
            2,
            ("{changed_on} {changed_back}", "change"),
            needs=_OF_TWO,
        ),
        Action(
            "changed_back",
            ("p", "less_than_sign"),
            "p",
            "change before",
            "The one before in which they differ (< too)",
            "Compare",
            needs=_OF_TWO,
        ),
        Action("compare_with", ("B",), "B", "with whom", "Choose the source that is compared with", "Compare", 3),
        Action("alone", ("A",), "A", "alone", "Slices and rules of A alone, or of A against B", "Compare", 4),
        Action("within", ("W",), "W", "slice", "Compare within a saved slice, or all samples again", "Compare", 5),
        Action(
            "correction",
            ("C",),
            "C",
            "correction",
            "Correct a family of tests by Holm, or by Benjamini and Hochberg",
            "Compare",
            8,
        ),
        Action("as_printed", ("P",), "P", "published", "The papers' own figures on the axis, or not", "Compare", 9),
    ),
)
