"""What many texts cost, step by step, from what some of them cost here."""

import itertools
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from emotui.backends.base import METHODS, Embed, Generation, ModelCard, Request, Score
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.backends.spec import parse_spec
from emotui.errors import BadInput, EmotuiError, ModelError
from emotui.records import Text
from emotui.store.store import Store
from emotui.tasks.registry import task_named, with_labels
from emotui.workbench.files.predict import Asker
from emotui.workbench.files.texts import Texts, line_of
from emotui.workbench.models.benchmark import SENTENCES
from emotui.workbench.progress import RunOptions
from emotui.workbench.runs.run import run_task
from emotui.workbench.shards.merge import Question, merge, write_requests
from emotui.workbench.shards.shard import Shard

ENOUGH = 4096
"""Texts from which on what a store and a merge take is told: a store grows by blocks of 256 KiB."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a step of many texts takes: `value` of `unit` in all, `each` of a text; None where it is not known.

    `source`: `measured` here and now, `bench` (a file that `emotui bench --json` wrote), `given` by the person, or
    `unknown`. `how`: of what it was measured, or why it is not known.
    """

    step: str
    name: str
    unit: str
    each: float | None
    value: float | None
    source: str
    how: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked of how many texts. `sample`: some of them; `own`: made by emotui, one much like the other.

    `labels`: to choose among. `bench`: the document of `emotui bench --json`; `rate`: texts a second of one copy of the
    model, which goes before it. `copies`: of the model, at work side by side. `answers`: bytes of an engine's answer.
    """

    texts: float
    task: str
    spec: str
    sample: Sequence[Text]
    own: bool = False
    way: str | None = None
    labels: Sequence[str] | None = None
    bench: Mapping[str, Any] | None = None
    rate: float | None = None
    copies: int = 1
    answers: float | None = None


def scale(plan: Plan, progress: Callable[[str], None] = lambda line: None) -> list[Cost]:
    """What each step takes: the files of texts, of requests and of answers, the model, the store, the merge.

    The sample goes through all of it. Everything is taken to grow as the number of texts does.

    Raises:
        BadInput, ModelError: as `predict` would.
    """
    costs: list[Cost] = []
    n = len(plan.sample)

    def told(step: str, name: str, unit: str, each: float | None, source: str, how: str) -> None:
        shared = plan.copies if step == "model" and unit == "seconds" else 1
        value = None if each is None else each * plan.texts / shared
        costs.append(Cost(step, name, unit, each, value, source if each is not None else "unknown", how))

    with tempfile.TemporaryDirectory() as folder, closing(Counted(plan.spec)) as model:
        place = Path(folder)
        progress("texts")
        (place / "texts.jsonl").write_bytes(b"".join(line_of(text) + b"\n" for text in plan.sample))
        for name, size in _sizes(place / "texts.jsonl"):
            told("texts", name, "bytes", *_packed(plan, name, size))
        progress("requests")
        requests, why = _requests(plan, place / "requests.jsonl")
        told("requests", "requests", "requests", requests, "measured", why or "as emotui batch write")
        if requests:
            for name, size in _sizes(place / "requests.jsonl", _REQUEST):
                told("requests", name, "bytes", *_packed(plan, name, size * requests))
        if plan.answers is not None and requests:
            told("requests", "their answers", "bytes", plan.answers * requests, "given", "the mean line of --answers")
        if parse_spec(plan.spec)[0] == "batch" and "@" not in plan.spec:
            asking = None
        else:
            progress(f"asking about {n:,} texts")
            asking = _asked(plan, model, place / "answers.jsonl")
        for kind, count in sorted(model.asked.items()):
            told("model", kind, kind, count / n, "measured", "")
        told("model", "time", "seconds", *_seconds(plan, model.asked, asking))
        for name, size in _sizes(place / "answers.jsonl") if asking else ():
            told("answers", name, "bytes", size, "measured", "as emotui predict")
        progress("store and merge")
        kept, why = _kept(plan, model, place) if asking else (None, "nobody answers here")
        for step, name, unit, of in _KEPT:
            told(step, name, unit, None if kept is None else of(kept) / n, "measured", why)
    return costs


def few_texts(records: str | None, most: int) -> list[Text]:
    """The first texts of a file, or some of emotui's own, of two sentences. Raises: BadInput, as `Texts`."""
    if records is None:
        pairs = ((SENTENCES[number % len(SENTENCES)], SENTENCES[-1 - number % 5]) for number in range(most))
        return [Text(id=f"t{number}", text=f"Note {number}. {' '.join(pair)}") for number, pair in enumerate(pairs)]
    with closing(Texts(records, part=lambda n: range(min(n, most)))) as texts:
        return [text for _, text in texts]


class Counted(ModelProcess):
    """A model that counts what it is asked, and is not asked the same twice.

    `asked`: `questions` scored, `tokens read` and `tokens written` of what is generated, other requests by their kind.
    """

    def __init__(self, spec: str) -> None:
        super().__init__(spec)
        self.asked: Counter[str] = Counter()
        self.began = self.ended = 0.0
        self._said: dict[bytes, Any] = {}
        self._counting = threading.Lock()

    def ask(self, requests: Sequence[Request], *, cancelled: IsCancelled | None = None) -> Any:
        """As of any model."""
        keys = [type(request).__name__.encode() + msgspec.json.encode(request) for request in requests]
        if all(key in self._said for key in keys):
            return [self._said[key] for key in keys]
        began = time.monotonic()
        answers = super().ask(requests, cancelled=cancelled)
        with self._counting:
            self.began, self.ended = self.began or began, time.monotonic()
            for key, request, answer in zip(keys, requests, answers, strict=True):
                if isinstance(request, Score):
                    self.asked["questions"] += len(request.questions)
                elif isinstance(answer, Generation):
                    self.asked["tokens read"] += answer.prompt_tokens
                    self.asked["tokens written"] += answer.tokens
                else:
                    self.asked[METHODS[type(request)].replace("_", " ")] += 1
                if not isinstance(request, Embed):  # whose answers are one array
                    self._said[key] = answer
        return answers


def _asked(plan: Plan, model: Counted, to: Path) -> float:
    """Ask about the sample as `emotui predict` does, and write its file. Returns: the seconds of asking."""
    told: list[str] = []
    asker = Asker(plan.task, plan.spec, labels=plan.labels, way=plan.way, warn=told.append, model=model)
    answers = asker.answers([msgspec.to_builtins(text) for text in plan.sample])
    to.write_bytes(b"".join(line_of(one.record) + b"\n" for one in answers))
    return model.ended - model.began


@dataclass(frozen=True, slots=True)
class _Kept:
    """What keeping the answers took: seconds of bringing texts in and of merging two shards, bytes of these."""

    bringing: float
    merging: float
    stored: int


_KEPT: tuple[tuple[str, str, str, Callable[[_Kept], float]], ...] = (
    ("store", "texts and a run", "bytes", lambda kept: kept.stored),
    ("store", "bringing in", "seconds", lambda kept: kept.bringing),
    ("merge", "time", "seconds", lambda kept: kept.merging),
)


def _kept(plan: Plan, model: Counted, place: Path) -> tuple[_Kept | None, str]:
    """Keep the sample as two shards in two stores and merge these; or why that tells nothing."""
    if len(plan.sample) < ENOUGH:
        return None, f"the sample is too small to tell: --sample {ENOUGH} at least"
    task = task_named(plan.task)
    options = {} if plan.labels is None else {"labels": list(plan.labels)}
    blank = [task.blank(text, plan.labels or ()) for text in plan.sample]
    stores, bringing = [], 0.0
    try:
        for number in (1, 2):
            store = Store.open(place / f"{number}.duckdb")
            stores.append(store)
            began = time.monotonic()
            dataset = store.datasets.add("sample", task.name, map(task.row, blank), "sample", "sample")
            bringing += (time.monotonic() - began) / 2
            run_task(store, model, dataset, RunOptions(shard=Shard(number, 2), way=plan.way, options=options))
        whole = Store.open(place / "whole.duckdb")
        empty, began = whole.path.stat().st_size, time.monotonic()
        merge(whole, stores)
        merging = time.monotonic() - began
    except EmotuiError as error:
        why = next(iter(error.problems if isinstance(error, BadInput) else (str(error),)))
        return None, f"texts of which nothing is known cannot be kept so: {why}"
    return _Kept(bringing, merging, whole.path.stat().st_size - empty), ""


_REQUEST = "{custom_id: 'VARCHAR', method: 'VARCHAR', url: 'VARCHAR', body: 'VARCHAR'}"
"""The columns of a file of requests."""

_BENCHED = {"tokens read": "tokens in", "tokens written": "tokens out", "questions": "score"}
"""What `bench` calls the rates of what is counted; others by their own name."""


def _requests(plan: Plan, to: Path) -> tuple[float | None, str]:
    """How many requests a text is, which are written to a file; or why there are none."""
    kind, argument = parse_spec(plan.spec)
    if kind == "embedded":
        return None, "embedded answers on this machine: no files of requests"
    task = task_named(plan.task)
    name = argument.partition("@")[0].partition("#")[0]

    def settled(card: ModelCard, way: str) -> Mapping[str, object]:
        return with_labels(task, card, way, {}, plan.labels)

    def samples() -> Iterator[Any]:
        return (task.blank(text, plan.labels or ()) for text in plan.sample)

    try:
        written = write_requests(samples, name, Question(task, plan.way, 1, 0, settled, samples), to)
    except (BadInput, ModelError) as error:
        return None, f"no other engine can be asked so: {error}"
    return written.requests / len(plan.sample), ""


def _packed(plan: Plan, name: str, each: float) -> tuple[float | None, str, str]:
    """A size of texts: packed, such that are much like each other tell nothing of anybody's."""
    if plan.own and name == "Parquet":
        return None, "unknown", "emotui's own texts are too much alike: name some of yours (--records)"
    return each, "measured", ""


def _sizes(lines: Path, columns: str | None = None) -> list[tuple[str, float]]:
    """Bytes a line of a file of JSON Lines, as it is and as Parquet (zstd), there without what a file begins with."""
    with lines.open("rb") as file:
        ends = list(itertools.accumulate(map(len, file)))
    n, half = len(ends), len(ends) // 2
    sizes = []
    for few in (half, n):
        part, to = lines.with_suffix(".part"), lines.with_suffix(".parquet")
        part.write_bytes(lines.read_bytes()[: ends[few - 1]] if few else b"{}\n")
        with duckdb.connect() as connection:
            how = "format = 'newline_delimited'" + (f", columns = {columns}" if columns else "")
            source, target = (str(path).replace("'", "''") for path in (part, to))
            connection.execute(f"copy (from read_json('{source}', {how})) to '{target}' (compression zstd)")
        sizes.append(to.stat().st_size)
    found = [("JSON Lines", ends[-1] / n)]
    return found if half == 0 else [*found, ("Parquet", (sizes[1] - sizes[0]) / (n - half))]


def _seconds(plan: Plan, asked: Mapping[str, int], asking: float | None) -> tuple[float | None, str, str]:
    """Seconds of one copy of the model a text, from where they are known, and how."""
    beside = "" if plan.copies == 1 else "; copies that do not hold each other up"
    if plan.rate is not None:
        return 1 / plan.rate, "given", f"{plan.rate:g} texts a second{beside}"
    if asking is None:
        return None, "unknown", "nobody answers here: say how fast it is (--rate)"
    if plan.bench is None:
        rate = len(plan.sample) / asking
        return 1 / rate, "measured", f"{rate:,.1f} texts a second, of one process{beside}"
    rates, total, told = plan.bench["rates"], 0.0, []
    for kind, count in sorted(asked.items()):
        name = _BENCHED.get(kind, kind)
        if name not in rates:
            return None, "unknown", f"the --bench has no rate of {name!r} (there: {', '.join(rates) or 'none'})"
        total += count / len(plan.sample) / rates[name]["per_second"]
        told.append(f"{rates[name]['per_second']:,.1f} {rates[name]['unit']} a second ({name})")
    return total, "bench", f"{', '.join(told)}{beside}"
