"""Documents changed at random: values of another type, absent, impossibly large, or bytes that are none of JSON's."""

import copy
import json
import random
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3.5, 1e308, float("nan"), 10**40, "", "x", "0", "\ud800", "\0", "../../x"),
    *("x" * 5000, [], [None], [[]], ["x"], [1, 2], [{}], {}, {"a": 1}, {"0": None}, {"0": "entail", "1": "joy"}),
)
"""What may stand where something else is expected."""

LONG_NUMBER = "9" * 5000
"""Python refuses to read it, and not by JSON's own error."""


def mutated(document: Any, chance: random.Random) -> Any:
    """A copy in which one value, at any depth, is another one or is gone."""
    if isinstance(document, dict) and document and chance.random() < 0.8:
        changed = dict(document)
        key = chance.choice(list(changed))
        if chance.random() < 0.1:
            del changed[key]
        else:
            changed[key] = mutated(changed[key], chance)
        return changed
    if isinstance(document, list) and document and chance.random() < 0.5:
        place = chance.randrange(len(document))
        return [mutated(each, chance) if at == place else each for at, each in enumerate(document)]
    return copy.deepcopy(chance.choice(STRANGE))


def mutated_json(document: Any, chance: random.Random) -> bytes:
    """The text of a document with one to three values changed, and now and then with damage that no JSON has."""
    for _ in range(chance.randint(1, 3)):
        document = mutated(document, chance)
    text = json.dumps(document)
    if chance.random() < 0.05:
        text = text.replace(chance.choice("123456789"), LONG_NUMBER, 1)
    if chance.random() < 0.02:
        text = "[" * 100_000
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    if content and chance.random() < 0.15:
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)
