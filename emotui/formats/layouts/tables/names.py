"""What columns are called, whether a row is one of names, and what labels are called that are numbers."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emotui.bounded import read_bytes
from emotui.formats import jsonl
from emotui.formats.rows import Flaw
from emotui.records import PLUTCHIK, SEER_EMOTIONS

NAMES: Mapping[str, tuple[str, ...]] = {
    "text": (
        *("text", "texts", "sentence", "tweet", "utterance", "content", "comment", "message", "post", "body"),
        *("passage", "document", "review", "sit", "situation", "statement", "input", "snippet", "transcript"),
        *("description", "response", "context", "dialogue", "story", "headline", "title", "satz", "texte", "texto"),
        "generated_text",
    ),
    "id": (
        *("id", "sample_id", "text_id", "item_id", "doc_id", "document_id", "sentence_id", "tweet_id", "comment_id"),
        *(
            "post_id",
            "reddit_id",
            "utterance_id",
            "example_id",
            "record_id",
            "message_id",
            "idx",
            "index",
            "uid",
            "uuid",
            "guid",
        ),
        *("mykey", "key", "item", "nr", "no", "sr_no", "row_id", "doc"),
    ),
    "label": (
        *("label", "emotion", "emotions_label", "emotion_label", "gold", "gold_label", "sentiment", "category"),
        *("hard_label", "majority_label"),
        *("class", "target", "feeling", "affect", "polarity", "annotation", "answer", "y", "emo", "emot", "mood"),
        *("klasse", "gefühl", "emoción", "emocion", "émotion", "sentimiento", "etiqueta"),
    ),
    "labels": (
        *("labels", "emotions", "categories", "classes", "gold_labels", "emotion_labels", "label_list", "tags_list"),
        *("sentiments", "feelings", "emotion_list", "emotionen", "gefühle"),
    ),
    "spans": ("spans", "gold_spans", "evidence_spans", "emotion_spans", "entities", "span_list", "evidences"),
    "span": ("span", "span_text", "evidence", "phrase", "mention", "surface", "covered_text", "cue", "trigger"),
    "span_label": ("span_label", "span_type", "entity_type", "entity", "type", "tag", "entity_label"),
    "span_score": ("span_score", "score", "strength", "confidence"),
    "span_attributes": ("span_attributes", "attributes"),
    "start": (
        *("start", "begin", "span_start", "start_offset", "begin_offset", "start_char", "char_start", "cbegin"),
        *("beg", "from", "start_index", "begin_char"),
    ),
    "end": (
        *("end", "stop", "span_end", "end_offset", "stop_offset", "end_char", "char_end", "cend", "to", "end_index"),
        "finish",
    ),
    "annotator": (
        *("annotator", "annotator_id", "rater", "rater_id", "coder", "coder_id", "worker", "worker_id", "workerid"),
        *("judge", "annotatorid", "labeler", "labeller"),
    ),
    "tokens": ("tokens", "words", "token", "text_tokens"),
    "tags": ("tags", "ner_tags", "tag_ids", "bio", "bio_tags", "token_labels", "iob", "iob_tags", "span_tags"),
    "subject": ("subject",),
    "sentences": ("sentences",),
    "annotators": ("annotators",),
    "meta": ("meta",),
    "values": ("values",),
    "valence": ("valence",),
}
"""By the key of a row what its column may be called, the likeliest first."""

READERS = (
    *("prolific_id", "prolific_pid", "prolific", "participant_id", "participant", "respondent_id", "respondent"),
    *("mturk_id", "turker_id", "turker", "reader_id", "reader", "evaluator_id", "evaluator", "reviewer_id", "reviewer"),
)
"""What a column may be called that says who read a text where that stands in several rows; else who wrote it."""

PREDICTED: Mapping[str, tuple[str, ...]] = {
    "label": (
        *("pred", "prediction", "predicted", "pred_label", "predicted_label", "predicted_emotion", "predicted_class"),
        *("y_pred", "model_label", "system_label"),
    ),
    "labels": ("preds", "predictions", "pred_labels", "predicted_labels", "predicted_emotions"),
    "spans": ("predicted_spans", "pred_spans", "predicted_entities"),
}
"""What they may be called besides in files of predictions."""

SCALES: Mapping[str, tuple[str, ...]] = {
    "valence": ("valence", "v", "val", "pleasure", "valence_score", "valence_mean"),
    "arousal": ("arousal", "a", "aro", "activation", "arousal_score", "arousal_mean"),
    "dominance": ("dominance", "d", "dom", "power", "dominance_score", "dominance_mean"),
    "intensity": ("intensity", "intensity_score", "emotion_intensity"),
}

APPRAISALS = frozenset(
    {
        *("suddenness", "familiarity", "predict_event", "pleasantness", "unpleasantness", "goal_relevance"),
        *("chance_responsblt", "self_responsblt", "other_responsblt", "predict_conseq", "goal_support", "urgency"),
        *("self_control", "other_control", "chance_control", "accept_conseq", "standards", "social_norms"),
        *("attention", "not_consider", "effort", "control", "certainty", "responsibility"),
    }
)
"""How people judge an event (the 21 dimensions of crowd-enVENT, Troiano and others 2023, and their usual groups):
numbers under their own names, none of which is a valence or a dominance."""

EMOTIONS = frozenset(
    {
        *PLUTCHIK,
        *SEER_EMOTIONS,
        *("admiration", "amusement", "annoyance", "approval", "caring", "confusion", "curiosity", "desire"),
        *("disappointment", "disapproval", "embarrassment", "excitement", "gratitude", "grief", "love", "nervousness"),
        *("optimism", "pessimism", "pride", "realization", "relief", "remorse", "neutral", "shame", "guilt", "boredom"),
        *("anxiety", "hope", "happiness", "envy", "jealousy", "loneliness", "hate", "hatred", "contentment", "worry"),
        *("frustration", "enthusiasm", "empathy", "interest", "awe", "calm", "calmness", "satisfaction", "regret"),
        *(
            "depression",
            "despair",
            "rage",
            "positive",
            "negative",
            "afraid",
            "joyful",
            "surprised",
            "disgusted",
            "other",
        ),
        *("no_emotion", "noemotion", "none", "compassion", "nostalgia", "serenity", "ecstasy", "terror", "vigilance"),
        *("freude", "trauer", "angst", "wut", "ärger", "ekel", "überraschung", "vertrauen", "liebe"),
    }
)
"""Names of columns that say each whether one emotion is there."""

DIMENSION = re.compile(r"dim_?\d{1,2}")
"""A numbered one of them, as CovidET calls its 24 (Zhan and others 2023)."""

MAJORITY = frozenset({"majority_vote", "majority", "majority_label", "gold", "gold_label", "aggregated", "label"})
"""What is called that says in numbers what people together say of the label that a row is about."""

SETTLED = frozenset(
    {
        *("gold", "majority", "hard", "aggregated", "aggregate", "adjudicated", "consensus", "final", "true", "truth"),
        *("ground", "mean", "average", "agreed", "resolved"),
    }
)
"""Parts of the name of a column that says what is settled of a text, whoever else is named in its row."""

_OF_COLLECTING = frozenset({"phase", "round", "wave", "fold", "split", "session", "train", "dev", "test", "words"})
"""Parts of names of columns that say how a text was collected, and nothing of it."""
_ROLES = frozenset(name for names in (*NAMES.values(), *SCALES.values()) for name in names if len(name) > 1)
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_LONGEST_NAME = 40


def normal(name: str) -> str:
    """A column's name without case, and with an underscore for whatever is no letter or digit."""
    return re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")


def is_emotion(name: str) -> bool:
    """Whether a column is called as an emotion is."""
    return normal(name) in EMOTIONS or normal(name).removeprefix("label_").removeprefix("emotion_") in EMOTIONS


def tells_of_collecting(name: str) -> bool:
    """Whether a column is called as what says how texts were collected (collection_phase, is_words)."""
    return bool(set(normal(name).split("_")) & _OF_COLLECTING)


def is_header(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether the first row of a table has the names of the columns.

    A row has if one of its cells is a usual name or several are emotions; else where all are short, distinct, no
    numbers and no sentences, while numbers or longer texts stand below.
    """
    if any(len(cell) > 2 * _LONGEST_NAME for cell in first):
        return False
    names = [normal(cell) for cell in first]
    if any(name in _ROLES for name in names) or sum(map(is_emotion, first)) > 1:
        return True
    there = [cell.strip() for cell in first if cell.strip()]
    if not there or len(set(there)) < len(there) or not others:
        return False
    if any(_NUMBER.fullmatch(cell) or len(cell) > _LONGEST_NAME or cell[-1] in ".!?" for cell in there):
        return False
    below = [[row[place] for row in others if place < len(row)] for place in range(len(first))]
    numbers = any(column and all(_NUMBER.fullmatch(cell.strip()) for cell in column if cell) for column in below)
    longer = any(
        column and sum(map(len, column)) > 2 * max(len(name), 4) * len(column)
        for name, column in zip(first, below, strict=True)
    )
    return numbers or longer


# What labels are called that files of the library `datasets` have as numbers.

Names = Mapping[str, tuple[str, ...]]


INFO, INFOS, CARD = "dataset_info.json", "dataset_infos.json", "README.md"
"""What describes a data set beside its files; the second, an object by the name of the configuration, by older versions
of the library.
"""


def names_of(features: object) -> dict[str, tuple[str, ...]]:
    """By column the names of its labels, of `features` as `dataset_info.json` or a Parquet file's metadata has them."""
    found = {}
    for column, feature in features.items() if isinstance(features, Mapping) else ():
        if (names := _class_label(feature)) is not None:
            found[str(column)] = names
    return found


def names_in_json(text: bytes) -> dict[str, tuple[str, ...]]:
    """Those in a document that is `{features: ...}`, or has it below `info` or below each configuration's name; none
    where it is something else.
    """
    value = jsonl.decode(text)
    if isinstance(value, Flaw) or not isinstance(value, dict):
        return {}
    inner = value.get("info")
    whole = inner if isinstance(inner, dict) else value
    if "features" in whole:
        return names_of(whole["features"])
    return _together(
        [names_of(one["features"]) for one in whole.values() if isinstance(one, dict) and "features" in one]
    )


def _together(each: Sequence[dict[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Those of all configurations; of a column that two of them name otherwise, none."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for one in each:
        for column, names in one.items():
            found.setdefault(column, set()).add(names)
    return {column: names for column, (names, *others) in found.items() if not others}


def names_in_card(card: str) -> dict[str, tuple[str, ...]]:
    """Those in the head of a README.md on the Hub, of all its configurations."""
    described = _head_of_card(card).get("dataset_info")
    each = []
    for one in described if isinstance(described, list) else [described]:
        features = one.get("features") if isinstance(one, dict) else None
        there = [feature for feature in features if isinstance(feature, dict)] if isinstance(features, list) else []
        named = ((str(feature.get("name")), _in_card(feature)) for feature in there)
        each.append({name: names for name, names in named if names is not None})
    return _together(each)


def _head_of_card(card: str) -> Mapping[str, Any]:
    """What a README.md on the Hub says in YAML at its head; nothing where it has none."""
    import yaml

    parts = card.split("---\n", 2)
    if len(parts) < 3 or parts[0].strip():
        return {}
    try:
        head = yaml.safe_load(parts[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return head if isinstance(head, dict) else {}


def is_described(path: Path) -> bool:
    """Whether a card of the Hub, or what the library writes, says that a folder is a data set."""
    if (path / INFO).is_file() or (path / INFOS).is_file():
        return True
    try:
        head = _head_of_card(read_bytes(path / CARD).decode("utf-8", "replace"))
    except OSError:
        return False
    return not {"dataset_info", "configs", "task_categories"}.isdisjoint(head)


def _class_label(feature: Any) -> tuple[str, ...] | None:
    if isinstance(feature, list):
        return next((names for one in feature if (names := _class_label(one)) is not None), None)
    if not isinstance(feature, Mapping):
        return None
    if feature.get("_type") == "ClassLabel" and isinstance(feature.get("names"), list):
        return tuple(map(str, feature["names"]))
    return next((names for one in feature.values() if (names := _class_label(one)) is not None), None)


def _in_card(feature: Any) -> tuple[str, ...] | None:
    """`class_label: names: {'0': joy}`, wherever it stands below."""
    if isinstance(feature, list):
        return next((names for one in feature if (names := _in_card(one)) is not None), None)
    if not isinstance(feature, dict):
        return None
    label = feature.get("class_label")
    names = label.get("names") if isinstance(label, dict) else None
    if isinstance(names, dict):
        try:
            return tuple(str(names[key]) for key in sorted(names, key=int))
        except (ValueError, TypeError):
            return None
    if isinstance(names, list):
        return tuple(map(str, names))
    return next((found for one in feature.values() if (found := _in_card(one)) is not None), None)


def names_beside(path: Path) -> dict[str, tuple[str, ...]]:
    """The names of labels that what describes a data set tells beside one of its files."""
    folder = path.absolute().parent
    return _names_told(folder, (folder / INFO,))


def names_in_folder(path: Path) -> dict[str, tuple[str, ...]]:
    """The names of labels that a folder tells beside its data."""
    return _names_told(path, (path / INFO, *sorted(path.glob(f"*/{INFO}"))))


def _names_told(path: Path, infos: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Those in the first of these files, of older ones and of cards of a folder and the one above it that has some."""
    for file in (*infos, path / INFOS, path.parent / INFOS):
        try:
            if names := names_in_json(read_bytes(file)):
                return names
        except OSError:
            continue
    for card in (path / CARD, path.parent / CARD):
        try:
            if names := names_in_card(read_bytes(card).decode("utf-8", "replace")):
                return names
        except OSError:
            continue
    return {}
