"""Croissant metadata (MLCommons, 1.0) with RAI properties (1.0) of a dataset that is exported as JSON Lines.

What the store does not know stands there as such: who publishes has to state it.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from emotui import __version__
from emotui.metrics.metric import Metric
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.paper.recipe import command_of
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.run_file import portable
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.task_words import metrics_of

# A run's results in the schema of Every Eval Ever (EvalEval Coalition, `eval.schema.json` 0.2.2).

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
        values = store.listing.metric_means(dataset.dataset, run.run, metric.name)
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


CROISSANT, RAI = "http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"
TO_STATE = "TO STATE BEFORE PUBLISHING: "

CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""As the specification recommends it, with `rai`."""

_TYPES = {bool: "sc:Boolean", int: "sc:Integer", float: "sc:Float", str: "sc:Text"}
_WHAT = {
    "id": "The sample's id.",
    "text": "The text.",
    "spans": "Marked spans: start and end in code points, half open, and a label.",
    "label": "The label.",
    "labels": "The labels.",
    "values": "Numbers by name.",
    "sentences": "Sentences of the text, with emotion and valence.",
    "annotators": "What each annotator says, by name.",
    "meta": "Own columns of the data.",
    "subject": "Whose emotions are asked about.",
}
_MOST_LABELS = 40
_NAME = re.compile(r"[A-Za-z_][\w .-]*")
"""Of a key inside an object that a path can name."""


def croissant(
    dataset: Dataset, file: str, content: bytes, *, creator: str = "", license: str = "", url: str = ""
) -> dict[str, Any]:
    """The JSON-LD document of a dataset.

    Args:
        file: the name of the exported file. content: what is in it, a record a line.
        creator, license, url: what only a person knows.
    """
    records = [json.loads(line) for line in content.splitlines()]
    fields = _fields(file, records)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", dataset.name).strip("-") or "dataset"
    found: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RAI],
        "name": name,
        "description": f"{dataset.n} samples of the {dataset.task} task, exported by emotui {__version__}.",
        "license": license or f"{TO_STATE}the licence of texts and labels",
        "url": url or f"{TO_STATE}where the dataset can be found",
        "creator": {"@type": "sc:Organization", "name": creator or f"{TO_STATE}who made the dataset"},
        "datePublished": (dataset.added or "1970-01-01")[:10],
        "version": f"{dataset.gold}.0.0",
        "isLiveDataset": False,
        "citeAs": f"{TO_STATE}how to cite it",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": file,
                "contentUrl": file,
                "contentSize": f"{len(content)} B",
                "encodingFormat": "application/jsonlines",
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "samples",
                "name": "samples",
                "description": f"One record a sample.{_nested(records, fields)}",
                "key": {"@id": "samples/id"},
                "field": fields,
            }
        ],
    }
    return found | _rai(dataset, records)


def _fields(file: str, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A field for each key with plain values or lists of these, and for each key inside objects of them."""
    found = []
    for key in _keys(records):
        values = [record[key] for record in records if record.get(key) is not None]
        if all(map(_is_plain, values)):
            found.append(_field(file, key, values))
        elif all(isinstance(value, dict) for value in values):
            for inner in _keys(values):
                own = [value[inner] for value in values if value.get(inner) is not None]
                if _NAME.fullmatch(inner) and all(map(_is_plain, own)):
                    found.append(_field(file, key, own, inner))
    return found


def _keys(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for record in records for key, value in record.items() if value is not None))


def _is_plain(value: object) -> bool:
    """Whether a reader of tables can hold it: a word, a number, true or false, or a list of these."""
    return all(isinstance(one, str | int | float) for one in (value if isinstance(value, list) else [value]))


def _nested(records: Sequence[Mapping[str, Any]], fields: Sequence[Mapping[str, Any]]) -> str:
    """What the records hold beside the fields, in words."""
    there = {field["source"]["extract"]["column"] for field in fields}
    lacking = [_WHAT.get(key, f"{key}.") for key in _keys(records) if key not in there]
    return "".join(f" {words}" for words in ("Nested values, in the file alone:" if lacking else "", *lacking) if words)


def _field(file: str, key: str, values: Sequence[Any], inner: str = "") -> dict[str, Any]:
    repeated = any(isinstance(value, list) for value in values)
    plain = [one for value in values for one in (value if isinstance(value, list) else [value])]
    types = {_TYPES.get(type(one), "sc:Text") for one in plain}
    kind = types.pop() if len(types) == 1 else "sc:Float" if types == {"sc:Integer", "sc:Float"} else "sc:Text"
    name = f"{key}/{inner}" if inner else key
    source: dict[str, Any] = {"fileObject": {"@id": file}, "extract": {"column": key}}
    if inner:
        source["transform"] = {"jsonPath": f"$['{inner}']"}
    found: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"samples/{name}",
        "name": name,
        "description": f"{_WHAT.get(key, f'The field {key}.')}{f' Of them {inner}.' if inner else ''}",
        "dataType": kind,
        "source": source,
    }
    return found | ({"repeated": True} if repeated else {})


def _rai(dataset: Dataset, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the store knows of how the data came to be; the rest is to be stated."""
    people = Counter(name for record in records for name in record.get("annotators") or {})
    each = [len(record.get("annotators") or {}) for record in records]
    labels = _labels(records)
    said = ", ".join(f"{label} {n}" for label, n in labels.most_common(_MOST_LABELS))
    found: dict[str, Any] = {
        "rai:dataCollection": f"{TO_STATE}how the texts were collected",
        "rai:dataAnnotationProtocol": f"{TO_STATE}what annotators were asked. "
        + (f"The file holds what {len(people)} annotators say." if people else "The file names no annotators."),
        "rai:annotatorDemographics": f"{TO_STATE}who the annotators are; the store does not know",
        "rai:personalSensitiveInformation": f"{TO_STATE}whether texts name or describe people; nobody has looked here",
        "rai:dataUseCases": "Evaluation of models of emotion in text.",
        "rai:dataLimitations": f"{dataset.n} samples; {sum(1 for one in records if not _said(one))} without a label.",
        "rai:dataBiases": f"Labels are not equally frequent: {said}." if said else f"{TO_STATE}known biases",
        "rai:dataReleaseMaintenancePlan": f"Version {dataset.gold} of its gold labels.",
    }
    if people:
        found["rai:annotationsPerItem"] = f"{min(each)} to {max(each)}, {sum(each) / len(each):.2f} on average"
    return found


def _said(record: Mapping[str, Any]) -> bool:
    return any(key in record for key in ("spans", "label", "labels", "values"))


def _labels(records: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """How often each label is said in gold."""
    found: Counter[str] = Counter()
    for record in records:
        several = record.get("labels") or ()
        named = [name for name, there in several.items() if there] if isinstance(several, dict) else list(several)
        spans = [span[2] for span in record.get("spans") or () if isinstance(span, list) and len(span) > 2 and span[2]]
        one = [record[key] for key in ("label", "emotion") if isinstance(record.get(key), str)]
        found.update(str(name) for name in (*named, *spans, *one))
    return found
