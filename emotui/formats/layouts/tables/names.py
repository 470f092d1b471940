"""What columns are called, in the hands of many, and whether a row is one of names."""

import re
from collections.abc import Mapping, Sequence

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
