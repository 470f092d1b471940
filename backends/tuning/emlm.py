"""Emotion-weighted masked-language training (eMLM, Sosea and Caragea 2021), before a classifier is fine-tuned.

As in BERT's own training words are hidden and guessed, but words that EmoLex ties to something are hidden more often.
Of a text of n words, m of them emotion words,

    an emotion word is hidden with probability      k                                (`emlm_emotion`, 0.5)
    any other word is hidden with probability       max(0, s * n - k * m) / (n - m)  (`emlm_share` s, 0.15)

so that the expected share of hidden words is s, as without emotion, wherever k * m <= s * n. k is free in the authors'
training script; 0.5 is the default here, not a figure of theirs. A word is hidden whole; of the hidden tokens 80%
become the mask, 10% another token, 10% stay. The authors stop hiding in a text once a share s of its tokens is hidden,
which would push emotion words below k in emotional texts; here nothing is cut off.
"""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from emotui.backends.base import OnStep
from emotui.backends.hf.seq2seq import padded
from emotui.backends.tuning.base import Trainable, load_masked
from emotui.backends.tuning.checkpoints import Checkpoints, Moment, writing
from emotui.backends.tuning.fitting import Schedule, fit
from emotui.backends.tuning.recipe import Recipe
from emotui.backends.words import word_places
from emotui.errors import ModelError

MASKED, REPLACED = 0.8, 0.1
"""Shares of the hidden tokens; the rest stays as it is (Devlin et al. 2019)."""

IGNORED = -100


@dataclass(frozen=True, slots=True)
class Worded:
    """A text's token ids, framed, and the places of each word's tokens; a sign that is no word stands for itself."""

    ids: list[int]
    words: list[list[int]]
    emotion: list[bool]


def other_chance(words: int, emotion_words: int, emotion: float, share: float) -> float:
    """The probability that a word that is no emotion word is hidden; see above. In [0, 1]."""
    others = words - emotion_words
    return min(1.0, max(0.0, share * words - emotion * emotion_words) / others) if others else 0.0


def hidden_words(emotional: Sequence[bool], emotion: float, share: float, chance: random.Random) -> list[int]:
    """The numbers of the words to hide. Args: emotional: for each word of a text, whether it is an emotion word."""
    rest = other_chance(len(emotional), sum(emotional), emotion, share)
    return [
        number for number, is_emotion in enumerate(emotional) if chance.random() < (emotion if is_emotion else rest)
    ]


def worded(trainable: Trainable, texts: Sequence[str], emotion_words: Collection[str]) -> list[Worded]:
    """Tokenise, and tell the words; a text is cut where the model's reading ends.

    Raises:
        ModelError: the tokeniser cannot say where its tokens stand in the text, or has no mask.
    """
    tokenizer = trainable.tokenizer
    if not tokenizer.is_fast:
        raise ModelError("--emlm needs a tokeniser that tells where its tokens stand: a tokenizer.json")
    if tokenizer.mask_token_id is None:
        raise ModelError("--emlm needs a tokeniser with a mask token")
    found = []
    for text in texts:
        read = tokenizer(
            text,
            truncation=True,
            max_length=trainable.context,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            verbose=False,
        )
        found.append(_words(text, read, emotion_words))
    return found


def _words(text: str, read: Mapping[str, list], emotion_words: Collection[str]) -> Worded:
    places = word_places(text)
    words: list[list[int]] = []
    emotion: list[bool] = []
    current, number = -1, 0
    for token, ((start, end), special) in enumerate(
        zip(read["offset_mapping"], read["special_tokens_mask"], strict=True)
    ):
        if special or start == end:
            continue
        while number < len(places) and places[number][1] <= start:
            number += 1
        inside = number < len(places) and places[number][0] < end
        if inside and current == number:
            words[-1].append(token)
            continue
        current = number if inside else -1
        words.append([token])
        emotion.append(inside and text[slice(*places[number])].lower() in emotion_words)
    return Worded(list(read["input_ids"]), words, emotion)


def hide(
    texts: Sequence[Worded], recipe: Recipe, mask: int, vocabulary: int, chance: random.Random
) -> tuple[list[list[int]], list[list[int]]]:
    """Token ids with words hidden, and what is to be guessed (`IGNORED` where nothing is), a row a text."""
    rows, targets = [], []
    for text in texts:
        ids, wanted = list(text.ids), [IGNORED] * len(text.ids)
        for word in hidden_words(text.emotion, recipe.emlm_emotion, recipe.emlm_share, chance):
            for place in text.words[word]:
                wanted[place] = ids[place]
                drawn = chance.random()
                if drawn < MASKED:
                    ids[place] = mask
                elif drawn < MASKED + REPLACED:
                    ids[place] = chance.randrange(vocabulary)
        rows.append(ids)
        targets.append(wanted)
    return rows, targets


def train_masked(
    folder: Path,
    texts: Sequence[str],
    emotion_words: Collection[str],
    recipe: Recipe,
    checkpoints: Checkpoints,
    target: Path,
    *,
    resume: bool,
    progress: OnStep,
    stopping: Callable[[], bool],
) -> Moment:
    """Train the base in `folder` on `texts` and write it to `target` as a masked-word model's directory.

    Raises:
        ModelError: the base has no masked-word head, or its tokeniser does not do.
        Interrupted: as `fit`.
    """
    trainable = load_masked(folder, recipe.seed, recipe.device, recipe.max_length)
    known = worded(trainable, texts, emotion_words)
    tokenizer = trainable.tokenizer

    def loss(batch: list[int], chance: random.Random) -> dict[str, Tensor]:
        rows, wanted = hide(
            [known[number] for number in batch], recipe, tokenizer.mask_token_id, len(tokenizer), chance
        )
        ids, there = padded(rows, tokenizer.pad_token_id, trainable.device)
        targets, _ = padded(wanted, IGNORED, trainable.device)
        logits: Tensor = trainable.model(input_ids=ids, attention_mask=there).logits
        total = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        return {"mlm": total / max(1, int((targets != IGNORED).sum()))}

    schedule = Schedule.of(recipe, recipe.emlm_epochs, recipe.emlm_rate)
    moment = fit(
        "emlm", trainable.model, len(known), loss, schedule, checkpoints,
        resume=resume, progress=progress, stopping=stopping,
    )  # fmt: skip
    partial = target.with_name(target.name + ".partial")
    with writing(target):
        trainable.model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        partial.replace(target)
    return moment
