"""What a run was computed on, and what energy it took where the machine tells. No names, no addresses."""

import os
import platform
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.backends.stamps import stamp_of
from emotui.store.store import Store

# Cards of models that were loaded before: what is known of a model lets a finished run be found without loading it.

SETTING = "model_cards"
_MOST = 64


class _Kept(msgspec.Struct, frozen=True):
    stamp: str
    card: ModelCard


def remembered_card(store: Store, model: ModelProcess) -> ModelCard | None:
    """The card that this model had when it was last loaded; None where anything that it is made of has changed."""
    if model.has_options:
        return None
    kept = _kept(store).get(model.spec)
    return kept.card if kept is not None and kept.stamp == stamp_of(model.spec) else None


def known_card(store: Store, spec: str) -> ModelCard | None:
    """The card that a model of this SPEC had when it was last loaded, be it as it may today."""
    kept = _kept(store).get(spec)
    return None if kept is None else kept.card


def remember_card(store: Store, model: ModelProcess, stamp: str | None, card: ModelCard) -> None:
    """Keep a card under the stamp that the model had before it was loaded."""
    if stamp is None or model.has_options or store.read_only:
        return
    known = _kept(store)
    new = _Kept(stamp, card)
    if known.pop(model.spec, None) == new:
        return
    last = dict(list(known.items())[1 - _MOST :]) | {model.spec: new}
    store.settings.set(SETTING, msgspec.to_builtins(last))


def _kept(store: Store) -> dict[str, _Kept]:
    try:
        return msgspec.convert(store.settings.get(SETTING, {}), dict[str, _Kept])
    except msgspec.ValidationError:  # of another version
        return {}


_SMI = "nvidia-smi"
RAPL = Path("/sys/class/powercap")
_SETTING = "measured "
_WAIT = 5.0


class Measured(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was measured while a run went on; of one that was resumed, of all its parts together.

    `joules`: of the processor's packages, by the kernel's counters (RAPL), whatever else they did meanwhile; None where
    the machine has none, or does not let this user read them. `builds`: those that a server reported meanwhile, where
    they may change. `graphics_joules`: of all graphics cards, their power as `nvidia-smi` told it added up over time;
    None where there are none, or they do not tell.
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
    graphics_joules: float | None = None


class Meter:
    """Measures from its making on."""

    def __init__(self) -> None:
        self._began, self._counters = time.monotonic(), energy_counters()
        self._cards = GraphicsMeter() if machine().graphics else None

    def read(self) -> Measured:
        """What was measured until now. It ends the measuring of graphics cards."""
        return msgspec.structs.replace(
            machine(),
            seconds=time.monotonic() - self._began,
            joules=joules_between(self._counters, energy_counters()),
            graphics_joules=None if self._cards is None else self._cards.stop(),
        )


class GraphicsMeter:
    """Adds up the power of all graphics cards, told by `nvidia-smi` every half second, in a thread of its own."""

    def __init__(self) -> None:
        self._joules: float | None = None
        self._process: subprocess.Popen[str] | None = None
        command = shutil.which(_SMI)
        if command is None:
            return
        asked = [command, "--query-gpu=index,power.draw", "--format=csv,noheader,nounits", "--loop-ms=500"]
        try:
            self._process = subprocess.Popen(
                asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        except OSError:
            return
        self._reader = threading.Thread(target=self._read, args=(self._process,), name="graphics power", daemon=True)
        self._reader.start()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        before: dict[str, tuple[float, float]] = {}
        for line in process.stdout:
            used = power_used(before, line, time.monotonic())
            if used is not None:
                self._joules = (self._joules or 0.0) + used

    @property
    def joules(self) -> float | None:
        """What was added up until now."""
        return self._joules

    @property
    def ended(self) -> bool:
        """Whether nothing measures any more."""
        return self._process is None or self._process.poll() is not None

    def stop(self) -> float | None:
        """Joules since the first reading; None where there were not two of any card."""
        if self._process is None:
            return None
        self._process.terminate()
        try:
            self._process.wait(_WAIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reader.join(_WAIT)
        return self._joules


def keep_measured(store: Store, run: str, now: Measured) -> None:
    """Add what was measured of a run to what is kept of it."""

    def added(kept: object) -> object:
        if not isinstance(kept, dict):
            return msgspec.to_builtins(now)
        before = msgspec.convert(kept, Measured)
        joules = _both(before.joules, now.joules)
        cards = _both(before.graphics_joules, now.graphics_joules)
        builds = tuple(dict.fromkeys((*before.builds, *now.builds)))
        seconds = before.seconds + now.seconds
        whole = msgspec.structs.replace(now, seconds=seconds, joules=joules, builds=builds, graphics_joules=cards)
        return msgspec.to_builtins(whole)

    store.settings.change(_SETTING + run, added)


def _both(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else before + now


def measured(store: Store, run: str) -> Measured | None:
    """What is kept of a run; None for one of an earlier version, or that came from elsewhere."""
    try:
        kept = store.settings.get(_SETTING + run)
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


def power_used(before: dict[str, tuple[float, float]], line: str, now: float) -> float | None:
    """Joules that a card used since its last reading, the mean of both readings over the time between them.

    Args:
        before: by card when it was read last, and its watts; this reading is put in.
        line: `index, watts`, as `nvidia-smi` writes it; `[N/A]` where a card does not tell.

    Returns:
        None of the first reading, and of a line without watts.
    """
    card, _, told = line.partition(",")
    try:
        watts = float(told)
    except ValueError:
        return None
    last = before.get(card)
    before[card] = now, watts
    return None if last is None else (now - last[0]) * (watts + last[1]) / 2


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
    command = shutil.which(_SMI)
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
