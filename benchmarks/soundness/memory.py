"""How the memory of the screen's process grows while somebody goes over all places again and again.

    python benchmarks/soundness/memory.py [--minutes M] [--db FILE]

The workbench runs in a pseudo-terminal over a workspace with the sample data and the embedded model's answers (made in
a temporary folder, unless --db names one, of which a copy is used). A round opens every place and presses its keys.
Printed is the memory of the process (resident, without its model's) after each round, and the line through the second
half of them: MB an hour, which may be 20 at most. A line through few minutes says little: caches fill first.
"""

import argparse
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import numpy as np
import psutil

CHECKOUT = Path(__file__).resolve().parents[2]
"""What is measured, whatever is installed and wherever this is run from."""

MOST = 20.0
"""MB an hour."""

NAMED = {"esc": b"\x1b", "tab": b"\t", "enter": b"\r", "left": b"\x1b[D", "right": b"\x1b[C", "back": b"\x7f"}
NAMED |= {"f7": b"\x1b[18~", "palette": b"\x10", "space": b" "}

PLACES = (
    "1 j j j j j j j j / glad enter esc x s esc n p O O a a v v V V",
    "2 j j k n p v V f7 esc",
    "3 j j k v v tab esc",
    "4 j k right right left w w n p v v V V tab esc",
    "5 j j k o o v V right left esc",
    "6 j k o v v V V esc",
    "7 tab j j right n n n p # # v V esc",
    "8 tab j k esc",
    "9 T space I space was space so space glad back back back back back back esc",
    "0 tab j j k A A v V esc",
    "1 : esc I esc R esc r esc d esc f esc ? esc palette glad esc Q esc",
)
"""For each place the key that opens it and what is pressed and typed there, Esc wherever something is open."""


def keys(place: str) -> list[bytes]:
    """What a terminal sends for each key; a word that is no key's name is typed."""
    pressed = []
    for word in place.split():
        pressed += [NAMED[word]] if word in NAMED else [bytes([letter]) for letter in word.encode()]
    return pressed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two keys")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "w.duckdb"
        if options.db is not None:
            shutil.copyfile(options.db, db)
        else:
            for task in ("spans", "scenes", "masked"):
                made = [sys.executable, "-m", "emotui", "run", task, "--db", str(db), "--limit", "200", "--json"]
                subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        grown(db, options.minutes, options.pause)


def grown(db: Path, minutes: float, pause: float) -> None:
    """Drive the workbench and print what its process holds."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (45, 160))
    person = subprocess.Popen(
        [sys.executable, "-m", "emotui", "--db", str(db)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(theirs)
    process = psutil.Process(person.pid)
    seen: list[tuple[float, float]] = []
    n = 0
    try:
        read(ours, 5.0)
        begun = time.monotonic()
        while time.monotonic() - begun < 60 * minutes:
            for place in PLACES:
                for key in keys(place):
                    os.write(ours, key)
                    n += 1
                    read(ours, pause)
                    if person.poll() is not None:
                        raise SystemExit(f"the workbench ended with status {person.returncode} after {n} keys")
            passed = time.monotonic() - begun
            seen.append((passed / 3600, process.memory_info().rss / 1e6))
            own = process.memory_full_info().uss / 1e6
            print(f"{passed / 60:6.1f} min  {n:7,} keys  {seen[-1][1]:8.1f} MB  {own:8.1f} MB of its own", flush=True)
    finally:
        person.send_signal(signal.SIGKILL)
        person.wait()
        os.close(ours)
    later = np.array(seen[len(seen) // 2 :])
    if len(later) > 2:
        slope = np.polyfit(later[:, 0], later[:, 1], 1)[0]
        verdict = "at most" if slope <= MOST else "MORE THAN"
        print(
            f"second half: {slope:+.1f} MB an hour ({verdict} {MOST:.0f}), over {60 * np.ptp(later[:, 0]):.0f} minutes"
        )
    print(f"from the first round to the last: {seen[-1][1] - seen[0][1]:+.1f} MB")


def read(terminal: int, seconds: float) -> None:
    """Take what is drawn for so long, as a terminal does."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                os.read(terminal, 1 << 16)
            except OSError:
                return


if __name__ == "__main__":
    main()
