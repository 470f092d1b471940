"""A model's `config.json`, checked before a library sees it: what is used of it has the types that are counted on."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from emotui.bounded import read_bytes
from emotui.errors import BadModel

_MOST = 1 << 31

_SIZES = (
    *("hidden_size", "intermediate_size", "head_dim", "d_model", "d_ff", "d_kv", "d_head", "d_inner", "n_embd", "dim"),
    *("hidden_dim", "ffn_dim", "embedding_size", "vocab_size", "type_vocab_size"),
    *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_decoder_layers"),
    *("num_attention_heads", "num_key_value_heads", "num_heads", "n_head", "n_heads"),
    *("encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads", "num_labels"),
    *("encoder_ffn_dim", "decoder_ffn_dim"),
)
"""Names under which configurations state how large a model is."""

CONTEXTS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
"""Names under which they state how many tokens it reads."""

_TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id", "mask_token_id", "sep_token_id")


def read_config(folder: Path) -> dict[str, Any]:
    """`config.json`. Raises: BadModel where it is absent or no configuration of a model: one line."""
    path = folder / "config.json"
    adapter = folder / "adapter_config.json"
    if adapter.is_file():
        raise BadModel(
            f"{folder} holds an adapter for another model (adapter_config.json), which hf: does not load: merge it "
            "into its base (PEFT's merge_and_unload) and name the folder of the result"
        )
    if not path.is_file():
        raise BadModel(f"{folder} is no model's directory: it has no config.json")
    config = read_object(path)
    if "model_type" not in config:
        raise BadModel(f"{path} names no model_type: this is no model that transformers knows")
    _check(path, config)
    return config


def read_object(path: Path) -> dict[str, Any]:
    """A file among a model's that holds one JSON object. Raises: BadModel."""
    try:
        found = json.loads(read_bytes(path))
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise BadModel(f"{path} is no configuration: it is nested too deeply") from None
    except ValueError as error:
        raise BadModel(f"{path} is no JSON ({str(error).partition(';')[0]}): fetch the model again") from None
    if not isinstance(found, dict):
        what = "names no model_type: this is no model that transformers knows"
        raise BadModel(f"{path} {what if path.name == 'config.json' else 'holds no JSON object'}")
    return found


def _check(path: Path, config: Mapping[str, Any]) -> None:
    """Raises: BadModel, naming the first entry that is of another type than every such configuration has it."""
    inner = config.get("text_config")
    for part, prefix in ((config, ""), (inner if isinstance(inner, dict) else {}, "text_config.")):
        for names, fits, what in _RULES:
            for name in names:
                if part.get(name) is not None and not fits(part[name]):
                    raise BadModel(f"{path}: {prefix}{name} is {_kind(part[name])}, and must be {what}")
    if not isinstance(config["model_type"], str):
        raise BadModel(f"{path}: model_type is {_kind(config['model_type'])}, and must be a name")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -1 <= value < _MOST


def _whole_or_list(value: object) -> bool:
    """Some kinds of model state a size or a last token a layer or a way each."""
    return _whole(value) or (isinstance(value, list) and all(map(_whole, value)))


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _numbered_names(value: object) -> bool:
    """Labels by their place: as many as there are places, from 0 on."""
    if not isinstance(value, dict) or not all(isinstance(name, str | int) for name in value.values()):
        return False
    return set(value) == {str(place) for place in range(len(value))}


def _places(value: object) -> bool:
    return isinstance(value, dict) and all(_whole(place) or _digits(place) for place in value.values())


def _digits(value: object) -> bool:
    return isinstance(value, str) and value.isdecimal() and len(value) < 10


_RULES: tuple[tuple[tuple[str, ...], Callable[[object], bool], str], ...] = (
    (_SIZES, _whole_or_list, "a whole number"),
    (CONTEXTS, _whole_or_list, "a whole number"),
    (_TOKENS, _whole_or_list, "the number of a token"),
    (("architectures",), _names, "a list of names"),
    (("model_type", "problem_type", "attn_implementation"), lambda value: isinstance(value, str), "a name"),
    (("dtype", "torch_dtype"), lambda value: isinstance(value, str | dict), "a name"),
    (("is_encoder_decoder", "tie_word_embeddings"), lambda value: isinstance(value, bool), "true or false"),
    (("text_config", "quantization_config"), lambda value: isinstance(value, dict), "an object"),
    (("id2label",), _numbered_names, "an object of names by the numbers from 0"),
    (("label2id",), _places, "an object of whole numbers"),
)
"""Names of entries, what fits them, and how that is called. An entry that is null is taken for absent."""


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:,}" if abs(value) < 10**20 else "a number of more than 20 digits"
        case float():
            return str(value)
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"
