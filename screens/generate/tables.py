"""Writers by metrics, how far to trust each metric, and writers by emotion: from figures to lines."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import UNDEFINED, so_many, value_of
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.workbench.generation.figures import Estimate, Figures
    from emotui.workbench.generation.versions import Version, Versions

# Raters' labels in words, and the rows of a text's versions and metrics.

NEUTRAL = "neutral"
_SUFFIX = " (illustration)"
_VALUE = 9
"""Cells of a column of a text's values, at most, and those that one has at least."""
_NARROW = 6


def briefly(name: str) -> str:
    """A writer's name for a narrow column, over which it is said otherwise that the writers are invented."""
    return shown(name.removesuffix(_SUFFIX))


def labels_in_words(labels: Sequence[str]) -> str:
    """`joy 4, contentment 1`, the most frequent first; a dash without any."""
    counts = sorted(Counter(labels).items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{shown(label)} {n}" for label, n in counts) or UNDEFINED


def seen(labels: Sequence[str], target: str) -> str:
    """`4/5`: how many raters see the target; a dash without any."""
    return f"{sum(label == target for label in labels)}/{len(labels)}" if labels else UNDEFINED


_BRIEF = {
    "human_f1": ("", "raters see target"),
    "agreement": ("", "raters agree"),
    "human_alpha": ("emotional", "agree (Krippendorff)"),
    "human_kappa": ("emotional", "agree (Fleiss)"),
    "human_neutral": ("", "neutral seen neutral"),
    "human_neutral_f1": ("neutral", "class F1 of neutral"),
    "human_neutral_alpha": ("neutral", "agree on neutral"),
    "human_neutral_kappa": ("neutral", "agree on neutral"),
    "r3_c": ("orig~emot", "cosine of the two"),
    "r3_m": ("orig-emot", "Manhattan distance"),
    "r1_c": ("neut~emot", "cosine of the two"),
    "r1_m": ("neut-emot", "Manhattan distance"),
    "r2_c": ("analogy", "cosine with neutral"),
    "r2_m": ("analogy", "distance to neutral"),
    "eps_emotionless": ("EPS", "called emotionless"),
    "eps_neutral": ("EPS", "called neutral"),
    "eps_emotional": ("EPS", "called emotional"),
    "eas": ("strength", "strength, by a model"),
    "ers": ("target hit", "target emotion found"),
    "ppl": ("perplexity", "perplexity of text"),
    "words": ("", "length of the text"),
    "leak": ("of label", "has the label's word"),
}
"""What a metric is in a few words: behind a name that is none, and in a column of its own."""


def called(metric: "Metric") -> str:
    """A metric's name as Results has it, with a word behind it where the name alone says little."""
    return f"{metric.title} {_BRIEF.get(metric.name, ('', ''))[0]}".rstrip()


def told_of(metric: "Metric") -> str:
    """The sentence that says what a metric is, with where the paper has it."""
    return f"{called(metric)}: {_SHORT_FOR.sub('', metric.help)}."


def _name_cells(metric: "Metric", cells: int, kind: str = "plain") -> list[Part]:
    """The name in so many cells, the word behind it grey: it is no part of the name."""
    whole, size = fit(called(metric), cells), min(width(metric.title), cells)
    return [Part(whole[:size], kind), Part(whole[size:], "picked" if kind == "picked" else "dim")]


def in_brief(metric: "Metric", cells: int) -> str:
    """What a metric is: what its own help says where that fits or there are no fewer words."""
    whole = _plainly(metric.help)
    if width(whole) <= cells:
        return whole
    return _BRIEF[metric.name][1] if metric.name in _BRIEF else whole


def version_lines(rows: "Sequence[Version]", cursor: int, cells: int, target: str) -> list[list[Part]]:
    """A heading, and a line a writer: what raters see in the emotional and in the neutral version."""
    name = min(max((8, *(width(briefly(row.writer.name)) for row in rows))), max(cells // 4, 12))
    both = [[_seen_as(labels) for labels in (row.human, row.human_neutral)] for row in rows]
    room = max(cells - name - 6, 2 * _LEAST_SEEN)
    needed = [_SEEN + max((width(words[side]) for words in both), default=0) for side in (0, 1)]
    free = max(room - needed[1], room // 2)
    ways = [[way.format(target=target) for way in each] for each in _SEEN_IN]
    first = min(max(needed[0], next((width(way) for way in ways[0] if width(way) <= free), 0)), free)
    sizes = first, room - first
    heads = [
        fit(next((way for way in each if width(way) <= size), each[-1]), size)
        for size, each in zip(sizes, ways, strict=True)
    ]
    lines = [[Part(f"  {fit('writer', name)}  {'  '.join(heads)}".rstrip(), "dim")]]
    for at, row in enumerate(rows):
        kind = "picked" if at == cursor else "plain"
        line = [Part(f"{'▸' if at == cursor else ' '} {fit(briefly(row.writer.name), name)}", kind)]
        for labels, wanted, size in zip((row.human, row.human_neutral), (target, NEUTRAL), sizes, strict=True):
            hit = bool(labels) and 2 * sum(label == wanted for label in labels) > len(labels)
            line += [
                Part(f"  {seen(labels, wanted):<4} ", "gold" if hit else "plain"),
                Part(fit(_seen_as(labels, size - _SEEN), size - _SEEN), "dim"),
            ]
        lines.append(line)
    return lines


_SEEN, _LEAST_SEEN = 5, 14
"""Cells of how many raters see what is wanted; and of this with their labels, at least."""

_SEEN_IN = (
    (
        "seen in the emotional version ({target})",
        "seen in the emotional ({target})",
        "emotional ({target})",
        "{target}",
    ),
    ("seen in the neutral version", "seen in the neutral", "neutral"),
)
"""What stands over raters' labels, in fewer and fewer cells."""


def _seen_as(labels: Sequence[str], cells: int | None = None) -> str:
    """Raters' labels in words; where so many cells have no room for all, the most frequent and how many others."""
    if not labels:
        return "not rated"
    each = labels_in_words(labels).split(", ")
    for most in range(len(each), 0, -1):
        said = ", ".join(each[:most]) + (f" +{len(each) - most}" if most < len(each) else "")
        if cells is None or width(said) <= cells:
            return said
    return each[0]


def value_lines(found: "Versions", cursor: int, cells: int, height: int = 0) -> Lines:
    """A metric a line: the value of each version, the one under the cursor marked, and what the metric is.

    Args:
        height: lines that there are; what a metric is goes on under it where all of that fits into them.
    """
    metrics = [one for one in found.metrics if any(one.name in version.values for version in found.versions)]
    if not metrics:
        return [[Part("No metric has a value for this text yet.", "dim")]]
    widest = min(max(len(called(metric)) for metric in metrics), 16)
    head = [Part(f"{'metric':{widest}} better", "dim")]
    names = [fit(briefly(version.writer.name), _VALUE - 2).rstrip() for version in found.versions]
    size = min(max(_NARROW, *(width(name) + 2 for name in names)), _VALUE)
    for at, name in enumerate(names):
        head += [
            Part("  "),
            Part(
                f"{'▸' * (at == cursor) + name:>{size - 1}} ",
                "picked" if at == cursor else "dim",
            ),
        ]
    lines = [head]
    room = cells - widest - 7 - (size + 2) * len(found.versions) - 4
    words = [_plainly(metric.help) for metric in metrics]
    folded = [[said[start:end].rstrip() for start, end in wrap(said, max(room, 20))] for said in words]
    whole = 1 + sum(map(len, folded)) <= height
    about = whole and room >= 20
    if not about and room >= _ABOUT and all(metric.name in _BRIEF for metric in metrics):
        about, folded = True, [[fit(in_brief(metric, room), room).rstrip()] for metric in metrics]
    head += [Part("  what it is", "dim")] if about else []
    for metric, said in zip(metrics, folded, strict=True):
        end = better(metric)
        line = [*_name_cells(metric, widest), Part(f" {end:^6}")]
        for at, version in enumerate(found.versions):
            value = figure(metric, version.values.get(metric.name))
            line += [Part("  "), Part(f"{value:>{size - 1}} ", "picked" if at == cursor else "plain")]
        indent = " " * taken(line)
        lines.append([*line, Part(f"  {said[0]}", "dim")] if about else line)
        lines += [[Part(f"{indent}  {more}", "dim")] for more in said[1:] if about]
    return lines if about else [*lines, [], *_told_under(metrics, words, widest, cells)]


def _told_under(metrics: "Sequence[Metric]", words: Sequence[str], widest: int, cells: int) -> Lines:
    """What each metric is, in lines of their own where they have no room beside the values."""
    lines: list[list[Part]] = [[Part("what they are", "strong")]]
    for metric, said in zip(metrics, words, strict=True):
        for start, end in wrap(said, max(cells - widest - 2, 20)):
            name = [Part(" " * widest)] if start else _name_cells(metric, widest)
            lines.append([*name, Part(" "), Part(said[start:end].rstrip(), "dim")])
    return lines


def _plainly(words: str) -> str:
    """What a metric is, without where a paper has it: that stands under the figures of all models."""
    return re.sub(r" \((?:section|Table)[^)]*\)$", "", _SHORT_FOR.sub("", words))


_SHORT_FOR = re.compile(r"^EAnS R\d, |^E[AEPR]S: ")
"""What a metric's help begins with and its name says already."""


def better(metric: "Metric") -> str:
    """Which end of a metric is better; blank: neither is."""
    if not metric.directed:
        return " "
    return "↑" if metric.higher_is_better else "↓"


def figure(metric: "Metric", value: float | None) -> str:
    """A text's value: three figures, a count as it is, a dash where it is undefined."""
    if value is None or value != value:
        return UNDEFINED
    if metric.name == "words":
        return f"{value:g}"
    return value_of(metric, value).strip() if metric.yes_or_no and value in (0, 1) else number(value)


def number(value: float | None) -> str:
    """`.812`, `-.05`, `13.4`; a dash where it is undefined."""
    if value is None or value != value:
        return UNDEFINED
    if round(abs(value), 3) < 1:
        written = f"{value:.3f}"
        return written.replace("0.", ".", 1)
    return f"{value:.2f}" if round(abs(value), 2) < 10 else f"{value:.1f}"


COUNTING = "Every metric is counted over every text: the figures stand here once that is done."

_METRIC = 15
_PLAIN, _SURE = 11, 19
"""Cells of a figure alone, and of one with its interval."""

_FIGURE = 6
"""Cells of a figure, over which a writer's name ends where the figure does."""

_ABOUT = 14
"""Cells from which on it is said beside figures what they are."""

TESTABLE = 4
"""Writers from which on a correlation over them can be tested and has an interval."""

_GRADES = " ░▒▓█"
_HEAT = ("plain", "heat-1", "heat-2", "heat-3", "heat-4")


def between(low: float | None, high: float | None) -> str:
    """`[.61, .77]`; nothing where there is no interval."""
    return "" if low is None or high is None else f"[{_short(low)}, {_short(high)}]"


def _short(value: float) -> str:
    if abs(value) >= 10:
        return f"{value:.1f}"
    written = f"{value:.2f}"
    return written.replace("0.", ".", 1) if abs(value) < 1 else written


def model_lines(figures: "Figures | None", rows: "Sequence[Metric]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading, and a line a metric with a figure a model, the best of them bold where either end is better."""
    if figures is None:
        return [list(line) for line in folded((COUNTING,), cells)]
    models = figures.models
    size = _SURE if has_intervals(figures, cells) else _PLAIN
    there = models[: max((cells - _METRIC - 4 + 1) // size, 1)]
    room = cells - _METRIC - 4 - size * len(there)
    head = [Part(f"  {'figure':{_METRIC - 6}} better ", "dim")]
    head += [Part(fit(f"{briefly(one.writer.name):>{_FIGURE}}", size - 1) + " ", "strong") for one in there]
    if len(there) < len(models):
        last = fit(f"{briefly(there[-1].writer.name):>{_FIGURE}}", size - 4)
        head[-1] = Part(f"{last} +{len(models) - len(there)} ", "strong")
    lines = [[*head, Part(" what it is", "dim")] if room >= _ABOUT else head]
    for at, metric in enumerate(rows):
        line = [*_metric_cells(metric, here=at == cursor), Part(f" {better(metric)}", "dim")]
        values = [one.values.get(metric.name) for one in models]
        best = _best(metric, values)
        for estimate in values[: len(there)]:
            value = None if estimate is None else estimate.value
            sure = between(estimate.low, estimate.high) if estimate is not None and size == _SURE else ""
            line += [
                Part(f"{number(value):>{_FIGURE}} ", "strong" if value is not None and value == best else "plain"),
                Part(fit(sure, size - _FIGURE - 1), "dim"),
            ]
        if room >= _ABOUT:
            line.append(Part(fit(f" {in_brief(metric, room - 1)}", room).rstrip(), "dim"))
        lines.append(line)
    return lines


def has_intervals(figures: "Figures", cells: int) -> bool:
    """Has every figure room for its interval?"""
    return cells - _METRIC - 4 >= _SURE * len(figures.models) - 1


def _best(metric: "Metric", values: "Sequence[Estimate | None]") -> float | None:
    """The best of a metric's values; None where there are no two, or neither end is better."""
    known = [one.value for one in values if one is not None and one.value is not None] if metric.directed else []
    return (max(known) if metric.higher_is_better else min(known)) if len(known) > 1 else None


_TRUST = 76
"""Cells from which on the columns of correlations stand two cells apart."""


def trust_lines(figures: "Figures | None", rows: "Sequence[Metric]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading, and a line a metric: its correlation with human F1 over models, raw and turned, and how sure."""
    if figures is None:
        return [list(line) for line in folded((COUNTING,), cells)]
    if not is_testable(figures):
        return _pair_lines(figures, rows, cursor, cells)
    gap = "  " if cells >= _TRUST else " "
    heads = ("r".rjust(6), "oriented", f"{'95%':13}", "  rho", "    p", "p Holm", " n")
    lines = [[Part(f"  {'metric':{_METRIC}}{gap}{gap.join(heads)}", "dim")]]
    for at, metric in enumerate(rows):
        one = figures.trust.get(metric.name, {})
        interval = one.get("ci") or (None, None)
        oriented = one.get("oriented_pearson")
        rho, p = (f"{number(one.get(key)):>5}" for key in ("spearman", "p"))
        holm = f"{number(one.get('p_holm')):>6}"
        lines.append(
            [
                *_metric_cells(metric, here=at == cursor),
                Part(f"{gap}{number(one.get('pearson')):>6}"),
                Part(f"{gap}{number(oriented):>8}", "strong"),
                Part(f"{gap}{between(*interval) or UNDEFINED:13}", "dim"),
                Part(gap + gap.join((rho, p, holm))),
                Part(f"{gap}{one.get('n', 0):>2}", "dim"),
            ]
        )
    each = [figures.trust.get(metric.name, {}) for metric in rows]
    reasons = dict.fromkeys(one["why"] for one in each if one.get("why")) if not any(map(_known, each)) else {}
    lines += [list(line) for line in folded(tuple(reasons), cells)]
    return lines


def _metric_cells(metric: "Metric", *, here: bool) -> list[Part]:
    kind = "picked" if here else "plain"
    return [Part("▸ " if here else "  ", kind), *_name_cells(metric, _METRIC, kind)]


def _pair_lines(figures: "Figures", rows: "Sequence[Metric]", cursor: int, cells: int) -> list[list[Part]]:
    """Of few writers: how many pairs of them a metric orders as people do, since no correlation of them says more."""
    head = f"  {'metric':{_METRIC}}  {'pairs as people':15}  "
    room = cells - width(head)
    lines = [[Part(head + ("what it is" if room >= _ABOUT else ""), "dim")]]
    for at, metric in enumerate(rows):
        same, pairs, tied = agreeing_pairs(figures, metric)
        lines.append(
            [
                *_metric_cells(metric, here=at == cursor),
                Part(f"  {same} of {pairs}  " if pairs else f"  {UNDEFINED:6}  "),
                Part("■" * same + "·" * (pairs - same), "said"),
                Part("=" * tied + " " * max(7 - pairs - tied, 0), "dim"),
                Part(f"  {fit(in_brief(metric, room), room).rstrip()}" if room >= _ABOUT else "", "dim"),
            ]
        )
    return lines


def is_testable(figures: "Figures") -> bool:
    """Are there writers enough for a test of any metric, or none at all?"""
    points = max((one.get("n", 0) for one in figures.trust.values()), default=0)
    return not 0 < points < TESTABLE


def pair_share(figures: "Figures", metric: "Metric") -> float:
    """The share of pairs that `agreeing_pairs` counts; 0 without any."""
    same, pairs, _ = agreeing_pairs(figures, metric)
    return same / pairs if pairs else 0.0


def agreeing_pairs(figures: "Figures", metric: "Metric") -> tuple[int, int, int]:
    """How many pairs of writers a metric orders as human F1 does, of those that both order; and how many others."""
    from emotui.workbench.generation.figures import HUMAN_F1

    both = [
        (x.value, y.value)
        for model in figures.models
        if (x := model.values.get(metric.name)) is not None and (y := model.values.get(HUMAN_F1)) is not None
        if x.value is not None and y.value is not None
    ]
    turned = 1 if metric.higher_is_better else -1
    ordered = [
        turned * (x - other_x) * (y - other_y)
        for at, (x, y) in enumerate(both)
        for other_x, other_y in both[at + 1 :]
        if x != other_x and y != other_y
    ]
    return sum(product > 0 for product in ordered), len(ordered), len(both) * (len(both) - 1) // 2 - len(ordered)


def families(figures: "Figures") -> list[list[str]]:
    """Over which metrics' p each correction goes: the paper's by their number, those besides by their names."""
    from emotui.workbench.generation.figures import of_the_paper

    there = [one for one in figures.metrics if figures.trust.get(one.name, {}).get("p") is not None]
    parted = [[one.title for one in there if of_the_paper(one.name) is whose] for whose in (True, False)]
    return [family for family in parted if family]


def _known(trust: Mapping[str, Any]) -> bool:
    return trust.get("pearson") is not None


def on_texts_in_words(metric: "Metric", found: Mapping[str, Any] | None) -> str:
    """How a metric goes with people text by text, in a sentence."""
    if found is None:
        return "Text by text: being counted…"
    if found["spearman"] is None:
        return f"Text by text: {UNDEFINED} {found['why']}."
    sure = between(*(found["ci"] or (None, None)))
    within = "" if found["within"] is None else f", within a writer {number(found['within'])}"
    said = f"Text by text: rho {number(found['spearman'])} {sure}{within}, {so_many(found['n'], 'text')}"
    if few := _OVER_GROUPS.fullmatch(found["why"] or ""):
        n, least = few.groups()
        return f"{said}. The interval is Student's t: {n} writers are fewer than {least}."
    return f"{said} ({found['why']})." if found["why"] else f"{said}."


_OVER_GROUPS = re.compile(r"Student's t over (\d+) groups: fewer than (\d+)")
"""What is told of an interval over few groups, which are the writers here."""


BEYOND_CHANCE = ("human_neutral_alpha", "human_neutral_kappa")
_ONE_LABEL = 0.95
"""The share of neutral labels from which on, or below 1 less it, agreement beyond chance says little."""


def of_one_label(figures: "Figures", metric: "Metric") -> str:
    """That agreement beyond chance says little where nearly all labels are one; empty: it says something.

    With one label left there is nothing that raters could disagree on but by accident, so that as much is expected by
    chance: the paradox of Feinstein and Cicchetti (1990).
    """
    if metric.name not in BEYOND_CHANCE:
        return ""
    shares = {
        briefly(one.writer.name): neutral.value
        for one in figures.models
        if (neutral := one.values.get("human_neutral")) is not None and neutral.value is not None
    }
    named = [name for name, there in shares.items() if not 1 - _ONE_LABEL < there < _ONE_LABEL]
    if not named:
        return ""
    return f"Near 0 says little of {', '.join(named)}: nearly all texts have one answer, so chance agrees too."


def by_emotion(figures: "Figures") -> "list[Metric]":
    """The figures that there are by target emotion."""
    return [one for one in figures.metrics if any(one.name in model.by_emotion for model in figures.models)]


def heat_lines(figures: "Figures", metric: "Metric", cells: int, *, signs: bool = False) -> Lines:
    """A line an emotion and a column a model: the figure on a ground that is the stronger the better it is.

    Args:
        signs: shades stand behind the figures, where there is no colour.
    """
    models = figures.models
    name = max((len(shown(emotion)) for emotion in figures.emotions), default=8) + 2
    size = max(min((cells - name) // max(len(models), 1), 22), 9)
    there = models[: max((cells - name) // size, 1)]
    values = [
        value for model in models for value in model.by_emotion.get(metric.name, {}).values() if value is not None
    ]
    low, high = scale(metric, values)
    lines = [[Part(" " * name), *(Part(" " + fit(briefly(model.writer.name), size - 1), "strong") for model in there)]]
    for emotion in figures.emotions:
        line = [Part(fit(emotion, name))]
        for model in there:
            value = model.by_emotion.get(metric.name, {}).get(emotion)
            line += [graded(metric, value, low, high, size - 1, signs=signs), Part(" ")]
        lines.append(line)
    whole = [Part(fit("all texts", name), "strong")]
    for model in there:
        estimate = model.values.get(metric.name)
        whole.append(Part(f" {number(None if estimate is None else estimate.value):>6}".ljust(size), "strong"))
    return [*lines, [], whole]


def scale(metric: "Metric", values: Sequence[float]) -> tuple[float, float]:
    """From the weakest to the strongest ground: the metric's own range where it has one, else that of the values."""
    low, high = metric.range
    if (low, high) == (0, 1):
        return 0.0, 1.0
    if not values:
        return 0.0, 1.0
    return min(values), max(values)


def grade(metric: "Metric", value: float, low: float, high: float) -> int:
    """0 to 4: how near a value is to the better end."""
    part = (value - low) / (high - low) if high > low else 1.0
    part = part if metric.higher_is_better else 1 - part
    return min(max(round(part * (len(_HEAT) - 1)), 0), len(_HEAT) - 1)


def graded(metric: "Metric", value: float | None, low: float, high: float, cells: int, *, signs: bool) -> Part:
    """A figure on its ground; with `signs` a shade behind it says the same."""
    if value is None:
        return Part(f" {UNDEFINED:>6}".ljust(cells), "dim")
    step = grade(metric, value, low, high)
    shade = _GRADES[step] * 2 if signs else ""
    return Part(fit(f" {number(value):>6} {shade}", cells), _HEAT[step])


def folded(remarks: Sequence[str], cells: int) -> Lines:
    """Remarks under figures, each on as many lines as it takes."""
    return [
        [Part(said[start:end].rstrip(), "dim")]
        for remark in remarks
        for said in (shown(remark),)
        for start, end in wrap(said, max(cells - 1, 20))
    ]
