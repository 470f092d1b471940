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
        assert emotui("masked", "study", "sheet", "pilot", "--coder", coder, "--to", sheet, "--force", *db).status == 0
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


POSTS = [("p1", "sad"), ("p2", "happy"), ("p3", "angry")]


def posts(emotui: Emotui, tmp_path: Path) -> None:
    lines = [json.dumps({"id": key, "text": "I feel <mask>.", "labels": [word]}) for key, word in POSTS]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    assert emotui("import", "masked", "d.jsonl", "--name", "d", "--db", "w.duckdb").status == 0


def imported(emotui: Emotui, *sheets: str) -> tuple[int, str, str]:
    named = [part for sheet in sheets for part in ("--sheet", sheet)]
    asked = ("masked", "study", "import", "done", "--dataset", "d", "--a", "SD", "--b", "LLM", "--db", "w.duckdb")
    done = emotui(*asked, *named)
    return done.status, done.out, done.err


def test_a_finished_study_comes_from_coders_sheets_with_stray_codes_told_and_kept_apart(
    emotui: Emotui, tmp_path: Path
) -> None:
    posts(emotui, tmp_path)
    sheet = "id,b_words,verdict,codes\np1,glum,{},3\np2,glad,{},{}\np3,cross,{},\n"
    (tmp_path / "ada.csv").write_text(sheet.format("SD", "glad", '"3,99"', "both"))
    (tmp_path / "ben.csv").write_text(sheet.format("a", "LLM", "11", ""))
    status, out, err = imported(emotui, "Ada=ada.csv", "Ben=ben.csv")
    assert status == 0, err
    assert "3 texts" in out
    assert err.splitlines() == [
        "ada.csv:3: code 99: not in the codebook, or not for this verdict: kept apart",
        "ben.csv:3: code 11: not in the codebook, or not for this verdict: kept apart",
    ]
    told = emotui("masked", "study", "results", "done", "--db", "w.duckdb", "--json").document
    assert (told["n"], told["complete"], told["pairable"]) == (3, 2, 2)
    assert (told["majority"]["a"]["n"], told["majority"]["b"]["n"]) == (1, 1)
    assert told["stray"] == {"11": 1, "99": 1}
    assert told["totals"] == {"a": 2, "b": 1, "both": 0, "neither": 0}
    assert told["fleiss_kappa"] == 1
    # Both pairs agree; the mean shares over three posts are a, b and both, a third each.
    assert told["fleiss_kappa_all"] == 1
    assert told["coders"]["Ada"]["first_preferred"] is None
    assert "codes kept apart: 11 1, 99 1" in emotui("masked", "study", "results", "done", "--db", "w.duckdb").out


def test_one_table_with_a_column_a_coder_and_one_with_a_row_a_coder_say_the_same(
    emotui: Emotui, tmp_path: Path
) -> None:
    posts(emotui, tmp_path)
    (tmp_path / "wide.csv").write_text("id,b_words,Ada,Ada codes,Ben,Ben codes\np1,glum,a,3,b,\np2,glad,b,,b,4\n")
    assert imported(emotui, "wide.csv")[0] == 0
    told = emotui("masked", "study", "results", "done", "--db", "w.duckdb", "--json").document
    assert emotui("masked", "study", "export", "done", "--to", "out.csv", "--db", "w.duckdb").status == 0
    posts_again = ("masked", "study", "import", "again", "--dataset", "d", "--sheet", "out.csv", "--db", "w.duckdb")
    assert emotui(*posts_again, "--a", "SD", "--b", "LLM").status == 0
    again = emotui("masked", "study", "results", "again", "--db", "w.duckdb", "--json").document
    for name in ("majority", "fleiss_kappa", "fleiss_kappa_all", "codes", "n"):
        assert again[name] == told[name]


def test_what_is_wrong_in_a_sheet_is_told_with_its_line_and_nothing_is_kept(emotui: Emotui, tmp_path: Path) -> None:
    posts(emotui, tmp_path)
    (tmp_path / "ada.csv").write_text("id,b_words,verdict\np1,glum,perhaps\np9,glum,a\np1,gloomy,a\n")
    status, _, err = imported(emotui, "Ada=ada.csv")
    assert (status, err.splitlines()) == (
        2,
        [
            "ada.csv:2: perhaps is none of a, b, both, neither, SD, LLM, and neither word",
            "ada.csv:3: d has no text p9",
            "ada.csv:4: the words of p1 are others than in a row before",
        ],
    )
    (tmp_path / "bare.csv").write_text("post,choice\np1,a\n")
    assert imported(emotui, "Ada=bare.csv")[2].startswith("bare.csv:1: a coder's sheet has the columns id, b_words")
    assert "no study yet" in emotui("masked", "study", "list", "--db", "w.duckdb").out
