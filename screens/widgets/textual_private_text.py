"""What Textual (8.2) keeps to itself of its lines of text, with the reason for each use."""

from textual import events, widgets
from textual.widget import Widget


class InOrder:
    """A text field in which keys do what they do in the order in which they are pressed.

    Textual looks for what a key is bound to (`_bindings`) only when the key has come up to the app; a letter is typed
    at once. Of Backspace and a letter that are pressed quickly, or while the app is busy, the letter would come first,
    and be what Backspace takes away.
    """

    async def on_key(self, event: events.Key) -> None:
        """Do what the field itself has the key for."""
        assert isinstance(self, Widget)  # no base class of it: Textual looks for a widget's parts along the first base
        if event.is_printable:
            return
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return


class Input(InOrder, widgets.Input):
    """A line of text."""
