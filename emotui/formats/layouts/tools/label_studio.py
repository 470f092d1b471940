"""Label Studio: its JSON export, full and minimal (JSON-MIN)."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emotui.formats.layouts import opening
from emotui.formats.layouts.corpora.released import first_table
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables.table import read_table
from emotui.formats.layouts.tools.label_studio_writing import (
    IN_TABLE,
    controls_in,
    is_minimal,
    items_of_table,
    marks,
    tasks_of_minimal,
    write,
)
from emotui.formats.layouts.tools.label_studio_writing import write_minimal as write_minimal
from emotui.formats.layouts.tools.said import (
    bad_offsets,
    differs,
    folded,
    id_of,
    is_number,
    outside,
    own_of,
    relate,
    whole_number,
)
from emotui.formats.offsets import inverse, moved, utf16_places
from emotui.formats.rows import Flaw, Rows, shown

# Where the regions of Label Studio stand: it counts code points, older versions UTF-16 units.

Place = tuple[int, int]


@dataclass(slots=True)
class Region:
    """A region of a text as the file has it: its offsets, the text that it claims to hold, and what is said of it."""

    id: str | None
    to_name: str
    start: int
    end: int
    claimed: str | None
    labels: list[str]
    score: float | None = None
    attributes: dict[str, Any] = field(default_factory=dict)

    def spans(self, place: Place) -> list[dict[str, Any]]:
        """The spans of the region, one a label, or one without a label."""
        span: dict[str, Any] = {"start": place[0], "end": place[1]}
        rest: dict[str, Any] = {} if self.score is None else {"score": self.score}
        if self.attributes:
            rest["attributes"] = self.attributes
        return [{**span, "label": label, **rest} for label in self.labels] or [span | rest]


def region_of(result: dict[str, Any], value: dict[str, Any]) -> Region | Flaw:
    """The region of a result that has a start and an end."""
    start, end = value["start"], value["end"]
    if isinstance(start, str):  # of a web page: the places of the nodes, beside offsets into what it shows
        shown_offsets = value.get("globalOffsets")
        if not isinstance(shown_offsets, dict):
            return Flaw(f"span {shown(start)}: its offsets are places in a web page or a dialogue, not in a text")
        start, end = shown_offsets.get("start"), shown_offsets.get("end")
    if not whole_number(start) or not whole_number(end):
        return bad_offsets(start, end)
    kind = result.get("type")
    labels = value.get(kind) if isinstance(kind, str) and kind.endswith("labels") else None
    claimed, score, of_id = value.get("text"), result.get("score"), result.get("id")
    return Region(
        of_id if isinstance(of_id, str) else None,
        str(result.get("to_name")),
        start,
        end,
        claimed if isinstance(claimed, str) and claimed else None,
        [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else [],
        score if isinstance(score, int | float) else None,
    )


def places(regions: Sequence[Region], text: str) -> list[Place] | Flaw:
    """Where the regions of one text stand, in code points.

    All of them are counted in one way if that fits what they claim to hold: in code points, or in UTF-16 units.
    Otherwise each in the way that fits it.
    """
    plain = [_fitting((region.start, region.end), region, text) for region in regions]
    if not any(isinstance(place, Flaw) for place in plain):
        return [place for place in plain if not isinstance(place, Flaw)]
    units = inverse(utf16_places(text))
    counted = [moved(region.start, region.end, units) for region in regions]
    wide = [
        _fitting(place, region, text) if place else plain[number]
        for number, (place, region) in enumerate(zip(counted, regions, strict=True))
    ]
    if any(isinstance(place, Flaw) for place in wide):
        wide = [b if isinstance(a, Flaw) else a for a, b in zip(plain, wide, strict=True)]
    # What is wrong is said in the offsets of the file.
    fault = next((one for one, other in zip(plain, wide, strict=True) if isinstance(other, Flaw)), None)
    return fault if isinstance(fault, Flaw) else [place for place in wide if not isinstance(place, Flaw)]


def _fitting(place: Place, region: Region, text: str) -> Place | Flaw:
    if wrong := outside(*place, len(text)):
        return wrong
    found = text[place[0] : place[1]]
    claimed = region.claimed
    if claimed is None or claimed == found or folded(claimed.replace("\\n", "\n")) == folded(found):
        return place
    return differs(*place, claimed, found)


Said = dict[str, Any]


def recognise(path: Path, head: bytes) -> str | None:
    """Why a file is an export of Label Studio."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith((b"[", b"{")):
        return None
    if b'"annotations"' in head and b'"result"' in head and (start[:1] == b"[" or b'"data"' in head):
        return "it is JSON with tasks that have `annotations` with a `result`"
    if start[:1] == b"[" and b'"annotator"' in head and b'"annotation_id"' in head:
        return "it is JSON with an `annotator` and an `annotation_id` a text, as JSON-MIN has them"
    if start[:1] == b"[" and marks(_first(start)):
        return "it is JSON whose texts have regions with start, end and labels, as JSON-MIN has them"
    return None


def _first(start: bytes) -> object:
    """The first item of a list, where it stands whole in these bytes."""
    try:
        return json.JSONDecoder().raw_decode(start[1:].decode("utf-8", "ignore").lstrip())[0]
    except (ValueError, RecursionError):
        return None


def _recognise(path: Path, head: bytes) -> str | None:
    """As `recognise`, or as its CSV."""
    if path.suffix.lower() in (".csv", ".tsv") and all(name.encode() in head for name in IN_TABLE):
        table = first_table(path, head)
        if table is not None and set(table.header) >= {"id", *IN_TABLE}:
            return "it is a table with an annotator, an annotation_id and a lead_time a text, as its CSV has them"
    return recognise(path, head)


class _Project:
    """What a file shows of its project as a whole: which controls there are, and who took part."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.marks = False
        self.people: set[str] = set()
        self.several: set[str] = set()
        self.main = options.columns.get("label") or options.columns.get("labels")
        if "labels" in options.columns:
            self.several.add(options.columns["labels"])

    def look(self, task: Mapping[str, Any]) -> None:
        """Takes note of one task."""
        for name, _, results in _sources(task):
            if name is not None:
                self.people.add(name)
            for result in results:
                value = result.get("value")
                if not isinstance(value, dict):
                    continue
                if "start" in value:
                    self.marks = True
                elif result.get("type") in ("choices", "taxonomy"):
                    control = str(result.get("from_name"))
                    self.main = self.main or control
                    if len(value.get(result["type"]) or ()) > 1 or result["type"] == "taxonomy":
                        self.several.add(control)


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a task; a task of which several texts are marked gives a row a text."""
    items = _items(path, options)
    project = _Project(options)
    first = next(items(), None)
    controls: frozenset[str] = frozenset()
    if first is not None and is_minimal(first[1]):
        controls = controls_in((fields for _, fields in items() if isinstance(fields, dict)), options)
    for _, task in _tasks(items(), controls):
        if not isinstance(task, Flaw):
            project.look(task)
    for line, task in _tasks(items(), controls):
        if isinstance(task, Flaw):
            yield line, task
        else:
            for row in _rows_of(task, project):
                yield line, row


def _items(path: Path, options: ReadOptions) -> Callable[[], Iterator[tuple[int, Any]]]:
    """The items of a file from its beginning, each time that they are asked for."""
    if path.suffix.lower() in (".csv", ".tsv"):
        table = read_table(path, options, headed=True)
        return lambda: items_of_table(table)
    items = opening.items(path, options.encoding)
    return lambda: ((line, opening.read_item(item)) for line, item in items)


def _tasks(read: Iterator[tuple[int, Any]], controls: Collection[str]) -> Iterator[tuple[int, dict[str, Any] | Flaw]]:
    first = next(read, None)
    if first is None:
        return
    if is_minimal(first[1]):
        yield from tasks_of_minimal(first, read, controls)
        return
    for line, task in _chained(first, read):
        if isinstance(task, Flaw) or (isinstance(task, dict) and isinstance(task.get("data"), dict)):
            yield line, task
        else:
            yield line, Flaw("is no task of Label Studio: it has no object `data`")


def _chained(first: tuple[int, Any], rest: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    yield first
    yield from rest


def _sources(task: Mapping[str, Any]) -> Iterator[tuple[str | None, bool, list[dict[str, Any]]]]:
    """Who says what: a person's name (None: nobody is named), whether it is gold, and the results."""
    annotations = task.get("annotations") or task.get("completions")
    for annotation in annotations if isinstance(annotations, list) else ():
        if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
            person = _person(annotation.get("completed_by"))
            yield person, bool(annotation.get("ground_truth")) or person is None, _results(annotation)


def _predictions(task: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    predictions = task.get("predictions")
    for prediction in predictions if isinstance(predictions, list) else ():
        if isinstance(prediction, dict):  # in some exports only its number
            yield id_of(prediction.get("model_version")) or "prediction", _results(prediction)


def _results(annotation: Mapping[str, Any]) -> list[dict[str, Any]]:
    results = annotation.get("result")
    return [result for result in results if isinstance(result, dict)] if isinstance(results, list) else []


def _person(completed_by: object) -> str | None:
    if isinstance(completed_by, dict):
        names = (id_of(completed_by.get(key)) for key in ("email", "username", "id"))
        return next((name for name in names if name), None)
    return id_of(completed_by)


def _rows_of(task: dict[str, Any], project: _Project) -> Iterator[TextRow | Flaw]:
    data = task["data"]
    main = _text_field(data, project)
    if isinstance(main, Flaw):
        yield main
        return
    own, meta = own_of({name: value for name, value in data.items() if name != main})
    row: TextRow = {"text": data[main], **own}
    if (of_id := id_of(task.get("id"))) is not None:
        row["id"] = of_id
    others: dict[str, TextRow] = {}
    has_gold = False
    sources = list(_sources(task))
    alone = len(sources) == 1
    predicted = ((name, False, results) for name, results in _predictions(task))
    for number, (name, gold, results) in enumerate([*sources, *predicted]):
        found = _said(results, data, main, project)
        if isinstance(found, Flaw):
            yield found
            return
        gold = gold or (alone and number == 0)
        said, elsewhere, extras = found
        # Who works alone in a project makes its gold; otherwise one keeps who it was.
        keep = name is not None and not (gold and project.people == {name})
        who = _free(name, row.get("annotators", {})) if keep and name is not None else None
        if gold and not has_gold:
            has_gold = True
            row |= said
            meta |= extras
        elif who is not None:
            meta |= {f"{control} ({who})": value for control, value in extras.items()}
        if who is not None:
            row.setdefault("annotators", {})[who] = said
        for text_field, spans in elsewhere.items():
            other = others.setdefault(text_field, {"id": f"{of_id}:{text_field}", "text": data[text_field]})
            if gold:
                other.setdefault("spans", spans)
            if who is not None:
                other.setdefault("annotators", {})[who] = {"spans": spans}
    if meta:
        row["meta"] = meta
    yield row
    yield from others.values()


def _free(name: str, taken: Mapping[str, Any]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


def _text_field(data: Mapping[str, Any], project: _Project) -> str | Flaw:
    asked = project.options.columns.get("text")
    if asked is not None:
        return asked if isinstance(data.get(asked), str) else Flaw(f"`data` has no text {shown(asked)}")
    if isinstance(data.get("text"), str):
        return "text"
    strings = {name: value for name, value in data.items() if isinstance(value, str)}
    if not strings:
        return Flaw("`data` has no text (a dialogue in a list cannot be read; name the field of the text)")
    return max(strings, key=lambda name: len(strings[name]))


def _said(
    results: list[dict[str, Any]], data: Mapping[str, Any], main: str, project: _Project
) -> tuple[Said, dict[str, list[dict[str, Any]]], dict[str, Any]] | Flaw:
    """What one source says of the main text, its spans of other texts of the task, and what has no place."""
    said: Said = {}
    extras: dict[str, Any] = {}
    regions: list[Region] = []
    by_id: dict[str, Region] = {}
    of_regions: list[tuple[str, str, Any]] = []
    relations: list[dict[str, Any]] = []
    for result in results:
        value, kind, control = result.get("value"), result.get("type"), str(result.get("from_name"))
        if kind == "relation":
            relations.append(result)
        elif not isinstance(value, dict):
            continue
        elif "start" in value and "end" in value:
            if kind in ("choices", "rating", "number", "textarea", "taxonomy") and isinstance(result.get("id"), str):
                of_regions.append(
                    (result["id"], control, _plain(value.get("text" if kind == "textarea" else kind), kind))
                )
                continue
            region = region_of(result, value)
            if isinstance(region, Flaw):
                return region
            regions.append(region)
            if region.id is not None:
                by_id.setdefault(region.id, region)
        elif kind in ("rating", "number") and is_number(value.get(kind)):
            said.setdefault("values", {})[control] = value[kind]
        elif kind in ("choices", "taxonomy"):
            _choose(said, extras, control, _paths(value.get(kind)), project)
        else:
            extras[control] = value.get("text") if kind == "textarea" else value
    for of_id, control, value in of_regions:
        if of_id in by_id:
            by_id[of_id].attributes[control] = value
    for relation in relations:
        _relate(relation, by_id)
    if not regions:
        return ({"spans": [], **said} if project.marks else said), {}, extras
    by_field: dict[str, list[dict[str, Any]]] = {}
    for text_field, group in _by_field(regions, data, main).items():
        found = places(group, data[text_field])
        if isinstance(found, Flaw):
            return found
        by_field[text_field] = [
            span for region, place in zip(group, found, strict=True) for span in region.spans(place)
        ]
    return {"spans": by_field.pop(main, []), **said}, by_field, extras


def _by_field(regions: list[Region], data: Mapping[str, Any], main: str) -> dict[str, list[Region]]:
    """The regions by the field of `data` with their text, which the export does not name in every case."""
    groups: dict[str, list[Region]] = {}
    for region in regions:
        groups.setdefault(region.to_name, []).append(region)
    fields: dict[str, list[Region]] = {}
    for to_name, group in groups.items():
        named = [to_name] if isinstance(data.get(to_name), str) and to_name != main else []
        texts = [name for name, value in data.items() if isinstance(value, str) and name != main]
        candidates = [*named, main, *texts] if any(region.claimed for region in group) else [*named, main]
        fitting = (name for name in candidates if not isinstance(places(group, data[name]), Flaw))
        fields.setdefault(next(fitting, candidates[0]), []).extend(group)
    return fields


def _paths(choices: object) -> list[str]:
    """Choices as labels; of a taxonomy each is the path to it."""
    found = choices if isinstance(choices, list) else []
    return [" > ".join(map(str, choice)) if isinstance(choice, list) else str(choice) for choice in found]


def _choose(said: Said, extras: dict[str, Any], control: str, choices: list[str], project: _Project) -> None:
    if control not in ("label", "labels") and control != project.main:
        extras[control] = choices[0] if len(choices) == 1 and control not in project.several else choices
    elif control == "labels" or control in project.several or len(choices) != 1:
        said["labels"] = choices
    else:
        said["label"] = choices[0]


def _plain(value: Any, kind: str) -> Any:
    return value[0] if kind == "choices" and isinstance(value, list) and len(value) == 1 else value


def _relate(relation: Mapping[str, Any], by_id: Mapping[str, Region]) -> None:
    source, target = by_id.get(str(relation.get("from_id"))), by_id.get(str(relation.get("to_id")))
    if source is None or target is None:
        return
    labels = relation.get("labels")
    found: dict[str, Any] = {"to": target.id}
    if isinstance(labels, list) and labels:
        found["type"] = labels[0] if len(labels) == 1 else labels
    if relation.get("direction") in ("left", "bi"):
        found["direction"] = relation["direction"]
    target.attributes.setdefault("id", target.id)
    source.attributes.setdefault("id", source.id)
    relate(source.attributes, found)


LAYOUT = Layout(
    "label-studio",
    "JSON, JSON-MIN and CSV as Label Studio exports them",
    _recognise,
    rows,
    write,
)
MINIMAL = Layout(
    "label-studio-min",
    "JSON-MIN as Label Studio exports it: a field a control",
    lambda path, head: None,
    rows,
    write_minimal,
)
"""Told apart from the full form by name alone: reading takes either for `label-studio`."""
