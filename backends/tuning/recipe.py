"""What a training is made of, in plain values: no torch here, so that a command line knows its defaults at once."""

from dataclasses import dataclass

KL_TERMS = ("sum", "mean", "symmetric", "none")
"""How an example's pairs are put together: see `emotui.backends.tuning.classifier`."""

RATE = 5e-5
LORA_RATE = 3e-4
LONGEST = 512
"""Tokens a text, where the model could read more and nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its label, and its rephrasings, which have the same one."""

    id: str
    text: str
    label: str
    rephrasings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a classifier is trained; together with the base model and the examples it decides every weight on a CPU.

    `rate`: the highest learning rate (None: 5e-5, with LoRA 3e-4), reached after the share `warm_up` of the steps, then
    falling to 0 in a line. `kl`, `kl_weight`, `kl_original`: the KL term (`emotui.backends.tuning.classifier`).
    `balanced`: each label's cross-entropy weighs by n / (labels * n of this label). `rank`: of LoRA. `max_length`:
    tokens a text, 0 for the model's own limit and at most 512. `checkpoint_every`: steps.
    `emlm_*`: see `emotui.backends.tuning.emlm`. `device`: as of `hf:`. `threads`: of torch; 0 leaves them to torch.
    """

    epochs: int = 3
    rate: float | None = None
    batch: int = 16
    seed: int = 0
    warm_up: float = 0.1
    weight_decay: float = 0.01
    kl: str = "sum"
    kl_weight: float = 1.0
    kl_original: bool = True
    balanced: bool = False
    lora: bool = False
    rank: int = 8
    max_length: int = 0
    checkpoint_every: int = 200
    emlm_epochs: int = 1
    emlm_rate: float = RATE
    emlm_emotion: float = 0.5
    emlm_share: float = 0.15
    device: str = "auto"
    threads: int = 0

    @property
    def highest_rate(self) -> float:
        """The learning rate that the steps rise to."""
        return self.rate if self.rate is not None else LORA_RATE if self.lora else RATE
