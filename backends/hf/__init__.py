"""`hf:DIRECTORY` or `hf:NAME`: models of Hugging Face transformers, from safetensors, without running their code.

The options are in `settings.Settings`; they may stand in the SPEC: `hf:DIRECTORY#dtype=bfloat16&device=cpu`.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emotui.backends.base import Backend, ModelCard, Progress
from emotui.backends.hf.configuration import read_config
from emotui.backends.hf.files import model_folder, weight_files
from emotui.backends.hf.settings import Settings, read_spec
from emotui.errors import ModelError
from emotui.installing import check_transformers

CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    "causal": ("generate", "score", "rank", "attribute"),
    "seq2seq": ("generate", "score", "rank", "attribute"),
    "masked": ("fill_mask", "embed"),
    "encoder": ("embed",),
    "classifier": ("classify", "score", "attribute"),
    "regressor": ("regress",),
    "nli": ("classify", "score", "attribute"),
    "tagger": ("extract",),
    "reader": ("extract",),
}


ON_A_GPU, MOST_ON_A_GPU = 128, 1024
"""Texts that a GPU is asked about at a time, at first and at most: each batch is cut again by its tokens, so that it
fits."""


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Backend:
    """Load a model by what its configuration says that it is.

    Args:
        argument: a directory, or a hub name (among those fetched before, or to be fetched with the option `online`),
            and options behind a `#`.
        options: see `emotui.backends.hf.settings.Settings`.
        progress: called with one line a step.

    Raises:
        ModelError: one clear line, BadModel where the SPEC or the files are at fault; see `emotui.backends.hf.files`
            and `emotui.backends.hf.loading`.
    """
    name, settings = read_spec(argument, options)
    check_transformers("hf: models need more than emotui brings")
    folder = model_folder(name, settings, progress)
    read_config(folder)
    weight_files(folder)  # what is broken is told before torch takes seconds to start
    # From here on everything is on this machine: no library may ask the hub about it.
    os.environ["HF_HUB_OFFLINE"] = "1"
    progress("starting torch and transformers")
    from transformers.utils import logging

    from emotui.backends.hf.loading import load_model, one_line

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    loaded = load_model(folder, settings, progress)
    shown = folder.name if Path(name).expanduser().is_dir() else name
    # Files of a model may say of tokens, labels and limits what is only found wrong when it is used.
    backend: Backend = one_line(folder, lambda: _backend(f"hf:{name}", shown, folder, settings, loaded))
    progress("ready")
    return backend


def _backend(spec: str, name: str, folder: Path, settings: Settings, loaded: Any) -> Any:
    """The loaded model behind the protocol of its kind."""
    from emotui.backends.hf.classifier import NAMES, is_regression
    from emotui.backends.hf.families import labels_of, nli_places
    from emotui.backends.hf.prompts import Prompts
    from emotui.backends.hf.span_models import span_labels
    from emotui.backends.hf.states import Pusher, StateReader, layers_of

    prompts = Prompts(loaded.tokenizer, thinking=settings.thinking == "on")
    kind = loaded.family
    labels: dict[str, tuple[str, ...]] = {}
    if kind == "classifier":
        names = labels_of(loaded.config)
        if nli_places(names) is not None:
            kind = "nli"
        elif is_regression(loaded.config):
            kind, labels = "regressor", {NAMES: names}
        else:
            labels = {"labels": names}
    elif kind == "tagger":
        labels = {"spans": span_labels(loaded.config, settings)}
    readable = kind != "seq2seq" and layers_of(loaded.model) is not None
    pushable = readable and kind in ("causal", "classifier", "nli")
    card = ModelCard(
        spec=spec,
        name=name,
        capabilities=(*CAPABILITIES[kind], *(("states",) if readable else ()), *(("push",) if pushable else ())),
        identity={**loaded.identity, **_asked(settings, kind, prompts), **_types(loaded, kind)},
        labels=labels,
        notes=(*loaded.notes, *_notes(settings, kind, prompts, loaded.context)),
        judges=kind == "nli",
        mask=_mask_token(loaded) if kind in ("classifier", "nli") else None,
        together=ON_A_GPU if loaded.device.type == "cuda" else 0,
        grows_to=MOST_ON_A_GPU if loaded.device.type == "cuda" else 0,
    )
    backend = _of_kind(kind, card, prompts, folder, settings, loaded)
    if readable:
        backend.states = StateReader(loaded, prompts, settings, writes=kind == "causal").states
    if kind in ("causal", "seq2seq"):
        from emotui.backends.hf.tracing import ChatTracer

        backend.attribute = ChatTracer(backend, loaded, prompts, settings).attribute
    if pushable:
        backend.push = Pusher(backend, loaded, settings).push
    return backend


def _of_kind(kind: str, card: ModelCard, prompts: Any, folder: Path, settings: Settings, loaded: Any) -> Any:
    from emotui.backends.hf.classifier import Classifier, Regressor, ZeroShot
    from emotui.backends.hf.masked import Embedder, Masked
    from emotui.backends.hf.span_models import Reader, Tagger

    match kind:
        case "causal":
            from emotui.backends.hf.causal import Causal

            return Causal(card, loaded, prompts, settings)
        case "seq2seq":
            from emotui.backends.hf.seq2seq import Seq2Seq

            return Seq2Seq(card, loaded, prompts, settings)
        case "masked":
            return Masked(card, loaded, prompts, settings, folder)
        case "encoder":
            return Embedder(card, loaded, prompts, settings, folder)
        case "regressor":
            return Regressor(card, loaded, prompts, settings)
        case "nli":
            return ZeroShot(card, loaded, prompts, settings)
        case "tagger":
            return Tagger(card, loaded, prompts, settings)
        case "reader":
            return Reader(card, loaded, prompts, settings)
        case _:
            return Classifier(card, loaded, prompts, settings)


def _mask_token(loaded: Any) -> str | None:
    """The token that a model learnt to read words through; None: it is of a kind that never saw one."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    tokenizer = loaded.tokenizer
    if tokenizer.mask_token is None or loaded.config.model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return None
    known: int = loaded.model.get_input_embeddings().weight.shape[0]
    return str(tokenizer.mask_token) if tokenizer.mask_token_id < known else None


def _asked(settings: Settings, kind: str, prompts: Any) -> dict[str, str]:
    """The options that can change a result."""
    said = {"context": str(settings.context), "batch_tokens": str(settings.batch_tokens)}
    if kind in ("causal", "seq2seq"):
        source = prompts.tokenizer.get_chat_template() if prompts.template is not None else ""
        said["template"] = hashlib.sha256(source.encode()).hexdigest() if source else "none"
        said["thinking"] = settings.thinking
        if settings.thinking == "on":
            said["thinking_room"] = str(settings.thinking_room)
        said["share_prefix"] = str(settings.share_prefix)
    if kind == "seq2seq":
        said["answer"] = "behind control tokens"  # where yes and no are read, and what a grammar rules
    if kind in ("nli", "classifier"):
        said["multi_label"] = str(settings.multi_label)
    if kind == "nli":
        said["hypothesis"] = settings.hypothesis
    if kind == "tagger":
        said |= {"aggregation": settings.aggregation, "outside": settings.outside}
    if kind == "reader":
        said |= {"question": settings.question, "no_answer": str(settings.no_answer)}
    return said


def _types(loaded: Any, kind: str) -> dict[str, str]:
    """Of a model that reads two texts and knows types of tokens, whether it is told them."""
    from emotui.backends.hf.encoders import takes_types

    several = int(getattr(loaded.config, "type_vocab_size", 0) or 0) > 1
    untold = kind in ("nli", "reader") and several and not takes_types(loaded.config, loaded.tokenizer)
    return {"token_types": "none"} if untold else {}


def _notes(settings: Settings, kind: str, prompts: Any, context: int | None) -> list[str]:
    notes = [f"Context: {context:,} tokens" if context is not None else "Context: without a fixed end"]
    if kind == "reader":
        notes.append(f"Asked of each text: {settings.question}")
    if kind not in ("causal", "seq2seq"):
        return notes
    if prompts.template is None:
        if settings.thinking == "on":
            raise ModelError("hf: thinking=on needs a model with a thinking mode, and this one has no chat template")
        notes.append("No chat template: prompts are sent as plain text")
        return notes
    if not prompts.template.takes_system:
        notes.append("The chat template has no system turn: rules begin the user's first message")
    mode = prompts.template.thinking
    if mode == "none" and settings.thinking == "on":
        raise ModelError("hf: thinking=on needs a model with a thinking mode; this chat template has none")
    if mode != "none":
        notes.append(
            f"Thinking is {settings.thinking}"
            + (f" (in up to {settings.thinking_room:,} tokens); scores are read without" * (settings.thinking == "on"))
        )
    return notes
