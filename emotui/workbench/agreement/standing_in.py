"""May a run stand in for an annotator? The alternative annotator test over what people say about a dataset."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.alternative_annotator import (
    EPSILON,
    FALSE_DISCOVERIES,
    Alignment,
    Compared,
    LeftOut,
    StandIn,
    accuracy,
    negative_rmse,
    ranked,
    similarity,
    stand_in_tests,
    standardised,
)
from emotui.metrics.labels import jaccard
from emotui.metrics.spans import align_words
from emotui.metrics.tokens import WordsBySpan
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.agreement.documents import LABEL, LABELS, SPANS, VALUES, WORDS, Behind
from emotui.workbench.agreement.of_labels import labels_of
from emotui.workbench.agreement.of_spans import marks_of
from emotui.workbench.agreement.of_values import value_names
from emotui.workbench.agreement.panel import Panel, Said, read_panel
from emotui.workbench.datasets.sources import GOLD, settled_note
from emotui.workbench.datasets.sources import sources as sources_of

ALIGNMENTS: Mapping[str, tuple[str, ...]] = {
    SPANS: ("overlap", "exact"),
    LABEL: ("accuracy",),
    LABELS: ("jaccard", "accuracy", "by-label"),
    WORDS: ("accuracy",),
    VALUES: ("rmse", "ranks", "standardised"),
}
"""By kind, the first unless another is chosen. `overlap`: token F1 of spans; `exact`: F1 of equal places and labels;
`accuracy`: the same answer; `jaccard`: labels in common; `by-label`: each label of a text an item, yes or no, as the
paper has its several features of a text; `rmse`: minus the root of the mean squared difference; `ranks`,
`standardised`: the same of the ranks, or the standard scores, of each source's numbers."""


class Standing(msgspec.Struct, frozen=True):
    """The test of one model. `alignment`: one of `ALIGNMENTS`. `tests`: one, or of numbers one by name.

    `lost`: samples in which an annotator represents the others better, with of how many annotators that is so.
    `of_one`: the same of one annotator in one test. `expert`: who is represented, where it is one source alone.
    `aside`: who is not among people, in words; empty where nobody is left out.
    """

    dataset: str
    kind: str
    model: str
    people: Sequence[str]
    alignment: str
    tests: Mapping[str, StandIn]
    lost: Behind
    of_one: Mapping[str, Mapping[str, Behind]]
    expert: str | None = None
    quality: Mapping[str, float] = {}
    balanced: bool = False
    aside: str = ""


def stand_in_test(
    store: Store,
    dataset: str,
    run: str,
    people: Sequence[str] | None = None,
    *,
    alignment: str | None = None,
    epsilon: float | None = None,
    q: float = FALSE_DISCOVERIES,
    expert: str | None = None,
    quality: Mapping[str, float] | None = None,
    balanced: bool = False,
) -> Standing:
    """Whether a run may stand in for one of the people.

    Args:
        run: a model's run, a file, or any other source.
        people: names; None: all people but `run` and `expert`.
        epsilon: None: 0 against gold (does the model outperform people?), else `EPSILON`.
        expert: the one source, a person or gold, that is to be represented; then one of the people is enough.
        quality: of people, above 0; 1 for those who are not named.
        balanced: whether items count by the inverse share of their label.

    Raises:
        BadInput: no such source, too few people, or an alignment, an expert or a balance that does not fit.
    """
    aside = ""
    if people is None:
        known = sources_of(store, dataset)
        if settled := [one.name for one in known if one.n and one.settled and run not in (one.name, one.run)]:
            aside = settled_note(settled)
        people = [one.name for one in known if one.is_person and run not in (one.name, one.run)]
    people = [name for name in people if name not in (run, expert)]
    least = 2 if expert is None else 1
    if len(people) < least:
        raise BadInput(
            f"the alternative annotator test needs two people, better three; {dataset} has {len(people)}: "
            "name other sources with --sources"
            if expert is None
            else f"{dataset} has nobody beside {expert} and {run} to compare the model with: name them with --sources"
        )
    weights = dict(quality or {})
    if strange := [name for name in weights if name not in people]:
        raise BadInput(f"there is a quality for {strange[0]!r}, who is none of the people: {', '.join(people)}")
    if wrong := [name for name, weight in weights.items() if not 0 < weight < inf]:
        raise BadInput(f"the quality of {wrong[0]} has to be above 0")
    if expert == run:
        raise BadInput(f"{run} is the model: the expert has to be another source")
    panel = read_panel(store, dataset, [*people, *([expert] if expert else []), run])
    model = panel.raters[-1]
    names = panel.raters[: len(people)]
    chosen = alignment or ALIGNMENTS[panel.kind][0]
    if chosen not in ALIGNMENTS[panel.kind]:
        there = ", ".join(ALIGNMENTS[panel.kind])
        raise BadInput(f"there is no alignment {chosen!r} for {panel.kind}; there are: {there}")
    if balanced and chosen not in ("accuracy", "by-label"):
        raise BadInput(f"answers can be balanced where they are labels that are the same or not, not by {chosen}")
    compared = {
        key: Compared(
            {name: items[name] for name in names},
            items[model],
            how,
            items[panel.raters[len(people)]] if expert else None,
            weights,
            _label if chosen in ("accuracy", "by-label") else None,
            balanced,
        )
        for key, (items, how) in _items(panel, chosen).items()
    }
    least_better = (0.0 if expert == GOLD else EPSILON) if epsilon is None else epsilon
    tests = stand_in_tests(compared, epsilon=least_better, q=q)
    of_one = {key: {one.annotator: _samples(panel, one.lost) for one in test.annotators} for key, test in tests.items()}
    lost: Counter[int] = Counter(number for left in of_one.values() for own in left.values() for number, _ in own)
    return Standing(
        panel.dataset.name,
        panel.kind,
        model,
        names,
        chosen,
        tests,
        sorted(((number, float(n)) for number, n in lost.items()), key=lambda one: (-one[1], one[0])),
        of_one,
        expert,
        weights,
        balanced,
        aside,
    )


def _samples(panel: Panel, lost: Sequence[Hashable]) -> list[tuple[int, float]]:
    """The samples of lost items, those with most of them first."""
    places = (int(str(item[0] if isinstance(item, tuple) else item)) for item in lost)
    counts = Counter(panel.texts[at].sample for at in places)
    return sorted(((number, float(n)) for number, n in counts.items()), key=lambda one: (-one[1], one[0]))


def _items(panel: Panel, alignment: str) -> dict[str, tuple[dict[str, dict[Hashable, Any]], Alignment[Any]]]:
    """By key what each source says of each item, and how answers are aligned."""
    if panel.kind == VALUES:
        scaled: Callable[[Mapping[Hashable, float]], dict[Hashable, float]]
        scaled = {"ranks": ranked, "standardised": standardised}.get(alignment, dict)
        return {
            name: (
                {
                    source: scaled(
                        {at: said[name] for at, said in answers.items() if isinstance(said, Mapping) and name in said}
                    )
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


def _label(answer: object) -> str:
    """An answer in words; equal ones have the same."""
    return ", ".join(sorted(answer)) or "none" if isinstance(answer, frozenset) else str(answer)


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


# The alternative annotator test as tables: its verdict, and each annotator against the model.

_TESTS = {"t": "t-test", "wilcoxon": "Wilcoxon", "weighted t": "weighted t"}

_COLUMNS = (
    Column("advantage", "model as good", short="model"),
    Column("human", "annotator as good", short="annotator"),
    Column("p", "p"),
    Column("test", "by", unit="words"),
    Column("won", "won", unit="words"),
    Column("n", "over", unit="count"),
)


def stand_in_tables(found: Standing) -> tuple[ResultsTable, ...]:
    """Of each test its verdict, and each annotator; of several tests first how many are passed."""
    tables = [_passed(found)] if len(found.tests) > 1 else []
    for key, test in found.tests.items():
        tables += [_verdict(found, key, test), _annotators(found, key, test)]
    return tuple(tables)


def _numbers(behind: Behind) -> tuple[int, ...]:
    return tuple(number for number, _ in behind)


def _passed(found: Standing) -> ResultsTable:
    """The paper's summary of several aspects (appendix A): passed in so many of so many."""
    known = [test for test in found.tests.values() if test.passed is not None]
    about = "the winning rates are of one correction for all tests (Calderon, Reichart and Dror 2025, appendix A)"
    passed = sum(bool(test.passed) for test in known)
    cell = Cell(f"{passed} of {len(known)}", convention=about, samples=_numbers(found.lost))
    title = f"May {found.model} stand in for an annotator?"
    return ResultsTable(
        "stand-in-passed", title, (Column("value", "passed", unit="words"),), (Row("tests", "run", "", (cell,)),)
    )


def _verdict(found: Standing, key: str, test: StandIn) -> ResultsTable:
    of = f", {key}" if key else ""
    who = f" of {found.expert}" if found.expert else ""
    balanced = "; labels balanced (C.1)" if found.balanced else ""
    quality = "; by quality " + ", ".join(f"{name} {weight:g}" for name, weight in found.quality.items())
    about = (
        f"alignment by {found.alignment}{who}; epsilon {test.epsilon:g}, false discoveries {test.q:g}{balanced}"
        f"{quality if found.quality else ''} (Calderon, Reichart and Dror 2025)"
    )
    samples = tuple(dict.fromkeys(number for own in found.of_one[key].values() for number in _numbers(own)))
    samples = tuple(number for number in _numbers(found.lost) if number in set(samples))
    verdict = None if test.passed is None else "may stand in" if test.passed else "may not stand in"
    values = (("winning rate", test.winning_rate), ("advantage", test.advantage), ("verdict", verdict))
    rows = [
        Row(name, "run", "", (Cell(value, convention=about, why=test.why, samples=samples),)) for name, value in values
    ]
    title = f"May {found.model} stand in for an annotator{of}?"
    if found.expert:
        title = f"Does {found.model} represent {found.expert} better than people do{of}?"
    asides = (found.aside,) if found.aside else ()
    notes = (about, *test.advice, *asides, "its texts: those in which an annotator represents the others better")
    return ResultsTable(f"stand-in{key and '-'}{key}", title, (Column("value", "value"),), tuple(rows), notes)


def _annotators(found: Standing, key: str, test: StandIn) -> ResultsTable:
    of = f", {key}" if key else ""
    rows = [_annotator(one, found.of_one[key].get(one.annotator, ())) for one in test.annotators]
    title = f"Each annotator left out{of}" if found.expert is None else f"Each annotator beside {found.model}{of}"
    return ResultsTable(f"stand-in-annotators{key and '-'}{key}", title, _COLUMNS, tuple(rows))


def _annotator(one: LeftOut, lost: Behind) -> Row:
    why = None if one.n else "no item with another annotator"
    samples = _numbers(lost)
    values = [Cell(value, why=why, samples=samples) for value in (one.advantage, one.human_advantage, one.p)]
    told = [Cell(value, samples=samples) for value in (_TESTS.get(one.test, one.test), one.won, one.n)]
    return Row(one.annotator, "people", "1", (*values, *told))
