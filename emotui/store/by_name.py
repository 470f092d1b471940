"""Other names for data sets and runs, and the trash that both can be brought back from.

Nothing is erased: what is in the trash keeps its numbers, and is left out wherever data sets and runs are listed.
"""

from typing import TYPE_CHECKING

from emotui.controls import as_unicode
from emotui.errors import BadInput
from emotui.store import access, datasets, runs
from emotui.store.query import Dataset, Run
from emotui.store.rows import now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class ByName:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def get(self, name: str) -> Dataset | Run:
        """The data set of that name, else the run of that id or beginning of it. Raises BadInput."""
        with self._turns.reading() as connection:
            return _named(connection, as_unicode(name))

    def rename(self, old: str, new: str) -> Dataset | Run:
        """Give a data set or run another name; what it was before. Raises BadInput: there is none, or it is taken."""
        old, new = as_unicode(old), as_unicode(new)
        with self._turns.writing() as connection:
            found = _named(connection, old)
            if not new.strip():
                raise BadInput("the new name is blank")
            if isinstance(found, Dataset):
                if datasets.find(connection, new) is not None:
                    raise BadInput(f"there is a dataset {new!r} already: choose another name")
                connection.execute("update datasets set name = ? where dataset = ?", [new, found.dataset])
                return found
            if new in runs.taken(connection):
                raise BadInput(f"there is a run {new!r} already, perhaps in the trash: choose another name")
            own = found.source != "model" and found.model == found.run
            connection.execute(
                "update runs set run = ?, model = ? where run = ?", [new, new if own else found.model, found.run]
            )
            return found

    def delete(self, name: str) -> Dataset | Run:
        """Put a data set, with its runs, or a run into the trash; what it was. Raises BadInput."""
        with self._turns.writing() as connection:
            found = _named(connection, as_unicode(name))
            if isinstance(found, Dataset):
                connection.execute("update datasets set deleted = ? where dataset = ?", [now(), found.dataset])
            else:
                connection.execute("update runs set deleted = ? where run = ?", [now(), found.run])
            return found

    def restore(self, name: str) -> Dataset | Run:
        """Bring back what was last put into the trash under this name.

        Raises:
            BadInput: there is nothing of that name in it, a data set of this name has come meanwhile, or a run's data
                set is in the trash.
        """
        with self._turns.writing() as connection:
            thrown = [one for one in datasets.listed(connection, trash=True) if one.name == name]
            if thrown:
                dataset = max(thrown, key=lambda one: one.deleted or "")
                if datasets.find(connection, name) is not None:
                    raise BadInput(f"there is another dataset {name!r} now: rename that one first")
                connection.execute("update datasets set deleted = null where dataset = ?", [dataset.dataset])
                return dataset
            begun = [one for one in runs.listed(connection, trash=True) if one.run.startswith(name)]
            exact = [one for one in begun if one.run == name]
            if not exact and len(begun) != 1:
                what = f"{name!r} begins the ids of {len(begun)} runs" if begun else f"there is no {name!r}"
                raise BadInput(f"{what} in the trash (see: emotui datasets --trash)")
            run = (exact or begun)[0]
            over = datasets.find(connection, run.dataset)
            if over is not None and over.deleted is not None:
                trashed = f"the dataset {over.name!r}, which is in the trash"
                raise BadInput(f"run {run.run} is over {trashed}: restore that first")
            connection.execute("update runs set deleted = null where run = ?", [run.run])
            return run


def _named(connection: "DuckDBPyConnection", name: str) -> Dataset | Run:
    """The data set of that name, else the run of that id or beginning of it. Raises BadInput."""
    found = datasets.find(connection, name)
    if found is not None:
        return found
    if not any(run.startswith(name) for run in runs.taken(connection)):
        raise BadInput(f"there is no dataset and no run {name!r} (see: emotui datasets, emotui runs)")
    return runs.one(connection, name)
