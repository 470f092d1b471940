"""Browse files as they are, without importing anything: a `BrowseSource` over records in memory."""

import contextlib
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from emotui.backends.host import Cancelled, ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.formats import fingerprint, read
from emotui.formats.reading import Warn, warn_skipped
from emotui.lexicons import empath_keywords
from emotui.metrics.metric import Metric
from emotui.metrics.span_report import report
from emotui.metrics.span_scoring import SampleDetail, score_pairs, score_samples
from emotui.records import Mark, SpanPrediction, SpanSample
from emotui.store.list_rows import felt
from emotui.store.query import MARKS, Bounds, Dataset, ListQuery, ListRow, Run
from emotui.tasks.registry import SPANS, task_named
from emotui.workbench.answers import own_columns_of, voices_in
from emotui.workbench.files.score import known
from emotui.workbench.runs.scores import Embedder
from emotui.workbench.source import Evidence, RepeatView, predicted_spans
from emotui.workbench.turns import Told, Turns, conversation_of, turns

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.answers import Voice
    from emotui.workbench.said import SampleSaid

PREVIEW = 160


_Answer = tuple[SampleDetail, SpanPrediction | None]
"""The score of a sample in a repeat, and the record that was scored; None where there is none."""


class FileView:
    """A gold file, and a run for each file of predictions.

    Sim is computed for the sample that is looked at, by the embedded model; until that is loaded, and where it cannot
    be had, samples are shown without. The marker changes when Sim is there.
    """

    models: None = None
    scenes: None = None
    rephrasing: None = None
    generation: None = None
    results: None = None
    comparing: None = None
    masked: None = None
    near: None = None
    notes: None = None
    drafts: None = None
    slicing: None = None
    removal: None = None
    layers: None = None
    pushes: None = None
    ask_sql: None = None
    spot_checks: None = None
    annotating: None = None
    importing: None = None
    sources: None = None
    write_rows: None = None

    def __init__(self, gold: str, predicted: Sequence[str] = (), *, skip_bad: bool = False, warn: Warn) -> None:
        """Read and score the files.

        Raises:
            BadInput: a file cannot be read, or a prediction is about no gold sample.
        """
        self.files = tuple(map(Path, (gold, *predicted)))
        golds = read(gold, SpanSample, skip_bad=skip_bad)
        warn_skipped(golds, warn)
        self._samples = golds.records
        self._conversations: dict[str, list[int]] | None = None
        self._dataset = Dataset(1, Path(gold).name, SPANS, len(golds.records), fingerprint(golds.records), gold)
        self._numbers = {sample.id: number for number, sample in enumerate(golds.records)}
        self._runs: dict[str, Run] = {}
        self._details: dict[str, list[SampleDetail]] = {}
        self._by_sample: dict[str, dict[int, list[_Answer]]] = {}
        for path in predicted:
            self._add_run(path, gold, skip_bad=skip_bad, warn=warn)
        self._embedded = ModelProcess("embedded")
        self._loading: threading.Thread | None = None
        self._similar = False
        self._settings: dict[str, object] = {}

    def close(self) -> None:
        """End the model that computes Sim."""
        self._embedded.close()

    def title(self) -> str:
        return self._dataset.name

    def together(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def datasets(self) -> list[Dataset]:
        return [self._dataset]

    def runs(self, dataset: int) -> list[Run]:
        return list(self._runs.values())

    def settled(self, dataset: int) -> frozenset[str]:
        return frozenset()

    def metrics(self, dataset: int, task: str | None = None) -> tuple[Metric, ...]:
        return task_named(SPANS).metrics

    def emotions(self, dataset: int) -> list[str]:
        return list(dict.fromkeys(emotion for sample in self._samples for emotion in _emotions(sample)))

    def filter_counts(self, dataset: int, run: str | None) -> Mapping[str, Mapping[str, int]]:
        from emotui.store.query import counted_marks

        counts = {
            "emotions": Counter(name for sample in self._samples for name in set(_emotions(sample))),
            "valences": Counter(name for sample in self._samples for name in set(_valences(sample))),
        }
        if run is None:
            return counts
        marks = counted_marks(self.marks(dataset, run))
        if not marks["L"] and not any(mark.label for sample in self._samples for mark in sample.spans or ()):
            del marks["L"]
        return counts | {"marks": marks}

    def order(self, query: ListQuery) -> "np.ndarray":
        import numpy as np

        rows = {number: self._row(number, query.run) for number in range(len(self._samples))}
        chosen = [number for number in rows if _matches(self._samples[number], rows[number], query)]
        if query.sort == "file":
            return np.array(chosen[:: -1 if query.descending else 1], dtype=np.int64)
        values = {number: _sort_value(self._samples[number], rows[number], query.sort) for number in chosen}
        known = [number for number in chosen if values[number] is not None]
        known.sort(key=lambda number: values[number], reverse=query.descending)  # type: ignore[arg-type, return-value]
        chosen = known + [number for number in chosen if values[number] is None]
        return np.array(chosen, dtype=np.int64)

    def marks(self, dataset: int, run: str) -> "np.ndarray":
        import numpy as np

        from emotui.store.query import marks_to_bits

        rows = (self._row(number, run) for number in range(len(self._samples)))
        return np.array([marks_to_bits(row.marks) if row.values else -1 for row in rows], dtype=np.int64)

    def page(self, numbers: Sequence[int], run: str | None) -> list[ListRow]:
        return [self._row(int(number), run) for number in numbers]

    def evidence(self, sample: int, run: str | None) -> Evidence:
        gold = self._samples[sample]
        answers = [] if run is None else self._by_sample[run].get(sample, [])
        if answers and self._has_sim():
            answers = self._with_sim(gold, answers)
        return Evidence(
            number=sample,
            sample=gold,
            run=None if run is None else self._runs[run],
            repeats=tuple(_repeat(gold, detail, said) for detail, said in answers),
            turns=self._turns(sample),
            meta=own_columns_of(SPANS, msgspec.to_builtins(gold)),
        )

    def voices(self, sample: int, runs: Sequence[str]) -> "tuple[Voice, ...]":
        """Gold and annotators: files of predictions are of spans, which stand in the text."""
        return voices_in(SPANS, self._samples[sample])

    def records(self, dataset: int, numbers: Sequence[int], run: str | None) -> Sequence[msgspec.Struct]:
        samples = [self._samples[int(number)] for number in numbers]
        if run is None:
            return samples
        said = self._by_sample[run]
        return [
            SpanPrediction(id=detail.id, spans=_spans(detail, record), repeat=detail.repeat)
            for number in numbers
            for detail, record in said.get(int(number), [])
        ]

    def _turns(self, sample: int) -> Turns:
        conversation = conversation_of(self._samples[sample].meta)
        if conversation is None:
            return Turns()
        if self._conversations is None:
            self._conversations = {}
            for number, one in enumerate(self._samples):
                if (named := conversation_of(one.meta)) is not None:
                    self._conversations.setdefault(str(named), []).append(number)
        told = [(number, self._samples[number]) for number in self._conversations[str(conversation)]]
        return turns(sample, [(number, Told(one.text, one.subject, one.meta)) for number, one in told])

    def said(self, dataset: int, sample: int, run: str | None) -> "SampleSaid":
        """Files are of spans, which have more to show than this."""
        raise BadInput("files are browsed as spans")

    def summary(self, run: str) -> dict[str, object]:
        return report(self._samples, self._details[run])

    def marker(self) -> object:
        return self._similar

    def setting(self, key: str, default: object = None) -> object:
        return self._settings.get(key, default)

    def set_setting(self, key: str, value: object) -> None:
        self._settings[key] = value

    def _add_run(self, path: str, gold: str, *, skip_bad: bool, warn: Warn) -> None:
        answers = read(path, SpanPrediction, skip_bad=skip_bad)
        warn_skipped(answers, warn)
        records = known(answers, set(self._numbers), path, gold, skip_bad=skip_bad, warn=warn)
        name = Path(path).name if path != "-" else "stdin"
        if name in self._runs:
            name = path
        details = score_samples(self._samples, records, None, empath_keywords())
        said = {(record.id, record.repeat): record for record in records}
        by_sample: dict[int, list[_Answer]] = {}
        for detail in details:
            by_sample.setdefault(self._numbers[detail.id], []).append((detail, said.get((detail.id, detail.repeat))))
        self._runs[name] = Run(
            run=name,
            task=SPANS,
            model=name,
            dataset=1,
            identity="",
            config={"file": path},
            state="done",
            started="",
            finished="",
            n=len(details),
            done=len(details),
            failed=0,
            error=None,
        )
        self._details[name], self._by_sample[name] = details, by_sample

    def _row(self, number: int, run: str | None) -> ListRow:
        sample = self._samples[number]
        answers = self._by_sample[run].get(number, []) if run is not None and sample.spans is not None else []
        details = [detail for detail, _ in answers]
        seen = {mark for detail in details for mark in detail.marks}
        return ListRow(
            sample=number,
            id=sample.id,
            preview=sample.text[:PREVIEW],
            emotion=sample.emotion or felt(sample.sentences, sample.spans or ()) or None,
            valence=sample.valence,
            values=_means([detail.values for detail in details]),
            marks="".join(mark for mark in MARKS if mark in seen),
        )

    def _has_sim(self) -> bool:
        """Whether Sim can be computed now; the first call begins to load the model behind the person's back."""
        if self._loading is None:
            self._loading = threading.Thread(target=self._load, daemon=True)
            self._loading.start()
        return self._similar

    def _load(self) -> None:
        with contextlib.suppress(ModelError, Cancelled):
            self._embedded.load()
            self._similar = True

    def _with_sim(self, gold: SpanSample, answers: list[_Answer]) -> list[_Answer]:
        """The same answers with Sim; without it where the model died."""
        predictions = [
            SpanPrediction(id=gold.id, spans=detail.predicted, repeat=detail.repeat) for detail, _ in answers
        ]
        embed = Embedder(self._embedded)
        try:
            scored = score_pairs([(gold, asked, asked.repeat) for asked in predictions], embed, empath_keywords())
        except (ModelError, Cancelled):
            self._similar = False
            return answers
        return [
            (detail if detail.void else replace(detail, sim=fresh.sim, pairs=fresh.pairs), said)
            for (detail, said), fresh in zip(answers, scored, strict=True)
        ]


def _spans(detail: SampleDetail, said: SpanPrediction | None) -> tuple[str | Mark, ...]:
    """What was predicted, with all that the record says of each span."""
    return detail.predicted if said is None or said.spans is None else said.spans


def _repeat(gold: SpanSample, detail: SampleDetail, said: SpanPrediction | None) -> RepeatView:
    return RepeatView(
        detail.repeat,
        detail if gold.spans is not None else None,
        predicted_spans(gold, _spans(detail, said), detail),
        raw=None if said is None else said.output,
    )


def _emotions(sample: SpanSample) -> list[str]:
    found = [sample.emotion, *(sentence.emotion for sentence in sample.sentences)]
    return [emotion for emotion in found if emotion]


def _valences(sample: SpanSample) -> list[str]:
    found = [sample.valence, *(sentence.valence for sentence in sample.sentences)]
    return [valence for valence in found if valence]


def _matches(sample: SpanSample, row: ListRow, query: ListQuery) -> bool:
    if query.text and query.text.lower() not in sample.text.lower():
        return False
    if query.emotions and not set(query.emotions) & set(_emotions(sample)):
        return False
    if query.valences and not set(query.valences) & set(_valences(sample)):
        return False
    if query.column is not None and _column(sample, query.column[0]).lower() != query.column[1].lower():
        return False
    if query.marks and not set(query.marks) & set(row.marks):
        return False
    return all(_within(row.values.get(bounds.metric), bounds) for bounds in query.bounds)


def _column(sample: SpanSample, name: str) -> str:
    said = sample.meta.get(name)
    return said if isinstance(said, str) else "" if said is None else msgspec.json.encode(said).decode()


def _within(value: float | None, bounds: Bounds) -> bool:
    return (
        value is not None
        and (bounds.low is None or value >= bounds.low)
        and (bounds.high is None or value <= bounds.high)
    )


def _means(values: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Each metric's mean over the repeats that have a value."""
    found: dict[str, float | None] = {}
    for name in dict.fromkeys(name for one in values for name in one):
        known = [value for one in values if (value := one.get(name)) is not None]
        found[name] = sum(known) / len(known) if known else None
    return found


def _sort_value(sample: SpanSample, row: ListRow, sort: str) -> float | str | None:
    """What a sample is sorted by. Ties stand in file order, and what has no value last, both ways."""
    match sort:
        case "id":
            return sample.id
        case "emotion":
            return sample.emotion
        case "length":
            return len(sample.text)
        case _:
            return row.values.get(sort)
