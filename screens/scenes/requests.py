"""What Scenes asks the workbench for that is more than one call."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emotui.store.query import Run
    from emotui.workbench.results.published import Published
    from emotui.workbench.scenes.decoding import Redecoding, Tuning
    from emotui.workbench.scenes.service import SceneBench
    from emotui.workbench.source import BrowseSource

    Reports = tuple[Mapping[str, tuple[str, Mapping[str, Any]]], tuple[str, list[Published]]]
    """By run its name and report; and the published table with its citation."""

SETTING = "scenes"
"""The setting of a workspace that holds the prior."""


def fit(source: "BrowseSource", bench: "SceneBench", run: "Run", tuning: "Tuning | None") -> "Redecoding":
    """Fit the prior to the folds of a run; without `tuning` the one that the workspace remembers."""
    from emotui.workbench.scenes.service import tuning_from

    return bench.redecode(run, tuning or tuning_from(source.setting(SETTING)))


def read_reports(source: "BrowseSource", bench: "SceneBench", dataset: int) -> "Reports":
    """The figures of every run over a dataset, and the published ones."""
    from emotui.workbench.results.published import published_table

    runs = [run for run in source.runs(dataset) if run.task == "scenes"]
    reports = bench.by_emotion(runs)
    named = {run.run: (f"{run.model} {run.run[:4]}", reports[run.run]) for run in runs if run.run in reports}
    return named, published_table()
