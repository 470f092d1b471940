"""A model over the segments of posts and over the posts whole: Table 4 of EXPRESS with one's own."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from emotui.formats import write
from emotui.formats.reading import Warn
from emotui.records import MaskedPrediction
from emotui.tasks.masked.lexicon import WordVectors, word_vectors
from emotui.tasks.masked.task import scored_words
from emotui.workbench.files.build_masked import Building, build_file
from emotui.workbench.files.predict import predict

SETTINGS = {"segments": True, "full posts": False}
"""By their names in the paper: whether posts are cut."""

FIGURES = ("n", "masks", "mean_words", "acc_l", "acc_v", "f1_v", "valid_answers")


def masked_lengths(
    posts: str,
    spec: str,
    how: Building,
    *,
    way: str | None,
    options: Mapping[str, object],
    lexicon: WordVectors | None = None,
    skip_bad: bool,
    warn: Warn,
) -> dict[str, Any]:
    """Build a file of posts twice, ask the model about both, and score both: the masks are the same.

    Args:
        how: what words and tokenizer posts are built by.
        lexicon: what words are compared by; None: the usual one.

    Returns:
        `model`, `way`, and `settings`: the figures of each, with `failed`, how many texts were refused.

    Raises:
        BadInput: as `build_file` and `predict`.
        ModelError: as `predict`.
    """
    found: dict[str, Any] = {}
    for name, segmented in SETTINGS.items():
        built = build_file(
            posts, replace(how, segmented=segmented), skip_bad=skip_bad, warn=warn if segmented else _told
        )
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "records.jsonl")
            write(path, built.records)
            said = predict("masked", spec, path, way=way, options=options, warn=warn if segmented else _told)
        answers = {one.id: one for one in said.answers if isinstance(one, MaskedPrediction)}
        said.answers.close()
        records = [record for record in built.records if record.id in answers]
        told = scored_words(records, list(answers.values()), lexicon or word_vectors())
        found[name] = {key: told.get(key) for key in FIGURES} | {"failed": said.answers.failed}
        if said.stopped is not None:
            warn(f"{name}: {said.stopped}: {len(records)} of {said.n} texts are answered")
    return {"model": spec, "way": way, "settings": found}


def _told(line: str) -> None:
    """It was told of the segments."""
