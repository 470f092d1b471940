"""All about one model: what it is, what it can do and what that is for with its speed as bars, and its last errors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from emotui.screens.keymaps.words import keyed
from emotui.screens.models.rows import (
    ABILITIES,
    CAN,
    CANNOT,
    SPEED,
    able_to,
    bar,
    bytes_said,
    end_of,
    rate_said,
    state_kind,
    state_said,
)
from emotui.screens.widgets.cell_width import shown, width, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.models.benchmark import Rate
    from emotui.workbench.models.loaded import OnShelf

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
_REMARK = 13
_BAR = 20
_STATE = 14
_WIDEST = 110
MORE = (
    ("{name_model}", "takes any model by its SPEC: hf:NAME_OR_DIR, gguf:FILE, openai:MODEL@URL"),
    ("", "emotui models --folder DIR --keep looks for models in a folder from now on"),
)
"""How other models come to be at hand: a key and what it does."""


def about(row: "OnShelf", cells: int) -> Lines:
    """Everything about one model in lines of so many cells."""
    cells = min(cells, _WIDEST)
    lines: list[list[Part]] = _said("", row.spec, cells) if width(row.spec) > cells - _STATE else []
    lines += _said("", " · ".join(_facts(row)), cells)
    lines.append([])
    lines += _abilities(row, cells)
    for note in row.card.notes if row.card is not None else ():
        lines += _said("note", note, cells)
    if row.model is not None and row.model.problem is not None:
        lines += _said("broken", row.model.problem, cells, "mark")
    for number, error in enumerate(row.errors):
        lines += _said("last errors" if not number else "", error, cells, "mark")
    lines.append([])
    for key, words in MORE:
        lines += [
            [
                Part(keyed(key) if not number else "", "key"),
                Part(f"{'' if number or not key else ' '}{words[a:b]}", "dim"),
            ]
            for number, (a, b) in enumerate(wrap(words, max(cells - 2, 20)))
        ]
    return lines


def title_of(row: "OnShelf", cells: int) -> tuple[list[Part], list[Part]]:
    """Its SPEC, and how it stands."""
    return [Part(f" {end_of(row.spec, max(cells - _STATE, 20))}", "strong")], [
        Part(f"{state_said(row)} ", state_kind(row))
    ]


def _said(name: str, text: str, cells: int, kind: str = "plain") -> list[list[Part]]:
    """A remark on as many lines as it takes, under its name where it has one."""
    label = _REMARK if name or kind == "mark" else 0
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
    """A line each thing that it can do, with what that is for and its speed; what it cannot in one line."""
    able = able_to(row)
    if not able:
        return _said("can", "told when it is loaded", cells)
    figures = SPEED + 2 + 9 if row.rates else 0
    use = min(max(cells - _NAME - figures, 0), _USE)
    room = min(max(cells - _NAME - use - SPEED - 2, 0), _BAR)
    rates = _by_ability(row)
    lines = []
    if row.rates:
        lines.append([Part(" " * (_NAME + use) + f"{'speed':>{SPEED}}", "dim")])
    for name in (one for one in _USES if one in able):
        word, used = ABILITIES[name], _USES[name]
        what = wrap(used, max(use - 1, 12)) if use >= 20 else []
        mine = rates.get(name, [])
        for number in range(max(len(what), len(mine), 1)):
            text = used[slice(*what[number])].rstrip() if number < len(what) else ""
            line = [Part(f"{CAN} " if not number else "  ", "said"), Part(f"{word if not number else '':<{_NAME - 2}}")]
            line += [Part(text, "dim"), Part(" " * (use - width(text)))]
            if number < len(mine):
                line += _speed(mine[number][0], mine[number][1], row, room)
            lines.append(line)
    cannot = [word for name, word in ABILITIES.items() if name not in able]
    if cannot:
        lines += [
            [Part(f"{CANNOT} ", "dim"), Part(f"cannot {', '.join(cannot)}"[a:b], "dim")]
            for a, b in wrap(f"cannot {', '.join(cannot)}", max(cells - 2, 20))
        ]
    if not row.rates:
        lines.append([Part(keyed("{measure}"), "key", "do('measure')"), Part(" measures how fast it is", "dim")])
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
    return [said, *(bar(rate.per_second, most, room, "■") if room >= 4 else [])]
