"""`emotui batch write` and `emotui batch read`: another engine answers, from file to file."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import click

from emotui.backends.base import ModelCard
from emotui.commands.exchange.written import written_option
from emotui.commands.options import TaskName, asking_options, one_way, read_labels
from emotui.commands.output import json_option, print_json, say
from emotui.commands.program_options import db_option, look_into
from emotui.commands.run import run as run_command
from emotui.errors import BadInput
from emotui.formats import check_not_over, check_writable
from emotui.formats.rows import literal
from emotui.tasks.registry import resolve_labels, task_named, with_labels
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.files.texts import Texts
from emotui.workbench.runs.plan import MOST_REPEATS, labelled_samples
from emotui.workbench.shards.merge import KIND, Question, write_requests
from emotui.workbench.shards.shard import read_shard
from emotui.workbench.texts import check_needs, stored_samples

_model = click.option("--model", "name", required=True, help="The model's name, as the engine knows it.")
_answers = click.option(
    "--answers", type=click.Path(), help="Answers that there are: a .jsonl or .parquet file, or a folder of them."
)
_options = click.option("--options", "how", default="", help="Of the requests, such as engine=openai&thinking=on.")


@click.command()
@click.argument("task", type=TaskName())
@_model
@click.option("--dataset", help="A dataset of the store.")
@click.option("--records", help="Or a file of records, without a store.")
@written_option("--to", "target", required=True, help="Where to write the requests (.jsonl, .parquet).")
@_answers
@_options
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N samples.")
@click.option("--shard", metavar="I/N", help="Only part I of N of the samples.")
@click.option("--repeats", type=click.IntRange(1, MOST_REPEATS), default=1, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--way", help="How to ask, where there are several ways (docs/models.md).")
@click.option("--labels", "labels_file", type=click.Path(), help="Your own label set: a file, one label a line.")
@asking_options
@db_option
@json_option
def write(
    task: str,
    name: str,
    dataset: str | None,
    records: str | None,
    target: str,
    answers: str | None,
    how: str,
    limit: int | None,
    shard: str | None,
    repeats: int,
    seed: int,
    way: str | None,
    labels_file: str | None,
    written_way: str | None,
    options: dict[str, object],
    db: str | None,
    as_json: bool,
) -> None:
    """Write the questions of a run as requests in OpenAI's batch format, which vLLM reads too.

    With --answers only those that are still open: a task may ask again by what it is answered.
    """
    if (dataset is None) == (records is None):
        raise BadInput("name the samples: --dataset NAME of the store, or --records FILE")
    check_writable(target)
    for read in filter(None, (records, answers)):
        check_not_over(target, read)
    if answers and Path(target).resolve().parent == Path(answers).resolve():
        raise BadInput(f"--to {target} is in the folder of --answers, all of which is read: name another place")
    part = None if shard is None else read_shard(shard)
    found = task_named(task)
    labels = read_labels(labels_file) if labels_file else None
    spec = _argument(name, answers, how)

    def wanted(n: int) -> range:
        whole = n if limit is None else min(limit, n)
        return range(whole) if part is None else part.places(whole)

    if records is not None:
        with closing(Texts(records, part=wanted)) as texts:

            def of_file() -> Iterable[Any]:
                return (found.blank(text, labels or ()) for _, text in texts)

            def from_file(card: ModelCard, chosen: str) -> Mapping[str, object]:
                return with_labels(found, card, chosen, options, labels)

            def all_of_file() -> Iterable[Any]:
                return (text for _, text in texts.whole())

            question = Question(found, one_way(way, written_way), repeats, seed, from_file, all_of_file)
            done = write_requests(of_file, spec, question, Path(target))
    else:
        store = look_into(db, read_only=True).store
        check_not_over(target, store.path)
        asked = dataset_named(store, dataset or "").read_as(found.name)
        check_needs(store, asked)
        places = wanted(asked.n)

        def of_store() -> Iterable[Any]:
            return (sample for _, sample in stored_samples(store, asked, places.stop, first=places.start))

        def from_store(card: ModelCard, chosen: str) -> Mapping[str, object]:
            given = options if labels is None else {**options, "labels": labels}
            return resolve_labels(found, card, partial(labelled_samples, store, asked), chosen, given, seed)

        def all_of_store() -> Iterable[Any]:
            return (sample for _, sample in stored_samples(store, asked, asked.n))

        question = Question(found, one_way(way, written_way), repeats, seed, from_store, all_of_store)
        done = write_requests(of_store, spec, question, Path(target))
    if as_json:
        print_json({"to": target, "n": done.n, "open": done.open, "requests": done.requests})
    else:
        say(f"{done.requests} requests for {done.open} of {done.n} questions are in {literal(target)}")


@click.command()
@click.argument("task", type=TaskName())
@_model
@click.option(
    "--answers", required=True, type=click.Path(), help="What the engine wrote: .jsonl, .parquet, or a folder."
)
@_options
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample data).")
@click.argument("further", nargs=-1, type=click.UNPROCESSED)
@db_option
@json_option
@click.pass_context
def read(
    context: click.Context,
    task: str,
    name: str,
    answers: str,
    how: str,
    dataset: str | None,
    further: tuple[str, ...],
    db: str | None,
    as_json: bool,
) -> None:
    """Keep what another engine answered as a run of TASK, with its figures.

    Options of `emotui run` (--way, --limit, --shard, --prompts ...) go behind `--`; they are those of `batch write`.
    """
    words = [task, "--model", f"{KIND}:{_argument(name, answers, how)}"]
    words += ["--dataset", dataset] if dataset is not None else []
    words += ["--db", db] if db is not None else []
    words += ["--json"] if as_json else []
    with run_command.make_context("run", [*words, *further], parent=context.parent) as inner:
        run_command.invoke(inner)


def _argument(name: str, answers: str | None, how: str) -> str:
    if "@" in name or "#" in name:
        raise BadInput(f"a model's name here has no @ and no #: {name!r}")
    return f"{name}@{answers or ''}" + (f"#{how}" if how else "")
