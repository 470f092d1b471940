"""How fluent texts are to a causal model, and how long they are: section 4, Table 4 of the emotion generation paper."""

import math
import re

from emotui.metrics.metric import Metric

METRIC = Metric("ppl", (1, None), False, "perplexity of the emotional text to a causal model (Table 4)", "PPL")

_WORD = re.compile(r"\S+")


def perplexity(logprob: float, tokens: int) -> float | None:
    """Perplexity of one text, at least 1: exp of the negative mean log-probability of its tokens.

    Args:
        logprob: natural, the sum over the tokens.

    Returns:
        None where no token was read, or the value is beyond all numbers.
    """
    if tokens < 1:
        return None
    mean = -logprob / tokens
    return math.exp(mean) if mean < 700 else None


def words_and_characters(text: str) -> tuple[int, int]:
    """Length in words (what white space parts) and in characters.

    Table 4 says that its `len` is the number of characters; its values, near 30 for clips of ten seconds, are words.
    """
    return len(_WORD.findall(text)), len(text)
