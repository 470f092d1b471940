"""Rephrase: a text is rewritten against a live classifier until it no longer sees the emotion."""

from textual import on

from emotui.screens import rephrase_keys, rephrase_parts
from emotui.screens.rephrase_figures import Figures
from emotui.screens.rephrase_place import RephrasePlace
from emotui.screens.rephrase_review import Review
from emotui.screens.rephrase_suggesting import Suggesting


class Rephrase(RephrasePlace):
    """What the keys of the place do."""

    def can(self, action: str) -> bool:
        """What can be done with a text follows from how its chain stands."""
        return super().can(action) and rephrase_keys.can(self, action)

    def tell(self, what: str, value: object) -> None:
        """A view's name was clicked."""
        if what == "view":
            self.writing.show_view(str(value))
        elif what == "figures":
            self.query_one(Figures).show_view(str(value))

    def do_write(self) -> None:
        """Go into the editor; where no round could begin, try again."""
        if self.refused:
            self.refused = ""
            self._go_on()
        else:
            self.editor.focus()
            self.refresh_bindings()

    def do_leave(self) -> None:
        """Out of the editor, where letters are keys; from the figures and the review back to writing."""
        if self.mode == "review" and self.query_one(Review).take_back():
            return
        if self.mode != "writing":
            self._turn_to("writing")
        else:
            self.focus_first()
            self.refresh_bindings()

    def do_submit(self) -> None:
        """Submit what is written as the next attempt; what is as it was only when asked twice."""
        chain, written = self.chain, self.editor.text.strip()
        before = [one.text for one in chain.attempts] if chain is not None else []
        if chain is not None and not self.seen.hint and written in (chain.original.strip(), *before):
            self.seen.hint = "nothing has changed: Enter again submits it all the same"
            self.writing.draw_attempt()
        else:
            self._do("submit")

    def do_skip(self) -> None:
        """Leave this text and go to the next."""
        self._do("skip")

    def do_undo(self) -> None:
        """Take back what was typed; where nothing was, the last attempt or skip; in the review the last judgement."""
        if self.mode == "review":
            self.query_one(Review).undo()
        elif self.editor.can_undo and not self.editor.read_only:
            self.editor.undo()
        else:
            self._do("undo")

    def do_redo(self) -> None:
        """Put back what was taken back last."""
        if self.editor.can_redo and not self.editor.read_only:
            self.editor.redo()
        else:
            self._do("redo")

    def do_suggest(self) -> None:
        """Ask a model that writes for three rephrasings."""
        if self._suggesting is not None and self.round is not None and self.chain is not None:
            self._suggesting.ask(self.round, self.chain)

    @on(Suggesting.Suggested)
    def _suggested(self, event: "Suggesting.Suggested") -> None:
        event.stop()
        if self._suggesting is not None and self.chain is not None and event.number == self.chain.number:
            self._suggesting.offer(event, self.chain.label, self._take_suggestion)

    def _take_suggestion(self, text: str) -> None:
        """What a model wrote stands in the editor, and is marked as that however much of it is changed."""
        before = self.editor.text
        self.editor.put(text)
        self.seen.suggested, self._before_suggestion = True, before
        self._keep_draft()
        self.editor.focus()
        self.writing.draw_attempt()

    def do_view(self) -> None:
        """The next view of the lower pane, or of the figures."""
        (self.writing if self.mode == "writing" else self.query_one(Figures)).step_view(1)

    do_words = do_view

    def do_view_back(self) -> None:
        """The view before."""
        (self.writing if self.mode == "writing" else self.query_one(Figures)).step_view(-1)

    def do_annotators(self) -> None:
        """Count other people's rephrasings in the figures."""
        self.query_one(Figures).next_whose()

    def do_next_open(self) -> None:
        """The next text that is open, or the next rephrasing to judge."""
        self._step(1)

    def do_previous_open(self) -> None:
        """The one before."""
        self._step(-1)

    def _step(self, by: int) -> None:
        if self.mode == "review":
            self.query_one(Review).step(by)
        else:
            self.post_message(self.Sought(self.open, by))

    def do_figures(self) -> None:
        """What the rephrasings came to, or back to writing."""
        if self.mode == "figures":
            self._turn_to("writing")
        elif self.round is not None and self._service is not None:
            self._turn_to("figures")
            self.query_one(Figures).open_for(self._service, self.round)

    def do_review(self) -> None:
        """Judge what others wrote; first, who judges?"""
        from emotui.screens.rephrase_sheets import NameSheet

        def named(reviewer: str | None) -> None:
            if reviewer is not None and self.round is not None and self._service is not None:
                self._reviewer = reviewer
                self._turn_to("review")
                self.post_message(self.Tagged("chain", {}))
                self.query_one(Review).open_for(self._service, self.round, reviewer)

        about = (
            "Who judges? Everyone judges what others wrote.",
            "What the classifier said is not shown, nor who wrote it.",
        )
        self.app.push_screen(NameSheet("Review", about, self._reviewer or self.annotator), named)

    def do_judge(self) -> None:
        """Take the answer under the cursor."""
        self.query_one(Review).judge()

    def do_export(self) -> None:
        """Write the chains to a file."""
        from emotui.screens.export_sheet import ExportSheet

        def named(path: str | None) -> None:
            if path is not None:
                self._desks["export"].ask((self.round, path))

        self.app.push_screen(ExportSheet(0, None, what="all chains", default="rephrasings.jsonl"), named)

    def do_copy(self) -> None:
        """The original and its attempts to the clipboard."""
        if self.chain is not None:
            self.app.copy_to_clipboard(rephrase_parts.as_text(self.chain))
            self.notify(f"{self.chain.id} copied", markup=False)
