"""The tiers that spans of one source are drawn in: more than one where some of them overlap."""

from collections.abc import Sequence

import msgspec

from emotui.records import Span
from emotui.screens.widgets.tier_layout import Tier


class Said(msgspec.Struct, frozen=True):
    """A span of a source as it is drawn."""

    place: Span
    label: str | None = None


def tiers(
    name: str,
    role: str,
    said: Sequence[Said],
    *,
    inline: bool = True,
    rows: bool = False,
    dotted: tuple[Span, ...] = (),
) -> list[Tier]:
    """What is drawn of a source: in the text where it is `inline`, and a row of bars for each lane.

    A lane holds spans that do not overlap. Without `rows` only spans that overlap another one have bars, since in the
    text they run together.
    """
    spans = tuple(one.place for one in said)
    labels = tuple((one.place, one.label) for one in said if one.label is not None)
    lanes = _lanes(said if rows else _overlapping(said))
    if len(lanes) <= 1:
        return [Tier(name, role, spans, inline, dotted, labels)]
    drawn = [Tier(name, role, spans, inline, dotted, bars=False)] if inline else []
    for lane in lanes:
        named = tuple((one.place, one.label) for one in lane if one.label is not None)
        drawn.append(Tier(name, role, tuple(one.place for one in lane), False, dotted, named, bars=True))
    return drawn


def _lanes(said: Sequence[Said]) -> list[list[Said]]:
    """The spans parted so that none of a lane overlaps; each stands in the first lane that has room for it."""
    lanes: list[list[Said]] = []
    for one in sorted(said, key=lambda one: (one.place[0], -one.place[1])):
        lane = next((lane for lane in lanes if lane[-1].place[1] <= one.place[0]), None)
        if lane is None:
            lanes.append([one])
        else:
            lane.append(one)
    return lanes


def _overlapping(said: Sequence[Said]) -> list[Said]:
    """Those that share a character with another one."""
    found: list[Said] = []
    cluster: list[Said] = []
    reached = -1
    for one in sorted(said, key=lambda one: one.place):
        if one.place[0] >= reached:
            found += cluster if len(cluster) > 1 else []
            cluster = []
        cluster.append(one)
        reached = max(reached, one.place[1])
    return found + (cluster if len(cluster) > 1 else [])
