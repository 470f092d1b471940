"""Rephrasing against a live classifier (hard emotion test sets, section 3): what the place and the commands do.

A round is one annotator's work on a dataset against one frozen classifier. Everything a person makes is an entry of
the store's annotation log.
"""

import time
from collections.abc import Callable, Sequence

import msgspec

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.records import LONGEST_REPHRASING
from emotui.store.store import Store
from emotui.tasks.rephrase.labelling import Verdict, labelling
from emotui.workbench.progress import OnProgress, RunProgress
from emotui.workbench.rephrase.files import Rephrased
from emotui.workbench.rephrase.live import Typing, kept_prompts, suggestions
from emotui.workbench.rephrase.log import (
    ATTEMPT,
    REDO,
    SKIP,
    UNDO,
    AttemptEntry,
    ClassifierMark,
    Made,
    SkipEntry,
    last_made,
    last_undone,
    made,
    numbered,
)
from emotui.workbench.rephrase.originals import classified
from emotui.workbench.rephrase.views import (
    AttemptView,
    CarryingWords,
    ChainView,
    FrozenClassifier,
    Live,
    Original,
    Outcome,
    Progress,
    Round,
    Suggestion,
    identity_of,
    state_of,
)
from emotui.workbench.runs.run import EMBEDDING


class Rephrasing(Rephrased):
    """Made by `Workspace.rephrasing()`. Every method may be called from any thread; those that ask a model block.

    All raise EmotuiError in one line: BadInput for what the person can mend, ModelError, StoreError.
    """

    def __init__(self, store: Store, process: Callable[[str], ModelProcess]) -> None:
        super().__init__(store)
        self._process = process
        self._typing = Typing(lambda: process(EMBEDDING))

    def begin(
        self,
        dataset: str | int,
        model: str,
        annotator: str,
        *,
        on_progress: OnProgress = lambda progress: None,
        cancelled: IsCancelled | None = None,
    ) -> Round:
        """Begin a round, or go on with the annotator's own against the same classifier.

        Classifies every original, once for each classifier: which texts are offered (T_correct) depends on it.

        Raises:
            BadInput: no such dataset, no annotator's name, or labels that the classifier does not know, a line each.
            ModelError: the model cannot be loaded, or cannot give labels.
            Cancelled: `cancelled()` became true; what was classified is kept.
        """
        found = self.dataset(dataset)
        name = annotator.strip()
        if not name:
            raise BadInput("an annotator needs a name (--annotator)")
        samples = self.samples(found)
        process = self._process(model)
        on_progress(RunProgress("", model, 0, found.n, 0, None, None, f"loading {model}"))
        card = process.load(cancelled=cancelled)
        asked = labelling(card, [(sample.id, sample.gold) for sample in samples.values()])
        frozen = FrozenClassifier(process, card, asked, identity_of(card, asked))
        originals = classified(self.store, found, samples, frozen, on_progress, cancelled)
        self._process(EMBEDDING).load(cancelled=cancelled)  # so that the first key does not wait for it
        before = numbered(self.log(found).all())
        known = [mark.identity for mark in before]
        number = known.index(frozen.identity) + 1 if frozen.identity in known else len(known) + 1
        right = sum(original.right for original in originals.values())
        return Round(
            dataset=found,
            model=model,
            identity=frozen.identity,
            annotator=name,
            number=number,
            note=_note(before, number, model),
            labels=asked.labels,
            correct=right,
            incorrect=len(originals) - right,
            classifier=frozen,
            originals=originals,
        )

    # While a person types.

    def live(self, round: Round, number: int, text: str, generation: int, *, similar: bool = True) -> Live:
        """What follows typing: one round trip to the classifier (two where it cannot embed).

        Args:
            similar: without it the answer comes sooner, and its similarity is None: for while keys follow each other.

        Raises:
            BadInput: no such text, or one too long to be a rephrasing.
            ModelError: the classifier died, or refuses the text.
        """
        original = self._original(round, number)
        _check_length(text)
        started = time.monotonic()
        if similar:
            verdict, similarity = self._typing.verdict_and_similarity(round.classifier, original.sample.text, text)
        else:
            (verdict,), similarity = round.classifier.verdicts([text]), None
        return Live(
            number=number,
            generation=generation,
            text=text,
            probs=verdict.probs,
            label=verdict.label,
            gold=original.gold,
            gold_confidence=verdict.probs[original.gold],
            similarity=similarity,
            seconds=time.monotonic() - started,
        )

    def words(
        self, round: Round, number: int, text: str, cancelled: IsCancelled = lambda: False
    ) -> CarryingWords | None:
        """Which words carry the gold label and the label given, by leaving out one after the other.

        For when typing rests: it asks in small batches, between which `live` gets its turn. None where `cancelled()`
        became true.
        """
        original = self._original(round, number)
        _check_length(text)
        return self._typing.carrying_words(round.classifier, number, original.gold, text, cancelled)

    def verdicts(self, round: Round, number: int, texts: Sequence[str]) -> list[tuple[Verdict, float | None]]:
        """The classifier's verdict on each text, and its similarity to the original."""
        original = self._original(round, number)
        return [self._typing.verdict_and_similarity(round.classifier, original.sample.text, text) for text in texts]

    # What a person decides.

    def submit(self, round: Round, number: int, text: str, *, suggested: bool = False) -> Outcome:
        """Submit an attempt. The classifier gives another label than gold: success; in a counter-test gold. The fourth
        failure closes the chain.

        Args:
            suggested: a model wrote the text; it is kept with it for ever.

        Raises:
            BadInput: the text is empty or too long, or its chain is closed.
            StoreError: it could not be kept.
        """
        original = self._original(round, number)
        text = text.strip()
        if not text:
            raise BadInput("the rephrasing is empty: write one, or skip the text")
        _check_length(text)
        self._check_open(round, number)
        verdict, similarity = self._typing.verdict_and_similarity(round.classifier, original.sample.text, text)
        entry = AttemptEntry(
            text=text,
            predicted=verdict.label,
            confidence=verdict.probs[original.gold],
            probs=dict(verdict.probs),
            model=ClassifierMark(spec=round.model, identity=round.identity),
            round=round.number,
            suggested=suggested,
            similarity=similarity,
        )
        self.store.annotations.append(ATTEMPT, number, round.annotator, msgspec.json.encode(entry))
        after = self.chain(round, number)
        return Outcome(after.state, len(after.attempts), verdict.label, verdict.probs[original.gold], similarity)

    def skip(self, round: Round, number: int) -> None:
        """Leave a text; attempts made on it stay. Raises BadInput where its chain is closed."""
        self._original(round, number)
        self._check_open(round, number, skipping=True)
        entry = SkipEntry(model=ClassifierMark(spec=round.model, identity=round.identity), round=round.number)
        self.store.annotations.append(SKIP, number, round.annotator, msgspec.json.encode(entry))

    def undo(self, round: Round) -> int | None:
        """Take back the annotator's last attempt or skip of this round; the text that is open again, or None."""
        log = self.log(round.dataset)
        entry = last_made(log, round.annotator, round.identity)
        if entry is None:
            return None
        self.store.annotations.append(UNDO, entry.sample, round.annotator, b"{}", undoes=log.tip(entry.number))
        return entry.sample

    def redo(self, round: Round) -> int | None:
        """Put back what was undone last, unless something new was made since; the text that it is about, or None."""
        log = self.log(round.dataset)
        entry = last_undone(log, round.annotator, round.identity)
        if entry is None:
            return None
        self.store.annotations.append(REDO, entry.sample, round.annotator, b"{}", undoes=log.tip(entry.number))
        return entry.sample

    # How it stands.

    def chain(self, round: Round, number: int) -> ChainView:
        """The annotator's chain of one text, as it stands."""
        original = self._original(round, number)
        return _view(number, original, self._made(round).get(number, Made()), round)

    def views(self, round: Round) -> dict[int, ChainView]:
        """The annotator's chains of every text, also of those that are set aside, by number in file order."""
        done = self._made(round)
        return {number: _view(number, one, done.get(number, Made()), round) for number, one in round.originals.items()}

    def progress(self, round: Round) -> Progress:
        """How far the annotator is."""
        done = self._made(round)
        succeeded, failed, skipped = [0, 0, 0, 0], 0, 0
        errors = gone = 0
        offered = round.offered()
        for number in offered:
            view = _view(number, round.originals[number], done.get(number, Made()), round)
            tried = bool(view.attempts) and not view.right
            errors, gone = errors + tried, gone + (tried and view.state == "succeeded")
            if view.state == "succeeded":
                succeeded[min(len(view.attempts), 4) - 1] += 1
            failed += view.state == "failed"
            skipped += view.state == "skipped"
        closed = sum(succeeded) + failed + skipped
        one, two, three, four = succeeded
        return Progress(
            offered=len(offered),
            done=closed,
            succeeded_at=(one, two, three, four),
            failed=failed,
            skipped=skipped,
            left=len(offered) - closed,
            set_aside=0 if round.counters else round.incorrect,
            errors=errors if round.counters else None,
            gone=gone,
        )

    def next_open(self, round: Round, after: int | None) -> int | None:
        """The next text that is offered and whose chain is open, in file order from `after` on and then from the top.

        With None, where the annotator stopped: the text that the last attempt left open, else the next one after it.
        None where every chain is closed. In a counter-test those that the classifier gets wrong come first.
        """
        done = self._made(round)
        offered = round.offered()
        states = {
            number: _view(number, round.originals[number], done.get(number, Made()), round).state for number in offered
        }
        if after is None:
            last = last_made(self.log(round.dataset), round.annotator, round.identity)
            if last is not None and states.get(last.sample) == "open":
                return last.sample
            after = 0 if last is None else last.sample
        in_turn = [number for number in offered if number > after] + [number for number in offered if number <= after]
        if round.counters:
            in_turn.sort(key=lambda number: round.originals[number].right)
        return next((number for number in in_turn if states[number] == "open"), None)

    def suggest(
        self,
        round: Round,
        number: int,
        spec: str,
        on_progress: OnProgress = lambda progress: None,
        cancelled: IsCancelled | None = None,
    ) -> list[Suggestion]:
        """Three rephrasings by a model that writes, each with verdict and similarity. Submit one with `suggested=True`.

        The prompt is the one kept in the workspace (`emotui rephrasings prompt`), else this project's.

        Raises:
            ModelError: the model cannot write (naming the kinds that can), died, or never wrote three.
            Cancelled: `cancelled()` became true.
        """
        original = self._original(round, number)
        return suggestions(
            self._typing,
            self._process(spec),
            round.classifier,
            original.sample.text,
            original.gold,
            prompts=kept_prompts(self.store),
            progress=lambda step: on_progress(RunProgress("", spec, 0, 0, 0, None, None, step)),
            cancelled=cancelled,
        )

    def _made(self, round: Round) -> dict[int, Made]:
        return made(self.log(round.dataset).in_force(), round.annotator, round.identity)

    def _original(self, round: Round, number: int) -> Original:
        if number not in round.originals:
            raise BadInput(f"there is no text {number} with a gold label in {round.dataset.name}")
        return round.originals[number]

    def _check_open(self, round: Round, number: int, *, skipping: bool = False) -> None:
        view = self.chain(round, number)
        if not view.offered:
            raise BadInput("the classifier gets this text wrong already: it is set aside")
        if view.state in ("succeeded", "failed") or (skipping and view.state == "skipped"):
            how = {"succeeded": "has succeeded", "failed": "has failed four times", "skipped": "is skipped"}[view.state]
            raise BadInput(f"this text {how}: undo reopens it")


def _note(before: Sequence[ClassifierMark], number: int, model: str) -> str:
    """What to say of a round that is new because the classifier is another."""
    if not before or number <= len(before):
        return ""
    same = [place for place, mark in enumerate(before, start=1) if mark.spec == model]
    why = (
        f"{model} is not what it was in round {same[-1]}"
        if same
        else f"round {len(before)} was against {before[-1].spec}"
    )
    return f"A new round, {number}: {why}. What was rephrased before stays with its own round."


def _view(number: int, original: Original, one: Made, round: Round) -> ChainView:
    attempts = tuple(
        AttemptView(at, entry.text, entry.predicted, entry.confidence, entry.similarity, entry.suggested)
        for at, entry in one.attempts
    )
    said = tuple(attempt.predicted for attempt in attempts)
    return ChainView(
        number=number,
        id=original.sample.id,
        original=original.sample.text,
        label=original.gold,
        predicted=original.predicted,
        confidence=original.confidence,
        attempts=attempts,
        state=state_of(original.gold, said, skipped=one.skipped, counters=round.counters),
        counters=round.counters,
    )


def _check_length(text: str) -> None:
    if len(text) > LONGEST_REPHRASING:
        raise BadInput(f"the text has {len(text):,} characters; a rephrasing has at most {LONGEST_REPHRASING:,}")
