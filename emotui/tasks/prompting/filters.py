"""What models wrap around an answer, taken off: thinking, and fences."""

import re


def without_thinking(output: str) -> str:
    """The answer behind a reasoning model's thoughts: `<think>…</think>` at its beginning, once or more.

    So too `<seed:think>` (Seed-OSS), and all channels before the final one (gpt-oss).

    Where the prompt already opened the tag, the thoughts end at the first `</think>`. Thoughts that never end leave no
    answer. Tags further on belong to the answer, and stay.
    """
    if _CHANNEL.match(output):
        return output.rpartition(_FINAL)[2] if _FINAL in output else ""
    found = _THINKING.match(output)
    if found:
        while found:
            output = output[found.end() :]
            found = _THINKING.match(output)
        return output
    closing = _THOUGHT.search(output)
    opening = re.search(r"<(?:seed:)?think(?:ing)?>", output, re.IGNORECASE)
    return output[closing.end() :] if closing and not opening else output


def without_fence(output: str) -> str:
    """What stands inside a markdown code fence that encloses the whole answer."""
    found = _FENCE.fullmatch(output)
    return found[2] if found else output


_FENCE = re.compile(r"\s*(`{3,})[^\n`]*\n(.*?)\n?[ \t]*\1\s*", re.DOTALL)


_THINKING = re.compile(r"\s*<(think|thinking|seed:think)>(.*?)(</\1>|\Z)", re.DOTALL | re.IGNORECASE)


_THOUGHT = re.compile(r"</(?:seed:)?think(?:ing)?>", re.IGNORECASE)


_CHANNEL = re.compile(r"\s*(<\|start\|>assistant)?<\|channel\|>")
_FINAL = "<|channel|>final<|message|>"
