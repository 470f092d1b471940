"""How far macro-F1 on GoEmotions depends on where the thresholds are from, and what word pairs would add.

    python benchmarks/embedded_quality/goemotions.py --data DIR [--pairs]

Thresholds are the committed ones (from a tenth of train), the best on that tenth as they are, those of one random half
of dev used on the other (mean and deviation of ten), and the best in hindsight. `--pairs` fits logistic regressions
over words and pairs of words on nine tenths of train (many minutes) and adds their logits by several shares.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit

from emotui.backends.embedded.backend import GOEMOTIONS
from emotui.backends.embedded.base_files import base_files
from emotui.backends.embedded.inference import label_logits
from emotui.backends.embedded.weights import SHARE, Weights, pair_logits
from emotui.metrics.thresholds import best_thresholds
from tools.embedded.calibration import f1_thresholds, fit_probabilities
from tools.embedded.data import Labelled, goemotions
from tools.embedded.evaluation import macro_f1
from tools.embedded.labels import targets
from tools.embedded.pairs import fit_pairs
from tools.embedded.splits import goemotions_parts

Floats = NDArray[np.float64]
HALVES = 10
DRAWS = 300
SHARES = (0.1, 0.2, 0.4, 0.6)


def best(gold: Floats, probabilities: Floats) -> Floats:
    """The thresholds with the best F1 there."""
    return np.array([threshold.value for threshold in best_thresholds(gold.astype(np.uint8), probabilities)])


def figure(probabilities: Floats, thresholds: Floats, gold: Floats) -> float:
    """Macro-F1 of what is at least its threshold."""
    return macro_f1((probabilities >= thresholds).astype(float), gold)


def gold_of(examples: list[Labelled]) -> Floats:
    """(n, 28) of 0 and 1."""
    return np.asarray(targets(examples, len(GOEMOTIONS)).double().numpy())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    weights, draw = Weights(base_files()), np.random.default_rng(0)
    kept, held = goemotions_parts(given.data)
    dev = goemotions(given.data, "dev")
    ids = [weights.pieces.ids([example.text for example in part], 256) for part in (held, dev)]
    held_logits, logits = (label_logits(weights.goemotions, rows).double().numpy() for rows in ids)
    held_gold, gold = gold_of(held), gold_of(dev)
    committed = np.array(weights.calibration["goemotions"]["thresholds"])
    p = expit(logits)
    rows = [draw.integers(0, len(p), len(p)) for _ in range(DRAWS)]
    spread = np.std([figure(p[drawn], committed, gold[drawn]) for drawn in rows])
    print(f"committed thresholds         {figure(p, committed, gold):.4f}, deviation over resamples {spread:.4f}")
    print(f"the best on the tenth        {figure(p, best(held_gold, expit(held_logits)), gold):.4f}")
    halves = []
    for _ in range(HALVES):
        half = draw.permutation(len(p)) % 2 == 0
        halves.append(figure(p[~half], best(gold[half], p[half]), gold[~half]))
    print(f"one half of dev on the other {np.mean(halves):.4f}, deviation {np.std(halves):.4f}")
    print(f"the best in hindsight        {figure(p, best(gold, p), gold):.4f}")
    if not given.pairs:
        return
    tensors = fit_pairs(weights.pieces.ids([example.text for example in kept], 256), targets(kept, len(GOEMOTIONS)))
    held_pairs, pairs = (pair_logits(tensors, rows).double().numpy() / SHARE for rows in ids)
    for share in SHARES:
        summed = held_logits + share * held_pairs
        slope, shifts = fit_probabilities(summed, held_gold)
        even_slope, even_shifts = fit_probabilities(summed, held_gold, top_weight=0.0)
        expected = expit(even_slope * summed + even_shifts)
        thresholds = f1_thresholds(expit(slope * summed + shifts), expected, held_gold)
        found = figure(expit(slope * (logits + share * pairs) + shifts), thresholds, gold)
        print(f"with {share:g} of pairs           {found:.4f}")


if __name__ == "__main__":
    main()
