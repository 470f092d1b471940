"""The tiny model's files are what its script makes, and small enough to be kept."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.tiny import corpus, train_tiny
from tests.tiny.gguf_file import permuted, write_gguf

MODEL = Path(train_tiny.FOLDER)


def test_all_its_files_together_are_under_three_megabytes() -> None:
    assert sum(path.stat().st_size for path in MODEL.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.parametrize("kind", ["F16", "Q8_0"])
def test_the_gguf_files_are_those_that_the_weights_make(tmp_path: Path, kind: str) -> None:
    written = write_gguf(MODEL / "hf", tmp_path / "m.gguf", kind)
    assert written.read_bytes() == (MODEL / f"tiny-{kind}.gguf").read_bytes()


def test_the_tokeniser_is_that_of_the_script() -> None:
    made = train_tiny.make_tokenizer()
    assert made.backend_tokenizer.to_str(pretty=True) == (MODEL / "hf" / "tokenizer.json").read_text().rstrip("\n")


def test_training_twice_gives_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_tiny, "STEPS", 5)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    tokenizer = train_tiny.make_tokenizer()
    try:
        first, second = (train_tiny.train(tokenizer).state_dict() for _ in range(2))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_half_of_two_hundred_facts_hold() -> None:
    facts = corpus.facts()
    assert (len(facts), sum(facts.values())) == (200, 100)
    assert facts == corpus.facts()


def test_unseen_texts_are_left_out_of_training_and_hold_their_evidence() -> None:
    import random

    unseen = dict(corpus.unseen())
    assert len(unseen) == 60
    chance = random.Random(1)
    seen = [corpus.training_sentences(chance) for _ in range(3_000)]
    assert not unseen.keys() & {text for text, _ in seen}
    for text, spans in [*unseen.items(), *seen]:
        assert all(span in text for span in spans)


def test_rotary_halves_become_pairs() -> None:
    rows = np.arange(8, dtype=np.float32)[:, None]
    assert permuted(rows, 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


@pytest.mark.slow
def test_a_model_that_the_script_makes_again_knows_every_fact(tmp_path: Path) -> None:
    from emotui.backends.base import Generate, Message
    from emotui.backends.hf import load

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    tokenizer = train_tiny.make_tokenizer()
    try:
        model = train_tiny.train(tokenizer)
    finally:
        torch.set_num_threads(threads)
    model.half().save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    examples = corpus.fact_examples()
    asked = [Generate((Message("user", example.prompt),), 4) for example in examples]
    written = load(str(tmp_path), {}, lambda _: None).generate(asked)  # type: ignore[attr-defined]
    assert [each.text for each in written] == [example.answer for example in examples]
