"""From texts and messages to token ids, as the model's own tokeniser and template have it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from emotui.backends.base import Message
from emotui.backends.rendering import ChatTemplate, Piece, Specials, plain_prompt

_WORDS = re.compile(r"[\w\s]+")


class TracedPrompt(NamedTuple):
    """A prompt that is followed back to its words.

    `ids`: all its tokens; `pieces`: its text before it was tokenised; `before`, `behind`: tokens around that text.
    """

    ids: list[int]
    pieces: Sequence[Piece]
    before: int
    behind: int = 0


class Prompts:
    """A tokeniser that reads samples as characters. `template` is None for a model without one.

    Args:
        tokenizer: of transformers.
        thinking: whether a reasoning model thinks before it writes.
    """

    def __init__(self, tokenizer: Any, *, thinking: bool = False) -> None:
        self.tokenizer = tokenizer
        self.thinking = thinking
        self.specials = Specials(_control_tokens(tokenizer))
        empty = tokenizer("", add_special_tokens=True)["input_ids"]
        bos = tokenizer.bos_token_id
        self.begins = [bos] if bos is not None and empty[:1] == [bos] else []
        self.template: ChatTemplate | None = None
        if tokenizer.chat_template is not None:
            names = {name: str(token) for name, token in tokenizer.special_tokens_map.items() if isinstance(token, str)}
            self.template = ChatTemplate(tokenizer.get_chat_template(), names, self.specials)

    def text(self, text: str, mask: str = "") -> list[int]:
        """A text as it is, no control token in it or around it, but the model's mask token for each `mask`."""
        pieces = self.specials.pieces(text)
        if mask:
            own = str(self.tokenizer.mask_token)
            pieces = [piece if piece.literal else Piece(piece.text.replace(mask, own)) for piece in pieces]
        return self._ids(pieces)

    def start(self, text: str) -> list[int]:
        """A text that a model continues: behind the token that begins every text, where the model has one."""
        return [*self.begins, *self.text(text)]

    def chat(self, messages: Sequence[Message], opening: str = "", *, thinking: bool | None = None) -> list[int]:
        """The prompt of these messages. The token that begins every text stands once, from the template or from here.

        Raises:
            ModelError: the template refuses the messages.
        """
        ids = self._ids(self.pieces(messages, opening, thinking=thinking))
        return [*self.begins, *ids[self.extra_begins(ids) :]]

    def pieces(self, messages: Sequence[Message], opening: str = "", *, thinking: bool | None = None) -> list[Piece]:
        """The prompt of these messages before it is tokenised, as `chat` reads it."""
        if self.template is None:
            return self.specials.pieces(self.plain(messages) + (f" {opening}" if opening else ""))
        wanted = self.thinking if thinking is None else thinking
        return self.template.render(messages, opening=opening, thinking=wanted)

    def extra_begins(self, ids: Sequence[int]) -> int:
        """How many tokens that begin every text a template itself has put before these."""
        if self.template is None or not self.begins:
            return 0
        return next((place for place, number in enumerate(ids) if number != self.begins[0]), len(ids))

    def begins_before(self, pieces: Sequence[Piece]) -> int:
        """How many tokens that begin every text stand before a prompt that a template has not begun so itself."""
        return len(self.begins) - self.extra_begins(self._ids(pieces))

    def thinks_in(self, opening: str) -> bool:
        """Whether a turn that begins so has thoughts of the model's own, which are read as such."""
        return self.thinking and self.template is not None and self.template.holds_thought(opening)

    @property
    def ends_thought(self) -> str:
        """What ends the thoughts of a model that thinks before it writes; empty where it does not."""
        return self.template.ends_thought if self.thinking and self.template is not None else ""

    def plain(self, messages: Sequence[Message]) -> str:
        """The messages for a model without a chat template."""
        return plain_prompt(messages)

    def shown(self, ids: Sequence[int]) -> str:
        """Token ids as text, control tokens by their names."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def vocabulary(self) -> list[tuple[int, str]]:
        """Every token that is no control token, as it reads in a text: `Yes`, ` Yes`."""
        tokenizer = self.tokenizer
        strange = set(tokenizer.all_special_ids)
        return [(number, reads(token)) for token, number in tokenizer.get_vocab().items() if number not in strange]

    def _ids(self, pieces: Sequence[Piece]) -> list[int]:
        ids: list[int] = []
        for piece in pieces:
            ids += self._literal(piece.text) if piece.literal else self._tokens(piece.text)
        return ids

    def _tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _literal(self, text: str) -> list[int]:
        """The characters of a control token's name."""
        bare = getattr(self.tokenizer, "backend_tokenizer", None)
        if bare is None:
            return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))
        if bare.normalizer is not None:
            text = bare.normalizer.normalize_str(text)
        parts = [text]
        if bare.pre_tokenizer is not None:
            parts = [part for part, _ in bare.pre_tokenizer.pre_tokenize_str(text)]
        return [token.id for part in parts for token in bare.model.tokenize(part)]


@dataclass(frozen=True, slots=True)
class Frame:
    """What an encoder's tokeniser puts before, between and after one text or two, and the type of each part."""

    around: tuple[tuple[int, ...], ...]
    types: tuple[tuple[int, ...], ...]
    inner: tuple[int, ...]

    @property
    def extra(self) -> int:
        """Tokens that are not the texts'."""
        return sum(map(len, self.around))

    def ids(self, *texts: Sequence[int]) -> tuple[list[int], list[int]]:
        """Token ids and token types of the framed texts."""
        ids, types = list(self.around[0]), list(self.types[0])
        for place, text in enumerate(texts):
            ids += [*text, *self.around[place + 1]]
            types += [*([self.inner[place]] * len(text)), *self.types[place + 1]]
        return ids, types


def frame(tokenizer: Any, count: int) -> Frame:
    """Read off a probe of one or two letters what the tokeniser adds."""
    letters = ("a", "b")[:count]
    whole = tokenizer(*letters, add_special_tokens=True, return_token_type_ids=True)
    ids, kinds = list(whole["input_ids"]), list(whole.get("token_type_ids") or [0] * len(whole["input_ids"]))
    around: list[tuple[int, ...]] = []
    types: list[tuple[int, ...]] = []
    inner: list[int] = []
    end = 0
    for letter in letters:
        probe = list(tokenizer(letter, add_special_tokens=False)["input_ids"])
        start = next(place for place in range(end, len(ids)) if ids[place : place + len(probe)] == probe)
        around.append(tuple(ids[end:start]))
        types.append(tuple(kinds[end:start]))
        inner.append(kinds[start])
        end = start + len(probe)
    return Frame((*around, tuple(ids[end:])), (*types, tuple(kinds[end:])), tuple(inner))


def reads(token: str) -> str:
    """How a token of a byte-level or SentencePiece vocabulary reads, as far as spaces go."""
    return token.replace("Ġ", " ").replace("▁", " ")


def _control_tokens(tokenizer: Any) -> list[str]:
    """Special tokens, and added ones that are no words (`<think>` is often not marked as special)."""
    added = tokenizer.added_tokens_decoder.values()
    return [token.content for token in added if token.special or not _WORDS.fullmatch(token.content)]
