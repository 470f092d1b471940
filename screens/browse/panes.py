"""What the panes of Browse show of one sample: pure functions from `Evidence` to what the widgets draw."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.records import Span
from emotui.screens.browse.requests import own_columns_text
from emotui.screens.browse.score import About, Other
from emotui.screens.browse.voices import run_names
from emotui.screens.keymaps import keyed
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.tier_layout import AnnotatedText, LineLabel, Tier
from emotui.screens.widgets.tiered_text import BARS, RUN_ROLES

if TYPE_CHECKING:
    from emotui.records import Mark
    from emotui.screens.browse.requests import SampleView
    from emotui.workbench.answers import Voice
    from emotui.workbench.source import Evidence, RepeatView

# The tiers that spans of one source are drawn in: more than one where some of them overlap.


class Said(msgspec.Struct, frozen=True):
    """A span of a source as it is drawn."""

    place: Span
    label: str | None = None


def tiers(
    name: str,
    role: str,
    said: Sequence[Said],
    *,
    inline: bool = True,
    rows: bool = False,
    dotted: tuple[Span, ...] = (),
) -> list[Tier]:
    """What is drawn of a source: in the text where it is `inline`, and a row of bars for each lane.

    A lane holds spans that do not overlap. Without `rows` only spans that overlap another one have bars, since in the
    text they run together.
    """
    spans = tuple(one.place for one in said)
    labels = tuple((one.place, one.label) for one in said if one.label is not None)
    lanes = _lanes(said if rows else _overlapping(said))
    if len(lanes) <= 1:
        return [Tier(name, role, spans, inline, dotted, labels)]
    drawn = [Tier(name, role, spans, inline, dotted, bars=False)] if inline else []
    for lane in lanes:
        named = tuple((one.place, one.label) for one in lane if one.label is not None)
        drawn.append(Tier(name, role, tuple(one.place for one in lane), False, dotted, named, bars=True))
    return drawn


def _lanes(said: Sequence[Said]) -> list[list[Said]]:
    """The spans parted so that none of a lane overlaps; each stands in the first lane that has room for it."""
    lanes: list[list[Said]] = []
    for one in sorted(said, key=lambda one: (one.place[0], -one.place[1])):
        lane = next((lane for lane in lanes if lane[-1].place[1] <= one.place[0]), None)
        if lane is None:
            lanes.append([one])
        else:
            lane.append(one)
    return lanes


def _overlapping(said: Sequence[Said]) -> list[Said]:
    """Those that share a character with another one."""
    found: list[Said] = []
    cluster: list[Said] = []
    reached = -1
    for one in sorted(said, key=lambda one: one.place):
        if one.place[0] >= reached:
            found += cluster if len(cluster) > 1 else []
            cluster = []
        cluster.append(one)
        reached = max(reached, one.place[1])
    return found + (cluster if len(cluster) > 1 else [])


EVERYONE = "everyone"
OVERLAYS = ("both", "gold", "predicted", EVERYONE)
"""In the order in which `o` cycles. `everyone`: a row each for gold, the run, those beside it and the annotators."""

_BAR, _WITH_BAR = 10, 84

_SIGNS = {"positive": "+", "negative": "−"}


def answer(evidence: "Evidence", repeat: int) -> "RepeatView | None":
    """The run's answer that is shown, None where there is none yet."""
    return evidence.repeats[repeat % len(evidence.repeats)] if evidence.repeats else None


def score(seen: "SampleView", repeat: int, overlay: str) -> AnnotatedText:
    """The text with the voices that the overlay asks for, each sentence with its emotion and valence."""
    evidence = seen.evidence
    sample = evidence.sample
    names = _names(seen)
    drawn: list[Tier] = []
    rows = overlay == EVERYONE
    if overlay != "predicted":
        drawn += tiers("gold", "gold", _marked(sample.spans), rows=rows)
    if overlay != "gold":
        drawn += _said(evidence, repeat, names, rows=rows)
    if overlay == EVERYONE:
        for number, other in enumerate(seen.beside, 1):
            role = RUN_ROLES[number % len(RUN_ROLES)]
            drawn += _said(other, repeat, names, role, inline=False, rows=True)
        for name, spans in sample.annotators.items():
            drawn += tiers(name, "annotator", _marked(spans), inline=False, rows=True)
    return AnnotatedText(sample.text, tuple(drawn), _chips(evidence), rows=rows)


def _marked(marks: "Sequence[Mark] | None") -> list[Said]:
    return [Said(mark.place, mark.label) for mark in marks or ()]


def _names(seen: "SampleView") -> dict[str, str]:
    runs = [one.run for one in (seen.evidence, *seen.beside) if one.run is not None]
    return dict(zip((run.run for run in runs), run_names(runs), strict=True))


def _signed(names: Mapping[str, str], one: "Evidence", number: int) -> str:
    """The name of a run beside the one over the list, with the sign of its bars."""
    return f"{BARS[RUN_ROLES[number % len(RUN_ROLES)]]} {'' if one.run is None else names[one.run.run]}"


def beside(seen: "SampleView", repeat: int) -> list[Part]:
    """The runs that are compared with the one over the list, each with its F1 of this sample."""
    names, parts = _names(seen), []
    for number, one in enumerate(seen.beside, 1):
        said = answer(one, repeat)
        f1 = share(said.detail.f1 if said and said.detail else None).strip()
        role = RUN_ROLES[number % len(RUN_ROLES)]
        parts.append(Part(f"   {_signed(names, one, number)} {f1}", role, "do('run')"))
    return [Part("   beside it", "dim", "do('run')"), *parts] if parts else []


def _said(
    evidence: "Evidence",
    repeat: int,
    names: Mapping[str, str],
    role: str = RUN_ROLES[0],
    *,
    inline: bool = True,
    rows: bool,
) -> list[Tier]:
    said = answer(evidence, repeat)
    if evidence.run is None or said is None or (said.detail is None and not said.spans):
        return []
    found = [Said(span.place, span.label) for span in said.spans if span.place is not None]
    fixated = said.detail.fixated if said.detail is not None else ()
    dotted = tuple(place for index in fixated if (place := said.spans[index].place) is not None)
    return tiers(names[evidence.run.run], role, found, inline=inline, rows=rows, dotted=dotted)


def _chips(evidence: "Evidence") -> tuple[LineLabel, ...]:
    return tuple(
        LineLabel(sentence.start, _sentence(evidence, number), strong=sentence.emotion != "neutral")
        for number, sentence in enumerate(evidence.sample.sentences)
    )


def _sentence(evidence: "Evidence", number: int) -> str:
    sentence = evidence.sample.sentences[number]
    return f"{number + 1} {sentence.emotion or ''} {_SIGNS.get(sentence.valence or '', '')}".rstrip()


def about(
    seen: "SampleView",
    repeat: int,
    key: str,
    told: "tuple[tuple[Voice, str], ...]" = (),
    *,
    first_start: bool = False,
) -> About:
    """What the foot of the score tells beside the span under the cursor.

    Args:
        key: what walks on to the next one.
        told: those that say something of the whole text, with their names.
        first_start: the first run of a new workspace is on its way.
    """
    evidence = seen.evidence
    sample, said = evidence.sample, answer(evidence, repeat)
    detail = said.detail if said else None
    figures = {one.index: one.f1 for one in detail.sentences} if detail else {}
    sentences = tuple(
        (
            one.start,
            one.end,
            _sentence(evidence, place) + (f" F1 {share(figures[place]).strip()}" if place in figures else ""),
        )
        for place, one in enumerate(sample.sentences)
    )
    names, others = _names(seen), []
    for number, other in enumerate(seen.beside, 1):
        theirs = answer(other, repeat)
        marked = tuple((one.place, one.label) for one in theirs.spans if one.place) if theirs else ()
        others.append(Other(_signed(names, other, number), RUN_ROLES[number % len(RUN_ROLES)], marked))
    for name, marks in sample.annotators.items():
        others.append(Other(f"{BARS['annotator']} {name}", "dim", tuple((mark.place, mark.label) for mark in marks)))
    words = tuple(notes(evidence, repeat, first_start=first_start))
    emotion = (sample.emotion or "") if not sentences else ""
    unscored = said is not None and _no_wrong_label(evidence, said) is not None
    return About(sample.text, sentences, tuple(others), words, key, told, emotion, unscored)


def heading(
    evidence: "Evidence", repeat: int, overlay: str, cells: int, *, noted: bool = False
) -> tuple[list[Part], list[Part]]:
    """The line over the text: which sample, whether there is a note on it, how good the answer is; at the right the
    overlay.
    """
    sample, said = evidence.sample, answer(evidence, repeat)
    left = [Part(f" {sample.id}", "strong")]
    if noted:
        left.append(Part("  note", "said", "do('sample_note')"))
    if said and said.detail:
        detail = said.detail
        if detail.marks:
            left.append(Part(f"  {detail.marks}", "mark"))
        left += [Part("   SEER F1 ", "dim"), Part(share(detail.f1).strip())]
        if cells >= _WITH_BAR:
            full = round(detail.f1 * _BAR)
            left += [Part(" " + "■" * full, "said"), Part("·" * (_BAR - full), "rest")]
        both = detail.precision is not None and detail.recall is not None
        for before, name, figure in (
            (" = min(" if both else "  ", "P", detail.precision),
            (", " if both else "  ", "R", detail.recall),
            (")  " if both else "  ", "Sim", detail.sim),
        ):
            left += [Part(f"{before}{name} ", "dim"), Part(share(figure).strip())]
    kind = " · ".join(part for part in (sample.emotion, sample.valence, _sentences(len(sample.sentences))) if part)
    legend = _legend(overlay, evidence)
    if kind and taken(left) + width(kind) + 3 + taken(legend) < cells:
        left.append(Part(f"   {kind}", "dim"))
    return left, legend


def of_run(seen: "SampleView", repeat: int, name: str) -> list[Part]:
    """The line over the margin: whose answer it is, which of several, and how others do on the same sample."""
    run, answers = seen.evidence.run, len(seen.evidence.repeats)
    if run is None:
        return [Part("gold alone", "dim", "do('run')")]
    parts = [Part("run ", "dim"), Part(name, "said", "do('run')")]
    if run.state != "done":
        parts.append(Part(f" {run.state}", "mark"))
    if run.config.get("flattered"):
        parts.append(Part(" (scores flattered: trained on these)", "dim"))
    if answers > 1:
        parts.append(Part(f"   answer {repeat % answers + 1} of {answers}", "dim", "do('repeat')"))
    return parts + beside(seen, repeat)


def _sentences(number: int) -> str:
    return f"{number} sentences" if number > 1 else ""


def _legend(overlay: str, evidence: "Evidence") -> list[Part]:
    gold, said = Part("gold", "gold-line", "do('overlay')"), Part(" predicted ", "ground", "do('overlay')")
    if not evidence.repeats or overlay == "gold":
        return [gold, Part(" ")]
    if overlay == "predicted":
        return [said, Part(" ")]
    return [gold, Part("  "), said, Part(" ")]


def notes(evidence: "Evidence", repeat: int, *, first_start: bool = False) -> list[str]:
    """What the alignment cannot say: no answer, a failed or invalid one, labels, a keyword sample.

    Args:
        first_start: the first run of a new workspace is on its way.
    """
    said = answer(evidence, repeat)
    gold = _gold_note(evidence)
    if evidence.run is None and first_start:
        return [*gold, "A model is being loaded: its answers come by themselves."]
    if evidence.run is None:
        return [*gold, keyed("No run is shown: {run} chooses one, {model} runs a model.")]
    if said is None:
        return [
            *gold,
            f"{evidence.run.model} has not answered this sample"
            + (" yet." if evidence.run.state == "running" else "."),
        ]
    lines = gold if evidence.sample.spans is None else []
    if said.error:
        lines.append(f"! failed: {said.error}")
    detail = said.detail
    if detail is None:
        return lines or ["This answer has not been scored: emotui rescore does it."]
    if detail.invalid:
        lines.append(f"! invalid output: {detail.invalid}")
    if not detail.gold and not detail.predicted:
        lines.append("Nothing to mark, and nothing marked: F1 is 1.")
    elif not detail.predicted:
        lines.append("The model marked nothing.")
    elif not detail.gold:
        lines.append("There is nothing to mark here.")
    if (why := _no_wrong_label(evidence, said)) is not None:
        lines.append(why)
    if detail.keyword:
        lines.append("A gold span holds a word of Empath's emotions: a keyword sample.")
    if detail.sim is None and detail.gold and detail.predicted:
        lines.append("Sim is not there, or not yet: it takes the embedded model.")
    return lines


def _no_wrong_label(evidence: "Evidence", said: "RepeatView") -> str | None:
    """Why no label is marked as wrong although the run labels its spans and gold knows the emotion."""
    sample = evidence.sample
    emotions = list(dict.fromkeys(one.emotion for one in sample.sentences if one.emotion)) or [sample.emotion or ""]
    labelled = any(mark.label for mark in sample.spans or ())
    if labelled or not sample.spans or not any(span.label for span in said.spans) or not any(emotions):
        return None
    of = "emotions of sentences" if sample.sentences else f"{emotions[0]} of the text"
    return f"L not scored: gold has {of}, no label of a span."


def _gold_note(evidence: "Evidence") -> list[str]:
    """That nobody has said what is gold, or that it was said and is nothing."""
    if evidence.sample.spans is None:
        return ["No gold yet: nobody has said what is evidence here, so an answer has no score."]
    return [] if evidence.sample.spans else ["Gold: no span."]


def raw_score(evidence: "Evidence", repeat: int) -> AnnotatedText:
    """Raw output and prompt, as they came and were sent, and the data's own columns, under a heading each."""
    said, own = answer(evidence, repeat), evidence.meta
    if said is None:
        return AnnotatedText(own_columns_text(own) or "There is no output yet.")
    parts = [
        ("output", said.raw if said.raw is not None else "(none was kept)"),
        ("prompt", said.prompt if said.prompt is not None else "(this model is not asked in words)"),
        *([("columns", own_columns_text(own))] if own else []),
    ]
    text, chips = "", []
    for label, content in parts:
        chips.append(LineLabel(len(text), label, strong=True))
        text += (content or "(empty)") + "\n\n"
    return AnnotatedText(text.rstrip("\n"), chips=tuple(chips))


def as_text(evidence: "Evidence", repeat: int) -> str:
    """The sample for the clipboard: id, text, gold and predicted spans."""
    sample, said = evidence.sample, answer(evidence, repeat)
    lines = [f"{sample.id}\t{sample.emotion or ''}".rstrip(), sample.text]
    lines += [f"gold: {sample.text[start:end]}" for start, end in sample.places]
    if said and said.detail:
        lines += [f"predicted: {text}" for text in said.detail.predicted]
        lines.append(f"F1 {share(said.detail.f1).strip()}  Sim {share(said.detail.sim).strip()}")
    return "\n".join(lines)
