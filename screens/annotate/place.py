"""Annotate: spans, labels and numbers by letters, caret or mouse; every change is kept, and can be undone."""

from textual import on

from emotui.screens.actions import Action
from emotui.screens.annotate import labelling
from emotui.screens.annotate.answer_keys import AnswerKeys
from emotui.screens.annotate.entry import ACTIONS
from emotui.screens.annotate.marking_keys import MarkingKeys
from emotui.screens.annotate.other_texts import OtherTexts
from emotui.screens.annotate.passage import Passage

_OWN = frozenset(action.id for action in ACTIONS)


class Annotate(MarkingKeys, AnswerKeys, OtherTexts):
    """Says what each key does in the text: one about a number, a letter of a hint, a label, or an action."""

    @property
    def takes_letters(self) -> bool:
        return self.work is not None and bool(self.work.marking.hints)

    def press(self, key: str, character: str | None) -> bool:
        """Do what a key does in the text; says whether it does anything here."""
        work = self.work
        if work is None:
            return False
        mine = [action for action in self.session.keymap.on(key) if action.id in _OWN]
        if work.text.number != self._sample:
            # The text that it is about is on its way.
            waits = bool(mine) or character in labelling.keys_of(work.scheme)
            if waits:
                self._early.append((key, character))
            return waits
        if work.number and self.press_number(key, character):
            return True
        if work.marking.hints and self.press_hint(key, character):
            return True
        if character is not None and (self._press_label(character) or self.take_version(character)):
            return True
        able = next((action for action in mine if self.can(action.id)), None)
        do = self.doing(able.id) if able is not None else None
        if do is None:
            return False
        do()
        return True

    def _press_label(self, character: str) -> bool:
        work = self.at_work
        marking = work.marking
        on_span = marking.selecting or marking.chosen is not None
        pressed = labelling.meant(work.scheme, character, on_span=on_span, any_case=marking.waits_for_label)
        if pressed is not None:
            self.label(pressed)
            return True
        number = labelling.number_meant(work.scheme, character)
        if number is not None:
            self.begin_number(number)
        return number is not None

    def can(self, action: str) -> bool:
        """Whether it can be done now."""
        if self.work is None or self.doing(action) is None:
            return False
        if action == "sort":
            return not self.takes_letters and self.can_sort()
        return self.can_mark(action) if hasattr(MarkingKeys, f"do_{action}") else self.can_answer(action)

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
