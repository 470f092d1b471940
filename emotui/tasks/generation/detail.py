"""What is kept of one answer and of its score, and by which rules it was scored."""

import msgspec

CONVENTION = "generation 2: EAnS over {embedder}, R1 of {r1}; EPS by {eps}; ! where a version is missing or refused"


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """Both versions of a text; empty where there is none.

    `refused`: steps in which the model refused. `human`, `human_neutral`: the labels of raters, where there are some.
    """

    neutral: str = ""
    emotional: str = ""
    refused: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether a version is missing, or a refusal stands in its place."""
        return bool(self.refused) or not (self.neutral and self.emotional)


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One scored answer. Lengths are (words, characters) of original, neutral and emotional text.

    `unchanged_neutral`, `unchanged_emotional`: the step changed no word. `leaks`: forms of the label's word in the
    emotional text that the original has not. `values`: by metric what is not None. `found`: by the SPEC of a classifier
    the emotion that it finds, empty where it finds none that is a target. `human`, `human_neutral`: as of `Prediction`.
    """

    id: str
    repeat: int
    target: str
    silent: bool = False
    refused: tuple[str, ...] = ()
    unchanged_neutral: bool = False
    unchanged_emotional: bool = False
    leaks: tuple[str, ...] = ()
    lengths: tuple[tuple[int, int], ...] = ()
    values: dict[str, float] = {}
    found: dict[str, str] = {}
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()
