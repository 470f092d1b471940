"""The vectors of masked words: EmoLex first, the supplement by its rules, a file of the person's own alone."""

from pathlib import Path

import msgspec
import pytest

from emotui.lexicons import emolex
from emotui.metrics.masked import DIMENSIONS, STANDINGS, masked_report, standing, vector_f1
from emotui.records import MaskedGold
from emotui.tasks.masked.baselines import score_baselines
from emotui.tasks.masked.lexicon import emotion_words, family_vectors, given_vectors, word_vectors
from emotui.tasks.masked.word_vectors import vectors_from
from tests.conftest import Emotui

# Table A.4's words that the package of EmoLex lacks.
LACKING = [
    "sad",
    "stuck",
    "restless",
    "optimistic",
    "stressed",
    "comfortable",
    "disgusted",
    "weak",
    "relieved",
    "bored",
    "scared",
    "embarrassed",
    "confused",
    "humiliated",
    "terrified",
    "shocked",
    "loved",
    "unsure",
]


def test_the_supplement_has_400_words_that_emolex_lacks_and_the_commonest_of_express() -> None:
    words = word_vectors()
    assert len(words.supplement) >= 400
    assert set(LACKING) <= words.supplement
    assert not words.supplement & emolex().keys()


def test_a_word_of_emolex_keeps_its_vector() -> None:
    both, alone = word_vectors(), word_vectors(supplement=False)
    assert not alone.supplement
    assert {word: both.table[word] for word in alone.table} == alone.table


def test_a_word_has_the_vector_of_its_family_and_every_family_is_tied_to_something_of_one_sign() -> None:
    words, families = word_vectors(), family_vectors()
    assert all(words.table[word] == families[emotion_words()[word].family] for word in words.supplement)
    assert all(any(vector[:8]) and sum(vector[8:]) <= 1 for vector in families.values())
    assert {one.family for one in emotion_words().values()} == families.keys()
    assert dict(zip(DIMENSIONS, words.table["sad"], strict=True)) == {
        name: int(name in ("sadness", "negative")) for name in DIMENSIONS
    }


def test_the_families_agree_with_emolex_far_beyond_chance() -> None:
    known, families = word_vectors(supplement=False).table, family_vectors()
    both = [(known[word], families[one.family]) for word, one in emotion_words().items() if word in known]
    assert sum(vector_f1(*pair) for pair in both) / len(both) > 0.7


def test_a_word_is_known_zero_of_the_supplement_or_unknown_and_they_are_counted_apart() -> None:
    lexicon = {"angry": (1,) * 10, "meh": (0,) * 10, "sad": (0, 1) * 5}
    assert [standing(word, lexicon, {"sad"}) for word in ("angry", "meh", "sad", "odd")] == list(STANDINGS)
    told = masked_report({"a": ["angry", "meh", "sad"]}, {"a": ["sad", "odd"]}, lexicon, supplement={"sad"})
    assert told["gold_words"] == {"known": 1, "zero": 1, "supplement": 1, "unknown": 0}
    assert told["predicted_words"] == {"known": 0, "zero": 0, "supplement": 1, "unknown": 1}
    assert (told["gold_in_lexicon"], told["pred_in_lexicon"]) == (2 / 3, 0)
    assert [pair.get("supplement") for pair in told["top_mispredictions"]] == [["sad"], None]


@pytest.mark.parametrize(
    "content",
    [
        "word,anger,joy\nglum,1.0,0.0\n",
        ",anger,joy\nglum,1,0\n",
        "emotion_word,anger,joy\nglum,1.0,0\n",
        "glum\tanger\t1\nglum\tjoy\t0\n",
        "English Word\tanger\tjoy\nglum\t1\t0\n",
    ],
)
def test_official_text_and_tables_of_zeros_and_ones_are_read_alike(tmp_path: Path, content: str) -> None:
    file = tmp_path / "lexicon.txt"
    file.write_text(content)
    assert vectors_from(str(file)) == {"glum": (1, *(0,) * 9)}
    assert not given_vectors({"lexicon": str(file)}).supplement


def test_the_switch_and_a_lexicon_of_ones_own_leave_the_supplement_out(emotui: Emotui, tmp_path: Path) -> None:
    gold, lexicon = tmp_path / "g.jsonl", tmp_path / "l.txt"
    gold.write_text('{"id": "a", "labels": ["sad", "angry"]}\n')
    lexicon.write_text("angry\tanger\t1\n")
    asked = ("score", "masked", "--gold", gold, "--pred", gold, "--json")
    assert emotui(*asked).document["gold_words"] == {"known": 1, "zero": 0, "supplement": 1, "unknown": 0}
    for off in (("--no-supplement",), ("--lexicon", lexicon)):
        assert emotui(*asked, *off).document["gold_words"] == {"known": 1, "zero": 0, "supplement": 0, "unknown": 1}


def test_the_baselines_are_no_feeling_chance_and_one_word() -> None:
    golds = [MaskedGold(id=str(number), labels=("sad",)) for number in range(400)]
    golds += [MaskedGold(id=f"b{number}", labels=("gloomy", "furious")) for number in range(100)]
    told = score_baselines(msgspec.convert(golds, list[MaskedGold]), {}, None)  # type: ignore[arg-type]
    assert told["zeros"]["f1_v"] == told["zeros"]["acc_l"] == 0
    assert (told["constant"]["word"], told["best_constant"]["word"]) == ("sad", "sad")
    assert told["constant"]["acc_l"] == pytest.approx(2 / 3)
    assert told["best_constant"]["f1_v"] >= told["constant"]["f1_v"]
    # Ten fair digits against two 1s: all ten right in one of 1,024.
    assert told["random_vectors"]["acc_v"] < 0.02
    assert 0.2 < told["random_vectors"]["f1_v"] < 0.4
    assert told["random_vectors"]["predicted_words"] is None
