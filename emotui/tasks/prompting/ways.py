"""One word for a way of asking in all tasks. A task's own names, which stored runs hold, stay valid beside them."""

DIRECT = "direct"
"""A model that needs no words: it has heads, fills masks, or marks spans itself."""

ZERO_SHOT = "zero-shot"
"""The bare question."""

FEW_SHOT = "few-shot"
"""The question after examples."""

COT = "cot"
"""The model reasons before it answers."""
