"""One tiny trained model in two libraries: transformers and llama.cpp read, score and write it alike.

Needs llama-cpp-python and gguf: `pip install llama-cpp-python gguf`, which compiles for minutes.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
pytest.importorskip("gguf")

from emotui.backends import gguf, hf
from emotui.backends.base import Generate, Message, Rank, Score
from emotui.backends.gguf.model import GgufModel
from emotui.records import PLUTCHIK
from tests.paths import TINY
from tests.tiny.corpus import NAMES, Example, as_json, fact_examples, prefix_of, question_of, retrieved, unseen
from tests.tiny.gguf_file import write_gguf

MODEL = TINY / "model"

AWKWARD = (
    "",
    " ",
    "  two  spaces  and three   ",
    "\ttabs\tand\nlines\r\n\r\n\n",
    "caf\u00e9 na\u00efve \u00fcber \u0151 \u0142",
    "cafe\u0301 decomposed",
    "\u65e5\u672c\u8a9e \u4e2d\u6587 \ud55c\uad6d\uc5b4",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "\U0001f622\U0001f62d \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308",
    "don't can't I'LL we've 'tis",
    "3.14 1,000,000 2026-11-21 1/2 0x1F",
    "a<b>c</b> &amp; {x} [y] `z` $100 50% #tag @me",
    "<|end|> <|user|><|assistant|> <|end|",
    "Yes No yes no YES NO",
    "\u00a0nbsp\u2003em\u200bzero\ufeffbom",
    "e\u0000f",
    "word" * 60,
    "!!!???...---___===",
)

QUESTIONS = [
    *(Example(each.prompt, each.answer) for each in fact_examples()[::3][:60]),
    *(as_json(text, spans) for text, spans in unseen(60)),
    *(retrieved(text, spans) for text, spans in unseen(60)),
]


def user(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


@pytest.fixture(scope="module")
def reference() -> Any:
    """In transformers, F32."""
    return hf.load(str(MODEL / "hf"), {"dtype": "float32", "device": "cpu", "threads": 1}, lambda line: None)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GgufModel]:
    """In llama.cpp, weights, keys and values in F32."""
    path = write_gguf(MODEL / "hf", tmp_path_factory.mktemp("tiny") / "tiny-F32.gguf", "F32")
    model = gguf.load(str(path), {"kv": "f32", "threads": 1}, lambda line: None)
    yield model
    model.close()


@pytest.fixture(scope="module", params=["F16", "Q8_0"])
def smaller(request: pytest.FixtureRequest) -> Iterator[GgufModel]:
    """In llama.cpp, as the repository has it."""
    model = gguf.load(str(MODEL / f"tiny-{request.param}.gguf"), {"threads": 1}, lambda line: None)
    yield model
    model.close()


@pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
def test_awkward_texts_have_the_same_tokens(reference: Any, exact: GgufModel, text: str) -> None:
    system = Message("system", text)
    for messages in (user(text), (system, *user(text)), (*user(text), Message("assistant", text), *user(text))):
        for opening in ("", text):
            assert exact._prompts.ids(messages, opening) == reference._prompts.chat(messages, opening)
    assert exact._prompts.plain(text) == reference._prompts.start(text)
    assert exact._prompts.ranking(Rank("x", (text,)))[1] == [reference._prompts.text(text)]


def test_logits_agree_within_a_ten_thousandth(reference: Any, exact: GgufModel) -> None:
    import torch

    worst = 0.0
    for example in QUESTIONS[::6]:
        ids = exact._prompts.ids(user(example.prompt))
        exact._context.rewind(0)
        found = exact._context.extend_all(ids)
        with torch.inference_mode():
            wanted = reference._loaded.model(torch.tensor([ids])).logits[0].numpy()
        worst = max(worst, float(np.abs(found - wanted).max()))
    assert worst < 1e-4


def same_text(reference: Any, other: GgufModel, requests: list[Generate]) -> int:
    """How many answers are the same to the letter, in length and in how they ended."""
    pairs = zip(reference.generate(requests), other.generate(requests), strict=True)
    return sum(one == another for one, another in pairs)


def test_what_is_written_greedily_is_the_same_in_f32(reference: Any, exact: GgufModel) -> None:
    requests = [Generate(user(each.prompt), max_tokens=60) for each in QUESTIONS]
    assert len(requests) == 180
    assert same_text(reference, exact, requests) == 180


def test_what_is_written_greedily_is_the_same_when_quantised(reference: Any, smaller: GgufModel) -> None:
    requests = [Generate(user(each.prompt), max_tokens=60) for each in QUESTIONS]
    assert same_text(reference, smaller, requests) == 180


def test_what_is_written_by_chance_is_the_same_for_the_same_seed(reference: Any, exact: GgufModel) -> None:
    requests = [
        Generate(user(each.prompt), max_tokens=30, temperature=temperature, top_p=top_p, seed=seed)
        for seed, each in enumerate(QUESTIONS[60:90])
        for temperature, top_p in ((1.0, 1.0), (3.0, 0.9))
    ]
    assert same_text(reference, exact, requests) == len(requests)


def test_stops_openings_and_limits_mean_the_same(reference: Any, exact: GgufModel) -> None:
    prompt = user(QUESTIONS[60].prompt)
    requests = [
        Generate(prompt, stop=('"',)),
        Generate(prompt, stop=("felt", ", ")),
        Generate(prompt, max_tokens=1),
        Generate(prompt, max_tokens=5),
        Generate(prompt, opening="["),
        Generate((Message("system", "Be short."), *prompt), max_tokens=10),
    ]
    assert same_text(reference, exact, requests) == len(requests)


def scores_of_all() -> list[Score]:
    return [Score("", tuple(question_of(name, each) for each in PLUTCHIK), user(prefix_of(name))) for name in NAMES]


def log_odds(results: Any) -> np.ndarray:
    """(names, emotions)."""
    return np.array([[yes - no for yes, no in zip(each.yes, each.no, strict=True)] for each in results])


def test_log_odds_agree_and_rank_alike(reference: Any, exact: GgufModel) -> None:
    wanted, found = reference.score(scores_of_all()), exact.score(scores_of_all())
    one, other = log_odds(wanted), log_odds(found)
    assert np.abs(one - other).max() < 1e-3
    for row, beside in zip(one, other, strict=True):
        # Two emotions closer than the libraries agree may change places.
        order = np.argsort(row)
        assert (np.diff(beside[order]) > -2e-3).all()
    for want, have in zip(wanted, found, strict=True):
        assert have.mass == pytest.approx(want.mass, abs=1e-4)
        for shares, others in zip(want.shares, have.shares, strict=True):
            assert others == pytest.approx(shares, abs=1e-4)


def test_decisions_survive_quantisation(reference: Any, smaller: GgufModel) -> None:
    one, other = log_odds(reference.score(scores_of_all())), log_odds(smaller.score(scores_of_all()))
    assert ((one > 0) == (other > 0)).all()
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.999


def test_an_opening_before_the_answer_scores_alike(reference: Any, exact: GgufModel) -> None:
    request = Score("Ada wept.", ("Is Ada sad?", "Is Ada glad?"), opening="Answer: ")
    assert log_odds(exact.score([request])) == pytest.approx(log_odds(reference.score([request])), abs=1e-3)


def test_rankings_agree(reference: Any, exact: GgufModel) -> None:
    requests = [
        Rank("", (each.answer, "none", "[]", " none of them"), user(each.prompt)) for each in QUESTIONS[60::12]
    ] + [Rank("Ada was ", ("proud", "furious", "so alone")), Rank("", ("Yes", "No"))]
    for want, have in zip(reference.rank(requests), exact.rank(requests), strict=True):
        assert have.logprobs == pytest.approx(want.logprobs, abs=1e-3)
        assert (have.tokens, have.greedy) == (want.tokens, want.greedy)


def test_what_is_refused_is_refused_by_both(reference: Any, exact: GgufModel) -> None:
    long = "wept " * 600
    requests: list[tuple[str, Any]] = [
        ("generate", Generate(user(long))),
        ("score", Score(long, ("Sad?",))),
        ("score", Score("x", ())),
        ("rank", Rank(long, ("Yes",))),
        ("rank", Rank("x", ())),
        ("rank", Rank("x", ("",))),
    ]
    for method, request in requests:
        assert getattr(exact, method)([request]) == getattr(reference, method)([request])
