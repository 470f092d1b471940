"""all-MiniLM-L6-v2 without torch: six BERT layers, each by ONNX Runtime, or by NumPy where that does not run.

What one layer computes stands in `layer.onnx` (two kilobytes, made by `tools/embedded/graphs.py`), which holds no
weights: these are the bytes of the original safetensors file, with a task's adapters added, and are handed over when a
layer is made. So all layers of all encoders share one graph, and a cancel is heard between two layers.

Encoders that share layers compute by `layer_shared.onnx`: the original weights, in memory once for all of them, and the
products of an encoder's adapters beside. That is a seventh slower a text, but there at once, and 42 MB smaller an
encoder: for a single text, as `emotui probe` asks.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from emotui.backends import stopping
from emotui.errors import ModelError
from emotui.installing import pip

Floats = NDArray[np.float32]
Layer = Callable[[Floats, NDArray[np.int32]], Floats]
"""(n, t, 384) states and (n,) lengths to the next states; what stands behind a text's end has no meaning."""

Session = Any
"""ONNX Runtime's `InferenceSession`."""

Engine = Literal["onnxruntime", "numpy"]
Dtype = Literal["float32", "int8"]

WIDTH = 384
HEADS = 12
LAYERS = 6
INNER = 1536
VOCABULARY = 30522
MAX_TOKENS = 512
EPSILON = 1e-12

SCALE = 2.0
"""What a low-rank change of a linear map counts for: W + SCALE up down (Hu et al. 2022)."""

MAPS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mix": "attention.output.dense",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
}
"""The six linear maps of a layer, to their names in the original file."""

SHAPES = dict.fromkeys(MAPS, (WIDTH, WIDTH)) | {"widen": (INNER, WIDTH), "narrow": (WIDTH, INNER)}
"""Outputs and inputs of each."""

NORMS = {"mix_norm": "attention.output.LayerNorm", "narrow_norm": "output.LayerNorm"}

GRAPHS: Mapping[str, str] = {"float32": "layer.onnx", "int8": "layer_int8.onnx", "shared": "layer_shared.onnx"}

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Options of `mallopt(3)`."""

TOGETHER = 2048, 512
"""Tokens, with what is padded, that an encoder reads together by layers of its own, and (in less memory) by shared."""

_KEPT = 16_384, 4096
"""Tokens whose states an encoder keeps, with layers of its own (25 MB, where so many were read) and shared ones."""


class BaseFile:
    """The tensors of the original file; each is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self._places = json.loads(file.read(length))
        self._path, self._start = path, 8 + length

    def mapped(self, name: str) -> Floats:
        """A tensor of which only what is looked at comes into memory."""
        place = self._places[name]
        start = self._start + place["data_offsets"][0]
        return np.memmap(self._path, np.float32, "r", start, tuple(place["shape"]))

    def read(self, name: str) -> Floats:
        """A tensor in memory of its own, which goes back when nobody holds it."""
        place = self._places[name]
        start, end = place["data_offsets"]
        values = np.fromfile(self._path, np.float32, (end - start) // 4, offset=self._start + start)
        return values.reshape(place["shape"])


class SharedLayers:
    """The six layers of the unmodified model, made once for all encoders; each hands its adapters over with a call."""

    def __init__(self, base: BaseFile) -> None:
        self._base = base

    @cached_property
    def layers(self) -> list[Session]:
        """Raises: whatever ONNX Runtime raises where it does not run."""
        with _large_blocks_go_back():
            return [onnx_session(_mapped_tensors(self._base, number), GRAPHS["shared"]) for number in range(LAYERS)]

    def with_adapters(self, adapters: Mapping[str, NDArray[Any]]) -> list[Layer]:
        """Args and raises: as `Encoder` takes them, and as `layers` does."""
        return [partial(_run, session, _changes(number, adapters)) for number, session in enumerate(self.layers)]


class Encoder:
    """Token ids to one vector a token.

    Args:
        base: the unmodified MiniLM.
        adapters: low-rank changes of its maps, named `LAYER.MAP.down` (16, in) and `LAYER.MAP.up` (out, 16).
        dtype: `int8` multiplies whole numbers: a quarter of the memory, and other answers.
        engine: None: ONNX Runtime, or NumPy where that does not run.
        shared: what texts are read by (float32 on ONNX Runtime); None: layers of its own.

    Raises:
        ModelError: `int8` without ONNX Runtime.
    """

    def __init__(
        self,
        base: BaseFile,
        adapters: Mapping[str, NDArray[Any]] | None = None,
        *,
        dtype: Dtype = "float32",
        engine: Engine | None = None,
        shared: SharedLayers | None = None,
    ) -> None:
        embeddings = "embeddings.{}_embeddings.weight".format
        self.words = base.mapped(embeddings("word"))
        self._places = base.read(embeddings("position")) + base.read(embeddings("token_type"))[0]
        self._norm = _norm(base, "embeddings.LayerNorm")
        self._base, self._adapters, self._dtype, self._engine = base, adapters or {}, dtype, engine
        self._shared = shared
        self._layers: list[Layer] = []
        self.lately = Lately(_KEPT[shared is not None])
        if shared is None:
            self._made_layers()

    @property
    def together(self) -> int:
        """Tokens that are best read together."""
        return TOGETHER[self._shared is not None]

    def _own_layers(self) -> list[Layer]:
        with _large_blocks_go_back():
            layers = (_layer_tensors(self._base, number, self._adapters) for number in range(LAYERS))
            return [_made(tensors, self._dtype, self._engine) for tensors in layers]

    def _made_layers(self) -> list[Layer]:
        if not self._layers and self._shared is not None:
            try:
                self._layers = self._shared.with_adapters(self._adapters)
            except Exception:  # absent, built for another processor, or whatever a native library raises
                self._shared = None
        if not self._layers:
            self._layers = self._own_layers()
        return self._layers

    def __call__(self, ids: NDArray[np.int64], lengths: NDArray[np.int32], depth: int = LAYERS) -> Floats:
        """Args: ids: (n, t), t at most 512. lengths: (n,), how many tokens of a row count. depth: layers gone through.

        Returns: (n, t, 384); what stands behind a text's end has no meaning.
        """
        # One layer's states at a time: those of all would be held in memory together.
        return deque(self.by_layer(ids, lengths, depth), maxlen=1)[0]

    def by_layer(self, ids: NDArray[np.int64], lengths: NDArray[np.int32], depth: int = LAYERS) -> Iterator[Floats]:
        """What goes into the first layer, and what comes out of each, one after the other. Args: as of a call."""
        hidden = _normed(self.words[ids] + self._places[: ids.shape[1]], *self._norm)
        yield hidden
        for layer in self._made_layers()[:depth]:
            stopping.check()
            hidden = layer(hidden, lengths)
            yield hidden


class Lately:
    """The states of texts that were read lately: several questions about one text are one reading of it."""

    def __init__(self, most: int) -> None:
        self.most, self._held = most, 0
        self._states: OrderedDict[tuple[int, ...], Floats] = OrderedDict()

    def get(self, ids: tuple[int, ...]) -> Floats | None:
        """(t, 384), or None where it is not known any more."""
        found = self._states.get(ids)
        if found is not None:
            self._states.move_to_end(ids)
        return found

    def keep(self, ids: tuple[int, ...], states: Floats) -> None:
        """Keep these, and forget what was not asked for longest."""
        self._states[ids] = states
        self._held += len(ids)
        while self._held > self.most and self._states:
            self._held -= len(self._states.popitem(last=False)[0])


@contextmanager
def _large_blocks_go_back() -> Iterator[None]:
    """Meanwhile what is freed goes back to the system at once, where a block is a megabyte or more.

    The C library of Linux would keep it for what is asked for next: some 30 MB of tensors that ONNX Runtime
    has packed anew.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        yield
        return
    mallopt(_MMAP_THRESHOLD, 1 << 20)
    try:
        yield
    finally:
        # The most that it comes to by itself: states of each text are not asked of the system again and again.
        mallopt(_MMAP_THRESHOLD, 32 << 20)
        mallopt(_TRIM_THRESHOLD, 64 << 20)


def _norm(base: BaseFile, name: str) -> tuple[Floats, Floats]:
    return base.read(f"{name}.weight"), base.read(f"{name}.bias")


def _layer_tensors(base: BaseFile, number: int, adapters: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """What `layer.onnx` names; weights are (in, out), and the first three maps are one."""
    before = f"encoder.layer.{number}."

    def weight(name: str) -> Floats:
        own = base.read(f"{before}{MAPS[name]}.weight")
        if f"{number}.{name}.up" in adapters:
            up, down = (adapters[f"{number}.{name}.{part}"].astype(np.float32) for part in ("up", "down"))
            own += SCALE * (up @ down)
        return own.T

    together = ("query", "key", "value")
    tensors = {
        "qkv.weight": np.ascontiguousarray(np.concatenate([weight(name) for name in together], 1)),
        "qkv.bias": np.concatenate([base.read(f"{before}{MAPS[name]}.bias") for name in together]),
    }
    for name in ("mix", "widen", "narrow"):
        tensors[f"{name}.weight"] = np.ascontiguousarray(weight(name))
        tensors[f"{name}.bias"] = base.read(f"{before}{MAPS[name]}.bias")
    for name, original in NORMS.items():
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = _norm(base, before + original)
    return tensors


def _mapped_tensors(base: BaseFile, number: int) -> dict[str, Floats]:
    """What `layer_shared.onnx` names; weights are (out, in), as in the file, of which ONNX Runtime makes its copy."""
    before = f"encoder.layer.{number}."
    bias = {name: base.read(f"{before}{original}.bias") for name, original in MAPS.items()}
    tensors = {f"{name}.weight": base.mapped(f"{before}{original}.weight") for name, original in MAPS.items()}
    tensors["qkv.bias"] = np.concatenate([bias[name] for name in ("query", "key", "value")])
    tensors |= {f"{name}.bias": bias[name] for name in ("mix", "widen", "narrow")}
    for name, original in NORMS.items():
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = _norm(base, before + original)
    return tensors


def _changes(number: int, adapters: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """A layer's adapters as `layer_shared.onnx` takes them: `MAP.down` (in, r), `MAP.up` (r, out), scaled.

    A map that has none is given one of rank 1 that changes nothing.
    """
    changes = {}
    for name, (outputs, inputs) in SHAPES.items():
        down, up = (adapters.get(f"{number}.{name}.{part}") for part in ("down", "up"))
        if down is None or up is None:
            down, up = np.zeros((1, inputs), np.float32), np.zeros((outputs, 1), np.float32)
        changes[f"{name}.down"] = np.ascontiguousarray(down.T, np.float32)
        changes[f"{name}.up"] = np.ascontiguousarray(SCALE * up.T, np.float32)
    return changes


def _made(tensors: dict[str, Floats], dtype: Dtype, engine: Engine | None) -> Layer:
    if engine != "numpy":
        try:
            return onnx_layer(quantised(tensors) if dtype == "int8" else tensors, GRAPHS[dtype])
        except Exception as error:  # absent, built for another processor, or whatever a native library raises
            if engine is not None or dtype == "int8":
                raise ModelError(
                    f"The embedded model needs ONNX Runtime for this, which does not run here ({str(error)[:200]}): "
                    f"{pip()} install --force-reinstall onnxruntime"
                ) from error
    return numpy_layer(tensors)


def quantised(tensors: Mapping[str, Floats]) -> dict[str, NDArray[Any]]:
    """Weights as whole numbers around 128, with the step of each output (`.scale`); all else stays."""
    found: dict[str, NDArray[Any]] = {}
    for name, values in tensors.items():
        if values.ndim == 1:
            found[name] = values
            continue
        scale = np.maximum(np.abs(values).max(0) / 127, np.finfo(np.float32).tiny)
        found[name] = np.ascontiguousarray(np.rint(values / scale) + 128).astype(np.uint8)
        found[name.replace(".weight", ".scale")] = scale
        found[name.replace(".weight", ".zero")] = np.full(len(scale), 128, np.uint8)
    return found


@cache
def _session_options() -> tuple[Any, dict[str, bytes]]:
    """ONNX Runtime with memory that all sessions share, and the graphs by their files."""
    # Without this, importing it makes a device's identity and a queue of events that it sends to its makers.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    kind = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    # As much as is asked for, instead of twice as much each time.
    onnxruntime.create_and_register_allocator(kind, onnxruntime.OrtArenaCfg({"arena_extend_strategy": 1}))
    folder = resources.files("emotui.backends.embedded")
    return onnxruntime, {name: (folder / name).read_bytes() for name in GRAPHS.values()}


class _Threads:
    """How many threads a layer that is made from now on computes with."""

    each = 1


def use_threads(each: int) -> None:
    """Let the layers that are made from now on compute with so many threads."""
    _Threads.each = each


def onnx_session(tensors: Mapping[str, NDArray[Any]], graph: str) -> Session:
    """What runs a graph with these weights. Args: graph: a value of `GRAPHS`."""
    onnxruntime, graphs = _session_options()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = _Threads.each, 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in tensors.values()]
    options.add_external_initializers(list(tensors), values)
    return onnxruntime.InferenceSession(graphs[graph], options, providers=["CPUExecutionProvider"])


def onnx_layer(tensors: Mapping[str, NDArray[Any]], graph: str) -> Layer:
    """A layer by ONNX Runtime. Args: graph: a value of `GRAPHS`."""
    return partial(_run, onnx_session(tensors, graph), {})


def _run(session: Session, changes: Mapping[str, Floats], hidden: Floats, lengths: NDArray[np.int32]) -> Floats:
    (states,) = session.run(None, {"hidden": hidden, "lengths": lengths, **changes})
    return np.asarray(states)


def numpy_layer(tensors: Mapping[str, Floats]) -> Layer:
    """The same layer by NumPy (Devlin et al. 2019: norms after the residual sums, GELU by the error function)."""
    from scipy.special import erf

    def linear(name: str, inputs: Floats) -> Floats:
        return inputs @ tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def norm(name: str, inputs: Floats) -> Floats:
        return _normed(inputs, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def layer(hidden: Floats, lengths: NDArray[np.int32]) -> Floats:
        n, t, _ = hidden.shape
        query, key, value = linear("qkv", hidden).reshape(n, t, 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
        scores = query @ key.swapaxes(2, 3) / np.float32((WIDTH // HEADS) ** 0.5)
        scores[np.broadcast_to(np.arange(t) >= lengths[:, None, None, None], scores.shape)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(n, t, WIDTH)
        hidden = norm("mix_norm", hidden + linear("mix", mixed))
        wide = linear("widen", hidden)
        wide *= (1 + erf(wide / np.float32(2**0.5))) / 2
        return norm("narrow_norm", hidden + linear("narrow", wide))

    return layer


def _normed(inputs: Floats, weight: Floats, bias: Floats) -> Floats:
    centred = inputs - inputs.mean(-1, keepdims=True)
    centred /= np.sqrt(np.square(centred).mean(-1, keepdims=True) + np.float32(EPSILON))
    centred *= weight
    centred += bias
    return centred
