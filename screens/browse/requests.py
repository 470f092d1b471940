"""What Browse knows of one sample: what the run said, what other runs said beside it, and what came nearest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from emotui.metrics.nearest import Nearest
    from emotui.workbench.source import BrowseSource, Evidence


class SampleView(msgspec.Struct, frozen=True):
    """`beside`: the same sample in further runs. `near`: for each repeat, by the place of a hallucinated span."""

    evidence: "Evidence"
    beside: tuple["Evidence", ...] = ()
    near: "tuple[dict[int, Nearest | None], ...]" = ()


def look(source: "BrowseSource", sample: int, run: str | None, beside: Sequence[str]) -> SampleView:
    """Ask for all of it. A run that is gone meanwhile is left out of those beside.

    Raises:
        EmotuiError: the sample cannot be read.
    """
    from emotui.errors import EmotuiError

    evidence = source.evidence(sample, run)
    others = []
    for other in beside:
        try:
            others.append(source.evidence(sample, other))
        except EmotuiError:
            continue
    return SampleView(evidence, tuple(others), _near(evidence))


def _near(evidence: "Evidence") -> "tuple[dict[int, Nearest | None], ...]":
    from emotui.metrics.nearest import nearest

    found = []
    for said in evidence.repeats:
        detail = said.detail
        places = detail.hallucinated if detail else ()
        strings = [detail.predicted[place] for place in places] if detail else []
        found.append(dict(zip(places, nearest(evidence.sample.text, strings), strict=True)) if strings else {})
    return tuple(found)
