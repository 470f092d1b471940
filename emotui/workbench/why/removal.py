"""One span taken out of one text, for whoever looks at it: a model's answer before and after, beside random stretches.

What a run of the evidence task asks over a dataset is asked here of a single span, in the same way and with the same
draws. Answers are kept in the store as they come: no variant of a text is asked twice, in no session.
"""

import contextlib
import hashlib
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import msgspec

from emotui.backends.base import Classification, ModelCard, Progress, Refused, Scores
from emotui.backends.embedded.words import ends_sentence
from emotui.backends.host import Cancelled, IsCancelled, ModelProcess
from emotui.backends.words import word_places
from emotui.errors import ModelError, StoreError
from emotui.metrics.evidence import DRAWS
from emotui.records import PLUTCHIK, Mark, Span, SpanSample
from emotui.store.store import Store
from emotui.tasks.label_questions import SCORE
from emotui.tasks.parts import matched
from emotui.tasks.prompting.settings import NLI, configured
from emotui.tasks.registry import resolve_labels, task_named
from emotui.tasks.taken_away import Prediction, Trial, Variants
from emotui.tasks.task import Task
from emotui.workbench.runs.plan import chosen_way, sample_seed

AT_ONCE = 16
"""Variants that a model is asked about at a time: between two batches a cancel is seen."""

MOST = 50_000
"""Answers that are held in memory; more are read from the store again."""

_KEPT = "why/removed"
_ANSWERS: Mapping[str, Callable[[Any], Any]] = {
    kind.__name__: partial(msgspec.convert, type=kind) for kind in (Classification, Scores)
}
"""What is kept in the store: the answers of all that asks for labels."""


class Removed(msgspec.Struct, frozen=True):
    """What a model says of a text without one span of it.

    Attributes:
        place: of the span, in code points, half open.
        model: its SPEC.
        explains: the model's likeliest label for the whole text, whose probability is followed.
        whole, masked, deleted, alone: probabilities by label of the text, without the span's words (each replaced by
            the model's own mask token, where it has one, else by a filler; or taken out), and of the span by itself.
        forms: the texts of the last three, in which the model's own mask token stands by its name.
        random: the probability of `explains` without as many words elsewhere, a number a draw; empty where the span
            leaves no room for any.
        marked: the label of the span, where the model has it and `explains` is another; marked_random: its probability
            without as many words elsewhere.
    """

    text: str
    place: Span
    model: str
    explains: str
    whole: Mapping[str, float]
    masked: Mapping[str, float]
    deleted: Mapping[str, float]
    alone: Mapping[str, float]
    forms: tuple[str, str, str]
    random: tuple[float, ...] = ()
    marked: str | None = None
    marked_random: tuple[float, ...] = ()

    @property
    def drop(self) -> float:
        """How much the label's probability loses where the span's words are masked."""
        return self.whole[self.explains] - self.masked[self.explains]

    @property
    def random_drops(self) -> tuple[float, ...]:
        """The same without as many words elsewhere, ascending."""
        return tuple(sorted(self.whole[self.explains] - p for p in self.random))

    @property
    def above_random(self) -> float | None:
        """The drop, above the mean of the random ones; None where there is none."""
        return self.drop - fmean(self.random_drops) if self.random else None

    @property
    def matters(self) -> bool:
        """Is the drop larger than every random one?"""
        return bool(self.random) and self.drop > self.random_drops[-1]

    def named(self, label: str) -> str | None:
        """The model's own name of a label; None where it has none."""
        return matched(label, self.whole)


MOST_WORDS = 60
"""Words of a text that are taken away one after the other; of a longer text its sentences are."""


def parts_of(text: str) -> tuple[Span, ...]:
    """What is left out of a text in which nothing is marked: each word; of a long text, each sentence."""
    places = word_places(text)
    if len(places) <= MOST_WORDS:
        return tuple(places)
    first = [0, *(at for at in range(1, len(places)) if ends_sentence(text, places[at - 1][1], places[at][0]))]
    if len(first) == 1:
        return tuple(places[:MOST_WORDS])
    return tuple((places[a][0], places[b - 1][1]) for a, b in zip(first, [*first[1:], len(places)], strict=True))


class Removal:
    """Takes spans out of texts and asks models again. Every method may be called from any thread.

    Args:
        store: keeps the answers; one that is read-only does not, and they are then held in memory.
        model: the process of a SPEC, one a SPEC.
    """

    def __init__(self, store: Store, model: Callable[[str], ModelProcess]) -> None:
        self._model = model
        self._kept = _Answers(store)

    def take_away(
        self,
        spec: str,
        text: str,
        place: Span,
        *,
        key: str = "",
        label: str | None = None,
        progress: Progress = lambda line: None,
        cancelled: IsCancelled | None = None,
    ) -> Removed:
        """What the model says of the text without this span.

        Args:
            key: the id of the text, from which its draws follow: a run over the evidence has the same.
            label: of the span, in whichever form.

        Raises:
            BadInput: the model lacks a label.
            ModelError: it cannot be loaded, died, gives no probabilities, or did not answer about a variant.
            Cancelled: `cancelled()` became true; what was answered by then is kept.
        """
        model = self._model(spec)
        card = model.load(progress, cancelled)
        task = task_named("evidence").at_a_glance()
        way = chosen_way(task, card, None)
        mark, seed = Mark(*place), sample_seed(0, 0, key)
        once = _Once(model, self._kept, (_hashed(card.spec, card.identity), _hashed(text)), cancelled)

        def read(explained: str | None = None) -> Prediction:
            options = {**_options(task, card, way), **({} if explained is None else {"explain": "gold"})}
            asked = configured(task, way, options, 1)
            sample = SpanSample(id=key, text=text, spans=(Mark(*place, label=explained),))
            (answer,) = asked.ask([sample], once, way, [seed])
            if answer.raw is None:
                raise ModelError(answer.why or f"{spec} gave no answer")
            parsed: Prediction = asked.parse(sample, answer.raw, way)
            return parsed

        said = read()
        trial: Trial = said.spans[0]
        marked = None if label is None else matched(label, said.probs)
        if marked == trial.explains:
            marked = None
        forms = Variants(text, (mark,), said.removal, DRAWS, seed, (), said.filler).forms(trial.places)
        return Removed(
            text,
            place,
            spec,
            trial.explains,
            said.probs,
            trial.masked,
            trial.deleted,
            trial.alone,
            forms,
            trial.random,
            marked,
            () if marked is None else read(marked).spans[0].random,
        )


def _options(task: Task, card: ModelCard, way: str) -> Mapping[str, object]:
    """The model's own labels; of one that has none Plutchik's eight."""
    given = {"labels": list(PLUTCHIK)} if way in (NLI, SCORE) else {}
    return resolve_labels(task, card, tuple, way, given, 0)


def _hashed(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]


_Of = tuple[str, str]
"""Hashes of a model and of the text whose variants it is asked about."""


class _Answers:
    """What models have said of the variants of texts, in memory and in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[tuple[str, str], Any] = {}
        self._read: set[_Of] = set()
        self._lock = threading.Lock()

    def known(self, of: _Of, requests: Sequence[Any]) -> dict[Any, Any]:
        """By request the answers that were given before."""
        keys = {one: (of[0], _request_key(one)) for one in requests}
        with self._lock:
            if of not in self._read:
                self._read.add(of)
                for some in self._store.settings.beginning("/".join((_KEPT, *of, ""))).values():
                    self._held |= {(of[0], key): _ANSWERS[kind](answer) for key, (kind, answer) in some.items()}
            return {one: self._held[key] for one, key in keys.items() if key in self._held}

    def keep(self, of: _Of, answers: Mapping[Any, Any]) -> None:
        """Keep what would be the same at another time; refusals in memory alone."""
        lasting = {
            _request_key(one): answer
            for one, answer in answers.items()
            if not (isinstance(answer, Refused) and answer.again)
        }
        names = {key: type(answer).__name__ for key, answer in lasting.items()}
        new = {key: (names[key], msgspec.to_builtins(one)) for key, one in lasting.items() if names[key] in _ANSWERS}
        with self._lock:
            if len(self._held) > MOST:
                self._held.clear()
                self._read.clear()
            self._held |= {(of[0], key): answer for key, answer in lasting.items()}
        if new and not self._store.read_only:
            # A store that others hold for too long costs the next session a question, and this one nothing.
            with contextlib.suppress(StoreError):
                self._store.settings.set("/".join((_KEPT, *of, uuid.uuid4().hex)), new)


def _request_key(request: Any) -> str:
    return _hashed(type(request).__name__, request)


class _Once:
    """Asks a model what it was not asked before, a few requests at a time."""

    def __init__(self, model: ModelProcess, kept: _Answers, of: _Of, cancelled: IsCancelled | None) -> None:
        self._model, self._kept, self._of, self._cancelled = model, kept, of, cancelled

    def __call__(self, requests: Sequence[Any]) -> Sequence[Any]:
        here = self._kept.known(self._of, requests)
        new = [one for one in dict.fromkeys(requests) if one not in here]
        for start in range(0, len(new), AT_ONCE):
            if self._cancelled is not None and self._cancelled():
                raise Cancelled
            some = new[start : start + AT_ONCE]
            answers = dict(zip(some, self._model.ask(some), strict=True))
            here |= answers
            self._kept.keep(self._of, answers)
        return [here[one] for one in requests]
