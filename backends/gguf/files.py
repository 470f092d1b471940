"""The files of one model: a single GGUF, or all the parts of a split one, each of them whole."""

import re
from dataclasses import dataclass
from pathlib import Path

from emotui.backends.gguf.header import Header, read_header
from emotui.backends.options import named_path
from emotui.errors import BadModel

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """`parts` in order; llama.cpp is given the first. `header` is the first part's, which describes the model."""

    parts: tuple[Path, ...]
    header: Header

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.stat().st_size for part in self.parts)


def find_model(argument: str) -> ModelFiles:
    """The model that `gguf:ARGUMENT` names: a file, any part of a split one, or a directory that holds one model.

    Raises:
        BadModel: there is none, it is no GGUF, or a part is missing or not whole.
    """
    if not argument:
        raise BadModel("gguf: needs a file: gguf:PATH/model.gguf")
    path = named_path("gguf", argument)
    if path.is_dir():
        path = _only_model(path)
    if not path.exists():
        raise BadModel(f"There is no file {path}")
    parts = _parts(path)
    headers = [read_header(part) for part in parts]
    if not headers[0].architecture:
        raise BadModel(f"{parts[0]} names no architecture: it is not a model")
    counted = headers[0].number("split.count", 1, whole_name=True)
    if counted != len(parts) and counted > 1:
        raise BadModel(
            f"{path} is one of {counted} parts and has been renamed: name them STEM-00001-of-{counted:05d}.gguf and on"
        )
    for number, header in enumerate(headers):
        if header.number("split.no", number, whole_name=True) != number:
            raise BadModel(f"{header.path} is not the part that its name says: download it again")
    return ModelFiles(tuple(parts), headers[0])


def models_in(folder: Path) -> list[Path]:
    """The models of a directory (not of those below it), sorted: of a split one its first part only."""
    found = []
    for path in sorted(folder.glob("*.gguf")):
        match = _PART.fullmatch(path.name)
        if not match or int(match["number"]) == 1:
            found.append(path)
    return found


def _only_model(folder: Path) -> Path:
    found = models_in(folder)
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadModel(f"{folder} holds no .gguf file")
    names = ", ".join(path.name for path in found[:5]) + (", ..." if len(found) > 5 else "")
    raise BadModel(f"{folder} holds {len(found)} models ({names}): name the one you mean")


def _parts(path: Path) -> list[Path]:
    match = _PART.fullmatch(path.name)
    if not match:
        return [path]
    count = int(match["count"])
    parts = [path.with_name(f"{match['stem']}-{number:05d}-of-{count:05d}.gguf") for number in range(1, count + 1)]
    missing = [part.name for part in parts if not part.exists()]
    if missing or not parts:
        some = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise BadModel(f"{path} is one of {count} parts; missing beside it: {some}")
    return parts
