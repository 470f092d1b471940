"""What a coder chooses from about one text: four answers, a rationale, own codes, and codes that fit the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.screens.keymaps.words import keyed
from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Part

if TYPE_CHECKING:
    from emotui.workbench.masked.codebook import Code
    from emotui.workbench.masked.study import Shown

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
    rows += [Row(RATIONALE, "why", said.rationale, "i"), Row(OPEN, "own codes", "; ".join(said.open), ";")]
    fitting = [code for code in codes if code.fits(answer)]
    return [*rows, *(Row(CODE, code.code, code.about, "", code.code in said.codes) for code in fitting)]


def numbered(words: Sequence[str]) -> str:
    """A word for each mask; their numbers where there are several."""
    if len(words) == 1:
        return words[0]
    return "  ".join(f"[{number}] {word}" for number, word in enumerate(words, start=1))


def lines(rows: Sequence[Row], cursor: int, cells: int) -> list[list[Part]]:
    """The heading and a line a row; what is chosen has a filled sign, and the row under the cursor another one."""
    drawn = [[Part(keyed("  which fits the text better?  {choose} chooses, {go_on} goes on"), "dim")]]
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
