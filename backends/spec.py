"""From a model SPEC (`embedded`, `hf:DIR`, `gguf:FILE`, ...) to the function that loads it."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from emotui.backends.base import Loader
from emotui.backends.relabelled import split_label_map
from emotui.errors import BadInput, ModelError

BUILT_IN = {
    "embedded": "emotui.backends.embedded:load",
    "hf": "emotui.backends.hf:load",
    "gguf": "emotui.backends.gguf:load",
    "openai": "emotui.backends.servers:load",
    "batch": "emotui.backends.servers.batch_files:load",
}
"""Known without an installation too (a bare checkout has no entry points)."""

GROUP = "emotui.backends"

_READERS = {
    "embedded": "emotui.backends.embedded.settings",
    "hf": "emotui.backends.hf.settings",
    "gguf": "emotui.backends.gguf.settings",
    "openai": "emotui.backends.servers.settings",
    "batch": "emotui.backends.servers.batch_files",
}
"""Where a kind's options are read; imports no library."""


def kinds() -> dict[str, str]:
    """Every installed kind of model, to `module:function`; packages add theirs by the entry point `emotui.backends`."""
    from emotui.plugins import entry_points_of

    return {point.name: point.value for point in entry_points_of(GROUP)[0]} | BUILT_IN


def parse_spec(spec: str) -> tuple[str, str]:
    """Split a SPEC into its kind and what follows the colon (empty for a kind that needs nothing).

    Without `map_labels`, which is of every kind (`emotui.backends.relabelled`).

    Raises:
        BadInput: the kind is not installed.
    """
    kind, argument = _parts(split_label_map(spec)[0])
    known = kinds()
    if kind not in known:
        names = ", ".join(sorted(known))
        raise BadInput(f"{spec!r} is not a model: no backend of kind {kind!r} is installed (there are: {names})")
    return kind, argument


def _parts(spec: str) -> tuple[str, str]:
    """The kind, and what follows it; options may follow at once (`embedded#threads=2`), with their `#`."""
    for place, sign in enumerate(spec):
        if sign in ":#":
            return spec[:place], spec[place + (sign == ":") :]
    return spec, ""


def check_spec(spec: str, options: Mapping[str, Any]) -> None:
    """Check all that a SPEC and the options beside it tell by themselves: no file is opened, no server asked.

    What another package's kind makes of them, it says itself when it is loaded.

    Raises:
        BadInput: the kind is not installed.
        BadModel: an option that there is not, a value that it cannot have, or no address.
    """
    kind, argument = parse_spec(spec)
    if kind in _READERS:
        import_module(_READERS[kind]).read_spec(argument, options)


def loader(kind: str) -> Loader:
    """Import the function that loads models of this kind. Only the child process calls this: it may import torch."""
    module, _, name = kinds()[kind].partition(":")
    try:
        found: Loader = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # another package's code may raise anything
        said = f"{type(error).__name__}: {error}" if not isinstance(error, ImportError) else str(error)
        raise ModelError(f"The backend {kind!r} could not load ({said}): reinstall {module.split('.')[0]}") from error
    if not callable(found):
        raise ModelError(f"The backend {kind!r} could not load ({name} is no function): reinstall {module}")
    return found
