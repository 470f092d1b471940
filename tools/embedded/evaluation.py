"""Every figure of the model card again, from the weights as they are: `python -m tools.embedded evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emotui.backends.base import Extract, Score, Scores
from emotui.backends.embedded.backend import GOEMOTIONS, LABEL_SETS, EmbeddedBackend
from emotui.backends.embedded.base_files import base_files
from emotui.backends.embedded.encoder import use_threads
from emotui.backends.embedded.extraction import like_fiction
from emotui.backends.embedded.inference import label_logits, sigmoid
from emotui.backends.embedded.weights import Weights
from emotui.metrics.nested_cv import Grid, decode_honestly
from emotui.metrics.probabilities import expected_calibration_error
from emotui.metrics.spans import span_score
from emotui.records import PLUTCHIK
from tools.embedded.calibration import Floats
from tools.embedded.clauses import clause_texts, sample_span_figures
from tools.embedded.cues import cue_figures
from tools.embedded.data import (
    Labelled,
    Passage,
    goemotions,
    sample_passages,
    sample_scenes,
    xed,
)
from tools.embedded.labels import targets
from tools.embedded.masks import mask_accuracy
from tools.embedded.splits import check, covidemo_parts, reman_parts

LONGEST = 256


def evaluate(
    data_dir: Path | str | None, folder: Path | str | None = None, threads: int | None = None
) -> dict[str, Any]:
    """The card's figures, by data set.

    Args: data_dir: the open data; without it only the figures on the sample data. folder: other weights than the
    committed ones.

    Raises: BadInput naming the file of the data that is missing or malformed; ModelError where MiniLM is not there.
    """
    if threads is not None:
        use_threads(threads)
    weights = Weights(base_files(), Path(folder) if folder else None)
    if data_dir is not None:
        check(Path(data_dir))
    on_samples: dict[str, Any] = {
        "sample data, span F1": sample_span_figures(clause_texts(weights, sample_passages())),
        "sample scenes": _scenes(weights),
    }
    if data_dir is None:
        return on_samples
    data = Path(data_dir)
    emotional = [example for example in xed(data, "dev") if example.labels]
    return {
        "goemotions dev": _goemotions(weights, goemotions(data, "dev")),
        "xed dev, emotional lines": _plutchik(weights, emotional),
        "covidemo, held-out part": _plutchik(weights, covidemo_parts(data)[1]),
        "reman, held-out part, span F1": cue_figures(weights, reman_parts(data)[2])
        | {"embedded, left to choose cues or clauses": _extracted(weights, reman_parts(data)[2])},
        **on_samples,
        "marked by cue words, share of texts": _styles(weights, data),
        "masked emotion words, goemotions and xed dev": mask_accuracy(weights, data),
    }


def macro_f1(given: Floats, gold: Floats) -> float:
    """Mean over labels of F1; 0 for a label neither given nor there. Args: given, gold: (n, k) of 0 and 1."""
    both, either = (given * gold).sum(0), given.sum(0) + gold.sum(0)
    return float(np.mean(2 * both / np.maximum(either, 1)))


def _extracted(weights: Weights, passages: Sequence[Passage]) -> dict[str, float]:
    """Mean span F1 of what `extract` answers when it chooses the way of marking itself."""
    answers = EmbeddedBackend(weights).extract([Extract(passage.text) for passage in passages])
    scores = [
        span_score(
            [passage.text[start:end] for start, end in passage.spans],
            [passage.text[span.start : span.end] for span in answer],
        )
        for passage, answer in zip(passages, answers, strict=True)
    ]
    with_cues = [score for passage, score in zip(passages, scores, strict=True) if passage.spans]
    return {"all": float(np.mean(scores)), "with a cue": float(np.mean(with_cues))}


def _styles(weights: Weights, data: Path) -> dict[str, float]:
    """How often `extract`, left to choose, takes cue words; by data that the choice was not fitted on."""
    texts = {
        "reman, held-out part": [passage.text for passage in reman_parts(data)[2]],
        "goemotions dev": [example.text for example in goemotions(data, "dev")[:1000]],
        "xed dev": [example.text for example in xed(data, "dev")[:1000]],
    }
    return {
        name: float(np.mean(like_fiction(weights, weights.pieces.ids(some, LONGEST)))) for name, some in texts.items()
    }


def _goemotions(weights: Weights, examples: Sequence[Labelled]) -> dict[str, float | None]:
    ids = weights.pieces.ids([example.text for example in examples], LONGEST)
    probabilities: Floats = sigmoid(label_logits(weights.goemotions, ids).astype(float))
    gold: Floats = targets(examples, len(GOEMOTIONS)).double().numpy()
    thresholds = np.array(weights.calibration["goemotions"]["thresholds"])
    figures: dict[str, float | None] = {"macro_f1": macro_f1((probabilities >= thresholds).astype(float), gold)}
    for name, groups in LABEL_SETS.items():
        members = [[GOEMOTIONS.index(label) for label in labels] for labels in groups.values()]
        grouped = np.stack([1 - (1 - probabilities[:, columns]).prod(1) for columns in members], 1)
        there = np.stack([gold[:, columns].max(1) for columns in members], 1)
        single = gold.sum(1) == 1
        best = grouped.argmax(1)
        right = there[np.arange(len(there)), best]
        figures |= {
            f"{name}: single-label accuracy": float(right[single].mean()),
            f"{name}: most probable label is one of the gold ones": float(right.mean()),
            f"{name}: ece of the most probable label": expected_calibration_error(grouped.max(1), right),
            f"{name}: ece of the most probable label, single-label comments": expected_calibration_error(
                grouped.max(1)[single], right[single]
            ),
            f"{name}: ece over all labels": expected_calibration_error(grouped.ravel(), there.ravel()),
        }
    return figures


def _plutchik(weights: Weights, examples: Sequence[Labelled]) -> dict[str, float | None]:
    ids = weights.pieces.ids([example.text for example in examples], LONGEST)
    probabilities: Floats = sigmoid(weights.plutchik_logits(ids).astype(float))
    gold: Floats = targets(examples, len(PLUTCHIK)).double().numpy()
    given = (probabilities >= np.array(weights.calibration["plutchik"]["thresholds"])).astype(float)
    figures: dict[str, float | None] = {"macro_f1": macro_f1(given, gold)}
    for column, label in enumerate(PLUTCHIK):
        figures[f"f1: {label}"] = macro_f1(given[:, [column]], gold[:, [column]])
    figures["ece over all labels"] = expected_calibration_error(probabilities.ravel(), gold.ravel())
    return figures


def _scenes(weights: Weights) -> dict[str, float]:
    """The eight of the sample scenes as `score` gives them, and decoded as `emotui decode --folds 5` does."""
    records = sample_scenes()
    answers = EmbeddedBackend(weights).score([Score(text, PLUTCHIK) for _, text, _ in records])
    odds = [np.subtract(answer.yes, answer.no) for answer in answers if isinstance(answer, Scores)]
    gold = np.array([vector for _, _, vector in records])
    grid = Grid(temperatures=(1.0, "fitted"))
    decoded = decode_honestly([key for key, _, _ in records], np.stack(odds), gold, grid)
    given: dict[str, Floats] = {"alone": decoded.alone.astype(float), "decoded": decoded.nested_cv.astype(float)}
    figures = {}
    for name, vectors in given.items():
        figures[f"{name}: macro_f1"] = macro_f1(vectors, gold)
        figures[f"{name}: lexical accuracy"] = float((vectors == gold).mean())
    columns = enumerate(PLUTCHIK)
    return figures | {f"alone: f1: {label}": macro_f1(given["alone"][:, [at]], gold[:, [at]]) for at, label in columns}


def rows(figures: dict[str, Any], before: str = "") -> list[tuple[str, float]]:
    """The figures as flat rows, `data: figure` and value, in order; the model card's table is made of them."""
    flat: list[tuple[str, float]] = []
    for name, value in figures.items():
        key = f"{before}: {name}" if before else name
        flat += rows(value, key) if isinstance(value, dict) else [(key, value)]
    return flat
