"""One text and what is said about it, whichever question it is read for.

A text in a store is kept as a record of the task that its file came for. Any other task reads the same record through
`said_of_text`, the keys of an "any text" record (docs/formats.md): what the first task has no field for stands in
`meta` under its key, and what two tasks call by one name (`labels` of a masked text are its words) has a name each.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.formats.beside import OF_PEOPLE
from emotui.formats.columns import cell_kinds, marked
from emotui.formats.conversion import to_record, written
from emotui.formats.rows import Flaw
from emotui.records import Text
from emotui.tasks.task import Task

TextSaid = Mapping[str, Any]
"""A text by the keys of files: `id`, `text`, `subject`, `meta`, and those of `SAID` that something is said under."""

SAID = ("spans", "label", "labels", "values", "words", "target", "emotion", "valence", "sentences", "annotators")
"""The keys under which something is said about a text; `words` of its masks, `target` of what is to be written."""

RENAMED = {"masked": {"labels": "words"}, "generation": {"label": "target"}}
"""By the kind of a task's records the fields that mean there what has another key among all that is said."""

_BARE = {"spans": "spans", "evidence": "spans", "labels": "labels", "scenes": "labels", "class": "label"}
"""By the kind of a task's records what an annotator says there without naming it."""

_PLAIN = ("id", "text", "subject", "meta", "unknown")
"""Fields in which nothing is said that has no key of `SAID`; `unknown` goes with `labels`."""


def own_fields(task: Task) -> tuple[str, ...]:
    """The fields of a task's samples under which gold says what no other task asks about; of this package none has."""
    names = RENAMED.get(task.files.kind, {})
    return tuple(key for key in cell_kinds(task.sample) if names.get(key, key) not in SAID and key not in _PLAIN)


def said_of_text(task: Task, record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record of a task says, by the keys of all that can be said about a text.

    Args:
        record: as JSON has it, such as a store keeps it; absent and null fields are unsaid.
    """
    kind = task.files.kind
    names = RENAMED.get(kind, {})
    own = own_fields(task)
    said = {
        names.get(key, key): value
        for key, value in record.items()
        if value is not None and key != "meta" and key not in own
    }
    if "spans" in said:
        said["spans"] = _as_in_files(said["spans"])
    people = {
        name: _by_key(answer, _BARE.get(kind, "spans")) for name, answer in (said.pop("annotators", None) or {}).items()
    }
    meta = record.get("meta") or {}
    beside = {key: meta[key] for key in SAID if key in meta and _is_said(key, meta[key])}
    for name, answer in (beside.pop("annotators", None) or {}).items():
        people[name] = {**answer, **people.get(name, {})}
    # Of several labels and one beside them both are kept: the one stands in `meta` for want of a second field.
    said = {**beside, **said}
    rest = {key: value for key, value in meta.items() if key not in beside and key != "annotators"}
    rest |= {key: record[key] for key in own if record.get(key) is not None}
    return said | ({"annotators": people} if people else {}) | ({"meta": rest} if rest else {})


def sample_of_text(task: Task, said: TextSaid, labels: Sequence[str] = ()) -> Any:
    """A text as a sample of a task, with all else that is said of it in `meta`; unlabelled where gold has no answer.

    Args:
        labels: those that are asked about, where the task asks about each label of a set.

    Raises:
        ValueError: what is said cannot be said in such a record; the message says why.
    """
    kind = task.files.kind
    row = _row(kind, said, labels)
    fields = cell_kinds(task.sample)
    fitted = {key: value for key, value in row.items() if key in fields and key != "meta"}
    meta = dict(said.get("meta") or {})
    fitted |= {key: meta.pop(key) for key in own_fields(task) if meta.get(key) is not None}
    if "meta" in fields:
        taken = _taken(kind, fields, said)
        rest = {key: said[key] for key in SAID if key in said and key not in taken and key != "annotators"}
        if people := _people_beside(kind, fields, said):
            rest["annotators"] = people
        if meta := {**rest, **meta}:
            fitted["meta"] = meta
    found = to_record(task.sample, fitted, 0)
    if isinstance(found, Flaw):
        text = Text(id=said["id"], text=said.get("text") or "", subject=said.get("subject"))
        try:
            return task.blank(msgspec.structs.replace(text, meta=said.get("meta") or {}), labels)
        except (TypeError, ValueError):
            raise ValueError(found.reason) from None
    return found


def record_json(sample: msgspec.Struct) -> dict[str, Any]:
    """A sample as plain JSON values, its marks as files have them, without the fields that say nothing."""
    plain = {name: getattr(sample, name) for name in sample.__struct_fields__}
    plain |= {name: written(plain[name]) for name in marked(type(sample)) if plain[name] is not None}
    return {key: value for key, value in msgspec.to_builtins(plain).items() if value not in (None, {}, [])} | {
        key: [] for key in ("spans", "labels") if plain.get(key) == ()
    }


def _is_said(key: str, value: Any) -> bool:
    """Whether a column of the data's own under such a name holds what the name promises, and is no other column."""
    if key in ("spans", "sentences", "words"):
        return isinstance(value, list)
    if key == "labels":
        return isinstance(value, list | dict)
    if key in ("values", "annotators"):
        return isinstance(value, dict)
    return isinstance(value, str) and bool(value)


def _by_key(answer: Any, bare: str) -> dict[str, Any]:
    """What an annotator says, by what it is of; a bare list is of what the record is about."""
    if not (isinstance(answer, dict) and set(answer) <= set(OF_PEOPLE)):
        answer = {bare: answer}
    return {**answer, "spans": _as_in_files(answer["spans"])} if answer.get("spans") else answer


def _as_in_files(marks: Any) -> Any:
    """Spans as files have them: a store keeps how sure a source is, and its own columns, behind the label."""
    if not isinstance(marks, list):
        return marks
    names = ("start", "end", "label", "score", "attributes")
    return [
        dict(zip(names, mark, strict=False)) if isinstance(mark, list) and len(mark) > len(names[:3]) else mark
        for mark in marks
    ]


def _row(kind: str, said: TextSaid, labels: Sequence[str]) -> dict[str, Any]:
    """The fields that a record of this kind may have, filled from what is said."""
    row = dict(said)
    several, one = said.get("labels"), said.get("label")
    people: Mapping[str, Mapping[str, Any]] = said.get("annotators") or {}
    if kind in ("spans", "evidence"):
        row["emotion"] = said.get("emotion") or said.get("label")
        row["annotators"] = {name: answer["spans"] for name, answer in people.items() if "spans" in answer}
    elif kind == "labels":
        row["label"] = None if several is not None else one
        row["annotators"] = {name: _there(answer) for name, answer in people.items() if _labelled(answer)}
    elif kind == "scenes":
        # Not asked about is not the same as absent: a label that gold's own set lacks is unknown (None).
        vector = _vector(several if several is not None else one, labels)
        row["labels"] = {name: value or 0 for name, value in vector.items()}
        row["unknown"] = [name for name, value in vector.items() if value is None]
        given = {name: answer for name, answer in people.items() if _labelled(answer)}
        vectors = {name: _vector(answer.get("labels", answer.get("label")), labels) for name, answer in given.items()}
        row["annotators"] = {
            name: {label: value for label, value in vector.items() if value is not None}
            for name, vector in vectors.items()
        }
    elif kind == "masked":
        row["labels"] = said.get("words") or [""] * (said.get("text") or "").count("<mask>")
    elif kind == "class":
        there = _there({"labels": several}) if several is not None else []
        row["label"] = said.get("label") or (there[0] if len(there) == 1 else said.get("emotion"))
    elif kind == "generation":
        row["label"] = said.get("target") or one or said.get("emotion") or ""
    elif kind == "values":
        row["annotators"] = {
            name: {"values": answer["values"]} for name, answer in people.items() if "values" in answer
        }
    return row


def _vector(said: Any, labels: Sequence[str]) -> dict[str, int | None]:
    if isinstance(said, dict):
        return {name: said.get(name) for name in labels} if labels else dict(said)
    if said is None:
        return dict.fromkeys(labels)
    there = [said] if isinstance(said, str) else said
    return {name: int(name in there) for name in labels}


def _labelled(answer: Mapping[str, Any]) -> bool:
    return answer.get("labels") is not None or answer.get("label") is not None


def _there(answer: Mapping[str, Any]) -> list[str]:
    """The labels that an annotator gives, as a list."""
    labels = answer.get("labels")
    if isinstance(labels, dict):
        return [name for name, there in labels.items() if there]
    return [answer["label"]] if labels is None else list(labels)


def _taken(kind: str, fields: Mapping[str, Any], said: TextSaid) -> set[str]:
    """The keys that have a field in a record of this kind, and mean there what they mean everywhere."""
    names = RENAMED.get(kind, {})
    own = {names.get(key, key) for key in fields}
    # One label beside several has no field where several stand.
    return own - {"label"} if kind == "labels" and said.get("labels") is not None else own


def _people_beside(kind: str, fields: Mapping[str, Any], said: TextSaid) -> dict[str, dict[str, Any]]:
    """What annotators say that a record of this kind has no place for."""
    of_spans, of_labels = {"spans"}, {"labels", "label"}
    own = {"spans": of_spans, "evidence": of_spans, "labels": of_labels, "scenes": of_labels, "values": {"values"}}
    taken = own.get(kind, set()) if "annotators" in fields else set()
    people = {
        name: {
            key: value
            for key, value in answer.items()
            if key not in taken or (key == "label" and answer.get("labels") is not None)
        }
        for name, answer in (said.get("annotators") or {}).items()
    }
    return {name: answer for name, answer in people.items() if answer}
