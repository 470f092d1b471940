"""Records whose every string would act on a terminal, were it printed as it is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Emotui

H = "a\x1b]52;c;ZXZpbA==\x07b\x9b31mc\u202ed\u2066e[/][bold]f\tg"
"""Writes the clipboard, sets a colour, turns the direction of writing, and is no markup."""

FORGED = "forged line"
H += f"\n{FORGED}\n"

FILE = H.replace("/", "")
"""As a name of a file."""

LONG = H + "x" * 300

RECORDS: dict[str, list[dict[str, object]]] = {
    "spans": [
        {
            "id": f"{H}{n}",
            "text": f"I was {H} glad.",
            "spans": [[0, 5, H]],
            "emotion": H,
            "valence": H,
            "sentences": [{"start": 0, "end": 5, "emotion": H, "valence": H}],
            "meta": {H: H},
            "annotators": {H: [[0, 3]]},
        }
        for n in range(2)
    ],
    "pspans": [{"id": f"{H}{n}", "spans": [H, [0, 5, H]]} for n in range(2)],
    "class": [{"id": f"{H}{n}", "text": f"I was {H} glad.", "label": f"{H}{n}"} for n in range(2)],
    "pclass": [{"id": f"{H}{n}", "label": f"{H}{n + 1}"} for n in range(2)],
    "labels": [{"id": f"{H}{n}", "text": H, "labels": {H: n}} for n in range(2)],
    "plabels": [{"id": f"{H}{n}", "labels": {H: 0.7}} for n in range(2)],
    "scenes": [{"id": f"{H}{n}", "text": H, "subject": H, "labels": {H: n, f"{H}2": 0}} for n in range(2)],
    "pscenes": [{"id": f"{H}{n}", "scores": {H: [1.0, 2.0], f"{H}2": [1.0, 2.0]}} for n in range(2)],
    "values": [{"id": f"{H}{n}", "text": H, "values": {H: n}} for n in range(3)],
    "masked": [{"id": f"{H}{n}", "text": f"I <mask> {H}", "labels": [H]} for n in range(2)],
    "generation": [
        {
            "id": f"{H}{n}",
            "model": H,
            "target": H,
            "original": f"I was {H} glad.",
            "neutral": H,
            "emotional": f"So glad {H}!",
        }
        for n in range(2)
    ],
    "posts": [{"id": H, "text": f"I feel sad {H}."}],
    "chains": [
        {
            "id": f"{H}{n}",
            "text": H,
            "label": H,
            "annotator": H,
            "predicted": H,
            "attempts": [{"text": f"{H}{n}", "predicted": H, "confidence": 0.5}],
        }
        for n in range(2)
    ],
    "ratings": [{"item": f"{H}{n}", "rater": f"{H}{r}", "label": f"{H}{n * r}"} for n in range(3) for r in range(2)],
    "scores": [{"id": f"{H}{n}", "score": 0.5 * n, "group": H} for n in range(3)],
    "bad": [{H: H}, {"id": H, "text": H, "spans": [[9, 1, H]]}, {"id": H, "label": [H]}],
}


PLACES = ("1", "v", "2", "3", "4", "v", "5", "6", "v", "v", "v", "i", "7", "8", "9", "1", *"QfrdLRem", "ctrl+p")
"""Keys to every place of the workbench, and to the sheets that hold data; each is left by Esc."""


def bring_in(emotui: "Emotui", store: str) -> None:
    """Samples of every task that the workbench shows, and a source over some of them."""
    for kind in ("spans", "labels", "scenes", "values", "masked", "generation"):
        done = emotui("import", f"{kind}.jsonl", "--as", kind, "--name", f"{kind} {H}", "--db", store)
        assert done.status == 0, done.err
    assert emotui("rephrasings", "import", "chains.jsonl", "--name", f"chains {H}", "--db", store).status == 0
    said = ("import", "predictions", "pspans.jsonl", "--dataset", f"spans {H}", "--source", f"file {H}", "--no-sim")
    assert emotui(*said, "--db", store).status == 0


def write_files(folder: Path) -> None:
    """A file of each kind of records, a table, names of labels, and a file of prompts."""
    for name, records in RECORDS.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    (folder / f"{FILE}.csv").write_text(f"id,text,{H}\n{H},{H},{H}\n", encoding="utf-8")
    (folder / "ratings.csv").write_text(f"item,rater,label\n{H}0,{H},{H}\n{H}/{H}1,{H}2,{H}\n", encoding="utf-8")
    (folder / "names.txt").write_text(f"{H}\n{H}2\n", encoding="utf-8")
    (folder / "prompt.toml").write_text(f"[{json.dumps(H)}]\n{json.dumps(H)} = {json.dumps(H)}\n", encoding="utf-8")
