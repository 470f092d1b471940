"""How fast each layout reads and writes: the same rows written by it, then read.

    python benchmarks/readers.py [--records 100000] [--layouts NAME,...] [--repeats 3]

A row has a text of some 100 characters, 21 words and signs, one in four with an emoji ahead of its spans, and two spans
with labels. Layouts with a file a text are given fewer rows. Times are those of the processor, the fastest of the
repeats, reading and writing apart, as what else runs on the machine only adds to them. Prints one JSON document and
exits 1 where 100,000 records would take a text format 10 s or more.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from emotui.collector import collect_seldom
from emotui.formats.layouts.layout import Layout, ReadOptions
from emotui.formats.layouts.registry import LAYOUTS
from emotui.formats.rows import Flaw

GOAL_SECONDS = 10.0
GOAL_RECORDS = 100_000
FOLDERS = {"brat": 50, "cas-xmi": 50}
"""Layouts with a file a text, and by how much fewer they are given."""
ENDINGS = {
    "label-studio": ".json",
    "label-studio-min": ".json",
    "prodigy": ".jsonl",
    "doccano": ".jsonl",
    "conll": ".conll",
    "webanno": ".tsv",
    "brat": "",
    "cas-xmi": "",
    "jsonl": ".jsonl",
    "json": ".json",
    "table": ".csv",
    "long": ".csv",
    "wide": ".csv",
    "parquet": ".parquet",
    "datasets": "",
    "xlsx": ".xlsx",
    "text": ".txt",
    "goemotions": ".tsv",
}
LABELLED = {"wide", "goemotions"}
"""Layouts of labels: their rows have one of the whole text, and no spans."""
NOT_TEXT = {"datasets", "parquet", "xlsx"}


def rows(count: int) -> list[dict[str, Any]]:
    """Rows as the benchmark reads them."""
    made = []
    for number in range(count):
        lead = "😀 " if number % 4 == 0 else ""
        text = f"{lead}I was afraid of number {number}, then glad that it went away before the night came and we slept."
        fear, joy = text.index("afraid"), text.index("glad")
        spans = [{"start": fear, "end": fear + 6, "label": "fear"}, {"start": joy, "end": joy + 4, "label": "joy"}]
        made.append({"id": str(number), "text": text, "spans": spans})
    return made


def given(layout: Layout, made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many of the rows as a layout is given, with what it holds."""
    some = made[:: FOLDERS.get(layout.name, 1)]
    if layout.name not in LABELLED:
        return some
    return [{"id": row["id"], "text": row["text"], "labels": [("joy", "fear")[n % 2]]} for n, row in enumerate(some)]


def timed(layout: Layout, rows: list[dict[str, Any]], repeats: int) -> dict[str, float | int]:
    """Records a second, read and written."""
    assert layout.write is not None
    writing, reading = [], []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            path = Path(folder) / f"x{repeat}{ENDINGS[layout.name]}"
            start = time.process_time()
            layout.write(path, rows)
            written = time.process_time()
            found = 0
            for _, row in layout.rows(path, ReadOptions()):
                assert not isinstance(row, Flaw), row
                found += 1
            reading.append(time.process_time() - written)
            writing.append(written - start)
            assert found == len(rows), (layout.name, found)
    per_record = min(reading) / len(rows)
    return {
        "records": len(rows),
        "read_per_second": round(1 / per_record),
        "written_per_second": round(len(rows) / min(writing)),
        "read_100000_seconds": round(per_record * GOAL_RECORDS, 2),
    }


def main() -> int:
    """Prints the figures; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=GOAL_RECORDS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--layouts", help="names, with commas between them (all that are written)")
    asked = parser.parse_args()
    collect_seldom()
    names = asked.layouts.split(",") if asked.layouts else list(ENDINGS)
    made = rows(asked.records)
    figures = {
        layout.name: timed(layout, given(layout, made), asked.repeats) for layout in LAYOUTS if layout.name in names
    }
    print(json.dumps(figures, indent=2))
    slow = [
        name for name, found in figures.items() if name not in NOT_TEXT and found["read_100000_seconds"] >= GOAL_SECONDS
    ]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
