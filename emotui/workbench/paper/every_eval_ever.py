"""A run's results in the schema of Every Eval Ever (EvalEval Coalition, `eval.schema.json` 0.2.2)."""

from datetime import datetime
from typing import Any

import msgspec

from emotui import __version__
from emotui.metrics.metric import Metric
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.paper.commands import command_of
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.run_file import portable
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.task_words import metrics_of

SCHEMA = "0.2.2"
_SEED = 0
_ARGUMENTS = ("temperature", "top_p", "max_tokens")


def evaluation(store: Store, run: Run, dataset: Dataset, called: str, organisation: str = "") -> dict[str, Any]:
    """The document of one run.

    Args:
        called: the id that the run has in the paper.
        organisation: who ran it; empty: not stated.
    """
    model = portable(run.model)
    named, made = model.partition(":")[2] or model, _epoch(run.finished or run.started)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{dataset.name}/{named}/{made}",
        "evaluation_timestamp": _epoch(run.started),
        "retrieved_timestamp": made,
        "source_metadata": {
            "source_name": "emotui",
            "source_type": "evaluation_run",
            "source_organization_name": organisation or "not stated",
            "evaluator_relationship": "third_party",
            "additional_details": {"evaluator_relationship": "assumed: the store does not know who made the model"},
        },
        "eval_library": {"name": "emotui", "version": str(run.config.get("emotui") or __version__)},
        "model_info": {
            "name": model,
            "id": named,
            "additional_details": {"spec": model, "run": called, "identity": run.identity},
        },
        "evaluation_results": _results(store, run, dataset, called),
    }


def _epoch(moment: str) -> str:
    return f"{datetime.fromisoformat(moment).timestamp():.0f}"


def _results(store: Store, run: Run, dataset: Dataset, called: str) -> list[dict[str, Any]]:
    """One result for each metric that a sample of the run has a value of, with its interval."""
    import numpy as np

    from emotui.metrics.resampling import drawn_by, group_numbers, interval_of, mean_replicates

    shared = groups_of(store, dataset.dataset)
    found = []
    for metric in metrics_of(store, dataset.dataset, dataset.task):
        values = store.metric_means(dataset.dataset, run.run, metric.name)
        there = ~np.isnan(values)
        known = values[there]
        if not len(known):
            continue
        groups = None if shared is None else group_numbers(np.array(list(shared[1].values()))[there].tolist())
        details: dict[str, Any] = {"score": float(known.mean())}
        if len(known) > 1:
            details["uncertainty"] = {
                "standard_deviation": float(known.std(ddof=1)),
                "num_samples": len(known),
            }
            by = drawn_by(groups, len(known))
            sure = interval_of(mean_replicates(known[:, None], by, seed=_SEED)[0])
            if sure.ends is not None:
                details["uncertainty"]["confidence_interval"] = {
                    "lower": sure.low,
                    "upper": sure.high,
                    "confidence_level": 0.95,
                    "method": "student's t" if sure.t else "bootstrap",
                }
                details["uncertainty"] |= {} if sure.t else {"num_bootstrap_samples": by.resamples}
        found.append(
            {
                "evaluation_result_id": f"{called}/{metric.name}",
                "evaluation_name": f"{dataset.name}: {metric.name}",
                "source_data": _data(dataset),
                "metric_config": metric_of(metric, dataset.task),
                "score_details": details,
                "generation_config": _asked(run, dataset),
            }
        )
    return found


def _data(dataset: Dataset) -> dict[str, Any]:
    told = {"task": dataset.task, "samples": str(dataset.n), "sha256": dataset.fingerprint}
    return {
        "dataset_name": dataset.name,
        "source_type": "other",
        "source_id": dataset.fingerprint,
        "source_version": str(dataset.gold),
        "additional_details": told,
    }


def metric_of(metric: Metric, task: str) -> dict[str, Any]:
    """What a metric is. One without a lowest or greatest value has no `score_type`, which would ask for both."""
    low, high = metric.range
    found: dict[str, Any] = {
        "evaluation_description": metric.help,
        "metric_id": f"emotui.{task}.{metric.name}",
        "metric_name": metric.title,
        "lower_is_better": not metric.higher_is_better,
    }
    if low is not None and high is not None:
        return found | {"score_type": "continuous", "min_score": float(low), "max_score": float(high)}
    ends = {"min_score": low, "max_score": high}
    told = {name: "no limit" if end is None else f"{end:g}" for name, end in ends.items()}
    return found | {"additional_details": told}


def _asked(run: Run, dataset: Dataset) -> dict[str, Any]:
    config = msgspec.convert(run.config, RunConfig)
    arguments: dict[str, Any] = {
        name: config.options[name] for name in _ARGUMENTS if config.options.get(name) is not None
    }
    if run.source == "model":
        arguments["execution_command"] = command_of(run, dataset, private=False)
    told = {"way": config.way, "seed": str(config.seed), "repeats": str(config.repeats), "source": run.source}
    return {"generation_args": arguments, "additional_details": {name: value for name, value in told.items() if value}}
