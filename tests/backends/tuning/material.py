"""A language of three moods, small enough that a BERT of a few thousand weights learns it in seconds."""

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from emotui.backends.tuning.recipe import Example
from emotui.formats import write
from emotui.records import Attempt, Chain, ClassGold

CUES = {
    "joy": ("happy", "delighted", "cheerful"),
    "sadness": ("sad", "grief", "sorrow"),
    "anger": ("angry", "furious", "rage"),
}
"""Words that EmoLex ties to something."""

SCENES = {
    "joy": ("sun", "garden", "kite", "bells"),
    "sadness": ("rain", "winter", "ashes", "letters"),
    "anger": ("door", "fist", "horn", "shouting"),
}
"""What rephrasings say instead; half of it stands for nothing without them."""

FILLERS = ("i", "was", "so", "that", "day", "we", "saw", "the", "again", "and", "felt", ".")
LIMIT = 24


def vocabulary() -> list[str]:
    """All words, behind BERT's own tokens."""
    words = [word for part in (CUES, SCENES) for group in part.values() for word in group]
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *FILLERS, *words]


def base(folder: Path) -> Path:
    """A random BERT with a masked-word head, and its WordPiece tokeniser."""
    places = {word: place for place, word in enumerate(vocabulary())}
    bare = Tokenizer(models.WordPiece(places, unk_token="[UNK]"))
    bare.normalizer = normalizers.Lowercase()
    bare.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    bare.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bare, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=LIMIT,
    )  # fmt: skip
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(places), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=LIMIT, initializer_range=0.1,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def examples(count: int, seed: int = 0, *, rephrasings: int = 2) -> list[Example]:
    """Originals that name a mood, with rephrasings that name scenes in its place."""
    rng = random.Random(seed)
    moods = list(CUES)
    found = []
    for number in range(count):
        mood = moods[number % len(moods)]
        frame = f"i was so {{}} that day {rng.choice(FILLERS)} {rng.choice(FILLERS)} number"
        scenes = rng.sample(SCENES[mood], 2)
        found.append(
            Example(
                f"{seed}-{number}",
                frame.format(rng.choice(CUES[mood])),
                mood,
                tuple(f"we saw the {scenes[part % 2]} again {rng.choice(FILLERS)} ." for part in range(rephrasings)),
            )
        )
    return found


def write_files(folder: Path, material: list[Example]) -> tuple[Path, Path]:
    """The originals as class, gold records, and the chains of those that have rephrasings."""
    golds = folder / "train.jsonl"
    write(golds, [ClassGold(id=example.id, text=example.text, label=example.label) for example in material])
    chains = folder / "chains.jsonl"
    write(
        chains,
        [
            Chain(
                id=example.id, text=example.text, label=example.label, predicted=example.label,
                attempts=tuple(Attempt(text=text, predicted=example.label) for text in example.rephrasings),
            )
            for example in material
            if example.rephrasings
        ],
    )  # fmt: skip
    return golds, chains
