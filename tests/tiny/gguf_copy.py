"""Copies of a GGUF file with something changed: another architecture, no template, in parts, a tensor left out."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gguf import GGUFReader, GGUFValueType, GGUFWriter

_OWN = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count", "general.architecture")


def copy_gguf(
    source: Path,
    path: Path,
    *,
    changes: Mapping[str, Any] | None = None,
    architecture: str | None = None,
    keep: Callable[[str], bool] = lambda tensor: True,
    tensors_a_part: int = 0,
) -> Path:
    """Write a copy of `source`.

    Args:
        changes: key to its new value; None leaves the key out.
        architecture: another name for it; its keys are not renamed.
        keep: whether a tensor is copied, by its name.
        tensors_a_part: how many tensors go into each part; 0 for one file.
    """
    reader = GGUFReader(source)
    told = str(reader.fields["general.architecture"].contents())
    writer = GGUFWriter(path, architecture or told, split_max_tensors=tensors_a_part)
    for name, field in reader.fields.items():
        value = (changes or {}).get(name, field.contents())
        if name in _OWN or value is None:
            continue
        inner = field.types[1] if field.types[0] == GGUFValueType.ARRAY else None
        writer.add_key_value(name, value, field.types[0], inner)
    for tensor in reader.tensors:
        if keep(tensor.name):
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
