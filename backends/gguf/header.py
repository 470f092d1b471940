"""Read the header of a GGUF file without llama.cpp: what the model is, and whether the file is whole.

Source: the GGUF specification, versions 2 and 3 (ggml, `docs/gguf.md`). Big-endian files are refused.
"""

import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rich.filesize import decimal

from emotui.errors import BadModel

# ggml's tensor types and file types, as far as a file's size and its quantisation's name need them.

TENSOR_TYPES = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36),
}  # fmt: skip
"""Type number to (values in a block, bytes of a block)."""

FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
    19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL",
    26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0",
    37: "TQ2_0", 38: "MXFP4", 39: "NVFP4",
}  # fmt: skip
"""`general.file_type` to what most of the file's weights are."""


Value = int | float | bool | str

_MAGIC = b"GGUF"
_STRING, _ARRAY, _BOOL = 8, 9, 7
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", _BOOL: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_TOKENS = "tokenizer.ggml.tokens"
_LONGEST_STRING = 1 << 24
"""No name or chat template is longer (bytes); a length beyond it is damage."""
_MOST_ENTRIES = 1 << 17
"""No model has more keys or tensors; a count beyond it is damage."""
_MOST_ITEMS = 1 << 21
"""No model lists more texts, an array within another counted as 16; the largest vocabularies have half of it."""


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the tensors of one file.

    `metadata` has every single value, but no arrays; `size` is the bytes that the file must have to
    hold all its tensors, 0 where a tensor has a type that this program does not know. `vocabulary`: how many tokens it
    lists, 0 where it lists none.
    """

    path: Path
    metadata: Mapping[str, Value]
    tensors: int
    size: int
    vocabulary: int = 0

    @property
    def architecture(self) -> str:
        """Such as `llama`; empty where the file names none."""
        return str(self.metadata.get("general.architecture", ""))

    @property
    def name(self) -> str:
        """The model's own name, or else the file's."""
        return str(self.metadata.get("general.name") or self.path.stem)

    @property
    def quantisation(self) -> str:
        """Such as `Q4_K_M`; empty where the file does not say."""
        return FILE_TYPES.get(self.number("general.file_type", -1, whole_name=True), "")

    @property
    def context(self) -> int:
        """Tokens that the model was trained to read, 0 where the file does not say."""
        return self.number("context_length", 0)

    def number(self, key: str, default: int, *, whole_name: bool = False) -> int:
        """A whole number, of the architecture's own keys unless `whole_name`."""
        value = self.metadata.get(key if whole_name else f"{self.architecture}.{key}", default)
        return value if isinstance(value, int) else default


def read_header(path: Path) -> Header:
    """Read and check one file.

    Raises:
        BadModel: it cannot be read, is no GGUF, or is damaged or cut short; one line with what to do.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise BadModel(f"{path} is no file: a pipe or device is not read")
        with path.open("rb") as stream:
            return _Reader(path, stream).read()
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {error.strerror}") from None


class _Reader:
    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        self.stream = stream
        self.length = os.fstat(stream.fileno()).st_size
        self.items = 0

    def read(self) -> Header:
        magic = self.stream.read(4)
        if magic != _MAGIC:
            raise BadModel(f"{self.path} is no GGUF file: give a .gguf, or hf:DIRECTORY for a Hugging Face model")
        version = self._number("<I")
        if version not in (2, 3):
            if version in (2 << 24, 3 << 24):
                raise BadModel(f"{self.path} is a big-endian GGUF, which this machine cannot read: convert it again")
            raise BadModel(f"{self.path} is GGUF version {version}: only 2 and 3 can be read; convert it again")
        tensors, keys = self._number("<Q"), self._number("<Q")
        if max(tensors, keys) > self.length:
            raise self._damaged("it counts more entries than it has bytes")
        if max(tensors, keys) > _MOST_ENTRIES:
            raise self._damaged(f"it counts {max(tensors, keys):,} entries, which no model has")
        metadata: dict[str, Value] = {}
        vocabulary = 0
        for _ in range(keys):
            key, kind = self._string(), self._number("<I")
            if key == _TOKENS and kind == _ARRAY:
                vocabulary = self._pass_array(0)
                continue
            value = self._value(kind)
            if value is not None:
                metadata[key] = value
        size = self._data_end(tensors, metadata)
        if size > self.length:
            raise self._cut_short(size)
        return Header(self.path, metadata, tensors, size, vocabulary)

    def _data_end(self, tensors: int, metadata: Mapping[str, Value]) -> int:
        """Where the last tensor ends (bytes from the file's beginning), 0 where a type is not known."""
        ends, known = [0], True
        for _ in range(tensors):
            self._string()
            dimensions = self._number("<I")
            if dimensions > 8:
                raise self._damaged(f"a tensor has {dimensions} dimensions")
            shape = [self._number("<Q") for _ in range(dimensions)]
            kind, offset = self._number("<I"), self._number("<Q")
            if kind not in TENSOR_TYPES:
                known = False
                continue
            per_block, block_bytes = TENSOR_TYPES[kind]
            ends.append(offset + math.prod(shape) // per_block * block_bytes)
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20:
            raise self._damaged(f"its alignment is {alignment!r}")
        start = -(-self.stream.tell() // alignment) * alignment
        return start + max(ends) if known else 0

    def _value(self, kind: int) -> Value | None:
        if kind in _SCALARS:
            return self._number(_SCALARS[kind])
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            self._pass_array(0)
            return None
        raise self._damaged(f"a value has type {kind}, which there is not")

    def _pass_array(self, depth: int) -> int:
        """Returns: how many values it has."""
        kind, count = self._number("<I"), self._number("<Q")
        if count > self.length or depth > 4:
            raise self._cut_short(None)
        if kind in _SCALARS:
            self._skip(count * struct.calcsize(_SCALARS[kind]))
            return count
        self.items += count if kind == _STRING else 16 * count
        if self.items > _MOST_ITEMS:
            raise self._damaged(f"its header lists over {_MOST_ITEMS:,} texts, which no model does")
        if kind == _STRING:
            self._pass_strings(count)
        elif kind == _ARRAY:
            for _ in range(count):
                self._pass_array(depth + 1)
        else:
            raise self._damaged(f"an array has type {kind}, which there is not")
        return count

    def _pass_strings(self, count: int) -> None:
        """There are so many that each is passed in as few steps as can be."""
        read, at = self.stream.read, self.stream.tell()
        for _ in range(count):
            length = int.from_bytes(read(8), "little")
            at += 8 + length
            if at > self.length:
                raise self._cut_short(None)
            if length > _LONGEST_STRING:
                self.stream.seek(at)
            else:
                read(length)

    def _string(self) -> str:
        length = self._number("<Q")
        if length > _LONGEST_STRING:
            raise self._damaged("a text in its header is impossibly long")
        return self._bytes(length).decode("utf-8", "replace")

    def _number(self, form: str) -> int:
        number: int = struct.unpack(form, self._bytes(struct.calcsize(form)))[0]
        return number

    def _skip(self, count: int) -> None:
        if self.stream.tell() + count > self.length:
            raise self._cut_short(None)
        self.stream.seek(count, os.SEEK_CUR)

    def _bytes(self, count: int) -> bytes:
        found = self.stream.read(count)
        if len(found) < count:
            raise self._cut_short(None)
        return found

    def _cut_short(self, size: int | None) -> BadModel:
        of = f" of {decimal(size)}" if size else ", in the middle of its header"
        return BadModel(f"{self.path} is cut short ({decimal(self.length)}{of}): download it again")

    def _damaged(self, how: str) -> BadModel:
        return BadModel(f"{self.path} is damaged ({how}): download it again")
