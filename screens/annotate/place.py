"""Annotate: spans, labels and numbers by letters, caret or mouse; every change is kept, and can be undone."""

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on

from emotui.errors import BadInput
from emotui.screens.actions import Action
from emotui.screens.annotate import drawing, labelling
from emotui.screens.annotate import requests as asking
from emotui.screens.annotate.at_work import AtWork, Borrowing
from emotui.screens.annotate.entry import ACTIONS
from emotui.screens.annotate.marking_keys import MarkingKeys
from emotui.screens.annotate.passage import Passage
from emotui.screens.annotate.writing import ACCEPT, AGREED, ALONE, DO, REDO, SETTLE, UNDO
from emotui.screens.dialogs.choices import Choice, ChoiceDialog
from emotui.screens.dialogs.file import LAYOUTS, FileDialog
from emotui.screens.jobs import NOTHING_WRITTEN
from emotui.screens.keymaps import keyed
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import so_many
from emotui.workbench.annotate.adjudicating import How, fresh, merged
from emotui.workbench.annotate.events import (
    CANNOT_JUDGE,
    SKIP,
    Accept,
    Adopt,
    Reopen,
    Reveal,
    SetFlag,
    SetNote,
    SetNumber,
    SetUnsure,
    Skip,
)
from emotui.workbench.annotate.planning.order import KINDS, Order
from emotui.workbench.annotate.scheme import Group

if TYPE_CHECKING:
    from emotui.screens.annotate.dialogs import AdjudicateDialog
    from emotui.workbench.progress import OnProgress

# What keys do about other texts than the one at work: which is next, in which order, and what all agree about.


class OtherTexts(Borrowing):
    """Goes to other texts, and chooses their order."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._ways: LatestRequest[tuple[int, int, asking.Listed], int | None] = LatestRequest(
            "open texts", self, lambda asked: asking.open_text(self.bench_of, self.adjudicating, *asked), self._go
        )

    def do_next_open_text(self) -> None:
        self._ways.ask((self.at_work.text.number, 1, self.session.listed()))

    def do_previous_open_text(self) -> None:
        self._ways.ask((self.at_work.text.number, -1, self.session.listed()))

    def _go(self, _: object, number: int | None) -> None:
        if number is None:
            self.remark("No other text is open")
        else:
            self.post_message(self.Sought(frozenset({number}), 0))

    def can_sort(self) -> bool:
        """The sources of an adjudication are gone through as they stand."""
        return self.adjudicating is None and self.bench is not None

    def do_sort(self) -> None:
        """Choose in which order one's texts come; `random` again draws another one."""
        bench = self.bench_of

        def chosen(kind: str | None) -> None:
            if kind is None:
                return
            now = bench.chosen
            again = now.kind == "random" and kind == "random"
            wanted = Order() if kind == "fixed" else replace(Order(), kind=kind, seed=now.seed + 1 if again else 0)
            self.order_by(bench, wanted)

        choices = [Choice(kind, kind, about) for kind, about in KINDS.items()]
        self.app.push_screen(ChoiceDialog("Order in which your texts come", choices, bench.chosen.kind), chosen)

    def can_export(self) -> bool:
        """Only a store knows of anybody's answers."""
        return self.bench is not None and self.session.bound.write_rows is not None and self.session.job is None

    def do_export(self) -> None:
        """Write the texts of the list with gold and with what the annotator says."""
        bench, source = self.bench_of, self.session.bound
        numbers = tuple(self.session.listed())

        def write(path: str, on_progress: "OnProgress") -> None:
            assert source.write_rows is not None
            if not bench.accepted():
                raise BadInput(f"{bench.annotator} has accepted no text yet: nothing is written")
            bench.publish()
            source.write_rows(bench.dataset.dataset, numbers, [bench.annotator], path)

        def chosen(path: str) -> None:
            self.session.begin(f"export to {path}", partial(write, path), None, NOTHING_WRITTEN, loses=True)

        who = shown(bench.annotator)
        about = f"{so_many(len(numbers), 'text')} of the list, with gold and what {who} says of them"
        FileDialog(f"Export the annotations of {who}", "annotations.jsonl", LAYOUTS, about).ask(self.app, chosen)

    def do_agreement(self) -> None:
        """Show how far those who say something about these texts agree."""
        self.post_message(self.Turned("Results", "view", "agreement"))


# What keys do about the answer: accepting, revealing, notes and flags, numbers, suggestions, undo and redo.


class AnswerKeys(AtWork):
    """Acts on the answer to the text at work."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._whom: AdjudicateDialog | None = None
        self._people: LatestRequest[int, tuple[str, ...]] = LatestRequest(
            "people", self, lambda _: self.bench_of.people(), self._name_people
        )
        self._asked_about: int | None = None
        self._silent_before: set[str] = set()  # who accepted a text with nothing marked

    def can_answer(self, action: str) -> bool:
        """What needs an answer that is given, or one that is not, can be done only then."""
        work, said = self.at_work, self.at_work.said
        if work.marking.hints:
            return False
        match action:
            case "pass_over" | "cannot_judge":
                return not work.marking.selecting and work.suggested is None
            case "stay":
                open_still = not said.accepted or bool(said.skipped)
                return open_still and not work.marking.selecting and work.suggested is None and not work.offered
            case "accept":
                return not work.marking.selecting
            case "reopen":
                return said.accepted
            case "annotators":
                return said.accepted and not said.skipped
            case "union" | "majority" | "settle":
                return work.standing is not None
            case "borrow":
                return work.standing is None
            case "guidelines":
                return bool(work.scheme.guidelines)
        return True

    def do_accept(self) -> None:
        self._accept(ACCEPT)

    def do_stay(self) -> None:
        self._accept(DO)

    def _accept(self, kind: str) -> None:
        lacking = drawing.missing_parts(self.at_work)
        if lacking:
            self.remark(f"Not yet: {lacking[0]} is missing")
            return
        work = self.at_work
        silent = work.said.answer.silent
        open_still = silent and not work.said.accepted
        asks = self._asks_first(keyed("{accept}" if kind == ACCEPT else "{stay}")) if open_still else ""
        if asks and self._asked_about != work.text.number:
            self._asked_about = work.text.number
            self.remark(asks)
            return
        if silent:
            self._silent_before.add(work.annotator)
            self.remark(f"{shown(work.text.id)} is done, with nothing marked; {keyed('{undo} takes it back')}")
        self.keep(Accept(), kind=kind)
        self.changed()

    def _asks_first(self, again: str) -> str:
        """What is told before a text in which nothing is marked is accepted by the key that is pressed `again`; empty:
        it is accepted at once, as after the first one that somebody accepts so.
        """
        work = self.at_work
        if work.standing is not None and any(not one.answer.silent for one in work.others):
            told = keyed("{union}, {majority}")
            return f"No version is chosen: 1 to {len(work.others)}, {told}; {again} again: nothing is there"
        return "" if work.annotator in self._silent_before else f"Nothing is marked: {again} again accepts it so"

    def do_pass_over(self) -> None:
        self.keep(Skip(SKIP), kind=ACCEPT)
        self.changed()

    def do_cannot_judge(self) -> None:
        self.keep(Skip(CANNOT_JUDGE), kind=ACCEPT)
        self.changed()

    def do_reopen(self) -> None:
        self.keep(Reopen())
        self.changed()

    def do_annotators(self) -> None:
        if self.at_work.said.revealed:
            self.at_work.shows_others = not self.at_work.shows_others
        else:
            self.keep(Reveal())
        self.changed()

    def do_unsure(self) -> None:
        self.keep(SetUnsure(not self.at_work.said.unsure))
        self.changed()

    def do_flag(self) -> None:
        self.keep(SetFlag(not self.at_work.said.flag))
        self.changed()

    def do_note(self) -> None:
        from emotui.screens.annotate.dialogs import NoteDialog

        def written(note: str) -> None:
            if note != self.at_work.said.note:
                self.keep(SetNote(note))
            self.changed()

        field = self.note_field(self.at_work.text.number)
        NoteDialog(self.at_work.said.note, self.session.drafts, field).ask(self.app, written)

    def do_guidelines(self) -> None:
        """Show the guidelines; where they have room beside or under the text, put them away or bring them back."""
        if self.has_room:
            self.without_guidelines = not self.without_guidelines
            self.place_guidelines()
            return
        from emotui.screens.annotate.dialogs import GuidelinesDialog

        self.app.push_screen(GuidelinesDialog(self.at_work.scheme))

    def do_undo(self) -> None:
        self._step(UNDO)

    def do_redo(self) -> None:
        self._step(REDO)

    def _step(self, kind: str) -> None:
        self.at_work.marking.drop()
        self.wish(kind)

    # Adjudication.

    def do_adjudicate(self) -> None:
        """Settle what others disagree about; once more: annotate again."""
        if self.adjudicating is not None:
            self.stop_adjudicating()
            return
        from emotui.screens.annotate.dialogs import AdjudicateDialog

        # Open at once, since Enter would accept an answer here; the people are named in it as soon as they are known.
        self._whom = AdjudicateDialog()
        self._whom.ask(self.app, lambda chosen: self.begin_adjudicating(*chosen))
        self._people.ask(self.at_work.text.number)

    def _name_people(self, _: int, people: tuple[str, ...]) -> None:
        if self._whom is not None:
            self._whom.name_sources(people)

    def take_version(self, digit: str) -> bool:
        """Take the version of the source of this digit; says whether there is one."""
        version = next((one for one in self.at_work.others if one.name.startswith(f"{digit} ")), None)
        if version is None or self.at_work.standing is None:
            return False
        self.keep(Adopt(version.name.partition(" ")[2], fresh(version.answer)))
        self.changed()
        return True

    def do_union(self) -> None:
        self._merge("union")

    def do_majority(self) -> None:
        self._merge("majority")

    def _merge(self, how: How) -> None:
        others = self.at_work.others
        if others:
            names = " + ".join(one.name.partition(" ")[2] for one in others)
            self.keep(Adopt(names, merged([one.answer for one in others], how, self.at_work.scheme)))
            self.changed()

    def do_settle(self) -> None:
        """Settle what all agree about; where some texts were answered by one person alone, those too if one wants."""
        standing = self.at_work.standing
        if standing is None or not standing.alone:
            self.wish(SETTLE, AGREED)
            return

        def chosen(which: str | None) -> None:
            if which is not None:
                self.wish(SETTLE, which)

        n, alone = standing.agreed, standing.alone
        choices = [
            Choice(AGREED, so_many(n, "text"), "that all agree about"),
            Choice(ALONE, so_many(n + alone, "text"), f"these, and {alone} that one alone answered"),
        ]
        self.app.push_screen(ChoiceDialog("Settle at once, where you changed nothing", choices, AGREED), chosen)

    # Numbers.

    def begin_number(self, group: Group) -> None:
        """The digits that follow are of this number."""
        self.at_work.number, self.at_work.typed = group.name, ""
        self.draw_below()

    def press_number(self, key: str, character: str | None) -> bool:
        """A key while a number is typed; says whether it is about it. Any other key leaves the number as it was."""
        work = self.at_work
        group = work.scheme.group(work.number)
        if group is None or group.scale is None:
            return False
        if key == "enter":
            self._take_number(group)
        elif key == "backspace":
            self._back_in_number(group)
        elif character is not None and labelling.may_follow(group.scale, work.typed, character):
            work.typed += character
            if labelling.is_finished(group.scale, work.typed):
                self._take_number(group)
        else:
            work.number = work.typed = ""
            self.changed()
            return key == "escape"
        self.changed()
        return True

    def _back_in_number(self, group: Group) -> None:
        """Take back a digit, else the number that is there, else go to the number before."""
        work = self.at_work
        if work.typed:
            work.typed = work.typed[:-1]
            return
        before = labelling.number_before(work.scheme, group.name)
        if group.name in work.said.values:
            self.keep(SetNumber(group.name, None))
        elif before is not None:
            work.number = before.name

    def _take_number(self, group: Group) -> None:
        """The number is said; the next one that is still open follows without a key between."""
        work, scale = self.at_work, group.scale
        typed, work.number, work.typed = work.typed, "", ""
        try:
            value = float(typed)
        except ValueError:
            return
        if scale is not None and not scale.fits(value):
            between = f"{scale.minimum:g} to {scale.maximum:g} in steps of {scale.step:g}"
            self.remark(f"{group.name} is from {between}")
            return
        following = None if work.said.accepted else labelling.next_number(work, group.name)
        work.number = "" if following is None else following.name
        self.keep(SetNumber(group.name, value))


_OWN = frozenset(action.id for action in ACTIONS)
_UNSEEN = frozenset({"next_open_text", "previous_open_text", "adjudicate", "agreement", "guidelines"})
"""What says nothing of the text that is open."""


class Annotate(MarkingKeys, AnswerKeys, OtherTexts):
    """Says what each key does in the text: one about a number, a letter of a hint, a label, or an action."""

    on_sight = _OWN - _UNSEEN | {"undo", "redo", "note"}

    @property
    def takes_letters(self) -> bool:
        return self.work is not None and bool(self.work.marking.hints)

    def press(self, key: str, character: str | None) -> bool:
        """Do what a key does in the text; says whether it does anything here."""
        work = self.work
        if work is None:
            return False
        mine = [action for action in self.session.keymap.on(key) if action.id in _OWN]
        if work.text.number != self._sample or self._goes_on or (self.suggesting and self.busy):
            # The text that it is about, or what is suggested of it, is on its way; so is what was pressed before.
            waits = bool(mine or self._early) or character in labelling.keys_of(work.scheme)
            waits = waits or (character is not None and labelling.begins_number(work, character))
            if waits:
                self._early.append((key, character))
            return waits
        if self.choosing:  # the list of sources is on its way: what is pressed is meant for it
            self._early.append((key, character))
            return True
        if work.number and self.press_number(key, character):
            return True
        if work.marking.hints and self.press_hint(key, character):
            return True
        if character is not None and (self._press_label(character) or self._press_version(character)):
            return True
        able = next((action for action in mine if self.can(action.id)), None)
        do = self.doing(able.id) if able is not None else None
        if do is None:
            return False
        do()
        return True

    def _press_version(self, character: str) -> bool:
        """A digit of a source, whether it says something of the text or not: digits open no places meanwhile."""
        adjudicating = self.adjudicating
        if self.at_work.standing is None or adjudicating is None or character not in "0123456789":
            return False
        if not self.take_version(character):
            names = dict(enumerate(adjudicating.sources, 1))
            silent = f"{shown(names[int(character)])} says nothing of this text" if int(character) in names else ""
            self.remark(silent or keyed(f"There are {len(names)} sources; {{adjudicate}} ends the adjudication"))
        return True

    def _press_label(self, character: str) -> bool:
        work = self.at_work
        marking = work.marking
        on_span = marking.selecting or marking.chosen is not None
        pressed = labelling.meant(work.scheme, character, on_span=on_span, any_case=marking.waits_for_label)
        if pressed is not None:
            self.label(pressed)
            return True
        relation = labelling.relation_meant(work.scheme, character)
        if relation is not None:
            self.relate(relation)
            return True
        number = labelling.number_meant(work.scheme, character)
        if number is not None:
            self.begin_number(number)
        return number is not None

    @property
    def reads(self) -> bool:
        return self.work is None and self._sample is not None and self._standing is not None and self._standing.busy

    @property
    def at_once(self) -> Collection[str]:
        """To answer, and to mark where texts have spans."""
        dataset = self.session.overview.dataset
        if self.work is not None or self._standing is None or dataset is None:
            return ()
        marks = ("begin", "hints") if dataset.task == "spans" else ()
        return (*marks, "accept", "stay", "next")

    def can(self, action: str) -> bool:
        """Whether it can be done now."""
        if self.work is None:
            return False
        if self.doing(action) is None:
            return False
        if action == "sort":
            return not self.takes_letters and self.can_sort()
        return self.can_mark(action) if hasattr(MarkingKeys, f"do_{action}") else self.can_answer(action)

    def lacking(self, action: str) -> str:
        """What the text that is open lacks for it; empty: nothing that is known here."""
        if self.work is None or not hasattr(MarkingKeys, f"do_{action}"):
            return ""
        if self.work.marking.hints:
            return "a letter stands on each word: type one"
        if self.work.scheme.asks_of_places:
            return ""
        return "nothing is marked here: the scheme asks about texts as a whole"

    @property
    def own_keys(self) -> tuple[Action, ...]:
        """The labels and numbers of the scheme."""
        return () if self.work is None else tuple(labelling.key_actions(self.work.scheme))

    def tell(self, what: str, value: object) -> None:
        if what == "label" and isinstance(value, str):
            self.press(value, value)
        elif what == "label_at" and self.work is not None and isinstance(value, int):
            self.label(labelling.all_labels(self.work.scheme)[value])
        elif what == "version" and self.work is not None:
            self.take_version(str(value))

    # The mouse.

    @property
    def selected_text(self) -> str:
        """The words that are selected, which y copies."""
        stretch = None if self.work is None else self.work.marking.selection
        return "" if self.work is None or stretch is None else self.work.text.text[slice(*stretch)]

    @on(Passage.Pointed)
    def _pointed(self, event: Passage.Pointed) -> None:
        event.stop()
        if self.work is None:
            return
        marking = self.work.marking
        marking.hints = {}
        if event.mark is not None:
            marking.choose(event.mark)
        elif event.start < event.end:
            marking.select(event.start, event.end, words=not event.exactly)
        else:
            marking.put(event.start)
            around = marking.under
            if around is not None:
                marking.choose(around.id)
        self.changed()
