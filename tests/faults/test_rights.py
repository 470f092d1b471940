"""Folders and files that one may not read, write or look into cost a line, wherever they stand."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.effort import MINUTES, tried
from tests.paths import CHECKOUT

NOBODY = 65534

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not MINUTES, reason="a hundred calls by another user: make test-faults"),
    pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv"))),
        reason="only root can be somebody else, whom rights bind",
    ),
]

_CALLS = """
import io, json, os, sys, tempfile
from contextlib import redirect_stderr, redirect_stdout
from emotui.commands import main

for words, changed in json.load(sys.stdin):
    os.environ.update(changed)
    tempfile.tempdir = None
    out, err, status = io.StringIO(), io.StringIO(), 0
    sys.argv = ["emotui", *words]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as leaving:
            status = leaving.code
        except BaseException as error:
            status = repr(error)
    for name in changed:
        os.environ[name] = os.environ["THEIRS"]
    print(json.dumps([status, out.getvalue(), err.getvalue()]), file=sys.__stdout__)
"""
"""Each call by main() in one process, which starts as somebody else."""

Call = tuple[list[str], dict[str, str]]
"""Words, and what is changed in the environment for them."""

GOLD = '{"id": "1", "text": "I was so glad.", "spans": [[6, 13]]}\n'
CLASS = '{"id": "1", "text": "I was so glad.", "label": "joy"}\n'
SCORES = '{"id": "1", "score": 0.5}\n'


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`shut` may not be looked into and `fixed` not be written; both hold files. `theirs` is the other user's own."""
    made = tmp_path_factory.mktemp("rights")
    for name in ("shut", "fixed", "theirs"):
        (made / name).mkdir()
        for file, content in (
            ("gold.jsonl", GOLD),
            ("class.jsonl", CLASS),
            ("scores.jsonl", SCORES),
            ("in.csv", "id,text\n1,a\n"),
        ):
            (made / name / file).write_text(content, encoding="utf-8")
            (made / name / f"hidden-{file}").write_text(content, encoding="utf-8")
            (made / name / f"hidden-{file}").chmod(0)
    (made / "fixed" / "model").mkdir()
    (made / "fixed" / "model" / "config.json").write_text("{}", encoding="utf-8")
    (made / "fixed" / "model" / "config.json").chmod(0)
    os.chown(made / "theirs", NOBODY, NOBODY)
    for above in made.parents[:3]:
        above.chmod(above.stat().st_mode | 0o711)
    made.chmod(0o755)
    (made / "shut").chmod(0)
    (made / "fixed").chmod(0o555)
    yield made
    for name in ("shut", "fixed"):
        (made / name).chmod(0o755)


def _as_nobody(folder: Path) -> list[str]:
    """What a command begins with that somebody else runs; Python's own folder is put where they may reach it."""
    drop = f'exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups -- "$@"'
    python = Path(sys.base_prefix)
    closed = next((above for above in python.parents if not above.stat().st_mode & 0o001), None)
    if closed is not None:
        aside = folder / "python"
        aside.mkdir(exist_ok=True)
        again = f"mount --bind {python} {aside} && mount -t tmpfs -o mode=755 none {closed}"
        drop = f"{again} && mkdir -p {python} && mount --bind {aside} {python} && {drop}"
    return ["unshare", "--mount", "sh", "-c", drop, "sh"]


def called(folder: Path, calls: list[Call]) -> list[tuple[object, str, str]]:
    """What each call said, by a user who is nobody."""
    theirs = str(folder / "theirs")
    homes = ("HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    environment = os.environ | dict.fromkeys(homes, theirs)
    environment |= {"THEIRS": theirs, "PYTHONPATH": str(CHECKOUT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*_as_nobody(folder), sys.executable, "-c", _CALLS],
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        check=False,
        cwd=theirs,
        env=environment,
    )
    if done.returncode and "main()" not in done.stderr:
        pytest.skip(f"nobody else can run Python here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    said = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    assert len(said) == len(calls)
    tried("hostile calls", len(calls))
    return said  # type: ignore[return-value]


def _is_a_line(said: str) -> bool:
    """Whether it is one line, or the three of how a command is used and the one that says what was wrong."""
    lines = said.splitlines()
    usage = len(lines) >= 4 and lines[0].startswith("Usage: ") and lines[-1].startswith("Error: ")
    return "Traceback" not in said and (len(lines) == 1 or usage)


def test_whatever_may_not_be_read_or_written_is_a_line(folder: Path) -> None:
    store = str(folder / "theirs" / "w.duckdb")
    gold, classes = str(folder / "fixed" / "gold.jsonl"), str(folder / "fixed" / "class.jsonl")
    words: list[list[str]] = [["import", gold, "--as", "spans", "--name", "gold", "--db", store]]
    shut, fixed, hidden = folder / "shut", folder / "fixed", folder / "fixed" / "hidden-gold.jsonl"
    for place in (shut, fixed):
        words += [
            ["import", gold, "--db", f"{place}/new.duckdb"],
            ["import", gold, "--db", f"{place}/sub/new.duckdb"],
            ["export", "none", "--db", f"{place}/w.duckdb", "--to", "x.jsonl"],
            ["snapshot", "--db", store, "--to", f"{place}/copy.duckdb"],
            ["sql", "select 1", "--db", store, "--to", f"{place}/x.csv"],
            ["report", "--db", store, "--dataset", "gold", "--no-sim", "--to", f"{place}/r.md"],
            ["rephrasings", "split", "--chains", classes, "--to", f"{place}/sets"],
            ["masked", "build", "--posts", classes, "--to", f"{place}/masked.jsonl"],
            ["thresholds", "--gold", classes, "--pred", classes, "--to", f"{place}/t.json"],
            ["train", "classifier", "--train", classes, "--base", f"hf:{place}/model", "--to", f"{place}/trained"],
            ["import", gold, "--db", store, "--save-map", f"{place}/map.toml"],
        ]
    for path in (shut / "gold.jsonl", shut, hidden):
        words += [
            ["import", str(path), "--db", store],
            ["import", "spans", str(path), "--db", store],
            ["import", gold, "--map-file", str(path), "--db", store],
            ["import", "predictions", str(path), "--dataset", "gold", "--source", "s", "--db", store],
            ["replace-gold", "gold", str(path), "--db", store],
            ["score", "spans", "--gold", str(path), "--pred", gold],
            ["lexical", "--records", str(path)],
            ["compare", "--a", str(path), "--b", str(path)],
            ["agreement", "--ratings", str(path)],
            ["run", "spans", "--prompts", str(path), "--db", store],
            ["view", str(path)],
            ["runs", "--db", str(path)],
            ["score", "masked", "--gold", gold, "--pred", gold, "--lexicon", str(path)],
        ]
        if MINUTES:  # each in a process of its model's
            words += [["predict", "spans", "--records", gold, "--model", f"{kind}:{path}"] for kind in ("hf", "gguf")]
    said = called(folder, [(call, {}) for call in words])
    odd = {
        " ".join(call): (status, out, err)
        for call, (status, out, err) in zip(words[1:], said[1:], strict=True)
        if status not in (1, 2) or not _is_a_line(err)
    }
    assert said[0][0] == 0, said[0]
    assert odd == {}


def test_homes_that_may_not_be_used_cost_a_line_at_most(folder: Path) -> None:
    store, gold = str(folder / "theirs" / "w.duckdb"), str(folder / "fixed" / "gold.jsonl")
    calls: list[Call] = [(["import", gold, "--name", "gold", "--db", store], {})]
    for place in (folder / "shut", folder / "fixed"):
        for home in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME", "TMPDIR"):
            calls += [
                (words, {home: str(place / "none")})
                for words in (
                    ["runs", "--db", store],
                    ["runs"],
                    ["import", gold, "--name", "again", "--db", store],
                    ["models", "--db", store],
                    ["lexical", "--records", gold],
                )
            ]
    odd = {
        f"{changed} {' '.join(words)}": (status, err)
        for (words, changed), (status, _, err) in zip(calls, called(folder, calls), strict=True)
        if status not in (0, 1, 2) or (status and not _is_a_line(err))
    }
    assert odd == {}
