"""The facets that any dataset may have."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from emotui.errors import BadInput
from emotui.lexicons import emolex, plutchik_of
from emotui.metrics.lexical import cues_of, is_negated
from emotui.metrics.states import Floats
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.agreement.documents import VALUES
from emotui.workbench.agreement.of_values import value_names, values_table
from emotui.workbench.agreement.panel import Panel, read_panel
from emotui.workbench.agreement.panel import Said as Answer
from emotui.workbench.datasets.sources import PERSON, sources
from emotui.workbench.notes.folding import Note
from emotui.workbench.slices.facets import Facet, Said, categories, emotions_of, thirds

_SENTENCE = re.compile(r"[.!?…]+[\"'”’)\]]*(?:\s|$)")
_YES, _NO = ("yes",), ("no",)


def emotion(records: Sequence[Said]) -> Facet | None:
    """Gold emotions or labels of samples, their sentences and spans."""
    return categories("emotion", "gold emotion or label", [emotions_of(said) for said in records])


def valence(records: Sequence[Said]) -> Facet | None:
    """Gold valence of samples and their sentences."""
    said = [[one.valence, *(each.get("valence") for each in one.sentences)] for one in records]
    return categories("valence", "gold valence", [[word for word in each if isinstance(word, str)] for each in said])


def length(records: Sequence[Said]) -> Facet | None:
    """Words between spaces, a third of the samples each."""
    counts = np.array([np.nan if said.text is None else len(said.text.split()) for said in records])
    return thirds("length", "words, a third each", counts, ("short", "middle", "long"))


def cues(records: Sequence[Said]) -> Facet | None:
    """Explicit, misleading or implicit, as `emotui.metrics.lexical` has it, for any of a sample's gold emotions.

    Samples without a gold emotion that maps to Plutchik's eight are in none of the three.
    """
    lexicon = emolex()
    found: list[tuple[str, ...]] = []
    for said in records:
        gold = {mapped for label in emotions_of(said) if (mapped := plutchik_of(label)) is not None}
        if said.text is None or not gold:
            found.append(())
            continue
        tied = [set(cue.emotions) for cue in cues_of(said.text, lexicon)]
        explicit = any(gold & emotions for emotions in tied)
        found.append(("explicit" if explicit else "misleading" if tied else "implicit",))
    return categories("cues", "words of EmoLex", found, ("explicit", "implicit", "misleading"))


def negation(records: Sequence[Said]) -> Facet | None:
    """Whether some word negates, as `emotui.metrics.lexical` has it."""
    said = [() if one.text is None else _YES if is_negated(one.text) else _NO for one in records]
    return categories("negation", "a word that negates", said)


def sentences(records: Sequence[Said]) -> Facet | None:
    """How many sentences: those of the record, else by full stops, exclamation and question marks."""
    found: list[tuple[str, ...]] = []
    for said in records:
        n = len(said.sentences) or len(_SENTENCE.findall((said.text or "").strip() + "\n"))
        found.append(() if said.text is None else ("1",) if n <= 1 else ("2 to 4",) if n < 5 else ("5 and more",))
    return categories("sentences", "how many sentences", found, ("1", "2 to 4", "5 and more"))


def notes(wanted: Sequence[Note], first: int, n: int) -> Facet | None:
    """Whether somebody noted something."""
    there = {note.sample - first for note in wanted}
    return categories("note", "whether there is a note", [_YES if at in there else _NO for at in range(n)])


def codes(wanted: Sequence[Note], first: int, n: int) -> Facet | None:
    """The codes of a sample's notes, whoever gave them."""
    found: list[list[str]] = [[] for _ in range(n)]
    for note in wanted:
        found[note.sample - first] += note.codes
    return categories("code", "codes of notes", found)


def agreement(store: Store, dataset: Dataset) -> Facet | None:
    """How far two annotators of a sample agree in the mean: all, at least half, or less.

    Of spans: the F1 of the letters that both mark. Of labels: those of both over those of either. Of words and vectors:
    the share that is equal. Of numbers: a third of the samples each, by how far they are apart on the range that all
    of their name take.
    """
    people = [one.name for one in sources(store, dataset.name) if one.kind == PERSON]
    if len(people) < 2:
        return None
    try:
        panel = read_panel(store, dataset.name)
    except BadInput:
        return None
    if panel.kind == VALUES:
        return thirds(
            "agreement", "how far annotators agree, a third each", _nearness(panel), ("low", "middle", "high")
        )
    found: list[tuple[str, ...]] = []
    for at in range(len(panel.texts)):
        said = [answers[at] for answers in panel.said.values() if at in answers]
        shares = [share for a, b in combinations(said, 2) if (share := _share(a, b)) is not None]
        mean = sum(shares) / len(shares) if shares else None
        word = "" if mean is None else "full" if mean > 1 - 1e-9 else "half" if mean >= 0.5 else "low"
        found.append((word,) if word else ())
    return categories("agreement", "how far annotators agree", found, ("full", "half", "low"))


def _nearness(panel: Panel) -> Floats:
    """(texts,): 1 less the mean distance of two annotators, of each number over its range; NaN for fewer than two."""
    found: list[Floats] = []
    for name in value_names(panel):
        table = values_table(panel, name)
        span = np.nanmax(table) - np.nanmin(table)
        pairs = [np.abs(table[:, a] - table[:, b]) for a, b in combinations(range(table.shape[1]), 2)]
        found.append(_known_mean(np.stack(pairs)) / (span or 1.0))
    return 1 - _known_mean(np.stack(found))


def _known_mean(table: Floats) -> Floats:
    """(columns,): the mean of what is no NaN; NaN where nothing is."""
    known = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean


def _share(a: Answer, b: Answer) -> float | None:
    """In [0, 1]; None of numbers, and of what cannot be held against each other."""
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        if not isinstance(a, Mapping) or not isinstance(b, Mapping) or {*a.values(), *b.values()} - {0, 1}:
            return None
        names = a.keys() | b.keys()
        return sum(a.get(name) == b.get(name) for name in names) / len(names) if names else None
    if not a and not b:
        return 1.0
    if all(isinstance(one, str) for one in (*a, *b)):
        return len(set(a) & set(b)) / len(set(a) | set(b))
    one, other = (
        {place for mark in marks if not isinstance(mark, str) for place in range(mark.start, mark.end)}
        for marks in (a, b)
    )
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0
