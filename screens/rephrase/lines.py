"""Headings and panes of the Rephrase place, from values to parts and lines."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.keymaps import keyed
from emotui.screens.rephrase.requests import Text, still_there
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import RIGHT, UNDEFINED, count, share, so_many
from emotui.screens.widgets.page import Lines
from emotui.tables import reads_zero

if TYPE_CHECKING:
    from emotui.metrics.lexical import Lexical
    from emotui.metrics.rephrasings import Change
    from emotui.workbench.rephrase.views import CarryingWords, ChainView, Progress, Round

_LEANS = 20
"""Cells that the words have beside what is told of their figures."""

Sides = tuple[list[Part], list[Part]]

ROUNDS = ("1", "2", "3", "4")
_NTH = ("1st", "2nd", "3rd", "4th")


def title(chain: "ChainView", round_: "Round", cells: int) -> Sides:
    """The text, its gold label, and what the classifier says to it; who writes."""
    verdict = "mark" if not chain.right else "dim"
    left = [
        Part(f" {chain.id}", "strong"),
        Part(" original  gold ", "dim"),
        Part(chain.label, "gold-line"),
        Part(f"  {short(round_.model)} says ", "dim", "do('name_model')"),
        Part(chain.predicted, "plain" if chain.right else "mark"),
        Part(f" {share(chain.confidence).strip()}", verdict),
    ]
    by = f"written by {round_.annotator} "
    used = sum(width(part.text) for part in left)
    return left, [Part(by, "dim")] if used + width(by) < cells else []


def waiting_title(text: Text) -> list[Part]:
    """A text before anything was asked about it, and its gold label."""
    return [Part(f" {text.id}", "strong"), Part(" original  gold ", "dim"), Part(text.gold, "gold-line")]


def waiting_attempt(cells: int, *, submits: bool) -> list[Part]:
    """What can be written while the classifier is loaded, in the longest words that fit."""
    lead = Part(" loading the classifier", "strong")
    told: tuple[str, ...] = ("kept; submits when it is loaded", "kept; submits then")
    if not submits:
        told = (
            "you can type already; {submit} submits once it is loaded",
            "type already; {submit} submits once it is loaded",
            "type already; {submit} submits",
        )
    said = [[lead, Part(f"  {keyed(words)}", "said" if submits else "dim")] for words in told]
    return next((parts for parts in said if taken(parts) <= cells), said[-1])


def short(spec: str) -> str:
    """A SPEC in few cells: of a path its last part."""
    kind, colon, rest = spec.partition(":")
    if colon and "/" in rest and "@" not in rest:
        rest = rest.rstrip("/").rsplit("/", 1)[-1]
    return fit(f"{kind}{colon}{rest}", min(width(f"{kind}{colon}{rest}"), 32)).rstrip()


def marked(text: str, spans: Sequence[tuple[int, int]], cells: int, kind: str = "cue") -> Lines:
    """A text on lines of so many cells, these stretches of it marked."""
    found: list[list[Part]] = []
    for start, end in wrap(text, cells):
        line: list[Part] = []
        at = start
        for first, last in spans:
            begin, stop = max(first, at), min(last, end)
            if begin >= stop:
                continue
            line += [Part(text[at:begin]), Part(text[begin:stop], kind)]
            at = stop
        line.append(Part(text[at:end].rstrip("\n")))
        found.append([part for part in line if part.text])
    return found


def too_long(characters: int, longest: int) -> str:
    """Why a paste was left out."""
    return (
        f"That would be {count(characters)} characters; a rephrasing of this text has at most {count(longest)}. "
        "Nothing was put in."
    )


def as_text(chain: "ChainView") -> str:
    """The original and its attempts, as they are copied."""
    lines = [f"{chain.id}\t{chain.label}\t{chain.predicted} {share(chain.confidence).strip()}\t{chain.original}"]
    lines += [
        f"{place}\t{chain.label}\t{one.predicted} {share(one.confidence).strip()}\t{one.text}"
        for place, one in enumerate(chain.attempts, 1)
    ]
    return "\n".join(lines)


def folded(text: str, cells: int, kind: str = "plain") -> list[list[Part]]:
    """A sentence on as many lines as it takes."""
    return [[Part(text[start:end].rstrip(), kind)] for start, end in wrap(text, cells)]


def attempt(chain: "ChainView", written: str, hint: str, draft: str, cells: int, *, suggested: bool) -> Sides:
    """Which attempt this is, what it is to do, and where there is room how long the text is beside the original; what
    is told of a draft that came back.
    """
    if not chain.offered:
        return [
            Part(" set aside", "strong"),
            Part("  the classifier is wrong already, an error: nothing to rewrite", "dim"),
        ], []
    if chain.state != "open":
        last = chain.attempts[-1] if chain.attempts else None
        how = {"succeeded": "key", "failed": "mark", "skipped": "dim"}[chain.state]
        left = [Part(f" {chain.state}", how)]
        if chain.state == "succeeded" and last is not None:
            left.append(Part(f" at attempt {len(chain.attempts)}: {_came_to(chain, last.predicted)}", "dim"))
        return left, [Part("^Z", "key", "do('undo')"), Part(" takes it back ", "dim", "do('undo')")]
    here = len(chain.attempts) + 1
    left = [Part(f" attempt {here} of {len(ROUNDS)}", "strong")]
    if suggested:
        left.append(Part("  suggested by a model", "mark"))
    if hint:
        return [*left, Part(f"  {hint}", "mark")], []
    if draft:
        return [*left, Part(f"  {draft}", "mark")], []
    if chain.attempts:
        left.append(Part(f"  the last was still read as {shown(chain.attempts[-1].predicted)}", "mark"))
    else:
        ways = _aims(chain)
        room = cells - taken(left) - 2
        left.append(Part("  " + next((way for way in ways if width(way) <= room), ways[-1])))
    before, now = len(chain.original.split()), len(written.split())
    length = [Part(f"{so_many(now, 'word')}, original {before} ", "dim")]
    return left, length if taken([*left, *length]) < cells else []


def _aims(chain: "ChainView") -> Sequence[str]:
    """What is to be written, in fewer and fewer words."""
    label = shown(chain.label)
    if chain.counters:
        return "take out what misleads, so that the model reads it rightly", "so that the model reads it rightly"
    return (
        f"rewrite it: people should still read {label}, the model no longer",
        f"people should still read {label}, the model no longer",
        f"people still read {label}, the model no longer",
        f"still {label} to people, not to the model",
        f"{label} to people, not to the model",
    )


def _came_to(chain: "ChainView", predicted: str) -> str:
    if not chain.counters:
        return f"{predicted} instead of {chain.label}"
    return f"{predicted} still" if chain.right else f"{predicted}, the error is gone"


def meaning(
    nearness: tuple[float | None, bool],
    lexical: "Lexical | None",
    words: "CarryingWords | None",
    warnings: Sequence[str],
    cells: int,
    most: int,
    gold: str = "",
    written: str | None = None,
    *,
    leans: bool = True,
) -> Lines:
    """How near the text still is, what kind of text it is, and which words give it away.

    Args:
        written: the text, where `words` may be of an earlier one.
        gold: its label; EmoLex has the cues of eight emotions, of which another may stand for it.
        most: lines that the cue words may take.
        leans: the words that give it away stand nowhere else.
    """
    similarity, is_new = nearness
    first = [Part("similarity ", "dim"), Part(share(similarity).strip(), "strong" if is_new else "dim")]
    if lexical is not None:
        first += [Part("   cue words ", "dim"), Part(lexical.category, "strong")]
        first += [Part("   negation ", "dim"), Part("yes" if lexical.negated else "no", "strong")]
    lines: list[list[Part]] = [first, *_cues(lexical, cells, most, gold)]
    lines.append(_leaning(words, cells, written) if leans else [Part("what each word adds: word by word below", "dim")])
    for warning in warnings:
        for place, line in enumerate(folded(warning, max(cells - 2, 10))):
            lines.append([Part("  " if place else "! ", "mark"), *line])
    return lines


def _stands_for(lexical: "Lexical", gold: str) -> str:
    """The emotion of EmoLex whose cues count as those of gold; empty: gold's own do."""
    return lexical.emotion or "" if gold and lexical.emotion != gold.strip().lower() else ""


def _cues(lexical: "Lexical | None", cells: int, most: int, gold: str) -> list[list[Part]]:
    """The cue words with their emotions, on at most so many lines."""
    if lexical is None:
        return [[Part("no cue words: no list ties words to this label", "dim")]]
    other = _stands_for(lexical, gold)
    head = f"EmoLex ({shown(gold)} → {other}): " if other else "EmoLex: "
    if not lexical.cues:
        return [[Part(f"{head}no cue word left", "dim")]]
    if lexical.category == "misleading":
        head += f"no {other or shown(gold) or 'such'} word; "
    lines = [[Part(head, "dim")]]
    room = cells - width(head)
    for cue in lexical.cues:
        tied = f" {', '.join(cue.emotions)}"
        size = width(cue.word) + width(tied) + 2
        if size > room:
            if len(lines) == most:
                lines[-1].append(Part("…", "dim"))
                break
            lines.append([Part(" " * width(head))])
            room = cells - width(head)
        lines[-1] += [Part(cue.word, "cue"), Part(f"{tied}   ", "dim")]
        room -= size
    return lines


def _leaning(words: "CarryingWords | None", cells: int, written: str | None) -> list[Part]:
    """The words that carry gold, each with the log-odds that gold loses without it; in grey what was found of an
    earlier text.
    """
    if words is None:
        return [Part("leans on  … when you rest", "dim")]
    stale = written is not None and words.text != written
    if stale:
        words = still_there(words, written or "")
    carrying = sorted((one for one in words.gold if one[2] > 0), key=lambda one: -one[2])
    verb = "leaned on" if stale else "leans on"
    name = shown(words.gold_label)
    ways = (f"{verb}, for {name} (log-odds lost without it) ", f"{verb}, for {name} (log-odds) ")
    head = next((way for way in ways if width(way) <= cells - _LEANS), ways[-1])
    parts = [Part(head, "dim")]
    room = cells - width(head)
    for start, end, drop in carrying:
        word = shown(words.text[start:end]) + _nth(words, start)
        figure = f" {share(drop).strip()}  "
        if reads_zero(drop) or width(word) + width(figure) > room:
            break
        parts += [Part(word, "dim" if stale else "strong"), Part(figure, "dim")]
        room -= width(word) + width(figure)
    none = f"{verb}  … when you rest" if stale else f"no word makes {name} likelier"
    return parts if carrying else [Part(none, "dim")]


def _nth(words: "CarryingWords", start: int) -> str:
    """` (2nd)` of a word that has stood in the text before; nothing of the first."""
    word = next(words.text[first:last] for first, last, _ in words.gold if first == start)
    n = sum(first <= start and words.text[first:last] == word for first, last, _ in words.gold)
    return "" if n == 1 else f" ({_NTH[n - 1] if n <= len(_NTH) else f'{n}th'})"


_READ = "read as"
"""What stands over the labels that the classifier said."""


def chain_lines(chain: "ChainView", drafts: Sequence[tuple[str, str]], cells: int) -> Lines:
    """The attempts so far: what the classifier said to each, how sure it was of gold, how near it was, the text.

    Args:
        drafts: what was written in other rounds and never submitted: what is told of each, and the text.
    """
    name = max((width(_READ), *(width(one.predicted) for one in chain.attempts)))
    over = (
        f"  {fit(_READ, name)}   gold  sim  text"
        if chain.attempts
        else "no attempt yet: what the model reads stands here"
    )
    lines: list[list[Part]] = [[Part(fit(over, cells).rstrip(), "dim")]]
    for place, one in enumerate(chain.attempts, 1):
        succeeds = chain.succeeds(one.predicted)
        head = [
            Part(f"{place} ", "strong"),
            Part(fit(one.predicted, name), "gold" if one.predicted == chain.label else "said"),
            Part(f" {RIGHT} " if succeeds else "   ", "said"),
            Part(f"{share(one.confidence)} ", "plain"),
            Part(f"{share(one.similarity)}  ", "dim"),
        ]
        if one.suggested:
            head.append(Part("S ", "mark"))
        room = cells - sum(width(part.text) for part in head)
        lines.append([*head, Part(fit(one.text, max(room, 8)).rstrip())])
    for told, text in drafts:
        lines.append([Part("draft  ", "mark"), Part(fit(told, max(cells - 7, 8)).rstrip(), "dim")])
        lines += folded(text, cells)
    return lines


def word_lines(words: "CarryingWords | None", cells: int, written: str | None = None) -> Lines:
    """Every word with how far the labels' log-odds fall without it.

    Args:
        written: the text, where `words` may be of an earlier one: then what still stands in it is shown, in grey.
    """
    if words is None:
        return [[Part("what each word adds to the verdict: comes when you rest", "dim")]]
    if written is not None and words.text != written:
        of_before = word_lines(still_there(words, written), cells)
        told = [Part("of the text before; of this one when you rest", "mark")]
        return [told, *([Part(part.text, "dim") for part in line] for line in of_before)]
    if not words.gold:
        return [[Part("no word in it", "dim")]]
    both = words.top_label != words.gold_label
    most = max((abs(drop) for rows in (words.gold, words.top) for _, _, drop in rows), default=0.0)
    size = max(min((cells - 18 - (10 if both else 0)) // (2 if both else 1) - 8, 24), 4)
    head = [Part(fit("without it", 16), "dim"), Part(fit(words.gold_label, size + 8), "gold")]
    if both:
        head.append(Part(fit(words.top_label, size + 8), "said"))
    lines: list[list[Part]] = [head]
    tops = {(start, end): drop for start, end, drop in words.top}
    for start, end, drop in words.gold:
        line = [Part(fit(words.text[start:end], 15) + " "), *_drop(drop, most, size, "gold")]
        if both:
            line += _drop(tops.get((start, end)), most, size, "said")
        lines.append(line)
    if words.cut:
        lines.append([Part("only the first words were tried", "dim")])
    return [*lines, *folded("log-odds that the label loses without the word; minus: it gains", cells, "dim")]


def _drop(drop: float | None, most: float, size: int, kind: str) -> list[Part]:
    if drop is None:
        return [Part(f"{UNDEFINED:>6}" + " " * (size + 2))]
    full = round(abs(drop) / most * size) if not reads_zero(drop) else 0
    sign = "■" if drop >= 0 else "□"
    return [Part(f"{drop:+6.2f} "), Part(sign * full, kind), Part(" " * (size - full + 1))]


OF_SUCCESS = f"succeeded, {RIGHT}: the model no longer reads gold; what people read: {{review}}"


def session(progress: "Progress", last: str, cells: int) -> Lines:
    """How far one is: done, succeeded and at which attempt, failed, skipped, left, set aside."""
    at = ", ".join(f"{count(n)} at the {_NTH[place]}" for place, n in enumerate(progress.succeeded_at) if n)
    whole = [
        [Part(f"{count(progress.done)}", "strong"), Part(f" of {so_many(progress.offered, 'text')} done   ", "dim")],
        [
            Part(f"{count(sum(progress.succeeded_at))}", "strong"),
            Part(f" succeeded{f': {at}' if at else ''}   ", "dim"),
        ],
        [Part(f"{count(progress.failed)}", "strong"), Part(" failed   ", "dim")],
        [Part(f"{count(progress.skipped)}", "strong"), Part(" skipped   ", "dim")],
        [Part(f"{count(progress.left)}", "strong"), Part(" to come   ", "dim")],
        [Part(f"{count(progress.set_aside)}", "strong"), Part(" more left out: the model errs already", "dim")],
    ]
    if progress.errors is not None:
        whole[-1] = [
            Part(f"{count(progress.gone)}", "strong"),
            Part(f" of {count(progress.errors)} errors gone", "dim"),
        ]
    lines: list[list[Part]] = [[]]
    for group in whole:
        used = sum(width(part.text) for part in lines[-1])
        if used and used + sum(width(part.text.rstrip()) for part in group) > cells:
            lines.append([])
        lines[-1] += group
    if progress.offered:
        full = round(progress.done / progress.offered * min(cells, 60))
        lines.append([Part("━" * full, "said"), Part("·" * (min(cells, 60) - full), "rest")])
    if last:
        lines += folded(last, cells, "dim")
    if any(progress.succeeded_at) and progress.errors is None:
        lines += folded(keyed(OF_SUCCESS), cells, "dim")
    return lines


def difference(changes: "Sequence[Change]", cells: int) -> Lines:
    """The original with what was left out of it (−) and what is new (+), in place."""
    if not any(change.kind != "same" for change in changes):
        return [[Part("nothing changed yet from the original", "dim")]] if changes else []
    signs = {"same": ("", "plain"), "removed": ("−", "left-out"), "added": ("+", "new")}
    lines: list[list[Part]] = [[]]
    used = 0
    for change in changes:
        sign, kind = signs[change.kind]
        for word in (sign + change.words).split():
            drawn = shown(word)
            size = width(drawn)
            if used and used + 1 + size > cells:
                lines.append([])
                used = 0
            if used:
                lines[-1].append(Part(" ", kind if lines[-1][-1].kind == kind else "plain"))
                used += 1
            lines[-1].append(Part(drawn, kind))
            used += size
    return lines
