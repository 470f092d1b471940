"""What a task is to those who run it: how to ask a model about samples, read what it said, and score that.

Asking, parsing and scoring are apart, over what is kept, so a run can be parsed and scored again without its model.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from emotui.backends.base import ModelCard, Refused, Request
from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.metrics.span_scoring import Embed
from emotui.records import Mark, Text
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tables import ResultsTable
from emotui.tasks.parts import Asking, Experiments, Lexicon, SaidLine, ScoredRun, TaskFiles, TaskLabels, TaskWords

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures

AskModel = Callable[[Sequence[Request]], Any]
"""One batch of requests of one type to the model; results stand at the places of their requests."""


class Asked(msgspec.Struct, frozen=True):
    """What became of one question: the answer as it is kept, or why there is none. `prompt`: as the model read it.

    `before`: the answers to earlier attempts at the same prompt, which were not what the prompt asks for.
    `again`: there is no answer for no fault of the question's (a server that went away); it counts as not asked yet.
    """

    raw: str | None
    why: str | None = None
    prompt: str | None = None
    before: tuple[str, ...] = ()
    again: bool = False


def unanswered(refused: Refused, prompt: str | None = None) -> Asked:
    """What became of a question that the model did not answer."""
    return Asked(None, refused.why, prompt, again=refused.again)


class Parsed(msgspec.Struct, frozen=True):
    """One parsed answer, with the sample that it is about."""

    sample: Any
    repeat: int
    prediction: Any


class Task(Protocol):
    """One task. A class of one's own may be derived from this to have what is optional.

    `prediction` below is what `parse` gives, a msgspec Struct of the type `prediction`.
    """

    name: str
    """As datasets and runs name it."""

    version: str
    """Changes with whatever changes its questions."""

    sample: type[msgspec.Struct]
    """The kind of record that its samples are."""

    prediction: type[msgspec.Struct]
    """What `parse` gives."""

    metrics: tuple[Metric, ...]
    """What `score` gives for each sample, by name; the first is the one that is shown where only one is."""

    further_metrics: tuple[Metric, ...] = ()
    """What `score` gives for some samples alone."""

    files: TaskFiles
    words: TaskWords

    asking: Asking = Asking()
    labels: TaskLabels | None = None
    experiments: Experiments | None = None

    embeds: bool = False
    """Does scoring ask for sentence embeddings?"""

    scores_unlabelled: bool = True
    """Does `score` take answers about samples of which gold says nothing? Else those are kept without a score."""

    # Samples.

    def blank(self, text: Text, labels: Sequence[str] = ()) -> Any:
        """The sample of a text of which nothing is known. `labels`: those asked about, where the task asks for any."""

    def problem(self, sample: Any, first: Any) -> str | None:
        """What is wrong with a sample beside the first of its dataset, if anything; such a one is not imported."""
        return None

    def row(self, sample: Any) -> SampleRow:
        """The sample as the store lists it."""

    def question(self, sample: Any) -> object:
        """What of a sample, beside its id, can change an answer; all of it, where the task does not say."""
        return sample

    # Asking.

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """The ways in which this model can be asked, its own first; empty where there is only one way to ask.

        Raises:
            ModelError: it cannot be asked at all.
        """

    def option_names(self, way: str) -> tuple[str, ...]:
        """The options that a run by this way can have."""
        return ()

    def settings(self, way: str) -> Mapping[str, object]:
        """What, beside the version, can change the outputs of this way of asking (prompts, labels)."""
        return {}

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Task":
        """The same task with settings of the person's (prompts, sampling) for a run of so many repeats.

        Raises:
            BadInput: it has no such setting, or not with this value.
        """
        return self

    def with_label_map(self, mapping: Mapping[str, str]) -> "Task":
        """The same task for scoring with predicted labels under the names that gold has for them, theirs to ours.

        Raises:
            BadInput: its labels cannot be mapped.
        """
        raise BadInput(f"labels of the {self.name} task cannot be mapped")

    def lexicon_of(self, given: Mapping[str, Any]) -> Lexicon | None:
        """What words are compared by, by the values of its score options by name; None where none names any.

        Raises:
            BadInput: a file of them is bad.
        """
        return None

    def with_lexicon(self, lexicon: Lexicon) -> "Task":
        """The same task for scoring by a lexicon of words.

        Raises:
            BadInput: it compares no words.
        """
        raise BadInput(f"--lexicon, --forms and --outside are for masked words, not for the {self.name} task")

    def with_spans(self, spans: Mapping[str, Sequence[Mark]]) -> "Task":
        """The same task about these spans, by the id of their text, in place of gold's.

        Raises:
            BadInput: it asks about no spans.
        """
        raise BadInput(f"--spans is for evidence, not for the {self.name} task")

    def with_turns(self, turns: Mapping[str, str]) -> "Task":
        """The same task with what was said before each text, by the id of the text; the option `before` asks for it.

        Raises:
            BadInput: its questions have no place for that.
        """
        raise BadInput(f"--before is not for the {self.name} task: its questions have no place for a conversation")

    def with_mask(self, mask: str) -> "Task":
        """The same task, to which each `mask` in a text is the model's own mask token.

        Raises:
            BadInput: its questions have no place for that.
        """
        raise BadInput(f"no word of a text is masked in questions of the {self.name} task")

    def at_a_glance(self) -> "Task":
        """The same task for somebody who looks at one text, without questions that only figures over many need."""
        return self

    def with_golds(self, golds: Callable[[], Iterable[Any]]) -> "Task":
        """The same task for scoring answers about these samples, where a score goes by more than its own sample."""
        return self

    def with_measured(self, kept: object) -> "Task":
        """The same task for scoring with what further models said of the samples, as the store keeps it."""
        return self

    def metric_named(self, name: str) -> Metric | None:
        """A metric whose name is made for an occasion, such as for one model; None: the task has none of this name."""
        return None

    def ask(self, samples: Sequence[Any], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """Ask about each sample. `seeds`: one for each, for what is left to chance."""

    def parse(self, sample: Any, raw: str, way: str) -> Any:
        """From a kept answer to what it says, a msgspec Struct.

        Raises:
            ValueError: it is not what `ask` keeps.
        """

    # What was said.

    def record(self, key: str, prediction: Any | None, repeat: int = 0) -> msgspec.Struct:
        """A prediction as files have it; an empty one where there is None, for an answer that failed."""

    def taken(self, sample: Any, said: Mapping[str, Any]) -> Any:
        """What somebody else says of a sample, by the keys of the records in files, as what `parse` gives.

        Without any key it is an answer that says nothing.

        Raises:
            ValueError: it does not fit the sample.
            BadInput: the task takes none.
        """
        raise BadInput(f"what others say cannot be brought into the {self.name} task")

    def as_gold(self, sample: Any, prediction: Any) -> Any:
        """The sample with a prediction as what gold says of it.

        Raises:
            BadInput: the task has no such thing.
        """
        raise BadInput(f"predictions of the {self.name} task cannot be made gold")

    def unread(self, prediction: Any) -> str | None:
        """Why a prediction says nothing though the model answered; None where it says something, or may be silent."""
        return None

    def marks(self, prediction: Any) -> tuple[str | Mark, ...]:
        """The spans that a prediction marks in its text, those that it gave no place for as strings."""
        return ()

    def said(self, sample: Any, prediction: Any | None) -> tuple[SaidLine, ...]:
        """Gold and prediction side by side, as a person reads them."""

    # Scoring.

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """One score for each answer, in their order."""

    def report(self, samples: Sequence[Any], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """The figures of a run over the samples that it has scored so far."""

    def intervals(self, samples: Sequence[Any], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """How sure the figures of `report` are: `ci95` `{figure: [low, high]}` and `conventions`; empty: none is known.

        The figures of repeats are averaged first; samples that share a text are drawn together.
        """
        return {}

    def sums(self, samples: Sequence[Any], details: Sequence[str | bytes]) -> "Figures":
        """The figures of `report` that are made of sums over samples, of one repeat's answers: a row an answer.

        Those of labels, which `label_sets` gives, need not be among them. Args: samples, details: of each answer.
        """
        return {}

    def label_sets(self, detail: str | bytes) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Of a scored answer the gold labels and those given; None: gold says nothing, or the task has no labels."""
        return None

    def tables(self, runs: Sequence[ScoredRun], elsewhere: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
        """Tables of Results about these runs over one dataset; none: its figures, a row a run.

        `elsewhere`: the newest runs over other datasets of the task, for what must not be chosen on these samples.
        """
        return ()

    def printed(self, metric: str) -> Sequence[tuple[str, str, str, float | None]]:
        """What the task's paper prints of a metric: model, setting, kind (`model` or `people`), mean (None: not it)."""
        return ()

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """How the asking itself went (retries, broken formats), apart from the figures; empty where it has no say.

        `notes`: what a reader of the figures has to know, by name.
        """
        return {}
