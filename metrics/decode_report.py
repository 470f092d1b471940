"""Joint decoding of a whole file: the document of `emotui decode`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from emotui.errors import BadInput
from emotui.metrics.decoding import PAPER_ALPHAS, log_odds_of, posterior_marginals
from emotui.metrics.expected import Objective, decode_for
from emotui.metrics.ising import couplings_only as without_biases
from emotui.metrics.ising import has_empty_cell
from emotui.metrics.nested_cv import Choice, Grid, decode_honestly, sweep_alphas
from emotui.metrics.priors import fit_prior
from emotui.metrics.reliability import NONE, Evidence, HardAnswers, Reliability, fit_reliability, hard_answers
from emotui.metrics.scenes import scenes_metrics, vector_problems, vector_statistics
from emotui.metrics.states import MAX_LABELS, Bits
from emotui.metrics.temperature import fit_temperature

OUTPUTS = ("marginals", "statistics")
"""What a document can have besides."""

Said = Mapping[str, Mapping[str, Any]]
"""Id to what a model says of each label: two logits (yes, then no) of all records; or 0, 1 or None of all, in words."""

HARD = (
    "answers are yes and no without probabilities: they count for as much as gold labels beside them say they are "
    "right (sensitivity and specificity of each label)"
)

FIT = "fit"
"""The temperature that makes the gold labels most likely."""


def decode_report(
    train: Mapping[str, Mapping[str, int]],
    scores: Said,
    gold: Mapping[str, Mapping[str, int]] | None = None,
    alphas: Sequence[float] = PAPER_ALPHAS,
    prior: str = "paper",
    smoothing: float = 0.5,
    output: Sequence[str] = (),
    *,
    couplings_only: bool = False,
    temperature: float | str = 1.0,
    objective: Objective = "map",
) -> dict[str, Any]:
    """The document of `emotui decode`.

    Args:
        train: id to `{label: 0 or 1}`; the prior is fitted on these alone, and the first record's label order stands.
        scores: id to `{label: (logit yes, logit no)}`, or to `{label: 0, 1 or None}` of hard answers.
        gold: id to `{label: 0 or 1}` for any of the ids in `scores`; the metrics are over those.
        alphas: weights of the prior.
        prior: a name in `emotui.metrics.priors.PRIORS`.
        smoothing: of `fit_prior`; `exact` as such knows none.
        output: "marginals" adds `marginals` `{id: [P(E_i = 1 | x), ...]}` to each result, "statistics" adds
            `statistics` of the training vectors (`vector_statistics`).
        couplings_only: whether the prior loses its biases.
        temperature: what log-odds are divided by, or "fit": the most likely one given `gold`.
        objective: what vectors are decoded for.

    Returns:
        `labels`, `prior`, `smoothing` (None where it is not used), `couplings_only`, `temperature`, `objective`,
        `theta`, `theta_pairs`, `results`, `notes`; of hard answers `reliability`. A result holds `alpha`,
        `predictions`, and with gold the figures of `scenes_metrics`.

    Raises:
        BadInput: one line a problem; a problem of a record begins with its id.
    """
    if not train:
        raise BadInput("a prior needs at least one training record")
    labels = list(next(iter(train.values())))
    if not 1 <= len(labels) <= MAX_LABELS:
        raise BadInput(f"{len(labels)} labels: exact decoding works for 1 to {MAX_LABELS}")
    strange = next((one for one in output if one not in OUTPUTS), None)
    if strange is not None:
        raise BadInput(f"no output is called {strange!r}: there are {' and '.join(OUTPUTS)}")
    gold = gold or {}
    problems = [line for key, row in train.items() for line in vector_problems(key, row, labels, "training")]
    problems += [line for key, row in scores.items() for line in _score_problems(key, row, labels)]
    problems += [line for key, row in gold.items() for line in vector_problems(key, row, labels, "gold")]
    problems += [f"{key}: gold labels without scores" for key in gold if key not in scores]
    if problems:
        raise BadInput(*problems)

    vectors = np.array([[row[name] for name in labels] for row in train.values()], dtype=np.uint8)
    truth = _vectors(gold, labels)
    ids = list(scores)
    row_of = {key: row for row, key in enumerate(ids)}
    with_gold = [row_of[key] for key in gold]
    notes = {}
    try:
        ising = fit_prior(vectors, prior, smoothing)
        evidence, reliability = _evidence(scores, labels), None
        if isinstance(evidence, HardAnswers):
            if not gold:
                raise BadInput("hard answers are decoded by how often they are right: that needs gold labels of some")
            reliability = fit_reliability(HardAnswers(evidence.said[with_gold]), truth)
            notes["reliability"] = f"{HARD}: those that the figures are of; folds are the honest way"
            log_odds = reliability.log_odds(evidence)
        else:
            log_odds = evidence
        if isinstance(temperature, str):
            if not gold:
                raise BadInput("a temperature can be fitted where gold labels stand beside the scores: there are none")
            temperature = fit_temperature(log_odds[with_gold], truth)
            notes["temperature"] = "fitted on the gold labels that the figures are of; folds are the honest way"
        ising = without_biases(ising) if couplings_only else ising
        log_odds = log_odds / temperature
        decoded = decode_for(log_odds, ising, alphas, objective)
    except ValueError as problem:
        raise BadInput(str(problem)) from problem

    results = []
    for alpha, guesses in zip(alphas, decoded, strict=True):
        result: dict[str, Any] = {"alpha": float(alpha), "predictions": dict(zip(ids, guesses.tolist(), strict=True))}
        if gold:
            result |= scenes_metrics(truth, guesses[with_gold], labels)
        if "marginals" in output:
            marginals = posterior_marginals(log_odds, ising, alpha)
            result["marginals"] = dict(zip(ids, marginals.tolist(), strict=True))
        results.append(result)

    unsmoothed = prior in ("exact", "exact-couplings") or (prior.startswith("exact") and smoothing == 0)
    if unsmoothed and has_empty_cell(vectors):
        notes["theta"] = (
            "the training data has no finite maximum (a label or a pair of labels is never or always there): "
            "parameters stand near their limit"
        )
    document = {
        "labels": labels,
        "prior": prior,
        "smoothing": None if prior in ("exact", "exact-couplings") else smoothing,
        "couplings_only": couplings_only or prior.endswith("-couplings"),
        "temperature": temperature,
        "objective": objective,
        "theta": ising.theta.tolist(),
        "theta_pairs": ising.pairs.tolist(),
        "results": results,
    }
    if reliability is not None:
        document["reliability"] = _rates(reliability, labels)
    if "statistics" in output:
        document["statistics"] = vector_statistics(vectors, labels)
    return document | {"notes": notes}


def decode_folds_report(
    scores: Said,
    gold: Mapping[str, Mapping[str, int]],
    grid: Grid,
    folds: int,
) -> dict[str, Any]:
    """The document of `emotui decode --folds`: each record decoded by what was fitted and chosen without it.

    Args:
        scores: as of `decode_report`; those without gold are left out.
        gold: id to `{label: 0 or 1}`; the first record's label order stands.
        grid: the priors, temperatures and alphas to choose among, by which figure, and what is decoded for.
        folds: how many.

    Returns:
        `labels`, `objective`, `target`, `n`, `unlabelled`, `folds` `{id: fold}`, `chosen` (of all records: `prior`,
        `scaling`, `temperature`, `alpha` and the target figure), `by_fold` (the same of each fold, chosen on the other
        folds), `nested` (`predictions` and figures of that), `results` (each alpha with the chosen prior, fitted on
        the other folds), `in_sample` (fitted, chosen and scored on all records: a figure that is too good), `alone`; of
        hard answers `reliability`, that of all records.

    Raises:
        BadInput: one line a problem; a problem of a record begins with its id.
    """
    if not gold:
        raise BadInput("choosing inside folds needs gold labels beside the scores: there are none")
    labels = list(next(iter(gold.values())))
    labelled = {key: row for key, row in scores.items() if key in gold}
    problems = [line for key, row in gold.items() for line in vector_problems(key, row, labels, "gold")]
    problems += [line for key, row in labelled.items() for line in _score_problems(key, row, labels)]
    if problems:
        raise BadInput(*problems)
    ids = list(labelled)
    truth = _vectors({key: gold[key] for key in ids}, labels)
    try:
        odds = _evidence(labelled, labels)
        found = decode_honestly(ids, odds, truth, grid, folds)
        curve = sweep_alphas(
            ids,
            odds,
            truth,
            found.chosen.prior,
            grid.alphas,
            smoothing=grid.smoothing,
            scaling=found.chosen.scaling,
            objective=grid.objective,
            folds=folds,
        )
    except ValueError as problem:
        raise BadInput(str(problem)) from problem

    def decoded(vectors: Bits) -> dict[str, Any]:
        return {"predictions": dict(zip(ids, vectors.tolist(), strict=True))} | scenes_metrics(truth, vectors, labels)

    rates = _rates(fit_reliability(odds, truth), labels) if isinstance(odds, HardAnswers) else {}
    return {
        "labels": labels,
        **({"reliability": rates} if rates else {}),
        "objective": grid.objective,
        "target": grid.target,
        "n": len(ids),
        "unlabelled": len(scores) - len(ids),
        "folds": dict(zip(ids, found.fold_of, strict=True)),
        "chosen": _choice(found.chosen, grid),
        "by_fold": [
            {"fold": at, "n": len(fold.held_out)} | _choice(fold.choice, grid) for at, fold in enumerate(found.folds)
        ],
        "nested": decoded(found.nested_cv),
        "results": [
            {"alpha": float(alpha)} | decoded(vectors)
            for alpha, vectors in zip(grid.alphas, curve.out_of_fold, strict=True)
        ],
        "in_sample": {"chosen": _choice(found.in_sample_choice, grid)} | decoded(found.in_sample),
        "alone": decoded(found.alone),
        "notes": {
            "in_sample": "fitted, chosen and scored on the same records: too good",
            **({"reliability": f"{HARD}: those of the other folds"} if rates else {}),
        },
    }


def _choice(choice: Choice, grid: Grid) -> dict[str, Any]:
    figure = -choice.figure if grid.target == "hamming_loss" else choice.figure
    return {
        "prior": choice.prior,
        "scaling": choice.scaling,
        "temperature": choice.temperature,
        "alpha": float(choice.alpha),
        grid.target: figure,
    }


def _vectors(rows: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> Bits:
    found = np.array([[row[name] for name in labels] for row in rows.values()], dtype=np.uint8)
    return found.reshape(len(rows), len(labels))


def _evidence(scores: Said, labels: Sequence[str]) -> Evidence:
    """Raises ValueError where some records have logits and others hard answers."""
    hard = {key: all(value is None or isinstance(value, int) for value in row.values()) for key, row in scores.items()}
    shape = len(scores), len(labels)
    if scores and all(hard.values()):
        said = [[NONE if row[name] is None else row[name] for name in labels] for row in scores.values()]
        return hard_answers(np.array(said).reshape(shape))
    if any(hard.values()):
        key = next(key for key, one in hard.items() if one)
        raise ValueError(f"{key}: a hard answer among logits: decode them apart")
    logits = np.array([[row[name] for name in labels] for row in scores.values()], dtype=np.float64)
    return log_odds_of(logits.reshape(*shape, 2))


def _rates(found: Reliability, labels: Sequence[str]) -> dict[str, dict[str, float]]:
    pairs = zip(labels, found.sensitivity.tolist(), found.specificity.tolist(), strict=True)
    return {name: {"sensitivity": s, "specificity": c} for name, s, c in pairs}


def _score_problems(key: str, row: Mapping[str, Any], labels: Sequence[str]) -> list[str]:
    if row and all(value is None or value in (0, 1) for value in row.values()):
        return vector_problems(key, {name: value or 0 for name, value in row.items()}, labels, "predicted")
    bare = [name for name, value in row.items() if isinstance(value, int | float)]
    if bare:
        return [f"{key}: the scores of {bare[0]!r} are one number: two finite logits are needed, yes then no"]
    problems = vector_problems(key, row, labels, "predicted")
    if not problems and not all(np.isfinite(float(yes) - float(no)) for yes, no in row.values()):
        problems = [f"{key}: two logits are too far apart to subtract"]
    return problems
