"""One text asked about by a task's own prompt: what the model read, wrote and said."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.errors import BadInput
from emotui.records import PLUTCHIK
from emotui.tasks.prompting.files import Prompt
from emotui.workbench.models.probe import probe
from tests.conftest import Emotui
from tests.paths import TINY
from tests.tiny.corpus import unseen

MODEL = TINY / "model"
TEXT, SPANS = next((text, spans) for text, spans in unseen() if len(spans) == 2)
SHORT = {"retrieve": msgspec.to_builtins(Prompt("Evidence: {text}"))}


@pytest.mark.parametrize("kind", ["hf", "gguf"])
def test_the_prompt_is_shown_as_the_model_read_it_with_its_control_tokens(kind: str) -> None:
    if kind == "gguf":
        pytest.importorskip("llama_cpp")
    spec = f"hf:{MODEL / 'hf'}" if kind == "hf" else f"gguf:{MODEL / 'tiny-F16.gguf'}"
    with ModelProcess(spec) as model:
        found = probe(model, TEXT, parts=(), tasks=("spans", "scenes"), options={"spans": {"prompts": SHORT}})
    spans, scenes = found.tasks["spans"], found.tasks["scenes"]
    assert spans.way == "retrieve"
    assert spans.rendered == f"<|bos|><|user|>Evidence: {TEXT}<|end|><|assistant|>"
    assert spans.written == (" | ".join(SPANS),)
    assert spans.raw == spans.written[0]
    assert spans.parsed is not None
    assert tuple(spans.parsed["spans"]) == SPANS
    assert scenes.rendered is not None
    assert scenes.rendered.startswith("<|bos|><|system|>")
    assert "joy" in scenes.rendered
    assert scenes.parsed is not None
    assert set(scenes.parsed["scores"]) == set(PLUTCHIK)
    assert found.generation is None
    assert found.emotions is None


def test_a_model_without_words_has_an_answer_and_no_prompt() -> None:
    with ModelProcess("embedded") as model:
        found = probe(model, "I cried all night.", tasks=("spans",))
    answer = found.tasks["spans"]
    assert (answer.prompt, answer.rendered, answer.written) == (None, None, ())
    assert answer.raw is not None
    assert [each["start"] for each in json.loads(answer.raw)] == [start for start, _ in answer.parsed["offsets"]]
    assert found.spans is not None


@pytest.mark.parametrize(("able", "told"), [(("generate",), True), (("embed",), False)])
def test_a_model_that_only_writes_is_told_how_emotions_are_asked_in_words(able: tuple[str, ...], told: bool) -> None:
    class Writer:
        pid = 1

        def load(self, *_: object) -> ModelCard:
            return ModelCard("some:model", "some", able, {}, {})

    found = probe(Writer(), TEXT, parts=("emotions",))  # type: ignore[arg-type]
    assert found.notes["emotions"].startswith("some:model cannot score; kinds of model that can: ")
    assert found.notes["emotions"].endswith("emotui probe --task scenes --way yes-no") is told


def test_a_prompt_that_does_not_fit_is_told_with_its_length_and_is_shown() -> None:
    with ModelProcess(f"hf:{MODEL / 'hf'}") as model:
        found = probe(model, TEXT, parts=(), tasks=("spans",)).tasks["spans"]
    assert found.why == "the prompt has 641 tokens, and the model's context holds 512"
    assert found.raw is None
    assert found.prompt is not None
    assert TEXT in found.prompt


def test_what_a_model_cannot_be_asked_is_told_and_the_rest_answered(tmp_path: Path) -> None:
    from tests.backends.hf.models import bert

    folder = bert(tmp_path / "bert", head="classes", labels=("joy", "fear"))
    with ModelProcess(f"hf:{folder}") as model:
        found = probe(model, TEXT, tasks=("spans",))
    assert found.tasks == {}
    assert "cannot generate" in found.notes["task spans"]
    assert found.words is not None
    assert [TEXT[start:end] for start, end, _ in found.words.words] == re.findall(r"\w+", TEXT)


def test_an_unknown_task_is_bad_input_and_names_those_there_are() -> None:
    with ModelProcess("embedded") as model, pytest.raises(BadInput, match="there are: spans, scenes"):
        probe(model, TEXT, tasks=("poems",))


def test_the_command_shows_a_tasks_prompt_and_raw_output(emotui: Emotui) -> None:
    model = f"hf:{MODEL / 'hf'}"
    got = emotui("probe", TEXT, "--model", model, "--task", "scenes", "--json").document
    answer = got["tasks"]["scenes"]
    assert answer["rendered"].endswith("<|assistant|>")
    assert json.loads(answer["raw"])["way"] == "first-token"
    assert got["generation"] is None
    shown = emotui("probe", TEXT, "--model", model, "--task", "scenes").out
    assert "<|bos|><|system|>You read short scenes" in shown
    wrong = emotui("probe", TEXT, "--task", "poems")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)
    both = emotui("probe", TEXT, "--task", "spans", "--task", "scenes", "--way", "heads")
    assert both.status == 2


def test_a_tasks_answer_can_be_held_to_its_form_and_to_given_labels(emotui: Emotui, tmp_path: Path) -> None:
    pytest.importorskip("llguidance")
    (tmp_path / "labels.txt").write_text("glad\nsorry\n")
    asked = ("probe", TEXT, "--model", f"hf:{MODEL / 'hf'}", "--task", "class", "--labels", "labels.txt", "--json")
    held = emotui(*asked, "--way", "zs", "--constrain").document["tasks"]["class"]
    assert held["written"][0] in ("glad", "sorry")
    assert emotui("probe", TEXT, "--constrain").status == 2
