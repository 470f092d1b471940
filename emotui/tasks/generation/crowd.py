"""Ratings from a crowd platform: who failed attention checks is set aside, and the others' labels join the texts."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.human_labels import NEUTRAL, Ties, human_report, neutral_report
from emotui.records import Generation
from emotui.tasks.generation.whole import folded, in_one_case

RATERS = 5
"""Independent labels that every text gets (section 6.2)."""


class CrowdRating(msgspec.Struct, frozen=True):
    """One answer of one rater; `place`: the file and line on which it stands."""

    item: str
    rater: str
    label: str
    place: str


class Crowd(msgspec.Struct, frozen=True):
    """Records with the labels of the raters that were kept, and the document about them."""

    records: list[Generation]
    document: dict[str, Any]


def item_names(records: Sequence[Generation], *, neutral: bool = False) -> dict[str, tuple[int, bool]]:
    """What a text may be called: to the record's place, and whether its neutral version is meant.

    `MODEL/ID` is the emotional version and `MODEL/ID/neutral` the neutral one; `ID` and `ID/neutral` will do where only
    one model has the id. With `neutral` the names without an ending mean neutral versions too.
    """
    found: dict[str, tuple[int, bool]] = {}
    by_id: dict[str, list[int]] = {}
    for at, one in enumerate(records):
        by_id.setdefault(one.id, []).append(at)
        found[f"{one.model}/{one.id}"] = at, neutral
        found[f"{one.model}/{one.id}/{NEUTRAL}"] = at, True
    for key, places in by_id.items():
        if len(places) == 1:
            found.setdefault(key, (places[0], neutral))
            found.setdefault(f"{key}/{NEUTRAL}", (places[0], True))
    return found


def failed_checks(ratings: Sequence[CrowdRating], checks: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Of each rater how many attention checks they answered, and how many wrongly.

    Args:
        checks: the item of a check ("please choose confusion") to the label that it asks for.
    """
    found: dict[str, dict[str, int]] = {}
    for one in ratings:
        counts = found.setdefault(one.rater, {"checks": 0, "failed": 0})
        if one.item in checks:
            counts["checks"] += 1
            counts["failed"] += folded(one.label) != folded(checks[one.item])
    return found


def gather(
    records: Sequence[Generation],
    ratings: Sequence[CrowdRating],
    checks: Mapping[str, str],
    *,
    allowed: int = 0,
    wanted: int = RATERS,
    neutral: bool = False,
    ties: Ties = "none",
) -> Crowd:
    """The records with the labels of all raters who failed at most `allowed` attention checks.

    Section 6.2 leaves out whoever failed a check. Labels that records have already stay, before the new ones.

    Returns:
        a document of `raters`, `set_aside` (with `checks` and `failed` of each), `ratings` (kept), `short` (texts with
        some labels, but fewer than `wanted`: whom to replace), `unrated`, `labels` (how often each was given), `models`
        (`human` and `human_neutral`: agreement and F1, Tables 6 to 10), `notes`.

    Raises:
        BadInput: an item that is neither a text nor a check, a blank label, or a text that a rater rated twice; each
            line begins with its place.
    """
    names = item_names(records, neutral=neutral)
    problems = [_wrong(one, names, checks) for one in ratings]
    seen: dict[tuple[str, str], str] = {}
    for one in ratings:
        first = seen.setdefault((one.rater, one.item), one.place)
        if first != one.place:
            problems.append(f"{one.place}: {one.rater} has rated {one.item} already, at {first}")
    if any(problems):
        raise BadInput(*filter(None, problems))
    counts = failed_checks(ratings, checks)
    aside = {rater for rater, one in counts.items() if one["failed"] > allowed}
    given: dict[tuple[int, bool], list[str]] = {}
    kept = [one for one in ratings if one.rater not in aside and one.item not in checks]
    for one in kept:
        given.setdefault(names[one.item], []).append(one.label)
    joined = in_one_case(
        [
            msgspec.structs.replace(
                one,
                human=(*one.human, *given.get((at, False), ())),
                human_neutral=(*one.human_neutral, *given.get((at, True), ())),
            )
            for at, one in enumerate(records)
        ]
    )
    document: dict[str, Any] = {
        "raters": len(counts),
        "set_aside": [{"rater": rater, **counts[rater]} for rater in counts if rater in aside],
        "ratings": len(kept),
        "short": _short(joined, wanted),
        "unrated": sum(not one.human and not one.human_neutral for one in joined),
        "labels": _label_counts(joined),
        "models": {model: _figures(joined, model, ties) for model in dict.fromkeys(one.model for one in joined)},
    }
    notes: dict[str, str] = {}
    unchecked = sum(not one["checks"] for one in counts.values())
    if unchecked:
        notes["set_aside"] = f"{unchecked} of {len(counts)} raters answered no attention check and are kept"
    strange = sorted(set(document["labels"]) - {one.target for one in joined} - {NEUTRAL})
    if strange:
        notes["labels"] = f"labels that are the target of no text: {', '.join(strange)}"
    return Crowd(joined, document | {"notes": notes})


def _wrong(one: CrowdRating, names: Mapping[str, object], checks: Mapping[str, str]) -> str | None:
    if not one.label.strip():
        return f"{one.place}: the label of {one.item} is empty"
    if one.item not in names and one.item not in checks:
        return f"{one.place}: {one.item!r} is neither a text of the records (MODEL/ID) nor an attention check"
    return None


def _short(records: Sequence[Generation], wanted: int) -> list[dict[str, Any]]:
    """Texts that have fewer labels than wanted, with how many they lack."""
    return [
        {"id": one.id, "model": one.model, "version": version, "lacks": wanted - len(labels)}
        for one in records
        for version, labels in (("emotional", one.human), (NEUTRAL, one.human_neutral))
        if 0 < len(labels) < wanted
    ]


def _label_counts(records: Sequence[Generation]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in records:
        for label in (*one.human, *one.human_neutral):
            found[label] = found.get(label, 0) + 1
    return found


def _figures(records: Sequence[Generation], model: str, ties: Ties) -> dict[str, Any]:
    own = [one for one in records if one.model == model]
    found: dict[str, Any] = {}
    if any(one.human for one in own):
        found["human"] = human_report([one.target for one in own], [one.human for one in own], ties)
    if any(one.human_neutral for one in own):
        found["human_neutral"] = neutral_report([one.human_neutral for one in own], ties)
    return found
