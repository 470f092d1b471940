"""`emotui run`, `emotui runs`, `emotui rescore`: models over the store's samples, and their figures."""

import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from msgspec.structs import replace

from emotui.backends.base import ANSWERS
from emotui.backends.host import Cancelled
from emotui.backends.spec import check_spec
from emotui.bounded import is_there
from emotui.commands.options import (
    TaskName,
    asking_options,
    lexicon_options,
    map_labels_option,
    one_way,
    read_labels,
    tell_metric_troubles,
    under_labels,
)
from emotui.commands.output import as_written, bar, json_option, print_figures, print_json, say, shown, terminal, warn
from emotui.commands.program_options import Waiting, db_option, look_into, open_workspace, read_only_option
from emotui.errors import BadInput, EmotuiError
from emotui.formats.rows import literal
from emotui.store.query import Run
from emotui.tasks.parts import Lexicon
from emotui.tasks.prompting.settings import BEFORE
from emotui.workbench.annotate.others import voices_of, voices_report
from emotui.workbench.datasets.samples import add_experiment, asked_alone
from emotui.workbench.progress import RunOptions, RunProgress
from emotui.workbench.runs.plan import MOST_REPEATS, notes_on_prompts
from emotui.workbench.runs.run import rescore as score_again
from emotui.workbench.runs.states import with_state
from emotui.workbench.sample_data import FURTHER, add_further_samples, add_sample_data, sample_dataset
from emotui.workbench.shards.shard import read_shard
from emotui.workbench.workspace import Workspace


@click.command()
@click.argument("task", type=TaskName())
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample data).")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N samples.")
@click.option("--shard", metavar="I/N", help="Only part I of N of the samples (docs/scaling.md; emotui merge).")
@click.option("--repeats", type=click.IntRange(1, MOST_REPEATS), default=1, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--way", help="How to ask, where there are several ways (docs/models.md).")
@click.option("--experiment", type=click.IntRange(0, 3), help="spans: SEER's prompting experiment 0, 1, 2 or 3.")
@click.option(
    "--labels",
    "labels_file",
    type=click.Path(),
    help="labels, rephrase: labels to choose among; values: names (valence 1..9). One a line.",
)
@map_labels_option
@click.option("--ppl-model", metavar="SPEC", help="generation: perplexity of all texts by this causal model.")
@click.option("--stride", type=click.IntRange(min=1), help="--ppl-model: words that its window moves on by (128).")
@click.option("--spans", metavar="SOURCE", help="evidence: whose spans go (a run, a person, a file). [default: gold]")
@click.option("--removal", type=click.Choice(["mask", "delete"]), help="evidence: how random words are taken away.")
@click.option(
    "--filler",
    type=click.Choice(["own", "neutral"]),
    help="evidence: masked words are the model's own mask token, or “…”. [default: own, where it has one]",
)
@click.option("--draws", type=click.IntRange(1, 1000), help="evidence: random words beside each span. [default: 20]")
@click.option("--explain", type=click.Choice(["own", "gold"]), help="evidence: the model's own answer or gold's.")
@click.option("--as", "voices", multiple=True, metavar="NAME", help="As this annotator would answer (again for more).")
@click.option(
    "--as-examples", type=click.IntRange(0, 200), help="--as: earlier answers shown at each text. [default: 8]"
)
@click.option("--as-description", type=click.Path(), help="--as: what is known of the annotator (docs/labels.md).")
@asking_options
@lexicon_options
@click.option("--resume", help="Finish a run that was stopped (its id or the beginning of it).")
@click.option("--take-over", is_flag=True, help="With --resume: finish it though another process says it is at it.")
@click.option("--retry", is_flag=True, help="With --resume: ask also about texts that the model did not finish.")
@click.option(
    "--patience",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="How long the model may take over one batch, or a text alone, before that is passed over. [default: 600]",
)
@click.option("--fresh", is_flag=True, help="Compute again what the store already holds.")
@db_option
@json_option
def run(
    task: str,
    spec: str,
    dataset: str | None,
    limit: int | None,
    shard: str | None,
    repeats: int,
    seed: int,
    way: str | None,
    labels_file: str | None,
    map_labels: str | None,
    resume: str | None,
    take_over: bool,
    retry: bool,
    patience: float | None,
    fresh: bool,
    experiment: int | None,
    ppl_model: str | None,
    stride: int | None,
    spans: str | None,
    removal: str | None,
    filler: str | None,
    draws: int | None,
    explain: str | None,
    voices: tuple[str, ...],
    as_examples: int | None,
    as_description: str | None,
    written_way: str | None,
    options: dict[str, object],
    by: Lexicon | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Run TASK with a model over a dataset. Ctrl-C keeps what is done; --resume finishes it."""
    way, spec = one_way(way, written_way), under_labels(spec, map_labels)
    if map_labels is not None and resume is not None:
        raise BadInput("--map-labels is not for --resume: the run's own names of labels hold")
    if take_over and resume is None:
        raise BadInput("--take-over goes with --resume RUN: name the run")
    if retry and resume is None:
        raise BadInput("--retry goes with --resume RUN: name the run")
    part = None if shard is None else read_shard(shard)
    if part is not None and resume is not None:
        raise BadInput("--shard is not for --resume: the run's own part holds")
    if labels_file is not None:
        options["labels"] = read_labels(labels_file)
    taken_away = {"spans": spans, "removal": removal, "filler": filler, "draws": draws, "explain": explain}
    options |= {name: value for name, value in taken_away.items() if value is not None}
    asked_alone(experiment, task, dataset)
    if ppl_model is not None:
        if task != "generation":
            raise BadInput("--ppl-model is for generation")
        check_spec(ppl_model, {})
    elif stride is not None:
        raise BadInput("--stride goes with --ppl-model SPEC")
    turns = options.pop(BEFORE, None)
    if isinstance(turns, list) and (resume is not None or ppl_model is not None):
        raise BadInput("several numbers of --before are for new runs, without --resume and --ppl-model: give one")
    if voices and (resume is not None or ppl_model is not None or isinstance(turns, list)):
        raise BadInput("--as is for new runs, without --resume, --ppl-model and several numbers of --before")
    if not voices and (as_examples is not None or as_description is not None):
        raise BadInput("--as-examples and --as-description go with --as NAME")
    waits = Waiting(db)
    workspace = open_workspace(db, waiting=waits)
    try:
        if resume is None:
            workspace.model(spec)  # a wrong SPEC is told before anything is imported
        if experiment is not None and resume is None:
            target = add_experiment(workspace.store, experiment, task).dataset
        else:
            target = _dataset(workspace, task, dataset, resume)
        if resume is not None:
            spec = workspace.store.runs.get(resume).model
        if patience is not None:
            workspace.model(spec).limit = patience

        wanted = RunOptions(limit, part, repeats, seed, way, options, resume, take_over, retry, fresh, by)

        def once(options: Mapping[str, object]) -> _Ran:
            return _run(workspace, waits, spec, task, target, replace(wanted, options=options))

        options = options if turns is None or isinstance(turns, list) else {**options, BEFORE: turns}
        if isinstance(turns, list):
            problem, done = _by_turns(workspace, turns, once, options, as_json)
        elif voices:
            wishes = voices_of(
                workspace.store, target, task, voices, options, shown=as_examples, told=as_description, seed=seed
            )
            problem, done = _by_voices(workspace, wishes, once, as_json)
        else:
            ran = once(options)
            problem, done = ran.problem, ran.run
            more: dict[str, object] = {}
            if ppl_model is not None and problem is None:
                from emotui.workbench.generation.measuring import measure_fluency

                more = measure_fluency(workspace.store, done, ppl_model, stride)
            _print(workspace, done, ran.seconds, as_json, more)
        card = workspace.model(spec).card
        if card is not None and ANSWERS in card.identity:
            for line in card.notes[1:]:
                say(f"{spec}: {line}", err=True)
            if problem is None and done.failed:
                problem = f"{done.failed} of {done.n} answers failed (emotui batch write --answers asks again)"
        for note in notes_on_prompts(card) if card is not None and "generate" in card.capabilities else ():
            say(f"{spec}: {note}", err=True)
        if len(builds := workspace.model(spec).builds) > 1:
            say(f"{spec}: its server reported {len(builds)} builds while it answered: {', '.join(builds)}", err=True)
    finally:
        workspace.close()
    if problem is not None:
        say(f"{problem}: {done.done} of {done.n} are kept; finish with --resume {done.run}", err=True)
        sys.exit(1)


@dataclass(frozen=True, slots=True)
class _Ran:
    """A run as it stands, why it did not end well (None: it did), and how long it took."""

    run: Run
    problem: str | None
    seconds: float


def _run(workspace: Workspace, waits: Waiting, spec: str, task: str, target: int, wanted: RunOptions) -> _Ran:
    """One run, with its progress. Raises: what kept it from beginning."""
    last, started = "", time.monotonic()
    with bar(f"{spec}: {task}") as progress:

        def show(step: RunProgress) -> None:
            nonlocal last
            last = step.run or last
            progress(step.done, step.n)
            if step.waiting is not None:
                waits.tell(step.waiting)

        try:
            done = workspace.run_model(spec, target, wanted, task=task, on_progress=show)
            problem = None
        except (KeyboardInterrupt, Cancelled):
            done, problem = _stopped(workspace, last), "interrupted"
        except EmotuiError as error:
            if isinstance(error, BadInput) or not last:
                raise
            done, problem = _stopped(workspace, last), str(error)
    if problem is None and done.state == "failed":
        problem = done.error or "failed"
    return _Ran(done, problem, time.monotonic() - started)


def _by_turns(
    workspace: Workspace,
    turns: Sequence[object],
    once: Callable[[Mapping[str, object]], _Ran],
    options: Mapping[str, object],
    as_json: bool,
) -> tuple[str | None, Run]:
    """A run for each number of turns before a text, and each against the first: a table with intervals.

    Returns: why one did not end well (None: all did), and that run or the last.
    """
    runs: list[tuple[object, _Ran]] = []
    for each in turns:
        runs.append((each, once({**options, BEFORE: each})))
        if runs[-1][1].problem is not None:
            break
    from emotui.workbench.runs.compared import compare_runs

    first = runs[0][1].run
    rows: list[dict[str, Any]] = []
    for each, ran in runs:
        scored = bool(workspace.summary(ran.run.run).get("n"))
        report = compare_runs(workspace.store, ran.run.run, first.run, inner=True) if scored else None
        rows.append({"before": each, "run": ran.run.run, "done": ran.run.done, "n": ran.run.n, "compared": report})
    if as_json:
        print_json({"task": first.task, "model": first.model, "against": first.run, "runs": rows})
    else:
        _print_by_turns(first, rows)
    return runs[-1][1].problem, runs[-1][1].run


def _by_voices(
    workspace: Workspace,
    wishes: Mapping[str, Mapping[str, object]],
    once: Callable[[Mapping[str, object]], _Ran],
    as_json: bool,
) -> tuple[str | None, Run]:
    """A run as each annotator, and a table of how close each comes to what that person says. Returns as `_by_turns`."""
    runs: dict[str, _Ran] = {}
    for name, options in wishes.items():
        runs[name] = once(options)
        if runs[name].problem is not None:
            break
    last = list(runs.values())[-1]
    dataset = workspace.store.datasets.get(last.run.dataset)
    assert dataset is not None
    done = {name: ran.run.run for name, ran in runs.items()}
    report = voices_report(workspace.store, dataset.read_as(last.run.task), done)
    if as_json:
        names = ("run", "n", "done", "failed")
        rows = [{"as": name} | {key: getattr(ran.run, key) for key in names} for name, ran in runs.items()]
        print_json({"task": last.run.task, "model": last.run.model, "runs": rows, "against": report})
    else:
        _print_by_voices(last.run, report)
    return last.problem, last.run


_VOICES = {
    "asked_as": "asked as them",
    "plain": "as nobody",
    "others": "the others",
    "gold": "gold",
    "to_others": "as them, to the others",
}
"""What stands beside the answers of annotators, and over its column."""


def _print_by_voices(last: Run, report: Mapping[str, Any]) -> None:
    """A line an annotator, and one for all, of how much of what they say is answered otherwise."""
    there = {name: told for name, told in _VOICES.items() if report.get(name) is not None}
    figure = "normalised_absolute_distance" if last.task == "values" else "error_rate"
    rows: dict[str, dict[str, object]] = {}
    for name in report["runs"]:
        own = {each: report[each]["by_annotator"].get(name, {}) for each in there}
        texts = {"texts": own.get("asked_as", {}).get("n", 0)}
        rows[name] = texts | {told: own[each].get(figure) for each, told in there.items()}
    for name in there:
        told = report[name]
        label = "by_annotator" if figure not in told else "all"
        rows.setdefault(label, {"texts": told["n"]})[there[name]] = told.get(figure)
    print_figures(f"{last.model}: {last.task}. {figure} against what each annotator says", {"annotators": rows})
    ends = (report.get("asked_as") or {}).get("ci95", {}).get(figure)
    if ends:
        say(f"asked as them, all: 95% [{shown(ends[0])}, {shown(ends[1])}] over texts")
    if report["plain_run"] is None:
        say(f"no {last.task} run of {last.model} was asked as nobody: without --as it would stand beside")


def _print_by_turns(first: Run, rows: Sequence[Mapping[str, Any]]) -> None:
    """A line for each number of turns: its mean, and how far it is from the first run's over the same texts."""
    from rich.table import Table

    known = next((row["compared"] for row in rows if row["compared"]), None)
    say(f"{first.model}: {first.task}, by turns before a text" + (f"; {known['metric']}, a text" if known else ""))
    table = Table(box=None, pad_edge=False)
    for column in ("turns", "run", "done", "mean", "against the first", "95%", "p"):
        table.add_column(column, justify="left" if column == "run" else "right")
    for row in rows:
        cells = [str(row["before"]), row["run"], f"{row['done']}/{row['n']}"]
        report = row["compared"]
        if report is None:
            cells += ["–"] * 4
        elif row["run"] == first.run:
            cells += [shown(report["mean_a"]), "–", "–", "–"]
        else:
            ends = report["ci95"]
            difference = f"{report['mean_difference']:+.3f}"
            interval = "–" if ends is None else f"[{shown(ends[0])}, {shown(ends[1])}]"
            p = report["wilcoxon_p"]
            cells += [shown(report["mean_a"]), difference, interval, "–" if p is None else shown(p)]
        table.add_row(*map(as_written, cells))
    terminal().print(table)
    if known is None:
        say("no text has gold: nothing to compare")
    elif "shared" in known:
        say(f"intervals and tests over whole conversations ({literal(known['shared'])})")


@click.command()
@db_option
@read_only_option
@json_option
def runs(db: str | None, read_only: bool, as_json: bool) -> None:
    """List the runs in the store, newest first."""
    datasets: dict[int, str] = {}
    found: list[Run] = []
    if db is not None and not is_there(db):
        say(f"{literal(db)} does not exist yet", err=True)
    else:
        store = look_into(db, read_only=read_only).store
        datasets = {dataset.dataset: dataset.name for dataset in store.datasets.all()}
        found = [with_state(run) for run in store.runs.all()]
    if as_json:
        print_json(
            [
                {**_fields(run), "dataset": datasets.get(run.dataset), "gold_version": store.gold.scored_under(run.run)}
                for run in found
            ]
        )
        return
    from rich.table import Table

    if not found:
        say("No runs yet. Make one: emotui run spans --model embedded")
        return
    failed = any(one.failed for one in found)
    table = Table(box=None, pad_edge=False)
    for column in ("run", "task", "model", "dataset", "state", "done", *(["failed"] if failed else []), "started"):
        numbers = column in ("done", "failed")
        # A name may go on in the next line; what is cut of an id, a count or a time is lost.
        table.add_column(column, justify="right" if numbers else "left", no_wrap=column not in ("model", "dataset"))
    for one in found:
        cells = one.run, one.task, one.model, datasets.get(one.dataset, "–"), one.state, f"{one.done}/{one.n}"
        counts = [str(one.failed)] if failed else []
        table.add_row(*map(as_written, (*cells, *counts, one.started[:16].replace("T", " "))))
    terminal().print(table)


@click.command()
@click.argument("run")
@click.option("--no-sim", is_flag=True, help="Leave Sim out (no model is loaded).")
@lexicon_options
@db_option
@json_option
def rescore(run: str, no_sim: bool, by: Lexicon | None, db: str | None, as_json: bool) -> None:
    """Parse and score the kept outputs of RUN again, without asking its model."""
    workspace = look_into(db)
    started = time.monotonic()
    done = score_again(workspace.store, run, sim=not no_sim, lexicon=by)
    _print(workspace, done, time.monotonic() - started, as_json)


def _dataset(workspace: Workspace, task: str, name: str | None, resume: str | None) -> int:
    """The dataset's number: of the resumed run, of the sample data, of a name in the store, or of a file read now."""
    if resume is not None:
        run = workspace.store.runs.get(resume)
        if run.task != task:
            raise BadInput(f"run {run.run} is one of the {run.task} task: emotui run {run.task} --resume {run.run}")
        return run.dataset
    return asked_dataset(workspace, task, name)


def asked_dataset(workspace: Workspace, task: str, name: str | None) -> int:
    """The number of a dataset of the store, of a file that is read now, or without a name of the task's sample data.

    Raises:
        BadInput: there is neither.
    """
    if name is None or (name == sample_dataset(task) and workspace.store.datasets.get(name) is None):
        return add_sample_data(workspace.store, task).dataset
    found = workspace.store.datasets.get(name)
    if found is not None:
        return found.dataset
    if name in FURTHER and not is_there(name):
        return add_further_samples(workspace.store, name).dataset
    if name != "-" and not is_there(name):
        there = ", ".join(dataset.name for dataset in workspace.datasets()) or "none"
        raise BadInput(f"{name}: no such file, and no dataset of this name in the store (there: {there})")
    return workspace.import_files([name], task=task, warn=warn).dataset


def _stopped(workspace: Workspace, run: str) -> Run:
    if not run:
        raise EmotuiError("interrupted before the run began: nothing was changed")
    return workspace.store.runs.get(run)


def _fields(run: Run) -> dict[str, object]:
    names = (
        "run",
        "task",
        "model",
        "state",
        "started",
        "finished",
        "n",
        "done",
        "failed",
        "error",
        "identity",
        "config",
        "source",
    )
    return {name: getattr(run, name) for name in names}


def _say_unscored(workspace: Workspace, run: Run) -> None:
    """What a run over texts without gold did, and what can be done with it."""
    dataset = {dataset.dataset: dataset.name for dataset in workspace.datasets()}[run.dataset]
    say(f"{run.done + run.failed} texts asked, {run.done} answers kept. No text has gold: there is nothing to score.")
    say("See the answers:")
    say("  emotui                                    Browse shows them in their texts")
    say(f"  emotui export {run.run} --to answers.jsonl")
    say("Score them as soon as there is gold:")
    say(f"  emotui replace-gold {shlex.quote(dataset)} FILE")


def _print(
    workspace: Workspace, run: Run, seconds: float, as_json: bool, more: Mapping[str, object] | None = None
) -> None:
    figures = {**workspace.summary(run.run), **(more or {})}
    tell_metric_troubles()
    if as_json:
        names = ("run", "task", "model", "n", "done", "failed")
        print_json({name: getattr(run, name) for name in names} | {"seconds": seconds, "metrics": figures})
        return
    failed = f", {run.failed} failed" if run.failed else ""
    title = f"run {run.run}   {run.model}   {run.done} of {run.n} done{failed}"
    unlabelled = figures.get("unlabelled")
    if unlabelled and not figures.get("n"):
        say(title)
        _say_unscored(workspace, run)
    else:
        print_figures(title, figures)
        if unlabelled:
            say(f"texts without gold: {unlabelled}; what the model said of them is kept, and in no figure")
    if run.failed:
        why = next((row.error for row in workspace.store.results.of_run(run.run) if row.error is not None), None)
        say(f"the first that failed: {why}", err=True)
    say(f"{shown(seconds)} s")
