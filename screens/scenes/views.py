"""What the lower pane of the Scenes place shows, a function a view: from values to lines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from emotui.screens.keymaps import keyed
from emotui.screens.scenes.axis import LABEL, Axis, alpha_text
from emotui.screens.scenes.charts import choice, figure_cells, heatmap, label_cells, largest, rates, sweep
from emotui.screens.scenes.ribbons import Ribboned, one_line
from emotui.screens.widgets.cell_width import fit, width, wrap
from emotui.screens.widgets.drawing import ground
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import UNDEFINED, count, share
from emotui.screens.widgets.page import Lines, side_by_side
from emotui.tables import reads_zero, short_names

if TYPE_CHECKING:
    from emotui.workbench.scenes.decoding import Answer as HardAnswer
    from emotui.workbench.scenes.decoding import Chosen, Decoded, Redecoding, Row, Sweep
    from emotui.workbench.scenes.service import Published

# Own evidence, bias and the pull of the other emotions as a sum: stacks on one scale, with where alpha 0 stands.

_NAME = 15
_TERMS = (("own", "▆", "said"), ("bias", "▓", "dim"), ("others", "░", "plain"))
_CLAMP = ("clamp", "▞", "strong")
"""The pull of emotions that are clamped to yes: a term of its own while something is clamped."""
ALONE, NOW = "○", "●"
LEAST = 8
"""Cells below which a stack says nothing."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One scale for all emotions, in nats: 0 stands in cell `zero` of `cells`, `nats` is the size of a cell."""

    cells: int
    zero: int
    nats: float

    @classmethod
    def of(cls, rows: "Sequence[Row]", cells: int) -> "Scale":
        """The scale on which every stack fits."""
        terms = [_terms(row) for row in rows]
        against = max((-sum(min(term, 0.0) for term in one) for one in terms), default=0.0)
        for_it = max((sum(max(term, 0.0) for term in one) for one in terms), default=0.0)
        whole = max(against + for_it, 0.1)
        zero = min(max(round(against / whole * (cells - 1)), 1), cells - 2)
        room = min(zero / against if against else cells, (cells - 1 - zero) / for_it if for_it else cells)
        return cls(cells, zero, 1 / room)

    def at(self, nats: float) -> int:
        """The cell in which a size stands."""
        return min(max(self.zero + round(nats / self.nats), 0), self.cells - 1)

    def stack(self, row: "Row") -> list[Part]:
        """The three terms outward from 0, where alpha 0 stands and where the sum does."""
        drawn = [(" ", "plain")] * self.cells
        drawn[self.zero] = ("│", "rest")
        for sign in (-1, 1):
            reach = 0.0
            for (_, glyph, kind), term in zip((*_TERMS, _CLAMP), _terms(row), strict=True):
                if term * sign <= 0:
                    continue
                first, last = self.at(reach), self.at(reach + term)
                for cell in range(first, last, sign):
                    drawn[cell + sign] = (glyph, kind)
                reach += term
        drawn[self.at(row.own)] = (ALONE, "strong")
        drawn[self.at(row.total)] = (NOW, "key")
        return [Part(glyph, kind) for glyph, kind in drawn]

    def ends(self) -> str:
        """The scale in figures: its ends and 0, in nats."""
        low, high = -self.zero * self.nats, (self.cells - 1 - self.zero) * self.nats
        left, right = f"{low:+.1f}", f"{high:+.1f}"
        cells = [" "] * self.cells
        cells[self.zero] = "0"
        if self.zero > len(left):
            cells[: len(left)] = left
        if self.cells - 1 - self.zero > len(right):
            cells[self.cells - len(right) :] = right
        return "".join(cells)


def _terms(row: "Row") -> tuple[float, float, float, float]:
    return row.own, row.bias, row.neighbours - row.clamped, row.clamped


def _named(rows: "Sequence[Row]") -> tuple[tuple[str, str, str], ...]:
    """The terms that are shown: that of clamps while there is one."""
    return (*_TERMS, _CLAMP) if any(row.clamp is not None for row in rows) else _TERMS


def evidence(rows: "Sequence[Row]", cursor: int, cells: int, height: int, answer: "HardAnswer | None" = None) -> Lines:
    """All emotions where there are lines for them, else the picked one alone. `answer`: a hard one about that."""
    if height < len(rows) + 2:
        return _one(rows, cursor, cells, answer)
    lines = _all(rows, cursor, cells, answer)
    return [*lines, *_sum_note(rows, cursor, cells, height - len(lines))] if len(lines) < height else lines


def _all(rows: "Sequence[Row]", cursor: int, cells: int, answer: "HardAnswer | None") -> Lines:
    figure, decimals = (7, 2) if cells >= 64 else (6, 1)
    named = _named(rows)
    names = [name if figure > len(name) else name[: figure - 1] for name, _, _ in named] + ["sum"]
    room = cells - _NAME - len(names) * figure - 2
    scale = Scale.of(rows, room) if room >= LEAST else None
    head = fit("  log-odds", _NAME) + "".join(f"{name:>{figure}}" for name in names)
    lines = [[Part(head, "dim"), Part(f"  {scale.ends()}" if scale else "", "dim")]]
    for place, row in enumerate(rows):
        here = place == cursor
        name = fit(row.label, _NAME - 3).rstrip()
        line = [
            Part("▸ " if here else "  ", "picked" if here else "plain"),
            Part(name, "gold-line" if row.gold else "strong" if here else "plain"),
            Part(" " * (_NAME - 2 - width(name))),
            *(Part(f"{_nats(term, decimals):>{figure}}") for term, _ in zip(_terms(row), named, strict=False)),
        ]
        if row.clamp is not None:
            line.append(Part(f"{'= yes' if row.clamp else '= no':>{figure}}", "strong"))
        else:
            line.append(Part(f"{_nats(row.total, decimals):>{figure}}", "strong"))
        lines.append([*line, Part("  "), *scale.stack(row)] if scale else line)
    picked = f"{rows[cursor].label}, " if 0 <= cursor < len(rows) else ""
    return [*lines, _legend(cells, answer, picked, named)]


def _sum_note(rows: "Sequence[Row]", cursor: int, cells: int, height: int) -> list[list[Part]]:
    """Why the sum of the picked emotion would be another probability than P(yes), where it would be.

    Args:
        height: lines that there are for it.
    """
    if not 0 <= cursor < len(rows):
        return []
    row = rows[cursor]
    if row.clamp is not None:
        return note(f"  {row.label} is taken as {'yes' if row.clamp else 'no'}, whatever its sum is", cells)
    held, p_yes = share(row.given).strip(), share(row.posterior).strip()
    if held == p_yes:
        return []
    whole = f"{row.label}: P(yes) {p_yes} allows for all that the other emotions may be; as decoded it is {held}"
    if len(lines := note(whole, cells - 2)) <= height:
        return [[Part("  "), *line] for line in lines]
    short = f"  P(yes) {p_yes}: whatever the others may be; {held}: as they are decoded"
    return note(short, cells)


def _one(rows: "Sequence[Row]", cursor: int, cells: int, answer: "HardAnswer | None") -> Lines:
    if not 0 <= cursor < len(rows):
        return []
    row = rows[cursor]
    scale = Scale.of(rows, max(cells, LEAST))
    sums: list[Part] = [Part(fit(row.label, min(width(row.label), 14)), "gold-line" if row.gold else "strong")]
    named = _named(rows)
    for (name, glyph, kind), term in zip(named, _terms(row), strict=False):
        sums += [Part(f"  {name} "), Part(glyph, kind), Part(f" {_nats(term, 2)}")]
    said = "yes" if row.now else "no"
    if row.clamp is None:
        sums.append(Part(f"  = {_nats(row.total, 2)}", "strong"))
        p_yes = share(row.posterior).strip()
        ways = (f"  P(yes) {p_yes}: {said}", f"  {said}", "")
        sums.append(Part(next(way for way in ways if not way or taken(sums) + width(way) < cells)))
    else:
        sums.append(Part(f"  taken as {said}", "strong"))
    return [sums, scale.stack(row), [Part(scale.ends(), "dim")], _legend(cells, answer, named=())]


def _legend(
    cells: int,
    answer: "HardAnswer | None",
    emotion: str = "",
    named: Sequence[tuple[str, str, str]] = _TERMS,
) -> list[Part]:
    """What the glyphs mean, and what `own` is made of where the answer is hard."""
    parts: list[Part] = [Part("  ")]
    for name, glyph, kind in named:
        parts += [Part(glyph, kind), Part(f" {name}  ", "dim")]
    parts += [Part(ALONE, "strong"), Part(" at α 0  ", "dim"), Part(NOW, "key"), Part(" now", "dim")]
    if answer is None:
        side = "   right of 0: for it, left: against"
        return [*parts, Part(side, "dim")] if taken(parts) + width(side) <= cells else parts
    right = share(answer.sensitivity).strip(), share(answer.specificity).strip()
    room = cells - sum(width(part.text) for part in parts)
    for weight in (f"sensitivity {right[0]}, specificity {right[1]}", f"s {right[0]} c {right[1]}"):
        said = f"   {emotion}said {answer.word}: {weight}"
        if width(said) <= room:
            return [*parts, Part(said, "dim")]
    return parts


def _nats(value: float, decimals: int) -> str:
    """A term in nats, `–` where there is none."""
    return "–" if value == 0 else f"{value:+.{decimals}f}"


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """All that a view may draw from; what has not come yet is None."""

    redecoding: "Redecoding"
    decoded: "Decoded"
    step: int
    place: int | None
    rows: "Sequence[Row]"
    label: int
    clamps: Mapping[int, int]
    sweep: "Sweep | None"
    chosen: "Chosen | None"
    with_prior: "Chosen | None"
    pairs: "Mapping[str, Mapping[str, Any]] | None"
    runs: "Mapping[str, tuple[str, Mapping[str, Any]]] | None"
    table: "tuple[str, Sequence[Published]] | None"
    in_sample: bool
    hidden: "Ribboned | None" = None
    """The ribbons, where they are not on the screen beside the view."""


def _answer(shown: Shown) -> "HardAnswer | None":
    """The hard answer about the picked emotion."""
    return None if shown.place is None else shown.redecoding.answer(shown.place, shown.label)


def note(text: str, cells: int) -> list[list[Part]]:
    """A remark under a view, on as many lines as it takes."""
    return [[Part(text[start:end].rstrip(), "dim")] for start, end in wrap(text, max(cells, 20))]


View = Callable[[Shown, int, int], Lines]
"""From what is known to lines, in so many columns and rows."""


def _evidence(shown: Shown, cells: int, height: int) -> Lines:
    """The sum for each emotion; where there is room, what the prior holds and what it comes to under it."""
    if not shown.rows:
        return _silent()
    lines = evidence(shown.rows, shown.label, cells, height, _answer(shown))
    room = height - len(lines)
    if room < _CHARTS:
        return lines
    # What is leaked stands in the view of the whole set alone.
    charts = _sweep(replace(shown, in_sample=False), cells, max(room - 1, _CHARTS))
    return [*lines, *([[]] if room > _CHARTS else []), *charts]


_CHARTS = 9
"""Lines below which the sweep is not drawn under the evidence."""


def _silent() -> Lines:
    return [[Part("The run has no answer about this scenario (yet).", "dim")]]


def _sweep(shown: Shown, cells: int, height: int) -> Lines:
    """The figures over alpha, and where there is room the couplings beside them."""
    if shown.sweep is None:
        return [[Part("decoding at every alpha…", "dim")]]
    said = choice(shown.chosen, shown.with_prior, cells, in_sample=shown.in_sample)
    rows = max(1, min(4, (height - 2 - len(said)) // 3))
    prior, names = shown.redecoding.whole, shown.redecoding.scenes.labels
    cell = figure_cells([prior.couplings], names)
    beside = max(map(width, short_names(names))) + 2 + (len(names) - 1) * cell
    left = cells - beside - 2
    label = LABEL if left >= LABEL + len(shown.sweep.alphas) else _NARROW
    axis = Axis.of(shown.sweep.alphas, left, label, 0)
    drawn = partial(sweep, shown.sweep, shown.chosen, shown.step, in_sample=shown.in_sample)
    if axis.together > 1 or height < len(names) + 1:
        return [*drawn(Axis.of(shown.sweep.alphas, cells), rows, cells=cells), *said]
    block = heatmap("couplings (nats)", names, prior.couplings, cell=cell, diagonal=False, upper=True)
    if rows >= 2 and 3 * rows + 2 >= len(block):
        return [*side_by_side([drawn(axis, rows, cells=left), block], [axis.cells, beside], cells), *said]
    # Where lines are few, what was chosen stands under the curves and beside the couplings, as much as has room.
    curves, room = drawn(axis, 1, cells=left), max(height, len(block))
    for with_prior in (shown.with_prior, None):
        said = choice(shown.chosen, with_prior, left, in_sample=shown.in_sample)
        if len(curves) + len(said) <= room:
            break
    column = [list(line) for line in (*curves, *said)]
    return side_by_side([column, block], [left, beside], cells)


_NARROW = 13
"""Cells of the names of figures where couplings beside them leave no more."""


def _flips(shown: Shown, cells: int, height: int) -> Lines:
    decoded, scenes = shown.decoded, shown.redecoding.scenes
    flips = decoded.flips
    if not (flips.gains or flips.losses or flips.even):
        return [
            [Part(f"Nothing flips between α {alpha_text(decoded.other)} and α {alpha_text(decoded.alpha)}.", "dim")]
        ]
    lines: list[list[Part]] = []
    for title, sign, places, kind in (
        ("gains", "▴", flips.gains, "said"),
        ("losses", "▾", flips.losses, "mark"),
        ("as many right as before", "~", flips.even, "dim"),
    ):
        lines.append([Part(f"{title}  {count(len(places))}", "strong")])
        for place in places:
            here = place == shown.place
            changes = [
                f"{'+' if decoded.now[place, i] else '-'}{name}"
                + ("" if decoded.now[place, i] == scenes.gold[place, i] else " (wrong)")
                for i, name in enumerate(scenes.labels)
                if decoded.now[place, i] != decoded.before[place, i]
            ]
            press = f"tell('scene', {scenes.numbers[place]})"
            lines.append(
                [
                    Part(f"  {sign} ", kind),
                    Part(fit(scenes.ids[place], 12) + " ", "picked" if here else "plain", press),
                    Part("  ".join(changes), "plain", press),
                ]
            )
    return lines


_WHY = 42
"""Cells before the bar of a term: its name and its figure."""


def _why(shown: Shown, cells: int, height: int) -> Lines:
    redecoding = shown.redecoding
    if shown.place is None:
        return _silent()
    labels, alpha = redecoding.scenes.labels, shown.decoded.alpha
    terms = redecoding.why(shown.place, alpha, shown.label, shown.clamps)
    row = redecoding.rows(shown.place, alpha, shown.clamps)[shown.label]
    flipped = "" if row.before == row.now else f", and the model alone said {'yes' if row.before else 'no'}"
    verdict = "yes" if row.now else "no"
    lines: list[list[Part]] = [
        [Part(f"{row.label}: ", "strong"), Part(f"{verdict} at α {alpha_text(alpha)}{flipped}")],
        *note("the terms of its log-odds (nats), the other emotions being as decoded, by size", cells),
    ]
    most = max((abs(term.value) for term in terms), default=0.0)
    answer = _answer(shown)
    longest = max(min(cells - _WHY - width(" against"), 24), 4)
    own = "the model's own evidence" if answer is None else f"the model said {answer.word}"
    for term in terms:
        name = {"evidence": own, "bias": "prior: how common it is"}.get(term.source)
        if name is None:
            other = term.neighbour or 0
            by = "clamp" if other in shown.clamps else "prior"
            name = f"{by}: {labels[other]} is there"
        size = round(abs(term.value) / most * longest) if not reads_zero(term.value) else 0
        kind = "said" if term.value > 0 else "mark"
        lines.append(
            [
                Part(f"  {name:<30}{term.value:+8.2f}  "),
                Part("■" * size, kind),
                Part(" for" if term.value > 0 else " against" if term.value else "", "dim"),
            ]
        )
    for other, value in shown.clamps.items():
        if not value and other != shown.label:
            lines.append([Part(f"  {f'clamp: {labels[other]} is not there':<30}{0:+8.2f}  "), Part("no pull", "dim")])
    total = sum(term.value for term in terms)
    lines.append(
        [Part(f"  {'together':<30}{total:+8.2f}  ", "strong"), Part(f"as a probability {share(row.given).strip()}")]
    )
    if row.clamp is None:
        over = f"P(yes) {share(row.posterior).strip()}: over all that the other emotions may be, not just as decoded"
        lines += note(f"  {over}", cells)
    if answer is not None:
        often = f"{share(answer.sensitivity).strip()} where it is felt, {share(answer.specificity).strip()} where not"
        lines += note(f"an answer in words counts as such answers are right on the other folds: {often}", cells)
    if row.clamp is not None:
        said = f"  clamp: taken as {'yes' if row.clamp else 'no'}, whatever these terms are"
        lines.append([Part(said, "strong"), Part(keyed("  {clamp} turns it, {free} frees all"), "dim")])
    elif redecoding.tuning.objective == "hamming":
        lines.append([Part("  decided by P(yes) above one half: expected Hamming", "dim")])
    elif redecoding.tuning.objective == "macro-f1":
        lines.append([Part("  decided by the rank of P(yes) among all scenarios: expected macro-F1", "dim")])
    elif (total > 0) != bool(row.now) and total:
        lines.append([Part("  the best vector as a whole differs from this emotion's own best", "dim")])
    ribbon = [] if shown.hidden is None else one_line(shown.hidden, shown.label, cells)
    return [*lines, [], *ribbon] if ribbon and len(lines) + len(ribbon) < height else lines


def _couplings(shown: Shown, cells: int, height: int) -> Lines:
    names, prior = shown.redecoding.scenes.labels, shown.redecoding.whole
    cell = figure_cells([prior.couplings], names)
    label = label_cells(names, cell, cells - 10)
    block = heatmap("couplings (nats)", names, prior.couplings, cell=cell, diagonal=False, label=label)
    most = float(abs(prior.theta).max())
    bias: list[list[Part]] = [[Part("  bias", "strong")], []]
    bias += [[Part("  "), Part(f"{value:+6.2f}", ground(value, most))] for value in prior.theta.tolist()]
    return [
        *side_by_side([block, bias], [label + len(names) * cell, 8], cells),
        [],
        *note(
            f"Couplings in nats, at most {float(abs(prior.couplings).max()):.1f}; minus: rarer together than apart. "
            "Fitted on all scenarios; each is decoded by a prior fitted without its fold.",
            cells,
        ),
    ]


def _pairs(kind: str) -> View:
    def view(shown: Shown, cells: int, height: int) -> Lines:
        if shown.pairs is None:
            return [[Part("counting…", "dim")]]
        names, group = shown.redecoding.scenes.labels, shown.pairs[kind]
        # Gold, model and decoded share one scale; their difference has its own.
        most = max(largest(group[name]) for name in ("gold", "model", "now")) if len(names) > 1 else 1.0
        cell = figure_cells(list(group.values()), names)
        label = label_cells(names, cell, cells, len(group))
        blocks = []
        for name, matrix in group.items():
            title = {"model": "model (α 0)", "now": f"decoded (α {alpha_text(shown.decoded.alpha)})"}.get(name, name)
            own_scale = "−" in name
            blocks.append(
                heatmap(
                    title,
                    names,
                    matrix,
                    cell=cell,
                    diagonal=kind != "given",
                    most=None if own_scale else most,
                    label=label,
                )
            )
        said = {
            "together": "share of scenarios with both emotions (on the diagonal, with that one)",
            "given": "P(column | row): of the scenarios with the row's emotion, the share with the column's",
            "information": "mutual information in nats (on the diagonal, an emotion's entropy)",
        }[kind]
        return [
            *side_by_side(blocks, [label + len(names) * cell] * len(blocks), cells),
            [],
            *note(f"{said}; the strongest ground is {most:.2f}, in the difference its own largest", cells),
            *note(_counts(shown), cells),
        ]

    return view


def _counts(shown: Shown) -> str:
    """How many emotions a scenario has, and how far its annotators agree."""
    scenes, now = shown.redecoding.scenes, shown.decoded.now
    sources = (("gold", scenes.gold), ("model", scenes.alone), ("decoded", now))
    means = ", ".join(f"{name} {vectors.sum(axis=1).mean():.2f}" for name, vectors in sources)
    several = ", ".join(f"{name} {(vectors.sum(axis=1) > 1).mean():.0%}" for name, vectors in sources)
    said = f"emotions a scenario: {means}; with several: {several}"
    agreement = scenes.agreement
    if agreement is None:
        return said
    by_label = ", ".join(f"{name} {_two(kappa)}" for name, kappa in zip(scenes.labels, agreement.by_label, strict=True))
    return (
        f"{said}; annotators: Fleiss kappa {_two(agreement.fleiss)} ({by_label}), mean pairwise Cohen kappa "
        f"{_two(agreement.mean_pairwise)}"
    )


def _two(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


def _rates(shown: Shown, cells: int, height: int) -> Lines:
    if shown.runs is None:
        return [[Part("reading the runs…", "dim")]]
    names = shown.redecoding.scenes.labels
    decoded = shown.decoded
    lines: list[list[Part]] = []
    for figure in ("precision", "recall"):
        rows = {
            name: [report["by_label"].get(label, {}).get(figure) for label in names]
            for name, report in shown.runs.values()
        }
        rows[f"this run, α {alpha_text(decoded.alpha)}"] = _rates_now(shown, figure)
        lines += [*rates(f"{figure} by emotion", names, rows, cells), []]
    return [
        *lines,
        *note("runs at α 0, newest first, and this run as decoded now; – where nothing was predicted", cells),
    ]


def _rates_now(shown: Shown, figure: str) -> list[float | None]:
    now, gold = shown.decoded.now.astype(int), shown.redecoding.scenes.gold.astype(int)
    hits, sizes = (now & gold).sum(axis=0), (now if figure == "precision" else gold).sum(axis=0)
    return [float(hit / size) if size else None for hit, size in zip(hits.tolist(), sizes.tolist(), strict=True)]


_TABLE = (
    ("macro_f1", "Macro-F1"),
    ("vector_accuracy", "Acc_v"),
    ("hamming_loss", "Hamming"),
    ("lexical_accuracy", "Acc_l"),
)


def _table(shown: Shown, cells: int, height: int) -> Lines:
    if shown.table is None or shown.runs is None:
        return [[Part("reading Table 1…", "dim")]]
    from emotui.workbench.scenes.decoding import ABOUT_OBJECTIVES

    figure = min(max((cells - 14) // len(_TABLE), 10), 13)
    name = min(max(cells - figure * len(_TABLE), 14), 30)
    under = "alone→prior" if figure > 11 else "α0→prior"
    lines: list[list[Part]] = [
        [Part(fit("model", name), "strong"), *(Part(f"{title:>{figure}}", "strong") for _, title in _TABLE)],
        [Part(" " * name), *(Part(f"{under:>{figure}}", "dim") for _ in _TABLE)],
    ]
    here = shown.redecoding.scenes.run.run
    for run, (title, report) in shown.runs.items():
        after: Mapping[str, float | None] = {}
        if run == here and shown.chosen is not None:
            after = {figure: getattr(shown.chosen.nested_cv, figure) for figure, _ in _TABLE}
        lines.append(_table_line(title, name, figure, report, after, "picked" if run == here else "plain"))
    cite, rows = shown.table
    lines += [_table_line(f"{row.model} †", name, figure, row.before, row.after, "dim") for row in rows]
    return [
        *lines,
        [],
        *note("Acc_v: scenarios with all emotions right; Hamming: emotions wrong; Acc_l: emotions right", cells),
        *note(
            "own runs: α by nested cross-validation with this prior, for the run that is shown, decoded for the "
            f"{ABOUT_OBJECTIVES[shown.redecoding.tuning.objective]}",
            cells,
        ),
        *note(f"† published: {cite}; other scenarios, so not to be compared figure by figure", cells),
    ]


def _table_line(
    model: str, cells: int, figure: int, before: Mapping[str, Any], after: Mapping[str, Any], kind: str
) -> list[Part]:
    parts = [Part(fit(model, cells), kind)]
    for name, _ in _TABLE:
        said = f"{_three(before.get(name))}→{_three(after.get(name))}"
        parts.append(Part(f"{said:>{figure}}", "dim" if kind == "dim" else "plain"))
    return parts


def _three(value: float | None) -> str:
    return f"{UNDEFINED:>4}" if value is None else f"{value:.3f}".removeprefix("0")


SUM, WHY = "sum", "why"
EVIDENCE, SWEEP, FLIPS, PAIRS, EMOTIONS = "evidence", "sweep", "flips", "pairs", "emotions"

VIEWS: dict[str, dict[str, View]] = {
    EVIDENCE: {SUM: _evidence, WHY: _why},
    SWEEP: {SWEEP: _sweep},
    FLIPS: {FLIPS: _flips},
    PAIRS: {
        "couplings": _couplings,
        "information": _pairs("information"),
        "together": _pairs("together"),
        "given": _pairs("given"),
    },
    EMOTIONS: {"rates": _rates, "Table 1": _table},
}
"""By name, in the order in which v goes through them, and of each its parts."""
