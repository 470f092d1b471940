"""The figures of the embedded model's card come out again, and the whole training runs from data to answers."""

import json
import os
import re
from pathlib import Path

import pytest

from emotui.backends.base import Classify, Extract
from emotui.backends.embedded.backend import GOEMOTIONS, EmbeddedBackend
from emotui.backends.embedded.base_files import base_files
from emotui.backends.embedded.weights import Weights, committed_weights
from emotui.errors import BadInput, EmotuiError
from emotui.records import PLUTCHIK
from tools.embedded import evaluation
from tools.embedded.train import train

pytestmark = pytest.mark.slow


def card_figures() -> dict[str, float]:
    text = (committed_weights() / "MODEL_CARD.md").read_text(encoding="utf-8")
    return {name: float(value) for name, value in re.findall(r"^\| ([^|]+: [^|]+) \| (\d[\d.]*) \|$", text, re.M)}


def test_every_figure_of_the_card_comes_out_again_within_five_thousandths() -> None:
    data = os.environ.get("EMOTUI_DATA")
    if data is None:
        pytest.skip("EMOTUI_DATA does not name the folder of the open data (its README says where it is from)")
    found = dict(evaluation.rows(evaluation.evaluate(Path(data))))
    published = card_figures()
    assert published.keys() == found.keys()
    assert {name: found[name] for name in found if abs(found[name] - published[name]) > 0.005} == {}


def test_spans_on_the_sample_data_beat_both_baselines() -> None:
    figures = evaluation.evaluate(None)["sample data, span F1"]
    assert figures["embedded, 5-fold"]["all"] > figures["every sentence"]["all"] > figures["empath keywords"]["all"]


def write_small_data(data: Path) -> None:
    for folder in ("goemotions", "xed", "reman", "covidemo"):
        (data / folder).mkdir(parents=True)
    (data / "goemotions" / "emotions.txt").write_text("\n".join(GOEMOTIONS) + "\n")
    words = ("happy", "sad", "angry", "afraid", "proud", "sorry", "glad", "hurt")
    lines = [f"I am so {words[i % 8]} about number {i}\t{i % 28}\tid{i}\n" for i in range(60)]
    (data / "goemotions" / "train.tsv").write_text("".join(lines))
    (data / "goemotions" / "dev.tsv").write_text("".join(lines[:30]))
    plutchik = [
        {
            "text": f"You look {words[i % 8]} today, {i}",
            "labels": [PLUTCHIK[i % 8]],
            "split": ("train", "dev")[i % 3 == 0],
        }
        for i in range(60)
    ]
    jsonl = "".join(json.dumps(record) + "\n" for record in plutchik)
    (data / "xed" / "xed_plutchik8.jsonl").write_text(jsonl)
    (data / "covidemo" / "covidemo_plutchik8_dev.jsonl").write_text(jsonl)
    passages = []
    for i in range(30):
        text = f"She was {words[i % 8]} then, said number {i}. The horse stood still."
        span = {"start": 8, "end": 8 + len(words[i % 8]), "type": "joy"}
        passages.append({"text": text, "book_title": "None", "emotion_spans": [span]})
    (data / "reman" / "reman_spans.jsonl").write_text("".join(json.dumps(record) + "\n" for record in passages))


def test_what_is_missing_is_told_before_anything_is_trained_or_computed(tmp_path: Path) -> None:
    write_small_data(tmp_path / "data")
    (tmp_path / "data" / "reman" / "reman_spans.jsonl").unlink()
    for call in (lambda: train(tmp_path / "data", tmp_path / "out"), lambda: evaluation.evaluate(tmp_path / "data")):
        with pytest.raises(BadInput, match=r"reman_spans\.jsonl: no such file"):
            call()
    assert not (tmp_path / "out").exists()


def test_a_folder_for_the_weights_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    write_small_data(tmp_path / "data")
    (tmp_path / "file").write_text("")
    with pytest.raises(EmotuiError, match=r"file/out cannot be written: Not a directory"):
        train(tmp_path / "data", tmp_path / "file" / "out")


def test_training_goes_from_data_to_a_model_that_answers_and_is_evaluated(tmp_path: Path) -> None:
    write_small_data(tmp_path / "data")
    out = train(tmp_path / "data", tmp_path / "out", seed=1, epochs=1)
    backend = EmbeddedBackend(Weights(base_files(), out))
    assert len(backend.classify([Classify("Hello.")])) == 1
    assert len(backend.extract([Extract("I am so happy!")])) == 1
    with pytest.raises(BadInput, match=r"another seed \(1, not 2\): give the same"):
        train(tmp_path / "data", tmp_path / "out", seed=2, epochs=1, resume=True)
    again = train(tmp_path / "data", tmp_path / "out", seed=1, epochs=1, resume=True)
    assert Weights(base_files(), again).hashes() == backend.weights.hashes()
    figures = evaluation.rows(evaluation.evaluate(tmp_path / "data", out))
    assert all(0 <= value <= 1 for name, value in figures if not name.endswith(": n"))
