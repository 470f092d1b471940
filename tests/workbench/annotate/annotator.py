"""A person at a terminal, as a program: `annotator.py STORE DATASET NAME KEYSTROKES`.

Adds one span after the other to the first text, each with its own label-free place, and prints its id when it is kept.
"""

import sys

from emotui.store.store import Store
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import AddSpan


def main(path: str, dataset: str, name: str, keystrokes: int) -> None:
    work = Desk(Store.open(path, patience=60)).begin(dataset, name)
    first = work.order[0]
    length = len(work.text(first).text)
    places = [(start, end) for start in range(length) for end in range(start + 1, length + 1)]
    for start, end in places[:keystrokes]:
        span = SpanMark(id=f"{name}-{start}-{end}", start=start, end=end)
        work.do(first, AddSpan(span))
        print(span.id, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
