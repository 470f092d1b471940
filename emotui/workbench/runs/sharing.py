"""Which samples of a dataset share a passage, a post or an original, by a column of the data's own."""

from emotui.store.store import Store
from emotui.tasks.sharing import shared_column


def groups_of(store: Store, dataset: int) -> tuple[str, dict[int, int]] | None:
    """The column by which samples of a dataset go together, and by a sample's number that of its group.

    Returns:
        None where no two samples share anything.
    """
    column = shared_column(store.own_columns(dataset))
    if column is None:
        return None
    numbers, said = store.file_order(dataset), store.said_in(dataset, column)
    seen: dict[str, int] = {}
    groups = {
        number: seen.setdefault(word, number) if word else number for number, word in zip(numbers, said, strict=True)
    }
    return (column, groups) if len(set(groups.values())) < len(groups) else None
