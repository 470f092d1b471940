"""EmoBank, ISEAR and MELD: tables with one row a text."""

from collections.abc import Mapping
from pathlib import Path

from emotui.formats.layouts.corpora.released import first_table, table_of_release
from emotui.formats.layouts.tables.table import Table

_SCALES = {"values.valence": "V", "values.arousal": "A", "values.dominance": "D"}
_OF_ISEAR = {"MYKEY", "SIT", "Field1", "EMOT"}
_OF_MELD = {"Utterance", "Speaker", "Emotion", "Sentiment", "Dialogue_ID", "Utterance_ID"}


def _recognise_emobank(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or not {"id", "text", *_SCALES.values()} <= set(table.header) or len(table.header) > 6:
        return None
    return "it has the columns id, V, A, D and text"


def _recognise_isear(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or not set(table.header) >= _OF_ISEAR:
        return None
    return "it has the columns MYKEY, SIT, EMOT and Field1 among those of its questionnaire"


def _recognise_meld(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    return None if table is None or not set(table.header) >= _OF_MELD else "it has Utterance, Speaker and Dialogue_ID"


def _meld(table: Table) -> Mapping[str, str]:
    """`Sr No.` begins again in each part, and skips numbers; it is unique in a part."""
    own = {"id": "Sr No."} if "Sr No." in table.header else {}
    return own | {
        "text": "Utterance",
        "label": "Emotion",
        "meta.speaker": "Speaker",
        "meta.sentiment": "Sentiment",
        "meta.conversation": "Dialogue_ID",
        "meta.turn": "Utterance_ID",
    }


EMOBANK = table_of_release(
    "emobank",
    "EmoBank: valence, arousal and dominance from 1 to 5 of each sentence.",
    _recognise_emobank,
    lambda table: {"id": "id", "text": "text", **_SCALES},
)
ISEAR = table_of_release(
    "isear",
    "ISEAR: a situation and the emotion that it was told for, and the answers to the questionnaire.",
    _recognise_isear,
    lambda table: {"id": "MYKEY", "text": "SIT", "label": "Field1"},
)
MELD = table_of_release(
    "meld",
    "MELD: utterances of dialogues with their speakers, emotions and sentiments.",
    _recognise_meld,
    _meld,
)
