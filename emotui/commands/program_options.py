"""The options of the program: `--db`, `--read-only` and `--annotator` mean the same before a command and after it.

And the workspace that they name, as every command opens it: while another program holds the file, the command waits.
"""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from emotui.commands.output import warn
from emotui.errors import BadInput

if TYPE_CHECKING:
    from emotui.store.store import Store
    from emotui.workbench.workspace import Workspace

_APART = 60.0
"""Seconds without waiting after which a wait is another one, and told again."""

_GIVEN = "emotui.program_options"
"""The key of a context's `meta` that holds what has been given so far, by name."""


class ProgramOption(click.Option):
    """An option whose value counts for the command wherever it stands in the line.

    Two different values are bad input.
    """

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """What stands here, else what stood before the command, else the default."""
        value, source = super().consume_value(ctx, opts)
        given: dict[str, Any] = ctx.meta.setdefault(_GIVEN, {})
        name = str(self.name)
        if source is not ParameterSource.COMMANDLINE:
            return (given[name], ParameterSource.COMMANDLINE) if name in given else (value, source)
        if given.setdefault(name, value) != value:
            raise BadInput(f"{self.opts[0]} is given twice, as {given[name]} and as {value}: give it once")
        return value, source


class FiniteRange(click.FloatRange):
    """A range of floats without NaN and infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises: click.BadParameter where it is none, or out of the range."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


Decorator = Callable[[Any], Any]

db_option: Decorator = click.option(
    "--db", cls=ProgramOption, type=click.Path(), help="The workspace file (default: in the user's data folder)."
)
read_only_option: Decorator = click.option(
    "--read-only", cls=ProgramOption, is_flag=True, help="Open the workspace without changing it."
)


def annotator_option(help: str, default: str | None = None) -> Decorator:
    """`--annotator NAME`, in the words of the command."""
    return click.option(
        "--annotator", cls=ProgramOption, metavar="NAME", default=default, show_default=default is not None, help=help
    )


def takes_program_options(command: click.Command) -> click.Command:
    """The command, and all commands below it, with every option of the program.

    An option that a command does not take itself is refused in one line wherever it stands.
    """
    taken = {param.name for param in command.params} & {"db", "read_only", "annotator"}
    below = isinstance(command, click.Group)
    for name, kind in (("db", {"type": click.Path()}), ("read_only", {"is_flag": True}), ("annotator", {})):
        if name in taken:
            continue
        flag = f"--{name.replace('_', '-')}"
        refuse = None if below else _refuse(flag, of_store="db" in taken)
        command.params.append(ProgramOption([flag], hidden=True, expose_value=False, callback=refuse, **kind))
    if isinstance(command, click.Group) and not taken:
        _wrap_look_up(command)
    if not below and "invoke" not in vars(command):
        _wrap_invoke(command)
        _wrap_parse(command)
    return command


def _wrap_parse(command: click.Command) -> None:
    """Where a word too many may be a data set that an option names, the refusal says so."""
    if not any("--dataset" in parameter.opts for parameter in command.params):
        return

    def parsed(ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return type(command).parse_args(command, ctx, args)
        except click.UsageError as error:
            extra = next((word for word in given if f"({word}" in error.message), None)
            if extra is not None and error.message.startswith("Got unexpected extra argument"):
                raise click.UsageError(f"{error.message}: a data set is named by --dataset {extra}", ctx) from None
            raise

    command.parse_args = parsed  # type: ignore[method-assign]


def _wrap_invoke(command: click.Command) -> None:
    """Let the command begin only where it would write over nothing that it reads."""

    def checked(ctx: click.Context) -> Any:
        from emotui.commands.exchange.written import check_inputs_kept

        _check_none_blank(ctx)
        check_inputs_kept(ctx)
        for value in ctx.params.values():
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and "openai:" in text:
                    _name_servers(text)
        return type(command).invoke(command, ctx)

    command.invoke = checked  # type: ignore[method-assign]


def _check_none_blank(ctx: click.Context) -> None:
    """Raises: BadInput where a name or file was given as nothing at all; a text and a delimiter may be."""
    for parameter in ctx.command.params:
        name = str(parameter.name)
        given = ctx.params.get(name)
        blank = "" in (given if isinstance(given, tuple) else (given,)) and name not in ("text", "delimiter")
        if blank and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise BadInput(f"{_as_given(parameter)} is empty: leave it out, or name something")


def _as_given(parameter: click.Parameter) -> str:
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name


def _wrap_look_up(group: click.Group) -> None:
    """Let the commands that the group finds, or makes, take the options too."""
    look_up = group.get_command

    def get_command(ctx: click.Context, name: str) -> click.Command | None:
        found = look_up(ctx, name)
        return None if found is None else takes_program_options(found)

    group.get_command = get_command  # type: ignore[method-assign, assignment]


def _name_servers(given: str) -> None:
    """What stands on the command line is named by the person: `SPEC`, or `NAME=SPEC,SPEC`."""
    from emotui.backends.servers.named import name

    for spec in (given, *given.partition("=")[2].split(",")):
        name(spec)


def _refuse(flag: str, *, of_store: bool) -> Callable[[click.Context, click.Parameter, Any], None]:
    def refused(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
        if not value:
            return
        if not of_store:
            raise BadInput(f"{ctx.command_path} opens no workspace: {flag} has no meaning here")
        if flag == "--read-only":
            raise BadInput(f"{ctx.command_path} writes into the workspace: leave {flag} out")
        raise BadInput(f"{ctx.command_path} asks nobody's name: {flag} has no meaning here")

    return refused


def check_may_write(read_only: bool, what: str) -> None:
    """Raises: BadInput where `what` would write into a workspace that is opened with `--read-only`."""
    if read_only:
        raise BadInput(f"{what} writes into the workspace: leave --read-only out")


def open_workspace(db: str | None, *, read_only: bool = False, waiting: "Waiting | None" = None) -> "Workspace":
    """The workspace that `--db` names, made where there is none; a command that keeps nothing in it leaves none.

    Args:
        waiting: told for whom it waits, by who tells that of other things too.
    """
    from emotui.workbench.workspace import Workspace

    tell = (waiting or Waiting(db)).tell
    workspace = Workspace.open(db, read_only=read_only, on_waiting=tell, on_upgrade=warn)
    if workspace.store.made and (context := click.get_current_context(silent=True)) is not None:
        context.call_on_close(workspace.store.leave_no_empty)
    return workspace


def upgraded_store(db: str | None, *, keep_copy: bool) -> "Store":
    """The store of the workspace file, brought up to date where it is older, which is told.

    Raises: as `open_workspace`.
    """
    from emotui.store.store import Store, default_path

    path = Path(db) if db else default_path()
    return Store.open(path, create=False, on_waiting=Waiting(db).tell, on_upgrade=warn, keep_copy=keep_copy)


def look_into(db: str | None, *, read_only: bool = False) -> "Workspace":
    """The same for what needs one that is there: a path that was named is not made."""
    from emotui.workbench.workspace import Workspace

    return Workspace.look_into(db, read_only=read_only, on_waiting=Waiting(db).tell, on_upgrade=warn)


class Waiting:
    """Tells on standard error that a command waits while another program holds the workspace: once a wait.

    Programs that take turns at a workspace let a command wait again and again for one after the other: that is one
    wait.
    """

    def __init__(self, db: str | None) -> None:
        self._name = Path(db).name if db else "the workspace"
        self._last: float | None = None

    def tell(self, who: str, seconds: float = 0.0) -> None:
        """A line where a wait begins; called all the while.

        Args:
            seconds: how long it has been waiting.
        """
        now = time.monotonic()
        last, self._last = self._last, now
        if last is not None and now - last < _APART:
            return
        since = time.strftime("%H:%M:%S", time.localtime(time.time() - seconds))
        warn(f"waiting since {since} for {who}, which holds {self._name} (Ctrl+C stops)")
