"""What kind of model a directory holds, by its `config.json` alone: known without torch, and before anything loads."""

from collections.abc import Mapping, Sequence
from typing import Any

# By the ending of the architecture's name. `BertForPreTraining` and its like hold a masked-word head too.
FAMILIES: Mapping[str, str] = {
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",
    "ForMaskedLM": "masked",
    "ForPreTraining": "masked",
    "ForSequenceClassification": "classifier",
    "ForTokenClassification": "tagger",
    "ForQuestionAnswering": "reader",
    "Model": "encoder",
}


def family_of(config: Mapping[str, Any]) -> str | None:
    """A value of `FAMILIES` or `seq2seq`; None where the architecture is of no such family."""
    names = config.get("architectures") or [""]
    if str(names[0]).endswith("ForConditionalGeneration"):
        # Models of pictures and text are named so too; of those only the text part is used.
        return "seq2seq" if config.get("is_encoder_decoder") else "causal"
    return next((family for ending, family in FAMILIES.items() if str(names[0]).endswith(ending)), None)


def nli_places(labels: Sequence[str]) -> tuple[int, int] | None:
    """Where entailment and contradiction stand among an NLI model's labels; None for any other classifier."""
    found: dict[str, int] = {}
    for place, label in enumerate(labels):
        for word in ("entail", "contradict"):
            if label.lower().startswith(word):
                found[word] = place
    return (found["entail"], found["contradict"]) if len(found) == 2 else None
