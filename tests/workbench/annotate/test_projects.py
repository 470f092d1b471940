"""A project passed round: several stores and one folder come to the same, in any order, and nothing is lost."""

import itertools
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.records import Text
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, Reopen, SetLabels, SetNote
from emotui.workbench.annotate.log_files import kept_log, log_name, read_log, take_in
from emotui.workbench.annotate.others import given_answers, logs_of
from emotui.workbench.annotate.planning.assignment import Assignment, assign, assigned, batches, share_of
from emotui.workbench.annotate.projects import collect, deal_project, export_project, import_project
from emotui.workbench.annotate.service import Annotating
from emotui.workbench.shards.people import merge_people
from emotui.workbench.texts import runs_of
from tests.conftest import Emotui
from tests.templates import copy_of

TEXTS = ("I am glad.", "They are sad.", "Nothing is here.", "So angry!", "Calm.")


def _store(path: Path, task: str = "labels") -> tuple[Store, Dataset]:
    def make(template: Path) -> None:
        asked = task_named(task)
        rows = [asked.row(asked.blank(Text(id=f"t{n}", text=text))) for n, text in enumerate(TEXTS)]
        Store.open(template).datasets.add("demo", task, rows, "texts", "f")

    copy_of(path, (__name__, task), make)
    store = Store.open(path)
    (dataset,) = store.datasets.all()
    return store, dataset


def _at(store: Store, dataset: str, name: str) -> Annotating:
    return Desk(store).begin(dataset, name)


def _number(store: Store, dataset: Dataset, id: str) -> int:
    return store.samples.numbers_by_id(dataset.dataset)[id]


def _answers(store: Store, dataset: Dataset) -> dict[str, dict[str, tuple[str, ...] | None]]:
    ids = {number: id for id, number in store.samples.numbers_by_id(dataset.dataset).items()}
    return {
        name: {ids[sample]: one.final.labels for sample, one in sorted(said.items())}
        for name, said in sorted(given_answers(store, dataset).items())
    }


def _say(bench: Annotating, number: int, *labels: str) -> None:
    bench.do(number, SetLabels(labels))
    bench.do(number, Accept())


@pytest.fixture
def lead(tmp_path: Path) -> tuple[Store, Dataset]:
    return _store(tmp_path / "lead.duckdb")


def test_what_two_people_did_on_two_machines_comes_together_with_its_moments(
    tmp_path: Path, lead: tuple[Store, Dataset]
) -> None:
    store, dataset = lead
    folder = tmp_path / "project"
    assign(store, dataset, Assignment(annotators=("ann", "bob"), overlap=1, batch=1))
    export_project(store, dataset, folder)
    stores = {}
    for name in ("ann", "bob"):
        theirs = Store.open(tmp_path / f"{name}.duckdb")
        there = import_project(theirs, folder).dataset
        bench = _at(theirs, "demo", name)
        for number in bench.order:
            _say(bench, int(number), "joy")
        bench.do(int(bench.order[0]), SetNote("hard"))
        bench.undo()
        export_project(theirs, there, folder)
        stores[name] = theirs, there
    taken = import_project(store, folder)
    assert {one.annotator: one.contradictions for one in taken.logs} == {"ann": (), "bob": ()}
    plan = assigned(store, dataset)
    assert plan is not None
    for name, (theirs, there) in stores.items():
        mine = share_of(plan, store.samples.file_order(dataset.dataset), name)
        assert len(given_answers(store, dataset)[name]) == len(mine)
        own, here = kept_log(theirs, there, name), kept_log(store, dataset, name)
        assert own.entries == here.entries
    assert sorted(run.model for run in runs_of(store, dataset)) == ["ann", "bob"]
    assert [one.entries for one in import_project(store, folder).logs] == [0, 0]
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    export_project(store, dataset, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_folder_holds_no_gold(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a.duckdb")
    asked = task_named("labels")
    sample = msgspec.convert(
        {"id": "x", "text": "Oh.", "label": "joy", "meta": {"who": "Eve", "emotion": "joy"}}, asked.sample
    )
    dataset = store.datasets.add("demo", "labels", [asked.row(sample)], "texts", "f")
    export_project(store, dataset, tmp_path / "plain")
    export_project(store, dataset, tmp_path / "with", ["who"])
    assert (tmp_path / "plain" / "texts.jsonl").read_text() == '{"id":"x","text":"Oh."}\n'
    assert (tmp_path / "with" / "texts.jsonl").read_text() == '{"id":"x","text":"Oh.","meta":{"who":"Eve"}}\n'
    # The labels themselves are in the scheme, so that they have the same keys everywhere.
    assert "joy" in (tmp_path / "plain" / "scheme.json").read_text()


def _worked_apart(tmp_path: Path, first: bool, second: bool) -> tuple[Store, Store, Dataset, Path]:
    """Two stores in which ann answered t0 without knowing of the other's answer, the second one later."""
    one, dataset = _store(tmp_path / "one.duckdb")
    folder = tmp_path / "project"
    _say(_at(one, "demo", "ann"), _number(one, dataset, "t1"), "fear")
    export_project(one, dataset, folder)
    two = Store.open(tmp_path / "two.duckdb")
    import_project(two, folder)
    for store, label, given_too in ((one, "joy", first), (two, "sadness", second)):
        bench = _at(store, "demo", "ann")
        number = _number(store, dataset, "t0")
        bench.do(number, SetLabels((label,)))
        if given_too:
            bench.do(number, Accept())
    return one, two, dataset, folder


@pytest.mark.parametrize(
    ("first", "second", "counts"), [(True, True, "sadness"), (True, False, "joy"), (False, True, "sadness")]
)
def test_of_two_answers_given_apart_one_counts_on_every_machine_and_that_is_told(
    tmp_path: Path, first: bool, second: bool, counts: str
) -> None:
    one, two, dataset, folder = _worked_apart(tmp_path, first, second)
    export_project(one, dataset, folder)
    told = import_project(two, folder).logs
    assert [len(log.contradictions) for log in told] == [1]
    assert told[0].contradictions[0].text == "t0"
    export_project(two, dataset, folder)
    import_project(one, folder)
    expected = {"ann": {"t0": (counts,), "t1": ("fear",)}}
    assert _answers(one, dataset) == _answers(two, dataset) == expected
    # Who goes on knows of both: nothing is contradicted by that.
    bench = _at(one, "demo", "ann")
    number = _number(one, dataset, "t0")
    bench.do(number, Reopen())
    _say(bench, number, "trust")
    export_project(one, dataset, folder)
    assert [log.contradictions for log in import_project(two, folder).logs] == [()]
    assert _answers(two, dataset)["ann"]["t0"] == ("trust",)
    third = Store.open(tmp_path / "three.duckdb")
    again = import_project(third, folder)
    assert [log.contradictions for log in again.logs] == [()]
    assert _answers(third, again.dataset) == _answers(one, dataset)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_order_and_any_number_of_times_comes_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Three stores do and undo what they like, apart; then their logs are taken in by new stores in drawn orders."""
    tmp_path = tmp_path_factory.mktemp("orders")
    labels = st.sampled_from(["joy", "fear", "anger"])
    does = st.one_of(st.tuples(st.just("say"), st.integers(0, 2), labels), st.tuples(st.sampled_from(["undo", "redo"])))
    logs = []
    for place in range(3):
        store, dataset = _store(tmp_path / f"{place}.duckdb")
        bench = _at(store, "demo", "ann")
        for kind, *of in data.draw(st.lists(does, max_size=6)):
            if kind == "say":
                _say(bench, _number(store, dataset, f"t{of[0]}"), of[1])
            else:
                getattr(bench, kind)()
        logs.append(kept_log(store, dataset, "ann").entries)
    outcomes = []
    for number, order in enumerate(data.draw(st.lists(st.permutations(range(3)), min_size=2, max_size=3))):
        store, dataset = _store(tmp_path / f"into {number}.duckdb")
        for place in order:
            take_in(store, dataset, "ann", logs[place])
        once, marker = _answers(store, dataset), store.marker()
        assert [take_in(store, dataset, "ann", logs[place]).entries for place in order] == [0, 0, 0]
        assert (_answers(store, dataset), store.marker()) == (once, marker), "nothing is written for what is there"
        outcomes.append(once)
    assert all(one == outcomes[0] for one in outcomes)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda line: line.replace('"joy"', '"fear"'), "changed by hand"),
        (lambda line: line[:-9], "no entry of a log"),
        (lambda line: line.replace('"t0"', '"t77"'), "changed by hand"),
        (lambda line: "[]", "no entry of a log"),
    ],
)
def test_a_line_that_was_changed_is_refused_with_its_place_and_nothing_is_kept(
    tmp_path: Path, lead: tuple[Store, Dataset], change: Callable[[str], str], why: str
) -> None:
    store, dataset = lead
    folder = tmp_path / "project"
    _say(_at(store, "demo", "ann"), _number(store, dataset, "t0"), "joy")
    export_project(store, dataset, folder)
    log = folder / "logs" / "ann.jsonl"
    lines = log.read_text().splitlines()
    log.write_text("\n".join([lines[0], change(lines[0])]) + "\n")
    new = Store.open(tmp_path / "new.duckdb")
    with pytest.raises(BadInput, match=f"ann.jsonl:2: .*{why}"):
        import_project(new, folder)
    assert new.datasets.all() == []


def test_a_span_outside_its_text_is_refused(tmp_path: Path) -> None:
    store, dataset = _store(tmp_path / "a.duckdb", "spans")
    number = _number(store, dataset, "t0")
    _at(store, "demo", "ann").do(number, AddSpan(SpanMark(id="a", start=0, end=4)))
    export_project(store, dataset, tmp_path / "project")
    with pytest.raises(BadInput, match="a span from 0 to 4 in a text of 2 characters"):
        read_log(tmp_path / "project" / "logs" / "ann.jsonl", {"t0": "I."})


def test_another_s_log_is_not_one_s_own(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    _say(_at(store, "demo", "ann"), _number(store, dataset, "t0"), "joy")
    export_project(store, dataset, tmp_path / "project")
    logs = tmp_path / "project" / "logs"
    (logs / "ann.jsonl").rename(logs / log_name("bob"))
    with pytest.raises(BadInput, match=r"bob.jsonl:1: .*another annotator's"):
        import_project(Store.open(tmp_path / "b.duckdb"), tmp_path / "project")


def test_names_that_no_file_can_have_are_written_and_read(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    names = ["../ann", "Ünal é", "a/b\\c", "CON:", "."]
    for name in names:
        _say(_at(store, "demo", name), _number(store, dataset, "t0"), "joy")
    export_project(store, dataset, tmp_path / "project")
    assert len(list((tmp_path / "project" / "logs").iterdir())) == len(names)
    other = Store.open(tmp_path / "b.duckdb")
    found = import_project(other, tmp_path / "project").dataset
    assert set(logs_of(other, found)) == set(names)


def test_a_project_is_dealt_and_collected_and_dealt_again(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    folder = tmp_path / "project"
    export_project(store, dataset, folder)
    with pytest.raises(BadInput, match="nothing is dealt out"):
        deal_project(folder)
    with pytest.raises(BadInput, match="come without gold, so training and checks are dealt where the gold is"):
        deal_project(folder, Assignment(annotators=("ann", "bob"), overlap=1, batch=1, training=1))
    plan, people = deal_project(folder, Assignment(annotators=("ann", "bob"), overlap=1, batch=1))
    assert plan.revision == 2
    ann = Store.open(tmp_path / "ann.duckdb")
    there = import_project(ann, people["ann"]).dataset
    bench = _at(ann, "demo", "ann")
    _say(bench, int(bench.order[0]), "joy")
    export_project(ann, there, people["ann"])
    assert not list((people["bob"] / "logs").iterdir())
    done = collect(folder)
    assert [(one.annotator, one.entries > 0) for one in done] == [("ann", True)]
    assert [one.entries for one in collect(folder)] == [0]
    # Bob leaves and cem comes: what ann answered stays with ann.
    plan, people = deal_project(folder, Assignment(annotators=("ann", "cem"), overlap=1, batch=1))
    assert plan.revision == 3
    import_project(store, folder)
    kept = assigned(store, dataset)
    assert kept is not None
    assert kept.annotators == ("ann", "cem")
    numbers = store.samples.file_order(dataset.dataset)
    assert sorted(number for batch in batches(kept, numbers) for number in batch.samples) == list(numbers)
    assert _answers(store, dataset)["ann"]
    again = import_project(ann, people["ann"])
    assert again.notes == ()
    assert assigned(ann, there) == kept
    assert not again.added


def test_the_newer_scheme_and_assignment_hold_and_two_new_ones_are_told(
    tmp_path: Path, lead: tuple[Store, Dataset]
) -> None:
    store, dataset = lead
    folder = tmp_path / "project"
    export_project(store, dataset, folder)
    other = Store.open(tmp_path / "b.duckdb")
    there = import_project(other, folder).dataset
    assign(store, dataset, Assignment(annotators=("ann",), overlap=1, batch=2))
    assert export_project(store, dataset, folder).plan.revision == 2
    assert "are newer (revision 2)" in export_project(other, there, folder).notes[0]
    assign(other, there, Assignment(annotators=("bob",), overlap=1, batch=2))
    with pytest.raises(BadInput, match="changed here and in the folder, to revision 2"):
        export_project(other, there, folder)
    assert "what was changed here is gone" in import_project(other, folder).notes[0]
    now = assigned(other, there)
    assert now is not None
    assert now.annotators == ("ann",)
    assert export_project(other, there, folder).plan.revision == 2
    mixed = json.loads((folder / "project.json").read_text())
    mixed["assignment"]["annotators"] = ["eve"]
    (folder / "project.json").write_text(json.dumps(mixed))
    with pytest.raises(BadInput, match="do not belong together"):
        import_project(other, folder)


def test_consent_goes_along(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    folder = tmp_path / "project"
    # The dataset has another number in the other store.
    other = Store.open(tmp_path / "b.duckdb")
    asked = task_named("labels")
    row = asked.row(asked.blank(Text(id="m", text="More.")))
    assert other.datasets.add("more", "labels", [row], "texts", "g").dataset == dataset.dataset
    assign(store, dataset, Assignment(annotators=("ann",), overlap=1, batch=9, consent="I agree."))
    bench = _at(store, "demo", "ann")
    assert bench.consent() == "I agree."
    bench.agree()
    export_project(store, dataset, folder)
    import_project(other, folder)
    assert _at(other, "demo", "ann").consent() == ""
    assert _at(other, "demo", "bob").consent() == "I agree."


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_git_merges_what_two_machines_committed(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    assign(store, dataset, Assignment(annotators=("ann", "bob"), overlap=2, batch=5))
    first = tmp_path / "first"
    _say(_at(store, "demo", "ann"), _number(store, dataset, "t4"), "fear")
    export_project(store, dataset, first)

    def git(*words: str, at: Path = first) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *words], cwd=at, check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", "-A")
    git("commit", "-m", "project")
    second = tmp_path / "second"
    git("clone", str(first), str(second), at=tmp_path)
    other = Store.open(tmp_path / "b.duckdb")
    there = import_project(other, second).dataset
    for one, of, folder, label in ((store, dataset, first, "joy"), (other, there, second, "anger")):
        for name, id in (("ann", f"t{0 if one is store else 1}"), ("bob", "t2")):
            _say(_at(one, "demo", name), _number(one, of, id), label)
        export_project(one, of, folder)
        git("add", "-A", at=folder)
        git("commit", "-m", "work", at=folder)
    git("pull", "--no-rebase", "--no-edit", str(second), "main")
    taken = {log.annotator: log.contradictions for log in import_project(store, first).logs}
    assert taken["ann"] == ()
    assert [one.text for one in taken["bob"]] == ["t2"]
    import_project(other, first)
    expected = {"ann": {"t0": ("joy",), "t1": ("anger",), "t4": ("fear",)}, "bob": {"t2": ("anger",)}}
    assert _answers(store, dataset) == _answers(other, there) == expected


@pytest.mark.parametrize("task", ["spans", "labels", "scenes", "values", "masked", "rephrase", "generation"])
def test_texts_of_every_task_go_round(tmp_path: Path, task: str) -> None:
    store, dataset = _store(tmp_path / "a.duckdb", task)
    export_project(store, dataset, tmp_path / "project")
    other = Store.open(tmp_path / "b.duckdb")
    found = import_project(other, tmp_path / "project")
    assert (found.added, found.dataset.task, found.dataset.n) == (True, task, len(TEXTS))
    assert not import_project(other, tmp_path / "project").added
    assert Desk(other).scheme("demo").groups


def test_every_subset_of_lines_can_be_read(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    """A file that lost lines on the way brings what it has; the rest comes with the whole one."""
    store, dataset = lead
    bench = _at(store, "demo", "ann")
    _say(bench, _number(store, dataset, "t0"), "joy")
    bench.undo()
    entries = kept_log(store, dataset, "ann").entries
    assert len(entries) == 3
    for n, kept in enumerate(itertools.chain.from_iterable(itertools.combinations(entries, r) for r in range(4))):
        other, there = _store(tmp_path / f"{n}.duckdb")
        take_in(other, there, "ann", kept)
        take_in(other, there, "ann", entries)
        assert _answers(other, there) == _answers(store, dataset)
        assert logs_of(other, there)["ann"].state(_number(other, there, "t0")).answer.labels == ("joy",)


def test_merging_stores_brings_what_people_annotated(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    other, there = _store(tmp_path / "other.duckdb")
    _say(_at(store, "demo", "ann"), _number(store, dataset, "t0"), "joy")
    _say(_at(other, "demo", "bob"), _number(other, there, "t0"), "fear")
    _say(_at(other, "demo", "ann"), _number(other, there, "t1"), "anger")
    found = merge_people(store, [other]).logs
    assert {(one.log.annotator, one.log.entries, one.log.contradictions) for one in found} == {
        ("ann", 2, ()),
        ("bob", 2, ()),
    }
    assert _answers(store, dataset) == {"ann": {"t0": ("joy",), "t1": ("anger",)}, "bob": {"t0": ("fear",)}}
    assert [one.log.entries for one in merge_people(store, [other]).logs] == [0, 0]
    empty = Store.open(tmp_path / "empty.duckdb")
    merge_people(empty, [store, other])
    (only,) = empty.datasets.all()
    assert _answers(empty, only) == _answers(store, dataset)


def test_the_commands_tell_what_was_new(emotui: Emotui, tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    _say(_at(store, "demo", "ann"), _number(store, dataset, "t0"), "joy")
    done = emotui("project", "export", "p", "--dataset", "demo", "--db", "lead.duckdb")
    assert done.out.splitlines() == [
        "p: 5 texts, revision 1 of scheme and assignment",
        "  ann  2 new entries",
    ]
    done = emotui("project", "deal", "p", "--annotators", "ann,bob", "--overlap", "all", "--json")
    assert json.loads(done.out)["people"] == {"ann": "p/people/ann", "bob": "p/people/bob"}
    done = emotui("project", "import", "p/people/ann", "--db", "ann.duckdb")
    assert done.out.splitlines() == ["demo: 5 texts, added", "  ann  2 new entries"]
    theirs = Store.open(tmp_path / "ann.duckdb")
    _say(_at(theirs, "demo", "ann"), _number(theirs, theirs.datasets.all()[0], "t1"), "fear")
    assert emotui("project", "export", "p/people/ann", "--dataset", "demo", "--db", "ann.duckdb").status == 0
    done = emotui("project", "collect", "p", "--json")
    assert json.loads(done.out)["collected"] == [{"folder": "p/people/ann", "annotator": "ann", "entries": 2}]
    done = emotui("project", "import", "p", "--db", "lead.duckdb", "--json")
    assert json.loads(done.out)["logs"] == [{"annotator": "ann", "entries": 2, "contradictions": []}]
    done = emotui("project", "import", "nowhere", "--db", "lead.duckdb")
    assert (done.status, done.err) == (
        2,
        "nowhere: no annotation project (it has no project.json): see emotui project export\n",
    )


def test_a_project_that_counts_other_texts_than_it_has_is_refused(tmp_path: Path, lead: tuple[Store, Dataset]) -> None:
    store, dataset = lead
    export_project(store, dataset, tmp_path / "p")
    plan = json.loads((tmp_path / "p" / "project.json").read_text())
    (tmp_path / "p" / "project.json").write_text(json.dumps(plan | {"n": 6}))
    new = Store.open(tmp_path / "new.duckdb")
    with pytest.raises(BadInput, match=r"texts.jsonl: the texts are not those that the project was made of"):
        import_project(new, tmp_path / "p")
    assert new.datasets.all() == []


def test_an_import_that_was_killed_before_sources_were_made_goes_on(
    tmp_path: Path, lead: tuple[Store, Dataset]
) -> None:
    store, dataset = lead
    _say(_at(store, "demo", "ann"), _number(store, dataset, "t0"), "joy")
    export_project(store, dataset, tmp_path / "p")
    other, there = _store(tmp_path / "b.duckdb")
    take_in(other, there, "ann", kept_log(store, dataset, "ann").entries)  # all that was done when it was killed
    assert runs_of(other, there) == []
    assert [one.entries for one in import_project(other, tmp_path / "p").logs] == [0]
    assert [run.model for run in runs_of(other, there)] == ["ann"]
