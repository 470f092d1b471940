"""From a model's answer to spans: the retrieve and the highlight style, with or without reasoning before them.

Source: SEER, section 4.1 and Table 11 (what models are asked for), section 8.1 (a changed text scores 0).
"""

import msgspec

MARKER = "**"
SEPARATOR = " | "
RESPONSE = "Response:"
STYLES = ("retrieve", "highlight")


class Parsed(msgspec.Struct, frozen=True):
    """What an answer holds. `invalid` says why it broke its format; `void` that the sample scores 0 for it."""

    spans: tuple[str, ...]
    invalid: str | None = None
    void: bool = False


def parse_output(output: str, style: str | None, cot: bool, text: str) -> Parsed:
    """The spans of a raw answer.

    Retrieve: split at ` | `, trimmed, empties dropped. Highlight: what pairs of `**` enclose; a last marker without
    partner encloses nothing. If the answer without its markers is not the text, character for character after trimming
    the ends, it is invalid and void. With `cot` only what follows the last `Response:` counts, and without one there
    are no spans (and, in highlight, no text either).

    Raises:
        ValueError: the style is neither `retrieve` nor `highlight`.
    """
    if style not in STYLES:
        raise ValueError(f"style {style!r} is not one of: {', '.join(STYLES)}")
    if cot:
        _, marker, output = output.rpartition(RESPONSE)
        if not marker:
            return Parsed((), f"no {RESPONSE}", void=style == "highlight")
    if style == "retrieve":
        return Parsed(tuple(span for part in output.split(SEPARATOR) if (span := part.strip())))
    return _highlighted(output, text)


def marker_count(output: str, text: str) -> int:
    """How many markers an answer puts into the text; those of the text itself are not counted."""
    pieces = _pieces(output.strip(), text.strip())
    return output.count(MARKER) if pieces is None else len(pieces) - 1


def _highlighted(output: str, text: str) -> Parsed:
    pieces = _pieces(output.strip(), text.strip())
    same = pieces is not None
    if pieces is None:
        pieces = output.split(MARKER)
    # Odd pieces stand between an opening and a closing marker; the last piece follows the last marker.
    spans = tuple(span for span in pieces[1:-1:2] if span.strip())
    return Parsed(spans) if same else Parsed(spans, "the text was changed", void=True)


def _pieces(output: str, text: str) -> list[str] | None:
    """The answer cut at its markers, or None where it is not the text with markers put in."""
    if MARKER not in text:
        pieces = output.split(MARKER)
        return pieces if "".join(pieces).strip() == text else None
    # A text with asterisks of its own ("what the f**k"): only those that it does not have are markers.
    pieces, start, at = [], 0, 0
    place = 0
    while at < len(output):
        if output.startswith(MARKER, at) and not text.startswith(output[at : at + 3], place):
            pieces.append(output[start:at])
            at += len(MARKER)
            start = at
        elif place < len(text) and output[at] == text[place]:
            at += 1
            place += 1
        else:
            return None
    pieces.append(output[start:])
    return pieces if place == len(text) else None
