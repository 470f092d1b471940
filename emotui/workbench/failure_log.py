"""What nobody foresaw is written down: the traceback of an error in a file of this user's, for whoever mends it."""

import os
import traceback
from pathlib import Path

from emotui.formats.rows import literal

MOST_BYTES = 2**20
"""Size at which the file is put aside; the one that was put aside before is then gone."""

_MOST_OF_ONE = 2**16
"""Characters of a traceback that are kept: its end."""


def log_file() -> Path:
    """Where failures are written down."""
    import platformdirs

    return Path(platformdirs.user_log_dir("emotui")) / "failures.log"


def written_down(error: BaseException) -> str:
    """Append the traceback of an error to the file.

    Returns: the file's name as a person reads it, or why nothing could be written.
    """
    file = log_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if file.exists() and file.stat().st_size > MOST_BYTES:
            file.replace(file.with_name(f"{file.name}.1"))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{_heading()}\n{traceback_of(error)}\n\n")
    except OSError as problem:
        return f"no file: {problem.strerror or problem}"
    return _short(file)


def traceback_of(error: BaseException) -> str:
    """The traceback, with whatever a terminal would act on escaped."""
    lines = "".join(traceback.format_exception(error)).rstrip()[-_MOST_OF_ONE:].split("\n")
    return "\n".join(map(literal, lines))


def _heading() -> str:
    from datetime import datetime

    from emotui import __version__

    return f"== {datetime.now().astimezone().isoformat(timespec='seconds')} emotui {__version__}"


def _short(file: Path) -> str:
    """The name, with `~` for the folder of the user."""
    home = Path.home()
    return literal(f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file))
