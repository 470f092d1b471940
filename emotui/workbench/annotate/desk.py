"""Where annotation begins: which scheme a dataset has, and who works on it. What the place and the commands reach."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.annotate.adjudicating import Adjudicating
from emotui.workbench.annotate.answers import Answer, gold_answer
from emotui.workbench.annotate.others import inside, names_of, source_answers, votes_of
from emotui.workbench.annotate.planning.assignment import assigned
from emotui.workbench.annotate.scheme import (
    BUILT_IN,
    MASK,
    TEXT,
    Scheme,
    built_in,
    check_keys,
    moved_keys,
    scheme_of,
    with_colours,
    with_keys,
    with_own_labels,
    with_scales,
    without_keys,
)
from emotui.workbench.annotate.service import Annotating
from emotui.workbench.texts import said_counts, stored_samples

_KINDS: Mapping[str, Sequence[str]] = {"spans": ("spans",), "labels": ("label", "labels"), "values": ("values",)}
"""Built-in schemes by what they ask for, with the keys under which gold says it."""

_LOOKED_THROUGH = 20_000
"""Texts of a dataset among which its own labels are looked for, once."""


class Desk:
    """Made by `Workspace.annotating()`. Every method may be called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(
        self,
        dataset: str | int,
        annotator: str,
        *,
        scheme: Scheme | None = None,
        reserved: Collection[str] | Mapping[str, str] = (),
    ) -> Annotating:
        """Begin a dataset, or go on with it.

        A key of a scheme that is the place's own is dealt anew; `moved_keys` of what is begun says which, once a store.

        Args:
            scheme: None: the one that is kept for the dataset, else the built-in one of its task.
            reserved: the keys of the place, with what they do where that is known.

        Raises:
            BadInput: no such dataset, no name, no scheme for the task, or two of its labels have one key.
        """
        found = self._dataset(dataset)
        asked = self._scheme(found, scheme, reserved)
        moved = self._moved_keys(found, scheme or self._kept(found), asked)
        work = Annotating(self._store, _answered(found, asked), annotator, asked)
        work.moved_keys = moved
        return work

    def adjudicate(
        self,
        dataset: str | int,
        sources: Sequence[str],
        name: str,
        *,
        scheme: Scheme | None = None,
        reserved: Collection[str] | Mapping[str, str] = (),
    ) -> Adjudicating:
        """Settle what sources disagree about, or go on with it.

        Args:
            sources: `gold`, people, and runs by id or name; empty: everybody but gold.
            name: under which the result is a source.

        Raises:
            BadInput: as `begin`; fewer than two sources; the name is that of a source.
        """
        found = self._dataset(dataset)
        asked = self._scheme(found, scheme, reserved)
        found = _answered(found, asked)
        work = Annotating(self._store, found, name, asked, blind=False)
        voices = [one for one in sources or votes_of(self._store, found) if one not in names_of(work.annotator)]
        if work.annotator in sources:
            raise BadInput(f"{work.annotator} is one of the sources: give the result another name")
        if len(voices) < 2:
            raise BadInput(f"to adjudicate {found.name}, name two sources or more (see: emotui sources)")
        said = source_answers(self._store, found, voices, words=bool(work.scheme.of(MASK)))
        wider = self._scheme(found, scheme, reserved, [one for of_text in said.values() for one in of_text.values()])
        if wider != work.scheme:
            work = Annotating(self._store, found, name, wider, blind=False)
        return Adjudicating(work, said)

    def assigned_to(self, annotator: str) -> list[Dataset]:
        """The datasets of which some texts are dealt to this annotator, newest first."""
        found = [
            one
            for one in self._store.datasets.all()
            if (dealt := assigned(self._store, one)) is not None and annotator in dealt.annotators
        ]
        return sorted(found, key=lambda one: -one.dataset)

    def scheme(self, dataset: str | int, *, reserved: Collection[str] | Mapping[str, str] = ()) -> Scheme:
        """The scheme of a dataset, with a key for every label where there are enough."""
        return self._scheme(self._dataset(dataset), None, reserved)

    def keep_scheme(self, dataset: str | int, path: str | None) -> Scheme:
        """Keep the scheme of a file, or the built-in one of that name, for a dataset; None: that of its task again.

        Raises:
            BadInput: the file is wrong, or its scheme is for other tasks.
        """
        found = self._dataset(dataset)
        if path is None:
            self._store.settings.set(_setting(found), None)
            return self._scheme(found, None, ())
        scheme = scheme_of(path)
        if scheme.tasks and found.task in BUILT_IN and found.task not in scheme.tasks:
            raise BadInput(f"{path}: the scheme is for {', '.join(scheme.tasks)}, and {found.name} is for {found.task}")
        self.use_scheme(found, scheme)
        return scheme

    def use_scheme(self, dataset: Dataset, scheme: Scheme) -> None:
        """Keep a scheme for a dataset, whichever tasks it is for."""
        self._store.settings.set(_setting(dataset), msgspec.to_builtins(scheme))

    def take_scheme(self, dataset: Dataset, store: Store, theirs: Dataset) -> None:
        """Keep the scheme that a dataset of another store has there, where none is kept for this one."""
        if (
            self._store.settings.get(_setting(dataset)) is None
            and (kept := store.settings.get(_setting(theirs))) is not None
        ):
            self.use_scheme(dataset, msgspec.convert(kept, Scheme))

    def _dataset(self, key: str | int) -> Dataset:
        found = self._store.datasets.get(key)
        if found is None:
            raise BadInput(f"the store has no dataset {key!r}")
        return found

    def _scheme(
        self,
        dataset: Dataset,
        given: Scheme | None,
        reserved: Collection[str] | Mapping[str, str],
        said: Sequence[Answer] = (),
    ) -> Scheme:
        """The scheme given, kept or built in; one of the dataset's own labels has those of these answers too.

        Evidence in texts of another package's task, whose spans have no labels, has the emotions that these texts have.
        """
        scheme = given or self._kept(dataset)
        if scheme is None:
            scheme = built_in(BUILT_IN.get(dataset.task) or self._kinds(dataset))
        if any(group.own for group in scheme.groups):
            of_spans, of_texts = self._own_labels(dataset)
            if not of_spans and given is None and dataset.task not in BUILT_IN and self._kept(dataset) is None:
                of_spans = tuple(self._store.samples.emotions(dataset.dataset))
            if not of_texts and any(group.own for group in scheme.of(TEXT)):
                _, of_texts = self._own_labels(dataset.read_as("labels"))
            if said:
                of_spans += tuple(span.label for one in said for span in one.spans if span.label)
                of_texts += tuple(label for one in said for label in one.labels or ())
            scheme = with_own_labels(scheme, of_spans, of_texts)
        if scheme.groups == built_in("values").groups and (ranges := self._numbers(dataset)):
            scheme = with_scales(scheme, ranges)
        scheme = with_colours(with_keys(without_keys(scheme, reserved), reserved))
        check_keys(scheme, reserved)
        return scheme

    def _numbers(self, dataset: Dataset) -> dict[str, tuple[float, float, bool]]:
        """Of each number of gold the least, the greatest and whether all are whole.

        The first gold that there is tells them for good: a scale stays the same while people annotate.
        """
        under = f"numbers said of {dataset.dataset}"
        known = self._store.settings.get(under)
        if known is not None:
            return {name: (low, high, whole) for name, (low, high, whole) in known.items()}
        found: dict[str, tuple[float, float, bool]] = {}
        for sample in self._samples(dataset.read_as("values")):
            for name, value in (getattr(sample, "values", None) or {}).items():
                low, high, whole = found.get(name, (value, value, True))
                found[name] = min(low, value), max(high, value), whole and float(value).is_integer()
        if found and not self._store.read_only:
            self._store.settings.set(under, found)
        return found

    def _kept(self, dataset: Dataset) -> Scheme | None:
        kept = self._store.settings.get(_setting(dataset))
        return None if kept is None else msgspec.convert(kept, Scheme)

    def _moved_keys(self, dataset: Dataset, given: Scheme | None, dealt: Scheme) -> tuple[str, ...]:
        """Which keys of a scheme's file are the place's by now, and what they were dealt for; what was told before is
        left out.
        """
        moved = () if given is None else moved_keys(given, dealt)
        under = f"{_setting(dataset)}: keys that moved"
        if not moved or self._store.settings.get(under) == list(moved):
            return ()
        if not self._store.read_only:
            self._store.settings.set(under, list(moved))
        return moved

    def _kinds(self, dataset: Dataset) -> str:
        """The schemes for what gold says of the texts of another package's task; of spans where it says nothing."""
        said = said_counts(self._store, dataset)
        return "+".join(name for name, keys in _KINDS.items() if any(key in said for key in keys)) or "spans"

    def _own_labels(self, dataset: Dataset) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels of spans and of texts that gold or people in it have, in the order in which they come; all of a
        scene's.
        """
        under = f"labels said of {dataset.dataset}" + (f" as {dataset.task}" if dataset.form else "")
        known = self._store.settings.get(under)
        if known is not None and known["of"] == dataset.fingerprint:
            return tuple(known["spans"]), tuple(known["texts"])
        task = task_named(dataset.task)
        spans: dict[str, None] = {}
        texts: dict[str, None] = {}
        for sample in self._samples(dataset):
            labels = getattr(sample, "labels", None)
            if isinstance(labels, Mapping):
                texts |= dict.fromkeys(map(str, labels))
            people = (said for _, said in inside(task, dataset.task, sample, words=False))
            for said in (gold_answer(sample), *people):
                if said is not None:
                    spans |= {span.label: None for span in said.spans if span.label}
                    texts |= dict.fromkeys(said.labels or ())
        of_texts = tuple(texts) if dataset.task == "scenes" else tuple(sorted(texts))
        if not self._store.read_only:
            self._store.settings.set(under, {"of": dataset.fingerprint, "spans": list(spans), "texts": of_texts})
        return tuple(spans), of_texts

    def _samples(self, dataset: Dataset) -> Iterator[object]:
        found = stored_samples(self._store, dataset, min(dataset.n, _LOOKED_THROUGH))
        return (sample for _, sample in found)


def _answered(dataset: Dataset, scheme: Scheme) -> Dataset:
    """A dataset of another package's task, read as what a scheme asks for: answers are a source of that kind."""
    if dataset.task in BUILT_IN:
        return dataset
    if scheme.spans:
        return dataset.read_as("spans")
    of_texts = scheme.of(TEXT)
    return dataset.read_as("labels" if any(group.labels for group in of_texts) or not of_texts else "values")


def _setting(dataset: Dataset) -> str:
    return f"annotate scheme of {dataset.dataset}"
