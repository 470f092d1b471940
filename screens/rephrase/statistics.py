"""What the rephrasings came to: the figures of section 4 and appendix B as plots, and as a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.screens.keymaps import keyed
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import fit, width, wrap
from emotui.screens.widgets.line import Line, Part, opened, tabs, taken
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import UNDEFINED, count, share
from emotui.screens.widgets.page import Lines, Page, side_by_side

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import Round

# The statistics of rephrasings drawn: bars a column of texts, and everything as a table.

_NAME = 13
_BLOCK = 46
_CATEGORIES = (("explicit", "█", "mark"), ("misleading", "▒", "gold"), ("implicit", "░", "said"))
_FIGURES = (
    ("n", "texts"),
    ("mean_words", "words"),
    ("mean_explicit_words", "explicit words"),
    ("explicit", "explicit"),
    ("misleading", "misleading"),
    ("implicit", "implicit"),
    ("negated", "negated"),
    ("kl", "KL"),
    ("kl_reverse", "KL reverse"),
)


_SHOWN = {"T_incorrect": "misread"}
"""What stands for the names of columns that are the paper's letters."""


def plots(document: Mapping[str, Any], cells: int) -> Lines:
    """Rephrasings needed, then a bar a column for each figure, as many beside each other as there is room for."""
    columns = _columns(document)
    blocks = [
        _needed(document),
        _bars("words of the gold emotion a text", columns, "mean_explicit_words", 2),
        _shares(columns),
        _bars("KL from the originals, in nats", columns, "kl", 2),
        _bars("texts with a negation", columns, "negated", None),
        _bars("words a text", columns, "mean_words", 1),
    ]
    across = max(cells // (_BLOCK + 2), 1)
    lines: list[Sequence[Part]] = [*_about_columns(cells), []]
    for start in range(0, len(blocks), across):
        some = blocks[start : start + across]
        lines += [*side_by_side(some, [_BLOCK] * len(some), cells), []]
    return [*lines, *_notes(document, cells)]


def _columns(document: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """All of them: what has no text, such as a round that nobody reached, stands there as –."""
    columns: Mapping[str, Mapping[str, Any]] = document["columns"]
    return columns


def _needed(document: Mapping[str, Any]) -> list[list[Part]]:
    rows = [(f"{k} attempt{'s' if k != '1' else ''}", n) for k, n in document["needed"].items()]
    rows += [(name, document[name]) for name in ("failed", "skipped", "open")]
    rows.append((_SHOWN["T_incorrect"], document["t_incorrect"]))
    most = max((n for _, n in rows), default=0)
    room = _BLOCK - _NAME - 7
    lines = [[Part("rephrasings needed", "strong"), Part("  texts each", "dim")]]
    for name, n in rows:
        size = round(n / most * room) if most else 0
        kind = "said" if name.endswith(("attempt", "attempts")) else "rest"
        lines.append([Part(fit(name, _NAME)), Part("█" * max(size, 1 if n else 0), kind), Part(f" {count(n)}")])
    return lines


def _named(columns: Mapping[str, Mapping[str, Any]]) -> Mapping[str, list[Part]]:
    """Each column's name and over how many texts its figures are."""
    most = max(width(count(column["n"])) for column in columns.values())
    return {
        name: [Part(fit(_SHOWN.get(name, name), _NAME - 1)), Part(f"n {count(column['n']):>{most}} ", "dim")]
        for name, column in columns.items()
    }


def _bars(title: str, columns: Mapping[str, Mapping[str, Any]], figure: str, places: int | None) -> list[list[Part]]:
    """A bar a column; `places` decimals, or None for a share of one."""
    values = {name: column[figure] for name, column in columns.items()}
    known = [value for value in values.values() if value is not None]
    most = 1.0 if places is None else max(known, default=0.0)
    name_of = _named(columns)
    room = _BLOCK - taken(name_of["original"]) - 8
    lines = [[Part(title, "strong")]]
    for name, value in values.items():
        if figure == "kl" and name in ("original", "T_incorrect"):
            continue  # the table says why
        size = 0 if value is None or not most else round(value / most * room)
        said = UNDEFINED if value is None else _figure(value, places)
        lines.append([*name_of[name], Part("█" * size, "said"), Part(f" {said}", "dim" if value is None else "plain")])
    return lines


def _shares(columns: Mapping[str, Mapping[str, Any]]) -> list[list[Part]]:
    """One bar a column, parted into the three kinds of text, with their shares."""
    name_of = _named(columns)
    room = _BLOCK - taken(name_of["original"]) - 1 - 5 * len(_CATEGORIES)
    legend = [Part("kind  ", "strong")]
    for name, sign, kind in _CATEGORIES:
        legend += [Part(sign, kind), Part(f" {name} ", "dim")]
    lines = [legend]
    for name, column in columns.items():
        if column["explicit"] is None:
            lines.append([*name_of[name], Part(UNDEFINED, "dim")])
            continue
        bar: list[Part] = list(name_of[name])
        done, filled = 0.0, 0
        for category, sign, kind in _CATEGORIES:
            done += column[category]
            upto = round(done * room)
            bar.append(Part(sign * (upto - filled), kind))
            filled = upto
        figures = [Part(f" {share(column[category])}", kind) for category, _, kind in _CATEGORIES]
        lines.append([*bar, *figures])
    return lines


def table(document: Mapping[str, Any], cells: int) -> Lines:
    """Every figure of every column."""
    columns = _columns(document)
    name = 15
    size = max(min((cells - name) // max(len(columns), 1), 12), 7)
    across = max((cells - name) // size, 1)
    titles = list(columns)
    lines: list[list[Part]] = [*_about_columns(cells), []]
    for start in range(0, len(titles), across):
        some = titles[start : start + across]
        lines.append(
            [
                Part(" " * name),
                *(Part(f"{fit(_SHOWN.get(title, title), size - 1).rstrip():>{size}}", "strong") for title in some),
            ]
        )
        for figure, said in _FIGURES:
            cells_of = [Part(_cell(columns[title][figure], figure).rjust(size)) for title in some]
            lines.append([Part(fit(said, name), "dim"), *cells_of])
        lines.append([])
    lines += [
        [Part(fit(said, 28), "dim"), Part(_cell(document[figure], "words" if figure.startswith("mean") else "n"))]
        for figure, said in (
            ("t_correct", "the classifier is right"),
            ("t_incorrect", "wrong from the start"),
            ("rephrasings", "rephrasings"),
            ("mean_rephrasings", "a text that it is right on"),
            ("mean_rephrasings_begun", "a text that was begun"),
            ("suggested", "suggested by a model"),
        )
    ]
    return [*lines, [], *_notes(document, cells)]


def _cell(value: float | None, figure: str) -> str:
    if value is None:
        return UNDEFINED
    if figure == "n":
        return count(int(value))
    if figure in ("explicit", "implicit", "misleading", "negated"):
        return share(value).strip()
    return _figure(value, 2)


def _figure(value: float, places: int | None) -> str:
    """A figure with so many decimals, `.82` below 1; None: a share."""
    return share(value).strip() if places is None else f"{value:.{places}f}".removeprefix("0")


def _about_columns(cells: int) -> list[list[Part]]:
    """What the columns are: over them, as their names say little."""
    told = (
        "R1 to R4: the first to fourth rephrasings; original: texts that the classifier got right; misread: those it "
        "got wrong (T_incorrect); successful: the last rephrasing of every chain that succeeded."
    )
    return [[Part(told[a:b].rstrip(), "dim")] for a, b in wrap(told, min(cells, 100))]


def _notes(document: Mapping[str, Any], cells: int) -> Lines:
    """What KL is, and why what is – is undefined."""
    notes = [
        f"KL is {document['notes'].get('kl', '')}.",
    ]
    reasons: dict[str, list[str]] = {}
    for key, why in document["notes"].items():
        if key != "kl":
            reasons.setdefault(str(why), []).append(_undefined(key))
    notes += [f"{UNDEFINED} {', '.join(keys)}: {why}" for why, keys in reasons.items()]
    return [[Part(text[a:b].rstrip(), "dim")] for text in notes for a, b in wrap(text, min(cells, 100))]


def _undefined(key: str) -> str:
    """What a note is about: a column, its divergence, or a figure over all of them."""
    name = key.removeprefix("columns.")
    return f"KL of {name.removesuffix('.kl')}" if name.endswith(".kl") else name


VIEWS: dict[str, Callable[[Mapping[str, Any], int], Lines]] = {"plots": plots, "table": table}
"""By name, in the order in which v goes through them."""


EVERYBODY, CONFIRMED = "everybody's", "confirmed"
"""Which rephrasings are counted: all of the last round, those of it that reviewers confirmed, or one annotator's."""


class Figures(Vertical):
    """Two views of one document, asked for when it is opened."""

    DEFAULT_CSS = "Figures > #figures-page { height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = "plots"
        self.whose = EVERYBODY
        self.names: tuple[str, ...] = ()
        self.document: dict[str, Any] | None = None
        self._round: Round | None = None
        self._desk: LatestRequest[str, tuple[tuple[str, ...], dict[str, Any]]] | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="figures-title", classes="-pane")
        yield Page(id="figures-page")
        yield Notice("#figures-page", id="figures-notice")

    @property
    def busy(self) -> bool:
        return self._desk is not None and self._desk.busy

    def open_for(self, service_of: "Callable[[], Rephrasing]", round_: "Round") -> None:
        """Show the figures of this round's dataset."""

        def ask(whose: str) -> tuple[tuple[str, ...], dict[str, Any]]:
            from emotui.workbench.rephrase.chains import annotators

            service, dataset = service_of(), round_.dataset.dataset
            names = tuple(annotators(service.log(round_.dataset).in_force()))
            person = whose if whose in names else None
            return names, service.statistics(dataset, confirmed_only=whose == CONFIRMED, annotator=person)

        if self._desk is None or self._round is not round_:
            self._desk, self.document = LatestRequest("figures", self, ask, self._counted, self._refuse), None
        self._round = round_
        self._ask()

    def _ask(self) -> None:
        if self._desk is not None:
            if self.document is None:
                self.query_one(Notice).say("Counting", "word lists and distributions of every rephrasing")
            self._desk.ask(self.whose)

    def next_whose(self) -> None:
        """Count other rephrasings: the confirmed ones, then each annotator's."""
        there = (EVERYBODY, CONFIRMED, *self.names)
        self.whose = there[(there.index(self.whose) + 1) % len(there)] if self.whose in there else EVERYBODY
        self.draw()
        self._ask()

    def _refuse(self, _: str, why: str) -> None:
        self.document = None
        self.query_one(Notice).say(
            "The figures cannot be computed", why, keyed("{leave} goes back to writing"), failed=True
        )

    def _counted(self, _: str, counted: tuple[tuple[str, ...], dict[str, Any]]) -> None:
        self.names, self.document = counted
        had_keys = self.screen.focused is None
        self.draw()
        if had_keys and self.display:
            self.focus_first()

    def draw(self) -> None:
        turns, views = "do('annotators')", tabs(keyed("{view}"), list(VIEWS), self.view)
        left = [Part(" statistics  ", "strong"), Part(f"{keyed('{annotators}')} ", "key", turns)]
        there = (EVERYBODY, CONFIRMED, *self.names)
        every = [opened(one, turns) if one == self.whose else Part(f" {one} ", "dim", turns) for one in there]
        if taken([*left, *every, *views]) + 2 > self.size.width:
            at = there.index(self.whose) + 1 if self.whose in there else 1
            every = [opened(self.whose, turns), Part(f" {at} of {len(there)} ", "dim", turns)]
        self.query_one("#figures-title", Line).show([*left, *every], views)
        document = self.document
        if document is None:
            return
        if not document["rephrasings"]:
            why = {
                EVERYBODY: "nobody has submitted an attempt in this round yet",
                CONFIRMED: keyed("no reviewer has confirmed a rephrasing of this round yet: {review} reviews"),
            }.get(self.whose, f"{self.whose} has submitted no attempt")
            self.query_one(Notice).say(
                "Nothing to count", why, keyed("{leave} goes back to writing   {annotators} counts others")
            )
            return
        self.query_one(Notice).hide()
        page = self.query_one("#figures-page", Page)
        view = VIEWS[self.view]
        page.show_for(lambda room: view(document, max(room.width, 40)))

    def focus_first(self) -> None:
        """Put the keys into the figures: they scroll."""
        page = self.query_one("#figures-page")
        if page.display:
            page.focus()

    def show_view(self, name: str) -> None:
        """Show this view."""
        if name in VIEWS:
            self.view = name
            self.query_one("#figures-page", Page).scroll_home(animate=False)
            self.draw()

    def step_view(self, step: int) -> None:
        """The next view, or the one before."""
        names = list(VIEWS)
        self.show_view(names[(names.index(self.view) + step) % len(names)])
