"""What `emotui import` does with files of other hands: says what it took them for, shows them, brings them in."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from emotui.commands.output import print_json, warn
from emotui.errors import BadInput
from emotui.formats.json_document import present, to_json_document
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.mapping import KeptMapping, mapping_text
from emotui.formats.layouts.reading import Taken
from emotui.formats.rows import literal
from emotui.workbench.datasets.foreign import Foreign, Wish, import_foreign, read_foreign
from emotui.workbench.workspace import Workspace

_SHOWN = 3
_LONGEST = 400
"""Characters of a record that are shown."""
_MOST_NAMES = 8
_LOOKED_AT = 1000
"""Samples whose own columns are named."""


def bring_in(
    files: Sequence[str],
    wish: Wish,
    name: str | None,
    save_map: str | None,
    *,
    dry_run: bool,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Read the files, and import them where it is no dry run; print what they were taken for."""
    if dry_run:
        found = read_foreign(files, wish, skip_bad=skip_bad)
        for line in found.skipped:
            warn(f"skipped {line}")
        document: dict[str, object] = {"dataset": None}
    else:
        dataset, found = import_foreign(Workspace.open(db).store, files, wish, name, skip_bad=skip_bad, warn=warn)
        document = {"dataset": dataset.name, "fingerprint": dataset.fingerprint}
    if save_map is not None:
        _save(save_map, found)
    if as_json:
        print_json(document | _document(found))
        return
    for line in _lines(found):
        click.echo(line)
    if dry_run:
        for sample in found.samples[:_SHOWN]:
            click.echo(_cut(to_json_document(present(sample))))
        click.echo(f"{len(found.samples):,} samples of {found.task.files.kind}; nothing was written")
    else:
        click.echo(f"{dataset.name}: {dataset.n} samples")


def _lines(found: Foreign) -> Iterator[str]:
    """What files were taken for and why, and which column is what."""
    for taken in found.taken:
        yield f"{taken.place}: taken for {taken.layout.name}, because {taken.why}"
        if taken.options.columns:
            yield f"  {literal(_columns(taken.options))}"
    own = dict.fromkeys(name for sample in found.samples[:_LOOKED_AT] for name in getattr(sample, "meta", ()))
    if own:
        more = f" and {len(own) - _MOST_NAMES} more" if len(own) > _MOST_NAMES else ""
        yield f"  own columns, kept: {literal(', '.join(list(own)[:_MOST_NAMES]))}{more}"
    yield f"  records: {found.task.files.kind}{_said(found.samples)}"
    for note in found.notes:
        yield f"  {note}"


def _columns(options: ReadOptions) -> str:
    """Which column is what, those of labels and numbers in one."""
    single = [f"{key} = {column}" for key, column in options.columns.items() if "." not in key]
    for kind in ("labels", "values"):
        names = [key.removeprefix(f"{kind}.") for key in options.columns if key.startswith(f"{kind}.")]
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        single += [f"{kind} = a column each for {', '.join(names[:_MOST_NAMES])}{more}"] * bool(names)
    return ", ".join(single)


def _said(samples: Sequence[Any]) -> str:
    """How many of the samples nothing is said of."""
    fields = [name for name in ("spans", "labels", "label", "values") if hasattr(samples[0], name)]
    silent = sum(all(getattr(sample, name) is None for name in fields) for sample in samples)
    return f", {silent:,} of {len(samples):,} unlabelled" if silent else ""


def _document(found: Foreign) -> dict[str, object]:
    return {
        "task": found.task.name,
        "kind": found.task.files.kind,
        "n": len(found.samples),
        "files": [
            {
                "file": str(taken.path),
                "format": taken.layout.name,
                "why": taken.why,
                "columns": dict(taken.options.columns),
                "delimiter": taken.options.delimiter,
                "encoding": taken.options.encoding,
            }
            for taken in found.taken
        ],
        "skipped": list(found.skipped),
        "notes": list(found.notes),
        "first": [present(sample) for sample in found.samples[:_SHOWN]],
    }


def _save(path: str, found: Foreign) -> None:
    """Keep what the first file was taken for. Raises BadInput where it cannot be written."""
    taken: Taken = found.taken[0]
    kept = KeptMapping(taken.layout.name, found.task.files.kind, taken.options)
    try:
        Path(path).write_text(mapping_text(kept), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
