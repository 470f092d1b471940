"""What the panes of Rephrase are drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emotui.metrics.lexical import Lexical
    from emotui.metrics.rephrasings import Change
    from emotui.workbench.rephrase.views import CarryingWords, ChainView, Live, Progress, Round


@dataclass(slots=True)
class ChainState:
    """All that the panes are drawn from; what has not come yet is None."""

    round: "Round | None" = None
    chain: "ChainView | None" = None
    progress: "Progress | None" = None
    live: "Live | None" = None
    words: "CarryingWords | None" = None
    before: "Lexical | None" = None
    now: "Lexical | None" = None
    warnings: tuple[str, ...] = ()
    nearness: tuple[float | None, bool] = (None, False)
    """The similarity to the original, and whether it is that of the text as it is now."""
    difference: "Sequence[Change]" = ()
    suggested: bool = False
    last: str = ""
    trouble: str = ""
    hint: str = ""
