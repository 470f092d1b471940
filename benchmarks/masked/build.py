"""How fast raw posts become masked records: 10,000 posts of 260 words on one core.

    python benchmarks/masked/build.py [POSTS]

Posts are the raw samples, one behind the other and in another order each time, until they have 260 words; so they hold
more emotion words than posts usually do. Printed: posts a minute by the protocol with segments, and the same text's
plain splitting into words as a baseline.
"""

import json
import random
import sys
import time
from importlib.resources import files

from emotui.backends.words import token_places
from emotui.records import Text
from emotui.tasks.masked.building.build import build, own_words
from emotui.tasks.masked.building.protocol import hanta, sentences

WORDS = 260


def posts(number: int) -> list[Text]:
    """Posts of 260 words each, all different."""
    lines = files("emotui.sample_data").joinpath("masked_raw.jsonl").read_text("utf-8").splitlines()
    raw = [json.loads(line)["text"].split() for line in lines]
    source = random.Random(0)
    found = []
    for each in range(number):
        words: list[str] = []
        while len(words) < WORDS:
            words += source.choice(raw)
        found.append(Text(id=str(each), text=" ".join(words[:WORDS])))
    return found


def main() -> None:
    """Print the two speeds."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    texts, words, tag, tokens = posts(number), own_words(), hanta(), token_places()
    start = time.process_time()
    masks = sum(len(record.labels) for text in texts for record in build(text, words, tag, tokens).records)
    built = time.process_time() - start
    start = time.process_time()
    for text in texts:
        sentences(text.text)
    split = time.process_time() - start
    print(f"{number} posts of {WORDS} words, {masks} masks: {60 * number / built:,.0f} posts a minute")
    print(f"splitting them into words alone: {60 * number / split:,.0f} posts a minute ({built / split:.1f} times)")


if __name__ == "__main__":
    main()
