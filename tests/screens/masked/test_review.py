"""The review of masks in the place: keep, drop, move the borders, undo, and the set written."""

import json
from pathlib import Path

from emotui.screens.masked.place import Masked
from emotui.screens.masked.review_mode import moved
from emotui.screens.widgets.page import Page
from emotui.workbench.masked.building import Building
from emotui.workbench.masked.review import begin_review, progress_of
from tests.screens.driving import frame, opened, press, screen_text, settle
from tests.screens.masked.workspace import masked_workspace


def test_a_border_moves_by_a_word_and_never_over_the_other_one() -> None:
    text = "so worried-sick, you know"
    here = (3, 15)
    assert text[slice(*here)] == "worried-sick"
    assert moved(text, here, "start", -1) == (0, 15)
    assert moved(text, here, "end", 1) == (3, 20)
    assert moved(text, here, "start", 1) == here
    assert moved(text, (3, 20), "start", 1) == (17, 20)
    assert moved(text, (3, 20), "end", -1) == (3, 15)
    assert moved(text, (21, 25), "end", 1) == (21, 25)


async def test_doubtful_masks_are_gone_through_by_keys_and_the_set_is_written(tmp_path: Path) -> None:
    posts = tmp_path / "posts.jsonl"
    texts = ("I am not angry at all.", "I feel worried sick.", "I am a proud father.")
    posts.write_text("".join(json.dumps({"id": f"p{at}", "text": one}) + "\n" for at, one in enumerate(texts)), "utf-8")
    source = masked_workspace(tmp_path, n=3)
    how = Building(segmented=False)
    begin_review(source.store, "posts", str(posts), how, every=True, warn=lambda line: None)
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "5", "Y", "enter")
        place = frame(pilot).query_one(Masked)
        assert place.review is not None
        assert "▸angry" in place.query_one("#masked-text", Page).text
        await press(pilot, "x")
        assert place.review.at == 1
        await press(pilot, "right_curly_bracket", "enter", "space")
        assert progress_of(source.store, "posts") == {"doubtful": 3, "kept": 1, "dropped": 1, "moved": 1}
        await press(pilot, "u")
        assert place.review.at == 2
        assert place.review.doubt.said is None
        await press(pilot, "e")
        target = tmp_path / "set.jsonl"
        await press(pilot, *["backspace"] * len("masked.jsonl"), *str(target), "enter")
        await settle(pilot, work=True)
        written = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
        assert [one["labels"] for one in written] == [["worried sick"], ["proud"]]
        await press(pilot, "escape")
        assert place.review is None
        assert "m-001" in screen_text(pilot)
