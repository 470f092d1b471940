"""SEER's error analysis (section 10) in one pass over scored samples, with the samples behind every figure.

The figures are those of `emotui.metrics.span_report.report`, and equal to them. This counts as it goes along and keeps
nothing but numbers, so that a run over a hundred thousand samples can be looked at from a kept score a sample.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence, Sized
from math import nan
from statistics import fmean
from typing import Protocol

import msgspec

from emotui.metrics.repeats import known_mean, known_sd
from emotui.metrics.span_labels import label_pairs, labelled_f1
from emotui.metrics.span_scoring import NEUTRAL, SentenceScore, keyword_tokens
from emotui.metrics.span_tokens import TokenCounts
from emotui.metrics.spans import Pair
from emotui.metrics.tokens import tokens
from emotui.records import Sentence, Span, SpanSample


class Scored(Protocol):
    """What is asked of a scored sample: a `SampleDetail`, or the `Facts` of a kept one."""

    @property
    def f1(self) -> float: ...
    @property
    def sim(self) -> float | None: ...
    @property
    def gold(self) -> Sized: ...
    @property
    def pairs(self) -> tuple[Pair, ...]: ...
    @property
    def missed(self) -> tuple[int, ...]: ...
    @property
    def extra(self) -> tuple[int, ...]: ...
    @property
    def tokens(self) -> TokenCounts | None: ...
    @property
    def gold_labels(self) -> tuple[str | None, ...]: ...
    @property
    def predicted_labels(self) -> tuple[str | None, ...]: ...
    @property
    def located(self) -> tuple[Span | None, ...]: ...
    @property
    def repeated(self) -> tuple[int, ...]: ...
    @property
    def hallucinated(self) -> tuple[int, ...]: ...
    @property
    def fixated(self) -> tuple[int, ...]: ...
    @property
    def keyword(self) -> bool: ...
    @property
    def neutral_hits(self) -> tuple[int, ...]: ...
    @property
    def invalid(self) -> str | None: ...
    @property
    def sentences(self) -> tuple[SentenceScore, ...]: ...
    @property
    def missing(self) -> bool: ...
    @property
    def void(self) -> bool: ...


class Facts(msgspec.Struct, frozen=True, gc=False):
    """The part of a `SampleDetail` that is counted; reads its JSON."""

    f1: float
    sim: float | None
    located: tuple[Span | None, ...]
    hallucinated: tuple[int, ...]
    fixated: tuple[int, ...]
    keyword: bool
    neutral_hits: tuple[int, ...]
    invalid: str | None
    sentences: tuple[SentenceScore, ...]
    gold: tuple[msgspec.Raw, ...] = ()
    pairs: tuple[Pair, ...] = ()
    missed: tuple[int, ...] = ()
    extra: tuple[int, ...] = ()
    tokens: TokenCounts | None = None
    gold_labels: tuple[str | None, ...] = ()
    predicted_labels: tuple[str | None, ...] = ()
    missing: bool = False
    void: bool = False
    unlabelled: bool = False
    repeated: tuple[int, ...] = ()


class Labels(msgspec.Struct, frozen=True, gc=False):
    """The part of a `SpanSample` that is asked; reads its JSON."""

    emotion: str | None = None
    valence: str | None = None
    sentences: tuple[Sentence, ...] = ()


class Figure(msgspec.Struct, frozen=True):
    """`value`: the mean over repeats in which it is defined; `sd`: their sample standard deviation (n-1).

    `samples`: of F1 and Sim all that were scored, of a rate those that were hit; sorted. `why`: what an undefined one
    lacks. `low`, `high`: the 95% interval, where it was computed (`emotui.metrics.span_intervals`); `note`: why there
    is none, or what has to be known of it.
    """

    value: float | None
    sd: float | None
    samples: tuple[int, ...]
    why: str | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


class SpanErrors(msgspec.Struct, frozen=True):
    """The figures of one setting; `by_emotion` and `by_valence` have `f1`, `sim` and `n` for each label.

    `confusion`: how often spans of these labels, (gold, predicted), met, with the samples in which they did, over all
    repeats.
    """

    repeats: int
    figures: Mapping[str, Figure]
    by_emotion: Mapping[str, Mapping[str, Figure]]
    by_valence: Mapping[str, Mapping[str, Figure]]
    confusion: Mapping[tuple[str, str], Figure] = {}


WHY = {
    "f1": "no samples",
    "sim": "no embedding model was asked",
    "precision": "no predicted spans",
    "recall": "no gold spans",
    "f1_gold": "no sample has gold spans",
    "token_precision": "no predicted tokens, or a sample was scored before they were counted",
    "token_recall": "no gold tokens, or a sample was scored before they were counted",
    "token_f1": "no tokens in spans, or a sample was scored before they were counted",
    "labelled_f1": "there are no labels on both sides",
    "hallucination_rate": "no predicted spans",
    "fixation_rate": "no gold span holds a keyword",
    "fixation_rate_by_sentence": "no gold span holds a keyword in a sentence of a passage",
    "neutral_sentence_fpr": "no neutral sentences",
    "neutral_span_share": "no predicted span was found in its text",
    "invalid_share": "no samples",
}
"""What a figure lacks where it is undefined."""


class Means:
    """F1 and Sim of the samples or sentences of one label."""

    __slots__ = ("f1", "numbers", "samples", "sim")

    def __init__(self) -> None:
        self.f1, self.sim = array("d"), array("d")
        self.numbers = array("q")
        self.samples: list[int] = []

    def add(self, number: int, f1: float, sim: float | None) -> None:
        self.f1.append(f1)
        self.numbers.append(number)
        if sim is not None:
            self.sim.append(sim)
        if not self.samples or self.samples[-1] != number:
            self.samples.append(number)

    def figures(self) -> dict[str, tuple[float | None, list[int]]]:
        return {
            "n": (len(self.f1), self.samples),
            "f1": (fmean(self.f1) if self.f1 else None, self.samples),
            "sim": (fmean(self.sim) if self.sim else None, self.samples),
        }


COUNTED = (
    *("number", "f1", "sim", "labelled_f1", "marked"),
    *("met", "predicted", "gold", "gold_tokens", "predicted_tokens", "shared_tokens", "hallucinated", "fixated"),
    *(
        "keyword",
        "fixated_sentences",
        "keyword_sentences",
        "neutral_hit",
        "neutral",
        "in_neutral",
        "located",
        "invalid",
    ),
)
"""What a tally keeps of each sample, for sums and their intervals."""

_MEANS = ("number", "f1", "sim", "labelled_f1", "marked")
"""Those of them of which no sum is asked."""


class Tally:
    """One repeat (or one annotator) over any number of samples. `counted`: of each sample what `COUNTED` names."""

    def __init__(self) -> None:
        self.all = Means()
        self.counted = array("d")
        self.emotions: dict[str, Means] = {}
        self.valences: dict[str, Means] = {}
        self._missing = self._missed_spans = self._extra_spans = self._repeated_spans = 0
        self._gold_f1 = array("d")
        self._tokens_known = True
        self.confused: dict[tuple[str, str], list[int]] = {}
        self._labelled_f1 = array("d")
        self._gold_labels = self._predicted_labels = False
        self._marked: list[int] = []
        self._empty: list[int] = []
        self._both_empty: list[int] = []
        self._missing_some: list[int] = []
        self._with_extra: list[int] = []
        self._with_repeated: list[int] = []
        self._hallucinated: list[int] = []
        self._fixated: list[int] = []
        self._hit: list[int] = []
        self._invalid: list[int] = []

    def add(self, number: int, labels: Labels, scored: Scored, keyed: Sequence[Span] = ()) -> None:
        """One scored sample, under its number.

        Args:
            keyed: of a passage, its `keyword_sentences`; needed only where `scored.keyword`.
        """
        self.all.add(number, scored.f1, scored.sim)
        with_labels = self._count_spans(number, scored)
        self._missing += scored.missing
        if scored.repeated:
            self._repeated_spans += len(scored.repeated)
            self._with_repeated.append(number)
        if scored.hallucinated:
            self._hallucinated.append(number)
        if scored.fixated:
            self._fixated.append(number)
        if scored.invalid is not None:
            self._invalid.append(number)
        fixated = hit = neutral = in_neutral = 0
        if labels.sentences:
            located, hit, neutral, in_neutral = self._passage(number, labels, scored)
            if scored.fixated:
                found = [span for i in scored.fixated if (span := scored.located[i]) is not None]
                fixated = sum([_meets(start, end, found) for start, end in keyed])
        else:
            keyed = ()
            located = 0 if scored.void else len(_places(scored))
            _named(self.emotions, labels.emotion, number, scored.f1, scored.sim)
            _named(self.valences, labels.valence, number, scored.f1, scored.sim)
        counts = scored.tokens
        if counts is None:
            self._tokens_known = False
        self.counted.extend(
            (
                number,
                scored.f1,
                nan if scored.sim is None else scored.sim,
                with_labels,
                bool(scored.gold),
                sum([pair.f1 for pair in scored.pairs]),
                len(scored.located) - len(scored.repeated),
                len(scored.gold),
                *((counts.gold, counts.predicted, counts.shared) if counts is not None else (0, 0, 0)),
                len(scored.hallucinated),
                bool(scored.fixated),
                scored.keyword,
                fixated,
                len(keyed),
                hit,
                neutral,
                in_neutral,
                located,
                scored.invalid is not None,
            )
        )

    def _count_spans(self, number: int, scored: Scored) -> float:
        """Returns: the sample's F1 with labels."""
        if scored.gold:
            self._gold_f1.append(scored.f1)
            self._marked.append(number)
        else:
            self._empty.append(number)
            if scored.f1 == 1:
                self._both_empty.append(number)
        if scored.missed:
            self._missed_spans += len(scored.missed)
            self._missing_some.append(number)
        if scored.extra:
            self._extra_spans += len(scored.extra)
            self._with_extra.append(number)
        found = labelled_f1(scored)
        self._labelled_f1.append(found)
        self._gold_labels |= bool(scored.gold_labels)
        self._predicted_labels |= bool(scored.predicted_labels)
        for pair in label_pairs(scored) if scored.gold_labels else ():
            self.confused.setdefault(pair, []).append(number)
        return found

    def _passage(self, number: int, labels: Labels, scored: Scored) -> tuple[int, int, int, int]:
        """Returns: spans that were found, neutral sentences that they hit, neutral sentences, and spans in these."""
        found = [] if scored.void else _places(scored)
        hit = neutral = 0
        for sentence in labels.sentences:
            if sentence.emotion == NEUTRAL:
                neutral += 1
                hit += _meets(sentence.start, sentence.end, found)
        if hit:
            self._hit.append(number)
        for score in scored.sentences:
            sentence = labels.sentences[score.index]
            if sentence.emotion != NEUTRAL:
                _named(self.emotions, sentence.emotion, number, score.f1, score.sim)
            if sentence.valence != NEUTRAL:
                _named(self.valences, sentence.valence, number, score.f1, score.sim)
        return len(found), hit, neutral, len(scored.neutral_hits) if found else 0

    def figures(self) -> dict[str, tuple[float | None, list[int]]]:
        """Each figure with the samples behind it."""
        means = self.all.figures()
        n = len(self.all.f1)
        sums = {name: sum(self.counted[at :: len(COUNTED)]) for at, name in enumerate(COUNTED) if name not in _MEANS}
        whole = {name: int(total) for name, total in sums.items() if name != "met"}
        known = self._tokens_known
        gold, predicted, shared = (whole[f"{name}_tokens"] if known else 0 for name in ("gold", "predicted", "shared"))
        spans, fixated = whole["predicted"], whole["fixated"]
        labelled = self._gold_labels and self._predicted_labels
        return {
            **means,
            "labelled_f1": (fmean(self._labelled_f1) if labelled else None, self.all.samples if labelled else []),
            "precision": (_rate(sums["met"], spans), self.all.samples),
            "recall": (_rate(sums["met"], whole["gold"]), self.all.samples),
            "f1_gold": (fmean(self._gold_f1) if self._gold_f1 else None, self._marked),
            "empty_gold": (len(self._empty), self._empty),
            "empty_both": (len(self._both_empty), self._both_empty),
            "missed_spans": (self._missed_spans, self._missing_some),
            "extra_spans": (self._extra_spans, self._with_extra),
            "repeated_spans": (self._repeated_spans, self._with_repeated),
            "token_precision": (_rate(shared, predicted), self.all.samples),
            "token_recall": (_rate(shared, gold), self.all.samples),
            "token_f1": (_rate(2 * shared, gold + predicted), self.all.samples),
            "predicted_spans": (spans, self.all.samples),
            "hallucinated_spans": (whole["hallucinated"], self._hallucinated),
            "hallucination_rate": (_rate(whole["hallucinated"], spans), self._hallucinated),
            "keyword_samples": (whole["keyword"], []),
            "fixated_samples": (fixated, self._fixated),
            "fixation_rate": (_rate(fixated, whole["keyword"]), self._fixated),
            "fixation_rate_by_sentence": (_rate(whole["fixated_sentences"], whole["keyword_sentences"]), self._fixated),
            "neutral_sentences": (whole["neutral"], []),
            "neutral_sentences_hit": (whole["neutral_hit"], self._hit),
            "neutral_sentence_fpr": (_rate(whole["neutral_hit"], whole["neutral"]), self._hit),
            "neutral_span_share": (_rate(whole["in_neutral"], whole["located"]), self._hit),
            "invalid_outputs": (whole["invalid"], self._invalid),
            "invalid_share": (_rate(whole["invalid"], n), self._invalid),
            "missing_predictions": (self._missing, []),
        }


def keyword_sentences(sample: SpanSample, keywords: frozenset[str]) -> list[Span]:
    """The sentences in which a gold span holds an emotion keyword, as SEER counts them in Task 2 (section 10.4)."""
    terms, places = keyword_tokens(keywords), sample.places
    found = []
    for sentence in sample.sentences:
        for start, end in places:
            if start < sentence.end and sentence.start < end:
                piece = sample.text[max(start, sentence.start) : min(end, sentence.end)]
                if not terms.isdisjoint(tokens(piece)):
                    found.append((sentence.start, sentence.end))
                    break
    return found


def _places(scored: Scored) -> list[Span]:
    """Where the predicted spans stand, each once."""
    again = scored.repeated
    return [span for at, span in enumerate(scored.located) if span is not None and at not in again]


def _meets(start: int, end: int, spans: Sequence[Span]) -> bool:
    """Has a span a character in `[start, end)`?

    Of a list, because of so few a generator takes twice as long.
    """
    return True in [begins < end and start < ends for begins, ends in spans]


def _named(means: dict[str, Means], name: str | None, number: int, f1: float, sim: float | None) -> None:
    if name is not None:
        held = means.get(name)
        if held is None:
            held = means[name] = Means()
        held.add(number, f1, sim)


def _rate(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def over_repeats(tallies: Sequence[Tally]) -> SpanErrors:
    """Mean and standard deviation of each figure over repeats, or over annotators (section 9's average).

    A repeat in which a figure is undefined, or a label does not occur, is left out of it.

    Args:
        tallies: one a repeat, at least one.
    """
    return SpanErrors(
        len(tallies),
        _combined([tally.figures() for tally in tallies]),
        _by_label([tally.emotions for tally in tallies]),
        _by_label([tally.valences for tally in tallies]),
        _confusion(tallies),
    )


def _confusion(tallies: Sequence[Tally]) -> dict[tuple[str, str], Figure]:
    numbers: dict[tuple[str, str], list[int]] = {}
    for tally in tallies:
        for pair, found in tally.confused.items():
            numbers.setdefault(pair, []).extend(found)
    return {pair: Figure(len(found), None, tuple(sorted(set(found)))) for pair, found in numbers.items()}


def _by_label(each: Sequence[Mapping[str, Means]]) -> dict[str, dict[str, Figure]]:
    names = sorted({name for means in each for name in means})
    return {name: _combined([means[name].figures() for means in each if name in means]) for name in names}


def _combined(each: Sequence[Mapping[str, tuple[float | None, list[int]]]]) -> dict[str, Figure]:
    return {name: _figure(name, [figures[name] for figures in each]) for name in each[0]}


def _figure(name: str, each: Sequence[tuple[float | None, Iterable[int]]]) -> Figure:
    values = [value for value, _ in each]
    mean = known_mean(values)
    numbers = each[0][1] if len(each) == 1 else {number for _, numbers in each for number in numbers}
    return Figure(
        mean,
        known_sd(values),
        tuple(sorted(numbers)),
        WHY.get(name, "no samples") if mean is None else None,
    )
