"""The embedded model behind the protocol of `emotui.backends.base`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.backends.base import (
    CAPABLE_KINDS,
    Attribute,
    Attribution,
    Classification,
    Classify,
    Embed,
    Evidence,
    Extract,
    Filled,
    FillMask,
    Generate,
    HiddenStates,
    ModelCard,
    Progress,
    Refused,
    Score,
    Scores,
    States,
)
from emotui.backends.embedded.base_files import MODEL_SHA256, base_files
from emotui.backends.embedded.encoder import WIDTH, Dtype, Encoder, Floats, use_threads
from emotui.backends.embedded.extraction import (
    CueRule,
    Run,
    cue_probabilities,
    cue_runs,
    extract_clauses,
    labelled,
    like_fiction,
    read,
)
from emotui.backends.embedded.inference import label_logits, sentence_embeddings, sigmoid, text_states
from emotui.backends.embedded.settings import read_spec
from emotui.backends.embedded.tokens import END, MASK, MASK_NAME, START, WordPieces, batches_by_length, padded
from emotui.backends.embedded.weights import Weights
from emotui.backends.embedded.words import ends_sentence, words
from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK
from emotui.records import PLUTCHIK

# The label sets, and how the 28 labels map to smaller ones.

GOEMOTIONS = (
    "admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire",
    "disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy",
    "love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral",
)  # fmt: skip
"""The 28 labels in their published order (Demszky et al. 2020, Table 2)."""

EKMAN: Mapping[str, tuple[str, ...]] = {
    "anger": ("anger", "annoyance", "disapproval"),
    "disgust": ("disgust",),
    "fear": ("fear", "nervousness"),
    "joy": (
        "joy", "amusement", "approval", "excitement", "gratitude", "love", "optimism", "relief", "pride", "admiration",
        "desire", "caring",
    ),
    "sadness": ("sadness", "disappointment", "embarrassment", "grief", "remorse"),
    "surprise": ("surprise", "realization", "confusion", "curiosity"),
    "neutral": ("neutral",),
}  # fmt: skip
"""The grouping published with GoEmotions (`ekman_mapping.json` of its release)."""

PLUTCHIK_GROUPS: Mapping[str, tuple[str, ...]] = {
    emotion: tuple(label for label in GOEMOTIONS if GOEMOTIONS_TO_PLUTCHIK.get(label) == emotion)
    for emotion in PLUTCHIK
} | {"neutral": ("neutral",)}
"""By the project's one mapping (`emotui.lexicons`), with `neutral` beside the eight."""

LABEL_SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "goemotions": {label: (label,) for label in GOEMOTIONS},
    "ekman": EKMAN,
    "plutchik": PLUTCHIK_GROUPS,
}


def grouped(probs: Mapping[str, float], label_set: str) -> dict[str, float]:
    """Probability that at least one of a group's labels holds, the labels taken as independent: 1 - prod (1 - p)."""
    result = {}
    for group, members in LABEL_SETS[label_set].items():
        none = 1.0
        for member in members:
            none *= 1.0 - probs[member]
        result[group] = 1.0 - none
    return result


EMOTION_WORDS = (
    "admiration", "adoration", "affection", "afraid", "aggravated", "agitated", "agony", "alarmed", "amazed", "amused",
    "anger", "angry", "anguish", "annoyed", "anticipation", "anxiety", "anxious", "apathetic", "appalled",
    "appreciation", "apprehensive", "ashamed", "astonished", "awe", "bewildered", "bitter", "bitterness", "bliss",
    "bored", "bothered", "brave", "calm", "cheerful", "comfort", "compassion", "confident", "confused", "contempt",
    "content", "contentment", "curiosity", "curious", "delight", "delighted", "depressed", "depression", "desire",
    "despair", "desperate", "devastated", "disappointed", "disappointment", "disgust", "disgusted", "dismay",
    "distress", "distressed", "doubt", "dread", "eager", "ecstatic", "elated", "embarrassed", "embarrassment",
    "empathy", "empty", "enthusiasm", "envious", "envy", "euphoria", "excited", "excitement", "exhausted", "faith",
    "fear", "frightened", "frustrated", "frustration", "fury", "furious", "glad", "gloomy", "grateful", "gratitude",
    "grief", "guilt", "guilty", "happiness", "happy", "hate", "hatred", "heartbroken", "helpless", "hesitant",
    "homesick", "hope", "hopeful", "hopeless", "horrified", "horror", "hostile", "humiliated", "hurt", "impatient",
    "indignation", "insecure", "insulted", "irritated", "isolated", "jealous", "jealousy", "joy", "joyful", "jubilant",
    "lonely", "loneliness", "longing", "love", "loved", "lust", "mad", "melancholy", "miserable", "misery", "moody",
    "nervous", "nostalgia", "nostalgic", "numb", "optimistic", "outrage", "outraged", "overwhelmed", "pain", "panic",
    "passion", "peaceful", "pessimistic", "pity", "pleased", "pleasure", "proud", "pride", "puzzled", "rage", "regret",
    "rejected", "relaxed", "relief", "relieved", "reluctant", "remorse", "resentful", "resentment", "revulsion", "sad",
    "sadness", "satisfaction", "satisfied", "scared", "serene", "shame", "shock", "shocked", "shy", "sorrow", "sorry",
    "stressed", "stunned", "surprise", "surprised", "suspicious", "sympathy", "tender", "tense", "terrified", "terror",
    "thankful", "thrilled", "tired", "torn", "touched", "triumphant", "troubled", "trust", "uncertain", "uncomfortable",
    "uneasy", "unhappy", "upset", "vulnerable", "wary", "wonder", "worried", "worry", "worthless", "yearning",
)  # fmt: skip
"""The candidates that a mask is filled from where none are given: this project's own list."""

LONGEST = 256
"""Tokens that `classify`, `score`, `embed` and `attribute` read of a text (`score` of each sentence of a scene)."""

TRAINED_ON = (
    "embedded has learnt from GoEmotions' train part, its heads for Plutchik's eight from XED's and CovidEmo, and for "
    "scenes from sentences written for this project: on those texts its figures flatter it"
)
COMPUTED_AS = {"torch": "2.13.0+cpu"}
"""In the identity of float32: what the card's figures were computed with. ONNX Runtime and NumPy, each in any version,
agree with it within 1e-4 in every answer, so that a run that it made is found again."""

CAPABILITIES = ("score", "classify", "embed", "fill_mask", "extract", "attribute", "states")
CANNOT_GENERATE = "The embedded model cannot write free text; kinds of model that can: " + ", ".join(
    CAPABLE_KINDS["generate"]
)


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> EmbeddedBackend:
    """Load the embedded model, with the options of `emotui.backends.embedded.settings`.

    Raises: ModelError in one line, when the base model is absent or is not the original; BadModel for an option that
    there is not.
    """
    settings = read_spec(argument, options)
    use_threads(settings.threads)
    files = base_files(progress)
    progress("reading all-MiniLM-L6-v2")
    dtype: Dtype = "int8" if settings.dtype == "int8" else "float32"
    return EmbeddedBackend(Weights(files, dtype=dtype, shared=settings.layers == "shared"), settings.spans)


class EmbeddedBackend:
    """Answers by MiniLM with this project's adapters; deterministic."""

    def __init__(self, weights: Weights, spans: str = "auto") -> None:
        self.weights = weights
        self.spans = spans
        self.card = ModelCard(
            spec="embedded",
            name="all-MiniLM-L6-v2 with emotui's adapters",
            capabilities=CAPABILITIES,
            identity={
                "base": MODEL_SHA256,
                "dtype": weights.dtype,
                "spans": spans,
                **(COMPUTED_AS if weights.dtype == "float32" else {"onnxruntime": version("onnxruntime")}),
                **weights.hashes(),
            },
            labels={name: tuple(groups) for name, groups in LABEL_SETS.items()} | {"score": PLUTCHIK},
            notes=("A small model (22 million parameters): see its model card for how often it is right.",),
            fitted_on=("spans",),
            thresholds={
                "goemotions": dict(zip(GOEMOTIONS, weights.calibration["goemotions"]["thresholds"], strict=True))
            },
            trained_on={"labels": TRAINED_ON},
            mask=MASK_NAME,
        )

    def _ids(self, texts: Sequence[str], marks: Sequence[str] = ()) -> tuple[list[list[int]], list[bool]]:
        bare = self.weights.pieces.bare(texts, marks)
        return [[START, *ids[: LONGEST - 2], END] for ids in bare], [len(ids) > LONGEST - 2 for ids in bare]

    def _goemotions(self, ids: Sequence[Sequence[int]], *, keep: bool = True) -> NDArray[np.float64]:
        """Calibrated logits. Args: keep: as of `hidden_states`. Returns: (n, 28)."""
        return label_logits(self.weights.goemotions, ids, keep=keep).astype(np.float64)

    def classify(self, requests: Sequence[Classify]) -> list[Classification | Refused]:
        """Independent, calibrated probabilities; the label is the most probable. Texts are cut at 256 tokens."""
        ids, cut = self._ids([request.text for request in requests], [request.mask for request in requests])
        probabilities = sigmoid(self._goemotions(ids))
        results: list[Classification | Refused] = []
        for request, row, truncated in zip(requests, probabilities.tolist(), cut, strict=True):
            name = _label_set(request)
            if name is None:
                known = "; ".join(f"{key}: {', '.join(groups)}" for key, groups in LABEL_SETS.items())
                results.append(Refused(f"The embedded model has no such label set; it has {known}"))
                continue
            probs = grouped(dict(zip(GOEMOTIONS, row, strict=True)), name)
            if request.labels is not None:
                probs = {label: probs[label] for label in request.labels}
            label = max(probs, key=lambda key: probs[key])
            results.append(Classification(probs, label, multi_label=True, truncated=truncated))
        return results

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Log-probabilities of yes and no for Plutchik's eight, from their own heads; other questions are refused.

        The log-odds are those of the calibrated probability, less those of the label's threshold: yes is above no
        exactly where the head gives the label. A text of several sentences is read as a scene (`scene_embeddings`), a
        shorter one by the heads for single lines.
        """
        odds = self._plutchik_odds([request.text for request in requests], [request.mask for request in requests])
        results: list[Scores | Refused] = []
        for request, row in zip(requests, odds.tolist(), strict=True):
            unknown = [question for question in request.questions if question not in PLUTCHIK]
            if unknown:
                results.append(
                    Refused(f"The embedded model scores {', '.join(PLUTCHIK)}; not: {', '.join(unknown)[:200]}")
                )
                continue
            asked = [row[PLUTCHIK.index(question)] for question in request.questions]
            yes, no = tuple(-_softplus(-value) for value in asked), tuple(-_softplus(value) for value in asked)
            results.append(Scores(yes, no, mass=(1.0,) * len(asked)))
        return results

    def _plutchik_odds(self, texts: Sequence[str], marks: Sequence[str]) -> NDArray[np.float64]:
        """Log-odds less those of the thresholds. Args: marks: what is a mask in each text. Returns: (n, 8)."""
        odds = np.empty((len(texts), len(PLUTCHIK)))
        split = [sentences(text) for text in texts]
        told = np.array([len(parts) >= LEAST_SENTENCES for parts in split], dtype=bool)
        if told.any():
            embedded = scene_embeddings(
                self.weights.base,
                self.weights.pieces,
                [parts for parts, scene in zip(split, told.tolist(), strict=True) if scene],
                [mark for mark, scene in zip(marks, told.tolist(), strict=True) if scene],
            )
            fitted = self.weights.calibration["scenes"]
            logits = scene_logits(self.weights.scenes, fitted, embedded)
            odds[told] = logits.astype(np.float64) - _threshold_odds(fitted)
        if not told.all():
            short = [place for place, scene in enumerate(told.tolist()) if not scene]
            ids, _ = self._ids([texts[place] for place in short], [marks[place] for place in short])
            fitted = self.weights.calibration["plutchik"]
            odds[~told] = self.weights.plutchik_logits(ids).astype(np.float64) - _threshold_odds(fitted)
        return odds

    def embed(self, requests: Sequence[Embed]) -> NDArray[np.float32]:
        """What sentence-transformers gives with the unmodified MiniLM. Returns: (n, 384), rows of length 1."""
        ids, _ = self._ids([request.text for request in requests])
        return sentence_embeddings(self.weights.base, ids)

    def extract(self, requests: Sequence[Extract]) -> list[list[Evidence]]:
        """Evidence spans in text order; texts of any length are read whole, in windows.

        Option `spans`: `cues` marks words as REMAN does, `clauses` marks phrases as SEER does, `auto` takes the one
        whose training texts a text is more like.
        """
        texts = [request.text for request in requests]
        readings = read(self.weights.pieces, texts)
        like_fiction = self._like_fiction(texts)
        found: list[list[Run]] = [[] for _ in texts]
        marked = [number for number, fiction in enumerate(like_fiction) if fiction]
        rule = CueRule(**self.weights.calibration["spans"]["rule"])
        probabilities = cue_probabilities(self.weights.spans, [readings[number] for number in marked]) if marked else []
        for number, values in zip(marked, probabilities, strict=True):
            found[number] = cue_runs(readings[number], values, rule)
        phrased = [number for number, fiction in enumerate(like_fiction) if not fiction]
        encoders = (self.weights.goemotions.encoder, self.weights.base)
        head = self.weights.clauses
        runs = extract_clauses(
            encoders,
            [readings[number] for number in phrased],
            head["weight"],
            head["bias"],
            self.weights.calibration["clauses"]["threshold"],
        )
        for number, spans in zip(phrased, runs, strict=True):
            found[number] = spans
        return labelled(readings, found, self.weights.goemotions, GOEMOTIONS)

    def _like_fiction(self, texts: Sequence[str]) -> list[bool]:
        """Which texts are marked by cue words: by their style, or by the option `spans`."""
        if self.spans != "auto":
            return [self.spans == "cues"] * len(texts)
        return like_fiction(self.weights, self._ids(texts)[0])

    def attribute(self, requests: Sequence[Attribute]) -> list[Attribution | Refused]:
        """The drop of a label's calibrated logit when each word is left out, all variants in one batch.

        The label is one of the 28, by default the most probable. Words past the first 256 tokens carry nothing.
        """
        results: list[Attribution | Refused] = []
        for request in requests:
            if request.method != "removal":
                results.append(Refused("embedded gives no gradients: it leaves words out, one at a time"))
                continue
            if request.label is not None and request.label not in GOEMOTIONS:
                results.append(Refused(f"{request.label!r} is not one of the labels {', '.join(GOEMOTIONS)}"))
                continue
            text = self._read_part(request.text)
            places = words(text)
            ids, _ = self._ids([text, *(text[:start] + text[end:] for start, end in places)])
            logits = self._goemotions(ids, keep=False)
            label = GOEMOTIONS.index(request.label) if request.label else int(logits[0].argmax())
            drops = (logits[0, label] - logits[1:, label]).tolist()
            carried = tuple((start, end, drop) for (start, end), drop in zip(places, drops, strict=True))
            results.append(Attribution(GOEMOTIONS[label], carried))
        return results

    def _read_part(self, text: str) -> str:
        """The text up to where `classify` stops reading."""
        (encoding,) = self.weights.pieces.encode([text])
        return text if len(encoding.ids) <= LONGEST - 2 else text[: encoding.offsets[LONGEST - 3][1]]

    def fill_mask(self, requests: Sequence[FillMask]) -> list[Filled | Refused]:
        """Candidates (by default this project's list of emotion words) ranked for each `<mask>`.

        Of a text longer than 256 tokens each mask is read in its own surroundings.
        """
        read = [mask_windows(self.weights, request.text) for request in requests]
        flat = [window for windows in read for window in windows]
        states = iter(mask_states(self.weights, [ids for ids, _ in flat], [places for _, places in flat]))
        vectors: dict[tuple[str, ...], Floats] = {}
        results: list[Filled | Refused] = []
        for request, windows in zip(requests, read, strict=True):
            candidates = EMOTION_WORDS if request.candidates is None else request.candidates
            at_masks = np.concatenate([np.empty((0, STATE), np.float32), *(next(states) for _ in windows)])
            if not len(at_masks) or not candidates:
                results.append(Refused("There are no candidates" if len(at_masks) else "There is no <mask> to fill"))
                continue
            if candidates not in vectors:
                vectors[candidates] = word_vectors(self.weights, candidates)
            scores = np.exp(mask_scores(self.weights, at_masks, vectors[candidates]))
            ranked = [sorted(zip(candidates, row, strict=True), key=lambda pair: -pair[1]) for row in scores.tolist()]
            results.append(Filled(tuple(tuple(row[: request.top]) for row in ranked)))
        return results

    def states(self, requests: Sequence[States]) -> list[HiddenStates | Refused]:
        """States of the encoder that answers by GoEmotions' labels, 0 to 6. Texts are cut at 256 tokens."""
        return text_states(self.weights.goemotions.encoder, self.weights.pieces, requests, LONGEST)

    def generate(self, requests: Sequence[Generate]) -> list[Refused]:
        """Refused in one sentence: MiniLM is an encoder."""
        return [Refused(CANNOT_GENERATE) for _ in requests]


def _threshold_odds(fitted: Mapping[str, Any]) -> NDArray[np.float64]:
    """The log-odds of each label's threshold. Returns: (k,)."""
    thresholds = np.array(fitted["thresholds"], dtype=np.float64)
    return np.asarray(np.log(thresholds / (1 - thresholds)))


def _softplus(value: float) -> float:
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


def _label_set(request: Classify) -> str | None:
    """The label set that is asked for, or the first that holds all the given labels."""
    if request.label_set is not None:
        return request.label_set if request.label_set in LABEL_SETS else None
    if request.labels is None:
        return "goemotions"
    fitting = [name for name, groups in LABEL_SETS.items() if request.labels and set(request.labels) <= set(groups)]
    return fitting[0] if fitting else None


# Plutchik's eight in a scene: its sentences and the whole of it, averaged, under one linear head. A scene tells of
# somebody in several sentences, most of which hold no emotion, while the heads for single lines have learnt what people
# say. The head is linear, so the average is the mean of the sentences' log-odds beside those of the whole.

LEAST_SENTENCES = 3
"""From so many on a text is read sentence by sentence: the mean of their embeddings, averaged with the whole one's."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, each with the quotation mark that opens it; a text without words is one."""
    cuts = [
        start - len(text[before:start].split()[-1]) if not text[start - 1].isspace() else start
        for (_, before), (start, _) in pairwise(words(text))
        if ends_sentence(text, before, start)
    ]
    return [text[start:end].strip() for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def scene_embeddings(
    base: Encoder, pieces: WordPieces, scenes: Sequence[Sequence[str]], marks: Sequence[str] = ()
) -> Floats:
    """One row a scene. Args: scenes: the sentences of each; marks: what is a mask in each. Returns: (n, 384)."""
    parts = [part for scene in scenes for part in (" ".join(scene), *scene)]
    masks = [mark for scene, mark in zip(scenes, marks, strict=False) for _ in range(len(scene) + 1)]
    embedded = sentence_embeddings(base, pieces.ids(parts, LONGEST, masks))
    ends = np.cumsum([len(scene) + 1 for scene in scenes])
    means = [(rows[0] + rows[1:].mean(0)) / 2 for rows in np.split(embedded, ends[:-1])] if scenes else []
    return np.array(means, np.float32).reshape(-1, WIDTH)


def scene_logits(head: Mapping[str, Floats], fitted: Mapping[str, Any], embeddings: Floats) -> Floats:
    """Calibrated logits. Args: fitted: `slope` and `shifts`. embeddings: (n, 384). Returns: (n, 8)."""
    logits = embeddings @ head["weight"].T + head["bias"]
    return np.asarray(np.float32(fitted["slope"]) * logits + np.array(fitted["shifts"], np.float32))


# Ranking emotion words for a mask.
#
# MiniLM has no language-model head any more. A trained linear map takes its state at the mask after the fourth of six
# layers, and the word embeddings of the tokens on both sides, to the space of MiniLM's own sentence embeddings; there a
# candidate scores by the dot product with its own embedding. So any word can be a candidate, also one of several word
# pieces. The last layers of a sentence encoder turn to what the whole text says; the earlier ones, and the tokens
# beside the mask, still tell which part of speech fits there.

MARK = "<mask>"
DEPTH = 4
STATE = 3 * WIDTH
"""Numbers that are known of a mask."""

Window = tuple[list[int], list[int]]
"""Token ids with a start and an end, and the places of the masks that are filled from them."""


def mask_windows(weights: Weights, text: str) -> list[Window]:
    """A text of up to 256 tokens as one window; of a longer one a window a mask, with the mask in its middle, or at an
    end of the text as near to it as can be."""
    ids: list[int] = []
    places = []
    for number, part in enumerate(weights.pieces.encode(text.split(MARK))):
        if number:
            places.append(len(ids))
            ids.append(MASK)
        ids += part.ids
    room = LONGEST - 2
    if len(ids) <= room:
        return [([START, *ids, END], [place + 1 for place in places])]
    firsts = [min(max(0, place - room // 2), len(ids) - room) for place in places]
    return [
        ([START, *ids[first : first + room], END], [place - first + 1])
        for first, place in zip(firsts, places, strict=True)
    ]


def mask_states(weights: Weights, ids: Sequence[Sequence[int]], places: Sequence[Sequence[int]]) -> list[Floats]:
    """For each text (masks, 1152): at its masks the unmodified encoder's state after `DEPTH` layers, then the word
    embeddings of the token before and of the token after (at an end of the text the frame's own)."""
    states = [np.empty((0, STATE), np.float32)] * len(ids)
    embedding = weights.base.words
    for indices in batches_by_length([len(row) for row in ids], weights.base.together):
        tokens, lengths = padded([ids[index] for index in indices])
        hidden = weights.base(tokens, lengths, DEPTH)
        for row, index in enumerate(indices):
            at = np.array(places[index], np.int64)
            beside = [embedding[tokens[row, at + side]] for side in (-1, 1)]
            states[index] = np.concatenate([hidden[row, at], *beside], 1)
    return states


def word_vectors(weights: Weights, candidates: Sequence[str]) -> Floats:
    """Sentence embeddings of the candidates. Returns: (n, 384)."""
    return sentence_embeddings(weights.base, weights.pieces.ids(candidates, LONGEST))


def mask_scores(weights: Weights, states: Floats, vectors: Floats) -> Floats:
    """Log-probabilities of the candidates. Args: states: (masks, 1152). vectors: (n, 384). Returns: (masks, n)."""
    scores = (states @ weights.mask["weight"].T + weights.mask["bias"]) @ vectors.T
    scores -= scores.max(1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(1, keepdims=True)))
