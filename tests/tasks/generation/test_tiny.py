"""The generation task on the models that the tests build, from the command line to the figures."""

import json
import math
from pathlib import Path

import pytest

from emotui.backends.base import ModelCard, Rank, Ranked
from emotui.backends.host import ModelProcess
from emotui.metrics.eps import EPS_LABELS
from emotui.tasks.generation.measuring import WINDOW, perplexities
from tests.backends.hf import models as hf_models
from tests.backends.hf.test_kinds import naive_classes
from tests.conftest import Emotui
from tests.paths import TINY

WRITER = f"hf:{TINY / 'model' / 'hf'}"
TEXTS = ({"text": "I love this film.", "label": "joy"}, {"text": "It has ten chapters.", "label": "Neutral"})


def test_a_run_is_exported_and_scored_by_models_for_every_metric(emotui: Emotui, tmp_path: Path) -> None:
    texts = tmp_path / "t.jsonl"
    texts.write_text("".join(json.dumps({"id": str(at), **one}) + "\n" for at, one in enumerate(TEXTS)))
    options = ("--max-tokens", "6", "--db", "w.duckdb", "--json")
    done = emotui("run", "generation", "--model", WRITER, "--dataset", texts, "--ppl-model", WRITER, *options)
    assert done.status == 0, done.err
    figures = done.document["metrics"]
    assert (done.document["done"], figures["n"], figures["ppl_model"]) == (2, 2, WRITER)
    assert figures["ppl_original"] > 1
    assert figures["ppl_stride"] == 128
    assert emotui("export", done.document["run"], "--to", "g.jsonl", "--db", "w.duckdb").status == 0
    records = [json.loads(line) for line in (tmp_path / "g.jsonl").read_text().splitlines()]
    assert [(one["model"], one["target"], one["original"]) for one in records] == [
        (WRITER, one["label"], one["text"]) for one in TEXTS
    ]
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("contradiction", "neutral", "entailment"))
    asked = ("--classifier", "embedded", "--classifier", WRITER, "--nli", f"hf:{folder}", "--per-sample")
    asked += ("--eas-model", WRITER, "--ppl-model", WRITER, "--stride", "4")
    got = emotui("score", "generation", "--records", "g.jsonl", *asked, "--json")
    assert got.status == 0, got.err
    mine = got.document["models"][WRITER]
    assert mine["ppl"] == pytest.approx(figures["ppl_emotional"])
    assert mine["ppl_original"] == pytest.approx(figures["ppl_original"])
    assert mine["recognition"][WRITER]["way"] == "rank"
    assert "eps" not in got.document["notes"]
    for one, record in zip(got.document["samples"], records, strict=True):
        entailed = [
            float(naive_classes(folder, record["emotional"], f"This text expresses {label}.")[2])
            for label in EPS_LABELS
        ]
        assert one[f"eps_{EPS_LABELS[entailed.index(max(entailed))]}"] == 1
    told = ("--nli", f"hf:{folder}", "--eas-model", WRITER, "--classifier", WRITER, "--db", "w.duckdb", "--json")
    measured = emotui("measure", "t", *told)
    assert measured.status == 0, measured.err
    assert {name: one["asked"] for name, one in measured.document["measured"].items()} == {
        "eps": 2,
        "eas": 2,
        f"ers:{WRITER}": 2,
    }
    assert all(one["asked"] == 0 for one in emotui("measure", "t", *told).document["measured"].values())
    emotui("rescore", done.document["run"], "--db", "w.duckdb", "--json")
    query = "select id, name, value from score_values where value is not null"
    kept = emotui("sql", query, "--db", "w.duckdb", "--json").document["rows"]
    values = {(row[0], row[1]): row[2] for row in kept}
    for one in got.document["samples"]:
        for name in ("eps_emotionless", "eps_neutral", "eps_emotional", "ers", f"ers:{WRITER}", "r1_c", "r2_m", "ppl"):
            assert values[one["id"], name] == pytest.approx(one[name], abs=1e-5), name
        assert values.get((one["id"], "eas")) == one["eas"]
    assert mine["eas"] is None or 0 <= mine["eas"] <= 6
    assert emotui("run", "spans", "--ppl-model", WRITER).status == 2


def test_perplexity_is_of_the_tokens_that_a_model_reads() -> None:
    with ModelProcess(WRITER) as model:
        found = perplexities(model, ["I love this film.", "I love this film.", " "], 128)
        (ranked,) = model.ask([Rank("", ("I love this film.",))])
    assert found.of["I love this film."] == pytest.approx(math.exp(-ranked.logprobs[0] / ranked.tokens[0]))
    assert found.of[" "] is None
    assert found.in_tokens(4) == ranked.tokens[0]


@pytest.mark.parametrize("stride", [1, 3, WINDOW, WINDOW + 9])
def test_long_texts_go_in_windows_that_count_each_word_once(stride: int) -> None:
    words = [f"w{at}" for at in range(WINDOW + 7)]
    asked: list[Rank] = []

    class Counting:
        """One token a word, each as likely as one in two."""

        def load(self) -> ModelCard:
            return ModelCard("m", "m", ("rank",), {})

        def ask(self, requests: list[Rank], *, cancelled: object = None) -> list[Ranked]:
            asked.extend(requests)
            lengths = [len(request.continuations[0].split()) for request in requests]
            return [Ranked((-n * math.log(2),), (n,), (True,)) for n in lengths]

    text = " ".join(words)
    assert perplexities(Counting(), [text], stride).of[text] == pytest.approx(2)  # type: ignore[arg-type]
    assert [word for one in asked for word in one.continuations[0].split()] == words
    assert all(len(f"{one.prefix}{one.continuations[0]}".split()) <= WINDOW for one in asked)
    assert all(text.startswith(f"{one.prefix}{one.continuations[0]}"[:20]) or one.prefix in text for one in asked)


def test_a_model_of_masks_has_no_perplexity(emotui: Emotui, tmp_path: Path) -> None:
    record = {"id": "1", "model": "a", "target": "joy", "original": "o", "neutral": "n", "emotional": "e"}
    (tmp_path / "r.jsonl").write_text(json.dumps(record) + "\n")
    for option in ("--ppl-model", "--eas-model"):
        got = emotui("score", "generation", "--records", "r.jsonl", option, "embedded", "--json")
        assert (got.status, got.err.count("\n")) == (1, 1)
        assert "hf:" in got.err
    got = emotui("score", "generation", "--records", "r.jsonl", "--nli", "embedded", "--json")
    assert got.status == 2
    assert "has labels of its own" in got.err
    got = emotui("score", "generation", "--records", "r.jsonl", "--template", "none", "--json")
    assert got.status == 2
    assert "{emotion}" in got.err
