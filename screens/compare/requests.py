"""What Compare asks for: two sources, many on one axis, or what two mark in a text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.workbench.compare.pairs import Axis, Comparing, Marks, Pair
    from emotui.workbench.compare.sources import Compared

PAIR, AXIS = "two", "all"
VIEWS = (PAIR, AXIS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be shown of a dataset. `first`, `second`: keys of sources, empty for the usual ones.

    `shown`: the run over the list, and `beside` those ticked, which are compared where nothing was chosen.
    """

    dataset: int
    view: str
    first: str = ""
    second: str = ""
    metric: str = ""
    papers: bool = False
    shown: str = ""
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What came back: `why` says why there is nothing to compare."""

    sources: "tuple[Compared, ...]"
    metrics: "tuple[Metric, ...]"
    pair: "Pair | None" = None
    axis: "Axis | None" = None
    why: str = ""


def ask(comparing: "Comparing", wanted: Wanted) -> Found:
    """Compare.

    Raises:
        EmotuiError: it cannot be compared.
    """
    sources, metrics = tuple(comparing.sources(wanted.dataset)), comparing.metrics(wanted.dataset)
    keys = [one.key for one in sources]
    order = [*(key for key in (wanted.first, wanted.shown, *wanted.beside) if key in keys), *keys]
    metric = wanted.metric or None
    if wanted.view == AXIS:
        first = order[0] if order else None
        axis = comparing.axis(wanted.dataset, metric, first, papers=wanted.papers)
        return Found(sources, metrics, axis=axis, why="" if axis.rows else "no source has a score yet")
    if len(keys) < 2:
        return Found(sources, metrics, why=f"there {'is one source' if keys else 'are no sources'} with scores")
    first = order[0]
    others = [key for key in (wanted.second, *wanted.beside, *keys) if key in keys and key != first]
    return Found(sources, metrics, pair=comparing.pair(wanted.dataset, first, others[0], metric))


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and two sources by their keys."""

    dataset: int
    sample: int
    first: str
    second: str


def read(comparing: "Comparing", text: Text) -> "Marks":
    """What the two say of the text."""
    return comparing.marks(text.dataset, text.sample, text.first, text.second)
