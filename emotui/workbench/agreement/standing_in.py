"""May a run stand in for an annotator? The alternative annotator test over what people say about a dataset."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.alternative_annotator import (
    EPSILON,
    FALSE_DISCOVERIES,
    Alignment,
    StandIn,
    accuracy,
    negative_rmse,
    similarity,
    stand_in,
)
from emotui.metrics.labels import jaccard
from emotui.metrics.spans import align_words
from emotui.metrics.tokens import WordsBySpan
from emotui.store.store import Store
from emotui.workbench.agreement.documents import LABEL, LABELS, SPANS, VALUES, WORDS
from emotui.workbench.agreement.of_labels import labels_of
from emotui.workbench.agreement.of_spans import marks_of
from emotui.workbench.agreement.of_values import value_names
from emotui.workbench.agreement.panel import Panel, Said, read_panel
from emotui.workbench.datasets.sources import GOLD, PERSON
from emotui.workbench.datasets.sources import sources as sources_of

ALIGNMENTS: Mapping[str, tuple[str, ...]] = {
    SPANS: ("overlap", "exact"),
    LABEL: ("accuracy",),
    LABELS: ("jaccard", "accuracy", "by-label"),
    WORDS: ("accuracy",),
    VALUES: ("rmse",),
}
"""By kind, the first unless another is chosen. `overlap`: token F1 of spans; `exact`: F1 of equal places and labels;
`accuracy`: the same answer; `jaccard`: labels in common; `by-label`: each label of a text an item, yes or no, as the
paper has its several features of a text; `rmse`: minus the root of the mean squared difference."""


class Standing(msgspec.Struct, frozen=True):
    """The test of one model. `alignment`: one of `ALIGNMENTS`. `tests`: one, or of numbers one by name.

    `lost`: samples in which an annotator represents the others better, with of how many annotators that is so.
    """

    dataset: str
    kind: str
    model: str
    people: Sequence[str]
    alignment: str
    tests: Mapping[str, StandIn]
    lost: Sequence[tuple[int, float]]


def stand_in_test(
    store: Store,
    dataset: str,
    run: str,
    people: Sequence[str] | None = None,
    *,
    alignment: str | None = None,
    epsilon: float = EPSILON,
    q: float = FALSE_DISCOVERIES,
) -> Standing:
    """Whether a run may stand in for one of the people.

    Args:
        run: a model's run, a file, or any other source.
        people: names; None: all people but `run`.

    Raises:
        BadInput: no such source, fewer than two people, or an alignment that does not fit.
    """
    if people is None:
        known = sources_of(store, dataset)
        people = [one.name for one in known if one.kind == PERSON and run not in (one.name, one.run)]
    people = [name for name in people if name != run]
    if len(people) < 2:
        raise BadInput(
            f"the alternative annotator test needs two people, better three; {dataset} has {len(people)}: "
            "name other sources with --sources"
        )
    panel = read_panel(store, dataset, [*people, run])
    model = panel.raters[-1]
    names = panel.raters[:-1]
    chosen = alignment or ALIGNMENTS[panel.kind][0]
    if chosen not in ALIGNMENTS[panel.kind]:
        there = ", ".join(ALIGNMENTS[panel.kind])
        raise BadInput(f"there is no alignment {chosen!r} for {panel.kind}; there are: {there}")
    tests = {
        key: stand_in({name: items[name] for name in names}, items[model], how, epsilon=epsilon, q=q)
        for key, (items, how) in _items(panel, chosen).items()
    }
    return Standing(panel.dataset.name, panel.kind, model, names, chosen, tests, _lost(panel, tests))


def _items(panel: Panel, alignment: str) -> dict[str, tuple[dict[str, dict[Hashable, Any]], Alignment[Any]]]:
    """By key what each source says of each item, and how answers are aligned."""
    if panel.kind == VALUES:
        return {
            name: (
                {
                    source: {
                        at: said[name] for at, said in answers.items() if isinstance(said, Mapping) and name in said
                    }
                    for source, answers in panel.said.items()
                },
                negative_rmse,
            )
            for name in value_names(panel)
        }
    if panel.kind == SPANS:
        return {"": (_each(panel, marks_of), _of_spans(panel) if alignment == "overlap" else similarity(_exact))}
    if alignment == "by-label":
        labels = labels_of(panel)
        by_label: dict[str, dict[Hashable, Any]] = {
            source: {(at, label): label in _set(said) for at, said in answers.items() for label in labels}
            for source, answers in panel.said.items()
        }
        return {"": (by_label, accuracy)}
    if alignment == "jaccard":
        return {"": (_each(panel, _set), similarity(jaccard))}
    return {"": (_each(panel, lambda said: _set(said) if panel.kind == LABELS else tuple(said)), accuracy)}


def _each(panel: Panel, shape: Any) -> dict[str, dict[Hashable, Any]]:
    if panel.kind == SPANS:
        return {
            source: {at: (at, shape(said)) for at, said in answers.items()} for source, answers in panel.said.items()
        }
    return {source: {at: shape(said) for at, said in answers.items()} for source, answers in panel.said.items()}


def _set(said: Said) -> frozenset[str]:
    if isinstance(said, Mapping):
        return frozenset(name for name, there in said.items() if there)
    return frozenset(map(str, said))


def _of_spans(panel: Panel) -> Alignment[Any]:
    """The house's span score of two sets of spans, mean over the others."""
    words = WordsBySpan()

    def score(one: tuple[int, Any], other: tuple[int, Any]) -> float:
        text = panel.texts[one[0]].text
        first, second = ([words[text[mark.start : mark.end]] for mark in marks] for marks in (one[1], other[1]))
        return align_words(first, second, None)[1]

    return similarity(score)


def _exact(one: tuple[int, Any], other: tuple[int, Any]) -> float:
    first, second = ({(mark.place, mark.label) for mark in marks} for marks in (one[1], other[1]))
    whole = len(first) + len(second)
    return 2 * len(first & second) / whole if whole else 1.0


def _lost(panel: Panel, tests: Mapping[str, StandIn]) -> list[tuple[int, float]]:
    counts: dict[int, float] = {}
    for test in tests.values():
        for one in test.annotators:
            for item in one.lost:
                at = item[0] if isinstance(item, tuple) else item
                number = panel.texts[int(str(at))].sample
                counts[number] = counts.get(number, 0) + 1
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


__all__ = ["ALIGNMENTS", "GOLD", "Standing", "stand_in_test"]
