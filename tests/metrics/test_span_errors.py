"""SEER's error analysis counted in one pass, against the report that is made from whole details."""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.annotators import best_each, score_annotators
from emotui.metrics.span_errors import (
    WHY,
    Facts,
    Figure,
    Labels,
    SpanErrors,
    Tally,
    keyword_sentences,
    over_repeats,
)
from emotui.metrics.span_report import report
from emotui.metrics.span_scoring import SampleDetail, score_samples
from emotui.records import Mark, Sentence, SpanPrediction, SpanSample

KEYWORDS = frozenset({"joy", "hate"})
WORDS = ("joy", "hate", "day", "the", "bus", "Hate!", "grim")


def embed(texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    places = np.array([[len(text) + 1.0, text.count("e") + 0.5] for text in texts])
    return places / np.linalg.norm(places, axis=1, keepdims=True)


@st.composite
def samples(draw: st.DrawFn, number: int) -> SpanSample:
    """One to three sentences of two to four words; gold spans and annotators at word edges."""
    sentences, words, text = [], [], ""
    for _ in range(draw(st.integers(1, 3))):
        start = len(text)
        for word in draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=4)):
            words.append((len(text), len(text) + len(word)))
            text += word + " "
        feeling = draw(
            st.sampled_from([("neutral", "neutral"), ("happy", "positive"), ("sad", "neutral"), (None, None)])
        )
        sentences.append(Sentence(start=start, end=len(text) - 1, emotion=feeling[0], valence=feeling[1]))
    text = text[:-1]
    passage = draw(st.booleans())

    def spans() -> tuple[Mark, ...]:
        edges = sorted(draw(st.lists(st.integers(0, len(words) - 1), unique=True, max_size=4)))
        return tuple(Mark(words[a][0], words[b][1]) for a, b in zip(edges[::2], edges[1::2], strict=False))

    return SpanSample(
        id=str(number),
        text=text,
        spans=spans(),
        emotion=None if passage else draw(st.sampled_from(["happy", "sad", None])),
        valence=None if passage else draw(st.sampled_from(["positive", None])),
        sentences=tuple(sentences) if passage else (),
        annotators={"a": spans(), "b": spans()} if draw(st.booleans()) else {"a": spans()},
    )


@st.composite
def golds(draw: st.DrawFn) -> list[SpanSample]:
    return [draw(samples(number)) for number in range(draw(st.integers(1, 5)))]


@st.composite
def predictions(draw: st.DrawFn, gold: Sequence[SpanSample], repeats: int) -> list[SpanPrediction]:
    """Spans cut anywhere out of the text, spans made up, marked texts whole and altered, and nothing at all."""
    found = []
    for repeat in range(repeats):
        for sample in gold:
            kind = draw(st.sampled_from(["spans", "spans", "spans", "altered", "missing"]))
            if kind == "spans":
                cuts = st.tuples(st.integers(0, len(sample.text)), st.integers(1, 9)).map(
                    lambda cut, text=sample.text: text[cut[0] : cut[0] + cut[1]]  # type: ignore[misc]
                )
                spans = tuple(draw(st.lists(st.one_of(cuts, st.sampled_from(["made up", "joy", "hate"])), max_size=3)))
                found.append(SpanPrediction(id=sample.id, repeat=repeat, spans=spans))
            elif kind == "altered":
                output = f"**{sample.text[:4]}** and more"
                found.append(SpanPrediction(id=sample.id, repeat=repeat, output=output, style="highlight"))
    return found


def labels_of(sample: SpanSample) -> Labels:
    return msgspec.json.decode(msgspec.json.encode(sample), type=Labels)


def facts_of(detail: SampleDetail) -> Facts:
    return msgspec.json.decode(msgspec.json.encode(detail), type=Facts)


def tallied(gold: Sequence[SpanSample], details: Sequence[SampleDetail]) -> SpanErrors:
    tallies: dict[int, Tally] = {}
    for detail in details:
        place = next(at for at, sample in enumerate(gold) if sample.id == detail.id)
        tallies.setdefault(detail.repeat, Tally()).add(place, labels_of(gold[place]), facts_of(detail))
    return over_repeats(list(tallies.values()))


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_every_figure_and_its_sd_is_that_of_the_report(data: st.DataObject) -> None:
    gold = data.draw(golds())
    said = data.draw(predictions(gold, data.draw(st.integers(1, 3))))
    details = score_samples(gold, said, data.draw(st.sampled_from([embed, None])), KEYWORDS)
    expected = report(gold, details)
    found = tallied(gold, details)
    sd = expected.get("sd", {})
    assert isinstance(sd, Mapping)
    for name, figure in found.figures.items():
        if name in expected:
            assert figure.value == expected[name], name
            assert figure.sd == sd.get(name), name
    for name, means in (("by_emotion", found.by_emotion), ("by_valence", found.by_valence)):
        by_name = expected[name]
        assert isinstance(by_name, Mapping)
        assert {label: {key: one.value for key, one in m.items()} for label, m in means.items()} == by_name


def test_a_passage_beside_a_text_of_its_own_worked_by_hand() -> None:
    alone = SpanSample(id="0", text="so grim a day", spans=(Mark(3, 7),), emotion="sad")
    sentences = (Sentence(start=0, end=11, emotion="neutral"), Sentence(start=12, end=20, emotion="sad"))
    passage = SpanSample(id="1", text="What a bus. Grim day", spans=(Mark(12, 16),), sentences=sentences)
    said = [SpanPrediction(id="0", spans=("grim", "made up")), SpanPrediction(id="1", spans=("bus",))]
    found = tallied([alone, passage], score_samples([alone, passage], said, None, KEYWORDS)).figures
    # "grim" and "bus" stand in their texts, and "bus" in a neutral sentence.
    assert (found["neutral_span_share"].value, found["neutral_span_share"].samples) == (1 / 2, (1,))
    assert (found["missed_spans"].value, found["missed_spans"].samples) == (1, (1,))
    assert (found["extra_spans"].value, found["extra_spans"].samples) == (2, (0, 1))
    # Of "grim", "made", "up" and "bus" one is right, and of "grim" and "Grim" one is found.
    tokens = [found[f"token_{name}"].value for name in ("precision", "recall", "f1")]
    assert tokens == [1 / 4, 1 / 2, 2 / 6]


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_behind_a_rate_stand_just_the_samples_that_were_hit_in_some_repeat(data: st.DataObject) -> None:
    gold = data.draw(golds())
    details = score_samples(gold, data.draw(predictions(gold, 2)), None, KEYWORDS)
    figures = tallied(gold, details).figures
    place = {sample.id: at for at, sample in enumerate(gold)}

    def those(hit: "list[bool]") -> tuple[int, ...]:
        return tuple(sorted({place[detail.id] for detail, yes in zip(details, hit, strict=True) if yes}))

    assert figures["f1"].samples == tuple(range(len(gold)))
    assert figures["hallucination_rate"].samples == those([bool(d.hallucinated) for d in details])
    assert figures["fixation_rate"].samples == those([bool(d.fixated) for d in details])
    assert figures["neutral_sentence_fpr"].samples == those([bool(d.neutral_hits) for d in details])
    assert figures["invalid_outputs"].samples == those([d.invalid is not None for d in details])


def sims(details: Sequence[SampleDetail]) -> list[float]:
    return [one.sim for one in details if one.sim is not None]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_annotators_as_repeats_give_the_papers_average_and_the_best_its_best(data: st.DataObject) -> None:
    gold = data.draw(golds())
    scored = score_annotators(gold, embed, KEYWORDS)
    place = {sample.id: at for at, sample in enumerate(gold)}
    tallies = []
    for details in (*scored.values(), best_each(scored)):
        tally = Tally()
        for detail in details:
            tally.add(place[detail.id], labels_of(gold[place[detail.id]]), detail)
        tallies.append(tally)
    f1 = [fmean(one.f1 for one in details) for details in scored.values()]
    sim = [fmean(known) for details in scored.values() if (known := sims(details))]
    winners = best_each(scored)
    average, best = over_repeats(tallies[:-1]).figures, over_repeats(tallies[-1:]).figures
    assert average["f1"].value == pytest.approx(fmean(f1) if f1 else None)
    assert average["f1"].sd == (None if len(f1) < 2 else pytest.approx(stdev(f1)))
    assert average["sim"].value == pytest.approx(fmean(sim) if sim else None)
    assert best["f1"].value == pytest.approx(fmean(one.f1 for one in winners) if winners else None)
    assert best["sim"].value == pytest.approx(fmean(sims(winners)) if sims(winners) else None)


def test_an_undefined_figure_says_what_it_lacks() -> None:
    gold = [SpanSample(id="1", text="a day", spans=())]
    figures = tallied(gold, score_samples(gold, [SpanPrediction(id="1", spans=())], None, KEYWORDS)).figures
    undefined = {name: figure.why for name, figure in figures.items() if figure.value is None}
    assert undefined == {name: why for name, why in WHY.items() if name not in ("f1", "invalid_share")}


def test_a_figure_is_the_mean_of_those_repeats_that_have_it() -> None:
    gold = [SpanSample(id="1", text="a joy to see", spans=(Mark(2, 12),))]
    said = [
        SpanPrediction(id="1", repeat=0, spans=("joy", "made up")),
        SpanPrediction(id="1", repeat=1, spans=()),
        SpanPrediction(id="1", repeat=2, spans=("joy to see",)),
    ]
    found = tallied(gold, score_samples(gold, said, None, KEYWORDS)).figures
    assert found["hallucination_rate"] == Figure(fmean([0.5, 0.0]), stdev([0.5, 0.0]), (0,))
    # "joy" against "joy to see": 2 of 4 tokens, halved by the second span; then 0; then 1.
    assert found["f1"] == Figure(fmean([0.25, 0.0, 1.0]), stdev([0.25, 0.0, 1.0]), (0,))
    assert found["fixation_rate"] == Figure(fmean([1, 0, 0]), stdev([1, 0, 0]), (0,))


def test_of_a_passage_fixation_is_also_counted_by_sentence() -> None:
    # A keyword in two sentences; in the second the prediction is it alone. The third holds one outside gold.
    text = "What joy to see. I hate this so. A hate of it."
    sample = SpanSample(
        id="1",
        text=text,
        spans=(Mark(0, 15), Mark(17, 31)),
        sentences=tuple(Sentence(start=a, end=b, emotion="happy") for a, b in ((0, 16), (17, 32), (33, 46))),
    )
    assert keyword_sentences(sample, KEYWORDS) == [(0, 16), (17, 32)]
    said = [
        SpanPrediction(id="1", repeat=0, spans=("What joy to see", "hate")),
        SpanPrediction(id="1", repeat=1, spans=("joy", "hate")),
    ]
    tallies = []
    for detail in score_samples([sample], said, None, KEYWORDS):
        tally = Tally()
        tally.add(5, labels_of(sample), facts_of(detail), keyword_sentences(sample, KEYWORDS))
        tallies.append(tally)
    figures = over_repeats(tallies).figures
    assert figures["fixation_rate"].value == 1.0
    assert figures["fixation_rate_by_sentence"] == Figure(0.75, stdev([0.5, 1.0]), (5,))


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_no_sentence_is_fixated_in_a_passage_that_is_not(data: st.DataObject) -> None:
    gold = [data.draw(samples(0))]
    (detail,) = score_samples(gold, data.draw(predictions(gold, 1)), None, KEYWORDS)
    keyed = keyword_sentences(gold[0], KEYWORDS)
    assert bool(keyed) <= (detail.keyword and bool(gold[0].sentences))
    tally = Tally()
    tally.add(0, labels_of(gold[0]), facts_of(detail), keyed)
    rate = over_repeats([tally]).figures["fixation_rate_by_sentence"]
    assert (rate.value is None) == (not keyed)
    assert (rate.value or 0) <= bool(detail.fixated)
