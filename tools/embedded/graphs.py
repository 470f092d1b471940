"""Make `backends/embedded/layer.onnx` and `layer_int8.onnx`: what one layer of MiniLM computes, without any weight.

    python -m tools.embedded graphs

Needs the package onnx. The weights are handed over by whoever makes a session (`emotui.backends.embedded.encoder`);
the graphs name them and their shapes. Nodes of ONNX Runtime's own domain stand where it has one kernel for what would
be several (attention, sum and norm, bias and GELU, products of whole numbers).
"""

from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, helper

from emotui.backends.embedded.encoder import EPSILON, GRAPHS, HEADS, INNER, WIDTH

OWN = "com.microsoft"
FLOAT, UINT8 = TensorProto.FLOAT, TensorProto.UINT8
MAPS = {"qkv": (WIDTH, 3 * WIDTH), "mix": (WIDTH, WIDTH), "widen": (WIDTH, INNER), "narrow": (INNER, WIDTH)}


def _own(kind: str, inputs: list[str], output: str, **attributes: float) -> NodeProto:
    return helper.make_node(kind, inputs, [output], domain=OWN, **attributes)


def _norm(name: str, inputs: list[str], output: str, bias: str = "") -> NodeProto:
    given = [*inputs, f"{name}.weight", f"{name}.bias", *([bias] if bias else [])]
    return _own("SkipLayerNormalization", given, output, epsilon=EPSILON)


def _nodes() -> list[NodeProto]:
    """Devlin et al. 2019: attention, its output, a wide layer and back, norms after the residual sums."""
    return [
        _own("Attention", ["hidden", "qkv.weight", "qkv.bias", "lengths"], "attended", num_heads=HEADS),
        helper.make_node("MatMul", ["attended", "mix.weight"], ["mixed"]),
        _norm("mix_norm", ["mixed", "hidden"], "between", "mix.bias"),
        helper.make_node("MatMul", ["between", "widen.weight"], ["wide"]),
        _own("BiasGelu", ["wide", "widen.bias"], "bent"),
        helper.make_node("MatMul", ["bent", "narrow.weight"], ["narrow"]),
        _norm("narrow_norm", ["narrow", "between"], "next", "narrow.bias"),
    ]


def _int8_nodes() -> list[NodeProto]:
    """The same; each product's inputs are made whole numbers by their own range, the weights are so already."""

    def product(name: str, inputs: str, output: str, bias: bool = True) -> NodeProto:
        given = [inputs, f"{name}.weight", f"{name}.scale", f"{name}.zero", *([f"{name}.bias"] if bias else [])]
        return _own("DynamicQuantizeMatMul", given, output)

    return [
        product("qkv", "hidden", "qkv"),
        helper.make_node("Split", ["qkv"], ["query", "key", "value"], axis=2, num_outputs=3),
        _own("MultiHeadAttention", ["query", "key", "value", "", "lengths"], "attended", num_heads=HEADS),
        product("mix", "attended", "mixed"),
        _norm("mix_norm", ["mixed", "hidden"], "between"),
        product("widen", "between", "wide", bias=False),
        _own("BiasGelu", ["wide", "widen.bias"], "bent"),
        product("narrow", "bent", "narrow"),
        _norm("narrow_norm", ["narrow", "between"], "next"),
    ]


def _given(name: str, kind: int, *shape: int) -> TensorProto:
    """A tensor that stands somewhere else."""
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="handed over")
    return tensor


def graph(dtype: str) -> ModelProto:
    """The graph of a layer. Args: dtype: a key of `GRAPHS`."""
    whole = dtype == "int8"
    tensors = []
    for name, shape in MAPS.items():
        tensors += [
            _given(f"{name}.weight", UINT8 if whole else FLOAT, *shape),
            _given(f"{name}.bias", FLOAT, shape[1]),
        ]
        if whole:
            tensors += [_given(f"{name}.scale", FLOAT, shape[1]), _given(f"{name}.zero", UINT8, shape[1])]
    for name in ("mix_norm", "narrow_norm"):
        tensors += [_given(f"{name}.weight", FLOAT, WIDTH), _given(f"{name}.bias", FLOAT, WIDTH)]
    states = ["n", "t", WIDTH]
    made = helper.make_graph(
        _int8_nodes() if whole else _nodes(),
        "layer",
        [
            helper.make_tensor_value_info("hidden", FLOAT, states),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["n"]),
        ],
        [helper.make_tensor_value_info("next", FLOAT, states)],
        initializer=tensors,
    )
    operators = [helper.make_opsetid("", 18), helper.make_opsetid(OWN, 1)]
    return helper.make_model(made, opset_imports=operators, ir_version=8, producer_name="emotui")


def write(folder: Path) -> None:
    """Write both graphs, the same bytes each time."""
    for dtype, name in GRAPHS.items():
        (folder / name).write_bytes(graph(dtype).SerializeToString(deterministic=True))
