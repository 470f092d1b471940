"""How quickly the EAnS figures of 4,820 triples are computed, against embedding triple by triple, with equal results.

    python benchmarks/generation/eans.py [--triples 4820] [--looped 200] [--model embedded]

964 originals with versions by five models, all put together from the sample texts to the length of the paper's (30
words). Two loops go through the first `--looped` triples, and their times are scaled up to all of them: `by formula`
computes R1, R2 and R3 each by itself and embeds what its formula names; `by triple` embeds the five texts of a triple,
one after the other. Times are of the model's process and of this one, processor time, so that busy neighbours count
little.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files

import numpy as np
import psutil

from emotui.backends.base import Embed
from emotui.backends.host import ModelProcess
from emotui.formats import read
from emotui.records import Generation
from emotui.tasks.generation.embedding import NEUTRAL, TEMPLATE, Triple, eans_of

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
        by_triple = [eans_of([one], one_by_one)[0] for one in looped]
        between = spent()
        by_formula = [each_by_itself(one, one_by_one) for one in looped]
        ended = spent()
        quick = eans_of(every, embed)
        at_once = spent() - ended
    scale = len(every) / len(looped)
    print(f"{len(every):,} triples at once: {at_once:.1f} s")
    loops = (("by formula", by_formula, ended - between, WANTED), ("by triple", by_triple, between - began, None))
    for name, slow, seconds, wanted in loops:
        apart = max(abs(a[key] - b[key]) for a, b in zip(slow, quick, strict=False) for key in a)
        goal = "" if wanted is None else f" (wanted: {wanted:g})"
        print(f"{name}: {seconds * scale:.1f} s, {seconds * scale / at_once:.2f} times{goal}; apart by {apart:.0e}")
        if apart > 1e-3:
            sys.exit("the figures are not equal")


def each_by_itself(one: Triple, embed: Callable[[Sequence[str]], np.ndarray]) -> dict[str, float]:
    """The six figures as equations 4 and 5 read, each relation on its own."""
    original, neutral, emotional, target = one
    to, none = TEMPLATE.replace("{emotion}", target), TEMPLATE.replace("{emotion}", NEUTRAL)
    found = {}
    s_n, s_t = embed([neutral, emotional])
    found["r1_c"], found["r1_m"] = float(s_n @ s_t), float(np.abs(s_n - s_t).sum())
    e_n, e_t, s_t, s_n = embed([none, to, emotional, neutral])
    a = e_t - s_t + s_n
    found["r2_c"], found["r2_m"] = float(e_n @ a / np.linalg.norm(a)), float(np.abs(e_n - a).sum())
    s_o, s_t = embed([original, emotional])
    found["r3_c"], found["r3_m"] = float(s_o @ s_t), float(np.abs(s_o - s_t).sum())
    return found


if __name__ == "__main__":
    main()
