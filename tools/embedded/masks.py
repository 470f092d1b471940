"""Training the map from what is at and beside a mask to the embedding of the emotion word that stood there."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from emotui.backends.embedded.backend import EMOTION_WORDS, MARK, mask_scores, mask_states, mask_windows, word_vectors
from emotui.backends.embedded.weights import Weights
from emotui.backends.embedded.words import words
from tools.embedded.data import goemotions, reman, xed

MOST_OF_A_WORD = 100
STEPS = 600

Masked = tuple[str, int]
"""A text with one `<mask>`, and which of EMOTION_WORDS stood there."""


def masked_examples(texts: Sequence[str]) -> list[Masked]:
    """Each text once for each emotion word in it."""
    places = {word: number for number, word in enumerate(EMOTION_WORDS)}
    return [
        (f"{text[:start]}{MARK}{text[end:]}", places[text[start:end].lower()])
        for text in texts
        for start, end in words(text)
        if text[start:end].lower() in places
    ]


def thinned(examples: Sequence[Masked], most: int, seed: int) -> list[Masked]:
    """At most so many examples of a word, drawn at random: the encoders' time goes into the rare words too."""
    order = list(examples)
    random.Random(seed).shuffle(order)
    taken: Counter[int] = Counter()
    kept = []
    for example in order:
        taken[example[1]] += 1
        if taken[example[1]] <= most:
            kept.append(example)
    return kept


def mask_table(weights: Weights, examples: Sequence[Masked]) -> tuple[Tensor, Tensor]:
    """States at the masks and the numbers of the words, of the texts whose mask is read. Returns: (n, 1152), (n,)."""
    read = [mask_windows(weights, text)[0] for text, _ in examples]
    kept = [number for number, (_, places) in enumerate(read) if len(places) == 1]
    states = mask_states(weights, [read[number][0] for number in kept], [read[number][1] for number in kept])
    return torch.tensor(np.concatenate(states)), torch.tensor([examples[number][1] for number in kept])


def train_masks(weights: Weights, data: Path, seed: int) -> dict[str, Tensor]:
    """The map's tensors, fp16: softmax over EMOTION_WORDS of the dot product with their embeddings."""
    texts = [example.text for example in goemotions(data, "train") + xed(data, "train")]
    texts += [passage.text for passage in reman(data)]
    examples = masked_examples(texts)
    states, gold = mask_table(weights, thinned(examples, MOST_OF_A_WORD, seed))
    vectors = torch.tensor(word_vectors(weights, EMOTION_WORDS))
    return fit_mask_map(states, gold, Counter(word for _, word in examples), vectors, seed)


def fit_mask_map(
    states: Tensor, gold: Tensor, frequency: Mapping[int, int], vectors: Tensor, seed: int
) -> dict[str, Tensor]:
    """The map's tensors. Examples are drawn so that every word is met as often as it is in the texts.

    Args: states: (n, 1152). gold: (n,). frequency: of each word in all the texts. vectors: (words, 384).
    """
    here = torch.bincount(gold, minlength=len(vectors))
    draw = torch.tensor([frequency[word] / int(here[word]) for word in gold.tolist()])
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    linear = torch.nn.utils.skip_init(torch.nn.Linear, states.shape[1], vectors.shape[1])
    with torch.no_grad():
        linear.weight.normal_(0.0, 0.02, generator=generator)
        linear.bias.zero_()
    optimizer = torch.optim.AdamW(linear.parameters(), lr=2e-3, weight_decay=1.0)
    for step in range(STEPS):
        batch = torch.multinomial(draw, 256, replacement=True, generator=generator)
        inputs = F.dropout(states[batch], 0.2)
        loss = F.cross_entropy(linear(inputs) @ vectors.T, gold[batch])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * (1 - step / STEPS)
    return {"weight": linear.weight.detach().half(), "bias": linear.bias.detach().half()}


def mask_accuracy(weights: Weights, data: Path) -> dict[str, float]:
    """On masked emotion words of GoEmotions and XED dev: how often the word comes first, and among the first five.

    Beside them what always guessing the words most frequent in training would give.
    """
    texts = [example.text for example in goemotions(data, "dev") + xed(data, "dev")]
    states, gold = mask_table(weights, masked_examples(texts))
    scores = mask_scores(weights, states.numpy(), word_vectors(weights, EMOTION_WORDS))
    ranked = torch.tensor(scores).topk(5, dim=1).indices
    train = [example.text for example in goemotions(data, "train") + xed(data, "train")]
    frequent = [word for word, _ in Counter(word for _, word in masked_examples(train)).most_common(5)]
    return {
        "n": float(len(gold)),
        "top_1": float((ranked[:, 0] == gold).double().mean()),
        "top_5": float((ranked == gold[:, None]).any(1).double().mean()),
        "most_frequent_word": float((gold == frequent[0]).double().mean()),
        "five_most_frequent_words": float(torch.isin(gold, torch.tensor(frequent)).double().mean()),
    }
