"""Compare `generation_tables.json` with the paper's text, cell by cell.

    python -m tests.sample_data.check_generation_tables PAPER.txt [--write FILE]

The text has tables as lines with a tab between cells, each above its caption `Table N: ...`. `--write` makes the tables
of the data file anew from it; the notes are kept.
"""

import argparse
import json
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

MODELS = ("GPT-4.1", "LLaMA-3.3-70B", "LLaMA-3.1-8B", "Mistral-Nemo-12B", "GPT-4o-mini")
METRICS = [
    "eps_emotionless",
    "eps_neutral",
    "eps_emotional",
    "eas",
    "ers:GPT-5-nano",
    "ers:DeepSeek-v3.2",
    "ers:michellejieli",
    "r1_m",
    "r2_m",
    "r3_m",
    "r1_c",
    "r2_c",
    "r3_c",
]
BY_MODEL: dict[str, tuple[str, ...]] = {
    "4": ("ppl_neutral", "len_neutral", "ppl_emotional", "len_emotional"),
    "6": ("krippendorff_alpha", "fleiss_kappa"),
    "7": ("f1", "disappointment", "disgust", "confusion", "neutral", "contentment", "joy", "surprise"),
    "9": ("krippendorff_alpha", "fleiss_kappa"),
    "11": ("human_f1", *METRICS),
    "12": ("ers:GPT-5-nano", "ers:DeepSeek-v3.2"),
}
BY_EMOTION: dict[str, tuple[str, ...]] = {
    "8": tuple(f"{model}/{n}" for model in MODELS for n in ("277", "55")),
    "10": MODELS,
    "13": ("support", "precision", "recall", "f1"),
    "14": ("support", "precision", "recall", "f1"),
}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
Cells = dict[str, dict[str, float]]


def tables_of(paper: str) -> dict[str, Cells]:
    """Every table from 4 to 14: row to column to what is printed."""
    lines = [re.sub(r"</?b>", "", line) for line in paper.splitlines()]
    found: dict[str, Cells] = {}
    for number in map(str, range(4, 15)):
        end = next(at for at, line in enumerate(lines) if line.startswith(f"Table {number}: "))
        rows: list[list[str]] = []
        at = end - 1
        while not lines[at].strip() or "\t" in lines[at]:
            if lines[at].strip():
                rows.insert(0, [cell.strip() for cell in lines[at].split("\t")])
            at -= 1
        found[number] = _read(number, rows)
    return found


def _read(number: str, rows: list[list[str]]) -> dict[str, dict[str, float]]:
    if number == "5":
        printed = [float(row[2]) for row in rows[1:]]
        # The same order as Table 11's columns.
        return {name: {"pearson": value} for name, value in zip(METRICS, printed, strict=True)}
    columns = BY_MODEL.get(number) or BY_EMOTION[number]
    cells: dict[str, dict[str, float]] = {}
    for row in rows:
        values = [float(cell) for cell in row[1:] if NUMBER.fullmatch(cell)]
        if not values or not row[0]:
            continue
        name = row[0] if number in BY_MODEL else row[0].lower()
        if name == "accuracy":
            cells[name] = dict(zip(("support", "accuracy"), values, strict=True))
        else:
            cells[name] = dict(zip(columns, values, strict=True))
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", type=Path)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    printed = tables_of(given.paper.read_text(encoding="utf-8"))
    if given.write is not None:
        document: dict[str, Any] = json.loads(given.write.read_text(encoding="utf-8"))
        document["tables"] = printed
        given.write.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    kept = json.loads((files("emotui.sample_data.published") / "generation_tables.json").read_bytes())["tables"]
    cells = [(table, row, column) for table, rows in printed.items() for row, line in rows.items() for column in line]
    wrong = [cell for cell in cells if kept.get(cell[0], {}).get(cell[1], {}).get(cell[2]) != _at(printed, cell)]
    extra = sum(len(line) for rows in kept.values() for line in rows.values()) - len(cells)
    print(f"{len(cells)} cells of {len(printed)} tables: {len(wrong)} differ, {extra} more in the data")
    for cell in wrong:
        print(*cell)
    sys.exit(bool(wrong or extra))


def _at(tables: dict[str, Cells], cell: tuple[str, str, str]) -> float:
    return tables[cell[0]][cell[1]][cell[2]]


if __name__ == "__main__":
    main()
