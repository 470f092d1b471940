"""Tags become spans as the schemes say, whatever a model breaks of them."""

from itertools import product

import pytest

from emotui.backends.hf.span_models import Tag, TaggedSpan, read_tags, tagged_spans, windows


def spans(names: str) -> list[tuple[int, int, str]]:
    words = names.split()
    known = read_tags(sorted({*words, "O", "B-joy"}))
    by_name = dict(zip(sorted({*words, "O", "B-joy"}), known, strict=True))
    return [(span.first, span.last, span.label) for span in tagged_spans([by_name[word] for word in words])]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-joy I-joy O", [(1, 2, "joy")]),
        ("B-joy B-joy I-joy", [(0, 0, "joy"), (1, 2, "joy")]),
        ("I-joy I-joy", [(0, 1, "joy")]),
        ("B-joy I-fear", [(0, 0, "joy"), (1, 1, "fear")]),
        ("B-joy O I-joy", [(0, 0, "joy"), (2, 2, "joy")]),
        ("B-joy I-joy L-joy I-joy", [(0, 2, "joy"), (3, 3, "joy")]),
        ("U-joy U-joy", [(0, 0, "joy"), (1, 1, "joy")]),
        ("U-joy L-joy", [(0, 0, "joy"), (1, 1, "joy")]),
        ("S-joy B-joy E-joy", [(0, 0, "joy"), (1, 2, "joy")]),
        ("B_joy I_joy", [(0, 1, "joy")]),
        ("B M E W", [(0, 2, ""), (3, 3, "")]),
    ],
)
def test_schemes_and_what_breaks_them(tags: str, expected: list[tuple[int, int, str]]) -> None:
    assert spans(tags) == expected


def test_tags_without_a_scheme_are_labels_and_equal_neighbours_are_one_span() -> None:
    tags = read_tags(("O", "joy", "fear"))
    assert tagged_spans([tags[place] for place in (1, 1, 2, 0, 2)]) == [
        TaggedSpan(0, 1, "joy"),
        TaggedSpan(2, 2, "fear"),
        TaggedSpan(4, 4, "fear"),
    ]


@pytest.mark.parametrize(
    ("names", "outside", "expected"),
    [
        (("O", "joy"), (), "O"),
        (("joy", "neutral"), (), "neutral"),
        (("LABEL_0", "LABEL_1"), (), "LABEL_0"),
        (("neutral", "O"), (), "O"),
        (("nothing", "joy"), ("nothing",), "nothing"),
    ],
)
def test_the_tag_of_words_in_no_span_is_known_by_its_name_or_told(
    names: tuple[str, ...], outside: tuple[str, ...], expected: str
) -> None:
    read = read_tags(names, outside)
    assert [name for name, tag in zip(names, read, strict=True) if tag.part == "O"] == [expected]


def test_every_bio_sequence_is_read_as_its_definition_says() -> None:
    names = ("O", "B-x", "I-x", "B-y", "I-y")
    tags = dict(zip(names, read_tags(names), strict=True))
    for words in product(names, repeat=5):
        inside = [place for place, word in enumerate(words) if word != "O"]
        begins = [
            place
            for place in inside
            if words[place][0] == "B" or place == 0 or words[place - 1][1:] != words[place][1:]
        ]
        found = tagged_spans([tags[word] for word in words])
        assert [span.first for span in found] == begins
        covered = [place for span in found for place in range(span.first, span.last + 1)]
        assert covered == inside
        assert all(words[place][2:] == span.label for span in found for place in range(span.first, span.last + 1))


def test_every_well_formed_bilou_sequence_has_the_spans_of_its_bio_form() -> None:
    names = ("O", "B-x", "I-x", "L-x", "U-x")
    tags = dict(zip(names, read_tags(names), strict=True))
    plain = {"L-x": "I-x", "U-x": "B-x"}
    follows = {"O": "OBU", "B": "IL", "I": "IL", "L": "OBU", "U": "OBU"}
    for words in product(names, repeat=5):
        edges = zip(("O", *words), (*words, "O"), strict=True)
        if all(after[0] in follows[before[0]] for before, after in edges):
            assert tagged_spans([tags[word] for word in words]) == tagged_spans(
                [tags[plain.get(word, word)] for word in words]
            )


def test_each_token_is_read_in_one_window_where_it_has_most_around_it() -> None:
    for n, room in product(range(30), range(1, 12)):
        found = windows(n, room)
        assert [place for window in found for place in range(window.first, window.last)] == list(range(n))
        for window in found:
            assert window.start <= window.first <= window.last <= window.stop
            assert window.stop - window.start <= room
        for window in found:
            for place in range(window.first, window.last):
                mine = min(place - window.start, window.stop - 1 - place)
                others = [
                    min(place - other.start, other.stop - 1 - place)
                    for other in found
                    if other.start <= place < other.stop
                    and other.start > 0
                    and other.stop < n
                    and window.start > 0
                    and window.stop < n
                ]
                assert all(mine + 1 >= other for other in others)
    assert len(windows(30, None)) == 1


def test_a_tag_is_a_letter_and_a_label() -> None:
    assert read_tags(("O", "B-a-b", "I-a-b")) == (Tag("O"), Tag("B", "a-b"), Tag("I", "a-b"))
