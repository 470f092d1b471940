"""What follows a person's typing (verdict, similarity, the words that carry the verdict), and what a model suggests."""

import math
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import msgspec

from emotui.backends.base import Embed
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.backends.words import word_places
from emotui.lexicons import emolex
from emotui.metrics.lexical import cues_of, emotion_of
from emotui.store.store import Store
from emotui.tasks.prompting.files import Prompt, Prompts
from emotui.tasks.rephrase.labelling import Verdict, labelling
from emotui.tasks.rephrase.suggesting import PROMPTS, WAY, check_writes, read_suggestion_prompts, suggest
from emotui.workbench.rephrase.views import CarryingWords, FrozenClassifier, Suggestion, identity_of
from emotui.workbench.runs.run import EMBEDDING

BATCH_WORDS = 240
"""Words of a batch while words are left out: what is typed meanwhile waits for one batch at most."""

MOST_WORDS = 150
"""Words that are left out in turn; of a longer text the first."""

_ROWS = 64
"""Embeddings of originals that are kept."""


class Typing:
    """Asks the classifier of a round, and the embedding model that similarity is always by. Safe across threads.

    Args:
        embedding: the process of that model; started when it is first needed.
    """

    def __init__(self, embedding: Callable[[], ModelProcess]) -> None:
        self._embedding = embedding
        self._rows: dict[str, Any] = {}
        self._lock = threading.Lock()

    def verdict_and_similarity(
        self, classifier: FrozenClassifier, original: str, text: str
    ) -> tuple[Verdict, float | None]:
        """The classifier's verdict on `text`, and the cosine of its embedding with that of `original`.

        The embedding is the embedded model's, whatever the classifier is, so that figures of rounds compare. Where
        that model is the classifier too, both go in one round trip.

        Returns: the similarity is in [-1, 1]; None for a text without a letter or digit.
        """
        with self._lock:
            row = self._rows.get(original)
        wanted = [text] if row is not None else [text, original]
        if not any(character.isalnum() for character in text):
            return classifier.verdicts([text])[0], None
        embedding = self._embedding()
        if embedding is classifier.model:
            verdict, rows = classifier.verdict_and_rows(text, wanted)
        else:
            verdict = classifier.verdicts([text])[0]
            rows = list(embedding.ask([Embed(each) for each in wanted]))
        if row is None:
            row = rows[1]
            with self._lock:
                while len(self._rows) >= _ROWS:
                    del self._rows[next(iter(self._rows))]
                self._rows[original] = row
        return verdict, max(-1.0, min(1.0, float(rows[0] @ row)))

    def carrying_words(
        self, classifier: FrozenClassifier, number: int, gold: str, text: str, cancelled: IsCancelled
    ) -> CarryingWords | None:
        """The drop of the log-odds of `gold`, and of the label given, without each word. None when cancelled."""
        every = word_places(text)
        places = every[:MOST_WORDS]
        whole = classifier.verdicts([text])[0]
        without: list[Verdict] = []
        size = max(1, BATCH_WORDS // max(1, len(every)))
        for start in range(0, len(places), size):
            if cancelled():
                return None
            chunk = places[start : start + size]
            without += classifier.verdicts([text[:begin] + text[end:] for begin, end in chunk])

        def drops(label: str) -> tuple[tuple[int, int, float], ...]:
            all_of_it = _log_odds(whole.probs[label])
            return tuple(
                (start, end, all_of_it - _log_odds(less.probs[label]))
                for (start, end), less in zip(places, without, strict=True)
            )

        top = whole.label
        return CarryingWords(number, text, gold, top, drops(gold), drops(top), cut=len(every) > len(places))


def _log_odds(p: float) -> float:
    """Of a probability, which at 0 and 1 is taken as 1e-9 away from it."""
    p = min(max(p, 1e-9), 1 - 1e-9)
    return math.log(p / (1 - p))


# Rephrasings that a model suggests, with the classifier's verdict on each.

_SETTING = "suggestion_prompt"
CARRIES = 0.5
"""Drop of the log-odds from which a word counts as carrying the prediction, and is to be avoided."""

MOST_AVOIDED = 8
"""Words that a model is told to avoid."""


def suggestions(
    typing: Typing,
    writer: ModelProcess,
    classifier: FrozenClassifier,
    text: str,
    label: str,
    *,
    prompts: Prompts = PROMPTS,
    progress: Callable[[str], None] = lambda step: None,
    cancelled: IsCancelled | None = None,
) -> list[Suggestion]:
    """Three, from a model that writes, in its order.

    The words to avoid are those that EmoLex ties to the gold emotion and those that carry the classifier's prediction.

    Args:
        label: the gold label, as the classifier writes it.

    Raises:
        ModelError: the model cannot write, or does not keep to the form; the classifier died.
        Cancelled: `cancelled()` became true.
    """
    progress(f"loading {writer.spec}")
    check_writes(writer, cancelled)
    progress("finding the words to avoid")
    carrying = typing.carrying_words(classifier, 0, label, text, cancelled or (lambda: False))
    avoid = list(dict.fromkeys([*explicit_words(text, label), *words_to_avoid(carrying)]))[:MOST_AVOIDED]
    progress(f"asking {writer.spec} for rephrasings")
    written = suggest(writer, text, label, avoid, prompts=prompts, cancelled=cancelled)
    progress("asking the classifier about them")
    found = []
    for one in written:
        verdict, similarity = typing.verdict_and_similarity(classifier, text, one)
        found.append(
            Suggestion(one, verdict.label, verdict.probs[label], similarity, tuple(explicit_words(one, label)))
        )
    return found


def suggestions_for(
    text: str,
    label: str,
    spec: str,
    classifier: str,
    *,
    prompts: Prompts = PROMPTS,
    progress: Callable[[str], None] = lambda step: None,
) -> list[Suggestion]:
    """Three rephrasings of one text, without a store.

    Args:
        spec: the model that writes; `classifier`: the one that judges.

    Raises:
        BadInput: the classifier does not know the label.
        ModelError: as `suggestions`.
    """
    with ExitStack() as opened:
        models: dict[str, ModelProcess] = {}

        def process(name: str) -> ModelProcess:
            if name not in models:
                models[name] = opened.enter_context(ModelProcess(name))
            return models[name]

        check_writes(process(spec))
        card = process(classifier).load()
        asked = labelling(card, [("the text", label)])
        frozen = FrozenClassifier(process(classifier), card, asked, identity_of(card, asked))
        typing = Typing(lambda: process(EMBEDDING))
        return suggestions(
            typing, process(spec), frozen, text, asked.known(label) or label, prompts=prompts, progress=progress
        )


def kept_prompts(store: Store) -> Prompts:
    """The person's own prompt for suggestions, kept in the workspace; this project's where there is none."""
    kept = store.settings.get(_SETTING)
    return PROMPTS if kept is None else {WAY: msgspec.convert(kept, Prompt)}


def prompts_of(path: str | None) -> Prompts:
    """The prompt for suggestions of a file; this project's where there is none. Raises BadInput for a bad file."""
    return PROMPTS if path is None else read_suggestion_prompts(path)


def keep_prompts(store: Store, path: str | None) -> None:
    """Keep the prompt of a file in the workspace, or go back to this project's. Raises BadInput for a bad file."""
    store.settings.set(_SETTING, None if path is None else msgspec.to_builtins(read_suggestion_prompts(path)[WAY]))


def words_to_avoid(carrying: CarryingWords | None) -> list[str]:
    """The words without which the gold label's log-odds fall most, the strongest first, in lower case."""
    if carrying is None:
        return []
    strong = sorted((drop, start, end) for start, end, drop in carrying.gold if drop >= CARRIES)
    return list(dict.fromkeys(carrying.text[start:end].lower() for _, start, end in reversed(strong)))


def explicit_words(text: str, label: str) -> list[str]:
    """The words that EmoLex ties to the label's emotion, in lower case; none where the label has no counterpart."""
    try:
        emotion = emotion_of(label)
    except ValueError:
        return []
    if emotion is None:
        return []
    cues = cues_of(text, emolex(), inflections=True)
    return list(dict.fromkeys(cue.word.lower() for cue in cues if emotion in cue.emotions))
