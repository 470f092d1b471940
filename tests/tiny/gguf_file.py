"""Write a small Llama of a Hugging Face directory as GGUF, in F32, F16 or Q8_0."""

import json
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, TokenType
from gguf.quants import quantize
from numpy.typing import NDArray
from safetensors.numpy import load_file

FILE_TYPES = {
    "F32": LlamaFileType.ALL_F32,
    "F16": LlamaFileType.MOSTLY_F16,
    "Q8_0": LlamaFileType.MOSTLY_Q8_0,
}
_LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(folder: Path, path: Path, kind: str) -> Path:
    """Write the model of `folder` to `path`. Args: kind: `F32`, `F16` or `Q8_0`; norms always stay F32."""
    config = json.loads((folder / "config.json").read_text())
    writer = GGUFWriter(path, "llama")
    writer.add_name("emotui tests' tiny Llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(FILE_TYPES[kind])
    _add_tokenizer(writer, folder, config)
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    for name, tensor in load_file(folder / "model.safetensors").items():
        renamed = _renamed(name)
        weights = tensor.astype(np.float32)
        part = renamed.split(".")[-2]
        if part in heads:
            weights = permuted(weights, heads[part])
        _add(writer, renamed, weights, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def permuted(weights: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """From rotary halves (Hugging Face) to rotary pairs (llama.cpp). Args: weights: (heads * d, n)."""
    rows, columns = weights.shape
    return weights.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _renamed(name: str) -> str:
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    return f"blk.{layer}.{_LAYER[part]}.weight"


def _add(writer: GGUFWriter, name: str, weights: NDArray[np.float32], kind: str) -> None:
    if weights.ndim == 1 or kind == "F32":
        writer.add_tensor(name, weights)
    elif kind == "F16":
        writer.add_tensor(name, weights.astype(np.float16))
    else:
        quantised = quantize(weights, GGMLQuantizationType.Q8_0)
        writer.add_tensor(name, quantised, raw_dtype=GGMLQuantizationType.Q8_0)


def _add_tokenizer(writer: GGUFWriter, folder: Path, config: dict[str, int]) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    special = {token["id"] for token in tokenizer["added_tokens"] if token["special"]}
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    unused = [f"[unused {number}]" for number in range(len(ordered), config["vocab_size"])]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(ordered + unused)
    writer.add_token_types(
        [TokenType.CONTROL if vocabulary[token] in special else TokenType.NORMAL for token in ordered]
        + [TokenType.UNUSED] * len(unused)
    )
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(False)  # the chat template writes it
    writer.add_chat_template((folder / "chat_template.jinja").read_text())
