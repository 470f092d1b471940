"""What is scored from files and is no task's: pairs of emotions and causes, and an answer for each annotator."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import capped, jsonl
from emotui.formats.layouts.opening import items, read_item
from emotui.formats.reading import Warn
from emotui.formats.rows import Flaw, UnreadableFile, literal, shown
from emotui.metrics.cause_pairs import CausePair, cause_pair_report, words_of
from emotui.metrics.people_spread import own_answers_report
from emotui.workbench.datasets.foreign import Wish, read_rows

# Pairs of emotions and causes over the turns of conversations, as SemEval-2024 task 3 has them.

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
        raise BadInput(f"{literal(predicted)}: {literal(gold)} has no conversation {named}")
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


# An answer for each annotator, as LeWiDi's perspectivist part asks for: a model asked as each of them.

Answers = dict[str, dict[str, Mapping[str, Any]]]
"""By the text and the annotator what is said: `label`, `labels` or `values`."""

_KINDS = ("label", "labels", "values")
_LISTED = re.compile(r"([^\t]+)\t\s*(\[.*\])\s*")


def score_annotators_of_files(
    gold: str, predicted: str, *, missing: str | None, skip_bad: bool, warn: Warn
) -> dict[str, Any]:
    """The document of `emotui score annotators`.

    Args:
        gold: texts with `annotators`, in any layout that `emotui import` takes (LeWiDi's too).
        predicted: the same shape, what each annotator is predicted to say; or LeWiDi's table of answers, an ID,
            a tab and `[1, 0]`, in the order of the text's annotators.
        missing: what an annotator of a text without a prediction counts as: `empty` (wrong), `skip`, None: bad input.

    Raises:
        BadInput: `FILE:LINE: what`.
    """
    told = _answers(gold, skip_bad=skip_bad, warn=warn)
    if not any(told.values()):
        raise BadInput(f"{literal(gold)}: no record has `annotators`: there is nobody to compare with")
    given = _listed(predicted, told) or _answers(predicted, skip_bad=skip_bad, warn=warn)
    if strangers := [key for key in given if key not in told]:
        raise BadInput(f"{literal(predicted)}: {literal(gold)} has no text {literal(strangers[0])}")
    kinds = {next((name for name in _KINDS if name in one), "") for own in told.values() for one in own.values()}
    if len(kinds) != 1 or "" in kinds:
        raise BadInput(f"{literal(gold)}: annotators answer by {', '.join(sorted(kinds))}: score a file a kind")
    (kind,) = kinds
    lacking = [(key, name) for key, own in told.items() for name in own if kind not in given.get(key, {}).get(name, {})]
    if lacking and missing is None:
        named = ", ".join(literal(f"{key} {name}") for key, name in lacking[:3]) + (", …" if len(lacking) > 3 else "")
        raise BadInput(
            f"{literal(predicted)}: no `{kind}` for {len(lacking)} answers of annotators ({named}): "
            "say what they count as with --missing empty or --missing skip"
        )
    if missing == "skip":
        for key, name in lacking:
            del told[key][name]
    told = {key: own for key, own in told.items() if own}
    people = [{name: one[kind] for name, one in own.items()} for own in told.values()]
    said = [{name: given.get(key, {}).get(name, {}).get(kind) for name in own} for key, own in told.items()]
    document = own_answers_report(people, said, kind)
    if missing:
        document["missing"] = len(lacking)
    return document


def _answers(path: str, *, skip_bad: bool, warn: Warn) -> Answers:
    ((taken, rows),) = read_rows([path], Wish())
    found: Answers = {}
    problems: list[str] = []
    for line, row in rows:
        where = f"{literal(taken.place)}:{line}"
        if isinstance(row, Flaw):
            problems.append(f"{where}: {row.reason}")
        elif str(row["id"]) in found:
            problems.append(f"{where}: the id {shown(row['id'])} stands in the file twice")
        else:
            people = row.get("annotators")
            said = people if isinstance(people, Mapping) else {}
            found[str(row["id"])] = {name: one for name, one in said.items() if isinstance(one, Mapping)}
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for problem in problems:
        warn(f"skipped {problem}")
    return found


def _listed(path: str, told: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Answers | None:
    """What LeWiDi's table of answers says; None where a file is none.

    Raises:
        BadInput: a text has as many answers as it has no annotators.
    """
    try:
        lines = read_bytes(Path(path), data=True).decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    rows = [(at, _LISTED.fullmatch(line)) for at, line in enumerate(lines, 1) if line.strip()]
    if not rows or any(found is None for _, found in rows):
        return None
    answers: Answers = {}
    for line, match in rows:
        assert match is not None
        key, values = match[1].strip(), jsonl.decode(match[2].encode())
        names = list(told.get(key, {}))
        if not isinstance(values, list) or (names and len(values) != len(names)):
            why = f"must be a list of {len(names)} answers, one for each annotator of the text"
            raise BadInput(f"{literal(path)}:{line}: {why}")
        answers[key] = {name: _as_said(value) for name, value in zip(names, values, strict=False)}
    return answers


def _as_said(value: object) -> Mapping[str, Any]:
    if isinstance(value, list):
        return {"labels": [str(one) for one in value]}
    whole = isinstance(value, float) and value.is_integer()
    return {"label": str(int(value) if whole else value)}  # type: ignore[call-overload]
