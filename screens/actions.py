"""What a key can do in more than one place, and what an action is. Keys, footer, help and palette are read from these.

An action is answered by the place, the list or the frame, whichever is the first to have a method for it. What only
one place answers stands with that place. One key means one thing in all of them.
"""

from collections.abc import Callable, Iterable

import msgspec
from textual.binding import Binding


class Action(msgspec.Struct, frozen=True):
    """One thing to do. `label` names it, `help` is a sentence, `rank` its place in the footer (0: not there).

    Two actions that belong together share one entry of the footer, `footer`: keys and label.
    """

    id: str
    keys: tuple[str, ...]
    shown: str
    label: str
    help: str
    group: str
    rank: int = 0
    footer: tuple[str, str] | None = None


SHARED: tuple[Action, ...] = (
    Action(
        "next", ("j", "down"), "j", "next", "Next sample (j from any pane, ↓ in the list)", "Move", 1, ("j k", "move")
    ),
    Action("previous", ("k", "up"), "k", "previous", "Previous sample (k from any pane, ↑ in the list)", "Move"),
    Action("page_down", ("pagedown",), "PgDn", "page down", "A screenful further down the list", "Move"),
    Action("page_up", ("pageup",), "PgUp", "page up", "A screenful further up the list", "Move"),
    Action("first", ("g", "home"), "g", "first", "First sample of the list", "Move"),
    Action("last", ("G", "end"), "G", "last", "Last sample of the list", "Move"),
    Action(
        "next_error",
        ("n",),
        "n",
        "next error",
        "Next sample in which the run made an error",
        "Move",
        4,
        ("n p", "next error"),
    ),
    Action("previous_error", ("p",), "p", "previous error", "Previous sample with an error", "Move"),
    Action(
        "next_H",
        ("H",),
        "H",
        "next hallucination",
        "Next sample with a span that is not in the text",
        "Move",
        15,
        ("H F N", "next of a kind"),
    ),
    Action("next_F", ("F",), "F", "next fixation", "Next sample with nothing but a keyword marked", "Move"),
    Action("next_N", ("N",), "N", "next neutral hit", "Next sample with evidence in a neutral sentence", "Move"),
    Action("pane", ("tab",), "Tab", "next pane", "Put the arrow keys into the next pane", "Move", 16),
    Action("pane_back", ("shift+tab",), "⇧Tab", "previous pane", "Put the arrow keys into the previous pane", "Move"),
    Action("open", ("enter",), "Enter", "open", "Open the selected sample", "Move", 1),
    Action("list", ("l",), "l", "list", "Show or fold the list, where both do not fit", "Move", 3),
    Action("unfold", ("f6",), "F6", "list", "Show or fold the list, where l means something else", "Move", 17),
    Action("back", ("escape",), "Esc", "back", "Back to the sample", "Move", 1),
    Action("search", ("slash",), "/", "search", "Keep the samples whose text holds these words", "List", 6),
    Action("filter", ("f",), "f", "filter", "Keep samples by emotion, valence, kind of error or F1", "List", 5),
    Action("metric", ("percent_sign",), "%", "metric", "Choose which figure of the run stands in the list", "List", 0),
    Action("sort", ("s",), "s", "sort", "Order the list; the same order again turns it round", "List", 7),
    Action("clear", ("x",), "x", "clear filter", "Drop search and filter", "List", 8),
    Action("dataset", ("d",), "d", "dataset", "Show another dataset", "List", 0),
    Action(
        "run",
        ("r",),
        "r",
        "run",
        "Choose a run or person: to show, compare, use as gold",
        "Runs",
        9,
    ),
    Action(
        "make_gold",
        ("U",),
        "U",
        "use as gold",
        "Make what the run or person shown says the gold: a new version, asked about first",
        "Runs",
    ),
    Action("rescore", ("S",), "S", "score again", "Score the run shown again, against today's gold", "Runs"),
    Action(
        "map_labels",
        ("equals_sign",),
        "=",
        "map labels",
        "Say what gold calls the labels of the run shown; a guess is offered",
        "Runs",
    ),
    Action("model", ("R",), "R", "run a model", "Run a model over the dataset", "Runs", 10),
    Action("name_model", ("m",), "m", "live model", "Choose the model that is asked live, and load it", "Runs", 11),
    Action("stop", ("escape",), "Esc", "stop", "Stop what is running; what is done is kept", "Runs", 1),
    Action(
        "annotators", ("a",), "a", "annotators", "Who marked what: gold, runs, annotators, a row each", "Sample", 12
    ),
    Action(
        "raw",
        ("O",),
        "O",
        "raw output",
        "Show the run's raw output and the prompt, or the alignment again",
        "Sample",
        13,
    ),
    Action(
        "sample_note",
        ("semicolon",),
        ";",
        "note",
        "Write a note on the sample, with codes; made by typing them",
        "Sample",
    ),
    Action("note_here", ("f9",), "F9", "note", "Write a note on the sample, where ; means something else", "Sample"),
    Action("codes", ("colon",), ":", "codes", "Codes of notes: list their samples, rename, merge, export", "Sample"),
    Action("like", ("tilde",), "~", "ten like this", "List the ten texts that are nearest to this one", "Sample"),
    Action("copy", ("y",), "y", "copy", "Copy the sample with its gold and predicted spans", "Sample", 14),
    Action("import", ("I",), "I", "import", "Bring a file in: looked at first, mapped, then taken", "Sample", 0),
    Action("export", ("e",), "e", "export", "Write the samples of the list to a file", "Sample", 0),
    Action("view", ("v",), "v", "view", "The next view: tables, bars, heatmaps, sweep, flips, couplings", "Views", 3),
    Action("view_back", ("V",), "V", "view before", "The view before", "Views"),
    Action("values", ("number_sign",), "#", "numbers", "Numbers in heatmaps, or shades", "Views", 8),
    Action("write", ("i", "enter"), "i", "write", "Into the text: from there Enter submits", "Writing", 1),
    Action(
        "leave", ("escape",), "Esc", "leave", "Out of the text, statistics or review; letters are keys", "Writing", 2
    ),
    Action("undo", ("u", "ctrl+z"), "u", "undo", "Take back what was done last; while one types, ^Z", "Writing", 5),
    Action("redo", ("ctrl+r", "ctrl+y"), "^R", "redo", "Put back what was taken back (^Y too)", "Writing"),
)
"""What more than one place answers, or none: then the list or the frame does."""

TOOL: tuple[Action, ...] = (
    Action("theme", (), "", "theme", "Choose colours: dark, light, high contrast, colour-blind-safe", "Tool", 0),
    Action("sql", ("Q",), "Q", "SQL", "Ask the store a question of your own in SQL", "Tool", 0),
    Action("help", ("question_mark", "f1"), "?", "help", "This page", "Tool", 18),
    Action("palette", ("ctrl+p",), "^P", "palette", "Find an action by its name", "Tool", 19),
    Action("quit", ("q", "ctrl+q"), "q", "quit", "Leave; position, filter and colours are remembered", "Tool", 20),
)
"""Of the workbench itself; these stand last."""


class Acting:
    """What answers actions: `do_<id>` does one, and `can_<id>`, where there is one, says whether it can be done now."""

    def doing(self, action: str) -> Callable[[], None] | None:
        """What does this action, None where nothing here does."""
        do: Callable[[], None] | None = getattr(self, f"do_{action}", None)
        return do

    def can(self, action: str) -> bool:
        able: Callable[[], bool] | None = getattr(self, f"can_{action}", None)
        return self.doing(action) is not None and (able is None or able())


def bindings(actions: Iterable[Action]) -> list[Binding]:
    """The frame's bindings: every key of these actions, and the numbers of the places."""
    found = [
        Binding(key, f"do('{action.id}')", action.label, show=action.rank > 0, id=f"{action.id}-{key}")
        for action in actions
        for key in action.keys
    ]
    return found + [Binding(str(number), f"place({number})", show=False) for number in range(10)]
