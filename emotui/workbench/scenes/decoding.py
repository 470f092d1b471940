"""Re-decoding a scenes run: its kept logits (or hard answers, by how often they are right), joined by a prior over
emotion vectors, at any alpha, without its model.

Honest by default: a scenario is decoded with a prior (and temperature, and reliability) fitted on the folds that do
not hold it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from emotui.errors import BadInput
from emotui.metrics.decoding import Term, decode_map, explain_label, marginals_over_alphas, posterior_marginals
from emotui.metrics.expected import Objective, decode_for, decode_marginals
from emotui.metrics.ising import Ising
from emotui.metrics.nested_cv import Choice, Grid, Scaling, assign_folds, decode_honestly
from emotui.metrics.priors import fit_prior
from emotui.metrics.reliability import NONE, Evidence, HardAnswers, Reliability, fit_reliability, log_odds_given
from emotui.metrics.scenes import (
    AnnotatorAgreement,
    Flips,
    co_occurrence,
    conditional,
    flips,
    label_counts,
    micro_f1,
    mutual_information,
)
from emotui.metrics.states import Bits, Floats
from emotui.metrics.temperature import fit_temperature
from emotui.store.query import Run

# One scenario at every alpha: which emotions are on, how likely each is, and what its log-odds are made of.


@dataclass(frozen=True, slots=True)
class Answer:
    """A hard answer about one emotion (None: neither yes nor no), and the rates of `emotui.metrics.reliability`."""

    said: bool | None
    sensitivity: float
    specificity: float

    @property
    def word(self) -> str:
        """As the model said it."""
        return "neither yes nor no" if self.said is None else "yes" if self.said else "no"


@dataclass(frozen=True, slots=True)
class Row:
    """One emotion of one scenario, in nats: own evidence, the prior's bias and its neighbours' pull, all as weighed.

    `posterior` is the exact P(yes), given what is clamped. `before` is the model alone. `clamped`: what of `neighbours`
    comes from emotions that are clamped to yes.
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
    clamped: float = 0.0

    @property
    def given(self) -> float:
        """P(yes) were the other emotions just as decoded: the logistic of `total`."""
        return float(1 / (1 + np.exp(-self.total)))

    @property
    def total(self) -> float:
        """The log-odds, given the other emotions as decoded."""
        return self.own + self.bias + self.neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Ribbons:
    """What a scenario is decoded to at each alpha, in arrays.

    on: (a, k) of 0 or 1. posterior, bias, pulls, clamped (of the pulls those of emotions clamped to yes): (a, k); the
    last three in nats, as weighed. own: (k,). gold, before (the model alone): (k,) of 0 or 1.
    """

    labels: tuple[str, ...]
    alphas: tuple[float, ...]
    on: Bits
    posterior: Floats
    own: Floats
    bias: Floats
    pulls: Floats
    clamped: Floats
    before: Bits
    gold: Bits
    clamps: Mapping[int, int]

    @property
    def wrong(self) -> "np.ndarray":
        """(a,): how many emotions are not as in gold, at each alpha."""
        counts: np.ndarray = (self.on != self.gold).sum(axis=1)
        return counts

    def flips(self, label: int) -> list[tuple[float, bool]]:
        """The alphas from which on an emotion is another than at the alpha before; true: it is on from there."""
        column = self.on[:, label].tolist()
        return [(self.alphas[at], bool(now)) for at, (before, now) in enumerate(pairwise(column), 1) if before != now]

    def rows(self, step: int) -> list[Row]:
        """The emotions at one of the alphas."""
        return [
            Row(
                label=label,
                own=float(self.own[i]),
                bias=float(self.bias[step, i]),
                neighbours=float(self.pulls[step, i]),
                posterior=float(self.posterior[step, i]),
                before=int(self.before[i]),
                now=int(self.on[step, i]),
                gold=int(self.gold[i]),
                clamp=self.clamps.get(i),
                clamped=float(self.clamped[step, i]),
            )
            for i, label in enumerate(self.labels)
        ]


def given_clamps(prior: Ising, clamps: Mapping[int, int]) -> tuple[list[int], Ising]:
    """The labels that are free, and the prior over them given the clamped ones: what pulls them becomes their bias."""
    free = [i for i in range(prior.k) if i not in clamps]
    on = [i for i, value in clamps.items() if value]
    pull = prior.couplings[np.ix_(free, on)].sum(axis=1)
    return free, Ising(prior.theta[free] + pull, prior.pairs[np.ix_(free, free)])


def marginals_path(log_odds: Floats, prior: Ising, alphas: Sequence[float], clamps: Mapping[int, int]) -> Floats:
    """(a, k): P(yes) of every emotion of one scenario at every alpha, given the clamps."""
    found = np.empty((len(alphas), prior.k))
    for label, value in clamps.items():
        found[:, label] = value
    free, rest = given_clamps(prior, clamps)
    if free:
        found[:, free] = marginals_over_alphas(log_odds[free], rest, alphas)
    return found


def best_vectors(log_odds: Floats, prior: Ising, alphas: Sequence[float], clamps: Mapping[int, int]) -> Bits:
    """(a, k): the most probable vector of one scenario at every alpha, among those that hold what is clamped."""
    found = np.empty((len(alphas), prior.k), dtype=np.uint8)
    for label, value in clamps.items():
        found[:, label] = value
    free, rest = given_clamps(prior, clamps)
    if free:
        found[:, free] = decode_map(log_odds[free][None], rest, alphas)[:, 0]
    return found


FOLDS = 5
ALPHAS = (
    *(step / 20 for step in range(21)),
    *(1 + step / 10 for step in range(1, 11)),
    *(2 + step / 4 for step in range(1, 13)),
)
"""The slider's steps, fine where little moves much; the paper's eight alphas are among them."""

KEPT = 512
"""Scenarios whose ribbons are kept: a few kilobytes each."""

ABOUT_PRIORS = {
    "paper": "the closed form as printed (equation 4)",
    "paper-couplings": "its couplings only: logits hold base rates already",
    "exact": "maximum likelihood: matches the data's marginals",
    "exact-couplings": "its couplings only",
    "exact-smoothed": "maximum likelihood of the smoothed data",
    "exact-dependence": "that, less what each emotion says alone",
}

ABOUT_OBJECTIVES: dict[Objective, str] = {
    "map": "best vector",
    "hamming": "expected Hamming",
    "macro-f1": "expected macro-F1",
}
"""What vectors are decoded for, in the order in which a key goes through them."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Which prior and how, and what vectors are decoded for.

    `scaling`: what the log-odds are divided by, or `fitted` on the other folds.
    """

    prior: str = "paper"
    smoothing: float = 0.5
    scaling: Scaling = 1.0
    objective: Objective = "map"


@dataclass(frozen=True, slots=True, eq=False)
class SceneRun:
    """What a run said about each scenario that it answered (its first repeat), beside gold.

    log_odds: (n, k), yes minus no; or hard answers, where the model said yes and no in words. gold, alone (the model
    without a prior): (n, k) of 0 or 1. `place_of`: sample number to row. `silent`: how many scenarios have no answer.
    `agreement`: of the annotators, where all have as many. `doubtful`: how many have an emotion on which
    yes and no have little probability, or no answer.
    """

    run: Run
    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    ids: tuple[str, ...]
    log_odds: Evidence
    gold: Bits
    alone: Bits
    place_of: Mapping[int, int]
    silent: int
    agreement: AnnotatorAgreement | None = None
    doubtful: int = 0

    def reliability(self) -> Reliability | None:
        """How far hard answers are right, by all scenarios; None of logits."""
        return fit_reliability(self.log_odds, self.gold) if isinstance(self.log_odds, HardAnswers) else None

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


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """One figure of each kind for every alpha, with priors of the other folds (`nested_cv`) and of all records."""

    alphas: tuple[float, ...]
    nested_cv: tuple[Figures, ...]
    in_sample: tuple[Figures, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What nested cross-validation chooses (`choice`), and the figures of decoding by choices made without looking.

    `held_out`: (n, k) what is decoded so, which `nested_cv` is of. `by_fold`: each fold's choice, made on the other
    folds; `fold_of`: the fold of each scenario of the run.
    """

    choice: Choice
    nested_cv: Figures
    held_out: Bits
    in_sample_choice: Choice
    in_sample: Figures
    alone: Figures
    by_fold: tuple[Choice, ...]
    fold_of: tuple[int, ...]


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
        self._marginals: tuple[float, Floats] | None = None
        self._swept: Bits | None = None
        self._ribbons: dict[tuple[int, tuple[tuple[int, int], ...]], Ribbons] = {}
        self._rows = [np.flatnonzero(self.folds == fold) for fold in range(len(self.priors))]
        self._scaled = np.empty(scenes.gold.shape)
        for fold, held in enumerate(self._rows):
            others = np.flatnonzero(self.folds != fold) if n > 1 else held
            self._scaled[held] = self._log_odds(others, held) / self.temperatures[fold]

    def _log_odds(self, trained: "np.ndarray", rows: "np.ndarray") -> Floats:
        return log_odds_given(self.scenes.log_odds, self.scenes.gold, trained, rows)

    def _fit(self, rows: "np.ndarray") -> tuple[Ising, float]:
        scenes, scaling = self.scenes, self.tuning.scaling
        prior = fit_prior(scenes.gold[rows], self.tuning.prior, self.tuning.smoothing)
        fitted = scaling == "fitted"
        return prior, fit_temperature(self._log_odds(rows, rows), scenes.gold[rows]) if fitted else float(scaling)

    def vectors(self, alphas: Sequence[float]) -> Bits:
        """(len(alphas), n, k): each scenario decoded with the prior of the folds without it."""
        objective = self.tuning.objective
        if objective != "map":  # macro F1 is the whole set's: its marginals go together, whatever their folds
            found = [decode_marginals(self.marginals(alpha), objective) for alpha in alphas]
            return np.array(found, dtype=np.uint8).reshape(len(alphas), *self.scenes.gold.shape)
        vectors = np.empty((len(alphas), *self.scenes.gold.shape), dtype=np.uint8)
        for rows, prior in zip(self._rows, self.priors, strict=True):
            vectors[:, rows] = decode_map(self._scaled[rows], prior, alphas)
        return vectors

    def marginals(self, alpha: float) -> Floats:
        """(n, k): the exact P(yes) of every emotion, each scenario under the prior of the folds without it."""
        kept = self._marginals
        if kept is not None and kept[0] == alpha:
            return kept[1]
        found = np.empty(self.scenes.gold.shape)
        for rows, prior in zip(self._rows, self.priors, strict=True):
            found[rows] = posterior_marginals(self._scaled[rows], prior, alpha)
        self._marginals = alpha, found
        return found

    def decoded(self, alpha: float, other: float = 0.0) -> Decoded:
        """The whole set at an alpha, and what flips against another."""
        scenes = self.scenes
        now = self._at(alpha)
        before = self._at(other) if other else scenes.alone
        gold = scenes.gold
        return Decoded(alpha, other, before, now, figures(gold, now), figures(gold, before), flips(before, now, gold))

    def ribbons(self, place: int, clamps: Mapping[int, int] | None = None) -> Ribbons:
        """One scenario at every step of the slider; kept, so that the second time costs nothing."""
        clamps = dict(clamps or {})
        key = place, tuple(sorted(clamps.items()))
        found = self._ribbons.get(key)
        if found is None:
            found = self.at_alphas(place, ALPHAS, clamps)
            if len(self._ribbons) >= KEPT:
                self._ribbons.clear()
            self._ribbons[key] = found
        return found

    def _at(self, alpha: float) -> Bits:
        """(n, k): the whole set at an alpha; where all steps of the slider were decoded, without decoding it again."""
        kept = self._swept
        found: Bits = self.vectors((alpha,))[0] if kept is None or alpha not in ALPHAS else kept[ALPHAS.index(alpha)]
        return found

    def kept_ribbons(self, place: int, clamps: Mapping[int, int]) -> Ribbons | None:
        """What `ribbons` would give, where it was asked before: costs nothing."""
        return self._ribbons.get((place, tuple(sorted(clamps.items()))))

    def at_alphas(self, place: int, alphas: Sequence[float], clamps: Mapping[int, int] | None = None) -> Ribbons:
        """One scenario at each of these alphas; with clamps, given that some emotions are known (what-if)."""
        clamps = dict(clamps or {})
        prior, scenes = self._prior(place), self.scenes
        odds = self._scaled[place]
        posterior = marginals_path(odds, prior, alphas, clamps)
        on = self._decided(place, alphas, clamps, posterior)
        weighed = np.asarray(alphas, dtype=np.float64)[:, None]
        return Ribbons(
            labels=scenes.labels,
            alphas=tuple(alphas),
            on=on,
            posterior=posterior,
            own=odds,
            bias=weighed * prior.theta,
            pulls=weighed * (on[:, :, None] * prior.couplings).sum(axis=1),
            clamped=weighed * prior.couplings[:, [i for i, value in clamps.items() if value]].sum(axis=1),
            before=scenes.alone[place],
            gold=scenes.gold[place],
            clamps=clamps,
        )

    def _decided(self, place: int, alphas: Sequence[float], clamps: Mapping[int, int], posterior: Floats) -> Bits:
        """(a, k): what the scenario is decoded to.

        For the least expected Hamming loss by the marginals given the clamps; for macro F1, among all scenarios with
        this one's marginals given its clamps.
        """
        objective = self.tuning.objective
        if objective == "map":
            return best_vectors(self._scaled[place], self._prior(place), alphas, clamps)
        if objective == "hamming":
            likely: Bits = decode_marginals(posterior, objective)
            return likely
        if not clamps:
            every = self._all_vectors() if tuple(alphas) == ALPHAS else self.vectors(alphas)
            alone: Bits = every[:, place]
            return alone
        decided = np.empty(posterior.shape, dtype=np.uint8)
        for step, alpha in enumerate(alphas):
            together = self.marginals(alpha).copy()
            together[place] = posterior[step]
            decided[step] = decode_marginals(together, objective)[place]
        decided[:, list(clamps)] = list(clamps.values())
        return decided

    def _all_vectors(self) -> Bits:
        """(len(ALPHAS), n, k): the whole set at every step of the slider, decoded once."""
        if self._swept is None:
            self._swept = self.vectors(ALPHAS)
        return self._swept

    def rows(self, place: int, alpha: float, clamps: Mapping[int, int] | None = None) -> list[Row]:
        """The emotions of one scenario; with clamps, given that some are known (what-if)."""
        return self.at_alphas(place, (alpha,), clamps).rows(0)

    def vector(self, place: int, alpha: float, clamps: Mapping[int, int]) -> Bits:
        """(k,): what a scenario is decoded to among the vectors that hold what is clamped."""
        best: Bits = self.at_alphas(place, (alpha,), clamps).on[0]
        return best

    def why(self, place: int, alpha: float, label: int, clamps: Mapping[int, int] | None = None) -> list[Term]:
        """The terms of an emotion's log-odds as decoded, largest first."""
        vector = self.vector(place, alpha, clamps or {})
        return explain_label(self._scaled[place], self._prior(place), alpha, vector, label)

    def sweep(self, alphas: Sequence[float] = ALPHAS) -> Sweep:
        """The figures at every alpha."""
        gold = self.scenes.gold
        decoded = self._all_vectors() if tuple(alphas) == ALPHAS else self.vectors(alphas)
        nested_cv = tuple(figures(gold, vectors) for vectors in decoded)
        every = np.arange(len(gold))
        scaled = self._log_odds(every, every) / self.temperature
        in_sample = decode_for(scaled, self.whole, alphas, self.tuning.objective)
        return Sweep(tuple(alphas), nested_cv, tuple(figures(gold, vectors) for vectors in in_sample))

    def choose(self) -> Chosen:
        """The alpha that nested cross-validation chooses for this prior and scaling, of the paper's alphas."""
        tuning = self.tuning
        return self._chosen_of(
            Grid(
                priors=(tuning.prior,),
                temperatures=(tuning.scaling,),
                smoothing=tuning.smoothing,
                objective=tuning.objective,
            )
        )

    def choose_prior(self) -> Chosen:
        """Prior, temperature and alpha, all chosen inside the folds."""
        tuning = self.tuning
        return self._chosen_of(
            Grid(temperatures=(1.0, "fitted"), smoothing=tuning.smoothing, objective=tuning.objective)
        )

    def _chosen_of(self, grid: Grid) -> Chosen:
        scenes = self.scenes
        try:
            found = decode_honestly(scenes.ids, scenes.log_odds, scenes.gold, grid, FOLDS)
        except ValueError as problem:
            raise BadInput(str(problem)) from problem
        gold = scenes.gold
        return Chosen(
            found.chosen,
            figures(gold, found.nested_cv),
            found.nested_cv,
            found.in_sample_choice,
            figures(gold, found.in_sample),
            figures(gold, found.alone),
            tuple(fold.choice for fold in found.folds),
            found.fold_of,
        )

    def answer(self, place: int, label: int) -> Answer | None:
        """Where answers are hard: what was said of an emotion, and how often that is right on the other folds."""
        evidence, fold = self.scenes.log_odds, int(self.folds[place])
        if not isinstance(evidence, HardAnswers):
            return None
        others = self.folds != fold if len(self.scenes.ids) > 1 else self.folds == fold
        weight = fit_reliability(HardAnswers(evidence.said[others]), self.scenes.gold[others])
        said = int(evidence.said[place, label])
        return Answer(
            None if said == NONE else bool(said), float(weight.sensitivity[label]), float(weight.specificity[label])
        )

    def fold(self, place: int) -> int:
        """The number of a scenario's fold."""
        return int(self.folds[place])

    def _prior(self, place: int) -> Ising:
        return self.priors[int(self.folds[place])]


def pair_figures(decoded: Decoded, scenes: SceneRun) -> dict[str, dict[str, "np.ndarray"]]:
    """(k, k) each of gold, model (alpha 0), decoded, and decoded less gold: `together` (shares of scenarios with both
    emotions), `given` (of those with the row's emotion the share with the column's; NaN where there is none) and
    `information` (mutual information in nats)."""
    found: dict[str, dict[str, np.ndarray]] = {}
    sources = {"gold": scenes.gold, "model": scenes.alone, "now": decoded.now}
    found["together"] = {name: co_occurrence(vectors) / len(vectors) for name, vectors in sources.items()}
    found["given"] = {name: conditional(vectors) for name, vectors in sources.items()}
    found["information"] = {name: _information(vectors) for name, vectors in sources.items()}
    for group in found.values():
        group["now − gold"] = group["now"] - group["gold"]
    return found


def _information(vectors: Bits) -> Floats:
    found = mutual_information(vectors)
    assert found is not None  # a run without answers has no Decoded
    return found
