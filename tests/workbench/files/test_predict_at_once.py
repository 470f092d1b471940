"""`predict` with the embedded model: as many processes as there are cores, and the same answers."""

import json
from pathlib import Path

import pytest

from emotui.backends.host import ModelProcess
from emotui.workbench.files import predict as predicting
from tests.conftest import Emotui

WORDS = ("sad", "glad", "afraid", "angry", "proud", "sorry", "calm", "lost")


def answers(emotui: Emotui, texts: Path) -> tuple[list[dict[str, object]], str]:
    done = emotui("predict", "class", "--records", texts)
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()], done.err


def test_two_cores_answer_side_by_side_and_say_the_same_in_the_same_order(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tmp_path / "texts.jsonl"
    records = [{"id": str(n), "text": f"I was {WORDS[n % 8]} {'so ' * (n // 8)}today."} for n in range(40)]
    texts.write_text("".join(json.dumps(record) + "\n" for record in records))
    monkeypatch.setattr(predicting, "BATCH", 4)
    monkeypatch.setattr(predicting, "_cores", lambda: 1)
    alone, told = answers(emotui, texts)
    assert "processes" not in told
    asked: set[ModelProcess] = set()
    ask = ModelProcess.ask

    def noted(self: ModelProcess, *arguments: object, **more: object) -> object:
        asked.add(self)
        return ask(self, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ModelProcess, "ask", noted)
    monkeypatch.setattr(predicting, "_cores", lambda: 2)
    together, told = answers(emotui, texts)
    assert "embedded: 2 processes, as many as there are cores" in told
    assert len(asked) == 2
    assert [(one["id"], one["label"]) for one in together] == [(one["id"], one["label"]) for one in alone]
    for one, other in zip(together, alone, strict=True):
        assert one["probs"] == pytest.approx(other["probs"], abs=1e-5)


def test_few_texts_threads_and_other_models_have_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predicting, "_cores", lambda: 4)
    assert predicting._at_once("embedded", 10_000) == 4
    assert predicting._at_once("embedded", 600) == 2
    assert predicting._at_once("embedded", 255) == 1
    assert predicting._at_once("embedded#threads=2", 10_000) == 2
    assert predicting._at_once("embedded#threads=8", 10_000) == 1
    assert predicting._at_once("hf:somewhere", 10_000) == 1
