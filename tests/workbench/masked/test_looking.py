"""One masked text: words by their entries, what a run's prompt showed, and guesses that are kept and taken back."""

from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.tasks.masked.examples import loaded
from emotui.tasks.masked.lexicon import WordVectors
from emotui.workbench.masked.looking import Guess, MaskedBench, entry_of, is_leaked, mask_said
from tests.screens.masked.workspace import FILLS, WRITES, masked_workspace, texts

JOY = (0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
SAD = (0, 0, 0, 0, 0, 1, 0, 0, 1, 0)
WORDS = WordVectors({"glad": JOY, "joyful": JOY, "table": (0,) * 10, "sad": SAD}, frozenset({"sad"}))


def test_a_word_is_known_all_zero_of_the_supplement_or_unknown() -> None:
    standings = [entry_of(word, WORDS).standing for word in (" Glad", "table", "sad", "xyzzy")]
    assert standings == ["known", "zero", "supplement", "unknown"]
    assert entry_of("xyzzy", WORDS).vector is None
    assert entry_of("GLAD ", WORDS).word == "glad"


def test_a_mask_tells_f1_and_where_gold_stands_among_the_likeliest_words() -> None:
    same = mask_said("Glad", "joyful", [("joyful", 0.6), ("glad", 0.3)], WORDS)
    assert (same.f1, same.same_vector, same.gold_rank) == (1.0, True, 2)
    other = mask_said("glad", "sad", [("sad", 0.6)], WORDS)
    assert (other.f1, other.same_vector, other.gold_rank) == (0.0, False, None)
    silent = mask_said("glad", None, (), WORDS)
    assert (silent.entry, silent.same_vector) == (None, False)


def test_a_text_comes_with_what_the_prompt_of_the_run_showed(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    bench, first = MaskedBench(source.store), source.store.samples.file_order(1).start
    view = bench.look(first + 1, WRITES, "Ada")
    assert view.unshown == ""
    (example,) = view.examples
    assert (example.id, example.distance) == (texts()[0].id, 0.01)
    assert [one.entry.word for one in view.said if one.entry is not None] == ["angry"]
    assert "<mask>" not in "".join(view.pieces)
    filled = bench.look(first + 1, FILLS, "Ada")
    assert "no examples" in filled.unshown
    assert [word for word, _ in filled.said[0].likeliest][:2] == ["happy", "proud"]
    (tmp_path / "examples.jsonl").write_text("")
    loaded.cache_clear()
    assert "not those that the run began with" in bench.look(first + 1, WRITES, "Ada").unshown
    with pytest.raises(BadInput, match="there is no text"):
        bench.look(999_999, None, "Ada")


def test_a_guess_is_kept_by_person_and_can_be_taken_back(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    bench, text = MaskedBench(source.store), source.store.samples.file_order(1).start
    bench.guess(text, "Ada", [" Sad "], blind=True)
    bench.guess(text, "Ada", ["lonely"], blind=False)
    assert bench.look(text, None, "Ada").guess == Guess(("lonely",), False)
    assert bench.look(text, None, "Ben").guess is None
    bench.take_back(text, "Ada")
    again = bench.look(text, None, "Ada")
    assert again.guess == Guess(("sad",), True)
    assert [one.entry.word for one in again.guessed if one.entry] == ["sad"]
    bench.take_back(text, "Ada")
    bench.take_back(text, "Ada")
    assert bench.look(text, None, "Ada").guess is None


def test_guesses_are_scored_as_the_runs_words_are_and_blind_ones_stand_against_them(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    bench, texts_of = MaskedBench(source.store), source.store.samples.file_order(1)
    # The texts that the run answers with gold's words: every third one.
    right, other = texts_of[2], texts_of[3]
    golds = [one.word for one in bench.look(right, WRITES, "Ada").gold]
    assert bench.tally(1, WRITES, "Ada").blind == 0
    bench.guess(right, "Ada", ["xyzzy"] * len(golds), blind=True)
    bench.guess(other, "Ada", ["angry"], blind=False)
    view = bench.look(right, WRITES, "Ada")
    assert [(one.f1, one.same_vector) for one in view.guessed] == [(0.0, False)] * len(golds)
    tally = bench.tally(1, WRITES, "Ada")
    assert (tally.blind, tally.person, tally.run) == (1, 0.0, 1.0), "one that was not blind counts in the list alone"
    assert set(tally.scores) == {right, other}
    assert bench.tally(1, None, "Ada").run is None
    bench.take_back(right, "Ada")
    assert bench.tally(1, WRITES, "Ada").blind == 0


def test_a_word_that_stands_outside_its_mask_too_is_leaked() -> None:
    assert is_leaked("Sad", ["I was ", ", so sad."])
    assert not is_leaked("sad", ["I was ", ", a sadder man"])
