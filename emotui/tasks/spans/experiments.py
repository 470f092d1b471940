"""SEER's prompting experiments (appendices A and B): can a model answer in the format at all, on plain sentences?

0 gives the text back; 1 finds a sentence that it is told; 2 finds evidence among three spans that it is shown; 3 finds
evidence unaided. A model that passes 3 goes on to the main tasks (section 7.2).
"""

import random
from collections.abc import Sequence
from statistics import fmean

from emotui.errors import BadInput
from emotui.metrics.repeats import known_mean, known_sd
from emotui.metrics.span_scoring import NEUTRAL, SampleDetail
from emotui.metrics.tokens import tokens
from emotui.records import Mark, Sentence, Span, SpanSample, marks_at

EXPERIMENTS = (0, 1, 2, 3)
PREFIX = "prompting-"
"""Begins the id of every sample of an experiment, before its number."""

MOST = 10
"""Sentences in the longest text (appendix B.2)."""

GATE = 0.5
"""The F1 in experiment 3 that leads on to the main tasks (section 7.2)."""


def hand_crafted() -> list[SpanSample]:
    """This project's sentences: ten neutral, two for each emotion, then five for each valence (appendix A)."""
    from importlib.resources import as_file, files

    from emotui.formats import read

    with as_file(files("emotui.sample_data") / "prompting_sentences.jsonl") as path:
        return read(str(path), SpanSample).records


def experiment(number: int, sentences: Sequence[SpanSample], seed: int = 0) -> list[SpanSample]:
    """The samples of one experiment: 100, 90, 432 and 432 from the paper's number of sentences (appendix B.2).

    Args:
        sentences: as `hand_crafted`; those of emotion `neutral` fill the texts.
        seed: the same seed gives the same samples.

    Raises:
        BadInput: no such experiment, or fewer than ten neutral sentences.
    """
    if number not in EXPERIMENTS:
        raise BadInput(f"there is no experiment {number}; there are 0, 1, 2 and 3")
    neutral = [sentence for sentence in sentences if sentence.emotion == NEUTRAL]
    if len(neutral) < MOST:
        raise BadInput(f"the experiments need {MOST} neutral sentences; there are {len(neutral)}")
    chance = random.Random(seed)
    if number == 0:
        return [_reproduced(neutral, n, k, chance) for n in range(1, MOST + 1) for k in range(10)]
    if number == 1:
        return [_targeted(neutral, n, k, chance) for n in range(2, MOST + 1) for k in range(10)]
    # B.2 speaks of two variants and of three sets of neutral sentences; its 432 samples are two.
    felt = [sentence for sentence in sentences if sentence.emotion != NEUTRAL]
    return [
        _embedded(number, neutral, sentence, n, k, chance)
        for n in range(2, MOST + 1)
        for sentence in felt
        for k in range(2)
    ]


def _reproduced(neutral: Sequence[SpanSample], n: int, k: int, chance: random.Random) -> SpanSample:
    """The whole text is gold."""
    text = " ".join(sentence.text for sentence in chance.sample(neutral, n))
    return SpanSample(id=f"{PREFIX}0-n{n:02}-{k}", text=text, spans=(Mark(0, len(text)),), emotion=NEUTRAL)


def _targeted(neutral: Sequence[SpanSample], n: int, k: int, chance: random.Random) -> SpanSample:
    """One of the sentences is gold."""
    text, places = _joined([sentence.text for sentence in chance.sample(neutral, n)])
    return SpanSample(id=f"{PREFIX}1-n{n:02}-{k}", text=text, spans=marks_at([chance.choice(places)]), emotion=NEUTRAL)


def _embedded(
    number: int, neutral: Sequence[SpanSample], felt: SpanSample, n: int, k: int, chance: random.Random
) -> SpanSample:
    """The evidence of one sentence is gold, wherever that stands among the neutral ones."""
    chosen = chance.sample(neutral, n - 1)
    chosen.insert(chance.randrange(n), felt)
    text, places = _joined([sentence.text for sentence in chosen])
    first = places[chosen.index(felt)][0]
    return SpanSample(
        id=f"{PREFIX}{number}-n{n:02}-{felt.id}-{k}",
        text=text,
        spans=marks_at((first + start, first + end) for start, end in felt.places),
        sentences=tuple(
            Sentence(start=start, end=end, emotion=sentence.emotion, valence=sentence.valence)
            for (start, end), sentence in zip(places, chosen, strict=True)
        ),
    )


def _joined(texts: Sequence[str]) -> tuple[str, list[Span]]:
    """The texts with a space between, and where each stands."""
    places, at = [], 0
    for text in texts:
        places.append((at, at + len(text)))
        at += len(text) + 1
    return " ".join(texts), places


def options(sample: SpanSample) -> tuple[str, ...]:
    """Experiment 2: three spans to choose from: the gold ones, one or two, and pieces of neutral sentences.

    The same for the same text.

    Source: appendix B.2. The prompt that the paper prints (Table 12) shows none, though its text says that they are.
    """
    chance = random.Random(sample.text)
    found = [sample.text[start:end] for start, end in sample.places]
    pieces = [
        piece
        for sentence in sample.sentences
        if sentence.emotion == NEUTRAL
        for piece in _halves(sample.text[sentence.start : sentence.end])
    ]
    found += chance.sample(pieces, max(0, min(3 - len(found), len(pieces))))
    chance.shuffle(found)
    return tuple(found)


def _halves(sentence: str) -> tuple[str, str]:
    words = sentence.rstrip(".!?").split(" ")
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


def target(sample: SpanSample) -> str:
    """Experiment 1: the sentence to find."""
    return sample.text[sample.spans[0].start : sample.spans[0].end] if sample.spans else ""


def figures(samples: Sequence[SpanSample], details: Sequence[SampleDetail]) -> dict[str, object]:
    """Of a run of an experiment, under `experiment`; empty for any other.

    `em`: the share of samples whose spans are the gold ones, compared as SQuAD does (lower case, without punctuation
    and articles). Experiment 0 also `em_letters`: the share of texts given back letter by letter, only white space at
    the ends aside; the paper does not say which of both it counts (Table 7). Experiments 2 and 3: `f1`, `sim` and `em`
    for emotions (`categorical`) and valences apart, and of experiment 3 whether the model may go on. With repeats:
    means, and `sd`, their standard deviation (n-1). `ci95`: intervals; texts around one sentence go together.
    """
    numbers = {sample.id.removeprefix(PREFIX)[:1] for sample in samples if sample.id.startswith(PREFIX)}
    if len(numbers) != 1 or any(not sample.id.startswith(PREFIX) for sample in samples):
        return {}
    number = int(numbers.pop())
    half = {sample.id: half_of(sample) for sample in samples}
    found: dict[str, object] = {"number": number, "all": _means(details, letters=number == 0)}
    for name in ("categorical", "valence"):
        chosen = [detail for detail in details if half[detail.id] == name]
        if chosen:
            found[name] = _means(chosen)
    if number == 3:
        parts = [
            fmean(d.f1 for d in details if half[d.id] == name) for name in ("categorical", "valence") if name in found
        ]
        found["goes_on"] = len(parts) == 2 and goes_on(*parts)
    return {"experiment": found}


def goes_on(categorical: float, valence: float) -> bool:
    """Whether these F1 of experiment 3 lead on to the main tasks.

    The paper does not say over which samples, nor how exactly, F1 is to reach 0.5. Both halves at two decimals is what
    fits the models that it retained by its Tables 8 and 9: Gemma 3 1B (0.567, 0.492) was not, Qwen 3 14B (0.620, 0.499)
    was.

    Source: section 7.2.
    """
    return round(categorical, 2) >= GATE and round(valence, 2) >= GATE


def half_of(sample: SpanSample) -> str | None:
    """Whether a sample of experiment 2 or 3 has the sentence of an emotion (`categorical`) or of a `valence`."""
    felt = [sentence for sentence in sample.sentences if sentence.emotion != NEUTRAL]
    return ("valence" if felt[0].emotion is None else "categorical") if felt else None


def _means(details: Sequence[SampleDetail], *, letters: bool = False) -> dict[str, object]:
    by_repeat: dict[int, list[SampleDetail]] = {}
    for detail in details:
        by_repeat.setdefault(detail.repeat, []).append(detail)
    figures: dict[str, list[float | None]] = {
        "f1": [fmean(detail.f1 for detail in one) for one in by_repeat.values()],
        "sim": [_mean_sim(one) for one in by_repeat.values()],
        "em": [fmean(_exact(detail) for detail in one) for one in by_repeat.values()],
    }
    if letters:
        figures["em_letters"] = [fmean(_same_letters(detail) for detail in one) for one in by_repeat.values()]
    means: dict[str, object] = {"n": len({detail.id for detail in details})}
    means |= {name: known_mean(values) for name, values in figures.items()}
    if len(by_repeat) > 1:
        means["sd"] = {name: known_sd(values) for name, values in figures.items()}
    from emotui.metrics.beside import with_beside  # needs numpy, and the figures themselves do not

    return with_beside(means, _sureness(details, tuple(figures)))


def _sureness(details: Sequence[SampleDetail], names: Sequence[str]) -> dict[str, object]:
    # Imported here because they need numpy, and the figures themselves do not.
    from emotui.metrics.beside import Drawn, Resampled, beside_repeats, ratios

    def resampled(here: Sequence[SampleDetail], by: Drawn) -> Resampled:
        one = [1.0] * len(here)
        parts = {
            "f1": ([detail.f1 for detail in here], one),
            "em": ([float(_exact(detail)) for detail in here], one),
            "em_letters": ([float(_same_letters(detail)) for detail in here], one),
        }
        if all(detail.sim is not None for detail in here):
            parts["sim"] = [detail.sim or 0.0 for detail in here], one
        return ratios({name: parts[name] for name in names if name in parts}, by)

    return beside_repeats(details, {detail.id: _sentence_of(detail.id) for detail in details}, resampled)


def _sentence_of(sample: str) -> str | None:
    """Which sentence with a feeling a text of experiment 2 or 3 was built around, None of another."""
    return "-".join(sample.removeprefix(PREFIX).split("-")[2:-1]) or None


def _mean_sim(details: Sequence[SampleDetail]) -> float | None:
    sims = [detail.sim for detail in details if detail.sim is not None]
    return fmean(sims) if sims else None


def _exact(detail: SampleDetail) -> bool:
    if detail.void:
        return False
    return sorted(map(tokens, detail.gold)) == sorted(map(tokens, detail.predicted))


def _same_letters(detail: SampleDetail) -> bool:
    said = [span.strip() for span in detail.predicted]
    return not detail.void and said == [span.strip() for span in detail.gold]
