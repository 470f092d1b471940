"""Splits for training: what belongs together stays together."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.tuning.recipe import Example
from emotui.workbench.training import shared_texts, split

WORDS = st.sampled_from([f"text {number}" for number in range(12)])


@st.composite
def materials(draw: st.DrawFn) -> list[Example]:
    count = draw(st.integers(2, 25))
    return [
        Example(
            f"id {number}", draw(WORDS), draw(st.sampled_from(["joy", "woe"])), tuple(draw(st.lists(WORDS, max_size=2)))
        )
        for number in range(count)
    ]


@given(material=materials(), share=st.floats(0, 0.9))
def test_no_text_is_on_both_sides_and_no_example_is_lost(material: list[Example], share: float) -> None:
    kept, aside = split(material, share)
    assert sorted(kept + aside, key=lambda each: each.id) == sorted(material, key=lambda each: each.id)
    on_this_side = {text for each in kept for text in (each.text, *each.rephrasings)}
    assert on_this_side.isdisjoint(text for each in aside for text in (each.text, *each.rephrasings))
    assert shared_texts(kept, aside) == 0
    assert {each.label for each in kept} == {each.label for each in material}


def apart(count: int) -> list[Example]:
    return [Example(str(n), f"text {n}", ("joy", "woe")[n % 4 == 0], (f"other words {n}",)) for n in range(count)]


def test_each_label_gives_its_share() -> None:
    _, aside = split(apart(80), 0.25)
    assert Counter(each.label for each in aside) == {"joy": 15, "woe": 5}


def test_who_is_set_aside_hangs_on_ids_and_not_on_their_order() -> None:
    material = apart(40)
    _, aside = split(material, 0.2)
    _, again = split(material[::-1], 0.2)
    assert {each.id for each in aside} == {each.id for each in again}


def test_two_originals_with_one_rephrasing_in_common_go_together_by_way_of_a_third() -> None:
    material = [
        Example("a", "One", "joy", ("shared",)),
        Example("b", "Two", "joy", ("Shared ", "linked")),
        Example("c", "linked", "joy"),
        *apart(20),
    ]
    for share in (0.1, 0.3, 0.5, 0.7):
        kept, _ = split(material, share)
        assert len({each.id for each in kept} & {"a", "b", "c"}) in (0, 3)
