"""`Score` and `Rank`: the shared beginning is read once, then each question or continuation from there."""

from collections.abc import Sequence

import numpy as np

from emotui.backends.base import Ranked, Scores
from emotui.backends.gguf.context import Context, Logits
from emotui.backends.yesno import Answer, Forms, read_logits


def score(context: Context, forms: Forms, prompts: Sequence[Sequence[int]]) -> Scores:
    """Yes against no as the next token of each prompt. Args: prompts: one or more, each fits into the context."""
    answers = [read_logits(forms, row) for row in next_tokens(context, prompts)]
    return as_scores(answers)


def next_tokens(context: Context, prompts: Sequence[Sequence[int]]) -> list[Logits]:
    """For each prompt (vocabulary,) what comes next; what they all begin with is computed once."""
    shared = common_length(prompts)
    if not shared:
        return [context.read(prompt) for prompt in prompts]
    context.read(prompts[0][:shared])
    return context.branch([prompt[shared:] for prompt in prompts])


def rank(context: Context, prefix: Sequence[int], continuations: Sequence[Sequence[int]]) -> Ranked:
    """Log-probability of each continuation after the prefix ; one token or more each."""
    sums, greedy = [], []
    first = context.read(prefix)[None]
    # What follows a continuation's last token is not asked for.
    longer = [continuation[:-1] for continuation in continuations if len(continuation) > 1]
    further = iter(context.branch(longer, every=True))
    for continuation in continuations:
        rows = np.concatenate([first, next(further)]) if len(continuation) > 1 else first
        exact = rows.astype(np.float64)
        places = np.arange(len(continuation))
        logprobs = exact[places, continuation] - np.logaddexp.reduce(exact, axis=1)
        sums.append(float(logprobs.sum()))
        greedy.append(bool((rows.argmax(axis=1) == np.asarray(continuation)).all()))
    return Ranked(tuple(sums), tuple(len(each) for each in continuations), tuple(greedy))


def as_scores(answers: Sequence[Answer]) -> Scores:
    """One request's answers as its result."""
    return Scores(
        yes=tuple(answer.yes for answer in answers),
        no=tuple(answer.no for answer in answers),
        mass=tuple(answer.mass for answer in answers),
        shares=tuple(answer.shares for answer in answers),
    )


def common_length(prompts: Sequence[Sequence[int]]) -> int:
    """How many tokens all prompts share at their beginning, less the last of the shortest: each has one of its own."""
    shortest = min(len(prompt) for prompt in prompts)
    first = prompts[0]
    for place in range(shortest - 1):
        if any(prompt[place] != first[place] for prompt in prompts):
            return place
    return shortest - 1
