"""What the Annotate place asks the workbench for, each question answered in a thread."""

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from emotui.errors import EmotuiError
from emotui.screens.annotate.entry import reserved
from emotui.screens.annotate.units import TextUnits
from emotui.screens.widgets.number_format import RIGHT
from emotui.workbench.annotate import fitted
from emotui.workbench.annotate.adjudicating import Adjudicating
from emotui.workbench.annotate.adjudicating import Standing as Adjudicated
from emotui.workbench.annotate.answers import AnnotatedText
from emotui.workbench.annotate.fits import strange_labels
from emotui.workbench.annotate.marks import Said
from emotui.workbench.annotate.others import PERSON, OtherSaid
from emotui.workbench.annotate.planning.order import Order
from emotui.workbench.annotate.service import Annotating, Progress

if TYPE_CHECKING:
    from emotui.workbench.annotate.desk import Desk
    from emotui.workbench.progress import OnProgress


Listed = Iterable[int]
"""Numbers of texts, as the list has them."""


class Standing(msgspec.Struct, frozen=True):
    """How does this text stand, for this annotator?"""

    dataset: int
    sample: int
    annotator: str


class Stood(msgspec.Struct, frozen=True):
    """How it stands.

    `tags`: what the list says beside each text. `standing`: how far the adjudication is, where it is one. `role`:
    `training` or `check`, where the text is one whose answer is told. `consent`: the words to agree to before the first
    text, where that is still to be done. `strange`: emotions of a dataset of whole texts for which its scheme of spans
    has no label.
    """

    bench: Annotating
    text: AnnotatedText
    units: TextUnits
    said: Said
    progress: Progress
    others: tuple[OtherSaid, ...]
    tags: Mapping[int, str]
    standing: "Adjudicated | None" = None
    consent: str = ""
    role: str = ""
    strange: tuple[str, ...] = ()


class Benches:
    """The annotator's work on each dataset, begun when it is first asked for."""

    def __init__(self, desk_of: "Callable[[], Desk]") -> None:
        self._desk_of = desk_of
        self._known: dict[tuple[int, str], Annotating] = {}
        self._lock = threading.Lock()

    def of(self, dataset: int, annotator: str) -> Annotating:
        """The work of this annotator on a dataset.

        Raises:
            EmotuiError: there is no scheme for it, or a key of the scheme is the place's.
        """
        with self._lock:
            if (dataset, annotator) not in self._known:
                self._known[dataset, annotator] = self._desk_of().begin(dataset, annotator, reserved=reserved())
            return self._known[dataset, annotator]

    def adjudicate(self, dataset: int, sources: tuple[str, ...], name: str) -> Adjudicating:
        """Begin to settle what these sources disagree about, or go on with it.

        Raises:
            EmotuiError: fewer than two sources, an unknown one, or the name of one of them.
        """
        return self._desk_of().adjudicate(dataset, sources, name, reserved=reserved())


def stand(benches: Benches, asked: Standing, adjudicating: Adjudicating | None) -> Stood:
    """Everything about a text that is selected.

    Raises:
        EmotuiError: it cannot be read, or nothing can be annotated in its dataset.
    """
    if adjudicating is not None and adjudicating.work.dataset.dataset == asked.dataset:
        bench = adjudicating.work
    else:
        adjudicating, bench = None, benches.of(asked.dataset, asked.annotator)
    bench.refresh()
    text, said = bench.text(asked.sample), bench.said(asked.sample)
    told = text.sentences if len(text.sentences) > 1 else ()
    units = TextUnits(text.text, told)
    units.words(0, min(len(text.text), 4000))
    if adjudicating is None:
        there = others(bench, asked.sample, said)
        return Stood(
            bench,
            text,
            units,
            said,
            bench.progress(),
            there,
            tags(bench),
            consent=bench.consent(),
            role=bench.role(asked.sample),
            strange=strange_labels(bench.store, bench.dataset, bench.scheme),
        )
    there = versions(adjudicating, asked.sample)
    signs, standing = adjudication_tags(adjudicating), adjudicating.standing()
    return Stood(bench, text, units, said, bench.progress(), there, signs, standing)


def adjudication_tags(adjudicating: Adjudicating) -> Mapping[int, str]:
    """What the list says beside each text: the sources disagree, or it is settled."""
    settled = dict.fromkeys(adjudicating.work.accepted(), RIGHT)
    return {**dict.fromkeys(adjudicating.disagreed, "≠"), **settled}


def versions(adjudicating: Adjudicating, sample: int) -> tuple[OtherSaid, ...]:
    """What each source says of a text, its digit before its name; those that say nothing are left out."""
    voices = enumerate(adjudicating.voices(sample), 1)
    return tuple(
        OtherSaid(f"{place} {voice.source}", PERSON, voice.answer)
        for place, voice in voices
        if voice.answer is not None
    )


def others(bench: Annotating, sample: int, said: Said) -> tuple[OtherSaid, ...]:
    """What gold, models and other people say, once it is revealed."""
    if not said.revealed:
        known = bench.known_answer(sample) if said.accepted and not said.skipped else None
        return () if known is None else (known,)
    try:
        return bench.others(sample)
    except EmotuiError:
        return ()


def tags(bench: Annotating) -> Mapping[int, str]:
    """What the list says beside each text that has an answer."""
    return {**dict.fromkeys(bench.accepted(), RIGHT), **dict.fromkeys(bench.skipped(), "–")}


def open_text(
    bench: Annotating, adjudicating: Adjudicating | None, sample: int, step: int, listed: Listed
) -> int | None:
    """The next text of the list without an answer, or with -1 the one before; None where there is none.

    While one adjudicates, the next that the sources disagree about.

    Args:
        listed: what the list holds, in its order.
    """
    order = listed if isinstance(listed, range) else [int(number) for number in listed]
    if adjudicating is not None:
        found = adjudicating.next_disagreement(sample, backwards=step < 0, within=order)
        return None if found == sample else found
    if step > 0:
        found = bench.next_open(sample, within=order)
        return None if found == sample else found
    done = bench.accepted()
    place = order.index(sample) if sample in order else len(order)
    return next((order[at] for at in range(place - 1, -1, -1) if order[at] not in done), None)


# Heads fitted to one's own answers.


def can_fit(bench: Annotating) -> bool:
    """Whether the scheme asks for what heads can be fitted to, of an annotator's own."""
    return bench.blind and fitted.can_fit(bench.dataset, bench.scheme)


def fit(bench: Annotating, on_progress: "OnProgress", cancelled: Callable[[], bool]) -> fitted.Fitted:
    """Fit them. Raises as `emotui.workbench.annotate.fitted.refit`."""
    scheme, name = bench.scheme, bench.annotator
    return fitted.refit(bench.store, bench.dataset, scheme, name, on_progress=on_progress, cancelled=cancelled)


def arrange(bench: Annotating, order: Order) -> None:
    """Choose an order; `uncertain` goes by the heads, where some are fitted, else by the newest run.

    Raises:
        BadInput: there is nothing to go by.
    """
    heads = fitted.source_of(bench.store, bench.dataset, bench.annotator) if order.kind == "uncertain" else None
    bench.choose(order if heads is None else replace(order, sources=(heads.run,)))
