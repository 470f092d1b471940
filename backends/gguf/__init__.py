"""`gguf:FILE`: a model in llama.cpp's format, run by llama-cpp-python on the CPU or a GPU.

FILE is a .gguf, any part of a split one, or a directory that holds one model. The options are in `settings.Settings`;
they may stand in the SPEC too: `gguf:model.gguf#context=4096&kv=f32`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emotui.backends.base import Backend, Progress
from emotui.backends.gguf.files import find_model
from emotui.backends.gguf.settings import parse_settings
from emotui.errors import ModelError


def split_options(argument: str) -> tuple[str, dict[str, str]]:
    """`FILE#NAME=VALUE&NAME=VALUE` to the file and its options; a file whose name has a `#` is that file.

    Raises:
        ModelError: an option has no value.
    """
    path, sign, rest = argument.partition("#")
    if not sign or Path(argument).expanduser().exists():
        return argument, {}
    pairs = [pair.partition("=") for pair in rest.split("&") if pair]
    for name, equals, _ in pairs:
        if not equals:
            raise ModelError(f"gguf: the option {name!r} has no value: write #NAME=VALUE&NAME=VALUE after the file")
    return path, {name: value for name, _, value in pairs}


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Backend:
    """Load `gguf:ARGUMENT`. The file is checked before llama.cpp sees it.

    Raises:
        ModelError: one line that says what is wrong and what to do.
    """
    path, named = split_options(argument)
    settings = parse_settings({**named, **options})
    files = find_model(path)
    # llama.cpp is loaded no earlier than it is needed.
    from emotui.backends.gguf.embedding import GgufEmbedder, embeds
    from emotui.backends.gguf.model import GgufModel

    kind = GgufEmbedder if embeds(files.header) else GgufModel
    return kind(f"gguf:{argument}", files, settings, progress)
