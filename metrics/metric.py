"""What one figure of a sample is: its name, its range, and which end of it is better."""

import msgspec


class Metric(msgspec.Struct, frozen=True):
    """A figure that a task gives for each scored sample.

    Args:
        name: its key in the store and in commands, such as `f1`.
        range: lowest and highest value; None where there is no such limit.
        higher_is_better: whether a greater value means a better answer.
        help: what it measures, in one line.
        heading: its name over a column of numbers; the name itself where this is empty.
        yes_or_no: whether its only values are 0 and 1, which are shown as words.
        pooled: whether a source's figure of this name is over all its samples together (their spans, say), and no mean
            of what they score: comparisons, tests and parts go by that figure.
        directed: whether either end is better at all; where neither is, `higher_is_better` is but the order of lists.
    """

    name: str
    range: tuple[float | None, float | None]
    higher_is_better: bool
    help: str
    heading: str = ""
    yes_or_no: bool = False
    directed: bool = True
    pooled: bool = False

    @property
    def title(self) -> str:
        """What stands over its column."""
        return self.heading or self.name
