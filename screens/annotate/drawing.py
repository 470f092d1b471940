"""From the answer, the caret and what others say to what the panes show."""

import re
from collections.abc import Mapping, Sequence
from itertools import count as count_from
from operator import is_

from emotui.records import MASKED, Span
from emotui.screens.annotate.labelling import Work
from emotui.screens.annotate.marking import Marking
from emotui.screens.annotate.passage import PassageTier, PassageView, Placed, TierMark
from emotui.screens.keymaps import keyed
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import RIGHT, count
from emotui.workbench.annotate.answers import AnnotatedText, Answer, SentenceSaid, SpanMark
from emotui.workbench.annotate.events import SKIP
from emotui.workbench.annotate.fits import missing
from emotui.workbench.annotate.marks import LABELS, SENTENCES, VALUES, WORDS
from emotui.workbench.annotate.others import OtherSaid
from emotui.workbench.annotate.scheme import MASK, SENTENCE, TEXT, Group, Label, Scale, Scheme

SELECTED = " selected"
"""The id of the bar under what is selected; no span has it."""

_SIGNS = {"positive": "+", "negative": "−", "neutral": "0"}
_MANY = 4
"""Numbers of one scale from which on they stand side by side."""

_COLOURED = 10
"""Labels of a group up to which each has a colour that tells it from the others."""

_SAID = 40
"""Characters of a span's words that stand in the line about it."""


def sentences_of(scheme: Scheme, text: AnnotatedText) -> tuple[Span, ...]:
    """The sentences that are drawn and said something of; none where there is one and nothing is said of it."""
    return text.sentences if scheme.of(SENTENCE) or len(text.sentences) > 1 else ()


_NOTHING = PassageTier("", ())


class Tierer:
    """Makes tiers of spans; what is the same as before stays the same object, so that nobody looks at it again."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], tuple[tuple[SpanMark, ...], PassageTier]] = {}
        self._placed: dict[tuple[str, str], dict[str, tuple[SpanMark, tuple[Placed, ...]]]] = {}

    def tier(self, name: str, kind: str, spans: tuple[SpanMark, ...], labels: Mapping[str, Label]) -> PassageTier:
        """The tier of a source's spans."""
        key = (name, kind)
        made = self._made.get(key)
        if made is not None and len(made[0]) == len(spans) and all(map(is_, made[0], spans)):
            return made[1]
        known, fresh = self._placed.get(key, {}), {}
        for span in spans:
            there = known.get(span.id)
            fresh[span.id] = there if there is not None and there[0] is span else (span, _placed(span, labels, kind))
        tier = PassageTier(name, tuple([placed for _, parts in fresh.values() for placed in parts]))
        self._made[key], self._placed[key] = (spans, tier), fresh
        return tier


def passage_view(work: Work, tierer: Tierer) -> PassageView:
    """The text with everything over and under it."""
    scheme, marking, said, text = work.scheme, work.marking, work.said, work.text
    labels = labels_of_spans(scheme)
    masks = tuple((start, end, _of_mask(n, start, end, said.words.get(n))) for n, (start, end) in enumerate(text.masks))
    tiers = [tierer.tier("", "own", said.spans, labels), PassageTier("", masks) if scheme.of(MASK) else _NOTHING]
    selection = marking.selection
    selected: tuple[Placed, ...] = ()
    if selection is not None:
        selected = ((*selection, TierMark(SELECTED, *selection, "?", "?", "selected")),)
    tiers.append(PassageTier("", selected) if selected else _NOTHING)
    shown = said.suggestion
    open_spans = [] if shown is None else [span for span in shown.answer.spans if span.id in shown.open]
    tiers.append(tierer.tier("" if shown is None else shown.source, "suggested", tuple(open_spans), labels))
    if work.shows_others:
        tiers += [
            tierer.tier(other.name, "theirs", other.answer.spans, labels) for other in work.others if other.answer.spans
        ]
    sentences = sentences_of(scheme, text)
    return PassageView(
        text=text.text.replace(MASKED, "_" * len(MASKED)),  # as long, so that every place stays
        sentences=sentences,
        heads=_heads(scheme, sentences, said.sentences),
        tiers=tuple(tiers),
        caret=marking.caret,
        places=scheme.asks_of_places,
        selection=selection,
        chosen=marking.chosen,
        hints=_hints(marking),
        dealt=dict(sorted(marking.dealt.items())) if marking.hints else {},
    )


def _hints(marking: Marking) -> dict[int, str]:
    """What is left to type of each hint that goes on with what was typed, in the order of the text."""
    typed = marking.typed
    return dict(sorted((at, code[len(typed) :]) for code, at in marking.hints.items() if code.startswith(typed)))


def _of_mask(place: int, start: int, end: int, word: str | None) -> TierMark:
    return TierMark(f" mask {place}", start, end, word or f"{place + 1}?", "?", "own" if word else "suggested")


def labels_of_spans(scheme: Scheme) -> dict[str, Label]:
    """By name the labels that the scheme has for spans."""
    group = scheme.span_labels
    return {} if group is None else {label.name: label for label in group.labels}


def _placed(span: SpanMark, labels: Mapping[str, Label], kind: str) -> tuple[Placed, ...]:
    """The bars of a span, one a part."""
    further = [str(value) for name, value in span.attributes.items() if isinstance(value, str) and name != "id"]
    tied = [f"→{name}" for _, name in span.relations]
    label = " ".join([span.label or "", *further, *tied]).strip()
    known = labels.get(span.label or "", Label(name=""))
    brief = known.key or label[:1]
    return tuple(
        (start, end, TierMark(span.id, start, end, f"+{label}" if n else label, brief, kind, known.colour))
        for n, (start, end) in enumerate(span.parts)
    )


def _heads(scheme: Scheme, sentences: Sequence[Span], said: Mapping[int, SentenceSaid]) -> tuple[str, ...]:
    if len(sentences) < 2 and not scheme.of(SENTENCE):
        return ()
    names = [group.name for group in scheme.of(SENTENCE)]
    heads = []
    for place in range(len(sentences)):
        here = said.get(place, SentenceSaid())
        emotion = (here.emotion or "·") if "emotion" in names else ""
        valence = _SIGNS.get(here.valence or "", "·") if "valence" in names else ""
        heads.append(" ".join(part for part in (str(place + 1), valence, emotion) if part))
    return tuple(heads)


# The lines around the text.


def title(work: Work) -> tuple[list[Part], list[Part]]:
    """Which text, how its answer stands, and how far one is."""
    said = work.said
    left = [Part(f" {work.text.id}", "strong")]
    if work.place:
        left.append(Part(f"  from {work.place}", "dim"))
    if work.role:
        left.append(Part(f"  {work.role}", "mark"))
    if work.text.subject:
        left.append(Part(f"  about {work.text.subject}", "dim"))
    if said.skipped:
        left.append(Part("  – skipped" if said.skipped == SKIP else f"  – {said.skipped}", "mark"))
    elif said.accepted:
        left.append(Part(f"  {RIGHT} done", "said"))
        left += [Part(", then changed", "mark")] if said.changed else []
        left += [Part("  revealed", "dim")] if said.revealed else []
    else:
        left.append(Part("  open", "dim"))
    left += [Part("  ? unsure", "mark", "do('unsure')")] if said.unsure else []
    left += [Part("  ! flagged", "mark", "do('flag')")] if said.flag else []
    left += [Part(f"  “{said.note}”", "dim", "do('note')")] if said.note else []
    if work.standing is not None:
        settled, n = work.standing.disagreed_settled, work.standing.disagreed
        return [Part(" adjudicating ", "strong"), *left], [
            Part(f"{count(settled)} of {count(n)} disagreements ", "strong")
        ]
    left += (
        [Part(keyed("   {walk} next: others"), "key", "do('annotators')")]
        if said.accepted and not said.skipped and not said.revealed
        else []
    )
    return left, _pace(work)


def _pace(work: Work) -> list[Part]:
    """Who annotates, and how far they are: today, an hour and what is left, where texts were dealt out."""
    progress = work.progress
    parts = [Part(f"{shown(work.annotator)}  ", "plain")]
    if not work.assigned:
        return [*parts, Part(f"{count(progress.accepted)} of {count(progress.n)} done ", "strong")]
    wanted = "" if progress.wanted is None else f" of {count(progress.wanted)}"
    parts.append(Part(f"{count(progress.today)}{wanted} today  ", "strong"))
    parts += [Part(f"{progress.an_hour:.0f} an hour  ", "dim")] if progress.an_hour is not None else []
    return [*parts, Part(f"{count(progress.left)} left ", "strong")]


def about(work: Work, last: str | None, cells: int) -> tuple[list[Part], list[Part]]:
    """The line about what the keys would act on: the selection, the chosen span, or the word under the caret.

    Args:
        last: the label that Enter marks a selection with.
        cells: what the keys do is told as far as it fits beside what they do it to.
    """
    scheme, marking, text, said = work.scheme, work.marking, work.text.text, work.said
    if marking.hints:
        what = "where it ends" if marking.ends_hinted else "where the span begins"
        one = "a label's key: that one word" if marking.ends_hinted and scheme.span_labels is not None else ""
        words = marking.units.words(0, len(text))
        further = f"Space: words {'after these' if max(marking.dealt) < words[-1][0] else 'from the start'}"
        how = ", ".join(filter(None, (one, further if len(marking.dealt) < len(words) else "")))
        return [Part(f" type the letters: {what}", "key"), Part(f"  {marking.typed}", "strong")], [
            Part(f"{how} ", "dim")
        ]
    stretch, chosen = marking.selection, marking.chosen_span
    if work.tie is not None:
        return _begun(work), []
    if stretch is not None:
        left = [Part(" selected ", "key"), Part(_words(text, stretch), "strong")]
        if scheme.span_labels is None:
            return left, _told(left, cells, "{close} marks it, {drop} drops it", "{close} marks it")
        label = f"as {last}" if last else "without a label"
        ways = (
            f"a label's key marks it, {{close}} {label}, {{drop}} drops it",
            f"a label's key marks it, {{close}} {label}",
            "a label's key or {close} marks it",
        )
        return left, _told(left, cells, *ways)
    if chosen is not None:
        place = next((n for n, span in enumerate(marking.spans, 1) if span.id == chosen.id), 0)
        name = "span" if work.is_own(chosen) else "span of another" if work.standing is not None else "suggested span"
        label = chosen.label or "no label"
        known = labels_of_spans(scheme).get(label)
        left = [Part(f" {name} {place} of {len(marking.spans)}  ", "key"), _named(known, label, holds=True), Part("  ")]
        return [*left, Part(_said(text, chosen)), *_ties(work, chosen)], _digits(work)
    if work.standing is not None:
        takes = [part for other in work.others for part in _take(other)]
        return [*takes, Part(" takes that version", "dim")], []
    if work.offered:
        return _offered(work)
    if not scheme.spans:
        whole = [Part(" of the whole text" if scheme.of(TEXT) else " ", "dim")]
        return whole, _told(whole, cells, *_SET) if any(group.labels for group in scheme.groups) else []
    n = len(said.spans)
    left = [Part(f" {count(n)} span{'' if n == 1 else 's'}", "dim")]
    if marking.caret is None:
        return left, []
    left.append(Part(f"   caret at {_words(text, marking.caret)}", "dim"))
    return left, _told(left, cells, *_BEGIN)


_BEGIN = (
    "{begin} begins a span, {word_left} {word_right} move it, a label's key ends it",
    "{begin} begins a span, a label's key ends it",
    "{begin} begins a span",
)

_SET = ("a label's key sets it: capitals with Shift", "capitals with Shift")


def _told(left: Sequence[Part], cells: int, *ways: str) -> list[Part]:
    """The first of these ways to tell what keys do that fits beside what stands at the left."""
    room = cells - taken(left) - 2
    return [Part(f"{told} ", "dim") for way in ways if width(told := keyed(way)) <= room][:1]


def _offered(work: Work) -> tuple[list[Part], list[Part]]:
    """What is suggested of the whole text, and the keys that take and refuse it."""
    suggestion = work.said.suggestion
    assert suggestion is not None
    theirs, words = suggestion.answer, list[str]()
    if LABELS in work.offered:
        words.append(", ".join(theirs.labels or ()) or "no label")
    if VALUES in work.offered:
        words += [f"{name} {value:.4g}" for name, value in theirs.values.items()]
    if SENTENCES in work.offered:
        said = ((place, one.emotion, one.valence) for place, one in theirs.sentences.items())
        words += [" ".join(filter(None, (str(place + 1), *told))) for place, *told in said]
    if WORDS in work.offered:
        words += [f"{place + 1} {word}" for place, word in theirs.words.items()]
    left = [Part(f" {suggestion.source} ", "key"), Part("  ".join(words), "strong")]
    return left, [Part(keyed("{take_span} takes it, {remove} does not "), "dim")]


def _begun(work: Work) -> list[Part]:
    """The relation that is begun, and what ends it."""
    kind, source = work.tie or ("", "")
    span = work.said.answer.span(source)
    key = next((one.key for one in work.scheme.relations if one.name == kind), "")
    from_here = "" if span is None else _said(work.text.text, span)
    told = keyed(f"   {{walk}} to the other span, {key} ends it, {{drop}} leaves it")
    return [Part(f" {kind} ", "key"), Part(f"from {from_here}", "strong"), Part(told, "dim")]


def _ties(work: Work, span: SpanMark) -> list[Part]:
    """What a span is tied to, and what to it."""
    there = {one.id: one for one in work.marking.spans}
    text = work.text.text
    found = [Part(f"  → {kind} {_said(text, there[to])}", "mark") for to, kind in span.relations if to in there]
    return found + [
        Part(f"  ← {kind} {_said(text, one)}", "mark")
        for one in work.marking.spans
        for to, kind in one.relations
        if to == span.id
    ]


def _said(text: str, span: SpanMark) -> str:
    """The words of all parts of a span."""
    return " … ".join(_words(text, part) for part in span.parts)


def _digits(work: Work) -> list[Part]:
    """While one adjudicates: which digits take a version."""
    digits = [other.name.partition(" ")[0] for other in work.others] if work.standing is not None else []
    return [Part(f" {digits[0]}-{digits[-1]}", "key"), Part(" take a version ", "dim")] if digits else []


def _take(other: OtherSaid) -> list[Part]:
    digit, _, name = other.name.partition(" ")
    press = f"tell('version', '{digit}')"
    return [Part(f" {digit}", "key", press), Part(f" {name} ", "plain", press)]


def _words(text: str, place: Span) -> str:
    said = " ".join(text[place[0] : place[1]].split())
    return f"“{said}”" if len(said) <= _SAID else f"“{said[: _SAID // 2 - 1]} … {said[1 - _SAID // 2 :]}”"


def label_lines(work: Work, cells: int) -> list[list[Part]]:
    """A line for each group of the scheme: its labels with their keys, those that hold now in brackets, and last those
    without a key, after the key that any label is chosen by.
    """
    lines: list[list[Part]] = []
    places = count_from(0)
    for group in work.scheme.groups:
        if group.of == MASK:
            left = sum(not work.said.words.get(place) for place in range(len(work.text.masks)))
            said = keyed("{hints} writes the word for a mask; ") + f"{left} of {len(work.text.masks)} to come"
            lines.append([Part(f" {group.name} ", "dim"), Part(said)])
            continue
        parts = [Part(f" {group.name} ", "dim")]
        now = _now(group, work)
        if group.scale is not None:
            alike = _alike(group, work)
            if len(alike) < _MANY:
                lines.append([*parts, *_number(group, work)])
            elif group == alike[0]:
                lines += _numbers(alike, work, cells)
            continue
        labels = [(next(places), label) for label in group.labels]
        coloured, told = len(labels) <= _COLOURED, False
        for place, label in sorted(labels, key=lambda one: not one[1].key):
            if not label.key and not told:
                told = True
                parts += [Part(" "), Part(keyed("{labels}"), "key", "do('labels')"), Part(" by name:", "dim"), Part("")]
            holds = label.name in now
            press = f"tell('label_at', {place})"
            name = f" {label.name}" if label.key else label.name
            parts.append(Part("[" if holds else " ", "strong"))
            parts.append(Part(label.key, "key", press))
            parts.append(_named(label if coloured else None, name, holds=holds, press=press))
            parts.append(Part("]" if holds else " ", "strong"))
        lines += folded(parts, cells)
    return lines + _relation_line(work, cells) + _strange_lines(work, cells)


def _strange_lines(work: Work, cells: int) -> list[list[Part]]:
    """That the list's texts are about other emotions than the labels, which are those of evidence in any text."""
    if not work.strange:
        return []
    told = f"not this list's labels: it has {', '.join(map(shown, work.strange))} too; `emotui annotate` takes a scheme"
    return [[Part(f" {told[start:end].rstrip()}", "mark")] for start, end in wrap(told, max(cells - 2, 20))]


def _relation_line(work: Work, cells: int) -> list[list[Part]]:
    """The scheme's relations with their keys, where it has some."""
    if not work.scheme.relations:
        return []
    parts = [Part(" relation ", "dim")]
    for one in work.scheme.relations:
        begun = work.tie is not None and work.tie[0] == one.name
        press = f"tell('label', '{one.key}')" if one.key.isalnum() else ""
        parts += [Part("[" if begun else " ", "strong"), Part(one.key, "key", press)]
        parts += [Part(f" {one.name}", "strong" if begun else "plain", press), Part("]" if begun else " ", "strong")]
    return folded(parts, cells)


def _named(label: Label | None, words: str, *, holds: bool, press: str = "") -> Part:
    """The name of a label in its colour, stronger where the label holds."""
    if label is None or not label.colour:
        return Part(words, "strong" if holds else "plain", press)
    return Part(words, f"{'held' if holds else 'label'}-{label.colour}", press)


def folded(parts: Sequence[Part], cells: int) -> list[list[Part]]:
    """Parts over as many lines as they need, about equally long: a label is never cut where a line ends, and where
    that saves the last line, one space parts labels and not two.
    """
    first, labels = parts[0], [list(parts[at : at + 4]) for at in range(1, len(parts), 4)]
    slim = [
        one[:-1] if one[-1].text == " " and after != "[" else one
        for one, after in zip(labels, [*(one[0].text for one in labels[1:]), ""], strict=False)
    ]
    if taken(parts) > cells >= taken([first, *(part for label in slim for part in label)]):
        labels = slim
    sizes, indent = [taken(label) for label in labels], len(first.text)
    lines = _broken(sizes, cells - indent)
    # The narrowest lines that are not more of them: the last one has more than a word then.
    room = next(n for n in range(1, max(cells - indent, *sizes, 1) + 1) if len(_broken(sizes, n)) <= len(lines))
    found: list[list[Part]] = []
    for at, (start, end) in enumerate(_broken(sizes, room)):
        head = first if not at else Part(" " * indent)
        found.append([head, *(part for label in labels[start:end] for part in label)])
    return found or [[first]]


def _broken(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """(start, end) of the labels of each line of so many cells."""
    lines: list[tuple[int, int]] = []
    start = used = 0
    for at, size in enumerate(sizes):
        if at > start and used + size > room:
            lines.append((start, at))
            start, used = at, 0
        used += size
    return [*lines, (start, len(sizes))] if sizes else []


def _number(group: Group, work: Work) -> list[Part]:
    assert group.scale is not None
    press = _press(group)
    ends = Part(f"  {_ends(group.scale)}", "dim")
    return [Part(f" {group.key} ", "key", press), Part(_value(group, work), "strong", press), ends]


def _numbers(groups: Sequence[Group], work: Work, cells: int) -> list[list[Part]]:
    """Numbers of one scale side by side, under its ends."""
    assert groups[0].scale is not None
    width = max(len(group.name) for group in groups)
    parts = [Part("")]
    for group in groups:
        press, value = _press(group), _value(group, work)
        parts += [Part("  "), Part(f"{group.key} ", "key", press), Part(f"{group.name:<{width}} ", "plain", press)]
        parts.append(Part(f"{value:<2}", "strong", press))
    return [[Part(f" each {_ends(groups[0].scale)}", "dim")], *folded(parts, cells)]


def _alike(group: Group, work: Work) -> list[Group]:
    """The numbers on the same scale, with the same words for its ends."""
    return [one for one in work.scheme.groups if one.of == group.of and one.scale == group.scale]


def _value(group: Group, work: Work) -> str:
    if work.number == group.name:
        return f"{work.typed}▏"
    value = work.said.answer.values.get(group.name)
    return "–" if value is None else f"{value:g}"


def _ends(scale: Scale) -> str:
    return f"{scale.minimum:g} {scale.low} … {scale.maximum:g} {scale.high}"


def _press(group: Group) -> str:
    return f"tell('label', '{group.key}')" if group.key.isalnum() else ""


def _now(group: Group, work: Work) -> frozenset[str]:
    """Which labels of a group hold where the caret is."""
    scheme, marking, said = work.scheme, work.marking, work.said
    match group.of:
        case "span":
            span = None if marking.selecting else marking.chosen_span
            if span is None:
                return frozenset()
            one = span.label if group == scheme.span_labels else span.attributes.get(group.name)
            return frozenset() if one is None else frozenset((one,))
        case "sentence":
            places = [n for n, (start, _) in enumerate(work.text.sentences) if start <= marking.at]
            here = said.sentences.get(places[-1] if places else 0, SentenceSaid())
            one = getattr(here, group.name)
            return frozenset() if one is None else frozenset((one,))
        case "text" if group in scheme.of(TEXT):
            return frozenset(said.labels or ())
    return frozenset()


_LEAST_GUIDELINES = 4
"""Lines from which on the beginning of the guidelines stands in them."""


def guideline_lines(scheme: Scheme, cells: int, rows: int) -> list[list[Part]]:
    """As much of the guidelines as so many empty lines hold, under a line of space, without Markdown's signs."""
    if not scheme.guidelines or rows < _LEAST_GUIDELINES:
        return []
    found: list[str] = []
    for line in filter(str.strip, scheme.guidelines.splitlines()):
        told = f"• {line.strip()[2:]}" if line.strip().startswith(("- ", "* ")) else line.strip().lstrip("# ")
        told, hangs = shown(_EMPHASIS.sub(r"\2", told)), "  " if told.startswith("• ") else ""
        broken = wrap(told, max(min(cells - 2, _WIDEST) - len(hangs), 20))
        found += [f"{hangs if start else ''}{told[start:end].rstrip()}" for start, end in broken]
    lines, room = [[Part("")]], rows - 1
    lines += [[Part(f" {one}", "dim")] for one in found[:room]]
    if len(found) > room:
        lines[-1] = [Part(keyed(" {guidelines} shows all of the guidelines"), "dim")]
    return lines


_EMPHASIS = re.compile(r"(\*\*|\*|`)(?=\S)(.+?)(?<=\S)\1")
"""Words between Markdown's signs of emphasis, or those of code."""

_WIDEST = 90
"""Cells of a line of guidelines."""


def others_lines(work: Work, cells: int) -> list[list[Part]]:
    """What others say beside spans, a line each: labels, numbers, sentences; once it is revealed.

    Whose spans have no label although the scheme has some is told first: their bars are bare.
    """
    if not work.shows_others:
        return []
    lines: list[list[Part]] = []
    bare = [one.name for one in work.others if one.answer.spans and not any(span.label for span in one.answer.spans)]
    if bare and work.scheme.span_labels is not None:
        told = f"{shown(', '.join(bare))}: their spans have no labels"
        lines.append([Part(f" {fit(told, max(cells - 2, 8)).rstrip()}", "dim")])
    for other in work.others:
        said = answer_words(other.answer)
        if said:
            for at, (a, b) in enumerate(wrap(said, max(cells - 17, 8))):
                lines.append([Part(f" {fit('' if at else other.name, 14)} ", "said"), Part(said[a:b])])
    return lines


def answer_words(answer: Answer) -> str:
    """What an answer says beside spans, in words."""
    words = []
    if answer.labels is not None:
        words.append(", ".join(answer.labels) or "none")
    words += [f"{name} {value:g}" for name, value in answer.values.items()]
    sentences = [
        " ".join([str(place + 1), *dict.fromkeys(part for part in (one.emotion, one.valence) if part)])
        for place, one in sorted(answer.sentences.items())
    ]
    words += [f"sentence{'s' if len(sentences) > 1 else ''} {', '.join(sentences)}"] if sentences else []
    words += [f"{place + 1} {word}" for place, word in sorted(answer.words.items())]
    return "  ".join(words)


def missing_parts(work: Work) -> tuple[str, ...]:
    """What the scheme requires and the answer lacks, in words."""
    return missing(work.scheme, work.text, work.said.answer)
