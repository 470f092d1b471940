"""A file of one's own: what it is taken for and how its records will be, and then into the workspace."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from textual.binding import Binding
from textual.geometry import Size
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Label

from emotui.errors import BadInput
from emotui.screens.dialogs.dialog import Dialog, OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.long_text import Drafts, LongInput
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.textual_private_text import Input

if TYPE_CHECKING:
    from emotui.workbench.datasets.importing import Asked, Look
    from emotui.workbench.datasets.sources import LabelSheet
    from emotui.workbench.drafts import Field
    from emotui.workbench.progress import OnStep, RunProgress

# What a source's labels are called in gold: a guess to accept or to change, kept only by Enter.

_NONE = "–"


class LabelsDialog(OptionDialog["tuple[LabelSheet, Mapping[str, str]]"]):
    """j and k choose a label of theirs, ← and → go through gold's and none; Enter keeps what is shown.

    Args:
        look: what there is to map, asked in a thread.
        nearest: the nearest label of gold by embedding; asked in a thread, by `e`, since a model is loaded for it.
    """

    BINDINGS = [
        Binding("left", "turn(-1)", show=False, priority=True),
        Binding("right", "turn(1)", show=False, priority=True),
        Binding("e", "nearest", show=False),
        Binding("delete", "empty", show=False),
    ]

    def __init__(
        self,
        look: "Callable[[], LabelSheet]",
        nearest: "Callable[[LabelSheet], Mapping[str, tuple[str, float]]]",
    ) -> None:
        super().__init__(
            "Labels", ("j k", "move"), ("← →", "change"), ("e", "nearest"), ("Del", "none"), ("Enter", "keep")
        )
        self._sheet: LabelSheet | None = None
        self._chosen: dict[str, str | None] = {}
        self._near: Mapping[str, tuple[str, float]] = {}
        self._looking: LatestRequest[None, LabelSheet] = LatestRequest(
            "labels", self, lambda _: look(), self._show, lambda _, why: self.refuse(why)
        )
        self._nearing: LatestRequest[LabelSheet, Mapping[str, tuple[str, float]]] = LatestRequest(
            "nearest", self, nearest, self._take_nearest, lambda _, why: self.refuse(why)
        )

    def body(self) -> list[Widget]:
        return [Label("reading the labels", id="what", markup=False), PickList()]

    def on_mount(self) -> None:
        super().on_mount()
        self._looking.ask(None)

    def _show(self, _: None, sheet: "LabelSheet") -> None:
        self._sheet = sheet
        self._chosen = {label: sheet.kept.get(label, sheet.guess.get(label)) for label in sheet.theirs}
        said = f"What {shown(sheet.source)} calls a feeling, and what gold of {shown(sheet.dataset.name)} does"
        if not sheet.theirs:
            said = f"Gold of {shown(sheet.dataset.name)} has every label that {shown(sheet.source)} gives"
        self.query_one("#what", Label).update(said)
        self._draw(0)

    def _take_nearest(self, sheet: "LabelSheet", near: "Mapping[str, tuple[str, float]]") -> None:
        """Show it beside the guess; where there is no guess it is proposed."""
        self._near = near
        self.refuse("")
        for label, (ours, _) in near.items():
            if self._chosen.get(label) is None and label not in sheet.kept:
                self._chosen[label] = ours
        self._draw(self.at)

    def _draw(self, at: int) -> None:
        widest = max(map(width, self._chosen), default=0)
        self.options.clear_options()
        self.options.add_options(
            [
                option(label, f"  →  {shown(ours or _NONE)}   {self._why(label, ours)}", "", widest)
                for label, ours in self._chosen.items()
            ]
        )
        self.options.highlighted = at if self._chosen else None

    def _why(self, label: str, ours: str | None) -> str:
        """Where the proposal is from, and the nearest one where that is another."""
        assert self._sheet is not None
        near, cosine = self._near.get(label, (None, 0.0))
        if ours is not None and self._sheet.kept.get(label) == ours:
            said = "kept"
        elif ours is not None and self._sheet.guess.get(label) == ours:
            said = "by name"
        elif ours is not None and near == ours:
            said = f"nearest {cosine:.2f}"
        else:
            said = ""
        return f"{said}   nearest {shown(near)} {cosine:.2f}".strip() if near is not None and near != ours else said

    def action_turn(self, step: int) -> None:
        """Another label of gold for the one under the cursor, or none."""
        if self._sheet is not None and self._chosen:
            label = list(self._chosen)[self.at]
            wheel = [None, *self._sheet.own]
            here = wheel.index(self._chosen[label]) if self._chosen[label] in wheel else 0
            self._chosen[label] = wheel[(here + step) % len(wheel)]
            self._draw(self.at)

    def action_empty(self) -> None:
        """No label for the one under the cursor."""
        if self._chosen:
            self._chosen[list(self._chosen)[self.at]] = None
            self._draw(self.at)

    def action_nearest(self) -> None:
        """Ask for the nearest labels."""
        if self._sheet is not None and self._sheet.theirs:
            self.refuse("asking the embedded model")
            self._nearing.ask(self._sheet)

    def result(self) -> "tuple[LabelSheet, Mapping[str, str]] | None":
        if self._sheet is None:
            return None
        others = {label: ours for label, ours in self._sheet.kept.items() if label not in self._chosen}
        return self._sheet, others | {label: ours for label, ours in self._chosen.items() if ours is not None}


_ID_CELLS, _TEXT, _SHORTEST = 12, 40, 8
"""Of the records that are shown: the most cells of an id, those that a text has before other columns give way to it,
and the fewest of a column."""

LONG = ("path", "columns")
"""The fields in which one writes more than a name."""

_FIELDS = (
    ("path", "file or folder: a table, Excel, JSON, an annotation program's, a corpus", ""),
    ("columns", "which column is what; left empty: guessed from the file", "text=Tweet, label=Emotion"),
    ("kind", "kind of records; left empty: guessed from the file", "spans, labels, scenes, masked, class, …"),
    ("layout", "format; left empty: guessed from the file", "label-studio, brat, conll, excel, …"),
    ("name", "name of the dataset; left empty: that of the file", ""),
    ("mapping", "keep the mapping for the next time; one that is there is used", "mine.toml"),
)
_FIRST = (
    "Enter looks at the file and shows what it took it for; nothing is written before you press Enter once more.",
    "The same from a script: emotui import FILE --dry-run",
)


class Importer(Protocol):
    """What looks at files."""

    def look(self, asked: "Asked", on_step: "OnStep") -> "Look":
        """What a file is taken for; tells how far it is."""


class Paths(Suggester):
    """What the name of a file or folder that is being typed goes on as: the first that begins so, by name."""

    def __init__(self) -> None:
        # A folder changes while the sheet is open.
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """The whole path, a folder's with a slash behind it; None: nothing there begins so."""
        return await asyncio.to_thread(_completed, value)


def _completed(value: str) -> str | None:
    folder, slash, begun = value.rpartition("/")
    if not begun:
        return None
    try:
        with os.scandir(Path(folder + slash).expanduser()) as there:
            name, is_folder = min((one.name, one.is_dir()) for one in there if one.name.startswith(begun))
    except (OSError, ValueError):  # it cannot be looked into, or nothing there begins so
        return None
    return folder + slash + name + "/" * is_folder


_AROUND = 5
"""Lines of border, gap and what is wrong with the fields."""


class ImportDialog(Dialog["Asked"]):
    """Enter looks; Enter again, with nothing changed, gives back what to bring in. Esc stops a look, and else leaves.

    Args:
        importer: looks at the file, in a thread.
        drafts, fields: where drafts are, and whose those of the long fields are; None: there is none.
        path: is looked at at once; empty: none is named yet.
    """

    wide = True
    DEFAULT_CSS = """
    ImportDialog > #sheet { max-height: 90%; }
    ImportDialog Label { margin: 0; }
    ImportDialog #look { height: 3; margin: 1 0 0 0; background: $surface; }
    """

    def __init__(
        self,
        importer: Importer,
        drafts: Drafts | None = None,
        fields: "Mapping[str, Field] | None" = None,
        path: str = "",
    ) -> None:
        super().__init__(
            "Import a file", ("Enter", "look, then import"), ("→", "complete a path"), ("Tab", "next field")
        )
        self._drafts, self._drafted, self._path = drafts, fields or {}, path
        self._looked: Asked | None = None
        self._flawed = False
        self._importer, self._over = importer, threading.Event()
        self._asked: LatestRequest[Asked, Look] = LatestRequest(
            "look at a file", self, self._look, self._show, self._failed
        )

    @property
    def busy(self) -> bool:
        """Whether a file is being looked at."""
        return self._asked.busy

    def body(self) -> list[Widget]:
        fields: list[Widget] = []
        for name, about, example in _FIELDS:
            options: dict[str, Any] = {
                "id": name,
                "compact": True,
                "placeholder": f"such as {example}" if example else "",
            }
            if name in ("path", "mapping"):
                options["suggester"] = Paths()
            long = name in LONG
            field = (
                LongInput(drafts=self._drafts, field=self._drafted.get(name), **options) if long else Input(**options)
            )
            fields += [Label(about, markup=False), field]
        return [*fields, Page(id="look")]

    def on_mount(self) -> None:
        """Type at once."""
        super().on_mount()
        self.query_one("#path", Input).focus()
        self._tell_in(lambda room: _folded(_FIRST, room, "dim"))
        if self._path:
            self.query_one("#path", Input).value = self._path
            self.action_accept()

    def result(self) -> "Asked | None":
        """What was looked at; where that is something else than what stands there, look first.

        Raises:
            BadInput: no file is named.
        """
        from emotui.workbench.datasets.importing import Asked

        path, columns, kind, layout, name, mapping = (self.text(field) for field, _, _ in _FIELDS)
        asked = Asked(path, columns, kind, layout, name, mapping)
        if not asked.path:
            raise BadInput("Name a file or a folder first.")
        if asked == self._looked:
            return replace(asked, skip_bad=self._flawed)
        self.refuse("")
        self._over.clear()
        self._tell_in(lambda _: [[Part("looking …   Esc stops", "dim")]])
        self._asked.ask(asked)
        return None

    def action_leave(self) -> None:
        """Stop a look, or leave."""
        if self.busy:
            self._over.set()
        else:
            super().action_leave()

    def _look(self, asked: "Asked") -> "Look":
        """In a thread."""
        from emotui.workbench.progress import Throttled, unless

        def told(progress: "RunProgress") -> None:
            self.call_later(self._tell, progress)

        return self._importer.look(asked, unless(self._over.is_set, Throttled("looking", told)))

    def _tell(self, progress: "RunProgress") -> None:
        """How far the look is."""
        if self.busy and progress.done:
            of = f" of {count(progress.n)}" if progress.n else ""
            told = f"{progress.step} … {count(progress.done)}{of} rows   Esc stops"
            self._tell_in(lambda _: [[Part(told, "dim")]])

    @property
    def _page(self) -> Page:
        return self.query_one("#look", Page)

    def _tell_in(self, lines: "Callable[[Size], Lines]") -> None:
        """Show these from their beginning, in as many lines as they need or as the terminal has."""

        def as_high(room: Size) -> Lines:
            told, page = lines(room), self._page
            fields = sum(one.region.height for one in self.query_one("#sheet").children if one is not page)
            page.styles.height = max(min(len(told), self.size.height * 9 // 10 - fields - _AROUND), 1)
            return told

        self._page.show_for(as_high, home=True)

    def _show(self, asked: "Asked", look: "Look") -> None:
        self._looked, self._flawed = asked, bool(look.wrong)
        n = look.n
        without = " without the rows that are wrong" if look.wrong else ""
        said = f"Enter imports {count(n)} sample{'s' * (n != 1)} as {look.name}{without}; the first of them:"

        def lines(room: Size) -> Lines:
            first = _table(look.first, room) if look.first else []
            wrong = _folded(look.wrong, room, "mark")
            return [*_folded([said], room, "strong"), *wrong, *first, [], *_folded(look.lines, room)]

        self._tell_in(lines)

    def _failed(self, _: "Asked", why: str) -> None:
        self._looked = None
        if self._over.is_set():
            self._tell_in(lambda _: [[Part("stopped; nothing was read", "dim")]])
            return
        self._tell_in(lambda room: _folded(why.split("\n"), room, "mark"))
        self.refuse("The file cannot be taken as it is: name its columns, kind or format above, or mend it.")


def _folded(texts: Sequence[str], room: Size, kind: str = "plain") -> Lines:
    return [[Part(text[a:b], kind)] for text in texts for a, b in wrap(text, max(room.width, 20))]


def _table(records: Sequence[Mapping[str, Any]], room: Size) -> Lines:
    """The first records as they will be: a row a record, a column a kind of thing that is said."""
    names = list(dict.fromkeys(name for one in records for name in one if name not in ("id", "text", "meta")))
    texts = [" ".join(str(one.get("text", "")).split()) for one in records]
    cells = [
        ["; ".join(_in_words(one[name], str(one.get("text", "")))) if name in one else "" for name in names]
        for one in records
    ]
    ids = [str(one.get("id", "")) for one in records]
    id_cells = min(max(map(width, ["id", *ids])), _ID_CELLS)
    sizes = [max(map(width, [name, *(row[at] for row in cells)])) for at, name in enumerate(names)]
    longest = max(map(width, ["text", *texts]))
    while (
        sizes
        and max(sizes) > _SHORTEST
        and room.width - id_cells - 6 - sum(sizes) - 2 * len(sizes) < min(longest, _TEXT)
    ):
        sizes[sizes.index(max(sizes))] -= 1
    text_cells = max(min(room.width - id_cells - 6 - sum(sizes) - 2 * len(sizes), longest), _SHORTEST)

    def row(first: str, text: str, said: Sequence[str]) -> list[str]:
        rest = [fit(one, size) for one, size in zip(said, sizes, strict=True)]
        return [f"  {fit(first, id_cells)}  ", "  ".join([fit(text, text_cells), *rest])]

    lines: list[list[Part]] = [[Part("".join(row("id", "text", names)), "dim")]]
    for first, text, said in zip(ids, texts, cells, strict=True):
        key, rest = row(first, text, said)
        lines.append([Part(key, "key"), Part(rest)])
    return lines


def _in_words(value: Any, text: str) -> Iterator[str]:
    """What is said under one key: of spans their words, of labels with 0 or 1 those with 1."""
    if isinstance(value, Mapping):
        flags = all(type(each) is int and each in (0, 1) for each in value.values())
        for name, each in value.items():
            if not flags:
                yield f"{name} {', '.join(_in_words(each, text))}"
            elif each:
                yield str(name)
    elif isinstance(value, list | tuple):
        for each in value:
            if isinstance(each, list | tuple) and len(each) > 1 and all(isinstance(end, int) for end in each[:2]):
                yield " ".join((f"“{text[each[0] : each[1]]}”", *map(str, each[2:])))
            else:
                yield from _in_words(each, text)
        if not value:
            yield "none"
    else:
        yield str(value)
