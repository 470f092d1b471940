"""What a model said of a text as blocks of lines, a block for each thing that it can say: pure, at a given width."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from emotui.records import MASKED, Span
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import SEEN, Part, bar
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Lines
from emotui.tables import reads_zero

if TYPE_CHECKING:
    from emotui.workbench.models.probe import (
        Attribution,
        Classification,
        Evidence,
        Filled,
        Generation,
        ModelCard,
        Odds,
        Probe,
        TaskAnswer,
    )

# One model of the Spot check place: what it said, about which text, and when it is worth asking again.

QUICK = ("classes", "emotions", "spans", "masks")
"""What is asked as soon as typing rests, in this order."""

LATER = ("words", "generation")
"""What is asked when typing rests longer."""

TASK = "task "
"""Before the name of a task: the part that is the task's own prompt and output."""

LONG = 1.0
"""A part that takes longer than so many seconds, twice, is asked only on a key: the first time may be a cold start."""

_TOO_LONG = 4 * LONG
"""A part that takes so long is asked only on a key from then on."""

_READ_WHOLE = ("spans", "words")
_MOST_LONGER = 4.0
"""How many times as long the other parts may take for a longer text: models read only so much of it."""

_ALREADY_LONG = LONG / 4
"""A model whose quick parts take so long would write for longer than that."""

When = Literal["quick", "later", "key"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a model said in one part about one text; `note`: why it said nothing."""

    text: str
    probe: "Probe"
    seconds: float
    note: str


class Column:
    """A model by its SPEC, with its newest answer in each part.

    `trouble`: why it answers nothing; `doing`: what it is doing now, in words; both empty otherwise.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.card: ModelCard | None = None
        self.answers: dict[str, Answered] = {}
        self.trouble = ""
        self.doing = ""
        self.since = 0.0
        self._cost: dict[str, tuple[float, int, int]] = {}

    def take(self, part: str, text: str, probe: "Probe") -> None:
        """Keep an answer."""
        self.card = probe.card
        seconds = probe.seconds.get(part, 0.0)
        note = probe.notes.get(part, "")
        self.answers[part] = Answered(text, probe, seconds, note)
        if part not in probe.lacking and not note:
            times = self._cost.get(part, (0.0, 0, 0))[2]
            self._cost[part] = seconds, max(len(text), 1), times + 1

    def lacks(self, part: str) -> bool:
        """Is this nothing that the model can do, whatever the text?"""
        answer = self.answers.get(part)
        return answer is not None and part in answer.probe.lacking

    def missing(self, text: str, parts: Sequence[str]) -> list[str]:
        """Of these parts those that have no answer to this text."""
        return [part for part in parts if not self.lacks(part) and not self.knows(part, text)]

    def knows(self, part: str, text: str) -> bool:
        """Is its answer one to this text?"""
        answer = self.answers.get(part)
        return answer is not None and answer.text == text

    def waits_for(self, part: str, text: str) -> bool:
        """Is there an answer to this text still to come?"""
        return not self.trouble and not self.lacks(part) and not self.knows(part, text)

    def when(self, part: str, text: str) -> When:
        """When this part is asked, as far as its cost is known; a longer text costs more."""
        known = self._cost.get(part)
        if known is not None:
            seconds, length, times = known
            longer = max(len(text) / length, 1.0)
            expected = seconds * (longer if part in _READ_WHOLE else min(longer, _MOST_LONGER))
            if expected > (LONG if times > 1 else _TOO_LONG):
                return "key"
        if part in QUICK:
            return "quick"
        writes = part == "generation" or part.startswith(TASK)
        if writes and known is None and sum(self._cost.get(each, (0.0, 0, 0))[0] for each in QUICK) > _ALREADY_LONG:
            can_write = self.card is not None and "generate" in self.card.capabilities
            return "key" if can_write else "later"
        return "later"


FEW = 4
"""Labels and words that are shown where not all are asked for."""

_NAME = 15
_LEAST_BAR, _MOST_BAR = 6, 24
ODDS = "log-odds of yes"
"""Of what the figures of emotions are: each is asked by itself, yes or no."""
EACH = ", each by itself"
"""Of probabilities that do not add up to 1."""

STRONG = 6.0
"""Log-odds that fill a bar."""

LEAST_LOST, LEAST_SHARE = 0.1, 0.25
"""Logits that a word takes with it at least where it is said to carry a label: 2.5 points of a probability of .5; and
of what the strongest word takes."""

MUCH_LOST = 0.5
"""Logits that fill a bar, where no word takes more: 12 points of a probability of .5."""

NO_WORD = "no word carries it alone"
"""What is said where all words together carry a label, or none does."""

NAMES = {
    "spans": "evidence",
    "emotions": "emotions",
    "words": "words that carry the label",
    "masks": "masks",
    "generation": "written",
}
"""How the parts are called; label sets have names of their own."""

USES = {
    "classes": "which feeling",
    "emotions": "which feeling",
    "spans": "where it shows",
    "words": "where it shows",
    "masks": "what fits the mask",
    "generation": "what it writes",
}
"""What the parts are looked at for, in the order in which they stand."""


@dataclass(frozen=True, slots=True)
class Block:
    """One thing that a model said. `top`: its answer in a word, by which two models are compared.

    `use`: one of `USES`. `wide`: it needs the whole width. `of`: the text that it is about; `stale`: another one stands
    there now; `slow`: nothing asks again but a key.
    """

    title: str
    top: str = ""
    note: str = ""
    seconds: float | None = None
    lines: Lines = ()
    wide: bool = True
    of: str = ""
    stale: bool = False
    slow: bool = False
    use: str = ""


def blocks(
    column: Column, text: str, cells: int, narrow: int, *, every: bool, beside: "Column | None" = None
) -> dict[str, Block]:
    """What there is of a model, by a name under which another model's stands beside it.

    Args:
        cells, narrow: what a block gets, and one that is not wide.
        every: all labels and words, and not only the first few.
        beside: the other model, for marks where both disagree.
    """
    found: dict[str, Block] = {}
    told: set[str] = set()

    def put(part: str, title: str, top: str, note: str, lines: Lines, key: str = "", wide: bool = False) -> None:
        answer = column.answers[part]
        stale = answer.text != text
        slow = stale and column.when(part, text) == "key"
        seconds = answer.seconds if part not in told else None
        told.add(part)
        use = USES.get(part, "")
        found[key or part] = Block(title, top, note, seconds, lines, wide, answer.text, stale, slow, use)

    for part, answer in column.answers.items():
        said = answer.probe
        if answer.note and not column.lacks(part) and part != "masks":
            put(part, NAMES.get(part, part), "", "", wrapped(answer.note, cells, "mark"), wide=True)
        if part == "spans" and said.spans is not None:
            top = " ".join(f"{span.start}-{span.end}" for span in said.spans) or "none"
            put(part, NAMES[part], top, "label and strength", _evidence(answer.text, said.spans, cells), wide=True)
        elif part == "classes":
            for name, one in (said.classes or {}).items():
                put(part, name, one.label, _about(one, every), _classes(one, narrow, every), f"classes {name}")
        elif part == "emotions" and said.emotions is not None:
            there = beside.answers.get(part) if beside is not None else None
            others = there.probe.emotions if there is not None and there.text == answer.text else None
            put(
                part,
                NAMES[part],
                likeliest(said.emotions),
                _mass(said.emotions),
                _emotions(said.emotions, others, narrow),
            )
        elif part == "words" and said.words is not None and has_words(text):
            title = f"words that carry {said.words.label}"
            put(part, title, said.words.label, "logit lost", _words(answer.text, said.words, narrow, every))
        elif part == "masks" and said.masks is not None and MASKED in text:
            top = " ".join(mask[0][0] for mask in said.masks.masks if mask)
            put(part, NAMES[part], top, "", _masks(said.masks, narrow, every))
        elif part == "generation" and said.generation is not None:
            put(part, NAMES[part], "", _how_long(said.generation), _written(said.generation, cells), wide=True)
    order = list(dict.fromkeys(USES.values()))
    return dict(sorted(found.items(), key=lambda item: order.index(item[1].use) if item[1].use else len(order)))


def has_words(text: str) -> bool:
    """Has a text words of which one could carry more than another?"""
    return len(text.split()) > 1


def carrying(words: "Attribution | None", most: int = FEW) -> list[tuple[int, int, float]]:
    """The words that carry the label, the strongest first: (start, end, what its logit loses without the word).

    A word without which less than `LEAST_LOST` is lost carries nothing, nor one that is little beside the strongest.
    """
    lost = [word[2] for word in words.words] if words is not None else []
    least = max(LEAST_LOST, LEAST_SHARE * max(lost, default=0.0))
    carried = [word for word in words.words if word[2] >= least] if words is not None else []
    return sorted(carried, key=lambda word: -word[2])[:most]


def _evidence(text: str, spans: "Sequence[Evidence]", cells: int) -> Lines:
    if not spans:
        return [[Part("  none", "dim")]]
    room = max(cells - 2 - _NAME - 5 - 2, 8)
    return [
        [
            Part("  "),
            Part(fit(span.label, _NAME)),
            Part(f"{share(span.strength)}  "),
            Part(_literal(text[span.start : span.end], room), "ground"),
        ]
        for span in spans
    ]


def _literal(text: str, cells: int) -> str:
    return fit(" ".join(text.split()), cells).rstrip()


def _about(one: "Classification", every: bool) -> str:
    some = f"{len(_seen(one, every))} of {len(one.probs)}" if len(one.probs) > FEW and not every else "probabilities"
    said = [some + EACH * one.multi_label]
    if one.truncated:
        said.append("the text was cut")
    return " · ".join(said)


def _seen(one: "Classification", every: bool) -> list[tuple[str, float]]:
    """The labels that have a row, the likeliest first; several whose figure would read .00 have none."""
    best = sorted(one.probs.items(), key=lambda pair: -pair[1])[: None if every else FEW]
    seen = [pair for at, pair in enumerate(best) if not at or pair[1] >= SEEN]
    return seen if len(best) - len(seen) > 1 else best


def _classes(one: "Classification", cells: int, every: bool) -> Lines:
    seen, size = _seen(one, every), bar_room(cells, 5)
    left = len(one.probs) - len(seen)
    folded = [[Part(f"  {left} more under .005", "dim")]] if left and (every or len(seen) < FEW) else []
    rows = [
        [
            Part(f"  {fit(label, _NAME)}", "strong" if label == one.label else "plain"),
            *bar(value, 1.0, size),
            Part(f" {share(value)}"),
        ]
        for label, value in seen
    ]
    return [*rows, *folded]


def bar_room(cells: int, figure: int) -> int:
    """The cells of a bar beside a name and a figure of so many cells."""
    return min(max(cells - 2 - _NAME - figure, _LEAST_BAR), _MOST_BAR)


def _mass(emotions: "Mapping[str, Odds]") -> str:
    least = min(odds.mass for odds in emotions.values())
    said = ODDS if least > 0.995 else f"{ODDS} · yes and no hold {share(least).strip()} or more"
    return said + (" · some were kept back" if any(odds.censored for odds in emotions.values()) else "")


def _emotions(emotions: "Mapping[str, Odds]", others: "Mapping[str, Odds] | None", cells: int) -> Lines:
    best = likeliest(emotions)
    return [
        _emotion(name, odds.log_odds, name == best, cells, _differs(odds, others.get(name) if others else None))
        for name, odds in emotions.items()
    ]


def likeliest(emotions: "Mapping[str, Odds]") -> str:
    return max(emotions, key=lambda name: emotions[name].log_odds)


def _differs(one: "Odds", other: "Odds | None") -> bool:
    return other is not None and (one.log_odds > 0) != (other.log_odds > 0)


def _emotion(name: str, odds: float, best: bool, cells: int, differs: bool) -> list[Part]:
    half = min(max((cells - 2 - _NAME - 7 - 4) // 2, 4), 10)
    less = _leftwards(-odds, half)
    drawn = [
        Part(f"  {fit(name, _NAME)}", "strong" if best else "plain"),
        Part(f"{odds:+6.2f} "),
        Part(" " * (half - len(less))),
        Part(less, "dim"),
        Part("│", "strong"),
        *bar(odds if odds >= SEEN else 0.0, STRONG, half),
        Part(" ≠ " if differs else "   ", "mark"),
    ]
    return [*drawn, Part(" " * max(cells - 2 - _NAME - 7 - 2 * half - 4, 0))]


_ENDS = ((0.75, "█"), (0.3, "▐"), (0.0, "▕"))
"""What the last cell of a bar to the left is drawn as from which part of it on: of such blocks there are no others."""


def _leftwards(value: float, cells: int) -> str:
    """A bar that ends where the axis is, as finely as blocks at the right of a cell allow; nothing from 0 down."""
    if value < SEEN:
        return ""
    whole, part = divmod(min(value / STRONG, 1.0) * cells, 1)
    end = next(sign for least, sign in _ENDS if part >= least) if part > 0 else ""
    return end + "█" * int(whole)


def _words(text: str, words: "Attribution", cells: int, every: bool) -> Lines:
    found = sorted(words.words, key=lambda word: -abs(word[2])) if every else carrying(words)
    if not found:
        return [[Part(f"  none takes {LEAST_LOST:.2f} or more with it", "dim")]]
    most = max(MUCH_LOST, *(abs(drop) for _, _, drop in found))
    size = bar_room(cells, 7)
    return [
        [
            Part("  "),
            Part(word := _literal(text[start:end], _NAME - 1), "new" if drop > 0 else "plain"),
            Part(" " * (_NAME - width(word))),
            *bar(0.0 if reads_zero(drop) else drop, most, size),
            Part(f" {drop:+6.2f}"),
        ]
        for start, end, drop in found
    ]


def _masks(filled: "Filled", cells: int, every: bool) -> Lines:
    lines: list[list[Part]] = []
    for number, mask in enumerate(filled.masks, 1):
        head = f"  mask {number}  " if len(filled.masks) > 1 else "  "
        said = [f"{word} {share(probability).strip()}" for word, probability in mask]
        kept, apart = said if every else said[:FEW], "   "
        while kept:
            fits = max(n for n in range(1, len(kept) + 1) if n == 1 or width(apart.join(kept[:n])) <= cells - len(head))
            lines.append([Part(head, "dim"), Part(apart.join(kept[:fits]))])
            kept, head = kept[fits:], " " * len(head)
    return lines


def _how_long(written: "Generation") -> str:
    cut = " · cut there" if written.finish == "length" else ""
    return f"{written.tokens} tokens{cut}"


def _written(written: "Generation", cells: int) -> Lines:
    return wrapped(written.text.strip() or "(nothing)", cells)


def wrapped(text: str, cells: int, kind: str = "plain") -> list[list[Part]]:
    """A text literally, indented, in lines of at most 90 columns."""
    room = max(min(cells - 2, 90), 8)
    return [[Part("  "), Part(shown(text, start, end), kind)] for start, end in wrap(text, room)]


# What a model reads and writes when it is asked by a task's own prompt, as blocks: letter for letter, and as read.

_NO_WORDS = "(this model is not asked in words)"


def task_blocks(column: Column, name: str, text: str, cells: int) -> dict[str, Block]:
    """The answer to one task, the output first and the prompt last; empty where there is none yet."""
    part = TASK + name
    kept = column.answers.get(part)
    if kept is None:
        return {}
    stale = kept.text != text
    slow = stale and column.when(part, text) == "key"
    answer = kept.probe.tasks.get(name)
    if answer is None:
        why = wrapped(kept.note or "there is no answer", cells, "dim")
        return {"output 1": Block(f"task {name}", lines=why, of=kept.text, stale=stale, slow=slow)}
    found: dict[str, Block] = {}

    def put(key: str, title: str, said: str, kind: str = "plain", *, top: str = "", note: str = "") -> None:
        first = not found
        lines = wrapped(said or "(nothing)", cells, kind)
        seconds = kept.seconds if first else None
        found[key] = Block(title, top, note, seconds, lines, True, kept.text, stale, slow and first)

    for place, written in enumerate(answer.written, 1):
        nth = f" ({place} of {len(answer.written)})" if len(answer.written) > 1 else ""
        put(f"output {place}", f"what it wrote{nth}", written, top=written)
    if answer.raw is not None and answer.raw not in answer.written:
        put("kept" if found else "output 1", "raw output, as it is kept", answer.raw)
    if answer.why is not None:
        put("trouble" if found else "output 1", "trouble", answer.why, "mark")
    if answer.parsed is not None:
        said = read_from(answer)
        put("read", "what is read from it", said, top=said or "nothing")
    prompt = answer.rendered or answer.prompt
    way = f"asked by {answer.way}" if answer.way else ""
    title = "what the model read" if answer.rendered else "what it was sent"
    put("asked", title, _NO_WORDS if prompt is None else prompt, "dim" if prompt is None else "plain", note=way)
    return found


def read_from(answer: "TaskAnswer") -> str:
    """The fields that say something, as one line of JSON."""
    fields = {name: value for name, value in (answer.parsed or {}).items() if value not in (None, [], {}, "")}
    return msgspec.json.encode(fields).decode() if fields else ""


# Which stretches of the text a model marked, also while it is being edited.


def moved(spans: Sequence[Span], before: str, after: str) -> list[Span]:
    """Where spans of a text stand once it was edited in one stretch; those that the edit touches are left out."""
    if before == after:
        return list(spans)
    most = min(len(before), len(after))
    same = _most(most, lambda size: before[:size] == after[:size])
    tail = _most(most - same, lambda size: not size or before[-size:] == after[-size:])
    shift, behind = len(after) - len(before), len(before) - tail
    kept = [(start, end) for start, end in spans if end <= same]
    return kept + [(start + shift, end + shift) for start, end in spans if start >= behind and end > same]


def _most(size: int, holds: Callable[[int], bool]) -> int:
    """The largest size up to this one that holds, where all smaller ones do. By halves: slices compare fast."""
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def evidence(column: Column | None, text: str) -> list[Span]:
    """What the model marked, in the text as it is now."""
    answer = column.answers.get("spans") if column is not None else None
    if answer is None or answer.probe.spans is None:
        return []
    return moved([(span.start, span.end) for span in answer.probe.spans], answer.text, text)


def carried(column: Column | None, text: str) -> list[Span]:
    """The words that carry the model's label, in the text as it is now."""
    answer = column.answers.get("words") if column is not None else None
    if answer is None or not has_words(text):
        return []
    return moved([(start, end) for start, end, _ in carrying(answer.probe.words)], answer.text, text)
