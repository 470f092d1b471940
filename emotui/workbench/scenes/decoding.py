"""Re-decoding a scenes run: its kept logits, joined by a prior over emotion vectors, at any alpha, without its model.

Honest by default: a scenario is decoded with a prior (and temperature) fitted on the folds that do not hold it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from emotui.errors import BadInput
from emotui.metrics.decoding import Term, checked_log_odds, decode_map, explain_label, posterior_marginals
from emotui.metrics.ising import Ising
from emotui.metrics.nested_cv import Choice, Grid, Scaling, assign_folds, decode_honestly
from emotui.metrics.priors import PRIORS, fit_prior
from emotui.metrics.scenes import (
    Flips,
    annotator_agreement,
    co_occurrence,
    flips,
    label_counts,
    micro_f1,
    mutual_information,
)
from emotui.metrics.states import Bits, Floats
from emotui.metrics.temperature import fit_temperature
from emotui.records import ScenesGold
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.scenes.task import Prediction, vector_letters
from emotui.workbench.runs.export import export_run
from emotui.workbench.runs.plan import stored_samples
from emotui.workbench.runs.scores import metrics

FOLDS = 5
ALPHAS = (
    *(step / 20 for step in range(21)),
    *(1 + step / 10 for step in range(1, 11)),
    *(2 + step / 4 for step in range(1, 13)),
)
"""The slider's steps, fine where little moves much; the paper's eight alphas are among them."""

ABOUT_PRIORS = {
    "paper": "the closed form as printed (equation 4)",
    "paper-couplings": "its couplings only: logits hold base rates already",
    "exact": "maximum likelihood: matches the data's marginals",
    "exact-couplings": "its couplings only",
    "exact-smoothed": "maximum likelihood of the smoothed data",
    "exact-dependence": "that, less what each emotion says alone",
}


@dataclass(frozen=True, slots=True)
class Tuning:
    """Which prior and how. `scaling`: what the log-odds are divided by, or `fitted` on the other folds."""

    prior: str = "paper"
    smoothing: float = 0.5
    scaling: Scaling = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class SceneRun:
    """What a run said about each scenario that it answered (its first repeat), beside gold.

    log_odds: (n, k), yes minus no. gold, alone (the model without a prior): (n, k) of 0 or 1. `place_of`: sample number
    to row. `silent`: how many scenarios have no answer. `kappa`: Fleiss' over the annotators of all that have them.
    """

    run: Run
    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    ids: tuple[str, ...]
    log_odds: Floats
    gold: Bits
    alone: Bits
    place_of: Mapping[int, int]
    silent: int
    kappa: float | None = None

    @property
    def way(self) -> str:
        """How the model was asked."""
        return str(self.run.config.get("way") or "heads")


@dataclass(frozen=True, slots=True)
class Figures:
    """The four of Table 1, and micro F1."""

    macro_f1: float
    hamming_loss: float
    vector_accuracy: float
    lexical_accuracy: float
    micro_f1: float


def figures(gold: Bits, predicted: Bits) -> Figures:
    """The figures of one decoding. Args: gold, predicted: (n, k), n at least 1."""
    counts, right = label_counts(gold, predicted), gold == predicted
    share = float(right.mean())
    return Figures(float(counts.f1.mean()), 1 - share, float(right.all(axis=1).mean()), share, micro_f1(counts))


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """The whole set at one alpha, against another one. Flips hold rows."""

    alpha: float
    other: float
    before: Bits
    now: Bits
    figures: Figures
    figures_before: Figures
    flips: Flips


@dataclass(frozen=True, slots=True)
class Row:
    """One emotion of one scenario, in nats: own evidence, the prior's bias and its neighbours' pull, all as weighed.

    `posterior` is the exact P(yes), given what is clamped. `before` is the model alone.
    """

    label: str
    own: float
    bias: float
    neighbours: float
    posterior: float
    before: int
    now: int
    gold: int
    clamp: int | None

    @property
    def total(self) -> float:
        """The log-odds, given the other emotions as decoded."""
        return self.own + self.bias + self.neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """One figure of each kind for every alpha, with priors of the other folds (`nested_cv`) and of all records."""

    alphas: tuple[float, ...]
    nested_cv: tuple[Figures, ...]
    in_sample: tuple[Figures, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What nested cross-validation chooses (`choice`), and the figures of decoding by choices made without looking."""

    choice: Choice
    nested_cv: Figures
    in_sample_choice: Choice
    in_sample: Figures
    alone: Figures
    alphas: tuple[float, ...]


class Redecoding:
    """A run under one tuning: a prior for each fold, fitted once; every alpha decodes the whole set anew.

    Raises:
        BadInput: the prior cannot be fitted so, or the run has no answer yet.
    """

    def __init__(self, scenes: SceneRun, tuning: Tuning) -> None:
        if not scenes.ids:
            raise BadInput("this run has no answers yet")
        self.scenes, self.tuning = scenes, tuning
        n = len(scenes.ids)
        self.folds = assign_folds(scenes.ids, min(FOLDS, n)) if n > 1 else np.zeros(1, dtype=np.int64)
        try:
            self.whole, self.temperature = self._fit(np.ones(n, dtype=bool))
            fitted = [self._fit(self.folds != fold) for fold in range(int(self.folds.max()) + 1)] if n > 1 else []
        except ValueError as problem:
            raise BadInput(f"{tuning.prior}: {problem}") from problem
        self.priors = [prior for prior, _ in fitted] or [self.whole]
        self.temperatures = [temperature for _, temperature in fitted] or [self.temperature]
        self._rows = [np.flatnonzero(self.folds == fold) for fold in range(len(self.priors))]
        self._scaled = scenes.log_odds / np.asarray(self.temperatures)[self.folds][:, None]

    def _fit(self, rows: "np.ndarray") -> tuple[Ising, float]:
        scenes, scaling = self.scenes, self.tuning.scaling
        prior = fit_prior(scenes.gold[rows], self.tuning.prior, self.tuning.smoothing)
        fitted = scaling == "fitted"
        return prior, fit_temperature(scenes.log_odds[rows], scenes.gold[rows]) if fitted else float(scaling)

    def vectors(self, alphas: Sequence[float]) -> Bits:
        """(len(alphas), n, k): each scenario decoded with the prior of the folds without it."""
        found = np.empty((len(alphas), *self.scenes.gold.shape), dtype=np.uint8)
        for rows, prior in zip(self._rows, self.priors, strict=True):
            found[:, rows] = decode_map(self._scaled[rows], prior, alphas)
        return found

    def decoded(self, alpha: float, other: float = 0.0) -> Decoded:
        """The whole set at an alpha, and what flips against another."""
        scenes = self.scenes
        now, before = self.vectors((alpha, other)) if other else (self.vectors((alpha,))[0], scenes.alone)
        gold = scenes.gold
        return Decoded(alpha, other, before, now, figures(gold, now), figures(gold, before), flips(before, now, gold))

    def rows(self, place: int, alpha: float, clamps: Mapping[int, int] | None = None) -> list[Row]:
        """The emotions of one scenario; with clamps, given that some are known (what-if)."""
        clamps = clamps or {}
        prior, odds = self._prior(place), self._scaled[place]
        posterior = posterior_marginals(odds[None], prior, alpha, clamps)[0]
        now = self.vector(place, alpha, clamps)
        pulls = alpha * (prior.couplings @ now.astype(np.float64))
        scenes = self.scenes
        return [
            Row(
                label=label,
                own=float(odds[i]),
                bias=alpha * float(prior.theta[i]),
                neighbours=float(pulls[i]),
                posterior=float(posterior[i]),
                before=int(scenes.alone[place, i]),
                now=int(now[i]),
                gold=int(scenes.gold[place, i]),
                clamp=clamps.get(i),
            )
            for i, label in enumerate(scenes.labels)
        ]

    def vector(self, place: int, alpha: float, clamps: Mapping[int, int]) -> Bits:
        """(k,): the best vector of a scenario among those that hold what is clamped."""
        prior, odds = self._prior(place), self._scaled[place]
        k = len(odds)
        free = [i for i in range(k) if i not in clamps]
        on = [i for i, value in clamps.items() if value]
        vector = np.array([clamps.get(i, 0) for i in range(k)], dtype=np.uint8)
        if free:
            pulled = odds[free] + alpha * prior.couplings[np.ix_(free, on)].sum(axis=1)
            rest = Ising(prior.theta[free], prior.pairs[np.ix_(free, free)])
            vector[free] = decode_map(pulled[None], rest, (alpha,))[0, 0]
        return vector

    def why(self, place: int, alpha: float, label: int, clamps: Mapping[int, int] | None = None) -> list[Term]:
        """The terms of an emotion's log-odds as decoded, largest first."""
        vector = self.vector(place, alpha, clamps or {})
        return explain_label(self._scaled[place], self._prior(place), alpha, vector, label)

    def sweep(self, alphas: Sequence[float] = ALPHAS) -> Sweep:
        """The figures at every alpha."""
        gold = self.scenes.gold
        nested_cv = tuple(figures(gold, vectors) for vectors in self.vectors(alphas))
        in_sample = decode_map(self.scenes.log_odds / self.temperature, self.whole, alphas)
        return Sweep(tuple(alphas), nested_cv, tuple(figures(gold, vectors) for vectors in in_sample))

    def choose(self) -> Chosen:
        """The alpha that nested cross-validation chooses for this prior and scaling, of the paper's alphas."""
        scenes, tuning = self.scenes, self.tuning
        grid = Grid(priors=(tuning.prior,), temperatures=(tuning.scaling,), smoothing=tuning.smoothing)
        try:
            found = decode_honestly(scenes.ids, scenes.log_odds, scenes.gold, grid, FOLDS)
        except ValueError as problem:
            raise BadInput(str(problem)) from problem
        gold = scenes.gold
        return Chosen(
            found.chosen,
            figures(gold, found.nested_cv),
            found.in_sample_choice,
            figures(gold, found.in_sample),
            figures(gold, found.alone),
            tuple(fold.choice.alpha for fold in found.folds),
        )

    def fold(self, place: int) -> int:
        """The number of a scenario's fold."""
        return int(self.folds[place])

    def _prior(self, place: int) -> Ising:
        return self.priors[int(self.folds[place])]


def pair_figures(decoded: Decoded, scenes: SceneRun) -> dict[str, dict[str, "np.ndarray"]]:
    """(k, k) each of gold, model (alpha 0), decoded, and decoded less gold: `together` (shares of scenarios with both
    emotions) and `information` (mutual information in nats)."""
    found: dict[str, dict[str, np.ndarray]] = {}
    sources = {"gold": scenes.gold, "model": scenes.alone, "now": decoded.now}
    found["together"] = {name: co_occurrence(vectors) / len(vectors) for name, vectors in sources.items()}
    found["information"] = {name: _information(vectors) for name, vectors in sources.items()}
    for group in found.values():
        group["now − gold"] = group["now"] - group["gold"]
    return found


def _information(vectors: Bits) -> Floats:
    found = mutual_information(vectors)
    assert found is not None  # a run without answers has no Decoded
    return found


class SceneBench:
    """What the Scenes place asks of a store. Every method may be called from any thread, and may take a while."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaded: dict[tuple[object, ...], SceneRun] = {}

    def scene(self, sample: int) -> ScenesGold:
        """The scenario of a sample number."""
        ((_, record),) = self._store.samples([sample])
        return msgspec.json.decode(record, type=ScenesGold)

    def load(self, run: Run) -> SceneRun:
        """A run's logits beside gold.

        Raises:
            BadInput: scenarios have different labels, or a logit cannot be decoded.
        """
        key = (run.run, run.done, run.failed, run.finished)
        if key not in self._loaded:
            self._loaded = {known: kept for known, kept in self._loaded.items() if known[0] != run.run}
            self._loaded[key] = self._load(run)
        return self._loaded[key]

    def _load(self, run: Run) -> SceneRun:
        dataset = self._store.dataset(run.dataset)
        if dataset is None:
            raise BadInput(f"run {run.run} has lost its dataset")
        samples = dict(stored_samples(self._store, dataset, dataset.n))
        said = {
            row.sample: msgspec.json.decode(row.prediction, type=Prediction)
            for row in self._store.results(run.run)
            if row.prediction is not None and row.repeat == 0
        }
        numbers = tuple(number for number in samples if number in said)
        labels = tuple(next(iter(samples.values())).labels) if samples else ()
        odd = next((samples[n].id for n in numbers if set(samples[n].labels) != set(labels)), None)
        if odd is not None:
            raise BadInput(f"{odd}: its labels are not those of the first scenario: {', '.join(labels)}")
        odds = [[said[n].scores[name][0] - said[n].scores[name][1] for name in labels] for n in numbers]
        gold = [[samples[n].labels[name] for name in labels] for n in numbers]
        shape = (len(numbers), len(labels))
        log_odds = np.array(odds, dtype=np.float64).reshape(shape)
        broken = np.flatnonzero(~np.isfinite(log_odds).all(axis=1))
        if len(broken):
            raise BadInput(f"{samples[numbers[broken[0]]].id}: a logit is not finite")
        return SceneRun(
            run=run,
            labels=labels,
            numbers=numbers,
            ids=tuple(samples[number].id for number in numbers),
            log_odds=checked_log_odds(log_odds) if numbers else log_odds,
            gold=np.array(gold, dtype=np.uint8).reshape(shape),
            alone=(log_odds > 0).astype(np.uint8),
            place_of={number: place for place, number in enumerate(numbers)},
            silent=dataset.n - len(numbers),
            kappa=_kappa(list(samples.values()), labels),
        )

    def redecode(self, run: Run, tuning: Tuning) -> Redecoding:
        """The run under a tuning. Raises BadInput as `load` and `Redecoding`."""
        return Redecoding(self.load(run), tuning)

    def export(self, run: Run, path: str) -> int:
        """Write a run's logits as predicted records; how many. Raises BadInput as `export_run`."""
        return export_run(self._store, run.run, path)

    def by_emotion(self, runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
        """Run id to the figures of Table 1 and Figure 4 of each run (alpha 0); runs without answers are left out."""
        found = {run.run: metrics(self._store, run) for run in runs}
        return {run: report for run, report in found.items() if report}


def _kappa(samples: Sequence[ScenesGold], labels: Sequence[str]) -> float | None:
    """Fleiss' kappa over every (scenario, emotion), where each scenario has as many annotators."""
    said = [[[int(one.get(name, 0)) for name in labels] for one in sample.annotators.values()] for sample in samples]
    if not said or len({len(one) for one in said}) > 1 or len(said[0]) < 2:
        return None
    return annotator_agreement(said).fleiss


def nearest(alpha: float) -> int:
    """The slider's step next to an alpha."""
    return min(range(len(ALPHAS)), key=lambda step: abs(ALPHAS[step] - alpha))


def as_setting(tuning: Tuning) -> dict[str, object]:
    """As plain values that a store can keep."""
    return {"prior": tuning.prior, "smoothing": tuning.smoothing, "scaling": tuning.scaling}


def tuning_from(value: object) -> Tuning:
    """What was remembered; whatever in it makes no sense any more is left at its default."""
    if not isinstance(value, dict):
        return Tuning()
    prior, smoothing, scaling = value.get("prior"), value.get("smoothing"), value.get("scaling")
    return Tuning(
        prior=prior if isinstance(prior, str) and prior in PRIORS else Tuning().prior,
        smoothing=float(smoothing) if isinstance(smoothing, int | float) and 0 <= smoothing <= 1000 else 0.5,
        scaling=_scaling(scaling),
    )


def _scaling(value: object) -> Scaling:
    if value == "fitted":
        return "fitted"
    return float(value) if isinstance(value, int | float) and 0.02 <= value <= 50 else 1.0


def annotator_letters(scene: ScenesGold) -> dict[str, str]:
    """What each annotator said of a scenario, in the letters of its labels."""
    labels = list(scene.labels)
    return {
        name: vector_letters(labels, [said.get(label, 0) for label in labels])
        for name, said in scene.annotators.items()
    }
