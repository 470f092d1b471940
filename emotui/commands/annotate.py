"""`emotui annotate`: who annotates what, by which scheme, how far they are. `emotui project`: on several machines."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from emotui.bounded import read_text
from emotui.commands.browse import user_name
from emotui.commands.output import as_written, bar, json_option, print_json, say, shown, terminal, warn
from emotui.commands.program_options import annotator_option, db_option, look_into, open_workspace, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.screens.annotate.entry import reserved
from emotui.tables import number_of
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.log_files import Taken
from emotui.workbench.annotate.others import source_answers
from emotui.workbench.annotate.planning.assignment import Assignment, Batch, Retest, progress_of
from emotui.workbench.annotate.planning.assignment import assign as keep_assigned
from emotui.workbench.annotate.planning.order import KINDS, Order, order_of
from emotui.workbench.annotate.planning.protocols import (
    PROTOCOLS,
    Aspect,
    assignment_by,
    percent_agreement,
    protocol_named,
)
from emotui.workbench.annotate.projects import collect, deal_project, export_project, import_project
from emotui.workbench.annotate.scheme import (
    FURTHER,
    Scheme,
    built_in,
    check_keys,
    is_built_in,
    read_scheme,
    scheme_of,
    shared_keys,
    with_keys,
    without_keys,
)
from emotui.workbench.annotate.traces import answer_traces, event_traces
from emotui.workbench.datasets.sets import dataset_named

# `emotui annotate log`: every event, and how each answer came about.


@click.command()
@click.argument("dataset")
@annotator_option("Of this annotator alone.")
@db_option
@read_only_option
@json_option
def log(dataset: str, annotator: str | None, db: str | None, read_only: bool, as_json: bool) -> None:
    """How the answers to DATASET came about: order, seconds, suggestions followed; with --json every event too."""
    store = look_into(db, read_only=read_only).store
    found = dataset_named(store, dataset)
    answers = list(answer_traces(store, found, annotator))
    if as_json:
        events = event_traces(store, found, annotator)
        rows = [msgspec.structs.asdict(one) | {"what": msgspec.to_builtins(one.what)} for one in events]
        print_json({"dataset": dataset, "answers": [msgspec.structs.asdict(one) for one in answers], "events": rows})
        return
    if not answers:
        say("No answers yet. Annotate in place 2 of the workbench: emotui")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("annotator", "text", "place", "seconds", "events", "suggested by", "taken", "mended", "away"):
        table.add_column(column, justify="left" if column in ("annotator", "text", "suggested by") else "right")
    for one in answers:
        name = one.annotator + (" again" if one.round else "")
        of = f"{one.taken}/{one.shown}" if one.source else "–"
        cells = (name, one.id, shown(one.place), shown(one.answered), str(one.events), one.source or "–", of)
        table.add_row(*map(as_written, (*cells, str(one.mended) if one.source else "–", shown(one.away))))
    terminal().print(table)


# `emotui annotate scheme`: look at schemes, check a file, keep one for a dataset.


@click.group()
def scheme() -> None:
    """Schemes: which labels and numbers there are, their keys, and the guidelines beside them."""


@scheme.command()
@click.argument("file", type=click.Path())
@json_option
def check(file: str, as_json: bool) -> None:
    """Say what is wrong with the scheme in FILE (TOML), or what it holds."""
    found = read_scheme(file)
    _check(found)
    _show(with_keys(without_keys(found, reserved()), reserved()), as_json)


@scheme.command()
@click.argument("dataset")
@db_option
@read_only_option
@json_option
def show(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """Show the scheme that DATASET is annotated by."""
    _show(_of_dataset(Desk(look_into(db, read_only=read_only).store), dataset), as_json)


@scheme.command()
@click.argument("dataset")
@click.argument("file", type=click.Path(), required=False)
@click.option("--built-in", is_flag=True, help="The one that comes with the task again.")
@db_option
@json_option
def use(dataset: str, file: str | None, built_in: bool, db: str | None, as_json: bool) -> None:
    """Keep the scheme in FILE, or the built-in one of that name (seer, say), for DATASET. Answers stay as they are."""
    if (file is None) != built_in:
        raise BadInput("name the file of a scheme, or --built-in")
    desk = Desk(look_into(db).store)
    if file is not None and not is_built_in(file):
        _check(scheme_of(file))
    desk.keep_scheme(dataset, file)
    _show(_of_dataset(desk, dataset), as_json)


def _of_dataset(desk: Desk, dataset: str) -> Scheme:
    """The scheme as the place has it, with the dataset's own labels; its keys where the place has none of them."""
    try:
        return desk.scheme(dataset, reserved=reserved())
    except BadInput:
        return desk.scheme(dataset)


def _check(scheme: Scheme) -> None:
    """Tell which keys mean two things, and which the place has for itself: it deals those labels others."""
    try:
        check_keys(scheme, reserved())
    except BadInput as error:
        for problem in error.problems:
            warn(problem)
    for line in shared_keys(scheme):
        warn(f"{scheme.path}: {line}")


def _show(found: Scheme, as_json: bool) -> None:
    if as_json:
        groups = [
            {
                "name": group.name,
                "of": group.of,
                "exclusive": group.exclusive,
                "required": group.required,
                "labels": [{"name": one.name, "key": one.key, "colour": one.colour} for one in group.labels],
                "key": group.key,
                "scale": None
                if group.scale is None
                else {"minimum": group.scale.minimum, "maximum": group.scale.maximum, "step": group.scale.step},
            }
            for group in found.groups
        ]
        head = {"name": found.name, "tasks": found.tasks, "spans": found.spans, "overlap": found.overlap}
        print_json({**head, "groups": groups, "guidelines": bool(found.guidelines)})
        return
    from rich.table import Table

    say(literal(found.name) + (": spans" if found.spans else ""))
    table = Table(box=None, pad_edge=False)
    for column in ("group", "of", "label", "key", "colour"):
        table.add_column(column)
    for group in found.groups:
        of = group.of + (", required" if group.required else "")
        if group.scale is not None:
            scale = f"{group.scale.minimum:g} to {group.scale.maximum:g} by {group.scale.step:g}"
            table.add_row(*map(as_written, (group.name, of, scale, group.key, "")))
        for label in group.labels:
            table.add_row(*map(as_written, (group.name, of, label.name, label.key or "–", label.colour)))
        if not group.labels and group.scale is None:
            table.add_row(*map(as_written, (group.name, of, "a word", "", "")))
    terminal().print(table)


# `emotui annotate assign`, `protocol`, `progress` and `verify`: who annotates what, and how far they are.

_people = click.option("--annotators", required=True, metavar="A,B,...", help="Who annotates, by the names they use.")
_seed = click.option("--seed", default=0, show_default=True, help="Of everything that is left to chance.")
_consent = click.option("--consent", type=click.Path(), help="A text that everybody agrees to before the first one.")


_DEALT = (
    click.option("--overlap", default="1", show_default=True, metavar="N|all", help="How many annotators see a text."),
    click.option(
        "--share",
        default="1",
        metavar="SHARE",
        help="Of the texts for --overlap annotators (0.2, 20%); rest: one.",
    ),
    click.option("--by", default="", metavar="COLUMN", help="The same share of each value of a column, or each label."),
    click.option("--batch", default=20, show_default=True, help="Texts of one sitting."),
    click.option("--order", type=click.Choice(list(KINDS)), default="fixed", show_default=True, help="Of one's own."),
    click.option("--retest", default=0.0, help="The share of one's own texts that comes back for a second answer."),
    click.option("--retest-after", default=20, show_default=True, help="After how many others."),
    click.option("--until", default="", metavar="DAY", help="By when all answers are wanted (2027-01-31)."),
    click.option("--training", default=0, help="Texts with gold that come first, each followed by what gold says."),
    click.option("--checks", default=0, help="Texts with gold in between, whose answers `progress` compares with it."),
    click.option("--show-checks", "checks_shown", is_flag=True, help="Mark checks as such, and tell what gold says."),
    click.option("--least", default=0.0, help="Tell in `progress` who agrees less than this with the known answers."),
    _consent,
    _seed,
)


def _dealt_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_DEALT):
        command = option(command)
    return command


def _assignment(
    annotators: str,
    overlap: str,
    share: str,
    by: str,
    batch: int,
    order: str,
    retest: float,
    retest_after: int,
    until: str,
    training: int,
    checks: int,
    checks_shown: bool,
    least: float,
    consent: str | None,
    seed: int,
) -> Assignment:
    names = _names(annotators)
    return Assignment(
        annotators=names,
        overlap=_overlap(overlap, len(names)),
        share=_share(share),
        by=by,
        batch=batch,
        seed=seed,
        order=msgspec.convert({"kind": order, "seed": seed}, Order),
        own_order=True,
        until=until,
        training=training,
        checks=checks,
        checks_shown=checks_shown,
        least=least,
        retest=Retest(share=retest, after=retest_after, seed=seed),
        consent=_read(consent) or "",
    )


@click.command()
@click.argument("dataset")
@_people
@_dealt_options
@db_option
@json_option
def assign(dataset: str, db: str | None, as_json: bool, **given: Any) -> None:
    """Deal the texts of DATASET out to several annotators. Answers stand: only texts that are open are dealt again."""
    store = look_into(db).store
    found = dataset_named(store, dataset)
    wanted = _assignment(**given)
    order_of(store, found, Desk(store).scheme(dataset), wanted.order)  # so that it has something to go by
    _tell(dataset, wanted, keep_assigned(store, found, wanted), as_json)


@click.command()
@click.argument("dataset", required=False)
@click.argument("name", required=False)
@click.option("--annotators", metavar="A,B,...", help="Who annotates, by the names they use.")
@_consent
@_seed
@db_option
@json_option
def protocol(
    dataset: str | None,
    name: str | None,
    annotators: str | None,
    consent: str | None,
    seed: int,
    db: str | None,
    as_json: bool,
) -> None:
    """Deal DATASET out by the protocol NAME of a paper, with its scheme; without them, list the protocols."""
    if dataset is None or name is None:
        _list_protocols(as_json)
        return
    store = look_into(db).store
    found = dataset_named(store, dataset)
    chosen = protocol_named(name)
    wanted = assignment_by(chosen, _names(annotators or ""), n=found.n, seed=seed, consent=_read(consent))
    made = keep_assigned(store, found, wanted)
    if chosen.scheme in FURTHER and found.task in built_in(chosen.scheme).tasks:
        Desk(store).keep_scheme(dataset, chosen.scheme)
    _tell(dataset, wanted, made, as_json)
    if not as_json:
        say(f"{chosen.title} ({chosen.source})")
        for place, step in enumerate(chosen.steps, 1):
            say(f"  {place}. {step}")


@click.command()
@click.argument("dataset")
@annotator_option("Whose answers (default: your user name).")
@db_option
@json_option
def refit(dataset: str, annotator: str | None, db: str | None, as_json: bool) -> None:
    """Fit suggestions to what somebody answered in DATASET: a source that Annotate offers, and an order by doubt."""
    from emotui.workbench.annotate.fitted import refit as fit

    workspace = open_workspace(db)
    try:
        name = annotator or user_name()
        found = dataset_named(workspace.store, dataset)
        bench = Desk(workspace.store).begin(found.dataset, name, reserved=reserved())
        with bar(f"suggestions for {name}") as step:
            done = fit(
                workspace.store,
                bench.dataset,
                bench.scheme,
                name,
                on_progress=lambda progress: step(progress.done, progress.n),
            )
    finally:
        workspace.close()
    if as_json:
        print_json(msgspec.to_builtins(done))
    else:
        say(done.told)
        say("In Annotate, b borrows them, and s, uncertain, puts the most doubtful first.")


@click.command()
@click.argument("dataset")
@db_option
@read_only_option
@json_option
def progress(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """How far each annotator of DATASET is."""
    store = look_into(db, read_only=read_only).store
    found = dataset_named(store, dataset)
    how_far = progress_of(store, found, scheme=Desk(store).scheme(dataset))
    rows = [msgspec.structs.asdict(one) for one in how_far.annotators]
    if as_json:
        texts = {str(n): count for n, count in how_far.answers.items()}
        goal = ({"until": how_far.until} if how_far.until else {}) | ({"least": how_far.least} if how_far.least else {})
        document = {"dataset": dataset, "n": how_far.n, "annotators": rows, "texts_by_answers": texts}
        print_json({**document, **goal})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    columns = ["annotator", "texts", "given", "left", "flagged", "unsure", "again", "seconds", "a day"]
    checked = any(one.checked for one in how_far.annotators)
    left_out = {*([] if how_far.until else ["wanted"]), *([] if checked else ["checked", "right"])}
    for column in [*columns, *(name for name in ("wanted", "skipped", "checked", "right") if name not in left_out)]:
        table.add_column(column, justify="left" if column == "annotator" else "right")
    for row in rows:
        cells = [value for name, value in row.items() if name not in left_out and name != "settles"]
        table.add_row(*(as_written(shown(value)) for value in cells))
    terminal().print(table)
    told = ", ".join(f"{count} with {n}" for n, count in how_far.answers.items())
    say(f"texts by how many answers they have: {told}")
    if settling := [literal(one.annotator) for one in how_far.annotators if one.settles]:
        say(f"not counted among these, since they settle what others said: {', '.join(settling)}")
    if checked:
        say("right: how far the answers to texts with a known answer agree with it, 1 less the mean distance")
    for one in how_far.annotators:
        if one.right is not None and one.right < how_far.least:
            told = f"{one.right:.2f} over {one.checked} texts, less than {how_far.least:g}"
            warn(f"{literal(one.annotator)} agrees with the known answers in {told}")
    if how_far.until:
        say(f"wanted: answers a day from today until {how_far.until}")


@click.command()
@click.argument("dataset")
@click.argument("model")
@_people
@click.option("--of", type=click.Choice(["labels", "emotion", "valence"]), default="labels", show_default=True)
@db_option
@read_only_option
@json_option
def verify(dataset: str, model: str, annotators: str, of: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """How often annotators agree with the labels of the source MODEL, and with one another (SEER, Table 2)."""
    store = look_into(db, read_only=read_only).store
    found = dataset_named(store, dataset)
    names = _names(annotators)
    said = source_answers(store, found, (model, *names))
    aspect: Aspect = msgspec.convert(of, Aspect)
    verified = percent_agreement(said[model], [said[name] for name in names], aspect)
    ids = {number: id for id, number in store.samples.numbers_by_id(found.dataset).items()}
    figures = {"n": verified.n, "annotators": verified.annotators, "model": verified.model, "same": verified.same}
    if as_json:
        kept = [ids[number] for number in verified.kept]
        notes = {} if verified.n else {"notes": {"n": "there is no text that all of them label"}}
        print_json({"dataset": dataset, "of": of, **figures, "kept": kept, **notes})
        return
    say(f"{literal(model)} verified by {', '.join(map(literal, names))}: {verified.n} {of}")
    say(f"  same verdict on the model's  {shown(verified.annotators)}")
    say(f"  all agree with the model     {shown(verified.model)}")
    say(f"  same label                   {shown(verified.same)}")
    say(f"  texts to keep                {len(verified.kept)}")


def _overlap(given: str, annotators: int) -> int:
    if given == "all":
        return annotators
    try:
        return int(given)
    except ValueError:
        raise BadInput(f"--overlap {given}: a number of annotators, or all") from None


def _share(given: str) -> float:
    try:
        return float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        raise BadInput(f"--share {given}: a share of the texts, as 0.2 or 20%") from None


def _names(given: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.split(",")) if given.strip() else ()


def _read(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error


def _tell(dataset: str, wanted: Assignment, made: Sequence[Batch], as_json: bool) -> None:
    load = Counter(name for batch in made for name in batch.annotators for _ in batch.samples)
    if as_json:
        shares = {name: load[name] for name in wanted.annotators}
        rows = [{"batch": one.number, "n": len(one.samples), "annotators": one.annotators} for one in made]
        plan = {name: value for name, value in msgspec.to_builtins(wanted).items() if name != "dealt"}
        print_json({"dataset": dataset, "assignment": plan, "texts": shares, "batches": rows})
        return
    seen = Counter(n for batch in made for n in [len(batch.annotators)] * len(batch.samples))
    people = len(wanted.annotators)
    if len(seen) == 1:
        say(f"{literal(dataset)}: {len(made)} batches, each for {wanted.overlap} of {people} annotators")
    else:
        texts = ", ".join(f"{n} for {of}" for of, n in sorted(seen.items(), reverse=True))
        say(f"{literal(dataset)}: {len(made)} batches for {people} annotators; texts: {texts}")
    for name in wanted.annotators:
        say(f"  {literal(name)}  {number_of(load[name], 'text')}")
    if left := [name for name in load if name not in wanted.annotators]:
        say(f"  answers of {', '.join(map(literal, left))} stand")


def _list_protocols(as_json: bool) -> None:
    if as_json:
        print_json([msgspec.structs.asdict(one) for one in PROTOCOLS])
        return
    for one in PROTOCOLS:
        size = f"batches of {one.batch}" if one.batch else "all texts at once"
        say(f"{one.name}: {one.title}; {one.overlap} a text, {size} ({one.source})")


@click.group()
def annotate() -> None:
    """Annotation by people: assignments, schemes, progress, and the log. The annotating itself is place 2."""


for command in (assign, log, progress, protocol, refit, scheme, verify):
    annotate.add_command(command)


# `emotui project`: a folder that several machines, or git, pass round.


@click.group()
def project() -> None:
    """Annotation on several machines: a folder with texts, scheme, assignment and a log for each person."""


_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@project.command("export")
@_folder
@click.option("--dataset", required=True, help="Whose texts, scheme, assignment and logs.")
@click.option("--columns", default="", metavar="A,B,...", help="Columns beside the texts that annotators are to see.")
@db_option
@json_option
def export_(folder: Path, dataset: str, columns: str, db: str | None, as_json: bool) -> None:
    """Write DATASET as the project in DIR, or add to DIR what was annotated here. Gold and models' answers stay out."""
    store = look_into(db).store
    done = export_project(store, dataset_named(store, dataset), folder, _names(columns))
    if as_json:
        plan = {name: getattr(done.plan, name) for name in ("project", "name", "task", "n", "revision")}
        print_json({"folder": str(folder), **plan, "logs": done.logs, "notes": done.notes})
        return
    texts = number_of(done.plan.n, "text")
    say(f"{literal(str(folder))}: {texts}, revision {done.plan.revision} of scheme and assignment")
    for name, n in done.logs.items():
        say(f"  {literal(name)}  {n} new entries")
    for note in done.notes:
        warn(note)


@project.command("import")
@_folder
@click.option("--name", help="Of the dataset, where its texts are not in the store yet.")
@db_option
@json_option
def import_(folder: Path, name: str | None, db: str | None, as_json: bool) -> None:
    """Bring the project in DIR into the store: texts, scheme, assignment and logs. Doing it twice does no harm."""
    done = import_project(open_workspace(db).store, folder, name)
    if as_json:
        head = {"folder": str(folder), "dataset": done.dataset.name, "n": done.dataset.n, "added": done.added}
        print_json({**head, "logs": msgspec.to_builtins(done.logs), "notes": done.notes})
        return
    say(f"{literal(done.dataset.name)}: {number_of(done.dataset.n, 'text')}" + (", added" if done.added else ""))
    tell_taken(done.logs)
    for note in done.notes:
        warn(note)


def tell_taken(logs: Sequence[Taken]) -> None:
    """Tell what was new in the logs of annotators, and where they contradict themselves."""
    for log in logs:
        say(f"  {literal(log.annotator)}  {log.entries} new entries")
        for one in log.contradictions:
            text, kept, undone = literal(one.text), one.kept[:19], one.undone[:19]
            warn(f"{literal(log.annotator)} answered {text} twice, apart: that of {kept} counts, not that of {undone}")


@project.command()
@_folder
@click.option("--annotators", default="", metavar="A,B,...", help="To whom; without it, as it was dealt before.")
@_dealt_options
@json_option
def deal(folder: Path, annotators: str, as_json: bool, **given: Any) -> None:
    """Deal the texts of the project in DIR out, and make a folder for each person: DIR/people/NAME.

    Everybody does `emotui project import` with theirs, annotates, does `emotui project export`, and gives it back.
    """
    plan, made = deal_project(folder, _assignment(annotators, **given) if annotators else None)
    if as_json:
        folders = {name: str(path) for name, path in made.items()}
        print_json({"folder": str(folder), "revision": plan.revision, "people": folders})
        return
    say(f"{literal(str(folder))}: {number_of(plan.n, 'text')} for {number_of(len(made), 'annotator')}")
    for name, path in made.items():
        say(f"  {literal(name)}  {literal(str(path))}")


@project.command("collect")
@_folder
@click.argument("folders", nargs=-1, metavar="[FOLDER...]", type=click.Path(path_type=Path))
@json_option
def collect_(folder: Path, folders: tuple[Path, ...], as_json: bool) -> None:
    """Take the logs of people's folders back into the project in DIR; without FOLDER, of all in DIR/people."""
    found = collect(folder, folders)
    if as_json:
        print_json({"folder": str(folder), "collected": msgspec.to_builtins(found)})
        return
    for one in found:
        say(f"  {literal(one.annotator)}  {one.entries} new entries  from {literal(one.folder)}")
    say(f"emotui project import {literal(str(folder))} brings them into the store" if found else "there is nothing yet")
