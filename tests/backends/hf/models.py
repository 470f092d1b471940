"""Small random models of the other kinds, written as Hugging Face directories."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

from tests.paths import TESTS

TINY = TESTS / "tiny" / "model" / "hf"
TEXT = "i am so very happy sad angry glad the dog ran home and we felt joy fear today yes no a b this text expresses"
WORDS = TEXT.split()


def bert(
    folder: Path, *, head: str = "masked", labels: tuple[str, ...] = (), multi: bool = False, numbers: bool = False
) -> Path:
    """WordPiece over whole words. Args: head: `masked`, `classes` (numbers: of regression) or `none`."""
    vocabulary = {
        token: place for place, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "##s", "."])
    }
    bare = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    bare.normalizer = normalizers.Lowercase()
    bare.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    bare.decoder = decoders.WordPiece()
    bare.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bare, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=64, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
    config: dict[str, Any] = {}
    if head == "classes":
        names = dict(enumerate(labels))
        kind = "multi_label_classification" if multi else "single_label_classification"
        kind = "regression" if numbers else kind
        config = {"id2label": names, "label2id": {name: place for place, name in names.items()}, "problem_type": kind}
    torch.manual_seed(1)
    kinds = {"masked": BertForMaskedLM, "classes": BertForSequenceClassification, "none": BertModel}
    model = kinds[head](
        BertConfig(
            vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=48, max_position_embeddings=64, initializer_range=0.5, **config,
        )
    )  # fmt: skip
    return _save(folder, model, tokenizer)


def one_word(folder: Path, word: str = "happy", *, steps: int = 150) -> Path:
    """A BERT whose log-odds of `glad` are how often a text has this word, less 2, and those of `rest` the contrary.

    It has learnt from masked words too, so that a text of masks is one without the word.
    """
    bert(folder, head="classes", labels=("glad", "rest"), multi=True)
    model = BertForSequenceClassification.from_pretrained(folder)
    torch.manual_seed(5)
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, std=0.1)
    step = torch.optim.Adam(model.parameters(), lr=3e-3)
    wanted = 5 + WORDS.index(word)
    for _ in range(steps):
        ids = torch.randint(5, 5 + len(WORDS), (32, 8))
        ids[torch.rand(ids.shape) < 0.2] = 4
        ids[torch.rand(ids.shape) < torch.rand(32, 1)] = wanted
        ids = torch.cat([torch.full((32, 1), 2), ids, torch.full((32, 1), 3)], 1)
        there = (ids == wanted).float().sum(1) - 2  # the more of them the surer: a step would have no gradient
        loss = (model(input_ids=ids).logits - torch.stack([there, -there], 1)).square().mean()
        step.zero_grad()
        loss.backward()
        step.step()
    model.eval().save_pretrained(folder)
    return folder


QUESTION = "? yes or no :"


def _words_of_a_question() -> PreTrainedTokenizerFast:
    """Whole words, those of `QUESTION` and of its answer among them."""
    names = dict.fromkeys(("<s>", "</s>", "<pad>", "<unk>", *WORDS, *QUESTION.split(), "Answer", "Yes", "No"))
    bare = Tokenizer(models.WordLevel({token: place for place, token in enumerate(names)}, unk_token="<unk>"))
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=bare, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        model_max_length=512,
    )  # fmt: skip


def _learn_one_word(model: Any, tokenizer: Any, word: str, steps: int, behind: str, **given: Any) -> None:
    """Let the log-odds of Yes behind texts be 2 times how often they have this word, less 2."""
    vocabulary = tokenizer.get_vocab()
    step = torch.optim.Adam(model.parameters(), lr=3e-3)
    wanted, blank = vocabulary[word], vocabulary["<pad>"]
    yes, no = ([vocabulary[name], vocabulary[name.lower()]] for name in ("Yes", "No"))
    asked = torch.tensor(tokenizer(f"{QUESTION}{behind}", add_special_tokens=False)["input_ids"])
    others = torch.tensor([vocabulary[name] for name in WORDS])
    for _ in range(steps):
        ids = others[torch.randint(0, len(others), (32, 8))]
        ids[torch.rand(ids.shape) < torch.rand(32, 1)] = blank
        ids[torch.rand(ids.shape) < 0.5 * torch.rand(32, 1)] = wanted
        there = 2.0 * (ids == wanted).sum(1) - 2
        logits = model(input_ids=torch.cat([ids, asked.expand(32, -1)], 1), **given).logits[:, -1]
        odds = logits[:, yes].logsumexp(1) - logits[:, no].logsumexp(1)
        loss = (odds - there).square().mean()
        step.zero_grad()
        loss.backward()
        step.step()


def one_word_causal(folder: Path, word: str = "happy", *, steps: int = 250) -> Path:
    """A Llama of whole words whose log-odds of Yes behind a text and `QUESTION` are 2 times how often it has this word,
    less 2.
    """
    tokenizer = _words_of_a_question()
    torch.manual_seed(6)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=512, bos_token_id=0, eos_token_id=1,
            pad_token_id=2,
        )
    )  # fmt: skip
    _learn_one_word(model, tokenizer, word, steps, " Answer:")
    return _save(folder, model.eval(), tokenizer)


def one_word_t5(folder: Path, word: str = "happy", *, steps: int = 250) -> Path:
    """The same of a T5, at the first place of its decoder."""
    tokenizer = _words_of_a_question()
    torch.manual_seed(6)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(tokenizer), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, dropout_rate=0.0,
            pad_token_id=2, eos_token_id=1, decoder_start_token_id=2,
        )
    )  # fmt: skip
    _learn_one_word(model, tokenizer, word, steps, "", decoder_input_ids=torch.full((32, 1), 2))
    return _save(folder, model.eval(), tokenizer)


def roberta(folder: Path) -> Path:
    """Byte-level BPE, a mask that takes the space before it, positions from 2."""
    tokenizer = bytes_tokenizer(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    bare = tokenizer.backend_tokenizer
    bare.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bare, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>", cls_token="<s>",
        sep_token="</s>", model_max_length=62,
    )  # fmt: skip
    from tokenizers import AddedToken

    tokenizer.add_special_tokens({"mask_token": AddedToken("<mask>", lstrip=True, special=True)})
    torch.manual_seed(2)
    model = RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
            max_position_embeddings=64, initializer_range=0.5, pad_token_id=1, bos_token_id=0, eos_token_id=2,
            type_vocab_size=1,
        )
    )  # fmt: skip
    return _save(folder, model, tokenizer)


def t5(folder: Path) -> Path:
    """An encoder-decoder whose tokeniser ends every text by `</s>`."""
    tokenizer = bytes_tokenizer(["<pad>", "</s>", "<unk>"])
    bare = tokenizer.backend_tokenizer
    bare.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bare, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=512
    )
    torch.manual_seed(3)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(tokenizer), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, pad_token_id=0,
            eos_token_id=1, decoder_start_token_id=0, initializer_factor=3.0,
        )
    )  # fmt: skip
    return _save(folder, model, tokenizer)


def llama(folder: Path, *, hidden: int = 64, layers: int = 2, template: str | None = None, window: int = 0) -> Path:
    """A random causal model with the tiny one's tokeniser; with `window`, a Mistral that looks back so far only."""
    from transformers import AutoTokenizer, MistralConfig, MistralForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(TINY)
    tokenizer.chat_template = template
    torch.manual_seed(4)
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer), "hidden_size": hidden, "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 512, "initializer_range": 0.1,
        "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2,
    }  # fmt: skip
    if window:
        return _save(folder, MistralForCausalLM(MistralConfig(sliding_window=window, **sizes)), tokenizer)
    return _save(folder, LlamaForCausalLM(LlamaConfig(**sizes)), tokenizer)


def changed_copy(folder: Path, **config: Any) -> Path:
    """The tiny model with other values in its config.json (None leaves one out)."""
    shutil.copytree(TINY, folder)
    path = folder / "config.json"
    values = json.loads(path.read_text()) | config
    path.write_text(json.dumps({name: value for name, value in values.items() if value is not None}))
    return folder


def bytes_tokenizer(special: list[str]) -> PreTrainedTokenizerFast:
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bare.train_from_iterator([TEXT, "Yes No", " Yes No", TEXT], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bare)


def _save(folder: Path, model: Any, tokenizer: Any) -> Path:
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
