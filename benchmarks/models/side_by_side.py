"""Answers that llama.cpp writes side by side, against one after the other, with equal texts.

python benchmarks/models/side_by_side.py [ANSWERS] [TOKENS]

A random Llama of 25 million parameters in F32, one thread. Needs llama-cpp-python, gguf, torch and transformers.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks.scoring_gguf import make_model
from emotui.backends.base import Generate, Generation, Message
from emotui.backends.gguf import load
from tests.tiny.gguf_file import write_gguf


def main(answers: int = 32, tokens: int = 48) -> None:
    """Print tokens a second of each way, by how many answers are asked for together."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_gguf(make_model(Path(folder) / "hf"), Path(folder) / "model.gguf", "F32")
        model = load(str(path), {"threads": 1, "context": 1024, "kv": "f32"}, lambda line: None)
        asked = [
            Generate((Message("user", f"{place} The bus let me off at the corner."),), max_tokens=tokens)
            for place in range(answers)
        ]
        started = time.process_time()
        alone = [model.generate([each])[0] for each in asked]
        naive = time.process_time() - started
        written = sum(each.tokens for each in alone if isinstance(each, Generation))
        print(f"one after the other {written / naive:8.0f} tokens a second of processor")
        for size in (2, 8, 16):
            started = time.process_time()
            together = [each for at in range(0, answers, size) for each in model.generate(asked[at : at + size])]
            quick = time.process_time() - started
            same = sum(left == right for left, right in zip(together, alone, strict=True))
            ratio = f"{naive / quick:.1f} times; {same} of {answers} equal"
            print(f"{size:2} side by side      {written / quick:8.0f}, {ratio}")
            assert same == answers
        model.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
