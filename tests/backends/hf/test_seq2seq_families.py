"""Encoder-decoders of every family, trained here, say by `score` and `rank` what `generate` writes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import processors
from transformers import PreTrainedTokenizerFast

from emotui.backends.base import Attribute, Generate, Message, Rank, Score
from emotui.backends.hf import load
from emotui.errors import ModelError
from tests.backends.hf.models import bytes_tokenizer

BOS, PAD, EOS, UNK, LANGUAGE = range(5)
CONTROL = ["<s>", "<pad>", "</s>", "<unk>", "en_XX"]
ASKED = [f"{text}\n\n{question}" for text in ("so happy", "so sad") for question in ("joy ?", "fear ?", "so ?", "a ?")]
SAID = ["Yes", "No", "Yes", "No", "No", "Yes", "Yes", "No"]

LAYERS: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 128, "init_std": 0.2, "dropout": 0.0,
    "bos_token_id": BOS, "pad_token_id": PAD, "eos_token_id": EOS, "attention_dropout": 0.0, "activation_dropout": 0.0,
}  # fmt: skip
T5: dict[str, Any] = {
    "d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2,
    "dropout_rate": 0.0, "pad_token_id": PAD, "eos_token_id": EOS,
}  # fmt: skip
BERT: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64,
    "max_position_embeddings": 128, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Family:
    """How a family writes an answer: between which tokens, behind which start, and what `generate` forces there.

    `rate`: how fast it learns; some forget again at the rate at which most learn in 50 steps.
    """

    name: str
    sizes: dict[str, Any]
    start: int
    before: Sequence[int] = ()
    after: Sequence[int] = (EOS,)
    forced: int | None = None
    never: int | None = None
    more: dict[str, Any] = field(default_factory=dict)
    rate: float = 1e-2

    def __str__(self) -> str:
        return self.name if self.forced is None else f"{self.name}-forced"


FAMILIES = [
    Family("Bart", LAYERS, EOS, [BOS]),
    Family("Bart", LAYERS, EOS, [BOS], forced=BOS),
    Family("Mvp", LAYERS, EOS, [BOS], forced=BOS),
    Family("LED", LAYERS, EOS, [BOS], more={"attention_window": 8, "max_encoder_position_embeddings": 128}),
    Family("MBart", LAYERS, LANGUAGE, after=[EOS, LANGUAGE]),
    Family("MBart", LAYERS, EOS, [LANGUAGE], forced=LANGUAGE),
    Family("PLBart", LAYERS, LANGUAGE, after=[EOS, LANGUAGE]),
    Family("M2M100", LAYERS, EOS, [LANGUAGE]),
    Family("M2M100", LAYERS, EOS, [LANGUAGE], forced=LANGUAGE),
    Family("NllbMoe", LAYERS, EOS, [LANGUAGE], forced=LANGUAGE, more={"num_experts": 2}),
    Family("Marian", LAYERS, PAD, never=PAD),
    Family("Pegasus", LAYERS, PAD, rate=5e-3),
    Family("PegasusX", LAYERS, PAD, more={"block_size": 16}, rate=5e-3),
    Family("BigBirdPegasus", LAYERS, EOS, more={"attention_type": "original_full"}),
    Family("Blenderbot", LAYERS, BOS),
    Family("BlenderbotSmall", LAYERS, BOS),
    Family("T5", T5, PAD),
    Family("MT5", T5, PAD),
    Family("UMT5", T5, PAD),
    Family("LongT5", T5, PAD, more={"local_radius": 7}),
    Family("SwitchTransformers", T5, PAD, more={"num_experts": 2}),
    Family("EncoderDecoder", BERT, BOS, rate=5e-3),
]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_family_says_by_score_and_rank_what_generate_writes(tmp_path: Path, family: Family) -> None:
    plain, tokenizer = trained(family)
    plain.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    batch = tokenizer(ASKED, return_tensors="pt", padding=True)
    witness = plain.generate(
        input_ids=batch["input_ids"],
        attention_mask=batch["attention_mask"],
        max_new_tokens=6,
        num_beams=1,
        do_sample=False,
    )
    assert tokenizer.batch_decode(witness, skip_special_tokens=True) == SAID

    model = load(str(tmp_path), {"threads": 1}, lambda _: None)
    assert model.card.capabilities == ("generate", "score", "rank", "attribute")
    prompts = [(Message("user", text),) for text in ASKED]
    assert [each.text for each in model.generate([Generate(each, 6) for each in prompts])] == SAID

    texts = dict.fromkeys(text.split("\n\n")[0] for text in ASKED)
    scores = model.score([Score(text, ("joy ?", "fear ?", "so ?", "a ?")) for text in texts])
    yes, no = ([value for each in scores for value in getattr(each, side)] for side in ("yes", "no"))
    assert ["Yes" if for_it > against else "No" for for_it, against in zip(yes, no, strict=True)] == SAID
    assert min(mass for each in scores for mass in each.mass) > 0.9

    ranked = model.rank([Rank("", ("Yes", "No"), each) for each in prompts])
    assert [("Yes", "No")[each.greedy.index(True)] for each in ranked] == SAID
    begun = model.rank([Rank("so ", ("Yes",), prompts[0])])[0]
    given = [family.start, *family.before, *tokenizer.encode("so ", add_special_tokens=False)]
    with torch.no_grad():
        logits = plain(**tokenizer(ASKED[0], return_tensors="pt", return_token_type_ids=False),
                       decoder_input_ids=torch.tensor([given])).logits[0, -1]  # fmt: skip
    (token,) = tokenizer.encode("Yes", add_special_tokens=False)
    assert begun.logprobs[0] == pytest.approx(float(logits.log_softmax(-1)[token]), abs=1e-3)
    if family.name == "LED":  # it looks padding up among its words
        with pytest.raises(ModelError, match="no gradient can be taken through this model"):
            follows_its_yes_back_to_words(model)
    else:
        follows_its_yes_back_to_words(model)


def follows_its_yes_back_to_words(model: Any) -> None:
    """What is traced is what is scored, whatever the decoder begins with, and the parts come to it."""
    text, question = "so happy", "joy ?"
    chat = (Message("user", f"{text}\n\n"),)
    (score,) = model.score([Score(text, (question,), chat)])
    removed, found = model.attribute(
        [Attribute(text, "joy", method, 300, chat, question) for method in ("removal", "integrated")]
    )
    assert [text[start:end] for start, end, _ in found.words] == ["so", "happy"]
    assert [word[:2] for word in removed.words] == [word[:2] for word in found.words]
    assert found.whole == pytest.approx(score.yes[0] - score.no[0], abs=1e-3)
    due = found.whole - found.without
    total = found.rest + sum(part for *_, part in found.words)
    assert total == pytest.approx(due, abs=0.05 * abs(due) + 0.05)
    encoder, decoder = model._loaded.model.get_encoder(), model._loaded.model.get_decoder()
    assert not encoder.get_input_embeddings()._forward_hooks
    assert not decoder.get_input_embeddings()._forward_hooks


def trained(family: Family) -> tuple[Any, PreTrainedTokenizerFast]:
    """A tiny model that gives `SAID` to `ASKED`, and its tokeniser."""
    tokenizer = bytes_tokenizer(CONTROL)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", EOS)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer, bos_token="<s>", pad_token="<pad>", eos_token="</s>",
        unk_token="<unk>", extra_special_tokens=["en_XX"], model_max_length=128,
    )  # fmt: skip
    torch.manual_seed(1)
    config = made_config(family, len(tokenizer))
    kind = {"Marian": "MarianMTModel", "EncoderDecoder": "EncoderDecoderModel"}.get(
        family.name, f"{family.name}ForConditionalGeneration"
    )
    model = getattr(transformers, kind)(config=config)
    settings = model.generation_config
    settings.decoder_start_token_id, settings.forced_bos_token_id = family.start, family.forced
    settings.forced_eos_token_id, settings.pad_token_id, settings.eos_token_id = None, PAD, EOS
    settings.bad_words_ids = None if family.never is None else [[family.never]]

    batch = tokenizer(ASKED, return_tensors="pt", padding=True)
    answers = [
        [*family.before, *tokenizer.encode(word, add_special_tokens=False), *family.after, PAD, PAD][:6]
        for word in SAID
    ]
    width = max(map(len, answers))
    labels = torch.tensor([[*answer, *[PAD] * (width - len(answer))] for answer in answers])
    given = torch.cat([torch.full((len(SAID), 1), family.start), labels[:, :-1]], 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=family.rate)
    model.train()
    for _ in range(400):
        logits = model(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], decoder_input_ids=given
        ).logits
        loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss < 0.01:
            break
    return model.eval(), tokenizer


def made_config(family: Family, vocabulary: int) -> Any:
    """The family's own configuration, as small as it goes."""
    if family.name == "EncoderDecoder":
        parts = [
            transformers.BertConfig(vocab_size=vocabulary, pad_token_id=PAD, **family.sizes, **more).to_dict()
            for more in ({}, {"is_decoder": True, "add_cross_attention": True})
        ]
        return transformers.EncoderDecoderConfig(
            encoder=parts[0], decoder=parts[1], decoder_start_token_id=family.start, pad_token_id=PAD
        )
    sizes = {"vocab_size": vocabulary, **family.sizes, "decoder_start_token_id": family.start, **family.more}
    return getattr(transformers, f"{family.name}Config")(**sizes)
