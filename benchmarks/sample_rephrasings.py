"""Write `sample_data/rephrasings.jsonl` anew: the sample originals and candidates, with the embedded model's verdicts.

    python benchmarks/sample_rephrasings.py

Run it after the embedded model has changed. A chain takes its candidates in their order, ends at the first that the
model gets wrong, and at four; an original that the model gets wrong has none. `rephrasings_variants.jsonl` is written
beside it: each original that the model gets right, reworded by the rule of `plainer`.
"""

import re
from pathlib import Path

import msgspec

from emotui.backends.base import Classify
from emotui.backends.host import ModelProcess
from emotui.formats import write
from emotui.records import Attempt, Chain, ClassGold

FOLDER = Path(__file__).resolve().parent.parent / "sample_data"
MOST = 4


class Candidates(msgspec.Struct):
    """An original with the rephrasings written for it, the most explicit first."""

    id: str
    text: str
    label: str
    candidates: list[str]
    skipped: bool = False


def main() -> None:
    lines = (FOLDER / "rephrasings_candidates.jsonl").read_bytes().splitlines()
    samples = [msgspec.json.decode(line, type=Candidates) for line in lines]
    with ModelProcess("embedded") as model:

        def verdicts(label: str, texts: list[str]) -> list[Attempt]:
            found = model.ask([Classify(text, "goemotions") for text in texts])
            said = ((text, one.label, round(one.probs[label], 4)) for text, one in zip(texts, found, strict=True))
            return [Attempt(text=text, predicted=given, confidence=p) for text, given, p in said]

        chains = [chain(one, verdicts(one.label, [one.text, *one.candidates])) for one in samples]
    write(FOLDER / "rephrasings.jsonl", chains)
    right = [one for one in chains if one.predicted == one.label]
    variants = [ClassGold(id=one.id, text=plainer(one.text), label=one.label) for one in right]
    write(FOLDER / "rephrasings_variants.jsonl", variants)
    print(f"{len(chains)} originals, {len(right)} of them right")
    for k in range(1, MOST + 1):
        print(f"at attempt {k}: {sum(len(one.attempts) == k and succeeded(one) for one in right)}")
    failed = [one.id for one in right if len(one.attempts) == MOST and not succeeded(one)]
    skipped = [one.id for one in right if one.skipped]
    closed = {*failed, *skipped, *(one.id for one in right if succeeded(one))}
    print("failed:", *failed)
    print("skipped:", *skipped)
    print("open:", *(one.id for one in right if one.id not in closed))
    print("wrong:", *(one.id for one in chains if one.predicted != one.label))


def succeeded(one: Chain) -> bool:
    """Whether the last attempt was given another label."""
    return bool(one.attempts) and one.attempts[-1].predicted != one.label


def chain(sample: Candidates, said: list[Attempt]) -> Chain:
    """Args: said: the verdicts on the original and on each candidate."""
    first, *tried = said
    if first.predicted != sample.label:
        tried = []
    wrong = [place for place, attempt in enumerate(tried) if attempt.predicted != sample.label]
    return Chain(
        id=sample.id,
        text=sample.text,
        label=sample.label,
        predicted=first.predicted,
        attempts=tuple(tried[: wrong[0] + 1 if wrong else MOST]),
        skipped=sample.skipped and first.predicted == sample.label and not wrong,
        annotator="sample",
    )


_FULL = {"I'm": "I am", "it's": "it is", "that's": "that is", "don't": "do not", "can't": "cannot", "I'd": "I would"}
_STRONG = re.compile(r" so (?:much|badly)(?=[,.!?])|\b(?:so|such|really|very|absolutely|simply|far) ", re.IGNORECASE)


def plainer(text: str) -> str:
    """Contractions in full, words that only strengthen left out, and full stops in place of exclamation marks."""
    for short, full in _FULL.items():
        text = re.sub(rf"\b{short}\b", full, text)
        text = re.sub(rf"\b{short.capitalize()}\b", full.capitalize(), text) if short[0] != "I" else text
    text = _STRONG.sub("", text).replace("!", ".")
    return text[:1].upper() + text[1:]


if __name__ == "__main__":
    main()
