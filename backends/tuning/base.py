"""The base model of a training: found and checked as `hf:` does it, and given a head for the person's labels."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig

from emotui.backends.hf.configuration import read_config
from emotui.backends.hf.devices import chosen_devices
from emotui.backends.hf.families import family_of, labels_of
from emotui.backends.hf.files import model_folder, text_hash, weight_files
from emotui.backends.hf.loading import AUTO_CLASSES, check_all_used, context_of, one_line, read_tokenizer
from emotui.backends.hf.prompts import frame
from emotui.backends.hf.settings import Settings
from emotui.backends.spec import parse_spec
from emotui.backends.tuning.recipe import LONGEST
from emotui.backends.weights_hash import weights_hash
from emotui.errors import BadInput, ModelError


@dataclass(frozen=True, slots=True)
class Base:
    """A model's directory, whole and safe. `identity`: hashes of its weights and of its other files."""

    spec: str
    folder: Path
    identity: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trainable:
    """A model on its device, its tokeniser, and how many tokens of a text it reads. `new`: parameters without weights
    in the base's files, by name."""

    model: Any
    tokenizer: Any
    context: int
    device: torch.device
    new: tuple[str, ...]


def find_base(spec: str, *, online: bool = False) -> Base:
    """Look at the base of a training without loading it.

    Raises:
        BadInput: `spec` is no `hf:`.
        ModelError: there is no such model, or it has no weights in safetensors.
    """
    kind, argument = parse_spec(spec)
    if kind != "hf":
        raise BadInput(f"{spec} cannot be fine-tuned here: give --base hf:DIRECTORY or hf:NAME")
    folder = model_folder(argument, Settings(online=online), _quiet)
    read_config(folder)
    weights = weights_hash(weight_files(folder), _quiet)
    return Base(spec, folder, {"weights": weights, "files": text_hash(folder)})


def load_classifier(folder: Path, labels: Sequence[str], seed: int, device: str, max_length: int) -> Trainable:
    """The base with a head over `labels`: its own where it was trained for these very labels, else a new random one.

    Raises:
        ModelError: one line: an architecture without a classifier, weights that are not whole, no memory.
    """
    raw = read_config(folder)
    known = transformers.models.auto.modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES
    if raw["model_type"] not in known:
        raise ModelError(f"{folder} is a model of type {raw['model_type']!r}, of which there is no classifier of texts")
    config = one_line(folder, lambda: AutoConfig.from_pretrained(folder, local_files_only=True))
    own = family_of(raw) == "classifier" and labels_of(config) == tuple(labels)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
    config.problem_type = "single_label_classification"
    trainable = _load(folder, config, "classifier", seed, device, max_length)
    if not own:
        _draw_head(trainable.model, seed)
    return trainable


def load_masked(folder: Path, seed: int, device: str, max_length: int) -> Trainable:
    """The base as a masked-word model.

    Raises:
        ModelError: it is none, or cannot be loaded.
    """
    raw = read_config(folder)
    if family_of(raw) != "masked":
        raise ModelError(f"{folder} cannot be trained to fill masks: --emlm needs a base with a masked-word head")
    config = one_line(folder, lambda: AutoConfig.from_pretrained(folder, local_files_only=True))
    return _load(folder, config, "masked", seed, device, max_length)


def _load(folder: Path, config: Any, family: str, seed: int, device: str, max_length: int) -> Trainable:
    os.environ["HF_HUB_OFFLINE"] = "1"
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    place = chosen_devices(Settings(device=device)).first
    tokenizer = read_tokenizer(folder)
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token_id is None:
            raise ModelError(f"The tokeniser of {folder} has neither a padding nor an end token")
        tokenizer.pad_token = tokenizer.eos_token
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = tokenizer.pad_token_id
    torch.manual_seed(seed)
    auto = getattr(transformers, AUTO_CLASSES[family])
    model, found = one_line(
        folder,
        lambda: auto.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        ),
    )
    new = sorted({*found["missing_keys"], *(each[0] for each in found["mismatched_keys"])})
    inside = f"{model.base_model_prefix}."
    lost = [name for name in new if "position_ids" not in name and "pooler" not in name]
    lost = lost if family == "masked" else [name for name in lost if name.startswith(inside)]
    if lost:
        raise ModelError(f"The weights of {folder} lack {lost[0]}: they are not a whole {type(model).__name__}")
    check_all_used(folder, found["unexpected_keys"], "encoder")  # whatever head it had, it gets a new one
    limit = context_of(config, tokenizer, family, Settings())
    wanted = max_length or min(limit or LONGEST, LONGEST)
    if limit is not None and wanted > limit:
        raise BadInput(f"--max-length {wanted}: {folder} reads at most {limit} tokens")
    if wanted <= (own := frame(tokenizer, 1).extra):
        raise BadInput(
            f"--max-length {wanted} leaves no room for a text: {folder} puts {own} tokens of its own around it"
        )
    model = one_line(folder, lambda: model.to(place))
    return Trainable(model, tokenizer, wanted, place, tuple(new))


def head_modules(model: Any) -> list[str]:
    """The names of what a classifier has beside its base model: its head."""
    names = [name for name, _ in model.named_children() if name != model.base_model_prefix]
    return [name for name in names if any(True for _ in getattr(model, name).parameters())]


@torch.no_grad()
def _draw_head(model: Any, seed: int) -> None:
    """Give the head random weights, as its architecture draws them."""
    torch.manual_seed(seed)
    for name in head_modules(model):
        for module in getattr(model, name).modules():
            # transformers passes over whatever it believes to come from a file.
            for tensor in (module, *module.parameters(recurse=False)):
                if hasattr(tensor, "_is_hf_initialized"):
                    del tensor._is_hf_initialized  # noqa: SLF001 - transformers has no public way to draw anew
            model._init_weights(module)  # noqa: SLF001


def _quiet(line: str) -> None:
    """Checking a base takes no time worth a word."""
