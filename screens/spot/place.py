"""Spot check: any text, typed or pasted, and at once all that the live model can do with it, or two models."""

from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.widgets import TextArea

from emotui.records import MASKED
from emotui.screens.keymaps import keyed
from emotui.screens.long_text import typed_when
from emotui.screens.place import NO_WORKSPACE, Place
from emotui.screens.push import PushPane
from emotui.screens.requests import LatestRequest, NamedTimers, any_busy
from emotui.screens.session import Session
from emotui.screens.spot.blocks import LATER, QUICK, TASK, Column, When, has_words
from emotui.screens.spot.entry import ENTRY
from emotui.screens.spot.models import STAGES, Sides
from emotui.screens.spot.view import LONGEST, VIEWS, SpotEditor, SpotView, spans_to_take
from emotui.screens.why import WhyPane
from emotui.screens.widgets.editor import Editor
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count
from emotui.store.query import Run
from emotui.workbench.drafts import Draft

if TYPE_CHECKING:
    from emotui.screens.models.sheet import ModelChoice
    from emotui.workbench.datasets.spot_checks import Kept, SampleText
    from emotui.workbench.source import BrowseSource

FIELD = "spot check"
"""The field of the text, as drafts name it."""

REST, LONGER_REST = 0.12, 0.7
"""Seconds without a key after which the quick parts are asked, and the others."""

GREY_AFTER = 0.15
"""Seconds that an answer may be behind the text before it is greyed."""

_NO_SPAN = "The model marks nothing here; select words in it ({write}, Shift and arrows) to take these away."

_LOOK = 0.1
"""Seconds between two looks at a model that is being loaded."""

_TICK = 0.5


class Spot(Place):
    """Holds the text and what was asked of it; `SpotView` shows it, `Sides` has the models."""

    entry = ENTRY
    headings = {
        "spot-editor": "#spot-title",
        "spot-rows": "#spot-title",
        "spot-page": "#spot-models",
        "why-page": "#why-title",
        "push-page": "#push-title",
    }
    marks_errors = False
    in_front = True
    DEFAULT_CSS = """
    Spot > WhyPane, Spot > PushPane { height: 1fr; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.rest, self.longer_rest = REST, LONGER_REST
        self.sides: Sides | None = None
        self._stage: When | None = None
        self._offered: SampleText | None = None
        self._taken = ""
        self._who = False
        self._put_there = False  # the cursor, into an empty text, by no key for that
        self._texts: LatestRequest[int, SampleText] | None = None
        self._keeping: LatestRequest[str, Kept] | None = None
        self._taking_back: LatestRequest[Kept, None] | None = None
        self._kept: tuple[str, Kept] | None = None
        self._came_back: Draft | None = None
        self._waits = NamedTimers(self)

    def compose(self) -> ComposeResult:
        yield SpotView(id="spot-view")
        yield WhyPane(lambda: None, keyed(_NO_SPAN), id="why")
        yield PushPane(id="push")

    @property
    def view(self) -> SpotView:
        return self.query_one(SpotView)

    @property
    def editor(self) -> SpotEditor:
        return self.view.editor

    @property
    def why(self) -> WhyPane:
        return self.query_one(WhyPane)

    @property
    def push(self) -> PushPane:
        return self.query_one(PushPane)

    @property
    def columns(self) -> list[Column]:
        """The live model, and the second one where there is one."""
        return self.sides.columns if self.sides is not None else []

    @property
    def busy(self) -> bool:
        waits = any(name in self._waits for name in ("quick", "later", "look"))
        return (
            any_busy(self) or waits or (self.sides is not None and self.sides.busy) or self.why.busy or self.push.busy
        )

    @property
    def reads(self) -> bool:
        return self._text_comes and not self.editor.has_focus

    # Source, models, samples.

    def bind_source(self, source: "BrowseSource") -> None:
        models, spot_checks = source.models, source.spot_checks
        if models is None or spot_checks is None:
            self.view.say("Models answer in a workspace", keyed(NO_WORKSPACE))
            return
        self.sides = Sides(self, self.session, models, lambda: self.editor.text, lambda: self.view.draw(), self._said)
        self.why.bind_source(source)
        self.push.bind_source(source)
        self._take_up_draft()
        self._texts = LatestRequest("text", self, lambda number: spot_checks().text_of(number), self._offer, self._warn)
        self._keeping = LatestRequest(
            "keep", self, lambda text: spot_checks().keep(text), self._tell_kept, self._warn, each=True
        )
        self._taking_back = LatestRequest(
            "take back", self, lambda kept: spot_checks().take_back(kept), self._tell_taken_back, self._warn
        )

    def _take_up_draft(self) -> None:
        """What was being tried when the last session ended, unless something is typed already."""
        self._came_back = self.session.drafts.of(self.session.field(FIELD))
        if self._came_back is not None and not self.editor.text:
            self.editor.begin(self._came_back.text, LONGEST)

    def _keep_draft(self) -> None:
        """What stands there waits for the next session, unless it is a sample's or nothing."""
        field, text = self.session.field(FIELD), self.editor.text
        if text in ("", self._taken):
            self.session.drafts.drop(field)
        else:
            self.session.drafts.put(field, Draft(text=text))

    def use_model(self, spec: str) -> None:
        """The live model: the first column."""
        if self.sides is not None:
            self.sides.use(spec)
            self.why.use_model(spec)
            self.push.use_model(spec)
            self._stand()
            self._soon()

    def _stand(self) -> None:
        """Show what there is now."""
        view = self.view
        view.columns = self.columns
        view.from_where = self._from_where()
        rows = self._who and not self.editor.has_focus
        view.show_rows(rows and bool(self.editor.text))
        view.draw()
        self._look_at_spans()
        self.refresh_bindings()

    def _look_at_spans(self) -> None:
        """Of what is selected, else of what the live model marks, it is asked what it says without it."""
        self.push.look_at(self.editor.text, self.session.overview.dataset)
        if self.why.is_open:
            text, spans, offered = self.editor.text, spans_to_take(self.columns, self.editor), self._offered
            key = offered.id if offered is not None and offered.text == text else ""
            heads, dataset = [text[start:end] for start, end in spans], self.session.overview.dataset
            if spans or (self.columns and self.columns[0].waits_for("spans", text)):
                self.why.look_at(key, text, spans, heads=heads, dataset=dataset)
            else:
                from emotui.workbench.why.removal import parts_of

                self.why.look_at(key, text, parts_of(text), dataset=dataset, parts=True)

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """The selected sample's text is offered, and taken where nothing is typed nor about to be."""
        if sample is None or self._texts is None:
            self._offered = None
        elif self._offered is None or self._offered.number != sample:
            self._texts.ask(sample)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        """Without a sample there is still any text; without a source there is nothing."""
        self._offered = None
        if failed:
            self.view.say("Nothing can be tried", why, failed=True)

    def focus_first(self) -> None:
        """Into the answers; where there is no text to try, nor one on its way, into the empty text."""
        if self.editor.text:
            self.view.page.focus()
        elif self.sides is not None and not self._text_comes:
            self._put_there = True
            self.editor.focus()

    def on_show(self) -> None:
        """With nothing to try, letters are for typing at once."""
        if not self.editor.text:
            self.focus_soon()

    @property
    def _text_comes(self) -> bool:
        """Is the text of the selected sample on its way?"""
        return self._offered is None and self._texts is not None and self._texts.busy

    def _warn(self, _: object, why: str) -> None:
        self.notify(why, severity="warning", markup=False)

    def _offer(self, _: int, offered: "SampleText") -> None:
        if offered == self._offered:
            return  # asked for twice before it came: by now the text may be about to be written over
        self._offered = offered
        if self.editor.text == self._taken and not self._about_to_type:
            self._begin(offered.text)
            self.view.page.scroll_home(animate=False)
            if self.editor.has_focus:
                self.view.page.focus()
            elif self.display:
                self.focus_soon()
        self._stand()

    @property
    def _about_to_type(self) -> bool:
        """Is there nothing yet, and the cursor put where it is to stand?"""
        return self.editor.has_focus and not self.editor.text and not self._put_there

    def _begin(self, text: str) -> None:
        """Put another text here, with nothing to undo."""
        if self._fits(text):
            self.editor.begin(text, LONGEST)
            self._taken = self.editor.text

    def _fits(self, text: str) -> bool:
        if len(text) > LONGEST:
            self._too_long(len(text), "this sample")
        return len(text) <= LONGEST

    def _too_long(self, characters: int, what: str) -> None:
        said = f"{what} would make {count(characters)} characters; {count(LONGEST)} fit, so it was left out"
        self.notify(said, severity="warning", markup=False)

    def _from_where(self) -> list[Part]:
        """Where the text is from, and whose could be taken."""
        offered, back = self._offered, self._came_back
        if back is not None and self.editor.text == back.text:
            return [Part(f"you typed this {typed_when(back)}", "mark")]
        if offered is None:
            return []
        if self.editor.text == self._taken == offered.text:
            return [Part(f"of {offered.id}", "dim")]
        if self.editor.has_focus:
            return []  # letters are no keys there
        return [Part(keyed("{take}"), "key", "do('take')"), Part(f" takes {offered.id}", "dim", "do('take')")]

    # Typing.

    @on(TextArea.SelectionChanged)
    def _selected(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self.view.draw_title()

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.sides is not None:
            self._keep_draft()
            self._soon()
            self._waits.wait("grey", GREY_AFTER, self._turn_grey, again=False)
            self._stand()

    @on(Editor.TooLong)
    def _refused(self, event: Editor.TooLong) -> None:
        event.stop()
        self._too_long(event.characters, "that")

    def _soon(self) -> None:
        """The text, or who is asked, has changed: ask once typing rests."""
        self._stage = None
        self._waits.wait("quick", self.rest, partial(self._reach, "quick"))
        self._waits.wait("later", self.longer_rest, partial(self._reach, "later"))

    def _turn_grey(self) -> None:
        self.view.spared = None
        self.view.draw()

    def _reach(self, stage: When) -> None:
        """Typing has rested so long: ask what is worth it."""
        if self._stage is None or STAGES.index(stage) > STAGES.index(self._stage):
            self._stage = stage
        self._ask()

    def _ask(self) -> None:
        """Ask what was not said yet."""
        if self.sides is None or self._stage is None:
            return
        text, task = self.editor.text, self.view.asked_task
        parts = [TASK + task] if task is not None else [*QUICK, *LATER]
        parts = [part for part in parts if part != "masks" or MASKED in text]
        parts = [part for part in parts if part != "words" or has_words(text)]
        self.sides.ask(text, parts if text.strip() else [], self._stage)
        if not text.strip() and not self.sides.loading:
            self.sides.make_ready()
        if self.sides.loading:
            self._waits.wait("look", _LOOK, self._look, again=False)
        if self.sides.busy:
            self._waits.wait("tick", _TICK, self._tick, again=False)
        self._stand()

    def _look(self) -> None:
        """Is a model loaded by now?"""
        if self.sides is not None:
            self.sides.look()
            self._ask()

    # Answers.

    def _said(self) -> None:
        text = self.editor.text
        if not any(column.missing(text, [part for part in QUICK if part != "masks"]) for column in self.columns):
            self.view.spared = text
            self._waits.drop("grey")
        self._stand()

    def _tick(self) -> None:
        """What takes long says since when."""
        if self.sides is None or not self.sides.busy:
            return
        self._waits.wait("tick", _TICK, self._tick, again=False)
        self.sides.say_how_long()
        self.view.draw()
        self.refresh_bindings()

    def _tell_kept(self, text: str, kept: "Kept") -> None:
        self.session.drafts.kept(self.session.field(FIELD), text)
        if not kept.known:
            self._kept = text, kept
        self.refresh_bindings()
        where = f"in the dataset “{kept.dataset.name}”: "
        where += keyed("{dataset} in Browse shows it, {undo} takes it out again")
        self.notify(
            f"{kept.id} is there already, {where}" if kept.known else f"kept as {kept.id} {where}", markup=False
        )
        self.session.look_again()

    # Keys.

    def can(self, action: str) -> bool:
        """Nothing without models; in the text letters are typed, and Esc leaves it."""
        if not super().can(action) or self.sides is None or not self.columns:
            return False
        editor, job = self.editor, self.session.job
        match action:
            case "write":
                return not editor.has_focus
            case "leave":
                return editor.has_focus or self.why.is_open or self.push.is_open
            case "next_label":
                return (self.why.has_labels or self.push.has_labels) and not editor.has_focus
            case "push":
                return self.push.able and not editor.has_focus and bool(editor.text.strip())
            case "push_less" | "push_more":
                return self.push.is_open and not editor.has_focus
            case "part" | "part_back":
                return (self.push.has_labels or self.why.has_parts) and not editor.has_focus
            case "stop":
                return not editor.has_focus and (self.sides.long or (job is not None and not job.stopping))
            case "clear_text":
                return editor.has_focus and bool(editor.text)
            case "undo":
                return editor.can_undo or self._may_take_back
            case "redo":
                return editor.can_redo
            case "take":
                return self._offered is not None and self._offered.text != editor.text
            case "second":
                return job is None
            case "view" | "view_back":
                return bool(editor.text.strip()) and self.view.asked_task is None
            case "take_away":
                return self.why.able and not editor.has_focus and bool(editor.text.strip())
            case "keep" | "ask" | "raw" | "copy" | "annotators":
                return bool(editor.text.strip())
        return True

    def lacking(self, action: str) -> str:
        """Why the live model is not pushed."""
        return self.push.unable if action == "push" else super().lacking(action)

    def do_write(self) -> None:
        self._put_there = False
        self.view.show_rows(False)
        self.editor.focus()
        if self.editor.text == self._taken:
            self.editor.offer_whole()

    def do_leave(self) -> None:
        """Out of the text, from an empty one into the selected sample's; from there the pane of why is closed."""
        if self.editor.has_focus:
            if not self.editor.text and self._offered is not None:
                self._begin(self._offered.text)
            self.editor.let_go()
            self.view.page.focus()
        else:
            self.why.close()
            self.push.close()
            self._stand()

    def on_descendant_focus(self) -> None:
        if self.sides is not None:
            self._stand()

    def on_descendant_blur(self) -> None:
        """What stands there names keys, which letters are outside the text alone."""
        self.on_descendant_focus()

    def do_stop(self) -> None:
        if self.sides is not None and self.sides.long:
            self.sides.stop()
        else:
            self.session.stop_work()

    def do_ask(self) -> None:
        if self.sides is not None:
            self.sides.forgive()
            self._reach("key")
            self.push.write()

    @property
    def _may_take_back(self) -> bool:
        """Is keeping the text that stands there the last thing that was done?"""
        return self._kept is not None and self._kept[0] == self.editor.text and not self.editor.has_focus

    def do_undo(self) -> None:
        """Take what was just kept out again; else undo in the text."""
        if not self._may_take_back:
            self.editor.undo()
        elif self._kept is not None and self._taking_back is not None:
            self._taking_back.ask(self._kept[1])
            self._kept = None

    def _tell_taken_back(self, kept: "Kept", _: None) -> None:
        self._keep_draft()
        self.notify(f"{kept.id} is not kept any more", markup=False)
        self.session.look_again()
        self.refresh_bindings()

    def do_clear_text(self) -> None:
        self.editor.put("")

    def do_redo(self) -> None:
        self.editor.redo()

    def do_take(self) -> None:
        if self._offered is None or not self._fits(self._offered.text):
            return
        self.view.page.scroll_home(animate=False)
        if self.editor.text in ("", self._taken):
            self._begin(self._offered.text)
        else:
            self.editor.replace(self._offered.text, (0, 0), self.editor.document.end)
            self._taken = self.editor.text
        self._stand()

    def do_second(self) -> None:
        sides = self.sides
        if sides is None:
            return
        if len(sides.columns) > 1:
            sides.drop_second()
            self._stand()
            return
        from emotui.screens.models.sheet import ModelSheet

        live = sides.columns[0].spec

        def chosen(choice: "ModelChoice") -> None:
            if choice.spec == live:
                self.notify("That is the live model already", markup=False)
            else:
                sides.add(choice.spec)
                self._stand()
                self._soon()

        ModelSheet(self.session, live, "Second model").ask(self.app, chosen)

    def do_annotators(self) -> None:
        self._who = not self._who
        if self.editor.has_focus:
            self.view.page.focus()
        else:
            self._stand()

    def do_take_away(self) -> None:
        self.push.close()
        self.why.turn()
        self._stand()

    def do_push(self) -> None:
        self.why.close()
        self.push.turn()
        (self.push.page if self.push.is_open else self.view.page).focus()
        self._stand()

    def do_push_less(self) -> None:
        self.push.move(-1)

    def do_push_more(self) -> None:
        self.push.move(1)

    def do_part(self) -> None:
        self.push.move_layer(1) if self.push.is_open else self.why.turn_part()

    def do_part_back(self) -> None:
        self.push.move_layer(-1) if self.push.is_open else self.why.turn_part()

    def do_next_label(self) -> None:
        self.push.next_label() if self.push.is_open else self.why.next_label()

    def do_view(self) -> None:
        self.view.every = not self.view.every
        self._stand()

    do_view_back = do_view

    def tell(self, what: str, value: object) -> None:
        if what == "view" and value in VIEWS:
            self.view.every = value == VIEWS[True]
            self._stand()

    def do_raw(self) -> None:
        """The next task's prompt and raw output; after the last one the answers again."""
        from emotui.workbench.models.probe import tasks_for

        names = [None, *tasks_for(self.editor.text)]
        at = names.index(self.view.asked_task) if self.view.asked_task in names else 0
        self.view.asked_task = names[(at + 1) % len(names)]
        self._reach("key" if self.view.asked_task is not None else "later")

    def do_keep(self) -> None:
        if self._keeping is not None:
            self._keeping.ask(self.editor.text)

    def do_copy(self) -> None:
        self.app.copy_to_clipboard(f"{self.editor.text}\n\n{self.view.page.text}")
        self.notify("text and answers copied")
