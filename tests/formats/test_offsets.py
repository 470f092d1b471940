"""Offsets in UTF-16 units and in bytes, against what Python's codecs say."""

from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.offsets import byte_places, inverse, moved, utf16_places

TEXTS = st.text(st.sampled_from("aé日😀\u0301\U0010ffff\uffff\u0800\u07ff\x80"), max_size=12)


@given(TEXTS)
def test_a_code_point_begins_where_the_encoding_of_what_is_before_it_ends(text: str) -> None:
    assert list(utf16_places(text)) == [len(text[:at].encode("utf-16-le")) // 2 for at in range(len(text) + 1)]
    assert list(byte_places(text)) == [len(text[:at].encode()) for at in range(len(text) + 1)]


@given(TEXTS, st.data())
def test_a_span_that_is_moved_comes_back(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for places in (utf16_places(text), byte_places(text)):
        there = moved(start, end, places)
        assert there is not None
        assert moved(*there, inverse(places)) == (start, end)


def test_an_offset_within_a_character_or_past_the_text_is_none() -> None:
    units = inverse(utf16_places("😀a"))
    assert moved(2, 3, units) == (1, 2)
    assert moved(1, 3, units) is None
    assert moved(0, 4, units) is None
    assert moved(-1, 2, units) is None
    assert moved(2, 0, units) is None


def test_a_text_that_counts_alike_in_all_of_them_needs_no_table() -> None:
    assert utf16_places("aé") == byte_places("ab") == inverse(range(3)) == range(3)
