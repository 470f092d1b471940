"""Who annotates what: batches of texts, each for several annotators, and which texts come back for a second answer."""

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import combinations
from math import ceil
from statistics import median

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.annotate.answers import Answer, as_asked, gold_answer
from emotui.workbench.annotate.log import Log, adjudicators
from emotui.workbench.annotate.others import logs_of
from emotui.workbench.annotate.planning.order import FIXED, Order, distance, ranges_of
from emotui.workbench.annotate.scheme import MASK, Scheme
from emotui.workbench.annotate.traces import answer_traces
from emotui.workbench.texts import sample_reader, stored_samples


class Retest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A share of one's own texts comes back for a second answer, after so many others."""

    share: float = 0.0
    after: int = 20
    seed: int = 0


NO_RETEST = Retest()


TRAINING, CHECK = "training", "check"
"""Roles of texts whose answer is known, from gold: at the beginning, told afterwards; or in between, for the lead."""


class LacksGold(BadInput):
    """Too few texts have gold for training and checks."""


class Batch(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some texts, in their order, and for whom they are. `number`: from 1. `role`: TRAINING, CHECK, or of neither."""

    number: int
    samples: tuple[int, ...]
    annotators: tuple[str, ...]
    role: str = ""


class Assignment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a dataset is dealt out: in batches, each text to `overlap` of the annotators.

    Attributes:
        share: of the texts that goes to `overlap` annotators; each of the others goes to one.
        by: the column in each of whose values this share is the same; empty: over all texts.
        shuffled: which texts are in a batch together is left to chance.
        own_order: an order by chance is everybody's own.
        consent: words that everybody agrees to before the first text.
        protocol: the name of a paper's protocol that it follows.
        until: the day by which all answers are wanted, as YYYY-MM-DD; empty: none.
        training: how many texts with gold everybody answers first, each followed by what gold says.
        checks: how many more everybody answers in between, for the lead; `checks_shown`: marked as such, and followed
            by what gold says too.
        least: under which agreement with the known answers, in [0, 1], the lead is told.
        dealt: the batches as they were dealt; empty where they follow from the rest, as long as nobody has answered.
    """

    annotators: tuple[str, ...]
    overlap: int
    batch: int
    share: float = 1.0
    by: str = ""
    seed: int = 0
    shuffled: bool = True
    order: Order = FIXED
    own_order: bool = False
    retest: Retest = NO_RETEST
    consent: str = ""
    protocol: str = ""
    until: str = ""
    training: int = 0
    checks: int = 0
    checks_shown: bool = False
    least: float = 0.0
    dealt: tuple[Batch, ...] = ()

    @property
    def everybody(self) -> tuple[str, ...]:
        """The annotators, and those who left and whose answers stand."""
        return tuple(dict.fromkeys([*self.annotators, *(name for batch in self.dealt for name in batch.annotators)]))

    def faults(self) -> list[str]:
        """What cannot be so, in words."""
        found = []
        if not self.annotators:
            found.append("there is nobody to assign texts to: name them with --annotators a,b,c")
        blank = [name for name in self.annotators if not name.strip()]
        twice = [name for name, n in Counter(self.annotators).items() if n > 1]
        if blank or twice:
            found.append(f"{twice[0]!r} is named twice" if twice else "an annotator has no name")
        if not 1 <= self.overlap <= max(1, len(self.annotators)):
            found.append(f"{self.overlap} of {len(self.annotators)} annotators cannot see each text")
        if self.batch < 1:
            found.append("a batch has at least one text")
        if not 0 <= self.share <= 1:
            found.append(f"{self.share:g} is no share from 0 to 1 (or from 0% to 100%)")
        elif self.share < 1 and self.overlap < 2 <= len(self.annotators):
            found.append("a share of the texts goes to several: say to how many with --overlap 2, or --overlap all")
        if self.until and _day(self.until) is None:
            found.append(f"{self.until!r} is no day: write it as 2027-01-31")
        if min(self.training, self.checks) < 0 or not 0 <= self.least <= 1:
            found.append("texts of training and checks are 0 or more, and --least is from 0 to 1")
        if not 0 <= self.retest.share <= 1 or self.retest.after < 1:
            found.append("a retest is of a share from 0 to 1, after at least one other text")
        return found


def batches(assignment: Assignment, numbers: Sequence[int]) -> list[Batch]:
    """The batches of a dataset, every text in one.

    Annotators get equally many batches, as far as that goes, and each pair of them shares equally many.
    """
    if assignment.dealt:
        return list(assignment.dealt)
    mixed = list(numbers)
    if assignment.shuffled:
        random.Random(assignment.seed).shuffle(mixed)
    among = _Balance(assignment.annotators)
    found: list[Batch] = []
    for place in range(0, len(mixed), assignment.batch):
        samples = tuple(mixed[place : place + assignment.batch])
        found.append(Batch(len(found) + 1, samples, among.choose(assignment.overlap, len(samples))))
    return found


class _Balance:
    """Chooses annotators so that all get equally many texts, and each pair of them shares equally many."""

    def __init__(self, annotators: Sequence[str]) -> None:
        self._annotators = annotators
        self.load: Counter[str] = Counter()
        self._shared: Counter[tuple[str, str]] = Counter()

    def choose(self, n: int, texts: int, there: Sequence[str] = ()) -> tuple[str, ...]:
        """`n` annotators for some texts beside those that have them already, in the order of all; fewer where there
        are no more.
        """
        chosen: list[str] = []
        while len(chosen) < n and (rest := [one for one in self._annotators if one not in (*there, *chosen)]):
            chosen.append(min(rest, key=lambda name: (self.load[name], self._with(name, (*there, *chosen)))))
            self.load[chosen[-1]] += texts
        self._shared.update(_pair(a, b) for a, b in combinations((*there, *chosen), 2))
        return tuple(name for name in self._annotators if name in chosen)

    def _with(self, name: str, others: Sequence[str]) -> int:
        return sum(self._shared[_pair(name, one)] for one in others)


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def deal(
    assignment: Assignment,
    numbers: Sequence[int],
    *,
    before: Sequence[Batch] = (),
    held: Mapping[int, Sequence[str]] | None = None,
    strata: Mapping[int, str] | None = None,
) -> list[Batch]:
    """Deal texts out of which some are answered: who has answered a text, or begun it, keeps it.

    Only open places are dealt. Those who stay keep what they had before as far as all get equally many open texts; the
    open ones of somebody who left go to the others.

    Args:
        before: how they were dealt before.
        held: by text, who has answered it or begun it, whether they are still among the annotators or not.
        strata: by text, the value in each of whose groups the share of `assignment.share` is the same.
    """
    held = held or {}
    mixed = list(numbers)
    draw = random.Random(assignment.seed)
    if assignment.shuffled:
        draw.shuffle(mixed)
    had = {number: batch.annotators for batch in before for number in batch.samples}
    several = _for_several(assignment, mixed, had, held, strata or {})
    missing = {
        number: max((assignment.overlap if number in several else 1) - len(held.get(number, ())), 0) for number in mixed
    }
    least = sum(missing.values()) // max(len(assignment.annotators), 1)
    among = _Balance(assignment.annotators)
    groups: dict[tuple[tuple[str, ...], int], list[int]] = {}
    for number in mixed:
        kept = [*held.get(number, ())]
        for name in had.get(number, ()):
            wanted = missing[number] > 0 and name in assignment.annotators and name not in kept
            if wanted and among.load[name] < least:
                kept.append(name)
                among.load[name] += 1
                missing[number] -= 1
        groups.setdefault((tuple(sorted(kept)), missing[number]), []).append(number)
    made: list[tuple[list[int], tuple[str, ...]]] = []
    for (kept_by, n), texts in groups.items():
        # No batch is so large that some get none of it.
        size = min(assignment.batch, max(ceil(len(texts) * n / len(assignment.annotators)), 1)) if n else len(texts)
        for place in range(0, len(texts), size):
            some = texts[place : place + size]
            names = {*kept_by, *among.choose(n, len(some), kept_by)}
            left = (name for name in kept_by if name not in assignment.annotators)
            made.append((some, (*(name for name in assignment.annotators if name in names), *left)))
    return _in_batches(assignment, made, held, draw)


def _for_several(
    assignment: Assignment,
    mixed: Sequence[int],
    had: Mapping[int, Sequence[str]],
    held: Mapping[int, Sequence[str]],
    strata: Mapping[int, str],
) -> frozenset[int]:
    """The texts that several see: first those that several have answered, then those that several had before."""
    if assignment.share >= 1:
        return frozenset(mixed)
    groups: dict[str, list[int]] = {}
    for number in mixed:
        groups.setdefault(strata.get(number, ""), []).append(number)
    exact = {name: assignment.share * len(texts) for name, texts in groups.items()}
    wanted = {name: int(n) for name, n in exact.items()}
    left = round(assignment.share * len(mixed)) - sum(wanted.values())
    # The largest remainders, so that the groups together have the share too.
    for name in sorted(groups, key=lambda name: wanted[name] - exact[name])[: max(left, 0)]:
        wanted[name] += 1
    found: list[int] = []
    for name, texts in groups.items():
        first = sorted(texts, key=lambda number: (-len(held.get(number, ())), len(had.get(number, ())) < 2))
        found += first[: wanted[name]]
    return frozenset(found)


def _in_batches(
    assignment: Assignment,
    made: Sequence[tuple[Sequence[int], tuple[str, ...]]],
    held: Mapping[int, Sequence[str]],
    draw: random.Random,
) -> list[Batch]:
    """Texts of the same annotators in batches; what was begun comes first, so that nobody waits for it."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for texts, names in made:
        groups.setdefault(names, []).extend(texts)
    cut: list[tuple[tuple[int, ...], tuple[str, ...]]] = []
    for names, texts in groups.items():
        texts.sort(key=lambda number: number not in held)
        cut += [(tuple(texts[at : at + assignment.batch]), names) for at in range(0, len(texts), assignment.batch)]
    if assignment.shuffled:
        draw.shuffle(cut)
    else:
        cut.sort()
    return [Batch(number, samples, names) for number, (samples, names) in enumerate(cut, 1)]


def assign(store: Store, dataset: Dataset, assignment: Assignment) -> list[Batch]:
    """Keep an assignment for a dataset, in place of the one that it had. Given answers stand, and begun ones too: only
    open texts are dealt again.

    Raises:
        BadInput: it cannot be so, or no text has the column of `assignment.by`.
    """
    if faults := assignment.faults():
        raise BadInput(*faults)
    numbers = store.samples.file_order(dataset.dataset)
    earlier = assigned(store, dataset)
    known = _known(store, dataset, earlier, assignment)
    held = _held(store, dataset, earlier, assignment)
    strata = _strata(store, dataset, assignment.by) if assignment.by else {}
    if held or assignment.share < 1 or known:
        there = {number for batch in known for number in batch.samples}
        before = [] if earlier is None or not held else [one for one in batches(earlier, numbers) if not one.role]
        left = [number for number in numbers if number not in there]
        held = {number: names for number, names in held.items() if number not in there}
        made = deal(assignment, left, before=before, held=held, strata=strata)
        dealt = (*known, *(replace(one, number=len(known) + one.number) for one in made))
        assignment = replace(assignment, dealt=dealt)
    keep_assignment(store, dataset, assignment)
    return batches(assignment, numbers)


def _known(store: Store, dataset: Dataset, earlier: Assignment | None, wanted: Assignment) -> list[Batch]:
    """Texts with gold for training and checks, by chance; those of before stay."""
    sizes = {TRAINING: wanted.training, CHECK: wanted.checks}
    if not any(sizes.values()):
        return []
    before = [] if earlier is None else [batch for batch in earlier.dealt if batch.role]
    had = {role: [number for batch in before if batch.role == role for number in batch.samples] for role in sizes}
    taken = {number for some in had.values() for number in some}
    samples = stored_samples(store, dataset, dataset.n)
    there = [
        number
        for number, sample in samples
        if number not in taken and (gold := gold_answer(sample)) is not None and not gold.silent
    ]
    missing = sum(max(n - len(had[role]), 0) for role, n in sizes.items())
    if missing > len(there):
        raise LacksGold(
            f"{missing} more texts with gold are needed for training and checks: {dataset.name} has {len(there)}"
        )
    random.Random(f"known {wanted.seed}").shuffle(there)
    found: list[Batch] = []
    for role, n in sizes.items():
        chosen = had[role][:n]
        chosen += [there.pop() for _ in range(n - len(chosen))]
        if chosen:
            found.append(Batch(len(found) + 1, tuple(chosen), wanted.annotators, role))
    return found


def roles_of(assignment: Assignment | None) -> dict[int, str]:
    """The texts whose answer is known, with their role."""
    return (
        {} if assignment is None else {n: batch.role for batch in assignment.dealt if batch.role for n in batch.samples}
    )


def keep_assignment(store: Store, dataset: Dataset, assignment: Assignment | None) -> None:
    """Keep an assignment as it is; None: everybody annotates everything."""
    store.settings.set(_setting(dataset), None if assignment is None else msgspec.to_builtins(assignment))


def _held(store: Store, dataset: Dataset, earlier: Assignment | None, wanted: Assignment) -> dict[int, tuple[str, ...]]:
    """Who has answered each text, or begun it and stays. Who was never assigned anything (who settled, say) is not one
    of those whose answers count.
    """
    known = {*wanted.annotators, *(() if earlier is None else earlier.everybody)}
    found: dict[int, tuple[str, ...]] = {}
    for name, log in logs_of(store, dataset).items():
        for sample in log.samples() if name in known else ():
            if log.accepted(sample) or (name in wanted.annotators and log.touched(sample)):
                found[sample] = (*found.get(sample, ()), name)
    return found


def _strata(store: Store, dataset: Dataset, column: str) -> dict[int, str]:
    """Each text's value in a column beside it, or the labels that gold gives it."""
    found: dict[int, str] = {}
    columns: Counter[str] = Counter()
    for number, sample in stored_samples(store, dataset, dataset.n):
        beside: Mapping[str, object] = getattr(sample, "meta", {})
        columns.update(map(str, beside))
        gold = gold_answer(sample) if column in ("label", "labels") and column not in beside else None
        if column in beside:
            found[number] = str(beside[column])
        elif gold is not None and gold.labels is not None:
            found[number] = ", ".join(sorted(gold.labels))
    if not found:
        there = ", ".join(name for name, _ in columns.most_common(8))
        raise BadInput(f"no text of {dataset.name} has {column!r}" + (f"; there are: {there}" if there else ""))
    return found


def assigned(store: Store, dataset: Dataset) -> Assignment | None:
    """The assignment of a dataset; None where everybody annotates everything."""
    kept = store.settings.get(_setting(dataset))
    return None if kept is None else msgspec.convert(kept, Assignment)


def share_of(assignment: Assignment, numbers: Sequence[int], annotator: str) -> tuple[int, ...]:
    """The texts of one annotator, batch by batch; of somebody who left those that he answered; all of them for somebody
    whom the assignment does not know.
    """
    if annotator not in assignment.everybody:
        return tuple(numbers)
    mine = [batch for batch in batches(assignment, numbers) if annotator in batch.annotators]
    of: dict[str, list[int]] = {TRAINING: [], CHECK: [], "": []}
    for batch in mine:
        of[batch.role] += batch.samples
    own, checks = of[""], of[CHECK]
    # Checks stand evenly among the others, each behind as many of them.
    every = len(own) / len(checks) if checks else 1.0
    mixed = list(own)
    for place, number in reversed(list(enumerate(checks, 1))):
        mixed.insert(round(place * every), number)
    return (*of[TRAINING], *mixed)


def own_order(assignment: Assignment, annotator: str) -> Order:
    """The order of the assignment; one by chance is the annotator's own where the assignment says so."""
    order = assignment.order
    if order.kind != "random" or not assignment.own_order:
        return order
    digest = hashlib.sha256(f"{order.seed}/{annotator}".encode()).digest()
    return replace(order, seed=int.from_bytes(digest[:6]))


def comes_back(retest: Retest, annotator: str, place: int) -> bool:
    """Whether the text at a place of its dataset, from 0, is among those that come back to an annotator: decided by
    chance, the same every time and in every store.
    """
    if retest.share <= 0:
        return False
    digest = hashlib.sha256(f"{retest.seed}/{annotator}/{place}".encode()).digest()
    return int.from_bytes(digest[:8]) < retest.share * 2**64


def last_day(plan: Assignment | None) -> date | None:
    """The day by which all answers are wanted; None: there is none."""
    return None if plan is None or not plan.until else _day(plan.until)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _setting(dataset: Dataset) -> str:
    return f"annotate assignment of {dataset.dataset}"


# How far all annotators of a dataset are.


class AnnotatorProgress(msgspec.Struct, frozen=True):
    """One annotator's share.

    Attributes:
        again: texts that came back.
        seconds: the median of a first answer, where measured.
        a_day: first answers a day, over those of the last seven days on which there was one.
        wanted: answers a day that are wanted from now on, where the assignment has a day by which all are.
        skipped: texts passed over, which are neither given nor left.
        checked: of the texts whose answer is known those that are answered (checks, and training where there are none).
        right: how far these answers agree with gold: 1 less their mean distance.
        settles: they adjudicate what others said, so that theirs are no further answers to the texts.
    """

    annotator: str
    n: int
    given: int
    left: int
    flagged: int
    unsure: int
    again: int
    seconds: float | None
    a_day: float | None = None
    wanted: float | None = None
    skipped: int = 0
    checked: int = 0
    right: float | None = None
    settles: bool = False


class DatasetProgress(msgspec.Struct, frozen=True):
    """`answers`: how many texts have how many answers. `least`: under which `right` the lead is told."""

    n: int
    annotators: tuple[AnnotatorProgress, ...]
    answers: dict[int, int]
    until: str = ""
    least: float = 0.0


def progress_of(
    store: Store, dataset: Dataset, today: date | None = None, scheme: Scheme | None = None
) -> DatasetProgress:
    """Those who are assigned texts, then others who annotate, each with what is theirs.

    Args:
        today: (UTC) from which pace and goals are counted; None: today.
        scheme: by which known answers are compared; None: they are not.
    """
    numbers = store.samples.file_order(dataset.dataset)
    plan, logs, settling = assigned(store, dataset), logs_of(store, dataset), adjudicators(store, dataset)
    now = today or datetime.now(UTC).date()
    seconds: dict[str, list[float]] = {}
    days: dict[str, Counter[date]] = {}
    for trace in answer_traces(store, dataset):
        if not trace.round:
            if trace.answered is not None:
                seconds.setdefault(trace.annotator, []).append(trace.answered)
            if trace.at is not None:
                days.setdefault(trace.annotator, Counter())[datetime.fromisoformat(trace.at).date()] += 1
    until = last_day(plan)
    known = {} if scheme is None else _known_answers(store, dataset, plan, scheme)
    ranges = None if scheme is None else ranges_of(scheme)
    rows = []
    answered: Counter[int] = Counter()
    for name in dict.fromkeys([*(plan.annotators if plan else ()), *logs]):
        log = logs.get(name) or Log(lambda sample: ())
        mine = set(numbers if plan is None else share_of(plan, numbers, name))
        there = [sample for sample in log.samples() if sample in mine]
        given = [sample for sample in there if log.answered(sample)]
        skipped = sum(map(log.skipped, there))
        left = len(mine) - len(given) - skipped
        if name not in settling:
            answered.update(given)
        rows.append(
            AnnotatorProgress(
                name,
                len(mine),
                len(given),
                left,
                sum(map(log.flagged, there)),
                sum(map(log.unsure, there)),
                len(log.retested()),
                median(seconds[name]) if name in seconds else None,
                _pace(days.get(name, Counter()), now),
                None if until is None else left / max((until - now).days + 1, 1),
                skipped,
                len(checked := [sample for sample in given if sample in known]),
                _right([distance(log.state(sample).blind, known[sample], ranges) for sample in checked]),
                name in settling,
            )
        )
    answers = dict(sorted(Counter(answered[n] for n in numbers).items()))
    return DatasetProgress(
        dataset.n, tuple(rows), answers, plan.until if plan else "", plan.least if plan and known else 0.0
    )


def _known_answers(store: Store, dataset: Dataset, plan: Assignment | None, scheme: Scheme) -> dict[int, Answer]:
    roles = roles_of(plan)
    asked = [number for number, role in roles.items() if role == CHECK] or list(roles)
    read = sample_reader(store, dataset)
    gold = {
        number: gold_answer(read(record), words=bool(scheme.of(MASK)))
        for number, record in store.samples.records(asked)
    }
    return {number: as_asked(answer, scheme) for number, answer in gold.items() if answer is not None}


def _right(distances: Sequence[float]) -> float | None:
    return 1 - sum(distances) / len(distances) if distances else None


def _pace(days: Mapping[date, int], now: date) -> float | None:
    recent = [n for day, n in days.items() if now - timedelta(days=6) <= day <= now]
    return sum(recent) / len(recent) if recent else None
