"""Examples for prompts, from a file of rephrasing chains or of labelled texts."""

import msgspec

from emotui.formats import read
from emotui.records import Attempt
from emotui.tasks.rephrase.prompts import Example


class _Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """A chain or a labelled text, as far as an example needs it."""

    id: str
    text: str
    label: str
    attempts: tuple[Attempt, ...] = ()


def read_examples(path: str) -> list[Example]:
    """The labelled texts of a file; of a chain its original, with the attempts as its rephrasings.

    Raises:
        BadInput: the file cannot be read, or a record of it is none of both; a line each.
    """
    return [
        Example(record.id, record.text, record.label, tuple(attempt.text for attempt in record.attempts))
        for record in read(path, _Labelled).records
    ]
