"""How a model that writes is asked: options that `emotui run` and `emotui predict` share.

What is set comes to the task as `options` (`Task.with_options`): `constrain` is true where `--constrain` is given.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from emotui.backends.relabelled import read_label_map, with_label_map
from emotui.bounded import read_text
from emotui.commands.output import say, warn
from emotui.commands.program_options import FiniteRange
from emotui.errors import BadInput
from emotui.metrics.masked import OUTSIDES
from emotui.metrics.span_output import STYLES
from emotui.tasks.added_metrics import metric_troubles
from emotui.tasks.prompting.files import Prompts
from emotui.tasks.prompting.settings import BEFORE, COT, MOST_TURNS
from emotui.tasks.registry import kinds, task_named, tasks, troubles
from emotui.tasks.task import Task
from emotui.workbench.rephrase.evaluation import read_examples


class TaskName(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.3
    """A task: by its name, or by the kind of its records in files. `also`: further values, which stay as they are."""

    name = "task"

    def __init__(self, *, by_kind: bool = False, also: Sequence[str] = ()) -> None:
        self._by_kind, self._also = by_kind, tuple(also)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The task's name, or the kind of its records. Raises: click.BadParameter where there is no such task."""
        if value in self._also:
            return str(value)
        try:
            task = task_named(value)
        except BadInput:
            tell_troubles()
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self._there()))}.", param, ctx)
        return task.files.kind if self._by_kind else task.name

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """All that there are."""
        tell_troubles()
        return f"[{'|'.join(self._there())}]"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Those that begin so."""
        return [CompletionItem(name) for name in self._there() if name.startswith(incomplete)]

    def _there(self) -> tuple[str, ...]:
        return (*(kinds() if self._by_kind else tasks()), *self._also)


def tell_troubles() -> None:
    """Say on standard error which tasks of other packages are left out, and why."""
    for line in troubles():
        say(line, err=True)


def tell_metric_troubles() -> None:
    """Say on standard error which metrics of other packages are left out or fail, and why."""
    for line in metric_troubles():
        say(line, err=True)


_OPTIONS = (
    click.option("--style", type=click.Choice(STYLES), help="spans: how evidence is given (default: retrieve)."),
    click.option("--cot", is_flag=True, help="spans, masked: the model reasons first."),
    click.option("--prompts", type=click.Path(), help="Your own prompts for this task (TOML, docs/models.md)."),
    click.option("--temperature", type=FiniteRange(0, 5), help="Of sampling (default: 0; with --repeats 0.6)."),
    click.option("--top-p", type=FiniteRange(0, 1, min_open=True), help="The nucleus of sampling."),
    click.option("--max-tokens", type=click.IntRange(min=1), help="The longest answer (default: by the task)."),
    click.option(
        "--constrain",
        is_flag=True,
        help="Hold answers to the task's form by a grammar, where it has one (docs/models.md).",
    ),
    click.option(
        "--before",
        metavar="N|all",
        help="Turns of its conversation that stand before a text in the question; of run also 0,1,3,all.",
    ),
    click.option(
        "--examples",
        type=click.Path(),
        help="rephrase, class: chains or texts for fs and fs-r; masked: for few-shot-*.",
    ),
    click.option(
        "--retries",
        type=click.IntRange(0, 20),
        help="spans, reasoned scenes: further tries without a usable answer (3).",
    ),
)


def asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options, and give the command `written_way` (None: the model's own) and `options` made of them.

    Whose prompts a file holds is told by the command's `task` or `kind`. A command with an `experiment` gets the way
    that this is asked by; the third is asked as the main tasks are.
    """

    @wraps(command)
    def with_way(
        *args: Any,
        style: str | None,
        cot: bool,
        prompts: str | None,
        temperature: float | None,
        top_p: float | None,
        max_tokens: int | None,
        retries: int | None,
        constrain: bool,
        examples: str | None,
        before: str | None,
        **others: Any,
    ) -> Any:
        task = task_named(others.get("task") or others["kind"])
        given = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "retries": retries}
        options: dict[str, object] = {name: value for name, value in given.items() if value is not None}
        if constrain:
            options["constrain"] = True
        if before is not None:
            options[BEFORE] = _turns(before)
        if examples is not None:
            options["examples"] = msgspec.to_builtins((task.asking.examples or read_examples)(examples))
        if prompts is not None:
            options["prompts"] = msgspec.to_builtins(read_prompts(prompts, task))
        written_way = _written_way(task, style, cot, others.get("experiment"))
        return command(*args, written_way=written_way, options=options, **others)

    for option in reversed(_OPTIONS):
        with_way = option(with_way)
    return with_way


def _turns(given: str) -> int | str | list[int | str]:
    """Turns before a text: a number, `all`, or a list of several. Raises BadInput for anything else."""
    parts = [part.strip() for part in given.split(",")]
    wrong = next((part for part in parts if part != "all" and not (part.isdecimal() and int(part) <= MOST_TURNS)), None)
    if wrong is not None:
        raise BadInput(f"--before {given}: {wrong!r} is no number of turns from 0 to {MOST_TURNS}, nor all")
    turns: list[int | str] = [part if part == "all" else int(part) for part in parts]
    return turns[0] if len(turns) == 1 else list(dict.fromkeys(turns))


map_labels_option = click.option(
    "--map-labels", type=click.Path(), help='TOML of lines theirs = "ours": what the model\'s labels are called here.'
)


def under_labels(spec: str, path: str | None) -> str:
    """The SPEC of the model under the names of `--map-labels`. Raises BadInput where the file holds no mapping."""
    if path is None:
        return spec
    read_label_map(path)
    return with_label_map(spec, path)


def lexicon_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name what words are compared by, and give the command `by` made of them.

    `by` is None where none of them is given; what there is to tell of the files is told.
    """

    task = task_named("masked")
    told = {option.name: option.help for option in task.files.score_options}

    @wraps(command)
    def with_lexicon(
        *args: Any, lexicon: str | None, forms: str | None, outside: str | None, no_supplement: bool, **others: Any
    ) -> Any:
        given = {"lexicon": lexicon, "forms": forms, "outside": outside, "no_supplement": no_supplement}
        by = task.lexicon_of(given)
        for note in () if by is None else by.notes:
            warn(note)
        return command(*args, by=by, **others)

    found = click.option("--no-supplement", is_flag=True, help=told["no-supplement"])(with_lexicon)
    found = click.option("--outside", type=click.Choice(OUTSIDES), help=told["outside"])(found)
    found = click.option("--forms", type=click.Path(), help=told["forms"])(found)
    return click.option("--lexicon", type=click.Path(), metavar="FILE|NAME", help=told["lexicon"])(found)


def read_prompts(path: str, task: Task) -> Prompts:
    """The prompts of a file for a task. Raises BadInput where the file is bad, or the task asks in no words."""
    if task.asking.prompts is None:
        there = [name for name, one in tasks().items() if one.asking.prompts is not None]
        raise BadInput(f"--prompts is for {', '.join(there)}, not for {task.name}")
    return task.asking.prompts(path)


def _written_way(task: Task, style: str | None, cot: bool, experiment: int | None) -> str | None:
    """The way that `--style`, `--cot` and `--experiment` name together; None where they name none.

    Raises:
        BadInput: the task has no such way.
    """
    asking = task.asking
    if style and style not in asking.styles:
        raise BadInput(
            f"--style {style} is not for {task.name}" + (f": {', '.join(asking.styles)}" * bool(asking.styles))
        )
    if experiment is not None and task.experiments is not None:
        return task.experiments.way(experiment, style, cot)
    if not cot:
        return style
    way = f"{style}-{COT}" if style else asking.named.get(COT, COT)
    if way not in asking.ways:
        raise BadInput(f"--cot is not for {task.name}: its ways are {', '.join(asking.ways)}")
    return way


def one_way(way: str | None, written_way: str | None) -> str | None:
    """What `--way`, and `--style` with `--cot`, ask for. Raises BadInput where they differ."""
    if way and written_way and way != written_way:
        raise BadInput(f"--way {way} and --style with --cot ({written_way}) say different things: give one of them")
    return way or written_way


def read_labels(path: str) -> list[str]:
    """A label set, one label a line. Raises BadInput where there is none, or one twice."""
    try:
        text = read_text(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}:1: cannot be read: it is no UTF-8 text") from error
    labels = [line.strip() for line in text.splitlines() if line.strip()]
    twice = next((label for number, label in enumerate(labels) if label in labels[:number]), None)
    if twice is not None:
        raise BadInput(f"{path}:{labels.index(twice) + 1}: the label {twice!r} stands twice")
    if not labels:
        raise BadInput(f"{path}:1: no label in it: write one a line")
    return labels


variants_option: Callable[[Any], Any] = click.option(
    "--variants",
    multiple=True,
    metavar="NAME=FILE",
    help="Further columns: automatic variants of the originals, such as BT-1=back.jsonl (again for more).",
)


def named_files(pairs: tuple[str, ...]) -> dict[str, str]:
    """Name to file. Raises BadInput where one of both is missing, or a name is given twice."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, file = pair.partition("=")
        if not (name.strip() and sign and file):
            raise BadInput(f"{pair}: write a name and a file, such as BT-1={pair or 'FILE'}")
        if name.strip() in found:
            raise BadInput(f"variants: the name {name.strip()!r} is given twice")
        found[name.strip()] = file
    return found
