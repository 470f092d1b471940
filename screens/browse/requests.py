"""What Browse knows of one sample: what the run said, what other runs said beside it, and what came nearest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from emotui.metrics.nearest import Nearest
    from emotui.workbench.answers import Voice
    from emotui.workbench.source import BrowseSource, Evidence


class SampleView(msgspec.Struct, frozen=True):
    """`beside`: the same sample in further runs. `near`: for each repeat, by the place of a hallucinated span.

    `voices`: everything that is said of the text.
    """

    evidence: "Evidence"
    beside: tuple["Evidence", ...] = ()
    near: "tuple[dict[int, Nearest | None], ...]" = ()
    voices: "tuple[Voice, ...]" = ()


def look(
    source: "BrowseSource", sample: int, run: str | None, beside: Sequence[str], told: Sequence[str]
) -> SampleView:
    """Ask for all of it. A run that is gone meanwhile is left out of those beside.

    Args:
        run, beside: runs that give spans.
        told: runs of any task, whose answers are told under the text.

    Raises:
        EmotuiError: the sample cannot be read.
    """
    from emotui.errors import EmotuiError

    with source.together():
        evidence = source.evidence(sample, run)
        others = []
        for other in beside:
            try:
                others.append(source.evidence(sample, other))
            except EmotuiError:
                continue
        voices = voices_of(source, sample, told)
    return SampleView(evidence, tuple(others), _near(evidence), voices)


def voices_of(source: "BrowseSource", sample: int, runs: Sequence[str]) -> "tuple[Voice, ...]":
    """Everything that is said of a text; where a run is gone meanwhile, what is said beside all runs."""
    from emotui.errors import EmotuiError

    try:
        return source.voices(sample, runs)
    except EmotuiError:
        return source.voices(sample, ())


def _near(evidence: "Evidence") -> "tuple[dict[int, Nearest | None], ...]":
    from emotui.metrics.nearest import nearest

    found = []
    for said in evidence.repeats:
        detail = said.detail
        places = detail.hallucinated if detail else ()
        strings = [detail.predicted[place] for place in places] if detail else []
        found.append(dict(zip(places, nearest(evidence.sample.text, strings), strict=True)) if strings else {})
    return tuple(found)
