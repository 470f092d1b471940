"""How fast a model is, how long it takes to load and how much memory its process holds. Small by default."""

import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emotui.backends.base import (
    Classify,
    Embed,
    Extract,
    FillMask,
    Generate,
    Message,
    ModelCard,
    Refused,
    Request,
    Score,
)
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.backends.servers.named import name, unnamed
from emotui.records import PLUTCHIK
from emotui.workbench.models.probe import asked_of_scene

# Which servers a person of this machine has named: what screens ask before a workspace's own model is used.

__all__ = ["name", "unnamed"]


SENTENCES = (
    "The bus came late again and nobody at the stop said a word about it.",
    "She had kept his letters in a shoebox, and last night she read them all aloud.",
    "When the results were pinned up he pushed to the front and then stood quite still.",
    "My neighbour has moved out, and since then I leave the radio on.",
    "They laughed so hard at the table that the waiter came back to ask what it was.",
    "I checked the lock four times and still lay awake listening.",
)
"""Written for this; what they say does not matter, only that they are as long as people's texts are."""

Texts = Iterator[str]
_LONG, _SHORT = 11, 2
"""Sentences of a text that is read or asked about."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_second` of `unit`, over `count` of them in `seconds`."""

    unit: str
    per_second: float
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Bench:
    """What was measured. `load_seconds` includes starting the process; memory is in bytes, None where not known.

    `notes`: why a rate is missing.
    """

    card: ModelCard
    batch: int
    load_seconds: float
    memory_loaded: int | None
    memory_peak: int | None
    rates: Mapping[str, Rate] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


def bench(
    model: ModelProcess,
    *,
    batch: int = 8,
    seconds: float = 2.0,
    write_tokens: int = 32,
    progress: Callable[[str], None] = lambda line: None,
    cancelled: IsCancelled | None = None,
) -> Bench:
    """Load the model afresh and time each thing that it can do.

    Each is asked in batches, the first of which is not counted, until `seconds` are over. Every text is a new one, so
    that nothing is served from a cache. Tokens in: prompts of 150 to 200 words, of which one token is written. Tokens
    out: `write_tokens` after a short prompt, its reading included.

    Args:
        batch: requests sent at a time.

    Raises:
        ModelError: the model cannot be loaded, or died.
        Cancelled: `cancelled()` became true.
    """
    started = time.monotonic()
    card = model.load(progress, cancelled)
    load_seconds = time.monotonic() - started
    memory = peak_memory(model.pid)
    texts = _texts()
    rates: dict[str, Rate] = {}
    notes: dict[str, str] = {}
    for length in (_LONG, _SHORT):  # a model with a small context gets a shorter text where the long one is refused
        for trial in _trials(card, texts, write_tokens, length):
            if trial.name in rates:
                continue
            progress(trial.name)
            rate, why = _time(model, trial, batch, seconds, cancelled)
            if rate is not None:
                rates[trial.name] = rate
                notes.pop(trial.name, None)
                if length == _SHORT:
                    notes[trial.name] = f"the texts were only {length} sentences long: the model's context is small"
            else:
                notes[trial.name] = why
    return Bench(card, batch, load_seconds, memory, peak_memory(model.pid), rates, notes)


def machine_memory() -> int | None:
    """All memory of this machine, in bytes; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def peak_memory(pid: int | None) -> int | None:
    """Most memory that the process has held so far, in bytes; None where the system does not tell."""
    if pid is None:
        return None
    try:
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import psutil
    except ImportError:
        return None
    try:
        held = psutil.Process(pid).memory_info()
    except psutil.Error:
        return None
    return int(getattr(held, "peak_wset", held.rss))


Count = Callable[[Any], int]
"""How many units one answer stands for."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """What to time: requests of one kind, and how an answer counts."""

    name: str
    capability: str
    unit: str
    make: Callable[[], Request]
    count: Count


def _trials(card: ModelCard, texts: Texts, write_tokens: int, length: int) -> list[_Trial]:
    own = [name for name in card.labels if name != "score"]

    def classify() -> Request:
        return Classify(next(texts)) if own else Classify(next(texts), labels=PLUTCHIK)

    def score() -> Request:
        text = _join(texts, length)
        if "generate" not in card.capabilities:
            return Score(text, card.labels.get("score") or card.labels.get("labels") or PLUTCHIK)
        return asked_of_scene(text, "the writer")

    def read() -> Request:
        return Generate((Message("user", _join(texts, length)),), max_tokens=1)

    def write() -> Request:
        return Generate((Message("user", f"Go on with this story. {next(texts)}"),), max_tokens=write_tokens)

    every = (
        _Trial("tokens in", "generate", "tokens", read, lambda answer: int(answer.prompt_tokens)),
        _Trial("tokens out", "generate", "tokens", write, lambda answer: int(answer.tokens)),
        _Trial("score", "score", "questions", score, lambda answer: len(answer.yes)),
        _Trial("classify", "classify", "texts", classify, _one),
        _Trial("extract", "extract", "texts", lambda: Extract(next(texts)), _one),
        _Trial("fill mask", "fill_mask", "texts", lambda: FillMask(f"{next(texts)} I feel <mask>."), _one),
        _Trial("embed", "embed", "texts", lambda: Embed(next(texts)), _one),
    )
    return [trial for trial in every if trial.capability in card.capabilities]


def _one(answer: object) -> int:
    return 1


def _time(
    model: ModelProcess, trial: _Trial, batch: int, seconds: float, cancelled: IsCancelled | None
) -> tuple[Rate | None, str]:
    """Ask until the time is over. Refused requests do not count; where all are, the reason."""
    refused = _refusal(model.ask([trial.make() for _ in range(batch)], cancelled=cancelled))
    if refused is not None:
        return None, refused
    total, started = 0, time.monotonic()
    while (spent := time.monotonic() - started) < seconds or not total:
        answers = model.ask([trial.make() for _ in range(batch)], cancelled=cancelled)
        got = sum(trial.count(answer) for answer in answers if not isinstance(answer, Refused))
        if not got:
            return None, _refusal(answers) or "its answers are empty"
        total += got
    return Rate(trial.unit, total / spent, total, spent), ""


def _refusal(answers: Sequence[object]) -> str | None:
    whys = [answer.why for answer in answers if isinstance(answer, Refused)]
    return whys[0] if len(whys) == len(answers) else None


def _texts() -> Texts:
    """Sentences that begin differently each time, without end."""
    for number in itertools.count(1):
        yield f"Note {number}. {SENTENCES[number % len(SENTENCES)]}"


def _join(texts: Texts, length: int) -> str:
    return " ".join(itertools.islice(texts, length))
