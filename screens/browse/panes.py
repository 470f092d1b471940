"""What the panes of Browse show of one sample: pure functions from `Evidence` to what the widgets draw."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from emotui.screens.browse import alignment
from emotui.screens.browse.around import own_columns_text
from emotui.screens.browse.run_names import run_names
from emotui.screens.browse.tiers import Said, tiers
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.tier_layout import AnnotatedText, LineLabel, Tier

if TYPE_CHECKING:
    from emotui.records import Mark
    from emotui.screens.browse.requests import SampleView
    from emotui.workbench.source import Evidence, RepeatView

EVERYONE = "everyone"
OVERLAYS = ("both", "gold", "predicted", EVERYONE)
"""In the order in which `o` cycles. `everyone`: a row each for gold, the run, those beside it and the annotators."""

NEAR = 0.5
"""A passage at least as near as this to a hallucinated span is named; below, it shares little but small words."""

_SIGNS = {"positive": "+", "negative": "−"}


def answer(evidence: "Evidence", repeat: int) -> "RepeatView | None":
    """The run's answer that is shown, None where there is none yet."""
    return evidence.repeats[repeat % len(evidence.repeats)] if evidence.repeats else None


def score(seen: "SampleView", repeat: int, overlay: str) -> AnnotatedText:
    """The text with the voices that the overlay asks for, each sentence with its emotion, valence and F1."""
    evidence = seen.evidence
    sample, said = evidence.sample, answer(evidence, repeat)
    names = _names(seen)
    drawn: list[Tier] = []
    rows = overlay == EVERYONE
    if overlay != "predicted":
        drawn += tiers("gold", "gold", _marked(sample.spans), rows=rows)
    if overlay != "gold":
        drawn += _said(evidence, repeat, names, rows=rows)
    if overlay == EVERYONE:
        for other in seen.beside:
            drawn += _said(other, repeat, names, inline=False, rows=True)
        for name, spans in sample.annotators.items():
            drawn += tiers(name, "annotator", _marked(spans), inline=False, rows=True)
    return AnnotatedText(sample.text, tuple(drawn), _chips(evidence, said), rows=rows)


def _marked(marks: "Sequence[Mark] | None") -> list[Said]:
    return [Said(mark.place, mark.label) for mark in marks or ()]


def _names(seen: "SampleView") -> dict[str, str]:
    runs = [one.run for one in (seen.evidence, *seen.beside) if one.run is not None]
    return dict(zip((run.run for run in runs), run_names(runs), strict=True))


def beside(seen: "SampleView", repeat: int) -> list[Part]:
    """The runs that are compared with the one over the list, each with its F1 of this sample."""
    names, parts = _names(seen), []
    for one in seen.beside:
        said = answer(one, repeat)
        f1 = share(said.detail.f1 if said and said.detail else None).strip()
        parts.append(Part(f"   {names[one.run.run] if one.run else ''} {f1}", "dim", "do('run')"))
    return [Part("   beside it", "dim", "do('run')"), *parts] if parts else []


def _said(
    evidence: "Evidence", repeat: int, names: Mapping[str, str], *, inline: bool = True, rows: bool
) -> list[Tier]:
    said = answer(evidence, repeat)
    if evidence.run is None or said is None or (said.detail is None and not said.spans):
        return []
    found = [Said(span.place, span.label) for span in said.spans if span.place is not None]
    fixated = said.detail.fixated if said.detail is not None else ()
    dotted = tuple(place for index in fixated if (place := said.spans[index].place) is not None)
    return tiers(names[evidence.run.run], "predicted", found, inline=inline, rows=rows, dotted=dotted)


def _chips(evidence: "Evidence", said: "RepeatView | None") -> tuple[LineLabel, ...]:
    detail = said.detail if said else None
    figures = {one.index: one.f1 for one in detail.sentences} if detail else {}
    hits = [said.spans[index].place for index in detail.neutral_hits] if said and detail else []
    chips = []
    for number, sentence in enumerate(evidence.sample.sentences):
        sign = _SIGNS.get(sentence.valence or "", "")
        label = f"{number + 1} {sentence.emotion or ''} {sign}".rstrip()
        hit = any(span and span[0] < sentence.end and sentence.start < span[1] for span in hits)
        neutral = sentence.emotion == "neutral"
        tail = "N" if hit and neutral else share(figures[number]) if number in figures else ""
        chips.append(LineLabel(sentence.start, label, tail, strong=not neutral))
    return tuple(chips)


def heading(evidence: "Evidence", repeat: int, overlay: str) -> tuple[list[Part], list[Part]]:
    """The line over the text: which sample, whose answer, how good; at the right the overlay."""
    sample, said = evidence.sample, answer(evidence, repeat)
    left = [Part(f" {sample.id}", "strong")]
    kind = " · ".join(part for part in (sample.emotion, sample.valence, _sentences(len(sample.sentences))) if part)
    if kind:
        left.append(Part(f"  {kind}", "dim"))
    if said and said.detail:
        left += [
            Part("   F1 ", "dim"),
            Part(share(said.detail.f1).strip(), "strong"),
            Part("  Sim ", "dim"),
            Part(share(said.detail.sim).strip(), "strong"),
        ]
        if said.detail.marks:
            left.append(Part(f"  {said.detail.marks}", "mark"))
    return left, _legend(overlay, evidence)


def _sentences(number: int) -> str:
    return f"{number} sentences" if number > 1 else ""


def _legend(overlay: str, evidence: "Evidence") -> list[Part]:
    gold, said = Part("gold", "gold-line", "do('overlay')"), Part(" predicted ", "ground", "do('overlay')")
    if not evidence.repeats or overlay == "gold":
        return [gold, Part(" ")]
    if overlay == "predicted":
        return [said, Part(" ")]
    return [gold, Part("  "), said, Part(" ")]


def place_of(seen: "SampleView", repeat: int, mark: str) -> int | None:
    """Where in the text the first error with this letter stands; of a hallucination the nearest passage."""
    said = answer(seen.evidence, repeat)
    if said is None or said.detail is None:
        return None
    detail = said.detail
    if mark == "H":
        near = seen.near[repeat % len(seen.near)] if seen.near else {}
        return next((one.start for one in near.values() if one is not None and one.f1 >= NEAR), None)
    places = {"F": detail.fixated, "N": detail.neutral_hits}.get(mark, ())
    return next((span[0] for place in places if (span := said.spans[place].place) is not None), None)


def notes(evidence: "Evidence", repeat: int) -> list[str]:
    """What the alignment cannot say: no answer, a failed or invalid one, labels, a keyword sample."""
    said = answer(evidence, repeat)
    gold = _gold_note(evidence)
    if evidence.run is None:
        return [*gold, "No run is shown: r chooses one, R runs a model."]
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
    if detail.keyword:
        lines.append("A gold span of this sample holds a keyword of the lexicon.")
    if detail.sim is None and detail.gold and detail.predicted:
        lines.append("Sim is not there, or not yet: it takes the embedded model.")
    return lines


def _gold_note(evidence: "Evidence") -> list[str]:
    """That nobody has said what is gold, or that it was said and is nothing."""
    if evidence.sample.spans is None:
        return ["No gold yet: nobody has said what is evidence here, so an answer has no score."]
    return [] if evidence.sample.spans else ["Gold: no span."]


def alignment_rows(seen: "SampleView", repeat: int) -> list[alignment.Row]:
    """The alignment of the answer that is shown; without an answer the gold spans alone."""
    sample, said = seen.evidence.sample, answer(seen.evidence, repeat)
    if said and said.detail:
        found = seen.near[repeat % len(seen.near)] if seen.near else {}
        near = {
            place: None if one is None or one.f1 < NEAR else alignment.Near(sample.text[one.start : one.end], one.f1)
            for place, one in found.items()
        }
        gold = [mark.label for mark in sample.spans or ()]
        return alignment.rows(
            said.detail, near, gold, [span.label for span in said.spans], [span.score for span in said.spans]
        )
    marked = [(sample.text[mark.start : mark.end], mark.label) for mark in sample.spans or ()]
    rows = alignment.alone(marked, gold=True)
    return rows + (alignment.alone([(span.text, span.label) for span in said.spans], gold=False) if said else [])


def raw_score(evidence: "Evidence", repeat: int) -> AnnotatedText:
    """Raw output and prompt, as they came and were sent, and the data's own columns, under a heading each."""
    said, own = answer(evidence, repeat), evidence.sample.meta
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
