"""The tables of Results for generation: those of `emotui score generation`, of what the store keeps of runs."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from emotui.metrics.fluency import METRIC as PERPLEXITY
from emotui.metrics.thirteen import REGISTRY
from emotui.tables import ResultsTable
from emotui.tasks.generation.behind import with_texts
from emotui.tasks.generation.detail import Detail
from emotui.tasks.generation.document import ScoredText, model_figures, trusted
from emotui.tasks.generation.options import EMBEDDED
from emotui.tasks.generation.scoring import WHY
from emotui.tasks.generation.tables import tables_of
from emotui.tasks.parts import ScoredRun

SEED = 0
BY = f"ers: by {EMBEDDED}."
MEASURE = "Other classifiers, an NLI model, EAS and perplexity: emotui measure DATASET."


def run_tables(runs: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
    """Models by metrics, what raters see, which metric goes with them, and ERS by emotion; none without an answer."""
    decode = msgspec.json.Decoder(Detail).decode
    said = {scored.run.run: [(number, decode(detail)) for number, detail in scored.scores] for scored in runs}
    values = (name for details in said.values() for _, one in details for name in one.values)
    names = list(dict.fromkeys([*(metric.name for metric in REGISTRY), PERPLEXITY.name, *values]))
    every = [scored.run.model for scored in runs]
    models, known, texts = {}, {}, list[ScoredText]()
    for scored in runs:
        run, details = scored.run, said[scored.run.run]
        if not details:
            continue
        model = f"{run.model} {run.run}" if every.count(run.model) > 1 else run.model
        own = [_text(model, one, *scored.rated.get(number, ((), ()))) for number, one in details]
        texts += own
        models[model] = model_figures(own, names, "none", scored.shared((number, one.id) for number, one in details))
        known[model] = run.run, f"{run.done} of {run.n} answered" if run.done < run.n else ""
    if not models:
        return ()
    correlations, each = trusted(texts, models, names, SEED)
    tables = tables_of(models, correlations, each, WHY, (BY,), known)
    first, *rest = (with_texts(table, said) for table in tables)
    return replace(first, hints=(MEASURE,)), *rest


def _text(model: str, one: Detail, human: tuple[str, ...] = (), neutral: tuple[str, ...] = ()) -> ScoredText:
    """Args: human, neutral: labels that came after the answer."""
    return ScoredText(
        one.id,
        model,
        one.target,
        repeat=one.repeat,
        failed=one.silent,
        values=one.values,
        found={spec: label or None for spec, label in one.found.items()},
        lengths=one.lengths,
        human=(*one.human, *human),
        human_neutral=(*one.human_neutral, *neutral),
    )
