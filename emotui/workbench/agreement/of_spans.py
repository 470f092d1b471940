"""Agreement on spans: unitizing alpha, gamma, and each two sources by F1 and by their labels."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from emotui.backends.host import IsCancelled
from emotui.metrics.figure import Figure
from emotui.metrics.gamma import gamma
from emotui.metrics.rating_intervals import PAIRS
from emotui.metrics.span_pairs import SpanPair, span_pair
from emotui.metrics.tokens import WordsBySpan
from emotui.metrics.unitizing import MarkedText, Unitizing, unitizing_alpha, units
from emotui.records import Mark
from emotui.workbench.agreement.documents import Behind, Between, Measured
from emotui.workbench.agreement.panel import Panel
from emotui.workbench.progress import Cancelled

GAMMA_OF = 4
"""Sources up to which gamma is computed unasked: candidates of an alignment grow with every one."""

SAME = "u-alpha, marked or not"
"""The note that two figures are one by definition."""

ABOUT = {
    "u_alpha": "borders and labels together, by characters (Krippendorff and others 2016)",
    "u_alpha_binary": "marked or not, whatever the label (Krippendorff and others 2016)",
    "u_alpha_coding": "labels alone, where two sources marked the same stretch (Krippendorff and others 2016)",
    "gamma": "borders and labels over the best alignment, against chance by sampling (Mathet and others 2015)",
    "gamma_cat": "labels alone, over the same alignment (Mathet 2017)",
    "gamma_k": "labels of aligned spans, where one of the two or both have this one (Mathet 2017)",
    "ku_alpha": "this label against others, where two sources marked the same stretch (Krippendorff and others 2016)",
    "exact_f1": "2 x equal places / all spans of all texts together; a text in which neither marks anything adds none",
    "labelled_f1": "as exact F1, with equal labels",
    "parts_f1": "2 x equal parts with equal labels / all parts",
    "relation_f1": "2 x relations of one kind between equal places / all relations",
    "overlap_f1": "token F1 of the best one-to-one alignment, mean over texts in which one of the two marked something",
}


def marked_texts(panel: Panel) -> tuple[list[MarkedText], list[int]]:
    """Texts that two sources or more looked at, with their places in the panel."""
    shared = panel.shared()
    return [
        MarkedText(
            len(panel.texts[at].text),
            {name: marks_of(said[at]) for name, said in panel.said.items() if at in said},
            panel.groups[at] if panel.groups else None,
        )
        for at in shared
    ], shared


def marks_of(said: Any) -> Sequence[Mark]:
    """What a source says of a text of spans."""
    marks: Sequence[Mark] = said
    return marks


def measure_spans(
    panel: Panel, *, resamples: int, seed: int, with_gamma: bool | None, cancelled: IsCancelled | None = None
) -> tuple[list[Measured], dict[str, list[Measured]], list[Between], dict[str, str]]:
    """Figures of all sources, by label, and of each two; and notes.

    Args:
        with_gamma: None: where there are at most `GAMMA_OF` sources.
    """
    texts, places = marked_texts(panel)
    numbers = [panel.texts[at].sample for at in places]
    notes: dict[str, str] = {}
    family = unitizing_alpha(texts, resamples, seed)
    if family.overlapping:
        notes["u_alpha"] = (
            f"{family.overlapping} characters lie under several spans of one source: "
            "there, all their labels together are one value"
        )
    labels = {mark.label for text in texts for marks in text.spans.values() for mark in marks}
    if len(labels) == 1:
        which = "no span has a label" if labels == {None} else "all spans have one label"
        notes[SAME] = f"{which}, so it is the same figure as u-alpha"
    unlike = behind(numbers, family.unlike)
    measured = [
        _measured("u_alpha", "u-alpha", family.u_alpha, unlike),
        _measured("u_alpha_binary", "u-alpha, marked or not", family.binary, unlike),
        _measured(
            "u_alpha_coding",
            "u-alpha, labels",
            family.coding,
            behind(numbers, family.unlike_labels),
        ),
    ]
    _stop(cancelled)
    found = None
    if with_gamma or (with_gamma is None and len(panel.said) <= GAMMA_OF):
        found = gamma(texts, panel.raters, resamples=resamples, seed=seed)
        if found.samples:
            notes["gamma"] = (
                f"expected disorder is a mean over {found.samples} random annotations, "
                f"within {100 * (found.precision or 0):.1f}%; over the {found.gamma.n} texts that all sources looked at"
            )
        disorder = behind(numbers, found.by_text)
        measured += [
            _measured("gamma", "gamma", found.gamma, disorder),
            _measured("gamma_cat", "gamma-cat", found.cat, behind(numbers, found.cat_by_text)),
        ]
    else:
        notes["gamma"] = f"not computed unasked for more than {GAMMA_OF} sources: --gamma computes it"
    _stop(cancelled)
    words = WordsBySpan()
    pairs = []
    each = list(combinations(panel.raters, 2))
    silent: dict[tuple[str, str], int] = {}
    for a, b in each:
        between, silent[a, b] = _between(panel, a, b, words, resamples if len(each) <= PAIRS else 0, seed)
        pairs.append(between)
        _stop(cancelled)
    if any(silent.values()):
        notes["both silent"] = _both_silent(pairs, silent)
    by_label = _by_label(family, texts, numbers)
    if found is not None:
        for label, figure in found.by_label.items():
            own = behind(numbers, found.by_label_text[label])
            by_label.setdefault(label, []).append(_measured("gamma_k", "gamma-k", figure, own))
    return measured, by_label, pairs, notes


def behind(numbers: Sequence[int], apart: Sequence[float | None]) -> Behind:
    """Samples with how far sources are apart, where they are at all, the furthest first."""
    both = zip(numbers, apart, strict=True)
    found = [(number, value) for number, value in both if value is not None and value > 1e-12]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _measured(name: str, title: str, figure: Figure, samples: Behind = ()) -> Measured:
    return Measured(name, title, ABOUT[name], figure, samples)


def _by_label(family: Unitizing, texts: Sequence[MarkedText], numbers: Sequence[int]) -> dict[str, list[Measured]]:
    """Of each label its alpha, and the texts in which some marked a stretch with it and others did not."""
    apart: dict[str, list[tuple[int, float]]] = {}
    for text, number in zip(texts, numbers, strict=True):
        covered: dict[str, dict[str, set[int]]] = {}
        for name, marks in text.spans.items():
            for start, end, label in units(marks, text.length):
                if label is not None:
                    covered.setdefault(label, {}).setdefault(name, set()).update(range(start, end))
        for label, by_name in covered.items():
            sets = [by_name.get(name, set()) for name in text.spans]
            either = set.union(*sets)
            if either and (share := 1 - len(set.intersection(*sets)) / len(either)) > 0:
                apart.setdefault(label, []).append((number, share))
    return {
        label: [
            Measured(
                "ku_alpha",
                "(k)u-alpha",
                ABOUT["ku_alpha"],
                figure,
                sorted(apart.get(label, ()), key=lambda one: (-one[1], one[0])),
            )
        ]
        for label, figure in family.by_label.items()
    }


_NAMED = 6
"""Pairs that a note names."""


def _both_silent(pairs: Sequence[Between], silent: Mapping[tuple[str, str], int]) -> str:
    """In how many texts neither of two marks anything, which no F1 of the two counts."""
    told = [f"{pair.a} and {pair.b} {n} of {pair.n}" for pair in pairs if (n := silent[pair.a, pair.b])]
    more = f" and {len(told) - _NAMED} more pairs" if len(told) > _NAMED else ""
    return (
        "a text in which neither of two marks anything is left out of their F1, and counted under “n”: "
        f"{', '.join(told[:_NAMED])}{more}"
    )


def _between(panel: Panel, a: str, b: str, words: WordsBySpan, resamples: int, seed: int) -> tuple[Between, int]:
    """What two make of the texts that both looked at; and in how many of these neither marks anything."""
    first, second = panel.said[a], panel.said[b]
    both = sorted(first.keys() & second.keys())
    texts = ((panel.texts[at].text, marks_of(first[at]), marks_of(second[at])) for at in both)
    found = span_pair(a, b, texts, words, groups=panel.drawn(both), resamples=resamples, seed=seed)
    apart = behind([panel.texts[at].sample for at in both], [None if f1 is None else 1 - f1 for f1 in found.by_text])
    cells = {
        row: {
            column: behind([panel.texts[both[at]].sample for at in cell], list(cell.values()))
            for column, cell in line.items()
        }
        for row, line in found.cells.items()
    }
    return Between(a, b, len(both), _of_pair(found), found.confusion, apart, cells), found.both_empty


def _of_pair(found: SpanPair) -> list[Measured]:
    figures: Mapping[str, tuple[str, Figure | None]] = {
        "overlap_f1": ("token F1", found.overlap_f1),
        "exact_f1": ("exact F1", found.exact_f1),
        "labelled_f1": ("exact F1 with labels", found.labelled_f1),
        "parts_f1": ("F1 of parts", found.parts_f1),
        "relation_f1": ("F1 of relations", found.relation_f1),
    }
    return [_measured(name, title, figure) for name, (title, figure) in figures.items() if figure is not None]


def _stop(cancelled: IsCancelled | None) -> None:
    if cancelled is not None and cancelled():
        raise Cancelled
