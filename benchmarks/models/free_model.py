"""Samples a second of a run whose model costs nothing: what asking, parsing, scoring and keeping cost by themselves.

python benchmarks/models/free_model.py [SAMPLES]

With a second number also the memory of `predict` over so many times the texts.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = """
from emotui.backends.base import ModelCard


class Free:
    card = ModelCard("free:", "Free", ("extract",), {"version": "1"})

    def extract(self, requests):
        return [() for _ in requests]


def load(argument, options, progress):
    return Free()
"""


def write_texts(path: Path, n: int) -> None:
    """A file of short texts."""
    with path.open("w") as file:
        for place in range(n):
            text = {"id": str(place), "text": f"{place} The bus let me off at the corner.", "spans": []}
            file.write(f"{json.dumps(text)}\n")


def peak(called: list[str], folder: str, told: dict[str, str]) -> float:
    """Megabytes that a process holds at most."""
    process = subprocess.Popen(called, cwd=folder, env=told, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss / 1024


def main(n: int = 10_000, times: int = 0) -> None:
    """Print the samples a second of `emotui run spans`, and of `emotui predict spans` over the same texts."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "packages")
        metadata = package / "emotui_free-1.0.dist-info"
        metadata.mkdir(parents=True)
        (package / "emotui_free.py").write_text(MODULE)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: emotui-free\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text("[emotui.backends]\nfree = emotui_free:load\n")
        write_texts(Path(folder, "texts.jsonl"), n)
        told = os.environ | {
            "PYTHONPATH": os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(package))),
            **dict.fromkeys(("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), folder),
        }
        command = [sys.executable, "-m", "emotui"]
        predict = ["predict", "spans", "--model", "free:", "--to", "said.jsonl"]
        for name, arguments in (
            ("run spans", ["run", "spans", "--model", "free:", "--dataset", "texts.jsonl", "--db", "w.duckdb"]),
            ("predict spans", [*predict, "--records", "texts.jsonl"]),
        ):
            called = [*command, *arguments, "--json"]
            done = subprocess.run(called, cwd=folder, env=told, stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout)
            print(f"{name:14} {found['n'] / found['seconds']:7.0f} samples a second")
        for name, texts in (("texts.jsonl", n), ("many.jsonl", n * times)) if times else ():
            write_texts(Path(folder, name), texts)
            for ending in ("jsonl", "parquet"):
                called = [*command, *predict[:-1], f"{texts}.{ending}", "--records", name]
                print(f"predict to {ending:8} {texts:9} texts: at most {peak(called, folder, told):6.1f} MB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
