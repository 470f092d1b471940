"""Samples a second of a run whose model costs nothing: what asking, parsing, scoring and keeping cost by themselves.

python benchmarks/models/free_model.py [SAMPLES]
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


def main(n: int = 10_000) -> None:
    """Print the samples a second of `emotui run spans`, and of `emotui predict spans` over the same texts."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "packages")
        metadata = package / "emotui_free-1.0.dist-info"
        metadata.mkdir(parents=True)
        (package / "emotui_free.py").write_text(MODULE)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: emotui-free\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text("[emotui.backends]\nfree = emotui_free:load\n")
        texts = (
            {"id": str(place), "text": f"{place} The bus let me off at the corner.", "spans": []} for place in range(n)
        )
        Path(folder, "texts.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))
        told = os.environ | {
            "PYTHONPATH": os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(package))),
            **dict.fromkeys(("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), folder),
        }
        for name, arguments in (
            ("run spans", ["run", "spans", "--dataset", "texts.jsonl", "--db", "w.duckdb", "--json"]),
            ("predict spans", ["predict", "spans", "--records", "texts.jsonl", "--to", "said.jsonl", "--json"]),
        ):
            called = [sys.executable, "-m", "emotui", *arguments, "--model", "free:"]
            done = subprocess.run(called, cwd=folder, env=told, stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout)
            print(f"{name:14} {found['n'] / found['seconds']:7.0f} samples a second")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
