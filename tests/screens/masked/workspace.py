"""A small workspace of masked texts: a run that fills masks, and one whose prompts showed examples."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from emotui.records import MaskedGold
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.tasks.masked.examples import Example, ExampleFile, Examples, example_file
from emotui.tasks.registry import task_named
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs.scores import scored
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import SAMPLE_DATA

FILLS, WRITES = "fills-1", "writes-1"
LIKELIEST = (("happy", 0.5), ("proud", 0.2), ("scared", 0.1), ("tired", 0.05), ("calm", 0.01))


def texts(n: int = 12) -> list[MaskedGold]:
    """The first texts of this package's own data."""
    lines = (SAMPLE_DATA / "masked.jsonl").read_bytes().splitlines()[:n]
    return [msgspec.json.decode(line, type=MaskedGold) for line in lines]


def shown_about(samples: Sequence[MaskedGold], path: Path) -> ExampleFile:
    """A file in which each text is shown with the one before it, at a distance of its place in hundredths."""
    rows = [
        Examples(one.id, (Example(before.id, before.text or "", before.labels, round(place / 100, 2)),))
        for place, (before, one) in enumerate(zip([samples[-1], *samples], samples, strict=False))
    ]
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return example_file(str(path))


def add_masked_run(
    opened: Workspace, dataset: Dataset, run: str, raws: Sequence[str], way: str = "", **options: object
) -> Run:
    """A run with these raw answers, parsed, scored and committed as runs are."""
    store = opened.store
    by_number = {
        number: msgspec.json.decode(record, type=MaskedGold)
        for number, record in store.samples.of_dataset(dataset.dataset)
    }
    config: dict[str, object] = {"seed": 0, "repeats": 1, "way": way, "options": options, "pid": 0, "host": "elsewhere"}
    store.runs.start(run, run, "masked", run.partition("-")[0], dataset.dataset, config, len(raws))
    rows = [
        ResultRow(number, 0, 0, None, raw, None, 0.0, None, None) for number, raw in zip(by_number, raws, strict=False)
    ]
    store.results.commit(run, scored(task_named("masked"), way, rows, by_number, None))
    store.runs.set_state(run, "done")
    return store.runs.get(run)


def masked_workspace(folder: Path, n: int = 12) -> Workspace:
    """A workspace past its first start: `fills` says `happy` first everywhere, `writes` gold in every third text."""
    opened = Workspace.open(folder / "masked.duckdb")
    opened.set_setting(FIRST_START, "done")
    samples = texts(n)
    dataset = add_samples(opened.store, "masked", "masked", samples, "sample data")
    written = [
        msgspec.json.encode(one.labels if place % 3 == 2 else ["angry"] * len(one.labels)).decode()
        for place, one in enumerate(samples)
    ]
    file = shown_about(samples, folder / "examples.jsonl")
    add_masked_run(opened, dataset, WRITES, written, "few-shot-nearest", examples=msgspec.to_builtins(file))
    filled = [msgspec.json.encode([LIKELIEST] * len(one.labels)).decode() for one in samples]
    add_masked_run(opened, dataset, FILLS, filled)
    return opened
