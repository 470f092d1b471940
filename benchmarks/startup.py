"""How long `emotui --version` takes, against importing click alone, in turn in one run. Prints the ratio of medians."""

import statistics
import subprocess
import sys
import time

RUNS = 15
CLICK = [sys.executable, "-c", "import click"]
VERSION = [sys.executable, "-m", "emotui", "--version"]


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    for command in (CLICK, VERSION):
        seconds(command)
    pairs = [(seconds(CLICK), seconds(VERSION)) for _ in range(RUNS)]
    click, version = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"import click      {click * 1000:6.0f} ms")
    print(f"emotui --version  {version * 1000:6.0f} ms   {version / click:.2f} times (target: at most 3)")


if __name__ == "__main__":
    main()
