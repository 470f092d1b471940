"""`emotui probe TEXT --model embedded` from the shell to the answer, in pairs with a former version.

`--former` names the Python of an environment that holds it. The two run in turn, and each ratio is of two neighbours,
so that a load that changes slowly changes both. Memory is the largest process's, as `wait4` tells it. Prints medians
over the pairs (aims: at most a third of the time that `embedded` took on torch, and 250 MB).
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


def probe(python: str, folder: Path) -> tuple[float, float]:
    """Seconds from start to end, and the megabytes of the largest process that it starts or is."""
    command = [python, "-m", "emotui", "probe", TEXT, "--model", "embedded", "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    homes = {f"XDG_{name}_HOME": str(folder) for name in ("DATA", "CONFIG", "STATE")}
    started = time.perf_counter()
    running = subprocess.Popen(command, env=environment | homes, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    seconds = time.perf_counter() - started
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit(f"{python}: emotui probe ended with {running.returncode}")
    return seconds, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--former", required=True, metavar="PYTHON", help="the Python of the former version")
    parser.add_argument("--pairs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        for python in (options.former, sys.executable):
            probe(python, folder)
        pairs = [(probe(options.former, folder), probe(sys.executable, folder)) for _ in range(options.pairs)]
    ratios = [now[0] / before[0] for before, now in pairs]
    for name, column in (("before", 0), ("now", 1)):
        seconds, memory = (statistics.median(pair[column][measure] for pair in pairs) for measure in (0, 1))
        print(f"{name:8} {seconds:6.2f} s {memory:6.0f} MB")
    told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"now, of before: {statistics.median(ratios):.2f} ({told}); load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
