"""How figures are written: two decimals aligned on the point, undefined as a dash."""

from collections.abc import Sequence

from emotui.metrics.metric import Metric

UNDEFINED = "–"
RIGHT, WRONG = "✓", "✗"
"""The signs of what is right, or done, and of what is not, wherever no sentence says it; never colour alone."""
_BARS = "▁▂▃▄▅▆▇█"
_SHADES = " ·░▒▓█"


def share(value: float | None) -> str:
    """A figure in [-1, 1] in four cells: ` .42`, `1.00`, `-.10`, `   –` where it is undefined."""
    if value is None or value != value:
        return f"{UNDEFINED:>4}"
    written = f"{value:.2f}"
    if written.startswith("0"):
        written = written[1:]
    elif written.startswith("-0"):
        written = "-" + written[2:]
    return "  .00"[-4:] if written == "-.00" else f"{written:>4}"


def value_of(metric: Metric, value: float | None) -> str:
    """A sample's value in four cells, or more where it is not between -1 and 1: as `share`, a sign of right or
    wrong, or yes and no of what is no merit.
    """
    if metric.yes_or_no and value is not None:
        yes, no = (RIGHT, WRONG) if metric.higher_is_better else ("yes", "no")
        return f"{yes if value == 1 else no:>4}"
    return share(value) if value is None or abs(value) <= 1 else f"{value:.3g}"


def shade(value: float, most: float) -> str:
    """A glyph for a size, from nothing to a full block."""
    if value != value or not most:
        return " "
    return _SHADES[min(round(abs(value) / most * (len(_SHADES) - 1)), len(_SHADES) - 1)]


def bars(counts: Sequence[int]) -> str:
    """One bar a count, the tallest full; a space where there is nothing."""
    most = max(counts, default=0)
    if not most:
        return " " * len(counts)
    return "".join(_BARS[-(-count * len(_BARS) // most) - 1] if count else " " for count in counts)


def tenths(values: Sequence[float], least: float = 0, most: float = 1) -> list[int]:
    """How many values fall into each tenth of the range; the greatest value counts into the last."""
    counts = [0] * 10
    width = (most - least) or 1
    for value in values:
        counts[min(max(int((value - least) / width * 10), 0), 9)] += 1
    return counts


def count(number: int) -> str:
    """A count in groups, as it is written everywhere: `1,000,000`."""
    return f"{number:,}"


def so_many(number: int, thing: str) -> str:
    """A count with what is counted, whose plural ends in s: `1 text`, `2 000 texts`."""
    return f"{count(number)} {thing}{'s' * (number != 1)}"


def seconds(value: float) -> str:
    """A time in words that fit a top line: `9 s`, `4 min`, `2 h 10 min`."""
    whole = round(value)
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{round(whole / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
