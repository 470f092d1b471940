"""The command line that makes a run."""

import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from emotui.store.query import Dataset, Run
from emotui.workbench.datasets.samples import experiment_of
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.run_file import portable

_FLAGS = ("temperature", "top_p", "max_tokens", "retries")
_IN_FILES = {
    "prompts": "--prompts FILE",
    "examples": "--examples FILE",
    "labels": "--labels FILE",
}
"""Settings that a command takes from files, and how."""


def limit_of(run: Run, dataset: Dataset) -> int | None:
    """The first so many samples that a run was asked about; None: all of them."""
    n = run.n // max(1, msgspec.convert(run.config, RunConfig).repeats)
    return n if n < dataset.n else None


def command_of(run: Run, dataset: Dataset, *, private: bool = True, fresh: bool = False) -> str:
    """`emotui run ...` with all that a command line can say of a run; `kept_settings` says what it cannot.

    Args:
        private: whether folders and addresses of this machine may stand in it.
        fresh: compute again what the store already holds.
    """
    config = msgspec.convert(run.config, RunConfig)
    spec = run.model if private else portable(run.model)
    words = ["emotui", "run", run.task, "--model", spec]
    experiment = experiment_of(dataset)
    words += ["--dataset", dataset.name] if experiment is None else ["--experiment", str(experiment)]
    if (limit := limit_of(run, dataset)) is not None:
        words += ["--limit", str(limit)]
    words += ["--repeats", str(config.repeats), "--seed", str(config.seed)]
    if config.way and experiment is None:
        words += ["--way", config.way]
    for name in _FLAGS:
        if name in config.options:
            words += [f"--{name.replace('_', '-')}", str(config.options[name])]
    if config.options.get("constrain"):
        words.append("--constrain")
    if fresh:
        words.append("--fresh")
    return shlex.join(words)


def kept_settings(options: Mapping[str, Any]) -> list[str]:
    """The settings of a run that are kept with it and that a command line takes from a file."""
    return [_IN_FILES.get(name, name) for name in options if name not in (*_FLAGS, "constrain")]
