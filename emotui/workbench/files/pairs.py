"""Files of pairs of emotions and causes in conversations (SemEval-2024 task 3), scored against each other."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emotui.errors import BadInput
from emotui.formats import capped
from emotui.formats.layouts.opening import items, read_item
from emotui.formats.reading import Warn
from emotui.formats.rows import Flaw, UnreadableFile, literal, shown
from emotui.metrics.cause_pairs import CausePair, cause_pair_report, words_of

_PAIRS = "emotion-cause_pairs"
_EFFECT = re.compile(r"U?(\d{1,9})_(.+)", re.DOTALL | re.ASCII)
_CAUSE = re.compile(r"U?(\d{1,9})(?:_(.+))?", re.DOTALL | re.ASCII)
_PLACES = re.compile(r"(\d{1,6})_(\d{1,6})", re.ASCII)


class _Conversation:
    """The pairs of a conversation. `whole`: how many of its causes are turns without words."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.pairs: list[CausePair] = []
        self.whole = 0


def score_pairs_of_files(
    gold: str, predicted: str, *, missing: str | None, skip_bad: bool, warn: Warn
) -> dict[str, Any]:
    """The document of `emotui score pairs`.

    Args:
        gold: conversations with their utterances and pairs.
        predicted: the same; the words of a cause may be places instead (`3_0_5`: words 0 to 5 of turn 3), and the
            utterances may be left out, those of gold are meant.
        missing: what a conversation of gold without a predicted one counts as: `empty`, `skip`, or None: bad input.

    Raises:
        BadInput: `FILE:LINE: what`.
    """
    told = _read(gold, {}, skip_bad=skip_bad, warn=warn)
    given = _read(predicted, told, skip_bad=skip_bad, warn=warn)
    if strangers := [key for key in given if key not in told]:
        named = ", ".join(literal(key) for key in strangers[:3])
        raise BadInput(f"{literal(predicted)}: {gold} has no conversation {named}")
    lacking = [key for key in told if key not in given]
    if lacking and missing is None:
        named = ", ".join(literal(key) for key in lacking[:3]) + (", …" if len(lacking) > 3 else "")
        raise BadInput(
            f"{literal(predicted)}: no prediction for {len(lacking)} of {len(told)} conversations ({named}): "
            "say what they count as with --missing empty or --missing skip"
        )
    kept = told if missing != "skip" else {key: one for key, one in told.items() if key in given}
    sides = {literal(gold): told.values(), literal(predicted): given.values()}
    wholes = [name for name, some in sides.items() if any(one.whole for one in some)]
    document = cause_pair_report(
        {key: one.pairs for key, one in kept.items()},
        {key: one.pairs for key, one in given.items()},
        words=not wholes,
    )
    if wholes:
        document["notes"]["strict"] = f"not computed: causes of {' and '.join(wholes)} are turns without words"
    if missing:
        document["missing"] = len(lacking)
    return document


def _read(path: str, others: Mapping[str, _Conversation], *, skip_bad: bool, warn: Warn) -> dict[str, _Conversation]:
    found: dict[str, _Conversation] = {}
    problems: list[str] = []
    try:
        for line, item in items(Path(path)):
            value = read_item(item)
            try:
                key, one = _conversation(value, others)
                if key in found:
                    raise ValueError(f"conversation {key} stands in the file twice")
            except ValueError as error:
                problems.append(f"{literal(path)}:{line}: {literal(str(error))}")
            else:
                found[key] = one
    except UnreadableFile as error:
        where = f"{literal(path)}:{error.line}" if error.line else literal(path)
        raise BadInput(f"{where}: {literal(str(error))}") from None
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for problem in problems:
        warn(f"skipped {problem}")
    if not found:
        raise BadInput(f"{literal(path)}: there is no conversation with `{_PAIRS}` in it")
    return found


def _conversation(value: Any, others: Mapping[str, _Conversation]) -> tuple[str, _Conversation]:
    """Raises: ValueError, in words."""
    if isinstance(value, Flaw):
        raise ValueError(value.reason)
    if not isinstance(value, dict) or value.get("conversation_ID") is None:
        raise ValueError("must be a conversation with a `conversation_ID`")
    key, turns, pairs = str(value["conversation_ID"]), value.get("conversation"), value.get(_PAIRS)
    if not isinstance(pairs, list) or not all(isinstance(one, list) and len(one) == 2 for one in pairs):
        raise ValueError(f"conversation {key}: `{_PAIRS}` must be a list of pairs")
    if turns is None and key in others:
        texts = others[key].texts
    elif isinstance(turns, list) and all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in turns):
        texts = {str(one.get("utterance_ID")): one["text"] for one in turns}
    else:
        raise ValueError(f"conversation {key}: must have a list of utterances with their `text`")
    found = _Conversation(texts)
    for effect, cause in pairs:
        of, by = _EFFECT.fullmatch(str(effect)), _CAUSE.fullmatch(str(cause))
        if of is None or by is None or of[1] not in texts or by[1] not in texts:
            raise ValueError(
                f"conversation {key}: the pair {shown([effect, cause])} names no emotion, or no turn of it"
            )
        place = None if by[2] is None else _place(by[2], texts[by[1]])
        if by[2] is not None and place is None:
            raise ValueError(f"conversation {key}: the words of the cause {shown(cause)} do not stand in its turn")
        found.whole += place is None
        found.pairs.append(CausePair(of[1], of[2], by[1], place))
    return key, found


def _place(told: str, text: str) -> tuple[int, int] | None:
    places = _PLACES.fullmatch(told)
    if places is None:
        return words_of(told, text)
    start, end = int(places[1]), int(places[2])
    return (start, end) if start < end <= len(text.split()) else None
