"""The blind study's part of Masked: choosing or beginning a study, its texts in the list, answers kept one by one."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from emotui.screens.keymaps import keyed
from emotui.screens.masked.study_mode import OWN_CODES, WHY, Row, StudyMode, codes_in
from emotui.screens.masked.text import GuessLine, hidden, text_lines
from emotui.screens.place import Place
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import fit, wrap
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.number_format import RIGHT
from emotui.screens.widgets.page import Ended, Page
from emotui.screens.widgets.row_list import PickedRows

if TYPE_CHECKING:
    from emotui.workbench.compare.sources import Compared
    from emotui.workbench.drafts import Field
    from emotui.workbench.masked.looking import MaskedBench
    from emotui.workbench.masked.study import Coding, Shown
    from emotui.workbench.masked.study_log import Answer

    Kept = tuple[int, Answer]

# The results of a blind study as lines: majorities, agreement and codes by side, the paper's figures beside.

_BAR = 16
_NAMES = {"a": "for a", "b": "for b", "both": "both", "neither": "neither", "all_differ": "all differ", "tied": "tied"}
_PAPER = {"a": "sd", "b": "llm", "both": "both", "all_differ": "all_differ"}


def result_lines(document: Mapping[str, Any], cells: int) -> list[list[Part]]:
    """The whole document of a study."""
    paper = document["paper"]
    lines: list[list[Part]] = [
        [Part("a ", "key"), Part(fit(str(document["a"]), cells - 2).rstrip())],
        [Part("b ", "key"), Part(fit(str(document["b"]), cells - 2).rstrip())],
        [Part(f"{document['complete']} of {document['n']} texts have an answer of every coder", "dim")],
        [Part("")],
        [Part(f"{'majority':12}{'n':>5} {'share':>6}  {'':{_BAR}}  paper: SD = a, LLM = b †", "dim")],
    ]
    printed = paper["majority"]
    for name, one in document["majority"].items():
        share, theirs = one["share"], printed.get(_PAPER.get(name, ""))
        line = [Part(f"{_NAMES[name]:12}{one['n']:>5} {_percent(share)}  "), Part(_bar(share), "said")]
        if theirs is not None:
            line.append(Part(f"  {theirs} of {printed['posts']} {_percent(theirs / printed['posts'])}", "dim"))
        lines.append(line)
    unanimous, kappa = document["unanimous"], document["fleiss_kappa"]
    share = None if unanimous is None else unanimous["share"]
    lines.append(
        [Part(f"{'unanimous':17} {_percent(share)}"), Part(f"   paper {_percent(printed['unanimous_share'])}", "dim")]
    )
    said = "–" if kappa is None else f"{kappa:.2f}"
    lines.append([Part(f"{'Fleiss kappa':17} {said:>6}"), Part(f"   paper {printed['fleiss_kappa']:>6}", "dim")])
    for why in document["notes"].values():
        lines += [[Part(why[start:end], "dim")] for start, end in wrap(why, cells)]
    return [*lines, [Part("")], *_coders(document), [Part("")], *_codes(document, cells)]


def _coders(document: Mapping[str, Any]) -> list[list[Part]]:
    lines: list[list[Part]] = [
        [Part(f"{'coder':16}{'n':>5}{'a':>5}{'b':>5}{'both':>6}{'neither':>9}   first preferred", "dim")]
    ]
    for name, one in document["coders"].items():
        counts = f"{one['n']:>5}{one['a']:>5}{one['b']:>5}{one['both']:>6}{one['neither']:>9}"
        lines.append([Part(f"{fit(name, 15)} {counts}   {_percent(one['first_preferred'])}")])
    return lines


def _codes(document: Mapping[str, Any], cells: int) -> list[list[Part]]:
    totals, paper = document["totals"], document["paper"]
    printed = {str(row["code"]): row for row in paper["rows"]}
    theirs = paper["totals"]
    head = f"{'code':6}{'a':>4} of {totals['a']:<5}{'b':>4} of {totals['b']:<5}"
    lines: list[list[Part]] = [[Part(f"{head}   paper SD of {theirs['sd']}, LLM of {theirs['llm']} †", "dim")]]
    for row in document["codes"]:
        counts, shares = row["counts"], row["shares"]
        sides = "".join(f"{counts[name]:>4} {_percent(shares[name])} " for name in ("a", "b"))
        rest = "".join(f" {name} {counts[name]}" for name in ("both", "neither") if counts[name])
        one = printed.get(row["code"], {})
        same = one.get("about") == row["about"]
        beside = " ".join(
            f"{one[side]:>3} {_percent(one[side] / theirs[side])}" for side in ("sd", "llm") if side in one
        )
        line = [Part(f"{fit(row['code'], 5)} {sides}"), Part(f"  {beside if same else '':21}", "dim"), Part(rest)]
        lines.append([*line, Part(fit(f"  {row['about']}", max(cells - 54 - len(rest), 8)).rstrip(), "dim")])
    if document["open"]:
        own = ", ".join(f"{code} {n}" for code, n in document["open"].items())
        lines.append([Part(f"own codes: {own}")])
    return lines


def _percent(share: float | None) -> str:
    return f"{'–':>6}" if share is None else f"{share:6.1%}"


def _bar(share: float | None) -> str:
    return f"{'■' * round((share or 0) * _BAR):{_BAR}}"


_NEW = "\0new"
_BEGINS = "Begin a blind study of two sources: "


class StudyPlace(Place):
    """What a place needs for a blind study; `mode` is there while one is open."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.mode: StudyMode | None = None
        self.results: Mapping[str, Any] | None = None
        self._bench: Callable[[], MaskedBench] | None = None
        self._pending: deque[Kept | None] = deque()
        self._stored: deque[Kept] = deque()
        self._answering: Callable[[str], object] | None = None
        self._asks: dict[str, LatestRequest[Any, Any]] = {}
        self._then = "study"
        self._start: int | None = None

    def bind_studies(self, bench: "Callable[[], MaskedBench]", person: str) -> None:
        """Ask this bench from now on."""
        self._bench = bench
        made: tuple[LatestRequest[Any, Any], ...] = (
            LatestRequest("studies", self, lambda dataset: bench().studies(dataset), self._offer_studies),
            LatestRequest("sources", self, lambda dataset: bench().study_sources(dataset), self._offer_sources),
            LatestRequest("begin", self, lambda asked: bench().begin_study(*asked), self._begun, self._not_begun),
            LatestRequest("study", self, lambda name: bench().coding(name, person), self._open_study),
            LatestRequest("text", self, lambda asked: asked[0].shown(asked[1]), self._take_text),
            LatestRequest("answers", self, lambda coding: self._write(coding), self._written, self._not_written),
            LatestRequest("results", self, lambda name: bench().study_results(name, person), self._show_results),
        )
        self._asks = {request.name: request for request in made}

    @property
    def studies_busy(self) -> bool:
        """Is an answer on its way?"""
        return any(request.busy for request in self._asks.values())

    @property
    def choices(self) -> "PickedRows[Row]":
        """What a coder chooses from."""
        return self.query_one("#masked-choices", PickedRows)

    @property
    def guess_line(self) -> GuessLine:
        """The line in which a person types."""
        return self.query_one(GuessLine)

    # Choosing and beginning a study.

    def offer_studies(self, then: str) -> None:
        """Let a study be chosen, to be opened (`study`) or for its results (`results`)."""
        self._then = then
        if self.session.overview.dataset is not None:
            self._asks["studies"].ask(self.session.overview.dataset.dataset)

    def _offer_studies(self, dataset: int, names: list[str]) -> None:
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        choices = [Choice(name, name) for name in names]
        if self._then == "study":
            choices.append(Choice(_NEW, "begin a study", "two sources, where their vectors differ"))
        if not choices:
            self.post_message(Ended(keyed("there is no blind study of this dataset yet: {study} begins one")))
            return
        if not names:
            self._asks["sources"].ask(dataset)
            return

        def chosen(name: str | None) -> None:
            if name == _NEW and self.session.overview.dataset is not None:
                self._asks["sources"].ask(self.session.overview.dataset.dataset)
            elif name is not None:
                self._asks[self._then].ask(name)

        self.app.push_screen(ChoiceDialog("Blind study", choices, choices[0].value), chosen)

    def _offer_sources(self, dataset: int, sources: "list[Compared]") -> None:
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog, NameDialog

        choices = [Choice(one.key, one.name, one.told) for one in sources]

        def first(a: str | None) -> None:
            if a is not None:
                rest = [one for one in choices if one.value != a]
                if not rest:
                    self.notify(keyed("There is one source alone: {model} runs a model"), markup=False)
                    return
                self.app.push_screen(
                    ChoiceDialog(_BEGINS + "the second", rest, rest[0].value),
                    lambda b: second(a, b),
                )

        def second(a: str, b: str | None) -> None:
            if b is not None:
                about = ("Coders see this name:", "let it not tell the sources.")
                dialog = NameDialog("Name of the blind study", about, "study")
                self.app.push_screen(dialog, lambda name: named(a, b, name))

        def named(a: str, b: str, name: str | None) -> None:
            if name is not None:
                self._asks["begin"].ask((dataset, name, a, b))

        self.app.push_screen(ChoiceDialog(_BEGINS + "the first", choices, choices[0].value), first)

    def _begun(self, asked: tuple[int, str, str, str], _: None) -> None:
        self._asks["study"].ask(asked[1])

    def _not_begun(self, _: object, why: str) -> None:
        self.notify(why, severity="error", markup=False)

    # The open study.

    def _open_study(self, _: str, coding: "Coding") -> None:
        self.results = None
        self.mode = StudyMode(
            coding,
            keep=self._keep,
            take_back=self._take_back,
            seek=lambda sample: self.post_message(self.Sought(frozenset({sample}), 0)),
            ask=self._ask_line,
            draw=self.draw_study,
            tell=lambda said: self.notify(said, markup=False),
            leave=self._leave_study,
            results=lambda: self._asks["results"].ask(coding.name),
        )
        self.add_class("-study")
        if self.session.state.filtered:
            self.session.change(self.session.state.unfiltered())
        self.post_message(self.Veiled(True))
        self.post_message(self.Arranged(coding.texts, f"study {coding.name}"))
        self._start = coding.next_open(None) or coding.texts[0]
        self._tag()
        self.ask_text(self._start)
        self.choices.focus()
        self.refresh_bindings()

    def selected_in_study(self, sample: int) -> None:
        """The list has selected a text; once it holds those of the study, the first one that is open is looked for."""
        if self.mode is None:
            return
        if self._start is not None:
            if tuple(self.session.listed()) != self.mode.coding.texts:
                return
            start, self._start = self._start, None
            if sample != start:
                self.post_message(self.Sought(frozenset({start}), 0))
            return
        self.ask_text(sample)

    def ask_text(self, sample: int) -> None:
        """Show this text of the study."""
        if self.mode is not None and sample in self.mode.coding.texts:
            self._asks["text"].ask((self.mode.coding, sample))

    def _take_text(self, asked: "tuple[Coding, int]", shown: "Shown") -> None:
        if self.mode is not None and self.mode.coding is asked[0]:
            self.choices.cursor = 0
            self.mode.took(shown)
            self.refresh_bindings()

    def _tag(self) -> None:
        if self.mode is not None:
            self.post_message(self.Tagged("done", dict.fromkeys(self.mode.coding.answered, RIGHT)))

    def draw_study(self) -> None:
        """The text, how far the coder is, and what there is to choose from."""
        mode = self.mode
        if mode is None or mode.shown is None:
            return
        shown, coding = mode.shown, mode.coding
        left = [Part(f" study {coding.name}", "strong"), Part(f"  text {shown.number} of {len(coding.texts)}")]
        right = [Part(f"{len(coding.answered)} done by {coding.coder} ", "dim")]
        self.query_one("#masked-title", Line).show(left, right)
        fillings = [hidden(place + 1) for place in range(len(shown.first))]
        text = self.query_one("#masked-text", Page)
        text.show_for(lambda room: text_lines(shown.pieces, fillings, None, room.width)[0])
        rows = mode.rows
        self.choices.show_rows(rows, lambda row: (row.kind, row.name))
        if mode.to_row:
            self.choices.cursor = [row.name for row in rows].index(mode.to_row)
            self.choices.draw()
            mode.to_row = ""
        mode.row = self.choices.picked
        self._tag()

    def _ask_line(self, prompt: str, value: str, field: str, then: Callable[[str], object]) -> None:
        assert self.mode is not None
        assert self.mode.shown is not None
        self._answering, self.mode.typing = then, True
        where = self._field_of(field, self.mode.shown.sample, self.mode.coding)
        self.guess_line.begin(prompt, value, self.session.drafts, where)
        self.guess_line.display = True
        self.guess_line.focus()
        self.refresh_bindings()

    def _field_of(self, name: str, sample: int, coding: "Coding") -> "Field":
        return self.session.field(name, sample=sample, dataset=coding.dataset, draft=coding.name)

    def end_line(self, text: str | None) -> None:
        """What was typed is taken; None: it is left."""
        then, self._answering = self._answering, None
        if self.mode is not None:
            self.mode.typing = False
        self.guess_line.display = False
        self.choices.focus()
        if then is not None and text is not None:
            then(text)
        self.refresh_bindings()

    # Keeping, in the order in which it was said: none may be left out.

    def _keep(self, sample: int, answer: "Answer") -> None:
        self._pending.append((sample, answer))
        self._asks["answers"].ask(self.mode.coding if self.mode is not None else None)

    def _take_back(self) -> None:
        self._pending.append(None)
        self._asks["answers"].ask(self.mode.coding if self.mode is not None else None)

    def _write(self, coding: "Coding | None") -> int | None:
        """Keep all that waits; the text of an answer that was taken back last."""
        taken = None
        while self._pending and coding is not None:
            one = self._pending[0]
            if one is None:
                taken = coding.undo()
            else:
                coding.write(*one)
                self._stored.append(one)
            self._pending.popleft()
        return taken

    def _written(self, coding: "Coding | None", taken: int | None) -> None:
        if coding is not None:
            self._forget_drafts(coding)
        if taken is not None and self.mode is not None:
            self.post_message(self.Sought(frozenset({taken}), 0))
            self.ask_text(taken)
            self._tag()

    def _forget_drafts(self, coding: "Coding") -> None:
        """What was being written is in the store."""
        drafts = self.session.drafts
        while self._stored:
            sample, answer = self._stored.popleft()
            drafts.kept(self._field_of(WHY, sample, coding), answer.rationale)
            own_codes = self._field_of(OWN_CODES, sample, coding)
            draft = drafts.of(own_codes)
            if draft is not None and codes_in(draft.text) == answer.open:
                drafts.drop(own_codes)

    def _not_written(self, coding: "Coding | None", why: str) -> None:
        self._pending.clear()
        self.notify(f"Not kept: {why}", severity="error", markup=False)
        if coding is not None and self.mode is not None:
            self._asks["study"].ask(coding.name)

    def _leave_study(self) -> None:
        if self._answering is not None:
            self.end_line(None)
            return
        self.mode = None
        self.remove_class("-study")
        self.post_message(self.Tagged("", None))
        self.post_message(self.Released())
        self.left_study()
        self.refresh_bindings()

    def left_study(self) -> None:
        """The study is closed: show the place as it was."""

    # Results.

    def _show_results(self, _: str, document: Mapping[str, Any]) -> None:
        if self.mode is not None:
            self._leave_study()
        self.results = document
        page = self.query_one("#masked-text", Page)
        self.query_one("#masked-title", Line).show(
            [Part(f" study {document['study']}", "strong"), Part("  results", "dim")]
        )
        page.show_for(lambda room: result_lines(document, room.width - 1), home=True)
        page.focus()
        self.add_class("-results")
        self.refresh_bindings()

    def close_results(self) -> None:
        """Show the text again."""
        self.results = None
        self.remove_class("-results")
        self.left_study()
        self.refresh_bindings()
