"""The training loop: AdamW, seeded step by step, stopped and gone on with at any step to the same weights."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from emotui.backends.base import OnStep
from emotui.backends.tuning.checkpoints import Checkpoints, Moment
from emotui.backends.tuning.recipe import Recipe
from emotui.errors import EmotuiError

CLIP = 1.0
"""The longest gradient of a step."""

POINTS = 100
"""The loss curve has about so many points."""

StepLoss = Callable[[list[int], random.Random], Mapping[str, Tensor]]
"""From the numbers of a batch's examples, and chance for this step alone, to named terms whose sum is minimised."""

Measure = Callable[[], Mapping[str, Any]]
"""What is measured after an epoch; the epoch with the highest `macro_f1` is the best, of equals the first."""


class Interrupted(EmotuiError):
    """Training was asked to stop; a checkpoint of its last step is kept."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """AdamW with linear warm-up over the share `warm_up` of all steps, and linear decay to 0 after it."""

    epochs: int
    batch: int
    rate: float
    warm_up: float
    weight_decay: float
    checkpoint_every: int
    seed: int

    @classmethod
    def of(cls, recipe: Recipe, epochs: int, rate: float) -> "Schedule":
        """That of a stage of a recipe: its own length and highest rate, the rest as all stages have it."""
        shared = ("batch", "warm_up", "weight_decay", "checkpoint_every", "seed")
        return cls(epochs=epochs, rate=rate, **{name: getattr(recipe, name) for name in shared})


def fit(
    stage: str,
    model: nn.Module,
    count: int,
    loss: StepLoss,
    schedule: Schedule,
    checkpoints: Checkpoints,
    *,
    measure: Measure | None = None,
    resume: bool = False,
    progress: OnStep = lambda stage, done, total: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Moment:
    """Train every parameter of `model` that requires a gradient, in place; then its weights are the best epoch's.

    The order of an epoch, and all chance in a step (dropout too), follow from the seed and the number of the epoch and
    the step alone: a training that goes on from a checkpoint ends in the same weights, bit by bit, on a CPU with as
    many threads. Without `measure` the last epoch counts.

    Args:
        count: examples; each is in one batch of an epoch.
        stopping: asked after every step.

    Raises:
        Interrupted: after the checkpoint of the step was written.
        EmotuiError: the loss is no number any more, the memory does not suffice, or a checkpoint cannot be written.
    """
    trained = {name: value for name, value in model.named_parameters() if value.requires_grad}
    optimizer = torch.optim.AdamW(_groups(trained, schedule.weight_decay), lr=schedule.rate)
    steps_an_epoch = -(-count // schedule.batch)
    total = steps_an_epoch * schedule.epochs
    stretch = max(1, total // POINTS)
    moment = (checkpoints.read() if resume else None) or Moment()
    if moment.step:
        checkpoints.load(moment, trained, optimizer)
    progress(stage, moment.step, total)
    while moment.step < total:
        epoch, place = divmod(moment.step, steps_an_epoch)
        order = list(range(count))
        random.Random(f"{schedule.seed}/{stage}/epoch {epoch}").shuffle(order)
        batch = order[place * schedule.batch : (place + 1) * schedule.batch]
        _step(stage, model, trained, optimizer, batch, loss, schedule, moment, total)
        if moment.step % stretch == 0 or moment.step == total:
            moment.curve.append({"step": moment.step, **_means(moment.running.pop("stretch"))})
        ended = moment.step % steps_an_epoch == 0
        best = False
        if ended:
            best = _end_epoch(model, moment, epoch + 1, measure)
        progress(f"{stage}, epoch {epoch + 1} of {schedule.epochs}", moment.step, total)
        leaving = moment.step < total and stopping()
        if ended or leaving or moment.step % schedule.checkpoint_every == 0:
            checkpoints.save(moment, trained, optimizer, best=best)
        if leaving:
            raise Interrupted(f"stopped after step {moment.step} of {total} ({stage}); --resume goes on from there")
    if measure is not None and moment.best_tensors:
        checkpoints.load_best(moment, trained)
    model.eval()
    return moment


def _step(
    stage: str,
    model: nn.Module,
    trained: Mapping[str, Tensor],
    optimizer: torch.optim.Optimizer,
    batch: list[int],
    loss: StepLoss,
    schedule: Schedule,
    moment: Moment,
    total: int,
) -> None:
    """One step of the optimiser, and its loss terms added to what runs."""
    chance = random.Random(f"{schedule.seed}/{stage}/step {moment.step}")
    torch.manual_seed(chance.getrandbits(63))
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = schedule.rate * rate_share(moment.step, total, schedule.warm_up)
    try:
        terms = loss(batch, chance)
        value = torch.stack(list(terms.values())).sum()
        optimizer.zero_grad(set_to_none=True)
        value.backward()
    except (torch.OutOfMemoryError, MemoryError):
        where = f"step {moment.step + 1} of {stage}"
        raise EmotuiError(f"{where} does not fit into memory: try a smaller --batch, --max-length or --lora") from None
    if not bool(value.isfinite()):
        raise EmotuiError(f"the loss is no number any more at step {moment.step + 1} of {stage}: try a lower --lr")
    nn.utils.clip_grad_norm_(trained.values(), CLIP)
    optimizer.step()
    moment.step += 1
    for sums in (moment.running.setdefault("stretch", {}), moment.running.setdefault("epoch", {})):
        sums["steps"] = sums.get("steps", 0) + 1
        for name, term in terms.items():
            sums[name] = sums.get(name, 0.0) + float(term.detach())


def _end_epoch(model: nn.Module, moment: Moment, epoch: int, measure: Measure | None) -> bool:
    """Note what the epoch came to. Returns: whether it is the best one yet by a measure."""
    figures: dict[str, Any] = {"epoch": epoch, **_means(moment.running.pop("epoch"))}
    if measure is None:
        moment.epochs.append(figures)
        moment.best = epoch
        return False
    model.eval()
    figures |= measure()
    highest = max((each["macro_f1"] for each in moment.epochs), default=-1.0)
    moment.epochs.append(figures)
    if figures["macro_f1"] <= highest:
        return False
    moment.best = epoch
    return True


def rate_share(step: int, total: int, warm_up: float) -> float:
    """The share of the highest learning rate in step `step` (from 0) of `total`: in (0, 1]."""
    rising = round(warm_up * total)
    if step < rising:
        return (step + 1) / rising
    return (total - step) / max(1, total - rising)


def _means(sums: Mapping[str, float]) -> dict[str, float]:
    return {name: value / sums["steps"] for name, value in sums.items() if name != "steps"}


def _groups(trained: Mapping[str, Tensor], weight_decay: float) -> list[dict[str, Any]]:
    """Vectors (biases, and the scales of normalisations) are not decayed, as BERT's authors had it."""
    return [
        {"params": [value for value in trained.values() if value.ndim > 1], "weight_decay": weight_decay},
        {"params": [value for value in trained.values() if value.ndim <= 1], "weight_decay": 0.0},
    ]
