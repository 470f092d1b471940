"""One sample's spans against the gold ones, with every kind of error named (SEER, sections 6, 9 and 10)."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import isnan
from typing import TYPE_CHECKING

import msgspec

from emotui.metrics.locating import locate_folded
from emotui.metrics.span_labels import differ, label_pairs, labelled_f1
from emotui.metrics.span_output import Parsed, parse_output
from emotui.metrics.span_tokens import TokenCounts, count_tokens
from emotui.metrics.spans import Pair, Similarity, align_words, sim_score
from emotui.metrics.tokens import Origins, Words, WordsBySpan, fold, tokens
from emotui.records import Mark, Span, SpanPrediction, SpanSample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONVENTION = (
    "spans 3: token F1 as SQuAD, Kuhn-Munkres by F1 then cosine, sum over max(gold, predicted); a span given "
    "twice counts once; places as given, else at word edges; sim all-MiniLM-L6-v2; keywords Empath positive and "
    "negative emotion"
)
"""What a stored score of spans was computed under."""

Embed = Callable[[Sequence[str]], "NDArray[np.floating]"]
"""Strings to their sentence embeddings, an array (n, d) of unit length; called once with each distinct string."""

NEUTRAL = "neutral"


class SentenceScore(msgspec.Struct, frozen=True, gc=False):
    """F1 and Sim of one sentence of a passage that is not neutral, by its place among the sample's sentences."""

    index: int
    f1: float
    sim: float | None


class SampleDetail(msgspec.Struct, frozen=True, gc=False):
    """One prediction of one sample, scored. Numbers of spans are places in `gold` or `predicted`.

    `located`: where each predicted span stands in the text; None where it is hallucinated, or all its places are
    taken. `missed` and `extra`: spans that are unmatched or matched with F1 0. `keyword`: a gold span holds an emotion
    keyword. `missing`: there was no prediction, and this is scored as one without spans. `void`: a highlight answer
    that changed the text; it scores 0, and its spans count for hallucination alone. `repeated`: predicted spans that
    stand in the answer before, with the same place (or, without a place of their own, the same words) and the same
    label: they are in no other list of places, and in no count.
    """

    id: str
    repeat: int
    f1: float
    sim: float | None
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    pairs: tuple[Pair, ...]
    located: tuple[Span | None, ...]
    hallucinated: tuple[int, ...]
    fixated: tuple[int, ...]
    keyword: bool
    neutral_hits: tuple[int, ...]
    missed: tuple[int, ...]
    extra: tuple[int, ...]
    invalid: str | None
    sentences: tuple[SentenceScore, ...]
    missing: bool = False
    void: bool = False
    tokens: TokenCounts | None = None
    gold_labels: tuple[str | None, ...] = ()
    predicted_labels: tuple[str | None, ...] = ()
    unlabelled: bool = False
    repeated: tuple[int, ...] = ()

    @property
    def predicted_once(self) -> int:
        """How many spans are predicted, each counted once."""
        return len(self.predicted) - len(self.repeated)

    @property
    def labelled(self) -> bool:
        """Whether there are labels on both sides."""
        return bool(self.gold_labels) and bool(self.predicted_labels)

    @property
    def label_pairs(self) -> tuple[tuple[str, str], ...]:
        """(gold, predicted) labels of the aligned pairs with F1 above 0 that have both."""
        return label_pairs(self)

    @property
    def wrong_labels(self) -> tuple[int, ...]:
        """Predicted spans whose label is not that of the gold span that they meet."""
        return tuple([pair.predicted for pair in self.pairs if pair.f1 and differ(self, pair)])

    @property
    def labelled_f1(self) -> float:
        """F1 where an aligned pair whose labels differ counts 0."""
        return labelled_f1(self)

    @property
    def precision(self) -> float | None:
        """The aligned pairs' F1 over the number of predicted spans, in [0, 1]; None without any."""
        return sum(pair.f1 for pair in self.pairs) / self.predicted_once if self.predicted else None

    @property
    def recall(self) -> float | None:
        """The aligned pairs' F1 over the number of gold spans, in [0, 1]; None without any."""
        return sum(pair.f1 for pair in self.pairs) / len(self.gold) if self.gold else None

    @property
    def values(self) -> dict[str, float | None]:
        """By the name of a metric what the sample scores; that of labels where both sides have any."""
        found = {"f1": self.f1, "sim": self.sim, "precision": self.precision, "recall": self.recall}
        return found | {"labelled_f1": self.labelled_f1} if self.labelled else found

    @property
    def marks(self) -> str:
        """The kinds of error that apply, as letters in the order of `emotui.store.query.MARKS`."""
        found = (self.hallucinated, self.fixated, self.neutral_hits, self.missed, self.extra, self.invalid)
        return "".join(letter for letter, some in zip("HFNMX!L", (*found, self.wrong_labels), strict=True) if some)


def score_samples(
    gold: Sequence[SpanSample],
    predicted: Sequence[SpanPrediction],
    embed: Embed | None,
    keywords: frozenset[str],
) -> list[SampleDetail]:
    """Every gold sample in every repeat that occurs among the predictions, by repeat and then in gold order.

    A sample without a prediction in a repeat counts as predicted without spans (`missing`). Without any predictions
    that is repeat 0 for all.

    Args:
        embed: for Sim; None leaves it out. Called at most once.
        keywords: emotion keywords for fixation (`emotui.lexicons.empath_keywords`).

    Raises:
        ValueError: a predicted id that is not in gold, an (id, repeat) or a gold id that comes twice.
    """
    known = {sample.id for sample in gold}
    if len(known) < len(gold):
        raise ValueError(f"id {_first_double([sample.id for sample in gold])!r} comes twice in gold")
    by_place: dict[tuple[str, int], SpanPrediction] = {}
    for prediction in predicted:
        if prediction.id not in known:
            raise ValueError(f"id {prediction.id!r} is not in gold")
        if (prediction.id, prediction.repeat) in by_place:
            raise ValueError(f"id {prediction.id!r} comes twice in repeat {prediction.repeat}")
        by_place[prediction.id, prediction.repeat] = prediction
    repeats = sorted({prediction.repeat for prediction in predicted}) or [0]
    return score_pairs(
        [(sample, by_place.get((sample.id, repeat)), repeat) for repeat in repeats for sample in gold], embed, keywords
    )


def score_pairs(
    pairs: Iterable[tuple[SpanSample, SpanPrediction | None, int]], embed: Embed | None, keywords: frozenset[str]
) -> list[SampleDetail]:
    """Just the given samples with just the given predictions, in that order; for a batch of a run, or one sample.

    Args:
        pairs: sample, its prediction (None: there is none), and the repeat.
        embed, keywords: as for `score_samples`.
    """
    terms = keyword_tokens(keywords)
    words = WordsBySpan()
    readings = (_read(sample, prediction, repeat, words) for sample, prediction, repeat in pairs)
    if embed is None:
        return [_score(reading, None, terms) for reading in readings]
    known = list(readings)
    similarity = _Cosines(embed, known)
    return [_score(reading, similarity, terms) for reading in known]


def _first_double(ids: Sequence[str]) -> str:
    return next(id for place, id in enumerate(ids) if id in ids[:place])


@lru_cache(maxsize=16)
def keyword_tokens(keywords: frozenset[str]) -> frozenset[str]:
    """Keywords as single tokens; one of several words cannot be "a token" of a span and falls out."""
    return frozenset(found[0] for keyword in keywords if len(found := tokens(keyword)) == 1)


class _Reading:
    """A sample and its prediction, taken apart before anything is scored, so that all strings are known at once.

    `places` has every span of the answer; `predicted` and `located` those that are not given again, which `kept` names
    by their places in the answer.
    """

    __slots__ = (
        *(
            "folded",
            "gold",
            "kept",
            "labels",
            "located",
            "missing",
            "parsed",
            "places",
            "predicted",
            "repeat",
            "sample",
        ),
        *("sentences", "tokens"),
    )

    sample: SpanSample
    repeat: int
    missing: bool
    parsed: Parsed
    gold: list[Words]
    predicted: list[Words]
    kept: list[int]
    places: tuple[Span | None, ...]
    folded: str
    labels: tuple[str | None, ...]
    located: tuple[Span | None, ...]
    sentences: list[tuple[int, list[Words], list[Words]]]
    tokens: TokenCounts


def _read(sample: SpanSample, prediction: SpanPrediction | None, repeat: int, words: WordsBySpan) -> _Reading:
    reading = _Reading()
    reading.sample = sample
    reading.repeat = repeat
    reading.missing = prediction is None
    reading.parsed = parsed = _parsed(prediction, sample.text)
    text, places = sample.text, sample.places
    reading.gold = [words[text[start:end]] for start, end in places]
    predicted = [words[span] for span in parsed.spans]
    reading.folded, origins = fold(text)
    marks = _marks(prediction)
    reading.labels = _some([mark.label if mark is not None else None for mark in marks])
    reading.places = _located(text, reading.folded, origins, predicted, marks)
    reading.kept = _once(predicted, reading.places, reading.labels)
    reading.predicted = [predicted[at] for at in reading.kept]
    reading.located = located = tuple([reading.places[at] for at in reading.kept])
    found = located if not parsed.void else (None,) * len(located)
    reading.tokens = count_tokens(text, reading.folded, origins, places, reading.gold, found, reading.predicted)
    reading.sentences = []
    for index, sentence in enumerate(sample.sentences):
        if sentence.emotion != NEUTRAL:
            gold = _clip(text, places, (sentence.start, sentence.end), words)
            clipped = _clip(text, located, (sentence.start, sentence.end), words)
            reading.sentences.append((index, gold, clipped))
    return reading


def _marks(prediction: SpanPrediction | None) -> list[Mark | None]:
    """Of each predicted span its mark, None where it is a string; nothing where no span is a mark."""
    spans = prediction.spans or () if prediction is not None else ()
    marks = [span if isinstance(span, Mark) else None for span in spans]
    return marks if any(marks) else []


def _located(
    text: str, folded: str, origins: Origins, predicted: Sequence[Words], marks: Sequence[Mark | None]
) -> tuple[Span | None, ...]:
    """Where the predicted spans stand: a mark where it says, a string where it is found."""
    strings = [span.folded for span in predicted]
    if not marks:
        return locate_folded(text, folded, origins, strings)
    strings = [span for span, mark in zip(strings, marks, strict=True) if mark is None]
    found = iter(locate_folded(text, folded, origins, strings))
    return tuple([next(found) if mark is None else mark.place for mark in marks])


def _once(predicted: Sequence[Words], places: Sequence[Span | None], labels: Sequence[str | None]) -> list[int]:
    """The spans of an answer, by their number, without those that it gives again.

    Given again is the same place, or, where equal words before it have taken every place, the same words; the label is
    the same too.
    """
    seen: set[tuple[object, str | None]] = set()
    kept = []
    for at, (span, place) in enumerate(zip(predicted, places, strict=True)):
        label = labels[at] if labels else None
        if (place or span.text, label) not in seen:
            kept.append(at)
        seen |= {(place, label), (span.text, label)} if place else {(span.text, label)}
    return kept


def _some(labels: Sequence[str | None]) -> tuple[str | None, ...]:
    return tuple(labels) if labels.count(None) < len(labels) else ()


def _parsed(prediction: SpanPrediction | None, text: str) -> Parsed:
    if prediction is None:
        return Parsed(())
    if prediction.spans is not None:
        return Parsed(
            tuple([span if isinstance(span, str) else text[span.start : span.end] for span in prediction.spans])
        )
    if prediction.output is None:
        raise ValueError(f"id {prediction.id!r} has neither spans nor output")
    return parse_output(prediction.output, prediction.style, prediction.cot, text)


def _clip(text: str, spans: Iterable[Span | None], bounds: Span, words: WordsBySpan) -> list[Words]:
    """What of the spans lies in a sentence; a blank that a span carries over the edge is none of it."""
    start, end = bounds
    pieces = (text[max(start, span[0]) : min(end, span[1])] for span in spans if span and _overlap(span, bounds))
    return [words[piece] for piece in pieces if not piece.isspace()]


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


class _Cosines:
    """Cosines between any two of the strings that will be aligned, each embedded once."""

    def __init__(self, embed: Embed, readings: Iterable[_Reading]) -> None:
        self._row: dict[str, int] = {}
        for reading in readings:
            if not reading.parsed.void:
                sides = [(reading.gold, reading.predicted)]
                sides += [(gold, predicted) for _, gold, predicted in reading.sentences]
                for gold, predicted in sides:
                    if gold and predicted:
                        for span in (*gold, *predicted):
                            self._row.setdefault(span.text, len(self._row))
        self._vectors = embed(list(self._row)) if self._row else None
        if self._vectors is not None and len(self._vectors) != len(self._row):
            raise ValueError(f"{len(self._row)} strings gave {len(self._vectors)} embeddings")

    def __call__(self, gold: Sequence[Words], predicted: Sequence[Words]) -> Similarity | None:
        """None where one of the strings has no embedding (a row of NaN), and is not on both sides alone."""
        if self._vectors is None or not gold or not predicted:
            return []
        rows = self._vectors[[self._row[span.text] for span in gold]].astype("float64")
        columns = self._vectors[[self._row[span.text] for span in predicted]].astype("float64")
        cosines: list[list[float]] = (rows @ columns.T).clip(-1.0, 1.0).tolist()
        # A string is exactly like itself, whatever rounding its unit length went through.
        for i, g in enumerate(gold):
            for j, p in enumerate(predicted):
                if g.text == p.text:
                    cosines[i][j] = 1.0
        return None if any(isnan(cosine) for row in cosines for cosine in row) else cosines


def _score(reading: _Reading, similarity: _Cosines | None, terms: frozenset[str]) -> SampleDetail:
    sample, gold, predicted = reading.sample, reading.gold, reading.predicted
    void = reading.parsed.void
    pairs, f1, sim = _void(similarity) if void else _aligned(gold, predicted, similarity)
    missed, extra = _unmet(pairs, len(gold), len(predicted))
    hits = _neutral_hits(reading) if sample.sentences and not void else ()
    hallucinated = _nowhere(reading)
    # A void answer's spans count for hallucination alone (FORMATS.md): it did not return the text that it marks.
    keyed = [span for span in gold if not terms.isdisjoint(span.unique)]
    fixated = _fixated(keyed, predicted, terms) if keyed and not void else ()
    repeated: tuple[int, ...] = ()
    if len(reading.kept) < len(reading.places):
        kept = reading.kept
        extra, hits, hallucinated, fixated = (
            tuple([kept[at] for at in among]) for among in (extra, hits, hallucinated, fixated)
        )
        pairs = tuple([msgspec.structs.replace(pair, predicted=kept[pair.predicted]) for pair in pairs])
        repeated = tuple(sorted(set(range(len(reading.places))) - set(kept)))
    return SampleDetail(
        id=sample.id,
        repeat=reading.repeat,
        f1=f1,
        sim=sim,
        gold=tuple([span.text for span in gold]),
        predicted=reading.parsed.spans,
        pairs=pairs,
        located=reading.places,
        hallucinated=hallucinated,
        fixated=fixated,
        keyword=bool(keyed),
        neutral_hits=hits,
        missed=missed,
        extra=extra,
        invalid=reading.parsed.invalid,
        sentences=tuple([_sentence(sides, similarity, void) for sides in reading.sentences])
        if sample.sentences
        else (),
        missing=reading.missing,
        void=void,
        tokens=reading.tokens,
        gold_labels=_some([mark.label for mark in sample.spans or ()]),
        predicted_labels=reading.labels,
        unlabelled=sample.spans is None,
        repeated=repeated,
    )


def _unmet(pairs: Sequence[Pair], gold: int, predicted: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Gold spans and predicted spans that are in no pair with F1 above 0."""
    met = [pair for pair in pairs if pair.f1]
    if len(met) == gold == predicted:
        return (), ()
    met_gold, met_predicted = {pair.gold for pair in met}, {pair.predicted for pair in met}
    return (
        tuple([i for i in range(gold) if i not in met_gold]),
        tuple([i for i in range(predicted) if i not in met_predicted]),
    )


def _nowhere(reading: _Reading) -> tuple[int, ...]:
    """Predicted spans whose words are not in the text."""
    if None not in reading.located:
        return ()
    return tuple([i for i, span in enumerate(reading.predicted) if span.folded not in reading.folded])


def _neutral_hits(reading: _Reading) -> tuple[int, ...]:
    """Predicted spans that lie in a neutral sentence, at least in part."""
    neutral = [(one.start, one.end) for one in reading.sample.sentences if one.emotion == NEUTRAL]
    return tuple(
        [i for i, span in enumerate(reading.located) if span and any(_overlap(span, other) for other in neutral)]
    )


def _void(similarity: _Cosines | None) -> tuple[tuple[Pair, ...], float, float | None]:
    return (), 0.0, None if similarity is None else 0.0


def _aligned(
    gold: Sequence[Words], predicted: Sequence[Words], similarity: _Cosines | None
) -> tuple[tuple[Pair, ...], float, float | None]:
    cosines = None if similarity is None else similarity(gold, predicted)
    pairs, f1 = align_words(gold, predicted, cosines)
    return pairs, f1, None if similarity is None else sim_score(pairs, len(gold), len(predicted))


def _sentence(sides: tuple[int, list[Words], list[Words]], similarity: _Cosines | None, void: bool) -> SentenceScore:
    index, gold, predicted = sides
    _, f1, sim = _void(similarity) if void else _aligned(gold, predicted, similarity)
    return SentenceScore(index, f1, sim)


def _fixated(keyed: Sequence[Words], predicted: Sequence[Words], terms: frozenset[str]) -> tuple[int, ...]:
    """Predicted spans that are nothing but a keyword, while a gold span that holds it has more tokens than that.

    Source: SEER, section 10.4.
    """
    longer = {token for span in keyed if span.count > 1 for token in span.unique & terms}
    return tuple(i for i, span in enumerate(predicted) if span.count == 1 and span.unique <= longer)
