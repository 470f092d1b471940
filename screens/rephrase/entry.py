"""What the frame knows of Rephrase before it is opened."""

from emotui.screens.actions import Action, PlaceEntry

ENTRY = PlaceEntry(
    title="Rephrase",
    place="emotui.screens.rephrase.place:Rephrase",
    samples_of="rephrase",
    needs="no round is open, or nothing is written yet",
    main=(
        *("submit", "judge", "write", "leave", "next_open", "skip", "suggest", "words", "view"),
        *("undo", "clear_text"),
    ),
    actions=(
        Action("submit", ("enter",), "Enter", "submit", "Submit the text as the next attempt", "Rephrase", 1),
        Action("skip", ("ctrl+s",), "^S", "skip", "Leave this text and go to the next", "Rephrase", 3),
        Action("suggest", ("ctrl+g",), "^G", "suggest", "Three rephrasings by a model that writes", "Rephrase", 4),
        Action(
            "words",
            ("ctrl+t",),
            "^T",
            "words",
            "The next view in the lower pane, while one types; else {view} does that",
            "Rephrase",
            4,
            needs="it is for while one types; {view} turns the views",
        ),
        Action(
            "other_draft",
            ("ctrl+n",),
            "^N",
            "other draft",
            "What else you wrote for this text and never submitted",
            "Rephrase",
            4,
            needs="there is no other draft of this text",
        ),
        Action(
            "figures", ("f3",), "F3", "statistics", "What the rephrasings came to, as plots and tables", "Rephrase", 4
        ),
        Action("review", ("f4",), "F4", "review", "Judge others' rephrasings without the verdict", "Rephrase", 4),
        Action(
            "judge",
            ("enter",),
            "Enter",
            "take the answer",
            "Take the answer under the cursor",
            "Rephrase",
            1,
            needs="it is for a review: {review} opens one",
        ),
        Action(
            "next_open",
            ("n",),
            "n",
            "next open",
            "Next text that is open",
            "Rephrase",
            9,
            ("{next_open} {previous_open}", "next open"),
        ),
        Action("previous_open", ("p",), "p", "previous open", "Previous text that is open", "Rephrase"),
    ),
    signs=(
        "In Rephrase",
        (
            (
                "█ ┃ ▒",
                "gold's probability left of the middle, its best rival's right of it; each half goes from 0 to 1",
            ),
            ("bold, │ ·", "of labels' bars: the likeliest now, where gold was with the original, what is left up to 1"),
            (
                "after each key",
                "from ten keys on, gold's probability after each of the last: the higher, the more probable",
            ),
            ("similarity", "how alike what you write and the original are in meaning, by the cosine; 1: the same"),
            ("read as, gold, sim", "of an attempt: the classifier's label, its probability of gold, the similarity"),
            ("cues", "words that the lexicon EmoLex ties to emotions, which stand after them"),
            ("explicit", "some cue word is tied to the gold emotion"),
            ("misleading", "all cue words are tied to other emotions, none to gold's"),
            ("implicit", "no cue word is left"),
            ("negation", "yes where a word such as not, never or without negates something"),
            ("leans on", "words without which the log-odds of the label that it names fall, by so much"),
            (
                "outcome, ✓ at 2, 1 of 4",
                "at the second attempt the model no longer read gold (people may not either); one of four made",
            ),
            ("failed, skip", "at all four attempts; left with no attempt counted"),
            ("misread", "the classifier reads the text wrong as it is: set aside, as there is nothing to rewrite"),
            ("S", "the attempt was suggested by a model"),
        ),
    ),
)
