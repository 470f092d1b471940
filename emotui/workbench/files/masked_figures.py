"""Figures over several predictions of one file of masked gold records: errors, words, differences, sizes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.backends.host import ModelProcess
from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import capped, check_writable, read, write, write_text
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.metrics.masked import MaskScore, fold
from emotui.metrics.masked_errors import normalised_mispredictions, word_counts
from emotui.metrics.masked_pairs import compare_masks
from emotui.metrics.paired import Alternative
from emotui.records import MaskedGold, MaskedPrediction, ValuesGold
from emotui.store.store import Store
from emotui.tasks.asking import UNFINISHED
from emotui.tasks.masked.examples import SHOTS, Examples, nearest_examples, random_examples
from emotui.tasks.masked.lexicon import UNLIKE_PAPER_BESIDE, WordVectors, told_of_scale, word_vectors
from emotui.tasks.masked.published import published
from emotui.tasks.masked.task import miscounted, problem, scored_words
from emotui.tasks.masked.word_questions import OTHERS, WordChoice, choice_for, questions
from emotui.workbench.files.build_masked import Building, build_file
from emotui.workbench.files.predict import predict
from emotui.workbench.slices.near import kept_embeddings

# A file of words to records that people annotate by the scheme `emolex`.


def questions_from(path: str, seed: int) -> list[ValuesGold]:
    """A record for each word of a file.

    A line is a word, or a word with one near it in meaning and three that are not, between commas. A word alone gets
    these from this project's list of emotion words.

    Raises:
        BadInput: the file cannot be read, a word stands twice, is not on the list and has no words beside it, or a line
            is neither; with the line.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        place = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{literal(path)}:{place}: not UTF-8") from error
    found: dict[str, WordChoice] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [fold(cell) for cell in line.split(",")]
        if not any(cells):
            continue
        choice = _choice(cells, seed)
        if isinstance(choice, str):
            problems.append(f"{literal(path)}:{number}: {choice}")
        elif choice.word in found:
            problems.append(f"{literal(path)}:{number}: {literal(choice.word)} stands here twice")
        else:
            found[choice.word] = choice
    if problems:
        raise BadInput(*capped(problems))
    if not found:
        raise BadInput(f"{literal(path)}:1: no word in it")
    return questions(list(found.values()), seed)


def write_questions(records: list[ValuesGold], to: str) -> None:
    """The records, in the format of the file's ending. Raises BadInput where it cannot be written."""
    check_writable(to)
    write(to, records)


def _choice(cells: list[str], seed: int) -> WordChoice | str:
    if len(cells) == 1:
        made = choice_for(cells[0], seed)
        return made or f"{literal(cells[0])} is not on emotui's list: write it as word,near,other,other,other"
    if len(cells) != 2 + OTHERS or not all(cells):
        return "neither a word nor word,near,other,other,other"
    if len(set(cells)) < len(cells):
        return "a word stands twice among its choices"
    return WordChoice(cells[0], cells[1], tuple(cells[2:]))


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
