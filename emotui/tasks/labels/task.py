"""Texts with any number of labels each, out of any label set, such as GoEmotions' 27 emotions and neutral.

Ways to ask, which are never mixed in one run:

- `classify`: a classifier's own probabilities; labels are given from the model's own thresholds on, else from 0.5 on,
  and of a classifier that gives one label that one.
- `heads`: a model with a head for yes and no for each label (`embedded`: Plutchik's eight).
- `nli`: an NLI model; the odds that the text entails a statement with the label in it against that it contradicts it.
- `score`: a model that scores, yes against no at the next token, a question a label; yes from a probability of 0.5 on.
- `zero-shot`, `cot`: a model writes a list of the labels, at once or after its reasons.
- `yes-no`: a model that writes; the questions of `score`, each answered in words, for servers without probabilities.

What a model writes are hard answers: labels alone, and no threshold, calibration or average precision is of them.

All models are asked about the labels that occur in the dataset.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from emotui.backends.base import Classify, Message, ModelCard, Score
from emotui.backends.grammars import some_of
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.beside import Drawn, Resampled, beside_repeats, probabilities, vectors
from emotui.metrics.labels import as_table, jaccard, label_names, labels_metrics, sample_f1
from emotui.metrics.metric import Metric
from emotui.metrics.repeats import by_repeat
from emotui.metrics.span_scoring import Embed
from emotui.metrics.thresholds import USUAL
from emotui.records import LabelsGold, LabelsPrediction, Text
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tables import ResultsTable
from emotui.tasks.label_answers import CONVENTION, Detail, details_alike, named_in, with_probabilities
from emotui.tasks.label_questions import (
    CLASSIFY,
    HEADS,
    OF_HEADS,
    SCORE,
    SYSTEM,
    YES_OR_NO,
    LabelSets,
    Prediction,
    chat_about,
    decided,
    kept_classification,
    kept_scores,
    kept_words,
    read_classification,
    read_scores,
    read_words,
)
from emotui.tasks.labels.files import choose_thresholds, score_baselines, score_files, score_people, write_thresholds
from emotui.tasks.measures import LABELS
from emotui.tasks.parts import (
    AGAINST_PEOPLE,
    CALIBRATE_ON_PEOPLE,
    Asking,
    SaidLine,
    ScoredRun,
    ScoreOption,
    TaskFiles,
    TaskWords,
    Thresholds,
    no_answers,
    of_labels,
    predictions_of,
    said_of_no_answers,
    shared_of,
    with_notes,
)
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_chat, as_kept, filled, read_prompt_file
from emotui.tasks.prompting.settings import (
    CONTEXT,
    COT,
    DIRECT,
    NLI,
    WRITTEN,
    YES_NO,
    ZERO_SHOT,
    Writing,
    answer_each,
    check_hypotheses,
    hypothesis_places,
    options_from,
    plain,
    stated,
    write_answers,
)
from emotui.tasks.prompting.settings import (
    ROOM as ROOM_FOR_A_WORD,
)
from emotui.tasks.rephrase.labelling import known_label
from emotui.tasks.task import Asked, AskModel, Parsed, Task

# What a model is asked about all labels of a text at once, and how its list of them is read. The words are ours.

WAYS = (ZERO_SHOT, COT)
"""In which a model writes."""

ROOM = {ZERO_SHOT: 160, COT: 640}
"""Tokens for an answer."""

ANSWER = "Answer:"


_TASK = "Text:\n{text}\n\nWhich of these does its writer show? {labels}."
PROMPTS: Prompts = {
    ZERO_SHOT: Prompt(
        _TASK + ' Reply with nothing but a JSON list of those that fit, spelt as above, such as ["{example}"]; '
        "with [] if none of them fits.",
        SYSTEM,
    ),
    COT: Prompt(
        _TASK + f" Say first, in a few short sentences, what in the text points to which of them. Then write {ANSWER} "
        "and behind it a JSON list of those that fit, spelt as above; [] if none of them fits.",
        SYSTEM,
    ),
    NLI: Prompt("The writer of this text feels {label}."),
}
"""This project's own."""

_PLACES = Places(once=("{text}",), often=("{labels}",), barred=("{text}",))
_LISTS = re.compile(r"\[([^\[\]]*)\]")
_NONE = re.compile(r"(none|no emotions?|nothing|neither)( of (them|these|the above))?\.?", re.IGNORECASE)


def read_labels_prompts(path: str) -> Prompts:
    """A prompt file with a table for one way or more. Raises BadInput as `read_prompt_file` and `check_hypotheses`."""
    places = dict.fromkeys(WAYS, _PLACES) | {NLI: hypothesis_places("{label}")}
    return check_hypotheses(path, read_prompt_file(path, places, WAYS))


def statements(template: Prompt, labels: Sequence[str]) -> tuple[str, ...]:
    """What an NLI model judges, one statement for each label."""
    return tuple(stated(template, {"label": label}) for label in labels)


def fields(text: str | None, labels: Sequence[str]) -> Mapping[str, str]:
    """What is filled in about one text."""
    return {"text": text or "", "labels": ", ".join(labels), "example": labels[0]}


def read_list(output: str, way: str, labels: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The labels that a model wrote, in the order of `labels`, and how its answer was to be read.

    `json`: a JSON list of known labels and nothing else, case apart (with reasoning: behind the last `Answer:`).
    `lenient`: thoughts and a markdown fence taken off, the known labels in the last pair of brackets, else on the
    first line that names any; of a label within another the longer one counts. An empty pair of brackets, or a word
    such as `none`, names no label. Where none of this holds it is `unread`.
    """
    answer = plain(output)
    as_asked = answer == output.strip()
    if way == COT:
        _, label, tail = answer.rpartition(ANSWER)
        answer, as_asked = plain(tail), bool(label)
    strict = _strict(answer, labels)
    if strict is not None:
        return _ordered(strict, labels), "json" if as_asked else "lenient"
    lists = _LISTS.findall(answer)
    if lists:
        found = _named(lists[-1], labels)
        return _ordered(found, labels), "lenient" if found or not lists[-1].strip() else "unread"
    for line in answer.splitlines():
        if found := _named(line, labels):
            return _ordered(found, labels), "lenient"
    return (), "lenient" if _NONE.fullmatch(answer.strip()) else "unread"


def _strict(answer: str, labels: Sequence[str]) -> set[str] | None:
    try:
        listed = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        return None
    known = {known_label(name, labels) for name in listed}
    return None if None in known else {name for name in known if name is not None}


def _named(text: str, labels: Sequence[str]) -> set[str]:
    """The labels that stand in it as whole words."""
    names = sorted(labels, key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
    found = (known_label(each, labels) for each in re.findall(pattern, text, re.IGNORECASE))
    return {name for name in found if name is not None}


def _ordered(found: set[str], labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in labels if name in found)


VERSION = "1"

METRICS = (
    Metric("f1", (0, 1), True, "F1 of the labels given against the gold ones; 1 where there are none of either", "F1"),
    Metric("jaccard", (0, 1), True, "labels that both have, over labels that either has", "Jacc"),
    Metric("exact", (0, 1), True, "1 where just the gold labels are given, else 0", "exact", yes_or_no=True),
)

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures


class Settings(Writing, frozen=True, omit_defaults=True):
    """What a run is asked with. `label_set`: names `labels` where they are the model's own."""

    labels: tuple[str, ...] = ()
    label_set: str | None = None
    thresholds: Mapping[str, float] = {}


class Labels(Task):
    """The task as those see it who run it."""

    name = "labels"
    version = VERSION
    sample = LabelsGold
    prediction = Prediction
    metrics = METRICS
    words = TaskWords(
        title="Several labels a text",
        progress="labelling",
        runs="Run beside gold",
        without_run="gold alone",
        marks_errors=True,
        asks="multi-label emotion classification",
        measures=LABELS,
    )
    files = TaskFiles(
        kind="labels",
        predicted=LabelsPrediction,
        score=score_files,
        labelled=lambda sample: sample.said is not None,
        baselines=score_baselines,
        about="Several labels a text: F1 by label, by text and pooled, Jaccard, Brier, calibration, average precision.",
        score_options=(
            ScoreOption("thresholds", "TOML or JSON: from which probability on a label is given (0.5)."),
            AGAINST_PEOPLE,
            CALIBRATE_ON_PEOPLE,
        ),
        annotators=lambda sample: sample.annotators,
        score_people=score_people,
        label_columns=True,
        thresholds=Thresholds(choose_thresholds, write_thresholds),
    )
    asking = Asking(
        ways=(CLASSIFY, HEADS, NLI, SCORE, *WAYS, YES_NO),
        offered=(CLASSIFY, HEADS, NLI, SCORE, *WAYS, YES_NO),
        named={DIRECT: CLASSIFY, ZERO_SHOT: ZERO_SHOT, COT: COT},
        prompts=read_labels_prompts,
    )
    labels = LabelSets()

    def __init__(self, settings: Settings | None = None, mask: str = "") -> None:
        """`mask`: what stands in texts for the model's own mask token (`Classify.mask`); empty: nothing does."""
        self._settings, self._mask = settings or Settings(), mask
        self._read: tuple[Sequence[ScoreRow], list[Detail]] | None = None

    def with_mask(self, mask: str) -> "Labels":
        """Each of these in a text is the model's own mask token."""
        return Labels(self._settings, mask)

    def blank(self, text: Text, labels: Sequence[str] = ()) -> LabelsGold:
        """The text, unlabelled."""
        return LabelsGold(id=text.id, text=text.text)

    def problem(self, sample: LabelsGold, first: LabelsGold) -> str | None:
        """A record without a text."""
        return None if sample.text and sample.text.strip() else "the text is missing"

    def row(self, sample: LabelsGold) -> SampleRow:
        """A text as the store lists it, with its gold labels."""
        there = gold_of(sample) or ()
        return SampleRow(
            id=sample.id,
            text=sample.text or "",
            emotion=", ".join(there) or None,
            valence=None,
            emotions=there,
            valences=(),
            record=msgspec.json.encode(sample),
        )

    def question(self, sample: LabelsGold) -> object:
        """The text alone: which labels are asked about stands among a run's settings."""
        return sample.text

    def option_names(self, way: str) -> tuple[str, ...]:
        """The labels, their thresholds where there are probabilities, and what a model writes with."""
        own = ("labels", "label_set")
        if way in WAYS:
            return (*own, *WRITTEN, *CONTEXT)
        if way == YES_NO:
            return (*own, "max_tokens", *CONTEXT)
        further = {NLI: ("prompts",), SCORE: CONTEXT}
        return (*own, "thresholds", *further.get(way, ()))

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """Those that the model can go: with probabilities first, then in writing."""
        found = [CLASSIFY] if "classify" in card.capabilities else []
        if card.judges:
            found = [NLI, *found]
        elif "score" in card.capabilities:
            found.append(HEADS if OF_HEADS in card.labels else SCORE)
        found += (*WAYS, YES_NO) if "generate" in card.capabilities else ()
        if not found:
            raise ModelError(f"{lacks(card.spec, 'classify')}; any model that writes or scores will do too")
        return tuple(found)

    def settings(self, way: str) -> Mapping[str, object]:
        """The labels, and of a model that is asked in words its prompt and sampling.

        Raises:
            BadInput: the person's own prompts have none for this way, or no grammar holds its answers.
        """
        own = self._settings
        labels = {"labels": own.labels, "label_set": own.label_set, "thresholds": own.thresholds, "way": way}
        if way == NLI:
            return labels | {"prompt": [own.prompt(PROMPTS, way).user]}
        if way == YES_NO:
            room = {"max_tokens": own.max_tokens or ROOM_FOR_A_WORD}
            return labels | {"prompt": [SYSTEM, YES_OR_NO]} | room | own.context()
        if way not in WAYS:
            return labels | {"prompt": [SYSTEM, YES_OR_NO] if way == SCORE else []} | own.context()
        if way == COT and own.constrain:
            raise BadInput("cot writes its reasons first, and no grammar holds that: --constrain is for zero-shot")
        return labels | own.described(way, own.prompt(PROMPTS, way), ROOM[way], some_of(own.labels or ("",)))

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Labels":
        """Options are the fields of `Settings`; several repeats are sampled, unless they say otherwise.

        Raises:
            BadInput: one of them is wrong; it is named.
        """
        return Labels(options_from(self, options, repeats, Settings))

    def with_turns(self, turns: Mapping[str, str]) -> "Labels":
        """Before the text of a question in words."""
        return Labels(msgspec.structs.replace(self._settings, turns=turns), self._mask)

    def ask(self, samples: Sequence[LabelsGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """One question a text, or, with `score`, `yes-no`, `nli` and `heads`, one a label behind the text."""
        own, texts, mask = self._settings, [sample.text or "" for sample in samples], self._mask
        if way == CLASSIFY:
            given = None if own.label_set else own.labels or None
            classified = model([Classify(text, own.label_set, given, mask) for text in texts])
            return [kept_classification(answer) for answer in classified]
        if way == HEADS:
            scored = model([Score(text, own.labels, mask=mask) for text in texts])
            return [kept_scores(answer, own.labels, None) for answer in scored]
        if way == NLI:
            asked = statements(own.prompt(PROMPTS, way), own.labels)
            judged = model([Score(text, asked, stated=True, mask=mask) for text in texts])
            return [kept_scores(answer, own.labels, "\n".join(asked)) for answer in judged]
        if way == SCORE:
            return self._scored(self._told(samples), model)
        if way == YES_NO:
            return self._in_words(self._told(samples), model, seeds)
        prompt = own.prompt(PROMPTS, way)
        told = [{**fields(sample.text, own.labels), **own.context_of(sample)} for sample in samples]
        chats = [as_chat(prompt, filled(prompt.user, each)) for each in told]
        n = len(samples)
        return write_answers(chats, model, seeds, own, [ROOM[way]] * n, [some_of(own.labels)] * n)

    def _told(self, samples: Sequence[LabelsGold]) -> list[tuple[str, str]]:
        """Each text, and what stands before a question about it."""
        own = self._settings
        return [(text := sample.text or "", f"{own.opening(sample)}Text:\n{text}\n\n") for sample in samples]

    def _scored(self, told: Sequence[tuple[str, str]], model: AskModel) -> list[Asked]:
        labels = self._settings.labels
        questions = tuple(YES_OR_NO.format(label=label) for label in labels)
        chats = [chat_about(about) for _, about in told]
        answers = model([Score(text, questions, chat) for (text, _), chat in zip(told, chats, strict=True)])
        return [
            kept_scores(answer, labels, "\n".join((as_kept(chat), *questions)))
            for answer, chat in zip(answers, chats, strict=True)
        ]

    def _in_words(self, told: Sequence[tuple[str, str]], model: AskModel, seeds: Sequence[int]) -> list[Asked]:
        labels, room = self._settings.labels, self._settings.max_tokens or ROOM_FOR_A_WORD
        asked = {label: YES_OR_NO.format(label=label) for label in labels}
        chats, kept = [], []
        for _, about in told:
            chats.append(
                {label: (Message("system", SYSTEM), Message("user", about + each)) for label, each in asked.items()}
            )
            shared = as_kept((Message("system", SYSTEM), Message("user", about)))
            kept.append("\n".join((shared, *asked.values())))
        answers = answer_each(chats, model, room, seeds)
        return [kept_words(answer, prompt) for answer, prompt in zip(answers, kept, strict=True)]

    def parse(self, sample: LabelsGold, raw: str, way: str) -> Prediction:
        """From a kept answer to labels. Raises ValueError where it is not what `ask` keeps."""
        own = self._settings
        if way == CLASSIFY:
            return read_classification(raw, own.labels, own.thresholds)
        if way in (HEADS, NLI, SCORE):
            return read_scores(raw, own.labels, own.thresholds)
        if way == YES_NO:
            return read_words(raw, own.labels)
        labels, form = read_list(raw, way, own.labels)
        return Prediction(labels, form=form)

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> LabelsPrediction:
        """Probabilities, with the labels given where these are not those from 0.5 on; a list where there are none."""
        if prediction is None:
            return LabelsPrediction(id=key, labels={})
        if not prediction.probs:
            return LabelsPrediction(id=key, labels=prediction.labels, unanswered=tuple(prediction.unanswered))
        usual = set(prediction.labels) == set(decided(prediction.probs, {}))
        given = None if usual else prediction.labels
        return LabelsPrediction(id=key, labels=prediction.probs, given=given, little_mass=prediction.little_mass)

    def taken(self, sample: LabelsGold, said: Mapping[str, Any]) -> Prediction:
        """Labels as a list or as 0 or 1, or probabilities: from 0.5 on, or those that are `given` beside them."""
        labels = said.get("labels")
        if labels is None:
            labels = [said["label"]] if said.get("label") else []
        if type(labels) in (list, tuple) or not isinstance(labels, Mapping):
            named = tuple(map(str, labels))
            if lost := said.get("unanswered"):
                return Prediction(named, unanswered=dict.fromkeys(lost, "no answer about it"))
            return Prediction(named)
        probs = {str(name): float(p) for name, p in labels.items()}
        given = said.get("given")
        chosen = decided(probs, {}) if given is None else tuple(given)
        return Prediction(chosen, {} if all(p in (0, 1) for p in probs.values()) else probs)

    def as_gold(self, sample: LabelsGold, prediction: Prediction) -> LabelsGold:
        """With the labels given."""
        return msgspec.structs.replace(sample, labels=prediction.labels, label=None)

    def unread(self, prediction: Prediction) -> str | None:
        """A written answer that names no label and does not say that there is none."""
        return "the answer names none of the labels" if prediction.form == "unread" else None

    def said(self, sample: LabelsGold, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """A line for each label that either side gives or has a probability for, or came to no answer about."""
        gold = gold_of(sample)
        given = () if prediction is None else prediction.labels
        probs: Mapping[str, float] = {} if prediction is None else prediction.probs
        lost: Mapping[str, str] = {} if prediction is None else prediction.unanswered
        cuts = self._settings.thresholds
        by_them = set(given) == set(decided(probs, cuts))
        return tuple(
            _line(
                name,
                gold,
                None if prediction is None or name in lost else given,
                probs.get(name),
                cuts.get(name, USUAL) if by_them and name in probs else None,
            )
            for name in label_names([gold or (), given, probs, tuple(lost)])
        )

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """F1, Jaccard and whether all is right; M where a label is missed, X where one is too many, ! unread."""
        return [_score(answer) for answer in answers]

    def report(self, samples: Sequence[LabelsGold], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """As `emotui score labels` names the figures. With repeats each is a mean, and `sd` has its deviation."""
        details = self._details(scores)
        known = [one for one in details if one.gold is not None]
        unlabelled = len({one.id for one in details}) - len({one.id for one in known})
        return (
            {**by_repeat(known, self._report), "unlabelled": unlabelled}
            if known
            else {"n": 0, "unlabelled": unlabelled}
        )

    def _details(self, scores: Sequence[ScoreRow]) -> list[Detail]:
        """What is kept of each score; read once for the figures of a run and their intervals."""
        if self._read is None or self._read[0] is not scores:
            self._read = scores, details_alike(row.detail for row in scores)
        return self._read[1]

    def _report(self, details: Sequence[Detail]) -> dict[str, Any]:
        own = self._settings
        labels = named_in(own.labels, details)
        gold, said = (
            as_table(rows, labels) for rows in ([d.gold or () for d in details], [d.predicted for d in details])
        )
        probs = as_table([one.probs for one in details], labels) if with_probabilities(details) else None
        # A classifier that gives one label does not go by a threshold.
        by_them = all(set(one.predicted) == set(decided(one.probs, own.thresholds)) for one in details)
        used = {name: own.thresholds.get(name, USUAL) for name in labels} if probs is not None and by_them else None
        return labels_metrics(gold.astype(np.uint8), said.astype(np.uint8), labels, probs, used)

    def intervals(self, samples: Sequence[LabelsGold], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of every figure; those of probabilities where all answers have them."""
        known = [one for one in self._details(scores) if one.gold is not None]
        labels = named_in(self._settings.labels, known)

        def resampled(here: Sequence[Detail], by: Drawn) -> Resampled:
            gold, said = as_table([one.gold or () for one in here], labels), [one.predicted for one in here]
            found = vectors(gold, as_table(said, labels), labels, by)
            given = as_table([one.probs for one in here], labels) if with_probabilities(here) else None
            return found if given is None else found | probabilities(gold, given, labels, by)

        return beside_repeats(known, shared_of(samples), resampled)

    def sums(self, samples: Sequence[LabelsGold], details: Sequence[str | bytes]) -> "Figures":
        """Of the labels that are asked for, and the Brier score where all answers have probabilities."""
        from emotui.metrics.label_sums import of_probabilities, of_sets

        each = [msgspec.json.decode(one, type=Detail) for one in details]
        known = [one for one in each if one.gold is not None]
        labels, scored = named_in(self._settings.labels, each), np.array([one.gold is not None for one in each])
        if not known or not labels:
            return {}
        gold, said = as_table([one.gold or () for one in each], labels), [one.predicted for one in each]
        figures = of_sets(gold, as_table(said, labels), labels, scored, single=False)
        if not with_probabilities(known):
            return figures
        return figures | of_probabilities(gold, as_table([one.probs for one in each], labels), labels, scored)

    def label_sets(self, detail: str | bytes) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """As they are."""
        one = msgspec.json.decode(detail, type=Detail)
        return None if one.gold is None else (one.gold, one.predicted)

    def tables(self, runs: Sequence[ScoredRun], elsewhere: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
        """Runs side by side; and for each its figures by label and its confusion."""
        from emotui.tasks.labels.tables import label_tables

        return label_tables(runs, elsewhere)

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """Under `answers`, of a model that writes: how its lists were to be read. `little_mass`, `unanswered`: as in
        scenes.
        """
        kept = predictions_of(rows, Prediction)
        lost = [one.unanswered for one in kept]
        if any(lost):  # asked in words, so neither of the others
            asked = len(kept) * len(self._settings.labels) or None  # what another program asked about is not known
            return with_notes({"unanswered": no_answers(lost, asked)}, {"unanswered": said_of_no_answers(lost, asked)})
        return of_labels(kept, ("json", "lenient", "unread"))


def gold_of(sample: LabelsGold) -> tuple[str, ...] | None:
    """The gold labels; None where the text is unlabelled."""
    said = sample.said
    if said is None or isinstance(said, tuple) or not isinstance(said, Mapping):
        return said
    return tuple(name for name, value in said.items() if value)


def _line(
    name: str, gold: Sequence[str] | None, given: Sequence[str] | None, p: float | None, cut: float | None
) -> SaidLine:
    there = "" if gold is None else "yes" if name in gold else "no"
    said = "" if given is None else "yes" if name in given else "no"
    mark = "M" if (there, said) == ("yes", "no") else "X" if (there, said) == ("no", "yes") else ""
    return SaidLine(name, there, said, mark, p, cut)


def _score(answer: Parsed) -> ScoreRow:
    sample, said = answer.sample, answer.prediction
    gold = gold_of(sample)
    astray = bool(said.little_mass) or bool(said.unanswered)
    detail = Detail(sample.id, answer.repeat, gold, said.labels, said.probs, astray)
    unread = "!" * (said.form == "unread" or astray)
    encoded = msgspec.json.encode(detail)
    if gold is None:
        return ScoreRow(CONVENTION, {metric.name: None for metric in METRICS}, unread, encoded)
    values, marks = _compared(gold, said.labels)
    return ScoreRow(CONVENTION, values, marks + unread, encoded)


@lru_cache(4096)
def _compared(gold: tuple[str, ...], said: tuple[str, ...]) -> tuple[Mapping[str, float | None], str]:
    """The values and marks of one text; many have the same labels."""
    there, given = set(gold), set(said)
    values = {"f1": sample_f1(there, given), "jaccard": jaccard(there, given), "exact": float(there == given)}
    return values, "M" * bool(there - given) + "X" * bool(given - there)
