"""From requests to token ids: the model's own chat template where it has one, plain text where not."""

from collections.abc import Sequence

from emotui.backends.base import Message, Rank, Score
from emotui.backends.gguf.header import Header
from emotui.backends.gguf.vocabulary import Vocabulary
from emotui.backends.rendering import ChatTemplate, Piece, Specials, plain_prompt, with_question
from emotui.errors import ModelError


class Prompts:
    """How prompts for one model are written.

    Raises:
        ModelError: the file's chat template cannot be read.
    """

    def __init__(self, header: Header, vocabulary: Vocabulary, *, thinking: bool) -> None:
        self._vocabulary = vocabulary
        source = header.metadata.get("tokenizer.chat_template")
        self._specials = Specials(vocabulary.control_names())
        names = {"bos_token": vocabulary.name(vocabulary.bos), "eos_token": vocabulary.name(vocabulary.eos)}
        self.template = ChatTemplate(source, names, self._specials) if isinstance(source, str) and source else None
        self._thinking = thinking
        self.ends_thought = self.template.ends_thought if thinking and self.template is not None else ""
        """What ends the thoughts of a model that thinks before it writes; empty where it does not."""
        if thinking and (self.template is None or self.template.thinking == "none"):
            raise ModelError("This model has no thinking mode that its chat template could turn on: set thinking=off")

    def ids(self, messages: Sequence[Message], opening: str = "", *, thinking: bool = False) -> list[int]:
        """The prompt up to where the model writes on.

        Raises:
            ModelError: the template refuses these messages.
        """
        if self.template is None:
            return self.plain(plain_prompt(messages) + (f" {opening}" if opening else ""))
        pieces = self.template.render(messages, opening=opening, thinking=thinking)
        return self._vocabulary.with_bos(self._vocabulary.encode_pieces(pieces))

    def to_write(self, messages: Sequence[Message], opening: str) -> list[int]:
        """The prompt of a generation, with thinking as the options have it."""
        return self.ids(messages, opening, thinking=self._thinking)

    def plain(self, text: str) -> list[int]:
        """A text without a frame, which holds no control tokens whatever it looks like."""
        return self._vocabulary.with_bos(self._vocabulary.encode_pieces(self._specials.pieces(text)))

    def questions(self, request: Score) -> list[list[int]]:
        """The whole prompt of each question."""
        if request.messages:
            asked = [with_question(request.messages, question) for question in request.questions]
        else:
            asked = [(Message("user", f"{request.text}\n\n{question}"),) for question in request.questions]
        thought = bool(self.ends_thought) and self.template is not None and self.template.holds_thought(request.opening)
        return [self.ids(messages, request.opening, thinking=thought) for messages in asked]

    def ranking(self, request: Rank) -> tuple[list[int], list[list[int]]]:
        """The shared prefix (one token or more) and each continuation."""
        prefix = self.ids(request.messages, request.prefix) if request.messages else self.plain(request.prefix)
        if not prefix:
            start = self._vocabulary.bos if self._vocabulary.bos >= 0 else self._vocabulary.eos
            if start < 0:
                raise ModelError("The prefix is empty, and this model has no token to begin with")
            prefix = [start]
        return prefix, [self._continuation(text) for text in request.continuations]

    def _continuation(self, text: str) -> list[int]:
        first, *rest = self._specials.pieces(text) or [Piece("")]
        begun = self._vocabulary.encode_pieces([first]) if first.literal else self._vocabulary.encode_inside(first.text)
        return [*begun, *self._vocabulary.encode_pieces(rest)]
