"""The SHA-256 over the files of a model folder that decide what it answers."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from platformdirs import user_cache_path

from emotui.backends.base import Progress


def weights_hash(files: Iterable[Path], progress: Progress) -> str:
    """SHA-256 over the weight files' own. A file is read again only when its size or its time of change is another."""
    parts = []
    for path in files:
        progress(f"checking {path.name}")
        parts.append(_file_hash(path))
    return parts[0] if len(parts) == 1 else hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _file_hash(path: Path) -> str:
    stat = path.stat()
    key = f"{path.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}\n{stat.st_ctime_ns}"
    kept = user_cache_path("emotui") / "weights" / hashlib.sha256(key.encode()).hexdigest()
    try:
        known = kept.read_text("ascii")
        if len(known) == 64:
            return known
    except (OSError, ValueError):
        pass
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ):
            digest.update(block)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(digest.hexdigest(), "ascii")
    except OSError:
        pass  # a cache that cannot be written costs time only
    return digest.hexdigest()


_READ = 1 << 22
