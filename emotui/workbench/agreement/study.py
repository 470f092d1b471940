"""An agreement study of a dataset: all figures of its kind, each source against itself, and the doubts about gold."""

from collections.abc import Sequence

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.metrics.alpha import LEVELS, Level
from emotui.store.store import Store
from emotui.workbench.agreement.documents import SPANS, VALUES, Agreement, Between, Itself, Measured
from emotui.workbench.agreement.doubts import estimate
from emotui.workbench.agreement.of_labels import measure_labels
from emotui.workbench.agreement.of_spans import measure_spans
from emotui.workbench.agreement.of_values import measure_values
from emotui.workbench.agreement.panel import Panel, read_panel

RESAMPLES = 1000
"""Of the bootstrap of every interval."""


def study(
    store: Store,
    dataset: str,
    sources: Sequence[str] | None = None,
    *,
    kind: str | None = None,
    levels: Sequence[Level] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    with_gamma: bool | None = None,
    check_gold: bool = True,
    cancelled: IsCancelled | None = None,
) -> Agreement:
    """How far sources of a dataset agree.

    Args:
        sources, kind: as for `read_panel`.
        levels: of Krippendorff's alpha. None: nominal for labels, interval for numbers. Spans have their own alpha.
        resamples: 0: no intervals.
        with_gamma: None: of spans of few sources (`emotui.workbench.agreement.of_spans`).
        check_gold: whether sources are estimated by Dawid and Skene, and gold is doubted.

    Raises:
        BadInput: as `read_panel`; a level that there is not, or that the answers do not have.
        Cancelled: by `cancelled`.
    """
    panel = read_panel(store, dataset, sources, kind=kind, cancelled=cancelled)
    if levels is not None and panel.kind == SPANS:
        raise BadInput("--levels is for labels and numbers: spans have unitizing alpha")
    if levels and (strange := [level for level in levels if level not in LEVELS]):
        raise BadInput(f"there is no level {strange[0]!r}; there are: {', '.join(LEVELS)}")
    measured, by_label, pairs, notes = _measure(panel, levels, resamples, seed, with_gamma, cancelled)
    itself = [_against_itself(panel, name, levels, resamples, seed) for name in panel.again]
    found, doubts, more = estimate(panel, cancelled=cancelled) if check_gold else (None, [], {})
    return Agreement(
        panel.dataset.name,
        panel.kind,
        panel.counts,
        len(panel.shared()),
        measured,
        by_label,
        pairs,
        itself,
        found,
        doubts,
        {**panel.notes, **notes, **more},
        resamples,
        seed,
    )


def _measure(
    panel: Panel,
    levels: Sequence[Level] | None,
    resamples: int,
    seed: int,
    with_gamma: bool | None,
    cancelled: IsCancelled | None = None,
) -> tuple[list[Measured], dict[str, list[Measured]], list[Between], dict[str, str]]:
    if panel.kind == SPANS:
        return measure_spans(panel, resamples=resamples, seed=seed, with_gamma=with_gamma, cancelled=cancelled)
    if panel.kind == VALUES:
        return measure_values(panel, levels=levels or ("interval",), resamples=resamples, seed=seed)
    return measure_labels(panel, levels=levels or ("nominal",), resamples=resamples, seed=seed, cancelled=cancelled)


def _against_itself(panel: Panel, name: str, levels: Sequence[Level] | None, resamples: int, seed: int) -> Itself:
    """Its first answer against its second; of numbers, alphas by name."""
    twice = panel.twice(name)
    measured, by_name, pairs, _ = _measure(twice, levels, resamples, seed, with_gamma=False)
    if panel.kind == VALUES:
        measured = [
            Measured(f"{value}.{one.name}", f"{value}: {one.title}", one.about, one.figure, one.behind)
            for value, figures in by_name.items()
            for one in figures
        ]
    elif panel.kind == SPANS:
        measured = [
            *measured,
            *(Measured(m.name, m.title, m.about, m.figure, pairs[0].behind) for m in pairs[0].measured),
        ]
    return Itself(name, len(twice.shared()), measured)
