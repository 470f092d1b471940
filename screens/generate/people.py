"""Raters' labels in words, and the rows of a text's versions and metrics."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, value_of
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.workbench.generation.versions import Version, Versions

NEUTRAL = "neutral"
_SUFFIX = " (illustration)"
_VALUE = 9


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


def version_lines(rows: "Sequence[Version]", cursor: int, cells: int, target: str) -> list[list[Part]]:
    """A heading, and a line a writer: what raters see in the emotional and in the neutral version."""
    name = min(max((10, *(len(shown(row.writer.name)) for row in rows))), max(cells // 4, 12))
    room = max((cells - name - 16) // 2, 12)
    head = f"  {fit('written by', name)}  {fit(f'seen in the emotional ({target})', room + 5)} "
    lines = [[Part(head + fit("seen in the neutral", room + 6), "dim")]]
    for at, row in enumerate(rows):
        kind = "picked" if at == cursor else "plain"
        line = [Part(f"{'▸' if at == cursor else ' '} {fit(row.writer.name, name)}", kind), Part("  ")]
        for labels, wanted in ((row.human, target), (row.human_neutral, NEUTRAL)):
            hit = bool(labels) and 2 * sum(label == wanted for label in labels) > len(labels)
            line += [
                Part(f"{seen(labels, wanted):>4}  ", "gold" if hit else "plain"),
                Part(fit(labels_in_words(labels) if labels else "nobody has rated it", room), "dim"),
            ]
        lines.append(line)
    return lines


def value_lines(found: "Versions", cursor: int, cells: int) -> Lines:
    """A line a metric: the value of each version, the one under the cursor marked, and what the metric is."""
    metrics = [one for one in found.metrics if any(one.name in version.values for version in found.versions)]
    if not metrics:
        return [[Part("No metric has a value for this text yet.", "dim")]]
    widest = min(max(len(metric.title) for metric in metrics), 16)
    head = [Part(f"{'metric':{widest}} better", "dim")]
    for at, version in enumerate(found.versions):
        head += [
            Part("  "),
            Part(
                f"{'▸' * (at == cursor) + fit(briefly(version.writer.name), _VALUE - 2).rstrip():>{_VALUE - 1}} ",
                "picked" if at == cursor else "dim",
            ),
        ]
    lines = [head]
    room = cells - widest - 7 - (_VALUE + 2) * len(found.versions) - 4
    for metric in metrics:
        end = better(metric)
        line = [Part(f"{fit(metric.title, widest)} {end:^6}")]
        for at, version in enumerate(found.versions):
            value = figure(metric, version.values.get(metric.name))
            line += [Part("  "), Part(f"{value:>{_VALUE - 1}} ", "picked" if at == cursor else "plain")]
        if room >= 20:
            line.append(Part("  " + fit(metric.help, room), "dim"))
        lines.append(line)
    return lines


def better(metric: "Metric") -> str:
    """Which end of a metric is better."""
    return "↑" if metric.higher_is_better else "↓"


def figure(metric: "Metric", value: float | None) -> str:
    """A value or a mean of values: three figures, a dash where it is undefined."""
    if value is None or value != value:
        return UNDEFINED
    return value_of(metric, value).strip() if metric.yes_or_no and value in (0, 1) else number(value)


def number(value: float | None) -> str:
    """`.812`, `-.05`, `13.4`; a dash where it is undefined."""
    if value is None or value != value:
        return UNDEFINED
    if round(abs(value), 3) < 1:
        written = f"{value:.3f}"
        return written.replace("0.", ".", 1)
    return f"{value:.2f}" if round(abs(value), 2) < 10 else f"{value:.1f}"
