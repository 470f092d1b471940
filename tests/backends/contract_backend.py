"""A backend for tests that answers prompts about evidence as the text in them says: kept contracts and broken ones.

A sample's text begins with a word that names the answer. `SECOND` breaks the contract once, `NEVER` always.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.backends.base import Generate, Generation, ModelCard, Progress, Refused

START = "The text follows.\n"


class Contract:
    """Counts how often it was asked about each text, so that an answer can change with the attempt."""

    def __init__(self, manner: str = "") -> None:
        self._manner = manner
        self.card = ModelCard("contract", "contract", ("generate",), {"version": "1"})
        self._asked: dict[str, int] = {}

    def generate(self, requests: Sequence[Generate]) -> list[object]:
        return [self._one(request) for request in requests]

    def _one(self, request: Generate) -> object:
        prompt = request.messages[-1].content
        text = prompt[prompt.index(START) + len(START) :]
        times = self._asked[text] = self._asked.get(text, 0) + 1
        answer = text if self._manner == "copies" else answer_to(text, times, request)
        return answer if isinstance(answer, Refused) else Generation(answer, 1, 1, finish_of(text, times))


def finish_of(text: str, times: int) -> str:
    return "length" if text.startswith("LONG") and times == 1 else "stop"


def answer_to(text: str, times: int, request: Generate) -> "str | Refused":
    """What is written about a text whose evidence is always its last two words before the stop."""
    word = text.split()[0]
    evidence = " ".join(text.rstrip(".").split()[-2:])
    marked = text.replace(evidence, f"**{evidence}**")
    match word:
        case "UNBALANCED":
            return text.replace(evidence, f"**{evidence}")
        case "ALTERED":
            return marked.replace("a", "o", 1)
        case "BAR":
            return f"{evidence.replace(' ', ' | ')}"
        case "NOLABEL":
            return evidence
        case "TWICE":
            return f"Reasoning: it shows.\nResponse: nothing\nResponse: {evidence}"
        case "EMPTY":
            return ""
        case "FENCED":
            return f"```text\n{evidence}\n```"
        case "BOLD":
            return f"**Reasoning:** it shows.\n\n**Response:** {evidence}"
        case "THINK":
            return f"<think>\nHm. {text} | no\n</think>\n\n{evidence}"
        case "ENDLESS":
            return "<think>\nHm, let me see, and then"
        case "LINES":
            return f"- {evidence}\n- {word}"
        case "SECOND":
            return marked if times > 1 else f"Here you are: {marked}"
        case "SEED":
            return f"{request.seed} {request.temperature} {evidence}\n!"
        case "REFUSED":
            return Refused("the prompt is too long")
        case "LOST":
            return f"{evidence}\nand more" if times == 1 else Refused("the server is gone", again=True)
        case "STUCK":
            return f"{evidence}\nand more" if times == 1 else Refused("no more of this")
        case _:
            return evidence
    raise AssertionError(word)


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Contract:
    """`contract:`; `contract:copies` gives every text back as it is."""
    return Contract(argument)
