"""Score files of predictions against files of gold records. No store; a model only for Sim."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from emotui.backends.host import ModelProcess
from emotui.errors import BadInput
from emotui.formats import Read, capped, read
from emotui.lexicons import empath_keywords, keywords_from
from emotui.metrics.span_report import span_report
from emotui.records import SpanPrediction, SpanSample
from emotui.workbench.similarity import Embedder

Warn = Callable[[str], None]
Record = TypeVar("Record", bound=msgspec.Struct)


def score_spans(
    gold: str,
    predicted: str,
    *,
    sim: bool = True,
    keywords: str | None = None,
    per_sample: bool = False,
    skip_bad: bool = False,
    warn: Warn,
) -> dict[str, object]:
    """The document of `emotui score spans`.

    Args:
        sim: whether to compute Sim with the embedded model (it takes some seconds to load).
        keywords: a file of keywords, one a line, in place of Empath's.

    Raises:
        BadInput: a file cannot be read, or a prediction is about no gold sample.
    """
    golds = read(gold, SpanSample, skip_bad=skip_bad)
    answers = read(predicted, SpanPrediction, skip_bad=skip_bad)
    warn_skipped(golds, warn)
    warn_skipped(answers, warn)
    records = known(answers, {record.id for record in golds.records}, predicted, gold, skip_bad=skip_bad, warn=warn)
    words = keywords_from(Path(keywords)) if keywords else empath_keywords()
    if not sim:
        return span_report(golds.records, records, None, words, per_sample=per_sample)
    with ModelProcess("embedded") as model:
        return span_report(golds.records, records, Embedder(model), words, per_sample=per_sample)


def known(
    answers: Read[SpanPrediction], ids: set[str], predicted: str, gold: str, *, skip_bad: bool, warn: Warn
) -> list[SpanPrediction]:
    """The predictions whose id stands among the gold ids; the others are bad input, or left out with `skip_bad`."""
    strays = [
        f"{predicted}:{line}: no gold sample has the id {record.id!r} in {gold}"
        for record, line in zip(answers.records, answers.lines, strict=True)
        if record.id not in ids
    ]
    if strays and not skip_bad:
        raise BadInput(*capped(strays))
    for stray in strays:
        warn(stray)
    return [record for record in answers.records if record.id in ids]


def warn_skipped(answers: Read[Record], warn: Warn) -> None:
    """Say what `--skip-bad` left out."""
    for problem in answers.skipped:
        warn(f"skipped {problem}")
