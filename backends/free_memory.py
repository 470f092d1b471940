"""How much main memory there is to be had."""

from pathlib import Path


def free_memory() -> int | None:
    """Bytes of main memory that a program can have now, within its control group too; None where not known."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        known = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith("kB")}
        free = known["MemAvailable"]
    except (OSError, ValueError, KeyError, IndexError):
        return None
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text("ascii"))
        used = int((group / "memory.current").read_text("ascii"))
        fields = dict(line.split() for line in (group / "memory.stat").read_text("ascii").splitlines())
        # What the file cache holds can be had: it counts as used until somebody needs it.
        return min(free, max(0, limit - used + int(fields.get("inactive_file", 0))))
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return free
