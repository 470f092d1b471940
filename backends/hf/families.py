"""What kind of model a directory holds, by its `config.json` alone: known without torch, and before anything loads."""

import re
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
    "MTModel": "seq2seq",
    "EncoderDecoderModel": "seq2seq",
    "Model": "encoder",
}


def family_of(config: Mapping[str, Any]) -> str | None:
    """A value of `FAMILIES` or `seq2seq`; None where the architecture is of no such family."""
    names = config.get("architectures") or [""]
    if str(names[0]).endswith("ForConditionalGeneration"):
        # Models of pictures and text are named so too; of those only the text part is used.
        return "seq2seq" if config.get("is_encoder_decoder") else "causal"
    return next((family for ending, family in FAMILIES.items() if str(names[0]).endswith(ending)), None)


_AGAINST = re.compile(r"contradict|(not?|non)[ _-]?entail")
"""How the label begins that an NLI model gives where the text speaks against a statement; models of two labels have
the second name, which holds what is neither too."""


def nli_places(labels: Sequence[str]) -> tuple[int, int] | None:
    """Where entailment and what speaks against it stand among an NLI model's labels; None for any other classifier."""
    names = [label.strip().lower() for label in labels]
    entails = [place for place, name in enumerate(names) if name.startswith("entail")]
    against = [place for place, name in enumerate(names) if _AGAINST.match(name)]
    return (entails[0], against[0]) if len(entails) == len(against) == 1 else None


def labels_of(config: Any) -> tuple[str, ...]:
    """The model's labels in the order of its logits."""
    return tuple(str(config.id2label[place]) for place in range(config.num_labels))
