"""All that is said of a whole text at once: a row a source, its labels in words, its numbers under each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.screens.browse.things import cut_to
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.number_format import UNDEFINED, share, value_of
from emotui.screens.widgets.page import Page
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.answers import Told, Voice

# Names of runs that stand beside each other: short, and never the same for two of them.

_WAYS = {"retrieve": "ret", "highlight": "high", "retrieve-cot": "ret-cot", "highlight-cot": "high-cot"}


def run_names(runs: Sequence[Run], cells: int = 14) -> list[str]:
    """A name for each run, in at most so many cells where what tells them apart fits: model, task, way, number.

    Of a SPEC the last part is kept (`hf:Qwen/Qwen3-4B` is `Qwen3-4B`); the task is named where one model was asked
    several, the way where two runs of a task are of one model, the run's id where even that is the same.
    """
    models = [_model(run.model) for run in runs]
    asked = {model: {run.task for run, one in zip(runs, models, strict=True) if one == model} for model in models}
    models = [
        f"{model} {run.task}" if len(asked[model]) > 1 else model for run, model in zip(runs, models, strict=True)
    ]
    ways = [str(run.config.get("way") or "") for run in runs]
    pairs = list(zip(models, ways, strict=True))
    by_model, by_pair = Counter(models), Counter(pairs)
    names = []
    for run, (model, way) in zip(runs, pairs, strict=True):
        ends = [_WAYS.get(way, way)] if way and by_model[model] > 1 else []
        if by_pair[model, way] > 1:
            ends.append(run.run[-6:] if way else run.run)
        names.append(_joined(model, " ".join(ends), cells))
    return names


def names_by_run(runs: Sequence[Run], cells: int = 18) -> dict[str, str]:
    """The same by the ids of the runs."""
    return dict(zip((run.run for run in runs), run_names(runs, cells), strict=True))


def _model(spec: str) -> str:
    kind, _, rest = spec.partition(":")
    name = shown(rest.rstrip("/").rpartition("/")[2] or rest or kind)
    return name.split("@")[0].removesuffix(".gguf")


def _joined(model: str, end: str, cells: int) -> str:
    if not end:
        return model
    room = max(cells - width(end) - 1, 4)
    kept = model if width(model) <= room else model[: room - 1] + "…"
    return f"{kept} {end}"


_YES, _LABEL = "yes", "label"
_NAME, _SAYS = 18, 12
"""Most cells for the name of a source, and fewest for what it says in words."""

_NUMBER = 4
"""Fewest cells for a number and its name."""

_HIDDEN = 4
"""Cells for how many numbers have no room."""

_SHARE = 3
"""A row a source takes at most one line in so many of the place."""

_KINDS = {"gold": "gold", "person": "plain", "model": "said", "file": "said"}


def telling(voices: "Sequence[Voice]", names: Mapping[str, str]) -> "tuple[tuple[Voice, str], ...]":
    """Those that say something of the whole text, each with its name; none where nobody does.

    Args:
        names: what runs are called here, by their ids.
    """
    if not any(one.tells for one in voices):
        return ()
    return tuple((one, names.get(one.run, one.name)) for one in voices if one.tells or (one.error and one.task))


def lines_of(told: "Sequence[tuple[Voice, str]]", rows: int) -> int:
    """How many lines these have in a place of so many rows, the heading among them."""
    return min(len(told) + 1, max(rows // _SHARE, 2)) if told else 0


class VoicesPane(Vertical):
    """Stands under a text where somebody says more of it than what stands there already."""

    DEFAULT_CSS = """
    VoicesPane { display: none; height: auto; }
    VoicesPane > Page { height: 1; }
    """

    def compose(self) -> ComposeResult:
        yield Line(classes="-pane")
        yield Page()

    def show_voices(self, told: "Sequence[tuple[Voice, str]]", rows: int) -> None:
        """Show what these say, in a place of so many rows."""
        self.display = bool(told)
        page = self.query_one(Page)
        page.styles.height = max(lines_of(told, rows) - 1, 1)
        # The heading names the columns of the rows, so that both are laid out for the page's width.
        page.show_for(lambda room: self._laid_out(told, room.width), home=True)

    def _laid_out(self, told: "Sequence[tuple[Voice, str]]", cells: int) -> list[list[Part]]:
        heading, *rows = table(told, cells)
        self.query_one(Line).show([Part(" "), *heading])
        return rows


def table(told: "Sequence[tuple[Voice, str]]", cells: int, most: int | None = None) -> list[list[Part]]:
    """A heading with the names of the numbers, and a row a source: its name, labels, numbers, score and errors.

    Args:
        most: lines that there is room for; of more sources the heading says how many there are.
    """
    named = "said of the whole text"
    if most is not None and len(told) > most - 1:
        named, told = f"said of it, {most - 1} of {len(told)}", told[: most - 1]
    who = min(max((width(name) for _, name in told), default=0), _NAME)
    numbers = list(dict.fromkeys(name for one, _ in told for name in one.values))
    ends = [_end(one) for one, _ in told]
    end = max((sum(width(part.text) for part in parts) for parts in ends), default=0)
    said = [_words(one) for one, _ in told]
    longest = max([width(named) - who - 2, *(sum(width(part.text) for part in parts) for parts in said)])
    least = min(longest, _SAYS)
    room = cells - who - 2 - (end + 2 if end else 0)
    fitting = max(min(len(numbers), (room - least) // (_NUMBER + 1)), 0)
    if fitting < len(numbers):  # and then how many are hidden stands behind them
        fitting = max((room - least - _HIDDEN) // (_NUMBER + 1), 0)
        room -= _HIDDEN
    hidden, numbers = len(numbers) - fitting, numbers[:fitting]
    # Words have what numbers leave them, and numbers what words do not need: their names are cut last.
    needed = sum(max(width(name), _NUMBER) + 1 for name in numbers)
    says = max(min(longest, room - needed), least)
    says = longest if longest + needed <= room else says
    columns = _widths([width(name) for name in numbers], room - says)
    more = f" +{hidden}" if hidden else ""
    heading = [Part(fit(named, who + 2 + says), "strong")]
    heading += [Part(" " + fit(name, size).rjust(size), "dim") for name, size in zip(numbers, columns, strict=True)]
    lines = [[*heading, Part(more, "dim")]]
    for (one, name), words, last in zip(told, said, ends, strict=True):
        line = [Part(fit(name, who), _KINDS[one.kind]), Part("  "), *cut_to(words, says)]
        for number, size in zip(numbers, columns, strict=True):
            value = one.values.get(number)
            figure = f"{value:.4g}" if value is not None else UNDEFINED if one.values else ""
            line.append(Part(" " + fit(figure, size).strip().rjust(size)))
        lines.append([*line, Part(" " * width(more) + ("  " if last else "")), *last])
    return lines


def _words(one: "Voice") -> list[Part]:
    if one.error:
        return [Part(f"failed: {one.error}", "mark")]
    if one.told is None:
        return []
    if not one.told:
        return [Part("none", "dim")]
    kind, parts = _KINDS[one.kind], list[Part]()
    for told in one.told:
        parts += [Part("  ")] if parts else []
        parts.append(Part(_told(told), kind))
        parts += [Part(f" {share(told.p).strip()}", "dim")] if told.p is not None else []
        parts += [Part(f" {told.mark}", "mark")] if told.mark else []
    return parts


def _told(told: "Told") -> str:
    """A label by its name; what is said of something else behind the name of that."""
    if told.words == _YES:
        return told.name
    return told.words if told.name == _LABEL else f"{told.name} {told.words}"


def _end(one: "Voice") -> list[Part]:
    """The score of a run's answer and the letters of its errors."""
    if one.figure is None:
        return []
    metric, value = one.figure
    marks = [Part(f" {one.marks}", "mark")] if one.marks else []
    return [Part(f"{metric.title} ", "dim"), Part(value_of(metric, value).strip()), *marks]


def _widths(names: Sequence[int], room: int) -> list[int]:
    """Cells for each number, as many as its name has where there is room: the longest names are cut first."""
    sizes = [_NUMBER] * len(names)
    left = room - sum(size + 1 for size in sizes)
    wanted = [max(name - _NUMBER, 0) for name in names]
    while left > 0 and any(wanted):
        for place in range(len(sizes)):
            if wanted[place] and left:
                sizes[place], wanted[place], left = sizes[place] + 1, wanted[place] - 1, left - 1
    return sizes
