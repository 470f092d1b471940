"""A workspace with several runs of several models and settings, for the tests of results on the screen."""

from pathlib import Path

import msgspec

from emotui.records import SpanSample
from emotui.workbench.datasets.samples import add_experiment
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import add_run, make_workspace, sample_records
from tests.templates import copy_of

QWEN = "hf:Qwen/Qwen3-1.7B"


def records(*, annotated: bool) -> list[SpanSample]:
    """Sample data, with its annotators or without any."""
    found = sample_records()
    return found if annotated else [msgspec.structs.replace(sample, annotators={}) for sample in found]


def several_runs(path: Path, *, annotated: bool = False, experiment: bool = False) -> Workspace:
    """`rule` without a prompt; a model asked twice, with repeats; and, if asked for, a run of an experiment."""
    key = "several runs", annotated, experiment
    copy_of(path, key, lambda template: make_several_runs(template, annotated=annotated, experiment=experiment))
    return Workspace.open(path)


def make_several_runs(path: Path, *, annotated: bool, experiment: bool = False) -> Workspace:
    """The same from the ground up."""
    samples = records(annotated=annotated)
    source = make_workspace(path, samples)
    dataset = source.datasets()[0]
    add_run(source.store, dataset, samples, name="base-1", model=QWEN, way="retrieve", shift=4, repeats=3)
    add_run(source.store, dataset, samples, name="cot-1", model=QWEN, way="retrieve-cot", shift=1, repeats=3)
    if experiment:
        made = add_experiment(source.store, 0)
        texts = [
            msgspec.json.decode(record, type=SpanSample) for _, record in source.store.samples.of_dataset(made.dataset)
        ]
        add_run(source.store, made, texts, name="exp-1", model=QWEN, way="experiment-0")
    return source
