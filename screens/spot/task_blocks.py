"""What a model reads and writes when it is asked by a task's own prompt, as blocks: letter for letter, and as read."""

from typing import TYPE_CHECKING

import msgspec

from emotui.screens.spot.answers import TASK
from emotui.screens.spot.blocks import Block, wrapped

if TYPE_CHECKING:
    from emotui.screens.spot.answers import Column
    from emotui.workbench.models.probe_tasks import TaskAnswer

_NO_WORDS = "(this model is not asked in words)"


def task_blocks(column: "Column", name: str, text: str, cells: int) -> dict[str, Block]:
    """The answer to one task, the output first and the prompt last; empty where there is none yet."""
    part = TASK + name
    kept = column.answers.get(part)
    if kept is None:
        return {}
    stale = kept.text != text
    slow = stale and column.when(part, text) == "key"
    answer = kept.probe.tasks.get(name)
    if answer is None:
        why = wrapped(kept.note or "there is no answer", cells, "dim")
        return {"output 1": Block(f"task {name}", lines=why, of=kept.text, stale=stale, slow=slow)}
    found: dict[str, Block] = {}

    def put(key: str, title: str, said: str, kind: str = "plain", *, top: str = "", note: str = "") -> None:
        first = not found
        lines = wrapped(said or "(nothing)", cells, kind)
        seconds = kept.seconds if first else None
        found[key] = Block(title, top, note, seconds, lines, True, kept.text, stale, slow and first)

    for place, written in enumerate(answer.written, 1):
        nth = f" ({place} of {len(answer.written)})" if len(answer.written) > 1 else ""
        put(f"output {place}", f"what it wrote{nth}", written, top=written)
    if answer.raw is not None and answer.raw not in answer.written:
        put("kept" if found else "output 1", "raw output, as it is kept", answer.raw)
    if answer.why is not None:
        put("trouble" if found else "output 1", "trouble", answer.why, "mark")
    if answer.parsed is not None:
        said = read_from(answer)
        put("read", "what is read from it", said, top=said or "nothing")
    prompt = answer.rendered or answer.prompt
    way = f"asked by {answer.way}" if answer.way else ""
    title = "what the model read" if answer.rendered else "what it was sent"
    put("asked", title, _NO_WORDS if prompt is None else prompt, "dim" if prompt is None else "plain", note=way)
    return found


def read_from(answer: "TaskAnswer") -> str:
    """The fields that say something, as one line of JSON."""
    fields = {name: value for name, value in (answer.parsed or {}).items() if value not in (None, [], {}, "")}
    return msgspec.json.encode(fields).decode() if fields else ""
