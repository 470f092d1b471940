"""Figures over several predictions of masked gold records, of files or a store: errors, words, differences, sizes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.backends.host import ModelProcess
from emotui.errors import BadInput
from emotui.formats import capped, read, write, write_text
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.metrics.masked import MaskScore
from emotui.metrics.masked_errors import normalised_mispredictions, word_counts
from emotui.metrics.masked_pairs import compare_masks
from emotui.metrics.paired import Alternative
from emotui.records import MaskedGold, MaskedPrediction
from emotui.store.store import Store
from emotui.tasks.asking import UNFINISHED
from emotui.tasks.masked.baselines import Detail
from emotui.tasks.masked.examples import SHOTS, Examples, nearest_examples, random_examples
from emotui.tasks.masked.lexicon import UNLIKE_PAPER_BESIDE, WordVectors, told_of_scale, word_vectors
from emotui.tasks.masked.task import miscounted, problem, scored_words
from emotui.tasks.published import express_table
from emotui.workbench.compare.sources import Compared
from emotui.workbench.files.predict import predict
from emotui.workbench.masked.building import Building, build_file
from emotui.workbench.masked.lexicons import MASKED, check_one_lexicon, lexicons_of
from emotui.workbench.runs.compared import both_sources
from emotui.workbench.slices.near import kept_embeddings

# Files of examples for few-shot prompts about masked texts: drawn ones, or the nearest by a model's embeddings.

CHOICES = ("random", "nearest")


def choose_examples(
    records: str,
    pool: str | None,
    choice: str,
    *,
    encoder: str = "embedded",
    seed: int = 0,
    shots: int = SHOTS,
    store: Store | None = None,
    warn: Warn,
) -> list[Examples]:
    """The examples about each record.

    Args:
        pool: the file that examples are taken from; None: the records themselves.
        choice: one of `CHOICES`.
        encoder: a model that embeds, for the nearest.
        store: where embeddings are kept.

    Raises:
        BadInput: a record has no text, or another number of words than masks; with the line.
        ModelError: the encoder cannot embed.
    """
    targets = _read(records)
    others = _read(pool) if pool is not None and pool != records else targets
    if choice == "random":
        found = random_examples(targets, others, seed, shots)
    else:
        every = [*targets, *others] if others is not targets else targets
        with ModelProcess(encoder) as model:
            vectors = kept_embeddings(model, [sample.text or "" for sample in every], store)
        unfinished = [one.id for one, vector in zip(every, vectors, strict=True) if vector[:1] != vector[:1]]
        if unfinished:
            named = ", ".join(map(literal, unfinished[:3]))
            warn(f"{literal(records)}: {len(unfinished)} records have no examples and are none ({named}): {UNFINISHED}")
        apart = len(targets) if others is not targets else 0
        found = nearest_examples(targets, others, vectors[: len(targets)], vectors[apart:], shots)
    short = [one.id for one in found if len(one.examples) < shots]
    if short:
        named = ", ".join(map(literal, short[:3]))
        warn(f"{literal(records)}: {len(short)} records have fewer than {shots} others with as many masks ({named})")
    return found


def write_examples(found: Sequence[Examples], to: str) -> None:
    """One a line, as JSON Lines. Raises BadInput where it cannot be written."""
    write_text(to, b"".join(msgspec.json.encode(one) + b"\n" for one in found).decode())


def _read(path: str) -> list[MaskedGold]:
    got = read(path, MaskedGold)
    wrong = [
        f"{literal(path)}:{line}: {why}"
        for record, line in zip(got.records, got.lines, strict=True)
        if (why := problem(record)) is not None
    ]
    if wrong:
        raise BadInput(*capped(wrong))
    return got.records


# A model over the segments of posts and over the posts whole: Table 4 of EXPRESS with one's own.

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
        "published": express_table("A.6")["cite"],
    }


def compare(gold: str, a: str, b: str, words: WordVectors, score: str, alternative: Alternative) -> dict[str, Any]:
    """How one file of predictions stands to another, mask by mask. Raises BadInput as `errors`."""
    golds = _gold(gold)
    first, second = (_scored(path, golds, gold, words) for path in (a, b))
    return compare_masks(first, second, score, alternative)


# Two sources of a dataset of masked words, mask by mask: the document of `emotui masked compare --runs`.


def compare_sources(
    store: Store, first: str, second: str, words: WordVectors | None, score: str, alternative: Alternative
) -> dict[str, Any]:
    """That of `compare_masks`, of the masks that both have, with `dataset` and `runs`; of repeats the first counts.

    Args:
        first, second: runs by id, or people and files of one dataset by name.
        words: None: those that the scores of both are by.

    Raises:
        BadInput: there is no such source, the dataset has no masks, or no text has an answer of both.
    """
    dataset, sources = both_sources(store, first, second)
    if dataset.task != MASKED:
        raise BadInput(f"{literal(dataset.name)} is of {dataset.task}: emotui compare --runs has its figures")
    if words is None:
        check_one_lexicon(store, dataset, [source.run for source in sources])
        words = next((one for one in lexicons_of(store, dataset, [sources[0].run]) if one is not None), word_vectors())
    a, b = (_details(store, source) for source in sources)
    ids = [key for key in a if key in b]
    if not ids:
        raise BadInput("no text has a scored answer of both: emotui rescore RUN may give it")
    gold = {key: a[key].gold for key in ids}
    scored = [words.scored(gold, {key: said[key].predicted for key in ids}) for said in (a, b)]
    named = {"dataset": dataset.name, "runs": [source.key for source in sources], "texts": len(ids)}
    return named | compare_masks(scored[0], scored[1], score, alternative)


def _details(store: Store, source: Compared) -> dict[str, Detail]:
    """By id what a source said first."""
    if source.run is None:
        raise BadInput(f"{literal(source.name)} is inside the records, and has no scores that are kept")
    found: dict[str, Detail] = {}
    for outcome in store.results.outcomes(source.run):
        if outcome.detail is not None:
            detail = msgspec.json.decode(outcome.detail, type=Detail)
            found.setdefault(detail.id, detail)
    return found


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
        for row in express_table("3")["rows"]
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
