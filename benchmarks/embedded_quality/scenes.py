"""Ways of reading the sample scenes with the embedded model, compared.

    python benchmarks/embedded_quality/scenes.py

A row is a head and a way of pooling. The heads are those for single lines (XED), the GoEmotions labels grouped to
Plutchik's eight, and the head for scenes. `auc` is the mean area under the ROC curve of the eight; `macro_f1` is with a
bias for each emotion that is chosen on the other four of five folds, the mean over five ways of dealing them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit, logsumexp
from scipy.stats import rankdata

from emotui.backends import embedded
from emotui.backends.embedded.backend import GOEMOTIONS, LONGEST, PLUTCHIK_GROUPS, scene_logits, sentences
from emotui.backends.embedded.inference import label_logits, sentence_embeddings
from emotui.metrics.nested_cv import assign_folds
from emotui.metrics.thresholds import decided_in_folds
from emotui.records import PLUTCHIK
from tools.embedded.data import sample_scenes
from tools.embedded.evaluation import macro_f1

Floats = NDArray[np.float64]


def noisy_or(odds: Floats) -> Floats:
    """Log-odds that at least one sentence has it."""
    none = -np.logaddexp(0, odds).sum(0)
    return np.asarray(np.log(-np.expm1(none)) - none)


def attention(odds: Floats) -> Floats:
    """Each sentence weighs by the exponent of its own log-odds."""
    weights = np.exp(odds - odds.max(0))
    return np.asarray((weights * odds).sum(0) / weights.sum(0))


POOLS: dict[str, Callable[[Floats], Floats]] = {
    "max": lambda odds: np.asarray(odds.max(0)),
    "noisy-or": noisy_or,
    "attention": attention,
    "log-mean-exp": lambda odds: np.asarray(logsumexp(odds, 0)),
    "mean": lambda odds: np.asarray(odds.mean(0)),
}


def area(values: Floats, gold: Floats) -> float:
    """Area under the ROC curve."""
    positives = int(gold.sum())
    ranks = float(rankdata(values)[gold == 1].sum()) - positives * (positives + 1) / 2
    return ranks / (positives * (len(gold) - positives))


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    weights = embedded.load("", {}, lambda _: None).weights
    records = sample_scenes()
    ids, gold = [key for key, _, _ in records], np.array([vector for _, _, vector in records])
    split = [sentences(text) for _, text, _ in records]
    texts = [text for _, text, _ in records] + [part for parts in split for part in parts]
    tokens = weights.pieces.ids(texts, LONGEST)
    probabilities = label_logits(weights.goemotions, tokens).double().sigmoid().numpy()
    members = [[GOEMOTIONS.index(label) for label in PLUTCHIK_GROUPS[emotion]] for emotion in PLUTCHIK]
    none = np.stack([np.log1p(-probabilities[:, columns]).sum(1) for columns in members], 1)
    embedded_texts = sentence_embeddings(weights.base, tokens)
    heads = {
        "lines": weights.plutchik_logits(tokens).double().numpy(),
        "goemotions": np.log(-np.expm1(none)) - none,
        "scenes": scene_logits(weights.scenes, weights.calibration["scenes"], embedded_texts).double().numpy(),
    }
    ends = np.cumsum([len(parts) for parts in split])[:-1]
    print(f"{'head':12}{'pooling':16}{'auc':>6}{'macro_f1':>10}")
    for head, odds in heads.items():
        whole, parts = odds[: len(ids)], np.split(odds[len(ids) :], ends)
        rows = {"whole": whole} | {
            name: np.stack([pool(np.asarray(of_scene)) for of_scene in parts]) for name, pool in POOLS.items()
        }
        rows["mean and whole"] = (rows["mean"] + whole) / 2
        for name, values in rows.items():
            auc = np.mean([area(values[:, label], gold[:, label]) for label in range(len(PLUTCHIK))])
            found = [
                macro_f1(decided_in_folds(gold, expit(values), assign_folds(ids, 5, seed).tolist()).astype(float), gold)
                for seed in range(5)
            ]
            print(f"{head:12}{name:16}{auc:6.3f}{np.mean(found):10.3f}")


if __name__ == "__main__":
    main()
