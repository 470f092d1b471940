"""Rephrasings that a model suggests, with the classifier's verdict on each."""

from collections.abc import Callable
from contextlib import ExitStack

import msgspec

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.lexicons import emolex
from emotui.metrics.lexical import cues_of, emotion_of
from emotui.store.store import Store
from emotui.tasks.prompting.files import Prompt, Prompts
from emotui.tasks.rephrase.labelling import labelling
from emotui.tasks.rephrase.suggesting import PROMPTS, WAY, check_writes, read_suggestion_prompts, suggest
from emotui.workbench.rephrase.live import Typing
from emotui.workbench.rephrase.views import CarryingWords, FrozenClassifier, Suggestion, identity_of
from emotui.workbench.runs.run import EMBEDDING

_SETTING = "suggestion_prompt"
CARRIES = 0.5
"""Drop of the log-odds from which a word counts as carrying the prediction, and is to be avoided."""

MOST_WORDS = 8
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
    avoid = list(dict.fromkeys([*explicit_words(text, label), *words_to_avoid(carrying)]))[:MOST_WORDS]
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
    kept = store.setting(_SETTING)
    return PROMPTS if kept is None else {WAY: msgspec.convert(kept, Prompt)}


def keep_prompts(store: Store, path: str | None) -> None:
    """Keep the prompt of a file in the workspace, or go back to this project's. Raises BadInput for a bad file."""
    store.set_setting(_SETTING, None if path is None else msgspec.to_builtins(read_suggestion_prompts(path)[WAY]))


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
