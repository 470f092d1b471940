"""The priors over label vectors that a person can choose, by name."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from emotui.metrics.ising import Ising, couplings_only, dependence_only, fit_exact, fit_paper

PRIORS: dict[str, Callable[[ArrayLike, float], Ising]] = {
    "paper": fit_paper,
    "exact": lambda labels, _: fit_exact(labels),
    "exact-smoothed": fit_exact,
    "paper-couplings": lambda labels, smoothing: couplings_only(fit_paper(labels, smoothing)),
    "exact-couplings": lambda labels, _: couplings_only(fit_exact(labels)),
    "exact-dependence": lambda labels, smoothing: dependence_only(fit_exact(labels, smoothing)),
}
"""How a prior is fitted to gold vectors (n, k) with a smoothing, by name. `exact` matches the data as it is, so the
smoothing does not touch it; `exact-smoothed` and `exact-dependence` match the smoothed marginals."""


def fit_prior(labels: ArrayLike, prior: str, smoothing: float) -> Ising:
    """The prior of this name.

    Raises:
        ValueError: a name that is not in `PRIORS`, or as `fit_paper`, `fit_exact`.
    """
    if prior not in PRIORS:
        raise ValueError(f"no prior is called {prior!r}: choose from {', '.join(PRIORS)}")
    return PRIORS[prior](labels, smoothing)
