"""Texts that came with labels, have numbers too, and of which files say spans and numbers."""

import json
from pathlib import Path

from tests.conftest import Emotui


def two_questions(emotui: Emotui, folder: Path) -> Path:
    """The workspace: a dataset `t` of labels and valence, with the sources `spans`, `numbers` and `near`.

    `numbers` is off by .1 in every second text, of kind b; `near` by .01 in all.
    """
    texts = [{"id": f"t{at}", "text": "so glad", "labels": ["joy"], "meta": {"kind": "ab"[at % 2]}} for at in range(40)]
    true = [at / 40 for at in range(40)]
    files = {
        "t": texts,
        "gold": [{"id": f"t{at}", "values": {"valence": value}} for at, value in enumerate(true)],
        "spans": [{"id": f"t{at}", "spans": [[3, 7]]} for at in range(40)],
        "numbers": [{"id": f"t{at}", "values": {"valence": value + (at % 2) / 10}} for at, value in enumerate(true)],
        "near": [{"id": f"t{at}", "values": {"valence": value + 0.01}} for at, value in enumerate(true)],
    }
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    db = folder / "w.duckdb"
    assert emotui("import", "t.jsonl", "--name", "t", "--db", db).status == 0
    assert emotui("import", "gold.jsonl", "--into", "t", "--db", db).status == 0
    for name in ("spans", "numbers", "near"):
        taken = ("import", "predictions", f"{name}.jsonl", "--dataset", "t", "--source", name, "--no-sim", "--db", db)
        done = emotui(*taken)
        if name == "spans":  # of which gold says nothing
            assert done.status == 2
            assert "--as spans takes it for what it says" in done.err
            done = emotui(*taken, "--as", "spans")
        assert done.status == 0, done.err
    return db
