"""Answers that llama.cpp writes side by side, against one after the other, with equal texts in F32.

    python benchmarks/models/side_by_side.py [--answers 16] [--tokens 40] [--words 0] [--kind F32] [--threads 1]
        [--beside 2 8 16] [--large] [--option flash=on]...

A random Llama of 25 million parameters (`--large`: 135 million). The ways take turns, so that what else runs on the
machine slows them all; the time is the processor's. `--words`: so many more in each prompt, of which no two begin
alike. With more than 20 of them, `shared` shows what it would cost if all answers were kept in one memory, through
which each then looks. Needs llama-cpp-python, gguf, torch and transformers.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks.scoring_gguf import make_model
from emotui.backends.base import Generate, Generation, Message
from emotui.backends.gguf import load
from emotui.backends.gguf.model import GgufModel
from emotui.backends.gguf.writing import write_all
from tests.tiny.gguf_file import write_gguf

_FILLER = ["the", "bus", "let", "me", "off", "at", "a", "corner", "where", "it", "rained", "and", "nobody", "stood"]


def main() -> None:
    """Print tokens a second of each way, by how many answers are asked for together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=16, help="a multiple of the most beside")
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--words", type=int, default=0)
    parser.add_argument("--kind", choices=["F32", "F16", "Q8_0"], default="F32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beside", type=int, nargs="+", default=[2, 8, 16], help="answers at a time")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of gguf:")
    options = parser.parse_args()
    filler = " ".join(_FILLER[place % len(_FILLER)] for place in range(options.words))
    asked = [
        Generate(
            (Message("user", f"{place} The bus let me off at the corner. {filler}".strip()),), max_tokens=options.tokens
        )
        for place in range(options.answers)
    ]
    with tempfile.TemporaryDirectory() as folder:
        made = make_model(Path(folder) / "hf", large=options.large)
        path = write_gguf(made, Path(folder) / "model.gguf", options.kind)
        given = {"threads": options.threads, "context": 8192, "kv": "f32" if options.kind == "F32" else "f16"}
        given |= dict(each.split("=", 1) for each in options.option)
        model = load(str(path), given, lambda line: None)
        assert isinstance(model, GgufModel)
        model._rooms._most = max(options.beside)
        measure(model, asked, options.beside, shared=options.words > 20, exact=options.kind == "F32")
        model.close()


def measure(model: GgufModel, asked: list[Generate], sizes: list[int], *, shared: bool, exact: bool) -> None:
    """Each way over the same answers, as many at a time as the largest way takes."""
    seconds: dict[str, float] = defaultdict(float)
    equal: dict[str, int] = defaultdict(int)
    written = 0
    model.generate(asked[:4])
    for at in range(0, len(asked), max(sizes)):
        part = asked[at : at + max(sizes)]
        started = time.process_time()
        alone = [model.generate([each])[0] for each in part]
        seconds["one after the other"] += time.process_time() - started
        written += sum(each.tokens for each in alone if isinstance(each, Generation))
        for size in sizes:
            started = time.process_time()
            together = [each for at in range(0, len(part), size) for each in model.generate(part[at : at + size])]
            seconds[f"{size} side by side"] += time.process_time() - started
            equal[f"{size} side by side"] += sum(map(Generation.__eq__, together, alone))
        if shared:
            pairs = [(each, model._prompts.to_write(each.messages, each.opening)) for each in part]
            started = time.process_time()
            write_all(model._context, model._vocabulary, model._grammar, pairs)
            seconds["16 in a shared memory"] += time.process_time() - started
    naive = seconds["one after the other"]
    for way, took in seconds.items():
        same = f"; {equal[way]} of {len(asked)} equal" if way in equal else ""
        print(f"{way:22} {written / took:8.0f} tokens a second of processor, {naive / took:.2f} times{same}")
    if exact:  # fewer bits round differently beside others: of two likely tokens the other may come
        assert all(count == len(asked) for count in equal.values())


if __name__ == "__main__":
    main()
