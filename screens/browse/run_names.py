"""Names of runs that stand beside each other: short, and never the same for two of them."""

from collections import Counter
from collections.abc import Sequence

from emotui.screens.widgets.cell_width import shown, width
from emotui.store.query import Run

_WAYS = {"retrieve": "ret", "highlight": "high", "retrieve-cot": "ret-cot", "highlight-cot": "high-cot"}


def run_names(runs: Sequence[Run], cells: int = 14) -> list[str]:
    """A name for each run, in at most so many cells where what tells them apart fits: model, task, way, number.

    Of a SPEC the last part is kept (`hf:Qwen/Qwen3-4B` is `Qwen3-4B`); the task is named where one model was asked
    several, the way where two runs of a task are of one model, the run's id where even that is the same.
    """
    models = [_model(run.model) for run in runs]
    asked = {model: {run.task for run, one in zip(runs, models, strict=True) if one == model} for model in models}
    models = [
        f"{model} {run.task}" if len(asked[model]) > 1 else model for run, model in zip(runs, models, strict=True)
    ]
    ways = [str(run.config.get("way") or "") for run in runs]
    pairs = list(zip(models, ways, strict=True))
    by_model, by_pair = Counter(models), Counter(pairs)
    names = []
    for run, (model, way) in zip(runs, pairs, strict=True):
        ends = [_WAYS.get(way, way)] if way and by_model[model] > 1 else []
        if by_pair[model, way] > 1:
            ends.append(run.run[-6:] if way else run.run)
        names.append(_joined(model, " ".join(ends), cells))
    return names


def names_by_run(runs: Sequence[Run], cells: int = 18) -> dict[str, str]:
    """The same by the ids of the runs."""
    return dict(zip((run.run for run in runs), run_names(runs, cells), strict=True))


def _model(spec: str) -> str:
    kind, _, rest = spec.partition(":")
    name = shown(rest.rstrip("/").rpartition("/")[2] or rest or kind)
    return name.split("@")[0].removesuffix(".gguf")


def _joined(model: str, end: str, cells: int) -> str:
    if not end:
        return model
    room = max(cells - width(end) - 1, 4)
    kept = model if width(model) <= room else model[: room - 1] + "…"
    return f"{kept} {end}"
