"""The result of an adjudication is no further person, wherever all people are taken."""

from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.workbench.agreement.looking import looked_at
from emotui.workbench.agreement.panel import read_panel
from emotui.workbench.agreement.standing_in import stand_in_tables, stand_in_test
from emotui.workbench.annotate.adjudicating import Adjudicating
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, SetLabels, SetNote
from emotui.workbench.annotate.log import adjudicators
from emotui.workbench.annotate.others import votes_of
from emotui.workbench.annotate.planning.assignment import progress_of
from emotui.workbench.compare.pairs import Comparing
from emotui.workbench.compare.sources import comparable
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.sources import sources
from emotui.workbench.runs.elsewhere import Said, keep_said
from emotui.workbench.workspace import Workspace
from tests.workbench.annotate.small_sets import begin

N = 30


@pytest.fixture
def opened(tmp_path: Path) -> Workspace:
    """Thirty texts: `ann` answers all of them and `ben` the first twelve, half of these otherwise; `m` is a file."""
    opened = Workspace.open(tmp_path / "w.duckdb")
    samples = [LabelsGold(id=f"s{at}", text=f"text {at}", labels=["joy" if at else "fear"]) for at in range(N)]
    dataset = add_samples(opened.store, "labels", "set", samples, "written for a test")
    order = list(opened.store.samples.file_order(dataset.dataset))
    ann, ben = begin(opened.store, "set"), begin(opened.store, "set", "ben")
    for at, number in enumerate(order):
        ann.do(number, SetLabels(("joy" if at % 3 else "fear",)), Accept())
        if at < 12:
            ben.do(number, SetLabels(("joy" if at % 2 else "fear",)), Accept())
    ann.publish()
    ben.publish()
    said = [Said(number, 0, {"labels": ["joy" if at % 4 else "fear"]}) for at, number in enumerate(order)]
    keep_said(opened.store, dataset, "m", "file", said)
    return opened


def held(opened: Workspace) -> Dataset:
    found = opened.store.datasets.get("set")
    assert found is not None
    return found


def settle(opened: Workspace) -> Adjudicating:
    """Take over all that one of the two alone said, or both alike."""
    work = Desk(opened.store).adjudicate("set", ("ann", "ben"), "settled")
    work.take_agreed(alone=True)
    work.work.publish()
    return work


def test_agreement_is_the_same_before_and_after_an_adjudication_and_says_whom_it_leaves_out(opened: Workspace) -> None:
    before = read_panel(opened.store, "set")
    tables = looked_at(opened.store, held(opened))
    settle(opened)
    after = read_panel(opened.store, "set")
    assert (after.raters, after.said, after.shared()) == (before.raters, before.said, before.shared())
    assert sorted(after.raters) == ["ann", "ben"]
    assert "settled" not in before.notes
    assert after.notes["settled"] == "settled is the result of an adjudication, and no person: not counted unless named"
    again = looked_at(opened.store, held(opened))
    assert [[row.cells for row in table.rows] for table in again] == [
        [row.cells for row in table.rows] for table in tables
    ]
    assert read_panel(opened.store, "set", ["settled", "ann"]).raters == ["settled", "ann"]


def test_no_model_is_tested_against_an_adjudication_unless_it_is_named(opened: Workspace) -> None:
    settle(opened)
    found = stand_in_test(opened.store, "set", "m")
    assert sorted(found.people) == ["ann", "ben"]
    assert any("settled is the result of an adjudication" in note for note in stand_in_tables(found)[0].notes)
    assert stand_in_test(opened.store, "set", "m", ["ann", "settled"]).people == ["ann", "settled"]


def test_an_adjudication_adds_no_answer_to_texts_no_vote_and_no_spread(opened: Workspace) -> None:
    dataset = held(opened)
    answers, votes = progress_of(opened.store, dataset).answers, votes_of(opened.store, dataset)
    spread = opened.results().spread(dataset.dataset)
    settle(opened)
    progress = progress_of(opened.store, dataset)
    assert progress.answers == answers == {1: N - 12, 2: 12}
    assert [(one.annotator, one.settles) for one in progress.annotators] == [
        ("ann", False),
        ("ben", False),
        ("settled", True),
    ]
    assert votes_of(opened.store, dataset) == votes
    own = [[row for row in table.rows if row.kind == "people"] for table in opened.results().spread(dataset.dataset)]
    assert own == [[row for row in table.rows if row.kind == "people"] for table in spread]


def test_it_is_told_from_people_among_sources_and_on_the_axis(opened: Workspace) -> None:
    dataset = held(opened)
    shaded = Comparing(opened.store).axis(dataset.dataset, first="m", sure=False).people
    settle(opened)
    assert [one.name for one in sources(opened.store, "set") if one.settled] == ["settled"]
    kinds = {one.name: one.kind for one in comparable(opened.store, dataset)}
    assert kinds == {"ann": "person", "ben": "person", "settled": "settled", "m": "file"}
    assert Comparing(opened.store).axis(dataset.dataset, first="m", sure=False).people == shaded
    ids = {run.run for run in opened.runs(dataset.dataset) if run.model == "settled"}
    assert opened.settled(dataset.dataset) == ids


def test_who_takes_all_that_was_adopted_back_is_a_person_again(opened: Workspace) -> None:
    work = settle(opened).work
    assert adjudicators(opened.store, held(opened)) == {"settled"}
    work.undo()
    assert adjudicators(opened.store, held(opened)) == frozenset()
    work.redo()
    assert adjudicators(opened.store, held(opened)) == {"settled"}


def test_answers_given_wholly_by_hand_between_sources_are_settled_too(opened: Workspace) -> None:
    work = Desk(opened.store).adjudicate("set", ("ann", "ben"), "settled").work
    text = work.order[0]
    work.do_each(text, [[SetLabels(("joy",))], [Accept()], [SetNote("as ann says")]])
    work.publish()
    assert adjudicators(opened.store, held(opened)) == {"settled"}
    assert [one.name for one in sources(opened.store, "set") if one.settled] == ["settled"]
    assert work.undo() == work.undo() == text
    assert not work.said(text).accepted
    assert adjudicators(opened.store, held(opened)) == frozenset()
    assert work.said(text).answer.labels == ("joy",)
    work.redo()
    assert work.said(text).accepted
    assert adjudicators(opened.store, held(opened)) == {"settled"}
    own = Desk(opened.store).begin("set", "ann")
    own.do(text, SetLabels(("fear",)), Accept())
    assert adjudicators(opened.store, held(opened)) == {"settled"}


def test_one_person_and_what_was_settled_are_not_two_people(opened: Workspace) -> None:
    dataset = add_samples(
        opened.store, "labels", "alone", [LabelsGold(id="a", text="a text", labels=["joy"])], "written for a test"
    )
    (number,) = opened.store.samples.file_order(dataset.dataset)
    ann = begin(opened.store, "alone")
    ann.do(number, SetLabels(("joy",)), Accept())
    ann.publish()
    work = Desk(opened.store).adjudicate("alone", ("ann", "gold"), "settled")
    work.take(number, "ann", accept=True)
    work.work.publish()
    assert read_panel(opened.store, "alone").raters == ["gold", "ann"]
    with pytest.raises(BadInput, match="two people"):
        stand_in_test(opened.store, "alone", "gold")
