"""Texts with numbers: valence, arousal, dominance as in EmoBank, or scales of one's own.

Ways to ask, which are never mixed in one run:

- `regress`: a model with a regression head (`hf:`), by the names that its configuration gives the head's outputs.
- `zero-shot`, `cot`: a model writes a JSON object with a number for each name, at once or after its reasons.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import ModelCard, Refused, Regress, Regressed
from emotui.backends.grammars import numbers_of
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.metric import Metric
from emotui.metrics.span_scoring import Embed
from emotui.metrics.values import value_names
from emotui.records import Text, ValuesGold, ValuesPrediction
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tables import ResultsTable
from emotui.tasks.measures import VALUES
from emotui.tasks.parts import Asking, SaidLine, ScoredRun, TaskFiles, TaskWords
from emotui.tasks.prompting.files import as_chat, filled
from emotui.tasks.prompting.settings import WRITTEN, Writing, options_from, write_answers
from emotui.tasks.prompting.ways import COT, DIRECT, ZERO_SHOT
from emotui.tasks.rephrase.labelling import known_label
from emotui.tasks.sharing import shared_of
from emotui.tasks.task import Asked, AskModel, Parsed, Task, unanswered
from emotui.tasks.values.detail import CONVENTION, Detail
from emotui.tasks.values.files import score_baselines, score_files
from emotui.tasks.values.prompts import PROMPTS, ROOM, WAYS, fields, read_numbers, read_values_prompts
from emotui.tasks.values.scales import REGRESS, USUAL_RANGE, Scales, seen_scales
from emotui.tasks.values.tables import run_intervals, run_report, run_sums, value_tables

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures

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
        runs="Run beside the gold numbers",
        without_run="gold numbers alone",
        marks_errors=True,
        asks="prediction of emotion ratings on numeric scales",
        measures=VALUES,
    )
    files = TaskFiles(
        kind="values",
        predicted=ValuesPrediction,
        score=score_files,
        labelled=lambda sample: sample.values is not None,
        baselines=score_baselines,
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
        return ("labels", "scales", *WRITTEN) if way in WAYS else ("labels",)

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

    def with_golds(self, golds: Callable[[], Iterable[ValuesGold]]) -> "Values":
        """Scales for what is far off: a run's own, else the range of the gold numbers, outward to whole ones."""
        return Values(self._settings, seen_scales([sample.values for sample in golds() if sample.values]))

    def ask(self, samples: Sequence[ValuesGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """One question a text."""
        own, texts = self._settings, [sample.text or "" for sample in samples]
        if way == REGRESS:
            return [_kept(answer) for answer in model([Regress(text) for text in texts])]
        prompt = own.prompt(PROMPTS, way)
        scales = {name: own.scales.get(name, USUAL_RANGE) for name in own.labels}
        chats = [as_chat(prompt, filled(prompt.user, fields(text, scales))) for text in texts]
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
        kept = [msgspec.json.decode(row.prediction, type=Prediction) for row in rows if row.prediction is not None]
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
