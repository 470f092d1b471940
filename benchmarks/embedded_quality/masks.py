"""Ways of choosing a word for a mask from what the embedded model knows, compared on the sample masks.

    python benchmarks/embedded_quality/masks.py

F1_V is the mean over masks, as `emotui score masked` has it, with the supplement of word vectors and without.
`likeliest` is what the model answers; `expected` takes the word whose expected F1_V is greatest by the model's
probabilities, made flatter by a temperature; `surroundings` adds what the head for scenes says of the text around the
mask, times a weight, for each emotion that a word's vector has; the last rows say one word every time. Nothing is
fitted on the masks, but a weight or a temperature that is chosen by this table is.
"""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import torch
from numpy.typing import NDArray

from emotui.backends import embedded
from emotui.backends.base import Filled, FillMask
from emotui.backends.embedded.backend import EMOTION_WORDS, LONGEST, MARK, scene_logits, sentence_embeddings
from emotui.metrics.masked import DIMENSIONS, fold, vector_f1
from emotui.records import PLUTCHIK
from emotui.tasks.masked.lexicon import word_vectors

Floats = NDArray[np.float64]
FILES = ("masked.jsonl", "masked_posts.jsonl")
AROUND = 300
"""Characters of the text on either side of a mask."""
NOTHING = (0,) * len(DIMENSIONS)


def table(*, supplement: bool, gold: list[str]) -> Floats:
    """F1_V of each gold word and each candidate. Returns: (gold, candidates)."""
    vectors = word_vectors(supplement=supplement).table
    said = [vectors.get(word, NOTHING) for word in EMOTION_WORDS]
    return np.array([[vector_f1(vectors.get(fold(word), NOTHING), other) for other in said] for word in gold])


def main() -> None:
    """Print a table a file."""
    torch.set_num_threads(1)
    backend = embedded.load("", {}, lambda _: None)
    weights, fitted = backend.weights, backend.weights.calibration["scenes"]
    vectors = word_vectors().table
    profile = np.array([[vectors[word][DIMENSIONS.index(emotion)] for emotion in PLUTCHIK] for word in EMOTION_WORDS])
    both = (True, False)
    gains = {supplement: table(supplement=supplement, gold=list(EMOTION_WORDS)) for supplement in both}
    for name in FILES:
        text = (resources.files("emotui.sample_data") / name).read_text(encoding="utf-8")
        records = [json.loads(line) for line in text.splitlines()]
        gold = [word for record in records for word in record["labels"]]
        filled = backend.fill_mask([FillMask(record["text"], top=len(EMOTION_WORDS)) for record in records])
        ranked = [dict(mask) for answer in filled if isinstance(answer, Filled) for mask in answer.masks]
        odds = np.log(np.array([[mask[word] for word in EMOTION_WORDS] for mask in ranked]))
        around = []
        for record in records:
            parts = record["text"].split(MARK)
            for place in range(1, len(parts)):
                before, after = " ".join(parts[:place])[-AROUND:], " ".join(parts[place:])[:AROUND]
                around.append(f"{before} {after}")
        embedded_texts = sentence_embeddings(weights.base, weights.pieces.ids(around, LONGEST))
        emotions = scene_logits(weights.scenes, fitted, embedded_texts).double().numpy()
        scores = {supplement: table(supplement=supplement, gold=gold) for supplement in both}
        ways = {"likeliest": odds}
        for weight in (0.3, 1.0):
            ways[f"surroundings, {weight:g}"] = odds + weight * emotions @ profile.T
        for temperature in (1.0, 2.0, 4.0):
            chances = np.exp(odds / temperature)
            ways[f"expected, {temperature:g}"] = chances / chances.sum(1, keepdims=True) @ gains[True]
            ways[f"expected without supplement, {temperature:g}"] = (
                chances / chances.sum(1, keepdims=True) @ gains[False]
            )
        for word in ("worried", "happy", "sad"):
            ways[f"always {word}"] = np.tile(
                np.array([other == word for other in EMOTION_WORDS], float), (len(gold), 1)
            )
        print(f"{name}: {len(records)} posts, {len(gold)} masks")
        for way, values in ways.items():
            chosen = values.argmax(1)
            means = [float(scores[supplement][np.arange(len(gold)), chosen].mean()) for supplement in both]
            print(f"  {way:34}{means[0]:7.3f}{means[1]:7.3f}")


if __name__ == "__main__":
    main()
