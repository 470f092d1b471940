"""The spans task on the trained tiny model, from the command line to the figures: it really answers in the contract."""

import json
from pathlib import Path

import pytest

from emotui.store.store import Store
from tests.conftest import Emotui
from tests.paths import TINY
from tests.tiny.corpus import unseen

MODEL = TINY / "model"
PROMPTS = '[retrieve]\nuser = "Evidence: {text}"\n[highlight]\nuser = "Evidence: {text}"\n'
TEXTS = [(text, spans) for text, spans in unseen() if spans][:8]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Texts that the model has not seen in its training, with their evidence; the prompts lie beside the file."""
    (tmp_path / "prompts.toml").write_text(PROMPTS)
    path = tmp_path / "gold.jsonl"
    rows = [
        {"id": str(n), "text": text, "spans": [[text.index(s), text.index(s) + len(s)] for s in spans]}
        for n, (text, spans) in enumerate(TEXTS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("spec", [f"hf:{MODEL / 'hf'}", f"gguf:{MODEL / 'tiny-F16.gguf'}"])
def test_it_finds_the_evidence_of_texts_that_it_has_not_seen(emotui: Emotui, gold: Path, spec: str) -> None:
    if spec.startswith("gguf:"):
        pytest.importorskip("llama_cpp")
    options = ("--prompts", gold.parent / "prompts.toml", "--json")
    done = emotui("run", "spans", "--model", spec, "--dataset", gold, "--db", "w.duckdb", *options)
    assert done.status == 0, done.err
    figures = done.document["metrics"]
    assert (done.document["done"], figures["f1"], figures["hallucinated_spans"]) == (8, 1.0, 0)
    assert figures["answers"] | {"n": 8, "retries": 0, "failed_format": 0, "empty": 0} == figures["answers"]
    rows = list(Store.open(gold.parent / "w.duckdb").results.of_run(done.document["run"]))
    assert [row.raw for row in rows] == [" | ".join(spans) for _, spans in TEXTS]
    assert [row.prompt for row in rows] == [f"[user]\nEvidence: {text}" for text, _ in TEXTS]
    tables = emotui("results", "--db", "w.duckdb", "--table", "task-1", "--table", "asking", "--json").document[
        "tables"
    ]
    own = [{key: cell["value"] for key, cell in table["rows"][0]["cells"].items()} for table in tables]
    assert own[0] == {
        "retrieve/f1": 1.0,
        "retrieve/precision": 1.0,
        "retrieve/recall": 1.0,
        "retrieve/sim": pytest.approx(1),
    }
    assert own[1]["setting"] == "Retrieve (Base)"
    assert own[1] | {"questions": 8, "retries": 0, "failed_format": 0, "empty": 0} == own[1]
    assert emotui("report", done.document["run"], "--to", "r.md", "--db", "w.duckdb").status == 0
    assert "| 1.000<sup>a</sup> | 1.000<sup>a</sup> |" in (gold.parent / "r.md").read_text(encoding="utf-8")
    predicted = emotui("predict", "spans", "--model", spec, "--records", gold, *options, "--to", "p.jsonl")
    assert predicted.status == 0, predicted.err
    assert [record["output"] for record in predicted.document["records"]] == [row.raw for row in rows]
    scored = emotui("score", "spans", "--gold", gold, "--pred", "p.jsonl", "--no-sim", "--json").document
    assert scored["f1"] == 1.0


def test_an_answer_in_another_style_than_asked_is_tried_again_and_counted_as_broken(emotui: Emotui, gold: Path) -> None:
    arguments = ("--model", f"hf:{MODEL / 'hf'}", "--dataset", gold, "--db", "w.duckdb", "--limit", 2, "--retries", 1)
    prompts = ("--prompts", gold.parent / "prompts.toml", "--json")
    done = emotui("run", "spans", *arguments, *prompts, "--style", "highlight")
    figures = done.document["metrics"]
    assert (figures["f1"], figures["invalid_outputs"]) == (0.0, 2)
    assert figures["answers"]["failed_format_by_kind"] == {"the text was changed": 2}
    assert figures["answers"]["retries"] == 2
    refused = emotui("run", "spans", *arguments, *prompts, "--cot")
    assert (refused.status, refused.out) == (2, "")
    assert "your prompts have none for retrieve-cot: write a table [retrieve-cot]" in refused.err
