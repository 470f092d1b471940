"""Make the graphs of `backends/embedded`: what one layer of MiniLM computes, without any weight.

    python -m tools.embedded graphs

Needs the package onnx. The weights are handed over by whoever makes a session (`emotui.backends.embedded.encoder`);
the graphs name them and their shapes. Nodes of ONNX Runtime's own domain stand where it has one kernel for what would
be several (attention, sum and norm, bias and GELU, products of whole numbers).
"""

from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, helper

from emotui.backends.embedded.encoder import EPSILON, GRAPHS, HEADS, INNER, SHAPES, WIDTH

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


def _shared_nodes() -> list[NodeProto]:
    """The same; a map's inputs also go through its adapter, which comes with each call: W x + up down x."""

    def product(name: str, inputs: str, output: str) -> list[NodeProto]:
        return [
            _own("FusedMatMul", [inputs, f"{name}.weight"], f"{name}.own", transB=1),
            helper.make_node("MatMul", [inputs, f"{name}.down"], [f"{name}.few"]),
            helper.make_node("MatMul", [f"{name}.few", f"{name}.up"], [f"{name}.more"]),
            helper.make_node("Add", [f"{name}.own", f"{name}.more"], [output]),
        ]

    return [
        *[node for name in ("query", "key", "value") for node in product(name, "hidden", name)],
        _own("MultiHeadAttention", ["query", "key", "value", "qkv.bias", "lengths"], "attended", num_heads=HEADS),
        *product("mix", "attended", "mixed"),
        _norm("mix_norm", ["mixed", "hidden"], "between", "mix.bias"),
        *product("widen", "between", "wide"),
        _own("BiasGelu", ["wide", "widen.bias"], "bent"),
        *product("narrow", "bent", "narrow"),
        _norm("narrow_norm", ["narrow", "between"], "next", "narrow.bias"),
    ]


def _given(name: str, kind: int, *shape: int) -> TensorProto:
    """A tensor that stands somewhere else."""
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="handed over")
    return tensor


def _weights(dtype: str) -> list[TensorProto]:
    if dtype == "shared":
        tensors = [_given(f"{name}.weight", FLOAT, *shape) for name, shape in SHAPES.items()]
        tensors += [_given(f"{name}.bias", FLOAT, outputs) for name, (_, outputs) in MAPS.items()]
    else:
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
    return tensors


def graph(dtype: str) -> ModelProto:
    """The graph of a layer. Args: dtype: a key of `GRAPHS`."""
    states = ["n", "t", WIDTH]
    given = [
        helper.make_tensor_value_info("hidden", FLOAT, states),
        helper.make_tensor_value_info("lengths", TensorProto.INT32, ["n"]),
    ]
    if dtype == "shared":
        for name, (outputs, inputs) in SHAPES.items():
            given += [
                helper.make_tensor_value_info(f"{name}.down", FLOAT, [inputs, "r"]),
                helper.make_tensor_value_info(f"{name}.up", FLOAT, ["r", outputs]),
            ]
    made = helper.make_graph(
        {"float32": _nodes, "int8": _int8_nodes, "shared": _shared_nodes}[dtype](),
        "layer",
        given,
        [helper.make_tensor_value_info("next", FLOAT, states)],
        initializer=_weights(dtype),
    )
    operators = [helper.make_opsetid("", 18), helper.make_opsetid(OWN, 1)]
    return helper.make_model(made, opset_imports=operators, ir_version=8, producer_name="emotui")


def write(folder: Path) -> None:
    """Write all graphs, the same bytes each time."""
    for dtype, name in GRAPHS.items():
        (folder / name).write_bytes(graph(dtype).SerializeToString(deterministic=True))
