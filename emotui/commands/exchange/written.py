"""Options that name a file or folder which a command writes; none of them may name what the command reads."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.formats.written import check_not_over

_NO_FILES = frozenset({"names", "name", "runs", "run", "dataset", "annotator", "query", "kind"})
"""Parameters that name something in a store, or are words, even where a file is called so."""


GoesOn = Callable[[str], bool]

_FORCED = "emotui.forced"
"""Where a call notes that `--force` is given."""


class WrittenOption(click.Option):
    """An option whose value is the place that the command writes to.

    `within`: where it is a folder, the files in it that may be written, as patterns. `new`: whether the command itself
    takes only a place where nothing is. `goes_on`: whether the command would go on with what it left at a place.
    """

    def __init__(
        self, *args: Any, within: Sequence[str] = (), new: bool = False, goes_on: GoesOn | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.within, self.new, self.goes_on = within, new, goes_on

    def refuses(self, target: str, context: click.Context) -> bool:
        """Whether files that are there keep the command from writing."""
        if self.new or context.meta.get(_FORCED) or context.params.get("resume"):
            return False
        return self.goes_on is None or not self.goes_on(target)


def written_option(
    *names: str, within: Sequence[str] = (), new: bool = False, goes_on: GoesOn | None = None, **settings: Any
) -> Callable[[Any], Any]:
    """An option for a place that is written, with the option `--force`, which is added once a command.

    Before work begins the place is refused where it is a file that is read, and, without `--force`, where anything is
    there that would be lost.

    Args:
        within, new, goes_on: as in `WrittenOption`.
    """
    place = click.option(*names, cls=WrittenOption, within=within, new=new, goes_on=goes_on, **settings)
    words = "Replace what is there already."
    force = click.option("--force", is_flag=True, expose_value=False, callback=_note_force, help=words)

    def with_force(command: Any) -> Any:
        has_it = any("--force" in param.opts for param in getattr(command, "__click_params__", ()))
        return place(command if new or has_it else force(command))

    return with_force


def _note_force(context: click.Context, param: click.Parameter, value: bool) -> None:
    context.meta[_FORCED] = value


def is_forced() -> bool:
    """Whether the call that goes on has the option `--force`."""
    return bool(click.get_current_context().meta.get(_FORCED))


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
        there = list(_there_already(param, target))
        for file in (target, *there):
            check_not_over(file, *inputs, what=param.opts[0])
        if (folder := _read_with(target, inputs)) is not None:
            name = f"{param.opts[0]} {literal(target)}"
            raise BadInput(f"{name} is a part of {literal(str(folder))}, which would be lost: name another file")
        if there and param.refuses(target, context):
            raise BadInput(f"{param.opts[0]} {literal(there[0])} is there already: name another file, or say --force")


def _there_already(param: WrittenOption, target: str) -> Iterator[str]:
    """The files with anything in them that would be written over."""
    try:
        for file in sorted(chain(*map(Path(target).glob, param.within))) if param.within else [Path(target)]:
            if file.is_file() and file.stat().st_size:
                yield str(file)
    except (OSError, ValueError):  # what writes there says what is wrong
        return


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
