"""A store that somebody else made does nothing when it is opened but show its rows."""

import os
from pathlib import Path

import duckdb
import pytest

from emotui.errors import BadStore, StoreError
from emotui.store import access, questions, schema
from emotui.store.access import Access
from emotui.store.store import Store
from emotui.workbench.workspace import Workspace
from tests.effort import tried
from tests.store.store_samples import samples
from tests.templates import of_tests

pytestmark = pytest.mark.faults


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = Store.open(tmp_path / "shared.duckdb")
    store.datasets.add("stories", "spans", samples(3), "stories.jsonl", "abc")
    return store.path


def _plant(path: Path, statement: str) -> None:
    of_tests.discard(path.absolute())
    tried("hostile calls")
    with duckdb.connect(path) as connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("create view peek as select content from read_text('/etc/passwd')", "a view ('peek')"),
        (
            "alter table samples rename to kept; create view samples as select * replace"
            " ((select content from read_text('/etc/passwd')) as text) from kept",
            "a view ('samples')",
        ),
        (
            "drop view score_values; create view score_values as select content from read_text('/etc/passwd')",
            "a view ('score_values')",
        ),
        ("create table more(a integer, b integer generated always as (a + 1))", "a computed column ('more')"),
        ("alter table workspace rename to w; create view workspace as from w", "a view ('workspace')"),
        ("create macro lower(x) as 'not this'", "a macro ('lower')"),
        ("create macro rows_of(x) as table select content from read_text(x)", "a macro ('rows_of')"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_that_computes_is_refused(path: Path, statement: str, what: str, read_only: bool) -> None:
    _plant(path, statement)
    with pytest.raises(BadStore) as caught:
        Store.open(path, read_only=read_only)
    assert f"holds {what}, which emotui never makes" in str(caught.value)


def test_a_trigger_is_refused(path: Path) -> None:
    try:
        _plant(path, "create trigger t after insert on settings for each statement insert into runs select * from runs")
    except duckdb.Error as error:
        pytest.skip(f"this DuckDB makes no triggers: {error}")
    with pytest.raises(BadStore, match=r"a trigger \('t'\)"):
        Store.open(path)


def test_a_macro_is_refused_before_a_question_is_asked(path: Path, tmp_path: Path) -> None:
    _plant(path, "create macro lower(x) as 'not this'")
    with pytest.raises(BadStore, match=r"a macro \('lower'\)"):
        questions.ask(path, "select 1")
    with pytest.raises(BadStore, match=r"a macro \('lower'\)"):
        questions.snapshot(path, tmp_path / "copy.duckdb")


def test_a_macro_that_comes_while_a_store_is_open_stands_in_for_no_function(path: Path) -> None:
    store = Store.open(path)
    _plant(path, "create macro lower(x) as error('run')")
    _plant(path, "create macro count(x) as error('run')")
    _plant(path, "create macro current_setting(x) as error('run')")
    assert [one.name for one in store.datasets.all()] == ["stories"]
    with store._turns.reading() as connection:
        assert connection.execute("select lower('A'), count(1)").fetchall() == [("a", 1)]
    with store._turns.writing() as connection:
        assert connection.execute("select lower('A')").fetchall() == [("a",)]


def test_the_workbench_looks_through_a_store_once_and_again_where_it_has_changed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Path] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(schema, "check_no_macros", lambda _, path: looked.append(path))
    Workspace.open(path, at_once=True).close()
    Workspace.open(path, at_once=True).close()
    assert len(looked) == 1
    workspace = Workspace.open(path, at_once=True)
    workspace.set_setting("theme", "dark")
    workspace.close()
    assert len(looked) == 2
    Workspace.open(path, at_once=True)
    assert len(looked) == 2


def test_a_macro_is_refused_in_a_store_that_was_looked_through_before(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Workspace.open(path, at_once=True).close()
    before = path.stat()
    _plant(path, "create macro lower(x) as 'not this'")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(BadStore, match=r"a macro \('lower'\)"):
        Workspace.open(path, at_once=True)


@pytest.mark.parametrize("planted", ["create macro lower(x) as 'not this'", "create view also as select 1 as one"])
def test_what_computes_is_never_remembered_as_looked_through(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    open_one = Workspace.open(path, at_once=True)
    _plant(path, planted)
    open_one.close()
    with pytest.raises(BadStore, match="which emotui never makes"):
        Workspace.open(path, at_once=True)


def test_a_store_with_a_log_is_never_known(path: Path) -> None:
    assert access.mark_of(path) is not None
    path.with_name(path.name + ".wal").symlink_to("nowhere")
    assert access.mark_of(path) is None


@pytest.mark.parametrize("statement", ["from read_text('/etc/passwd')", "attach '/tmp/x.duckdb' as x"])
def test_the_engine_opens_no_file_but_the_store(path: Path, tmp_path: Path, statement: str) -> None:
    with (
        pytest.raises(StoreError, match="disabled by configuration"),
        Access(path, read_only=True).reading() as connection,
    ):
        connection.execute(statement)


def test_what_the_engine_may_open_for_an_import_is_closed_again(path: Path, tmp_path: Path) -> None:
    other = Store.open(tmp_path / "other.duckdb").path
    turns = Access(path, read_only=False)
    with turns.writing(beside=other) as connection:
        assert connection.execute("select count(*) from staged.datasets").fetchall() == [(0,)]
    with pytest.raises(StoreError, match="disabled by configuration"), turns.reading() as connection:
        connection.execute(f"attach '{other}' as again (read_only)")


def test_a_snapshot_is_a_store_of_its_own(path: Path, tmp_path: Path) -> None:
    questions.snapshot(path, tmp_path / "copy.duckdb")
    assert [one.name for one in Store.open(tmp_path / "copy.duckdb").datasets.all()] == ["stories"]


def test_a_store_is_opened_by_a_relative_name_and_one_with_a_quote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("here.duckdb", "it's.duckdb", "dir/../up.duckdb"):
        (tmp_path / "dir").mkdir(exist_ok=True)
        store = Store.open(name)
        store.datasets.add("stories", "spans", samples(3), "stories.jsonl", "abc")
        assert Store.open(name).datasets.all()[0].n == 3
