"""Token classifiers: spans from a tag a word (`BertForTokenClassification` and its like)."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch

from emotui.backends.base import Evidence, Extract, ModelCard, Refused
from emotui.backends.hf.encoders import Encoder, Framed
from emotui.backends.hf.families import labels_of
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.settings import Settings
from emotui.backends.rendering import Piece
from emotui.errors import BadModel, ModelError

# A text as tokens that know where they stand in it, and the overlapping windows that a model reads it in.

OVERLAP = 4
"""Two neighbouring windows share one part in so many of what fits into one."""


@dataclass(frozen=True, slots=True)
class Token:
    """`start` and `end`: in code points of the text, without white space at the edges; equal for white space alone.

    `word`: the number of the word that it is a piece of.
    """

    id: int
    start: int
    end: int
    word: int


def needs_offsets(tokenizer: Any, name: str) -> None:
    """Raises ModelError where a tokeniser cannot tell where its tokens stand."""
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"{name} marks words, and its tokeniser does not say where they stand: it needs tokenizer.json"
        )


def read_tokens(prompts: Prompts, text: str) -> list[Token]:
    """A text's tokens. A word is what the tokeniser takes for one, and never goes on behind white space.

    The name of a control token is read as characters; its tokens all stand where the whole name does.
    """
    return piece_tokens(prompts, prompts.specials.pieces(text))


def piece_tokens(prompts: Prompts, pieces: Sequence[Piece]) -> list[Token]:
    """The tokens of a text, or of a prompt, that is in pieces already; places are those in all of them together."""
    tokens: list[Token] = []
    offset, word = 0, 0
    for piece in pieces:
        word += 1
        if piece.literal:
            end = offset + len(piece.text)
            tokens += [Token(number, offset, end, word) for number in prompts.text(piece.text)]
            offset = end
            continue
        read = prompts.tokenizer(piece.text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        before: tuple[int | None, int] | None = None
        for number, place, (start, end) in zip(
            read["input_ids"], read.word_ids(0), read["offset_mapping"], strict=True
        ):
            start, end = _trimmed(piece.text, start, end)
            if start < end:
                if before is None or not (
                    goes_on(piece.text, start)
                    or (place == before[0] and not any(map(str.isspace, piece.text[before[1] : start])))
                ):
                    word += 1
                before = (place, end)
            tokens.append(Token(number, offset + start, offset + end, word))
        offset += len(piece.text)
    return tokens


def goes_on(text: str, place: int) -> bool:
    """Whether the sign at this place is part of the one before it: an accent of its own, a part of an emoji."""
    sign = text[place]
    marks = unicodedata.category(sign) in ("Mn", "Me") or "\U0001f3fb" <= sign <= "\U0001f3ff"
    return place > 0 and (marks or "\u200d" in text[place - 1 : place + 1])


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without white space at the edges, and with the marks that belong to its last letter."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end < len(text) and unicodedata.category(text[end]) in ("Mn", "Me"):
        end += 1
    return start, end


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens from `start` to `stop` are read together; those from `first` to `last` (without it) are read best here."""

    start: int
    stop: int
    first: int
    last: int


def windows(n: int, room: int | None) -> list[Window]:
    """`n` tokens in windows of at most `room`: each token is read best in one, that where it has most around it."""
    if room is None or n <= room:
        return [Window(0, n, 0, n)]
    step = max(1, room - room // OVERLAP)
    starts = [*range(0, n - room, step), n - room]
    cuts = [0, *((later + start + room) // 2 for start, later in pairwise(starts)), n]
    return [Window(start, start + room, *edges) for start, edges in zip(starts, pairwise(cuts), strict=True)]


def word_places(tokens: Sequence[Token]) -> list[list[int]]:
    """The places of each word's tokens, in text order; white space is in no word."""
    words: list[list[int]] = []
    last = None
    for place, token in enumerate(tokens):
        if token.start == token.end:
            continue
        if token.word != last:
            words.append([])
            last = token.word
        words[-1].append(place)
    return words


# From a tag a word to spans of words, in whatever scheme a model names its tags.

_PREFIXED = re.compile(r"([BILUEMSW])(?:[-_](.+))?")
_OPENING, _SINGLE, _CLOSING = frozenset("BUSW"), frozenset("USW"), frozenset("LE")
_OUTSIDE = ("o", "outside", "none", "no emotion", "no_emotion", "neutral", "label_0")


@dataclass(frozen=True, slots=True)
class Tag:
    """What a tag says of a word. `part`: a letter of the scheme; `O` for a word that is in no span."""

    part: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class TaggedSpan:
    """Words from `first` up to and with `last`. `label` is empty where the scheme knows one kind of span only."""

    first: int
    last: int
    label: str


def read_tags(names: Sequence[str], outside: Sequence[str] = ()) -> tuple[Tag, ...]:
    """What each of a model's tags means.

    Tags with a letter before their label are of BIO, BIOES (S, E), BILUO (L, U) or BMEWO (M, W); a letter alone has no
    label. In any other scheme a tag is its label, and neighbours of one label are one span.

    Args:
        outside: the tags of words in no span; without any, the first that there is of `O`, `outside`, `none`,
            `neutral`, and `LABEL_0` of a model whose tags have no names.
    """
    by_lower = {name.lower(): name for name in names}
    known = set(outside) or set([by_lower[each] for each in _OUTSIDE if each in by_lower][:1])
    matches = {name: _PREFIXED.fullmatch(name) for name in names if name not in known}
    if matches and all(matches.values()) and any(name[0] in "BI" for name in matches):
        return tuple(
            Tag(found[1], found[2] or "") if (found := matches.get(name)) is not None else Tag("O") for name in names
        )
    return tuple(Tag("O") if name in known else Tag("I", name) for name in names)


def tagged_spans(tags: Sequence[Tag]) -> list[TaggedSpan]:
    """The spans of a text's words, in order; what breaks the scheme is read as conlleval reads it.

    A span goes on where a tag within or at the end of one follows a word of the same label; else that tag begins one.
    """
    spans: list[TaggedSpan] = []
    going = False
    for place, tag in enumerate(tags):
        if tag.part == "O":
            going = False
            continue
        if going and tag.part not in _OPENING and spans[-1].label == tag.label:
            spans[-1] = TaggedSpan(spans[-1].first, place, tag.label)
        else:
            spans.append(TaggedSpan(place, place, tag.label))
        going = tag.part not in _SINGLE and tag.part not in _CLOSING
    return spans


def outside_of(settings: Settings, names: Sequence[str]) -> tuple[str, ...]:
    """The option `outside` as tags. Raises BadModel where the model has no such tag."""
    found = tuple(part.strip() for part in settings.outside.split(",") if part.strip())
    if strange := [name for name in found if name not in names]:
        raise BadModel(f"hf: option outside names {strange[0]!r}; the model's tags are: {', '.join(names)}")
    return found


def span_labels(config: Any, settings: Settings) -> tuple[str, ...]:
    """The labels that a token classifier's spans can have, in the order of its tags."""
    names = labels_of(config)
    tags = read_tags(names, outside_of(settings, names))
    return tuple(dict.fromkeys(tag.label for tag in tags if tag.part != "O" and tag.label))


class Tagger:
    """A token classifier behind the protocol: `extract`.

    A word has one tag: the likeliest of its first piece (`aggregation=first`, as nearly all such models are trained),
    of the mean over its pieces (`average`), or of the piece that is surest (`max`): the strategies of transformers'
    TokenClassificationPipeline. Tags become spans by `tagged_spans`. A span's strength is the mean over its words of
    the probability of their tags. A long text is read in overlapping windows, and each piece of a word counts as read
    in the window where it has most around it; spans are made of the tags of the whole text, across windows.
    """

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        needs_offsets(loaded.tokenizer, card.name)
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 1)
        self._room = None if loaded.context is None else loaded.context - self._frame.extra
        names = labels_of(loaded.config)
        self._tags = read_tags(names, outside_of(settings, names))
        self._aggregation = settings.aggregation

    def extract(self, requests: Sequence[Extract]) -> list[list[Evidence] | Refused]:
        """The spans of each text, in order."""
        if self._room is not None and self._room < 1:
            return [Refused("the model reads too few tokens for any text")] * len(requests)
        texts = [read_tokens(self._prompts, request.text) for request in requests]
        asked = [(place, window) for place, tokens in enumerate(texts) for window in windows(len(tokens), self._room)]
        probs = [torch.zeros((len(tokens), len(self._tags)), dtype=torch.float64) for tokens in texts]
        for (place, window), row in zip(asked, self._rows(texts, asked), strict=True):
            probs[place][window.first : window.last] = row[window.first - window.start : window.last - window.start]
        return [self._evidence(tokens, rows) for tokens, rows in zip(texts, probs, strict=True)]

    def _rows(self, texts: Sequence[Sequence[Token]], asked: Sequence[tuple[int, Window]]) -> list[torch.Tensor]:
        """Of each window the probabilities of its tokens' tags, (tokens, tags)."""
        framed: list[Framed] = [
            self._frame.ids([token.id for token in texts[place][window.start : window.stop]]) for place, window in asked
        ]
        head = len(self._frame.around[0])

        def read(out: Any, mask: torch.Tensor, indices: list[int]) -> list[torch.Tensor]:
            probs, kept = out.logits.double().softmax(-1).cpu(), mask.bool().cpu()
            return [probs[row][kept[row]][head:] for row in range(len(indices))]

        return self._encoder.run(framed, read)

    def _evidence(self, tokens: Sequence[Token], probs: torch.Tensor) -> list[Evidence]:
        words = word_places(tokens)
        if not words:
            return []
        tagged = torch.stack([self._of_word(probs[word]) for word in words])
        strengths, chosen = (found.tolist() for found in tagged.max(-1))
        return [
            Evidence(
                start=tokens[words[span.first][0]].start,
                end=tokens[words[span.last][-1]].end,
                label=span.label,
                strength=sum(strengths[span.first : span.last + 1]) / (span.last + 1 - span.first),
            )
            for span in tagged_spans([self._tags[tag] for tag in chosen])
        ]

    def _of_word(self, pieces: torch.Tensor) -> torch.Tensor:
        """The probabilities of a word's tags, from those of its pieces (pieces, tags)."""
        match self._aggregation:
            case "average":
                return pieces.mean(0)
            case "max":
                return pieces[int(pieces.max(-1).values.argmax())]
            case _:
                return pieces[0]


# Question answering: one span, the passage that answers (`RobertaForQuestionAnswering` and its like).

LONGEST = 64
"""Tokens of the longest answer."""

_NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class _Found:
    """Of one window: its best span by the places of its first and last token, the span's logits, that of no answer."""

    first: int
    last: int
    logit: float
    strength: float
    none: float


class Reader:
    """A question-answering model behind the protocol: `extract`, one question, at most one span a text.

    The span whose first and last token have the greatest sum of logits, of at most `LONGEST` tokens, over all windows
    of the text, widened to whole words. There is none where the logits of no answer (at the token that stands for the
    whole text; the least over the windows) are greater, unless `no_answer=false`. The strength is the probability of
    its beginning times that of its end, each among the tokens of its window and no answer.

    Source: Devlin et al. 2019, section 4.3 (SQuAD 2.0), with the windows of their run_squad.py.
    """

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        needs_offsets(loaded.tokenizer, card.name)
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 2)
        self._question = prompts.text(settings.question)
        self._room = None
        if loaded.context is not None:
            self._room = loaded.context - self._frame.extra - len(self._question)
        self._none = loaded.tokenizer.cls_token_id if settings.no_answer else None

    def extract(self, requests: Sequence[Extract]) -> list[list[Evidence] | Refused]:
        """The passage of each text that answers the question, if any."""
        if self._room is not None and self._room < 1:
            return [Refused("the question leaves no room for a text: ask a shorter one")] * len(requests)
        texts = [read_tokens(self._prompts, request.text) for request in requests]
        asked = [
            (place, window.start, window.stop)
            for place, tokens in enumerate(texts)
            if word_places(tokens)
            for window in windows(len(tokens), self._room)
        ]
        framed: list[Framed] = [
            self._frame.ids(self._question, [token.id for token in texts[place][start:stop]])
            for place, start, stop in asked
        ]

        def read(out: Any, mask: torch.Tensor, indices: list[int]) -> list[torch.Tensor]:
            logits, kept = torch.stack([out.start_logits, out.end_logits], -1).double().cpu(), mask.bool().cpu()
            return [logits[row][kept[row]] for row in range(len(indices))]

        found: list[list[_Found]] = [[] for _ in texts]
        for (place, start, stop), (ids, _), logits in zip(asked, framed, self._encoder.run(framed, read), strict=True):
            if (best := self._best(texts[place][start:stop], ids, logits)) is not None:
                found[place].append(_moved(best, start))
        return [self._evidence(tokens, each) for tokens, each in zip(texts, found, strict=True)]

    def _best(self, tokens: Sequence[Token], ids: Sequence[int], logits: torch.Tensor) -> _Found | None:
        """Args: logits: (tokens, 2) of beginning and end, over question, text and what stands around them."""
        behind = len(self._frame.around[2])
        inner = logits[len(ids) - behind - len(tokens) : len(ids) - behind].clone()
        inner[torch.tensor([token.start == token.end for token in tokens])] = _NEVER
        starts, ends = inner[:, 0], inner[:, 1]
        best, first, last = _NEVER, 0, 0
        for more in range(min(LONGEST, len(tokens))):
            sums = starts[: len(tokens) - more] + ends[more:]
            place = int(sums.argmax())
            if float(sums[place]) > best:
                best, first, last = float(sums[place]), place, place + more
        if best == _NEVER:
            return None
        none = logits[ids.index(self._none)] if self._none in ids else torch.full((2,), _NEVER, dtype=logits.dtype)
        among = torch.cat([inner, none[None]]).softmax(0)
        return _Found(first, last, best, float(among[first, 0] * among[last, 1]), float(none.sum()))

    def _evidence(self, tokens: Sequence[Token], found: Sequence[_Found]) -> list[Evidence]:
        if not found:
            return []
        best = max(found, key=lambda each: each.logit)
        if min(each.none for each in found) >= best.logit:
            return []
        words = word_places(tokens)
        start = next(word[0] for word in words if best.first in word)
        end = next(word[-1] for word in words if best.last in word)
        return [Evidence(tokens[start].start, tokens[end].end, "", best.strength)]


def _moved(found: _Found, by: int) -> _Found:
    return _Found(found.first + by, found.last + by, found.logit, found.strength, found.none)
