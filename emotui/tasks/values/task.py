"""Texts with numbers: valence, arousal, dominance as in EmoBank, or scales of one's own.

Ways to ask, which are never mixed in one run:

- `regress`: a model with a regression head (`hf:`), by the names that its configuration gives the head's outputs.
- `zero-shot`, `cot`: a model writes a JSON object with a number for each name, at once or after its reasons.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import ModelCard, Refused, Regress, Regressed
from emotui.backends.grammars import numbers_of
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.metric import Metric
from emotui.metrics.span_scoring import Embed
from emotui.metrics.values import value_names, values_report
from emotui.records import Text, ValuesGold, ValuesPrediction
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tables import ResultsTable
from emotui.tasks.measures import VALUES
from emotui.tasks.parts import (
    AGAINST_PEOPLE,
    Asking,
    Embedding,
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
from emotui.tasks.prompting.settings import (
    CONTEXT,
    COT,
    DIRECT,
    WRITTEN,
    ZERO_SHOT,
    Writing,
    options_from,
    plain,
    write_answers,
)
from emotui.tasks.rephrase.labelling import known_label
from emotui.tasks.task import Asked, AskModel, Parsed, Task, unanswered
from emotui.tasks.values.tables import CONVENTION, Detail, run_intervals, run_report, run_sums, value_tables

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures

# What a model is asked about the numbers of a text, and how they are read from its answer. The words are ours.

WAYS = (ZERO_SHOT, COT)
"""In which a model writes."""

ROOM = {ZERO_SHOT: 160, COT: 640}
"""Tokens for an answer."""

ANSWER = "Answer:"
SYSTEM = "You read short texts and rate how their writers feel, in numbers."

_TASK = "Text:\n{text}\n\nRate what its writer feels: {scales}."
PROMPTS: Prompts = {
    ZERO_SHOT: Prompt(
        _TASK + " Reply with nothing but a JSON object with a number for each, such as {example}.",
        SYSTEM,
    ),
    COT: Prompt(
        _TASK + f" Say first, in a few short sentences, what in the text tells. Then write {ANSWER} and behind it a "
        "JSON object with a number for each, such as {example}.",
        SYSTEM,
    ),
}
"""This project's own."""

# The ends of the three scales, after the Self-Assessment Manikin (Bradley and Lang 1994).
_ENDS = {
    "valence": ("very unpleasant", "very pleasant"),
    "arousal": ("very calm", "very excited"),
    "dominance": ("being controlled", "in control"),
}

_PLACES = Places(once=("{text}",), often=("{scales}",), barred=("{text}",))
_OBJECTS = re.compile(r"\{[^{}]*\}")
_NUMBER = r"[+-]?\d{1,15}(?:[.,]\d{1,15})?"


def read_values_prompts(path: str) -> Prompts:
    """A prompt file with a table for one way or both. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, dict.fromkeys(WAYS, _PLACES), WAYS)


def fields(text: str | None, scales: Mapping[str, Sequence[float]]) -> Mapping[str, str]:
    """What is filled in about one text. `scales`: from where to where each number goes, by name."""
    # An example at the lower end of one scale would be copied; the middles say nothing about the text.
    middles = {name: round((low + high) / 2, 2) for name, (low, high) in scales.items()}
    return {
        "text": text or "",
        "scales": "; ".join(_described(name, low, high) for name, (low, high) in scales.items()),
        "example": json.dumps(middles, ensure_ascii=False),
    }


def _described(name: str, low: float, high: float) -> str:
    ends = _ENDS.get(name.casefold())
    if ends is None:
        return f"{name} from {low:g} to {high:g}"
    return f"{name} from {low:g} ({ends[0]}) to {high:g} ({ends[1]})"


def read_numbers(output: str, way: str, names: Sequence[str]) -> tuple[dict[str, float], str]:
    """The numbers that a model wrote, in the order of `names`, and how its answer was to be read.

    `json`: a JSON object with a number for every name and nothing else, case apart (with reasoning: behind the last
    `Answer:`). `lenient`: thoughts and a markdown fence taken off, the numbers that stand behind their names in the
    last pair of braces, else anywhere, the last of each; of one name alone, an answer that begins with a number. A
    comma may part the decimals. Where no number is found it is `unread`.
    """
    answer = plain(output)
    as_asked = answer == output.strip()
    if way == COT:
        _, label, tail = answer.rpartition(ANSWER)
        answer, as_asked = plain(tail), bool(label)
    strict = _strict(answer, names)
    if strict is not None:
        return strict, "json" if as_asked else "lenient"
    objects = _OBJECTS.findall(answer)
    found = (_named(objects[-1], names) if objects else {}) or _named(answer, names)
    if not found and len(names) == 1 and (alone := re.match(rf"{_NUMBER}(?![\w%])", answer)):
        found = {names[0]: _number(alone[0])}
    return found, "lenient" if found else "unread"


def _strict(answer: str, names: Sequence[str]) -> dict[str, float] | None:
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or len(said) != len(names):
        return None
    found: dict[str, float] = {}
    for key, value in said.items():
        name = known_label(key, names)
        if name is None or isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            return None
        found[name] = float(value)
    return {name: found[name] for name in names} if len(found) == len(names) else None


def _named(text: str, names: Sequence[str]) -> dict[str, float]:
    """The number that stands behind each name, the last one where it stands several times."""
    found = {}
    for name in names:
        # Between name and number: quotes, what parts them, and a mark of emphasis.
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)[\"'*_`]*\s*(?:is|of|=|:)?[\"'*_`]*\s*[\"'*_`]*({_NUMBER})(?![\w%])"
        numbers = re.findall(pattern, text, re.IGNORECASE)
        if numbers:
            found[name] = _number(numbers[-1])
    return found


def _number(written: str) -> float:
    return float(written.replace(",", "."))


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


# Which numbers a model is asked for, and on which scale: those of the dataset, or of a person's list.

REGRESS = "regress"
"""The way of a model with a regression head."""

OF_REGRESSION = "values"
"""Under which name a card has what its numbers are called."""

USUAL = ("valence", "arousal", "dominance")
USUAL_RANGE = (1.0, 5.0)
"""What is asked for where nothing is said: Bradley and Lang's three scales, from 1 to 5 as in EmoBank."""

_SCALE = re.compile(r"(.+?)\s+([+-]?\d+(?:\.\d+)?)\s*\.\.\s*([+-]?\d+(?:\.\d+)?)")


class Scales:
    """The numbers that are asked for."""

    always = True

    def of_file(self, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
        """The given ones, else those of the model's head, else `USUAL`.

        Raises:
            BadInput: a given one has no good scale, or the model does not give it.
        """
        own = _own(card)
        if given is None:
            return own or USUAL
        if own:
            _known(card, [read_scale(line)[0] for line in given])
        return tuple(given)

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[ValuesGold]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """With `labels`, the names, and for a model that writes `scales`, from where to where each goes.

        A person's line is a name, or a name and its scale (`valence 1..9`). Without a scale it goes by the gold
        numbers, outward to whole ones. Of a regression head the names are those that both data and model have.

        Raises:
            BadInput: a line has no good scale; the model does not give a name of the person's, or none of the data's.
        """
        chosen: Any = options.get("labels")
        stated: Any = options.get("scales") or {}
        lines = dict(map(read_scale, chosen or ()))
        golds = [sample.values for sample in samples() if sample.values]
        found = {**options}
        if way == REGRESS:
            found.pop("scales", None)
            names = list(lines) or _shared(card, value_names(golds))
            _known(card, names)
            return {**found, "labels": names}
        names = list(lines) or value_names(golds) or list(USUAL)
        scales = {name: stated.get(name) or lines.get(name) or _seen(name, golds) for name in names}
        return {**found, "labels": names, "scales": {name: list(scale) for name, scale in scales.items()}}


def read_scale(line: str) -> tuple[str, tuple[float, float] | None]:
    """A name, with the scale that stands behind it: `valence 1..9`.

    Raises:
        BadInput: the scale does not go up.
    """
    found = _SCALE.fullmatch(line.strip())
    if found is None:
        return line.strip(), None
    low, high = float(found[2]), float(found[3])
    if not low < high:
        raise BadInput(f"{line!r}: a scale goes from a lower number to a higher one, such as valence 1..9")
    return found[1], (low, high)


def seen_scales(golds: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """From where to where each gold number goes, outward to whole ones."""
    return {name: _seen(name, golds) for name in value_names(golds)}


def _seen(name: str, golds: Sequence[Mapping[str, float]]) -> tuple[float, float]:
    there = [one[name] for one in golds if name in one]
    if not there:
        return USUAL_RANGE
    low, high = float(math.floor(min(there))), float(math.ceil(max(there)))
    return (low, high) if low < high else (low, low + 1)


def _own(card: ModelCard) -> tuple[str, ...]:
    return tuple(card.labels.get(OF_REGRESSION, ())) if REGRESS in card.capabilities else ()


def _shared(card: ModelCard, names: Sequence[str]) -> list[str]:
    """The names of the data that the model gives, or all of the model's where the data has none."""
    own = _own(card)
    there = [name for name in names if known_label(name, own) is not None]
    if names and not there:
        raise BadInput(f"{card.spec} gives none of these numbers: {', '.join(names)}; it gives: {', '.join(own)}")
    return there or list(own)


def _known(card: ModelCard, names: Sequence[str]) -> None:
    own = _own(card)
    strange = [name for name in names if known_label(name, own) is None]
    if strange:
        raise BadInput(f"{card.spec} gives no number {strange[0]!r}; it gives: {', '.join(own)}")


# Files of gold and predicted numbers: their figures.


def score_files(
    golds: Sequence[ValuesGold], answers: Sequence[ValuesPrediction], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, Any]:
    """The document of `emotui score values`. A text without an answer has no number on the answer's side."""
    said = {one.id: one.values for one in answers}
    shared = [shared_by(one.meta) for one in golds]
    document = values_report([one.values or {} for one in golds], [said.get(one.id, {}) for one in golds], shared)
    silent = sum(not said.get(one.id) for one in golds)
    if silent:
        document["notes"]["n"] = f"{silent} records without an answer are in no figure: see `without` of each name"
    return document


def score_people(
    golds: Sequence[ValuesGold], answers: Sequence[ValuesPrediction], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The figures of `emotui score values --against people`.

    Raises:
        BadInput: a scale is none.
    """
    from emotui.metrics.people_numbers import number_people_report

    scales = dict(map(read_scale, given.get("scale") or ()))
    lacking = [name for name, ends in scales.items() if ends is None]
    if lacking:
        raise BadInput(f"{lacking[0]!r}: a scale is a name and its ends, such as 'valence 1..9'")
    people = [annotators_of(one) for one in golds]
    unknown = scales.keys() - {name for own in people for numbers in own.values() for name in numbers}
    if unknown:
        raise BadInput(f"no annotator gives a number {min(unknown)!r}, which --scale names")
    said = {one.id: one.values for one in answers}
    known = {name: ends for name, ends in scales.items() if ends is not None}
    return number_people_report(people, [said[one.id] for one in golds], known, [shared_by(one.meta) for one in golds])


def annotators_of(sample: ValuesGold) -> Mapping[str, Mapping[str, float]]:
    """The numbers that each annotator gives, by name."""
    return {name: answer["values"] for name, answer in sample.annotators.items() if answer.get("values")}


def score_baselines(
    golds: Sequence[ValuesGold], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, Any]]:
    """The figures of `mean`: every text gets the mean of each name's gold numbers."""
    labelled = [one.values or {} for one in golds]
    means = {name: fmean(one[name] for one in labelled if name in one) for name in value_names(labelled)}
    return {"mean": values_report(labelled, [means] * len(labelled), [shared_by(one.meta) for one in golds])}


VERSION = "1"

FAR = 4
"""A number is far off by more than the scale over this: by more than one step of five, as of 1 to 5."""

METRICS = (Metric("mae", (0, None), False, "mean absolute difference over the names that both sides give", "MAE"),)


class Settings(Writing, frozen=True, omit_defaults=True):
    """What a run is asked with. `labels`: the names; `scales`: from where to where each number goes."""

    labels: tuple[str, ...] = ()
    scales: Mapping[str, tuple[float, float]] = {}


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The numbers given, by name. `form`: how a written answer was to be read (`prompts.read_numbers`)."""

    values: Mapping[str, float]
    form: str = ""


class Values(Task):
    """The task as those see it who run it."""

    name = "values"
    version = VERSION
    sample = ValuesGold
    prediction = Prediction
    metrics = METRICS
    words = TaskWords(
        title="Numbers",
        progress="rating",
        runs="Run beside gold",
        without_run="gold alone",
        marks_errors=True,
        asks="prediction of emotion ratings on numeric scales",
        measures=VALUES,
    )
    files = TaskFiles(
        kind="values",
        predicted=ValuesPrediction,
        score=score_files,
        score_options=(
            AGAINST_PEOPLE,
            ScoreOption(
                "scale",
                "With --against people, where a number ends (again for more); else people's lowest and highest.",
                several=True,
                metavar="'NAME LOW..HIGH'",
            ),
        ),
        labelled=lambda sample: sample.values is not None,
        baselines=score_baselines,
        annotators=annotators_of,
        score_people=score_people,
        about="Numbers (valence, arousal, dominance, ...): Pearson, Spearman, CCC, RMSE and MAE by name.",
        label_columns=True,
    )
    asking = Asking(
        ways=(REGRESS, *WAYS),
        offered=(REGRESS, *WAYS),
        named={DIRECT: REGRESS, ZERO_SHOT: ZERO_SHOT, COT: COT},
        prompts=read_values_prompts,
    )
    labels = Scales()

    def __init__(
        self, settings: Settings | None = None, ranges: Mapping[str, tuple[float, float]] | None = None
    ) -> None:
        """`ranges`: of the gold numbers, for scoring."""
        self._settings, self._ranges = settings or Settings(), ranges or {}

    def blank(self, text: Text, labels: Sequence[str] = ()) -> ValuesGold:
        """The text, unlabelled."""
        return ValuesGold(id=text.id, text=text.text)

    def problem(self, sample: ValuesGold, first: ValuesGold) -> str | None:
        """A record without a text."""
        return None if sample.text and sample.text.strip() else "the text is missing"

    def row(self, sample: ValuesGold) -> SampleRow:
        """A text as the store lists it, with its gold numbers."""
        gold = ", ".join(f"{name} {value:g}" for name, value in (sample.values or {}).items())
        return SampleRow(sample.id, sample.text or "", gold or None, None, (), (), msgspec.json.encode(sample))

    def question(self, sample: ValuesGold) -> object:
        """The text alone: which numbers are asked for stands among a run's settings."""
        return sample.text

    def option_names(self, way: str) -> tuple[str, ...]:
        """The names, and their scales and what a model writes with where it writes."""
        return ("labels", "scales", *WRITTEN, *CONTEXT) if way in WAYS else ("labels",)

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """A regression head's own, or in writing."""
        found: tuple[str, ...] = (REGRESS,) if REGRESS in card.capabilities else ()
        found += WAYS if "generate" in card.capabilities else ()
        if not found:
            raise ModelError(f"{lacks(card.spec, REGRESS)} with a regression head; any model that writes will do too")
        return found

    def settings(self, way: str) -> Mapping[str, object]:
        """The names, and of a model that writes their scales, its prompt and sampling.

        Raises:
            BadInput: the person's own prompts have none for this way, or no grammar holds its answers.
        """
        own = self._settings
        if way not in WAYS:
            return {"labels": own.labels, "way": way}
        if way == COT and own.constrain:
            raise BadInput("cot writes its reasons first, and no grammar holds that: --constrain is for zero-shot")
        described = own.described(way, own.prompt(PROMPTS, way), ROOM[way], numbers_of(own.labels or ("",)))
        return {"labels": own.labels, "scales": own.scales, **described}

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Values":
        """Options are the fields of `Settings`; several repeats are sampled, unless they say otherwise.

        Raises:
            BadInput: one of them is wrong; it is named.
        """
        return Values(options_from(self, options, repeats, Settings))

    def with_turns(self, turns: Mapping[str, str]) -> "Values":
        """Before the text of a question in words."""
        return Values(msgspec.structs.replace(self._settings, turns=turns), self._ranges)

    def with_golds(self, golds: Callable[[], Iterable[ValuesGold]]) -> "Values":
        """Scales for what is far off: a run's own, else the range of the gold numbers, outward to whole ones."""
        return Values(self._settings, seen_scales([sample.values for sample in golds() if sample.values]))

    def ask(self, samples: Sequence[ValuesGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """One question a text."""
        own = self._settings
        if way == REGRESS:
            return [_kept(answer) for answer in model([Regress(sample.text or "") for sample in samples])]
        prompt = own.prompt(PROMPTS, way)
        scales = {name: own.scales.get(name, USUAL_RANGE) for name in own.labels}
        given = [{**fields(sample.text, scales), **own.context_of(sample)} for sample in samples]
        chats = [as_chat(prompt, filled(prompt.user, each)) for each in given]
        n = len(samples)
        return write_answers(chats, model, seeds, own, [ROOM[way]] * n, [numbers_of(own.labels)] * n)

    def parse(self, sample: ValuesGold, raw: str, way: str) -> Prediction:
        """From a kept answer to numbers. Raises ValueError where it is not what `ask` keeps."""
        names = self._settings.labels
        if way in WAYS:
            values, form = read_numbers(raw, way, names)
            return Prediction(values, form)
        said = msgspec.json.decode(raw, type=dict[str, float | None])
        found: dict[str, float] = {}
        for name in names or said:
            key = known_label(name, said)
            value = None if key is None else said[key]
            if value is None:
                raise ValueError(f"there is no finite number for {name!r}")
            found[name] = value
        return Prediction(found)

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> ValuesPrediction:
        """The numbers; none for an answer that failed."""
        return ValuesPrediction(id=key, values={} if prediction is None else prediction.values)

    def taken(self, sample: ValuesGold, said: Mapping[str, Any]) -> Prediction:
        """Numbers by name."""
        return Prediction({str(name): float(value) for name, value in (said.get("values") or {}).items()})

    def as_gold(self, sample: ValuesGold, prediction: Prediction) -> ValuesGold:
        """With the numbers given; unlabelled where there are none."""
        return msgspec.structs.replace(sample, values=prediction.values or None)

    def unread(self, prediction: Prediction) -> str | None:
        """A written answer without a number."""
        return "the answer has none of the numbers" if prediction.form == "unread" else None

    def said(self, sample: ValuesGold, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """A line for each name: the gold number, the given one and, where there are both, the difference."""
        gold: Mapping[str, float] = sample.values or {}
        given: Mapping[str, float] = {} if prediction is None else prediction.values
        return tuple(
            _line(name, gold.get(name), given.get(name), prediction is not None) for name in value_names([gold, given])
        )

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """The mean absolute difference; M where a number is missing, D where one is far off, ! unread."""
        scales = {**self._ranges, **self._settings.scales}
        return [_score(answer, scales) for answer in answers]

    def report(self, samples: Sequence[ValuesGold], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """As `emotui score values` names the figures. With repeats each is a mean, and `sd` has its deviation."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        known = [one for one in details if one.gold]
        unlabelled = len({one.id for one in details}) - len({one.id for one in known})
        return {**run_report(known), "unlabelled": unlabelled} if known else {"n": 0, "unlabelled": unlabelled}

    def intervals(self, samples: Sequence[ValuesGold], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of Pearson's correlation, concordance, RMSE and MAE of each name."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        return run_intervals([one for one in details if one.gold], shared_of(samples))

    def sums(self, samples: Sequence[ValuesGold], details: Sequence[str | bytes]) -> "Figures":
        """Pearson's correlation, concordance, RMSE and MAE of each name."""
        return run_sums([msgspec.json.decode(one, type=Detail) for one in details])

    def tables(self, runs: Sequence[ScoredRun], elsewhere: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
        """A row a run and name."""
        return value_tables(runs)

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """Under `answers`, of a model that writes: how its objects were to be read."""
        kept = predictions_of(rows, Prediction)
        forms = [one.form for one in kept if one.form]
        if not forms:
            return {}
        return {"answers": {"n": len(forms)} | {form: forms.count(form) for form in ("json", "lenient", "unread")}}


def _kept(answer: Regressed | Refused) -> Asked:
    """A head's numbers as they are kept; one that is not finite stands there as null."""
    if isinstance(answer, Refused):
        return unanswered(answer)
    return Asked(msgspec.json.encode({name: round(value, 9) for name, value in answer.values.items()}).decode())


def _line(name: str, gold: float | None, given: float | None, answered: bool) -> SaidLine:
    there = "" if gold is None else f"{gold + 0:.4g}"
    said = "" if given is None else f"{given + 0:.4g}"  # + 0: -0 is 0
    if gold is not None and given is not None:
        said += f" ({given - gold:+.3g})"
    missed = answered and gold is not None and given is None
    return SaidLine(name, there, said, "M" if missed else "", measured=True)


def _score(answer: Parsed, scales: Mapping[str, tuple[float, float]]) -> ScoreRow:
    sample, said = answer.sample, answer.prediction
    gold = sample.values
    encoded = msgspec.json.encode(Detail(sample.id, answer.repeat, gold, said.values))
    unread = "!" * (said.form == "unread")
    off = {name: abs(gold[name] - said.values[name]) for name in gold or () if name in said.values} if gold else {}
    missing = "M" * (gold is not None and len(off) < len(gold))
    far = "D" * any(FAR * by > scales[name][1] - scales[name][0] for name, by in off.items() if name in scales)
    mean = fmean(off.values()) if off else None
    return ScoreRow(CONVENTION, {"mae": mean}, missing + unread + far, encoded)
