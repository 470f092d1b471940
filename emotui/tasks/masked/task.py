"""EXPRESS: which emotion word stood behind each `<mask>` of a text in which a person tells of themselves.

A model that fills masks is asked in one way: its likeliest word for each mask. A model that writes is asked for a list
with one word a mask, at once (`zero-shot`) or after reasoning (`cot`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from statistics import fmean, mean
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import MASK, Filled, FillMask, ModelCard, Refused
from emotui.backends.grammars import json_words
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.masked import OUTSIDES, MaskScore
from emotui.metrics.metric import Metric
from emotui.metrics.repeats import by_repeat
from emotui.metrics.span_scoring import Embed
from emotui.records import MaskedGold, MaskedPrediction, Text
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tables import ResultsTable
from emotui.tasks.masked.baselines import Detail, convention_of, score_baselines, sureness
from emotui.tasks.masked.examples import Example, ExampleFile, example_file, loaded
from emotui.tasks.masked.lexicon import (
    FORMS_HELP,
    LEXICON_HELP,
    OUTSIDE_HELP,
    SUPPLEMENT_HELP,
    WordVectors,
    asked_vectors,
    given_vectors,
    word_vectors,
)
from emotui.tasks.measures import MASKED
from emotui.tasks.parts import (
    Asking,
    Embedding,
    Lexicon,
    OwnSamples,
    SaidLine,
    ScoredRun,
    ScoreOption,
    TaskFiles,
    TaskWords,
    predictions_of,
    shared_by,
    shared_of,
)
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_chat, filled, read_prompt_file
from emotui.tasks.prompting.settings import DIRECT, WRITTEN, Writing, options_from, plain, write_answers
from emotui.tasks.published import express_table
from emotui.tasks.task import Asked, AskModel, Parsed, Task, unanswered

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures

VERSION = "1"
KEPT = 5
"""Words that are kept for each mask, with their probabilities, of a model that gives any."""

# What a model that writes is asked, and how its list is read. The words are this project's; what is asked for, a list
# with one emotion word a mask, is the paper's (Table A.9).

SHOWING = ("few-shot-random", "few-shot-nearest")
"""The ways that show examples: drawn ones, and those whose texts are nearest."""

WAYS = ("zero-shot", "cot", *SHOWING)
"""The paper's four settings: the bare question, reasoning first, and the bare question behind four examples."""

ROOM, WORD_ROOM = {"zero-shot": 48, "cot": 512} | dict.fromkeys(SHOWING, 48), 16
"""Tokens for an answer: so many, and so many more for each word."""

ANSWER = "Answer:"

SYSTEM = (
    "You are given short texts in which people write about themselves. Every <mask> stands where a word for what the "
    "writer feels has been covered up. You find the covered words."
)
_TASK = (
    "{text}\n\n"
    "Covered words in this text: {count}. Which single emotion word did the writer put at each <mask>? Go from the "
    "first <mask> to the last."
)
_SHOWN = Prompt(
    "Here are other texts with the words that were covered in them.\n\n{examples}\n\nNow a text whose words are not "
    f"known.\n\n{_TASK} Reply with nothing but a JSON list, one lower-case word for each <mask>: {{form}}",
    SYSTEM,
)
PROMPTS: Prompts = {
    "zero-shot": Prompt(
        _TASK + " Reply with nothing but a JSON list, one lower-case word for each <mask>: {form}", SYSTEM
    ),
    "cot": Prompt(
        _TASK + f" Say first, in a few short sentences, what in the text points to which feeling. Then write {ANSWER} "
        "and behind it a JSON list, one lower-case word for each <mask>: {form}",
        SYSTEM,
    ),
    **dict.fromkeys(SHOWING, _SHOWN),
}
"""This project's own; the same words for drawn and for nearest examples, as in the paper (Table A.9)."""

_PLACES = {
    way: Places(once=("{text}", "{examples}"), barred=("{text}", "{examples}"))
    if way in SHOWING
    else Places(once=("{text}",), barred=("{text}",))
    for way in WAYS
}

_LISTS = re.compile(r"\[([^\[\]]*)\]")
_QUOTED = re.compile(r"""(?:"([^"]*)"|'([^']*)'|“([^”]*)”|‘([^’]*)’)\s*(?:,|$)""")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.):])\s+")
_LABEL = re.compile(r"\b(?:final\s+)?answers?\s*:", re.IGNORECASE)
_LONGEST_WORD = 3
"""Words that an entry without quotes may have: more of them are a sentence."""


def read_masked_prompts(path: str) -> Prompts:
    """A prompt file with a table for some of the ways. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, _PLACES, WAYS)


def fields(text: str, count: int, examples: Sequence[Example] | None = None) -> Mapping[str, str]:
    """What is filled in about one text: itself, how many masks it has, and the form of a list of so many words.

    `examples`: what is shown before it, the farthest first, so that the nearest stands next to the text.
    """
    form = json.dumps([f"word{number}" for number in range(1, count + 1)] if count > 1 else ["word"])
    shown = [f"Text: {one.text}\nAnswer: {json.dumps(list(one.labels))}" for one in reversed(examples or ())]
    told = {"text": text, "count": str(count), "form": form}
    return told if examples is None else told | {"examples": "\n\n".join(shown)}


def read_words(output: str, way: str, count: int) -> tuple[tuple[str, ...], str]:
    """The words that a model gave, and how they were to be read.

    `json`: what is asked for, a JSON list of `count` strings and nothing else (with reasoning: behind the last
    `Answer:`). Anything else is `lenient`: thoughts and a markdown fence are taken off, and what stands before the last
    `Answer:`; then the last pair of brackets counts, and in it the quoted entries in any quotes, or the entries between
    commas; where there is no pair of brackets, the entries between commas or line ends, without bullets and numbers, if
    each has three words at most. Where none of this gives a word it is `unread`. Words keep the order in which they
    stand, in lower case and without quotes and points at their ends (`Sad.` is `sad`); a list may be too short or too
    long.
    """
    answer = plain(output)
    as_asked = answer == output.strip()
    if way == "cot":
        _, label, tail = answer.rpartition(ANSWER)
        answer, as_asked = plain(tail), bool(label)
    strict = _strings(answer)
    if as_asked and strict is not None and len(strict) == count and all(strict):
        return strict, "json"
    words = _lenient(answer)
    return words, "lenient" if words else "unread"


def _strings(text: str) -> tuple[str, ...] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        return None
    return tuple(_bare(word) for word in found)


def _lenient(answer: str) -> tuple[str, ...]:
    answer = _LABEL.split(answer)[-1]
    lists = _LISTS.findall(answer)
    if lists:
        inside = lists[-1].strip()
        quoted = [next(filter(None, groups), "") for groups in _QUOTED.findall(inside)]
        return _entries(quoted or inside.split(","))
    entries = _entries(re.split(r"[,\n]", answer))
    return entries if all(len(entry.split()) <= _LONGEST_WORD for entry in entries) else ()


def _entries(parts: list[str]) -> tuple[str, ...]:
    bare = (_bare(_BULLET.sub("", part)) for part in parts)
    return tuple(word for word in bare if word)


def _bare(word: str) -> str:
    """The word in lower case, without what models put around it; nothing where there is no letter or digit in it."""
    found = word.strip().strip("\"'“”‘’`*_.,;:!").strip().lower()
    return found if any(map(str.isalnum, found)) else ""


# The task.


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was parsed from one answer: a word for each mask, in order.

    Of a model that fills masks: `masks`, its likeliest words for each with their probabilities. Of one that writes:
    `form`, how its list was to be read (`read_words`). `asked`: how many words were wanted.
    """

    labels: tuple[str, ...]
    masks: tuple[tuple[tuple[str, float], ...], ...] = ()
    form: str = ""
    asked: int = 0


class FillingSettings(Writing, frozen=True, omit_defaults=True):
    """What a person can set; `examples`: the file of those that few-shot prompts show."""

    examples: ExampleFile | None = None


METRICS = (
    Metric("f1_v", (0, 1), True, "mean over the masks of the F1 of the two words' EmoLex vectors", "F1_V"),
    Metric("acc_l", (0, 1), True, "share of the masks filled with the gold word", "Acc_L"),
    Metric("acc_v", (0, 1), True, "share of the masks filled with a word of the gold word's vector", "Acc_V"),
)


def _mean_words(samples: Sequence[MaskedGold]) -> dict[str, float]:
    """The mean length of the texts in words, where there are any: Table 4 has it for segments and for full posts."""
    lengths = [len(sample.text.split()) for sample in samples if sample.text]
    return {"mean_words": fmean(lengths)} if lengths else {}


def _topic(sample: MaskedGold) -> str:
    topic = sample.meta.get("topic")
    return "" if topic is None else str(topic)


def _by_topic(
    samples: Sequence[MaskedGold], predicted: Mapping[str, Sequence[str]], words: WordVectors
) -> dict[str, Any]:
    """The figures of each topic, where records name theirs in `meta.topic` (EXPRESS has 49 by BERTopic)."""
    topics: dict[str, dict[str, Sequence[str]]] = {}
    for sample in samples:
        if (topic := _topic(sample)) and sample.id in predicted:
            topics.setdefault(topic, {})[sample.id] = sample.labels
    if not topics:
        return {}
    names = ("n", "masks", "acc_l", "acc_v", "f1_v")
    told = {topic: words.report(gold, {key: predicted[key] for key in gold}) for topic, gold in sorted(topics.items())}
    return {"by_topic": {topic: {name: one[name] for name in names} for topic, one in told.items()}}


def score_files(
    golds: Sequence[MaskedGold], answers: Sequence[MaskedPrediction], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, Any]:
    """The document of `emotui score masked`; EmoLex and the supplement unless a lexicon file is given.

    Raises:
        BadInput: the lexicon cannot be read.
    """
    words = given_vectors(given)
    told = scored_words(golds, answers, words)
    return told | ({"notes": told["notes"] | {"lexicon": "; ".join(words.notes)}} if words.notes else {})


def scored_words(
    golds: Sequence[MaskedGold], answers: Sequence[MaskedPrediction], words: WordVectors
) -> dict[str, Any]:
    """The figures of predictions against gold, by a lexicon."""
    gold = {sample.id: sample.labels for sample in golds}
    predicted = {answer.id: answer.labels for answer in answers}
    shared = [shared_by(sample.meta) for sample in golds]
    return words.report(gold, predicted, shared) | _mean_words(golds) | _by_topic(golds, predicted, words)


def problem(sample: MaskedGold) -> str | None:
    """Why a text cannot be asked about; None where it can."""
    if not sample.text:
        return "this record has no text"
    if (why := miscounted(sample)) is not None:
        return why
    return None if sample.labels else f"there is no {MASK} in the text"


def miscounted(sample: MaskedGold) -> str | None:
    """Why a record has no words to be scored by: its text has another number of masks. None: it has as many."""
    masks = (sample.text or "").count(MASK)
    if sample.text is None or masks == len(sample.labels):
        return None
    return f"the text has {masks} {MASK}, but there are {len(sample.labels)} words"


class Masked(Task):
    """The task as those see it who run it."""

    name = "masked"
    version = VERSION
    sample = MaskedGold
    metrics = METRICS
    prediction = Prediction
    words = TaskWords(
        title="Masked emotion words (EXPRESS)",
        progress="filling",
        asks="prediction of masked emotion words",
        measures=MASKED,
    )
    files = TaskFiles(
        kind="masked",
        predicted=MaskedPrediction,
        score=score_files,
        baselines=score_baselines,
        fault=miscounted,
        labelled=lambda sample: not sample.labels or any(sample.labels),
        about="Masked emotion words (EXPRESS): as words, and as ten-dimensional vectors.",
        score_options=(
            ScoreOption("lexicon", LEXICON_HELP),
            ScoreOption("forms", FORMS_HELP),
            ScoreOption("outside", OUTSIDE_HELP, choices=OUTSIDES),
            ScoreOption("no-supplement", SUPPLEMENT_HELP, switch=True),
        ),
        own=OwnSamples("masked", ("masked.jsonl",)),
    )
    asking = Asking(
        # Those that show examples are the command line's.
        ways=WAYS,
        offered=WAYS[:2],
        named={DIRECT: ""},
        prompts=read_masked_prompts,
        examples=example_file,
    )

    scores_unlabelled = False

    def __init__(self, settings: FillingSettings | None = None, lexicon: WordVectors | None = None) -> None:
        """`lexicon`: what words are compared by; None: EmoLex with the supplement."""
        self._settings, self._lexicon = settings or FillingSettings(), lexicon

    @property
    def lexicon(self) -> WordVectors:
        """What words are compared by."""
        return self._lexicon or word_vectors()

    def lexicon_of(self, given: Mapping[str, Any]) -> WordVectors | None:
        """The lexicon with its rules, of files or this project's own."""
        return asked_vectors(given)

    def with_lexicon(self, lexicon: Lexicon) -> "Masked":
        """The same task with words compared by these `WordVectors`."""
        assert isinstance(lexicon, WordVectors)
        return Masked(self._settings, lexicon)

    def blank(self, text: Text, labels: Sequence[str] = ()) -> MaskedGold:
        """The text with words that are not known: of the gold words only their number is asked with."""
        return MaskedGold(id=text.id, text=text.text, labels=("",) * text.text.count(MASK))

    def problem(self, sample: MaskedGold, first: MaskedGold) -> str | None:
        """A record without a text, or with another number of words than masks."""
        return problem(sample)

    def row(self, sample: MaskedGold) -> SampleRow:
        """A text as the store lists it: its masked words stand where other samples have their emotion."""
        words = tuple(word.strip().lower() for word in sample.labels)
        return SampleRow(
            id=sample.id,
            text=sample.text or "",
            emotion=", ".join(words),
            valence=None,
            emotions=tuple(dict.fromkeys(words)),
            valences=(),
            record=msgspec.json.encode(sample),
        )

    def question(self, sample: MaskedGold) -> object:
        """The text, and how many words are asked for."""
        return sample.text, len(sample.labels)

    def option_names(self, way: str) -> tuple[str, ...]:
        """Those of writing; none for a model that fills masks."""
        return (*WRITTEN, *(("examples",) if way in SHOWING else ())) if way else ()

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """None for a model that fills masks; one that writes has two, the bare question first."""
        if "fill_mask" in card.capabilities:
            return ()
        if "generate" not in card.capabilities:
            raise ModelError(f"{lacks(card.spec, 'fill_mask')}; any model that writes will do too")
        return WAYS

    def settings(self, way: str) -> Mapping[str, object]:
        """Prompt and sampling. Where the model fills masks, nothing but the version changes an answer.

        Raises:
            BadInput: the person's own prompts have none for this way, no grammar holds its answers, or it shows
                examples and has none.
        """
        if not way:
            return {}
        if way in SHOWING and self._settings.examples is None:
            raise BadInput(f"{way} shows examples: `emotui masked examples` writes a file of them, for --examples FILE")
        if way == "cot" and self._settings.constrain:
            raise BadInput("cot writes its reasons first, and no grammar holds that: --constrain is for zero-shot")
        shown = {} if self._settings.examples is None else {"examples": self._settings.examples.sha256}
        return self._settings.described(way, self._settings.prompt(PROMPTS, way), ROOM[way], json_words(1)) | shown

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Masked":
        """Options are those of `Writing`; several repeats are sampled, unless they say otherwise.

        Raises:
            BadInput: one of them is wrong; it is named.
        """
        return Masked(options_from(self, options, repeats, FillingSettings), self._lexicon)

    def ask(self, samples: Sequence[MaskedGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """Ask about each text; one without a text, or with another number of masks than words, is not asked about."""
        shown = self._shown(way)
        asked = [Asked(None, problem(sample) or _unshown(sample, shown)) for sample in samples]
        there = [place for place, answer in enumerate(asked) if answer.why is None]
        chosen = [samples[place] for place in there]
        if way:
            answers = self._written(chosen, model, way, [seeds[place] for place in there], shown)
        else:
            answers = [_kept(answer) for answer in model([FillMask(s.text or "", top=KEPT) for s in chosen])]
        for place, answer in zip(there, answers, strict=True):
            asked[place] = answer
        return asked

    def _shown(self, way: str) -> Mapping[str, tuple[Example, ...]] | None:
        """The examples by the text's id; None for a way that shows none."""
        if way not in SHOWING or self._settings.examples is None:
            return None
        return loaded(self._settings.examples)

    def _written(
        self,
        samples: Sequence[MaskedGold],
        model: AskModel,
        way: str,
        seeds: Sequence[int],
        shown: Mapping[str, tuple[Example, ...]] | None,
    ) -> list[Asked]:
        prompt = self._settings.prompt(PROMPTS, way)
        counts = [len(sample.labels) for sample in samples]
        examples = [None if shown is None else shown[sample.id] for sample in samples]
        chats = [
            as_chat(prompt, filled(prompt.user, fields(sample.text or "", count, few)))
            for sample, count, few in zip(samples, counts, examples, strict=True)
        ]
        rooms = [ROOM[way] + WORD_ROOM * count for count in counts]
        grammars = [json_words(count) for count in counts]
        return write_answers(chats, model, seeds, self._settings, rooms, grammars)

    def parse(self, sample: MaskedGold, raw: str, way: str) -> Prediction:
        """From a kept answer to words. Raises ValueError where it is not what `ask` keeps."""
        if way:
            words, form = read_words(raw, way, len(sample.labels))
            return Prediction(words, form=form, asked=len(sample.labels))
        masks = msgspec.json.decode(raw, type=tuple[tuple[tuple[str, float], ...], ...])
        if len(masks) != len(sample.labels) or not all(masks):
            raise ValueError(f"words for {len(masks)} masks, but the text has {len(sample.labels)}")
        return Prediction(tuple(mask[0][0] for mask in masks), masks, asked=len(sample.labels))

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> MaskedPrediction:
        """The words; none where there is no answer."""
        return MaskedPrediction(id=key, labels=() if prediction is None else prediction.labels)

    def taken(self, sample: MaskedGold, said: Mapping[str, Any]) -> Prediction:
        """The words, one a mask."""
        return Prediction(tuple(map(str, said.get("labels") or ())))

    def as_gold(self, sample: MaskedGold, prediction: Prediction) -> MaskedGold:
        """With the predicted words. Raises BadInput where they are more or fewer than the masks."""
        if len(prediction.labels) != len(sample.labels):
            raise BadInput(f"{sample.id}: {len(prediction.labels)} words for {len(sample.labels)} masks")
        return msgspec.structs.replace(sample, labels=prediction.labels)

    def unread(self, prediction: Prediction) -> str | None:
        """An answer without a list of words."""
        return None if prediction.labels else "there are no words in the answer"

    def said(self, sample: MaskedGold, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """A line a mask: the two words, and `M` where it is missed; words of the supplement have their sign."""
        lines, words, shown = [], self.lexicon, self.lexicon.marked
        for place, word in enumerate(sample.labels):
            name = f"mask {place + 1}"
            if prediction is None:
                lines.append(SaidLine(name, shown(word), ""))
                continue
            there = prediction.labels[place] if place < len(prediction.labels) else ""
            p = prediction.masks[place][0][1] if place < len(prediction.masks) else None
            lines.append(
                SaidLine(name, shown(word), shown(there), "M" * is_missed(words.score(word, there or None), words), p)
            )
        return tuple(lines)

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """The mean F1_V of a text's masks; M where some mask is missed (`is_missed`), ! where no list was found."""
        words = self.lexicon
        return [_score(answer, words) for answer in answers]

    def report(self, samples: Sequence[MaskedGold], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """As `emotui score masked` names the figures. With repeats each is a mean, and `sd` has its deviation."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        once = {detail.id: detail.predicted for detail in details} if len({one.repeat for one in details}) == 1 else {}
        scored = {detail.id for detail in details}
        lengths = _mean_words([sample for sample in samples if sample.id in scored])
        words = self.lexicon

        def figures(of: Sequence[Detail]) -> dict[str, Any]:
            return words.report({one.id: one.gold for one in of}, {one.id: one.predicted for one in of})

        return by_repeat(details, figures) | lengths | _by_topic(samples, once, words)

    def tables(self, runs: Sequence[ScoredRun], elsewhere: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
        """Runs beside baselines, by topic, their mispredictions and words, pairs of runs, and size."""
        from emotui.tasks.masked.tables import masked_tables

        return masked_tables(runs, self.lexicon)

    def intervals(self, samples: Sequence[MaskedGold], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of the means over masks, which are drawn text by text."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        return sureness(details, shared_of(samples), self.lexicon)

    def sums(self, samples: Sequence[MaskedGold], details: Sequence[str | bytes]) -> "Figures":
        """Of the means over masks, and the share of a word's masks in which another one was guessed."""
        from emotui.tasks.masked.baselines import mask_sums

        return mask_sums([msgspec.json.decode(one, type=Detail) for one in details], self.lexicon)

    def printed(self, metric: str) -> Sequence[tuple[str, str, str, float | None]]:
        """EXPRESS's Table 3."""
        return [
            (row["model"], setting, row["kind"], figures.get(metric))
            for row in express_table("3")["rows"]
            for setting, figures in row["settings"].items()
        ]

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """Under `answers`, of a model that writes: how its lists were to be read, and how many have a word a mask."""
        kept = predictions_of(rows, Prediction)
        forms = [one.form for one in kept if one.form]
        if not forms:
            return {}
        valid = sum(0 < one.asked == len(one.labels) for one in kept)
        read = {form: forms.count(form) for form in ("json", "lenient", "unread")}
        return {"answers": {"n": len(forms)} | read | {"valid": valid, "valid_rate": valid / len(rows)}}


def _unshown(sample: MaskedGold, shown: Mapping[str, tuple[Example, ...]] | None) -> str | None:
    if shown is None or shown.get(sample.id):
        return None
    return "the file of examples has none for this text"


def _kept(answer: object) -> Asked:
    if isinstance(answer, Refused):
        return unanswered(answer)
    assert isinstance(answer, Filled)
    masks = [[(word, round(p, 6)) for word, p in mask] for mask in answer.masks]
    return Asked(msgspec.json.encode(masks).decode())


def is_missed(pair: MaskScore, words: WordVectors) -> bool:
    """Does no emotion of the gold word belong to the guess, or is there no guess?

    Where either word has no vector or one of ten zeros no emotion can be shared: that says nothing of the guess.
    """
    if pair.predicted is None:
        return True
    vectors = (words.table.get(pair.gold), words.table.get(pair.predicted))
    return pair.f1 == 0 and all(vector is not None and any(vector) for vector in vectors)


def _score(answer: Parsed, words: WordVectors) -> ScoreRow:
    sample, said = answer.sample, answer.prediction.labels
    pairs = [words.score(word, said[place] if place < len(said) else None) for place, word in enumerate(sample.labels)]
    f1 = tuple(pair.f1 for pair in pairs)
    detail = Detail(sample.id, answer.repeat, sample.labels, said, f1, _topic(sample))
    marks = "M" * any(is_missed(pair, words) for pair in pairs) + "!" * (answer.prediction.form == "unread")
    values = {
        "f1_v": mean(detail.f1),
        "acc_l": mean(float(pair.same_word) for pair in pairs),
        "acc_v": mean(float(pair.same_vector) for pair in pairs),
    }
    return ScoreRow(convention_of(words), values, marks, msgspec.json.encode(detail))
