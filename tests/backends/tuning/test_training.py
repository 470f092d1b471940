"""Fine-tuning for real, on a BERT that the tests make."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from emotui.backends.base import Classify
from emotui.backends.hf import load
from emotui.backends.tuning.base import load_classifier
from emotui.backends.tuning.classifier import Texts, mean_pair_kl, train
from emotui.backends.tuning.fitting import Interrupted, rate_share
from emotui.backends.tuning.recipe import Example, Recipe
from emotui.commands.output import stopping
from emotui.errors import BadInput, EmotuiError, ModelError
from emotui.lexicons import emolex
from emotui.workbench.training import TrainingFiles, train_classifier
from tests.backends.hf import models as hf_models
from tests.backends.tuning.material import CUES, base, examples, write_files
from tests.paths import CHECKOUT
from tests.waiting import wait_until

LABELS = sorted(CUES)
SHORT = Recipe(epochs=2, rate=3e-3, batch=8, threads=1)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    torch.set_num_threads(1)
    return f"hf:{base(tmp_path_factory.mktemp('tuning') / 'base')}"


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = load_file(folder / "model.safetensors")
    return found


def same(one: Path, other: Path) -> bool:
    """Whether the weights are equal, bit by bit."""
    first, second = tensors(one), tensors(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def stop_after(steps: int) -> Callable[[], bool]:
    asked = 0

    def ask() -> bool:
        nonlocal asked
        asked += 1
        return asked == steps

    return ask


def held_out_kl(folder: Path, held: list[Example]) -> float:
    trainable = load_classifier(folder, LABELS, 0, "cpu", 0)
    trainable.model.eval()
    found = mean_pair_kl(Texts(trainable, [t for each in held for t in (each.text, *each.rephrasings)]), held)
    assert found is not None
    return found


def test_the_kl_term_brings_unseen_rephrasings_nearer_than_plain_training_and_keeps_the_originals_right(
    bert: str, tmp_path: Path
) -> None:
    held = examples(30, seed=9)
    figures = {}
    for kind in ("none", "sum"):
        recipe = replace(SHORT, epochs=10, kl=kind)
        done = train(bert, examples(60), [replace(each, rephrasings=()) for each in held], tmp_path / kind, recipe,
                     sources={})  # fmt: skip
        figures[kind] = (done["epochs"][-1]["macro_f1"], held_out_kl(tmp_path / kind, held))
    assert figures["none"][0] > 0.9
    assert figures["sum"][0] > 0.9
    assert figures["sum"][1] < figures["none"][1] / 5


def test_the_result_is_a_plain_directory_whose_labels_hf_knows(bert: str, tmp_path: Path) -> None:
    done = train(bert, examples(30), examples(9, seed=3), tmp_path / "model", SHORT, sources={"train": {"n": 30}})
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {
        "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "training.json", "README.md",
    }  # fmt: skip
    written = json.loads((tmp_path / "model" / "training.json").read_text("utf-8"))
    assert written == done
    assert written["recipe"]["seed"] == 0
    assert written["data"] == {"train": {"n": 30}}
    assert len(written["epochs"]) == 2
    assert written["curve"][-1]["step"] == written["steps"] == 8
    model = load(str(tmp_path / "model"), {}, lambda line: None)
    assert model.card.labels == {"labels": tuple(LABELS)}
    (answer,) = model.classify([Classify("i was so happy that day")])  # type: ignore[attr-defined]
    assert set(answer.probs) == set(LABELS)


def test_a_label_with_signs_that_act_on_a_terminal_is_written_out_in_the_readme_alone(
    bert: str, tmp_path: Path
) -> None:
    strange = "j\x1b[31moy\n"
    material = [replace(each, label=strange if each.label == "joy" else each.label) for each in examples(12)]
    done = train(bert, material, [], tmp_path / "model", replace(SHORT, epochs=1), sources={})
    assert strange in done["labels"]
    readme = (tmp_path / "model" / "README.md").read_text("utf-8")
    assert "Labels: anger, j\\x1b[31moy\\n, sadness" in readme


def test_training_sees_a_text_exactly_as_prediction_does(bert: str, tmp_path: Path) -> None:
    train(bert, examples(30), [], tmp_path / "model", SHORT, sources={})
    texts = ["i was so happy that day", "[MASK] odd [SEP] text", "sad " * 40, ""]
    trainable = load_classifier(tmp_path / "model", LABELS, 0, "cpu", 0)
    trainable.model.eval()
    ours = Texts(trainable, texts).log_probs(texts).exp()
    answers = load(str(tmp_path / "model"), {}, lambda line: None).classify([Classify(text) for text in texts])  # type: ignore[attr-defined]
    for row, answer in zip(ours.tolist(), answers, strict=True):
        assert row == pytest.approx([answer.probs[label] for label in LABELS], abs=1e-6)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(bert: str, tmp_path: Path) -> None:
    material = examples(24)
    for name, seed in (("one", 3), ("again", 3), ("other", 4)):
        train(bert, material, [], tmp_path / name, replace(SHORT, epochs=1, seed=seed), sources={})
    assert same(tmp_path / "one", tmp_path / "again")
    assert not same(tmp_path / "one", tmp_path / "other")


@pytest.mark.parametrize("lora", [False, True])
def test_a_training_stopped_again_and_again_ends_in_the_same_weights(bert: str, tmp_path: Path, lora: bool) -> None:
    material, held = examples(24), examples(9, seed=3)
    recipe = replace(SHORT, epochs=3, lora=lora, rank=2, checkpoint_every=4)
    whole = train(bert, material, held, tmp_path / "whole", recipe, sources={})
    broken: dict[str, Any] | None = None
    stops = 0
    while broken is None:
        try:
            broken = train(bert, material, held, tmp_path / "broken", recipe, sources={}, resume=stops > 0,
                           stopping=stop_after(2))  # fmt: skip
        except Interrupted:
            stops += 1
            pickles = [path for path in (tmp_path / "broken").rglob("*") if path.suffix in (".pt", ".bin", ".pkl")]
            assert pickles == []
    assert stops == 4
    assert same(tmp_path / "whole", tmp_path / "broken")
    for name in ("epochs", "curve", "best_epoch", "steps"):
        assert broken[name] == whole[name]


def test_a_training_with_emlm_is_resumed_in_either_stage_to_the_same_weights(bert: str, tmp_path: Path) -> None:
    material = examples(16)
    recipe = replace(SHORT, epochs=1, emlm_epochs=2)
    more: dict[str, Any] = {"emlm_texts": [each.text for each in material], "emotion_words": emolex().keys()}
    whole = train(bert, material, [], tmp_path / "whole", recipe, sources={}, **more)
    assert whole["emlm"]["steps"] == 4
    stops = []
    while True:
        try:
            train(bert, material, [], tmp_path / "broken", recipe, sources={}, resume=bool(stops),
                  stopping=stop_after(1), **more)  # fmt: skip
            break
        except Interrupted as error:
            stops.append(str(error))
    assert [("emlm" in stop, "training" in stop) for stop in stops] == [(True, False)] * 3 + [(False, True)]
    assert same(tmp_path / "whole", tmp_path / "broken")
    plain = train(bert, material, [], tmp_path / "plain", recipe, sources={})
    assert plain["emlm"] is None
    assert not same(tmp_path / "whole", tmp_path / "plain")


def test_a_training_that_is_killed_goes_on_to_the_same_weights(bert: str, tmp_path: Path) -> None:
    golds, chains = write_files(tmp_path, examples(60))
    target = tmp_path / "killed"
    command = [
        sys.executable, "-m", "emotui", "train", "classifier", "--base", bert, "--train", str(golds),
        "--rephrasings", str(chains), "--to", str(target), "--epochs", "8", "--lr", "3e-3", "--batch", "4",
        "--checkpoint-every", "3", "--threads", "1",
    ]  # fmt: skip
    state = target / "checkpoint" / "classifier" / "state.json"

    def step() -> int:
        return int(json.loads(state.read_text("utf-8"))["moment"]["step"]) if state.is_file() else 0

    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(CHECKOUT)}) as child:
        wait_until(lambda: step() >= 6 or child.poll() is not None)
        child.kill()
    assert child.returncode == -signal.SIGKILL
    assert 6 <= step() < 120
    files = TrainingFiles(str(golds), str(chains))
    recipe = replace(SHORT, epochs=8, batch=4)
    train_classifier(bert, files, str(target), recipe, resume=True, warn=print)
    train_classifier(bert, files, str(tmp_path / "whole"), recipe, warn=print)
    assert same(tmp_path / "whole", target)
    assert not (target / "checkpoint").exists()


def test_ctrl_c_keeps_the_step_that_was_under_way(bert: str, tmp_path: Path) -> None:
    def press(stage: str, done: int, total: int) -> None:
        if done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with stopping() as asked, pytest.raises(Interrupted, match="stopped after step 3 of 4"):
        train(bert, examples(16), [], tmp_path / "model", SHORT, sources={}, progress=press, stopping=asked)
    assert signal.getsignal(signal.SIGINT) is before
    train(bert, examples(16), [], tmp_path / "model", SHORT, sources={}, resume=True)
    train(bert, examples(16), [], tmp_path / "whole", SHORT, sources={})
    assert same(tmp_path / "whole", tmp_path / "model")


def test_lora_leaves_a_plain_directory_and_moves_no_matrix_but_its_own(bert: str, tmp_path: Path) -> None:
    done = train(bert, examples(30), [], tmp_path / "model", replace(SHORT, lora=True, rank=2), sources={})
    before = load_file(Path(bert.removeprefix("hf:")) / "model.safetensors")
    after = tensors(tmp_path / "model")
    assert not [name for name in after if "lora" in name]
    moved = {
        name.split(".")[-2]
        for name, value in after.items()
        if name.startswith("bert.") and name in before and not torch.equal(value, before[name])
    }
    assert moved == {"query", "value"}
    # Two layers, two matrices of 32 by 2 and 2 by 32 beside each of query and value; pooler and head whole.
    assert done["parameters_trained"] == 2 * 2 * 2 * 64 + (32 * 32 + 32) + (32 * 3 + 3)
    model = load(str(tmp_path / "model"), {}, lambda line: None)
    assert model.card.labels == {"labels": tuple(LABELS)}


def test_the_best_epoch_on_dev_is_the_one_that_is_kept(bert: str, tmp_path: Path) -> None:
    held = examples(12, seed=3)
    done = train(bert, examples(48), held, tmp_path / "model", replace(SHORT, epochs=8), sources={})
    scores = [each["macro_f1"] for each in done["epochs"]]
    assert done["best_epoch"] == 1 + scores.index(max(scores))
    assert done["best_epoch"] < 8  # else this would not tell the best from the last
    trainable = load_classifier(tmp_path / "model", LABELS, 0, "cpu", 0)
    trainable.model.eval()
    found = Texts(trainable, [each.text for each in held]).log_probs([each.text for each in held])
    right = sum(LABELS[int(row.argmax())] == each.label for row, each in zip(found, held, strict=True))
    assert right / len(held) == done["epochs"][done["best_epoch"] - 1]["accuracy"]


def test_a_classifier_for_the_same_labels_goes_on_with_its_head_and_for_others_gets_a_new_one(
    bert: str, tmp_path: Path
) -> None:
    train(bert, examples(12), [], tmp_path / "model", replace(SHORT, epochs=1), sources={})
    known = tensors(tmp_path / "model")["classifier.weight"]
    again = load_classifier(tmp_path / "model", LABELS, 0, "cpu", 0).model.classifier.weight
    assert torch.equal(again, known)
    other = load_classifier(tmp_path / "model", ["x", "y", "z"], 0, "cpu", 0).model
    assert not torch.equal(other.classifier.weight, known)
    assert other.config.id2label == {0: "x", 1: "y", 2: "z"}
    assert load_classifier(tmp_path / "model", ["x", "y"], 0, "cpu", 0).model.classifier.weight.shape == (2, 32)


@pytest.mark.parametrize("make", [hf_models.roberta, hf_models.t5, hf_models.llama])
@pytest.mark.parametrize("lora", [False, True])
def test_other_architectures_train_and_load(make: Callable[[Path], Path], lora: bool, tmp_path: Path) -> None:
    material = [Example(str(n), word, label, (word.upper(),))
                for n, (word, label) in enumerate([("glad day", "joy"), ("sad day", "woe")] * 4)]  # fmt: skip
    recipe = replace(SHORT, epochs=1, batch=4, lora=lora, rank=2)
    train(f"hf:{make(tmp_path / 'base')}", material, [], tmp_path / "model", recipe, sources={})
    model = load(str(tmp_path / "model"), {}, lambda line: None)
    trainable = load_classifier(tmp_path / "model", ["joy", "woe"], 0, "cpu", 0)
    trainable.model.eval()
    texts = ["glad day", "a sad and much longer day"]
    ours = Texts(trainable, texts).log_probs(texts).exp()
    for row, answer in zip(ours.tolist(), model.classify([Classify(text) for text in texts]), strict=True):  # type: ignore[attr-defined]
        assert row == pytest.approx([answer.probs["joy"], answer.probs["woe"]], abs=1e-5)


def test_the_learning_rate_rises_in_a_line_and_falls_in_a_line() -> None:
    shares = [rate_share(step, 10, 0.2) for step in range(10)]
    assert shares == pytest.approx([0.5, 1.0, 1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125])
    assert rate_share(0, 1, 0.1) == 1.0


def test_a_folder_that_is_taken_is_left_alone(bert: str, tmp_path: Path) -> None:
    target = tmp_path / "model"
    with pytest.raises(Interrupted):
        train(bert, examples(16), [], target, SHORT, sources={}, stopping=stop_after(1))
    with pytest.raises(BadInput, match="broken off: go on with --resume"):
        train(bert, examples(16), [], target, SHORT, sources={})
    done = train(bert, examples(16), [], target, SHORT, sources={}, resume=True)
    assert train(bert, examples(16), [], target, SHORT, sources={}, resume=True) == done
    with pytest.raises(BadInput, match="holds a trained model already"):
        train(bert, examples(16), [], target, SHORT, sources={})
    with pytest.raises(BadInput, match=r"another recipe seed \(0, not 1\)"):
        train(bert, examples(16), [], target, replace(SHORT, seed=1), sources={}, resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(BadInput, match="not an empty folder"):
        train(bert, examples(16), [], tmp_path / "mine", SHORT, sources={})


def test_a_broken_checkpoint_is_one_line(bert: str, tmp_path: Path) -> None:
    target = tmp_path / "model"
    with pytest.raises(Interrupted):
        train(bert, examples(16), [], target, SHORT, sources={}, stopping=stop_after(1))
    folder = target / "checkpoint" / "classifier"
    (folder / "step-1.safetensors").write_bytes(b"\x10")
    with pytest.raises(BadInput, match=r"step-1\.safetensors: cannot be read"):
        train(bert, examples(16), [], target, SHORT, sources={}, resume=True)
    (folder / "state.json").write_text("{")
    with pytest.raises(BadInput, match=r"state\.json:1: no checkpoint that can be read"):
        train(bert, examples(16), [], target, SHORT, sources={}, resume=True)


def test_what_cannot_be_a_base_is_one_line(bert: str, tmp_path: Path) -> None:
    def problem(spec: str) -> str:
        with pytest.raises((BadInput, ModelError)) as caught:
            train(spec, examples(6), [], tmp_path / "model", SHORT, sources={})
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "model").exists()
        return str(caught.value)

    assert "cannot be fine-tuned here" in problem("embedded")
    assert "found no directory" in problem(f"hf:{tmp_path / 'nowhere'}")
    (tmp_path / "empty").mkdir()
    assert "no config.json" in problem(f"hf:{tmp_path / 'empty'}")
    pickled = base(tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    assert "can run code" in problem(f"hf:{pickled}")
    wordless = base(tmp_path / "wordless")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (wordless / name).unlink()
        with pytest.raises(ModelError, match=r"wordless has no vocabulary: fetch the files of its tokeniser too"):
            train(f"hf:{wordless}", examples(6), [], tmp_path / "model", SHORT, sources={})
    with pytest.raises(BadInput, match="reads at most 24 tokens"):
        train(bert, examples(6), [], tmp_path / "model", replace(SHORT, max_length=25), sources={})
    with pytest.raises(BadInput, match="--max-length 2 leaves no room for a text"):
        train(bert, examples(6), [], tmp_path / "model", replace(SHORT, max_length=2), sources={})


def test_lora_without_peft_says_what_to_install(bert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ModelError, match=r"pip install 'peft>="):
        train(bert, examples(6), [], tmp_path / "model", replace(SHORT, lora=True), sources={})


def test_a_loss_that_is_no_number_any_more_is_one_line(bert: str, tmp_path: Path) -> None:
    with pytest.raises(EmotuiError, match="try a lower --lr"):
        train(bert, examples(24), [], tmp_path / "model", replace(SHORT, rate=1e30), sources={})


def test_an_xlnet_which_reads_its_last_place_does_not_see_padding(bert: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, XLNetConfig, XLNetForSequenceClassification

    torch.manual_seed(0)
    config = XLNetConfig(
        vocab_size=40, d_model=32, n_layer=2, n_head=2, d_inner=64, initializer_range=0.4, pad_token_id=0,
        id2label=dict(enumerate(LABELS)),
    )  # fmt: skip
    XLNetForSequenceClassification(config).save_pretrained(tmp_path / "xlnet")
    AutoTokenizer.from_pretrained(bert.removeprefix("hf:")).save_pretrained(tmp_path / "xlnet")
    texts = ["angry", "i was so happy that day", "we saw the sun again and the rain that day ."]
    model = load(str(tmp_path / "xlnet"), {}, lambda line: None)
    together = model.classify([Classify(text) for text in texts])  # type: ignore[attr-defined]
    trainable = load_classifier(tmp_path / "xlnet", LABELS, 0, "cpu", 0)
    trainable.model.eval()
    ours = Texts(trainable, texts).log_probs(texts).exp()
    for text, answer, row in zip(texts, together, ours.tolist(), strict=True):
        (alone,) = model.classify([Classify(text)])  # type: ignore[attr-defined]
        assert list(answer.probs.values()) == pytest.approx(list(alone.probs.values()), abs=1e-5)
        assert row == pytest.approx(list(alone.probs.values()), abs=1e-5)


def test_a_folder_that_cannot_be_written_is_one_line(bert: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EmotuiError, match=r"file/model cannot be written: Not a directory"):
        train(bert, examples(6), [], tmp_path / "file" / "model", SHORT, sources={})


def test_a_step_for_which_there_is_no_memory_is_one_line_and_says_what_helps(
    bert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Texts, texts: list[str]) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    monkeypatch.setattr(Texts, "logits", refuse)
    with pytest.raises(EmotuiError, match=r"step 1 of training does not fit into memory: try a smaller --batch"):
        train(bert, examples(6), [], tmp_path / "model", SHORT, sources={})
