"""EmoScene: which of Plutchik's eight emotions does the person in a scenario feel, all of them at once?

A run asks yes or no for each emotion and keeps both logits, so that vectors can be decoded jointly afterwards
(section 4.2) without asking again. There are five ways to ask, which are never mixed in one run:

- `heads`: a model with a head for each emotion, or a classifier with a label for each; the log-odds are its own.
- `nli`: an NLI model; does the scene entail that the person feels the emotion (yes), or contradict it (no)?
- `first-token`: a generative model; the scene once, eight questions after it, yes against no at the very next token.
- `reasoned`: as the paper's evaluation prompt asks (appendix E): a model first reasons and says from 1 to 5 how sure it
  is, and yes stands against no at the place of its answer. Eight generations a scenario. An emotion that comes to no
  answer is not predicted, and even odds stand for it.
- `yes-no`: a model that writes and tells no probabilities; the same questions, each answered in words. Such hard
  answers have no logits: decoding weighs them by how often they are right (`emotui.metrics.reliability`).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from emotui.backends.base import ModelCard
from emotui.backends.grammars import reasoned_answer
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.baselines import drawn_golds, majority
from emotui.metrics.beside import Drawn, Resampled, beside_repeats, vectors
from emotui.metrics.labels import as_table
from emotui.metrics.metric import Metric
from emotui.metrics.repeats import by_repeat
from emotui.metrics.scenes import label_counts, micro_f1, scenes_metrics, scenes_report
from emotui.metrics.span_scoring import Embed
from emotui.metrics.thresholds import USUAL
from emotui.records import PLUTCHIK, ScenesGold, ScenesPrediction, Text
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tables import number_of
from emotui.tasks.measures import SCENES
from emotui.tasks.parts import (
    LITTLE_MASS,
    Asking,
    Embedding,
    OwnSamples,
    SaidLine,
    TaskFiles,
    TaskWords,
    little_mass,
    matched_all,
    no_answers,
    predictions_of,
    said_of_little_mass,
    said_of_no_answers,
    shared_by,
    shared_of,
    to_map,
    with_notes,
)
from emotui.tasks.prompting.settings import (
    ANSWER,
    COT,
    DIRECT,
    NLI,
    YES_NO,
    ZERO_SHOT,
    InWords,
    Writing,
    options_from,
)
from emotui.tasks.published import published_table
from emotui.tasks.scenes.asking import (
    FIRST_TOKEN,
    HEADS,
    MAX_TOKENS,
    NO_ANSWER,
    PROMPTS,
    REASONED,
    RETRY_TEMPERATURE,
    WAYS,
    Raw,
    Reasoning,
    ask_first_token,
    ask_heads,
    ask_in_words,
    ask_nli,
    ask_reasoned,
    confidence_in,
    read_scenes_prompts,
    room_of,
    shared_and_asked,
    wants_reasons,
)
from emotui.tasks.task import Asked, AskModel, Parsed, Task

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures

VERSION = "1"
_F1 = "F1 of a vector, 1 where gold and predicted are both empty"
CONVENTION = f"scenes 1: yes where its logit is above no's; {_F1}"
OF_LABELS = f"scenes 1: labels as they are given, without scores; {_F1}"


HARD = "answers are yes and no in words, without probabilities: decoding weighs them by how often they are right"

_OPTIONS = {
    HEADS: ("matched",),
    REASONED: ("prompts", "constrain", "max_tokens", "retries"),
    YES_NO: ("prompts", "max_tokens"),
}
"""Of the ways that have others than prompts alone."""


class Prediction(msgspec.Struct, frozen=True):
    """What was parsed from one scenario's answers. `labels`: 1 where yes is above no.

    `censored`: the emotions of which a server kept a side back (`yes`, `no` or `both`); that side's score is then the
    highest that it can be. `unanswered`: why there is no answer about an emotion, whose scores are then even. Without
    `scores` the labels are hard answers: yes and no in words.
    """

    way: str
    scores: Mapping[str, tuple[float, float]]
    labels: Mapping[str, int]
    confidence: Mapping[str, int] = {}
    mass: Mapping[str, float] = {}
    censored: Mapping[str, str] = {}
    unanswered: Mapping[str, str] = {}

    @property
    def hard(self) -> bool:
        """Whether there are labels and no scores behind them."""
        return bool(self.labels) and not self.scores

    @property
    def little_mass(self) -> dict[str, float]:
        """The probability of yes and no together, of emotions of which it is little."""
        return {name: mass for name, mass in self.mass.items() if mass < LITTLE_MASS}

    @property
    def doubtful(self) -> bool:
        """Whether there is an emotion with little mass, or without an answer."""
        return bool(self.unanswered) or bool(self.little_mass)


class Detail(msgspec.Struct, frozen=True):
    """One scenario's gold vector and the model's own (alpha 0), in the order of `labels`."""

    id: str
    repeat: int
    labels: tuple[str, ...]
    gold: tuple[int, ...]
    predicted: tuple[int, ...]


def score_files(
    golds: Sequence[ScenesGold], answers: Sequence[ScenesPrediction], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, Any]:
    """The document of `emotui score scenes`. A record without an answer counts as no emotion predicted."""
    gold = {record.id: record.labels for record in golds}
    said = {record.id: _vector(record) for record in answers}
    silent = [key for key, vector in said.items() if not vector]
    shared = [shared_by(record.meta) for record in golds]
    document = scenes_report(gold, said | {key: dict.fromkeys(gold.get(key, {}), 0) for key in silent}, shared)
    if silent:
        document["notes"]["n"] = (
            f"{number_of(len(silent), 'record')} without an answer: counted as no emotion predicted"
        )
    return document


def score_baselines(
    golds: Sequence[ScenesGold], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, Any]]:
    """The figures of `majority` (for each label the more frequent of 0 and 1; 0 where they are equal) and `random`
    (each record gets the gold labels of one that is drawn).
    """
    gold = {record.id: record.labels for record in golds}
    names = list(golds[0].labels) if golds else []
    most = dict(zip(names, majority([[row.get(name, 0) for name in names] for row in gold.values()]), strict=True))
    shared = [shared_by(record.meta) for record in golds]
    return {
        "majority": scenes_report(gold, dict.fromkeys(gold, most), shared),
        "random": scenes_report(gold, dict(zip(gold, drawn_golds(list(gold.values())), strict=True)), shared),
    }


METRICS = (
    Metric("vector_f1", (0, 1), True, "F1 over the labels of the text; 1 where both vectors are empty", "F1"),
    Metric("lexical_accuracy", (0, 1), True, "share of the text's labels that are right", "Acc_l"),
    Metric("vector_accuracy", (0, 1), True, "1 where every label of the text is right, else 0", "Acc_v"),
)


def _vector(record: ScenesPrediction) -> Mapping[str, int | Sequence[float]]:
    found: Mapping[str, int | Sequence[float]] = record.scores if record.scores is not None else record.labels or {}
    return found


class SceneLabels:
    """The emotions that are asked about: the samples' own, or Plutchik's eight."""

    always = False

    def of_file(self, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
        """Raises BadInput for a label that a model with heads has none for."""
        if given is None:
            return PLUTCHIK
        if _own_labels(card):
            matched_all(given, _own_labels(card), card.spec)
            return tuple(given)
        known = set(card.labels.get("plutchik", PLUTCHIK))
        strange = [label for label in given if label not in known]
        if strange and card.labels:
            own = ", ".join(sorted(known))
            raise BadInput(f"{card.spec} has no label {strange[0]!r}; it knows: {own}{to_map(strange[0], known)}")
        return tuple(given)

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[ScenesGold]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """Labels come with the samples; with `matched`, the label of a classifier for each of them.

        Raises:
            BadInput: the classifier lacks one of them, or has one for two; one line.
        """
        own = _own_labels(card)
        first = next(iter(samples()), None) if own and way == HEADS else None
        return options if first is None else {**options, "matched": matched_all(tuple(first.labels), own, card.spec)}


def _own_labels(card: ModelCard) -> tuple[str, ...]:
    """The labels of a classifier; none of a model that has heads for yes and no."""
    if HEADS_OF in card.labels or not {"classify", "score"} <= set(card.capabilities):
        return ()
    return next(iter(card.labels.values()), ())


HEADS_OF = "score"
"""Under which name a card has the labels that its heads are for."""


class Settings(Writing, frozen=True, omit_defaults=True):
    """What a run is asked with. `matched`: a classifier's own label for each of the samples'."""

    matched: Mapping[str, str] = {}


class Scenes(Task):
    """The task as those see it who run it."""

    name = "scenes"
    version = VERSION
    sample = ScenesGold
    metrics = METRICS
    prediction = Prediction
    words = TaskWords(
        title="Emotion vectors (EmoScene)",
        progress="asking about",
        runs="Run whose answers are decoded",
        without_run="gold alone",
        asks="multi-label classification of the emotions of a scene",
        measures=SCENES,
    )
    files = TaskFiles(
        kind="scenes",
        predicted=ScenesPrediction,
        score=score_files,
        baselines=score_baselines,
        about="Emotion vectors (EmoScene): lexical and vector accuracy, Hamming loss, macro and micro F1.",
        label_columns=True,
        labelled=lambda sample: not sample.unknown,
        own=OwnSamples("scenes", ("scenes.jsonl",)),
    )
    asking = Asking(
        ways=(HEADS, NLI, *WAYS),
        offered=WAYS,
        named={DIRECT: HEADS, ZERO_SHOT: FIRST_TOKEN, COT: REASONED},
        prompts=read_scenes_prompts,
    )
    labels = SceneLabels()
    scores_unlabelled = False

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()

    def blank(self, text: Text, labels: Sequence[str] = ()) -> ScenesGold:
        """A scenario whose emotions are not known."""
        asked = tuple(labels or PLUTCHIK)
        return ScenesGold(
            id=text.id, text=text.text, subject=text.subject, labels=dict.fromkeys(asked, 0), unknown=asked
        )

    def problem(self, sample: ScenesGold, first: ScenesGold) -> str | None:
        """A scenario without a text, or with other labels than the first."""
        if not sample.text:
            return "a scenario needs its text"
        if set(sample.labels) != set(first.labels):
            return f"its labels are not those of the first scenario: {', '.join(first.labels)}"
        return None

    def row(self, sample: ScenesGold) -> SampleRow:
        """A scenario as the store lists it."""
        there = tuple(name for name, value in sample.labels.items() if value)
        return SampleRow(
            id=sample.id,
            text=sample.text or "",
            emotion=", ".join(there) or "·",
            valence=None,
            emotions=there,
            valences=(),
            record=msgspec.json.encode(sample),
        )

    def question(self, sample: ScenesGold) -> object:
        """The text, of whom it is, and which emotions are asked about."""
        return sample.text, sample.subject, list(sample.labels)

    def option_names(self, way: str) -> tuple[str, ...]:
        """Prompts; where a model reasons its room, a grammar, and how often it is asked again. Heads need no words."""
        return _OPTIONS.get(way, ("prompts",))

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """`heads` for a model that has them, or labels; for others first-token, and reasoned where it can write; in
        words alone where it tells no probabilities.
        """
        if "score" not in card.capabilities:
            if "generate" not in card.capabilities:
                raise ModelError(lacks(card.spec, "score"))
            return (YES_NO,)
        if HEADS_OF in card.labels or _own_labels(card):
            return (HEADS,)
        if card.judges:
            return (NLI,)
        return WAYS if "generate" in card.capabilities else WAYS[:1]

    def settings(self, way: str) -> Mapping[str, object]:
        """The way, the words of its prompts, and the grammar that a reasoned answer is held to, if it is.

        At the first token yes is read against no as it is, so there is nothing that a grammar would change.

        Raises:
            BadInput: the person's own prompts have none for this way.
        """
        own = self._settings
        if way == HEADS:
            return {"way": way, "prompts": []} | ({"matched": own.matched} if own.matched else {})
        prompt = own.prompt(PROMPTS, way)
        if way == NLI:
            return {"way": way, "prompts": [prompt.user]}
        if way == FIRST_TOKEN:
            return {"way": way, "prompts": [prompt.system, *shared_and_asked(prompt)]}
        if way == YES_NO:
            return {
                "way": way,
                "prompts": [prompt.system, *shared_and_asked(prompt), own.max_tokens or room_of(prompt)],
            }
        grammar = self._grammar(way)
        held = {} if grammar is None else {"grammar": grammar}
        words = [prompt.system, *shared_and_asked(prompt), own.max_tokens or MAX_TOKENS]
        return {"way": way, "prompts": words, "retries": [own.retries, RETRY_TEMPERATURE]} | held

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Scenes":
        """`prompts`: the person's own, a table for each way; `constrain`: a grammar holds a reasoned answer's form.

        Raises:
            BadInput: any other option, or a wrong value.
        """
        return Scenes(options_from(self, options, repeats, Settings))

    def ask(self, samples: Sequence[ScenesGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """Ask about each scenario; one without a text is not asked about."""
        asked: list[Asked] = [Asked(None, "this scenario has no text") for _ in samples]
        there = [place for place, sample in enumerate(samples) if sample.text]
        chosen = [samples[place] for place in there]
        own = self._settings
        if way == HEADS:
            answers = ask_heads(chosen, model, own.matched)
        else:
            prompt = own.prompt(PROMPTS, way)
            if way == REASONED:
                reasoning = Reasoning(prompt, own.max_tokens or MAX_TOKENS, own.retries, self._grammar(way))
                answers = ask_reasoned(chosen, model, reasoning, [seeds[place] for place in there])
            elif way == NLI:
                answers = ask_nli(chosen, model, prompt)
            elif way == YES_NO:
                room = own.max_tokens or room_of(prompt)
                answers = ask_in_words(chosen, model, prompt, room, [seeds[place] for place in there])
            else:
                answers = ask_first_token(chosen, model, prompt)
        for place, answer in zip(there, answers, strict=True):
            asked[place] = answer
        return asked

    def _grammar(self, way: str) -> str | None:
        if not self._settings.constrain or way != REASONED:
            return None
        confidence = "<confidence>" in self._settings.prompt(PROMPTS, way).user
        return reasoned_answer(ANSWER, confidence=confidence)

    def parse(self, sample: ScenesGold, raw: str, way: str) -> Prediction:
        """From kept logits, or words, to a prediction. Raises ValueError for a label without two finite logits, and
        where there is neither yes nor no about any.
        """
        kept = msgspec.json.decode(raw, type=Raw)
        if kept.said:
            return _from_words(sample, kept, tagged=wants_reasons(self._settings.prompt(PROMPTS, YES_NO)))
        missing = [name for name in sample.labels if name not in kept.answers and name not in kept.unanswered]
        if missing:
            raise ValueError(f"there is no answer for {missing[0]!r}")
        unanswered = {name: kept.unanswered[name] for name in sample.labels if name in kept.unanswered}
        answers = {name: kept.answers.get(name, NO_ANSWER) for name in sample.labels}
        for name, answer in answers.items():
            if not np.isfinite([answer.yes, answer.no]).all():
                raise ValueError(f"the logits of {name!r} are not finite")
        return Prediction(
            way=kept.way,
            scores={name: (answer.yes, answer.no) for name, answer in answers.items()},
            labels={name: int(answer.yes > answer.no) for name, answer in answers.items()},
            confidence={name: answer.confidence for name, answer in answers.items() if answer.confidence is not None},
            mass={name: answer.mass for name, answer in answers.items() if name not in unanswered},
            censored={name: answer.censored for name, answer in answers.items() if answer.censored},
            unanswered=unanswered,
        )

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> ScenesPrediction:
        """Both logits of each label; no labels where there is no answer."""
        if prediction is None:
            return ScenesPrediction(id=key, labels={})
        if prediction.hard:
            silent = tuple(prediction.unanswered)
            return ScenesPrediction(
                id=key, labels=prediction.labels, hard=True, confidence=prediction.confidence, unanswered=silent
            )
        return ScenesPrediction(
            id=key,
            scores=prediction.scores,
            confidence=prediction.confidence,
            censored=prediction.censored,
            little_mass=tuple(prediction.little_mass),
            unanswered=tuple(prediction.unanswered),
        )

    def taken(self, sample: ScenesGold, said: Mapping[str, Any]) -> Prediction:
        """Both logits of each label, or 0 or 1, or a list of those that are there; ValueError for other labels."""
        if scores := said.get("scores"):
            _check_labels(sample, scores)
            pairs = {name: (float(scores[name][0]), float(scores[name][1])) for name in sample.labels}
            return Prediction("", pairs, {name: int(yes > no) for name, (yes, no) in pairs.items()})
        given = said.get("labels")
        if isinstance(given, list | tuple):
            strays = [label for label in given if label not in sample.labels]
            if strays:
                raise ValueError(f"{strays[0]!r} is not among the labels of this text")
            given = {name: int(name in given) for name in sample.labels}
        given = given or dict.fromkeys(sample.labels, 0)
        _check_labels(sample, given)
        silent = dict.fromkeys(said.get("unanswered") or (), "no answer about it")
        return Prediction("", {}, {name: int(given[name] >= USUAL) for name in sample.labels}, unanswered=silent)

    def as_gold(self, sample: ScenesGold, prediction: Prediction) -> ScenesGold:
        """With the predicted vector."""
        vector = {name: prediction.labels[name] for name in sample.labels}
        return msgspec.structs.replace(sample, labels=vector, unknown=())

    def said(self, sample: ScenesGold, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """A line an emotion: yes or no, and the odds of yes as a probability."""
        return tuple(
            _line(name, None if name in sample.unknown else value, prediction) for name, value in sample.labels.items()
        )

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """F1 of each vector; M where an emotion is missed, X one too many, ! where an answer is hardly yes or no."""
        return [_score(answer) for answer in answers]

    def report(self, samples: Sequence[ScenesGold], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """The figures of Table 1 at alpha 0. With repeats each is a mean, and `sd` has its standard deviation."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        return by_repeat(details, _report)

    def intervals(self, samples: Sequence[ScenesGold], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of the shares and of F1."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        return beside_repeats(details, shared_of(samples), _resampled)

    def sums(self, samples: Sequence[ScenesGold], details: Sequence[str | bytes]) -> "Figures":
        """Of the emotions that are asked for, whether one of them is there or not."""
        from emotui.metrics.label_sums import of_sets

        each = [msgspec.json.decode(one, type=Detail) for one in details]
        labels = each[0].labels if each else ()
        if not labels or any(one.labels != labels for one in each):
            return {}
        gold, said = (
            as_table([dict(zip(one.labels, side, strict=True)) for one, side in zip(each, sides, strict=True)], labels)
            for sides in ([one.gold for one in each], [one.predicted for one in each])
        )
        return of_sets(gold, said, labels, np.ones(len(each), dtype=np.bool_), single=False)

    def label_sets(self, detail: str | bytes) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The emotions that are there."""
        one = msgspec.json.decode(detail, type=Detail)
        sides = (one.gold, one.predicted)
        gold, said = (tuple(name for name, value in zip(one.labels, side, strict=True) if value) for side in sides)
        return gold, said

    def printed(self, metric: str) -> Sequence[tuple[str, str, str, float | None]]:
        """EmoScene's Table 1, before and after its prior."""
        return [
            (row.model, setting, "model", figures.get(metric))
            for row in published_table()[1]
            for setting, figures in (("alone", row.before), ("prior", row.after))
        ]

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """What is to be known of the answers behind the figures.

        `hard`, where answers are yes and no in words: how many. `censored`, where a server kept something back: how
        many scores, and how many of them on both sides.
        `little_mass`, where a model's first token is likelier something else than yes or no: how many such scores, and
        in how many samples. `unanswered`, where a model that reasons came to no answer: likewise.
        """
        kept = predictions_of(rows, Prediction)
        sides = [side for one in kept for side in one.censored.values()]
        astray = [sum(mass < LITTLE_MASS for mass in one.mass.values()) for one in kept]
        hard = sum(one.hard for one in kept)
        scores = sum(len(one.labels) for one in kept)
        found: dict[str, object] = {"hard": {"samples": hard, "of": len(kept)}} if hard else {}
        if sides:
            found["censored"] = {"scores": len(sides), "both": sides.count("both"), "of": scores}
        notes: dict[str, str] = {"hard": HARD} if hard else {}
        if any(astray):
            found["little_mass"] = little_mass(astray, scores)
            notes["little_mass"] = said_of_little_mass(astray)
        lost = [one.unanswered for one in kept]
        if any(lost):
            found["unanswered"] = no_answers(lost, scores)
            notes["unanswered"] = said_of_no_answers(lost, scores)
        return with_notes(found, notes)


def _from_words(sample: ScenesGold, kept: Raw, *, tagged: bool) -> Prediction:
    """`tagged`: as of `yes_or_no`. Raises ValueError where the model said neither yes nor no of any emotion."""
    said, lost = InWords(kept.said, kept.unanswered).read(sample.labels, tagged=tagged)
    sure = {name: confidence_in(kept.said[name]) if tagged else None for name in said}
    return Prediction(
        way=kept.way,
        scores={},
        labels={name: int(said.get(name, False)) for name in sample.labels},
        confidence={name: n for name, n in sure.items() if n is not None},
        unanswered=lost,
    )


def _line(name: str, gold: int | None, prediction: Prediction | None) -> SaidLine:
    words = {None: "", 0: "no", 1: "yes"}
    if prediction is None or name not in prediction.labels or name in prediction.unanswered:
        return SaidLine(name, words[gold], "")
    said = prediction.labels[name]
    mark = "" if gold is None or said == gold else "M" if gold else "X"
    if name not in prediction.scores:
        return SaidLine(name, words[gold], words[said], mark)
    yes, no = prediction.scores[name]
    return SaidLine(name, words[gold], words[said], mark, 1 / (1 + math.exp(min(no - yes, 700.0))))


def _check_labels(sample: ScenesGold, given: Mapping[str, object]) -> None:
    """Raises ValueError unless these are the labels of the sample."""
    if set(given) != set(sample.labels):
        odd = sorted(set(given) ^ set(sample.labels))[0]
        where = "missing" if odd in sample.labels else "not among the labels of this text"
        raise ValueError(f"{odd!r} is {where}")


def _score(answer: Parsed) -> ScoreRow:
    sample, prediction = answer.sample, answer.prediction
    gold = tuple(int(sample.labels[name]) for name in sample.labels)
    said = tuple(prediction.labels[name] for name in sample.labels)
    detail = Detail(sample.id, answer.repeat, tuple(sample.labels), gold, said)
    missed = any(g > p for g, p in zip(gold, said, strict=True))
    extra = any(p > g for g, p in zip(gold, said, strict=True))
    counts = label_counts([gold], [said])
    right = [g == p for g, p in zip(gold, said, strict=True)]
    values = {
        "vector_f1": micro_f1(counts) if any(gold) or any(said) else 1.0,
        "lexical_accuracy": mean(right),
        "vector_accuracy": float(all(right)),
    }
    marks = "M" * missed + "X" * extra + "!" * prediction.doubtful
    return ScoreRow(CONVENTION if prediction.scores else OF_LABELS, values, marks, msgspec.json.encode(detail))


def _report(details: Sequence[Detail]) -> dict[str, Any]:
    return scenes_metrics(*_vectors(details))


def _resampled(details: Sequence[Detail], by: Drawn) -> Resampled:
    found = vectors(*_vectors(details), by)
    return {name: each for name, each in found.items() if name not in ("jaccard", "samples_f1")}


def _vectors(details: Sequence[Detail]) -> tuple[list[list[int]], list[list[int]], list[str]]:
    """Gold and predicted vectors, and their labels."""
    labels = list(details[0].labels)
    rows = [[dict(zip(d.labels, d.gold, strict=True))[name] for name in labels] for d in details]
    said = [[dict(zip(d.labels, d.predicted, strict=True))[name] for name in labels] for d in details]
    return rows, said, labels
