"""What writing a dataset with a source's answers, scores and marks takes, in each layout.

    python benchmarks/exports.py [--records 10000] [--layouts NAME,...] [--repeats 3]

A text has some 100 characters and two spans with labels; the source says one span of each. Prints one JSON document:
for each layout the seconds of the process in its own code (user time, the fastest of the repeats) to read the rows
out of the store and to write them, and the seconds that the system took, which are most where each text is a file.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

from readers import rows as made_rows

from emotui.collector import collect_seldom
from emotui.formats.layouts.layout import Layout
from emotui.formats.layouts.registry import LAYOUTS
from emotui.store.store import Store
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.runs.export_rows import PARTS, Sources, export_rows, found_sources, write_rows
from emotui.workbench.workspace import Workspace

ENDINGS = {"table": ".csv", "long": ".csv", "wide": ".csv", "xlsx": ".xlsx", "parquet": ".parquet"}


def filled(folder: Path, count: int) -> tuple[Store, Sources]:
    """A store with a dataset and what a source says of it."""
    lines = [
        json.dumps(row | {"spans": [[s["start"], s["end"], s["label"]] for s in row["spans"]]})
        for row in made_rows(count)
    ]
    (folder / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    workspace = Workspace.open(folder / "w.duckdb")
    dataset = workspace.import_files([str(folder / "texts.jsonl")], "texts")
    said = [
        Said(number, 0, {"spans": [json.loads(line)["spans"][0]]})
        for (number, _), line in zip(workspace.store.samples.of_dataset(dataset.dataset), lines, strict=True)
    ]
    keep_said(workspace.store, dataset, "theirs", FILE, said, sim=False)
    return workspace.store, found_sources(workspace.store, ["texts", "theirs"])


def timed(store: Store, sources: Sources, layout: Layout, repeats: int) -> dict[str, float]:
    """Seconds: to read the rows, to write them, and of the system."""
    goes = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            begun = os.times()
            rows = export_rows(store, sources, PARTS)
            read = os.times()
            write_rows(f"{folder}/x{ENDINGS.get(layout.name, '')}", layout, rows)
            written = os.times()
        goes.append((read.user - begun.user, written.user - read.user, written.system - begun.system))
    best = min(goes, key=lambda go: go[0] + go[1])
    return dict(zip(("read", "write", "system"), (round(one, 2) for one in best), strict=True))


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--layouts", help="names, with commas between them (all that can be written)")
    asked = parser.parse_args()
    collect_seldom()
    writing = [layout for layout in LAYOUTS if layout.write is not None and layout.name != "goemotions"]
    names = asked.layouts.split(",") if asked.layouts else [layout.name for layout in writing]
    with tempfile.TemporaryDirectory() as folder:
        store, sources = filled(Path(folder), asked.records)
        figures = {
            layout.name: timed(store, sources, layout, asked.repeats) for layout in writing if layout.name in names
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
