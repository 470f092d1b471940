"""`emotui score generation`, and such records brought into a store and out of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emotui.backends.base import Embed
from emotui.backends.host import ModelProcess
from emotui.metrics.eans import EANS
from tests.conftest import Emotui

TEXTS = (
    ("1", "joy", "I love this film so much.", "I saw this film.", "I beamed all through this film!"),
    ("2", "disgust", "There is a fly in my jam, yuck.", "There is a fly in my jam.", "A fly in my jam, how gross!"),
    ("3", "neutral", "The book has ten chapters.", "The book has ten chapters.", "There are ten chapters in the book."),
)


def record(model: str, at: int, **more: Any) -> dict[str, Any]:
    key, target, original, neutral, emotional = TEXTS[at]
    given = {"id": key, "model": model, "target": target, "original": original, "neutral": neutral}
    return given | {"emotional": emotional} | more


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


@pytest.fixture
def records(tmp_path: Path) -> Path:
    joy, other = ["joy"] * 3 + ["neutral"] * 2, ["neutral"] * 5
    return write(
        tmp_path / "r.jsonl",
        *(record("a", at, human=human) for at, human in enumerate((joy, ["Disgust"] * 5, other))),
        *(record("b", at, human=other, emotional=TEXTS[at][3]) for at in range(3)),
    )


def test_every_metric_without_a_bigger_model_and_null_with_a_note_for_the_rest(emotui: Emotui, records: Path) -> None:
    got = emotui("score", "generation", "--records", records, "--json", "--per-sample").document
    a, b = got["models"]["a"], got["models"]["b"]
    assert (got["n"], a["n"], b["n"]) == (6, 3, 3)
    assert a["eas"] is a["ppl"] is None
    assert "--eas-model" in got["notes"]["eas"]
    assert "--ppl-model" in got["notes"]["ppl"]
    assert "stand-in" in got["notes"]["eps"]
    assert a["eps_emotionless"] + a["eps_neutral"] + a["eps_emotional"] == pytest.approx(1)
    assert a["human_f1"] == pytest.approx(1)
    assert a["agreement"] == pytest.approx((0.6 + 1 + 1) / 3)
    # Of b's three texts all are seen as neutral: precision 1/3, recall 1 for one of the three.
    assert b["human_f1"] == pytest.approx((2 * 1 / 4) / 3)
    assert a["recognition"]["embedded"]["accuracy"] == a["ers"]
    assert a["recognition"]["embedded"]["by_emotion"]["joy"]["support"] == 1
    one = got["correlations"]["r3_m"]
    assert one["n"] == 2
    assert one["ci"] is None
    assert got["texts"]["r3_m"]["n"] == 6
    # The six relations against plain Python over the same embeddings.
    with ModelProcess("embedded") as model:

        def embedded(text: str) -> np.ndarray:
            return np.asarray(model.ask([Embed(text)])[0], dtype=np.float64)

        for at, (_, target, original, neutral, emotional) in enumerate(TEXTS):
            s_o, s_n, s_t = map(embedded, (original, neutral, emotional))
            e_t, e_n = embedded(f"This text shows {target}."), embedded("This text shows neutral.")
            analogy = e_t - s_t + s_n
            pairs = {"r1": (s_n, s_t), "r2": (e_n, analogy), "r3": (s_o, s_t)}
            for name, (x, y) in pairs.items():
                sample = got["samples"][at]
                cosine = float(x @ y / np.sqrt((x @ x) * (y @ y)))
                assert sample[f"{name}_c"] == pytest.approx(cosine, abs=1e-5)
                assert sample[f"{name}_m"] == pytest.approx(float(np.abs(x - y).sum()), abs=1e-4)
    for name in EANS:
        assert a[name] == pytest.approx(np.mean([one[name] for one in got["samples"] if one["model"] == "a"]))


def test_without_raters_there_are_no_correlations(emotui: Emotui, tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", record("a", 0))
    got = emotui("score", "generation", "--records", path, "--json", "--eans", "printed").document
    assert got["correlations"] == {}
    assert "no record has labels" in got["notes"]["correlations"]
    assert "human_f1" not in got["models"]["a"]
    shown = emotui("score", "generation", "--records", path)
    assert "Models by metrics" in shown.out
    assert "emotionless" in shown.out


def test_a_failed_answer_matches_no_target_and_is_in_no_other_figure(emotui: Emotui, tmp_path: Path) -> None:
    failed = record("a", 0, neutral="", emotional="", failed=True)
    path = write(tmp_path / "r.jsonl", failed, record("a", 2))
    got = emotui("score", "generation", "--records", path, "--json").document["models"]["a"]
    assert (got["n"], got["silent"]) == (2, 1)
    assert got["ers"] <= 0.5
    assert got["recognition"]["embedded"]["by_emotion"]["joy"]["recall"] == 0
    assert got["words_emotional"] == 7
    only = write(tmp_path / "f.jsonl", failed)
    assert emotui("score", "generation", "--records", only, "--json").document["models"]["a"]["ers"] == 0
    assert emotui("score", "generation", "--records", only).status == 0


def test_a_target_that_the_classifier_does_not_know_asks_for_a_mapping(emotui: Emotui, tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", record("a", 2), record("a", 0, target="Schadenfreude"))
    got = emotui("score", "generation", "--records", path, "--json")
    assert got.status == 2
    assert got.err.startswith(f"{path}:2: 1 of a: embedded does not know the target 'Schadenfreude'")
    assert "--map-labels" in got.err
    mapping = tmp_path / "map.toml"
    mapping.write_text('amusement = "schadenfreude"\n', encoding="utf-8")
    got = emotui("score", "generation", "--records", path, "--map-labels", mapping, "--json").document
    assert got["models"]["a"]["recognition"]["embedded"]["images"]["amusement"] == "Schadenfreude"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"emotional": " "}, "`emotional` is empty"),
        ({"neutral": ""}, "`neutral` is empty"),
        ({"original": ""}, "`original` is empty"),
        ({"target": ""}, "`target` is empty"),
        ({"human": ["joy", ""]}, "a label in `human` is empty"),
    ],
)
def test_bad_records_are_told_by_their_line(emotui: Emotui, tmp_path: Path, more: dict[str, Any], why: str) -> None:
    path = write(tmp_path / "r.jsonl", record("a", 2), record("a", 0, **more))
    got = emotui("score", "generation", "--records", path, "--json")
    assert (got.status, got.err.strip()) == (2, f"{path}:2: {why}")
    twice = write(tmp_path / "t.jsonl", record("a", 0))
    got = emotui("score", "generation", "--records", twice, "--records", twice, "--json")
    assert got.status == 2
    assert "stands in another file too" in got.err


def test_records_become_a_dataset_with_its_models_beside_it_and_come_out_as_they_were(
    emotui: Emotui, records: Path, tmp_path: Path
) -> None:
    db, out = tmp_path / "x.duckdb", tmp_path / "out.jsonl"
    assert emotui("import", records, "--db", db, "--json").document["n"] == 3
    again = emotui("import", "generation", records, "--db", db, "--json").document
    assert (again["task"], again["dataset"]) == ("generation", "r")
    sources = emotui("sources", "r", "--db", db).out
    assert "a " in sources
    assert "b " in sources
    emotui("export", "a", "--to", out, "--db", db)
    wanted = [json.loads(line) for line in records.read_text().splitlines()][:3]
    wanted[1]["human"] = ["disgust"] * 5
    assert [json.loads(line) for line in out.read_text().splitlines()] == wanted
    other = write(tmp_path / "o.jsonl", record("a", 0), record("b", 0, original="Another."))
    got = emotui("import", other, "--db", db)
    assert got.status == 2
    assert got.err.startswith(f"{other}:2: 1 of b: another original")
