"""`emotui rephrasings evaluate`: models on originals, variants and 1R to 4R, beside the published rows."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from emotui.backends.base import Classification, Generate, Generation, ModelCard, Refused, Request
from emotui.errors import BadInput, ModelError
from emotui.formats import read, write
from emotui.metrics.classes import class_report
from emotui.metrics.rephrasings import is_right, succeeded_at
from emotui.records import Attempt, Chain
from emotui.workbench.rephrase.evaluation import Contender, columns, contender, evaluate
from tests.backends.hf import models as hf_models
from tests.conftest import Emotui
from tests.paths import CHECKOUT, TESTS

CHAINS = CHECKOUT / "sample_data" / "rephrasings.jsonl"
VARIANTS = CHECKOUT / "sample_data" / "rephrasings_variants.jsonl"
TINY = TESTS / "tiny" / "model" / "hf"


def quiet(line: str) -> None: ...


class Scripted:
    """A model process that gives each text the label that `labels` has for it; `joy` for all others."""

    def __init__(self, labels: dict[str, str], *able: str) -> None:
        self.labels, self.asked = labels, list[Request]()
        self.spec = "scripted:"
        self.card = ModelCard("scripted:", "s", able or ("classify",), {}, {} if able else {"own": ("joy", "fear")})

    def __enter__(self) -> "Scripted":
        return self

    def __exit__(self, *exception: object) -> None: ...

    def load(self, **options: object) -> ModelCard:
        return self.card

    def ask(self, requests: Sequence[Request], **options: object) -> list[object]:
        self.asked += requests
        return [self._one(request) for request in requests]

    def _one(self, request: Request) -> object:
        if isinstance(request, Generate):
            said = [label for text, label in self.labels.items() if request.messages[-1].content.count(text)]
            return Generation(said[0] if said else "joy", 1, 1, "stop")
        label = self.labels.get(request.text, "joy")  # type: ignore[union-attr]
        if label == "refuse":
            return Refused("too long")
        if label == "gone":
            return Refused("the server is gone", again=True)
        return Classification({"joy": float(label == "joy"), "fear": float(label == "fear")}, label, False)


def chain(key: str, label: str, predicted: str, *said: str) -> Chain:
    attempts = tuple(Attempt(text=f"{key} again {k}", predicted=name) for k, name in enumerate(said, start=1))
    return Chain(id=key, text=f"{key} first", label=label, predicted=predicted, attempts=attempts)


THREE = [
    chain("a", "joy", "joy", "joy", "fear"),
    chain("b", "fear", "fear", "joy"),
    chain("c", "fear", "joy"),  # wrong from the first: in every set as it is
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chains.jsonl"
    write(path, THREE)
    return path


def scored(file: Path, model: Any, **more: Any) -> dict[str, Any]:
    return evaluate(str(file), ["scripted:"], warn=quiet, process=lambda spec: model, **more)


def macro(document: dict[str, Any], row: int = 0) -> dict[str, float]:
    return {name: cell["macro_f1"]["mean"] for name, cell in document["rows"][row]["columns"].items()}


# The sets.


def test_the_columns_are_originals_variants_and_rounds_with_wrong_originals_in_each() -> None:
    found = columns(THREE, {"BT-1": {"a": "a back", "c": "c back"}})
    assert list(found) == ["Original", "BT-1", "1R", "2R", "3R", "4R"]
    assert [record.text for record in found["Original"]] == ["a first", "b first", "c first"]
    assert [record.text for record in found["BT-1"]] == ["a back", "c back"]  # b has none
    assert [record.text for record in columns(THREE, {"BT-1": {"a": "a back"}})["BT-1"]] == ["a back", "c first"]
    assert [record.text for record in found["1R"]] == ["a again 1", "b again 1", "c first"]
    assert [record.text for record in found["2R"]] == ["a again 2", "b again 1", "c first"]


def test_figures_are_those_of_a_hand_computation_and_each_text_is_asked_about_once(file: Path) -> None:
    model = Scripted({"b first": "fear", "a again 2": "fear"})
    document = scored(file, model)
    assert len(model.asked) == len({request.text for request in model.asked}) == 6  # type: ignore[union-attr]
    # Original: gold joy fear fear, said joy fear joy: joy P 1/2 R 1, fear P 1 R 1/2, both F1 2/3.
    # 1R: said joy joy joy: joy P 1/3 R 1, F1 1/2; fear 0. From 2R on: fear joy joy: all wrong.
    assert macro(document) == pytest.approx({"Original": 2 / 3, "1R": 0.25, "2R": 0, "3R": 0, "4R": 0})
    assert document["columns"] == {"Original": 3, "1R": 3, "2R": 3, "3R": 3, "4R": 3}
    assert document["rows"][0]["columns"]["1R"]["accuracy"] == {
        "mean": pytest.approx(1 / 3),
        "sd": None,
        "runs": [1 / 3],
        "ci95": [0.0, 1.0],  # of 27 draws of three texts 8 hold no right answer, and one right ones alone
    }
    gold, said = {"a": "joy", "b": "fear", "c": "fear"}, {"a": "joy", "b": "fear", "c": "joy"}
    beside = class_report(gold, said, [None] * 3)["ci95"]
    assert document["rows"][0]["columns"]["Original"]["macro_f1"]["ci95"] == beside["macro_f1"]
    assert document["rows"][0]["columns"]["2R"]["accuracy"]["ci95"] is None
    assert "2,000 resamples" in document["conventions"]["ci95"]


def test_a_text_without_an_answer_counts_as_wrong_with_a_note_and_a_lost_server_ends_it(file: Path) -> None:
    document = scored(file, Scripted({"b first": "refuse"}))
    assert document["notes"]["scripted:"] == "1 text has no answer, which counts as wrong: too long"
    # Said joy, nothing, joy: joy P 1/2 R 1, F1 2/3; fear 0; nothing is no label of its own.
    assert macro(document)["Original"] == pytest.approx(1 / 3)
    with pytest.raises(ModelError, match="scripted:: the server is gone"):
        scored(file, Scripted({"b first": "gone"}))


def test_a_set_without_a_text_has_no_figure_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    write(path, [chain("a", "joy", "joy")])
    document = scored(path, Scripted({}))
    assert macro(document)["1R"] is None
    assert document["notes"]["1R"] == "no text is in this set"


# Rows.


@pytest.mark.parametrize(
    ("text", "name", "specs"),
    [
        ("embedded", "embedded", ("embedded",)),
        ("gguf:m.gguf#context=64", "gguf:m.gguf#context=64", ("gguf:m.gguf#context=64",)),
        ("BERT=hf:a, hf:b", "BERT", ("hf:a", "hf:b")),
        ("x=gguf:m.gguf#context=64", "x", ("gguf:m.gguf#context=64",)),
    ],
)
def test_a_row_is_one_spec_or_a_name_for_several_seeds(text: str, name: str, specs: tuple[str, ...]) -> None:
    assert contender(text) == Contender(name, specs)


@pytest.mark.parametrize("text", ["", " ", "BERT=", "=hf:a", "BERT= , "])
def test_a_row_without_a_spec_or_name_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="write SPEC, or NAME=SPEC,SPEC"):
        contender(text)


def test_every_prompting_is_a_row_of_a_model_that_writes_and_none_of_a_classifier(file: Path) -> None:
    examples = [{"id": f"e{n}", "text": f"t{n}", "label": "joy", "rephrasings": ["r"]} for n in range(3)]
    asked = {"promptings": ("zs", "fs", "fsr"), "options": {"examples": examples}}
    document = scored(file, Scripted({}, "generate"), **asked)
    assert [row["model"] for row in document["rows"]] == ["scripted: (ZS)", "scripted: (FS)", "scripted: (FS-R)"]
    assert [row["way"] for row in document["rows"]] == ["zs", "fs", "fs-r"]
    both = {"writer:": Scripted({}, "generate"), "scripted:": Scripted({})}
    beside = evaluate(str(file), list(both), warn=quiet, process=both.__getitem__, **asked)
    assert [row["model"] for row in beside["rows"]] == ["writer: (ZS)", "writer: (FS)", "writer: (FS-R)", "scripted:"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"promptings": ("zs",)}, "--prompting is for models that are asked in words"),
        ({"options": {"max_tokens": 5}}, "--max-tokens is for models that write"),
        ({"options": {"constrain": True}}, "--constrain is for models that write"),
        ({"options": {"prompts": {}}}, "--prompts is for models that write"),
    ],
)
def test_what_a_classifier_makes_nothing_of_is_refused_in_one_line(file: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said) as refused:
        scored(file, Scripted({}), **more)
    assert len(refused.value.problems) == 1


def test_no_chain_is_an_example_for_its_own_texts(file: Path) -> None:
    own = [
        {"id": one.id, "text": one.text, "label": one.label, "rephrasings": [a.text for a in one.attempts]}
        for one in THREE
    ]
    model = Scripted({}, "generate")
    scored(file, model, promptings=("fs-r",), options={"examples": own})
    for request in model.asked:
        assert isinstance(request, Generate)
        question = request.messages[-1].content
        about = question.rpartition("Text: ")[2][0]
        shown = question.rpartition("Text: ")[0]
        assert f"{about} first" not in shown
        assert f"{about} again" not in shown
        assert "first" in shown


def test_plutchiks_labels_stand_beside_cancer_emo_and_others_beside_go_emotions(tmp_path: Path, file: Path) -> None:
    assert {row["dataset"] for row in scored(file, Scripted({}))["published"]} == {"CancerEmo.v2"}
    path = tmp_path / "go.jsonl"
    write(path, [chain("a", "gratitude", "gratitude")])
    document = scored(path, Scripted({}, "generate"))
    assert {row["dataset"] for row in document["published"]} == {"GoEmotions.v2"}
    assert len(document["published"]) == 14
    assert document["published"][0]["columns"]["4R"] == {"macro_f1": {"mean": 0.05, "sd": 0.029}}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"variants": {"1R": "x"}}, "1R is a column already"),
        ({"options": {"examples": [{"id": "e", "text": "t", "label": "joy"}]}}, "--examples is for --prompting fs"),
        ({"options": {"labels": ["joy"]}}, "b: scripted: does not know the label 'fear'; it knows: joy"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(file: Path, more: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        scored(file, Scripted({}), **more)
    with pytest.raises(BadInput, match="the name 'm' is given twice"):
        evaluate(str(file), ["m=a:", "m=b:"], warn=quiet)


# Real models.


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Classifiers that answer differently: the same weights under labels in another order."""
    folder = tmp_path_factory.mktemp("seeds")
    orders = (("joy", "fear", "anger"), ("fear", "anger", "joy"), ("anger", "joy", "fear"))
    return [hf_models.bert(folder / str(number), head="classes", labels=labels) for number, labels in enumerate(orders)]


def test_models_of_one_recipe_are_a_row_of_means_and_sample_deviations(
    emotui: Emotui, tmp_path: Path, seeds: list[Path]
) -> None:
    file = tmp_path / "c.jsonl"
    lines = [
        {
            "id": "1",
            "text": "i am so happy",
            "label": "joy",
            "attempts": [{"text": "glad we ran", "predicted": "fear"}],
        },
        {"id": "2", "text": "sad and angry", "label": "anger", "attempts": [{"text": "the dog", "predicted": "anger"}]},
        {"id": "3", "text": "we felt fear today", "label": "fear", "attempts": []},
        {"id": "4", "text": "home and glad", "label": "joy", "attempts": []},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    specs = [f"hf:{path}" for path in seeds]
    alone = [arg for spec in specs for arg in ("--model", spec)]
    document = emotui(
        "rephrasings", "evaluate", "--chains", file, "--model", f"BERT={','.join(specs)}", *alone, "--json"
    ).document
    together, *each = document["rows"]
    assert (together["model"], together["runs"], together["specs"]) == ("BERT", 3, specs)
    for name in ("Original", "1R"):
        values = [row["columns"][name]["macro_f1"]["mean"] for row in each]
        assert len(set(values)) > 1
        cell = together["columns"][name]["macro_f1"]
        low, high = cell.pop("ci95")
        assert low <= cell["mean"] <= high
        assert cell == {"mean": pytest.approx(mean(values)), "sd": pytest.approx(stdev(values)), "runs": values}
        assert all(row["columns"][name]["macro_f1"]["sd"] is None for row in each)


def test_embedded_on_the_sample_chains_gives_what_their_own_verdicts_say(emotui: Emotui) -> None:
    asked = ("rephrasings", "evaluate", "--chains", CHAINS, "--model", "embedded", "--variants", f"RULE={VARIANTS}")
    document = emotui(*asked, "--json").document
    chains = read(str(CHAINS), Chain).records
    gold = {one.id: one.label for one in chains}
    found = macro(document)
    assert found["Original"] == pytest.approx(class_report(gold, {c.id: c.predicted or "" for c in chains})["macro_f1"])
    for k in range(1, 5):
        said = {}
        for one in chains:
            if not is_right(one):
                said[one.id] = one.predicted or ""
            elif one.attempts[k - 1 :] or succeeded_at(one) is not None:
                said[one.id] = one.attempts[min(k, succeeded_at(one) or k) - 1].predicted
        expected = class_report({key: gold[key] for key in said}, said)["macro_f1"]
        assert found[f"{k}R"] == pytest.approx(expected), k
        assert document["columns"][f"{k}R"] == len(said)
    assert found["Original"] > found["1R"] > found["2R"] > found["3R"] > found["4R"]
    shown = emotui(*asked).out
    assert "embedded" in shown
    assert "† OPT-IML (FS-R)" in shown
    assert "† Hard emotion test sets, Table 3, on GoEmotions.v2: other texts, other models" in shown


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--model", "magic:x"), "is not a model"),
        (("--model", "embedded", "--variants", "BT-1"), "write a name and a file"),
        (("--model", "embedded", "--prompting", "xs"), "'xs' is not one of"),
        ((), "Missing option '--model'"),
        (
            ("--model", f"hf:{TINY}", "--prompting", "fs"),
            "give a file of chains or of labelled texts by --examples FILE",
        ),
    ],
)
def test_bad_usage_is_told_in_words_and_ends_with_2(emotui: Emotui, arguments: tuple[str, ...], why: str) -> None:
    done = emotui("rephrasings", "evaluate", "--chains", CHAINS, *arguments)
    assert (done.status, done.out) == (2, "")
    assert why in done.err


def test_bad_chains_are_told_by_their_lines(emotui: Emotui, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": 1, "text": "a", "label": "joy"}\n{"id": 2, "text": "b", "attempts": []}\n')
    done = emotui("rephrasings", "evaluate", "--chains", file, "--model", "embedded")
    assert done.status == 2
    assert [line.split(": ")[0] for line in done.err.splitlines()] == [f"{file}:1", f"{file}:2"]
