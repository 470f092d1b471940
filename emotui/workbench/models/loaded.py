"""The models of a workspace side by side: which are loaded, in how much memory, how fast, and what went wrong."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.errors import EmotuiError
from emotui.store.query import Run
from emotui.workbench.models.benchmark import Rate, bench, peak_memory
from emotui.workbench.models.discovery import AtHand
from emotui.workbench.progress import OnProgress, RunProgress

State = Literal["loaded", "loading", "measuring", "ended", "failed", ""]
_MOST_ERRORS = 5


@dataclass(frozen=True, slots=True)
class OnShelf:
    """One model. `state` is empty where nobody has loaded it; `memory`: the most its process has held, in bytes.

    `errors`: newest first, of loading and of runs.
    """

    spec: str
    state: State
    model: AtHand | None = None
    card: ModelCard | None = None
    memory: int | None = None
    load_seconds: float | None = None
    rates: Mapping[str, Rate] = field(default_factory=dict)
    errors: tuple[str, ...] = ()


class LoadedModels:
    """Loads and ends models of a workspace. Every method may be called from any thread.

    Args:
        process: the process of a SPEC, one a SPEC.
        look: finds what is at hand; asked once.
        runs: all runs of the workspace, newest first.
    """

    def __init__(
        self,
        process: Callable[[str], ModelProcess],
        look: Callable[[], tuple[AtHand, ...]],
        runs: Callable[[], list[Run]],
    ) -> None:
        self._process, self._look, self._runs = process, look, runs
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._found: tuple[AtHand, ...] | None = None
        self._used: dict[str, ModelProcess] = {}
        self._at_work: dict[str, State] = {}
        self._seconds: dict[str, float] = {}
        self._rates: dict[str, Mapping[str, Rate]] = {}
        self._errors: dict[str, list[str]] = {}

    def rows(self, *named: str) -> list[OnShelf]:
        """What is at hand, what was used or run here before that, and what is `named`; not who wrote answers that were
        brought in.

        Raises:
            StoreError: the workspace cannot be read.
        """
        with self._lock:
            if self._found is None:
                self._found = self._look()
            found = {model.spec: model for model in self._found}
        runs = self._runs()
        specs = dict.fromkeys((*found, *self._used, *named, *(run.model for run in runs if run.source == "model")))
        return [self._row(spec, found.get(spec), runs) for spec in specs]

    def load(self, spec: str, on_progress: OnProgress) -> None:
        """Load a model and wait for it; `stop` from another thread ends that.

        Raises:
            BadInput: no such kind of model.
            ModelError: it cannot be loaded.
            Cancelled: stopped.
        """
        self._stop.clear()
        self._at_work[spec] = "loading"
        started = time.monotonic()
        try:
            model = self._model(spec)
            model.load(lambda line: on_progress(_step(spec, line)), self._stop.is_set)
            self._seconds[spec] = time.monotonic() - started
            self._errors.pop(spec, None)
        except EmotuiError as error:
            self._note(spec, str(error))
            raise
        finally:
            self._at_work.pop(spec, None)

    def measure(self, spec: str, on_progress: OnProgress) -> None:
        """Time what a model can do, half a second each; loads it where it is not. Raises as `load`."""
        self._stop.clear()
        model = self._model(spec)
        self._at_work[spec] = "measuring"
        try:
            found = bench(
                model,
                seconds=0.5,
                progress=lambda line: on_progress(_step(spec, f"measuring {line}")),
                cancelled=self._stop.is_set,
            )
        except EmotuiError as error:
            self._note(spec, str(error))
            raise
        finally:
            self._at_work.pop(spec, None)
        self._rates[spec] = found.rates

    def trouble(self, spec: str) -> str:
        """Why the model could not be loaded or measured last, in words; empty where there is no trouble."""
        return next(iter(self._errors.get(spec, ())), "")

    def unload(self, spec: str) -> None:
        """End the model's process; the next question would start it again."""
        self._process(spec).close()

    def stop(self) -> None:
        """Stop loading or measuring."""
        self._stop.set()

    def _model(self, spec: str) -> ModelProcess:
        model = self._process(spec)
        self._used[spec] = model
        return model

    def _note(self, spec: str, line: str) -> None:
        self._errors[spec] = [line, *self._errors.get(spec, [])][:_MOST_ERRORS]

    def _row(self, spec: str, model: AtHand | None, runs: list[Run]) -> OnShelf:
        try:
            process = self._used.get(spec) or self._process(spec)
        except EmotuiError as error:  # a run of a kind that is not installed any more
            return OnShelf(spec, "failed", errors=(str(error),))
        pid = process.pid
        own = self._errors.get(spec, [])
        errors = [*own, *(run.error for run in runs if run.model == spec and run.error)]
        if spec in self._at_work:
            state = self._at_work[spec]
        elif pid is not None and process.card is not None:
            state = "loaded"
        else:
            state = "failed" if own else "ended" if process.card is not None else ""
        return OnShelf(
            spec,
            state,
            model,
            process.card,
            peak_memory(pid),
            self._seconds.get(spec),
            self._rates.get(spec, {}),
            tuple(dict.fromkeys(errors))[:_MOST_ERRORS],
        )


def _step(spec: str, line: str) -> RunProgress:
    return RunProgress("", spec, 0, 0, 0, None, None, f"{spec}: {line}")
