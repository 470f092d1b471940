"""Writes `backends/gguf/probe.gguf`, the tiny quantised model without meaning on which a build of llama.cpp is tried.

`python -m tests.backends.gguf.probe_model` from the checkout writes it anew.
"""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.paths import CHECKOUT

_UINT32, _FLOAT32, _STRING, _ARRAY, _INT32 = 4, 6, 8, 9, 5
_F32, _Q8_0 = 0, 8
_WIDTH, _HIDDEN, _HEADS, _CONTEXT = 256, 512, 4, 128
_UNKNOWN, _CONTROL, _BYTE = 2, 3, 6

Array = NDArray[np.float32]


def write_probe_model(path: Path) -> None:
    """Write a Llama of one layer with Q8_0 weights, which every build can run; 64 random rows again and again."""
    chance = np.random.default_rng(0)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256]
    keys = [
        _text("general.architecture", "llama"),
        *(
            _key(f"llama.{name}", _UINT32, struct.pack("<I", number))
            for name, number in {
                "context_length": _CONTEXT,
                "embedding_length": _WIDTH,
                "block_count": 1,
                "feed_forward_length": _HIDDEN,
                "attention.head_count": _HEADS,
                "rope.dimension_count": _WIDTH // _HEADS,
            }.items()
        ),
        _key("llama.attention.layer_norm_rms_epsilon", _FLOAT32, struct.pack("<f", 1e-5)),
        _text("tokenizer.ggml.model", "llama"),
        _array("tokenizer.ggml.tokens", _STRING, [_string(token) for token in tokens]),
        _array("tokenizer.ggml.scores", _FLOAT32, [struct.pack("<f", 0.0)] * len(tokens)),
        _array("tokenizer.ggml.token_type", _INT32, [struct.pack("<i", kind) for kind in kinds]),
    ]
    shapes = {
        "token_embd.weight": (len(tokens), _WIDTH),
        **{f"blk.0.attn_{part}.weight": (_WIDTH, _WIDTH) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (_HIDDEN, _WIDTH),
        "blk.0.ffn_up.weight": (_HIDDEN, _WIDTH),
        "blk.0.ffn_down.weight": (_WIDTH, _HIDDEN),
    }
    tensors: list[tuple[str, tuple[int, ...], int, bytes]] = [
        (name, shape, _Q8_0, quantise(np.resize(chance.standard_normal((64, shape[1])) / 16, shape).astype(np.float32)))
        for name, shape in shapes.items()
    ]
    norm = np.ones(_WIDTH, np.float32).tobytes()
    tensors += [(name, (_WIDTH,), _F32, norm) for name in ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight")]
    tensors.append(("output_norm.weight", (_WIDTH,), _F32, norm))
    path.write_bytes(_file(keys, tensors))


def quantise(weights: Array) -> bytes:
    """ggml's Q8_0: blocks of 32 values, a half-precision scale and 32 bytes. Args: weights: (rows, 32 * n)."""
    blocks = weights.reshape(-1, 32)
    scales = (np.abs(blocks).max(axis=1) / 127).astype(np.float16)
    safe = np.where(scales == 0, 1, scales).astype(np.float32)
    packed = np.zeros(len(blocks), dtype=[("scale", "<f2"), ("values", "i1", 32)])
    packed["scale"] = scales
    packed["values"] = np.clip(np.rint(blocks / safe[:, None]), -127, 127)
    return packed.tobytes()


def _file(keys: Sequence[bytes], tensors: Sequence[tuple[str, tuple[int, ...], int, bytes]]) -> bytes:
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys)
    body = b""
    for name, shape, kind, content in tensors:
        backwards = struct.pack(f"<{len(shape)}Q", *reversed(shape))  # ggml counts the innermost dimension first
        header += _string(name) + struct.pack("<I", len(shape)) + backwards + struct.pack("<IQ", kind, len(body))
        body += _padded(content)
    return _padded(header) + body


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 32)


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _key(name: str, kind: int, value: bytes) -> bytes:
    return _string(name) + struct.pack("<I", kind) + value


def _text(name: str, value: str) -> bytes:
    return _key(name, _STRING, _string(value))


def _array(name: str, kind: int, values: Iterable[bytes]) -> bytes:
    listed = list(values)
    return _key(name, _ARRAY, struct.pack("<IQ", kind, len(listed)) + b"".join(listed))


if __name__ == "__main__":
    write_probe_model(CHECKOUT / "backends" / "gguf" / "probe.gguf")
