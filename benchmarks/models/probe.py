"""`emotui probe TEXT --model embedded` from the shell to the answer, in pairs with torch.

The other of a pair is a process that imports torch and transformers, loads MiniLM and encodes the text once (less than
`probe` does), or with `--former PYTHON` the same command of the version in that Python's environment. The two run in
turn, and each ratio is of two neighbours, so that a load that changes slowly changes both. Memory is the largest
process's, as `wait4` tells it. Prints medians over the pairs (aims: at most a third of the time that `embedded` took on
torch, and 250 MB).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEXT = "They forgot my birthday again."
BY_HAND = """
import sys, torch, transformers
torch.set_num_threads(1)
model = transformers.BertModel.from_pretrained(sys.argv[1]).eval()
tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
with torch.inference_mode():
    model(**tokenizer(sys.argv[2], return_tensors="pt")).last_hidden_state.mean(1)
"""


def probing(python: str) -> list[str]:
    return [python, "-m", "emotui", "probe", TEXT, "--model", "embedded", "--json"]


def by_torch() -> list[str]:
    from emotui.backends.embedded.base_files import base_files

    return [sys.executable, "-c", BY_HAND, str(base_files().model.parent), TEXT]


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds from start to end, and the megabytes of the largest process that it starts or is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    homes = {f"XDG_{name}_HOME": str(folder) for name in ("DATA", "CONFIG", "STATE")}
    started = time.perf_counter()
    running = subprocess.Popen(command, env=environment | homes, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    seconds = time.perf_counter() - started
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit(f"{command[0]} {command[1]} ended with {running.returncode}")
    return seconds, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--former", metavar="PYTHON", help="the Python of a former version (default: torch by hand)")
    parser.add_argument("--pairs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        other, own = probing(options.former) if options.former else by_torch(), probing(sys.executable)
        for command in (other, own):
            timed(command, folder)
        pairs = [(timed(other, folder), timed(own, folder)) for _ in range(options.pairs)]
    ratios = [now[0] / before[0] for before, now in pairs]
    for name, column in (("other", 0), ("probe", 1)):
        seconds, memory = (statistics.median(pair[column][measure] for pair in pairs) for measure in (0, 1))
        print(f"{name:8} {seconds:6.2f} s {memory:6.0f} MB")
    told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"probe, of the other: {statistics.median(ratios):.2f} ({told}); load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
