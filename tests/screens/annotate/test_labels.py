"""What is said of texts, sentences and masks: labels, numbers, words."""

from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from emotui.records import LabelsGold, MaskedGold, ScenesGold, Sentence, SpanSample, ValuesGold
from emotui.screens.annotate.drawing import guideline_lines, label_lines
from emotui.screens.annotate.place import Annotate
from emotui.workbench.annotate.planning.assignment import Assignment, assign
from emotui.workbench.annotate.scheme import Scheme, built_in
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.driving import event_of, frame, opened, press, screen_text, settle

EIGHT = ("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation")
TWO = (Sentence(start=0, end=7, emotion="sad"), Sentence(start=8, end=15))


def place(pilot: "Pilot[None]") -> Annotate:
    return frame(pilot).query_one(Annotate)


def workspace(path: Path, task: str, *samples: Any) -> Workspace:
    source = Workspace.open(path / "w.duckdb")
    source.set_setting(FIRST_START, "done")
    add_samples(source.store, task, "some", samples, "a test")
    return source


async def test_one_key_says_a_label_of_a_text_and_takes_it_back(tmp_path: Path) -> None:
    scene = ScenesGold(id="a", text="Mara put the phone down.", labels=dict.fromkeys(EIGHT, 0), subject="Mara")
    async with opened(workspace(tmp_path, "scenes", scene), (100, 24)) as pilot:
        await press(pilot, "4", "2")
        keys = {label.name: label.key for group in place(pilot).at_work.scheme.groups for label in group.labels}
        assert len(set(keys.values())) == 8
        assert not set(keys.values()) & set("123456789")
        await press(pilot, keys["sadness"], keys["joy"], keys["fear"], keys["joy"])
        assert place(pilot).at_work.said.labels == ("sadness", "fear")
        assert f"[{keys['fear']} fear]" in screen_text(pilot)
        assert "about Mara" in screen_text(pilot)


async def test_a_number_begins_with_its_key_and_what_is_off_the_scale_is_refused(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path, "values", ValuesGold(id="a", text="My tea is cold.")), (100, 24)) as pilot:
        await press(pilot, "2", "V", "3", "A", "0")
        assert place(pilot).at_work.said.values == {"valence": 3}
        assert "from 1 to 9" in screen_text(pilot).splitlines()[-1]
        await press(pilot, "space")
        assert "arousal is missing" in screen_text(pilot).splitlines()[-1]
        await press(pilot, "V", "backspace")
        assert place(pilot).at_work.said.values == {}


async def test_keys_that_mark_words_say_that_the_scheme_asks_about_whole_texts(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path, "values", ValuesGold(id="a", text="My tea is cold.")), (120, 24)) as pilot:
        await press(pilot, "2", "i")
        assert "i letters: nothing is marked here: the scheme asks about texts as a whole" in screen_text(pilot)
        before = place(pilot).at_work.marking.caret
        await press(pilot, "right")
        assert place(pilot).at_work.marking.caret == before
        assert not place(pilot).passage.view.places, "no word has a caret where none can be marked"


async def test_many_numbers_of_one_scale_stand_side_by_side_so_that_all_are_seen(tmp_path: Path) -> None:
    source = workspace(tmp_path, "values", ValuesGold(id="a", text="bearable", values={"nearest": 2}))
    source.annotating().keep_scheme("some", "emolex")
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "J", "3", "M", "0")
        assert place(pilot).at_work.said.values == {"joy": 3, "negative": 0}
        words = screen_text(pilot)
        assert words.count("0 not at all … 3 strongly") == 1
        assert [name for name in (*EIGHT, "positive", "negative", "emotion") if name not in words] == []
        assert "J joy          3" in words


async def test_once_all_is_said_of_a_sentence_the_caret_goes_to_the_next(tmp_path: Path) -> None:
    source = workspace(tmp_path, "spans", SpanSample(id="a", text="I wept. We won.", sentences=TWO))
    dataset = source.datasets()[0]
    source.store.settings.set(f"annotate scheme of {dataset.dataset}", _builtins("seer"))
    async with opened(source, (100, 24)) as pilot:
        await press(pilot, "2")
        groups = {group.name: group for group in place(pilot).at_work.scheme.of("sentence")}
        key = {(group.name, label.name): label.key for group in groups.values() for label in group.labels}
        await press(pilot, key["emotion", "sad"])
        assert place(pilot).at_work.marking.at == 0
        await press(pilot, key["valence", "negative"])
        assert place(pilot).at_work.marking.at == 8
        assert "1 − sad" in screen_text(pilot)
        said = place(pilot).at_work.said.sentences[0]
        assert (said.emotion, said.valence) == ("sad", "negative")


def _builtins(name: str) -> Any:
    import msgspec

    return msgspec.to_builtins(built_in(name))


async def test_the_word_for_each_mask_is_asked_for_in_order(tmp_path: Path) -> None:
    source = workspace(tmp_path, "masked", MaskedGold(id="a", text="I am <mask> and <mask>.", labels=("sad", "angry")))
    async with opened(source, (100, 24)) as pilot:
        await press(pilot, "5", "2", "i", "g", "l", "a", "d", "enter", "i", "m", "a", "d", "enter")
        assert dict(place(pilot).at_work.said.words) == {0: "glad", 1: "mad"}
        assert "glad" in screen_text(pilot)
        assert "angry" not in screen_text(pilot)


async def test_of_more_labels_than_keys_each_is_found_by_some_of_its_name(tmp_path: Path) -> None:
    names = tuple(f"{first}{second}" for first in "abcdef" for second in ("ire", "oy", "ove", "ear", "ad", "im"))
    source = workspace(tmp_path, "labels", LabelsGold(id="a", text="My tea is cold.", labels=names))
    async with opened(source, (100, 24)) as pilot:
        await press(pilot, "2")
        (group,) = place(pilot).at_work.scheme.groups
        assert any(not label.key for label in group.labels)
        await press(pilot, "comma", *"fov", "enter", "comma", *"ire", "down", "enter")
        assert place(pilot).at_work.said.labels == ("fove", "bire")
        key = group.labels[names.index("fove")].key
        drawn = screen_text(pilot)
        assert (f"[{key} fove]" if key else "[fove]") in drawn
        assert drawn.count(", by name:") == 1, "the key that chooses by name stands once"
        kinds = [part.kind for line in label_lines(place(pilot).work, 100) for part in line]
        assert not any(kind.startswith("label-") for kind in kinds), "colours of 36 labels tell none from another"


def test_guidelines_stand_without_signs_of_markdown() -> None:
    scheme = Scheme(name="s", guidelines="# On `joy`\n\n* set *unsure* or **skip**, 2 * 3 * 4\n")
    lines = ["".join(part.text for part in line) for line in guideline_lines(scheme, 80, 10)]
    assert lines == ["", " On joy", " • set unsure or skip, 2 * 3 * 4"]


async def test_consent_is_asked_for_before_the_first_text_and_kept(tmp_path: Path) -> None:
    source = workspace(tmp_path, "values", ValuesGold(id="a", text="My tea is cold."))
    wanted = Assignment(annotators=("someone",), overlap=1, batch=20, consent="I may [stop].")
    assign(source.store, source.store.datasets.all()[0], wanted)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2")
        assert "I may [stop]." in screen_text(pilot)
        await press(pilot, "escape", "V")
        assert "consent comes first" in screen_text(pilot)
        await press(pilot, "g", "enter", "V", "3")
        assert place(pilot).at_work.said.values == {"valence": 3}
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "A", "4")
        assert place(pilot).at_work.said.values == {"valence": 3, "arousal": 4}


ONE = """name = "mood"
auto_accept = true
[[groups]]
name = "label"
of = "text"
labels = [{ name = "joy", key = "J" }, { name = "fear", key = "F" }]
"""
NUMBERS = """name = "three numbers"
auto_accept = true
[[groups]]
name = "valence"
of = "text"
scale = { minimum = 1, maximum = 9 }
[[groups]]
name = "age"
of = "text"
scale = { minimum = 0, maximum = 120 }
[[groups]]
name = "shift"
of = "text"
scale = { minimum = -1, maximum = 1, step = 0.5 }
"""


def with_scheme(path: Path, toml: str, n: int) -> Workspace:
    source = workspace(path, "values", *(ValuesGold(id=f"t{i}", text=f"My tea is cold {i}.") for i in range(n)))
    (path / "mine.toml").write_text(toml)
    source.annotating().keep_scheme("some", str(path / "mine.toml"))
    return source


async def test_where_one_label_is_the_whole_answer_it_is_given_by_its_key_and_undone_by_one(tmp_path: Path) -> None:
    async with opened(with_scheme(tmp_path, ONE, 4), (100, 24)) as pilot:
        # Pressed at once: a key that comes before the next text is in sight is about that one.
        await press(pilot, "2")
        await pilot.press("J", "F", "J")
        await settle(pilot)
        assert place(pilot).at_work.text.id == "t3"
        bench = place(pilot).bench_of
        assert [bench.said(n).labels for n in bench.order] == [("joy",), ("fear",), ("joy",), None]
        assert [bench.said(n).accepted for n in bench.order] == [True, True, True, False]
        await press(pilot, "u")
        said = place(pilot).at_work
        assert (said.text.id, said.said.labels, said.said.accepted) == ("t2", None, False)
        await press(pilot, "F")
        assert place(pilot).at_work.text.id == "t3"
        # An answer that was given already is changed where it is.
        await press(pilot, "k", "J")
        assert (place(pilot).at_work.text.id, place(pilot).at_work.said.labels) == ("t2", ("joy",))


async def test_number_follows_number_without_a_key_between(tmp_path: Path) -> None:
    async with opened(with_scheme(tmp_path, NUMBERS, 2), (100, 24)) as pilot:
        # 4 is whole; 31 is, since no 310 is on the scale; -0.5 is, with its one digit behind the point.
        await press(pilot, "2", "4", "3", "1", "minus", "0", "full_stop", "5")
        bench = place(pilot).bench_of
        first, second = bench.order
        assert bench.said(first).values == {"valence": 4, "age": 31, "shift": -0.5}
        assert place(pilot).at_work.text.number == second
        # Back from an empty number to the one before; 7 could go on (70), so Enter ends it.
        await press(pilot, "5", "backspace", "backspace", "6", "7", "enter", "1", "full_stop", "0")
        assert bench.said(second).values == {"valence": 6, "age": 7, "shift": 1}


async def test_numbers_that_are_typed_before_their_text_is_in_sight_are_of_that_text(tmp_path: Path) -> None:
    source = workspace(tmp_path, "values", *(ValuesGold(id=i, text="My tea is cold.") for i in "abc"))
    async with opened(source, (100, 24)) as pilot:
        await press(pilot, "2")
        for key in ("V", "3", "4", "5", "space", "V", "7", "6", "5", "space", "V", "5"):
            pilot.app.post_message(event_of(key))
        await settle(pilot)
        bench = place(pilot).bench_of
        assert [bench.said(number).values for number in bench.order] == [
            {"valence": 3, "arousal": 4, "dominance": 5},
            {"valence": 7, "arousal": 6, "dominance": 5},
            {"valence": 5},
        ]
        assert place(pilot).display, "no digit has opened a place"
        await press(pilot, "u")
        assert bench.said(bench.order[2]).values == {}
        await press(pilot, "u")
        assert place(pilot).at_work.text.id == "b"
        assert not place(pilot).at_work.said.accepted
        assert "b: what was done there last is taken back" in screen_text(pilot)


async def test_keys_that_are_typed_fast_are_undone_one_by_one(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path, "values", ValuesGold(id="a", text="My tea is cold.")), (100, 24)) as pilot:
        await press(pilot, "2")
        await pilot.press("V", "3", "A", "4")
        await settle(pilot)
        await press(pilot, "u")
        assert place(pilot).at_work.said.values == {"valence": 3}


async def test_a_minus_passes_a_text_over_where_no_number_has_one(tmp_path: Path) -> None:
    source = workspace(tmp_path, "values", *(ValuesGold(id=i, text="My tea is cold.") for i in "ab"))
    async with opened(source, (100, 24)) as pilot:
        await press(pilot, "2", "V", "3", "minus")
        assert place(pilot).at_work.text.id == "b"
        assert len(place(pilot).bench_of.skipped()) == 1


async def test_the_guidelines_stand_beside_or_under_the_text_where_there_is_room(tmp_path: Path) -> None:
    source = workspace(tmp_path, "values", ValuesGold(id="a", text="My tea is cold."))
    async with opened(source, (200, 40)) as pilot:
        await press(pilot, "2")
        assert "from unpleasant (1)" in screen_text(pilot)
        assert "My tea is cold." in screen_text(pilot)
        await press(pilot, "f2")
        assert "from unpleasant (1)" not in screen_text(pilot)
        await press(pilot, "f2")
        await pilot.resize_terminal(100, 40)
        await settle(pilot)
        assert "from unpleasant (1)" in screen_text(pilot), "under the text"
        assert "My tea is cold." in screen_text(pilot)
        await pilot.resize_terminal(100, 30)
        await settle(pilot)
        assert "Valence: from unpleasant (1)" in screen_text(pilot), "as much of them as there are empty lines"
        assert "F2 shows all of the guidelines" not in screen_text(pilot)
        await pilot.resize_terminal(100, 16)
        await settle(pilot)
        assert "F2 shows all of the guidelines" in screen_text(pilot)
        await press(pilot, "f2")
        assert "Guidelines: valence, arousal and dominance" in screen_text(pilot)


CAUSES = """name = "causes"
parts = true
[[groups]]
name = "label"
labels = [{ name = "cause", key = "C" }, { name = "sad", key = "S" }]
[[relations]]
name = "leads to"
key = "T"
from = ["cause"]
to = ["sad"]
"""


async def test_relations_and_parts_are_given_by_the_keyboard_and_undone(tmp_path: Path) -> None:
    source = workspace(tmp_path, "spans", SpanSample(id="a", text="We lost and I cried the whole long night."))
    (tmp_path / "mine.toml").write_text(CAUSES)
    source.annotating().keep_scheme("some", str(tmp_path / "mine.toml"))
    async with opened(source, (120, 24)) as pilot:
        await press(pilot, "2", "v", "l", "C", "escape", "l", "l", "l", "S", "escape", "l", "l", "l", "v", "l", "S")
        await press(pilot, "ampersand")
        work = place(pilot).at_work
        assert [work.text.text[s:e] for s, e in work.said.spans[1].parts] == ["cried", "long night"]
        assert "+sad" in screen_text(pilot)
        # From the one that causes to the other; the scheme has it in that direction alone.
        await press(pilot, "T", "tab", "T")
        assert "leads to begins in cause, not in sad" in screen_text(pilot).splitlines()[-1]
        await press(pilot, "shift+tab", "T", "tab")
        assert "leads to from “We lost”" in screen_text(pilot)
        await press(pilot, "T")
        assert [len(span.relations) for span in work.said.spans] == [1, 0]
        assert "→ leads to “cried” … “long night”" in screen_text(pilot)
        await press(pilot, "tab")
        assert "← leads to “We lost”" in screen_text(pilot)
        await press(pilot, "u")
        assert [len(span.relations) for span in work.said.spans] == [0, 0]
        await press(pilot, "u")
        assert [len(span.parts) for span in work.said.spans] == [1, 1, 1]
        # Joined again, a span of several parts falls apart by the same key.
        await press(pilot, "tab", "ampersand")
        assert [len(span.parts) for span in work.said.spans] == [1, 2]
        await press(pilot, "ampersand", "escape", "h", "T")
        assert [len(span.parts) for span in work.said.spans] == [1, 1, 1]
