"""What the Rephrase place asks the workbench for, each question answered in a thread of its desk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from emotui.errors import EmotuiError
from emotui.screens.widgets.number_format import RIGHT, share

if TYPE_CHECKING:
    from emotui.metrics.lexical import Lexical
    from emotui.metrics.rephrasings import Change
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import CarryingWords, ChainView, Live, Outcome, Progress, Round

# What the panes of Rephrase are drawn from, and which actions make sense as it stands.


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it is before anything was asked about it."""

    number: int
    id: str
    text: str
    gold: str
    counters: bool = False
    """Is it a text of a counter-test?"""


@dataclass(slots=True)
class ChainState:
    """All that the panes are drawn from; what has not come yet is None."""

    round: "Round | None" = None
    chain: "ChainView | None" = None
    waiting: "Text | None" = None
    """The text at work while its round has not begun: it can be written already."""
    submits: str = ""
    """What was submitted while its round had not begun: it is, once it has; empty: nothing."""
    history: tuple[float, ...] = ()
    """The probability of gold after each key that was answered, since the text was put into the editor."""
    progress: "Progress | None" = None
    live: "Live | None" = None
    words: "CarryingWords | None" = None
    before: "Lexical | None" = None
    now: "Lexical | None" = None
    warnings: tuple[str, ...] = ()
    nearness: tuple[float | None, bool] = (None, False)
    """The similarity to the original, and whether it is that of the text as it is now."""
    difference: "Sequence[Change]" = ()
    suggested: bool = False
    draft: str = ""
    """What is told of a draft that stands in the editor as it came back."""
    drafts: tuple[tuple[str, str], ...] = ()
    """What else was written for this text and never submitted: what is told of each, and the text."""
    last: str = ""
    trouble: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which actions make sense.

    Args:
        mode: writing, figures or review: which panes are shown.
        chain: the text at work; None also where no round is.
        waiting: whether a text can be written before its round has begun.
        refused: whether the round could not begin.
        beginning: whether a round is being begun.
        editing: whether the editor has the keys.
        written: whether something stands in the editor that can be changed.
        acting: whether a decision is being kept.
        others_written: whether another draft of the text can be taken into the editor.
        others_open: whether any text of the round is open.
        judging: whether the review shows a rephrasing.
        judged: whether the review has a judgement to take back.
        several: whether the view of writing has several parts.
    """

    mode: str
    chain: "ChainView | None"
    waiting: bool
    refused: bool
    beginning: bool
    editing: bool
    written: bool
    acting: bool
    others_written: bool
    others_open: bool
    judging: bool
    judged: bool
    several: bool

    def makes_sense(self, action: str) -> bool:
        """Can this action be done now?"""
        if action == "write" and self.refused:
            return True
        if action == "leave":
            return self.editing or self.mode != "writing"
        if action == "clear_text":
            return self.editing and self.written
        if self.waiting and action in ("write", "submit"):
            return self.editing == (action == "submit")
        if self.beginning or self.chain is None:
            return False
        match action:
            case "annotators":
                return self.mode == "figures"
            case "words" if not self.editing:
                return False
            case "figures" if self.chain.counters:
                return False
            case "other_draft" if not self.others_written:
                return False
            case "judge":
                return self.judging
            case "part" | "part_back":
                return self.mode == "writing" and self.several
            case "next_open" | "previous_open":
                return self.others_open if self.mode == "writing" else self.mode == "review"
        if action not in _WRITING:
            return True
        if self.mode == "review":
            return action == "undo" and self.judged
        if self.mode != "writing":
            return action in ("view", "view_back") and self.mode == "figures"
        if action in _OPEN:
            return is_open(self.chain) and not self.acting and (self.editing or action != "submit")
        return not (action == "write" and self.editing)


def is_open(chain: "ChainView") -> bool:
    """Whether an attempt at this text can be submitted."""
    return chain.offered and chain.state == "open"


_WRITING = ("submit", "write", "skip", "suggest", "undo", "redo", "words", "view", "view_back", "copy", "other_draft")
_OPEN = ("submit", "skip", "suggest", "other_draft")


MARKED = 4000
"""Characters up to which cue words are looked up as one types: that takes under a millisecond per thousand."""


def read_text(service: "Rephrasing", number: int) -> Text:
    """A text, before anything is asked about it.

    Raises:
        EmotuiError: it cannot be read.
    """
    record = service.text(number)
    from emotui.workbench.rephrase.views import counters

    of = service.store.datasets.of_sample(number)
    return Text(number, record.id, record.text, record.label or "none", of is not None and counters(of))


@dataclass(frozen=True, slots=True)
class Standing:
    """How does this text stand? `arriving`: and where did one stop?"""

    round: "Round"
    number: int
    arriving: bool = False


@dataclass(frozen=True, slots=True)
class Stood:
    """How a text stands, and the others beside it. `resume`: where to go on, if not here."""

    round: "Round"
    chain: "ChainView"
    progress: "Progress"
    tags: Mapping[int, str]
    open: frozenset[int]
    before: "Lexical | None"
    lexicon: Any
    resume: int | None


def stand(service: "Rephrasing", asked: Standing) -> Stood:
    """Everything about the selected text that does not follow typing.

    Raises:
        EmotuiError: it is not in the round, or the store cannot be read.
    """
    views = service.views(asked.round)
    chain = views.get(asked.number) or service.chain(asked.round, asked.number)
    lexicon = _lexicon()
    resume = None
    if asked.arriving and not is_open(chain):
        resume = service.next_open(asked.round, None)
    return Stood(
        round=asked.round,
        chain=chain,
        progress=service.progress(asked.round),
        tags={number: tag(view) for number, view in views.items()},
        open=frozenset(number for number, view in views.items() if is_open(view)),
        before=lexical_of(chain.original, chain.label, lexicon),
        lexicon=lexicon,
        resume=resume,
    )


_MISREAD = "misread"


def tag(chain: "ChainView") -> str:
    """A chain in seven cells of the list: succeeded at which attempt, failed, skipped, at which attempt, set aside.

    Of a text that the classifier reads wrong as it is, nothing is to be rewritten, but in a counter-test.
    """
    if not chain.offered:
        return _MISREAD
    tries = len(chain.attempts)
    match chain.state:
        case "succeeded":
            return f"{RIGHT} at {tries}"
        case "failed":
            return "failed"
        case "skipped":
            return "skip"
    if not tries:
        return "" if chain.right else _MISREAD
    return f"{tries} of 4"


def _lexicon() -> Any:
    """EmoLex, or None where it is not installed."""
    from emotui.lexicons import emolex

    try:
        return emolex()
    except EmotuiError:
        return None


def lexical_of(text: str, label: str, lexicon: Any) -> "Lexical | None":
    """What the words of a text say beside its label; None without a word list, or for a label outside its emotions."""
    from emotui.metrics.lexical import lexical

    if lexicon is None:
        return None
    try:
        return lexical(text, label, lexicon, inflections=True)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Typed:
    """A text as it was at one moment. `similar`: whether its similarity is asked for too, which takes as long again."""

    round: "Round"
    chain: "ChainView"
    text: str
    generation: int
    similar: bool = False


@dataclass(frozen=True, slots=True)
class Followed:
    """What follows from a text."""

    live: "Live"
    warnings: tuple[str, ...]
    difference: "Sequence[Change]"


def follow(service: "Rephrasing", typed: Typed) -> Followed:
    """The classifier's answer, the similarity, and what there is to warn of."""
    from emotui.metrics.rephrasings import warnings, word_diff

    chain = typed.chain
    live = service.live(typed.round, chain.number, typed.text, typed.generation, similar=typed.similar)
    earlier = [one.text for one in chain.attempts]
    return Followed(
        live,
        tuple(warnings(chain.original, earlier, typed.text, live.similarity)),
        word_diff(chain.original, typed.text),
    )


def carrying(service: "Rephrasing", typed: Typed, newest: Callable[[int], bool]) -> "CarryingWords | None":
    """The words that carry the verdict; None where something was typed meanwhile."""
    return service.words(typed.round, typed.chain.number, typed.text, lambda: not newest(typed.generation))


def still_there(words: "CarryingWords", text: str) -> "CarryingWords":
    """What was found of an earlier text, of those words alone that stand in this one: around what has changed."""
    before = _alike(words.text, text)
    behind = min(_alike(words.text[::-1], text[::-1]), min(len(words.text), len(text)) - before)
    moved, last = len(text) - len(words.text), len(words.text) - behind

    def left(drops: tuple[tuple[int, int, float], ...]) -> tuple[tuple[int, int, float], ...]:
        there = (one for one in drops if one[1] <= before or one[0] >= last)
        return tuple(one if one[1] <= before else (one[0] + moved, one[1] + moved, one[2]) for one in there)

    return replace(words, text=text, gold=left(words.gold), top=left(words.top))


def _alike(one: str, other: str) -> int:
    """With how many characters both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


@dataclass(frozen=True, slots=True)
class Act:
    """A decision about a text: submit, skip, undo, redo."""

    kind: str
    round: "Round"
    chain: "ChainView"
    text: str
    suggested: bool


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it, in words, and which text to go to.

    `reopened`: the chain that is open again, what was written for it, and whether a model wrote that.
    """

    said: str
    go: int | None
    reopened: "tuple[ChainView, str, bool] | None" = None


def act(service: "Rephrasing", asked: Act) -> Done:
    """Do it, and find where one writes next.

    Raises:
        EmotuiError: it cannot be done (an empty text, a closed chain, a read-only workspace); nothing was changed.
    """
    round_, chain = asked.round, asked.chain
    match asked.kind:
        case "submit":
            outcome = service.submit(round_, chain.number, asked.text, suggested=asked.suggested)
            go = chain.number if outcome.state == "open" else service.next_open(round_, chain.number)
            return Done(f"{chain.id}: {said(chain, outcome)}", go)
        case "skip":
            service.skip(round_, chain.number)
            return Done(f"{chain.id}: skipped", service.next_open(round_, chain.number))
        case "undo":
            return _undone(service, round_)
        case _:
            number = service.redo(round_)
            if number is None:
                return Done("Nothing was undone that could be put back.", None)
            there = service.chain(round_, number)
            go = number if is_open(there) else service.next_open(round_, number)
            return Done(f"{there.id}: put back, {there.state}", go)


def _undone(service: "Rephrasing", round_: "Round") -> Done:
    before = service.views(round_)
    number = service.undo(round_)
    if number is None:
        return Done("Nothing of this round is left to take back.", None)
    was, now = before[number], service.chain(round_, number)
    if len(was.attempts) > len(now.attempts):
        last = was.attempts[-1]
        said_ = f"{now.id}: attempt {len(was.attempts)} taken back"
        return Done(said_, number, (now, last.text, last.suggested))
    return Done(f"{now.id}: no longer skipped", number)


def said(chain: "ChainView", outcome: "Outcome") -> str:
    """What came of an attempt."""
    sure = f"{chain.label} {share(outcome.confidence).strip()}"
    match outcome.state:
        case "succeeded" if chain.counters and not chain.right:
            return f"the error is gone at attempt {outcome.attempt}: read as {outcome.predicted}"
        case "succeeded" if chain.counters:
            return f"no error comes: still read as {outcome.predicted}"
        case "succeeded":
            near = "" if outcome.similarity is None else f", similarity {share(outcome.similarity).strip()}"
            return f"the model reads {outcome.predicted} at attempt {outcome.attempt} ({sure}){near}"
        case "failed" if chain.counters:
            return f"not right after {outcome.attempt} attempts: read as {outcome.predicted} ({sure})"
        case "failed":
            return f"failed: still {outcome.predicted} after {outcome.attempt} attempts ({sure})"
    still = "" if chain.counters and outcome.predicted != chain.predicted else "still "
    return f"attempt {outcome.attempt} is {still}read as {outcome.predicted} ({sure})"


def export(service: "Rephrasing", round_: "Round", path: str) -> int:
    """Write the chains of everybody's work on the round's texts to a file, of a counter-test the pairs; how many.

    Raises:
        BadInput: the place cannot be written.
    """
    from emotui.formats import check_not_over, write

    check_not_over(path, service.store.path)
    if round_.counters:
        from emotui.workbench.rephrase.contrast import kept_pairs

        return write(path, kept_pairs(service, round_.dataset.dataset))
    return write(path, service.chains(round_.dataset.dataset))
