"""What the frame knows of Annotate before it is opened, and which keys labels cannot have."""

from emotui.screens.actions import SHARED, TOOL, Action, PlaceEntry

_MARK, _ANSWER = "Annotate: mark", "Annotate: answer"
_CHOSEN = "no span is chosen: {walk} chooses one"
_SETTLES = "it is for adjudication: {adjudicate} begins it"

ACTIONS = (
    Action(
        "hints",
        ("i",),
        "i",
        "letters",
        "Letters under the words in sight: type start, end, label; a mask: its word",
        _MARK,
        2,
    ),
    Action("word_left", ("h", "left"), "h ←", "word back", "Caret to the word before", _MARK),
    Action(
        "word_right",
        ("l", "right"),
        "l →",
        "word on",
        "Caret to the next word",
        _MARK,
        12,
        (
            "{word_left} {word_right} {clause_left} {clause_right} {sentence_left} {sentence_right}",
            "word, clause, sentence",
        ),
    ),
    Action("character_left", ("shift+left",), "⇧←", "character back", "Caret or border a character back", _MARK),
    Action("character_right", ("shift+right",), "⇧→", "character on", "Caret or border a character on", _MARK),
    Action("clause_left", ("left_parenthesis",), "(", "clause back", "Caret to the clause before", _MARK),
    Action("clause_right", ("right_parenthesis",), ")", "clause on", "Caret to the next clause", _MARK),
    Action("sentence_left", ("less_than_sign",), "<", "sentence back", "Caret to the sentence before", _MARK),
    Action("sentence_right", ("greater_than_sign",), ">", "sentence on", "Caret to the next sentence", _MARK),
    Action("line_up", ("up",), "↑", "line up", "Caret to the line above", _MARK),
    Action("line_down", ("down",), "↓", "line down", "Caret to the line below", _MARK),
    Action("text_up", ("pageup",), "PgUp", "half a page up", "Caret half a page up in the text", _MARK),
    Action("text_down", ("pagedown",), "PgDn", "half a page down", "Caret half a page down in the text", _MARK),
    Action(
        "begin",
        ("v",),
        "v",
        "begin span",
        "Begin a span at the caret; a label's key or {close} ends it",
        _MARK,
        3,
        needs="a label's key or {close} ends the one that is begun, {drop} drops it",
    ),
    Action(
        "close",
        ("enter",),
        "Enter",
        "mark",
        "Mark what is selected, with the label used last",
        _MARK,
        1,
        needs="nothing is selected to be marked",
    ),
    Action(
        "take_span",
        ("enter",),
        "Enter",
        "take",
        "Take the suggested span, or what is suggested of the text",
        _MARK,
        1,
        needs="nothing is suggested: {borrow} asks a source",
    ),
    Action("labels", ("comma",), ",", "any label", "Choose a label by some of its name", _MARK, 15),
    Action(
        "start_left", ("left_square_bracket",), "[", "start back", "Start of the span a word back", _MARK, needs=_CHOSEN
    ),
    Action(
        "start_right",
        ("right_square_bracket",),
        "]",
        "start on",
        "Start of the span a word on",
        _MARK,
        6,
        ("{start_left} {start_right} {end_left} {end_right}", "borders"),
        needs=_CHOSEN,
    ),
    Action("end_left", ("left_curly_bracket",), "{", "end back", "End of the span a word back", _MARK, needs=_CHOSEN),
    Action("end_right", ("right_curly_bracket",), "}", "end on", "End of the span a word on", _MARK, needs=_CHOSEN),
    Action(
        "walk",
        ("tab",),
        "Tab",
        "next part",
        "The next span, past the last the next pane; once the answer is given, first what others marked",
        _MARK,
        4,
        needs="there are no spans yet: {begin} begins one",
    ),
    Action(
        "walk_back",
        ("shift+tab",),
        "⇧Tab",
        "span before",
        "Choose the span before",
        _MARK,
        needs="there are no spans yet: {begin} begins one",
    ),
    Action(
        "join",
        ("ampersand",),
        "&",
        "join",
        "Make the span a part of the nearest one with its label; one of several parts falls apart",
        _MARK,
        needs="the scheme has no spans of several parts, or there is none to join it to",
    ),
    Action("remove", ("x",), "x", "remove", "Remove the span, or refuse the suggestion", _MARK, 5, needs=_CHOSEN),
    Action(
        "drop",
        ("escape",),
        "Esc",
        "back",
        "Leave letters, the selection, the chosen span",
        _MARK,
        2,
        needs="nothing is selected or chosen",
    ),
    Action("accept", ("space",), "Space", "accept, next", "The answer is given; on to the next open text", _ANSWER, 1),
    Action("stay", ("enter",), "Enter", "accept", "The answer is given; stay here", _ANSWER, 9),
    Action(
        "pass_over",
        ("minus",),
        "-",
        "skip, next",
        "Pass the text over: not an answer that nothing is there",
        _ANSWER,
        10,
    ),
    Action(
        "cannot_judge", ("underscore",), "_", "cannot judge", "Pass it over, as one that cannot be judged", _ANSWER, 10
    ),
    Action(
        "reopen",
        ("backspace",),
        "⌫",
        "reopen",
        "Take the answer back: it is open again",
        _ANSWER,
        10,
        needs="the answer is not given yet",
    ),
    Action(
        "next_open_text",
        ("n",),
        "n",
        "next open",
        "Next text without an answer",
        _ANSWER,
        11,
        ("{next_open_text} {previous_open_text}", "open"),
    ),
    Action("previous_open_text", ("p",), "p", "previous open", "Previous text without an answer", _ANSWER),
    Action("unsure", ("w",), "w", "unsure", "Unsure of this answer, or not any more", _ANSWER, 13),
    Action("flag", ("exclamation_mark",), "!", "flag", "Flag the text, to be looked at again", _ANSWER, 14),
    Action("note", ("semicolon",), ";", "note", "Write a note about the text, beside your answer", _ANSWER, 14),
    Action("borrow", ("b",), "b", "suggest", "Borrow what a source says, or heads fitted to your answers", _ANSWER, 13),
    Action("adjudicate", ("f4",), "F4", "adjudicate", "Settle what others disagree about; again: back", _ANSWER, 12),
    Action("union", ("plus",), "+", "merge", "Adjudicate: all that any source has", _ANSWER, 3, needs=_SETTLES),
    Action(
        "majority",
        ("at",),
        "@",
        "majority",
        "Adjudicate: what more than half of the sources have",
        _ANSWER,
        4,
        needs=_SETTLES,
    ),
    Action(
        "settle",
        ("dollar_sign",),
        "$",
        "settle agreed",
        "Adjudicate: settle every text that all agree about, or that one alone answered",
        _ANSWER,
        5,
        needs=_SETTLES,
    ),
    Action(
        "agreement", ("f3",), "F3", "agreement", "How far all who say something about these texts agree", _ANSWER, 13
    ),
    Action(
        "guidelines",
        ("f2",),
        "F2",
        "guidelines",
        "How to annotate, as the scheme says it",
        _ANSWER,
        8,
        needs="the scheme of labels has no guidelines",
    ),
)

ENTRY = PlaceEntry(
    title="Annotate",
    place="emotui.screens.annotate.place:Annotate",
    samples_of="",
    needs="no text is open to be annotated",
    main=(
        *("close", "take_span", "begin", "hints", "accept", "stay", "next", "guidelines"),
        *("walk", "remove", "undo"),
    ),
    actions=ACTIONS,
    signs=(
        "In the list of Annotate",
        (("✓", "done: accepted, or settled"), ("–", "passed over"), ("≠", "the sources disagree")),
    ),
)

_NOT_HERE = (
    *("next_H", "next_F", "next_N", "next_M", "next_X", "next_L"),
    *("raw", "view", "view_back", "metric", "rescore", "make_gold", "next_label"),
)
"""Shared actions that nothing answers while Annotate is open, or that give way to labels."""


def reserved() -> dict[str, str]:
    """The keys of one character that labels cannot have, each with what it does."""
    found = {str(number): "opening a place" for number in range(10)}
    for action in (*SHARED, *ACTIONS, *TOOL):
        if action.id not in _NOT_HERE:
            keys = [key for key in action.keys if len(key) == 1]
            keys += [action.shown] if len(action.shown) == 1 else []
            found |= dict.fromkeys(keys, action.label)
    return found | {" ": "accept, next"}
