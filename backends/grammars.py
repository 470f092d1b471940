"""Grammars (GBNF, of llama.cpp) for answers whose form a task fixes: a model that follows one writes nothing else.

For `Generate.grammar`. llama.cpp follows them; transformers with llguidance; of the servers those that take a grammar.

A task takes the option `constrain` (`Task.with_options`), off by default. Where it is on, the task gives its requests
the grammar and adds it to what `Task.settings` returns, so that it is part of a run's identity; without the option the
settings, and so the identity of older runs, stay what they were. A way of asking that has no form to hold an answer to
raises BadInput from `settings`, before anything is asked. See `emotui.tasks.spans.prompts.grammar_of`.
"""

import json
from collections.abc import Sequence

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def one_of(labels: Sequence[str]) -> str:
    """One of these labels, letter for letter.

    Raises:
        ValueError: there is no label, or an empty one.
    """
    if not labels or not all(labels):
        raise ValueError("a grammar of labels needs one or more, none of them empty")
    return "root ::= " + " | ".join(map(literal, labels))


def some_of(labels: Sequence[str]) -> str:
    """A JSON list of any of these labels, letter for letter; `[]` for none.

    Raises:
        ValueError: there is no label.
    """
    if not labels:
        raise ValueError("a grammar of labels needs one or more")
    names = " | ".join(literal(json.dumps(label, ensure_ascii=False)) for label in labels)
    return f'root ::= "[" (label (", " label)*)? "]"\nlabel ::= {names}\n'


def retrieved_line(after: str | None = None) -> str:
    """Spans on one line with ` | ` between them (SEER, section 4.1), or nothing.

    Args:
        after: a word that ends free reasoning before the line, such as `Response:`.
    """
    # A bar inside a span would be read as the end of it, so only one that separates is allowed.
    line = f"line ::= (span ({literal(' | ')} span)*)?\nspan ::= [^| \\n\\r] [^|\\n\\r]*\n"
    if after is None:
        return f"root ::= line\n{line}"
    return _behind(f'{literal(after)} " "? line') + line


def reasoned_answer(answer: str, *, confidence: bool) -> str:
    """Free reasoning, with `confidence` then `<confidence>N</confidence>` of 1 to 5, and the tag before the answer.

    Source: the order of EmoScene's evaluation prompt (appendix E).
    """
    sure = f"{literal('<confidence>')} [1-5] {literal('</confidence>')} [ \\n]* " if confidence else ""
    return _behind(f"{sure}{literal(answer)}")


def with_verdict(grammar: str) -> str:
    """A grammar of `reasoned_answer`, going on behind its tag with yes or no and the end of the tag."""
    return f'{grammar.rstrip()} ("Yes" | "No") "</answer>"\n'


def _behind(rest: str) -> str:
    # One rule for all of it: where the free text is a rule of its own, llguidance takes all that follows for it too.
    return f"root ::= whole\nwhole ::= [^\\x00]* {rest}\n"


def json_words(count: int) -> str:
    """A JSON list of exactly `count` words or short phrases, without escapes in them.

    Raises:
        ValueError: `count` is not 1 or more.
    """
    if count < 1:
        raise ValueError(f"a list of {count} words cannot be asked for")
    return (
        "root ::= "
        + '"[" '
        + ' ", " '.join(["word"] * count)
        + ' "]"\n'
        + 'word ::= "\\"" [^"\\\\\\x00-\\x1f]{1,60} "\\""\n'
    )


def numbers_of(names: Sequence[str]) -> str:
    """A JSON object with a number for each of these names, in their order.

    Raises:
        ValueError: there is no name.
    """
    if not names:
        raise ValueError("a grammar of numbers needs one or more names")
    keys = [json.dumps(name, ensure_ascii=False) for name in names]
    parts = " ".join(f"{literal(('' if place == 0 else ', ') + key + ': ')} number" for place, key in enumerate(keys))
    return f'root ::= "{{" {parts} "}}"\nnumber ::= "-"? [0-9]{{1,4}} ("." [0-9]{{1,4}})?\n'


def literal(text: str) -> str:
    """A text as GBNF writes one."""
    escaped = "".join(_ESCAPES.get(letter) or (letter if letter >= " " else f"\\x{ord(letter):02x}") for letter in text)
    return f'"{escaped}"'
