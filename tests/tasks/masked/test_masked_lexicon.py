"""The vectors of masked words: EmoLex first, the supplement by its rules, a file of the person's own alone."""

from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from benchmarks.masked.supplement import corroborated
from emotui.lexicons import emolex
from emotui.metrics.masked import DIMENSIONS, STANDINGS, masked_report, standing, vector_f1
from emotui.records import MaskedGold
from emotui.tasks.masked.baselines import convention_of, lexicon_in, score_baselines
from emotui.tasks.masked.lexicon import emotion_words, family_vectors, given_vectors, word_vectors
from emotui.tasks.masked.word_vectors import EXPRESS_COLUMNS, EXPRESS_OWN, EXPRESS_WORDS, read_lexicon
from tests.conftest import Emotui

# Of Table A.4's words that the package of EmoLex lacks.
CONFIRMED = [
    "sad",
    "optimistic",
    "stressed",
    "comfortable",
    "disgusted",
    "weak",
    "bored",
    "scared",
    "embarrassed",
    "confused",
    "humiliated",
    "terrified",
    "shocked",
    "loved",
]


def test_the_supplement_has_words_that_emolex_lacks_whose_sign_another_list_confirms_and_none_denies() -> None:
    words = word_vectors()
    assert len(words.supplement) >= 200
    assert set(CONFIRMED) <= words.supplement
    assert not {"stuck", "hyped", "wanted", "nostalgic"} & words.supplement  # unconfirmed, denied, no sign
    assert not words.supplement & emolex().keys()
    assert words.supplement == {word for word in emotion_words() if word not in emolex() and corroborated(word)}


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
    assert read_lexicon(str(file)).vectors == {"glum": (1, *(0,) * 9)}
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


def express_rows(words: int = EXPRESS_WORDS) -> list[str]:
    """A table of the shape of the authors' own, with words that are none."""
    rows = [f"own{number:03}" for number in range(EXPRESS_OWN)][::-1]
    rows += sorted(f"word{number:05}" for number in range(words - EXPRESS_OWN))
    return [",".join(EXPRESS_COLUMNS), *(f"{word},1.0{',0.0' * 8},1.0" for word in rows)]


def test_the_authors_lexicon_is_known_by_its_header_size_and_order(tmp_path: Path) -> None:
    def is_express(rows: list[str]) -> bool:
        (tmp_path / "l.csv").write_text("\n".join(rows) + "\n")
        return read_lexicon(str(tmp_path / "l.csv")).is_express

    rows = express_rows()
    assert is_express(rows)
    assert is_express([*rows[:5], "own000,0.0" + ",0.0" * 9, *rows[6:]])  # a word twice: 16,019 rows
    assert not is_express(rows[:-1])
    assert not is_express([rows[0].replace("positive,negative", "negative,positive"), *rows[1:]])
    assert not is_express([rows[0], *rows[:0:-1]])


def vector(**on: int) -> tuple[int, ...]:
    return tuple(on.get(name, 0) for name in DIMENSIONS)


def test_columns_go_by_their_names_and_of_a_word_that_stands_twice_the_first_row_counts(tmp_path: Path) -> None:
    file = tmp_path / "l.csv"
    file.write_text(f"{','.join(EXPRESS_COLUMNS)}\nGlum,0,0,0,0,0,1,0,0,0,1\nmeh{',0' * 10}\nglum,1{',0' * 9}\n")
    words = given_vectors({"lexicon": str(file)})
    assert words.table == {"glum": vector(sadness=1, negative=1), "meh": vector()}
    assert words.notes == (f"{file}:4: a word stands here twice, and the first row counts (glum)",)
    assert (words.name, words.sha256) == ("l.csv", (sha256(file.read_bytes()).hexdigest(),))


@pytest.mark.parametrize(
    "forms", ["form,word\nglummer,glum\n", "glummer,glum\n", '{"glummer": "Glum"}', "word,form\nglum,glummer"]
)
def test_a_form_that_the_lexicon_lacks_has_its_words_vector_and_is_another_word(tmp_path: Path, forms: str) -> None:
    (tmp_path / "l.csv").write_text("word,sadness,joy\nglum,1,0\nglad,0,1\n")
    (tmp_path / "f.csv").write_text(forms)
    words = given_vectors({"lexicon": str(tmp_path / "l.csv"), "forms": str(tmp_path / "f.csv")})
    told = words.report({"a": ["glum"]}, {"a": ["glummer"]})
    assert (told["acc_l"], told["acc_v"], told["f1_v"]) == (0, 1, 1)
    assert "1 forms: 1 have their word's vector" in words.notes[0]
    assert words.key != given_vectors({"lexicon": str(tmp_path / "l.csv")}).key


def test_a_word_outside_is_right_against_itself_or_by_the_papers_rule_ten_zeros(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("word,sadness,joy\nglum,1,0\nmeh,0,0\n")
    gold = {"a": ["odd", "odd", "meh", "glum"]}
    said = {"a": ["odd", "meh", "odd", "odd"]}
    for outside, right, f1 in (("itself", 1, 1), ("express", 3, 0)):
        words = given_vectors({"lexicon": str(tmp_path / "l.csv"), "outside": outside})
        told = words.report(gold, said)
        assert (told["acc_v"], told["f1_v"], told["acc_l"]) == (right / 4, f1 / 4, 1 / 4)
        assert lexicon_in(convention_of(words)) == words.mark


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("--lexicon", "word,anger\nglum,2\n", "l.csv:2: anger of 'glum' is '2', not 0 or 1"),
        ("--lexicon", "word,anger\n,1\n", "l.csv:2: a word is missing"),
        ("--forms", "glummer\n", "l.csv:1: 1 cells, not a form and its word"),
        ("--forms", '{"glummer": 3}', "l.csv:1: the word of 'glummer' is 3, not a text"),
        ("--forms", "form,word\n", "l.csv:1: no form in it"),
    ],
)
def test_a_bad_lexicon_is_told_with_its_line(
    emotui: Emotui, tmp_path: Path, name: str, content: str, problem: str
) -> None:
    (tmp_path / "g.jsonl").write_text('{"id": "a", "labels": ["sad", "angry"]}\n')
    (tmp_path / "l.csv").write_text(content)
    done = emotui("score", "masked", "--gold", "g.jsonl", "--pred", "g.jsonl", name, "l.csv")
    assert (done.status, done.err.strip()) == (2, problem)


def test_the_supplement_is_held_against_a_lexicon_file(emotui: Emotui, tmp_path: Path) -> None:
    rows = [f"{word},{','.join(map(str, word_vectors().table[word]))}" for word in ("sad", "bored")]
    rows += ["scared,0,0,0,0,1,0,0,0,0,1", "odd" + ",0" * 10]
    (tmp_path / "l.csv").write_text("\n".join([f"word,{','.join(DIMENSIONS)}", *rows]))
    told = emotui("masked", "supplement", "--lexicon", "l.csv", "--json").document
    assert (told["shared"], told["f1"], told["exact"]) == (3, 2 / 3, 2 / 3)
    assert (told["words"], told["opposite"]) == (len(word_vectors().supplement), ["scared"])
    assert emotui("masked", "supplement").status == 2
