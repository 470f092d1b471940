"""A masked text as lines of parts: each mask hidden or filled by a word; and a mask's words with their emotions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.screens.keymaps import keyed
from emotui.screens.long_text import Drafts, LongInput
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part, bar, taken
from emotui.screens.widgets.number_format import UNDEFINED, share, so_many
from emotui.store.query import Run
from emotui.tables import short_names

if TYPE_CHECKING:
    from emotui.screens.widgets.page import Lines
    from emotui.workbench.drafts import Field
    from emotui.workbench.masked.looking import MaskedView, MaskSaid, Tally, WordEntry

# The line in which a person types: the word behind a mask, why, codes of their own.


class GuessLine(LongInput):
    """Enter keeps the word and asks for the next one; Esc is the place's."""

    DEFAULT_CSS = """
    GuessLine, GuessLine:focus {
        height: 1;
        border: none;
        padding: 0 1;
        background: $field;
        background-tint: transparent;
    }
    """
    footer_keys = (("Enter", "keep"),)

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True)
        self.cursor_blink = False

    def begin(self, prompt: str, value: str = "", drafts: Drafts | None = None, field: "Field | None" = None) -> None:
        """Ask for something; where it was being written before, that stands there and is told."""
        self.placeholder = prompt
        self.put(value, drafts, field)
        if self.told:
            self.notify(self.told, markup=False)


WIDEST = 90
"""Cells of a line of text."""

CURSOR, DIFFERS = "▸", "≠"


class Filling(msgspec.Struct, frozen=True):
    """What stands in place of a mask: its words, the kind of its part, and a sign behind it."""

    word: str
    kind: str
    sign: str = ""


def hidden(number: int, guessed: str = "") -> Filling:
    """A mask whose word is not shown: its number, or what the person guessed."""
    return Filling(f"[{number} {guessed or '____'}]", "strong")


def text_lines(
    pieces: Sequence[str], fillings: Sequence[Filling], chosen: int | None, cells: int
) -> tuple[list[list[Part]], int]:
    """The lines of a text in so many cells, and on which of them the chosen mask stands."""
    text, stretches, at_chosen = _laid_out(pieces, fillings, chosen)
    lines: list[list[Part]] = []
    line_of_chosen = 0
    for number, (start, end) in enumerate(wrap(text, min(max(cells, 10), WIDEST))):
        parts: list[Part] = []
        for first, last, kind, press in stretches:
            low, high = max(first, start), min(last, end)
            if low < high:
                parts.append(Part(text[low:high].replace("\n", ""), kind, press))
        if start <= at_chosen < end:
            line_of_chosen = number
        lines.append(parts)
    return lines, line_of_chosen


def _laid_out(
    pieces: Sequence[str], fillings: Sequence[Filling], chosen: int | None
) -> tuple[str, list[tuple[int, int, str, str]], int]:
    """The text with its fillings; stretches of one kind as (start, end, kind, press); where the chosen one stands."""
    parts: list[str] = []
    stretches: list[tuple[int, int, str, str]] = []
    length, at_chosen = 0, 0

    def put(text: str, kind: str, press: str = "") -> None:
        nonlocal length
        if text:
            parts.append(text)
            stretches.append((length, length + len(text), kind, press))
            length += len(text)

    for number, piece in enumerate(pieces):
        put(piece, "plain")
        if number < len(fillings):
            filling, press = fillings[number], f"tell('mask', {number})"
            if number == chosen:
                at_chosen = length
                put(CURSOR, "key", press)
            put(filling.word, filling.kind, press)
            put(filling.sign, "mark", press)
    return "".join(parts), stretches, at_chosen


# By what the masks of a text are filled, and how that is told: hidden words, gold's, or a run's.

HIDDEN, GOLD, RUN = "hidden", "gold", "run"
FILLS = (HIDDEN, GOLD, RUN)

THIS = "this text"
STATES = {HIDDEN: "hidden", THIS: THIS, GOLD: "all", RUN: "run"}
"""What is shown, as it is named on the screen: nothing, gold's words of this text alone, those of all, a run's."""

_LONGEST = 24
"""Cells of a model's name."""


def filling(view: "MaskedView", place: int, filled: str, typed: Mapping[int, str]) -> Filling:
    """What stands in place of a mask; `typed`: by place the word that a person has guessed so far."""
    if filled == HIDDEN:
        return hidden(place + 1, typed.get(place, ""))
    said = view.said[place] if place < len(view.said) else None
    differs = DIFFERS if said is not None and not said.same_vector and has_emotions(view.gold[place]) else ""
    if filled == GOLD:
        return Filling(view.gold[place].word, "gold-line")
    if said is None or said.entry is None:
        return Filling("[no word]", "mark", differs)
    return Filling(said.entry.word, "ground", differs)


def has_emotions(word: "WordEntry") -> bool:
    """Does a word carry any emotion that another one could share?"""
    return any(word.vector or ())


def why_not_compared(gold: "WordEntry", said: "WordEntry") -> str:
    """Which of two words has no emotion that could be shared; empty: both have some."""
    lacking = dict.fromkeys(one.word for one in (gold, said) if one.vector is None)
    if lacking:
        return f"EmoLex has no {' and no '.join(lacking)}"
    empty = dict.fromkeys(one.word for one in (gold, said) if not any(one.vector or ()))
    return f"EmoLex ties no emotion to {' and '.join(empty)}" if empty else ""


def more_than_a_word(guess: str, gold: str) -> bool:
    """Has a guess more words than one, behind a mask that is no phrase?"""
    return len(guess.split()) > max(1, len(gold.split()))


def can_be_scored(view: "MaskedView") -> bool:
    """Is there a mask whose gold word has emotions, so that a guess can share some?"""
    return any(map(has_emotions, view.gold))


def shared(gold: "WordEntry", said: "WordEntry | None") -> int:
    """How many of gold's emotions another word carries."""
    vectors = gold.vector or (), (said.vector if said is not None else None) or ()
    return sum(one and other for one, other in zip(*vectors, strict=False))


def title(view: "MaskedView", filled: str, run: Run | None) -> list[Part]:
    """The text and how many masks it has; where they are shown, how the run and the person did."""
    left = [Part(f" {view.id}", "strong")]
    if filled == HIDDEN:
        return [*left, Part(f"  {so_many(len(view.gold), 'mask')}", "dim")]
    left.append(Part("  F1_V" if view.said or view.guessed else " ", "dim"))
    if view.guessed:
        left += [Part("  you "), Part(_mean(view, view.guessed), "strong")]
    left += [Part("  run "), Part(_mean(view, view.said), "strong")] if view.said else [Part("  run")]
    left.append(Part(f" {_run_name(run)}", "said", "do('run')"))
    if view.repeats > 1:
        left.append(Part(f"  first of {view.repeats} answers", "dim"))
    return left


def _mean(view: "MaskedView", said: "Sequence[MaskSaid]") -> str:
    """F1 over the masks; none where gold has no emotions behind any of them."""
    return share(sum(one.f1 for one in said) / len(said)).strip() if can_be_scored(view) else UNDEFINED


def _run_name(run: Run | None) -> str:
    if run is None:
        return "none"
    # Of a long SPEC the end tells more.
    return run.model if len(run.model) <= _LONGEST else f"…{run.model[1 - _LONGEST :]}"


def hidden_lines(
    view: "MaskedView",
    drafts: Mapping[int, str],
    tally: "Tally | None",
    n: int,
    cells: int,
    *,
    typing: bool,
    blind: bool,
) -> "Lines":
    """What can be done while words are hidden, and what comes after it.

    Args:
        drafts: by mask what the person has written and not handed in.
        tally: how the person does so far; None: not known yet.
        n: texts of the list.
        cells: of a line.
        typing: the person is writing a guess, so that no key but those of the text field does anything.
        blind: the person has not seen the words yet.
    """
    from emotui.metrics.masked import DIMENSIONS

    lines = [[Part("a word that fits each gap; then gold's and the run's stand beside yours", "dim")]]
    if not typing:
        lines = [
            [
                Part(keyed("{guess}"), "key"),
                Part("  guesses: a word for each mask; then gold and the run are shown"),
            ],
            [Part(keyed("{fill}"), "key"), Part("  shows the words of this text without a guess")],
        ]
    if drafts:
        written = ", ".join(f"mask {place + 1} “{word}”" for place, word in drafts.items())
        lines.append(
            [Part("your draft: ", "dim"), Part(written, "mark"), Part(keyed("; {guess} goes on with it"), "dim")]
        )
    if view.guess is not None:
        lines.append([Part(f"you guessed before: {', '.join(view.guess.words)}", "dim")])
    if not blind:
        lines.append([Part("you have seen these words: a guess is kept as one that is not blind", "dim")])
    lines.append([])
    for head, told in (
        ("emotions", f"that a word may carry, by EmoLex: {', '.join(DIMENSIONS)}"),
        ("after it", "gold's word, the run's and yours under each other, with the emotions of each"),
        ("F1_V", "how far a word carries the emotions that gold's does: 1 just these, 0 none of them"),
    ):
        lines += _told_of(head, told, cells)
    if tally is not None:
        goes = len(tally.scores) < n and not typing
        further = keyed("; {next_mismatch} goes to the next that is not") if goes else ""
        lines += _told_of("so far", f"{len(tally.scores):,} of {so_many(n, 'text')} guessed{further}", cells)
    return lines


_HEAD = 10
"""Cells of the word before what is told of a text with hidden words."""


def _told_of(head: str, told: str, cells: int) -> list[list[Part]]:
    places = wrap(told, max(min(cells, WIDEST) - _HEAD, 20))
    heads = [head] + [""] * (len(places) - 1)
    return [
        [Part(f"{one:<{_HEAD}}", "strong"), Part(told[start:end].rstrip(), "dim")]
        for one, (start, end) in zip(heads, places, strict=True)
    ]


# Under the text: a row a word (gold, the run's, one's own, other likely ones) and a column an emotion of EmoLex; then
# what the words share, in words, and the examples shown.

_ROLE, _WORD = 5, 14
_P, _F1 = 5, 6
_BARS = 4, 16
"""Cells of a probability's bar, which is full at probability 1: the fewest and the most."""

_HIT, _EXTRA, _MISSED, _NEITHER = "▆", "▒", "▁", "·"
_KINDS = {_HIT: "said", _EXTRA: "mark", _MISSED: "gold"}


class _WordRow(msgspec.Struct, frozen=True):
    """A row of the table. `role`: whose word it is; `f1`: against gold, None where none is counted."""

    role: str
    entry: "WordEntry"
    f1: float | None = None
    p: float | None = None
    kind: str = "plain"


def _rows(gold: "WordEntry", said: "MaskSaid | None", guessed: "MaskSaid | None") -> list[_WordRow]:
    """Gold first, then what the run and the person say, then what else the run holds likely."""
    rows = [_WordRow("gold", gold, kind="gold-line")]
    likeliest = [] if said is None else list(zip(said.likeliest, said.entries, said.f1s, strict=True))
    if said is not None and said.entry is not None:
        p = next((p for (_, p), entry, _ in likeliest if entry.word == said.entry.word), None)
        rows.append(_WordRow("run", said.entry, _counted(gold, said.entry, said.f1), p, "ground"))
    if guessed is not None and guessed.entry is not None:
        rows.append(_WordRow("you", guessed.entry, _counted(gold, guessed.entry, guessed.f1), kind="strong"))
    for rank, ((_, p), entry, f1) in enumerate(likeliest, start=1):
        if said is None or said.entry is None or entry.word != said.entry.word:
            kind = "gold" if said is not None and rank == said.gold_rank else "dim"
            rows.append(_WordRow(f"  {rank}", entry, _counted(gold, entry, f1), p, kind))
    return rows


def _counted(gold: "WordEntry", entry: "WordEntry", f1: float) -> float | None:
    """F1 of two words' vectors; None where gold's has none to compare."""
    return f1 if f1 or has_emotions(gold) else None


def word_lines(gold: "WordEntry", said: "MaskSaid | None", guessed: "MaskSaid | None", cells: int) -> list[list[Part]]:
    """The table of a mask: a row a word and a column an emotion, as gold's word carries it or not."""
    rows = _rows(gold, said, guessed)
    word = min(max(width(_named(row.entry)) for row in rows), _WORD)
    likely = any(row.p is not None for row in rows)
    scored = len(rows) > 1
    fixed = _ROLE + word + (_P if likely else 0) + (_F1 if scored else 0)
    heads, column = _columns(cells - fixed - (_BARS[0] if likely else 0))
    bars = min(max(cells - fixed - sum(width(head) + column for head in heads), _BARS[0]), _BARS[1]) if likely else 0
    head = " " * (_ROLE + word) + (f"{'P':>{_P}}" + " " * bars if likely else "") + "  F1_V" * scored
    lines = [[Part(head, "dim"), *(Part(" " * column + one, "dim") for one in heads)]]
    for row in rows:
        line = [Part(f"{row.role:<{_ROLE}}", "dim")]
        name = fit(_named(row.entry), word)
        line += [Part(name.rstrip(), row.kind), Part(" " * (width(name) - width(name.rstrip())))]
        if likely:
            p = " " * _P if row.p is None else f"{share(row.p):>{_P}}"
            drawn = [Part(" " * (bars - 1))] if row.p is None else bar(row.p, 1.0, bars - 1)
            line += [Part(f"{p} "), *drawn]
        if scored:
            said_f1 = "" if row is rows[0] else UNDEFINED if row.f1 is None else share(row.f1).strip()
            line.append(Part(f"{said_f1:>{_F1}}", "strong" if row.role in ("run", "you") else "dim"))
        for place, one in enumerate(heads):
            sign, kind = _cell(gold, row, place)
            size = min(width(one), 3)
            line += [Part(" " * column), Part(f"{sign * size if sign != _NEITHER else f' {sign} '[:size]}", kind)]
            line.append(Part(" " * (width(one) - size)))
        lines.append(line)
    return lines


def _named(entry: "WordEntry") -> str:
    """The word; ° where its vector is this project's and not EmoLex's."""
    return f"{shown(entry.word)}{'°' * (entry.standing == 'supplement')}"


def _columns(cells: int) -> tuple[tuple[str, ...], int]:
    """The emotions' names and the gap before each, as widely as so many cells allow."""
    from emotui.metrics.masked import DIMENSIONS

    for heads in (DIMENSIONS, short_names(DIMENSIONS)):
        for gap in (3, 2, 1):
            if sum(width(head) + gap for head in heads) <= cells:
                return tuple(heads), gap
    return tuple(short_names(DIMENSIONS)), 1


def _cell(gold: "WordEntry", row: _WordRow, place: int) -> tuple[str, str]:
    """How a word's emotion stands to gold's: the sign and its kind."""
    vector = row.entry.vector
    if vector is None:
        return UNDEFINED, "rest"
    if row.role == "gold":
        return (_HIT, "gold") if vector[place] else (_NEITHER, "rest")
    wanted = bool(gold.vector is not None and gold.vector[place])
    sign = (_HIT if wanted else _EXTRA) if vector[place] else (_MISSED if wanted else _NEITHER)
    if gold.vector is None and sign == _EXTRA:
        return _EXTRA, "dim"
    return sign, "rest" if sign == _NEITHER else _KINDS[sign] if row.kind in ("ground", "strong") else "dim"


def told_lines(view: "MaskedView", mask: int, cells: int, filled: str) -> list[list[Part]]:
    """What each word shares with gold's, with the signs of the table; and what else is to be known of the mask."""
    from emotui.metrics.masked import DIMENSIONS

    gold = view.gold[mask]
    said = view.said[mask] if mask < len(view.said) else None
    guessed = view.guessed[mask] if mask < len(view.guessed) else None
    lines: list[list[Part]] = []
    for role, one in (("run", said), ("you", guessed)):
        if one is None:
            continue
        if one.entry is None:
            lines.append([Part(f"{role:<{_ROLE}}", "dim"), Part("no word for this mask: it scores 0", "mark")])
            continue
        if not has_emotions(gold) and not one.f1:
            continue  # the heading says so, once
        lacks = why_not_compared(gold, one.entry)
        if lacks:
            counts = "but it is the same word: it scores 1" if one.same_vector and one.f1 else "it scores 0"
            lines.append([Part(f"{role:<{_ROLE}}", "dim"), Part(f"{lacks}, {counts}", "mark")])
            continue
        groups: dict[str, list[str]] = {_HIT: [], _EXTRA: [], _MISSED: []}
        row = _WordRow(role, one.entry, kind="strong")
        for place, name in enumerate(DIMENSIONS):
            sign, _ = _cell(gold, row, place)
            if sign in groups:
                groups[sign].append(name)
        parts = [[Part(f"{role:<{_ROLE}}", "dim")]]
        for (sign, names), word in zip(groups.items(), ("hit", "extra", "missed"), strict=True):
            if names:
                parts.append([Part(f"{sign} ", _KINDS[sign]), Part(f"{word} ", "dim"), Part(f"{', '.join(names)}  ")])
        lines += _flowing(parts, cells)
    if said is None:
        lines.append([Part(view.why, "mark")])
    for remark, kind in _remarks(view, mask, said, guessed, filled):
        lines += [[Part(remark[start:end].rstrip(), kind)] for start, end in wrap(remark, max(cells, 20))]
    return lines


def _flowing(groups: Sequence[Sequence[Part]], cells: int) -> list[list[Part]]:
    """Groups of parts in lines of so many cells, those after the first under the second group."""
    lines = [list(groups[0])]
    for group in groups[1:]:
        if taken(lines[-1]) > _ROLE and taken(lines[-1]) + taken(group) - 2 > cells:
            lines.append([Part(" " * _ROLE)])
        lines[-1] += group
    return lines


OF_M = "M, missed: the run's word shares no emotion with gold's, or it gave none"
OF_NO_M = "F1_V .00 without M in the list: a word without emotions in EmoLex can share none, so it tells nothing"
"""Why a word that scores nothing has M in the list, or has none."""
_OF_P = "P: the probability that the run gives the word"


def _remarks(
    view: "MaskedView", mask: int, said: "MaskSaid | None", guessed: "MaskSaid | None", filled: str
) -> list[tuple[str, str]]:
    remarks = []
    if _is_missed(view, mask):
        remarks.append((OF_M, "mark"))
    elif said is not None and not said.f1:
        remarks.append((OF_NO_M, "dim"))
    if mask < len(view.leaked) and view.leaked[mask]:
        remarks.append(("leaked: gold's word stands in the text outside the mask too", "mark"))
    if said is not None and said.entry is not None:
        n = len(said.likeliest)
        if not n:
            remarks.append(("the run writes its answer: there are no other likely words", "dim"))
        elif said.gold_rank is None:
            remarks.append((f"{_OF_P}; gold's is not among its {n} likeliest", "dim"))
        else:
            remarks.append((f"{_OF_P}; gold's is its number {said.gold_rank}", "dim"))
    entries = [view.gold[mask], *(one.entry for one in (said, guessed) if one is not None and one.entry is not None)]
    entries += list(said.entries if said is not None else ())
    signs = (
        f"{DIFFERS} not gold's emotions" if filled == RUN and filling(view, mask, filled, {}).sign else "",
        f"{UNDEFINED * 3} not in EmoLex" if any(one.vector is None for one in entries) else "",
        "° EmoLex lacks it: emotui adds it" if any(one.standing == "supplement" for one in entries) else "",
        "a row of dots: in EmoLex without any" if any(one.standing == "zero" for one in entries) else "",
    )
    if any(signs):
        remarks.append(("   ".join(filter(None, signs)), "dim"))
    if not has_emotions(view.gold[mask]) and len(view.gold) > 1:
        remarks.append((keyed("{mask_on} goes on to the next mask"), "dim"))
    return remarks


def mask_heading(view: "MaskedView", mask: int) -> list[Part]:
    """The line over the table: which mask, and in a sentence how far the words carry gold's emotions."""
    parts = [Part(f" mask {mask + 1} of {len(view.gold)} ", "strong")]
    gold, wanted = view.gold[mask], sum(view.gold[mask].vector or ())
    shares = [
        f"{role} {shared(gold, said[mask].entry)}"
        for role, said in (("the run shares", view.said), ("you share", view.guessed))
        if mask < len(said)
    ]
    if not shares:
        return parts
    if not wanted:
        lacks = "EmoLex has no" if gold.vector is None else "EmoLex ties no emotion to"
        return [*parts, Part(f" not scored: {lacks} {shown(gold.word)}", "dim")]
    of = f"gold's {so_many(wanted, 'emotion')}" if wanted > 1 else "gold's one emotion"
    return [
        *parts,
        Part(f" of {of} {', '.join(shares)}", "dim"),
        *([Part("  M missed", "mark")] * _is_missed(view, mask)),
    ]


def _is_missed(view: "MaskedView", mask: int) -> bool:
    """Does the list have M for the run's word, or would it of this mask alone?"""
    return mask < len(view.said) and view.said[mask].missed


def tally_line(tally: "Tally | None") -> list[Part]:
    """How the person does against the run, over the texts that were guessed blind; nothing where there are none."""
    if tally is None or not tally.blind:
        return []
    parts = [Part(f"{so_many(tally.blind, 'text')} guessed blind, F1_V: ", "dim")]
    parts += [Part("you "), Part(share(tally.person).strip(), "strong")]
    if tally.run is not None:
        parts += [Part("  run "), Part(share(tally.run).strip(), "strong"), Part(" on the same", "dim")]
    return parts
