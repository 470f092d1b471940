"""What each layer of a model knows of a label: probes beside their controls, the logit lens, and what was not answered.

A layer that knows an emotion is no proof that the model uses it (docs/why.md). Every figure is of texts that a probe
was not fitted on, and stands beside a probe of shuffled labels, one of a word list, and one of the embedding layer.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from emotui.backends.base import Capability, HiddenStates, Message, Refused, States
from emotui.backends.host import ModelProcess, lacks
from emotui.errors import BadInput, ModelError
from emotui.lexicons import emolex
from emotui.metrics.beside import beside, intervals, with_beside
from emotui.metrics.lexical import word_features
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import INTERVAL, Cell, Column, ResultsTable, Row, number_that
from emotui.tasks.asking import asked_twice
from emotui.tasks.label_questions import Prediction
from emotui.tasks.parts import matched, shared_by
from emotui.workbench.notes import NoteBook, code_name
from emotui.workbench.texts import stored_samples

if TYPE_CHECKING:
    import numpy as np

    from emotui.metrics.resampling import Drawn, Replicates

AT_ONCE = 64
"""Texts that a model is asked about in one call."""

LEAST = 10
"""Texts with a label, and texts without it, below which it is left out."""

CAPABILITY: Capability = "states"
OPENING = "The writer feels"
ASKED = "Text:\n{text}\n\nWhich emotion does its writer feel? Answer with one word."
"""What a model that writes has read when it is about to answer; its last token is what is probed, and read out."""

CONVENTION = (
    "held out in 5 folds (texts that share a passage in one); ridge regression on standardised states, its penalty by "
    "leaving one out in the training part; shuffled: the mean over 20 fits to shuffled labels"
)
MARKED = (
    "a layer beats its controls where its figure is above that of every shuffle, and the intervals of its differences "
    "from the word list and from layer 0 lie above 0; so does a difference that is the same in every resample"
)

OnText = Callable[[int, int], None]
"""Told how many texts were read, of how many."""

Kind = Literal["labels", "values"]


class Gold(msgspec.Struct, frozen=True):
    """Texts and what gold says of them. `table`: (n, k), of 0 or 1, or numbers. `left_out`: why not the others."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    shared: tuple[str | None, ...]
    names: tuple[str, ...]
    table: Any
    notes: Mapping[str, str]


def read_gold(store: Store, dataset: Dataset, kind: Kind, limit: int | None) -> Gold:
    """The labelled texts of a dataset, and the labels that enough of them have; without labels, each text's emotion.

    Raises:
        BadInput: there are no such.
    """
    import numpy as np

    found = dataset.read_as(kind)
    samples = [sample for _, sample in stored_samples(store, found, min(found.n, limit or found.n))]
    if kind == "values":
        known = [(sample, dict(sample.values)) for sample in samples if sample.values]
        names = tuple(dict.fromkeys(name for _, values in known for name in values))
        known = [(sample, values) for sample, values in known if len(values) == len(names)]
        rows = [[values[name] for name in names] for _, values in known]
    else:
        known = [(sample, _there(sample.said)) for sample in samples if sample.said is not None]
        if not known:
            samples = [sample for _, sample in stored_samples(store, dataset.read_as("spans"), len(samples))]
            known = [(sample, {sample.emotion: None}) for sample in samples if sample.emotion]
        names = tuple(dict.fromkeys(name for _, there in known for name in there))
        rows = [[float(name in there) for name in names] for _, there in known]
    if not known:
        raise BadInput(f"{dataset.name}: gold gives no text {'numbers' if kind == 'values' else 'labels'}")
    table = np.array(rows, dtype=np.float64).reshape(len(known), len(names))
    notes = {}
    if len(known) < len(samples):
        notes["n"] = f"{len(samples) - len(known)} texts without gold are left out"
    if kind == "labels":
        enough = [min(n, len(known) - n) >= LEAST for n in table.sum(0).astype(int).tolist()]
        rare = [name for name, is_there in zip(names, enough, strict=True) if not is_there]
        names, table = tuple(name for name in names if name not in rare), table[:, enough]
        if rare:
            notes["labels"] = f"too few texts have, or lack, {', '.join(rare)} (fewer than {LEAST}): left out"
    if not names or len(known) < 2 * LEAST:
        raise BadInput(
            f"{dataset.name}: no label has {LEAST} texts with and {LEAST} without it: a probe needs more texts"
        )
    texts = tuple(sample.text or "" for sample, _ in known)
    shared = tuple(shared_by(getattr(sample, "meta", {})) for sample, _ in known)
    return Gold(tuple(sample.id for sample, _ in known), texts, shared, names, table, notes)


def _there(said: Any) -> dict[str, None]:
    return dict.fromkeys(name for name in said if not isinstance(said, Mapping) or said[name])


def lens(
    store: Store,
    model: ModelProcess,
    dataset: Dataset,
    *,
    kind: Kind = "labels",
    layers: tuple[int, ...] | None = None,
    answers: Run | None = None,
    limit: int | None = None,
    seed: int = 0,
    on_text: OnText = lambda done, n: None,
) -> dict[str, Any]:
    """What each layer of a model knows of the labels, or the numbers, of a dataset: the document of `emotui lens`.

    Args:
        layers: those probed beside layer 0; None: all.
        answers: a run of the labels task, whose answers stand beside what the probes know; None: they are left out.

    Raises:
        BadInput: too few labelled texts, or no such layer.
        ModelError: the model tells no states.
    """
    gold = read_gold(store, dataset, kind, limit)
    card = model.load()
    if CAPABILITY not in card.capabilities:
        raise ModelError(lacks(model.spec, CAPABILITY))
    writes = "generate" in card.capabilities
    requests = [_request(text, gold.names if kind == "labels" else (), layers, writes) for text in gold.texts]
    read: list[HiddenStates] = []
    for start in range(0, len(requests), AT_ONCE):
        for at, one in enumerate(asked_twice(model, requests[start : start + AT_ONCE])):
            if isinstance(one, Refused):
                raise BadInput(f"{gold.ids[start + at]}: {one.why}")
            read.append(one)
        on_text(len(read), len(requests))
    given = None if answers is None or kind == "values" else answers_of(store, answers, gold)
    document, unsaid = probed(gold, read, kind, given, seed)
    if answers is not None and unsaid is not None:
        keep_unsaid(store, dataset, answers, gold, unsaid, document["best_layer"])
    cut = sum(one.truncated for one in read)
    notes = (
        {"truncated": f"{number_that(cut, 'text', 'is', 'are')} longer than the model reads, and cut"} if cut else {}
    )
    of = {
        "dataset": dataset.name,
        "model": model.spec,
        "state": "last token of the prompt" if writes else "mean over the text",
    }
    more = {"answers": answers.run} if given is not None and answers is not None else {}
    return {**of, **more, **document, "notes": {**document.get("notes", {}), **notes}}


def _request(text: str, names: Sequence[str], layers: tuple[int, ...] | None, writes: bool) -> States:
    wanted = None if layers is None else tuple(dict.fromkeys((0, *sorted(layers))))
    if not writes:
        return States(text, wanted)
    chat = (Message("user", ASKED.format(text=text)),)
    return States("", wanted, "last", chat, OPENING, tuple(f" {name}" for name in names))


def answers_of(store: Store, run: Run, gold: Gold) -> "np.ndarray":
    """(n, k) of 0 or 1: the labels that a run gives; NaN where it has no answer."""
    import numpy as np

    rows = {row.sample: row.prediction for row in store.results.of_run(run.run) if row.repeat == 0 and row.prediction}
    ids = {row.id: row.sample for row in store.list_rows.page(list(rows), None)}
    found = np.full((len(gold.ids), len(gold.names)), np.nan)
    for at, key in enumerate(gold.ids):
        if key in ids and (kept := rows[ids[key]]) is not None:
            there = msgspec.json.decode(kept, type=Prediction).labels
            found[at] = [float(matched(name, there) is not None) for name in gold.names]
    return found


def probed(
    gold: Gold, read: Sequence[HiddenStates], kind: Kind, answers: "np.ndarray | None", seed: int = 0
) -> "tuple[dict[str, Any], Unsaid | None]":
    """The document, of states that were read, and by text what was not said; None without answers.

    Args:
        answers: (n, k), as of `answers_of`.
    """
    import numpy as np

    from emotui.metrics import probing
    from emotui.metrics.resampling import drawn

    y, by = gold.table, drawn(gold.shared)
    folds = probing.grouped_folds(gold.ids, gold.shared, probing.FOLDS, seed)
    control = probing.shuffled(y, probing.SHUFFLES, seed)
    figure = "auc" if kind == "labels" else "r2"
    table_of = partial(probing.resampled_auc if kind == "labels" else probing.explained, by=by, seed=seed)
    n, k = y.shape
    targets = np.concatenate([y, control.reshape(n, -1)], axis=1)

    words = probing.held_out(word_features(gold.texts), y, folds, ranked=kind == "labels")
    tables = {"words": table_of(y, words)}
    layers = read[0].layers
    held: dict[int, np.ndarray] = {}
    by_chance: dict[int, np.ndarray] = {}
    rows: dict[str, dict[str, Any]] = {}
    found: dict[str, Any] = {}
    cosines: dict[str, Any] = {}
    for place, layer in enumerate(layers):
        states = np.stack([one.array()[place, 0] for one in read])
        predicted = probing.held_out(states, targets, folds, ranked=kind == "labels")
        held[layer], shuffles = predicted[:, :k], predicted[:, k:].reshape(n, -1, k)
        by_chance[layer] = shuffles
        table = tables[str(layer)] = table_of(y, held[layer])
        chance = [float(np.nanmean(_whole(control[:, at], shuffles[:, at], kind))) for at in range(shuffles.shape[1])]
        row: dict[str, Any] = {figure: float(np.nanmean(table[0])), "shuffled": float(np.mean(chance))}
        row["above_words"] = float(np.nanmean(table[0] - tables["words"][0]))
        row["above_embedding"] = float(np.nanmean(table[0] - tables[str(layers[0])][0])) if layer else None
        if read[0].logprobs:
            lens = np.array([one.logprobs[place] for one in read])
            lens -= np.logaddexp.reduce(lens, axis=1, keepdims=True)
            tables[f"{layer} lens"] = table_of(y, lens)
            row["lens"] = float(np.nanmean(tables[f"{layer} lens"][0]))
        sure = {figure: table, "above_words": table - tables["words"]}
        sure |= {"above_embedding": table - tables[str(layers[0])]} if layer else {}
        sure |= {"lens": tables[f"{layer} lens"]} if read[0].logprobs else {}
        own = {name: probing.mean_over_labels(each, by) for name, each in sure.items()}
        found |= {f"by_layer.{layer}.{name}": each for name, each in own.items()}
        clear = all(probing.above_zero(own[name]) for name in ("above_words", "above_embedding") if name in own)
        row["beats_controls"] = bool(row[figure] > max(chance) and clear) if layer else None
        rows[str(layer)] = row
        if kind == "labels":
            cosines[str(layer)] = _cosines(probing.cosines(probing.directions(states, y)), gold.names)
        elif k > 1:
            table = probing.cosines(probing.number_directions(states, y))
            cosines[str(layer)] = {"between": _between(table, gold.names)}
    found["words"] = probing.mean_over_labels(tables["words"], by)
    by_label = {
        name: {"n": int(y[:, at].sum()) if kind == "labels" else n, "words": float(tables["words"][0][at])}
        | {f"layer {layer}": float(tables[str(layer)][0][at]) for layer in layers}
        for at, name in enumerate(gold.names)
    }
    best = max(
        (layer for layer in layers if rows[str(layer)]["beats_controls"]),
        key=lambda one: rows[str(one)][figure],
        default=None,
    )
    document: dict[str, Any] = {
        "figure": figure,
        "n": n,
        "depth": read[0].depth,
        "labels": list(gold.names),
        "words": float(np.nanmean(tables["words"][0])),
        "best_layer": best,
        "by_layer": rows,
        "by_label": by_label,
    }
    unsaid = None
    if answers is not None:
        unsaid = not_said(gold, held, by_chance, control, answers, best)
        document["not_said"] = unsaid.document
        found |= {f"not_said.{name}": one for name, one in unsaid.shares(by).items()}
        for key, row in unsaid.by_layer.items():
            rows[key] |= row
    if cosines:
        document["cosines"] = cosines
    notes = {**gold.notes, "beats_controls": MARKED}
    if best is None:
        notes["best_layer"] = "no layer beats its controls: nothing is to be read from where the figures are highest"
    sure = beside(intervals([found]), gold.shared, "texts")
    return with_beside(document | {"conventions": {figure: CONVENTION}, "notes": notes}, sure), unsaid


def code_known(
    notes: NoteBook, store: Store, dataset: Dataset, document: Mapping[str, Any], code: str
) -> tuple[str, list[str]]:
    """Give the texts in which the best layer knew a label that was not said a code, so that they are a filter.

    Their notes are by the lens of the model; those of an earlier lens of the same model that are no longer so go.

    Args:
        document: of `lens`.

    Returns:
        In whose name the notes are, and the ids of the texts.

    Raises:
        BadInput: `code` cannot be the name of a code, or there are no answers to lack anything.
    """
    if "not_said" not in document:
        raise BadInput(f"{document['model']} gave no answers of its own: nothing is known to be not said")
    who, layer = f"lens of {document['model']}", document["best_layer"]
    known: Mapping[str, Sequence[str]] = document["not_said"]["texts"]
    name = code_name(code)
    numbers = store.samples.numbers_by_id(dataset.dataset)
    wanted = {
        numbers[key]: f"layer {layer} knew and the answer lacks: {', '.join(labels)}" for key, labels in known.items()
    }
    for note in notes.notes(dataset.dataset):
        if note.annotator == who and note.sample not in wanted:
            notes.write(dataset.dataset, note.sample, who, "")
    for number, text in wanted.items():
        notes.write(dataset.dataset, number, who, text, (name,))
    return who, list(known)


def _whole(gold: "np.ndarray", said: "np.ndarray", kind: Kind) -> "np.ndarray":
    """(k,): the figure of each column, without an interval."""
    from emotui.metrics import probing

    if kind == "labels":
        return probing.auc(gold, said)
    around = ((gold - gold.mean(0)) ** 2).sum(0)
    explained: np.ndarray = 1 - ((gold - said) ** 2).sum(0) / around
    return explained


class Unsaid(msgspec.Struct, frozen=True):
    """What the answers lack. `document`: `missed`, `unanswered` texts, `texts` by id with the labels that the best
    layer knew, and the shares. `by_layer`: how many of the missed labels each `knew`, and `knew_by_chance`.

    By text, of the best layer; None where there is none: `known` (n,) of 0 or 1, whether it knew a label that was not
    said, NaN without an answer; `chance` (n,): the same by probes of shuffled labels, their mean.
    """

    document: dict[str, Any]
    by_layer: dict[str, dict[str, float]]
    known: Any = None
    chance: Any = None

    def shares(self, by: "Drawn") -> "dict[str, Replicates]":
        """The shares of answered texts, and their difference."""
        return {} if self.known is None else known_shares(self.known, self.chance, by)


def known_shares(known: "np.ndarray", chance: "np.ndarray", by: "Drawn") -> "dict[str, Replicates]":
    """`share` of texts with a label that was known and not said, `share_by_chance`, and `above_chance`, the difference.

    Args:
        known, chance: (n,), as of `Unsaid`.
    """
    import numpy as np

    from emotui.metrics.resampling import mean_replicates

    shares = mean_replicates(np.stack([known, chance], axis=1), by)
    return dict(
        zip(SHARES, [*shares, *mean_replicates((known - chance)[:, None], by, bounds=(-1.0, 1.0))], strict=True)
    )


SHARES = ("share", "share_by_chance", "above_chance")


def not_said(
    gold: Gold,
    held: Mapping[int, "np.ndarray"],
    by_chance: Mapping[int, "np.ndarray"],
    control: "np.ndarray",
    answers: "np.ndarray",
    best: int | None,
) -> Unsaid:
    """Gold labels that the answer lacks, and how many of them the held-out probe of each layer gives.

    A probe gives each label to as many texts as have it. By chance: the same by probes of shuffled labels, which
    give labels as often; only what is above that can be knowledge.
    """
    import numpy as np

    from emotui.metrics.probing import as_many

    missed = (gold.table == 1) & (answers == 0)
    rows: dict[str, dict[str, float]] = {}
    given: dict[int, np.ndarray] = {}
    for layer, scores in held.items():
        given[layer] = as_many(scores, gold.table) & missed
        shuffles = by_chance[layer]
        chance = [(as_many(shuffles[:, at], control[:, at]) & missed).sum() for at in range(shuffles.shape[1])]
        rows[str(layer)] = {"knew": int(given[layer].sum()), "knew_by_chance": float(np.mean(chance))}
    texts = {}
    if best is not None:
        for row in np.flatnonzero(given[best].any(1)).tolist():
            texts[gold.ids[row]] = [
                name for name, is_there in zip(gold.names, given[best][row], strict=True) if is_there
            ]
    silent = np.isnan(answers).any(1)
    document: dict[str, Any] = {"missed": int(missed.sum()), "unanswered": int(silent.sum()), "texts": texts}
    if best is None or silent.all():
        return Unsaid(document, rows)
    known = np.where(silent, np.nan, given[best].any(1))
    luck = by_chance[best]
    each = [(as_many(luck[:, at], control[:, at]) & missed).any(1) for at in range(luck.shape[1])]
    by_luck = np.where(silent, np.nan, np.mean(each, axis=0))
    shares = (float(np.nanmean(one)) for one in (known, by_luck, known - by_luck))
    return Unsaid(document | dict(zip(SHARES, shares, strict=True)), rows, known, by_luck)


_KEPT = "lens/"
TABLE = "knew"

BESIDE_ANSWERS = (
    "knew: share of answered texts with a gold label that the answer lacks and the best layer's held-out probe gives "
    "(emotui lens); by chance: the same by probes of shuffled labels; only what is above that can be knowledge."
)


def keep_unsaid(store: Store, dataset: Dataset, run: Run, gold: Gold, unsaid: Unsaid, layer: int | None) -> None:
    """Keep what the newest lens found of a run's answers, in place of what an earlier one did.

    Args:
        layer: the best one; None where no layer beats its controls.
    """
    kept: dict[str, Any] = {"layer": layer, "gold": dataset.gold}
    if unsaid.known is not None:
        numbers = store.samples.numbers_by_id(dataset.dataset)
        table = zip(gold.ids, gold.shared, unsaid.known.tolist(), unsaid.chance.tolist(), strict=True)
        kept["texts"] = [
            [numbers[key], shared, *((None, None) if isnan(one) else (one, chance))]
            for key, shared, one, chance in table
        ]
    store.settings.set(f"{_KEPT}{run.run}", kept)


def known_table(store: Store, dataset: Dataset, runs: Sequence[Run]) -> ResultsTable | None:
    """Of each run the share of texts whose label a layer knew and the answer did not say; None without any lens."""
    kept = {run.run: store.settings.get(f"{_KEPT}{run.run}") for run in runs}
    rows = [_known_row(run, kept[run.run], dataset.gold) for run in runs if kept[run.run] is not None]
    if not rows:
        return None
    columns = (
        Column("layer", "layer", unit="count"),
        Column("texts", "texts", unit="count"),
        Column("knew", "knew"),
        Column("by_chance", "by chance"),
        Column("above_chance", "above chance", unit="difference"),
    )
    return ResultsTable(TABLE, "Knew but did not say", columns, tuple(rows), (BESIDE_ANSWERS, INTERVAL))


def _known_row(run: Run, kept: Mapping[str, Any], gold: int) -> Row:
    import numpy as np

    from emotui.metrics.resampling import drawn, interval_of

    texts = kept.get("texts")
    if not texts:
        why = "no layer beats its controls" if kept["layer"] is None else "nothing was answered"
        return Row(run.model, "run", run.run, tuple(Cell(why=why) for _ in range(5)))
    numbers, shared, known, chance = zip(*texts, strict=True)
    shares = known_shares(np.array(known, dtype=np.float64), np.array(chance, dtype=np.float64), drawn(list(shared)))
    answered, hit = (
        tuple(number for number, one in zip(numbers, known, strict=True) if one in kinds) for kinds in ((0, 1), (1,))
    )
    cells = [Cell(int(kept["layer"])), Cell(len(answered), samples=answered, run=run.run)]
    for name in SHARES:
        sure = interval_of(shares[name])
        samples = hit if name == "share" else answered
        cells.append(
            Cell(shares[name].whole, samples=samples, run=run.run, low=sure.low, high=sure.high, note=sure.note)
        )
    remark = f"by gold {kept['gold']}: ask the lens again" if kept["gold"] != gold else ""
    return Row(run.model, "run", run.run, tuple(cells), remark)


def _between(table: "np.ndarray", names: Sequence[str]) -> dict[str, dict[str, float]]:
    return {a: dict(zip(names, map(float, row), strict=True)) for a, row in zip(names, table, strict=True)}


def _cosines(table: "np.ndarray", names: Sequence[str]) -> dict[str, Any]:
    """Cosines of the labels' directions; by EmoLex's valence the means over pairs of one and of two, and their order.

    `by_valence`: how often a pair of one valence has a higher cosine than a pair of two, equal ones half: 1 where
    directions order by valence, .5 where it does not matter to them.
    """
    import numpy as np

    found: dict[str, Any] = {"between": _between(table, names)}
    lexicon = emolex()
    signs = {name: lexicon.get(name.lower(), frozenset()) & {"positive", "negative"} for name in names}
    clear = [at for at, name in enumerate(names) if len(signs[name]) == 1]
    pairs: dict[bool, list[float]] = {True: [], False: []}
    for place, a in enumerate(clear):
        for b in clear[:place]:
            pairs[signs[names[a]] == signs[names[b]]].append(float(table[a, b]))
    if pairs[True] and pairs[False]:
        apart = np.subtract.outer(pairs[True], pairs[False])
        found |= {"same_valence": float(np.mean(pairs[True])), "other_valence": float(np.mean(pairs[False]))}
        found["by_valence"] = float(((apart > 0) + 0.5 * (apart == 0)).mean())
    return found
