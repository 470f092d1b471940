"""Whatever stands in a model's folder, it is listed or refused in one line, before a library sees it."""

import json
import random
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.backends import hf
from emotui.backends.base import Generate, Message
from emotui.backends.hf.configuration import read_config
from emotui.backends.hf.files import weight_files
from emotui.errors import BadModel, ModelError
from emotui.workbench.models.discovery import _in_folder
from tests.backends.hf.models import TINY
from tests.effort import times, tried
from tests.mutations import LONG_NUMBER, mutated_json

seeds = st.integers(0, 2**32)
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tiny model, for tests that put back what they change."""
    return Path(shutil.copytree(TINY, tmp_path_factory.mktemp("mutated") / "m"))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"architectures": -1}, "architectures is -1, and must be a list of names"),
        ({"architectures": {"a": None}}, "architectures is an object, and must be a list of names"),
        ({"model_type": ["llama"]}, "model_type is a list, and must be a name"),
        ({"hidden_size": "128"}, "hidden_size is text, and must be a whole number"),
        ({"num_hidden_layers": 10**40}, "num_hidden_layers is a number of more than 20 digits, and must be"),
        ({"max_position_embeddings": 1.5}, "max_position_embeddings is 1.5, and must be a whole number"),
        ({"num_attention_heads": True}, "num_attention_heads is true, and must be a whole number"),
        ({"id2label": ["joy"]}, "id2label is a list, and must be an object of names by the numbers from 0"),
        ({"id2label": {"0": "joy", "2": "fear"}}, "id2label is an object, and must be an object of names"),
        ({"text_config": {"n_ctx": "x"}}, "text_config.n_ctx is text, and must be a whole number"),
        ({"text_config": "x"}, "text_config is text, and must be an object"),
        ({"eos_token_id": [2, None]}, "eos_token_id is a list, and must be the number of a token"),
    ],
)
def test_an_entry_of_a_wrong_type_is_named_without_a_library(tmp_path: Path, entry: dict[str, Any], said: str) -> None:
    config = json.loads((TINY / "config.json").read_text("utf-8")) | entry
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(BadModel) as caught:
        read_config(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'config.json'}: {said}")
    (row,) = _in_folder(tmp_path)
    assert row.problem == str(caught.value)


def test_a_number_of_5000_digits_is_no_json_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(f'{{"model_type": "llama", "hidden_size": {LONG_NUMBER}}}')
    with pytest.raises(BadModel, match=r"config.json is no JSON \(Exceeds the limit"):
        read_config(tmp_path)


@pytest.mark.parametrize("beside", [True, False])
def test_a_folder_with_an_adapter_is_refused_at_once_and_says_what_to_do(tmp_path: Path, beside: bool) -> None:
    if beside:
        shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "no/such-model"}')
    with pytest.raises(BadModel, match=r"holds an adapter for another model .* merge it into its base"):
        hf.load(str(tmp_path), {}, lambda line: None)
    (row,) = _in_folder(tmp_path)
    assert row.problem is not None
    assert "adapter" in row.problem


@pytest.mark.parametrize(
    "index",
    [
        {"weight_map": "x"},
        {"weight_map": {}},
        {"weight_map": {"a": 3}},
        {"weight_map": {"a": "../../etc/passwd"}},
        {"weight_map": {"a": "/etc/x.safetensors"}},
        {"weight_map": {"a": "\0.safetensors"}},
        {"weight_map": {"a": "x" * 300 + ".safetensors"}},
    ],
)
def test_an_index_names_files_beside_it_and_nothing_else(tmp_path: Path, index: dict[str, Any]) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(BadModel, match=r"is no list of weight files: fetch the model again"):
        weight_files(tmp_path)


def test_a_folder_that_cannot_be_read_is_a_row_and_hides_no_other(tmp_path: Path, monkeypatch: Any) -> None:
    for name in ("a", "b", "c"):
        shutil.copytree(TINY, tmp_path / name)
    known = Path.is_file

    def is_file(path: Path) -> bool:
        if path.parent.name == "b":
            raise PermissionError(13, "Permission denied")
        return known(path)

    monkeypatch.setattr(Path, "is_file", is_file)
    rows = {row.name: row.problem for row in _in_folder(tmp_path)}
    assert rows == {"a": None, "b": f"{tmp_path / 'b'} cannot be read: Permission denied", "c": None}


def test_a_control_token_that_the_weights_do_not_know_is_told_at_once(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(TINY, tmp_path / "m"))
    said = json.loads((copy / "tokenizer_config.json").read_text("utf-8"))
    (copy / "tokenizer_config.json").write_text(json.dumps(said | {"bos_token": "<new>"}), "utf-8")
    with pytest.raises(ModelError, match=r"has '<new>' as token 512, and its weights know 512"):
        hf.load(str(copy), {"threads": 1}, lambda line: None)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "model.safetensors"])
@given(seed=seeds)
@settings(in_one_folder, max_examples=times(60, 20_000))
def test_any_folder_is_one_row_that_json_can_say(folder: Path, name: str, seed: int) -> None:
    chance = random.Random(seed)
    weights = (TINY / "model.safetensors").read_bytes()
    size = 8 + int.from_bytes(weights[:8], "little")
    documents: dict[str, Any] = {
        "config.json": json.loads((TINY / "config.json").read_bytes()),
        "model.safetensors.index.json": {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}},
        "model.safetensors": json.loads(weights[8:size]),
    }
    content = mutated_json(documents[name], chance)
    if name == "model.safetensors":
        content = len(content).to_bytes(8, "little") + content + weights[size:]
    else:
        (folder / "model.safetensors").unlink(missing_ok=True)
    (folder / name).write_bytes(content)
    tried("bad inputs")
    try:
        (row,) = _in_folder(folder)
        json.dumps([row.size, row.quantisation, row.context, row.problem])
        assert "\n" not in (row.problem or "")
    finally:
        for each in ("config.json", "model.safetensors"):
            shutil.copyfile(TINY / each, folder / each)
        (folder / "model.safetensors.index.json").unlink(missing_ok=True)


@pytest.mark.fuzz
@given(seed=seeds)
@settings(in_one_folder, max_examples=times(25, 3_000))
@pytest.mark.skipif(sys.platform == "win32", reason="weights that are loaded cannot be written over there")
def test_any_files_of_a_model_are_loaded_or_refused_in_one_line(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    name = chance.choice(["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"])
    (folder / name).write_bytes(mutated_json(json.loads((TINY / name).read_bytes()), chance))
    tried("bad inputs")
    said = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model: Any = hf.load(str(folder), {"threads": 1, "check_memory": False}, lambda line: None)
        if "generate" in model.card.capabilities:
            assert model.generate([Generate((Message("user", "so very glad"),), max_tokens=2)])
    except ModelError as error:
        said = str(error)
    finally:
        shutil.copyfile(TINY / name, folder / name)
    assert "\n" not in said


def test_what_a_library_in_rust_gives_up_with_is_one_line(folder: Path) -> None:
    said = json.loads((TINY / "tokenizer.json").read_text("utf-8"))
    said["model"] |= {"continuing_subword_prefix": "longer than any token", "vocab": {"a": 0, "b": 1, "ab": 2}}
    (folder / "tokenizer.json").write_text(json.dumps(said | {"model": said["model"] | {"merges": [["a", "b"]]}}))
    try:
        with pytest.raises(ModelError, match="could not be loaded: range ") as refused:
            hf.load(str(folder), {"threads": 1, "check_memory": False}, lambda line: None)
        assert "\n" not in str(refused.value)
    finally:
        shutil.copyfile(TINY / "tokenizer.json", folder / "tokenizer.json")
