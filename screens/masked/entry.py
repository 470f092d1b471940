"""What the frame knows of Masked before it is opened."""

from emotui.screens.actions import Action
from emotui.screens.entry import PlaceEntry

_STUDY, _REVIEW = "Masked: blind study", "Masked: review of masks"

ENTRY = PlaceEntry(
    title="Masked",
    place="emotui.screens.masked.place:Masked",
    samples_of="masked",
    main=("next_mismatch", "fill", "guess", "run", "model", "study", "study_results", "review_masks"),
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
            ("n p", "differ"),
        ),
        Action("previous_mismatch", ("p",), "p", "mismatch before", "The mask before whose vectors differ", "Masked"),
        Action(
            "study",
            ("f5",),
            "F5",
            "blind study",
            "Judge two sources blind, or begin such a study",
            "Masked",
            9,
            ("F5", "study"),
        ),
        Action(
            "study_results",
            ("f3",),
            "F3",
            "statistics",
            "What a blind study came to",
            "Masked",
            10,
            ("F3", "results"),
        ),
        Action("judge_first", ("left",), "←", "first", "The first word fits better", _STUDY, 1, ("← → = -", "answer")),
        Action("judge_second", ("right",), "→", "second", "The second word fits better", _STUDY),
        Action("judge_both", ("equals_sign",), "=", "both", "Both words fit equally", _STUDY),
        Action("judge_neither", ("minus",), "-", "neither", "Neither word fits", _STUDY),
        Action("choose", ("space",), "Space", "choose", "Choose the answer or code under the cursor", _STUDY, 2),
        Action("go_on", ("enter",), "Enter", "next open", "The next text without an answer", _STUDY, 2),
        Action("open_on", ("n",), "n", "next open", "The next text without an answer", _STUDY, 6, ("n p", "open")),
        Action("open_back", ("p",), "p", "open before", "The text without an answer before", _STUDY),
        Action("rationale", ("i",), "i", "why", "Write why", _STUDY, 3),
        Action("own_codes", ("semicolon",), ";", "own codes", "Codes in your own words (open coding)", _STUDY, 4),
        Action(
            "review_masks",
            ("f4",),
            "F4",
            "review masks",
            "Go through doubtful masks of raw posts",
            "Masked",
            11,
            ("F4", "review"),
        ),
        Action("keep_mask", ("space",), "Space", "keep", "Keep the mask, or set it again; on to the next", _REVIEW, 1),
        Action("drop_mask", ("x",), "x", "drop", "No mask there; on to the next", _REVIEW, 1),
        Action(
            "mask_start_back", ("left_square_bracket",), "[", "start back", "Start of the mask a word back", _REVIEW
        ),
        Action(
            "mask_start_on",
            ("right_square_bracket",),
            "]",
            "start on",
            "Start of the mask a word on",
            _REVIEW,
            2,
            ("[ ] { }", "borders"),
        ),
        Action("mask_end_back", ("left_curly_bracket",), "{", "end back", "End of the mask a word back", _REVIEW),
        Action("mask_end_on", ("right_curly_bracket",), "}", "end on", "End of the mask a word on", _REVIEW),
        Action("write_set", ("e",), "e", "write", "Write the posts as masked records", _REVIEW, 1),
    ),
    signs=("In the list of Masked", (("✓", "this text of the blind study has your answer"),)),
)
