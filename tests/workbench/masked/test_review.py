"""The manual pass: doubtful masks kept, dropped and moved, and the set that is written of it."""

import json
from pathlib import Path

import pytest

from emotui.backends.host import Cancelled
from emotui.errors import BadInput
from emotui.formats import read
from emotui.records import MaskedGold
from emotui.store.store import Store
from emotui.workbench.masked.building import Building
from emotui.workbench.masked.review import Reviewing, begin_review, progress_of, write_reviewed

POSTS = [
    {"id": "p1", "text": "I am not angry. I feel worried sick about it."},
    {"id": "p2", "text": "I am a proud father."},
    {"id": "p3", "text": "I feel sad."},
]


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in POSTS), "utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "w.duckdb")


def silent(line: str) -> None:
    pass


WHOLE = Building(segmented=False)


def test_doubtful_masks_are_kept_dropped_and_moved_and_the_set_is_built_so(
    store: Store, posts: Path, tmp_path: Path
) -> None:
    begin_review(store, "r", str(posts), WHOLE, every=True, warn=silent)
    reviewing = Reviewing(store, "r", "Ada")
    words = [(one.post, one.decision.word) for one in reviewing.doubts]
    assert words == [("p1", "angry"), ("p1", "worried"), ("p2", "proud"), ("p3", "sad")]
    angry, worried, proud, _ = reviewing.doubts
    end = worried.text.index("sick") + len("sick")
    for said in (
        reviewing.check(angry, None),
        reviewing.check(worried, (worried.place[0], end)),
        reviewing.check(proud, proud.place),
    ):
        reviewing.write(said)
    assert progress_of(store, "r") == {"doubtful": 4, "kept": 1, "dropped": 1, "moved": 1}
    target = tmp_path / "set.jsonl"
    with pytest.raises(Cancelled):
        write_reviewed(store, "r", str(target), warn=silent, cancelled=lambda: True)
    assert not target.exists(), "a set whose building was stopped is not written"
    document = write_reviewed(store, "r", str(target), warn=silent)
    assert (document["records"], document["masks"]) == (3, 3)
    records = read(str(target), MaskedGold).records
    assert [(one.id, one.labels) for one in records] == [
        ("p1", ("worried sick",)),
        ("p2", ("proud",)),
        ("p3", ("sad",)),
    ]
    assert records[0].text == "I am not angry. I feel <mask> about it."


def test_what_was_said_is_kept_at_once_and_taken_back_by_who_said_it(store: Store, posts: Path) -> None:
    begin_review(store, "r", str(posts), WHOLE, warn=silent)
    reviewing = Reviewing(store, "r", "Ada")
    doubt = reviewing.doubts[0]
    reviewing.write(reviewing.check(doubt, None))
    assert Reviewing(store, "r", "Ben").doubts[0].mask is None, "what others said stands too"
    assert Reviewing(store, "r", "Ben").undo() is None
    again = Reviewing(store, "r", "Ada")
    assert again.undo() is not None
    assert again.doubts[0].said is None
    assert again.undo() is None


def test_a_mask_stands_on_a_word_and_on_no_other_mask(store: Store, posts: Path) -> None:
    begin_review(store, "r", str(posts), WHOLE, every=True, warn=silent)
    reviewing = Reviewing(store, "r", "Ada")
    angry, worried = reviewing.doubts[:2]
    for place in ((0, 0), (1, 2), (0, 999), worried.place):
        with pytest.raises(BadInput):
            reviewing.check(angry, place)


def test_posts_that_have_changed_since_are_refused(store: Store, posts: Path, tmp_path: Path) -> None:
    begin_review(store, "r", str(posts), WHOLE, warn=silent)
    for name, path in (("r", str(posts)), (" ", str(posts)), ("s", "-"), ("s", str(tmp_path / "none.jsonl"))):
        with pytest.raises(BadInput):
            begin_review(store, name, path, WHOLE, warn=silent)
    with pytest.raises(BadInput, match="no review"):
        Reviewing(store, "other", "Ada")
    with pytest.raises(BadInput):
        write_reviewed(store, "r", str(posts), warn=silent)
    posts.write_text(posts.read_text("utf-8").replace("sad", "glad"), "utf-8")
    with pytest.raises(BadInput, match="not those that the review began with"):
        write_reviewed(store, "r", str(tmp_path / "set.jsonl"), warn=silent)
