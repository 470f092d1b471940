"""What other packages add by entry points. Here it is only listed: no code of theirs is run."""

from importlib.metadata import Distribution, EntryPoint, distributions
from importlib.util import find_spec


def entry_points_of(group: str) -> tuple[list[EntryPoint], list[str]]:
    """The entry points of a group, and a line for each package whose list of them cannot be read."""
    found: list[EntryPoint] = []
    wrong: list[str] = []
    seen: set[str] = set()
    for package in distributions():
        name = _name(package)
        if name in seen:  # the first on the path is the one that is imported
            continue
        seen.add(name)
        try:
            found += [point for point in package.entry_points if point.group == group]
        except Exception as error:  # a file that anybody may have written
            wrong.append(f"what {name} adds is left out: its entry_points.txt cannot be read ({_said(error)})")
    return found, wrong


def problem_of(value: str) -> str | None:
    """Why `module:name` cannot be loaded, as far as shows without running any of it; None where nothing shows."""
    module, _, name = value.partition(":")
    try:
        there = bool(module and name) and find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError):
        there = False
    return None if there else f"{value!r} names no function of a module that is installed"


def first_line(error: BaseException) -> str:
    """What an error of another package's code says, in a line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _name(package: Distribution) -> str:
    try:
        name = package.metadata["Name"]
    except Exception:  # likewise
        name = None
    return (
        name.lower().replace("_", "-")
        if isinstance(name, str)
        else f"a package without a name ({getattr(package, '_path', id(package))})"
    )


def _said(error: Exception) -> str:
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else first_line(error)
