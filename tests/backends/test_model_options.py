"""Options behind a SPEC: `hf:DIRECTORY#dtype=float32`, the same way for every kind of model on this machine."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from emotui.backends import gguf, hf
from emotui.backends.host import ModelProcess
from emotui.backends.options import split_options
from emotui.errors import BadInput, ModelError
from tests.conftest import Emotui
from tests.paths import TESTS

TINY = TESTS / "tiny" / "model"


def quiet(line: str) -> None: ...


def test_options_may_stand_in_the_spec(tmp_path: Path) -> None:
    assert split_options("gguf", "m.gguf#context=64&kv=f32") == ("m.gguf", {"context": "64", "kv": "f32"})
    odd = tmp_path / "a#b.gguf"
    odd.touch()
    assert split_options("gguf", str(odd)) == (str(odd), {})
    assert split_options("hf", "m#hypothesis=Rock %26 roll: {}.") == ("m", {"hypothesis": "Rock & roll: {}."})
    with pytest.raises(ModelError, match="hf: the option 'bits' has no value"):
        split_options("hf", "m#bits")


def test_a_transformers_model_takes_them_and_a_caller_overrides_them() -> None:
    spec = f"{TINY / 'hf'}#dtype=bf16&device=cpu&threads=1&context=100"
    model = hf.load(spec, {}, quiet)
    assert model.card.identity["dtype"] == "bfloat16"
    assert model.card.identity["context"] == "100"
    assert model.card.spec == f"hf:{TINY / 'hf'}"
    assert model.card.name == "hf"
    assert hf.load(spec, {"dtype": "float32"}, quiet).card.identity["dtype"] == "float32"


def test_options_that_change_no_output_change_no_identity() -> None:
    one = hf.load(f"{TINY / 'hf'}#threads=1", {}, quiet).card
    two = hf.load(str(TINY / "hf"), {}, quiet).card
    assert (one.spec, one.identity) == (two.spec, two.identity)


def test_a_llama_cpp_models_identity_has_its_options_and_its_spec_has_none() -> None:
    pytest.importorskip("llama_cpp")
    path = TINY / "tiny-Q8_0.gguf"
    cards = [gguf.load(f"{path}{more}", {}, quiet).card for more in ("#threads=1", "#threads=2", "#kv=f32")]
    assert {card.spec for card in cards} == {f"gguf:{path}"}
    assert cards[0].identity == cards[1].identity != cards[2].identity


@pytest.mark.parametrize(
    ("more", "status", "why"),
    [
        ("#warp=9", 2, "hf: has no option 'warp'; it has: online"),
        ("#dtype=int3", 2, "hf: option dtype cannot be 'int3': it is one of auto, float32"),
        ("#device=toaster", 2, "hf: 'toaster' is no device"),
        ("#device=cpu:x", 2, "hf: 'cpu:x' is no device"),
        ("#context=-1", 2, "hf: option context cannot be '-1': it is a whole number of 0 or more"),
        ("#bits", 2, "hf: the option 'bits' has no value"),
        ("#bits=3", 2, "hf: option bits cannot be 3: it is 4 or 8 (or 0)"),
        ("#bits=4", 1, "hf: bits=4 needs bitsandbytes: "),
        ("#device=multi", 1, "hf: device=multi needs GPUs"),
        ("#thinking=on", 1, "this chat template has none"),
    ],
)
def test_a_wrong_option_is_one_line(emotui: Emotui, more: str, status: int, why: str) -> None:
    if more == "#bits=4" and find_spec("bitsandbytes"):
        pytest.skip("bitsandbytes is installed")
    if more == "#device=multi" and pytest.importorskip("torch").cuda.is_available():
        pytest.skip("there are GPUs")
    got = emotui("probe", "x", "--model", f"hf:{TINY / 'hf'}{more}")
    assert (got.status, got.err.count("\n")) == (status, 1), got.err
    assert why in got.err


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("hf:nowhere#dtpye=bf16", "hf: has no option 'dtpye'; it has: online"),
        ("gguf:nowhere.gguf#ctx=9", "gguf: has no option 'ctx'; it has: context"),
        ("gguf:nowhere.gguf#kv=q8_0", "gguf: option kv=q8_0 needs flash=on"),
        ("openai:m@http://127.0.0.1:9#concurency=3", "openai: has no option 'concurency'"),
        ("openai:m@http://127.0.0.1:9#timeout=soon", "openai: timeout is a number of 0 or more, not 'soon'"),
        ("embedded#spans=lines", "option spans cannot be 'lines'"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_started_or_stored(
    emotui: Emotui, tmp_path: Path, spec: str, why: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(why)):
        ModelProcess(spec)
    (tmp_path / "texts.jsonl").write_text('{"id": "a", "text": "I wept.", "spans": []}')
    db = tmp_path / "w.emotui"
    asked = (("run", "spans", "--dataset", "texts.jsonl", "--db", db), ("bench",), ("predict", "spans", "--records"))
    for command in asked:
        got = emotui(*command, *(("texts.jsonl",) if command[0] == "predict" else ()), "--model", spec, "--json")
        assert (got.status, got.out, got.err.count("\n")) == (2, "", 1), got.err
        assert why in got.err
    assert not db.exists()
