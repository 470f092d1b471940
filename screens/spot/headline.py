"""The one answer that stands over all blocks: what a model takes a text for, how surely, and by which words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.spot.blocks import STRONG, bar, carrying, likeliest
from emotui.screens.spot.compare import LETTERS
from emotui.screens.widgets.cell_width import shown, width, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count, share

if TYPE_CHECKING:
    from emotui.screens.spot.answers import Answered, Column

_MOST_BAR = 40
_LEAST_BAR = 8


def headlines(columns: "Sequence[Column]", text: str, spared: str | None, cells: int) -> list[list[Part]]:
    """A line a model with its answer; of one model, a second line with what it rests on. None where nothing is said.

    Args:
        spared: an answer about this text is not greyed yet.
    """
    found = [_answer(column) for column in columns]
    known = [one for one in found if one is not None]
    if not known:
        return []
    names = max(width(one[0]) for one in known)
    differ = len({one[0] for one in known}) > 1
    lines = []
    for at, one in enumerate(found):
        letter = f"{LETTERS[at]} " if len(columns) > 1 else ""
        if one is None:
            lines.append([Part(letter, "key"), Part("no answer", "dim")])
            continue
        name, filled, figure, about, answer = one
        stale = answer.text not in (text, spared)
        room = min(max(cells - names - width(figure) - width(about) - 10, _LEAST_BAR), _MOST_BAR)
        line = [
            Part(letter or "▸ ", "key"),
            Part(name + " " * (names - width(name)), "strong"),
            Part("  "),
            *bar(filled, 1.0, room),
            Part(f" {figure}", "strong"),
            Part("  ≠" if differ else "", "mark"),
            Part(f"   {about}", "dim"),
        ]
        lines.append([Part(part.text, "stale") for part in line] if stale else line)
    if len(columns) == 1 and (rests := _rests_on(columns[0], text)):
        lines += [[Part(f"  {rests[a:b]}", "dim")] for a, b in wrap(rests, max(cells - 2, 20))]
    return lines


def _answer(column: "Column") -> "tuple[str, float, str, str, Answered] | None":
    """Its name, how far its bar is filled, its figure, what that is of, and where it stands."""
    answer = column.answers.get("classes")
    if answer is not None and answer.probe.classes:
        name, one = next(iter(answer.probe.classes.items()))
        others = sorted((value, label) for label, value in one.probs.items() if label != one.label)
        after = f", then {shown(others[-1][1])} {share(others[-1][0]).strip()}" if others else ""
        value = one.probs.get(one.label, 0.0)
        return shown(one.label), value, share(value).strip(), f"of {shown(name)}{after}", answer
    answer = column.answers.get("emotions")
    if answer is not None and answer.probe.emotions:
        name = likeliest(answer.probe.emotions)
        odds = answer.probe.emotions[name].log_odds
        return name, max(odds, 0.0) / STRONG, f"{odds:+.2f}", "log-odds, the likeliest emotion", answer
    return None


def _rests_on(column: "Column", text: str) -> str:
    """What else is said of this text, in words."""
    said = []
    emotions, spans, words = (column.answers.get(part) for part in ("emotions", "spans", "words"))
    classes = column.answers.get("classes")
    if classes is not None and emotions is not None and emotions.text == text and emotions.probe.emotions:
        name = likeliest(emotions.probe.emotions)
        said.append(f"emotion {name} {emotions.probe.emotions[name].log_odds:+.2f} log-odds")
    if spans is not None and spans.text == text and spans.probe.spans is not None:
        n = len(spans.probe.spans)
        said.append(f"{count(n)} stretch{'es' * (n != 1)} of evidence" if n else "no evidence marked")
    if words is not None and words.text == text and (strongest := carrying(words.probe.words, 1)):
        start, end, _ = strongest[0]
        said.append(f"carried most by “{shown(' '.join(text[start:end].split()))}”")
    return " · ".join(said)
