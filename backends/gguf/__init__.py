"""`gguf:FILE`: a model in llama.cpp's format, run by llama-cpp-python on the CPU or a GPU.

FILE is a .gguf, any part of a split one, or a directory that holds one model. The options are in `settings.Settings`;
they may stand in the SPEC too: `gguf:model.gguf#context=4096&kv=f32`.
"""

from collections.abc import Mapping
from typing import Any

from emotui.backends.base import Backend, Progress
from emotui.backends.gguf.files import find_model
from emotui.backends.gguf.settings import read_spec


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Backend:
    """Load `gguf:ARGUMENT`. The file is checked before llama.cpp sees it.

    Raises:
        ModelError: one line that says what is wrong and what to do (BadModel: with the SPEC or the files).
    """
    path, settings = read_spec(argument, options)
    files = find_model(path)
    # llama.cpp is loaded no earlier than it is needed.
    from emotui.backends.gguf.embedding import GgufEmbedder, embeds
    from emotui.backends.gguf.model import GgufModel

    kind = GgufEmbedder if embeds(files.header) else GgufModel
    return kind(f"gguf:{path}", files, settings, progress)
