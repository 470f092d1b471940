"""`emotui ratings kept`: what was rated in the workbench, as of a crowd platform's table, and as files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from emotui.store.store import Store
from emotui.workbench.generation.rating import Answer, begin
from emotui.workbench.generation.rating_batches import RatingOptions
from tests.screens.generate.workspace import workspace


def test_ratings_made_here_are_told_and_written_and_stand_in_an_exported_run(
    emotui: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    workspace(path)
    assert emotui("ratings", "kept", "trains", "--db", path).status == 2
    store = Store.open(path)
    dataset = store.datasets.all()[0].dataset
    one = begin(store, dataset, "eve", RatingOptions(which="neutral", checks=0.0))
    one.keep([Answer(at + 1, at, "neutral", 2.0) for at in range(len(one.texts))])
    done = emotui("ratings", "kept", "trains", "--to", tmp_path / "kept.csv", "--json", "--db", path)
    document = json.loads(done.out)
    assert (document["raters"], document["ratings"], document["set_aside"]) == (1, 6, [])
    rows = (tmp_path / "kept.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].split(",")[:3] == ["item", "rater", "label"]
    assert sorted(row.split(",")[0] for row in rows[1:]) == [
        f"{writer}/t-{at}/neutral" for writer in ("ann", "bob") for at in (4, 5, 6)
    ]
    assert (
        emotui("ratings", "kept", "trains", "--as", "records", "--to", tmp_path / "r.jsonl", "--db", path).status == 0
    )
    records = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    of_ann = {one["id"]: one for one in records if one["model"] == "ann"}
    assert of_ann["t-4"]["human_neutral"] == ["neutral"]
    run = next(run.run for run in store.runs.all(dataset) if run.model == "ann")
    assert emotui("export", run, "--to", tmp_path / "run.jsonl", "--db", path).status == 0
    exported = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {one["id"]: one.get("human_neutral", []) for one in exported} == {
        key: one.get("human_neutral", []) for key, one in of_ann.items()
    }
