"""What a task is to those who run it: how to ask a model about samples, read what it said, and score that.

Asking, parsing and scoring are apart, over what is kept, so a run can be parsed and scored again without its model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from emotui.backends.base import ModelCard, Request
from emotui.metrics.span_scoring import Embed
from emotui.store.rows import ScoreRow

AskModel = Callable[[Sequence[Request]], Any]
"""One batch of requests of one type to the model; results stand at the places of their requests."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one question: the answer as it is kept, or why there is none. `prompt`: as the model read it."""

    raw: str | None
    why: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """One parsed answer, with the sample that it is about."""

    sample: Any
    repeat: int
    prediction: Any


class Task(Protocol):
    """One paper's task."""

    @property
    def name(self) -> str:
        """As datasets and runs name it."""

    @property
    def doing(self) -> str:
        """A word for its progress, before the dataset's name."""

    @property
    def version(self) -> str:
        """Changes with whatever changes its questions."""

    @property
    def sample(self) -> type[msgspec.Struct]:
        """The kind of record that its samples are."""

    @property
    def embeds(self) -> bool:
        """Does scoring ask for sentence embeddings?"""

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """The ways in which this model can be asked, its own first; empty where there is only one way to ask.

        Raises:
            ModelError: it cannot be asked at all.
        """

    def settings(self, way: str) -> Mapping[str, object]:
        """What, beside the version, can change the outputs of this way of asking (prompts, labels)."""

    def ask(self, samples: Sequence[Any], model: AskModel, way: str) -> list[Asked]:
        """Ask about each sample."""

    def parse(self, sample: Any, raw: str) -> Any:
        """From a kept answer to what it says, a msgspec Struct.

        Raises:
            ValueError: it is not what `ask` keeps.
        """

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """One score for each answer, in their order."""

    def report(self, samples: Sequence[Any], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """The figures of a run over the samples that it has scored so far."""
