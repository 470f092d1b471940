"""What Scenes asks the workbench for, each question answered in a thread of its desk."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from emotui.screens.requests import LatestRequest

if TYPE_CHECKING:
    from textual.widget import Widget

    from emotui.store.query import Run
    from emotui.workbench.scenes.decoding import Decoded, Redecoding, Tuning
    from emotui.workbench.scenes.service import SceneBench
    from emotui.workbench.source import BrowseSource

SETTING = "scenes"
"""The setting of a workspace that holds the prior."""


def desks(
    owner: "Widget", source: "BrowseSource", bench: "Callable[[], SceneBench]"
) -> dict[str, LatestRequest[Any, Any]]:
    """A desk for each kind of question, by name; the answers go to `owner`."""

    def fit(question: "tuple[Run, Tuning | None]") -> "Redecoding":
        from emotui.workbench.scenes.service import tuning_from

        run, tuning = question
        return bench().redecode(run, tuning or tuning_from(source.setting(SETTING)))

    def read_runs(question: tuple[int, str]) -> object:
        from emotui.workbench.results.published import published_table

        runs = [run for run in source.runs(question[0]) if run.task == "scenes"]
        reports = bench().by_emotion(runs)
        named = {run.run: (f"{run.model} {run.run[:4]}", reports[run.run]) for run in runs if run.run in reports}
        return named, published_table()

    return {
        "scene": LatestRequest("scene", owner, lambda sample: bench().scene(sample)),
        "fit": LatestRequest("fit", owner, fit),
        "decode": LatestRequest("decode", owner, lambda question: _decode(*question)),
        "sweep": LatestRequest("sweep", owner, lambda redecoding: (redecoding, redecoding.sweep())),
        "choose": LatestRequest("choose", owner, lambda redecoding: (redecoding, redecoding.choose())),
        "choose-prior": LatestRequest(
            "choose-prior", owner, lambda redecoding: (redecoding, redecoding.choose_prior())
        ),
        "runs": LatestRequest("scene-runs", owner, read_runs),
        "export": LatestRequest("scene-export", owner, lambda question: bench().export(*question)),
        "setting": LatestRequest("scene-setting", owner, lambda value: source.set_setting(SETTING, value)),
    }


def _decode(redecoding: "Redecoding", alpha: float, other: float) -> "tuple[Redecoding, Decoded]":
    return redecoding, redecoding.decoded(alpha, other)
