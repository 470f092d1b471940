"""A number that is none costs its own record; the others are written."""

from pathlib import Path

import pytest

from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

KIND = "nan"


KINDS = ("class", "class:score", "class:rank", "labels", "labels:score", "scenes", "masked", "spans", "values")
CASES = [
    (kind, wrong)
    for kind in KINDS
    for wrong in ("NAN", "INF", "RAISES")
    # Log-odds without end are a label that is certain.
    if not (wrong == "INF" and kind.startswith("class:"))
]


@pytest.mark.parametrize(("kind", "wrong"), CASES)
def test_one_number_that_is_none_costs_one_record(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, wrong: str
) -> None:
    install_kind(monkeypatch, KIND, "tests.backends.nan_backend:load")
    texts = ("I felt <mask> today.", f"{wrong} I felt <mask>.", "So <mask> it was.")
    kind, _, able = kind.partition(":")
    labels = ("--labels", "labels.txt") if able else ()
    (tmp_path / "labels.txt").write_text("joy\nsadness\n", encoding="utf-8")
    lines = "".join(f'{{"id": "{n}", "text": "{text}"}}\n' for n, text in enumerate(texts))
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    done = emotui(
        "predict", kind, "--model", f"{KIND}:{able}", "--records", "in.jsonl", "--to", "out.jsonl", *labels, "--json"
    )
    assert done.status == 1, done.err
    assert done.document["n"] == 3
    assert done.document["failed"] == 1
    assert done.err.strip().startswith("in.jsonl:2: ")
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == 3
