"""Joint decoding of a whole file: the document of `emotui decode`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from emotui.errors import BadInput
from emotui.metrics.decoding import PAPER_ALPHAS, decode_map, log_odds_of, posterior_marginals
from emotui.metrics.ising import has_empty_cell
from emotui.metrics.priors import fit_prior
from emotui.metrics.scenes import scenes_metrics, vector_problems
from emotui.metrics.states import MAX_LABELS


def decode_report(
    train: Mapping[str, Mapping[str, int]],
    scores: Mapping[str, Mapping[str, Sequence[float]]],
    gold: Mapping[str, Mapping[str, int]] | None = None,
    alphas: Sequence[float] = PAPER_ALPHAS,
    prior: str = "paper",
    smoothing: float = 0.5,
    output: str | None = None,
) -> dict[str, Any]:
    """The document of `emotui decode`.

    Args:
        train: id to `{label: 0 or 1}`; the prior is fitted on these alone, and the first record's label order stands.
        scores: id to `{label: (logit yes, logit no)}`.
        gold: id to `{label: 0 or 1}` for any of the ids in `scores`; the metrics are over those.
        alphas: weights of the prior.
        prior: a name in `emotui.metrics.priors.PRIORS`.
        smoothing: of `fit_paper`.
        output: "marginals" adds `marginals` `{id: [P(E_i = 1 | x), ...]}` to each result.

    Returns:
        `labels`, `prior`, `smoothing`, `theta`, `theta_pairs`, `results`, `notes`. A result holds `alpha`,
        `predictions`, and with gold the figures of `scenes_metrics`.

    Raises:
        BadInput: one line a problem; a problem of a record begins with its id.
    """
    if not train:
        raise BadInput("a prior needs at least one training record")
    labels = list(next(iter(train.values())))
    if not 1 <= len(labels) <= MAX_LABELS:
        raise BadInput(f"{len(labels)} labels: exact decoding works for 1 to {MAX_LABELS}")
    if output not in (None, "marginals"):
        raise BadInput(f"no output is called {output!r}: the one there is, is marginals")
    gold = gold or {}
    problems = [line for key, row in train.items() for line in vector_problems(key, row, labels, "training")]
    problems += [line for key, row in scores.items() for line in _score_problems(key, row, labels)]
    problems += [line for key, row in gold.items() for line in vector_problems(key, row, labels, "gold")]
    problems += [f"{key}: gold labels without scores" for key in gold if key not in scores]
    if problems:
        raise BadInput(*problems)

    vectors = np.array([[row[name] for name in labels] for row in train.values()], dtype=np.uint8)
    logits = np.array([[row[name] for name in labels] for row in scores.values()], dtype=np.float64)
    truth = np.array([[row[name] for name in labels] for row in gold.values()], dtype=np.uint8)
    try:
        ising = fit_prior(vectors, prior, smoothing)
        log_odds = log_odds_of(logits.reshape(len(scores), len(labels), 2))
        decoded = decode_map(log_odds, ising, alphas)
    except ValueError as problem:
        raise BadInput(str(problem)) from problem

    ids = list(scores)
    row_of = {key: row for row, key in enumerate(ids)}
    with_gold = [row_of[key] for key in gold]
    results = []
    for alpha, guesses in zip(alphas, decoded, strict=True):
        result: dict[str, Any] = {"alpha": float(alpha), "predictions": dict(zip(ids, guesses.tolist(), strict=True))}
        if gold:
            result |= scenes_metrics(truth, guesses[with_gold], labels)
        if output == "marginals":
            marginals = posterior_marginals(log_odds, ising, alpha)
            result["marginals"] = dict(zip(ids, marginals.tolist(), strict=True))
        results.append(result)

    notes = {}
    unsmoothed = prior in ("exact", "exact-couplings") or (prior.startswith("exact") and smoothing == 0)
    if unsmoothed and has_empty_cell(vectors):
        notes["theta"] = (
            "the training data has no finite maximum (a label or a pair of labels is never or always there): "
            "parameters stand near their limit"
        )
    return {
        "labels": labels,
        "prior": prior,
        "smoothing": smoothing,
        "theta": ising.theta.tolist(),
        "theta_pairs": ising.pairs.tolist(),
        "results": results,
        "notes": notes,
    }


def _score_problems(key: str, row: Mapping[str, Sequence[float]], labels: Sequence[str]) -> list[str]:
    bare = [name for name, value in row.items() if isinstance(value, int | float)]
    if bare:
        return [f"{key}: the scores of {bare[0]!r} are one number: two finite logits are needed, yes then no"]
    problems = vector_problems(key, row, labels, "predicted")
    if not problems and not all(np.isfinite(float(yes) - float(no)) for yes, no in row.values()):
        problems = [f"{key}: two logits are too far apart to subtract"]
    return problems
