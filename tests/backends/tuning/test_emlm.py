"""What eMLM hides: emotion words at their own rate, all words at the stated one, each word whole."""

import random
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.tuning.base import load_masked
from emotui.backends.tuning.checkpoints import Checkpoints
from emotui.backends.tuning.emlm import IGNORED, Worded, hidden_words, hide, other_chance, train_masked, worded
from emotui.backends.tuning.recipe import Recipe
from emotui.errors import ModelError
from emotui.lexicons import emolex
from tests.backends.tuning import material as tuning_material


@given(words=st.integers(1, 200), share=st.floats(0, 1), emotion=st.floats(0, 1), part=st.floats(0, 1))
def test_the_expected_share_of_hidden_words_is_the_stated_one_wherever_it_can_be(
    words: int, share: float, emotion: float, part: float
) -> None:
    emotional = int(part * words)
    rest = other_chance(words, emotional, emotion, share)
    expected = emotion * emotional + rest * (words - emotional)
    assert 0 <= rest <= 1
    if emotion * emotional <= share * words <= emotion * emotional + words - emotional:
        assert expected == pytest.approx(share * words, abs=1e-9)


def test_a_text_by_hand() -> None:
    assert other_chance(20, 2, 0.5, 0.15) == pytest.approx((0.15 * 20 - 0.5 * 2) / 18)
    assert other_chance(4, 2, 0.5, 0.15) == 0.0
    assert other_chance(3, 3, 0.5, 0.15) == 0.0


def test_emotion_words_are_hidden_at_the_stated_rate_and_others_at_theirs() -> None:
    emotional = [True] * 2 + [False] * 18
    chance = random.Random(5)
    counts = [0] * 20
    rounds = 8000
    for _ in range(rounds):
        for word in hidden_words(emotional, 0.5, 0.15, chance):
            counts[word] += 1
    for number, count in enumerate(counts):
        rate = 0.5 if number < 2 else 2 / 18
        assert abs(count / rounds - rate) < 5 * (rate * (1 - rate) / rounds) ** 0.5
    assert sum(counts) / rounds / 20 == pytest.approx(0.15, abs=0.005)


def test_hidden_tokens_become_the_mask_another_token_or_stay_as_eight_to_one_to_one() -> None:
    text = Worded(list(range(10, 1010)), [[place] for place in range(1000)], [True] * 1000)
    recipe = Recipe(emlm_emotion=1.0)
    rows, wanted = hide([text] * 10, recipe, 4, 100_000, random.Random(1))
    assert wanted == [text.ids] * 10
    tokens = [(token, gold) for row in rows for token, gold in zip(row, text.ids, strict=True)]
    masks = sum(token == 4 for token, _ in tokens)
    same = sum(token == gold for token, gold in tokens)
    assert masks / len(tokens) == pytest.approx(0.8, abs=0.02)
    assert same / len(tokens) == pytest.approx(0.1, abs=0.02)


def test_what_is_not_hidden_is_neither_changed_nor_asked_for() -> None:
    text = Worded([2, 7, 8, 9, 3], [[1], [2, 3]], [False, True])
    rows, wanted = hide([text], Recipe(emlm_emotion=1.0, emlm_share=0.0), 4, 50, random.Random(0))
    assert rows[0][:2] == [2, 7]
    assert rows[0][4] == 3
    assert wanted == [[IGNORED, IGNORED, 8, 9, IGNORED]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tuning_material.base(tmp_path_factory.mktemp("emlm") / "base")


def test_words_are_told_from_signs_and_emotion_words_by_emolex(base: Path) -> None:
    trainable = load_masked(base, 0, "cpu", 0)
    (text,) = worded(trainable, ["I was HAPPY, again."], emolex().keys())
    pieces = trainable.tokenizer.convert_ids_to_tokens(text.ids)
    assert [[pieces[place] for place in word] for word in text.words] == [
        ["i"], ["was"], ["happy"], ["[UNK]"], ["again"], ["."],
    ]  # fmt: skip
    assert text.emotion == [False, False, True, False, False, False]


def test_a_word_of_several_pieces_is_one_word(tmp_path: Path) -> None:
    from tests.backends.hf import models as hf_models

    trainable = load_masked(hf_models.bert(tmp_path / "bert"), 0, "cpu", 0)
    (text,) = worded(trainable, ["dogs felt"], {"dogs"})
    assert trainable.tokenizer.convert_ids_to_tokens(text.ids) == ["[CLS]", "dog", "##s", "felt", "[SEP]"]
    assert text.words == [[1, 2], [3]]
    assert text.emotion == [True, False]


def test_training_lowers_what_it_costs_to_guess_hidden_words_and_leaves_a_model_that_fills_masks(
    base: Path, tmp_path: Path
) -> None:
    from emotui.backends.base import FillMask
    from emotui.backends.hf import load

    texts = [example.text for example in tuning_material.examples(30)]
    torch.set_num_threads(1)
    recipe = Recipe(emlm_epochs=25, emlm_rate=3e-3, batch=10, emlm_emotion=0.5, checkpoint_every=1000)
    target = tmp_path / "there"
    moment = train_masked(
        base, texts, emolex().keys(), recipe, Checkpoints(tmp_path / "checkpoint", {}), target,
        resume=False, progress=lambda *_: None, stopping=lambda: False,
    )  # fmt: skip
    assert moment.epochs[-1]["mlm"] < moment.epochs[0]["mlm"] - 0.5
    (found,) = load(str(target), {}, lambda line: None).fill_mask([FillMask("i was so <mask> that day", top=3)])  # type: ignore[attr-defined]
    moods = {word for words in tuning_material.CUES.values() for word in words}
    assert {word for word, *_ in found.masks[0]} <= moods


def test_a_base_without_a_masked_word_head_is_refused(tmp_path: Path) -> None:
    from tests.backends.hf import models as hf_models

    with pytest.raises(ModelError, match="masked-word head"):
        load_masked(hf_models.bert(tmp_path / "bert", head="none"), 0, "cpu", 0)
