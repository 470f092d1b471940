"""An app that outlives what its widgets raise: the parts of Textual (8.2) in whose way that stands, with the reasons.

Textual ends the queue of a widget whose handler raises, and then the program. Nothing public comes between a message
and its handlers, nor between the screen and the drawing of a widget.
"""

from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from textual.app import App
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.events import Event, Key
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import MountError, Widget
from textual.worker import WorkerFailed

LEAVES = "ctrl+q"
"""The key that ends the program also where what it does is what raises."""

P = ParamSpec("P")
R = TypeVar("R")


class OutlivingApp(App[None]):
    """Tells `failed` what a message's handlers, a timer, a thread, or the drawing of a widget raise, and goes on."""

    outlives = True
    """False: the first error ends the program, as Textual has it."""

    def failed(self, error: Exception) -> bool:
        """Something was raised that nobody foresaw. Returns: whether the program is to go on."""
        raise NotImplementedError

    def key_came(self) -> None:
        """A key is about to be answered."""

    def _handle_exception(self, error: Exception) -> None:
        # Timers, threads, layouts and `compose` come here, and with them whatever the guards below let through.
        cause = error.error if isinstance(error, WorkerFailed) else error
        if not self.outlives or not isinstance(cause, Exception) or not self.failed(cause):
            super()._handle_exception(error)

    def end_with(self, words: str) -> None:
        """End the program with words on standard error in place of Textual's traceback, which prints what it finds."""
        from rich.text import Text

        self._return_code = 1
        self._exit_renderables.append(Text(words))
        self._close_messages_no_wait()

    def _register_child(self, parent: DOMNode, child: Widget, before: int | None, after: int | None) -> None:
        # Every widget passes here once, before its queue runs.
        known = child in self._registry
        super()._register_child(parent, child, before, after)
        if self.outlives and not known:
            self._guard(child)

    async def on_event(self, event: Event) -> None:
        """Act on a key at once where the focus is on nothing that keys are typed into.

        Textual hands it from widget to widget up to the app first, and what is pressed meanwhile overtakes it: letters
        that follow the key of a field would be keys themselves.
        """
        if isinstance(event, Key) and not event.is_forwarded and self.app_focus and not self._is_typed():
            for priority in (True, False):
                if await self._check_bindings(event.key, priority=priority):
                    return
        await super().on_event(event)

    def _is_typed(self) -> bool:
        """May what has the focus, or the screen that it is on, take keys in another way than by bindings?"""
        if not self.screen_stack:
            return True
        nodes = [self.screen] if self.focused is None else self.focused.ancestors_with_self
        widgets = [node for node in nodes if isinstance(node, Widget)]
        return any(hasattr(one, "on_key") or type(one)._on_key is not Widget._on_key for one in widgets)

    async def _dispatch_message(self, message: Message) -> None:
        # Keys that no widget takes act from the app's own queue.
        if isinstance(message, Key):
            self.key_came()
        if not self.outlives:
            await super()._dispatch_message(message)
            return
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not self._too_late(self, error):
                self._handle_exception(error)
            if isinstance(message, Key) and message.key == LEAVES:
                self.exit()

    def _too_late(self, node: DOMNode, error: Exception) -> bool:
        """Whether it was raised over what is being taken away: a sheet that is left before all of it is there, or all
        there is while the program ends. Then nothing is to be done any more.
        """
        return isinstance(error, NoMatches | MountError) and (
            self._exit or node._closing or node._closed or node._pruning
        )

    def _guard(self, widget: Widget) -> None:
        """Put what may raise in a widget behind guards: its handlers, how large it is, and how it is drawn."""
        # Methods of the one widget: those of its class are Textual's own, for every kind of widget.
        vars(widget).update(
            _dispatch_message=self._outlived(widget),
            get_content_width=self._drawn(widget.get_content_width, lambda *_: 1),
            get_content_height=self._drawn(widget.get_content_height, lambda *_: 1),
            render_lines=self._drawn(widget.render_lines, _blank),
        )

    def _outlived(self, widget: Widget) -> Callable[[Message], Awaitable[None]]:
        dispatch = widget._dispatch_message

        async def dispatched(message: Message) -> None:
            try:
                await dispatch(message)
            except Exception as error:
                if not self._too_late(widget, error):
                    self._handle_exception(error)

        return dispatched

    def _drawn(self, draw: Callable[P, R], instead: Callable[P, R]) -> Callable[P, R]:
        def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return draw(*args, **kwargs)
            except Exception as error:
                # What is told about it is drawn too: later, when this screen is done.
                self.call_later(self._handle_exception, error)
                return instead(*args, **kwargs)

        return drawn


def _blank(crop: Region) -> list[Strip]:
    return [Strip.blank(crop.width)] * crop.height
