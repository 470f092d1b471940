"""What a key can do in more than one place, and what an action and a place's entry are. Keys, footer, help and palette
are read from these.

An action is answered by the place, the list or the frame, whichever is the first to have a method for it. What only
one place answers stands with that place. One key means one thing in all of them.
"""

from collections.abc import Callable
from functools import cache

import msgspec


class Action(msgspec.Struct, frozen=True):
    """One thing to do. `label` names it, `help` is a sentence, `rank` its place in the footer (0: not there).

    Actions that belong together share one entry of the footer, `footer`: their ids in braces, and a label. So are keys
    named in `help` and `needs`. `needs` says, where it
    cannot be done, what that takes.
    """

    id: str
    keys: tuple[str, ...]
    shown: str
    label: str
    help: str
    group: str
    rank: int = 0
    footer: tuple[str, str] | None = None
    needs: str = ""


class PlaceEntry(msgspec.Struct, frozen=True):
    """How a place is known before it is opened: the first paint waits for one of them, and others are imported then.

    Attributes:
        place: its class, as `module:name`.
        samples_of: of which task the list has the samples while it is open; empty: it takes the list as it is.
        keeps: further tasks whose list stays while it is open.
        actions: what no other place answers.
        needs: what most of its actions take, said of one that cannot be done now and has no reason of its own.
        main: what one does here before all else, by the ids of its actions: these stand first in the footer.
        signs: what the marks mean that it puts into the list: a heading, and a sign with its words for each.
    """

    title: str
    place: str
    samples_of: str
    keeps: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    needs: str = ""
    main: tuple[str, ...] = ()
    signs: tuple[str, tuple[tuple[str, str], ...]] = ("", ())

    @property
    def of_any_task(self) -> bool:
        """Can it show datasets of several tasks?"""
        return not self.samples_of or bool(self.keeps)


_SAMPLES = "the list holds no sample"
_ERRORS = "no run whose errors are marked is over the list"
_LISTED = "there is no list to keep samples of"
_RUN = "no run is over the list: {model} runs a model, {run} chooses a run"
_WRITES = "files are only looked at: a workspace keeps what is done"

SHARED: tuple[Action, ...] = (
    Action("end_tour", ("escape",), "", "end the tour", "Show the line of the tour no more", "Tool"),
    Action(
        "next",
        ("j", "down"),
        "j",
        "next",
        "Next sample ({next} from any pane, ↓ in the list)",
        "Move",
        1,
        ("{next} {previous}", "move"),
        _SAMPLES,
    ),
    Action(
        "previous",
        ("k", "up"),
        "k",
        "previous",
        "Previous sample ({previous} from any pane, ↑ in the list)",
        "Move",
        needs=_SAMPLES,
    ),
    Action(
        "page_down", ("pagedown",), "PgDn", "page down", "A screenful further down in the list", "Move", needs=_SAMPLES
    ),
    Action("page_up", ("pageup",), "PgUp", "page up", "A screenful further up in the list", "Move", needs=_SAMPLES),
    Action(
        "first",
        ("g", "home"),
        "g",
        "first",
        "First sample ({first} from any pane, Home in the list)",
        "Move",
        needs=_SAMPLES,
    ),
    Action(
        "last", ("G", "end"), "G", "last", "Last sample ({last} from any pane, End in the list)", "Move", needs=_SAMPLES
    ),
    Action(
        "next_error",
        ("n",),
        "n",
        "next error",
        "Next sample in which the run made an error",
        "Move",
        4,
        ("{next_error} {previous_error}", "error"),
        _ERRORS,
    ),
    Action("previous_error", ("p",), "p", "previous error", "Previous sample with an error", "Move", needs=_ERRORS),
    Action(
        "next_H",
        ("H",),
        "H",
        "next hallucination",
        "Next sample with a span that is not in the text",
        "Move",
        15,
        ("{next_H} {next_F} {next_N}", "next of a kind"),
        _ERRORS,
    ),
    Action(
        "next_F", ("F",), "F", "next fixation", "Next sample with nothing but a keyword marked", "Move", needs=_ERRORS
    ),
    Action(
        "next_N",
        ("N",),
        "N",
        "next neutral hit",
        "Next sample with evidence in a neutral sentence",
        "Move",
        needs=_ERRORS,
    ),
    Action("next_M", ("M",), "M", "next miss", "Next sample with a gold span that nothing met", "Move", needs=_ERRORS),
    Action(
        "next_X", ("X",), "X", "next extra", "Next sample with a predicted span that met nothing", "Move", needs=_ERRORS
    ),
    Action(
        "next_L", ("L",), "L", "next wrong label", "Next sample with a span under a wrong label", "Move", needs=_ERRORS
    ),
    Action(
        "pane",
        ("tab",),
        "Tab",
        "next pane",
        "The next part of what is looked at: span, mask, emotion, row; at its end the next pane",
        "Move",
        16,
    ),
    Action("pane_back", ("shift+tab",), "⇧Tab", "previous pane", "The part before, or the pane", "Move"),
    Action("open", ("enter",), "Enter", "open", "From the list into the place", "Move", 2, needs=_SAMPLES),
    Action(
        "list",
        ("l",),
        "l",
        "list",
        "Show or fold the list, where both do not fit",
        "Move",
        3,
        needs="the list is in sight already",
    ),
    Action(
        "unfold",
        ("f6",),
        "F6",
        "list",
        "Show or fold the list, where {list} means something else",
        "Move",
        17,
        needs="the list is in sight already",
    ),
    Action("panes", ("f6",), "F6", "panes", "From pane to pane; the list comes or goes where both do not fit", "Move"),
    Action(
        "stop",
        ("ctrl+x",),
        "^X",
        "stop",
        "Stop what is running; what is done is kept. In a text {stop} cuts",
        "Runs",
        14,
        needs="nothing is running that could be stopped",
    ),
    Action(
        "leave",
        ("escape",),
        "Esc",
        "back",
        "Out of the text, statistics, review or why; letters are keys",
        "Writing",
        2,
        needs="nothing is open that could be left",
    ),
    Action(
        "back",
        ("escape",),
        "Esc",
        "back",
        "One step back: from a pane to the list; there search goes, then the filter",
        "Move",
        9,
        needs="there is nothing to go back from; {quit} leaves emotui",
    ),
    Action(
        "list_narrower",
        ("ctrl+left",),
        "^←",
        "list narrower",
        "The list narrower; the line drags too",
        "Move",
        needs="list and place are not beside each other",
    ),
    Action(
        "list_wider",
        ("ctrl+right",),
        "^→",
        "list wider",
        "The list wider; remembered, as when dragged",
        "Move",
        needs="list and place are not beside each other",
    ),
    Action(
        "search", ("slash",), "/", "search", "Keep the samples whose text holds these words", "List", 5, needs=_LISTED
    ),
    Action(
        "filter",
        ("f",),
        "f",
        "filter",
        "Keep samples by emotion, valence, kind of error or F1",
        "List",
        6,
        needs=_LISTED,
    ),
    Action(
        "metric",
        ("percent_sign",),
        "%",
        "metric",
        "Choose which figure of the run stands in the list",
        "List",
        0,
        needs="this list has no other figure",
    ),
    Action("sort", ("s",), "s", "sort", "Order the list; Space turns the order round", "List", 7, needs=_LISTED),
    Action("clear", ("x",), "x", "clear filter", "Drop search and filter", "List", 8, needs="nothing is filtered"),
    Action(
        "dataset",
        ("d",),
        "d",
        "dataset",
        "Show another dataset",
        "List",
        0,
        needs="no other of this task: {import} brings one in, Browse has all tasks",
    ),
    Action(
        "run",
        ("r",),
        "r",
        "runs",
        "Choose a run or person: to show, compare, use as gold",
        "Runs",
        9,
        needs="there are no runs yet: {model} runs a model",
    ),
    Action(
        "make_gold",
        ("U",),
        "U",
        "use as gold",
        "Make what the run or person shown says the gold: a new version, asked about first",
        "Runs",
        needs=_RUN,
    ),
    Action(
        "rescore", ("S",), "S", "score again", "Score the run shown again, against today's gold", "Runs", needs=_RUN
    ),
    Action(
        "map_labels",
        ("equals_sign",),
        "=",
        "map labels",
        "Say what gold calls the labels of the run shown; a guess is offered",
        "Runs",
        needs="it takes a run over samples of spans",
    ),
    Action(
        "model",
        ("R",),
        "R",
        "run a model",
        "Run a model over the dataset",
        "Runs",
        10,
        ("{model}", "run model"),
        "models run in a workspace that holds samples",
    ),
    Action(
        "name_model",
        ("m",),
        "m",
        "models",
        "Models: which is asked live; load, unload, measure, try them",
        "Runs",
        11,
        needs="models answer in a workspace",
    ),
    Action(
        "annotators",
        ("a",),
        "a",
        "annotators",
        "Who marked what: gold, runs, annotators, a row each",
        "Sample",
        12,
        needs="nobody else says anything here",
    ),
    Action(
        "raw",
        ("O",),
        "O",
        "raw output",
        "Show the run's raw output and the prompt, or the alignment again",
        "Sample",
        13,
        needs=_RUN,
    ),
    Action(
        "take_away",
        ("w",),
        "w",
        "why",
        "Take the span out of the text: does the answer need it? Again: the text by layer and word",
        "Sample",
        13,
        needs="it takes a text and a live model of a workspace",
    ),
    Action(
        "next_label",
        ("J",),
        "J",
        "next label",
        "In the text by layer and word: the next label, the likeliest first",
        "Sample",
        3,
        needs="it takes the text by layer and word: {take_away} twice",
    ),
    Action(
        "sample_note",
        ("semicolon",),
        ";",
        "note",
        "Write a note on the sample, with codes; made by typing them",
        "Sample",
        needs="it takes a sample of a workspace",
    ),
    Action(
        "note_here",
        ("f9",),
        "F9",
        "note",
        "Write a note on the sample, where {sample_note} means something else",
        "Sample",
        needs="it takes a sample of a workspace",
    ),
    Action(
        "codes",
        ("colon",),
        ":",
        "codes",
        "Codes of notes: list their samples, rename, merge, export",
        "Sample",
        needs=_WRITES,
    ),
    Action(
        "like",
        ("tilde",),
        "~",
        "ten like this",
        "List the ten texts that are nearest to this one",
        "Sample",
        needs="it takes a sample of a workspace",
    ),
    Action(
        "copy",
        ("y",),
        "y",
        "copy",
        "Copy what is selected with the mouse, else the sample with its spans",
        "Sample",
        14,
        needs="nothing is selected",
    ),
    Action(
        "import",
        ("I",),
        "I",
        "import",
        "Bring a file in: looked at first, mapped, then taken",
        "Sample",
        0,
        needs=_WRITES,
    ),
    Action(
        "export",
        ("e",),
        "e",
        "export",
        "Write the samples of the list to a file",
        "Sample",
        0,
        needs="there is nothing to write",
    ),
    Action(
        "view",
        ("v",),
        "v",
        "view",
        "The next view; {part} the next part of one that has several",
        "Views",
        3,
        needs="there is one view alone",
    ),
    Action("view_back", ("V",), "V", "view before", "The view before", "Views", needs="there is one view alone"),
    Action(
        "part",
        ("greater_than_sign",),
        ">",
        "part of the view",
        "The next part of a view that has several",
        "Views",
        needs="this view has one part alone",
    ),
    Action(
        "part_back",
        ("less_than_sign",),
        "<",
        "part before",
        "The part of the view before",
        "Views",
        needs="this view has one part alone",
    ),
    Action(
        "write",
        ("i", "enter"),
        "i",
        "write",
        "Into the text, a guess, a reason; Esc leaves it",
        "Writing",
        1,
        needs="there is no text to write into",
    ),
    Action(
        "undo",
        ("u", "ctrl+z"),
        "u",
        "undo",
        "Take back what was done last; while one types, ^Z",
        "Writing",
        5,
        needs="nothing was done here that could be taken back",
    ),
    Action(
        "redo",
        ("ctrl+r", "ctrl+y"),
        "^R",
        "redo",
        "Put back what was taken back (^Y too)",
        "Writing",
        needs="nothing was taken back",
    ),
    Action(
        "clear_text",
        ("ctrl+u",),
        "^U",
        "clear text",
        "Clear all of the text while one types (^Z undoes that)",
        "Writing",
        5,
        needs="it clears the text while one types there",
    ),
)
"""What more than one place answers, or none: then the list or the frame does."""

TOOL: tuple[Action, ...] = (
    Action("theme", (), "", "theme", "Choose colours: dark, light, high contrast, colour-blind-safe", "Tool", 0),
    Action("own_keys", ("f10",), "F10", "own keys", "Put other keys in place of these; a set for vim's", "Tool"),
    Action(
        "sql",
        ("Q",),
        "Q",
        "SQL",
        "Ask the store a question of your own in SQL",
        "Tool",
        0,
        needs="files are only looked at: a workspace is asked",
    ),
    Action(
        "tour",
        ("f12",),
        "F12",
        "tour",
        "A tour in six steps: what one sees, and the key to press next",
        "Tool",
        needs="nothing is open yet",
    ),
    Action(
        "help", ("question_mark", "f1"), "?", "help", "Keys, marks and figures: type to find, Enter does", "Tool", 18
    ),
    Action("palette", ("ctrl+p",), "^P", "palette", "The same sheet as {help}", "Tool", 19),
    Action("close_view", ("q",), "q", "close", "Close the view that is open; in a sheet: the sheet", "Tool", 20),
    Action("quit", ("q", "ctrl+q"), "q", "quit", "Leave; position, filter and colours are remembered", "Tool", 21),
)
"""Of the workbench itself; these stand last."""


class Acting:
    """What answers actions: `do_<id>` does one, and `can_<id>`, where there is one, says whether it can be done now."""

    def doing(self, action: str) -> Callable[[], None] | None:
        """What does this action, None where nothing here does."""
        kind: type = type(self)
        do: Callable[[], None] | None = getattr(self, f"do_{action}", None) if action in _done_by(kind) else None
        return do

    def can(self, action: str) -> bool:
        able: Callable[[], bool] | None = getattr(self, f"can_{action}", None)
        return self.doing(action) is not None and (able is None or able())

    def lacking(self, action: str) -> str:
        """What is not there that an action needs now, in words; empty: what the action itself says of it."""
        return ""

    def worded(self, action: str) -> str:
        """What the footer calls an action now, where that depends on what is looked at; empty: as it always does."""
        return ""


@cache
def _done_by(kind: type) -> frozenset[str]:
    """The actions that objects of a class do. Every key of the tool asks some of them, whenever the footer is drawn."""
    return frozenset(name.removeprefix("do_") for name in dir(kind) if name.startswith("do_"))
