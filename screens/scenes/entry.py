"""What the frame knows of Scenes before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

ENTRY = PlaceEntry(
    title="Scenes",
    place="emotui.screens.scenes.place:Scenes",
    samples_of="scenes",
    actions=(
        Action("alpha_less", ("left",), "←", "less prior", "Weigh the prior less", "Scenes", 2, ("← →", "alpha")),
        Action("alpha_more", ("right",), "→", "more prior", "Weigh the prior more", "Scenes"),
        Action("alpha", ("equals_sign",), "=", "type alpha", "Type alpha, and what flips count against", "Scenes", 13),
        Action("next_flip", ("n",), "n", "next flip", "Next scenario that flips", "Scenes", 4, ("n p", "next flip")),
        Action("previous_flip", ("p",), "p", "previous flip", "Previous scenario that flips", "Scenes"),
        Action("clamp", ("c",), "c", "clamp", "What if: take the picked emotion as yes, as no, as open", "Scenes", 5),
        Action("free", ("C",), "C", "free all", "Take no emotion as known", "Scenes", 6),
        Action("why", ("w",), "w", "why", "Why the picked emotion is as it is: the terms by size", "Scenes", 6),
        Action("prior", ("t",), "t", "prior", "Choose the prior, its smoothing, the temperature", "Scenes", 7),
        Action(
            "objective",
            ("D",),
            "D",
            "decode for",
            "Decode for the best vector, expected Hamming, expected macro-F1",
            "Scenes",
        ),
        Action(
            "leaked", ("L",), "L", "leaked", "Figures that look at what they score, beside the honest ones", "Scenes"
        ),
    ),
    signs=(
        "In the list of scenes",
        (
            ("x ▴ ✓", "vector wrong at the other alpha, better by the flip, right now"),
            ("▴ ▾ ~", "fewer labels wrong than at the other alpha, more, as many"),
            ("✓ x", "the whole vector is as in gold, or it is not"),
        ),
    ),
)
