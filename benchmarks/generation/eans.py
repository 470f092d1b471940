"""How quickly the embedding metrics of 4,820 triples are computed, against a loop triple by triple, with equal results.

    python benchmarks/generation/eans.py [--triples 4820] [--looped 200] [--model embedded]

964 originals with versions by five models, all put together from the sample texts to the length of the paper's (30
words). The embedding metrics are EAnS and EPS's stand-in, the nearest of three sentences: nine texts a triple. `at
once` embeds each distinct text once. `by triple` goes through the first `--looped` triples and embeds what each metric
needs of a triple, one text after the other: original, both versions and both labels' sentences for EAnS, the emotional
version and the three sentences for EPS; its time is scaled up to all triples. `EAnS alone` leaves EPS out on both
sides, five texts a triple. Times are of the model's process and of this one, processor time, so that busy neighbours
count little.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from importlib.resources import as_file, files

import numpy as np
import psutil

from emotui.backends.base import Embed
from emotui.backends.host import ModelProcess
from emotui.formats import read
from emotui.records import Generation
from emotui.tasks.generation.options import Triple, eans_of, nearest_label, once

MODELS, ORIGINALS = 5, 964
WANTED = 5.0


def triples(n: int) -> list[Triple]:
    """Texts of about 30 words, originals shared by the models, versions all different."""
    with as_file(files("emotui.sample_data") / "generation.jsonl") as path:
        kept = read(str(path), Generation).records
    chance = random.Random(0)

    def text(kind: str, at: int) -> str:
        first, second = chance.choice(kept), chance.choice(kept)
        return f"{getattr(first, kind)}, and {getattr(second, kind)}, {at}"

    originals = [text("original", at) for at in range(min(ORIGINALS, max(1, n // MODELS)))]
    targets = [chance.choice(kept).target for _ in originals]
    found = []
    for at in range(n):
        key = at % len(originals)
        found.append((originals[key], text("neutral", at), text("emotional", at), targets[key]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=4820)
    parser.add_argument("--looped", type=int, default=200)
    parser.add_argument("--model", default="embedded")
    given = parser.parse_args()
    every = triples(given.triples)
    looped = every[: given.looped]
    with ModelProcess(given.model) as model:
        model.load()
        child = psutil.Process(model.pid)

        def spent() -> float:
            times = child.cpu_times()
            return time.process_time() + times.user + times.system

        def embed(texts: Sequence[str]) -> np.ndarray:
            parts = [model.ask([Embed(one) for one in texts[at : at + 512]]) for at in range(0, len(texts), 512)]
            return np.concatenate(parts)

        def one_by_one(texts: Sequence[str]) -> np.ndarray:
            return np.concatenate([model.ask([Embed(text)]) for text in texts])

        embed(["warm"])
        began = spent()
        by_triple = [(eans_of([one], one_by_one)[0], {}) for one in looped]
        between = spent()
        for at, one in enumerate(looped):
            by_triple[at] = by_triple[at][0], nearest_label([one[2]], one_by_one)[0]
        ended = spent()
        alone = eans_of(every, once(embed))
        middle = spent()
        known = once(embed)
        quick = eans_of(every, known), nearest_label([one[2] for one in every], known)
        last = spent()
    scale = len(every) / len(looped)
    for at, (of_eans, of_eps) in enumerate(by_triple):
        apart = [abs(of_eans[key] - quick[0][at][key]) for key in of_eans]
        apart += [abs(of_eans[key] - alone[at][key]) for key in of_eans]
        apart += [abs(of_eps[key] - quick[1][at][key]) for key in of_eps]
        if max(apart) > 1e-3:
            sys.exit("the figures are not equal")
    for name, slow, fast, wanted in (
        ("all embedding metrics", ended - began, last - middle, WANTED),
        ("EAnS alone", between - began, middle - ended, None),
    ):
        goal = "" if wanted is None else f" (wanted: {wanted:g})"
        print(
            f"{name}, {len(every):,} triples: at once {fast:.1f} s, by triple {slow * scale:.1f} s, "
            f"{slow * scale / fast:.2f} times{goal}"
        )


if __name__ == "__main__":
    main()
