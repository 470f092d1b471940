"""Adjudication: what several sources say of each text, one under the other, becomes one answer.

The result is an annotator's work like any other, in the same log: every step can be undone, it becomes a source under
its own name, and that can be made gold.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Literal

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.workbench.annotate.answers import Answer, SentenceSaid, SpanMark, fresh_spans, in_order, new_id
from emotui.workbench.annotate.events import Accept, AddSpan, Adopt
from emotui.workbench.annotate.marks import Said
from emotui.workbench.annotate.planning.order import ranges_of, spread
from emotui.workbench.annotate.scheme import TEXT, Scheme
from emotui.workbench.annotate.service import Annotating
from emotui.workbench.datasets.sources import make_gold

How = Literal["union", "majority"]


class Voice(msgspec.Struct, frozen=True):
    """What a source says of a text; None: nothing."""

    source: str
    answer: Answer | None


class Standing(msgspec.Struct, frozen=True):
    """How far the adjudication is: texts that sources agree and disagree about, and how many of each are settled.

    `alone`: texts that one source alone says something about.
    """

    agreed: int
    disagreed: int
    agreed_settled: int
    disagreed_settled: int
    alone: int


class Adjudicating:
    """Made by `Desk.adjudicate`. `work` holds the result: spans, labels, undo and redo as in annotation."""

    def __init__(self, work: Annotating, answers: Mapping[str, Mapping[int, Answer]]) -> None:
        self.work = work
        self.sources = work.between = tuple(answers)
        self._answers = answers
        ranges = ranges_of(work.scheme)
        self._apart: dict[int, float] = {}
        self.agreed: tuple[int, ...] = ()
        agreed, alone = [], []
        for number in work.order:
            said = self._said(number)
            if len(said) < 2:
                alone += [number] * len(said)
                continue
            if all(said[0].same_as(other) for other in said[1:]):
                agreed.append(number)
            else:
                self._apart[number] = spread(said, ranges)
        self.agreed = tuple(agreed)
        self.disagreed = tuple(self._apart)
        self.alone = tuple(alone)

    def _said(self, sample: int) -> list[Answer]:
        return [said[sample] for said in self._answers.values() if sample in said]

    def voices(self, sample: int) -> tuple[Voice, ...]:
        """What each source says, in their order: the first is the first digit's."""
        return tuple(Voice(name, said.get(sample)) for name, said in self._answers.items())

    def apart(self, sample: int) -> float:
        """How far the sources are apart, in [0, 1]."""
        return self._apart.get(sample, 0.0)

    def worst_first(self) -> tuple[int, ...]:
        """The texts that sources disagree about, the widest apart first."""
        return tuple(sorted(self.disagreed, key=lambda sample: -self._apart[sample]))

    def next_disagreement(
        self, sample: int | None = None, *, backwards: bool = False, within: Sequence[int] | None = None
    ) -> int | None:
        """The next text behind `sample` that sources disagree about and that is not settled, around the end.

        None: all are settled.

        Args:
            within: no other texts than these.
        """
        settled = self.work.accepted()
        there = self.disagreed if within is None else [*{*self.disagreed}.intersection(within)]
        left = sorted(one for one in there if one not in settled)
        if backwards:
            left.reverse()
        if not left:
            return None
        behind = [one for one in left if sample is None or (one < sample if backwards else one > sample)]
        return (behind or left)[0]

    def take(self, sample: int, source: str, *, accept: bool = False) -> Said:
        """Take a source's version in place of what stands there.

        Raises:
            BadInput: the source says nothing about the text, or its version does not fit the scheme.
        """
        answer = self._answers.get(source, {}).get(sample)
        if answer is None:
            raise BadInput(f"{source} says nothing about this text")
        return self.work.do(sample, Adopt(source, fresh(answer)), *[Accept()] * accept)

    def add(self, sample: int, span: SpanMark) -> Said:
        """Add one mark of a source to what stands there.

        Raises:
            BadInput: it is there already, or does not fit the scheme.
        """
        return self.work.do(sample, AddSpan(replace(span, id=new_id())))

    def merge(self, sample: int, sources: Sequence[str] = (), how: How = "union", *, accept: bool = False) -> Said:
        """Merge the versions of these sources (empty: of all) into one, in place of what stands there.

        Raises:
            BadInput: none of them says something about the text, or the result does not fit the scheme.
        """
        chosen = sources or self.sources
        answers = [self._answers[name][sample] for name in chosen if sample in self._answers.get(name, {})]
        if not answers:
            raise BadInput(f"{' and '.join(chosen)} say nothing about this text")
        joint = merged(answers, how, self.work.scheme)
        return self.work.do(sample, Adopt(" + ".join(chosen), joint), *[Accept()] * accept)

    def take_agreed(self, *, alone: bool = False) -> tuple[int, dict[int, str]]:
        """Settle all texts that the sources agree about and that nobody has touched yet, in one transaction.

        Args:
            alone: of texts that one source alone answered its answer is taken too.

        Returns:
            How many, and why some could not be settled, by their numbers.
        """
        changes = {}
        for sample in (*self.agreed, *(self.alone if alone else ())):
            if not self.work.begun(sample):
                source = next(name for name, said in self._answers.items() if sample in said)
                changes[sample] = (Adopt(source, fresh(self._answers[source][sample])), Accept())
        refused = self.work.do_all(changes)
        return len(changes) - len(refused), refused

    def standing(self) -> Standing:
        """How far the adjudication is."""
        settled = self.work.accepted()
        return Standing(
            len(self.agreed),
            len(self.disagreed),
            len(settled.intersection(self.agreed)),
            len(settled.intersection(self.disagreed)),
            len(self.alone),
        )

    def make_gold(self, *, keep_missing: bool = False) -> Dataset:
        """Make the result the next version of the dataset's gold.

        Args:
            keep_missing: texts that are not settled keep the gold that they have.

        Raises:
            BadInput: texts are not settled.
        """
        self.work.publish()
        return make_gold(self.work.store, self.work.dataset.name, self.work.annotator, keep_missing=keep_missing)


def fresh(answer: Answer) -> Answer:
    """The same answer whose spans have identities of their own."""
    return replace(answer, spans=fresh_spans(answer.spans))


def merged(answers: Sequence[Answer], how: How = "union", scheme: Scheme | None = None) -> Answer:
    """One answer out of several.

    `union`: every span and label that some answer has. `majority`: those that more than half of the answers have
    (EmoScene, appendix B, for labels). Numbers become their median; emotion and valence of a sentence, words, and the
    label of the text where the scheme has one of a group, what most say of those who say something, of a tie nothing.
    """
    least = 1 if how == "union" else len(answers) // 2 + 1
    places = Counter(place for answer in answers for place in answer.places)
    first = {(span.parts, span.label): span for answer in reversed(answers) for span in answer.spans}
    spans = [replace(first[place], id=new_id()) for place, n in places.items() if n >= least]
    said = [answer.labels for answer in answers if answer.labels is not None]
    labels = Counter(label for one in said for label in one)
    kept = [label for label, n in labels.items() if n >= least]
    for group in scheme.of(TEXT) if scheme is not None else ():
        if group.exclusive and group.labels:
            one = _most(next((label for label in each if label in group.names), None) for each in said)
            kept = [label for label in kept if label not in group.names or label == one]
    numbers = dict.fromkeys(name for answer in answers for name in answer.values)
    sentences = sorted({place for answer in answers for place in answer.sentences})
    masks = sorted({mask for answer in answers for mask in answer.words})
    words = {mask: _most(answer.words.get(mask) for answer in answers) for mask in masks}
    return Answer(
        spans=_tied(spans, answers, least),
        labels=tuple(kept) if said else None,
        values={name: float(median(one.values[name] for one in answers if name in one.values)) for name in numbers},
        sentences={place: _sentence(answers, place) for place in sentences},
        words={mask: word for mask, word in words.items() if word},
    )


def _tied(spans: Sequence[SpanMark], answers: Sequence[Answer], least: int) -> tuple[SpanMark, ...]:
    """Spans with the relations between them that so many answers have."""
    relations = Counter(tie for answer in answers for tie in answer.ties)
    kept = [tie for tie, n in relations.items() if n >= least]
    ids = {(span.parts, span.label): span.id for span in spans}
    return in_order(
        span.with_relations(
            (ids[to], kind) for source, to, kind in kept if source == (span.parts, span.label) and to in ids
        )
        for span in spans
    )


def _sentence(answers: Sequence[Answer], place: int) -> SentenceSaid:
    said = [answer.sentences.get(place, SentenceSaid()) for answer in answers]
    return SentenceSaid(emotion=_most(one.emotion for one in said), valence=_most(one.valence for one in said))


def _most(said: Iterable[str | None]) -> str | None:
    counts = Counter(one for one in said if one).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]
