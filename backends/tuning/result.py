"""The folder of a trained classifier: a plain directory for `hf:`, and what it came from."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import tokenizers
import torch
import transformers

from emotui import __version__
from emotui.backends.tuning.checkpoints import write_text, writing
from emotui.errors import BadInput

TRAINING = "training.json"
"""Written last of all: where it stands, the rest is whole."""


def write_result(to: Path, model: Any, tokenizer: Any, document: dict[str, Any]) -> None:
    """Write config.json, model.safetensors, the tokeniser, README.md and, at the end, training.json.

    Args:
        document: completed with the versions of what it was computed with.
    """
    partial = to / "checkpoint" / "result"
    shutil.rmtree(partial, ignore_errors=True)
    with writing(to):
        model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        readable = (partial / "config.json").stat().st_mode
        for path in sorted(partial.iterdir()):
            path.chmod(readable)  # safetensors shuts everyone else out
            path.replace(to / path.name)
    document["versions"] = {
        "emotui": __version__,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
        "tokenizers": tokenizers.__version__,
        "safetensors": safetensors.__version__,
    }
    write_text(to / "README.md", _readme(to, document))
    write_text(to / TRAINING, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def read_result(to: Path) -> dict[str, Any] | None:
    """What training.json says, None where there is none. Raises: BadInput where it is no JSON."""
    path = to / TRAINING
    if not path.is_file():
        return None
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}:1: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path}:1: not an object, as a training writes it")
    return found


def _readme(to: Path, document: Mapping[str, Any]) -> str:
    recipe = document["recipe"]
    lines = [
        f"# {to.resolve().name}",
        "",
        f"A classifier of texts, fine-tuned by emotui {document['versions']['emotui']} from `{document['base']}`.",
        "",
        f"- Labels: {', '.join(map(_plain, document['labels']))}",
        f"- Trained on {document['n']} texts, {document['rephrased']} of them with rephrasings "
        f"({document['rephrasings']} in all); KL term: {recipe['kl'] if document['rephrased'] else 'without effect'}",
        f"- Seed {recipe['seed']}, epoch {document['best_epoch']} of {recipe['epochs']}"
        + (", LoRA of rank " + str(recipe["rank"]) + ", merged" if recipe["lora"] else ""),
    ]
    if document["dev_n"]:
        best = document["epochs"][document["best_epoch"] - 1]
        lines.append(
            f"- Macro-F1 {best['macro_f1']:.3f} on {document['dev_n']} dev texts, by which the epoch was chosen"
        )
    lines += [
        "",
        f"Use: `emotui predict class --model hf:{to} --records FILE`. Arguments, data fingerprints, loss curve and "
        f"versions: `{TRAINING}`.",
        "",
    ]
    return "\n".join(lines)


def _plain(label: str) -> str:
    """A label as it is, but for signs that a terminal or an editor would act on: those are written out."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in label)
