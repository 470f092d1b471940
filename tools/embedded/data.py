"""The open data that the adapters are trained on, read from the folder given with `--data`. None of it is committed."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TypeVar

from emotui.backends.embedded.backend import GOEMOTIONS
from emotui.errors import BadInput
from emotui.records import PLUTCHIK

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text and the indices of its labels (none: neutral, or nothing of the label set)."""

    text: str
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with spans of evidence, half open in code points, in order, none overlapping."""

    text: str
    spans: tuple[tuple[int, int], ...]
    group: str


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise BadInput(f"{path}: no such file: --data names the folder that holds goemotions/, xed/, reman/, covidemo/")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}:{error.object.count(10, 0, error.start) + 1}: not UTF-8") from None
    # Only newlines end a line here: comments hold other characters that `splitlines` would break at.
    return text.rstrip("\n").split("\n")


def goemotions_labels(data: Path) -> tuple[str, ...]:
    """The 28 label names in their published order."""
    return tuple(_lines(data / "goemotions" / "emotions.txt"))


def goemotions(data: Path, part: str) -> list[Labelled]:
    """GoEmotions (Demszky et al. 2020), part `train` or `dev`."""
    path = data / "goemotions" / f"{part}.tsv"
    examples = []
    for number, line in enumerate(_lines(path), 1):
        try:
            text, named, _ = line.split("\t")
            labels = tuple(map(int, named.split(",")))
        except ValueError:
            raise BadInput(f"{path}:{number}: not TEXT, LABEL NUMBERS and ID between tabs") from None
        if any(label not in range(len(GOEMOTIONS)) for label in labels):
            raise BadInput(f"{path}:{number}: a label that is not one of 0 to {len(GOEMOTIONS) - 1}")
        examples.append(Labelled(text, labels))
    return examples


def _plutchik(path: Path, part: str | None) -> list[Labelled]:
    examples = []
    for number, line in enumerate(_lines(path), 1):
        try:
            record = json.loads(line)
            if part is None or record["split"] == part:
                labels = tuple(PLUTCHIK.index(label) for label in record["labels"])
                examples.append(Labelled(record["text"], labels))
        except (ValueError, KeyError, TypeError):
            raise BadInput(f"{path}:{number}: not a record with text and labels of Plutchik's eight") from None
    return examples


def xed(data: Path, part: str) -> list[Labelled]:
    """XED English (Öhman et al. 2020), part `train` or `dev`; neutral lines have no labels."""
    return _plutchik(data / "xed" / "xed_plutchik8.jsonl", part)


def covidemo(data: Path) -> list[Labelled]:
    """CovidEmo (Sosea et al. 2022), the part that is there."""
    return _plutchik(data / "covidemo" / "covidemo_plutchik8_dev.jsonl", None)


def _joined(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def reman(data: Path) -> list[Passage]:
    """REMAN 1.0 (Kim and Klinger 2018): passages of fiction with their emotion cues; the group is the book.

    Cues of several annotators or several emotions that overlap are joined into one span.
    """
    path = data / "reman" / "reman_spans.jsonl"
    passages = []
    for number, line in enumerate(_lines(path), 1):
        try:
            record = json.loads(line)
            spans = _joined([(span["start"], span["end"]) for span in record["emotion_spans"]])
            passage = Passage(record["text"], spans, record["book_title"])
        except (ValueError, KeyError, TypeError):
            raise BadInput(f"{path}:{number}: not a record with text and emotion_spans") from None
        if any(not 0 <= start < end <= len(passage.text) for start, end in spans):
            raise BadInput(f"{path}:{number}: a span that does not lie in the text")
        passages.append(passage)
    return passages


def split_off(examples: Sequence[T], share: float, seed: int) -> tuple[list[T], list[T]]:
    """`(kept, held out)`: a seeded random `share` of the examples is held out; both keep the examples' order."""
    out = set(random.Random(seed).sample(range(len(examples)), round(share * len(examples))))
    kept = [example for index, example in enumerate(examples) if index not in out]
    return kept, [example for index, example in enumerate(examples) if index in out]


def sample_passages() -> list[Passage]:
    """This project's own sample sentences and passages with their gold spans; the group is the file."""
    passages = []
    for name in ("spans_sentences", "spans_passages"):
        file = resources.files("emotui.sample_data") / f"{name}.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            spans = tuple((start, end) for start, end in record["spans"])
            passages.append(Passage(record["text"], spans, name))
    return passages


def sample_scenes() -> list[tuple[str, str, list[float]]]:
    """Id, text and gold vector (Plutchik's eight) of this project's own sample scenes."""
    file = resources.files("emotui.sample_data") / "scenes.jsonl"
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        (record["id"], record["text"], [float(record["labels"][emotion]) for emotion in PLUTCHIK]) for record in records
    ]
