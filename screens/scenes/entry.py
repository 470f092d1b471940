"""What the frame knows of Scenes before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

ENTRY = PlaceEntry(
    title="Scenes",
    place="emotui.screens.scenes.place:Scenes",
    samples_of="scenes",
    needs="no scenario with the answers of a model is shown",
    main=("alpha_less", "emotion", "next_flip", "clamp", "why", "view", "run", "model", "prior"),
    actions=(
        Action(
            "alpha_less",
            ("left",),
            "←",
            "less prior",
            "Less α (alpha): weigh the prior less",
            "Scenes",
            2,
            ("{alpha_less} {alpha_more}", "α"),
        ),
        Action("alpha_more", ("right",), "→", "more prior", "More α (alpha): weigh the prior more", "Scenes"),
        Action("alpha", ("equals_sign",), "=", "type α", "Type α (alpha), and what flips count against", "Scenes", 13),
        Action(
            "chosen",
            ("asterisk",),
            "*",
            "chosen α",
            "α (alpha) as cross-validation chooses it: what the place opens with",
            "Scenes",
        ),
        Action(
            "emotion",
            ("J",),
            "J",
            "next emotion",
            "Next emotion of the scenario (Tab or ↓ where the ribbons have the keys)",
            "Scenes",
            2,
            ("{emotion} {emotion_back}", "emotion"),
        ),
        Action("emotion_back", ("K",), "K", "emotion before", "The emotion before (↑ in the ribbons)", "Scenes"),
        Action(
            "next_flip",
            ("n",),
            "n",
            "next flip",
            "Next scenario that flips",
            "Scenes",
            4,
            ("{next_flip} {previous_flip}", "flip"),
        ),
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
            "leaked", ("Z",), "Z", "leaked", "Figures that look at what they score, beside the honest ones", "Scenes"
        ),
    ),
    signs=(
        "In the ribbons, the evidence and the list of scenes",
        (
            ("▆ ▒", "on as in gold, on and not in gold"),
            ("▁ ·", "in gold and not on, neither"),
            ("▌ ▐", "it goes off, comes on within this cell"),
            ("▼ ◆", "α (alpha) now, the one that cross-validation chose"),
            ("↑ ↓", "on from this α, off from it"),
            (
                "▆ ▓ ░ ▞",
                "own evidence, bias of the prior, pull of the other emotions, of clamped ones; right of 0: for it",
            ),
            ("sum, P", "log-odds added up, and the probability they are if the others stay as decoded"),
            ("exact P(yes)", "the probability over all that the other emotions may be"),
            ("s, T", "smoothing of the prior, temperature of the model's log-odds"),
            ("○ ●", "where the emotion stands at α 0, and now"),
            ("x ▴ ✓", "vector wrong at the other α, better by the flip, right now"),
            (
                "▴ ▾ ~",
                "fewer labels wrong than at the other α, more, as many; of an emotion: right, wrong now",
            ),
            ("✓ x", "the whole vector is as in gold, or it is not"),
        ),
    ),
)
