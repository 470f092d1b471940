"""Rephrasings that a model suggests, with the classifier's verdict on each."""

from collections.abc import Callable

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.lexicons import emolex
from emotui.metrics.lexical import cues_of, emotion_of
from emotui.tasks.prompt_files import Prompts
from emotui.tasks.suggesting import PROMPTS, check_writes, suggest
from emotui.workbench.rephrasing_live import Typing
from emotui.workbench.rephrasing_views import CarryingWords, Original, Round, Suggestion

CARRIES = 0.5
"""Drop of the log-odds from which a word counts as carrying the prediction, and is to be avoided."""

MOST_WORDS = 8
"""Words that a model is told to avoid."""


def suggestions(
    typing: Typing,
    writer: ModelProcess,
    round: Round,
    number: int,
    original: Original,
    *,
    prompts: Prompts = PROMPTS,
    progress: Callable[[str], None] = lambda step: None,
    cancelled: IsCancelled | None = None,
) -> list[Suggestion]:
    """Three, from a model that writes, in its order.

    The words to avoid are those that EmoLex ties to the gold emotion and those that carry the classifier's prediction.

    Raises:
        ModelError: the model cannot write, or does not keep to the form; the classifier died.
        Cancelled: `cancelled()` became true.
    """
    text, label = original.sample.text, original.gold
    progress(f"loading {writer.spec}")
    check_writes(writer, cancelled)
    progress("finding the words to avoid")
    words = words_to_avoid(typing.carrying_words(round.classifier, number, label, text, cancelled or (lambda: False)))
    named = explicit_words(text, label)
    avoid = list(dict.fromkeys([*named, *words]))[:MOST_WORDS]
    progress(f"asking {writer.spec} for rephrasings")
    written = suggest(writer, text, label, avoid, prompts=prompts, cancelled=cancelled)
    progress("asking the classifier about them")
    found = []
    for one in written:
        verdict, similarity = typing.verdict_and_similarity(round.classifier, text, one)
        cues = explicit_words(one, label)
        found.append(Suggestion(one, verdict.label, verdict.probs[label], similarity, tuple(cues)))
    return found


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
    return list(dict.fromkeys(cue.word.lower() for cue in cues_of(text, emolex()) if emotion in cue.emotions))
