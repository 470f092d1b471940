"""A round of rephrasing on a real store and the real embedded model: what counts, what undo does, what is refused."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from emotui.backends.base import Attribute
from emotui.errors import BadInput, ModelError
from emotui.records import ClassGold
from emotui.workbench.progress import RunProgress
from emotui.workbench.rephrase import live as rephrase_live
from emotui.workbench.rephrase.service import Rephrasing
from emotui.workbench.rephrase.views import FrozenClassifier, Progress, Round, identity_of
from emotui.workbench.workspace import Workspace
from tests.backends.hf.models import bert
from tests.workbench.rephrase.rephrasing_workspace import HIDDEN, TEXTS, THANKS, rephrasing_workspace


@pytest.fixture(scope="module")
def models() -> Iterator[Workspace]:
    """Keeps the embedded model loaded for all tests of this file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, rephrasing_workspace(Path(folder)) as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path: Path, models: Workspace) -> Iterator[Workspace]:
    with rephrasing_workspace(tmp_path, lender=models) as opened:
        yield opened


@pytest.fixture
def service(workspace: Workspace) -> Rephrasing:
    return workspace.rephrasing()


@pytest.fixture
def ann(service: Rephrasing) -> Round:
    return service.begin("rephrase", "embedded", "ann")


def test_a_round_offers_the_texts_that_the_classifier_gets_right_and_sets_the_others_aside(
    service: Rephrasing, ann: Round
) -> None:
    assert (ann.number, ann.note, ann.correct, ann.incorrect) == (1, "", 3, 1)
    assert ann.offered() == [1, 2, 4]
    assert len(ann.labels) == 28
    assert service.progress(ann) == Progress(3, 0, (0, 0, 0, 0), 0, 0, 3, 1)
    with pytest.raises(BadInput, match="set aside"):
        service.submit(ann, 3, "anything")


def test_originals_are_classified_once_and_progress_is_told(service: Rephrasing, workspace: Workspace) -> None:
    steps: list[RunProgress] = []
    first = service.begin("rephrase", "embedded", "ann", on_progress=steps.append)
    assert list(dict.fromkeys(step.step for step in steps)) == ["loading embedded", "classifying the originals"]
    assert (steps[-1].done, steps[-1].n) == (4, 4)
    (run,) = workspace.runs(1)
    assert (run.task, run.model, run.state, run.n) == ("rephrase", "embedded", "done", 4)
    steps.clear()
    again = Rephrasing(workspace.store, workspace.model).begin("rephrase", "embedded", "bob", on_progress=steps.append)
    assert [step.step for step in steps] == ["loading embedded"]
    assert again.originals == first.originals
    assert [run.run for run in workspace.runs(1)] == [run.run]


def test_a_run_made_by_the_command_is_taken_and_one_cut_short_is_finished(
    service: Rephrasing, workspace: Workspace
) -> None:
    made = workspace.run_model("embedded", "rephrase")
    workspace.store.runs.set_state(made.run, "stopped")
    round_ = service.begin("rephrase", "embedded", "ann")
    assert [(run.run, run.state) for run in workspace.runs(1)] == [(made.run, "done")]
    assert round_.correct == 3


def test_a_wrong_prediction_is_success_and_the_next_text_comes(service: Rephrasing, ann: Round) -> None:
    assert service.next_open(ann, None) == 1
    first = service.submit(ann, 1, THANKS[0])
    assert (first.state, first.attempt, first.predicted) == ("open", 1, "gratitude")
    assert first.confidence > 0.5
    second = service.submit(ann, 1, f"  {HIDDEN}\n")
    assert (second.state, second.attempt) == ("succeeded", 2)
    assert second.predicted != "gratitude"
    chain = service.chain(ann, 1)
    assert [attempt.text for attempt in chain.attempts] == [THANKS[0], HIDDEN]
    assert chain.attempts[0].confidence == pytest.approx(first.confidence)
    assert service.progress(ann) == Progress(3, 1, (0, 1, 0, 0), 0, 0, 2, 1)
    assert service.next_open(ann, 1) == 2


def test_the_fourth_failure_closes_a_chain(service: Rephrasing, ann: Round) -> None:
    states = [service.submit(ann, 1, text).state for text in THANKS]
    assert states == ["open", "open", "open", "failed"]
    with pytest.raises(BadInput, match="has failed four times: undo reopens it"):
        service.submit(ann, 1, HIDDEN)
    with pytest.raises(BadInput, match="undo reopens it"):
        service.skip(ann, 1)
    assert service.progress(ann).failed == 1


def test_undo_takes_back_the_last_step_and_redo_puts_it_back(service: Rephrasing, ann: Round) -> None:
    service.submit(ann, 1, THANKS[0])
    service.submit(ann, 1, HIDDEN)
    service.skip(ann, 2)
    assert service.undo(ann) == 2
    assert service.chain(ann, 2).state == "open"
    assert service.undo(ann) == 1
    assert (service.chain(ann, 1).state, len(service.chain(ann, 1).attempts)) == ("open", 1)
    assert service.redo(ann) == 1
    assert service.chain(ann, 1).state == "succeeded"
    assert service.undo(ann) == 1
    assert service.undo(ann) == 1
    assert service.undo(ann) is None
    assert service.chain(ann, 1).attempts == ()
    assert [service.redo(ann), service.redo(ann), service.redo(ann), service.redo(ann)] == [1, 1, 2, None]
    assert (service.chain(ann, 1).state, service.chain(ann, 2).state) == ("succeeded", "skipped")


def test_an_attempt_keeps_its_number_through_undo_and_redo(service: Rephrasing, ann: Round) -> None:
    service.submit(ann, 1, THANKS[0])
    before = service.chain(ann, 1).attempts
    service.undo(ann)
    service.redo(ann)
    assert service.chain(ann, 1).attempts == before


def test_something_new_ends_what_could_be_redone(service: Rephrasing, ann: Round) -> None:
    service.submit(ann, 1, THANKS[0])
    service.undo(ann)
    service.submit(ann, 1, THANKS[1])
    assert service.redo(ann) is None
    assert [attempt.text for attempt in service.chain(ann, 1).attempts] == [THANKS[1]]


def test_nothing_is_ever_taken_out_of_the_log(service: Rephrasing, ann: Round, workspace: Workspace) -> None:
    service.submit(ann, 1, THANKS[0])
    service.undo(ann)
    service.redo(ann)
    log = workspace.store.annotations.entries()
    assert [(entry.kind, entry.undoes) for entry in log] == [
        ("rephrasing", None),
        ("rephrasing-undo", log[0].annotation),
        ("rephrasing-redo", log[1].annotation),
    ]


def test_a_skipped_text_can_be_taken_up_again(service: Rephrasing, ann: Round) -> None:
    service.skip(ann, 1)
    assert service.chain(ann, 1).state == "skipped"
    assert service.submit(ann, 1, THANKS[0]).state == "open"
    assert service.chain(ann, 1).state == "open"


def test_work_goes_on_where_it_stopped(service: Rephrasing, ann: Round, workspace: Workspace) -> None:
    service.skip(ann, 1)
    service.submit(ann, 4, "They lied to us and I am still angry about it.")
    later = Rephrasing(workspace.store, workspace.model)
    resumed = later.begin("rephrase", "embedded", "ann")
    assert later.next_open(resumed, None) == 4
    later.skip(resumed, 4)
    assert later.next_open(resumed, None) == 2
    later.skip(resumed, 2)
    assert later.next_open(resumed, None) is None
    assert later.progress(resumed).left == 0


def test_annotators_have_chains_of_their_own(service: Rephrasing, ann: Round) -> None:
    bob = service.begin("rephrase", "embedded", " bob ")
    service.submit(ann, 1, HIDDEN)
    assert service.chain(bob, 1).attempts == ()
    assert service.undo(bob) is None
    assert (bob.annotator, bob.number) == ("bob", 1)


def test_another_classifier_begins_a_round_of_its_own_and_says_so(
    service: Rephrasing, ann: Round, tmp_path: Path
) -> None:
    service.submit(ann, 1, THANKS[0])
    folder = bert(tmp_path / "classes", head="classes", labels=("anger", "fear", "gratitude", "grief"))
    other = service.begin("rephrase", f"hf:{folder}", "ann")
    assert (other.number, other.labels) == (2, ("anger", "fear", "gratitude", "grief"))
    assert other.note == (
        "A new round, 2: round 1 was against embedded. What was rephrased before stays with its own round."
    )
    assert service.chain(other, 1).attempts == ()
    (number, *_) = other.offered()
    assert service.submit(other, number, "so happy today").attempt == 1
    back = service.begin("rephrase", "embedded", "ann")
    assert (back.number, back.note) == (1, "")
    assert len(service.chain(back, 1).attempts) == 1


def test_a_classifier_that_changed_under_a_round_is_refused(service: Rephrasing, ann: Round) -> None:
    card = msgspec.structs.replace(ann.card, identity={**ann.card.identity, "goemotions": "other weights"})
    stale = FrozenClassifier(ann.classifier.model, card, ann.classifier.asked, identity_of(card, ann.classifier.asked))
    with pytest.raises(ModelError, match="has changed since this round began"):
        service.submit(replace(ann, classifier=stale), 1, HIDDEN)
    assert service.chain(ann, 1).attempts == ()


def test_what_follows_typing(service: Rephrasing, ann: Round) -> None:
    live = service.live(ann, 1, HIDDEN, 7)
    assert (live.number, live.generation, live.text, live.gold) == (1, 7, HIDDEN, "gratitude")
    assert live.label == max(live.probs, key=lambda label: live.probs[label])
    assert live.gold_confidence == live.probs["gratitude"]
    assert live.similarity is not None
    same = service.live(ann, 1, TEXTS[0].text, 8)
    assert same.similarity == pytest.approx(1, abs=1e-5)
    assert same.similarity > live.similarity
    assert service.live(ann, 1, " ... ", 9).similarity is None


def test_live_and_submit_give_the_same_verdict(service: Rephrasing, ann: Round) -> None:
    live, outcome = service.live(ann, 1, HIDDEN, 1), service.submit(ann, 1, HIDDEN)
    assert live.gold_confidence == pytest.approx(outcome.confidence, abs=1e-6)
    assert live.similarity == pytest.approx(outcome.similarity, abs=1e-6)


def test_words_that_carry_are_those_of_the_models_own_attribution(service: Rephrasing, ann: Round) -> None:
    text = "Thank you for helping me"
    found = service.words(ann, 1, text)
    assert found is not None
    assert (found.gold_label, found.top_label, found.cut) == ("gratitude", "gratitude", False)
    own = ann.classifier.model.ask([Attribute(text, "gratitude")])[0]
    assert [word[:2] for word in found.gold] == [word[:2] for word in own.words]
    assert [drop for *_, drop in found.gold] == pytest.approx([drop for *_, drop in own.words], abs=1e-3)
    assert max(found.gold, key=lambda word: word[2])[:2] == (0, 5)


def test_words_end_when_something_is_typed_meanwhile(service: Rephrasing, ann: Round) -> None:
    assert service.words(ann, 1, TEXTS[0].text, lambda: True) is None


def test_words_of_a_very_long_text_are_cut(service: Rephrasing, ann: Round, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rephrase_live, "MOST_WORDS", 5)
    found = service.words(ann, 1, "thanks " * 9)
    assert found is not None
    assert found.cut
    assert len(found.gold) == 5


def test_an_empty_rephrasing_and_a_paste_of_100_kb_each_have_their_line(service: Rephrasing, ann: Round) -> None:
    with pytest.raises(BadInput, match="the rephrasing is empty"):
        service.submit(ann, 1, " \n")
    paste = "x" * 102_400
    for ask in (lambda: service.submit(ann, 1, paste), lambda: service.live(ann, 1, paste, 1)):
        with pytest.raises(BadInput, match="the text has 102,400 characters; a rephrasing has at most 20,000"):
            ask()
    assert service.chain(ann, 1).attempts == ()


def test_a_label_that_the_classifier_does_not_know_is_named_with_its_text(tmp_path: Path, models: Workspace) -> None:
    texts = (*TEXTS, ClassGold(id="e", text="x", label="hunger"))
    unknown = pytest.raises(BadInput, match="e: embedded does not know the label 'hunger'; it knows: admiration, ")
    with rephrasing_workspace(tmp_path, texts, models) as opened, unknown:
        opened.rephrasing().begin("rephrase", "embedded", "ann")


def test_plutchiks_labels_are_asked_for_in_plutchiks_set(tmp_path: Path, models: Workspace) -> None:
    texts = (
        ClassGold(id="a", text="I trust her, she is an admirable woman.", label="trust"),
        ClassGold(id="b", text="I am so happy today!", label="Joy"),
    )
    with rephrasing_workspace(tmp_path, texts, models) as opened:
        service = opened.rephrasing()
        round_ = service.begin("rephrase", "embedded", "ann")
        assert {"trust", "anticipation"} <= set(round_.labels)
        assert round_.originals[2].gold == "joy"
        assert round_.originals[2].right
        words = service.words(round_, 2, "I am so happy today!")
        assert words is not None
        assert words.gold_label == "joy"


def test_what_there_is_not_is_named(service: Rephrasing, ann: Round, workspace: Workspace) -> None:
    with pytest.raises(BadInput, match="nowhere: there is no dataset; texts to rephrase are in: rephrase"):
        service.begin("nowhere", "embedded", "ann")
    with pytest.raises(BadInput, match="needs a name"):
        service.begin("rephrase", "embedded", "  ")
    with pytest.raises(BadInput, match="there is no text 99"):
        service.live(ann, 99, "x", 1)
    assert [dataset.name for dataset in service.datasets()] == ["rephrase"]


def test_a_suggested_attempt_stays_marked(service: Rephrasing, ann: Round) -> None:
    service.submit(ann, 1, HIDDEN, suggested=True)
    service.undo(ann)
    service.redo(ann)
    assert service.chain(ann, 1).attempts[0].suggested
    assert service.chains("rephrase")[0].attempts[0].suggested


def test_a_generative_model_classifies_by_ranking_the_labels(service: Rephrasing) -> None:
    from tests.backends.hf.models import TINY

    round_ = service.begin("rephrase", f"hf:{TINY}", "ann")
    assert round_.classifier.asked.way == "rank"
    assert round_.correct + round_.incorrect == len(TEXTS)
    live = service.verdicts(replace(round_), 1, [HIDDEN])
    assert sum(live[0][0].probs.values()) == pytest.approx(1)


def test_views_are_those_of_the_chains_one_by_one(service: Rephrasing, ann: Round) -> None:
    service.submit(ann, 1, HIDDEN)
    assert service.views(ann) == {number: service.chain(ann, number) for number in ann.originals}


def test_the_sample_chains_are_no_round_of_ones_own(tmp_path: Path, models: Workspace) -> None:
    from emotui.records import Attempt, Chain
    from emotui.workbench.rephrase.chains import import_chains

    chain = Chain(id="a", text=TEXTS[0].text, label="gratitude", attempts=(Attempt(text="x", predicted="joy"),))
    with rephrasing_workspace(tmp_path, lender=models) as opened:
        import_chains(opened.store, [chain], "rephrase", "tests")
        service = opened.rephrasing()
        round_ = service.begin("rephrase", "embedded", "ann")
        assert (round_.number, round_.note, service.rounds("rephrase")) == (1, "", [])
        service.submit(round_, 1, HIDDEN)
        assert [mark.spec for mark in service.rounds("rephrase")] == ["embedded"]
