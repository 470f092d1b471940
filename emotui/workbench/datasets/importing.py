"""A file of any hand: what it was taken for and how its records will be, and then into the store."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emotui.bounded import expanded, is_there
from emotui.errors import BadInput
from emotui.formats import check_not_over, write_text
from emotui.formats.beside import SAID, lifted
from emotui.formats.json_document import present, to_json_document
from emotui.formats.layouts.layout import KeptMapping, ReadOptions, mapping_text, read_mapping
from emotui.formats.reading import capped
from emotui.formats.rows import literal
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.datasets.foreign import Foreign, Wish, dataset_name, import_foreign, read_foreign
from emotui.workbench.datasets.sets import delete
from emotui.workbench.progress import OnStep, silent

SHOWN = 3
"""Records that are shown as they will be."""

_LONGEST = 400
"""Characters of a record that are shown."""
_MOST_NAMES = 8
_LOOKED_AT = 1000
"""Samples whose own columns are named."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person typed about a file; empty: it is found out.

    Attributes:
        columns: `FIELD=COLUMN`, between commas.
        mapping: a TOML file that is read where it is there, and written when the file has been brought in.
        skip_bad: rows that are wrong are left out.
    """

    path: str
    columns: str = ""
    kind: str = ""
    layout: str = ""
    name: str = ""
    mapping: str = ""
    skip_bad: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a file gave.

    Attributes:
        lines: what it is taken for.
        first: its first records, by their keys.
        n: how many good records there are.
        name: of the dataset that they will be.
        wrong: a line for each row that is wrong, the first twenty.
    """

    lines: tuple[str, ...]
    first: tuple[Mapping[str, Any], ...]
    n: int
    name: str
    wrong: tuple[str, ...] = ()


class Importing:
    """What the sheet of the workbench asks; each reads the file, tells how far it is, and ends where that raises."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def look(self, asked: Asked, on_step: OnStep = silent) -> Look:
        """What the file is taken for, its first records as they will be, and which rows are wrong.

        Raises:
            BadInput: it cannot be read, or no row of it is good.
        """
        found = read_foreign([_path(asked)], _wish(asked), skip_bad=True, on_step=on_step)
        first = tuple(_records(found))
        name = asked.name or dataset_name(_path(asked))
        return Look(tuple(described(found)), first, len(found.samples), name, capped(found.skipped))

    def bring_in(self, asked: Asked, on_step: OnStep = silent) -> Dataset:
        """The file as a dataset; the mapping is kept where a file for it was named.

        Raises:
            BadInput: it cannot be read; rows of it are wrong and not to be left out, a line each; the name belongs to
                other samples; or the mapping cannot be written.
        """
        if asked.mapping:
            check_not_over(expanded(asked.mapping), _path(asked), self._store.path)
        dataset, found = import_foreign(
            self._store,
            [_path(asked)],
            _wish(asked),
            asked.name or None,
            skip_bad=asked.skip_bad,
            warn=lambda line: None,
            on_step=on_step,
        )
        if asked.mapping:
            save_mapping(str(expanded(asked.mapping)), found)
        return dataset

    def take_back(self, name: str) -> None:
        """Put a dataset into the trash. Raises BadInput where there is none, or a run over it is going on."""
        delete(self._store, name)


def columns_in(text: str) -> dict[str, str]:
    """Field to column from `FIELD=COLUMN,...`. Raises BadInput where one of both is missing."""
    found: dict[str, str] = {}
    for part in (part for part in text.split(",") if part.strip()):
        field, sign, column = part.partition("=")
        if not field.strip() or not sign:
            raise BadInput(f"{literal(part)}: write a field and its column: text=Tweet (text= for none)")
        found[field.strip()] = column.strip()
    return found


def described(found: Foreign) -> Iterator[str]:
    """What files were taken for and why, which column is what, and what has no place in the records."""
    for taken in found.taken:
        yield f"{taken.place}: taken for {taken.layout.name}, because {taken.why}"
        if taken.options.columns:
            yield f"  {literal(_columns(taken.options))}"
        yield from (f"  {remark}" for remark in taken.options.remarks)
    named = (name for sample in found.samples[:_LOOKED_AT] for name in getattr(sample, "meta", ()))
    own = dict.fromkeys(name for name in named if name not in (*SAID, "annotators"))
    if own:
        more = f" and {len(own) - _MOST_NAMES} more" if len(own) > _MOST_NAMES else ""
        yield f"  own columns, kept: {literal(', '.join(list(own)[:_MOST_NAMES]))}{more}"
    yield f"  records: {found.task.files.kind}{_said(found.samples)}"
    for note in found.notes:
        yield f"  {note}"


def first_records(found: Foreign) -> Iterator[str]:
    """The first records as they will be, one a line."""
    for record in _records(found):
        text = to_json_document(record)
        yield text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _records(found: Foreign) -> Iterator[Mapping[str, Any]]:
    """The first records by their keys."""
    for sample in found.samples[:SHOWN]:
        yield lifted(type(sample), present(sample))


def save_mapping(path: str, found: Foreign) -> None:
    """Keep what the first file was taken for. Raises BadInput where it cannot be written."""
    taken = found.taken[0]
    kept = KeptMapping(taken.layout.name, found.task.files.kind, taken.options)
    write_text(path, mapping_text(kept))


def with_mapping(kept: KeptMapping, kind: str | None, layout: str | None, options: ReadOptions) -> Wish:
    """What a person says, and where they do not, what a mapping's file says."""
    together = ReadOptions(
        options.delimiter or kept.options.delimiter,
        options.encoding or kept.options.encoding,
        {**kept.options.columns, **options.columns},
        options.label_names or kept.options.label_names,
    )
    return Wish(kind or kept.kind, layout or kept.layout, together)


def _path(asked: Asked) -> str:
    return str(expanded(asked.path))


def _wish(asked: Asked) -> Wish:
    columns: Mapping[str, str] = columns_in(asked.columns)
    wish = Wish(asked.kind or None, asked.layout or None, ReadOptions(columns=columns))
    mapping = expanded(asked.mapping) if asked.mapping else None
    if mapping is None or not is_there(mapping):
        return wish
    return with_mapping(read_mapping(str(mapping)), wish.kind, wish.layout, wish.options)


def _columns(options: ReadOptions) -> str:
    """Which column is what, those of labels and numbers in one."""
    single = [f"{key} = {column}" for key, column in options.columns.items() if column and "." not in key]
    for kind in ("labels", "values", "people"):
        names = [key.removeprefix(f"{kind}.") for key in options.columns if key.startswith(f"{kind}.")]
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        single += [f"{kind} = a column each for {', '.join(names[:_MOST_NAMES])}{more}"] * bool(names)
    return ", ".join(single)


def _said(samples: Sequence[Any]) -> str:
    """How many of the samples nothing is said of."""
    fields = [name for name in ("spans", "labels", "label", "values") if hasattr(samples[0], name)]
    silent = sum(all(getattr(sample, name) is None for name in fields) for sample in samples)
    return f", {silent:,} of {len(samples):,} unlabelled" if silent else ""
