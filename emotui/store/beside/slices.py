"""Filters that are kept under a name."""

from typing import TYPE_CHECKING

from emotui.errors import BadInput
from emotui.store.rows import now

if TYPE_CHECKING:
    from emotui.store.access import Access


class SliceTable:
    """Filters of a dataset under a name. Every method is one short transaction; safe across threads."""

    def __init__(self, turns: "Access") -> None:
        self._turns = turns

    def all(self, dataset: int) -> list[tuple[str, str, str]]:
        """(name, conditions as text, when it was saved) of each, by name."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select name, conditions, made from slices where dataset = ? order by lower(name), name", [dataset]
            )
            return found.fetchall()

    def save(self, dataset: int, name: str, conditions: str) -> bool:
        """Keep a filter under a name, in place of one of that name; says whether there was one."""
        with self._turns.writing() as connection:
            gone = connection.execute(
                "delete from slices where dataset = ? and name = ? returning name", [dataset, name]
            ).fetchall()
            connection.execute("insert into slices values (?, ?, ?, ?)", [dataset, name, conditions, now()])
        return bool(gone)

    def remove(self, dataset: int, name: str) -> None:
        """Forget a filter. Raises BadInput where there is none of that name."""
        with self._turns.writing() as connection:
            gone = connection.execute(
                "delete from slices where dataset = ? and name = ? returning name", [dataset, name]
            ).fetchall()
            if not gone:
                raise BadInput(f"there is no slice {name!r}")
