"""Emotion generation (seed paper of this task, sections 3 to 6): a text is neutralised, then re-injected with a target.

One way to ask, for any model that writes: two prompts in a row, the second about the answer to the first. Metrics that
need further models are those of `emotui score generation` (`emotui.tasks.generation.report`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import Generate, Generation, ModelCard, Refused
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.beside import beside_repeats
from emotui.metrics.ers import METRIC as ERS
from emotui.metrics.ers import metric_of
from emotui.metrics.fluency import METRIC as PERPLEXITY
from emotui.metrics.metric import Metric
from emotui.metrics.repeats import by_repeat
from emotui.metrics.rewriting import is_refusal
from emotui.metrics.span_scoring import Embed
from emotui.metrics.thirteen import REGISTRY
from emotui.records import GenerationGold, Rewriting, Text
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tables import ResultsTable
from emotui.tasks.generation.options import NEUTRAL, SCORE_OPTIONS
from emotui.tasks.generation.report import score_records
from emotui.tasks.generation.scoring import figures_of, parts_of, resampled, score_answers
from emotui.tasks.generation.tables import run_tables, score_tables
from emotui.tasks.generation.whole import WHOLE, Detail, Kept, Prediction, folded, measures_of
from emotui.tasks.parts import Asking, OwnSamples, SaidLine, ScoredRun, TaskFiles, TaskWords, shared_of
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_chat, as_kept, filled, read_prompt_file
from emotui.tasks.prompting.settings import SAMPLING, Writing, options_from, plain
from emotui.tasks.task import Asked, AskModel, Parsed, Task, unanswered

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures

# The two prompts of section 4, in this project's words, and what is taken off their answers.

NEUTRALISE, INJECT = "neutralise", "inject"
STEPS = (NEUTRALISE, INJECT)
"""The tables of a prompt file: the first is about a text, the second about what came of it and a target emotion."""

SYSTEM = "You revise short texts. You answer with the revised text alone."
PROMPTS: Prompts = {
    NEUTRALISE: Prompt(
        "Text:\n{text}\n\n"
        "Write this text without feeling in it. Leave out or replace the words and turns that show how somebody feels "
        "or what they think of something. What is said stays the same, and so do the order and the build of the "
        "sentences; where nothing shows a feeling, change nothing.",
        SYSTEM,
    ),
    INJECT: Prompt(
        "Text:\n{text}\n\n"
        "Write this text so that a reader sees this in it: {emotion}. Change as little as will do. What is said stays "
        "the same. Let wording and manner show it rather than the word for it.",
        SYSTEM,
    ),
}
"""This project's own."""

_TEXT, _EMOTION = "{text}", "{emotion}"
_PLACES = {
    NEUTRALISE: Places(once=(_TEXT,), barred=(_TEXT,)),
    INJECT: Places(once=(_TEXT,), often=(_EMOTION,), barred=(_TEXT,)),
}
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}
_PREFACE = re.compile(
    r"(?:(?:sure|certainly|of course)[!,.]?\s*)?"
    r"(?:here(?:['’]s| is| are)\b[^\n:]{0,80}|(?:neutral|neutralized|neutralised|emotional|revised|rewritten)"
    r"(?: (?:text|version))?|text|output|answer)\s*:[ \t]*\n*",
    re.IGNORECASE,
)


def read_generation_prompts(path: str) -> Prompts:
    """A prompt file with a table `[neutralise]`, `[inject]`, or both. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, _PLACES, STEPS)


def rewritten(answer: str) -> str:
    """The text in an answer: thoughts, a fence, a line like "Here is the neutral version:" and quotes are taken off."""
    text = plain(answer)
    preface = _PREFACE.match(text)
    if preface and text[preface.end() :].strip():
        text = text[preface.end() :].strip()
    inner = text[1:-1]
    if len(text) > 2 and _QUOTES.get(text[0]) == text[-1] and text[0] not in inner and text[-1] not in inner:
        text = inner.strip()
    return text


VERSION = "1"
REWRITE = "rewrite"
"""The one way to ask."""

ROOM = 512
"""Tokens for an answer: texts are some tens of words."""

SETTINGS = (*SAMPLING, "prompts")

_FIRST = ("r3_c", "r3_m", "r1_c", "r1_m", "r2_c", "r2_m")
METRICS = (
    *sorted(REGISTRY, key=lambda metric: _FIRST.index(metric.name) if metric.name in _FIRST else len(_FIRST)),
    PERPLEXITY,
    Metric("words", (0, None), True, "words of the emotional text", "words", directed=False),
    Metric("leak", (0, 1), False, "the emotional text has the label's word", "leak", yes_or_no=True),
)
"""Those of the paper, EAnS first since every dataset has it, and three of the texts themselves."""

OTHER_TEXTS = (
    msgspec.structs.replace(PERPLEXITY, name="ppl_neutral", help="perplexity of the neutral text", heading="PPL neutr"),
    msgspec.structs.replace(PERPLEXITY, name="ppl_original", help="perplexity of the original", heading="PPL orig"),
)
"""Where perplexity is measured."""


Golds = Callable[[], Iterable[GenerationGold]]


class _Raw(msgspec.Struct, frozen=True):
    """Both answers as they came; no second one where the first was none to go on with."""

    neutral: str
    emotional: str | None = None


class EmotionGeneration(Task):
    """The task as those see it who run it."""

    name = "generation"
    version = VERSION
    sample = GenerationGold
    prediction = Prediction
    metrics = METRICS
    further_metrics = OTHER_TEXTS
    embeds = True
    words = TaskWords(
        title="Emotion generation",
        progress="rewriting",
        runs="Run beside the originals",
        without_run="originals alone",
        compares=True,
        asks="generation of texts with a target emotion",
    )
    files = TaskFiles(
        kind="generation",
        predicted=Rewriting,
        about="Neutral and emotional versions of texts: EPS, EAS, ERS, EAnS, perplexity, agreement with people.",
        own=OwnSamples("generation", ("generation.jsonl",), at_first=False),
        whole=WHOLE,
        score_records=score_records,
        score_options=SCORE_OPTIONS,
        tables_of=score_tables,
    )
    asking = Asking(ways=(REWRITE,), offered=(REWRITE,), prompts=read_generation_prompts)

    def __init__(self, settings: Writing | None = None, kept: Kept | None = None, golds: Golds | None = None) -> None:
        """`kept`: what further models said of these texts. `golds`: all samples, whose targets labels may mean."""
        self._settings, self._kept, self._golds = settings or Writing(), kept or {}, golds

    def blank(self, text: Text, labels: Sequence[str] = ()) -> GenerationGold:
        """The text with its own target (`label` or `target` of the record); neutral where it has none."""
        target = text.meta.get("label") or text.meta.get("target") or NEUTRAL
        return GenerationGold(id=text.id, text=text.text, label=str(target))

    def problem(self, sample: GenerationGold, first: GenerationGold) -> str | None:
        """A record without words, or without a target."""
        if not sample.text.strip():
            return "the text is empty"
        return None if sample.label.strip() else "`label`, the target emotion, is empty"

    def row(self, sample: GenerationGold) -> SampleRow:
        """An original as the store lists it, with its target."""
        record = msgspec.json.encode(sample)
        return SampleRow(sample.id, sample.text, sample.label, None, (sample.label,), (), record)

    def question(self, sample: GenerationGold) -> object:
        """The original and the target."""
        return sample.text, folded(sample.label)

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """`rewrite`, of a model that writes."""
        if "generate" not in card.capabilities:
            raise ModelError(lacks(card.spec, "generate"))
        return (REWRITE,)

    def option_names(self, way: str) -> tuple[str, ...]:
        """Prompts and sampling."""
        return SETTINGS

    def settings(self, way: str) -> Mapping[str, object]:
        """Both prompts, and the sampling."""
        own = self._settings
        return {
            "way": REWRITE,
            "temperature": own.temperature,
            "top_p": own.top_p,
            "max_tokens": own.max_tokens or ROOM,
            "prompts": {step: msgspec.to_builtins(self._prompt(step)) for step in (NEUTRALISE, INJECT)},
        }

    def with_options(self, options: Mapping[str, object], repeats: int) -> "EmotionGeneration":
        """Options are the fields of `Writing`; several repeats are sampled, unless they say otherwise.

        Raises:
            BadInput: one of them is wrong; it is named.
        """
        return EmotionGeneration(options_from(self, options, repeats, Writing))

    def ask(self, samples: Sequence[GenerationGold], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """Neutralise each text, then re-inject its target; what is no neutral text is not gone on with."""
        first = self._prompt(NEUTRALISE)
        chats = [as_chat(first, filled(first.user, {"text": sample.text})) for sample in samples]
        answers = model([self._generate(chat, seed) for chat, seed in zip(chats, seeds, strict=True)])
        kept = list(map(as_kept, chats))
        found: list[Asked | None] = [
            unanswered(one, prompt) if isinstance(one, Refused) else None
            for one, prompt in zip(answers, kept, strict=True)
        ]
        goes_on: list[int] = []
        for at, one in enumerate(answers):
            if not isinstance(one, Generation):
                continue
            if rewritten(one.text) and not is_refusal(rewritten(one.text)):
                goes_on.append(at)
            else:
                found[at] = Asked(_kept(one.text, None), prompt=kept[at])
        second = self._prompt(INJECT)
        targets = {
            at: as_chat(
                second,
                filled(second.user, {"text": rewritten(answers[at].text), "emotion": samples[at].label.strip()}),
            )
            for at in goes_on
        }
        injected = model([self._generate(targets[at], seeds[at]) for at in goes_on]) if goes_on else []
        for at, one in zip(goes_on, injected, strict=True):
            prompt = f"{kept[at]}\n\n{as_kept(targets[at])}"
            if isinstance(one, Refused):
                found[at] = unanswered(one, prompt)
            else:
                found[at] = Asked(_kept(answers[at].text, one.text), prompt=prompt)
        return [one for one in found if one is not None]

    def parse(self, sample: GenerationGold, raw: str, way: str) -> Prediction:
        """From both kept answers to both versions. Raises ValueError where it is not what `ask` keeps."""
        answers = msgspec.json.decode(raw, type=_Raw)
        texts = {NEUTRALISE: rewritten(answers.neutral), INJECT: rewritten(answers.emotional or "")}
        # A text may itself begin as a refusal does; its versions then do so too.
        may_refuse = not is_refusal(sample.text)
        refused = tuple(step for step, text in texts.items() if may_refuse and is_refusal(text))
        return Prediction(texts[NEUTRALISE], texts[INJECT], refused)

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> Rewriting:
        """Both versions; empty ones for an answer that failed."""
        said = prediction or Prediction()
        return Rewriting(
            id=key,
            neutral=said.neutral,
            emotional=said.emotional,
            human=said.human,
            human_neutral=said.human_neutral,
        )

    def taken(self, sample: GenerationGold, said: Mapping[str, Any]) -> Prediction:
        """Both versions, with the labels that raters gave them."""
        neutral, emotional = (str(said.get(name) or "").strip() for name in ("neutral", "emotional"))
        if bool(neutral) != bool(emotional):
            raise ValueError(f"`{'emotional' if neutral else 'neutral'}` is empty")
        human, of_neutral = (
            tuple(_named(str(label), sample.label) for label in said.get(name) or ())
            for name in ("human", "human_neutral")
        )
        return Prediction(neutral, emotional, human=human, human_neutral=of_neutral)

    def as_gold(self, sample: GenerationGold, prediction: Prediction) -> GenerationGold:
        """Raises BadInput: what a model makes of a text does not say what the text was to show."""
        raise BadInput("versions of a text are no gold: its gold is the emotion it is to show")

    def unread(self, prediction: Prediction) -> str | None:
        """A refusal, or an empty answer."""
        if prediction.refused:
            return f"the model refused to {prediction.refused[0]}"
        return "a version is empty" if prediction.silent else None

    def said(self, sample: GenerationGold, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """Neutral and emotional version beside what they are to show, and the raters' labels."""
        lines = [
            # A version is neither right nor wrong; what raters see in it is.
            SaidLine("neutral", NEUTRAL, "" if prediction is None else prediction.neutral, measured=True),
            SaidLine("emotional", sample.label, "" if prediction is None else prediction.emotional, measured=True),
        ]
        for name in ("human", "human_neutral"):
            labels = () if prediction is None else getattr(prediction, name)
            if labels:
                seen = sample.label if name == "human" else NEUTRAL
                lines.append(SaidLine(name, seen, ", ".join(labels), "" if seen in labels else "M"))
        return tuple(lines)

    def with_golds(self, golds: Golds) -> "EmotionGeneration":
        """Which targets a classifier's labels may mean goes by all samples."""
        return EmotionGeneration(self._settings, self._kept, golds)

    def with_measured(self, kept: object) -> "EmotionGeneration":
        """Scores have what further models said of the texts beside what embeddings say."""
        return EmotionGeneration(self._settings, measures_of(kept), self._golds)

    def metric_named(self, name: str) -> Metric | None:
        """ERS by a classifier of a person's choice."""
        kind, _, spec = name.partition(":")
        return metric_of(spec) if kind == ERS.name and spec else None

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """Every metric of each answer whose model is at hand or was asked before; ! where a version is missing."""
        targets = () if self._golds is None else tuple(dict.fromkeys(gold.label for gold in self._golds()))
        return score_answers(answers, embed, self._kept, tuple(metric.name for metric in METRICS), targets)

    def report(self, samples: Sequence[GenerationGold], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """EAnS, lengths, and how often a step was refused, changed nothing, or left the label's word in the text."""
        return by_repeat([msgspec.json.decode(row.detail, type=Detail) for row in scores], figures_of)

    def intervals(self, samples: Sequence[GenerationGold], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of the mean of each metric."""
        details = [msgspec.json.decode(row.detail, type=Detail) for row in scores]
        return beside_repeats(details, shared_of(samples), resampled)

    def sums(self, samples: Sequence[GenerationGold], details: Sequence[str | bytes]) -> "Figures":
        """The mean of each metric and length."""
        from emotui.metrics.sums import made_of

        return made_of(parts_of([msgspec.json.decode(one, type=Detail) for one in details]))

    def tables(self, runs: Sequence[ScoredRun], elsewhere: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
        """Models by metrics, raters, which metric goes with them, and ERS by emotion."""
        return run_tables(runs)

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """None beside the figures."""
        return {}

    def _prompt(self, step: str) -> Prompt:
        """A person's own, where their file has one for the step."""
        return (self._settings.prompts or {}).get(step, PROMPTS[step])

    def _generate(self, chat: Any, seed: int) -> Generate:
        own = self._settings
        return Generate(
            chat, max_tokens=own.max_tokens or ROOM, temperature=own.temperature, top_p=own.top_p, seed=seed
        )


def _kept(neutral: str, emotional: str | None) -> str:
    return msgspec.json.encode(_Raw(neutral, emotional)).decode()


def _named(label: str, target: str) -> str:
    """A rater's label as the target is written, where only case and ends differ; else in lower case."""
    return target if folded(label) == folded(target) else folded(label)
