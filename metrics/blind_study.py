"""A blind study of two sources: what several coders prefer without knowing whose word is whose.

EXPRESS, section "Human Evaluation of Predicted and Actual Emotions": majority, unanimity, Fleiss' kappa, codes by side.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.metrics.agreement import fleiss_kappa, uneven_fleiss_kappa

VERDICTS = ("a", "b", "both", "neither")
"""For which of the two sources a coder decided."""

ALL_DIFFER, TIED = "all_differ", "tied"


class Verdict(msgspec.Struct, frozen=True):
    """What one coder said of one text.

    `first`: whether a stood first, None where nobody knows; `open`: codes in the coder's own words; `stray`: codes that
    are not in the codebook, or do not go with the verdict.
    """

    verdict: str
    first: bool | None = True
    codes: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()


def majority_of(verdicts: Sequence[str]) -> str:
    """The verdict that more coders gave than any other; `all_differ` where no two agree, `tied` where several lead.

    Of one coder it is that coder's.
    """
    counts = Counter(verdicts).most_common()
    if len(counts) > 1 and counts[0][1] == 1:
        return ALL_DIFFER
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return TIED
    return counts[0][0]


def study_report(said: Mapping[str, Mapping[str, Verdict]], n: int, codes: Sequence[str] = ()) -> dict[str, Any]:
    """The document of a study.

    Args:
        said: coder to text to verdict.
        n: texts of the study.
        codes: the codebook, in its order; codes that are used and not in it follow.

    Returns:
        `coders` (verdicts of each, and the share of texts in which the first of two was preferred), and over the texts
        that every coder answered (`complete`) `majority`, `unanimous`, `fleiss_kappa`; `fleiss_kappa_all` over all that
        two coders answered at least (`pairable`), each with its own number of answers. `codes` counts assignments, by
        all coders, under the verdict they were given for, with shares of all assignments under it; `totals` adds up
        the assignments. `open`, `stray`: the coders' own codes, and those kept apart, by how often they were given;
        neither is among `codes`. `notes` say why a figure is None.
    """
    complete = set.intersection(*(set(one) for one in said.values())) if said else set()
    verdicts = [[one[key].verdict for one in said.values()] for key in sorted(complete)]
    majority = Counter(majority_of(one) for one in verdicts)
    unanimous = sum(len(set(one)) == 1 for one in verdicts)
    kappa = fleiss_kappa([[one.count(name) for name in VERDICTS] for one in verdicts]) if verdicts else None
    every = dict.fromkeys(key for one in said.values() for key in one)
    counted = [[said[coder][key].verdict for coder in said if key in said[coder]] for key in every]
    everywhere = uneven_fleiss_kappa([[one.count(name) for name in VERDICTS] for one in counted]) if counted else None
    notes = {}
    if everywhere is None:
        notes["fleiss_kappa_all"] = "there have to be texts that two coders answered, and two verdicts"
    if kappa is None:
        notes["fleiss_kappa"] = "there have to be two coders at least, texts that all answered, and two verdicts"
    if len(said) < 2:
        notes["unanimous"] = "one coder always agrees with themselves"
    names = (*VERDICTS, ALL_DIFFER, *([TIED] if majority[TIED] else ()))
    return {
        "n": n,
        "complete": len(complete),
        "coders": {name: _coder(list(one.values())) for name, one in said.items()},
        "majority": {name: {"n": majority[name], "share": _share(majority[name], len(verdicts))} for name in names},
        "unanimous": {"n": unanimous, "share": _share(unanimous, len(verdicts))} if len(said) > 1 else None,
        "fleiss_kappa": kappa,
        "pairable": sum(len(one) > 1 for one in counted),
        "fleiss_kappa_all": everywhere,
        **_codes([one for by_text in said.values() for one in by_text.values()], codes),
        "notes": notes,
    }


def _coder(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    counts = Counter(one.verdict for one in verdicts)
    preferred = [one for one in verdicts if one.verdict in ("a", "b") and one.first is not None]
    first = sum((one.verdict == "a") == one.first for one in preferred)
    return (
        {"n": len(verdicts)}
        | {name: counts[name] for name in VERDICTS}
        | {"first_preferred": _share(first, len(preferred))}
    )


def _codes(verdicts: Sequence[Verdict], codes: Sequence[str]) -> dict[str, Any]:
    given = {name: Counter(code for one in verdicts if one.verdict == name for code in one.codes) for name in VERDICTS}
    totals = {name: sum(counts.values()) for name, counts in given.items()}
    used = [code for counts in given.values() for code in counts]
    rows = []
    for code in dict.fromkeys([*codes, *sorted(used)]):
        counts = {name: given[name][code] for name in VERDICTS}
        shares = {name: _share(counts[name], totals[name]) for name in VERDICTS}
        rows.append({"code": code, "counts": counts, "shares": shares})
    own, stray = (Counter(code for one in verdicts for code in getattr(one, name)) for name in ("open", "stray"))
    return {"codes": rows, "totals": totals, "open": _commonest(own), "stray": _commonest(stray)}


def _commonest(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
