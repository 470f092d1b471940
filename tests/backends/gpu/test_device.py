"""On a GPU every capability answers as on the CPU.

`make test-gpu` runs these tests, and `make test-gpu DEVICE=cpu` runs them where there is none.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from emotui.backends import hf
from emotui.backends.base import (
    Attribute,
    Classify,
    Embed,
    Extract,
    FillMask,
    Generate,
    Message,
    Rank,
    Regress,
    Request,
    Score,
)
from emotui.backends.host import Cancelled, ModelProcess
from emotui.records import PLUTCHIK
from tests.backends.hf import models, span_models
from tests.paths import TINY
from tests.tiny.corpus import NAMES, fact_examples, prefix_of, question_of

DEVICE = os.environ.get("EMOTUI_TEST_DEVICE", "cuda")
ON_GPU = DEVICE.startswith("cuda")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(ON_GPU and not torch.cuda.is_available(), reason="torch sees no CUDA device"),
]
CAUSAL = TINY / "model" / "hf"
GGUF = TINY / "model" / "tiny-F16.gguf"
TEXTS = ("i am happy and sad", "we felt joy", "x", "no fear of anger " * 6)

EXACT, ROUNDED = 1e-3, 0.25
"""How far log-probabilities may be apart: both in float32, and bfloat16 beside float32."""


def opened(folder: Path, device: str, **options: Any) -> Any:
    settings = {"device": device, "dtype": "float32", "threads": 1, **options}
    return hf.load(str(folder), settings, lambda line: None)


def numbers(found: object) -> list[float]:
    """All numbers in an answer, in its order."""
    if isinstance(found, bool | str) or found is None:
        return []
    if isinstance(found, int | float):
        return [float(found)]
    if hasattr(found, "tolist"):
        found = found.tolist()
    if hasattr(found, "items"):
        return [number for _, value in sorted(found.items()) for number in numbers(value)]
    if isinstance(found, Sequence):
        return [number for value in found for number in numbers(value)]
    return [number for name in found.__struct_fields__ for number in numbers(getattr(found, name))]


def user(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def scores(n: int) -> list[Score]:
    return [
        Score("", tuple(question_of(name, emotion) for emotion in PLUTCHIK), user(prefix_of(name)))
        for name in NAMES[:n]
    ]


def test_what_a_model_writes_is_the_same_text() -> None:
    asked: list[Generate] = [Generate(user(one.prompt), max_tokens=20) for one in fact_examples()[:40]]
    asked += [Generate(user("Think."), max_tokens=30, temperature=0.8, top_p=0.9, seed=seed) for seed in range(4)]
    assert opened(CAUSAL, DEVICE).generate(asked) == opened(CAUSAL, "cpu").generate(asked)


@pytest.mark.parametrize("attn", ["eager", "sdpa"])
@pytest.mark.parametrize(("dtype", "bound"), [("float32", EXACT), ("bfloat16", ROUNDED)])
def test_yes_and_no_have_the_same_log_probabilities(dtype: str, bound: float, attn: str) -> None:
    asked = scores(12)
    there = opened(CAUSAL, DEVICE, dtype=dtype, attn=attn).score(asked)
    for left, right in zip(there, opened(CAUSAL, "cpu").score(asked), strict=True):
        odds = [a - b for a, b in zip(left.yes, left.no, strict=True)]
        expected = [a - b for a, b in zip(right.yes, right.no, strict=True)]
        assert [one > 0 for one in odds] == [one > 0 for one in expected]
        if dtype == "float32":
            assert odds == pytest.approx(expected, abs=bound)
        assert left.mass == pytest.approx(right.mass, abs=bound)


@pytest.mark.parametrize(
    ("build", "method", "asked"),
    [
        (lambda path: CAUSAL, "rank", [Rank("I am", (" happy", " sad"), user("So?")), Rank("We", (" felt",))]),
        (models.t5, "generate", [Generate(user(text), max_tokens=12) for text in TEXTS]),
        (models.t5, "score", [Score(text, ("Joy?", "Fear?")) for text in TEXTS]),
        (models.bert, "fill_mask", [FillMask("i am <mask>", ("sad", "happy")), FillMask("so <mask> and <mask>")]),
        (models.bert, "embed", [Embed(text) for text in TEXTS]),
        (models.roberta, "fill_mask", [FillMask("i am <mask>", ("sad", "happy"))]),
        (lambda path: models.bert(path, head="none"), "embed", [Embed(text) for text in TEXTS]),
        (
            lambda path: models.bert(path, head="classes", labels=("joy", "fear", "anger")),
            "classify",
            [Classify(text) for text in TEXTS],
        ),
        (
            lambda path: models.bert(path, head="classes", labels=("joy", "fear")),
            "attribute",
            [Attribute(text) for text in TEXTS],
        ),
        (
            lambda path: models.bert(path, head="classes", labels=("entailment", "contradiction", "neutral")),
            "classify",
            [Classify(text, labels=("joy", "fear")) for text in TEXTS],
        ),
        (
            lambda path: models.bert(path, head="classes", labels=("valence", "arousal"), numbers=True),
            "regress",
            [Regress(text) for text in TEXTS],
        ),
        (
            lambda path: span_models.random_tagger(path, ("O", "B-joy", "I-joy")),
            "extract",
            [Extract(text) for text in TEXTS],
        ),
        (
            # `[CLS]` decides texts without either word: a tie would be settled by rounding.
            lambda path: span_models.telling_reader(path, {"happy": 5.0, "[CLS]": 1.0}, {"sad": 5.0, "[CLS]": 1.0}),
            "extract",
            [Extract(text) for text in TEXTS],
        ),
    ],
)
def test_every_other_capability_gives_the_same_numbers(
    tmp_path: Path, build: Any, method: str, asked: list[Request]
) -> None:
    folder = build(tmp_path / "m")
    there, here = (getattr(opened(folder, device), method)(asked) for device in (DEVICE, "cpu"))
    assert len(there) == len(here)
    assert numbers(list(there)) == pytest.approx(numbers(list(here)), abs=EXACT)


@pytest.mark.skipif(not ON_GPU, reason="fills a card's memory")
def test_a_batch_that_does_not_fit_is_halved_until_it_does(tmp_path: Path) -> None:
    folder = models.llama(tmp_path / "m", hidden=1024, layers=8)
    model = opened(folder, DEVICE, batch_tokens=10_000_000)
    asked = [Score("I wept. " * 60, ("Joy?", "Fear?")) for _ in range(2000)]
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    filler = torch.empty(max(0, free - 2 * 2**30), dtype=torch.uint8, device=DEVICE)
    try:
        found = model.score(asked)
    finally:
        del filler
        torch.cuda.empty_cache()
    assert numbers(found[:1]) == pytest.approx(numbers(found[-1:]), abs=EXACT)
    assert model._batches.tokens < 10_000_000


def test_a_cancel_ends_a_batch_and_the_next_one_is_answered() -> None:
    stop = threading.Event()
    with ModelProcess(f"hf:{CAUSAL}#device={DEVICE}") as model:
        model.load()

        def ask_on() -> None:
            while True:
                model.ask([Generate(user("Think."), max_tokens=200, temperature=2.0)] * 64, cancelled=stop.is_set)

        threading.Timer(0.3, stop.set).start()
        with pytest.raises(Cancelled):
            ask_on()
        (answer,) = model.ask([Generate(user(fact_examples()[0].prompt), max_tokens=5)])
        assert answer.text == fact_examples()[0].answer


def test_llama_cpp_with_all_layers_on_the_card_answers_as_on_the_cpu() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
    from emotui.backends import gguf
    from emotui.backends.gguf.library import open_library

    if ON_GPU and not open_library().gpus():
        pytest.skip("this build of llama.cpp has no GPU")
    there, here = (gguf.load(str(GGUF), {"gpu_layers": layers}, lambda line: None) for layers in (999, 0))
    asked = [Generate(user(one.prompt), max_tokens=20) for one in fact_examples()[:40]]
    assert there.generate(asked) == here.generate(asked)
    for left, right in zip(there.score(scores(12)), here.score(scores(12)), strict=True):
        assert [yes > no for yes, no in zip(left.yes, left.no, strict=True)] == [
            yes > no for yes, no in zip(right.yes, right.no, strict=True)
        ]
        assert left.yes == pytest.approx(right.yes, abs=ROUNDED)
