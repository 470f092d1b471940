"""Empath's keywords, EmoLex, keyword files, and names of emotions."""

import subprocess
import sys
from pathlib import Path

import pytest

from emotui import lexicons
from emotui.errors import BadInput, EmotuiError
from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK, emolex, empath_keywords, keywords_from, plutchik_of
from emotui.records import PLUTCHIK, SEER_EMOTIONS


def test_empath_keywords_are_its_two_emotion_categories_together() -> None:
    words = empath_keywords()
    assert {"joy", "happiness", "hate", "crying", "worst_part"} <= words
    assert "disgust" not in words  # the paper's example, SEER 10.4, is in neither category
    assert len(words) == 167


def test_reading_the_lists_runs_no_code_of_their_packages() -> None:
    program = (
        "import sys; from emotui.lexicons import *; empath_keywords(); emolex();"
        "print([m for m in ('empath', 'requests', 'nrclex', 'textblob') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_emolex_ties_words_to_the_ten_names() -> None:
    words = emolex()
    assert words["happy"] == {"joy", "anticipation", "trust", "positive"}
    assert words["hate"] == {"anger", "disgust", "fear", "sadness", "negative"}
    assert frozenset().union(*words.values()) == set(lexicons.EMOLEX_NAMES)
    assert len(words) > 6000


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EmotuiError, match="pip install empath"):
        empath_keywords.__wrapped__()
    with pytest.raises(EmotuiError, match="pip install nrclex"):
        emolex.__wrapped__()


def test_a_keyword_file_has_one_keyword_a_line(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeffDisgust\r\n\r\n  joy \nété\n".encode())
    assert keywords_from(path) == {"disgust", "joy", "été"}


def test_a_keyword_file_that_is_missing_empty_or_not_utf8_says_so(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    with pytest.raises(BadInput, match=r"words\.txt: No such file"):
        keywords_from(path)
    with pytest.raises(BadInput, match="Is a directory"):
        keywords_from(tmp_path)
    path.write_text(" \n\n")
    with pytest.raises(BadInput, match="no keyword in it"):
        keywords_from(path)
    path.write_bytes(b"joy\n\xff\xfe\n")
    with pytest.raises(BadInput, match=r"words\.txt:2: not UTF-8"):
        keywords_from(path)


def test_every_label_of_goemotions_but_neutral_has_one_of_plutchiks_eight() -> None:
    assert len(GOEMOTIONS_TO_PLUTCHIK) == 27
    assert set(GOEMOTIONS_TO_PLUTCHIK.values()) == set(PLUTCHIK)
    assert plutchik_of("Gratitude ") == "joy"
    assert plutchik_of("neutral") is None


def test_labels_of_seer_and_plutchiks_own_are_known_and_others_not() -> None:
    assert [plutchik_of(label) for label in SEER_EMOTIONS] == [
        "joy",
        "sadness",
        "disgust",
        "disgust",
        "fear",
        "anger",
        "surprise",
    ]
    assert all(plutchik_of(label) == label for label in PLUTCHIK)
    assert plutchik_of("hunger") is None
