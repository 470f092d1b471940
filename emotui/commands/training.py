"""`emotui train`: classifiers of the person's own."""

from typing import Any

import click

from emotui.backends.tuning.recipe import KL_TERMS, LORA_RATE, RATE, Recipe
from emotui.commands.exchange.written import written_option
from emotui.commands.output import bar, json_option, print_figures, print_json, say, skip_bad_option, stopping, warn
from emotui.commands.program_options import FiniteRange

# `emotui train classifier`: a classifier of the person's own, fine-tuned from a base model.

_DEFAULT = Recipe()

SEED = click.IntRange(-(2**63), 2**63 - 1)
"""What torch takes."""


@click.command("classifier")
@click.option("--base", required=True, help="The model to begin with: hf:DIRECTORY or hf:NAME.")
@click.option("--train", "train_file", required=True, help="Originals with labels: class, gold records.")
@click.option("--rephrasings", help="Rephrasing chains of these originals, matched by id: adds the KL term.")
@click.option("--dev", help="Class, gold records to choose the best epoch by (macro-F1).")
@click.option("--dev-share", type=FiniteRange(0, 0.9), default=0.0, help="Set so much of --train aside as dev.")
@written_option(
    "--to", "target", new=True, default="classifier", show_default=True, type=click.Path(), help="The result's folder."
)
@click.option("--epochs", type=click.IntRange(min=1), default=_DEFAULT.epochs, show_default=True)
@click.option(
    "--lr", type=FiniteRange(0, min_open=True), help=f"The highest learning rate ({RATE:g}; LoRA {LORA_RATE:g})."
)
@click.option(
    "--batch", type=click.IntRange(min=1), default=_DEFAULT.batch, show_default=True, help="Originals a step."
)
@click.option("--seed", type=SEED, default=_DEFAULT.seed, show_default=True)
@click.option("--seeds", type=click.IntRange(min=1), default=1, help="Train so many, from --seed on: DIR/seed-N each.")
@click.option("--kl", type=click.Choice(KL_TERMS), default=_DEFAULT.kl, show_default=True, help="The KL term's pairs.")
@click.option("--kl-weight", type=FiniteRange(0), default=_DEFAULT.kl_weight, show_default=True)
@click.option(
    "--kl-original/--no-kl-original", default=True, help="Whether the original makes pairs with its rephrasings (yes)."
)
@click.option("--balanced", is_flag=True, help="Rare labels weigh as much as frequent ones.")
@click.option("--lora", is_flag=True, help="Train LoRA matrices and the head only (needs peft: emotui[train]).")
@click.option("--rank", type=click.IntRange(min=1), default=_DEFAULT.rank, show_default=True, help="Of LoRA.")
@click.option("--emlm", help="Records with texts to train the base on first, emotion words hidden more often.")
@click.option("--emlm-epochs", type=click.IntRange(min=1), default=_DEFAULT.emlm_epochs, show_default=True)
@click.option("--emlm-lr", type=FiniteRange(0, min_open=True), default=_DEFAULT.emlm_rate, show_default=True)
@click.option(
    "--emlm-emotion",
    type=FiniteRange(0, 1),
    default=_DEFAULT.emlm_emotion,
    show_default=True,
    help="The probability that an emotion word is hidden.",
)
@click.option(
    "--emlm-share",
    type=FiniteRange(0, 1),
    default=_DEFAULT.emlm_share,
    show_default=True,
    help="The share of all words that is hidden.",
)
@click.option("--max-length", type=click.IntRange(min=1), help="Tokens a text (the model's limit, at most 512).")
@click.option(
    "--checkpoint-every",
    type=click.IntRange(min=1),
    default=_DEFAULT.checkpoint_every,
    show_default=True,
    help="Steps; each epoch's end too.",
)
@click.option("--device", default=_DEFAULT.device, show_default=True, help="auto, cpu, cuda, cuda:N or mps.")
@click.option("--threads", type=click.IntRange(min=1), help="Of torch (default: torch's own choice).")
@click.option("--online", is_flag=True, help="A base that is not on this machine may be fetched from the hub.")
@click.option("--resume", is_flag=True, help="Go on where a training into the same folder stopped.")
@skip_bad_option
@json_option
def train_classifier(
    base: str,
    train_file: str,
    rephrasings: str | None,
    dev: str | None,
    dev_share: float,
    target: str,
    seeds: int,
    emlm: str | None,
    online: bool,
    resume: bool,
    skip_bad: bool,
    as_json: bool,
    **recipe: Any,
) -> None:
    """Fine-tune a classifier: cross-entropy on originals, and KL over each one's rephrasings.

    The result is a folder that --model hf:DIR takes. Ctrl-C keeps a checkpoint, --resume goes on. docs/rephrase.md
    """
    from emotui.workbench import training

    if dev is not None and dev_share:
        raise click.UsageError("--dev and --dev-share exclude each other")
    with bar("training") as progress, stopping() as asked:
        done = training.train_classifier(
            base,
            training.TrainingFiles(train_file, rephrasings, dev, dev_share, emlm),
            target,
            _recipe(recipe),
            seeds=seeds,
            online=online,
            resume=resume,
            skip_bad=skip_bad,
            warn=warn,
            progress=lambda what, done, n: progress(done, n, what),
            stopping=asked,
        )
    for note in done["notes"]:
        say(note, err=True)
    if as_json:
        print_json(done)
        return
    for model in done["models"]:
        best = model["epochs"][model["best_epoch"] - 1]
        said = ("n", "rephrased", "rephrasings", "dev_n", "steps", "best_epoch", "seconds")
        print_figures(model["folder"], {name: model[name] for name in said} | best)
    say(done["spec"])


def _recipe(values: dict[str, Any]) -> Recipe:
    """The recipe of the options, by whose names it goes but for two."""
    named = {"rate": values.pop("lr"), "emlm_rate": values.pop("emlm_lr")}
    for optional in ("max_length", "threads"):
        values[optional] = values[optional] or 0
    return Recipe(**named, **values)


@click.group()
def train() -> None:
    """Train a classifier of your own."""


train.add_command(train_classifier)
