"""More about texts that are there: what another file says of them, and datasets that hold the same texts as one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.formats import capped, fingerprint
from emotui.formats.checks import fault
from emotui.formats.conversion import kept_once, spans_once, to_record
from emotui.formats.layouts.tables.several import names_people
from emotui.formats.reading import Warn
from emotui.formats.rows import Flaw, literal
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.texts import SAID, TextSaid, record_json, said_of_text, sample_of_text
from emotui.workbench.datasets.foreign import Wish, read_rows
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.drafts import DraftBook
from emotui.workbench.progress import OnStep, silent
from emotui.workbench.rephrase.originals import move_labels, move_variants
from emotui.workbench.runs.run import rescore
from emotui.workbench.runs.states import check_at_rest

BY = ("id", "text")
"""By what records of a file are matched with texts that are there."""

_NAMED = 3
"""Texts that a line names."""


@dataclass(frozen=True, slots=True)
class Added:
    """A dataset with what a file says of its texts beside what was said before.

    Attributes:
        by: `id` or `text`.
        matched: texts of the dataset that the file says something about.
        strangers: records of the file that are about no text of the dataset, by their id or place.
        keys: how many texts something is said of now that was not before, by the key of records.
        rescored: runs that were scored anew.
    """

    dataset: Dataset
    by: str
    matched: int
    strangers: tuple[str, ...]
    keys: Mapping[str, int]
    rescored: tuple[str, ...] = ()


def import_into(
    store: Store,
    dataset: str,
    paths: Sequence[str],
    wish: Wish,
    by: str | None = None,
    *,
    sim: bool = True,
    skip_bad: bool = False,
    warn: Warn,
    on_step: OnStep = silent,
    cancelled: IsCancelled | None = None,
) -> Added:
    """Add what files say about the texts of a dataset, as its next version of gold; its runs are scored by it at once.

    Args:
        by: one of `BY`; None: by id where the file has ids of the dataset, else by the text.

    Raises:
        BadInput: no such dataset, a bad file, a run that is going on, nothing matches, or the file contradicts what
            gold says already.
    """
    found = dataset_named(store, dataset)
    check_at_rest(store.runs.all(found.dataset))
    rows, problems = _rows(paths, wish, on_step)
    texts = [text for _, text in _texts(store, found)]
    ids = {text["id"] for text in texts}
    if by != "text" and (column := _id_column([row for _, row in rows], ids)) is not None:
        rows, told = _by_column(rows, column)
        warn(f"{literal(paths[0])}: {told}")
    if by is None:
        by = "id" if ids & {row.get("id") for _, row in rows} else "text"
    place = {text.get(by): at for at, text in reversed(list(enumerate(texts)))}
    merged, strangers, matched, twice = list(texts), list[str](), set[int](), 0
    for where, row in rows:
        at = place.get(row.get(by)) if row.get(by) is not None else None
        if at is None or (by == "id" and row.get("text") not in (None, texts[at].get("text"))):
            named = row.get("id") or where
            strangers.append(named if at is None else f"{named} (another text)")
            continue
        matched.add(at)
        twice += spans_once(row)
        try:
            _check(texts[at], row)
            merged[at] = _merged(merged[at], row)
        except ValueError as error:
            problems.append(f"{where}: {error}")
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for problem in problems:
        warn(f"skipped {problem}")
    if not matched:
        raise BadInput(
            f"{literal(paths[0])}: none of its {len(rows):,} records has the {by} of a text of {found.name}: "
            f"--by {'text' if by == 'id' else 'id'} matches by the other"
        )
    if twice:
        warn(f"{literal(paths[0])}: {kept_once(twice)}")
    if strangers:
        some = ", ".join(map(literal, strangers[:_NAMED])) + (", …" if len(strangers) > _NAMED else "")
        warn(f"{literal(paths[0])}: {len(strangers):,} of {len(rows):,} records match no text of {found.name}: {some}")
    if merged == texts:
        return Added(found, by, len(matched), tuple(strangers), {})
    keys = {key: sum(key in new and key not in old for old, new in zip(texts, merged, strict=True)) for key in SAID}
    new = _replaced(store, found, merged, ", ".join(paths))
    rescored = _rescored(store, new, sim=sim, cancelled=cancelled)
    return Added(new, by, len(matched), tuple(strangers), {key: n for key, n in keys.items() if n}, rescored)


def join(
    store: Store, first: str, second: str, *, sim: bool = True, cancelled: IsCancelled | None = None
) -> tuple[Dataset, tuple[str, ...]]:
    """Make of two datasets with the same texts one: the first, with the gold, runs, scores, marks, annotations and
    notes of both. The second goes into the trash, empty of these; its ids are kept in `meta`, where they differ.

    Returns: the dataset, and the runs that were scored anew.

    Raises:
        BadInput: there is no such dataset, a run is going on, the texts are not the same, or gold contradicts itself.
    """
    kept, other = dataset_named(store, first), dataset_named(store, second)
    if kept.dataset == other.dataset:
        raise BadInput(f"{first} and {second} are one dataset")
    for dataset in (kept, other):
        check_at_rest(store.runs.all(dataset.dataset))
    ours, theirs = _texts(store, kept), _texts(store, other)
    place: dict[object, list[int]] = {}
    place_of = {number: at for at, (number, _) in enumerate(ours)}
    for at, (_, text) in enumerate(ours):
        place.setdefault(text.get("text"), []).append(at)
    merged, moved, lacking = [text for _, text in ours], dict[int, int](), list[str]()
    for number, text in theirs:
        there = place.get(text.get("text"))
        if not there:
            lacking.append(text["id"])
            continue
        at = next((one for one in there if ours[one][1]["id"] == text["id"]), there[0])
        there.remove(at)
        moved[number] = ours[at][0]
        own_id = {} if text["id"] == ours[at][1]["id"] else {"meta": {f"id in {other.name}": text["id"]}}
        try:
            merged[at] = _merged(merged[at], {**text, "meta": {**text.get("meta", {}), **own_id.get("meta", {})}})
        except ValueError as error:
            raise BadInput(f"{ours[at][1]['id']}: {error}") from None
    if lacking or len(theirs) != len(ours):
        named = ", ".join(map(literal, lacking[:_NAMED])) + (", …" if len(lacking) > _NAMED else "")
        some = f" (not those with the ids {named} in {second})" if lacking else ""
        raise BadInput(
            f"{first} has {len(ours):,} texts and {second} {len(theirs):,}, of which {len(moved):,} are the same"
            f"{some}: only datasets with the same texts are joined; emotui import FILE --into {first} adds what is said"
        )
    # In this order a join that is killed goes on where it was asked for again.
    new = _replaced(store, kept, merged, f"{kept.name} and {other.name}")
    ids = {text["id"]: merged[place_of[moved[number]]]["id"] for number, text in theirs}
    DraftBook(store).move(other.dataset, kept.dataset, moved)
    move_variants(store, other, kept, ids)
    move_labels(store, other, kept, moved)
    store.gold.move_what_is_said(other.dataset, kept.dataset, moved, check=check_at_rest)
    store.by_name.delete(other.name)
    return new, _rescored(store, new, sim=sim, cancelled=cancelled)


def _texts(store: Store, dataset: Dataset) -> list[tuple[int, dict[str, Any]]]:
    own = task_named(dataset.kept_as)
    return [
        (number, said_of_text(own, msgspec.json.decode(record, type=dict[str, Any])))
        for number, record in store.samples.of_dataset(dataset.dataset)
    ]


_Rows = list[tuple[str, dict[str, Any]]]
"""Records, each with where it stands."""


def _rows(paths: Sequence[str], wish: Wish, on_step: OnStep) -> tuple[_Rows, list[str]]:
    """The good rows, without an id where the file gives none, and what is wrong elsewhere."""
    rows, problems = _Rows(), list[str]()
    for taken, found in read_rows(paths, wish, on_step, number=False):
        for line, row in found:
            if isinstance(row, Flaw):
                problems.append(f"{taken.place}:{line}: {row.reason}")
                continue
            # A row of which nobody says what it is has the keys of any text, which spans have too.
            rows.append((f"{taken.place}:{line}", said_of_text(task_named(wish.kind or "spans"), row)))
    return rows, problems


def _id_column(rows: Sequence[Mapping[str, Any]], ids: Collection[str]) -> str | None:
    """Of rows without ids the first column whose values are all ids of the dataset, as of ratings: several a text."""
    if not rows or any(row.get("id") is not None for row in rows):
        return None
    metas = [row.get("meta") or {} for row in rows]
    return next((name for name in metas[0] if all(str(meta.get(name)) in ids for meta in metas)), None)


def _by_column(rows: _Rows, column: str) -> tuple[_Rows, str]:
    """Rows by the ids of a column, and a line that says so.

    Where a text has several rows and a column names people, each row is what one person says.
    """
    metas = [row["meta"] for _, row in rows]
    keys = [str(meta[column]) for meta in metas]
    people = next(
        (
            name
            for name in metas[0]
            if names_people(name)
            and name != column
            and all(meta.get(name) not in (None, "") for meta in metas)
            and len({(key, str(meta[name])) for key, meta in zip(keys, metas, strict=True)}) == len(rows)
        ),
        None,
    )
    person = people if people is not None and len(set(keys)) < len(rows) else None
    found = _Rows()
    for key, (where, row) in zip(keys, rows, strict=True):
        meta = {name: value for name, value in row["meta"].items() if name not in (column, person)}
        given = {name: value for name, value in row.items() if name in SAID}
        plain = {name: value for name, value in row.items() if name not in (*SAID, "meta")}
        # What a file says of a rater is not a column of the text.
        said = given | ({"meta": meta} if meta else {}) if person is None else _of_person(row["meta"][person], given)
        found.append((where, {**plain, "id": key, **said}))
    told = f"{column} is taken for the ids of texts" + (f", {person} for who says it" if person else "")
    return found, f"{told} (--map id=COLUMN,annotator=COLUMN says otherwise)"


def _of_person(name: object, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"annotators": {str(name): given}} if given else {}


_CHECKED = (("spans", "spans"), ("labels", "labels"), ("labels", "label"), ("values", "values"))
"""Tasks whose records tell what is wrong with what stands under a key."""


def _check(text: TextSaid, more: TextSaid) -> None:
    """See that what is said, by gold or a person, can be said of a text.

    Raises:
        ValueError: it cannot, such as a span past the end of the text.
    """
    for said in (more, *(more.get("annotators") or {}).values()):
        for name, key in _CHECKED:
            if said.get(key) is None:
                continue
            record = {"id": text["id"], "text": text.get("text"), key: said[key]}
            made = to_record(task_named(name).sample, record, 0)
            if (why := made.reason if isinstance(made, Flaw) else fault(made)) is not None:
                raise ValueError(why)


def _merged(text: TextSaid, more: TextSaid) -> dict[str, Any]:
    """A text with what else is said of it.

    Raises:
        ValueError: two answers of gold, or of one person, are not the same.
    """
    found = dict(text)
    for key in (key for key in SAID if key in more and key != "annotators"):
        if key in found and found[key] != more[key]:
            raise ValueError(
                f"the text has `{key}` {_short(found[key])} already, and here {_short(more[key])}: "
                "emotui replace-gold replaces what gold says"
            )
        found[key] = more[key]
    people = {name: dict(answer) for name, answer in (found.get("annotators") or {}).items()}
    for name, answer in (more.get("annotators") or {}).items():
        there = people.setdefault(name, {})
        if clash := next((key for key in answer if key in there and there[key] != answer[key]), None):
            raise ValueError(f"{literal(name)} has said another thing of its `{clash}` already")
        there |= answer
    if people:
        found["annotators"] = people
    if meta := {**(more.get("meta") or {}), **(found.get("meta") or {})}:
        found["meta"] = meta
    if more.get("subject") and not found.get("subject"):
        found["subject"] = more["subject"]
    return found


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return literal(text if len(text) <= 40 else f"{text[:39]}…")


def _replaced(store: Store, dataset: Dataset, texts: Sequence[TextSaid], source: str) -> Dataset:
    """Texts with all that is said of them as the next version of gold."""
    task = task_named(dataset.kept_as)
    samples = [sample_of_text(task, text) for text in texts]
    if "meta" not in task.sample.__struct_fields__:
        kept = [said_of_text(task, record_json(sample)) for sample in samples]
        lost = {
            key for text, there in zip(texts, kept, strict=True) for key in SAID if key in text and key not in there
        }
        if lost:
            raise BadInput(
                f"records of the {task.name} task have no `meta`, and so no place for {', '.join(sorted(lost))}"
            )
    rows = [task.row(sample) for sample in samples]
    return store.gold.replace(dataset, rows, source, fingerprint(samples), check=check_at_rest)


def _rescored(store: Store, dataset: Dataset, *, sim: bool, cancelled: IsCancelled | None) -> tuple[str, ...]:
    """The runs over a dataset, scored anew by its gold."""
    runs = tuple(run.run for run in store.runs.all(dataset.dataset) if run.done)
    for run in runs:
        rescore(store, run, sim=sim, cancelled=cancelled)
    return runs
