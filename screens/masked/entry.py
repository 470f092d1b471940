"""What the frame knows of Masked before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

_STUDY = "Masked: blind study"

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
        Action("study", ("f5",), "F5", "blind study", "Judge two sources blind, or begin such a study", "Masked", 9),
        Action("study_results", ("f3",), "F3", "statistics", "What a blind study came to", "Masked", 10),
        Action("judge_first", ("left",), "←", "first", "The first word fits better", _STUDY, 1, ("← → = -", "answer")),
        Action("judge_second", ("right",), "→", "second", "The second word fits better", _STUDY),
        Action("judge_both", ("equals_sign",), "=", "both", "Both words fit equally", _STUDY),
        Action("judge_neither", ("minus",), "-", "neither", "Neither word fits", _STUDY),
        Action("choose", ("space",), "Space", "choose", "Choose the answer or code under the cursor", _STUDY, 2),
        Action("go_on", ("enter",), "Enter", "next open", "The next text without an answer", _STUDY, 2),
        Action("open_on", ("n",), "n", "next open", "The next text without an answer", _STUDY, 6, ("n p", "open")),
        Action("open_back", ("p",), "p", "open before", "The text without an answer before", _STUDY),
        Action("why", ("i",), "i", "why", "Write why", _STUDY, 3),
        Action("own_codes", ("semicolon",), ";", "own codes", "Codes in your own words (open coding)", _STUDY, 4),
    ),
    signs=("In the list of Masked", (("✓", "this text of the blind study has your answer"),)),
)
