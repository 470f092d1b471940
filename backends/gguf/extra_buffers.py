"""Whether a model may be loaded with llama.cpp's repacked weights: with some builds they crash."""

from emotui.backends.base import Progress
from emotui.backends.gguf.library import Library
from emotui.backends.gguf.probe import crashes_with_extra_buffers
from emotui.backends.gguf.settings import Settings


def allow_extra_buffers(library: Library, settings: Settings, progress: Progress) -> bool:
    """As the option says; `auto` tries a build with AMX kernels in a process of its own first."""
    if settings.extra_buffers != "auto":
        return settings.extra_buffers == "on"
    if not library.uses_amx:
        return True
    progress("trying llama.cpp's AMX kernels in a process of their own")
    return not crashes_with_extra_buffers()
