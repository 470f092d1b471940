"""Where a model goes: one device unless more are asked for, and what is out of memory or cannot run there."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import DynamicCache, EncoderDecoderCache

from emotui.backends import hf, stopping
from emotui.backends.base import FillMask, Generate, Message, Score
from emotui.backends.hf import loading
from emotui.backends.hf.batching import Batches
from emotui.backends.hf.decoding import unpacked
from emotui.backends.hf.devices import chosen_devices
from emotui.backends.hf.loading import placement
from emotui.backends.hf.prefix import keep_rows
from emotui.backends.hf.settings import parse_settings
from emotui.errors import BadModel, ModelError
from emotui.installing import pip
from tests.backends.hf.models import bert, t5
from tests.paths import TINY

PLAIN = TINY / "model" / "hf"


@pytest.fixture
def eight_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda place: (10 * 2**30, 80 * 2**30))


@pytest.mark.usefixtures("eight_gpus")
@pytest.mark.parametrize(
    ("options", "first", "spread"),
    [
        ({}, "cuda:0", 0),
        ({"device": "cuda:3"}, "cuda:3", 0),
        ({"devices": "2"}, "cuda:0", 2),
        ({"device": "multi"}, "cuda:0", 8),
        ({"device": "cpu"}, "cpu", 0),
    ],
)
def test_one_gpu_is_used_unless_several_are_asked_for(options: dict[str, str], first: str, spread: int) -> None:
    found = chosen_devices(parse_settings(options))
    assert (str(found.first), found.spread) == (first, spread)


@pytest.mark.usefixtures("eight_gpus")
def test_weights_go_straight_to_the_gpus_that_are_named() -> None:
    one = parse_settings({})
    assert placement(chosen_devices(one), one, torch.bfloat16, packed=False) == {
        "device_map": {"": torch.device("cuda", 0)}
    }
    two = parse_settings({"devices": "2"})
    room = int(0.9 * 10 * 2**30)
    assert placement(chosen_devices(two), two, torch.bfloat16, packed=False) == {
        "device_map": "balanced",
        "max_memory": {0: room, 1: room},
    }
    cpu = parse_settings({"device": "cpu"})
    assert placement(chosen_devices(cpu), cpu, torch.float32, packed=False) == {}


@pytest.mark.usefixtures("eight_gpus")
def test_more_gpus_than_there_are_is_one_line() -> None:
    with pytest.raises(ModelError, match="devices=9 is more than there are here: torch sees 8"):
        chosen_devices(parse_settings({"devices": "9"}))
    with pytest.raises(BadModel, match="devices=2 does not go with device=cpu"):
        parse_settings({"devices": "2", "device": "cpu"})


@pytest.mark.parametrize(
    "raised",
    [
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("HIP error: hipErrorOutOfMemory"),
    ],
    ids=str,
)
def test_all_words_for_no_memory_halve_the_batch(raised: Exception) -> None:
    sizes: list[int] = []

    def compute(places: list[int]) -> list[int]:
        sizes.append(len(places))
        if len(places) > 2:
            raise raised
        return places

    assert Batches(80).run([10] * 8, compute, lambda why: -1) == list(range(8))
    assert sizes == [8, 4, 2, 2, 2, 2]


def test_another_error_of_a_device_is_none_of_memory() -> None:
    def compute(places: list[int]) -> list[int]:
        raise RuntimeError("CUDA error: device-side assert triggered")

    with pytest.raises(RuntimeError, match="assert triggered"):
        Batches(80).run([10] * 8, compute, lambda why: -1)


def test_rows_of_a_cache_are_picked_where_each_layer_lies() -> None:
    def made() -> DynamicCache:
        cache = DynamicCache()
        for layer in range(2):
            keys = torch.arange(3.0).view(3, 1, 1, 1) + 10 * layer
            cache.update(keys, keys + 5, layer)
        return cache

    both = EncoderDecoderCache(made(), made())
    keep_rows(both, torch.tensor([2, 0]))
    for part in (both.self_attention_cache, both.cross_attention_cache):
        assert [layer.keys.flatten().tolist() for layer in part.layers] == [[2, 0], [12, 10]]
        assert [layer.values.flatten().tolist() for layer in part.layers] == [[7, 5], [17, 15]]


def test_the_bits_of_a_mask_are_those_that_numpy_unpacks() -> None:
    held = np.arange(256, dtype=np.uint8)
    assert unpacked(torch.from_numpy(held)).tolist() == np.unpackbits(held, bitorder="little").tolist()


def copied(folder: Path, to: Path, **said: Any) -> Path:
    shutil.copytree(folder, to)
    path = to / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    return to


@pytest.mark.parametrize(
    ("method", "there", "why"),
    [
        ("gptq", False, f"is quantised by gptq, which needs optimum: {pip()} install optimum"),
        ("compressed-tensors", False, f"which needs compressed-tensors: {pip()} install compressed-tensors"),
        ("awq", True, "is quantised by awq, which runs on an NVIDIA GPU: here the device is cpu"),
        ("fp8", False, f"is quantised by fp8, which needs accelerate: {pip()} install accelerate"),
        (
            "higgs",
            True,
            "is quantised by higgs, which cannot be loaded here: HIGGS quantization is only",
        ),
        ("bitnet", True, "is quantised by bitnet, which runs on an NVIDIA GPU: here the device is cpu"),
        ("sinq", False, f"is quantised by sinq, which needs sinq: {pip()} install sinq"),
        ("modelopt", True, "is quantised by modelopt, which cannot be loaded here: transformers"),
    ],
)
def test_quantised_files_that_cannot_run_here_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, there: bool, why: str
) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda name: there or None)
    folder = copied(PLAIN, tmp_path / "packed", quantization_config={"quant_method": method, "bits": 4})
    steps: list[str] = []
    with pytest.raises(ModelError) as told:
        hf.load(str(folder), {"device": "cpu"}, steps.append)
    assert why in str(told.value)
    assert all("torch" in step for step in steps), "the weights were read before"
    with pytest.raises(ModelError, match="is quantised already"):
        hf.load(str(folder), {"device": "cpu", "bits": 4}, lambda line: None)


def test_weights_of_eight_bits_are_unpacked_where_there_is_no_gpu(tmp_path: Path) -> None:
    kind = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "fmt": "e4m3"}
    folder = copied(PLAIN, tmp_path / "packed", quantization_config=kind)
    (path,) = folder.glob("*.safetensors")
    weights: dict[str, torch.Tensor] = {}
    for name, weight in load_file(path).items():
        weights[name] = weight
        if "proj" in name:
            rows, columns = weight.shape
            blocks = torch.nn.functional.pad(weight.float(), (0, -columns % 128, 0, -rows % 128))
            blocks = blocks.unflatten(0, (-1, 128)).unflatten(2, (-1, 128))
            scales = blocks.abs().amax((1, 3)) / 448
            packed = (blocks / scales[:, None, :, None]).flatten(2).flatten(0, 1)[:rows, :columns]
            weights[name] = packed.to(torch.float8_e4m3fn)
            weights[name.replace(".weight", ".weight_scale_inv")] = scales
    save_file(weights, path, metadata={"format": "pt"})
    plain, eight = (hf.load(str(each), {"device": "cpu"}, lambda line: None) for each in (PLAIN, folder))
    assert eight.card.identity["bits"] == "fp8"
    asked = [Score("I wept at the sea.", ("Is it sad?", "Is it joy?"))]
    (left,), (right,) = plain.score(asked), eight.score(asked)
    assert left.yes == pytest.approx(right.yes, abs=0.3)
    assert left.yes != right.yes


def test_bits_need_both_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda name: name != "accelerate" or None)
    settings = parse_settings({"bits": "4", "device": "cpu"})
    with pytest.raises(ModelError, match="bits=4 needs accelerate"):
        placement(chosen_devices(settings), settings, torch.float32, packed=False)


@pytest.mark.parametrize("attn", ["eager", "sdpa"])
def test_attention_as_asked_for_writes_the_same(attn: str) -> None:
    def opened(**options: Any) -> Any:
        return hf.load(str(PLAIN), {"device": "cpu", "dtype": "float32", **options}, lambda line: None)

    model = opened(attn=attn)
    assert model.card.identity["attention"] == attn
    asked = [Generate((Message("user", "Evidence: The sea was calm."),), max_tokens=12)]
    assert model.generate(asked) == opened().generate(asked)


def test_masks_of_many_texts_are_filled_as_one_by_one(tmp_path: Path) -> None:
    model = hf.load(str(bert(tmp_path / "m")), {"device": "cpu"}, lambda line: None)
    texts = ("i am <mask>", "nothing", "so <mask> and <mask>", "x <mask> happy")
    asked = [FillMask(text, None if place % 2 else ("sad", "unhappy"), 3) for place, text in enumerate(texts)]
    one_by_one = [model.fill_mask([each])[0] for each in asked]
    together = model.fill_mask(asked)
    for left, right in zip(together, one_by_one, strict=True):
        same(left, right)


def same(left: Any, right: Any) -> None:
    assert type(left) is type(right)
    for mine, other in zip(getattr(left, "masks", ()), getattr(right, "masks", ()), strict=True):
        assert [word for word, _ in mine] == [word for word, _ in other]
        assert [p for _, p in mine] == pytest.approx([p for _, p in other], abs=1e-5)


def test_continuous_batching_writes_what_rows_write() -> None:
    asked = [
        Generate((Message("user", f"{place} The bus let me off {'again ' * (place % 3)}"),), max_tokens=4 + place)
        for place in range(6)
    ]
    stopped = [Generate(each.messages, max_tokens=20, stop=("e",)) for each in asked[:2]]
    drawn = [Generate(asked[0].messages, max_tokens=5, temperature=1.0, seed=3)]
    by_rows = hf.load(str(PLAIN), {"device": "cpu"}, lambda line: None)
    paged = hf.load(str(PLAIN), {"device": "cpu", "batching": "continuous"}, lambda line: None)
    assert paged.generate([*asked, *stopped, *drawn]) == by_rows.generate([*asked, *stopped, *drawn])
    (none,) = paged.generate([Generate(asked[0].messages, max_tokens=0)])
    assert none == by_rows.generate([Generate(asked[0].messages, max_tokens=0)])[0]
    assert (paged.card.identity["batching"], by_rows.card.identity.get("batching")) == ("continuous", None)


def test_continuous_batching_is_refused_of_a_model_that_does_not_write_from_left_to_right(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"batching=continuous is for models that do"):
        hf.load(str(t5(tmp_path)), {"device": "cpu", "batching": "continuous"}, lambda line: None)


@pytest.mark.parametrize("batching", ["rows", "continuous"])
def test_what_is_taken_back_ends_between_two_steps_and_the_model_answers_as_before(
    batching: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = hf.load(str(PLAIN), {"device": "cpu", "batching": batching}, lambda line: None)
    asked = [Generate((Message("user", "Evidence: The sea was calm."),), max_tokens=8)]
    stopping.begin(1)
    before = model.generate(asked)
    steps = iter(range(100))
    checked = stopping.check

    def taken_back_at_the_third() -> None:
        if next(steps) == 2:
            stopping.take_back(2)
        checked()

    monkeypatch.setattr(stopping, "check", taken_back_at_the_third)
    stopping.begin(2)
    with pytest.raises(stopping.Stopped):
        model.generate(asked)
    stopping.begin(3)
    assert model.generate(asked) == before
