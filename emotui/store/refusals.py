"""DuckDB's and the system's refusals as one line that says what is wrong and what to do."""

import os
import re
from pathlib import Path

from emotui.errors import BadStore, StoreError

_HELD = re.compile(r"could not set lock|conflicting lock|being used by another process|different configuration", re.I)
_HOLDER = re.compile(r"held in (?P<program>[^()]*?)\s*\(?PID (?P<pid>\d+)\)?")


def is_held(error: Exception) -> bool:
    """Whether a connection was refused only because somebody else has the file open: worth another try."""
    return bool(_HELD.search(str(error)))


def is_interrupt(error: BaseException) -> bool:
    """Whether this is Ctrl-C, which DuckDB takes to itself while it works on a query."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


def is_no_text(error: BaseException) -> bool:
    """Whether a name or text cannot be kept because it is not Unicode, as names of files need not be."""
    return isinstance(error, UnicodeEncodeError) or "cannot encode str as UTF-8" in str(error)


_DAMAGED = "is damaged (cut short or overwritten): restore it from a copy"


def is_damage(error: Exception) -> bool:
    """Whether this refusal is one of a file that is damaged."""
    return isinstance(error, StoreError) and str(error).endswith(_DAMAGED)


def held(path: Path, error: Exception, waited: float) -> StoreError:
    """Somebody kept the file for longer than we wait."""
    return StoreError(f"{path} has been held by {holder(error)} for {waited:.0f} s: close that program, then try again")


def holder(error: Exception) -> str:
    """Who has the file, by name and process, as far as the refusal says."""
    found = _HOLDER.search(str(error))
    if not found:
        return "another program"
    program = Path(found["program"].strip()).name
    return f"{program} (pid {found['pid']})" if program else f"pid {found['pid']}"


def refusal(path: Path, error: Exception) -> StoreError:
    """Any other refusal."""
    said = str(error)
    low = said.lower()
    if "no space left" in low or "disk quota" in low or "file too large" in low or "out of disk" in low:
        what = "the disk is full; what was stored before is safe: free some space, then try again"
    elif isinstance(error, PermissionError) and os.access(path, os.F_OK):
        what = "may not be read: change its permissions, or choose another file with --db"
    elif "permission denied" in low or "read-only file system" in low or "read-only mode" in low:
        what = "may not be written here: open it with --read-only, or choose another file with --db"
    elif "is a directory" in low:
        what = "is a folder, not a file: name the store's file with --db"
    elif isinstance(error, (FileExistsError, NotADirectoryError)):
        what = "cannot be made: there is a file where its folder should be; choose another place with --db"
    elif "no such file" in low or "does not exist" in low:
        what = "does not exist: check its path"
    elif "out of memory" in low or "failed to allocate" in low or "failed to pin" in low:
        what = "there is not enough memory for this: close other programs, then try again"
    elif "version number" in low and "read a database file" in low:
        what = "was written by a newer DuckDB: upgrade with `pip install -U duckdb`"
    elif "not a valid duckdb" in low:
        what = "is not an emotui store: choose another file with --db"
    elif "could not read enough bytes" in low or "checksum" in low or "corrupt" in low:
        what = _DAMAGED
    else:
        what = " ".join(said.split())
    line = f"{path}: {what}" if what.startswith(("the ", "there ")) else f"{path} {what}"
    return (
        BadStore(line)
        if what.startswith(("does not exist", "is a folder", "is not an emotui store"))
        else StoreError(line)
    )
