"""`emotui score KIND`: predictions against gold, from files, without the store. A task brings its own KIND."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from emotui.commands.exchange.importing import label_columns_options
from emotui.commands.exchange.written import written_option
from emotui.commands.options import tell_metric_troubles, tell_troubles
from emotui.commands.output import CONFUSION, json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.errors import BadInput
from emotui.formats.columns import FOUND, LabelColumns
from emotui.tasks.parts import CALIBRATED, PEOPLE, ScoreOption
from emotui.tasks.registry import kinds, task_named
from emotui.tasks.task import Task
from emotui.workbench.files.score import MISSING, choose_thresholds, score_files, score_whole_records


class Kinds(click.Group):
    """A command for the files of each task, and for pairs of emotions and causes, which are no task's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The kinds of files that are scored."""
        tell_troubles()
        return [*(kind for kind, task in kinds().items() if _scored(task)), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of a kind, or of a task's name."""
        if (own := super().get_command(ctx, name)) is not None:
            return own
        try:
            task = task_named(name)
        except BadInput:
            tell_troubles()
            return None
        if task.files.score_records is not None:
            return _of_records(task)
        return None if task.files.score is None else _command(task)


def _scored(task: Task) -> bool:
    return task.files.score is not None or task.files.score_records is not None


@click.group(cls=Kinds)
def score() -> None:
    """Score a file of predictions against a file of gold records."""


gold_option: Callable[[Any], Any] = click.option("--gold", required=True, help="Gold records.")
pred_option: Callable[[Any], Any] = click.option("--pred", required=True, help="Predicted records.")


MOST_PEOPLE = 20
"""Annotators who fit into a table that a person reads."""


def _show(title: str, figures: dict[str, Any], as_json: bool) -> None:
    tell_metric_troubles()
    if as_json:
        print_json(figures)
        return
    people = figures.pop(PEOPLE, None)
    print_figures(title, figures | _beside(figures) | _confused(figures))
    if people is not None:
        calibration = people.pop(CALIBRATED, None)
        shown = {name: value for name, value in people.items() if name != "by_annotator"}
        each = people["by_annotator"]
        print_figures("against people", people if len(each) <= MOST_PEOPLE else shown)
        if len(each) > MOST_PEOPLE:
            say(f"--json has the figures of each of the {len(each)} annotators")
        if calibration is not None:
            fitted = calibration.pop("fitted")
            print_figures("calibrated on people", {**calibration, "temperature": fitted["temperature"]})


def _confused(figures: dict[str, Any]) -> dict[str, Any]:
    """The labels of spans with their confusion as a table of its own."""
    labels = figures.get("labels")
    if not isinstance(labels, dict) or CONFUSION not in labels:
        return {}
    return {
        "labels": {name: value for name, value in labels.items() if name != CONFUSION},
        CONFUSION: labels[CONFUSION],
    }


def _beside(figures: dict[str, Any]) -> dict[str, Any]:
    """The baselines as a person compares them: a line a figure, those of the predictions first."""
    columns = {"predicted": figures, **figures.get("baselines", {})}
    if len(columns) == 1:
        return {}
    names = [name for name, value in figures.items() if isinstance(value, int | float | None)]
    names = [name for name in names if all(name in one for one in columns.values())]
    return {"baselines": {name: {key: one.get(name) for key, one in columns.items()} for name in names}}


def _as_they_are(command: Callable[..., Any]) -> Callable[..., Any]:
    """Files of this kind have no columns of labels."""

    @wraps(command)
    def with_none(*args: Any, **others: Any) -> Any:
        return command(*args, columns=FOUND, **others)

    return with_none


_missing_option: Callable[[Any], Any] = click.option(
    "--missing",
    type=click.Choice(MISSING),
    help="What a gold record without a prediction counts as: an answer that says nothing, or left out. Without this it "
    "is bad input.",
)
_baselines_option: Callable[[Any], Any] = click.option(
    "--baselines", is_flag=True, help="Add the same figures of baselines without a model."
)


def _command(task: Task) -> click.Command:
    @click.command(task.files.kind, help=task.files.about)
    @gold_option
    @pred_option
    @_missing_option
    @_baselines_option
    @(label_columns_options if task.files.label_columns else _as_they_are)
    @skip_bad_option
    @json_option
    def scored(
        gold: str,
        pred: str,
        missing: str | None,
        baselines: bool,
        columns: LabelColumns,
        skip_bad: bool,
        as_json: bool,
        **given: Any,
    ) -> None:
        figures = score_files(
            task.name,
            gold,
            pred,
            given,
            missing=missing,
            baselines=baselines,
            columns=columns,
            skip_bad=skip_bad,
            warn=warn,
        )
        _show(f"{pred} against {gold}", figures, as_json)

    scored.params[2:2] = [_option(each) for each in task.files.score_options]
    return scored


def _of_records(task: Task) -> click.Command:
    """The command of a task whose records hold samples with what sources say of them."""

    @click.command(task.files.kind, help=task.files.about)
    @click.option("--records", required=True, multiple=True, metavar="FILE", help="Records (again for more files).")
    @skip_bad_option
    @json_option
    def scored(records: tuple[str, ...], skip_bad: bool, as_json: bool, **given: Any) -> None:
        figures = score_whole_records(task.name, records, given, skip_bad=skip_bad, warn=warn)
        if as_json:
            _show("", figures, as_json)
            return
        from emotui.commands.results import print_tables

        print_tables(() if task.files.tables_of is None else task.files.tables_of(figures))

    scored.params[1:1] = [_option(each) for each in task.files.score_options]
    return scored


@score.command()
@gold_option
@pred_option
@_missing_option
@skip_bad_option
@json_option
def pairs(gold: str, pred: str, missing: str | None, skip_bad: bool, as_json: bool) -> None:
    """Score pairs of an emotion and its cause, over the turns of conversations (JSON of SemEval-2024 task 3)."""
    from emotui.workbench.files.beside_tasks import score_pairs_of_files

    figures = score_pairs_of_files(gold, pred, missing=missing, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json(figures)
        return
    notes = {name: figures.pop(name) for name in ("conventions", "notes")}
    intervals = figures.pop("ci95")
    ways = {name: figures.pop(name) for name in ("strict", "proportional", "turns") if name in figures}
    print_figures(f"{pred} against {gold}", figures)
    for at, (name, way) in enumerate(ways.items()):
        own = {key: intervals[f"{name}.{key}"] for key in way if f"{name}.{key}" in intervals}
        print_figures(name, way | {"ci95": own} | (notes if at == len(ways) - 1 else {}))


@score.command()
@gold_option
@pred_option
@_missing_option
@skip_bad_option
@json_option
def annotators(gold: str, pred: str, missing: str | None, skip_bad: bool, as_json: bool) -> None:
    """Score an answer predicted for each annotator against what that annotator said (LeWiDi's perspectivist part)."""
    from emotui.workbench.files.beside_tasks import score_annotators_of_files

    figures = score_annotators_of_files(gold, pred, missing=missing, skip_bad=skip_bad, warn=warn)
    if not as_json and len(figures["by_annotator"]) > MOST_PEOPLE:
        say(f"--json has the figures of each of the {len(figures.pop('by_annotator'))} annotators")
    _show(f"{pred} against the annotators of {gold}", figures, as_json)


def _option(option: ScoreOption) -> click.Option:
    kind: click.ParamType = click.Path()  # type: ignore[type-arg]  # generic only since click 8.3
    if option.choices:
        kind = click.Choice(option.choices)
    elif option.least is not None:
        kind = click.IntRange(min=option.least)
    elif option.metavar is not None:
        kind = click.STRING
    flag, metavar = [f"--{option.name}"], option.metavar
    if option.switch:
        return click.Option(flag, is_flag=True, help=option.help)
    return click.Option(flag, type=kind, multiple=option.several, metavar=metavar, help=option.help)


@click.command()
@gold_option
@pred_option
@written_option("--to", type=click.Path(), help="Write them to a .toml or .json file, as --thresholds reads it.")
@label_columns_options
@skip_bad_option
@json_option
def thresholds(gold: str, pred: str, to: str | None, columns: LabelColumns, skip_bad: bool, as_json: bool) -> None:
    """Choose for each label the probability with the best F1, for `score labels` on another file."""
    figures = choose_thresholds(gold, pred, to, columns=columns, skip_bad=skip_bad, warn=warn)
    by_people = {name: value for name, value in figures.items() if name != "thresholds"}
    _show(f"thresholds by {pred} against {gold}", figures if as_json else by_people, as_json)
