"""`emotui models`, `probe` and `bench`: which models are at hand, what one says about a text, and how fast it is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from emotui.bounded import first_bytes
from emotui.commands.options import FiniteRange, read_labels
from emotui.commands.output import as_written, json_option, print_json, say, terminal
from emotui.commands.probe_panel import print_probe
from emotui.commands.program_options import Waiting, check_may_write, db_option, read_only_option
from emotui.errors import BadInput
from emotui.tasks.prompting.settings import all_options
from emotui.tasks.registry import kinds
from emotui.workbench.models.benchmark import Bench
from emotui.workbench.models.benchmark import bench as measure
from emotui.workbench.models.discovery import Found, keep_folders, model_folders, models_at_hand
from emotui.workbench.models.probe import PARTS, Probe
from emotui.workbench.models.probe import probe as ask


@click.command()
@click.option("--folder", "folders", multiple=True, help="Look for models in this folder too (also: EMOTUI_MODELS).")
@click.option("--server", "servers", multiple=True, help="Ask this server for its models: http://HOST:PORT/v1.")
@click.option("--keep", is_flag=True, help="Look into these folders from now on.")
@db_option
@read_only_option
@json_option
def models(
    folders: tuple[str, ...], servers: tuple[str, ...], keep: bool, db: str | None, read_only: bool, as_json: bool
) -> None:
    """List the models at hand: embedded, the Hugging Face cache, GGUF files and directories, servers that answer.

    Nothing is loaded, and nothing is asked of the network but the servers named. Exit status 1 where a place could not
    be looked into.
    """
    where = model_folders(folders, db, Waiting(db).tell)
    if keep:
        if not folders:
            raise BadInput("--keep needs a --folder to keep")
        check_may_write(read_only, "--keep")
        keep_folders(where, db, Waiting(db).tell)
    found = models_at_hand(where, servers)
    if as_json:
        print_json({"models": found.models, "folders": [str(path) for path in where], "problems": found.problems})
    else:
        _print_models(found)
    for problem in found.problems:
        say(problem, err=True)
    if found.problems:
        sys.exit(1)


@click.command()
@click.argument("text")
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--prompt", help="For a model that writes: what to ask it; {text} becomes TEXT.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=200, show_default=True, help="Of what it writes.")
@click.option("--labels", "labels_file", type=click.Path(), help="Labels to choose from, for NLI: a file, one a line.")
@click.option("--task", "tasks", multiple=True, help="Ask by this task's own prompt too: spans, scenes, masked, class.")
@click.option("--way", help="How the task asks, where there are several ways (with one --task).")
@click.option("--constrain", is_flag=True, help="Hold the answers to the tasks' forms by a grammar.")
@json_option
def probe(
    text: str,
    spec: str,
    prompt: str | None,
    max_tokens: int,
    labels_file: str | None,
    tasks: tuple[str, ...],
    way: str | None,
    constrain: bool,
    as_json: bool,
) -> None:
    """Run TEXT (- for standard input) through everything that a model can do.

    With a <mask> in TEXT, words are ranked for it. The --json document has the model's `spans`, `classes`, `numbers`,
    `emotions`, `words`, `masks`, `generation` and `embedding`; what it cannot do is null, and `notes` says why. With
    --task, the prompt of a task as the model read it and its raw output are shown instead; there under `tasks`.
    """
    from emotui.backends.host import ModelProcess

    if text == "-":
        try:
            text = first_bytes(sys.stdin.buffer, "-").decode("utf-8", "replace").strip()
        except OSError as error:
            raise BadInput(f"-: cannot be read: {error.strerror}") from None
    if not text.strip():
        raise BadInput("the text is empty")
    if way is not None and len(tasks) != 1:
        raise BadInput("--way says how one task asks: give one --task with it")
    if constrain and not tasks:
        raise BadInput("--constrain holds the answer to a task's form: give a --task with it")
    labels = read_labels(labels_file) if labels_file else ()
    options: dict[str, dict[str, object]] = {name: {"constrain": True} if constrain else {} for name in tasks}
    for name in options:
        if labels and name in kinds() and "labels" in all_options(kinds()[name]):
            options[name]["labels"] = labels
    with _steps() as step, ModelProcess(spec) as model:
        found = ask(
            model,
            text,
            prompt=prompt,
            max_tokens=max_tokens,
            labels=labels,
            parts=() if tasks else PARTS,
            tasks=tuple(dict.fromkeys(tasks)),
            ways={} if way is None else {tasks[0]: way},
            options=options,
            progress=step,
        )
    if as_json:
        print_json(_document(found))
    else:
        print_probe(found)
    if tasks and not found.tasks:
        sys.exit(1)


@click.command()
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--batch", type=click.IntRange(1, 4096), default=8, show_default=True, help="Requests sent at a time.")
@click.option("--seconds", type=FiniteRange(0.1, 600), default=2.0, show_default=True, help="For each figure.")
@click.option("--write", "tokens", type=click.IntRange(1, 4096), default=32, show_default=True, help="Tokens a text.")
@json_option
def bench(spec: str, batch: int, seconds: float, tokens: int, as_json: bool) -> None:
    """Measure a model: tokens a second in and out, scoring, classifying and embedding, load time and memory."""
    from emotui.backends.host import ModelProcess

    with _steps() as step, ModelProcess(spec) as model:
        found = measure(model, batch=batch, seconds=seconds, write_tokens=tokens, progress=step)
    if as_json:
        print_json(
            {
                "model": found.card.spec,
                "name": found.card.name,
                "batch": found.batch,
                "load_seconds": found.load_seconds,
                "memory_loaded": found.memory_loaded,
                "memory_peak": found.memory_peak,
                "rates": found.rates,
                "notes": found.notes,
                "identity": found.card.identity,
            }
        )
    else:
        _print_bench(found)


@contextmanager
def _steps() -> Iterator[Callable[[str], None]]:
    """What is being done, in one line of standard error that is gone at the end; nothing where that is no terminal."""

    console = terminal(err=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    with console.status("") as status:
        yield lambda line: status.update(as_written(line))


def _document(found: Probe) -> dict[str, object]:
    card = found.card
    spans = None if found.spans is None else [_span(found.text, span) for span in found.spans]
    words = None
    if found.words is not None:
        drops = [{"start": s, "end": e, "word": found.text[s:e], "drop": drop} for s, e, drop in found.words.words]
        words = {"label": found.words.label, "words": drops}
    masks = None if found.masks is None else [[list(pair) for pair in mask] for mask in found.masks.masks]
    return {
        "model": card.spec,
        "name": card.name,
        "capabilities": card.capabilities,
        "text": found.text,
        "spans": spans,
        "classes": found.classes,
        "numbers": found.numbers,
        "emotions": found.emotions,
        "words": words,
        "masks": masks,
        "prompt": found.prompt if found.generation is not None else None,
        "generation": found.generation,
        "embedding": found.embedding,
        "tasks": found.tasks,
        "seconds": found.seconds,
        "notes": found.notes,
        "model_notes": card.notes,
    }


def _span(text: str, span: object) -> dict[str, object]:
    from emotui.backends.base import Evidence

    assert isinstance(span, Evidence)
    return {
        "start": span.start,
        "end": span.end,
        "text": text[span.start : span.end],
        "label": span.label,
        "strength": span.strength,
    }


def _print_models(found: Found) -> None:
    from rich.filesize import decimal
    from rich.table import Table

    here = f":{Path.cwd()}/"
    table = Table(box=None, pad_edge=False)
    table.add_column("model (SPEC)", overflow="fold")
    for column in ("size", "quantised", "context"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("can")
    for model in found.models:
        size = "–" if model.size is None else decimal(model.size)
        context = "–" if model.context is None else f"{model.context:,}"
        able = ", ".join(each.replace("_", " ") for each in model.capabilities) or "told when it loads"
        last = as_written(able) if model.problem is None else as_written(f"! {model.problem}", "bold")
        cells = (model.spec.replace(here, ":"), size, model.quantisation or "–", context)
        table.add_row(*(as_written(cell) for cell in cells), last)
    terminal().print(table)


def _print_bench(found: Bench) -> None:
    from rich.filesize import decimal
    from rich.table import Table

    console = terminal()
    console.print(as_written(f"{found.card.spec}   {found.card.name}   batches of {found.batch}", "bold"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("")
    table.add_column("", justify="right")
    table.add_column("")
    table.add_row("loaded in", f"{found.load_seconds:.1f}", "s")
    for name, rate in found.rates.items():
        shown = f"{rate.per_second:,.0f}" if rate.per_second >= 100 else f"{rate.per_second:.1f}"
        table.add_row(name, shown, f"{rate.unit} a second ({rate.count:,} in {rate.seconds:.1f} s)")
    for name, size in (("memory when loaded", found.memory_loaded), ("memory at its peak", found.memory_peak)):
        value, _, unit = ("–", "", "") if size is None else decimal(size).partition(" ")
        table.add_row(name, value, unit)
    console.print(table)
    for name, why in found.notes.items():
        console.print(as_written(f"{name}: {why}", "dim"))
