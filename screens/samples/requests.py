"""What the list asks a source for: its order, pages of rows, where the errors are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from emotui.screens.samples.table import PAGE
from emotui.store.query import MARKS, ListQuery, ListRow

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.source import BrowseSource


WORST = -2
"""In place of a sample: the first of the list in which the run did something wrong, and not merely nothing."""

_SILENT = ("", "M")


class Order(msgspec.Struct, frozen=True):
    """A list as it was asked for: sample numbers in order, the cursor's place in it, and the rows of the page there."""

    query: ListQuery
    only: tuple[int, ...]
    numbers: "np.ndarray | range"
    cursor: int
    rows: Sequence[ListRow] = ()

    @property
    def page(self) -> int:
        """The page that the cursor is on."""
        return self.cursor // PAGE


def order(source: "BrowseSource", query: ListQuery, only: Sequence[int], sample: int | None) -> Order:
    """The list, of no other samples than `only` where there are any, with the cursor on `sample` if it is there.

    Where the list is in the order of the file, `only` stand in their own: those behind a figure worst first.
    """
    with source.together():
        numbers = source.order(query)
        if only:
            import numpy as np

            numbers, chosen = _array(numbers), np.array(only)
            in_order = query.sort == "file" and not query.descending
            numbers = chosen[np.isin(chosen, numbers)] if in_order else numbers[np.isin(numbers, chosen)]
        found = Order(query, tuple(only), numbers, 0 if sample is None else _place(numbers, sample))
        found = msgspec.structs.replace(found, rows=pages(source, found, [found.page])[found.page])
        return msgspec.structs.replace(found, cursor=telling(found.rows, query.sort)) if sample == WORST else found


def telling(rows: Sequence[ListRow], metric: str) -> int:
    """The first of these with an error that shows in the text, 0 where there is none.

    One that has a value of the metric above 0 comes first: there gold and predicted stand beside each other.
    """
    wrong = [place for place, row in enumerate(rows) if row.marks not in _SILENT]
    return next((place for place in wrong if rows[place].values.get(metric)), next(iter(wrong), 0))


def _place(numbers: "np.ndarray | range", sample: int) -> int:
    """Where a sample stands; 0 where it is not among them."""
    if isinstance(numbers, range):
        return numbers.index(sample) if sample in numbers else 0
    here = (numbers == sample).nonzero()[0].tolist()
    return here[0] if here else 0


def _array(numbers: "np.ndarray | range") -> "np.ndarray":
    import numpy as np

    return np.arange(numbers.start, numbers.stop) if isinstance(numbers, range) else numbers


def plain(numbers: "np.ndarray | range") -> list[int]:
    """As Python integers."""
    return list(numbers) if isinstance(numbers, range) else numbers.tolist()


def pages(source: "BrowseSource", asked: Order, wanted: Sequence[int]) -> dict[int, list[ListRow]]:
    """The rows of these pages."""
    return {
        page: source.page(plain(asked.numbers[page * PAGE : (page + 1) * PAGE]), asked.query.run) for page in wanted
    }


def errors(source: "BrowseSource", asked: Order, kind: str) -> list[int]:
    """The places in the list of samples with an error of a kind; an empty kind: of those that the list is kept to."""
    import numpy as np

    marks = kind or asked.query.marks or "".join(MARKS)
    wrong = source.order(replace(asked.query, marks=marks))
    return [int(place) for place in np.isin(_array(asked.numbers), _array(wrong)).nonzero()[0]]
