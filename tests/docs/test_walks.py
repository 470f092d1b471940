"""The walks of docs, run as they stand there, on the sample data under the names that they use."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.conftest import Emotui
from tests.paths import CHECKOUT

WALKS = sorted((CHECKOUT / "docs" / "walks").glob("*.md"))
FILES = {
    "mine.jsonl": "spans_passages.jsonl",
    "originals.jsonl": "rephrasings.jsonl",
    "chains.jsonl": "rephrasings.jsonl",
    "scenes.jsonl": "scenes.jsonl",
}
"""What the walks call their files, and which of the sample data stands for each."""


def commands(page: Path) -> list[str]:
    """The commands of a page in their order, without what one puts into them oneself."""
    blocks = re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if not re.search(r"\bRUN\b|answers\.jsonl", line)]


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.stem)
def test_every_command_of_a_walk_does_what_the_one_before_it_has_prepared(
    walk: Path, emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, sample in FILES.items():
        shutil.copy(CHECKOUT / "sample_data" / sample, tmp_path / name)
    lines = commands(walk)
    assert len(lines) > 3
    for line in lines:
        name, *words = shlex.split(re.sub(r"\s+#.*$", "", line))
        assert name == "emotui", line
        done = emotui(*words)
        assert (done.status, line, done.err[:300]) == (0, line, done.err[:300])
