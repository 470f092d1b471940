"""What a run was computed on, and what energy it took where the machine tells. No names, no addresses."""

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from emotui.store.store import Store

RAPL = Path("/sys/class/powercap")
_SETTING = "measured "
_WAIT = 5.0


class Measured(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was measured while a run went on; of one that was resumed, of all its parts together.

    `joules`: of the processor's packages, by the kernel's counters (RAPL), whatever else they did meanwhile; None where
    the machine has none, or does not let this user read them. `builds`: those that a server reported meanwhile, where
    they may change.
    """

    processor: str = ""
    cores: int = 0
    memory_gb: float = 0.0
    graphics: tuple[str, ...] = ()
    system: str = ""
    python: str = ""
    seconds: float = 0.0
    joules: float | None = None
    builds: tuple[str, ...] = ()


class Meter:
    """Measures from its making on."""

    def __init__(self) -> None:
        self._began, self._counters = time.monotonic(), energy_counters()

    def read(self) -> Measured:
        """What was measured until now."""
        return msgspec.structs.replace(
            machine(),
            seconds=time.monotonic() - self._began,
            joules=joules_between(self._counters, energy_counters()),
        )


def keep_measured(store: Store, run: str, now: Measured) -> None:
    """Add what was measured of a run to what is kept of it."""

    def added(kept: object) -> object:
        if not isinstance(kept, dict):
            return msgspec.to_builtins(now)
        before = msgspec.convert(kept, Measured)
        whole = before.joules is not None and now.joules is not None
        joules = (before.joules or 0) + (now.joules or 0) if whole else None
        builds = tuple(dict.fromkeys((*before.builds, *now.builds)))
        seconds = before.seconds + now.seconds
        return msgspec.to_builtins(msgspec.structs.replace(now, seconds=seconds, joules=joules, builds=builds))

    store.change_setting(_SETTING + run, added)


def measured(store: Store, run: str) -> Measured | None:
    """What is kept of a run; None for one of an earlier version, or that came from elsewhere."""
    try:
        kept = store.setting(_SETTING + run)
        return None if kept is None else msgspec.convert(kept, Measured)
    except msgspec.ValidationError:
        return None


def energy_counters(folder: Path = RAPL) -> Mapping[str, tuple[int, int]]:
    """(microjoules, where the counter begins again) of each processor package that can be read."""
    found: dict[str, tuple[int, int]] = {}
    for zone in sorted(folder.glob("*-rapl:*")):
        if zone.name.count(":") == 1:  # a second colon is a part of a package
            try:
                now, most = ((zone / name).read_text().strip() for name in ("energy_uj", "max_energy_range_uj"))
                found[zone.name] = int(now), int(most)
            except (OSError, ValueError):
                continue
    return found


def joules_between(before: Mapping[str, tuple[int, int]], after: Mapping[str, tuple[int, int]]) -> float | None:
    """What was used between two readings; a counter that began again did so once. None where there is no counter."""
    both = before.keys() & after.keys()
    if not both:
        return None
    return sum((after[name][0] - before[name][0]) % max(1, after[name][1]) for name in both) / 1e6


@cache
def machine() -> Measured:
    """What this machine is."""
    import psutil

    return Measured(
        processor=_processor(),
        cores=os.cpu_count() or 0,
        memory_gb=round(psutil.virtual_memory().total / 2**30, 1),
        graphics=_graphics(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
    )


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _graphics() -> tuple[str, ...]:
    command = shutil.which("nvidia-smi")
    if command is None:
        return ()
    try:
        done = subprocess.run(
            [command, "--query-gpu=name,memory.total", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=_WAIT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in done.stdout.splitlines() if line.strip())
