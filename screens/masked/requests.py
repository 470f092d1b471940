"""What Masked asks for: a text with its words, and that a guess is kept or taken back."""

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from emotui.workbench.masked.looking import MaskedBench, MaskedView


class Looked(msgspec.Struct, frozen=True):
    """A text, and the run whose words are asked for."""

    sample: int
    run: str | None


def look(bench: "MaskedBench", asked: Looked, person: str) -> "MaskedView":
    """The text. Raises EmotuiError where it cannot be read."""
    return bench.look(asked.sample, asked.run, person)


class Guessed(msgspec.Struct, frozen=True):
    """A person's words for the masks of a text; None: the last ones are taken back."""

    sample: int
    words: tuple[str, ...] | None
    blind: bool

    def keep(self, bench: "MaskedBench", person: str) -> "MaskedView":
        """Keep them; the text as it is then, without a run."""
        if self.words is None:
            bench.take_back(self.sample, person)
        else:
            bench.guess(self.sample, person, self.words, blind=self.blind)
        return bench.look(self.sample, None, person)
