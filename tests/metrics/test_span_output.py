"""From raw answers to spans: retrieve, highlight, and reasoning before either."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.span_output import Parsed, marker_count, parse_output

TEXT = "I sneered at it. So sad."


def retrieve(output: str, cot: bool = False) -> Parsed:
    return parse_output(output, "retrieve", cot, TEXT)


def highlight(output: str, text: str = TEXT, cot: bool = False) -> Parsed:
    return parse_output(output, "highlight", cot, text)


def test_retrieved_spans_are_split_at_bars_between_blanks_and_trimmed() -> None:
    assert retrieve(" I sneered |  So sad. \n") == Parsed(("I sneered", "So sad."))


def test_a_bar_without_blanks_splits_nothing() -> None:
    assert retrieve("I|sneered | a| b").spans == ("I|sneered", "a| b")


def test_empty_retrieved_spans_are_dropped() -> None:
    assert retrieve("I sneered |  | ") == Parsed(("I sneered",))
    assert retrieve("") == retrieve("  \n") == Parsed(())


def test_a_retrieved_answer_may_differ_from_the_text_and_is_still_valid() -> None:
    assert retrieve("not there at all").invalid is None


def test_only_what_follows_the_last_response_counts() -> None:
    output = "Reasoning: a first Response: wrong | bad\nso\nResponse: I sneered | So sad"
    assert retrieve(output, cot=True) == Parsed(("I sneered", "So sad"))


def test_reasoning_without_a_response_is_invalid_and_has_no_spans() -> None:
    parsed = retrieve("Reasoning: I sneered | So sad", cot=True)
    assert (parsed.spans, parsed.void) == ((), False)
    assert parsed.invalid == "no Response:"
    assert retrieve("response: So sad", cot=True).invalid == "no Response:"  # capitals count


def test_response_is_an_ordinary_word_without_reasoning() -> None:
    assert retrieve("Response: So sad").spans == ("Response: So sad",)


def test_highlighted_spans_are_what_pairs_of_markers_enclose() -> None:
    assert highlight("**I sneered** at it. **So sad**.") == Parsed(("I sneered", "So sad"))


def test_a_highlighted_answer_without_markers_has_no_spans_and_is_valid() -> None:
    assert highlight(TEXT) == Parsed(())


def test_the_ends_of_a_highlighted_answer_are_trimmed_before_the_comparison() -> None:
    assert highlight(f"\n  {TEXT.replace('So sad.', '**So sad.**')} \n") == Parsed(("So sad.",))
    assert highlight("** So sad.**", "So sad.").invalid is None
    assert highlight("**So sad.**", " So sad.\n").invalid is None


def test_a_marker_without_partner_encloses_nothing_and_changes_nothing() -> None:
    assert highlight("**I sneered** at it. **So sad.") == Parsed(("I sneered",))
    assert highlight("I sneered at it. **So sad.") == Parsed(())


def test_markers_around_nothing_are_no_span() -> None:
    assert highlight("****I sneered at it.** **So sad.") == Parsed(())


@pytest.mark.parametrize(
    "output",
    [
        "**I sneered** at it. So sad",  # a full stop lost
        "**I sneered** at it. so sad.",  # a capital lost
        "**I sneered** at  it. So sad.",  # a blank more
        "Here it is: **I sneered** at it. So sad.",
        "**I sneered**",
    ],
)
def test_a_changed_text_is_void_but_keeps_its_spans(output: str) -> None:
    assert highlight(output) == Parsed(("I sneered",), "the text was changed", void=True)


def test_an_empty_highlighted_answer_is_not_the_text() -> None:
    assert highlight("") == Parsed((), "the text was changed", void=True)


def test_highlighting_after_reasoning_looks_at_the_response_alone() -> None:
    assert highlight(f"Reasoning: **x** Response: {TEXT[:17]}**So sad.**", cot=True) == Parsed(("So sad.",))
    assert highlight(f"Reasoning: {TEXT}", cot=True) == Parsed((), "no Response:", void=True)


def test_asterisks_of_the_text_itself_are_no_markers() -> None:
    text = "What the f**k, I hate it"
    assert highlight("What the f**k, **I hate it**", text) == Parsed(("I hate it",))
    assert highlight("**What the f**k**, I hate it", text) == Parsed(("What the f**k",))
    assert highlight("What the fk, **I hate it**", text).void
    assert highlight(text, text) == Parsed(())


def test_single_asterisks_beside_markers_stay_in_the_text() -> None:
    assert highlight("***sigh* no**", "*sigh* no").spans == ("*sigh* no",)


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(ValueError, match="style 'quote' is not one of: retrieve, highlight"):
        parse_output("x", "quote", False, TEXT)
    with pytest.raises(ValueError, match="style None"):
        parse_output("x", None, False, TEXT)


@settings(deadline=None)
@given(st.text(alphabet="ab \n|é", min_size=1, max_size=12), st.lists(st.integers(0, 12), max_size=6))
def test_whatever_is_marked_comes_back(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    parsed = highlight("**".join(pieces), text)
    assert parsed == Parsed(tuple(piece for piece in pieces[1:-1:2] if piece.strip()))


@settings(deadline=None)
@given(st.text(max_size=40), st.sampled_from(["retrieve", "highlight"]), st.booleans(), st.text(max_size=20))
def test_any_answer_can_be_parsed(output: str, style: str, cot: bool, text: str) -> None:
    parsed = parse_output(output, style, cot, text)
    assert all(span.strip() for span in parsed.spans)
    assert not parsed.void or parsed.invalid


def test_markers_are_counted_without_those_of_the_text_itself() -> None:
    assert marker_count(" **so** sad", "so sad ") == 2
    assert marker_count("**so** glad", "so sad") == 2
    assert marker_count("**what** the f**k", "what the f**k") == 2
    assert marker_count("so sad", "so sad") == 0


@pytest.mark.parametrize("output", ["**what** the f**x", "what the f**", "what the f**ks", "the f**k"])
def test_a_changed_text_with_asterisks_of_its_own_is_void(output: str) -> None:
    assert parse_output(output, "highlight", False, "what the f**k").void
