"""Texts with one gold label each, and the label that a model gives: what hard emotion test sets are measured by.

Ways to ask, which are never mixed in one run: `classify`, `rank` and `score` give a probability for each label
(`emotui.tasks.rephrase.labelling` has their conventions); `zs`, `fs` and `fs-r` let a model write the label, after no
examples, ten examples, and ten examples with their rephrasings (section 5.2, appendix D).

The labels are settled before a run, by `suited`: a classifier's own label set that holds all gold labels; for others
Plutchik's eight, GoEmotions' 28 or the gold labels themselves, the first of these that hold them all.
"""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import ModelCard, Refused
from emotui.backends.grammars import one_of
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.baselines import drawn_golds, most_frequent
from emotui.metrics.classes import chosen_label, class_report
from emotui.metrics.metric import Metric
from emotui.metrics.repeats import by_repeat
from emotui.metrics.span_scoring import Embed
from emotui.records import PLUTCHIK, ClassGold, ClassPrediction, Text
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tasks.measures import CLASSES
from emotui.tasks.parts import (
    AGAINST_PEOPLE,
    CALIBRATE,
    CALIBRATE_ON_PEOPLE,
    CALIBRATED,
    Asking,
    Embedding,
    OwnSamples,
    SaidLine,
    TaskFiles,
    TaskWords,
    of_labels,
    predictions_of,
    shared_by,
    shared_of,
    to_map,
)
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_chat, filled, read_prompt_file
from emotui.tasks.prompting.settings import (
    CONTEXT,
    DIRECT,
    FEW_SHOT,
    WRITTEN,
    ZERO_SHOT,
    Writing,
    options_from,
    plain,
    write_answers,
)
from emotui.tasks.rephrase import labelling
from emotui.tasks.rephrase.labelling import ASKED, YES_OR_NO, Labelling, Way, check_known, known_label
from emotui.tasks.task import Asked, AskModel, Parsed, Task, unanswered

if TYPE_CHECKING:
    from emotui.metrics.beside import Drawn, Resampled

# What a model that writes is asked about the one emotion of a text, with or without examples, and how it is read.

WAYS = ("zs", "fs", "fs-r")
NAMED = {ZERO_SHOT: "zs", FEW_SHOT: "fs", f"{FEW_SHOT}-rephrased": "fs-r", "fsr": "fs-r"}
"""The words that all tasks share, and the names here; one of these is written without its dash too."""

SHOTS = 10
"""Examples in a prompt (section 5.2)."""

SPARE = 20
"""Examples that are kept beside those, to take the place of one that is about the very text asked about."""

ROOM = 48
"""Tokens for an answer."""

EXAMPLES = {"fs": "fs-example", "fs-r": "fs-r-example"}
"""The table of a prompt file with the words of one example, for the ways that show any."""

_ASKED = (
    "The writer of each text below shows one of these emotions: {labels}.\n\n{examples}\n\n"
    "Now the last one. Answer with its emotion alone, one of those above.\n\nText: {text}\nEmotion:"
)
_EXAMPLE = "Text: {text}\nEmotion: {label}"
_REPHRASED = (
    "Text: {text}\nEmotion: {label}\n"
    "The same can be said in other words. What is meant stays, so the emotion is {label} here too:\n{rephrasings}"
)
PROMPTS: Prompts = {
    "zs": ASKED,
    "fs": Prompt(_ASKED, ASKED.system),
    "fs-r": Prompt(_ASKED, ASKED.system),
    "fs-example": Prompt(_EXAMPLE),
    "fs-r-example": Prompt(_REPHRASED),
}
"""This project's own."""

_TEXT, _LABELS, _SHOWN, _LABEL, _SAID = "{text}", "{labels}", "{examples}", "{label}", "{rephrasings}"
_PLACES: Mapping[str, Places] = {
    "zs": Places(once=(_TEXT,), barred=(_TEXT,)),
    "fs": Places(once=(_TEXT, _SHOWN), barred=(_TEXT, _SHOWN)),
    "fs-r": Places(once=(_TEXT, _SHOWN), barred=(_TEXT, _SHOWN)),
    "fs-example": Places(once=(_TEXT,), often=(_LABEL,)),
    "fs-r-example": Places(once=(_TEXT, _SAID), often=(_LABEL,)),
}


class Example(msgspec.Struct, frozen=True):
    """A text with its label, and rephrasings of it where it came from a chain."""

    id: str
    text: str
    label: str
    rephrasings: tuple[str, ...] = ()


def read_rephrase_prompts(path: str) -> Prompts:
    """A prompt file with tables for any of the ways, and for one example. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, _PLACES, WAYS, NAMED)


def drawn(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples that prompts show: `SHOTS`, and `SPARE` more; drawn label by label, so that labels are even."""
    draw = random.Random(seed)
    by_label: dict[str, list[Example]] = {}
    for example in draw.sample(examples, len(examples)):
        by_label.setdefault(example.label, []).append(example)
    rounds = max((len(group) for group in by_label.values()), default=0)
    in_turn = [group[turn] for turn in range(rounds) for group in by_label.values() if turn < len(group)]
    return in_turn[: SHOTS + SPARE]


def fitting(examples: Sequence[Example], way: str) -> list[Example]:
    """Those that a way can show. Raises BadInput where there is none."""
    found = [example for example in examples if example.rephrasings or way != "fs-r"]
    if not examples:
        raise BadInput(f"{way} shows examples: give a file of chains or of labelled texts by --examples FILE")
    if not found:
        raise BadInput("fs-r shows examples with their rephrasings, but no chain in the file has any")
    return found


def shots(examples: Sequence[Example], key: str, text: str) -> list[Example]:
    """The first `SHOTS` examples that are not about the text asked about: of another id, and no same words."""
    asked = _folded(text)
    others = [
        example
        for example in examples
        if example.id != key and asked not in {_folded(said) for said in (example.text, *example.rephrasings)}
    ]
    return others[:SHOTS]


def shown(prompt: Prompt, examples: Sequence[Example]) -> str:
    """The examples in a prompt's words, with an empty line between them."""
    return "\n\n".join(
        filled(
            prompt.user,
            {
                "text": example.text,
                "label": example.label,
                "rephrasings": "\n".join(f"- {said}" for said in example.rephrasings),
            },
        )
        for example in examples
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def read_label(output: str, labels: Sequence[str]) -> tuple[str, str]:
    """The label that a model wrote, and how its answer was to be read; no label (`""`) where it is `unread`.

    `exact`: one of the labels and nothing else, case and ends apart. `lenient`: thoughts and a markdown fence taken
    off, the first line in which any label stands as a whole word, and only one does. Several labels there, or none
    anywhere, are `unread`. Where one label is part of another, the longer one counts.
    """
    exact = known_label(output, labels)
    if exact is not None:
        return exact, "exact"
    answer = plain(output)
    names = sorted(labels, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE) if names else None
    for line in answer.splitlines():
        found = {known_label(each, labels) for each in pattern.findall(line)} if pattern else set()
        if found:
            (label, *others) = found
            return ("", "unread") if others or label is None else (label, "lenient")
    return "", "unread"


VERSION = "1"
CONVENTION = "rephrase 1: 1 where the label is the gold label, case and ends apart, else 0"


class Settings(Writing, frozen=True, omit_defaults=True):
    """What a run is asked with. `label_set`: names `labels` where they are the model's own."""

    labels: tuple[str, ...] = ()
    label_set: str | None = None
    examples: tuple[Example, ...] = ()


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The label given, `""` where none could be read, and the probabilities where the model gives any.

    `form`: how a written answer was to be read (`emotui.tasks.rephrase.task.read_label`). `little_mass`: labels
    of which a model's first token is likelier something else than yes or no (`emotui.tasks.parts`).
    """

    label: str
    probs: Mapping[str, float] = {}
    form: str = ""
    little_mass: tuple[str, ...] = ()


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One text's gold label (None: it is unlabelled), the model's, and its probabilities.

    `confidence` is that of the gold label.
    """

    id: str
    repeat: int
    gold: str | None
    label: str
    confidence: float | None = None
    probs: Mapping[str, float] = {}


class _Raw(msgspec.Struct, frozen=True, omit_defaults=True):
    """The label and the probabilities, and the probability of yes and no together where that is little."""

    label: str
    probs: Mapping[str, float]
    little_mass: Mapping[str, float] = {}


METRICS = (
    Metric("accuracy", (0, 1), True, "1 where the label is the gold label, else 0", "right", yes_or_no=True),
    Metric("confidence", (0, 1), True, "the probability that the model gives to the gold label", "conf"),
)


def _report(details: Sequence[Detail]) -> dict[str, Any]:
    return class_report({one.id: one.gold or "" for one in details}, {one.id: one.label for one in details})


def _resampled(details: Sequence[Detail], by: "Drawn") -> "Resampled":
    from emotui.metrics.beside import single_labels

    gold, said = [one.gold or "" for one in details], [one.label for one in details]
    return single_labels(gold, said, [name for name in dict.fromkeys([*gold, *said]) if name], by)


def score_files(
    golds: Sequence[ClassGold], answers: Sequence[ClassPrediction], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, Any]:
    """The document of `emotui score class`."""
    said = {one.id: one.label if one.label is not None else one.probs or {} for one in answers}
    return class_report({one.id: one.gold for one in golds}, said, [shared_by(one.meta) for one in golds])


def annotators_of(sample: ClassGold) -> dict[str, str]:
    """The label that each annotator gives; those who give none or several have no say."""
    people: Mapping[str, Mapping[str, Any]] = sample.meta.get("annotators") or {}
    found = {name: answer.get("label", answer.get("labels")) for name, answer in people.items()}
    several = {name: list(said) for name, said in found.items() if isinstance(said, list | tuple) and len(said) == 1}
    return {
        name: said if isinstance(said, str) else several[name][0]
        for name, said in found.items()
        if isinstance(said, str) or name in several
    }


def score_people(
    golds: Sequence[ClassGold], answers: Sequence[ClassPrediction], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The figures of `emotui score class --against people`.

    Raises:
        BadInput: an answer is none; a line each, beginning with the id.
    """
    from emotui.metrics.people_numbers import class_people_report

    said = {one.id: one.label if one.label is not None else one.probs or {} for one in answers}
    chosen = {one.id: chosen_label(said[one.id]) if said[one.id] else "" for one in golds}
    probable = {one.id: one.probs for one in answers if one.probs}  # beside a label too
    spread = [probable.get(one.id, said[one.id]) for one in golds]
    people = [annotators_of(one) for one in golds]
    named = [label for own in people for label in own.values()]
    named += [one.label for one in golds if one.label]
    named += [label for one in spread for label in ([one] if isinstance(one, str) else one) if label]
    labels = list(dict.fromkeys([*named, *filter(None, chosen.values())]))
    shared = [shared_by(one.meta) for one in golds]
    document = class_people_report(people, spread, [chosen[one.id] for one in golds], labels, shared)
    if folds := given.get(CALIBRATE):
        document[CALIBRATED] = _calibrated(golds, people, spread, chosen, labels, int(folds))
    return document


def _calibrated(
    golds: Sequence[ClassGold],
    people: Sequence[Mapping[str, str]],
    spread: Sequence[str | Mapping[str, float]],
    chosen: Mapping[str, str],
    labels: Sequence[str],
    folds: int,
) -> dict[str, Any]:
    """The answers before and after calibration; texts without one are left out."""
    from emotui.metrics.calibration import calibration_report
    from emotui.metrics.labels import as_table

    there = [at for at, one in enumerate(spread) if one]
    p = as_table([[one] if isinstance(one := spread[at], str) else one for at in there], labels)
    document = calibration_report(
        [{name: (label,) for name, label in people[at].items()} for at in there],
        p / p.sum(axis=1, keepdims=True),
        as_table([[chosen[golds[at].id]] for at in there], labels),
        labels,
        [golds[at].id for at in there],
        [shared_by(golds[at].meta) for at in there],
        folds=folds,
        independent=False,
    )
    if len(there) < len(golds):
        document["notes"]["n"] = f"{len(golds) - len(there)} texts without an answer are left out"
    return document


def score_baselines(
    golds: Sequence[ClassGold], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, Any]]:
    """The figures of `majority` (the most frequent gold label for all) and `random` (the label of a record drawn)."""
    gold, shared = {one.id: one.gold for one in golds}, [shared_by(one.meta) for one in golds]
    return {
        "majority": class_report(gold, dict.fromkeys(gold, most_frequent(list(gold.values()))), shared),
        "random": class_report(gold, dict(zip(gold, drawn_golds(list(gold.values())), strict=True)), shared),
    }


class ClassLabels:
    """The labels that a text's one label is chosen among."""

    always = False

    def of_file(self, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
        """The given ones, else the model's first label set.

        Raises:
            BadInput: the model has labels of its own and not a given one, or has none and none is given.
        """
        if given is None:
            if not card.labels and Rephrase().ways(card):
                raise BadInput(
                    f"{card.spec} has no labels of its own: give them in a file, one a line, by --labels FILE"
                )
            return tuple(next(iter(card.labels.values()), ()))
        trained = {label for group in card.labels.values() for label in group}
        strange = [label for label in given if label not in trained]
        if strange and card.labels:
            known = ", ".join(sorted(trained))
            raise BadInput(f"{card.spec} has no label {strange[0]!r}; it knows: {known}{to_map(strange[0], trained)}")
        return tuple(given)

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[ClassGold]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """As `suited`, for these samples."""
        return suited(card, ((one.id, one.label) for one in samples() if one.label is not None), way, options, seed)


class Rephrase(Task):
    """The task as those see it who run it."""

    name = "rephrase"
    version = VERSION
    sample = ClassGold
    metrics = METRICS
    prediction = Prediction
    words = TaskWords(
        title="One emotion a text",
        progress="classifying",
        asks="single-label emotion classification",
        measures=CLASSES,
    )
    files = TaskFiles(
        kind="class",
        predicted=ClassPrediction,
        score=score_files,
        score_options=(AGAINST_PEOPLE, CALIBRATE_ON_PEOPLE),
        baselines=score_baselines,
        labelled=lambda sample: sample.label is not None,
        annotators=annotators_of,
        score_people=score_people,
        about="Single labels: accuracy, macro F1, confusion.",
        own=OwnSamples("rephrase", ("rephrasings.jsonl",)),
    )
    asking = Asking(
        ways=(*labelling.WAYS, *WAYS),
        # Those that need examples are the command line's.
        offered=(*labelling.WAYS, WAYS[0]),
        named={DIRECT: "classify"} | NAMED,
        prompts=read_rephrase_prompts,
    )
    labels = ClassLabels()

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()

    def blank(self, text: Text, labels: Sequence[str] = ()) -> ClassGold:
        """The text without its label."""
        return ClassGold(id=text.id, text=text.text, label="")

    def problem(self, sample: ClassGold, first: ClassGold) -> str | None:
        """A text without words."""
        return None if sample.text.strip() else "the text is empty"

    def row(self, sample: ClassGold) -> SampleRow:
        """A text as the store lists it, with its gold label."""
        return SampleRow(
            id=sample.id,
            text=sample.text,
            emotion=sample.label,
            valence=None,
            emotions=() if sample.label is None else (sample.label,),
            valences=(),
            record=msgspec.json.encode(sample),
        )

    def question(self, sample: ClassGold) -> object:
        """The text alone: labels and examples stand among a run's settings."""
        return sample.text

    def option_names(self, way: str) -> tuple[str, ...]:
        """The labels, what a model is asked in words with, and the examples of the ways that show any."""
        own = ("labels", "label_set")
        if way in WAYS:
            return (*own, *WRITTEN, *CONTEXT, *(("examples",) if way in EXAMPLES else ()))
        return (*own, "prompts") if way == "rank" else own

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """Those that the model can go: with probabilities first, then in writing."""
        likely = tuple(way for way in labelling.WAYS if way in card.capabilities)
        if "classify" in likely:
            likely = ("classify",)
        found = (*likely, *(WAYS if "generate" in card.capabilities else ()))
        if not found:
            raise ModelError(f"{lacks(card.spec, 'classify')}; any model that writes, ranks or scores will do too")
        return found

    def settings(self, way: str) -> Mapping[str, object]:
        """The labels, and of a model that is asked in words its prompt, sampling and examples.

        Raises:
            BadInput: the way has no prompt, or needs examples and has none.
        """
        own = self._settings
        labels = {"labels": own.labels, "label_set": own.label_set, "way": way}
        if way in WAYS:
            prompt = own.prompt(PROMPTS, way)
            described = own.described(way, prompt, ROOM, one_of(self._labels()))
            if way not in EXAMPLES:
                return labels | described
            kept = msgspec.to_builtins(fitting(own.examples, way))
            return labels | described | {"examples": kept, "example": msgspec.to_builtins(self._example(way))}
        words = {"classify": [], "rank": msgspec.to_builtins(self._asked(way).prompt), "score": YES_OR_NO}
        return labels | {"prompt": words[way]}

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Rephrase":
        """Options are the fields of `Settings`; several repeats are sampled, unless they say otherwise.

        Raises:
            BadInput: one of them is wrong; it is named.
        """
        return Rephrase(options_from(self, options, repeats, Settings))

    def with_turns(self, turns: Mapping[str, str]) -> "Rephrase":
        """Before the question of a model that writes."""
        return Rephrase(msgspec.structs.replace(self._settings, turns=turns))

    def ask(self, samples: Sequence[ClassGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """One question a text."""
        if way in WAYS:
            return self._written(samples, model, way, seeds)
        asked = self._asked(way)
        found = []
        for answer in model([asked.request(sample.text) for sample in samples]):
            if isinstance(answer, Refused):
                found.append(unanswered(answer))
                continue
            try:
                verdict = asked.verdict(answer)
            except ModelError as error:
                found.append(Asked(None, str(error)))
                continue
            probs = {label: round(p, 9) for label, p in verdict.probs.items()}
            found.append(Asked(msgspec.json.encode(_Raw(verdict.label, probs, verdict.little_mass)).decode()))
        return found

    def _written(self, samples: Sequence[ClassGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        own, labels = self._settings, self._labels()
        prompt = own.prompt(PROMPTS, way)
        pool = fitting(own.examples, way) if way in EXAMPLES else []
        chats = []
        for sample in samples:
            fields = {"text": sample.text, "labels": ", ".join(labels), **own.context_of(sample)}
            if way in EXAMPLES:
                fields["examples"] = shown(self._example(way), shots(pool, sample.id, sample.text))
            chats.append(as_chat(prompt, filled(prompt.user, fields)))
        grammar = one_of(labels)
        return write_answers(chats, model, seeds, own, [ROOM] * len(chats), [grammar] * len(chats))

    def parse(self, sample: ClassGold, raw: str, way: str) -> Prediction:
        """From a kept answer to a label. Raises ValueError where it is not what `ask` keeps."""
        if way in WAYS:
            label, form = read_label(raw, self._labels())
            return Prediction(_as_gold(label, sample), form=form)
        kept = msgspec.json.decode(raw, type=_Raw)
        return Prediction(_as_gold(kept.label, sample), kept.probs, little_mass=tuple(kept.little_mass))

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> ClassPrediction:
        """The label, and the probabilities where there are any; no label where there is no answer."""
        if prediction is None:
            return ClassPrediction(id=key, label="")
        probs = dict(prediction.probs) or None
        return ClassPrediction(id=key, label=prediction.label, probs=probs, little_mass=prediction.little_mass)

    def taken(self, sample: ClassGold, said: Mapping[str, Any]) -> Prediction:
        """The label, and the probabilities where there are any; of probabilities alone the most probable label."""
        labels = said.get("labels")
        probs = {str(name): float(p) for name, p in (said.get("probs") or {}).items()}
        if isinstance(labels, list | tuple) and len(labels) > 1:
            raise ValueError(f"has {len(labels)} labels, and each text of this dataset has one")
        if isinstance(labels, Mapping):
            probs = probs or {str(name): float(p) for name, p in labels.items()}
        first = labels[0] if isinstance(labels, list | tuple) and labels else ""
        label = said.get("label") or first or max(probs, key=lambda name: probs[name], default="")
        return Prediction(_as_gold(str(label), sample), probs)

    def as_gold(self, sample: ClassGold, prediction: Prediction) -> ClassGold:
        """With the predicted label; unlabelled where there is none."""
        return msgspec.structs.replace(sample, label=prediction.label or None)

    def unread(self, prediction: Prediction) -> str | None:
        """An answer without one label in it."""
        return None if prediction.label else "the answer names no label, or several"

    def said(self, sample: ClassGold, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """One line: both labels, and the probability of the model's."""
        gold = sample.label or ""
        if prediction is None:
            return (SaidLine("label", gold, ""),)
        mark = "" if not gold or prediction.label == gold else "M"
        return (SaidLine("label", gold, prediction.label, mark, prediction.probs.get(prediction.label)),)

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """1 where the label is the gold label, else 0 with the mark M; ! where no label could be read, or of some
        label yes and no have little probability.

        An unlabelled text has no value.
        """
        return [_score(answer) for answer in answers]

    def report(self, samples: Sequence[ClassGold], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """As `emotui score class` names the figures. With repeats each is a mean, and `sd` has its deviation."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        known = [one for one in details if one.gold is not None]
        found: dict[str, object] = dict(by_repeat(known, _report)) if known else {"n": 0}
        unlabelled = len({one.id for one in details}) - len({one.id for one in known})
        return {**found, "unlabelled": unlabelled}

    def intervals(self, samples: Sequence[ClassGold], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of accuracy and F1."""
        from emotui.metrics.beside import beside_repeats

        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        known = [one for one in details if one.gold is not None]
        return beside_repeats(known, shared_of(samples), _resampled)

    def label_sets(self, detail: str | bytes) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """One label each; none where none could be read."""
        one = msgspec.json.decode(detail, type=Detail)
        return None if one.gold is None else ((one.gold,), (one.label,) if one.label else ())

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """Under `answers`, of a model that writes: how its answers were to be read. `little_mass`: as in scenes."""
        kept = predictions_of(rows, Prediction)
        return of_labels(kept, ("exact", "lenient", "unread"))

    def _labels(self) -> tuple[str, ...]:
        return self._settings.labels or PLUTCHIK

    def _asked(self, way: str) -> Labelling:
        own = self._settings
        if way == "classify":
            return Labelling("classify", own.labels, own.label_set)
        chosen: Way = "rank" if way == "rank" else "score"
        return Labelling(chosen, self._labels(), prompt=own.prompt(PROMPTS, "zs"))

    def _example(self, way: str) -> Prompt:
        name = EXAMPLES[way]
        return (self._settings.prompts or {}).get(name, PROMPTS[name])


def suited(
    card: ModelCard, golds: Iterable[tuple[str, str]], way: str, options: Mapping[str, object], seed: int
) -> dict[str, object]:
    """Options with the labels settled for these texts, and the examples drawn and checked.

    Args:
        golds: (id, label) of every text.
        seed: of the draw.

    Raises:
        BadInput: gold labels that are none of the model's labels, a line for each text; or one of an example.
    """
    pairs = list(golds)
    given: Any = options.get("labels")
    found = dict(options)
    if given:
        labels = tuple(given)
        check_known(card.spec, labels, pairs)
        known = [label for group in card.labels.values() for label in group]
        strange = [label for label in labels if label not in known]
        if way == "classify" and card.labels and strange:
            raise BadInput(f"{card.spec} has no label {strange[0]!r}; it knows: {', '.join(dict.fromkeys(known))}")
    elif way == "classify" and card.labels:
        own = labelling.labelling(card, pairs)
        labels = own.labels
        found["label_set"] = own.label_set
    else:
        labels = labelling.choices(pairs)
    found["labels"] = list(labels)
    if options.get("examples"):
        examples = msgspec.convert(options["examples"], list[Example])
        check_known(card.spec, labels, [(f"example {example.id}", example.label) for example in examples])
        usable = fitting(examples, way) if way in EXAMPLES else examples
        found["examples"] = [
            msgspec.to_builtins(msgspec.structs.replace(one, label=known_label(one.label, labels)))
            for one in drawn(usable, seed)
        ]
    return found


def _as_gold(label: str, sample: ClassGold) -> str:
    """The label as the sample writes it, where only case and ends differ: files are scored letter for letter."""
    return label if sample.label is None else known_label(label, (sample.label,)) or label


def _score(answer: Parsed) -> ScoreRow:
    sample, said = answer.sample, answer.prediction
    doubtful = said.form == "unread" or bool(said.little_mass)
    if sample.label is None:
        unlabelled = Detail(sample.id, answer.repeat, None, said.label, None, said.probs)
        values: dict[str, float | None] = {"accuracy": None, "confidence": None}
        return ScoreRow(CONVENTION, values, "!" * doubtful, msgspec.json.encode(unlabelled))
    gold = known_label(sample.label, said.probs) or sample.label
    right = said.label == sample.label
    detail = Detail(sample.id, answer.repeat, sample.label, said.label, said.probs.get(gold), said.probs)
    marks = "M" * (not right) + "!" * doubtful
    values = {"accuracy": float(right), "confidence": detail.confidence}
    return ScoreRow(CONVENTION, values, marks, msgspec.json.encode(detail))
