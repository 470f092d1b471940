"""From a model's directory to a transformers model and its tokeniser, on a device."""

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import AutoConfig, AutoTokenizer

from emotui.backends import stopping
from emotui.backends.base import Progress
from emotui.backends.hf.configuration import read_config
from emotui.backends.hf.devices import Devices, check_memory, chosen_devices, no_memory
from emotui.backends.hf.families import family_of
from emotui.backends.hf.files import check_plain_files, text_hash, weight_files
from emotui.backends.hf.settings import Settings
from emotui.backends.weights_hash import weights_hash
from emotui.errors import ModelError
from emotui.installing import pip

# Weights of fewer bits: packed while they are loaded (bitsandbytes), or kept so in their files (GPTQ, AWQ, FP8).

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "gptq": ("optimum", "gptqmodel", "accelerate"),
    "awq": ("gptqmodel", "accelerate"),
    "fp8": ("accelerate",),
    "compressed-tensors": ("compressed_tensors", "accelerate"),
    "bitsandbytes": ("bitsandbytes", "accelerate"),
    "mxfp4": ("accelerate",),
    "bitnet": ("accelerate",),
    "sinq": ("sinq",),
}
"""Packages that transformers wants for what config.json names as `quant_method`; of others it says so itself."""

_ON_A_GPU = ("gptq", "awq", "bitnet")
"""Whose kernels are for NVIDIA GPUs; without one, BitNet compiles its unpacking for minutes before it loads."""

UNPACKED = ("fp8", "mxfp4")
"""What transformers unpacks where there is no GPU that computes with it."""


def check_packed(folder: Path, config: Mapping[str, Any], settings: Settings, device: torch.device) -> str | None:
    """By which method the files are quantised; None where they are not.

    Raises:
        ModelError: transformers does not know it, a package or a GPU is missing for it, or `bits` asks for another one.
    """
    said = config.get("quantization_config")
    if not isinstance(said, Mapping):
        return None
    method = str(said.get("quant_method") or ("bitsandbytes" if said.get("load_in_4bit") else "an unknown method"))
    if settings.bits:
        raise ModelError(f"{folder} is quantised already ({method}): leave bits={settings.bits} out")
    for package in _NEEDS.get(method, ()):
        if find_spec(package) is None:
            name = package.replace("_", "-")
            raise ModelError(f"{folder} is quantised by {method}, which needs {name}: {pip()} install {name}")
    if method in _ON_A_GPU and device.type != "cuda":
        raise ModelError(f"{folder} is quantised by {method}, which runs on an NVIDIA GPU: here the device is {device}")
    if why := _refused(dict(said), device):
        raise ModelError(f"{folder} is quantised by {method}, which cannot be loaded here: {why}")
    return method


def _refused(said: dict[str, Any], device: torch.device) -> str:
    """Why transformers would not load such files, asked before it reads their weights; empty where it would."""
    from transformers.quantizers.auto import AutoHfQuantizer

    try:
        if not AutoHfQuantizer.supports_quant_method(dict(said)):
            return f"transformers {transformers.__version__} does not know it"
        quantizer = AutoHfQuantizer.from_config(said, pre_quantized=True)
        quantizer.validate_environment(dtype=torch.bfloat16, device_map={"": device}, weights_only=True)
    except Exception as error:
        return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


def placement(devices: Devices, settings: Settings, dtype: torch.dtype, *, packed: bool) -> dict[str, Any]:
    """What `from_pretrained` is told of where weights go: straight to a GPU, without a copy in main memory.

    Raises:
        ModelError: `bits` needs a package that is missing.
    """
    placed: dict[str, Any] = {}
    if devices.spread:
        room = {place: int(0.9 * torch.cuda.mem_get_info(place)[0]) for place in range(devices.spread)}
        placed = {"device_map": "balanced", "max_memory": room}
    elif settings.bits or packed or (devices.first.type == "cuda" and find_spec("accelerate") is not None):
        placed = {"device_map": {"": devices.first}}
    if settings.bits:
        placed["quantization_config"] = _bits(settings.bits, dtype)
    return placed


def _bits(bits: int, dtype: torch.dtype) -> Any:
    for package in ("bitsandbytes", "accelerate"):
        if find_spec(package) is None:
            raise ModelError(f"hf: bits={bits} needs {package}: {pip()} install bitsandbytes accelerate")
    if bits == 8:
        return transformers.BitsAndBytesConfig(load_in_8bit=True)
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype, bnb_4bit_use_double_quant=True
    )


# That a long step goes on, told once in a while.

_EVERY = 5.0
"""Seconds."""


@contextmanager
def telling(progress: Progress, step: str) -> Iterator[None]:
    """While the body runs, `progress` hears how long it has."""
    over = threading.Event()
    started = time.monotonic()

    def tell() -> None:
        while not over.wait(_EVERY):
            progress(f"{step}: {time.monotonic() - started:,.0f} s")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# A cancel is seen between a model's layers, so that a long step costs the answer and not the loaded model.


def stop_between_layers(model: nn.Module) -> None:
    """Look before each layer of a forward pass whether what is computed is still wanted (`stopping.check`)."""
    for part in model.modules():
        if isinstance(part, nn.ModuleList):
            for layer in part:
                layer.register_forward_pre_hook(_look)


def _look(*_: Any) -> None:
    # Continuous batching computes in a thread of transformers' own, which nothing may end.
    if threading.current_thread() is threading.main_thread():
        stopping.check()


AUTO_CLASSES: Mapping[str, str] = {
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "masked": "AutoModelForMaskedLM",
    "classifier": "AutoModelForSequenceClassification",
    "tagger": "AutoModelForTokenClassification",
    "reader": "AutoModelForQuestionAnswering",
    "encoder": "AutoModel",
}
_LONGEST_SANE = 10_000_000
"""Tokenisers without a limit of their own state an absurd one."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model ready to run, and all that can change what it says. `context` is None where nothing limits it."""

    model: Any
    tokenizer: Any
    config: Any
    family: str
    context: int | None
    identity: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def device(self) -> torch.device:
        """Where token ids go in."""
        device = self.model.get_input_embeddings().weight.device
        return device if isinstance(device, torch.device) else torch.device("cpu")


def load_model(folder: Path, settings: Settings, progress: Progress) -> Loaded:
    """Check the directory, then load it.

    Raises:
        ModelError: one line: no model, broken files, an unknown architecture, a missing library, no memory.
    """
    check_plain_files(folder)
    raw = read_config(folder)
    family = _family(folder, raw) if settings.family == "auto" else settings.family
    if settings.batching == "continuous" and family != "causal":
        raise ModelError(f"{folder} does not write from left to right: batching=continuous is for models that do")
    files = weight_files(folder)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    chosen = chosen_devices(settings)
    device, dtype = chosen.first, _dtype(settings, chosen.first)
    packed = check_packed(folder, raw, settings, device)
    if settings.check_memory:
        check_memory(folder, files, settings.bits / 8 or dtype.itemsize, chosen)
    weights = weights_hash(files, progress)
    progress("reading the tokeniser")
    config = one_line(folder, lambda: AutoConfig.from_pretrained(folder, local_files_only=True))
    tokenizer = read_tokenizer(folder)
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    progress(f"loading {megabytes:,.0f} MB of weights as {str(dtype).removeprefix('torch.')} on {device}")
    placed = placement(chosen, settings, dtype, packed=packed is not None)
    if settings.attn != "auto":
        placed["attn_implementation"] = settings.attn
    auto = getattr(transformers, AUTO_CLASSES[family])
    with telling(progress, "loading weights"):
        model, found = one_line(
            folder,
            lambda: auto.from_pretrained(
                folder,
                config=config,
                dtype=dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                **placed,
            ),
        )
    missing = sorted(name for name in found["missing_keys"] if "pooler" not in name and "position_ids" not in name)
    if missing:
        raise ModelError(
            f"The weights of {folder} lack {missing[0]}"
            + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            + f": they are not a whole {type(model).__name__}"
        )
    check_all_used(folder, found["unexpected_keys"], family)
    one_line(folder, lambda: check_tokens(folder, tokenizer, model.get_input_embeddings().num_embeddings))
    if "device_map" not in placed:
        model = one_line(folder, lambda: model.to(device))
    if packed in UNPACKED and device.type != "cuda":
        model = one_line(folder, lambda: model.to(dtype))  # what is unpacked keeps the type of its scales
    model.eval()
    stop_between_layers(model)
    return Loaded(
        model=model,
        tokenizer=tokenizer,
        config=config,
        family=family,
        context=one_line(folder, lambda: context_of(config, tokenizer, family, settings)),
        identity={
            "weights": weights,
            "files": text_hash(folder),
            "architecture": type(model).__name__,
            "dtype": str(dtype).removeprefix("torch."),
            "device": device.type,
            "bits": str(settings.bits) if packed is None else packed,
            "attention": str(getattr(model.config, "_attn_implementation", "")),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            **({"batching": settings.batching} if settings.batching != "rows" else {}),
        },
        notes=(*chosen.notes, *([f"Weights are quantised by {packed}"] if packed else [])),
    )


_OTHER_PARTS = re.compile(
    r"position_ids|inv_freq|masked_bias|attn\.bias|embeddings\._weight|final_logits_bias|\bversion$"
    r"|pooler|vision|visual|audio|multi_modal|mtp"
)
"""In names of weights: buffers that older files have, and parts of a model that no text goes through."""

_PRETRAINING = (
    *("cls", "lm_head", "lm_loss", "lm_predictions", "mask_predictions", "predictions", "pred_layer", "sop_classifier"),
    *("vocab_transform", "vocab_layer_norm", "vocab_projector", "discriminator_predictions", "generator_predictions"),
    *("generator_lm_head", "entity_predictions", "contact_head", "head", "decoder.weight", "decoder.bias"),
)
_TRAINED = ("classifier", "pre_classifier", "classification_head", "qa_outputs", "score", "regression_head")
_HEADS: Mapping[str, tuple[str, ...]] = {
    "causal": ("v_head",),
    "seq2seq": ("v_head",),
    "masked": _PRETRAINING,
    "encoder": (*_PRETRAINING, *_TRAINED),
}
"""Heads that a family makes no use of, by the first parts of their names; of families not named, `_PRETRAINING`."""


def check_all_used(folder: Path, unused: Iterable[str], family: str) -> None:
    """See that the weights are those of the configuration, which may ask for fewer or others.

    Heads that a family makes no use of (BERT's for the next sentence) stay out without a word.

    Raises:
        ModelError: a weight would be left out, and the model be another one without saying so.
    """
    heads = _HEADS.get(family, _PRETRAINING)
    left = [name for name in unused if not _OTHER_PARTS.search(name) and not _begins(name, heads)]
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        raise ModelError(
            f"config.json of {folder} leaves out weights that are there ({min(left)}{more}): its layers and parts are "
            "not those of the weights, so it is not loaded"
        )


def _begins(name: str, heads: Iterable[str]) -> bool:
    """Whether a weight is of one of these heads, at the top or within what wraps the whole model."""
    within = name.partition(".")[2]
    return any(f"{each}.".startswith(f"{head}.") for each in (name, within) for head in heads)


def read_tokenizer(folder: Path) -> Any:
    """The tokeniser of a model's directory.

    Raises:
        ModelError: it cannot be read, or has no vocabulary: where its files are missing transformers makes one that
            knows nothing but the control tokens, and a model would see every text as unknown words.
    """
    wordless = f"{folder} has no vocabulary: fetch the files of its tokeniser too (tokenizer.json)"
    try:
        tokenizer = one_line(folder, lambda: AutoTokenizer.from_pretrained(folder, local_files_only=True))
    except ModelError as error:
        raise (ModelError(wordless) if "backend tokenizer" in str(error) else error) from None
    if one_line(folder, lambda: len(tokenizer) <= len(set(tokenizer.all_special_ids))):
        raise ModelError(wordless)
    return tokenizer


def check_tokens(folder: Path, tokenizer: Any, known: int) -> None:
    """See that the model has a place for each control token that prompts are written with (padding is masked).

    Args:
        known: tokens that the model's weights know.

    Raises:
        ModelError: it has none for one of them, and would stop at every prompt.
    """
    for name, number in zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True):
        if number >= known and number != tokenizer.pad_token_id:
            raise ModelError(
                f"The tokeniser of {folder} has {str(name)[:40]!r} as token {number:,}, and its weights know "
                f"{known:,}: they are not of one model, so it is not loaded"
            )


def _family(folder: Path, raw: Mapping[str, Any]) -> str:
    names = raw.get("architectures") or []
    if raw["model_type"] not in transformers.CONFIG_MAPPING:
        raise ModelError(
            f"{folder} is a model of type {raw['model_type']!r}, which transformers {transformers.__version__} "
            "does not know (code that comes with a model is never run)"
        )
    if not names:
        raise ModelError(f"{folder}/config.json names no architecture: say what it is by the option family")
    if (family := family_of(raw)) is not None:
        return family
    raise ModelError(
        f"{folder} is a {names[0]}: hf: knows models that write, fill masks, classify, mark spans or embed"
    )


def _dtype(settings: Settings, device: torch.device) -> torch.dtype:
    if settings.dtype != "auto":
        return getattr(torch, settings.dtype)
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.float16 if device.type == "mps" else torch.float32


def context_of(config: Any, tokenizer: Any, family: str, settings: Settings) -> int | None:
    """How many tokens fit. Models with relative positions (T5; XLNet, which says -1) have no end; RoBERTa's first
    position is number 2.

    An encoder's tokeniser may say less than its positions would allow, and is right: it was trained so.
    """
    if settings.context:
        return settings.context
    text = config.get_text_config()
    positions = getattr(text, "max_position_embeddings", None) or 0
    limits = [int(positions)] if positions > 0 else []
    if positions > 0 and text.model_type in ("roberta", "xlm-roberta", "camembert", "longformer", "mpnet"):
        limits = [int(positions) - 2]
    said = tokenizer.model_max_length
    if said and said < _LONGEST_SANE and family not in ("causal", "seq2seq"):
        limits.append(int(said))
    return min(limits, default=None)


def one_line(folder: Path, call: Any) -> Any:
    """What `call` returns; whatever a library raises over a model's files becomes one line."""
    try:
        return call()
    except ModelError:
        raise
    except BaseException as error:
        # What a library in Rust gives up with is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if no_memory(error):
            raise ModelError(f"{folder} does not fit into memory: try bits=8 or bits=4, or a smaller model") from None
        why = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ModelError(f"{folder} could not be loaded: {why[:300]}") from error
