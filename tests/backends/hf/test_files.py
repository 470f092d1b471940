"""What is no usable model is told in one line that says what to do, before or instead of a library's own words."""

import json
import shutil
import struct
from pathlib import Path

import pytest

from emotui.backends.hf import load
from emotui.backends.hf.loading import check_all_used
from emotui.backends.host import ModelProcess
from emotui.backends.weights_hash import weights_hash
from emotui.errors import ModelError
from emotui.installing import pip
from tests.backends.hf.models import TINY, changed_copy


def quiet(_: str) -> None: ...


def refusal(argument: object, **options: object) -> str:
    """The one line that loading ends with."""
    with pytest.raises(ModelError) as caught:
        load(str(argument), {"threads": 1, **options}, quiet)
    line = str(caught.value)
    assert "\n" not in line
    return line


def copy(folder: Path) -> Path:
    return Path(shutil.copytree(TINY, folder))


def test_a_directory_that_is_no_model(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is no model's directory: it has no config.json"


def test_a_configuration_that_is_no_json_or_names_no_type(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    assert "config.json is no JSON" in refusal(tmp_path)
    for text in ("{}", "[]", "3"):
        (tmp_path / "config.json").write_text(text)
        assert "names no model_type" in refusal(tmp_path)


def test_a_file_instead_of_a_directory(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_text("")
    assert refusal(path) == f"{path} is a file: hf: takes a model's directory (gguf: takes a GGUF file)"


@pytest.mark.parametrize("name", ["", "/nowhere/at all", "a/b/c"])
def test_a_directory_that_is_not_there(name: str) -> None:
    assert "found no directory" in refusal(name)


def test_a_hub_name_offline_is_refused_at_once_and_says_how_to_go_online(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    def no_network(*_: object) -> None:
        pytest.fail("the hub was asked")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    assert refusal("some/model-that-nobody-fetched") == (
        "some/model-that-nobody-fetched is no directory here and was not fetched before; "
        "to fetch it from the hub, write hf:some/model-that-nobody-fetched#online=true"
    )


@pytest.mark.parametrize("kept", [0, 4, 8, 100, 5_000, -1])
def test_truncated_weights(tmp_path: Path, kept: int) -> None:
    path = copy(tmp_path / "m") / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    assert f"{path} is cut short (" in refusal(tmp_path / "m")


def test_the_length_of_truncated_weights_is_named_with_the_whole(tmp_path: Path) -> None:
    path = copy(tmp_path / "m") / "model.safetensors"
    path.write_bytes(path.read_bytes()[:500_000])
    assert refusal(tmp_path / "m") == f"{path} is cut short (500,000 of 1,020,640 bytes): fetch it again"


@pytest.mark.parametrize(
    "content",
    [
        b"not a tensor in sight, but long enough to be one",
        struct.pack("<Q", 5) + b"[1,2]",
        struct.pack("<Q", 8) + b'{"a": 1}',
        struct.pack("<Q", 22) + b'{"a":{"data_offsets":3',
    ],
)
def test_weights_that_are_no_safetensors(tmp_path: Path, content: bytes) -> None:
    path = copy(tmp_path / "m") / "model.safetensors"
    path.write_bytes(content)
    assert "is no safetensors file, or a corrupt one" in refusal(tmp_path / "m")


def test_weights_with_more_than_they_say(tmp_path: Path) -> None:
    path = copy(tmp_path / "m") / "model.safetensors"
    path.write_bytes(path.read_bytes() + b"more")
    assert "is 4 bytes longer than it says" in refusal(tmp_path / "m")


def test_a_missing_part_of_weights_in_parts(tmp_path: Path) -> None:
    folder = copy(tmp_path / "m")
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert refusal(folder) == f"{folder / 'model-00002-of-00002.safetensors'} is missing: fetch the model again"


def test_weights_that_can_run_code_are_refused(tmp_path: Path) -> None:
    folder = copy(tmp_path / "m")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert refusal(folder) == (
        f"{folder} has its weights only as pytorch_model.bin, a kind of file that can run code: "
        "convert them to safetensors"
    )
    (folder / "pytorch_model.bin").unlink()
    assert "holds no weights: it has no model.safetensors" in refusal(folder)


def test_weights_that_lack_a_tensor_do_not_get_a_random_one(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = copy(tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert "lack model.layers.1.mlp.up_proj.weight: they are not a whole LlamaForCausalLM" in refusal(folder)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_configuration_with_fewer_layers_than_the_weights(tmp_path: Path, layers: int) -> None:
    folder = copy(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": layers}), "utf-8")
    line = refusal(folder)
    assert f"config.json of {folder} leaves out weights that are there (" in line
    assert f"layers.{layers}." in line


def test_heads_and_parts_that_no_text_goes_through_may_be_left_out(tmp_path: Path) -> None:
    unused = [
        "cls.seq_relationship.weight",
        "bert.pooler.dense.weight",
        "vision_tower.encoder.layers.0.q.weight",
        "h.0.attn.bias",
        "lm_head.dense.weight",
        "deberta.embeddings.word_embeddings._weight",
        "decoder.bias",
    ]
    check_all_used(tmp_path, unused, "masked")
    check_all_used(tmp_path, [*unused, "classifier.out_proj.weight", "score.weight"], "encoder")
    for name in (
        "model.layers.3.mlp.weight",
        "encoder.layer.11.output.bias",
        "h.2.ln.weight",
        "decoder.block.4.w",
        "encoder.albert_layer_groups.0.albert_layers.1.ffn.weight",
        "embeddings.position_embeddings.weight",
        "encoder.rel_embeddings.weight",
        "model.norm.weight",
        "model.embed_proj.weight",
        "decoder.weight_g",
    ):
        for family in ("masked", "classifier", "encoder", "causal"):
            with pytest.raises(ModelError, match="are not those of the weights"):
                check_all_used(tmp_path, [name, *unused], family)


@pytest.mark.parametrize(("name", "family"), [("score.weight", "causal"), ("lm_head.weight", "seq2seq")])
def test_a_model_that_writes_leaves_no_head_out(tmp_path: Path, name: str, family: str) -> None:
    check_all_used(tmp_path, ["v_head.summary.weight"], family)
    with pytest.raises(ModelError, match=name):
        check_all_used(tmp_path, [name], family)


def test_a_configuration_that_makes_no_use_of_a_part_that_is_no_layer(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = copy(tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_positions.weight"] = weights["model.norm.weight"].clone()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert f"config.json of {folder} leaves out weights that are there (model.embed_positions" in refusal(folder)


def test_weights_of_another_shape(tmp_path: Path) -> None:
    assert "could not be loaded: " in refusal(changed_copy(tmp_path / "m", hidden_size=64))


def test_an_architecture_that_nobody_knows(tmp_path: Path) -> None:
    line = refusal(changed_copy(tmp_path / "m", model_type="hyperllama"))
    assert "is a model of type 'hyperllama', which transformers" in line
    assert "code that comes with a model is never run" in line


def test_code_beside_a_model_is_not_run(tmp_path: Path) -> None:
    folder = changed_copy(tmp_path / "m", model_type="hyperllama", auto_map={"AutoConfig": "evil.Config"})
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    refusal(folder)
    assert not (tmp_path / "ran").exists()


def test_a_kind_of_model_that_is_of_no_use_here(tmp_path: Path) -> None:
    line = refusal(changed_copy(tmp_path / "m", architectures=["LlamaForMultipleChoice"]))
    assert "is a LlamaForMultipleChoice: hf: knows models that write, fill masks, classify, mark spans or embed" in line
    assert "names no architecture" in refusal(changed_copy(tmp_path / "n", architectures=None))


def test_a_directory_without_a_tokeniser(tmp_path: Path) -> None:
    folder = copy(tmp_path / "m")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert "has no vocabulary: fetch the files of its tokeniser too" in refusal(folder)


def test_a_template_that_is_no_template(tmp_path: Path) -> None:
    folder = copy(tmp_path / "m")
    (folder / "chat_template.jinja").write_text("{% for %}")
    assert "The model's chat template cannot be read" in refusal(folder)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"warp": 9}, "hf: has no option 'warp'; it has: online, "),
        ({"dtype": "int3"}, "hf: option dtype cannot be 'int3': it is one of auto, float32"),
        ({"bits": 5}, "hf: option bits cannot be 5: it is 4 or 8"),
        ({"bits": "x"}, "hf: option bits cannot be 'x': it is a whole number"),
        ({"online": "maybe"}, "hf: option online cannot be 'maybe': it is true or false"),
        ({"hypothesis": "It is so."}, "hf: option hypothesis needs one {}"),
        ({"device": "abacus"}, "hf: 'abacus' is no device"),
        ({"device": "cuda:77"}, "hf: there is no cuda:77 here"),
        ({"thinking": "on"}, "hf: thinking=on needs a model with a thinking mode"),
    ],
)
def test_options_that_there_are_not(options: dict[str, object], line: str) -> None:
    assert line in refusal(TINY, **options)


def test_bits_without_the_library_for_them() -> None:
    from importlib.util import find_spec

    if find_spec("bitsandbytes") is not None:
        pytest.skip("bitsandbytes is installed")
    assert refusal(TINY, bits=4) == f"hf: bits=4 needs bitsandbytes: {pip()} install bitsandbytes accelerate"


def test_a_context_of_ones_own_is_kept_to() -> None:
    model = load(str(TINY), {"threads": "1", "context": "100"}, quiet)
    assert "Context: 100 tokens" in model.card.notes


def test_a_corrupt_file_costs_one_error_in_the_screens_process(tmp_path: Path) -> None:
    path = copy(tmp_path / "m") / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-7])
    with ModelProcess(f"hf:{tmp_path / 'm'}") as model:
        with pytest.raises(ModelError, match="is cut short"):
            model.load()
        shutil.copy(TINY / "model.safetensors", path)
        assert model.load().capabilities == ("generate", "score", "rank", "attribute", "states", "push")


def test_weights_are_hashed_again_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "w"
    path.write_bytes(b"one")
    first = weights_hash([path], quiet)
    assert weights_hash([path], quiet) == first
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    assert weights_hash([path], quiet) != first
    assert weights_hash([path, path], quiet) != weights_hash([path], quiet)
