"""Write all-MiniLM-L6-v2, which the embedded model brings along, as GGUF: a real model that embeds."""

import json
from pathlib import Path

import numpy as np
from gguf import GGUFWriter, PoolingType, TokenType
from safetensors.numpy import load_file

_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_AROUND = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
_LAYERS, _HEADS, _WIDTH, _HIDDEN, _CONTEXT = 6, 12, 384, 1536, 512


def write_minilm(model: Path, tokenizer: Path, path: Path) -> Path:
    """Args: model, tokenizer: safetensors and tokenizer.json of all-MiniLM-L6-v2. Weights stay F32."""
    writer = GGUFWriter(path, "bert")
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_HIDDEN)
    writer.add_block_count(_LAYERS)
    writer.add_head_count(_HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.MEAN)
    writer.add_file_type(0)
    _add_tokenizer(writer, tokenizer)
    for name, weights in load_file(model).items():
        renamed = _renamed(name)
        if renamed:
            writer.add_tensor(renamed, weights.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _renamed(name: str) -> str:
    stem, _, part = name.removeprefix("bert.").rpartition(".")
    if stem in _AROUND:
        return f"{_AROUND[stem]}.{part}"
    if stem.startswith("encoder.layer."):
        _, _, layer, inner = stem.split(".", 3)
        return f"blk.{layer}.{_LAYER[inner]}.{part}"
    return ""


def _add_tokenizer(writer: GGUFWriter, path: Path) -> None:
    vocabulary: dict[str, int] = json.loads(path.read_text("utf-8"))["model"]["vocab"]
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    # llama.cpp marks the beginning of a word where the original marks its continuation.
    tokens = [
        token if token in special else token[2:] if token.startswith("##") else "\u2581" + token for token in ordered
    ]
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_type_count(2)
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if token in special else TokenType.NORMAL for token in ordered])
    writer.add_bos_token_id(vocabulary["[CLS]"])
    writer.add_sep_token_id(vocabulary["[SEP]"])
    writer.add_pad_token_id(vocabulary["[PAD]"])
    writer.add_unk_token_id(vocabulary["[UNK]"])
    writer.add_mask_token_id(vocabulary["[MASK]"])
