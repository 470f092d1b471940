"""Under the text: ten dimensions of two words as bars, the words' entries, the likeliest words, the examples shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit, wrap
from emotui.screens.widgets.charts import side_by_side
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share

if TYPE_CHECKING:
    from emotui.workbench.masked.looking import MaskedView, MaskSaid, WordEntry

VECTORS, EXAMPLES = "vectors", "examples"
VIEWS = (VECTORS, EXAMPLES)

_STANDINGS = {
    "known": "in EmoLex",
    "zero": "in EmoLex, all zeros",
    "supplement": "not in EmoLex: emotui's word °",
    "unknown": "unknown: it has no vector",
}
_NAME, _WORD = 12, 14
_LEAST = 32
"""Cells that the entries beside the bars need."""

Lines = list[list[Part]]


def told(standing: str) -> str:
    """How a word stands to the lexicon, in words."""
    return _STANDINGS[standing]


def vector_lines(view: "MaskedView", mask: int, guessed: "WordEntry | None", cells: int) -> Lines:
    """The ten dimensions beside the words' entries; under each other where there is no room."""
    gold, said = view.gold[mask], view.said[mask] if mask < len(view.said) else None
    bars = _NAME + 1 + (_bar(guessed) + 1) * (3 if guessed is not None else 2) + 6
    beside = cells - bars - 2 >= _LEAST
    room = cells - bars - 2 if beside else cells
    blocks = [_dimensions(gold, said, guessed), _words(view, gold, said, guessed, room)]
    if not beside:
        return [*blocks[0], *blocks[1]]
    return [list(line) for line in side_by_side(blocks, [bars, room - 2], cells)]


def _bar(guessed: "WordEntry | None") -> int:
    """Cells of a bar: fewer where there are three of them side by side."""
    return 8 if guessed is None else 6


def _dimensions(gold: "WordEntry", said: "MaskSaid | None", guessed: "WordEntry | None") -> Lines:
    from emotui.metrics.masked import DIMENSIONS

    entry, cells = None if said is None else said.entry, _bar(guessed)
    columns = [("gold", gold, "gold"), ("run", entry, "said")]
    if guessed is not None:
        columns.append(("you", guessed, "mark"))
    lines: Lines = [[Part(" " * _NAME + " ", "dim"), *(Part(f"{name:{cells + 1}}", "dim") for name, _, _ in columns)]]
    for place, name in enumerate(DIMENSIONS):
        line = [Part(f"{name:{_NAME}} ", "plain")]
        for _, one, kind in columns:
            on = None if one is None or one.vector is None else one.vector[place]
            sign = " " if one is None else "?" if on is None else "■" if on else "·"
            line += [Part(sign * cells, kind if on else "rest"), Part(" ")]
        how = _difference(gold, entry, place)
        lines.append([*line, Part(how, "dim" if how == "both" else "mark")])
    return lines


def _difference(gold: "WordEntry", said: "WordEntry | None", place: int) -> str:
    if gold.vector is None or said is None or said.vector is None:
        return ""
    pair = gold.vector[place], said.vector[place]
    return {(1, 0): "missed", (0, 1): "extra", (1, 1): "both"}.get(pair, "")


def _words(
    view: "MaskedView", gold: "WordEntry", said: "MaskSaid | None", guessed: "WordEntry | None", cells: int
) -> Lines:
    rows: list[tuple[str, WordEntry]] = [("gold", gold)]
    if said is not None and said.entry is not None:
        rows.append(("run", said.entry))
    if guessed is not None:
        rows.append(("you", guessed))
    lines: Lines = []
    for name, one in rows:
        kind = {"gold": "gold", "run": "said"}.get(name, "mark")
        lines.append([Part(f"{name:5}", "dim"), Part(fit(one.word, cells - 5).rstrip(), kind)])
        lines.append([Part("     "), Part(told(one.standing), "dim")])
    if said is None:
        return [*lines, [Part(view.why, "mark")]]
    if said.entry is None:
        lines.append([Part("run  ", "dim"), Part("no word for this mask", "mark")])
    if not said.likeliest:
        return [*lines, [Part("likeliest words: none, as it writes", "dim")]]
    lines.append([Part("likeliest" + ("" if said.gold_rank else ", gold not among them"), "dim")])
    for rank, (word, p) in enumerate(said.likeliest, start=1):
        right = Part(" gold", "gold") if rank == said.gold_rank else Part("")
        lines.append([Part(f"{rank} {fit(word, _WORD)} {share(p)} "), Part("■" * max(round(p * 12), 1), "said"), right])
    return lines


def example_lines(view: "MaskedView", cells: int, most: int = 3) -> Lines:
    """The examples that the prompt showed, the nearest first, with their distances; of each text `most` lines."""
    if not view.examples:
        return [[Part(f"examples shown: {view.unshown or view.why}", "dim")]]
    near = view.examples[0].distance is not None
    how = "the nearest first, by Euclidean distance of unit vectors, at most 2" if near else "drawn"
    n = len(view.examples)
    lines: Lines = [[Part(f"{n} examples were shown, {how}" if n > 1 else f"one example was shown, {how}", "dim")]]
    for one in view.examples:
        distance = "  –  " if one.distance is None else f"{one.distance:.3f}"
        head = [Part(f"{distance} ", "strong"), Part(f"{one.id}  "), Part(", ".join(one.labels), "gold")]
        lines.append(head)
        lines += [[Part("      " + line, "dim")] for line in _short(one.text, cells - 6, most)]
    return lines


def _short(text: str, cells: int, most: int) -> list[str]:
    flat, room = " ".join(text.split()), max(cells, 20)
    places = wrap(flat, room)
    lines = [flat[start:end].rstrip() for start, end in places[:most]]
    if len(places) > most:
        lines[-1] = fit(flat[places[most - 1][0] :], room).rstrip()
    return lines


def mask_heading(view: "MaskedView", mask: int, guesses: Sequence[str]) -> list[Part]:
    """The line over the bars: which mask, its words, and how far their vectors are the same."""
    parts = [Part(f" mask {mask + 1} of {len(view.gold)} ", "strong"), Part(" gold "), _gold(view.gold[mask].word)]
    if mask < len(view.said):
        said = view.said[mask]
        word = "no word" if said.entry is None else said.entry.word
        parts += [Part("  run "), Part(fit(word, 20).rstrip(), "ground")]
        differs = said.entry is not None and not said.same_vector
        parts += [Part(f"  F1 {share(said.f1).strip()}"), Part(" ≠" if differs else "", "mark")]
    if mask < len(guesses):
        parts += [Part("  you "), Part(fit(guesses[mask], 16).rstrip(), "mark")]
    return parts


def _gold(word: str) -> Part:
    return Part(fit(word, 20).rstrip(), "gold-line")
