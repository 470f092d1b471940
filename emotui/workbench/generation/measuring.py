"""Asking further models about the texts of runs, and keeping what they say, so that every score has it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import msgspec

from emotui.backends.host import ModelProcess
from emotui.backends.relabelled import read_label_map
from emotui.errors import BadInput
from emotui.metrics.eans import EANS
from emotui.records import Generation
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.generation import whole
from emotui.tasks.generation.measuring import eas_by_model, embedder_of, eps_by_nli, perplexities, stride_note
from emotui.tasks.generation.options import EMBEDDED, ScoreSettings, eans_of, score_settings
from emotui.tasks.generation.recognising import recognise
from emotui.tasks.generation.whole import Kept, Measure, Value, mark, measures_of
from emotui.workbench.datasets.label_maps import change_measured
from emotui.workbench.datasets.label_maps import measured as kept_of
from emotui.workbench.runs.export_rows import run_records
from emotui.workbench.runs.run import rescore
from emotui.workbench.texts import run_dataset

TASK = "generation"
VERSIONS = ("original", "neutral", "emotional")

OnMeasure = Callable[[str, str], None]
"""Told of each measure before it begins: its name, and the model."""


def measure(
    store: Store, name: str, given: Mapping[str, Any], on_measure: OnMeasure = lambda measure, spec: None
) -> dict[str, Any]:
    """Ask the models that are given about every text of a dataset's runs, or of one run, and score these again.

    What the same model said of a text before is not asked again.

    Args:
        name: a dataset, or the beginning of a run's id.
        given: values of the options of `emotui score generation`; a model that is not given is not asked.

    Returns:
        `dataset`, `runs` (ids), `measured` by name `{spec, texts, asked, without}`, `notes`. `asked`: about how many
        texts now; `without`: how many it said nothing of.

    Raises:
        BadInput: there is no such dataset or run, it has no versions of texts, no model is given, or a target that a
            classifier does not know.
        ModelError: a model cannot be loaded, or cannot do its part.
    """
    dataset, runs = _named(store, name)
    settings = score_settings({name: value for name, value in given.items() if value is not None})
    asked = tuple(given.get("classifier") or ())
    if not (asked or settings.nli or settings.eas_model or settings.ppl_model or given.get("embedder")):
        raise BadInput(
            "say what to measure: --classifier, --nli, --eas-model, --ppl-model or --embedder SPEC (docs/generation.md)"
        )
    records = [one for run in runs for one in run_records(store, run) if isinstance(one, Generation) and not one.failed]
    if not records:
        raise BadInput(
            f"{dataset.name} has no versions of its texts yet: emotui run generation --dataset {dataset.name}"
        )
    before, embedder = measures_of(kept_of(store, dataset)), str(given["embedder"]) if given.get("embedder") else None
    with ExitStack() as stack:
        found = _Measuring(stack, records, before, settings, on_measure).every(asked, embedder)
    said = {key: one for key, (one, _) in found.items()}
    change_measured(store, dataset, lambda kept: msgspec.to_builtins({**measures_of(kept), **said}))
    for run in runs:
        rescore(store, run.run)
    return {
        "dataset": dataset.name,
        "runs": [run.run for run in runs],
        "measured": {
            key: {"spec": one.spec, "texts": len(one.of), "asked": n, "without": _without(one)}
            for key, (one, n) in found.items()
        },
        "notes": {key: one.note for key, (one, _) in found.items() if one.note},
    }


def measure_fluency(store: Store, run: Run, spec: str, stride: int | None) -> dict[str, Any]:
    """As `measure`, perplexity alone: the model, and the stride in words and in tokens of these texts."""
    given = {"ppl_model": spec} | ({} if stride is None else {"stride": stride})
    measure(store, run.run, given)
    dataset = run_dataset(store, run)
    kept = {} if dataset is None else measures_of(kept_of(store, dataset))
    one = kept[whole.PPL]
    return {"ppl_model": spec, "ppl_stride": one.stride, "ppl_stride_tokens": one.stride_tokens}


def _named(store: Store, name: str) -> tuple[Dataset, list[Run]]:
    dataset = store.datasets.get(name)
    if dataset is None:
        run = store.runs.get(name)
        dataset = run_dataset(store, run)
        if dataset is None:
            raise BadInput(f"run {run.run} has lost its dataset")
        runs = [run]
    else:
        runs = [run for run in store.runs.all(dataset.dataset) if run.task == TASK]
        dataset = dataset.read_as(TASK) if runs else dataset
    if dataset.task != TASK:
        raise BadInput(f"{name} has no run of {TASK}: what is measured are the versions of texts that one writes")
    return dataset, runs


def _without(one: Measure) -> int:
    return sum(value is None for value in one.of.values())


class _Measuring:
    """The records of some runs, and what is known of them already."""

    def __init__(
        self,
        stack: ExitStack,
        records: Sequence[Generation],
        before: Kept,
        settings: ScoreSettings,
        on_measure: OnMeasure,
    ) -> None:
        self._stack, self._models = stack, dict[str, ModelProcess]()
        self._records, self._before, self._settings, self._on_measure = records, before, settings, on_measure

    def every(self, classifiers: Sequence[str], embedder: str | None) -> dict[str, tuple[Measure, int]]:
        """What each model says, with how many texts it was asked about now."""
        own = self._settings
        found: dict[str, tuple[Measure, int]] = {}
        mapping = read_label_map(own.map_labels) if own.map_labels else {}
        for spec in classifiers:
            if spec != EMBEDDED or mapping:  # by its own names every score has it
                found[f"ers:{spec}"] = self._recognised(spec, mapping)
        if own.nli is not None:
            found[whole.EPS] = self._emotional(whole.EPS, own.nli, eps_by_nli)
        if own.eas_model is not None:
            found[whole.EAS] = self._emotional(whole.EAS, own.eas_model, eas_by_model)
        if embedder is not None:
            found[whole.EANS] = self._relations(embedder)
        if own.ppl_model is not None:
            found[whole.PPL] = self._fluency(own.ppl_model)
        return found

    def _model(self, name: str, spec: str) -> ModelProcess:
        self._on_measure(name, spec)
        if spec not in self._models:
            self._models[spec] = self._stack.enter_context(ModelProcess(spec))
        return self._models[spec]

    def _known(self, name: str, wanted: Measure) -> dict[str, Value]:
        """What is kept of the same model asked in the same way."""
        held = self._before.get(name)
        same = held is not None and msgspec.structs.replace(held, of={}, note="", stride_tokens=None) == wanted
        return dict(held.of) if same and held is not None else {}

    def _recognised(self, spec: str, mapping: Mapping[str, str]) -> tuple[Measure, int]:
        name = f"ers:{spec}"
        # A mapping is a person's, who may have mended it: with one every text is asked about again.
        known = {} if mapping else self._known(name, Measure(spec))
        fresh = _distinct(self._records, lambda one: mark(one.emotional), known)
        if not fresh:
            return Measure(spec, known), 0
        targets = tuple(dict.fromkeys(one.target for one in self._records))
        said = recognise(self._model(name, spec), fresh, mapping, targets)
        known |= {mark(one.emotional): label for one, label in zip(fresh, said.found, strict=True)}
        unmapped = ", ".join(f"{label} ({n})" for label, n in sorted(said.unmapped.items()))
        note = f"labels that mean no target count as wrong: {unmapped}" if unmapped else ""
        return Measure(spec, known, note=note), len(fresh)

    def _emotional(
        self, name: str, spec: str, ask: Callable[[ModelProcess, Sequence[str]], Sequence[float | str | None]]
    ) -> tuple[Measure, int]:
        """What is said of emotional texts alone."""
        known = self._known(name, Measure(spec))
        fresh = [one.emotional for one in _distinct(self._records, lambda one: mark(one.emotional), known)]
        if fresh:
            known |= dict(zip(map(mark, fresh), ask(self._model(name, spec), fresh), strict=True))
        return Measure(spec, known), len(fresh)

    def _relations(self, spec: str) -> tuple[Measure, int]:
        own = self._settings
        empty = Measure(spec, reading=own.reading, template=own.template)
        known = self._known(whole.EANS, empty)
        fresh = _distinct(self._records, _triple, known)
        if fresh:
            triples = [(one.original, one.neutral, one.emotional, one.target) for one in fresh]
            said = eans_of(triples, embedder_of(self._model(whole.EANS, spec)), own.reading, own.template)
            known |= {
                _triple(one): [each[name] for name in EANS] if each else None
                for one, each in zip(fresh, said, strict=True)
            }
        return msgspec.structs.replace(empty, of=known), len(fresh)

    def _fluency(self, spec: str) -> tuple[Measure, int]:
        empty = Measure(spec, stride=self._settings.stride)
        known = self._known(whole.PPL, empty)
        every = dict.fromkeys(str(getattr(one, version)) for one in self._records for version in VERSIONS)
        fresh = [text for text in every if mark(text) not in known]
        if not fresh:
            held = self._before[whole.PPL]
            return held, 0
        read = perplexities(self._model(whole.PPL, spec), fresh, self._settings.stride)
        known |= {mark(text): read.of[text] for text in fresh}
        tokens, note = read.in_tokens(self._settings.stride), stride_note(self._settings.stride, read)
        return msgspec.structs.replace(empty, of=known, stride_tokens=tokens, note=note), len(fresh)


def _triple(one: Generation) -> str:
    return mark(one.original, one.neutral, one.emotional, one.target)


def _distinct(
    records: Sequence[Generation], marked: Callable[[Generation], str], known: Mapping[str, Value]
) -> list[Generation]:
    """The first record of each mark that is not known yet."""
    found: dict[str, Generation] = {}
    for one in records:
        if (key := marked(one)) not in known:
            found.setdefault(key, one)
    return list(found.values())
