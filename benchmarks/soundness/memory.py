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

ESC, TAB, LEFT, RIGHT = b"\x1b", b"\t", b"\x1b[D", b"\x1b[C"

PLACES = {
    b"1": [
        *[b"j"] * 8,
        b"/",
        b"glad",
        b"\r",
        ESC,
        b"x",
        b"s",
        ESC,
        b"n",
        b"p",
        b"O",
        b"O",
        b"a",
        b"a",
        b"v",
        b"v",
        b"V",
        b"V",
    ],
    b"2": [b"j", b"j", b"k", b"n", b"p", b"v", b"V", b"\x1b[18~", ESC],
    b"3": [b"j", b"j", b"k", b"v", b"v", TAB, ESC],
    b"4": [b"j", b"k", RIGHT, RIGHT, LEFT, b"w", b"w", b"n", b"p", b"v", b"v", b"V", b"V", TAB, ESC],
    b"5": [b"j", b"j", b"k", b"o", b"o", b"v", b"V", RIGHT, LEFT, ESC],
    b"6": [b"j", b"k", b"o", b"v", b"v", b"V", b"V", ESC],
    b"7": [TAB, b"j", b"j", RIGHT, b"n", b"n", b"n", b"p", b"#", b"#", b"v", b"V", ESC],
    b"8": [TAB, b"j", b"k", ESC],
    b"9": [b"T", *[bytes([letter]) for letter in b" I was so glad"], *[b"\x7f"] * 6, ESC],
    b"0": [TAB, b"j", b"j", b"k", b"A", b"A", b"v", b"V", ESC],
    b"1 ": [
        b":",
        ESC,
        b"I",
        ESC,
        b"R",
        ESC,
        b"r",
        ESC,
        b"d",
        ESC,
        b"f",
        ESC,
        b"?",
        ESC,
        b"\x10",
        b"glad",
        ESC,
        b"Q",
        ESC,
    ],
}
"""For each place the key that opens it and keys that are pressed there, Esc wherever something is open."""


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
    keys = 0
    try:
        read(ours, 5.0)
        begun = time.monotonic()
        while time.monotonic() - begun < 60 * minutes:
            for place, pressed in PLACES.items():
                for key in (place.strip(), *pressed):
                    os.write(ours, key)
                    keys += 1
                    read(ours, pause)
                    if person.poll() is not None:
                        raise SystemExit(f"the workbench ended with status {person.returncode} after {keys} keys")
            passed = time.monotonic() - begun
            seen.append((passed / 3600, process.memory_info().rss / 1e6))
            own = process.memory_full_info().uss / 1e6
            print(
                f"{passed / 60:6.1f} min  {keys:7,} keys  {seen[-1][1]:8.1f} MB  {own:8.1f} MB of its own", flush=True
            )
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
