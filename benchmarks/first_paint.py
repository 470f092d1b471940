"""From the start of the process to the first paint: the workbench with the sample workspace, against a hello-world app.

Both run in a pseudo-terminal, in turn, in one run. Prints the ratios of medians (targets: at most 1.5 to the first
paint, at most 2 to the first row of the list).
"""

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

RUNS = 9
COLUMNS, LINES = 120, 40
HELLO = """
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("Hello, world!")
Hello().run()
"""


def seconds_until(seen: bytes, command: list[str]) -> float:
    """Seconds until a command has written `seen` to its terminal; then it is killed."""
    started = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    written = b""
    try:
        while seen not in written:
            if not select.select([terminal], [], [], 30)[0]:
                raise TimeoutError(f"{seen!r} was not painted within 30 s: {written[-400:]!r}")
            written += os.read(terminal, 65536)
        return time.perf_counter() - started
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def sample_workspace(path: Path) -> None:
    """A workspace with the sample data in it, as after its first start."""
    from emotui.workbench.datasets.whole_records import add_own_samples
    from emotui.workbench.workspace import FIRST_START, Workspace

    workspace = Workspace.open(path)
    add_own_samples(workspace.store, "spans")
    workspace.set_setting(FIRST_START, "done")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workspace.duckdb"
        sample_workspace(path)
        hello = [sys.executable, "-c", HELLO]
        workbench = [sys.executable, "-m", "emotui", "--db", str(path)]
        first_sample = b"t2-001"
        for seen, command in ((b"Hello", hello), (b"Browse", workbench)):
            seconds_until(seen, command)
        rows = [
            (
                seconds_until(b"Hello", hello),
                seconds_until(b"Browse", workbench),
                seconds_until(first_sample, workbench),
            )
            for _ in range(RUNS)
        ]
        base, paint, shown = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"hello world, first paint    {base * 1000:6.0f} ms")
        print(f"workbench, first paint      {paint * 1000:6.0f} ms   {paint / base:.2f} times (target: at most 1.5)")
        print(f"workbench, first sample     {shown * 1000:6.0f} ms   {shown / base:.2f} times (target: at most 2)")


if __name__ == "__main__":
    main()
