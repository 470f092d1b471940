"""`Generate`: token by token, with each request's own seed, grammar and stops."""

import codecs

from emotui.backends.base import Generate, Generation
from emotui.backends.gguf.context import Context, Logits
from emotui.backends.gguf.grammar import Grammar
from emotui.backends.gguf.vocabulary import Vocabulary
from emotui.backends.sampling import Draws, pick


def write(
    context: Context,
    vocabulary: Vocabulary,
    grammar: Grammar | None,
    request: Generate,
    prompt: list[int],
    thoughts: tuple[str, int] | None = None,
) -> Generation:
    """Continue one prompt that fits into the context.

    The draws are the request's own, and the prompt is computed in fixed steps: a request writes the same text whatever
    was asked before or beside it.

    Args:
        thoughts: how those end that the model writes before its answer, and how many tokens they may have; stops and
            the grammar leave them alone.
    """
    room = context.capacity - len(prompt)
    ends, most = ("", min(request.max_tokens, room)) if thoughts is None else (thoughts[0], min(thoughts[1], room))
    if most <= 0:
        return Generation("", len(prompt), 0, "length")
    draws = Draws(request.seed)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text, count, begins = "", 0, 0
    logits = context.read(prompt)
    while True:
        token = _choose(logits, None if ends else grammar, request, draws)
        if vocabulary.ends(token):
            return Generation(text + decoder.decode(b"", final=True), len(prompt), count, "stop")
        count += 1
        seen = len(text)
        named = ends and token in vocabulary.control
        text += decoder.decode(vocabulary.name(token).encode() if named else vocabulary.piece(token))
        if ends:
            if ends in text[max(0, seen - len(ends)) :]:
                ends, begins, most = "", len(text), min(count + request.max_tokens, room)
        elif (end := find_stop(text[begins:], request.stop, max(0, seen - begins))) is not None:
            return Generation(text[: begins + end], len(prompt), count, "stop")
        if count >= most:
            return Generation(text + decoder.decode(b"", final=True), len(prompt), count, "length")
        logits = context.extend([token])


def find_stop(text: str, stops: tuple[str, ...], seen: int) -> int | None:
    """Where the first stop begins, None where there is none. Args: seen: none ends within so many characters."""
    places = [text.find(stop, max(0, seen - len(stop) + 1)) for stop in stops if stop]
    return min((place for place in places if place >= 0), default=None)


def _choose(logits: Logits, grammar: Grammar | None, request: Generate, draws: Draws) -> int:
    draw = draws.next() if request.temperature > 0 else 0.0
    if grammar is None:
        return pick(logits, request.temperature, request.top_p, draw)
    token = int(logits.argmax())
    # The likeliest token mostly fits as it is; trying every token of the vocabulary costs far more than one.
    if request.temperature > 0 or not grammar.allows(token):
        token = pick(grammar.narrow(logits), request.temperature, request.top_p, draw)
    grammar.accept(token)
    return token
