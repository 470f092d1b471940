"""`emotui predict class` and `masked` with models that write: as the tasks ask, and ready for `emotui score`."""

import json
from pathlib import Path

import pytest

from emotui.backends.host import ModelProcess
from emotui.records import ClassGold
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.progress import RunOptions
from emotui.workbench.runs.run import run_task
from tests.conftest import Emotui
from tests.paths import CHECKOUT

HF = f"hf:{CHECKOUT / 'tests' / 'tiny' / 'model' / 'hf'}"
GGUF = f"gguf:{CHECKOUT / 'tests' / 'tiny' / 'model' / 'tiny-F16.gguf'}"
LABELS = ["joy", "sadness", "pure rage"]
TEXTS = [
    ClassGold(id="2", text="We danced until the lights went out.", label="joy"),
    ClassGold(id="1", text="Nobody came to the funeral.", label="sadness"),
    ClassGold(id="x", text="He broke it on purpose!", label="pure rage"),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "labels.txt").write_text("\n".join(LABELS))
    rows = [json.dumps({"id": one.id, "text": one.text, "label": one.label}) for one in TEXTS]
    (tmp_path / "texts.jsonl").write_text("\n".join(rows))
    masked = [
        {"id": "a", "text": "I felt <mask> all day.", "labels": ["sad"]},
        {"id": "b", "text": "First <mask>, then <mask>.", "labels": ["angry", "calm"]},
    ]
    (tmp_path / "masked.jsonl").write_text("\n".join(map(json.dumps, masked)))
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "way"), [(HF, None), (HF, "score"), (HF, "zs"), (HF, "fs"), (GGUF, None), (GGUF, "zs")]
)
def test_any_model_that_writes_or_scores_gives_labels_that_score_class_takes(
    emotui: Emotui, files: Path, spec: str, way: str | None
) -> None:
    if spec == GGUF:
        pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
    (files / "examples.jsonl").write_text('{"id": "e", "text": "I hum.", "label": "joy"}')
    how = ("--way", way) if way else ()
    more = ("--constrain",) if way in ("zs", "fs") else ()
    more += ("--examples", files / "examples.jsonl") if way == "fs" else ()
    asked = ("predict", "class", "--model", spec, "--records", files / "texts.jsonl", *how, *more)
    got = emotui(*asked, "--labels", files / "labels.txt", "--to", files / "p.jsonl", "--json").document
    assert [record["id"] for record in got["records"]] == ["2", "1", "x"]
    assert got["labels"] == LABELS
    for record in got["records"]:
        assert record["label"] in LABELS
        if way in (None, "score"):
            assert list(record["probs"]) == LABELS
            assert sum(record["probs"].values()) == pytest.approx(1)
            assert record["label"] == max(LABELS, key=lambda name: record["probs"][name])
        else:
            assert record["probs"] is None
    scored = emotui("score", "class", "--gold", files / "texts.jsonl", "--pred", files / "p.jsonl", "--json")
    assert scored.document["n"] == 3


def test_a_file_and_a_run_are_asked_and_answered_alike(emotui: Emotui, files: Path) -> None:
    asked = ("predict", "class", "--model", HF, "--records", files / "texts.jsonl", "--labels", files / "labels.txt")
    got = {record["id"]: record["probs"] for record in emotui(*asked, "--json").document["records"]}
    store = Store.open(files / "w.duckdb")
    with ModelProcess(HF) as model:
        run = run_task(
            store, model, add_samples(store, "rephrase", "t", TEXTS, "test"), RunOptions(options={"labels": LABELS})
        )
    kept = [json.loads(row.prediction or b"")["probs"] for row in store.results.of_run(run.run)]
    assert kept == [pytest.approx(got[one.id], abs=1e-4) for one in TEXTS]


@pytest.mark.parametrize("more", [(), ("--way", "cot"), ("--cot",), ("--constrain",)])
def test_a_model_that_writes_fills_masks_and_score_masked_takes_them(
    emotui: Emotui, files: Path, more: tuple[str, ...]
) -> None:
    asked = ("predict", "masked", "--model", HF, "--records", files / "masked.jsonl", "--max-tokens", 80, *more)
    done = emotui(*asked, "--to", files / "p.jsonl", "--json")
    records = done.document["records"]
    assert [record["id"] for record in records] == ["a", "b"]
    if more == ("--constrain",):
        assert [len(record["labels"]) for record in records] == [1, 2]
    empty = [record["id"] for record in records if not record["labels"]]
    assert (done.status, done.document["failed"]) == (1 if empty else 0, len(empty))
    assert all("there are no words in the answer: " in line for line in done.err.splitlines())
    scored = emotui("score", "masked", "--gold", files / "masked.jsonl", "--pred", files / "p.jsonl", "--json")
    assert scored.document["masks"] == 3


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("class", "--model", HF), "has no labels of its own: give them in a file, one a line, by --labels FILE"),
        (("class", "--model", HF, "--labels", "labels.txt", "--way", "xs"), "by rank, score, zs, fs, fs-r"),
        (("class", "--model", HF, "--labels", "labels.txt", "--retries", "2"), "retries"),
        (("class", "--model", HF, "--labels", "labels.txt", "--way", "fs"), "by --examples FILE"),
        (("class", "--labels", "labels.txt"), "embedded has no label 'pure rage'; it knows: "),
        (("class", "--temperature", "1"), "--temperature is not for classify"),
        (
            ("masked", "--labels", "labels.txt"),
            "--labels is for scenes, class, labels, values and evidence, not for masked",
        ),
        (("masked", "--constrain"), "embedded writes no text"),
        (("masked", "--model", HF, "--way", "cot", "--constrain"), "no grammar holds that"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(
    emotui: Emotui, files: Path, arguments: tuple[str, ...], why: str
) -> None:
    kind, *others = arguments
    done = emotui("predict", kind, "--records", "texts.jsonl", *others)
    assert (done.status, done.out) == (2, "")
    assert why in done.err
    assert len(done.err.splitlines()) == 1


def test_a_text_without_a_mask_is_told_by_its_line_and_the_others_are_asked(emotui: Emotui, files: Path) -> None:
    (files / "some.jsonl").write_text('{"id": 1, "text": "so <mask>"}\n{"id": 2, "text": "nothing"}\n')
    done = emotui("predict", "masked", "--records", "some.jsonl", "--json")
    assert done.status == 1
    assert done.err.strip() == "some.jsonl:2: there is no <mask> in the text"
    assert [len(record["labels"]) for record in done.document["records"]] == [1, 0]


def test_a_place_that_cannot_be_written_is_told_before_the_model_is_asked(emotui: Emotui, files: Path) -> None:
    records = files / "mine.jsonl"
    records.write_text('{"id": "1", "text": "so glad"}\n', encoding="utf-8")
    for target, why in (
        ("answers.doc", "the format goes by it"),
        ("nowhere/answers.jsonl", "there is no folder"),
        ("mine.jsonl", "mine.jsonl, which would be lost: name another file"),
    ):
        bad = emotui("predict", "class", "--model", "hf:nowhere", "--records", records, "--to", files / target)
        assert bad.status == 2
        assert why in bad.err
        assert bad.err.count("\n") == 1
    assert "so glad" in records.read_text("utf-8")
    assert [path.name for path in files.iterdir() if path.name.endswith(".part")] == []
