"""Everything that a key can do, once. Keys, footer, help and command palette are all read from here.

A place answers an action by having a method `do_<id>`, and says with `can(id)` whether it makes sense now; what no
place answers, the frame does. One key means one thing in all of them.
"""

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Action:
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


ACTIONS: tuple[Action, ...] = (
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
    Action("back", ("escape",), "Esc", "back", "Back to the sample", "Move", 1),
    Action("search", ("slash",), "/", "search", "Keep the samples whose text holds these words", "List", 6),
    Action("filter", ("f",), "f", "filter", "Keep samples by emotion, valence, kind of error or F1", "List", 5),
    Action("sort", ("s",), "s", "sort", "Order the list; the same order again turns it round", "List", 7),
    Action("clear", ("x",), "x", "clear filter", "Drop search and filter", "List", 8),
    Action("dataset", ("d",), "d", "dataset", "Show another dataset", "List", 0),
    Action("run", ("r",), "r", "run", "Choose which run is shown, and which are compared with it", "Runs", 9),
    Action("model", ("R",), "R", "run a model", "Run a model over the dataset", "Runs", 10),
    Action("name_model", ("m",), "m", "live model", "Choose the model that is asked live, and load it", "Runs", 11),
    Action("stop", ("escape",), "Esc", "stop", "Stop what is running; what is done is kept", "Runs", 1),
    Action("overlay", ("o",), "o", "overlay", "Cycle what is drawn: both, gold, predicted, everyone", "Sample", 11),
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
    Action("repeat", ("full_stop",), ".", "next repeat", "Show the run's next answer to the same sample", "Sample", 13),
    Action("copy", ("y",), "y", "copy", "Copy the sample with its gold and predicted spans", "Sample", 14),
    Action("export", ("e",), "e", "export", "Write the samples of the list to a file", "Sample", 0),
    Action("alpha_less", ("left",), "←", "less prior", "Weigh the prior less", "Scenes", 2, ("← →", "alpha")),
    Action("alpha_more", ("right",), "→", "more prior", "Weigh the prior more", "Scenes"),
    Action("alpha", ("equals_sign",), "=", "type alpha", "Type alpha, and what flips count against", "Scenes", 13),
    Action("next_flip", ("n",), "n", "next flip", "Next scenario that flips", "Scenes", 4, ("n p", "next flip")),
    Action("previous_flip", ("p",), "p", "previous flip", "Previous scenario that flips", "Scenes"),
    Action("clamp", ("c",), "c", "clamp", "What if: take the picked emotion as yes, as no, as open", "Scenes", 5),
    Action("free", ("C",), "C", "free all", "Take no emotion as known", "Scenes", 6),
    Action("why", ("w",), "w", "why", "Why the picked emotion is as it is: the terms by size", "Scenes", 6),
    Action("prior", ("t",), "t", "prior", "Choose the prior, its smoothing, the temperature", "Scenes", 7),
    Action("view", ("v",), "v", "view", "The next view: tables, bars, heatmaps, sweep, flips, couplings", "Views", 3),
    Action("view_back", ("V",), "V", "view before", "The view before", "Views"),
    Action("values", ("number_sign",), "#", "numbers", "Numbers in heatmaps, or shades", "Views", 8),
    Action("leaked", ("L",), "L", "leaked", "Figures that look at what they score, beside the honest ones", "Scenes"),
    Action("submit", ("enter",), "Enter", "submit", "Submit the text as the next attempt", "Rephrase", 1),
    Action("write", ("i", "enter"), "i", "write", "Into the text: from there Enter submits", "Rephrase", 1),
    Action(
        "leave", ("escape",), "Esc", "leave", "Out of the text, statistics or review; letters are keys", "Rephrase", 2
    ),
    Action("skip", ("ctrl+s",), "^S", "skip", "Leave this text and go to the next", "Rephrase", 3),
    Action("suggest", ("ctrl+g",), "^G", "suggest", "Three rephrasings by a model that writes", "Rephrase", 4),
    Action("undo", ("ctrl+z", "u"), "^Z", "undo", "Take back typing, then the last attempt or skip", "Rephrase", 5),
    Action("redo", ("ctrl+r", "ctrl+y"), "^R", "redo", "Put back what was taken back (^Y too)", "Rephrase"),
    Action("words", ("f2",), "F2", "words", "Chain, words, difference, session in the lower pane", "Rephrase", 4),
    Action("figures", ("f3",), "F3", "statistics", "What the rephrasings came to, as plots and tables", "Rephrase", 4),
    Action("review", ("f4",), "F4", "review", "Judge others' rephrasings without the verdict", "Rephrase", 4),
    Action("judge", ("enter",), "Enter", "take the answer", "Take the answer under the cursor", "Rephrase", 1),
    Action("next_open", ("n",), "n", "next open", "Next text that is open", "Rephrase", 9, ("n p", "next open")),
    Action("previous_open", ("p",), "p", "previous open", "Previous text that is open", "Rephrase"),
    Action("load", ("enter",), "Enter", "load or end", "Load the picked model, or end its process", "Models", 2),
    Action("measure", ("b",), "b", "measure", "Measure how fast the picked model is", "Models", 3),
    Action("samples", ("enter",), "Enter", "samples", "Browse the samples behind the figure", "Results", 1),
    Action("halt", ("escape",), "Esc", "stop counting", "Stop counting; what is counted stays", "Results", 1),
    Action("next_table", ("n",), "n", "next table", "Next table, plot or heatmap", "Results", 2, ("n p", "next table")),
    Action("previous_table", ("p",), "p", "previous table", "Previous table, plot or heatmap", "Results"),
    Action("take", ("T",), "T", "take text", "Try the text of the selected sample", "Spot check", 2),
    Action("second", ("M",), "M", "second model", "A second model beside the live one; away again", "Spot check", 3),
    Action("keep", ("f8", "K"), "F8", "keep", "Keep the text as a sample (K too)", "Spot check", 4),
    Action("ask", ("f5",), "F5", "ask again", "Ask everything now, what takes long too", "Spot check", 5),
    Action("theme", (), "", "theme", "Choose colours: dark, light, high contrast, colour-blind-safe", "Tool", 0),
    Action("help", ("question_mark", "f1"), "?", "help", "This page", "Tool", 18),
    Action("palette", ("ctrl+p",), "^P", "palette", "Find an action by its name", "Tool", 19),
    Action("quit", ("q", "ctrl+q"), "q", "quit", "Leave; position, filter and colours are remembered", "Tool", 20),
)

BY_ID = {action.id: action for action in ACTIONS}


def bindings() -> list[Binding]:
    """The frame's bindings: every key once."""
    found = [
        Binding(key, f"do('{action.id}')", action.label, show=action.rank > 0, id=f"{action.id}-{key}")
        for action in ACTIONS
        for key in action.keys
    ]
    return found + [Binding(str(number), f"place({number})", show=False) for number in range(1, 10)]
