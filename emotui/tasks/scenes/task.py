"""EmoScene: which of Plutchik's eight emotions does the person in a scenario feel, all of them at once?

A run asks yes or no for each emotion and keeps both logits, so that vectors can be decoded jointly afterwards
(section 4.2) without asking again. There are three ways to ask, which are never mixed in one run:

- `heads`: a model with a head for each emotion; its logits are taken as they are.
- `first-token`: a generative model; the scene once, eight questions after it, yes against no at the very next token.
- `reasoned`: as the paper's evaluation prompt asks (appendix E): a model first reasons and says from 1 to 5 how sure it
  is, and yes stands against no at the place of its answer. Eight generations a scenario.
"""

import re
from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

import msgspec
import numpy as np

from emotui.backends.base import Generate, ModelCard, Refused, Score
from emotui.backends.grammars import reasoned_answer
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.metric import Metric
from emotui.metrics.scenes import label_counts, micro_f1, scenes_metrics
from emotui.metrics.span_scoring import Embed
from emotui.records import ScenesGold
from emotui.store.rows import ResultRow, ScoreRow
from emotui.tasks.prompting.files import Prompt, Prompts, as_chat, as_kept, filled, prompt_of
from emotui.tasks.scenes.prompts import PROMPTS, WAYS, questions, scene_fields, shared_and_asked
from emotui.tasks.task import Asked, AskModel, Parsed, unanswered

VERSION = "1"
CONVENTION = "scenes 1: yes where its logit is above no's; F1 of a vector, 1 where gold and predicted are both empty"

HEADS = "heads"
ANSWER = "<answer>"
MAX_TOKENS = 400

_CONFIDENCE = re.compile(r"<confidence>\s*([1-5])\s*</confidence>")


LETTERS = {"surprise": "u", "anger": "r"}
"""The letter of a label in a vector, where it is not its first: those are taken by sadness and anticipation."""


def vector_letters(labels: Sequence[str], vector: Sequence[int]) -> str:
    """A vector in a few cells: a label's letter where it is on, a point where it is not (`j······a`)."""
    return "".join(LETTERS.get(name, name[:1]) if on else "·" for name, on in zip(labels, vector, strict=True))


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model said about one emotion: both logits, the probability on either word, and how it came to it."""

    yes: float
    no: float
    mass: float = 1.0
    censored: str = ""
    confidence: int | None = None
    text: str = ""


class Prediction(msgspec.Struct, frozen=True):
    """What was parsed from one scenario's answers. `labels`: 1 where yes is above no.

    `censored`: the emotions of which a server kept a side back (`yes`, `no` or `both`); that side's score is then the
    highest that it can be.
    """

    way: str
    scores: Mapping[str, tuple[float, float]]
    labels: Mapping[str, int]
    confidence: Mapping[str, int] = {}
    mass: Mapping[str, float] = {}
    censored: Mapping[str, str] = {}


class Detail(msgspec.Struct, frozen=True):
    """One scenario's gold vector and the model's own (alpha 0), in the order of `labels`."""

    id: str
    repeat: int
    labels: tuple[str, ...]
    gold: tuple[int, ...]
    predicted: tuple[int, ...]


class _Raw(msgspec.Struct, frozen=True):
    way: str
    answers: Mapping[str, Answer]


class _Options(msgspec.Struct, frozen=True):
    prompts: dict[str, Prompt] | None = None
    constrain: bool = False


METRICS = (
    Metric("vector_f1", (0, 1), True, "F1 over the labels of the text; 1 where both vectors are empty", "F1"),
    Metric("lexical_accuracy", (0, 1), True, "share of the text's labels that are right", "Acc_l"),
    Metric("vector_accuracy", (0, 1), True, "1 where every label of the text is right, else 0", "Acc_v"),
)


class Scenes:
    """The task as those see it who run it."""

    name = "scenes"
    progress_verb = "asking about"
    version = VERSION
    sample = ScenesGold
    metrics = METRICS
    embeds = False

    def __init__(self, prompts: Prompts | None = None, *, constrain: bool = False) -> None:
        self._prompts, self._constrain = prompts, constrain

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """`heads` for a model that has them; for others first-token, and reasoned where it can write."""
        if "score" not in card.capabilities:
            raise ModelError(lacks(card.spec, "score"))
        if "score" in card.labels:
            return (HEADS,)
        return WAYS if "generate" in card.capabilities else WAYS[:1]

    def settings(self, way: str) -> Mapping[str, object]:
        """The way, the words of its prompts, and the grammar that a reasoned answer is held to, if it is.

        At the first token yes is read against no as it is, so there is nothing that a grammar would change.

        Raises:
            BadInput: the person's own prompts have none for this way, or the model is not asked in words.
        """
        if way == HEADS:
            self._asked_in_words()
            return {"way": way, "prompts": []}
        prompt = self._prompt(way)
        room = (MAX_TOKENS,) if way == "reasoned" else ()
        grammar = self._grammar(way)
        held = {} if grammar is None else {"grammar": grammar}
        return {"way": way, "prompts": [prompt.system, *shared_and_asked(prompt), *room]} | held

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Scenes":
        """`prompts`: the person's own, a table for each way; `constrain`: a grammar holds a reasoned answer's form.

        Raises:
            BadInput: any other option, or a wrong value.
        """
        strange = [name for name in options if name not in ("prompts", "constrain")]
        if strange:
            raise BadInput(f"the scenes task has no setting {strange[0]!r}")
        try:
            given = msgspec.convert(options, _Options)
        except msgspec.ValidationError as error:
            raise BadInput(f"the settings of a scenes run: {error}") from error
        return Scenes(given.prompts, constrain=given.constrain)

    def ask(self, samples: Sequence[ScenesGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """Ask about each scenario; one without a text is not asked about."""
        asked: list[Asked] = [Asked(None, "this scenario has no text") for _ in samples]
        there = [place for place, sample in enumerate(samples) if sample.text]
        chosen = [samples[place] for place in there]
        if way == HEADS:
            answers = _heads(chosen, model)
        else:
            prompt = self._prompt(way)
            if way == "reasoned":
                answers = _reasoned(chosen, model, prompt, self._grammar(way))
            else:
                answers = _first_token(chosen, model, prompt)
        for place, answer in zip(there, answers, strict=True):
            asked[place] = answer
        return asked

    def _prompt(self, way: str) -> Prompt:
        return prompt_of(PROMPTS if self._prompts is None else self._prompts, way)

    def _grammar(self, way: str) -> str | None:
        if not self._constrain or way != "reasoned":
            return None
        return reasoned_answer(ANSWER, confidence="<confidence>" in self._prompt(way).user)

    def _asked_in_words(self) -> None:
        given = "the prompts" if self._prompts is not None else "--constrain" if self._constrain else ""
        if given:
            raise BadInput(f"this model has a head for each emotion and is not asked in words: leave {given} out")

    def parse(self, sample: ScenesGold, raw: str, way: str) -> Prediction:
        """From kept logits to a prediction. Raises ValueError for a label without two finite logits."""
        kept = msgspec.json.decode(raw, type=_Raw)
        missing = [name for name in sample.labels if name not in kept.answers]
        if missing:
            raise ValueError(f"there is no answer for {missing[0]!r}")
        answers = {name: kept.answers[name] for name in sample.labels}
        for name, answer in answers.items():
            if not np.isfinite([answer.yes, answer.no]).all():
                raise ValueError(f"the logits of {name!r} are not finite")
        return Prediction(
            way=kept.way,
            scores={name: (answer.yes, answer.no) for name, answer in answers.items()},
            labels={name: int(answer.yes > answer.no) for name, answer in answers.items()},
            confidence={name: answer.confidence for name, answer in answers.items() if answer.confidence is not None},
            mass={name: answer.mass for name, answer in answers.items()},
            censored={name: answer.censored for name, answer in answers.items() if answer.censored},
        )

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """F1 of each vector; M where an emotion is missed, X where one is too many."""
        return [_score(answer) for answer in answers]

    def report(self, samples: Sequence[ScenesGold], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """The figures of Table 1 at alpha 0. With repeats each is a mean, and `sd` has its standard deviation."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        repeats = sorted({detail.repeat for detail in details})
        reports = [_report([one for one in details if one.repeat == repeat]) for repeat in repeats]
        if len(reports) == 1:
            return reports[0]
        figures = [name for name, value in reports[0].items() if isinstance(value, float)]
        means = {name: mean(report[name] for report in reports) for name in figures}
        return reports[0] | means | {"sd": {name: stdev(report[name] for report in reports) for name in figures}}

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """Under `censored`, where a server kept something back: how many scores, and how many of them on both sides."""
        kept = [msgspec.json.decode(row.prediction, type=Prediction) for row in rows if row.prediction is not None]
        sides = [side for one in kept for side in one.censored.values()]
        if not sides:
            return {}
        scores = sum(len(one.scores) for one in kept)
        return {"censored": {"scores": len(sides), "both": sides.count("both"), "of": scores}}


def _heads(samples: Sequence[ScenesGold], model: AskModel) -> list[Asked]:
    requests = [Score(sample.text or "", tuple(sample.labels)) for sample in samples]
    return _scored(samples, requests, model, HEADS, [None] * len(samples))


def _first_token(samples: Sequence[ScenesGold], model: AskModel, prompt: Prompt) -> list[Asked]:
    """Eight questions behind one beginning, which is read once."""
    shared, asked = shared_and_asked(prompt)
    requests = []
    for sample in samples:
        fields = scene_fields(sample.text, sample.subject)
        chat = as_chat(prompt, filled(shared, fields))
        requests.append(Score(sample.text or "", questions(asked, fields, tuple(sample.labels)), messages=chat))
    kept = ["\n".join((as_kept(request.messages), *request.questions)) for request in requests]
    return _scored(samples, requests, model, "first-token", kept)


def _scored(
    samples: Sequence[ScenesGold], requests: Sequence[Score], model: AskModel, way: str, kept: Sequence[str | None]
) -> list[Asked]:
    asked = []
    for sample, prompt, answer in zip(samples, kept, model(requests), strict=True):
        if isinstance(answer, Refused):
            asked.append(unanswered(answer, prompt))
            continue
        censored = answer.censored or ("",) * len(answer.yes)
        rows = zip(answer.yes, answer.no, answer.mass, censored, strict=True)
        found = {name: Answer(*row) for name, row in zip(sample.labels, rows, strict=True)}
        asked.append(Asked(_kept(way, found), prompt=prompt))
    return asked


def _reasoned(
    samples: Sequence[ScenesGold], model: AskModel, prompt: Prompt, grammar: str | None = None
) -> list[Asked]:
    """First the reasoning up to the answer's tag, then yes against no right behind it."""
    shared, asked = shared_and_asked(prompt)
    pairs = [(sample, name) for sample in samples for name in sample.labels]
    fields = {sample.id: scene_fields(sample.text, sample.subject) for sample in samples}
    scenes = {sample.id: filled(shared, fields[sample.id]) for sample in samples}
    wording = [questions(asked, fields[sample.id], (name,))[0] for sample, name in pairs]
    thoughts = model(
        [
            Generate(
                as_chat(prompt, scenes[sample.id] + question), max_tokens=MAX_TOKENS, stop=(ANSWER,), grammar=grammar
            )
            for (sample, _), question in zip(pairs, wording, strict=True)
        ]
    )
    openings: list[str | None] = []
    lost: dict[str, Refused] = {}
    for (sample, name), thought in zip(pairs, thoughts, strict=True):
        trouble = _unfinished(thought)
        openings.append(None if trouble else thought.text.split(ANSWER)[0] + ANSWER)
        if trouble:
            _lose(lost, sample.id, name, trouble)
    whole = [place for place, (sample, _) in enumerate(pairs) if sample.id not in lost]
    scores = model(
        [
            Score(sample.text or "", (wording[p],), as_chat(prompt, scenes[sample.id]), openings[p] or "")
            for p, (sample, _) in ((place, pairs[place]) for place in whole)
        ]
    )
    found: dict[str, dict[str, Answer]] = {sample.id: {} for sample in samples}
    for place, answer in zip(whole, scores, strict=True):
        sample, name = pairs[place]
        if isinstance(answer, Refused):
            _lose(lost, sample.id, name, answer)
            continue
        text = openings[place] or ""
        sure = _CONFIDENCE.search(text)
        censored = answer.censored[0] if answer.censored else ""
        confidence = int(sure[1]) if sure else None
        found[sample.id][name] = Answer(answer.yes[0], answer.no[0], answer.mass[0], censored, confidence, text)
    prompts = {s.id: as_kept(as_chat(prompt, scenes[s.id] + filled(asked, fields[s.id]))) for s in samples}
    return [
        unanswered(lost[s.id], prompts[s.id])
        if s.id in lost
        else Asked(_kept("reasoned", found[s.id]), prompt=prompts[s.id])
        for s in samples
    ]


def _unfinished(thought: Any) -> Refused | None:
    if isinstance(thought, Refused):
        return thought
    if thought.finish == "length" and ANSWER not in thought.text:
        return Refused(f"the model came to no answer within {MAX_TOKENS} tokens")
    return None


def _lose(lost: dict[str, Refused], key: str, emotion: str, why: Refused) -> None:
    """Keep the first reason; one of the question's own before one that may be gone another time."""
    if key not in lost or (lost[key].again and not why.again):
        lost[key] = Refused(f"{emotion}: {why.why}", again=why.again)


def _kept(way: str, answers: Mapping[str, Answer]) -> str:
    return msgspec.json.encode(_Raw(way, answers)).decode()


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
    return ScoreRow(CONVENTION, values, "M" * missed + "X" * extra, msgspec.json.encode(detail))


def _report(details: Sequence[Detail]) -> dict[str, Any]:
    labels = list(details[0].labels)
    rows = [[dict(zip(d.labels, d.gold, strict=True))[name] for name in labels] for d in details]
    said = [[dict(zip(d.labels, d.predicted, strict=True))[name] for name in labels] for d in details]
    return scenes_metrics(rows, said, labels)
