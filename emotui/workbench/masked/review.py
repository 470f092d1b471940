"""The manual pass over masked records, the fourth step of EXPRESS: doubtful masks are kept, dropped or moved.

A review keeps its doubtful posts and what is said of them in the store; the set is built from the file of posts.
"""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from emotui.backends.host import IsCancelled
from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import check_not_over
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.store.store import Store
from emotui.tasks.masked.building.protocol import Decision
from emotui.workbench.masked.building import Building, Built, Place, build_file, texts_of, write_built

REVIEW, SAID, UNDO = "masked-review", "masked-review-said", "masked-review-undo"


class ReviewPost(msgspec.Struct, frozen=True):
    """A post with all its emotion words; `doubtful`: which of them are to be looked at, by place in `decisions`."""

    post: str
    text: str
    decisions: tuple[Decision, ...]
    doubtful: tuple[int, ...]


class Review(msgspec.Struct, frozen=True):
    """A file of posts by its path and SHA-256, how it is built, and its doubtful posts."""

    name: str
    path: str
    sha256: str
    how: Building
    posts: tuple[ReviewPost, ...]


class ReviewSaid(msgspec.Struct, frozen=True):
    """What a person said of the emotion word at `place` of a post: where the mask stands, or None for no mask."""

    review: str
    post: str
    place: Place
    to: Place | None


class Doubt(msgspec.Struct, frozen=True):
    """A doubtful mask as it is shown. `others`: the other masks of the post. `said`: None where nobody has."""

    number: int
    post: str
    text: str
    decision: Decision
    others: tuple[Place, ...]
    said: ReviewSaid | None = None

    @property
    def place(self) -> Place:
        """Where the protocol has the mask."""
        return self.decision.start, self.decision.end

    @property
    def mask(self) -> Place | None:
        """Where the mask stands now."""
        return self.place if self.said is None else self.said.to


def begin_review(
    store: Store, name: str, path: str, how: Building, *, every: bool = False, skip_bad: bool = False, warn: Warn
) -> Review:
    """Build a file of posts, and keep what of it is to be looked at.

    Args:
        every: all masks are looked at, in place of the doubtful ones.

    Raises:
        BadInput: the name is taken or empty, the file cannot be built, or nothing is to be looked at.
    """
    if not name.strip():
        raise BadInput("a review needs a name")
    if name in reviews(store):
        raise BadInput(f"there is a review {literal(name)} already")
    if path == "-":
        raise BadInput("the posts are read again when the set is written: name a file, not -")
    sha256 = _sha256(path)
    built = build_file(path, how, skip_bad=skip_bad, warn=warn)
    texts = texts_of(path, skip_bad=skip_bad)
    posts = []
    for post in built.posts:
        doubtful = tuple(at for at, one in enumerate(post.decisions) if one.masked and (every or one.review))
        if doubtful:
            posts.append(ReviewPost(post.post, texts[post.post], post.decisions, doubtful))
    if not posts:
        raise BadInput(
            f"{literal(path)}: no mask is doubtful: emotui masked build writes the set, --every looks at all"
        )
    # The set may be written from another folder.
    how = msgspec.structs.replace(how, words=str(Path(how.words).resolve()) if how.words else None)
    review = Review(name, str(Path(path).resolve()), sha256, how, tuple(posts))
    store.annotations.append(REVIEW, None, "", msgspec.json.encode(review))
    return review


def reviews(store: Store) -> dict[str, Review]:
    """All reviews by name, the first one first."""
    found = [
        msgspec.json.decode(one.payload, type=Review)
        for one in store.annotations.entries(kind=REVIEW)
        if one.kind == REVIEW
    ]
    return {one.name: one for one in found}


def review_named(store: Store, name: str) -> Review:
    """The review of that name. Raises BadInput."""
    known = reviews(store)
    if name not in known:
        there = ", ".join(map(literal, known)) or "none (emotui masked review begin)"
        raise BadInput(f"there is no review {literal(name)}; there are: {there}")
    return known[name]


class Reviewing:
    """One person's pass through a review; what others have said of it stands too. Raises BadInput: no such review."""

    def __init__(self, store: Store, name: str, person: str) -> None:
        self._store, self.name, self.person = store, name, person
        self._review = review_named(store, name)
        self.read()

    def read(self) -> None:
        """Read anew what has been said."""
        self._said = {(one.post, one.place): one for _, one in _standing(self._store, self.name)}

    @property
    def doubts(self) -> list[Doubt]:
        """All doubtful masks, in the order of the file."""
        found: list[Doubt] = []
        for post in self._review.posts:
            for at in post.doubtful:
                one = post.decisions[at]
                others = tuple(
                    to for place, to in self._masks(post).items() if to is not None and place != (one.start, one.end)
                )
                said = self._said.get((post.post, (one.start, one.end)))
                found.append(Doubt(len(found), post.post, post.text, one, others, said))
        return found

    def _masks(self, post: ReviewPost) -> dict[Place, Place | None]:
        found: dict[Place, Place | None] = {}
        for one in post.decisions:
            place = one.start, one.end
            said = self._said.get((post.post, place))
            found[place] = said.to if said is not None else place if one.masked else None
        return found

    def check(self, doubt: Doubt, to: Place | None) -> ReviewSaid:
        """What would be kept.

        Raises:
            BadInput: the mask would stand outside the text, over nothing, or over another mask.
        """
        if to is not None:
            start, end = to
            if not 0 <= start < end <= len(doubt.text) or not doubt.text[start:end].strip():
                raise BadInput("there is no word to mask there")
            if any(start < other[1] and other[0] < end for other in doubt.others):
                raise BadInput("there is another mask")
        return ReviewSaid(self.name, doubt.post, doubt.place, to)

    def note(self, said: ReviewSaid) -> None:
        """Know what is about to be kept."""
        self._said[said.post, said.place] = said

    def write(self, said: ReviewSaid) -> None:
        """Keep what was checked."""
        self._store.annotations.append(SAID, None, self.person, msgspec.json.encode(said))

    def undo(self) -> ReviewSaid | None:
        """Take back what this person said last; None where there is nothing."""
        own = [(number, one) for number, one in _standing(self._store, self.name, self.person)]
        if not own:
            return None
        number, said = own[-1]
        self._store.annotations.append(UNDO, None, self.person, b"{}", undoes=number)
        self.read()
        return said


def _standing(store: Store, name: str, person: str | None = None) -> list[tuple[int, ReviewSaid]]:
    entries = store.annotations.entries(annotator=person, kind=REVIEW)
    undone = {one.undoes for one in entries if one.kind == UNDO}
    kept = [one for one in entries if one.kind == SAID and one.annotation not in undone]
    read = [(one.annotation, msgspec.json.decode(one.payload, type=ReviewSaid)) for one in kept]
    return [pair for pair in read if pair[1].review == name]


def build_reviewed(
    store: Store, name: str, *, warn: Warn, skip_bad: bool = False, cancelled: IsCancelled = lambda: False
) -> Built:
    """The set of a review: the file built again, with what was said.

    Raises:
        Cancelled: `cancelled()` became true between two posts.
        BadInput: there is no such review, or the file has changed since.
    """
    review = review_named(store, name)
    if _sha256(review.path) != review.sha256:
        raise BadInput(f"{literal(review.path)}: these posts are not those that the review began with")
    said: dict[str, dict[Place, Place | None]] = {}
    for _, one in _standing(store, name):
        said.setdefault(one.post, {})[one.place] = one.to
    return build_file(review.path, review.how, skip_bad=skip_bad, warn=warn, said=said, cancelled=cancelled)


def write_reviewed(
    store: Store, name: str, to: str, *, warn: Warn, skip_bad: bool = False, cancelled: IsCancelled = lambda: False
) -> dict[str, Any]:
    """Write the set of a review, in the format of the file's ending; it in figures. Raises as `build_reviewed`."""
    check_not_over(to, review_named(store, name).path, store.path)
    built = build_reviewed(store, name, warn=warn, skip_bad=skip_bad, cancelled=cancelled)
    write_built(built, to)
    return built.document() | progress_of(store, name)


def progress_of(store: Store, name: str) -> dict[str, Any]:
    """How many doubtful masks there are, and how many were kept, dropped, and moved."""
    doubts = Reviewing(store, name, "").doubts
    said = [one for one in doubts if one.said is not None]
    kept = sum(one.mask == one.place for one in said)
    dropped = sum(one.mask is None for one in said)
    return {"doubtful": len(doubts), "kept": kept, "dropped": dropped, "moved": len(said) - kept - dropped}


def _sha256(path: str) -> str:
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error
