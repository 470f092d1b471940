"""Why a model answers as it does, in lines: a text with and without a span of it, and a text by layer and word."""

from collections.abc import Sequence
from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import SEEN, Part, bar, taken
from emotui.screens.widgets.number_format import RIGHT, share
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.records import Span
    from emotui.workbench.why.heat import Heat
    from emotui.workbench.why.live_push import Aimed, PushedText
    from emotui.workbench.why.removal import Removed

FORMS = ("masked", "deleted", "alone")
"""What is done to a span, in the order of `Removed.forms`."""

FEW = 4
"""Labels that have bars: the likeliest over all forms."""

_NAME, _FIGURE, _GAP = 13, 4, 2
_NO_LABEL = "–  not a label of the model"
_MOST_BAR = 16
_LINES = 3
"""Lines of the text around what is taken away."""

_WIDEST = 90


def margin(found: "Removed | None") -> tuple[str, str]:
    """The change in four cells and its kind: strong where none without a random stretch falls as much; blank while it
    is unknown.
    """
    if found is None:
        return " " * _FIGURE, "plain"
    return change(found), "strong" if found.matters else "dim"


def change(found: "Removed") -> str:
    """By how much the probability of the explained label changes without the span, in four cells: below 0 it falls."""
    by = moved(found, found.explains)
    return " .00" if abs(by) < SEEN else f"{by:+.2f}".replace("0.", ".", 1)


def moved(found: "Removed", label: str) -> float:
    """By how much a label's probability changes without the span: of the two figures as they are written."""
    return round(found.masked[label], 2) - round(found.whole[label], 2)


def verdict(found: "Removed", *, own: bool = False, short: bool = False) -> list[Part]:
    """What the text loses or gains without the span, and in the last part what it is beside random stretches.

    Args:
        own: of the label of the span, in place of the model's likeliest one: then it is said what it is for, since the
            strength of the span stands near.
        short: without the word for the figure of the margin.
    """
    label = found.marked if own and found.marked is not None else found.explains
    whole, masked = found.whole[label], found.masked[label]
    random = found.marked_random if own else found.random
    rises, n = whole - masked <= -SEEN, len(random)
    moves = "rises to " if rises else "falls to " if whole - masked >= SEEN else "stays "
    of = " of the text" if own else ""
    parts = [Part(f"{label} "), Part(share(whole).strip(), "strong"), Part(f"{of}, without it {moves}")]
    parts += [
        Part(share(masked).strip(), "strong"),
        Part(". " if own else f" ({'' if short else 'change '}{change(found).strip()}). "),
    ]
    if not random:
        return [*parts, Part("No other stretch as long fits into the text beside it.", "dim")]
    far = sum(p >= masked if rises else p <= masked for p in random)
    mean, least, most = (share(one).strip() for one in (fsum(random) / n, min(random), max(random)))
    spread = f"{mean} on average ({least} to {most})" if n > 1 else mean
    of = f"{n} random stretches" if n > 1 else "a random stretch"
    as_far = f"{'as' if far or n > 1 else 'not as'} {'high' if rises else 'low'}"
    as_far = f"never {as_far}" if not far and n > 1 else f"{as_far} without {far} of these {n}" if n > 1 else as_far
    kind = "gold" if not far and not rises else "dim"
    return [*parts, Part(f"Without {of} as long: {spread}, {as_far}.", kind)]


def removal_lines(found: "Removed", cells: int, *, gold: str = "", in_margin: bool = True) -> Lines:
    """A line a label with a bar for each form, the verdict, and the text with what was taken away.

    The verdict is first of the label of the span, where the model has it and it is not its likeliest.

    Args:
        gold: the emotion that gold gives to this place, which has a line whatever the model makes of it.
        in_margin: whether it is this place whose change stands in the margin.
    """
    cells = max(cells, 20)
    lines: list[list[Part]] = []
    of_gold = found.named(gold) if gold else None
    roles = {found.explains: "likeliest"}
    if found.marked is not None and found.marked != of_gold:
        roles[found.marked] = "predicted"
    if of_gold is not None:
        roles[of_gold] = f"{roles[of_gold]}, gold" if of_gold in roles else "gold"
    said = dict(zip(("whole", *FORMS), (found.whole, found.masked, found.deleted, found.alone), strict=True))
    role_cells = max(map(width, (*roles.values(), "gold")))
    names = _NAME + 1 + role_cells
    size = max(min((cells - 2 - names) // len(said), _FIGURE + 1 + _MOST_BAR + _GAP), _FIGURE + 1 + _GAP)
    lines.append([Part(" " * (names + 2)), *(Part(f"{name:<{size}}", "dim") for name in said)])
    for label in likeliest(found, gold=of_gold):
        role = roles.get(label, "")
        explained = bool(role)
        line = [Part(f"  {fit(label, _NAME)}", "strong" if explained else "plain")]
        line.append(Part(f" {fit(role, role_cells)}", "gold" if role == "gold" else "dim"))
        for probs in said.values():
            p = probs.get(label, 0.0)
            line += [Part(share(p), "strong" if explained else "plain"), Part(" ")]
            line += [*bar(p, 1.0, size - _FIGURE - 1 - _GAP, "·"), Part(" " * _GAP)]
        lines.append(line)
    if gold and of_gold is None:
        told = [Part(f"  {fit(gold, _NAME)}", "strong"), Part(f" {fit('gold', role_cells)}", "gold")]
        lines.insert(1 + len(roles), [*told, Part(_NO_LABEL, "dim")])
    for own in (True, False) if found.marked is not None else (False,):
        role = f"{roles[found.marked] if own else 'likeliest'}: " if found.marked is not None else ""
        short = not in_margin or width(role) + taken(verdict(found, own=own)[:-1]) >= cells
        told = [Part(role, "dim"), *verdict(found, own=own, short=short)]
        if taken(told) < cells:
            lines.append([Part(" "), *told])
            continue
        lines.append([Part(" "), *told[:-1]])
        last = told[-1]
        lines += [[Part(" "), Part(last.text[a:b], last.kind)] for a, b in wrap(last.text, cells - 2)]
    lines.append([])
    lines += _passage(found, min(cells, _WIDEST))
    for name, text in zip(FORMS, found.forms, strict=True):
        lines.append([Part(f" {name:<8}", "dim"), Part(_around(text, found, cells - 10))])
    return lines


def part_lines(text: str, places: "Sequence[Span]", known: "Sequence[Removed | None]", cells: int) -> Lines:
    """Each part of a text with the change without it, in as many columns as fit; with a bar where there is room.

    Args:
        known: of each part; None while it is not known.
    """
    there = [one for one in known if one is not None]
    if not there:
        return [[Part(" asking the model …", "dim")]]
    first = there[0]
    head = [Part(f" {first.explains} "), Part(share(first.whole[first.explains]).strip(), "strong")]
    lines: list[list[Part]] = [[*head, Part(fit(_PARTS, max(cells - taken(head), 0)).rstrip(), "dim")]]
    cells = max(cells - 2, 20)
    names = [shown(text, *place) for place in places]
    longest = max(map(width, names))
    columns = max(cells // (min(longest, _LONGEST_WORD) + _PART), 1) if longest <= _LONGEST_WORD else 1
    size = cells // columns
    deep = -(-len(names) // columns)
    room = min(max(size - longest - _FIGURE - 5, 0), _MOST_BAR) if columns == 1 else _PART - _FIGURE - 6
    most = max((abs(one.drop) for one in there), default=0.0) or 1.0
    for row in range(deep):
        line = [Part(" ")]
        for at in range(row, len(names), deep):
            one = known[at]
            name = max(size - room - _FIGURE - 5, 1)
            strong = one is not None and one.matters
            line += [Part(fit(names[at], name), "strong" if strong else "plain"), Part(" ")]
            drop = 0.0 if one is None else one.drop
            figure = f"{change(one)} " if one is not None else "  …  "
            line.append(Part(figure, "strong" if strong else "dim"))
            line += [*_drop(drop, most, room), Part("  ")]
        lines.append(line)
    return lines


def _drop(drop: float, most: float, cells: int) -> list[Part]:
    """A bar of what is lost; what is gained is drawn hollow, a cell at least."""
    if drop >= 0:
        return bar(drop if drop >= SEEN else 0.0, most, cells)
    full = min(max(round(-drop / most * cells), 1), cells) if -drop >= SEEN else 0
    return [Part("□" * full, "said"), Part(" " * (cells - full))]


_PARTS = " and its change without each part; bold: falls lower than without any other as long"
_PART = 16
"""Cells for the figure of a part and its bar, and for what stands between two parts."""


def likeliest(found: "Removed", most: int = FEW, *, gold: str | None = None) -> list[str]:
    """The labels with the highest probability in any form; first that of the span, the explained one, and gold's.

    The others stand in the order of what the whole text has.
    """
    every = (found.whole, found.masked, found.deleted, found.alone)
    by_most = sorted(found.whole, key=lambda label: -max(probs.get(label, 0.0) for probs in every))
    first = dict.fromkeys(label for label in (found.marked, found.explains, gold) if label is not None)
    others = [label for label in by_most if label not in first][: max(most - len(first), 0)]
    return [*first, *sorted(others, key=lambda label: -found.whole[label])]


def _passage(found: "Removed", cells: int) -> list[list[Part]]:
    """The lines of the text that hold the span, in which that is struck out."""
    start, end = found.place
    room = max(cells - 9, 8)
    broken = wrap(found.text, room)
    first = next((at for at, (_, stop) in enumerate(broken) if stop > start), 0)
    lines = []
    for at, (a, b) in enumerate(broken[first : first + _LINES]):
        cuts = sorted({a, b, min(max(start, a), b), min(max(end, a), b)})
        parts = [
            Part(shown(found.text, one, other), "gone" if start <= one < end else "plain")
            for one, other in pairwise(cuts)
        ]
        lines.append([Part(" taken   " if not at else " " * 9, "dim"), *parts])
    return lines


def _around(text: str, found: "Removed", cells: int) -> str:
    """As much of a form as fits on a line, from a little before where the span stood."""
    before = max(found.place[0] - cells // 3, 0)
    if before and width(text) > cells and before < len(text):
        space = text.find(" ", before)
        text = "…" + text[(space + 1 if 0 <= space < before + 20 else before) :]
    return fit(text, max(cells, 8)).rstrip()


# A text by layer and word.

SHADES = ((2.0, "█"), (1.5, "▓"), (1.0, "▒"), (0.5, "░"), (-1.0, "·"))
"""From so many deviations on; below the last there is a minus."""

_LONGEST_WORD = 14
_WIDE = 13
"""As many layers have two cells each; more have one."""

_NUMBERED = 3
"""Words under the cursor whose scores are written out."""


def shade(score: float) -> str:
    """What a score is drawn as."""
    return next((sign for least, sign in SHADES if score >= least), "−")


def heat_lines(
    found: "Heat", label: int, cells: int, gold: "Sequence[Span]" = (), here: "Sequence[Span]" = ()
) -> Lines:
    """A row a word and a cell a layer, in as many columns as fit; grey where a layer does not beat its controls.

    Args:
        label: its place among the labels. gold: spans whose words are marked. here: those under the cursor.
    """
    cells = max(cells, 24)
    names = [shown(found.text, *place) for place in found.words]
    longest = min(max(5, *map(width, names)), _LONGEST_WORD)
    room = cells - longest - 10
    layers = _layers(found, label, room)
    size = 2 if len(layers) <= _WIDE and 2 * len(layers) <= room else 1
    best, clear = found.best(label), found.clear[label]
    one = longest + size * len(layers) + 10
    columns = max(min(cells // one, len(names)), 1)
    deep = -(-len(names) // columns)
    told = f" {found.labels[label]} by layer; number: layer {found.layers[best]}"
    lines: list[list[Part]] = [[Part(fit(told, cells - 1).rstrip(), "strong", "do('next_label')")]]
    numbers, ticks = (
        _numbers([found.layers[at] for at in layers], size),
        "".join(f"{RIGHT if clear[at] else ' ':>{size}}" for at in layers),
    )
    for name, signs in (("layer", numbers), ("clear", ticks)):
        lines.append([Part(f"  {fit(name, longest)} {signs}{'':<7}", "dim")] * columns)
    for row in range(deep):
        line: list[Part] = []
        for at in range(row, len(names), deep):
            start, end = found.words[at]
            marked, chosen = (any(a < end and start < b for a, b in spans) for spans in (gold, here))
            line += [Part("▸" if chosen else " ", "said"), Part("▌" if marked else " ", "gold")]
            line += [Part(fit(names[at], longest), "gold" if marked else "plain"), Part(" ")]
            line += _cells([scores[at] for scores in found.scores[label]], layers, clear, size)
            line.append(Part(f" {found.scores[label][best][at]:+5.1f} ", "plain" if clear[best] else "dim"))
        lines.append(line)
    whole = found.whole[label]
    lines.append(
        [
            Part(f"  {fit('text', longest)} ", "strong"),
            *_cells(whole, layers, clear, size),
            Part(f" {whole[best]:+5.1f} ", "strong" if clear[best] else "dim"),
        ]
    )
    if found.said:
        said = [f"{found.layers[at]}: {share(found.said[label][at]).strip()}" for at in layers]
        lines += _listed("about to say", said, cells)
    under = [at for at, (start, end) in enumerate(found.words) if any(a < end and start < b for a, b in here)]
    for at in under[:_NUMBERED]:
        each = [f"{found.layers[layer]}: {found.scores[label][layer][at]:+.1f}" for layer in layers]
        lines += _listed(names[at], each, cells)
    every = [f"{found.labels[at]} {found.whole[at][found.best(at)]:+.1f}" for at in found.ranked]
    lines += _listed("text", every, cells)
    probes = f"probes of {found.n:,} texts of {found.dataset}"
    probes += f"; {found.left_out:,} that are, or may share something with, this one left out" * bool(found.left_out)
    lines += _listed(
        "", [probes, "░ .5 deviations, ▒ 1, ▓ 1.5, █ 2, − below −1", f"{RIGHT} beats its controls", "▌ gold"], cells
    )
    if not any(clear):
        lines.insert(1, [Part(" no layer beats its controls with this label: nothing is to be read from it", "mark")])
    return lines


def number_lines(
    found: "Heat", label: int, cells: int, gold: "Sequence[Span]" = (), here: "Sequence[Span]" = ()
) -> Lines:
    """The score of each word at every layer in figures, in as many blocks of layers as it takes; then the text's.

    Args:
        as of `heat_lines`.
    """
    cells = max(cells, 24)
    names = [shown(found.text, *place) for place in found.words]
    longest = min(max(5, *map(width, names)), _LONGEST_WORD)
    clear, n = found.clear[label], len(found.layers)
    deep = max((cells - longest - 4) // _NUMBER, 1)
    lines: list[list[Part]] = [[Part(f" {found.labels[label]} by layer, in deviations", "strong", "do('next_label')")]]
    for first in range(0, n, deep):
        some = range(first, min(first + deep, n))
        for name, signs in (
            ("layer", [str(found.layers[at]) for at in some]),
            ("clear", [RIGHT if clear[at] else "" for at in some]),
        ):
            lines.append([Part(f"  {fit(name, longest)} " + "".join(f"{sign:>{_NUMBER}}" for sign in signs), "dim")])
        for at, (start, end) in enumerate(found.words):
            marked, chosen = (any(a < end and start < b for a, b in spans) for spans in (gold, here))
            line = [Part("▸" if chosen else " ", "said"), Part("▌" if marked else " ", "gold")]
            line += [Part(fit(names[at], longest), "gold" if marked else "plain"), Part(" ")]
            lines.append([*line, *_figures([found.scores[label][layer][at] for layer in some], some, clear)])
        whole = _figures([found.whole[label][layer] for layer in some], some, clear)
        lines += [[Part(f"  {fit('text', longest)} ", "strong"), *whole], []]
    return lines


_NUMBER = 6


def _figures(scores: Sequence[float], layers: Sequence[int], clear: Sequence[bool]) -> list[Part]:
    return [
        Part(f"{score:>+{_NUMBER}.1f}", "plain" if clear[layer] else "dim")
        for score, layer in zip(scores, layers, strict=True)
    ]


def _layers(found: "Heat", label: int, room: int) -> list[int]:
    """The places of the layers that are drawn: all, or as many as fit, evenly spaced, with the best one."""
    n = len(found.layers)
    if n <= room:
        return list(range(n))
    some = {round(at * (n - 1) / (room - 2)) for at in range(room - 1)}
    return sorted(some | {found.best(label)})


def _numbers(layers: Sequence[int], size: int) -> str:
    if size == 2:
        return "".join(f"{layer:>2}" for layer in layers)
    return "".join(f"{layer:<5}"[: len(layers) - at] for at, layer in enumerate(layers) if at % 5 == 0)


def _cells(scores: Sequence[float], layers: Sequence[int], clear: Sequence[bool], size: int) -> list[Part]:
    return [Part(shade(scores[at]) * size, "said" if clear[at] else "dim") for at in layers]


def _listed(head: str, each: Sequence[str], cells: int) -> list[list[Part]]:
    """A head and a list in as many lines as it takes."""
    told = f"{head}  {'   '.join(each)}" if head else "; ".join(each)
    return [[Part(f" {shown(told, start, end)}", "dim")] for start, end in wrap(told, cells - 2)]


# A text that is pushed along a label's direction.

FARTHEST, STEP = 8.0, 0.5
"""Strengths that the slider has, below 0 and above, and how far one key moves it."""

_SLIDER = 33
_OFF = "PUSHED: no answer of the model's own. None of it is kept; {push} switches it off."
_CHANCE = "random: mean along {n} random directions of equal length, and the least and the most"


def slider(strength: float, cells: int = _SLIDER) -> list[Part]:
    """Where a strength stands between `-FARTHEST` and `FARTHEST`, nothing in the middle."""
    cells = max(cells, 5) | 1
    line = ["─"] * cells
    line[0], line[-1], line[cells // 2] = "├", "┤", "┴"
    line[round((strength + FARTHEST) / (2 * FARTHEST) * (cells - 1))] = "●"
    ends = f"{FARTHEST:g}"
    return [
        Part(f"−{ends} ", "dim", "do('push_less')"),
        Part("".join(line), "said"),
        Part(f" +{ends}", "dim", "do('push_more')"),
        Part(f"  {strength:+.1f}", "strong"),
    ]


def aim_line(aimed: "Aimed", found: "PushedText | None", cells: int) -> list[Part]:
    """Whereto it is pushed, at which layer and how far, as it is asked for."""
    layer = aimed.layer if aimed.layer is not None else found.aimed.layer if found is not None else None
    label = aimed.label or (found.aimed.label if found is not None else None)
    told = [
        Part(" towards ", "dim"),
        Part(shown(label or "…"), "strong", "do('next_label')"),
        Part("  layer ", "dim"),
        Part("…" if layer is None else f"{layer}", "strong", "do('part')"),
        Part("  " if found is None else f" of {found.depth}  ", "dim"),
    ]
    return [*told, *slider(aimed.strength, min(_SLIDER, cells - taken(told) - 14))]


def push_lines(found: "PushedText", cells: int, off: str, *, stale: bool = False) -> Lines:
    """Of every label what is answered without the push and with it, and along random directions; then the perplexity.

    Args:
        off: the key that switches it off. stale: something else is asked for by now.
    """
    cells = max(cells, 24)
    lines: list[list[Part]] = [[Part(f" {_OFF.replace('{push}', off)}", "mark")]]
    size = _FIGURE + 1 + max(min((cells - 57) // 2, _MOST_BAR), 0) + _GAP
    head = f"{'':<{_NAME + 2}}{'without':<{size}}{'pushed':<{size}}change  random"
    lines.append([Part(head, "dim")])
    every = sorted(found.plain, key=lambda name: (name != found.aimed.label, -max(_both(found, name))))
    for name in every:
        aimed = name == found.aimed.label
        line = [Part("▸ " if aimed else "  ", "said"), Part(fit(name, _NAME), "strong" if aimed else "plain")]
        for p in _both(found, name):
            line += [Part(share(p), "strong" if aimed else "plain"), Part(" ")]
            line += [*bar(p, 1.0, size - _FIGURE - 1 - _GAP, "·"), Part(" " * _GAP)]
        plain, pushed = _both(found, name)
        line.append(Part(f"{_signed(pushed - plain):<8}", "strong" if aimed else "plain"))
        random = [each[name] - plain for each in found.random]
        if random:
            told = f"{_signed(fsum(random) / len(random))} [{_signed(min(random))}, {_signed(max(random))}]"
            line.append(Part(told, "dim"))
        lines.append(line)
    lines += _perplexity_lines(found, size)
    for name, text in zip(("without", "pushed"), found.written, strict=False):
        told = " ".join(text.split())
        lines += [
            [
                Part(f" {name if not at else '':<9}", "dim"),
                Part(shown(told, *place), "mark" if name == "pushed" else "plain"),
            ]
            for at, place in enumerate(wrap(told, min(cells, _WIDEST) - 11))
        ]
    of = f"direction of {found.n:,} texts of {found.dataset}"
    of += f", without {found.left_out:,} that are, or share something with, this one" * bool(found.left_out)
    long = f"at strength 1 {share(found.length).strip()} of a state" if found.length < 10 else "longer than a state"
    lines += _listed("", [of, long, _CHANCE.format(n=len(found.random))], cells)
    if stale:
        return [[Part(part.text, "stale", part.press) for part in line] for line in lines]
    return lines


def _both(found: "PushedText", name: str) -> tuple[float, float]:
    return found.plain[name], found.pushed.get(name, 0.0)


def _signed(value: float) -> str:
    return " .00" if abs(value) < SEEN else f"{value:+.2f}".replace("0.", ".", 1).replace("-", "−")


def _long(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e7 else f"{value:.3g}"


def _perplexity_lines(found: "PushedText", size: int) -> list[list[Part]]:
    if len(found.perplexity) < 2:
        return []
    plain, pushed, *random = found.perplexity
    line = [
        Part(f"  {fit('perplexity', _NAME)}", "plain"),
        Part(f"{_long(plain):<{size}}"),
        Part(f"{_long(pushed):<{size}}"),
    ]
    line.append(Part(f"×{pushed / plain:<7.3g}", "strong"))
    if random:
        each = [one / plain for one in random]
        line.append(Part(f"×{fsum(each) / len(each):.3g} [{min(each):.3g}, {max(each):.3g}]", "dim"))
    return [line]
