"""Pushing: what a model answers while the direction of a label is added to its states at a layer.

The direction is the lens's: from the mean state of the texts without the label to that of those with it, or the weights
of its probe. Every text is pushed by a direction that was fitted without it, and without the texts that share its
passage or its words. Beside each push stand pushes along random directions of equal length: what these do too is what
any disturbance of that size does.

Sources: Turner and others 2023 (activation addition); Panickssery (Rimsky) and others 2024 (differences of means).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from emotui.backends.base import Capability, HiddenStates, Message, Push, Pushed, Refused, States
from emotui.backends.host import ModelProcess, lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.beside import beside, intervals, with_beside
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.asking import asked_twice
from emotui.tasks.parts import matched
from emotui.workbench.why.heat import MOST, together
from emotui.workbench.why.lens import ASKED, AT_ONCE, OPENING, Gold, OnText, read_gold

if TYPE_CHECKING:
    import numpy as np

CAPABILITY: Capability = "push"
DRAWS = 10
"""Random directions beside each push."""

TEXTS = 50
"""Texts that are pushed, unless said otherwise."""

WRITTEN = 60
"""Tokens that a model writes at most."""

Kind = Literal["means", "probe"]
CONVENTION = (
    "pushing 1: strength times the direction is added to every token's state at the layer; at strength 1 it is as long "
    "as the classes' means are apart. Each text by a direction of the other folds of 5; change: a label's probability "
    "less that without a push, mean over texts; random: the same along {draws} random directions of equal length, mean "
    "over texts and draws (low, high: the least and the greatest draw's); above_random: the difference of the two"
)
WORSE = "perplexity of the texts over that without a push, the geometric mean over texts"


class Aim(msgspec.Struct, frozen=True):
    """Where texts are pushed to. `own`: (folds + 1, size), the last of all texts; `folds`: (n,), that of each text."""

    own: Any
    folds: Any
    random: Any
    state_length: float


def find_push(
    store: Store,
    model: ModelProcess,
    dataset: Dataset,
    label: str,
    layer: int,
    strengths: Sequence[float] = (1.0,),
    *,
    kind: Kind = "means",
    draws: int = DRAWS,
    texts: int = TEXTS,
    limit: int | None = None,
    prompt: str | None = None,
    seed: int = 0,
    on_text: OnText = lambda done, n: None,
) -> dict[str, Any]:
    """What a push does to every label, and to the texts' perplexity: the document of `emotui lens push`.

    Args:
        texts: so many are pushed; limit: of so many the direction is made (None: the first 1,000).
        prompt: what a model that writes is to go on from, pushed and not.

    Raises:
        BadInput: too few labelled texts, no such label or layer, or a model that does not write is to write.
        ModelError: the model cannot be pushed.
    """
    import numpy as np

    gold = read_gold(store, dataset, "labels", limit or MOST)
    name = matched(label, gold.names)
    if name is None:
        raise BadInput(f"{dataset.name}: there is no label {label!r} with enough texts: {', '.join(gold.names)}")
    card = model.load()
    if CAPABILITY not in card.capabilities:
        raise ModelError(lacks(model.spec, CAPABILITY))
    writes = "generate" in card.capabilities
    if prompt is not None and not writes:
        raise BadInput(f"{model.spec} writes nothing: leave --write out")
    states = answers_of(model, [state_request(text, layer, writes) for text in gold.texts], gold.ids, lambda n: None)
    aim = aim_of(gold, states, gold.names.index(name), kind, draws, seed)

    n = min(texts, len(gold.ids))
    order = sorted(range(n), key=lambda at: aim.folds[at])
    variants: list[tuple[float, int | None]] = [(0.0, None)]
    variants += [(strength, draw) for strength in strengths for draw in (None, *range(draws))]
    own = None if card.labels else gold.names
    requests = [
        push_request(gold, gold.texts[at], layer, _direction(aim, int(aim.folds[at]), draw), strength, writes, own)
        for strength, draw in variants
        for at in order
    ]
    ids = [gold.ids[at] for _ in variants for at in order]
    answers = answers_of(model, requests, ids, lambda done: on_text(done, len(requests)))
    labels = tuple(answers[0].probs)
    if any(tuple(one.probs) != labels for one in answers):
        raise ModelError(f"{model.spec} answers about other labels when it is pushed")
    table = np.array([[one.probs[each] for each in labels] for one in answers]).reshape(len(variants), n, -1)
    surprise = np.array([math.nan if one.logprob is None else -one.logprob / one.tokens for one in answers])
    document = pushed_of(
        [gold.shared[at] for at in order], labels, strengths, draws, table, surprise.reshape(len(variants), n)
    )
    of = {
        "dataset": dataset.name,
        "model": model.spec,
        "label": name,
        "layer": layer,
        "direction": "difference of means" if kind == "means" else "weights of the probe",
        "fitted_on": len(gold.ids),
        "length": float(np.linalg.norm(aim.own[-1])),
        "state_length": aim.state_length,
    }
    more = {} if prompt is None else {"written": _written(model, aim, prompt, layer, strengths)}
    return {**of, **document, **more, "notes": {**document.get("notes", {}), **gold.notes}}


def state_request(text: str, layer: int, writes: bool) -> States:
    """What the direction is made from: the states that the lens probes."""
    if not writes:
        return States(text, (layer,))
    return States("", (layer,), "last", (Message("user", ASKED.format(text=text)),), OPENING)


def push_request(
    gold: Gold, text: str, layer: int, direction: bytes, strength: float, writes: bool, labels: tuple[str, ...] | None
) -> Push:
    """Args: labels: those that a model without labels of its own is asked about."""
    if not writes:
        return Push(text, layer, direction, strength, labels)
    chat = (Message("user", ASKED.format(text=text)),)
    return Push(text, layer, direction, strength, None, chat, OPENING, tuple(f" {name}" for name in gold.names))


def answers_of(model: ModelProcess, requests: Sequence[Any], ids: Sequence[str], told: Any) -> list[Any]:
    """Raises BadInput where one is refused."""
    found: list[Any] = []
    for start in range(0, len(requests), AT_ONCE):
        for one in asked_twice(model, requests[start : start + AT_ONCE]):
            if isinstance(one, Refused):
                raise BadInput(f"{ids[len(found)]}: {one.why}")
            found.append(one)
        told(len(found))
    return found


def aim_of(gold: Gold, states: Sequence[HiddenStates], label: int, kind: Kind, draws: int, seed: int) -> Aim:
    """The directions of a label, one a fold and one of all texts, and random ones of length 1.

    Raises:
        BadInput: fewer texts that share nothing than folds, or one side of a fold is empty.
    """
    import numpy as np

    from emotui.metrics import probing

    folds = text_folds(gold, seed)
    x = np.stack([one.array()[0, 0] for one in states]).astype(np.float64)
    y = gold.table[:, [label]]
    own = []
    for fold in (*range(probing.FOLDS), None):
        here = np.ones(len(x), dtype=bool) if fold is None else folds != fold
        vector = probing.directions(x[here], y[here])[0] * x[here].std(0)
        length = np.linalg.norm(vector)
        if not length > 0:
            raise BadInput(f"{gold.names[label]}: the texts with it and those without are alike at this layer")
        if kind == "probe":
            weights = probing.fitted(x[here], y[here]).weights[:, 0]
            vector = weights * length / max(float(np.linalg.norm(weights)), 1e-300)
        own.append(vector)
    return Aim(
        np.stack(own), folds, random_directions(draws, x.shape[1], seed), float(np.linalg.norm(x, axis=1).mean())
    )


def text_folds(gold: Gold, seed: int) -> "np.ndarray":
    """(n,). Raises BadInput where fewer texts than folds share nothing."""
    from emotui.metrics import probing

    groups = together(gold)
    if len(set(groups)) < probing.FOLDS:
        raise BadInput(f"fewer than {probing.FOLDS} of the texts share nothing with others: there is no direction")
    return probing.grouped_folds(gold.ids, groups, probing.FOLDS, seed)


def random_directions(draws: int, size: int, seed: int) -> "np.ndarray":
    """(draws, size), each of length 1."""
    import numpy as np

    found = np.random.default_rng(seed).normal(size=(draws, size))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def _direction(aim: Aim, fold: int, draw: int | None) -> bytes:
    """The label's own, or a random one as long."""
    import numpy as np

    own = aim.own[fold]
    vector = own if draw is None else aim.random[draw] * np.linalg.norm(own)
    return bytes(vector.astype(np.float32).tobytes())


def pushed_of(
    shared: Sequence[str | None],
    labels: Sequence[str],
    strengths: Sequence[float],
    draws: int,
    table: "np.ndarray",
    surprise: "np.ndarray",
) -> dict[str, Any]:
    """The document, of answers.

    Args:
        table: (variants, n, k) probabilities: first without a push, then for each strength the label's own direction
            and the random ones.
        surprise: (variants, n), of each text less the mean of its tokens' log-probabilities; NaN where there is none.
    """
    import numpy as np

    from emotui.metrics.resampling import drawn, mean_replicates

    by, sure = drawn(shared), {}
    changes, worse = table[1:] - table[0], surprise[1:] - surprise[0]
    rows: dict[str, Any] = {}
    for place, strength in enumerate(strengths):
        first = place * (draws + 1)
        own, random = changes[first], changes[first + 1 : first + 1 + draws]
        key = f"{strength:g}"
        each = (
            mean_replicates(own, by, bounds=(-1.0, 1.0)),
            mean_replicates(own - random.mean(0), by, bounds=(-2.0, 2.0)) if draws else [],
        )
        found = {}
        for at, label in enumerate(labels):
            row: dict[str, Any] = {"plain": float(table[0, :, at].mean()), "change": float(each[0][at].whole)}
            sure[f"by_strength.{key}.{label}.change"] = each[0][at]
            if draws:
                means = random[:, :, at].mean(1)
                row |= {"random": float(means.mean()), "low": float(means.min()), "high": float(means.max())}
                row["above_random"] = float(each[1][at].whole)
                sure[f"by_strength.{key}.{label}.above_random"] = each[1][at]
            found[label] = row
        rows[key] = found
        if not np.isnan(worse).all():
            times = {"times": float(np.exp(np.nanmean(worse[first])))}
            if draws:
                times["random"] = float(np.exp(np.nanmean(worse[first + 1 : first + 1 + draws])))
            rows.setdefault("perplexity", {})[key] = times
    perplexity = rows.pop("perplexity", None)
    document: dict[str, Any] = {"n": table.shape[1], "draws": draws, "by_strength": rows}
    conventions = {"change": CONVENTION.format(draws=draws)}
    if perplexity is not None:
        document |= {"plain_perplexity": float(np.exp(np.nanmean(surprise[0]))), "perplexity": perplexity}
        conventions["times"] = WORSE
    return with_beside(document | {"conventions": conventions}, beside(intervals([sure]), shared, "texts"))


def _written(
    model: ModelProcess, aim: Aim, prompt: str, layer: int, strengths: Sequence[float]
) -> list[dict[str, Any]]:
    """What is written behind a prompt without a push, along the label's direction, and along the first random one."""
    chat = (Message("user", prompt),)
    some = (None, *range(len(aim.random[:1])))
    asked = [(0.0, None), *((strength, draw) for strength in strengths if strength for draw in some)]
    requests = [
        Push("", layer, _direction(aim, -1, draw), strength, None, chat, write=WRITTEN) for strength, draw in asked
    ]
    said: list[Pushed] = answers_of(model, requests, ["--write"] * len(asked), lambda n: None)
    plain = _direction(aim, -1, None)
    read = asked_twice(model, [Push(one.written or " ", layer, plain, 0.0) for one in said])
    return [
        {
            "strength": strength,
            "direction": "none" if not strength else "label" if draw is None else "random",
            "text": one.written,
            "perplexity": None if isinstance(again, Refused) or again.logprob is None else perplexity_of(again),
        }
        for (strength, draw), one, again in zip(asked, said, read, strict=True)
    ]


def perplexity_of(one: Pushed) -> float | None:
    return None if one.logprob is None else math.exp(-one.logprob / max(one.tokens, 1))
