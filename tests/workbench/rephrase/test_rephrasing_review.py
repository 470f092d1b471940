"""A second pair of eyes, and chains in and out of a real store: who sees what, what is confirmed, what comes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.formats import read
from emotui.records import Attempt, Chain
from emotui.workbench.rephrase.chains import add_sample_rephrasings, import_chains
from emotui.workbench.rephrase.service import Rephrasing
from emotui.workbench.workspace import Workspace
from tests.paths import CHECKOUT


def chain(key: str, *attempts: tuple[str, str], annotator: str | None = None, skipped: bool = False) -> Chain:
    tried = tuple(Attempt(text=text, predicted=said, confidence=0.5, similarity=0.7) for text, said in attempts)
    return Chain(
        id=key,
        text=f"text {key}",
        label="joy",
        attempts=tried,
        predicted="joy",
        annotator=annotator,
        skipped=skipped,
        model="embedded",
        identity="one",
    )


CHAINS = [
    chain("a", ("a1", "joy"), ("a2", "anger"), annotator="ann"),
    chain("b", ("b1", "fear"), annotator="bob"),
    chain("c", annotator="ann", skipped=True),
    Chain(id="d", text="text d", label="joy", attempts=(), predicted="anger", model="embedded", identity="one"),
]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "review.duckdb")
    import_chains(opened.store, CHAINS, "rephrase", "tests")
    yield opened
    opened.close()


@pytest.fixture
def service(workspace: Workspace) -> Rephrasing:
    return workspace.rephrasing()


def queue(service: Rephrasing, reviewer: str) -> dict[str, int]:
    return {item.rephrasing: item.attempt for item in service.review_queue("rephrase", reviewer)}


def test_a_reviewer_sees_what_others_wrote_and_nothing_of_the_verdicts(service: Rephrasing) -> None:
    assert set(queue(service, "ann")) == {"b1"}
    assert set(queue(service, "bob")) == {"a1", "a2"}
    assert set(queue(service, "eve")) == {"a1", "a2", "b1"}
    (item,) = service.review_queue("rephrase", "ann")
    assert (item.original, item.rephrasing) == ("text b", "b1")
    assert set(type(item).__slots__) == {"attempt", "original", "rephrasing"}


def test_what_was_judged_leaves_the_queue_of_that_reviewer_only(service: Rephrasing) -> None:
    service.review("rephrase", "eve", queue(service, "eve")["a2"], meaning=True, emotion="joy")
    assert set(queue(service, "eve")) == {"a1", "b1"}
    assert set(queue(service, "bob")) == {"a1", "a2"}


def test_a_judgement_can_be_taken_back_one_after_the_other_and_only_ones_own(service: Rephrasing) -> None:
    there = queue(service, "eve")
    for name in ("a1", "b1"):
        service.review("rephrase", "eve", there[name], meaning=False, emotion="joy")
    service.review("rephrase", "bob", there["a1"], meaning=True, emotion="joy")
    assert service.take_review_back("rephrase", "eve") == there["b1"]
    assert set(queue(service, "eve")) == {"a2", "b1"}
    assert service.take_review_back("rephrase", "eve") == there["a1"]
    assert service.take_review_back("rephrase", "eve") is None
    assert set(queue(service, "eve")) == {"a1", "a2", "b1"}
    assert service.agreement("rephrase")["reviews"] == 1


def test_nobody_judges_their_own_or_what_is_not_there(service: Rephrasing) -> None:
    attempt = queue(service, "eve")["a1"]
    with pytest.raises(BadInput, match="ann wrote this rephrasing"):
        service.review("rephrase", "ann", attempt, meaning=True, emotion="joy")
    with pytest.raises(BadInput, match="there is no rephrasing 9999"):
        service.review("rephrase", "eve", 9999, meaning=True, emotion="joy")
    with pytest.raises(BadInput, match="which emotion"):
        service.review("rephrase", "eve", attempt, meaning=True, emotion=" ")
    with pytest.raises(BadInput, match="needs a name"):
        service.review("rephrase", "", attempt, meaning=True, emotion="joy")


def test_confirmed_is_what_more_than_half_say_keeps_meaning_and_emotion(service: Rephrasing) -> None:
    there = queue(service, "eve")
    service.review("rephrase", "eve", there["a1"], meaning=True, emotion="Joy")
    service.review("rephrase", "eve", there["a2"], meaning=False, emotion="joy")
    service.review("rephrase", "eve", there["b1"], meaning=True, emotion="joy")
    service.review("rephrase", "zoe", there["b1"], meaning=True, emotion="fear")

    def attempts() -> dict[str, list[str]]:
        found = service.chains("rephrase", confirmed_only=True)
        return {one.id: [attempt.text for attempt in one.attempts] for one in found}

    assert attempts() == {"a": ["a1"], "b": [], "c": [], "d": []}
    service.review("rephrase", "zoe", there["b1"], meaning=True, emotion="fear", kept=True)
    assert attempts()["b"] == ["b1"]
    assert service.statistics("rephrase", confirmed_only=True)["needed"]["1"] == 1
    assert [len(one.attempts) for one in service.chains("rephrase")] == [2, 1, 0, 0]


def test_agreement_by_hand(service: Rephrasing) -> None:
    there = queue(service, "eve")
    for reviewer, name, meaning, emotion in (
        ("eve", "a1", True, "joy"),
        ("zoe", "a1", True, "joy"),
        ("eve", "a2", True, "joy"),
        ("zoe", "a2", False, "anger"),
    ):
        service.review("rephrase", reviewer, there[name], meaning=meaning, emotion=emotion)
    report = service.agreement("rephrase")
    assert (report["rephrasings"], report["reviewed"], report["reviewers"], report["reviews"]) == (3, 2, 2, 4)
    assert (report["meaning_kept"], report["emotion_kept"], report["confirmed"]) == (0.75, 0.75, 1)
    # Two items, two ratings each: disagreement observed 1/2, expected from the counts 3 and 1 is 2*3*1/(4*3) = 1/2.
    assert report["meaning_alpha"] == pytest.approx(0)
    assert report["emotion_alpha"] == pytest.approx(0)
    # With the author's joy: item 1 all alike, item 2 joy, anger, joy. Observed 2/3 of 3 values over 6: 1/3; expected
    # from 5 and 1: 2*5*1/(6*5) = 1/3.
    assert report["emotion_alpha_with_author"] == pytest.approx(0)
    assert report["emotion"]["raters"] == 2


def test_agreement_of_nobody_is_undefined_and_says_why(service: Rephrasing) -> None:
    report = service.agreement("rephrase")
    assert (report["meaning_alpha"], report["meaning_kept"], report["reviews"]) == (None, None, 0)
    assert report["notes"]["meaning_kept"] == "nothing was reviewed"


def test_the_same_words_for_the_same_text_are_judged_once(workspace: Workspace, service: Rephrasing) -> None:
    import_chains(workspace.store, [chain("a", ("a1", "joy"), annotator="bob")], "rephrase", "tests")
    assert sorted(queue(service, "eve")) == ["a1", "a2", "b1"]


def test_chains_come_out_as_they_went_in(service: Rephrasing) -> None:
    assert service.chains("rephrase") == CHAINS


def test_importing_twice_changes_nothing(workspace: Workspace) -> None:
    before = workspace.store.annotations.entries()
    again = import_chains(workspace.store, CHAINS, "rephrase", "tests")
    assert (again.chains, again.attempts) == (0, 0)
    assert workspace.store.annotations.entries() == before


def test_of_two_annotators_the_first_counts_unless_one_is_named(workspace: Workspace, service: Rephrasing) -> None:
    import_chains(workspace.store, [chain("a", ("z1", "fear"), annotator="zoe")], "rephrase", "tests")
    assert [attempt.text for attempt in service.chains("rephrase")[0].attempts] == ["a1", "a2"]
    only = service.chains("rephrase", annotator="zoe")
    assert [attempt.text for attempt in only[0].attempts] == ["z1"]
    assert [one.annotator for one in only] == ["zoe", None, None, None]
    with pytest.raises(BadInput, match="'nobody' has rephrased nothing of rephrase; who has: ann, bob, zoe"):
        service.chains("rephrase", annotator="nobody")


def test_a_closed_chain_goes_before_one_that_was_begun_earlier(workspace: Workspace, service: Rephrasing) -> None:
    import_chains(workspace.store, [chain("c", ("c1", "joy"), annotator="zoe")], "more", "tests")
    import_chains(workspace.store, [chain("c", ("c2", "fear"), annotator="eve")], "more", "tests")
    found = service.chains("more")
    assert (found[0].annotator, found[0].attempts[0].text) == ("eve", "c2")


def test_rounds_stay_apart(workspace: Workspace, service: Rephrasing) -> None:
    other = Chain(id="a", text="text a", label="joy", attempts=(Attempt(text="n1", predicted="joy"),), identity="two")
    import_chains(workspace.store, [other], "rephrase", "tests", annotator="ann")
    assert [mark.identity for mark in service.rounds("rephrase")] == ["one", "two"]
    assert [attempt.text for attempt in service.chains("rephrase")[0].attempts] == ["n1"]
    assert [attempt.text for attempt in service.chains("rephrase", identity="one")[0].attempts] == ["a1", "a2"]
    with pytest.raises(BadInput, match="no"):
        service.chains("rephrase", identity="three")


def test_chains_of_other_texts_are_refused(workspace: Workspace) -> None:
    with pytest.raises(BadInput, match="x: rephrase has no such text with this label"):
        import_chains(workspace.store, [chain("x")], "rephrase", "tests")
    changed = Chain(id="a", text="text a", label="fear", attempts=())
    with pytest.raises(BadInput, match="a: rephrase has no such text with this label"):
        import_chains(workspace.store, [changed], "rephrase", "tests")


def test_the_sample_chains_come_into_a_store_once_with_their_verdicts(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "sample.duckdb")
    try:
        dataset = add_sample_rephrasings(opened.store)
        n = len(opened.store.annotations.entries())
        assert add_sample_rephrasings(opened.store) == dataset
        assert len(opened.store.annotations.entries()) == n
        kept = [
            (one.id, one.predicted, [(a.text, a.predicted, a.confidence) for a in one.attempts], one.skipped)
            for one in opened.rephrasing().chains("rephrase")
        ]
    finally:
        opened.close()
    filed = [
        (one.id, one.predicted, [(a.text, a.predicted, a.confidence) for a in one.attempts], one.skipped)
        for one in read(CHECKOUT / "sample_data" / "rephrasings.jsonl", Chain).records
    ]
    assert kept == filed
