"""The line at the top: places by number, and the store with the live model or the work that goes on."""

from emotui.screens import jobs
from emotui.screens.places import TITLES
from emotui.screens.session import Session
from emotui.screens.widgets import top_line
from emotui.screens.widgets.line import Line, taken

_STEADY = 12
"""Cells by which work takes room from the names of places, so that these do not come and go with every figure."""


class Top(Line):
    """Drawn anew when it is told how the session stands."""

    DEFAULT_CSS = "Top { dock: top; padding: 0 1; background: $panel; }"

    def draw(self, session: Session, number: int, *, key_stops: bool) -> None:
        """Show this.

        Args:
            number: that of the open place.
            key_stops: would its key stop the work now?
        """
        cells = self.screen.size.width - 3
        room = cells - taken(top_line.places(TITLES, number, 0))
        if session.job is not None:
            right = jobs.parts(session.job, room, key_stops=key_stops)
            left = cells - min(-(-taken(right) // _STEADY) * _STEADY, room)
        else:
            titled = cells - taken(top_line.places(TITLES, number, cells))
            told = (session.title, session.live), (max(cells // 3, 24), room)
            right = top_line.standing(*told[0], session.live_state, *told[1])
            # What the model is doing gives way to the names of the places where they fit without it.
            if taken(right) > titled >= taken(short := top_line.standing(*told[0], "", *told[1])):
                right = short
            left = cells - taken(right)
        self.show(top_line.places(TITLES, number, left), right)
