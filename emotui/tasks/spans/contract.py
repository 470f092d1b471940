"""What a model wrote, freed of its wrapping, and whether it keeps the contract of SEER's prompts (Tables 10 and 11).

Small pure filters over kept outputs: what was asked can be read again without its model.
"""

import re

from emotui.metrics.span_output import RESPONSE, marker_count, parse_output
from emotui.tasks.prompting.filters import without_fence, without_thinking

_LABEL = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+)?(\*\*|__)(Reasoning|Response)[ \t]*(?:\1:|:\1)[ \t]*", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(Reasoning:|Response:)", re.MULTILINE)


def with_plain_labels(output: str) -> str:
    """`**Response:**`, `**Response**:` and `## Response:` at the beginning of a line as `Response:`."""
    return _HEADING.sub(r"\1", _LABEL.sub(r"\2: ", output))


def bare(output: str, cot: bool) -> str:
    """The output without thoughts and markdown around it: what is parsed, scored and exported."""
    output = without_fence(without_thinking(output))
    if not cot:
        return output
    head, label, tail = with_plain_labels(output).rpartition(RESPONSE)
    return head + label + without_fence(tail)


def breach(output: str, style: str, cot: bool, text: str) -> str | None:
    """How a bare output breaks the contract, or None; a broken one is asked for again.

    What `parse_output` finds invalid is broken, and so are: a second `Response:`, a marker without a partner, and spans
    on more than one line. Such an answer can still be read, and is where it is the last one.
    """
    invalid = parse_output(output, style, cot, text).invalid
    if invalid:
        return invalid
    if cot:
        if output.count(RESPONSE) > 1 + text.count(RESPONSE):
            return f"more than one {RESPONSE}"
        output = output.rpartition(RESPONSE)[2]
    if style == "highlight" and marker_count(output, text) % 2:
        return "a marker without a partner"
    if style == "retrieve" and len([line for line in output.splitlines() if line.strip()]) > 1:
        return "spans on more than one line"
    return None
