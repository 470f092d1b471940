"""What keys do in the text: letters, caret, selection, borders, walking and removing."""

from collections.abc import Callable

from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.screens.annotate import labelling
from emotui.screens.annotate.at_work import AtWork
from emotui.screens.annotate.marking import CHARACTER, CLAUSE, SENTENCE, WORD, alphabet
from emotui.screens.keymaps import keyed
from emotui.screens.widgets.page import Ended
from emotui.workbench.annotate.answers import new_id
from emotui.workbench.annotate.events import (
    AddSpan,
    Event,
    MoveBorder,
    RemoveSpan,
    Reveal,
    SetWord,
    SuggestionMended,
    SuggestionRefused,
    SuggestionTaken,
)
from emotui.workbench.annotate.fits import check
from emotui.workbench.annotate.scheme import MASK, Relation

_BORDERS = ("start_left", "start_right", "end_left", "end_right")
_LINES = ("line_up", "line_down", "text_up", "text_down")
"""What moves the text too, where it is longer than the pane."""


class MarkingKeys(AtWork):
    """Acts on the text at work."""

    def can_mark(self, action: str) -> bool:
        """What needs a word, a span or a selection can be done only where there is one. Letters go before all else."""
        work, marking = self.at_work, self.at_work.marking
        if marking.hints:
            return action == "drop"
        if action == "hints" and work.scheme.of(MASK):
            return bool(work.text.masks)
        if action == "labels":
            return bool(labelling.all_labels(work.scheme))
        if action in ("hints", "begin"):
            free = action == "hints" or not marking.selecting
            return work.scheme.spans and marking.caret is not None and free
        if action == "close":
            return marking.selecting
        if action == "take_span":
            return work.suggested is not None or (bool(work.offered) and not marking.selecting)
        if action == "remove" or action in _BORDERS:
            under = marking.under
            mine = under is not None and (work.is_own(under) or work.standing is None)
            refuses = action == "remove" and under is None and bool(work.offered)
            return (mine or refuses) and not marking.selecting
        if action == "join":
            return work.scheme.parts and not marking.selecting and bool(labelling.joined(work).events)
        if action == "drop":
            return marking.selecting or marking.chosen is not None or work.tie is not None
        if action in ("walk", "walk_back"):
            # The other span of a relation is looked for in a circle; else Tab goes on to the next pane at the end.
            further = bool(marking.spans) if work.tie is not None else marking.walks(1 if action == "walk" else -1)
            return further or self.reveals
        return marking.caret is not None and (work.scheme.asks_of_places or action in _LINES)

    # Letters.

    def do_hints(self) -> None:
        if self.at_work.scheme.of(MASK):
            self._ask_word()
            return
        self._deal(self.passage.in_sight[0])
        if self.at_work.marking.hints:
            self.passage.focus()  # the letters are for the text, wherever they were asked for
        else:
            self.remark("No word is in sight: the caret goes by characters with ⇧← ⇧→")
        self.changed()

    def _deal(self, start: int, *, go_on: bool = False) -> None:
        """Deal letters to the words that they have room under, from the line of an offset on."""
        starts = [word for word, _ in self.words_for_letters(start)]
        letters = alphabet(labelling.keys_of(self.at_work.scheme))
        self.at_work.marking.show_hints(starts, letters, go_on=go_on)

    def _deal_further(self) -> None:
        """Deal letters to the words after those that have some; after the last ones to the first."""
        marking = self.at_work.marking
        words = [start for start, _ in marking.units.words(0, len(self.at_work.text.text))]
        if len(marking.dealt) < len(words):
            last = max(marking.dealt)
            self._deal(next((start for start in words if start > last), 0), go_on=marking.ends_hinted)

    def _ask_word(self) -> None:
        """Ask for the word of the next mask that has none, from the caret on; else of the first."""
        from emotui.screens.annotate.dialogs import WordDialog

        work = self.at_work
        masks, words = work.text.masks, work.said.words
        from_here = [place for place, (_, end) in enumerate(masks) if end > work.marking.at]
        order = [*from_here, *(place for place in range(len(masks)) if place not in from_here)]
        place = next((place for place in order if not words.get(place)), order[0])
        work.marking.put(masks[place][0])
        self.changed()

        def written(word: str) -> None:
            self.keep(SetWord(place, word))
            self.changed()

        WordDialog(place, len(masks), words.get(place, "")).ask(self.app, written)

    def press_hint(self, key: str, character: str | None) -> bool:
        """A key while letters are shown; says whether it is about them."""
        work = self.at_work
        marking = work.marking
        if key == "escape":
            marking.drop()
        elif key == "backspace":
            marking.typed = marking.typed[:-1]
        elif character is None:
            return False
        elif character == " ":
            self._deal_further()
        elif marking.ends_hinted and not marking.typed and (one := self._label_of_span(character)) is not None:
            # A label's key after the first letters marks that one word.
            marking.hints = {}
            self.label(one)
            return True
        else:
            ended = marking.type_hint(character)
            if ended and work.scheme.span_labels is None:
                self.mark(None)
                return True
        self.changed()
        return True

    def _label_of_span(self, character: str) -> labelling.Pressed | None:
        pressed = labelling.meant(self.at_work.scheme, character, on_span=True, any_case=True)
        return pressed if pressed is not None and pressed.group == self.at_work.scheme.span_labels else None

    # Labels.

    def label(self, pressed: labelling.Pressed) -> None:
        """Say this label of what is selected, chosen or under the caret."""
        self._carry_out(labelling.outcome(self.at_work, pressed))
        if pressed.group == self.at_work.scheme.span_labels:
            self.last_label = pressed.label.name

    def do_labels(self) -> None:
        """Choose a label by some of its name."""
        from emotui.screens.annotate.dialogs import LabelDialog

        labels = labelling.all_labels(self.at_work.scheme)
        several = len({one.group.name for one in labels}) > 1
        named = [
            (one.label.name, "  ".join(part for part in (one.label.key, one.group.name * several) if part))
            for one in labels
        ]
        LabelDialog(named).ask(self.app, lambda place: self.label(labels[place]))

    def mark(self, label: str | None) -> None:
        """Make the selection a span."""
        self._carry_out(labelling.mark(self.at_work, label))

    def _carry_out(self, outcome: labelling.Outcome) -> None:
        self.keep(*outcome.events)
        if outcome.made is not None:
            self.at_work.marking.close(outcome.made)
        if outcome.go is not None:
            self.at_work.marking.put(outcome.go)
        self.changed()

    def do_close(self) -> None:
        self.mark(self.last_label if self.at_work.scheme.span_labels is not None else None)

    # The caret.

    def _move(self, unit: str, step: int) -> None:
        marking = self.at_work.marking
        before = marking.at
        marking.move(unit, step)
        self._told_if_at(before, step)
        self.changed()

    def _told_if_at(self, before: int, step: int) -> None:
        """Tell where the caret could go no further."""
        if self.at_work.marking.at == before:
            self.passage.post_message(Ended(f"the text {'ends' if step > 0 else 'begins'} here"))

    def do_word_left(self) -> None:
        self._move(WORD, -1)

    def do_word_right(self) -> None:
        self._move(WORD, 1)

    def do_character_left(self) -> None:
        self._move(CHARACTER, -1)

    def do_character_right(self) -> None:
        self._move(CHARACTER, 1)

    def do_clause_left(self) -> None:
        self._move(CLAUSE, -1)

    def do_clause_right(self) -> None:
        self._move(CLAUSE, 1)

    def do_sentence_left(self) -> None:
        self._move(SENTENCE, -1)

    def do_sentence_right(self) -> None:
        self._move(SENTENCE, 1)

    def _to_line(self, step: int) -> None:
        marking = self.at_work.marking
        before = marking.at
        marking.go_to(self.passage.line_from(before, step))
        self._told_if_at(before, step)
        self.changed()

    def do_line_up(self) -> None:
        self._to_line(-1)

    def do_line_down(self) -> None:
        self._to_line(1)

    def do_text_up(self) -> None:
        self._to_line(-max(self.passage.size.height // 2, 1))

    def do_text_down(self) -> None:
        self._to_line(max(self.passage.size.height // 2, 1))

    def do_begin(self) -> None:
        self.at_work.marking.begin()
        self.changed()

    def do_join(self) -> None:
        self._carry_out(labelling.joined(self.at_work))

    def relate(self, relation: Relation) -> None:
        """Begin a relation in the chosen span, or end the one that is begun in it."""
        work, span = self.at_work, self.at_work.marking.under
        if span is None or not work.is_own(span):
            self.remark(keyed(f"{relation.name} begins in a span: {{walk}} chooses one"))
            return
        begun, work.tie = work.tie, None
        if begun is None or begun[0] != relation.name:
            work.tie = (relation.name, span.id)
            work.marking.choose(span.id)
        elif begun[1] != span.id:
            event = labelling.related(work, relation.name, begun[1], span.id)
            try:
                check(work.scheme, work.text, work.said, event)
            except BadInput as error:
                self.remark(str(error))
            else:
                self.keep(event)
            work.marking.choose(begun[1])
        self.changed()

    def do_drop(self) -> None:
        if self.at_work.tie is not None:
            self.at_work.tie = None
            self.changed()
            return
        self.at_work.marking.drop()
        self.changed()

    # The span under the caret.

    def _border(self, border: str, step: int) -> None:
        work = self.at_work
        span = work.marking.under
        place = None if span is None else work.marking.moved(span, border, step)
        if span is None or place is None:
            return
        mended = replace(span, start=place[0], end=place[1])
        self._of_span(work.is_own(span), MoveBorder(span.id, *place), lambda source: SuggestionMended(source, mended))
        work.marking.choose(span.id)
        self.changed()

    def _of_span(self, own: bool, event: Event, otherwise: Callable[[str], Event]) -> None:
        """An event about an own span, or another one about a suggested span."""
        shown = self.at_work.said.suggestion
        if own:
            self.keep(event)
        elif shown is not None and self.at_work.marking.chosen in shown.open:
            self.keep(otherwise(shown.source))

    def do_start_left(self) -> None:
        self._border("start", -1)

    def do_start_right(self) -> None:
        self._border("start", 1)

    def do_end_left(self) -> None:
        self._border("end", -1)

    def do_end_right(self) -> None:
        self._border("end", 1)

    def do_remove(self) -> None:
        span = self.at_work.marking.under
        if span is not None:
            gone = span.id
            self._of_span(self.at_work.is_own(span), RemoveSpan(gone), lambda source: SuggestionRefused(source, gone))
            self.changed()
        elif (shown := self.at_work.said.suggestion) is not None:
            self.keep(*(SuggestionRefused(shown.source, item) for item in self.at_work.offered))
            self.changed()

    def do_take_span(self) -> None:
        """Take the span of another as it is, and choose the next one; without one what is suggested of the text."""
        shown, span = self.at_work.said.suggestion, self.at_work.suggested
        if span is None:
            if shown is not None:
                self.keep(*(SuggestionTaken(shown.source, item) for item in self.at_work.offered))
                self.changed()
            return
        if shown is not None and span.id in shown.open:
            self.keep(SuggestionTaken(shown.source, span.id))
        else:
            self.keep(AddSpan(replace(span, id=new_id())))
        left = [one for one in self.at_work.marking.spans if not self.at_work.is_own(one)]
        if left:
            self.at_work.marking.choose(next((one for one in left if one.start >= span.start), left[0]).id)
        self.changed()

    @property
    def reveals(self) -> bool:
        """Is what others say to be shown next, now that the answer is given?"""
        said = self.at_work.said
        return said.accepted and not said.skipped and not said.revealed

    def do_walk(self) -> None:
        """Choose the next span; of an answer that has just been given, first show what others say."""
        if self.reveals:
            self.reveal()
            return
        self.at_work.marking.walk(1)
        self.changed()

    def reveal(self) -> None:
        """Show what gold, models and others say, from now on."""
        self.keep(Reveal())
        self.changed()

    def do_walk_back(self) -> None:
        self.at_work.marking.walk(-1)
        self.changed()
