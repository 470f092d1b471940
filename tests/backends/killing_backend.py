"""A backend for tests that kills the process of who asks it, once some of its answers are on the disk."""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emotui.backends.base import Evidence, Extract, ModelCard, Progress


class Killing:
    """Marks the first letter of each text; at a text with KILL it waits for answers in FILE.part and kills.

    Args:
        together: texts that it is best asked about at a time; it marks a letter for each of its batch.
    """

    def __init__(self, kept: str, together: int) -> None:
        self.card = ModelCard("killing", "killing", ("extract",), {"version": "1"}, together=together)
        self._kept = Path(kept)

    def extract(self, requests: Sequence[Extract]) -> list[object]:
        if self._kept.name and any("KILL" in request.text for request in requests):
            while self._kept.read_bytes().count(b"\n") < 2:
                time.sleep(0.01)
            os.kill(os.getppid(), signal.SIGKILL)
        if self.card.together:
            return [(Evidence(0, len(requests), "joy", 0.5),) for _ in requests]
        return [(Evidence(0, 1, "joy", len(request.text) / 1000),) for request in requests]


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Killing:
    # The file's name is no part of what it answers, so it comes by the environment.
    return Killing(os.environ.get("KILLED_BY", ""), int(argument or 0))
