"""Tiny models that mark spans: some random, some that tell each word's tag whatever stands around it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertForTokenClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForTokenClassification,
)

from tests.backends.hf.models import WORDS, bytes_tokenizer

PIECES = ("##s", "##ed", "un", "café", ".", ",", "!", "😀", "?", "which", "show", "what", "someone", "feels")


def wordpieces(extra: Sequence[str] = (), *, longest: int = 64) -> PreTrainedTokenizerFast:
    """WordPiece over whole words, lower case, accents left out, punctuation apart."""
    words = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *PIECES, "cafe", *extra])
    bare = Tokenizer(models.WordPiece({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    bare.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    bare.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    bare.decoder = decoders.WordPiece()
    bare.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bare, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=longest,
    )  # fmt: skip


def random_tagger(folder: Path, labels: Sequence[str]) -> Path:
    """Two layers of chance: its tags depend on all that stands around."""
    tokenizer = wordpieces()
    torch.manual_seed(5)
    return _save(folder, BertForTokenClassification(_config(tokenizer, 2, 32, _named(labels))), tokenizer)


def random_bytes_tagger(folder: Path, labels: Sequence[str]) -> Path:
    """Byte-level pieces: an emoji is several tokens."""
    bare = bytes_tokenizer(["<s>", "<pad>", "</s>", "<unk>"]).backend_tokenizer
    bare.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bare, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>", cls_token="<s>",
        sep_token="</s>", model_max_length=62,
    )  # fmt: skip
    torch.manual_seed(6)
    config = RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=64, initializer_range=0.5, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        type_vocab_size=1, **_named(labels),
    )  # fmt: skip
    return _save(folder, RobertaForTokenClassification(config), tokenizer)


def telling_tagger(folder: Path, labels: Sequence[str], tags: Mapping[str, str], *, longest: int = 64) -> Path:
    """A tagger by tokens alone: those of `tags` have theirs, all others the first label."""
    tokenizer = wordpieces(tuple(tags), longest=longest)
    model = BertForTokenClassification(_config(tokenizer, 0, len(tokenizer), _named(labels), longest))
    told = {tokenizer.convert_tokens_to_ids(word): labels.index(tag) for word, tag in tags.items()}
    weight = torch.zeros(len(labels), len(tokenizer))
    for token in range(len(tokenizer)):
        weight[told.get(token, 0), token] = 1.0
    _tell(model, model.classifier, weight)
    return _save(folder, model, tokenizer)


def telling_reader(folder: Path, starts: Mapping[str, float], ends: Mapping[str, float], *, longest: int = 64) -> Path:
    """A reader by tokens alone; `[CLS]` among them says how likely no answer is."""
    tokenizer = wordpieces((*starts, *ends), longest=longest)
    model = BertForQuestionAnswering(_config(tokenizer, 0, len(tokenizer), {}, longest))
    weight = torch.zeros(2, len(tokenizer))
    for row, said in enumerate((starts, ends)):
        for word, value in said.items():
            weight[row, tokenizer.convert_tokens_to_ids(word)] = value
    _tell(model, model.qa_outputs, weight)
    return _save(folder, model, tokenizer)


def _tell(model: torch.nn.Module, head: torch.nn.Linear, weight: torch.Tensor) -> None:
    """Each token is a direction of its own, and nothing else counts."""
    layer = model.bert.embeddings
    with torch.no_grad():
        layer.word_embeddings.weight.copy_(torch.eye(len(layer.word_embeddings.weight)))
        layer.position_embeddings.weight.zero_()
        layer.token_type_embeddings.weight.zero_()
        head.weight.copy_(weight)
        head.bias.zero_()


def _named(labels: Sequence[str]) -> dict[str, dict[int, str] | dict[str, int]]:
    names = dict(enumerate(labels))
    return {"id2label": names, "label2id": {name: place for place, name in names.items()}}


def _config(tokenizer: PreTrainedTokenizerFast, layers: int, width: int, named: dict, longest: int = 64) -> BertConfig:
    return BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=layers, num_attention_heads=1,
        intermediate_size=48, max_position_embeddings=longest, initializer_range=0.5, **named,
    )  # fmt: skip


def _save(folder: Path, model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast) -> Path:
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
