"""Files of examples for few-shot prompts about masked texts: drawn ones, or the nearest by a model's embeddings."""

from collections.abc import Sequence

import msgspec

from emotui.backends.host import ModelProcess
from emotui.errors import BadInput
from emotui.formats import capped, read, write_text
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.records import MaskedGold
from emotui.store.store import Store
from emotui.tasks.embedding import UNFINISHED
from emotui.tasks.masked.examples import SHOTS, Examples, nearest_examples, random_examples
from emotui.tasks.masked.task import problem
from emotui.workbench.models.kept_embeddings import kept_embeddings

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
