"""How a model that writes is asked: options that `emotui run` and `emotui predict` share.

What is set comes to the task as `options` (`Task.with_options`): `constrain` is true where `--constrain` is given.
"""

import math
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from emotui.errors import BadInput
from emotui.metrics.span_output import STYLES
from emotui.tasks.prompting.files import Prompts
from emotui.tasks.registry import PROMPT_FILES
from emotui.tasks.spans.prompts import way_of
from emotui.workbench.rephrase.examples import read_examples


class FiniteRange(click.FloatRange):
    """A range of floats without NaN and infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises: click.BadParameter where it is none, or out of the range."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


_OPTIONS = (
    click.option("--style", type=click.Choice(STYLES), help="spans: how evidence is given (default: retrieve)."),
    click.option("--cot", is_flag=True, help="spans, masked: the model reasons first."),
    click.option("--prompts", type=click.Path(), help="Your own prompts for this task (TOML, docs/prompts.md)."),
    click.option("--temperature", type=FiniteRange(0, 5), help="Of sampling (default: 0; with --repeats 0.6)."),
    click.option("--top-p", type=FiniteRange(0, 1, min_open=True), help="The nucleus of sampling."),
    click.option("--max-tokens", type=click.IntRange(min=1), help="The longest answer (default: by the task)."),
    click.option(
        "--constrain",
        is_flag=True,
        help="Hold answers to the task's form by a grammar, where it has one (docs/models.md).",
    ),
    click.option("--examples", type=click.Path(), help="rephrase, class: a file of chains or texts for fs and fs-r."),
    click.option(
        "--retries", type=click.IntRange(0, 20), help="spans: further tries where an answer breaks the format (3)."
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
        **others: Any,
    ) -> Any:
        given = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "retries": retries}
        options: dict[str, object] = {name: value for name, value in given.items() if value is not None}
        if constrain:
            options["constrain"] = True
        if examples is not None:
            options["examples"] = msgspec.to_builtins(read_examples(examples))
        if prompts is not None:
            options["prompts"] = msgspec.to_builtins(_read(prompts, others.get("task") or others["kind"]))
        experiment = others.get("experiment")
        named = style or cot or experiment in (0, 1, 2)
        written_way = way_of(style or "retrieve", cot, experiment) if named else None
        if cot and not style and "masked" in (others.get("task"), others.get("kind")):
            written_way = "cot"
        return command(*args, written_way=written_way, options=options, **others)

    for option in reversed(_OPTIONS):
        with_way = option(with_way)
    return with_way


def _read(path: str, task: str) -> Prompts:
    if task not in PROMPT_FILES:
        raise BadInput(f"--prompts is for {' and '.join(PROMPT_FILES)}, not for {task}")
    return PROMPT_FILES[task](path)


def one_way(way: str | None, written_way: str | None) -> str | None:
    """What `--way`, and `--style` with `--cot`, ask for. Raises BadInput where they differ."""
    if way and written_way and way != written_way:
        raise BadInput(f"--way {way} and --style with --cot ({written_way}) say different things: give one of them")
    return way or written_way


def read_labels(path: str) -> list[str]:
    """A label set, one label a line. Raises BadInput where there is none, or one twice."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
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
