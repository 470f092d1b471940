"""Options that name a file or folder which a command writes; none of them may name what the command reads."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.formats.written import check_not_over

_NO_FILES = frozenset({"names", "name", "runs", "run", "dataset", "annotator", "query", "kind"})
"""Parameters that name something in a store, or are words, even where a file is called so."""


_FORCED = "emotui.forced"
"""Where a call notes that `--force` is given."""


class WrittenOption(click.Option):
    """An option whose value is the place that the command writes to.

    `kept`: whether a file that is there already, which a person may have changed, is replaced only by `--force`.
    """

    def __init__(self, *args: Any, kept: bool = False, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.kept = kept


def written_option(*names: str, kept: bool = False, **settings: Any) -> Callable[[Any], Any]:
    """An option for a place that is written. It is refused, before work begins, where it is a file that is read.

    Args:
        kept: refuse any file that is there, unless the option `--force`, which this adds, is given.
    """
    place = click.option(*names, cls=WrittenOption, kept=kept, **settings)
    if not kept:
        return place
    words = f"Replace the file of {names[0]} where it is there already."
    force = click.option("--force", is_flag=True, expose_value=False, callback=_note_force, help=words)
    return lambda command: place(force(command))


def _note_force(context: click.Context, param: click.Parameter, value: bool) -> None:
    context.meta[_FORCED] = value


def check_inputs_kept(context: click.Context) -> None:
    """Raises: BadInput where a place to write is one of the files that the command was given, or its store."""
    written = [param for param in context.command.params if isinstance(param, WrittenOption)]
    targets = {param: value for param in written if (value := context.params.get(str(param.name))) not in (None, "-")}
    if not targets:
        return
    names = {param.name for param in written} | _NO_FILES
    given = {name: value for name, value in context.params.items() if name not in names and name != "db"}
    inputs = [*_files(given), *_store(context)]
    for param, target in targets.items():
        check_not_over(target, *inputs, what=param.opts[0])
        if (folder := _read_with(target, inputs)) is not None:
            name = f"{param.opts[0]} {literal(target)}"
            raise BadInput(f"{name} is a part of {literal(str(folder))}, which would be lost: name another file")
        if param.kept and not context.meta.get(_FORCED) and _holds_something(target):
            raise BadInput(f"{param.opts[0]} {literal(target)} is there already: name another file, or say --force")


def _holds_something(target: str) -> bool:
    """Whether a file is there that has anything in it."""
    return os.path.isfile(target) and os.path.getsize(target) > 0  # noqa: PTH113, PTH202 - they take any text


def _read_with(target: str, inputs: Iterable[str | Path]) -> str | Path | None:
    """The folder among the inputs of which a Parquet file is a part; None where there is none."""
    if not target.lower().endswith(".parquet") or not os.path.isfile(target):  # noqa: PTH113 - it takes any text
        return None
    real = Path(os.path.realpath(target))
    folders = (one for one in inputs if os.path.isdir(one))  # noqa: PTH112 - likewise
    return next((one for one in folders if real.is_relative_to(os.path.realpath(one))), None)


def _files(given: Mapping[str, object]) -> Iterator[str]:
    """What may be a file among the values: each, and the parts of one such as `BT-1=a.jsonl` or `NAME=hf:A,hf:B`."""
    for value in given.values():
        for text in value if isinstance(value, tuple) else (value,):
            if not isinstance(text, str):
                continue
            yield text
            for part in text.partition("=")[2].split(",") if "=" in text else [text]:
                kind, colon, argument = part.partition(":")
                yield argument if colon and kind.isalpha() else part


def _store(context: click.Context) -> Iterator[str | Path]:
    """The store of a command that opens one, with its write-ahead log."""
    if "db" not in context.params:
        return
    from emotui.store.store import default_path

    path = Path(context.params["db"] or default_path())
    yield path
    yield path.with_name(path.name + ".wal")
