"""`emotui masked study`: begun, sheets out and in, results and export, a line where something is wrong."""

import csv
import json
from pathlib import Path

from tests.conftest import Emotui
from tests.screens.masked.workspace import WRITES, masked_workspace


def test_a_study_goes_from_sources_to_results_by_command(emotui: Emotui, tmp_path: Path) -> None:
    masked_workspace(tmp_path)
    db, sheet = ("--db", tmp_path / "masked.duckdb"), tmp_path / "ada.csv"
    begun = emotui("masked", "study", "begin", "pilot", "--b", WRITES, "--n", "4", *db, "--json")
    assert (begun.status, json.loads(begun.out)["texts"]) == (0, 4)
    assert emotui("masked", "study", "begin", "pilot", "--b", WRITES, *db).status == 2
    for coder, answer in (("Ada", "first"), ("Ben", "both")):
        assert emotui("masked", "study", "sheet", "pilot", "--coder", coder, "--to", sheet, *db).status == 0
        rows = list(csv.DictReader(sheet.read_text("utf-8").splitlines()))
        with sheet.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows({**row, "answer": answer} for row in rows)
        taken = emotui("masked", "study", "take", "pilot", sheet, "--coder", coder, *db)
        assert "4 answers taken" in taken.out
    listed = json.loads(emotui("masked", "study", "list", *db, "--json").out)
    assert listed["studies"] == [{"study": "pilot", "texts": 4, "coders": {"Ada": 4, "Ben": 4}}]
    document = json.loads(emotui("masked", "study", "results", "pilot", *db, "--json").out)
    assert document["majority"]["all_differ"]["n"] == 4
    printed = emotui("masked", "study", "results", "pilot", *db).out
    assert "paper" in printed
    assert "277" in printed
    out = tmp_path / "all.csv"
    assert emotui("masked", "study", "export", "pilot", "--to", out, *db).status == 0
    assert len(out.read_text("utf-8").splitlines()) == 9
    sheet.write_text("number,first,second,answer\n9,a,b,first\n", "utf-8")
    wrong = emotui("masked", "study", "take", "pilot", sheet, "--coder", "Ada", *db)
    assert (wrong.status, wrong.err.startswith(f"{sheet}:2: ")) == (2, True)
    assert len(json.loads(emotui("masked", "study", "codes", "--json").out)["codes"]) == 11
