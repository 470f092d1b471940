"""Which examples each figure rests on. The splits are fixed: they do not depend on the seed of the training."""

from __future__ import annotations

from pathlib import Path

from tools.embedded.data import Labelled, Passage, covidemo, goemotions, reman, split_off, xed


def goemotions_parts(data: Path) -> tuple[list[Labelled], list[Labelled]]:
    """GoEmotions train: nine tenths to train on, one tenth held out for calibration and thresholds."""
    return split_off(goemotions(data, "train"), 0.1, 0)


def xed_parts(data: Path) -> tuple[list[Labelled], list[Labelled]]:
    """Emotional lines of XED train: nine tenths to train on, one for calibration and thresholds.

    Neutral lines are left out: with them the eight labels were told apart less well (macro-F1 on dev 0.47).
    """
    kept, held = split_off(xed(data, "train"), 0.1, 0)
    return [example for example in kept if example.labels], [example for example in held if example.labels]


def covidemo_parts(data: Path) -> tuple[list[Labelled], list[Labelled]]:
    """CovidEmo's dev part: seven tenths to train on, three tenths to test on."""
    return split_off(covidemo(data), 0.3, 0)


def reman_parts(data: Path) -> tuple[list[Passage], list[Passage], list[Passage]]:
    """REMAN: passages to train on, to choose thresholds on, and (15 in 100) to test on."""
    rest, test = split_off(reman(data), 0.15, 0)
    train, held = split_off(rest, 0.12, 1)
    return train, held, test


def check(data: Path) -> None:
    """Read all of it once: what is missing or malformed is told at the beginning and not after an hour.

    Raises: BadInput naming the file, and the line where one is at fault.
    """
    for part in ("train", "dev"):
        goemotions(data, part)
    xed(data, "train")
    covidemo(data)
    reman(data)
