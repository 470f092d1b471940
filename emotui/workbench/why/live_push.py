"""One text, pushed while a person looks at it: what is said of it along a label's direction, and along random ones.

Directions are those of `emotui lens push`: differences of mean states, of texts without the one that is pushed. What is
answered so is shown and never kept.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from emotui.backends.base import HiddenStates, Message, Progress, Push, Pushed
from emotui.backends.host import Cancelled, IsCancelled, ModelProcess, lacks
from emotui.errors import BadInput, ModelError
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import matched
from emotui.workbench.why.heat import MOST, fold_of
from emotui.workbench.why.lens import Gold, read_gold
from emotui.workbench.why.pushing import (
    CAPABILITY,
    WRITTEN,
    answers_of,
    perplexity_of,
    push_request,
    random_directions,
    state_request,
    text_folds,
)

DRAWS = 5
"""Random directions beside a push in sight."""

_SOME = 8
"""Texts that a model is asked about at a time: between two batches a cancel is seen."""

_WAIT = 0.1
"""Seconds between two looks at whether somebody still waits."""


class Aimed(msgspec.Struct, frozen=True):
    """What is asked of a text: along which label's direction it is pushed, at which layer, how far.

    `label`: None: the first of the dataset's. `layer`: None: that in the middle. `writes`: it writes on, too.
    """

    label: str | None = None
    layer: int | None = None
    strength: float = 1.0
    writes: bool = False


class PushedText(msgspec.Struct, frozen=True):
    """What a model says of one text while it is pushed: nothing that it says of its own, and never kept.

    Attributes:
        aimed: with label and layer as they were chosen.
        labels: those that texts can be pushed to; depth: how many layers there are.
        n: texts that the direction is of; left_out: those that are, or share something with, this text.
        length: of the direction at strength 1, as a share of a state's at this layer.
        plain, pushed: probabilities by label without the push, and with it.
        random: the same along random directions of equal length, as many as are answered by now.
        perplexity: of the text: without the push, with it, then along each random direction; empty of a model that
            does not write.
        written: what is written behind the text as a question, without the push and with it.
    """

    text: str
    model: str
    dataset: str
    aimed: Aimed
    labels: tuple[str, ...]
    depth: int
    n: int
    left_out: int
    length: float
    plain: Mapping[str, float]
    pushed: Mapping[str, float]
    random: tuple[Mapping[str, float], ...] = ()
    perplexity: tuple[float, ...] = ()
    written: tuple[str, ...] = ()


class Directions(msgspec.Struct, frozen=True):
    """Of every label at every layer, and of each fold what the texts outside it say; the last is of all texts.

    `own`: (layers, folds + 1, labels, size). `random`: (draws, size), of length 1. `state_length`: (layers,).
    """

    gold: Gold
    folds: Any
    own: Any
    random: Any
    state_length: Any


def read_directions(
    gold: Gold,
    read: Callable[[Sequence[str]], Sequence[HiddenStates]],
    seed: int = 0,
    told: Callable[[int], object] = lambda n: None,
) -> Directions:
    """The differences of means, as `aim_of` has them; of the states sums alone are held.

    Args:
        read: the states of texts at every layer.

    Raises:
        BadInput: fewer texts that share nothing than folds.
    """
    import numpy as np

    from emotui.metrics import probing

    folds, y = text_folds(gold, seed), gold.table
    inside = np.equal.outer(folds, np.arange(probing.FOLDS)).astype(np.float64)
    sums: Any = 0.0
    lengths: Any = 0.0
    for start in range(0, len(gold.texts), _SOME):
        some = slice(start, start + _SOME)
        x = np.stack([one.array()[:, 0] for one in read(gold.texts[some])]).astype(np.float64)
        side = np.stack([y[some], 1 - y[some]], axis=1)
        sums = sums + np.einsum("nf,ntk,nls->ltfks", inside[some], side, x, optimize=True)
        lengths = lengths + np.linalg.norm(x, axis=2).sum(0)
        told(min(start + _SOME, len(gold.texts)))
    counts = np.einsum("nf,ntk->tfk", inside, np.stack([y, 1 - y], axis=1))
    every = sums.sum(2, keepdims=True)
    sums, counts = every - sums, counts.sum(1, keepdims=True) - counts
    sums = np.concatenate([sums, every], axis=2)
    counts = np.concatenate([counts, np.stack([y.sum(0), (1 - y).sum(0)])[:, None]], axis=1)
    means = sums / np.maximum(counts, 1)[None, ..., None]
    there = np.asarray(np.all(counts > 0, axis=0))[None, ..., None]
    own = np.where(there, means[:, 0] - means[:, 1], 0.0).astype(np.float32)
    return Directions(gold, folds, own, random_directions(DRAWS, own.shape[-1], seed), lengths / len(gold.texts))


class TextPusher:
    """Pushes texts while a person looks at them. Every method may be called from any thread.

    Directions are fitted once, and held as long as no other model or dataset is asked for.

    Args:
        model: the process of a SPEC, one a SPEC.
    """

    def __init__(self, store: Store, model: Callable[[str], ModelProcess]) -> None:
        self._store, self._model = store, model
        self._fit: tuple[tuple[Any, ...], Directions] | None = None
        self._plain: tuple[tuple[Any, ...], Pushed] | None = None
        self._lock = threading.Lock()

    def push(
        self,
        spec: str,
        dataset: Dataset,
        text: str,
        aimed: Aimed,
        *,
        progress: Progress = lambda line: None,
        cancelled: IsCancelled = lambda: False,
        on_part: Callable[[PushedText], object] = lambda found: None,
    ) -> PushedText:
        """What is said of the text so; `on_part` is told before every random direction is asked for.

        Raises:
            BadInput: too few labelled texts, no such label or layer, or no text.
            ModelError: the model cannot be pushed, or died.
            Cancelled: `cancelled()` became true between two questions; none is broken off.
        """
        if not text.strip():
            raise BadInput("there is no text to push")
        model = self._model(spec)
        card = model.load(progress, cancelled)
        if CAPABILITY not in card.capabilities:
            raise ModelError(lacks(spec, CAPABILITY))
        writes = "generate" in card.capabilities
        key = spec, msgspec.json.encode(card.identity, order="sorted"), dataset.dataset, dataset.gold

        def ask(one: Any) -> Any:
            if cancelled():
                raise Cancelled
            return answers_of(model, [one], [spec], lambda n: None)[0]

        while not self._lock.acquire(timeout=_WAIT):
            if cancelled():
                raise Cancelled
        try:
            if self._fit is None or self._fit[0] != key:
                self._fit = None
                self._fit = key, self._directions(model, dataset, writes, progress, cancelled)
            directions = self._fit[1]
            gold = directions.gold
            depth = len(directions.own) - 1
            name = matched(aimed.label or gold.names[0], gold.names)
            layer = depth // 2 if aimed.layer is None else aimed.layer
            if name is None or not 0 <= layer <= depth:
                there = f"the labels of {dataset.name} are {', '.join(gold.names)}; the layers 0 to {depth}"
                raise BadInput(f"there is no {aimed.label if name is None else f'layer {layer}'}: {there}")
            fold = fold_of(gold, directions.folds, text)
            own = directions.own[layer, -1 if fold is None else fold, gold.names.index(name)]
            length = math.sqrt(float(own.astype(float) @ own))
            if not length > 0:
                raise BadInput(f"{name}: the texts with it and those without are alike at layer {layer}")
            labels = None if card.labels else gold.names

            def question(direction: Any, strength: float) -> Push:
                return push_request(gold, text, layer, direction.astype("f4").tobytes(), strength, writes, labels)

            if self._plain is None or self._plain[0] != (*key, text):
                self._plain = (*key, text), ask(question(own, 0.0))
            answers = [self._plain[1]]
            answers += [ask(question(own, aimed.strength)) if aimed.strength else answers[0]]
            left_out = 0 if fold is None else int((directions.folds == fold).sum())

            def found(written: tuple[str, ...] = ()) -> PushedText:
                plain, pushed, *random = answers
                perplexity = tuple(one for one in map(perplexity_of, answers) if one is not None)
                return PushedText(
                    text,
                    spec,
                    dataset.name,
                    msgspec.structs.replace(aimed, label=name, layer=layer),
                    gold.names,
                    depth,
                    len(gold.ids) - left_out,
                    left_out,
                    length / max(float(directions.state_length[layer]), 1e-12),
                    _shown(plain, writes),
                    _shown(pushed, writes),
                    tuple(_shown(one, writes) for one in random),
                    perplexity,
                    written,
                )

            for draw in directions.random if aimed.strength else ():
                on_part(found())
                answers.append(ask(question(draw * length, aimed.strength)))
            if not (aimed.writes and writes):
                return found()
            chat = (Message("user", text),)
            written: list[str] = []
            for strength in dict.fromkeys((0.0, aimed.strength)):
                progress(f"writing {'pushed' if strength else 'without a push'}")
                on_part(found(tuple(written)))
                written.append(ask(Push("", layer, own.tobytes(), strength, None, chat, write=WRITTEN)).written)
            return found(tuple(written))
        finally:
            self._lock.release()

    def _directions(
        self, model: ModelProcess, dataset: Dataset, writes: bool, progress: Progress, cancelled: IsCancelled
    ) -> Directions:
        gold = read_gold(self._store, dataset, "labels", MOST)

        def read(texts: Sequence[str]) -> list[HiddenStates]:
            if cancelled():
                raise Cancelled
            asked = [msgspec.structs.replace(state_request(one, 0, writes), layers=None) for one in texts]
            return answers_of(model, asked, texts, lambda n: None)

        return read_directions(gold, read, told=lambda n: progress(f"directions: {n:,} of {len(gold.texts):,} texts"))


def _shown(one: Pushed, writes: bool) -> dict[str, float]:
    """By label; a continuation stands behind a space."""
    return {name.removeprefix(" ") if writes else name: p for name, p in one.probs.items()}
