"""LoRA (Hu et al. 2021) by peft: small matrices beside the base's, the head in full, one plain model at the end."""

import warnings
from typing import Any

from emotui.backends.tuning.base import Trainable, head_modules
from emotui.errors import ModelError
from emotui.installing import install

ALPHA_PER_RANK = 2
"""LoRA's alpha is twice the rank: its matrices count double."""

DROPOUT = 0.05


def check_installed() -> None:
    """Raises: ModelError where peft is not installed."""
    try:
        import peft  # noqa: F401
    except ImportError:
        raise ModelError(f"--lora needs peft, which is not installed: {install('train')}") from None


def with_lora(trainable: Trainable, rank: int) -> Any:
    """The model with LoRA matrices of this rank, which alone are learnt beside the head and other new parts.

    They stand where peft's table has them for this architecture, else beside every linear layer.

    Raises:
        ModelError: peft is not installed, or knows no place for them.
    """
    check_installed()
    from peft import LoraConfig, TaskType, get_peft_model
    from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as PLACES

    model = trainable.model
    # What the base's files do not hold (a pooler) is random: frozen it would stay so.
    fresh = {name.rpartition(".")[0] for name in trainable.new if not name.startswith(tuple(_dotted(model)))}
    config = LoraConfig(
        task_type=TaskType.SEQ_CLS,
        r=rank,
        lora_alpha=ALPHA_PER_RANK * rank,
        lora_dropout=DROPOUT,
        target_modules=list(places) if (places := PLACES.get(model.config.model_type)) else "all-linear",
        modules_to_save=[*head_modules(model), *sorted(name for name in fresh if name)],
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peft uses names that transformers is about to give up
            return get_peft_model(model, config)
    except ValueError as error:
        raise ModelError(f"LoRA finds no place in a {type(model).__name__}: {str(error).splitlines()[0]}") from error


def merged(model: Any) -> Any:
    """The plain model, the matrices added into its own."""
    return model.merge_and_unload()


def _dotted(model: Any) -> list[str]:
    return [f"{name}." for name in head_modules(model)]
