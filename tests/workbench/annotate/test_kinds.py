"""Several kinds of answers in one pass over a text: spans, then labels, then numbers, each kept where it belongs."""

import json
from pathlib import Path

import pytest

from emotui.tasks import registry
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, SetLabels, SetNumber
from emotui.workbench.annotate.scheme import built_in
from emotui.workbench.answers import voices_of
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.sample_data.mixed_corpus import mixed_workspace
from tests.tasks.installed_task import install_task
from tests.tasks.test_new_task import TEXTS, template

ALL = "spans+labels+values"
ONCE = (
    AddSpan(SpanMark(id="a", start=2, end=14)),
    SetLabels(("joy", "sadness")),
    SetNumber("valence", 8),
    SetNumber("arousal", 7),
    SetNumber("dominance", 5),
    Accept(),
)
SAID = {
    "spans": [[2, 14]],
    "labels": ["joy", "sadness"],
    "values": {"valence": 8.0, "arousal": 7.0, "dominance": 5.0},
}


def test_built_in_schemes_joined_by_a_plus_ask_for_all_that_each_asks_for() -> None:
    scheme = built_in(ALL)
    assert scheme.spans
    assert [group.of for group in scheme.groups] == ["span", "text", "text", "text", "text"]
    assert scheme.tasks == ()


def test_what_is_said_in_one_pass_is_one_source_that_says_it_all(emotui: Emotui, tmp_path: Path) -> None:
    source = mixed_workspace(emotui, tmp_path)
    assert emotui("annotate", "scheme", "use", "mixed", ALL, "--db", "mixed.duckdb").status == 0
    work = source.annotating().begin("mixed", "dee") if source.annotating else None
    assert work is not None
    (dataset,) = source.datasets()
    first = source.store.samples.file_order(dataset.dataset).start
    assert {"joy", "sadness"} <= set(next(group for group in work.scheme.of("text") if group.labels).names)
    work.do(first, *ONCE)
    assert work.publish() == 1
    (run,) = [run for run in source.runs(dataset.dataset) if run.source == "person"]
    (row,) = source.store.results.of_run(run.run)
    assert json.loads(row.raw or "") == SAID
    *_, dee = voices_of(source.store, first, [run])
    assert ([one.name for one in dee.told or ()], dee.values) == (["joy", "sadness"], SAID["values"])
    done = emotui("export", "mixed", "dee", "--to", "out.jsonl", "--with", "text,gold", "--db", "mixed.duckdb")
    assert done.status == 0
    people = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[0])["annotators"]
    assert people["dee"] == {**SAID, "spans": [{"start": 2, "end": 14}]}


@pytest.fixture
def felt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, emotui: Emotui) -> Workspace:
    install_task(monkeypatch, tmp_path / "site", "felt", template(), "felt:Felt")
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, TEXTS)))
    assert emotui("import", "felt", "texts.jsonl", "--db", "w.duckdb").status == 0
    return Workspace.open(tmp_path / "w.duckdb")


@pytest.mark.parametrize(
    ("scheme", "task"), [(None, "spans"), (ALL, "spans"), ("labels", "labels"), ("values", "values")]
)
def test_texts_of_another_packages_task_are_annotated_as_what_the_scheme_asks(
    felt: Workspace, scheme: str | None, task: str
) -> None:
    try:
        desk = Desk(felt.store)
        if scheme is not None:
            desk.keep_scheme("texts", scheme)
        work = desk.begin("texts", "ann")
        (dataset,) = felt.datasets()
        first = felt.store.samples.file_order(dataset.dataset).start
        wanted = set(work.scheme.of("text"))
        events = [
            *([ONCE[0]] if work.scheme.spans else []),
            *([SetLabels(("joy",))] if any(group.labels for group in wanted) else []),
            *(ONCE[2:5] if any(group.scale for group in wanted) else []),
        ]
        work.do(first, *events, Accept())
        assert work.publish() == 1
        (run,) = felt.runs(dataset.dataset)
        assert (run.task, run.source, run.done) == (task, "person", 1)
        assert felt.evidence(first, run.run if task == "spans" else None).sample.text == TEXTS[0]["text"]
        # What the task itself asks is untouched.
        assert felt.said(dataset.dataset, first, None).gold[0].gold == "yes"
    finally:
        registry.forget()
