"""The results of a blind study as lines: majorities, agreement and codes by side, the paper's figures beside."""

from collections.abc import Mapping
from typing import Any

from emotui.screens.widgets.cell_width import fit, wrap
from emotui.screens.widgets.line import Part

_BAR = 16
_NAMES = {"a": "for a", "b": "for b", "both": "both", "neither": "neither", "all_differ": "all differ", "tied": "tied"}
_PAPER = {"a": "sd", "b": "llm", "both": "both", "all_differ": "all_differ"}

Lines = list[list[Part]]


def result_lines(document: Mapping[str, Any], cells: int) -> Lines:
    """The whole document of a study."""
    paper = document["paper"]
    lines: Lines = [
        [Part("a ", "key"), Part(fit(str(document["a"]), cells - 2).rstrip())],
        [Part("b ", "key"), Part(fit(str(document["b"]), cells - 2).rstrip())],
        [Part(f"{document['complete']} of {document['n']} texts have an answer of every coder", "dim")],
        [Part("")],
        [Part(f"{'majority':12}{'n':>5} {'share':>6}  {'':{_BAR}}  paper: SD = a, LLM = b †", "dim")],
    ]
    printed = paper["majority"]
    for name, one in document["majority"].items():
        share, theirs = one["share"], printed.get(_PAPER.get(name, ""))
        line = [Part(f"{_NAMES[name]:12}{one['n']:>5} {_percent(share)}  "), Part(_bar(share), "said")]
        if theirs is not None:
            line.append(Part(f"  {theirs} of {printed['posts']} {_percent(theirs / printed['posts'])}", "dim"))
        lines.append(line)
    unanimous, kappa = document["unanimous"], document["fleiss_kappa"]
    share = None if unanimous is None else unanimous["share"]
    lines.append(
        [Part(f"{'unanimous':17} {_percent(share)}"), Part(f"   paper {_percent(printed['unanimous_share'])}", "dim")]
    )
    said = "–" if kappa is None else f"{kappa:.2f}"
    lines.append([Part(f"{'Fleiss kappa':17} {said:>6}"), Part(f"   paper {printed['fleiss_kappa']:>6}", "dim")])
    for why in document["notes"].values():
        lines += [[Part(why[start:end], "dim")] for start, end in wrap(why, cells)]
    return [*lines, [Part("")], *_coders(document), [Part("")], *_codes(document, cells)]


def _coders(document: Mapping[str, Any]) -> Lines:
    lines: Lines = [[Part(f"{'coder':16}{'n':>5}{'a':>5}{'b':>5}{'both':>6}{'neither':>9}   first preferred", "dim")]]
    for name, one in document["coders"].items():
        counts = f"{one['n']:>5}{one['a']:>5}{one['b']:>5}{one['both']:>6}{one['neither']:>9}"
        lines.append([Part(f"{fit(name, 15)} {counts}   {_percent(one['first_preferred'])}")])
    return lines


def _codes(document: Mapping[str, Any], cells: int) -> Lines:
    totals, paper = document["totals"], document["paper"]
    printed = {str(row["code"]): row for row in paper["rows"]}
    theirs = paper["totals"]
    head = f"{'code':6}{'a':>4} of {totals['a']:<5}{'b':>4} of {totals['b']:<5}"
    lines: Lines = [[Part(f"{head}   paper SD of {theirs['sd']}, LLM of {theirs['llm']} †", "dim")]]
    for row in document["codes"]:
        counts, shares = row["counts"], row["shares"]
        sides = "".join(f"{counts[name]:>4} {_percent(shares[name])} " for name in ("a", "b"))
        rest = "".join(f" {name} {counts[name]}" for name in ("both", "neither") if counts[name])
        one = printed.get(row["code"], {})
        same = one.get("about") == row["about"]
        beside = " ".join(
            f"{one[side]:>3} {_percent(one[side] / theirs[side])}" for side in ("sd", "llm") if side in one
        )
        line = [Part(f"{fit(row['code'], 5)} {sides}"), Part(f"  {beside if same else '':21}", "dim"), Part(rest)]
        lines.append([*line, Part(fit(f"  {row['about']}", max(cells - 54 - len(rest), 8)).rstrip(), "dim")])
    if document["open"]:
        own = ", ".join(f"{code} {n}" for code, n in document["open"].items())
        lines.append([Part(f"own codes: {own}")])
    return lines


def _percent(share: float | None) -> str:
    return f"{'–':>6}" if share is None else f"{share:6.1%}"


def _bar(share: float | None) -> str:
    return f"{'■' * round((share or 0) * _BAR):{_BAR}}"
