"""How fluent a run's texts are to a causal model."""

from statistics import fmean

from emotui.backends.host import ModelProcess
from emotui.records import Generation
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.generation.measuring import perplexities
from emotui.workbench.runs.export import run_records


def run_perplexity(store: Store, run: Run, spec: str, stride: int) -> dict[str, object]:
    """The mean perplexity of a run's originals, neutral and emotional texts (Table 4), with the model and the stride.

    Failed answers are left out; None over no text.

    Raises:
        ModelError: the model does not rank continuations, or cannot be loaded.
    """
    records = [one for one in run_records(store, run) if isinstance(one, Generation) and not one.failed]
    kinds = {kind: [str(getattr(one, kind)) for one in records] for kind in ("original", "neutral", "emotional")}
    with ModelProcess(spec) as model:
        found = perplexities(model, [text for texts in kinds.values() for text in texts], stride)
    figures: dict[str, object] = {}
    for kind, texts in kinds.items():
        known = [value for text in texts if (value := found[text]) is not None]
        figures[f"ppl_{kind}"] = fmean(known) if known else None
    return figures | {"ppl_model": spec, "ppl_stride": stride}
