"""What a long annotation log costs to open, and a keystroke in it to keep.

    python benchmarks/annotation.py [--events N] [--texts N]

Everything lies in a temporary folder. The baseline of opening is reading the entries as tuples; that of a keystroke is
an entry written without any service. Of each the median of five.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from emotui.records import SpanSample
from emotui.store.store import Store
from emotui.workbench.annotate.answers import SpanMark, new_id
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import AddSpan, RemoveSpan
from emotui.workbench.datasets.samples import add_samples

TIMES = 5
TEXT = "The bus let me off at the corner a little before six, and nobody had noticed that I was gone. " * 6


def filled(path: Path, texts: int, events: int) -> Store:
    """A store with texts, and a log of one annotator: three spans added for one accepted answer, again and again."""
    store = Store.open(path)
    samples = [SpanSample(id=f"t-{n}", text=f"{n} {TEXT}") for n in range(texts)]
    dataset = add_samples(store, "spans", "texts", samples, "made for a benchmark")
    first = store.samples.file_order(dataset.dataset)[0]
    with store._turns.writing() as connection:
        connection.execute(
            "insert into annotations select nextval('annotation_ids'),"
            " case when i % 4 = 3 then 'annotate:accept' else 'annotate:add-span' end,"
            " ? + (i // 4) % ?, 'ann',"
            ' case when i % 4 = 3 then \'{"event":{"type":"accept"},"seconds":9.5}\' else'
            ' format(\'{{"event":{{"type":"add-span","span":{{"id":"{:08x}","start":{},"end":{},'
            '"label":"sad"}}}},"seconds":4.25}}\', i, i % 400, i % 400 + 30) end,'
            " null, '2026-01-01T00:00:00.000+00:00' from range(?) t(i)",
            [first, texts, events],
        )
    return store


def seconds(call: Callable[[], object]) -> float:
    """The median of several calls."""
    taken = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("--events", type=int, default=100_000)
    options.add_argument("--texts", type=int, default=5_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="emotui-annotation-") as folder:
        store = filled(Path(folder) / "w.duckdb", given.texts, given.events)
        desk = Desk(store)
        plain = seconds(lambda: _tuples(store))
        opened = seconds(lambda: desk.begin("texts", "ann"))
        work = desk.begin("texts", "ann")
        print(f"{given.events:,} events over {given.texts:,} texts")
        print(f"  read as tuples      {plain:7.3f} s")
        print(f"  open                {opened:7.3f} s   {opened / plain:.1f} times that")
        print(f"  progress            {seconds(work.progress):7.3f} s")
        print(f"  next open text      {seconds(work.next_open):7.3f} s")
        bare = seconds(lambda: store.annotations.append("other", 1, "nobody", b"{}"))
        sample = work.order[0]
        span = SpanMark(id=new_id(), start=1, end=3)
        work.do(sample, AddSpan(span))

        def keystroke() -> None:
            work.do(sample, RemoveSpan(span.id), AddSpan(span))

        kept = seconds(keystroke)
        undone = seconds(lambda: (work.undo(), work.redo()))
        print(f"  an entry            {bare * 1000:7.1f} ms")
        print(f"  two events, kept    {kept * 1000:7.1f} ms   {kept / bare:.1f} times that")
        print(f"  undo and redo       {undone * 1000:7.1f} ms   {undone / bare:.1f} times that")


def _tuples(store: Store) -> object:
    with store._turns.reading() as connection:
        return connection.execute("select * from annotations where annotator = 'ann'").fetchall()


if __name__ == "__main__":
    main()
