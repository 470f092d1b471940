"""The tables of Results for masked words: Table 3, A.6, A.10 and A.11, and Figures 2 and A.3, with own runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log10
from typing import Any

import msgspec

from emotui.metrics.beside import with_beside
from emotui.metrics.masked import MaskScore, fold
from emotui.metrics.masked_errors import normalised_mispredictions, word_counts
from emotui.metrics.repeats import by_repeat
from emotui.tables import Cell, Column, Plot, ResultsTable, Row, interval_notes, sure_of
from emotui.tasks.masked.baselines import Detail, baseline_figures, convention_of, lexicon_in, sureness
from emotui.tasks.masked.lexicon import SIGNED, UNLIKE_PAPER, WordVectors, told_of_scale
from emotui.tasks.parts import ScoredRun
from emotui.tasks.prompting.settings import ZERO_SHOT
from emotui.tasks.published import express_table

WORDS, MISPREDICTED, PAIRS, NAMED = 75, 40, 30, 12
"""Rows of the tables of words, mispredictions and pairs of runs; and words that are named among the points."""

LEAST, MANY_LEAST, MANY = 2, 10, 1000
"""Masks that a gold word must have to be among the mispredictions; where there are many masks."""

_FIGURES = (
    ("acc_l", "Acc_L"),
    ("acc_v", "Acc_V"),
    ("f1_v", "F1_V"),
    ("valid_answers", "Valid answers"),
)
_NAMES = {
    "zeros": "ten zeros",
    "random": "drawn gold words",
    "random_vectors": "drawn vectors",
    "constant": "commonest word",
    "best_constant": "best word",
}
_MAIN = (
    "Acc_L: share of masks with the gold word; Acc_V: with a word of its vector; F1_V: mean F1 of the two vectors. "
    "A mask without an answer is wrong. Valid: texts whose answer has a word for each mask.",
)
_PAIRED = (
    "A value a mask (F1_V), over the masks that both runs have; of a run with repeats the first. Wilcoxon's "
    "signed-rank test, without the masks where both are equal (Wilcoxon's own way); p is two-sided, p > asks whether "
    "the first is better. Masks of one text are not independent.",
    "d: of the differences, their mean over their deviation; pooled: the mean difference over the root of the mean "
    "variance. The paper does not say which it prints.",
)
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?([bBmM])(?![A-Za-z0-9])")


@dataclass(frozen=True)
class _Said:
    """A run with its answers."""

    scored: ScoredRun
    details: tuple[Detail, ...]
    numbers: tuple[int, ...]

    @property
    def run(self) -> str:
        return self.scored.run.run

    @property
    def way(self) -> str:
        return str(self.scored.run.config.get("way") or "")

    @property
    def name(self) -> str:
        return f"{self.scored.run.model} {self.way}".strip()

    @cached_property
    def first(self) -> dict[str, Detail]:
        """By id the answers of the first repeat."""
        least = min((one.repeat for one in self.details), default=0)
        return {one.id: one for one in self.details if one.repeat == least}

    @cached_property
    def number(self) -> dict[str, int]:
        """By id the number of the sample."""
        return {one.id: number for one, number in zip(self.details, self.numbers, strict=True)}

    @cached_property
    def gold(self) -> dict[str, tuple[str, ...]]:
        return {key: one.gold for key, one in self.first.items()}

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        return {key: one.predicted for key, one in self.first.items()}

    def report(self, details: Sequence[Detail], vectors: WordVectors) -> dict[str, Any]:
        """The figures of some of the answers, with their intervals."""
        return with_beside(_report(details, vectors), sureness(details, self.shared, vectors))

    @cached_property
    def shared(self) -> dict[str, str | None]:
        return self.scored.shared((number, one.id) for one, number in zip(self.details, self.numbers, strict=True))

    def masks(self, ids: Sequence[str], vectors: WordVectors) -> list[MaskScore]:
        return vectors.scored({key: self.gold[key] for key in ids}, self.words)


def masked_tables(runs: Sequence[ScoredRun], vectors: WordVectors) -> tuple[ResultsTable, ...]:
    """Tables about runs over one dataset, all by one lexicon, whichever their kept scores are by.

    Published rows are among them, for those who ask for them, where the lexicon is that of the paper's authors; else a
    note says why they are not.
    """
    said = [one for run in runs if (one := _said(run)).details]
    if not said:
        return ()
    tables = [_main(said, vectors), _topics(said, vectors), _mispredictions(said, vectors), _words(said, vectors)]
    tables += [_pairs(said, vectors), _sizes(said, vectors)]
    return tuple(table for table in tables if table.rows)


def _said(run: ScoredRun) -> _Said:
    details = tuple(msgspec.json.decode(detail, type=Detail) for _, detail in run.scores)
    return _Said(run, details, tuple(number for number, _ in run.scores))


def _report(details: Sequence[Detail], vectors: WordVectors) -> dict[str, Any]:
    def one(of: Sequence[Detail]) -> dict[str, Any]:
        gold = {detail.id: detail.gold for detail in of}
        said = {detail.id: detail.predicted for detail in of}
        return vectors.report(gold, said)

    return by_repeat(details, one)


def _paper(vectors: WordVectors, table: str) -> tuple[Sequence[Mapping[str, Any]], tuple[str, ...]]:
    """The rows of a table of the paper and its notes; no rows, and why, by a lexicon that is not its authors'."""
    if not vectors.express:
        return (), (f"† {UNLIKE_PAPER}.",)
    printed = express_table(table)
    return printed["rows"], (f"† {printed['cite']}", *printed["notes"])


def _cells(
    report: Mapping[str, Any], names: Sequence[str], run: str | None, samples: Sequence[int], vectors: WordVectors
) -> list[Cell]:
    spread, notes = report.get("sd", {}), report.get("notes", {})
    return [
        Cell(
            report.get(name),
            spread.get(name),
            convention_of(vectors, name),
            None if report.get(name) is not None else notes.get(name, "it is no figure of this"),
            tuple(samples),
            run,
            *sure_of(report, name),
        )
        for name in names
    ]


def _main(said: Sequence[_Said], vectors: WordVectors) -> ResultsTable:
    names = [name for name, _ in _FIGURES]
    columns = [Column(name, title) for name, title in _FIGURES]
    columns += [Column("masks", "Masks", unit="count"), Column("without", "Masks without vectors", unit="count")]
    rows, reports = [], []
    for one in said:
        report = one.report(one.details, vectors)
        reports.append(report)
        samples = sorted(set(one.numbers))
        unknown = report["gold_words"]["unknown"] + report["predicted_words"]["unknown"]
        counts = [Cell(report["masks"], run=one.run), Cell(unknown, run=one.run)]
        own = _cells(report, names, one.run, samples, vectors)
        rows.append(Row(one.name, "run", one.run, (*own, *counts), _remark(one, vectors)))
    gold = {key: words for one in reversed(said) for key, words in one.gold.items()}
    known: dict[str, str | None] = {}
    for one in said:
        known |= one.shared
    for name, figures in baseline_figures(gold, vectors, [known.get(key) for key in gold]).items():
        word = f": {vectors.marked(figures['word'])}" if "word" in figures else ""
        cells = (*_cells(figures, names[:3], None, (), vectors), Cell(), Cell(figures["masks"]), Cell())
        rows.append(Row(f"{_NAMES[name]}{word}", "baseline", "", cells))
    printed, cited = _paper(vectors, "3")
    for row in printed:
        for way, figures in row["settings"].items():
            label = row["model"] if row["kind"] in ("baseline", "masked LM") else f"{row['model']} {way}"
            cells = tuple(Cell(figures.get(name), convention="EXPRESS, Table 3") for name in names)
            rows.append(Row(label, "published", "EXPRESS, Table 3", (*cells, Cell(), Cell())))
    return ResultsTable(
        "masked",
        "Masked words",
        tuple(columns),
        tuple(rows),
        (told_of_scale(vectors), *_MAIN, *interval_notes(reports)),
        published_notes=(*cited, *(("† The paper's texts are others.",) if printed else ())),
    )


def _remark(one: _Said, vectors: WordVectors) -> str:
    run = one.scored.run
    parts = [f"{run.done} of {run.n} answered"] if run.done < run.n else []
    if any(lexicon_in(convention) != vectors.mark for convention in one.scored.conventions):
        parts.append("its kept scores are by another lexicon")
    return "; ".join(parts)


def _topics(said: Sequence[_Said], vectors: WordVectors) -> ResultsTable:
    names = ("acc_l", "acc_v", "f1_v")
    columns = [Column(f"{one.run}/{name}", name.title(), one.name) for one in said for name in names]
    topics = sorted({detail.topic for one in said for detail in one.details if detail.topic})
    rows = []
    for topic in topics:
        cells: list[Cell] = []
        for one in said:
            of = [detail for detail in one.details if detail.topic == topic]
            numbers = sorted({one.number[detail.id] for detail in of})
            told = _cells(one.report(of, vectors), names, one.run, numbers, vectors) if of else None
            cells += told or [Cell()] * len(names)
        rows.append(Row(topic, "run", "", tuple(cells)))
    note = "Topics are those of the records (meta.topic)."
    return ResultsTable("masked-topics", "By topic", tuple(columns), tuple(rows), (note,))


def _mispredictions(said: Sequence[_Said], vectors: WordVectors) -> ResultsTable:
    ids = _shared(said)
    masks = [one.masks(ids, vectors) for one in said]
    least = MANY_LEAST if len(masks[0]) >= MANY else LEAST
    found = normalised_mispredictions(masks, least)[:MISPREDICTED]
    columns = [Column("share", "Share of the word's masks"), Column("count", "Count", unit="count")]
    columns += [Column(one.run, one.name, "by run", unit="count") for one in said]
    rows = []
    for pair in found:
        each = []
        for one in said:
            hit = _having(one, pair["label"], pair["predicted"])
            each.append(Cell(len(hit), samples=tuple(sorted(set(hit))), run=one.run))
        label = f"{vectors.marked(pair['label'])} → {vectors.marked(pair['predicted'])}"
        rows.append(Row(label, "run", "", (Cell(pair["share"]), Cell(pair["count"]), *each)))
    printed, cited = _paper(vectors, "A.6")
    for row in printed:
        cells = (Cell(row["share"], convention="EXPRESS, Table A.6"), *[Cell()] * (len(columns) - 1))
        rows.append(Row(f"{row['label']} → {row['predicted']}", "published", "EXPRESS, Table A.6", cells))
    notes = (
        "A gold word → what was said for it, where the two vectors differ. The share is over all masks with that gold "
        f"word, of all runs together (Table A.6); of words with {least} masks or more, a bound that the paper does not "
        "print. No interval: the rows are chosen by their share.",
        SIGNED,
    )
    title = "Mispredictions, normalised"
    return ResultsTable("masked-mispredictions", title, tuple(columns), tuple(rows), notes, published_notes=cited)


def _having(one: _Said, gold: str, guess: str) -> list[int]:
    return [
        one.number[key]
        for key, detail in one.first.items()
        for word, there in zip(detail.gold, detail.predicted, strict=False)
        if (fold(word), fold(there)) == (gold, guess)
    ]


def _words(said: Sequence[_Said], vectors: WordVectors) -> ResultsTable:
    ids = _shared(said)
    gold = {key: said[0].gold[key] for key in ids}
    counted = word_counts(gold, {one.run: one.words for one in said}, WORDS)
    columns = [Column("people", "People", unit="count")]
    columns += [Column(one.run, one.name, unit="count") for one in said]
    columns.append(Column("difference", "Models less people", unit="difference"))
    rows, points = [], []
    for row in counted:
        each = [Cell(row["models"][one.run], run=one.run) for one in said]
        cells = (Cell(row["gold"]), *each, Cell(row["difference"]))
        rows.append(Row(vectors.marked(row["word"]), "run", "", cells))
        points.append((float(row["gold"]), row["gold"] + row["difference"]))
    apart = sorted(range(len(counted)), key=lambda at: -abs(counted[at]["difference"]))[:NAMED]
    most = [max((point[side] for point in points), default=1.0) or 1.0 for side in (0, 1)]
    plot = Plot(
        across="masks of people",
        up="of models, mean",
        x=(0, most[0]),
        y=(0, most[1]),
        points=tuple(points),
        diagonal=True,
        n=len(points),
        of="word",
        names=tuple(counted[at]["word"] if at in apart else "" for at in range(len(counted))),
    )
    notes = (
        "How often people and each run use a word, the commonest of people first (Figure A.3); and the mean of "
        "the runs less people.",
        SIGNED,
    )
    title = "Words of people and of models"
    return ResultsTable("masked-words", title, tuple(columns), tuple(rows), notes, plot=plot if points else None)


def _pairs(said: Sequence[_Said], vectors: WordVectors) -> ResultsTable:
    from emotui.metrics.masked_pairs import compare_masks

    columns = (
        Column("mean_difference", "Difference", unit="difference"),
        Column("wilcoxon_p", "p", unit="number"),
        Column("greater", "p >", unit="number"),
        Column("cohens_d", "d", unit="difference"),
        Column("cohens_d_pooled", "d, pooled", unit="difference"),
        *(Column(name, name, unit="count") for name in ("better", "worse", "tied")),
    )
    rows = []
    for one, other in _compared(said)[:PAIRS]:
        ids = [key for key in one.first if key in other.first]
        if not ids:
            continue
        first, second = one.masks(ids, vectors), other.masks(ids, vectors)
        told = compare_masks(first, second)
        told["greater"] = compare_masks(first, second, alternative="greater")["wilcoxon_p"]
        told["notes"].setdefault("greater", told["notes"].get("wilcoxon_p", ""))
        cells = tuple(_cells(told, [column.key for column in columns], None, (), vectors))
        rows.append(Row(f"{one.name} against {other.name}", "run", f"{one.run}, {other.run}", cells))
    for table in ("A.10", "A.11"):
        for row in _paper(vectors, table)[0]:
            label = f"{row['model']} {row['setting']} against zero-shot" if "setting" in row else ""
            label = label or f"{row['model']} against {row['other']}"
            cite = f"EXPRESS, Table {table}"
            known = {"greater": row["p"], "cohens_d_pooled": row["d"]}
            rows.append(Row(label, "published", cite, tuple(Cell(known.get(c.key)) for c in columns)))
    cited = tuple(dict.fromkeys(note for table in ("A.10", "A.11") for note in _paper(vectors, table)[1]))
    if vectors.express:
        cited += ("† p and d stand under p > and d, pooled, though the paper names neither.",)
    return ResultsTable("masked-pairs", "Runs two by two", columns, tuple(rows), _PAIRED, published_notes=cited)


def _compared(said: Sequence[_Said]) -> list[tuple[_Said, _Said]]:
    """Ways of one model against its zero-shot (Table A.10); models in one way (Table A.11).

    Filling masks counts as zero-shot, as in Table 3.
    """
    found = []
    for at, one in enumerate(said):
        for other in said[at + 1 :]:
            ways = one.way or ZERO_SHOT, other.way or ZERO_SHOT
            if one.scored.run.model != other.scored.run.model:
                found += [(one, other)] * (ways[0] == ways[1])
            elif ZERO_SHOT in ways:
                found.append((other, one) if ways[0] == ZERO_SHOT else (one, other))
    return found


def size_of(model: str) -> float | None:
    """Thousand millions of weights, where a model's name says so (`Qwen3-4B`, `pythia-70m`)."""
    found = _SIZE.findall(re.sub(r"[-_/:@]", " ", model))
    if not found:
        return None
    number, unit = found[-1]
    return float(number) / (1 if unit in "bB" else 1000)


def _sizes(said: Sequence[_Said], vectors: WordVectors) -> ResultsTable:
    columns = (Column("size_b", "Thousand millions", unit="number"), Column("acc_v", "Acc_V"))
    own = []
    for one in said:
        if (size := size_of(one.scored.run.model)) is not None:
            acc = _report(one.details, vectors)["acc_v"]
            own.append((size, acc, one.name, Row(one.name, "run", one.run, (Cell(size), Cell(acc, run=one.run)))))
    printed = [
        (row["size_b"], row["settings"]["zero-shot"]["acc_v"], f"{row['model']} †", _published_size(row))
        for row in _paper(vectors, "3")[0]
        if "size_b" in row
    ]
    rows = tuple(row for *_, row in sorted([*own, *printed], key=lambda one: (one[0], one[2])))
    notes = ("Own runs stand here where the model's name says its size (Figure 2).",)
    cited = (f"† {express_table('3')['cite']}: zero-shot",) if vectors.express else _paper(vectors, "3")[1]
    return ResultsTable(
        "masked-sizes",
        "Size and Acc_V",
        columns,
        rows,
        notes,
        published_notes=cited,
        plot=size_plot([one[:3] for one in own]) if own else None,
        published_plot=size_plot([one[:3] for one in (*own, *printed)]),
    )


def _published_size(row: Mapping[str, Any]) -> Row:
    cells = (Cell(row["size_b"]), Cell(row["settings"]["zero-shot"]["acc_v"], convention="EXPRESS, Table 3"))
    return Row(row["model"], "published", "EXPRESS, Table 3", cells)


def size_plot(models: Sequence[tuple[float, float | None, str]]) -> Plot:
    """Models by size, logarithmically, and by accuracy of vectors (Figure 2).

    Args:
        models: thousand millions of weights, Acc_V and name of each.
    """
    known = [(log10(size), acc, name) for size, acc, name in models if acc is not None]
    sizes = [size for size, _, _ in known] or [0.0]
    return Plot(
        across="thousand millions of weights",
        up="Acc_V",
        x=(min(sizes), max(max(sizes), min(sizes) + 1)),
        y=(0, max([acc for _, acc, _ in known] or [1.0]) or 1.0),
        points=tuple((size, acc) for size, acc, _ in known),
        n=len(known),
        of="model",
        names=tuple(name for _, _, name in known),
        powers=True,
    )


def _shared(said: Sequence[_Said]) -> list[str]:
    """The ids that all runs have."""
    return [key for key in said[0].first if all(key in one.first for one in said)]
