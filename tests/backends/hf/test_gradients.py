"""Gradients of words, where the truth is known: a linear model, and one that answers by a single word."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from emotui.backends.base import Attribute, Attribution, Message, Refused, Score
from emotui.backends.hf import load
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.span_models import Token
from emotui.backends.hf.tracing import Tracer, by_word
from emotui.backends.rendering import with_question
from emotui.errors import ModelError
from tests.backends.hf import models as hf_models

pytest.importorskip("captum")

METHODS = ("gradient", "integrated")
TEXT = "today i am so happy and we ran home"


@pytest.fixture(scope="module")
def one_word(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hf_models.one_word(tmp_path_factory.mktemp("models") / "one")


def open_model(folder: Path) -> Any:
    return load(str(folder), {"threads": 1, "dtype": "float32"}, lambda _: None)


class Linear(torch.nn.Module):
    """Two outputs, each a weighted sum of all embeddings."""

    def __init__(self, size: int, words: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table, self.head = torch.nn.Embedding(words, size), torch.nn.Linear(size, 2)

    def get_input_embeddings(self) -> torch.nn.Module:
        return self.table

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: Any) -> Any:
        return SimpleNamespace(logits=self.head(self.table(input_ids).sum(1)))


@pytest.mark.parametrize("method", METHODS)
def test_of_a_linear_model_a_words_part_is_weight_times_value(tmp_path: Path, method: Any) -> None:
    tokenizer = AutoTokenizer.from_pretrained(hf_models.bert(tmp_path / "bert"))
    model = Linear(6, len(tokenizer))
    loaded = SimpleNamespace(model=model, tokenizer=tokenizer, device=torch.device("cpu"), context=64)
    encoder: Any = SimpleNamespace(loaded=loaded, budget=64, takes_types=False)
    tracer = Tracer(encoder, Prompts(tokenizer), frame(tokenizer, 1), mask=True)
    found = tracer.trace(Attribute("dogs ran, sad", "a", method, 8), "a", lambda rows: rows[:, 0])
    assert isinstance(found, Attribution)
    value = model.table.weight.detach() @ model.head.weight[0].detach()
    value = value - (value[tokenizer.mask_token_id] if method == "integrated" else 0)

    def of(*tokens: str) -> float:
        return float(sum(value[tokenizer.convert_tokens_to_ids(token)] for token in tokens))

    # "dogs" is two tokens; the comma is none of the vocabulary's, and of no word.
    assert found.words == (
        (0, 4, pytest.approx(of("dog", "##s"), abs=1e-5)),
        (5, 8, pytest.approx(of("ran"), abs=1e-5)),
        (10, 13, pytest.approx(of("sad"), abs=1e-5)),
    )
    assert found.rest == pytest.approx(of("[UNK]"), abs=1e-5)
    assert found.whole is not None
    assert found.without is not None
    total = found.rest + sum(part for *_, part in found.words)
    assert total == pytest.approx(found.whole - found.without, abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_answers_by_one_word_follows_that_word_by_every_method(one_word: Path, method: Any) -> None:
    model = open_model(one_word)
    left_out, found = model.attribute([Attribute(TEXT, "glad"), Attribute(TEXT, "glad", method)])
    for each in (left_out, found):
        start, end, part = max(each.words, key=lambda word: word[2])
        assert TEXT[start:end] == "happy"
        assert part > 2 * max(abs(other) for *_, other in each.words if other != part)


def test_integrated_gradients_come_to_the_difference_from_masks_and_more_steps_come_nearer(one_word: Path) -> None:
    model = open_model(one_word)
    errors = []
    for steps in (2, 300):
        (found,) = model.attribute([Attribute(TEXT, "glad", "integrated", steps)])
        errors.append(abs(found.rest + sum(part for *_, part in found.words) - (found.whole - found.without)))
    masks = " ".join("*" for _ in TEXT.split())
    logits, _ = model._logits([TEXT, masks], ["", "*"])
    assert (found.whole, found.without) == pytest.approx(tuple(logits[:, 0].tolist()), abs=1e-4)
    assert errors[1] < 1e-2 * abs(found.whole - found.without)
    assert errors[1] < errors[0]


def test_integrated_gradients_are_the_mean_gradient_along_the_line_by_brute_force(one_word: Path) -> None:
    model = open_model(one_word)
    (found,) = model.attribute([Attribute(TEXT, "glad", "integrated", 100)])
    loaded = model._encoder.loaded
    ids = loaded.tokenizer(TEXT, return_tensors="pt")["input_ids"]
    blank = torch.where((ids == 2) | (ids == 3), ids, loaded.tokenizer.mask_token_id)
    table = loaded.model.get_input_embeddings()
    here, there = table(ids).detach(), table(blank).detach()
    total = torch.zeros_like(here)
    steps = 400
    for step in range(steps):
        at = (there + (step + 0.5) / steps * (here - there)).requires_grad_()
        loaded.model(inputs_embeds=at).logits[0, 0].backward()
        total += at.grad / steps  # type: ignore[operator]
    expected = ((here - there) * total).sum(-1)[0, 1:-1].tolist()
    assert [part for *_, part in found.words] == pytest.approx(expected, abs=1e-3)


def test_of_one_label_among_several_the_log_odds_are_traced_and_by_default_of_the_likeliest(tmp_path: Path) -> None:
    model = open_model(hf_models.bert(tmp_path / "m", head="classes", labels=("joy", "fear", "anger")))
    (named,) = model.attribute([Attribute("so sad", "fear", "gradient")])
    logits = model._logits(["so sad"])[0][0]
    assert named.whole == pytest.approx(float(logits[1] - logits[[0, 2]].logsumexp(0)), abs=1e-5)
    (own,) = model.attribute([Attribute("so sad", None, "gradient")])
    assert own.label == ("joy", "fear", "anger")[int(logits.argmax())]


def test_an_nli_model_is_traced_through_its_text_alone(tmp_path: Path) -> None:
    labels = ("entailment", "neutral", "contradiction")
    model = open_model(hf_models.bert(tmp_path / "nli", head="classes", labels=labels))
    found, unnamed = model.attribute(
        [Attribute("so sad", "joy", "integrated", 200), Attribute("sad", None, "gradient")]
    )
    assert [word[:2] for word in found.words] == [(0, 2), (3, 6)]
    logits, _ = model._logits([("so sad", "joy", "")])
    assert found.whole == pytest.approx(float(logits[0, 0] - logits[0, 2]), abs=1e-4)
    total = found.rest + sum(part for *_, part in found.words)
    assert total == pytest.approx(found.whole - found.without, abs=0.05 * abs(found.whole - found.without) + 1e-3)
    assert isinstance(unnamed, Refused)


KINDS = {
    "causal": (hf_models.one_word_causal, "\n\nAnswer:", {}),
    "seq2seq": (hf_models.one_word_t5, "", {"decoder_input_ids": torch.tensor([[2]])}),
}
"""Models that write: what makes each, what stands behind its question, and what else it is given."""


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(scope="module")
def writes(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return open_model(KINDS[kind][0](tmp_path_factory.mktemp("models") / kind))


def asked(method: Any, text: str = TEXT, steps: int = 100) -> Attribute:
    return Attribute(text, "joy", method, steps, (Message("user", f"{text} "),), hf_models.QUESTION)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_writes_follows_the_one_word_that_its_yes_goes_by(writes: Any, method: Any) -> None:
    left_out, found = writes.attribute([asked("removal"), asked(method)])
    for each in (left_out, found):
        assert each.label == "joy"
        assert [TEXT[start:end] for start, end, _ in each.words] == TEXT.split()
        start, end, part = max(each.words, key=lambda word: word[2])
        assert TEXT[start:end] == "happy"
        assert part > 2 * max(abs(other) for *_, other in each.words if other != part)


def test_what_is_traced_is_yes_against_no_as_it_is_scored_and_parts_come_to_it(writes: Any, kind: str) -> None:
    (found,) = writes.attribute([asked("integrated", steps=300)])
    chat = (Message("user", f"{TEXT} "),)
    (scores,) = writes.score([Score(TEXT, (hf_models.QUESTION,), chat)])
    assert found.whole == pytest.approx(scores.yes[0] - scores.no[0], abs=1e-4)
    total = found.rest + sum(part for *_, part in found.words)
    assert total == pytest.approx(found.whole - found.without, abs=1e-2 * abs(found.whole - found.without) + 1e-3)
    nothing = " ".join("<pad>" for _ in TEXT.split())
    _, behind, given = KINDS[kind]
    ids = writes._prompts.tokenizer(f"{nothing} {hf_models.QUESTION}{behind}")["input_ids"]
    with torch.no_grad():
        logits = writes._loaded.model(input_ids=torch.tensor([ids]), **given).logits[0, -1]
    forms = writes.yes_or_no()
    yes, no = (logits[list(side)].logsumexp(0) for side in (forms.yes, forms.no))
    assert found.without == pytest.approx(float(yes - no), abs=1e-4)


def test_encoder_and_decoder_that_share_their_embeddings_are_told_apart(tmp_path: Path) -> None:
    model = open_model(hf_models.one_word_t5(tmp_path / "m", steps=20))
    expected = [model.attribute([asked(method)])[0] for method in METHODS]
    loaded = model._loaded.model
    loaded.decoder.set_input_embeddings(loaded.encoder.get_input_embeddings())
    shared = loaded.decoder.get_input_embeddings()
    assert shared is loaded.get_encoder().get_input_embeddings()
    found = [model.attribute([asked(method)])[0] for method in METHODS]
    assert found == expected
    assert loaded.decoder.get_input_embeddings() is shared


def test_words_of_the_text_alone_have_parts_also_where_a_template_stands_around_them() -> None:
    model = open_model(hf_models.TINY)
    text = "she weeps, and weeps"
    chat = (Message("system", "she weeps"), Message("user", f"she weeps {text} now"))
    (found,) = model.attribute([Attribute(text, "joy", "integrated", 200, chat, " she weeps?")])
    assert [text[start:end] for start, end, _ in found.words] == ["she", "weeps", "and", "weeps"]
    request = Attribute(text, "joy", "gradient", 1, chat, " she weeps?")
    prompt = model.traced_prompt(with_question(chat, " she weeps?"))
    ids, places = prompt.ids, model.attribute.__self__._tokens_of(request, prompt)
    shown = model._prompts.tokenizer.decode([ids[place] for place in places])
    assert shown.strip() == text
    assert [ids[place] for place in places] == [token.id for token in places.values()]


def test_a_model_that_writes_is_asked_about_a_label_or_says_so_in_a_line(
    writes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    unasked, gone = writes.attribute(
        [Attribute(TEXT, "joy", "gradient"), Attribute("", "joy", "gradient", 1, (Message("user", "a"),), " b")]
    )
    assert isinstance(unasked, Refused)
    assert isinstance(gone, Refused)
    monkeypatch.setattr("emotui.backends.hf.tracing.traced", lambda *_: torch.zeros(2) @ torch.zeros(3))
    with pytest.raises(ModelError, match="no gradient can be taken through this model: "):
        writes.attribute([asked("gradient")])


def test_a_long_text_is_cut_an_empty_one_refused_and_hooks_are_gone_after_an_error(
    one_word: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_model(one_word)
    long, empty = model.attribute([Attribute("joy " * 90, "glad", "gradient"), Attribute("", "glad", "gradient")])
    assert (long.truncated, len(long.words)) == (True, 62)
    assert isinstance(empty, Refused)
    table = model._encoder.loaded.model.get_input_embeddings()
    monkeypatch.setattr(model, "_all_odds", lambda rows, place: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.attribute([Attribute("joy", "glad", "integrated")])
    assert not table._forward_hooks


def test_a_token_is_of_the_word_that_most_of_it_stands_in_and_signs_are_of_none() -> None:
    tokens = [Token(1, 0, 3, 1), Token(2, 3, 5, 1), Token(3, 5, 6, 2), Token(4, 4, 9, 2)]
    words, rest = by_word([1.0, 2.0, 4.0, 8.0], tokens, [(0, 4), (6, 9), (10, 12)])
    assert words == ((0, 4, 3.0), (6, 9, 8.0))
    assert rest == 4.0


def test_without_captum_a_line_says_what_brings_it(one_word: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = open_model(one_word)
    real = importlib.util.find_spec
    monkeypatch.setattr("emotui.installing.find_spec", lambda name: None if name == "captum" else real(name))
    with pytest.raises(ModelError, match=r"captum is not installed: .* install 'captum>=0\.9'"):
        model.attribute([Attribute("joy", "glad", "gradient")])
    assert isinstance(model.attribute([Attribute("joy", "glad")])[0], Attribution)
