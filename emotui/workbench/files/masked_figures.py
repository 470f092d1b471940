"""Figures over several predictions of one file of masked gold records: errors, words, differences, sizes."""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.formats.rows import literal
from emotui.metrics.masked import MaskScore
from emotui.metrics.masked_errors import normalised_mispredictions, word_counts
from emotui.metrics.masked_pairs import compare_masks
from emotui.metrics.paired import Alternative
from emotui.records import MaskedGold, MaskedPrediction
from emotui.tasks.masked.lexicon import UNLIKE_PAPER_BESIDE, WordVectors, told_of_scale
from emotui.tasks.masked.published import published
from emotui.tasks.masked.task import miscounted

Words = Mapping[str, Sequence[str]]


def errors(
    gold: str, predicted: Mapping[str, str], words: WordVectors, *, least: int, top: int, listed: int
) -> dict[str, Any]:
    """Normalised mispredictions over all predictions together, and the words that people and models use.

    Args:
        predicted: files by name.
        least: masks that a gold word must have to be listed among the mispredictions.
        top, listed: how many mispredictions and words are told.

    Raises:
        BadInput: a file cannot be read, or is not about the gold records.
    """
    golds = _gold(gold)
    said = {name: _said(path, golds, gold) for name, path in predicted.items()}
    models = [words.scored(golds, one) for one in said.values()]
    return {
        "n": len(golds),
        "masks": sum(map(len, golds.values())),
        "least": least,
        "mispredictions": normalised_mispredictions(models, least, words.supplement)[:top],
        "words": word_counts(golds, said, listed),
        "published": published("A.6")["cite"],
    }


def compare(gold: str, a: str, b: str, words: WordVectors, score: str, alternative: Alternative) -> dict[str, Any]:
    """How one file of predictions stands to another, mask by mask. Raises BadInput as `errors`."""
    golds = _gold(gold)
    first, second = (_scored(path, golds, gold, words) for path in (a, b))
    return compare_masks(first, second, score, alternative)


def sizes(gold: str | None, models: Sequence[tuple[str, float, str]], words: WordVectors) -> dict[str, Any]:
    """Accuracy by vectors against size (Figure 2): the paper's models, and those of files by name and size.

    Args:
        models: name, size in thousand millions of weights, file of predictions.

    Raises:
        BadInput: as `errors`; a size is not above 0; or there are models and no gold.
    """
    if models and gold is None:
        raise BadInput("--model is scored against gold records: give --gold too")
    rows = [
        {"model": row["model"], "kind": row["kind"], "size_b": row["size_b"], "published": True}
        | row["settings"]["zero-shot"]
        for row in published("3")["rows"]
        if "size_b" in row
    ]
    golds = _gold(gold) if gold is not None else {}
    for name, size, path in models:
        if not size > 0:
            raise BadInput(f"the size of {literal(name)} is {size}: it is above 0, in thousand millions of weights")
        told = words.report(golds, _said(path, golds, str(gold)))
        figures = {key: told[key] for key in ("acc_l", "acc_v", "f1_v")}
        rows.append({"model": name, "kind": "yours", "size_b": size, "published": False} | figures)
    notes = [] if not models else [told_of_scale(words), *([] if words.express else [UNLIKE_PAPER_BESIDE])]
    return {"models": sorted(rows, key=lambda row: (row["size_b"], row["model"])), "notes": notes}


def _scored(path: str, golds: Words, gold: str, words: WordVectors) -> list[MaskScore]:
    return words.scored(golds, _said(path, golds, gold))


def _gold(path: str) -> dict[str, tuple[str, ...]]:
    got = read(path, MaskedGold)
    wrong = [
        f"{literal(path)}:{line}: {literal(record.id)}: {why}"
        for record, line in zip(got.records, got.lines, strict=True)
        if (why := miscounted(record)) is not None
    ]
    if wrong:
        raise BadInput(*capped(wrong))
    return {record.id: record.labels for record in got.records}


def _said(path: str, golds: Words, gold: str) -> dict[str, tuple[str, ...]]:
    got = read(path, MaskedPrediction)
    place = literal(path)
    problems = [
        f"{place}:{line}: {literal(record.id)}: no record of {literal(gold)} has this id"
        for record, line in zip(got.records, got.lines, strict=True)
        if record.id not in golds
    ]
    said = {record.id: record.labels for record in got.records}
    if lacking := [key for key in golds if key not in said]:
        named = ", ".join(map(literal, lacking[:3]))
        problems.append(f"{place}: {len(lacking)} of {len(golds)} gold ids have no prediction ({named})")
    if problems:
        raise BadInput(*capped(problems))
    return said
