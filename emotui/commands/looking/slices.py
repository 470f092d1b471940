"""`emotui slices`: filters with a name, figures by part, rules that are found, texts that are near."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from emotui.commands.output import as_written, json_option, print_json, say, terminal
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.metrics.slice_rules import FEWEST, MOST
from emotui.workbench.compare.sources import task_answered
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.slices.near import TEN

if TYPE_CHECKING:
    from emotui.store.query import Dataset
    from emotui.workbench.slices.slicing import Parts, Slicing
    from emotui.workbench.workspace import Workspace

_of = click.option("--of", "source", metavar="SOURCE", required=True, help="A run, person, file or gold:VERSION.")
_against = click.option("--against", metavar="SOURCE", help="A second source: their difference, in place of one alone.")
_metric = click.option("--metric", help="By which metric (default: the first of the task).")
_by = click.option("--by", metavar="FACET,...", help="Only these facets (default: all; see emotui slices facets).")
_correction = click.option(
    "--correction",
    type=click.Choice(["holm", "benjamini-hochberg"]),
    default="holm",
    show_default=True,
    help="Of p over all rows.",
)


@click.group()
def slices() -> None:
    """Parts of a dataset: filters with a name, figures of a source in each, rules under which it is worst."""


def _slicing(db: str | None, dataset: str, *, read_only: bool = False) -> "tuple[Workspace, Slicing, Dataset]":
    workspace = look_into(db, read_only=read_only)
    return workspace, workspace.slicing(), dataset_named(workspace.store, dataset)


def _slicing_of(
    db: str | None, dataset: str, source: str, against: str | None, *, read_only: bool
) -> "tuple[Slicing, Dataset]":
    """The parts of a dataset, with figures of the task that both sources answer."""
    workspace, slicing, found = _slicing(db, dataset, read_only=read_only)
    return slicing.read_as(task_answered(workspace.store, found, (source, against))), found


def _run(workspace: "Workspace", run: str | None) -> str | None:
    return None if run is None else workspace.store.runs.get(run).run


def facet_names(line: str | None) -> list[str] | None:
    return None if line is None else [part.strip() for part in line.split(",") if part.strip()]


@slices.command("list")
@click.argument("dataset")
@db_option
@read_only_option
@json_option
def list_(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """List the slices of DATASET that were saved."""
    _, slicing, found = _slicing(db, dataset, read_only=read_only)
    saved = slicing.saved(found.dataset)
    if as_json:
        print_json({"dataset": found.name, "slices": [msgspec.to_builtins(one) for one in saved]})
    elif not saved:
        say('No slices yet: emotui slices save DATASET NAME "emotion=sad & length=long"')
    else:
        _print(("name", "samples", "conditions"), [(one.name, _number(one.n), one.conditions) for one in saved])


@slices.command()
@click.argument("dataset")
@click.argument("name")
@click.argument("conditions")
@click.option("--run", metavar="RUN", help="Of whose errors and figures the conditions are.")
@db_option
@json_option
def save(dataset: str, name: str, conditions: str, run: str | None, db: str | None, as_json: bool) -> None:
    """Save the filter CONDITIONS of DATASET under NAME, such as "emotion=sad|fear & length=long & speaker=Ann"."""
    workspace, slicing, found = _slicing(db, dataset)
    replaced = slicing.save(found.dataset, name, conditions, _run(workspace, run))
    if as_json:
        print_json({"dataset": found.name, "name": name, "replaced": replaced})
    else:
        say(literal(f"{name} is {'another filter now' if replaced else 'saved'}"))


@slices.command()
@click.argument("dataset")
@click.argument("name")
@db_option
@json_option
def remove(dataset: str, name: str, db: str | None, as_json: bool) -> None:
    """Forget the slice NAME of DATASET."""
    _, slicing, found = _slicing(db, dataset)
    slicing.remove(found.dataset, name)
    if as_json:
        print_json({"dataset": found.name, "name": name, "removed": True})
    else:
        say(literal(f"{name} is removed"))


@slices.command()
@click.argument("dataset")
@db_option
@read_only_option
@json_option
def facets(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """List what can be asked of the samples of DATASET, with how many have each value."""
    _, slicing, found = _slicing(db, dataset, read_only=read_only)
    table = slicing.facets(found.dataset)
    known = [facet for name in table.names() if (facet := table.facet(name)) is not None]
    counts = [dict(zip(one.values, one.members.sum(axis=0).tolist(), strict=True)) for one in known]
    if as_json:
        listed = [
            {"facet": one.name, "about": one.about, "values": count} for one, count in zip(known, counts, strict=True)
        ]
        print_json({"dataset": found.name, "facets": listed})
        return
    rows = [
        (one.name, one.about, "  ".join(f"{value} {n}" for value, n in count.items()))
        for one, count in zip(known, counts, strict=True)
    ]
    _print(("facet", "what", "values"), rows)


@slices.command()
@click.argument("dataset")
@click.argument("conditions")
@click.option("--run", metavar="RUN", help="Of whose errors and figures the conditions are.")
@db_option
@read_only_option
@json_option
def ids(dataset: str, conditions: str, run: str | None, db: str | None, read_only: bool, as_json: bool) -> None:
    """List the ids of the samples of DATASET that CONDITIONS keep; `slice=NAME` is a condition too."""
    workspace, slicing, found = _slicing(db, dataset, read_only=read_only)
    kept = slicing.samples(found.dataset, conditions, _run(workspace, run))
    keys = {number: key for key, number in workspace.store.samples.numbers_by_id(found.dataset).items()}
    if as_json:
        print_json({"dataset": found.name, "n": len(kept), "ids": [keys[number] for number in kept]})
    else:
        for number in kept:
            say(literal(keys[number]))


@slices.command()
@click.argument("dataset")
@_of
@_against
@_metric
@_by
@_correction
@db_option
@read_only_option
@json_option
def figures(
    dataset: str,
    source: str,
    against: str | None,
    metric: str | None,
    by: str | None,
    correction: Any,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Figures of a source in each part of DATASET, or how two differ there, with intervals and corrected p."""
    slicing, found = _slicing_of(db, dataset, source, against, read_only=read_only)
    parts = slicing.parts(found.dataset, source, against, metric, facet_names(by), correction)
    if as_json:
        head = {"dataset": found.name, "of": source, "against": against}
        print_json(head | parts_document(parts))
    else:
        print_parts(parts)


def parts_document(parts: "Parts") -> dict[str, Any]:
    """What parts come to, for a program."""
    rows = [msgspec.to_builtins(row) | {"conditions": row.conditions} for row in parts.rows]
    whole = msgspec.to_builtins(parts.whole)
    return {"metric": parts.metric.name, "all": whole, "slices": rows, "convention": parts.convention}


def print_parts(parts: "Parts") -> None:
    """A row a part: the figure there, and how far it is from that of the rest."""
    two = parts.second is not None
    rows = [
        (
            row.conditions if row.facet else "all",
            str(row.n),
            *((_decimals(row.mean), _decimals(row.other)) if two else ()),
            _between(_signed(row.difference) if two else _decimals(row.mean), row.low, row.high),
            *((_number(row.adjusted),) if two else ()),
            _between(_signed(row.apart), row.apart_low, row.apart_high),
            _number(row.apart_adjusted),
        )
        for row in (parts.whole, *parts.rows)
    ]
    _print(("part", "n", *(("A", "B", "A − B", "p") if two else ("figure",)), "less the rest", "p"), rows)
    say(parts.convention)


@slices.command("compare")
@click.argument("dataset")
@click.argument("conditions", nargs=-1, required=True)
@_of
@_against
@_metric
@_correction
@db_option
@read_only_option
@json_option
def compare_(
    dataset: str,
    conditions: tuple[str, ...],
    source: str,
    against: str | None,
    metric: str | None,
    correction: Any,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Compare parts of DATASET within a source: one part with the rest, or each two of several.

    CONDITIONS are lines such as "emotion=sad" or "slice=NAME". With --against it is the difference of two sources
    that is compared: does negation hurt B more than A?
    """
    slicing, found = _slicing_of(db, dataset, source, against, read_only=read_only)
    between = slicing.between(found.dataset, conditions, source, against, metric, correction)
    if as_json:
        head = {"dataset": found.name, "of": source, "against": against, "metric": between.metric.name}
        contrasts = [
            {"conditions": row.conditions, "other": row.other, "adjusted": row.adjusted}
            | msgspec.to_builtins(row.contrast)
            for row in between.rows
        ]
        print_json(head | {"contrasts": contrasts, "convention": between.convention})
        return
    rows = [
        (
            row.conditions,
            str(row.contrast.n),
            _decimals(row.contrast.inside),
            row.other or "the rest",
            str(row.contrast.rest),
            _decimals(row.contrast.outside),
            _between(_signed(row.contrast.difference), row.contrast.low, row.contrast.high),
            _number(row.contrast.p),
            _number(row.adjusted),
        )
        for row in between.rows
    ]
    figure = "A − B" if against else "figure"
    _print(("slice", "n", figure, "against", "n", figure, "difference", "p", "corrected"), rows)
    say(between.convention)


@slices.command()
@click.argument("dataset")
@_of
@_against
@_metric
@_by
@_correction
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the halves.")
@click.option("--fewest", type=click.IntRange(2), default=FEWEST, show_default=True, help="Samples in either half.")
@click.option("--most", type=click.IntRange(1), default=MOST, show_default=True, help="Rules that are tested.")
@db_option
@read_only_option
@json_option
def find(
    dataset: str,
    source: str,
    against: str | None,
    metric: str | None,
    by: str | None,
    correction: Any,
    seed: int,
    fewest: int,
    most: int,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Rules of one or two conditions under which a source is worst, or two differ most, tested on the other half."""
    slicing, found = _slicing_of(db, dataset, source, against, read_only=read_only)
    findings = slicing.found(
        found.dataset,
        source,
        against,
        metric,
        facet_names(by),
        seed=seed,
        fewest=fewest,
        most=most,
        correction=correction,
    )
    if as_json:
        rules = [
            {
                "conditions": row.conditions,
                "n": row.rule.n,
                "mean": row.rule.mean,
                "rest": row.rule.rest,
                "difference": row.rule.difference,
                "ci95": None if row.rule.low is None else [row.rule.low, row.rule.high],
                "found_difference": row.rule.found,
                "p": row.rule.p,
                "p_corrected": row.rule.adjusted,
            }
            for row in findings.rows
        ]
        head = {"dataset": found.name, "of": source, "against": against, "metric": findings.metric.name}
        tried = {"n": findings.n, "conditions": findings.conditions, "correction": findings.by, "seed": seed}
        print_json(head | tried | {"rules": rules, "convention": findings.convention})
        return
    if not findings.rows:
        say(literal(f"No rule holds of {fewest} samples in either half of the {findings.n} that have a value."))
        return
    rows = [
        (
            row.conditions,
            str(row.rule.n),
            f"{row.rule.mean:.3f}",
            f"{row.rule.rest:.3f}",
            f"{row.rule.difference:+.3f}",
            "" if row.rule.low is None or row.rule.high is None else f"[{row.rule.low:.3f}, {row.rule.high:.3f}]",
            _number(row.rule.p),
            _number(row.rule.adjusted),
        )
        for row in findings.rows
    ]
    _print(("rule", "n", "mean", "rest", "difference", "95%", "p", "corrected"), rows)
    say(findings.convention)


@slices.command()
@click.argument("dataset")
@click.argument("sample")
@click.option("-n", "n", type=click.IntRange(1), default=TEN, show_default=True, help="How many.")
@click.option("--model", metavar="SPEC", default="embedded", show_default=True, help="Whose embeddings.")
@db_option
@json_option
def like(dataset: str, sample: str, n: int, model: str, db: str | None, as_json: bool) -> None:
    """The texts of DATASET that are nearest to that of SAMPLE, by embeddings, which are kept in the store."""
    from emotui.workbench.slices.near import nearest_texts

    workspace = look_into(db)
    try:
        store = workspace.store
        found = dataset_named(store, dataset)
        number = store.samples.numbers_by_id(found.dataset).get(sample)
        if number is None:
            raise BadInput(f"{found.name} has no sample {sample!r}")
        near = nearest_texts(store, found.dataset, number, workspace.model(model), n)
    finally:
        workspace.close()
    if as_json:
        listed = [{"id": one.id, "cosine": one.cosine, "text": one.text} for one in near]
        print_json({"dataset": found.name, "id": sample, "model": model, "near": listed})
        return
    _print(("cosine", "id", "text"), [(f"{one.cosine:.3f}", one.id, one.text) for one in near])


def _decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def _between(figure: str, low: float | None, high: float | None) -> str:
    return figure if low is None or high is None else f"{figure} [{low:.2f}, {high:.2f}]"


def _number(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else "<.001" if value < 0.001 else f"{value:.3f}"


def _print(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    left = {"id", "text", "facet", "value", "rule", "name", "conditions", "what", "values", "slice", "against", "part"}
    for column in columns:
        table.add_column(column, justify="left" if column in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(as_written, row))
    terminal().print(table)
