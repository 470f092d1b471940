"""Every way to break the contract of SEER's prompts: what is read, what is said of it, and what it scores.

`tests/tasks/test_spans_generation.py` has the asking: retries, seeds, and runs through the store.
"""

import msgspec
import pytest

from emotui.metrics.span_scoring import SampleDetail
from emotui.records import Mark, SpanSample
from emotui.tasks.spans.task import Prediction, Spans
from emotui.tasks.task import Parsed

TEXT = "At noon Ada wept again. Bo did not."
GOLD = "wept again"
SAMPLE = SpanSample(id="1", text=TEXT, spans=(Mark(12, 22),), emotion="sad")
MARKED = TEXT.replace(GOLD, f"**{GOLD}**")
CHANGED, LONE, NO_LABEL = "the text was changed", "a marker without a partner", "no Response:"
TWICE, LINES = "more than one Response:", "spans on more than one line"
THOUGHTS = "<think>\nMaybe **noon**? Response: no | never\n</think>\n"
WHY = "Reasoning: she weeps.\n"


def outcome(way: str, output: str) -> tuple[tuple[str, ...], str | None, float, str]:
    """The spans read, how the contract is broken, F1, and the marks of the list (`emotui.store.query.MARKS`)."""
    task = Spans()
    prediction = task.parse(SAMPLE, output, way)
    assert isinstance(prediction, Prediction)
    (score,) = task.score([Parsed(SAMPLE, 0, prediction)], None)
    detail = msgspec.json.decode(score.detail, type=SampleDetail)
    assert (score.values["f1"], score.marks) == (detail.f1, detail.marks)
    return prediction.spans, prediction.breach, detail.f1, detail.marks


@pytest.mark.parametrize(
    ("way", "output", "spans", "breach", "f1", "marks"),
    [
        # Kept.
        ("retrieve", GOLD, (GOLD,), None, 1, ""),
        ("highlight", MARKED, (GOLD,), None, 1, ""),
        ("retrieve-cot", f"{WHY}Response: {GOLD}", (GOLD,), None, 1, ""),
        ("highlight-cot", f"{WHY}Response: {MARKED}", (GOLD,), None, 1, ""),
        # Markers unbalanced: nothing, or what the last pair encloses; the text is unchanged, so it is scored.
        ("highlight", TEXT.replace(GOLD, f"**{GOLD}"), (), LONE, 0, "M"),
        ("highlight", MARKED.replace("did", "**did"), (GOLD,), LONE, 1, ""),
        ("highlight", f"**{MARKED}", ("At noon Ada ",), LONE, 0, "MX"),
        ("highlight-cot", f"{WHY}Response: {TEXT}**", (), LONE, 0, "M"),
        # The text altered by one character, anywhere: a highlight answer scores 0.
        ("highlight", MARKED.replace("noon", "nooon"), (GOLD,), CHANGED, 0, "MX!"),
        ("highlight", MARKED.replace("wept", "weeps"), ("weeps again",), CHANGED, 0, "HMX!"),
        ("highlight", MARKED.removesuffix("."), (GOLD,), CHANGED, 0, "MX!"),
        ("highlight", MARKED.replace("Bo", "bo"), (GOLD,), CHANGED, 0, "MX!"),
        ("highlight", MARKED.replace(" ", "  ", 1), (GOLD,), CHANGED, 0, "MX!"),
        ("highlight", f"{MARKED}\n", (GOLD,), None, 1, ""),  # white space at the ends is nobody's
        ("highlight", f"Here: {MARKED}", (GOLD,), CHANGED, 0, "MX!"),
        # A retrieved span altered by one character is hallucinated; case and punctuation are free.
        ("retrieve", "wept agains", ("wept agains",), None, 0.5, "H"),
        ("retrieve", "Wept, again!", ("Wept, again!",), None, 1, ""),
        # ` | ` inside a span parts it; a bar without blanks does not.
        ("retrieve", "wept | again", ("wept", "again"), None, 1 / 3, "X"),
        ("retrieve", "wept|again", ("wept|again",), None, 0, "HMX"),
        ("retrieve", f"{GOLD} | ", (GOLD,), None, 1, ""),
        ("retrieve", f" | {GOLD} |  | Bo", (GOLD, "Bo"), None, 0.5, "X"),
        # `Response:` missing, or twice.
        ("retrieve-cot", GOLD, (), NO_LABEL, 0, "M!"),
        ("retrieve-cot", WHY, (), NO_LABEL, 0, "M!"),
        ("highlight-cot", MARKED, (), NO_LABEL, 0, "M!"),
        ("retrieve-cot", f"{WHY}Response: Bo\nResponse: {GOLD}", (GOLD,), TWICE, 1, ""),
        ("highlight-cot", f"{WHY}Response: {TEXT}\nResponse: {MARKED}", (GOLD,), TWICE, 1, ""),
        ("retrieve-cot", f"{WHY}response: {GOLD}", (), NO_LABEL, 0, "M!"),
        # Empty: an answer where spans are asked for (section 4.1), none where the text is.
        ("retrieve", "", (), None, 0, "M"),
        ("retrieve", " \n", (), None, 0, "M"),
        ("retrieve-cot", f"{WHY}Response:", (), None, 0, "M"),
        ("highlight", "", (), CHANGED, 0, "M!"),
        ("highlight-cot", f"{WHY}Response:", (), CHANGED, 0, "M!"),
        ("retrieve-cot", "", (), NO_LABEL, 0, "M!"),
        # Markdown around it: fences and labels are taken off; a list or bold spans are not spans of the text.
        ("retrieve", f"```\n{GOLD}\n```", (GOLD,), None, 1, ""),
        ("highlight", f"```markdown\n{MARKED}\n```", (GOLD,), None, 1, ""),
        ("retrieve-cot", f"**Reasoning:** so.\n\n**Response:** {GOLD}", (GOLD,), None, 1, ""),
        ("highlight-cot", f"## Reasoning:\nso.\n\n## Response:\n{MARKED}", (GOLD,), None, 1, ""),
        ("highlight-cot", f"Reasoning: so.\nResponse:\n```\n{MARKED}\n```", (GOLD,), None, 1, ""),
        ("retrieve", f"- {GOLD}\n- Bo", (f"- {GOLD}\n- Bo",), LINES, 0.8, ""),
        ("retrieve", f"**{GOLD}**", (f"**{GOLD}**",), None, 1, ""),  # punctuation is none of a span's words
        # Thinking tags: what a reasoning model thinks is no answer, whatever it holds.
        ("retrieve", f"{THOUGHTS}{GOLD}", (GOLD,), None, 1, ""),
        ("highlight", f"{THOUGHTS}{MARKED}", (GOLD,), None, 1, ""),
        ("highlight-cot", f"{THOUGHTS}{WHY}Response: {MARKED}", (GOLD,), None, 1, ""),
        ("retrieve", f"Hm, noon?</think>\n\n{GOLD}", (GOLD,), None, 1, ""),
        ("retrieve", "<think>\nHm, and then", (), None, 0, "M"),
        ("highlight", f"<think>\n{MARKED}", (), CHANGED, 0, "M!"),
        ("retrieve-cot", f"<think>{WHY}Response: {GOLD}", (), NO_LABEL, 0, "M!"),
    ],
)
def test_what_must_come_out(
    way: str, output: str, spans: tuple[str, ...], breach: str | None, f1: float, marks: str
) -> None:
    assert outcome(way, output) == (spans, breach, pytest.approx(f1), marks)


def test_marks_come_out_of_the_store_as_they_went_in() -> None:
    marks = (Mark(0, 1), Mark(0, 4, "joy"), Mark(2, 4, None, 0.5), Mark(2, 4, "joy", None, {"cue": "yes"}))
    for spans in (None, (), marks):
        sample = SpanSample(id="1", text="glad", spans=spans, annotators={"ada": marks}, meta={"turn": 1})
        assert msgspec.json.decode(Spans().row(sample).record, type=SpanSample) == sample


def test_a_text_is_found_by_the_labels_of_its_gold_spans() -> None:
    sample = SpanSample(
        id="1", text="I was glad and afraid", spans=(Mark(6, 10, "joy"), Mark(15, 21, "fear"), Mark(0, 1))
    )
    assert Spans().row(sample).emotions == ("joy", "fear")
