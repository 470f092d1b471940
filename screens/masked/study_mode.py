"""A blind study in the place: two words for a text, an answer, why, and codes; nothing says whose word is whose."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.screens.actions import Acting
from emotui.screens.keymaps import keyed
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part

if TYPE_CHECKING:
    from emotui.workbench.masked.study import Coding, Shown
    from emotui.workbench.masked.study_log import Answer, Code

# What a coder chooses from about one text: four answers, a rationale, own codes, and codes that fit the answer.

ANSWER, RATIONALE, OPEN, CODE = "answer", "rationale", "open", "code"

_FIXED = (("both", "both fit equally", "="), ("neither", "neither fits", "-"))


class Row(msgspec.Struct, frozen=True):
    """A line. `kind`: one of the above; `name`: the answer or code; `about`: its words; `on`: it is chosen."""

    kind: str
    name: str
    about: str
    key: str = ""
    on: bool = False


def rows_of(shown: "Shown", codes: "Sequence[Code]") -> list[Row]:
    """The lines about a text; codes only once there is an answer that they can go with."""
    said = shown.answer
    answer = "" if said is None else said.answer
    rows = [
        Row(ANSWER, "first", numbered(shown.first), "←", answer == "first"),
        Row(ANSWER, "second", numbered(shown.second), "→", answer == "second"),
        *(Row(ANSWER, name, about, key, answer == name) for name, about, key in _FIXED),
    ]
    if said is None:
        return rows
    rows += [Row(RATIONALE, "why", said.rationale, keyed("{rationale}"))]
    rows.append(Row(OPEN, "own codes", "; ".join(said.open), keyed("{own_codes}")))
    fitting = [code for code in codes if code.fits(answer)]
    return [*rows, *(Row(CODE, code.code, code.about, "", code.code in said.codes) for code in fitting)]


def numbered(words: Sequence[str]) -> str:
    """A word for each mask; their numbers where there are several."""
    if len(words) == 1:
        return words[0]
    return "  ".join(f"[{number}] {word}" for number, word in enumerate(words, start=1))


def lines(rows: Sequence[Row], cursor: int, cells: int) -> list[list[Part]]:
    """The heading and a line a row; what is chosen has a filled sign, and the row under the cursor another one."""
    told = keyed("  which fits the text better?  {choose} chooses, {go_on} goes on")
    legend = "   ● your answer  ■ your codes"
    drawn = [[Part(told + legend if width(told + legend) <= cells else told, "dim")]]
    for at, row in enumerate(rows):
        sign = {ANSWER: "●" if row.on else "○", CODE: "■" if row.on else "□"}.get(row.kind, " ")
        head = f"{'▸' if at == cursor else ' '} {row.key or ' '} {sign} "
        if row.kind == ANSWER:
            text = f"{row.name:8}{row.about}"
        elif row.kind == CODE:
            text = f"code {row.name:>3}  {row.about}"
        else:
            text = f"{row.name:10}{row.about or '…'}"
        kind = "picked" if at == cursor else "strong" if row.on else "plain" if row.kind == ANSWER else "dim"
        drawn.append([Part(fit(head + text, max(cells, 10)), kind)])
    return drawn


ALLOWED = frozenset(
    {
        *("next", "previous", "page_down", "page_up", "first", "last", "list", "unfold", "open", "back"),
        *("help", "palette", "theme", "quit", "stop", "pane", "pane_back"),
    }
)
"""What list and frame can do while a study is open: nothing that tells what gold or a run says."""


WHY, OWN_CODES = "why", "own codes"
"""The fields of an answer, as drafts name them."""


class StudyMode(Acting):
    """What keys do while a study is open.

    Args:
        keep: keeps an answer to a text, which is known here already.
        take_back: takes the last answer back.
        seek: selects a text in the list.
        ask: lets a line be typed: a prompt, what stands there, the field as drafts name it, and who gets it.
        draw: draws anew.
        tell: says something in passing.
        leave: leaves the study.
        results: shows what the study came to.
    """

    def __init__(
        self,
        coding: "Coding",
        *,
        keep: "Callable[[int, Answer], object]",
        take_back: Callable[[], object],
        seek: Callable[[int], object],
        ask: Callable[[str, str, str, Callable[[str], object]], object],
        draw: Callable[[], object],
        tell: Callable[[str], object],
        leave: Callable[[], object],
        results: Callable[[], object],
    ) -> None:
        self.coding = coding
        self.shown: Shown | None = None
        self.row: Row | None = None
        self.to_row = ""
        self.typing = False
        self._keep, self._take_back, self._seek, self._ask = keep, take_back, seek, ask
        self._draw, self._tell, self._leave, self._show_results = draw, tell, leave, results

    @property
    def rows(self) -> list[Row]:
        """The lines about the text that is shown."""
        return [] if self.shown is None else rows_of(self.shown, self.coding.codes)

    def took(self, shown: "Shown") -> None:
        """This text is shown from now on."""
        self.shown = shown
        self._draw()

    def can(self, action: str) -> bool:
        if self.typing:
            return action == "leave"
        return super().can(action) and (self.shown is not None or action == "leave")

    # Answers.

    def do_judge_first(self) -> None:
        self._say("first")

    def do_judge_second(self) -> None:
        self._say("second")

    def do_judge_both(self) -> None:
        self._say("both")

    def do_judge_neither(self) -> None:
        self._say("neither")

    def _say(self, answer: str) -> None:
        self.to_row = answer
        before = self._now()
        if before is None:
            self._put(answer, "", (), ())
            return
        fitting = {code.code for code in self.coding.codes if code.fits(answer)}
        self._put(answer, before.rationale, before.open, tuple(code for code in before.codes if code in fitting))

    def _put(self, answer: str, rationale: str, own: Sequence[str], codes: Sequence[str]) -> None:
        """Show the answer at once, and have it kept."""
        shown = self.shown
        if shown is None:
            return
        said = self.coding.check(shown.sample, answer, rationale, own, codes)
        if said != shown.answer:
            self.coding.note(shown.sample, said)
            self.shown = msgspec.structs.replace(shown, answer=said)
            self._draw()
            self._keep(shown.sample, said)

    def do_choose(self) -> None:
        """Whatever the cursor is on."""
        row = self.row
        if row is None:
            return
        if row.kind == ANSWER:
            self._say(row.name)
        elif row.kind == RATIONALE:
            self.do_rationale()
        elif row.kind == OPEN:
            self.do_own_codes()
        elif row.kind == CODE:
            self._turn(row.name)

    def _turn(self, code: str) -> None:
        if (said := self._now()) is not None:
            codes = tuple(one for one in said.codes if one != code) if code in said.codes else (*said.codes, code)
            self._put(said.answer, said.rationale, said.open, codes)

    def _now(self) -> "Answer | None":
        return None if self.shown is None else self.shown.answer

    def _answered(self) -> bool:
        return self._now() is not None

    can_why = can_own_codes = _answered

    def do_rationale(self) -> None:
        """Why, in the coder's words."""
        if (said := self._now()) is not None:
            prompt = "why?   Enter keeps it   ^O your editor   Esc back"
            self._ask(prompt, said.rationale, WHY, self._keep_rationale)

    def _keep_rationale(self, text: str) -> None:
        if (said := self._now()) is not None:
            self._put(said.answer, text, said.open, said.codes)

    def do_own_codes(self) -> None:
        """Codes in the coder's words: open coding."""
        if (said := self._now()) is not None:
            prompt = "your own codes, ; between them   Enter keeps them   Esc back"
            self._ask(prompt, "; ".join(said.open), OWN_CODES, self._keep_own)

    def _keep_own(self, text: str) -> None:
        if (said := self._now()) is not None:
            self._put(said.answer, said.rationale, codes_in(text), said.codes)

    # Going on.

    def do_go_on(self) -> None:
        """To the next text without an answer."""
        self._walk(1)

    do_open_on = do_go_on

    def do_open_back(self) -> None:
        self._walk(-1)

    def _walk(self, step: int) -> None:
        after = None if self.shown is None else self.shown.sample
        found = self.coding.next_open(after, step)
        if found is None:
            self._tell(
                f"All {len(self.coding.texts)} texts have an answer: " + keyed("{study_results} shows the results")
            )
        else:
            self._seek(found)

    def do_study_results(self) -> None:
        """Results behind the last answer."""
        self._show_results()

    def do_undo(self) -> None:
        self._take_back()

    def do_leave(self) -> None:
        self._leave()


def codes_in(line: str) -> tuple[str, ...]:
    """The codes of a line that has `;` between them."""
    return tuple(dict.fromkeys(code for one in line.split(";") if (code := one.strip())))
