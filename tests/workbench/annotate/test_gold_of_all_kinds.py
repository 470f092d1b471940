"""A source that says more than what its task is about is gold with all of it."""

from pathlib import Path
from typing import Any

import msgspec

from emotui.records import LabelsGold, Mark, SpanSample
from emotui.store.store import Store
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, Event, SetLabels, SetNote, SetNumber
from emotui.workbench.annotate.scheme import read_scheme
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.sources import make_gold, proposed

SCHEME = """
name = "fiction"
tasks = ["spans"]
spans = true

[[groups]]
name = "tone"
of = "text"
labels = ["positive", "negative"]

[[groups]]
name = "arousal"
of = "text"
scale = { minimum = 1, maximum = 9 }
"""

META: dict[str, Any] = {"author": "A", "labels": ["anticipation"], "values": {"arousal": 1.0, "valence": 3.0}}


def annotated(tmp_path: Path, *events: Event) -> Store:
    """A dataset of two texts with spans, labels and numbers; ann answers the first of them."""
    store = Store.open(tmp_path / "w.duckdb")
    texts = [
        SpanSample(id=key, text="So glad, so tired.", spans=(Mark(0, 2, "fear"),), meta=META, emotion="sad")
        for key in "ab"
    ]
    dataset = add_samples(store, "spans", "fic", texts, "made for a test")
    (tmp_path / "s.toml").write_text(SCHEME)
    work = Desk(store).begin("fic", "ann", scheme=read_scheme(str(tmp_path / "s.toml")))
    number = next(iter(store.samples.file_order(dataset.dataset)))
    work.do(number, AddSpan(SpanMark(id="x", start=3, end=7, label="joy")), *events, Accept())
    work.publish()
    return store


def gold_of(store: Store, kind: type[Any] = SpanSample) -> list[Any]:
    found = store.datasets.get("fic")
    assert found is not None
    return [msgspec.json.decode(record, type=kind) for _, record in store.samples.of_dataset(found.dataset)]


def test_labels_and_numbers_of_the_text_come_with_the_spans_and_the_old_ones_go(tmp_path: Path) -> None:
    store = annotated(tmp_path, SetLabels(("positive",)), SetNumber("arousal", 7.0))
    told: list[str] = []
    make_gold(store, "fic", "ann", keep_missing=True, warn=told.append)
    new, kept = gold_of(store)
    assert new.spans == (Mark(3, 7, "joy"),)
    assert new.meta == {"author": "A", "label": "positive", "values": {"valence": 3.0, "arousal": 7.0}}
    # What the scheme does not ask about stays, and so does the text that ann has not answered.
    assert new.emotion == "sad"
    assert (kept.spans, kept.meta) == ((Mark(0, 2, "fear"),), META)
    assert told == ["fic: taken too: labels (1 text), arousal (1 text), in place of what gold said of it"]


def test_a_text_that_is_answered_without_a_label_keeps_none_of_the_old_ones(tmp_path: Path) -> None:
    store = annotated(tmp_path, SetNumber("arousal", 7.0))
    make_gold(store, "fic", "ann", keep_missing=True)
    # Nobody was found to say a label anywhere: the kind is not said, and stays.
    assert gold_of(store)[0].meta["labels"] == ["anticipation"]
    work = Desk(store).begin("fic", "ann", scheme=read_scheme(str(tmp_path / "s.toml")))
    found = store.datasets.get("fic")
    assert found is not None
    second = list(store.samples.file_order(found.dataset))[1]
    work.do(second, SetLabels(("negative",)), Accept())
    work.publish()
    make_gold(store, "fic", "ann")
    assert [(one.meta.get("label"), one.meta.get("labels")) for one in gold_of(store)] == [
        (None, None),
        ("negative", None),
    ]


def test_what_gold_has_no_place_for_is_said(tmp_path: Path) -> None:
    store = annotated(tmp_path, SetLabels(("positive",)), SetNote("hard"))
    assert proposed(store, "fic", "ann").notes == (
        "taken too: labels (1 text), in place of what gold said of it",
        "not taken into gold: notes (1)",
    )


def test_spans_beside_labels_come_too(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    texts = [LabelsGold(id="a", text="So glad.", labels=("fear",), meta={"spans": [[0, 2]]})]
    add_samples(store, "labels", "fic", texts, "made for a test")
    (tmp_path / "s.toml").write_text(SCHEME.replace('["spans"]', '["labels"]'))
    work = Desk(store).begin("fic", "ann", scheme=read_scheme(str(tmp_path / "s.toml")))
    found = store.datasets.get("fic")
    assert found is not None
    number = next(iter(store.samples.file_order(found.dataset)))
    work.do(number, AddSpan(SpanMark(id="x", start=3, end=7)), SetLabels(("positive",)), Accept())
    work.publish()
    make_gold(store, "fic", "ann")
    (new,) = gold_of(store, LabelsGold)
    assert (new.said, new.meta) == (("positive",), {"spans": [[3, 7]]})


def test_what_a_person_says_inside_the_records_comes_with_all_kinds(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    meta = {"label": "sad", "annotators": {"bob": {"label": "glad"}}}
    texts = [SpanSample(id="a", text="So glad.", spans=(), annotators={"bob": (Mark(3, 7),)}, meta=meta)]
    add_samples(store, "spans", "fic", texts, "made for a test")
    make_gold(store, "fic", "bob")
    (new,) = gold_of(store)
    assert (new.spans, new.meta["label"]) == ((Mark(3, 7),), "glad")
