"""What Generate asks the workbench for, each in a thread."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from emotui.workbench.generation.bench import GenerationBench
    from emotui.workbench.generation.versions import Versions

TEXT, MODELS, TRUST, EMOTIONS = "text", "models", "trust", "emotions"
VIEWS = (TEXT, MODELS, TRUST, EMOTIONS)


class Selected(msgspec.Struct, frozen=True):
    """A text of a dataset; `standing`: how far its sources are."""

    dataset: int
    sample: int
    standing: object = None


class OnTexts(msgspec.Struct, frozen=True):
    """A metric of a dataset."""

    dataset: int
    metric: str


def read_versions(bench: "Callable[[], GenerationBench]", asked: Selected) -> "Versions":
    """Everything about the text."""
    return bench().versions(asked.dataset, asked.sample)


def count_on_texts(bench: "Callable[[], GenerationBench]", asked: OnTexts) -> Mapping[str, Any]:
    """How the metric goes with people text by text."""
    return bench().on_texts(asked.dataset, asked.metric)
