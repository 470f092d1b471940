"""How models are drawn: a line each with its state, memory, speed and what it can do; and all about one of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import RIGHT, UNDEFINED, count
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.models.benchmark import Rate
    from emotui.workbench.models.loaded import OnShelf

_SIGNS = {"loaded": "●", "loading": "◐", "measuring": "◐", "ended": "○", "failed": "!", "": " "}
ABILITIES = {
    "generate": "write",
    "score": "score",
    "rank": "ranks",
    "classify": "label",
    "embed": "embed",
    "fill_mask": "masks",
    "extract": "spans",
    "attribute": "words",
    "regress": "value",
}
"""What models can do, in a word each: a column has one over it, and where columns have no room a row says them."""

CAN, CANNOT, UNKNOWN = RIGHT, "·", "?"
HELD, FILES, FAST = "■", "□", "▬"
"""What the bars of the list are drawn with: memory, size of files, speed. A sign has one scale."""

_MEMORY, SPEED, _ROWS_STATE = 9, 18, 10
_SHORTEST, _LONGEST = 14, 60
_MOST_BAR = 24
_COLUMN, _GAP = 5, 2
_COLUMNS, _SAID, _NONE = "columns", "said", ""
_WAYS = (
    (_COLUMNS, True, True, 8),
    (_SAID, True, True, 6),
    (_SAID, True, False, 6),
    (_COLUMNS, False, True, 8),
    (_SAID, True, True, 0),
    (_SAID, False, True, 6),
    (_SAID, False, True, 0),
    (_SAID, False, False, 0),
    (_NONE, False, False, 0),
)
"""How it is told what models can do, whether speed and state in words are there, and the least cells of a bar; the best
one first."""
_TOLD_LATER = "told when loaded"


@dataclass(frozen=True, slots=True)
class _Shape:
    """The cells of a SPEC, of a bar of memory or speed, and of what models can do where a row says it.

    `can`: how it is told what they can do.
    """

    spec: int
    bar: int
    speed: bool
    state: bool
    can: str
    said: int

    @classmethod
    def of(cls, rows: "Sequence[OnShelf]", cells: int) -> "_Shape":
        """Speed stands there once it was measured. Where there is no room, first a row says what its model can do in
        place of columns, then there is no bar, no speed, the state is a sign, and it is not said what models can do.
        """
        longest = min(max((width(row.spec) for row in rows), default=0), _LONGEST)
        longest = max(longest, len("model"))
        measured = any(row.rates for row in rows)
        said = max((width(_can_said(row)) for row in rows), default=0)
        for can, speed, state, least in _WAYS:
            if speed and not measured:
                continue
            least = least if len(rows) > 1 else 0  # a bar alone is as long as itself
            columns = (_COLUMN + _GAP) * len(ABILITIES)
            abilities = 2 + (columns if can == _COLUMNS else said) if can else 0
            fixed = 4 + 2 + _MEMORY + abilities + (2 + SPEED if speed else 0) + (2 + _ROWS_STATE if state else 0)
            bars = 2 if speed else 1
            room = cells - fixed - bars * (least + 1 if least else 0)
            if room >= min(longest, _SHORTEST + (4 if least else 0)) or not can:
                spec = min(longest, max(room, _SHORTEST))
                bar = min(least + (room - spec) // bars, _MOST_BAR) if least else 0
                return cls(spec, bar, speed, state, can, said)
        raise AssertionError


def heading(rows: "Sequence[OnShelf]", machine: int | None, cells: int) -> tuple[list[Part], list[Part]]:
    """How many there are, and the memory that the loaded ones hold of the machine's; on the right what the bars of the
    list are.
    """
    loaded = [row for row in rows if row.state == "loaded"]
    held = sum(row.memory or 0 for row in loaded)
    left = [Part(f"{len(rows)} at hand, {len(loaded)} loaded", "dim")]
    shape = _Shape.of(rows, cells)
    right = [Part(HELD, "said"), Part(f" memory held  {FILES} size of its files ", "dim")] if shape.bar else []
    if shape.bar and shape.speed:
        right += [Part(f" {FAST}", "said"), Part(" speed ", "dim")]
    room = cells - sum(len(part.text) for part in (*left, *right))
    said = f" {bytes_said(held)}" + (f" of {bytes_said(machine)}" if machine else "") + " held"
    if held and room > len(said) + 2:
        left.append(Part(f"  {said}", "dim"))
    return left, right


def lines(rows: "Sequence[OnShelf]", cursor: int, cells: int, live: str = "") -> Lines:
    """The heading, and a line a model in so many cells; `live` is in use."""
    shape = _Shape.of(rows, cells)
    size = "memory" if shape.bar or any(row.memory is not None for row in rows) else "files"
    head = f"    {'model':{shape.spec}}  {size:>{_MEMORY}}" + (" " * (shape.bar + 1) if shape.bar else "")
    if shape.speed:
        head += f"  {'speed':>{SPEED}}" + " " * (shape.bar + 1)
    if shape.can == _COLUMNS:
        head += "  " + "".join(" " * _GAP + name for name in ABILITIES.values())
    elif shape.can:
        head += f"  {'can':{shape.said}}"
    if shape.state:
        head += "  state"
    return [
        [Part(head, "dim")],
        *(
            # In one style, since a colour of its own would be a hole in what is reversed.
            [Part(fit("▸ " + "".join(part.text for part in parts), cells), "picked")]
            if number == cursor
            else [Part("  "), *parts]
            for number, parts in enumerate(_line(row, rows, shape, live=row.spec == live) for row in rows)
        ),
    ]


def _line(row: "OnShelf", rows: "Sequence[OnShelf]", shape: _Shape, *, live: bool) -> list[Part]:
    kind = state_kind(row)
    held = row.memory if row.memory is not None else _size(row)
    most = max((row.memory or _size(row) or 0 for row in rows), default=0)
    parts = [
        Part(f"{'!' if _broken(row) else _SIGNS[row.state]} ", kind),
        Part(fit(end_of(row.spec, shape.spec), shape.spec), "strong" if live else "plain"),
        Part(f"  {bytes_said(held):>{_MEMORY}}", "plain" if row.memory is not None else "dim"),
    ]
    if shape.bar:
        parts += bar(held, most, shape.bar, HELD if row.memory is not None else FILES)
    if shape.speed:
        rate = _main_rate(row)
        same = [one.per_second for other in rows if (one := _main_rate(other)) and rate and one.unit == rate.unit]
        parts.append(Part(f"  {rate_said(rate) if rate else '':>{SPEED}}"))
        parts += bar(rate.per_second if rate else None, max(same, default=0.0), shape.bar, FAST)
    if shape.can == _COLUMNS:
        parts.append(Part("  "))
        for name in ABILITIES:
            sign, kind_of = ability(row, name)
            parts.append(Part(" " * _GAP + f"{sign:^{_COLUMN}}", kind_of))
    elif shape.can:
        parts.append(Part(f"  {_can_said(row):{shape.said}}", "plain" if able_to(row) else "dim"))
    return [*parts, Part(f"  {state_said(row)}", kind)] if shape.state else parts


def _can_said(row: "OnShelf") -> str:
    """What it can do, a word each."""
    able = able_to(row)
    return " ".join(word for name, word in ABILITIES.items() if name in able) if able else _TOLD_LATER


def ability(row: "OnShelf", name: str) -> tuple[str, str]:
    """Whether it can do this, as a sign with its kind: it can, it cannot, or nobody knows before it is loaded."""
    able = able_to(row)
    if name in able:
        return CAN, "said"
    return (CANNOT, "rest") if able else (UNKNOWN, "dim")


def state_said(row: "OnShelf") -> str:
    """How it stands, in a word."""
    return "broken" if _broken(row) else row.state or "not loaded"


def state_kind(row: "OnShelf") -> str:
    """The kind of part that suits how it stands."""
    if _broken(row) or row.state == "failed":
        return "mark"
    return "said" if row.state == "loaded" else "plain"


def _broken(row: "OnShelf") -> bool:
    return row.model is not None and row.model.problem is not None


def bar(value: float | None, most: float, cells: int, sign: str) -> list[Part]:
    """A bar behind a blank, full at the most; what is not known or nothing draws nothing."""
    full = round(value / most * cells) if value and most else 0
    full = max(full, 1) if value else 0
    return [Part(" "), Part(sign * full, "dim" if sign == FILES else "said"), Part(" " * (cells - full))]


def _size(row: "OnShelf") -> int | None:
    return row.model.size if row.model is not None else None


def _main_rate(row: "OnShelf") -> "Rate | None":
    """Of what was measured that by which models are compared: writing, or else the first."""
    return row.rates.get("tokens out") or next(iter(row.rates.values()), None)


def rate_said(rate: "Rate", word: str = "") -> str:
    """Units a second: `51 tokens/s`, `3.2 texts/s`; with a word behind the unit, as in `51 tokens out/s`."""
    many = count(round(rate.per_second)) if rate.per_second >= 10 else f"{rate.per_second:.1f}"
    return f"{many} {rate.unit}{word}/s"


def able_to(row: "OnShelf") -> Sequence[str]:
    """What it can do, as far as that is known."""
    return row.card.capabilities if row.card is not None else row.model.capabilities if row.model is not None else ()


def end_of(spec: str, cells: int) -> str:
    """A SPEC whose end is what tells it from others: a long one is cut in its middle."""
    if width(spec) <= cells:
        return spec
    kind = spec.partition(":")[0][: cells - 2]
    return fit(f"{kind}:…{spec[-(cells - len(kind) - 2) :]}", cells)


def bytes_said(size: int | None) -> str:
    """Bytes in a few cells: `96 MB`, `1.2 GB`; a dash where they are not known."""
    if size is None:
        return UNDEFINED
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


# All about one model: what it is, what it can do and what that is for with its speed as bars, and its last errors.

_USES = {
    "generate": "every task by its prompt, versions in Generate",
    "score": "Scenes, labels by yes or no",
    "rank": "which label is likelier to follow, perplexity",
    "classify": "labels, Rephrase as you type",
    "embed": "similarity of spans and texts, nearest examples",
    "fill_mask": "which word stands behind a mask, in Masked",
    "extract": "evidence in Browse",
    "attribute": "which words a label rests on",
    "regress": "values such as valence",
}
"""By what models can do: what of emotui it is for."""

_NAME, _USE = 9, 50
_BAR = 20
_STATE = 14
_WIDEST = 110
MORE = "emotui models --folder DIR --keep looks for models in a folder from now on"
"""How other models come to be at hand."""

_OTHERS = (
    ("hf:NAME_OR_DIR", "from the Hugging Face Hub or a folder: a causal one writes, others label, embed or fill masks"),
    ("gguf:FILE", "a file for llama.cpp: writes, scores and ranks, or embeds"),
    ("openai:MODEL@URL", "a server (vLLM, Ollama, llama.cpp, OpenAI): writes, most of them score too, or embeds"),
)
"""How a model is named that is not at hand, and what such models can do."""


def about(row: "OnShelf", cells: int) -> Lines:
    """Everything about one model in lines of so many cells."""
    cells = min(cells, _WIDEST)
    lines: list[list[Part]] = _said("", row.spec, cells) if width(row.spec) > cells - _STATE else []
    lines += _said("", " · ".join(_facts(row)), cells)
    for number, error in enumerate(row.errors):
        lines += _said("errors" if not number else "", error, cells, "mark")
    lines.append([])
    lines += _abilities(row, cells)
    for note in row.card.notes if row.card is not None else ():
        lines += _said("note", note, cells)
    if row.model is not None and row.model.problem is not None:
        lines += _said("broken", row.model.problem, cells, "mark")
    return [*lines, [], *others(cells)]


def others(cells: int) -> Lines:
    """How a model is named that is not at hand."""
    lines = [[Part("another model", "strong"), Part(": typed below, Enter uses it", "dim")]]
    size = max(width(form) for form, _ in _OTHERS) + 2
    for form, told in _OTHERS:
        for number, (start, end) in enumerate(wrap(told, max(cells - size, 20))):
            lines.append([Part(f"{form if not number else '':<{size}}"), Part(told[start:end].rstrip(), "dim")])
    lines += [[Part(MORE[a:b], "dim")] for a, b in wrap(MORE, cells)]
    return lines


def title_of(row: "OnShelf", cells: int) -> tuple[list[Part], list[Part]]:
    """Its SPEC, and how it stands."""
    return [Part(f" {end_of(row.spec, max(cells - _STATE, 20))}", "strong")], [
        Part(f"{state_said(row)} ", state_kind(row))
    ]


def _said(name: str, text: str, cells: int, kind: str = "plain") -> list[list[Part]]:
    """A remark on as many lines as it takes, under its name where it has one."""
    label = _NAME if name or kind == "mark" else 0
    return [
        [Part(f"{name if not number else '':<{label}}", "dim"), Part(shown(text, start, end), kind)]
        for number, (start, end) in enumerate(wrap(text, max(cells - label, 20)))
    ]


def _facts(row: "OnShelf") -> list[str]:
    """What it is, in a few words each; what is not known is left out."""
    model, card = row.model, row.card
    facts = [card.name if card is not None else model.name if model is not None else ""]
    if model is not None and model.size is not None:
        facts.append(f"{bytes_said(model.size)} of files" + (f", {model.quantisation}" if model.quantisation else ""))
    if row.memory is not None:
        facts.append(f"{bytes_said(row.memory)} of memory at most since it was loaded")
    if row.load_seconds is not None:
        facts.append(f"loaded in {row.load_seconds:.1f} s")
    if model is not None and model.context is not None:
        facts.append(f"context {count(model.context)} tokens")
    return [fact for fact in facts if fact]


def _abilities(row: "OnShelf", cells: int) -> list[list[Part]]:
    """A line each thing that models can do, with what that is for and how fast this one is; those that it cannot do
    are dim.
    """
    able = able_to(row)
    if not able:
        return [*_said("can", "told when it is loaded: models can", cells), *_uses(_USES, able, cells - _NAME)]
    figures = SPEED + 2 + 9 if row.rates else 0
    use = min(max(cells - _NAME - figures, 0), _USE)
    room = min(max(cells - _NAME - use - SPEED - 2, 0), _BAR)
    rates = _by_ability(row)
    lines = []
    if row.rates:
        lines.append([Part(" " * (_NAME + use) + f"{'speed':>{SPEED}}", "dim")])
    for name in _USES:
        if name not in able:
            lines += _uses((name,), able, cells - _NAME)
            continue
        mine = rates.get(name, [])
        told = _uses((name,), able, use)
        told += [[Part(" " * (_NAME + use))] for _ in range(len(mine) - len(told))]
        for number, line in enumerate(told):
            speed = _speed(mine[number][0], mine[number][1], row, room) if number < len(mine) else []
            lines.append([*line, *speed])
    if not row.rates:
        lines.append([Part("^S", "key"), Part(" measures how fast it is", "dim")])
    return lines


def _uses(names: "Iterable[str]", able: Sequence[str], cells: int) -> list[list[Part]]:
    """What each of these is for, in so many cells beside its sign and name; dim where the model is not able to."""
    lines = []
    for name in names:
        can, word, used = name in able, ABILITIES[name], _USES[name]
        known = CAN if can else CANNOT if able else UNKNOWN
        used = used if can or not able else f"cannot: {used}"
        for number, (start, end) in enumerate(wrap(used, max(cells - 1, 12)) if cells >= 20 else [(0, 0)]):
            sign = Part(f"{known} " if not number else "  ", "said" if can else "dim")
            text = used[start:end].rstrip()
            named = Part(f"{word if not number else '':<{_NAME - 2}}", "plain" if can else "dim")
            lines.append([sign, named, Part(text, "dim"), Part(" " * (cells - width(text)))])
    return lines


def _by_ability(row: "OnShelf") -> "Mapping[str, list[tuple[str, Rate]]]":
    """What was measured, by what it measures, with a word where there is more than one."""
    found: dict[str, list[tuple[str, Rate]]] = {}
    for trial, rate in row.rates.items():
        tokens = trial.startswith("tokens ")
        name = "generate" if tokens else trial.replace(" ", "_")
        found.setdefault(name, []).append((f" {trial.removeprefix('tokens ')}" if tokens else "", rate))
    return found


def _speed(word: str, rate: "Rate", row: "OnShelf", room: int) -> list[Part]:
    """Units a second, and a bar on one scale for all of the same unit."""
    most = max(one.per_second for one in row.rates.values() if one.unit == rate.unit)
    said = Part(f"{rate_said(rate, word):>{SPEED}}")
    return [said, *(bar(rate.per_second, most, room, FAST) if room >= 4 else [])]
