"""Rephrase: what is typed and not submitted is there again."""

import threading
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from emotui.errors import StoreError
from emotui.records import ClassGold
from emotui.screens.app import EmotuiApp
from emotui.workbench.datasets.sets import replace_gold
from emotui.workbench.drafts import DraftBook
from emotui.workbench.query_process import ask
from emotui.workbench.rephrase.originals import drop_variants, keep_variants, kept_variants, verdicts_kept
from tests.screens.driving import notified, opened, press, screen_text, settle
from tests.screens.rephrase.driving import arrive, page, submit
from tests.screens.rephrase_workspace import TEXTS, Scripted, scripted
from tests.waiting import awaited


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_what_is_typed_waits_for_when_one_comes_back(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await press(pilot, *" more", "escape", "j")
        assert here.editor.text == TEXTS[1][2]
        await press(pilot, "k")
        assert here.editor.text == TEXTS[0][2] + " more"


async def test_what_is_typed_is_there_at_every_visit_of_its_text_and_not_only_at_the_next(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await press(pilot, *" more", "escape", *"jkjkjk")
        assert here.editor.text == TEXTS[0][2] + " more"


async def test_what_is_typed_is_there_in_the_next_session_and_belongs_to_who_typed_it(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await press(pilot, *" more", "ctrl+q")
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot)
        assert here.editor.text == TEXTS[0][2] + " more"
    other = EmotuiApp(lambda: Scripted(source.store), poll=None, annotator="ben")
    async with other.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        here = await arrive(pilot)
        assert here.editor.text == TEXTS[0][2]


async def test_what_is_typed_is_in_the_store_before_one_leaves(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", *" more")
        book = source.drafts()
        await awaited(lambda: bool(book.of("someone")))
        (draft,) = book.of("someone").values()
        assert here.editor.text.startswith(draft.text)
        assert len(draft.text) > len(TEXTS[0][2])


async def test_an_attempt_or_taking_everything_back_ends_a_draft(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, "I was sad and lonely.")
        await press(pilot, "x", "backspace", "ctrl+q")
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot)
        assert here.editor.text == "I was sad and lonely."
        assert source.drafts().of("someone") == {}


async def test_a_skip_that_is_taken_back_brings_what_was_typed_with_it(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", *" more", "ctrl+s")
        assert here.editor.text == TEXTS[1][2]
        await press(pilot, "ctrl+z")
        assert here.chain is not None
        assert here.chain.id == "rs-1"
        assert here.editor.text == TEXTS[0][2] + " more"


async def test_a_store_that_cannot_keep_it_is_told_of_once_and_writing_goes_on(
    source: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*asked: object) -> None:
        raise StoreError("the disk is full")

    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        monkeypatch.setattr(DraftBook, "keep", full)
        for key in "ab":
            await press(pilot, key)
            here.session.drafts.save()
            await settle(pilot)
        assert notified(pilot) == ["What is typed is kept only until you leave: the disk is full"]
        assert here.editor.text == TEXTS[0][2] + "ab"


async def test_a_suggestion_is_marked_as_one_in_the_next_session_too(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        assert here._attempts is not None
        here._attempts._take_suggestion("I set the table for two.")
        await press(pilot, *" sad", "ctrl+q")
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot, "i")
        assert here.editor.text == "I set the table for two. sad"
        assert "suggested by a model" in screen_text(pilot)
        await press(pilot, "enter")
        assert here.chain is not None
        (attempt,) = here.chain.attempts
        assert attempt.suggested


def other_gold(source: Scripted, folder: Path, **labels: str) -> None:
    """Replace the gold of the texts that are named (`rs_1="joy"`), rename, trash and restore the dataset."""
    said = {key.replace("_", "-"): label for key, label in labels.items()}
    lines = [ClassGold(id=key, label=said.get(key, label), text=text) for key, label, text in TEXTS]
    file = folder / "gold.jsonl"
    file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    replace_gold(source.store, "rephrase", str(file), warn=lambda line: None)
    source.store.by_name.rename("rephrase", "other name")
    source.store.by_name.delete("other name")
    source.store.by_name.restore("other name")


async def test_other_gold_another_name_and_the_trash_hide_no_draft_and_the_former_gold_is_told(
    source: Scripted, tmp_path: Path
) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i", *" one", "escape", "j", "i", *" two", "ctrl+q")
    other_gold(source, tmp_path, rs_1="joy", rs_7="joy")
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot)
        if here.chain is not None and here.chain.id != "rs-2":
            await press(pilot, "j")
        assert here.editor.text == TEXTS[1][2] + " two"
        assert "not submitted" in screen_text(pilot)
        await press(pilot, "k")
        assert here.chain is not None
        assert not here.chain.offered  # the classifier says sadness, and gold is joy now
        told = page(pilot, "#rephrase-below")
        assert "gold was sadness" in told
        assert "this house since. one" in " ".join(told.split())


async def test_what_was_written_against_a_model_that_is_gone_stands_in_the_editor_and_says_so(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i", *" more", "ctrl+q")
    again = Scripted(source.store)
    again.embedded.card = replace(again.embedded.card, identity={"version": "2"})
    async with opened(again) as pilot:
        here = await arrive(pilot)
        assert here.editor.text == TEXTS[0][2] + " more"
        assert "against embedded as it was then" in screen_text(pilot)


async def test_what_an_older_program_kept_comes_back_and_two_drafts_of_a_text_change_places(source: Scripted) -> None:
    dataset = source.store.datasets.get("rephrase")
    assert dataset is not None
    first = source.store.samples.file_order(dataset.dataset).start
    kept = {str(first): {"text": "older words", "attempts": 2}, str(first + 1): {"text": "older too"}}
    for mark, identity, who in (("0" * 16, "f" * 64, "someone"), ("1" * 16, "e" * 64, "someone/else")):
        source.store.settings.set(f"rephrasing-drafts/{mark}/{identity}/{who}", kept)
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot, "i")
        assert here.editor.text == "older words"
        assert "against another classifier" in screen_text(pilot)
        await press(pilot, "!")
        assert here.editor.text == "older words!"
        assert "older words" in page(pilot, "#rephrase-below")
        await press(pilot, "ctrl+n")
        assert here.editor.text == "older words"
        assert "older words!" in page(pilot, "#rephrase-below")
        await press(pilot, "ctrl+n")
        assert here.editor.text == "older words!"
        await press(pilot, "ctrl+q")
    assert {draft.text for draft in source.drafts().of("someone").values()} == {
        "older words!",
        "older words",
        "older too",
    }
    assert {draft.text for draft in source.drafts().of("someone/else").values()} == {"older words", "older too"}
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, "older words!")
        await press(pilot, "ctrl+q")
    assert {draft.text for draft in source.drafts().of("someone").values()} == {"older words", "older too"}


def test_variants_and_verdicts_from_files_outlive_other_gold_and_older_programs_keys_are_read(
    source: Scripted, tmp_path: Path
) -> None:
    dataset = source.store.datasets.get("rephrase")
    assert dataset is not None
    mark = dataset.fingerprint[:16]
    source.store.settings.set(f"rephrasing-variants/{mark}", {"BT-1": {"rs-1": "said otherwise"}})
    source.store.settings.set(f"rephrasing/{mark}/file:x", {"1": "sadness"})
    other_gold(source, tmp_path, rs_5="joy")
    now = source.store.datasets.get("other name")
    assert now is not None
    assert now.fingerprint != dataset.fingerprint
    assert kept_variants(source.store, now) == {"BT-1": {"rs-1": "said otherwise"}}
    assert verdicts_kept(source.store, now, "file:x", {}) == {1: ("sadness", None)}
    samples = source.rephrasing().samples(now)
    keep_variants(source.store, now, samples, {"BT-2": {"rs-2": "and again"}})
    drop_variants(source.store, now, "BT-1")
    assert kept_variants(source.store, now) == {"BT-2": {"rs-2": "and again"}}


async def test_no_draft_is_an_answer_anywhere(source: Scripted, tmp_path: Path) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i", *" draftword", "ctrl+q")
    service = source.rephrasing()
    assert "draftword" not in msgspec.json.encode(service.chains("rephrase")).decode()
    assert all(b"draftword" not in one.payload for one in source.store.annotations.entries())
    told = ask(source.store.path, "select * from said", threading.Event())
    assert "draftword" not in str(told.rows)
