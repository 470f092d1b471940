from emotui.workbench.annotate.answers import Answer, SpanMark
from emotui.workbench.annotate.events import (
    Accept,
    AddSpan,
    Event,
    LabelSpan,
    MoveBorder,
    RemoveSpan,
    Reveal,
    SetLabels,
    SetNumber,
    SuggestionMended,
    SuggestionRefused,
    SuggestionShown,
    SuggestionTaken,
)
from emotui.workbench.annotate.marks import Said, Step, apply, replay


def span(id: str, start: int, end: int, label: str | None = None) -> SpanMark:
    return SpanMark(id=id, start=start, end=end, label=label)


def after(*events: Event | int) -> Said:
    """The state after events numbered from 1, where a number takes back the event of that number or puts it back."""
    steps = [
        Step(number, None, event) if isinstance(event, int) else Step(number, event)
        for number, event in enumerate(events, 1)
    ]
    return replay(steps)


def test_a_span_keeps_its_identity_while_its_borders_and_its_label_change() -> None:
    said = after(AddSpan(span("a", 3, 9)), MoveBorder("a", 1, 9), LabelSpan("a", "joy"))
    assert said.spans == (span("a", 1, 9, "joy"),)


def test_spans_stand_in_the_order_of_the_text_and_the_longer_of_two_first() -> None:
    said = after(AddSpan(span("a", 5, 6)), AddSpan(span("b", 0, 2)), AddSpan(span("c", 0, 9)))
    assert [one.id for one in said.spans] == ["c", "b", "a"]


def test_taking_an_event_back_twice_leaves_it_as_it_was() -> None:
    events: list[Event | int] = [AddSpan(span("a", 0, 2)), RemoveSpan("a")]
    assert after(*events).spans == ()
    assert after(*events, 2).spans == (span("a", 0, 2),)
    assert after(*events, 2, 2).spans == ()


def test_nothing_said_of_labels_is_not_the_same_as_none() -> None:
    assert after().labels is None
    assert after(SetLabels(())).labels == ()
    assert after(SetLabels(("joy",)), SetLabels(None)).labels is None


def test_the_answer_before_the_reveal_is_kept_apart_from_what_comes_after() -> None:
    said = after(AddSpan(span("a", 0, 2)), Accept(), Reveal(), RemoveSpan("a"), AddSpan(span("b", 4, 5)))
    assert said.first == said.blind == Answer(spans=(span("a", 0, 2),))
    assert said.answer == Answer(spans=(span("b", 4, 5),))
    assert said.changed


def test_an_undo_after_the_reveal_does_not_change_the_first_answer() -> None:
    said = after(AddSpan(span("a", 0, 2)), AddSpan(span("b", 4, 5)), Reveal(), 2)
    assert said.first == Answer(spans=(span("a", 0, 2), span("b", 4, 5)))
    assert said.spans == (span("a", 0, 2),)


def test_an_answer_that_says_the_same_in_other_words_is_not_changed() -> None:
    said = after(AddSpan(span("a", 0, 2)), Reveal(), RemoveSpan("a"), AddSpan(span("b", 0, 2)))
    assert not said.changed


def test_of_a_suggestion_each_span_is_taken_mended_or_refused() -> None:
    shown = Answer(spans=(span("x", 0, 1), span("y", 2, 3), span("z", 4, 5)), values={"valence": 3.0})
    begun = after(SetNumber("arousal", 2.0), SuggestionShown("emb", shown))
    assert begun.suggestion is not None
    assert begun.suggestion.open == ("x", "y", "z", "values")
    assert begun.spans == ()
    said = begun
    taken = SuggestionTaken("emb", "x"), SuggestionMended("emb", span("y", 2, 4)), SuggestionRefused("emb", "z")
    for event in (*taken, SuggestionTaken("emb", "values")):
        said = apply(said, event)
    assert said.spans == (span("x", 0, 1), span("y", 2, 4))
    assert said.values == {"arousal": 2.0, "valence": 3.0}
    assert said.suggestion is not None
    assert said.suggestion.open == ()
