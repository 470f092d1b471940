"""A GGUF file is read, found whole and fitted into memory before llama.cpp sees it; damage is one clear line."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.backends.gguf.files import find_model, models_in
from emotui.backends.gguf.header import read_header
from emotui.backends.gguf.library import Device, open_library
from emotui.backends.gguf.memory import Plan, bytes_a_token, flash_type, logits_bytes, make_plan
from emotui.backends.gguf.settings import Settings, parse_settings
from emotui.bounded import free_memory
from emotui.errors import ModelError
from tests.backends.gguf.probe_model import quantise, write_probe_model
from tests.paths import TESTS

TINY = TESTS / "tiny" / "model"


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small GGUF that is in order."""
    path = tmp_path_factory.mktemp("gguf") / "whole.gguf"
    write_probe_model(path)
    return path


def changed(whole: Path, folder: Path, start: int, content: bytes) -> Path:
    """A copy with some bytes replaced."""
    path = folder / "changed.gguf"
    raw = whole.read_bytes()
    path.write_bytes(raw[:start] + content + raw[start + len(content) :])
    return path


def test_a_header_says_what_the_model_is() -> None:
    header = read_header(TINY / "tiny-Q8_0.gguf")
    assert (header.architecture, header.name) == ("llama", "emotui tests' tiny Llama")
    assert (header.quantisation, header.context) == ("Q8_0", 512)
    assert header.number("block_count", 0) == 3
    assert str(header.metadata["tokenizer.chat_template"]).startswith("{{ bos_token }}")
    assert "tokenizer.ggml.tokens" not in header.metadata


@pytest.mark.parametrize("kind", ["F16", "Q8_0"])
def test_the_size_that_a_header_gives_is_the_files_own_up_to_padding(kind: str) -> None:
    path = TINY / f"tiny-{kind}.gguf"
    assert 0 <= path.stat().st_size - read_header(path).size < 32


def test_a_file_without_a_name_goes_by_its_files(whole: Path) -> None:
    assert read_header(whole).name == "whole"


@pytest.mark.parametrize(
    ("start", "content", "why"),
    [
        (0, b"GGML", r"changed.gguf is no GGUF file: give a .gguf, or hf:DIRECTORY"),
        (4, struct.pack("<I", 1), r"is GGUF version 1: only 2 and 3 can be read"),
        (4, struct.pack(">I", 3), r"is a big-endian GGUF"),
        (8, struct.pack("<Q", 1 << 60), r"is damaged \(it counts more entries than it has bytes\)"),
        (24, struct.pack("<Q", 1 << 40), r"is damaged \(a text in its header is impossibly long\)"),
        (24 + 8 + len("general.architecture"), struct.pack("<I", 99), r"is damaged \(a value has type 99"),
    ],
)
def test_damage_in_a_header_is_named(whole: Path, tmp_path: Path, start: int, content: bytes, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        read_header(changed(whole, tmp_path, start, content))


def test_a_file_cut_short_says_how_much_of_it_is_there(whole: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(whole.read_bytes()[:300_000])
    with pytest.raises(ModelError, match=r"short.gguf is cut short \(300.0 kB of \d+.\d kB\): download it again"):
        read_header(short)


@pytest.mark.parametrize("length", [0, 3, 4, 7, 20, 30, 60, 500, 3_000, 5_000])
def test_a_file_cut_in_its_header_is_one_clear_line(whole: Path, tmp_path: Path, length: int) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(whole.read_bytes()[:length])
    with pytest.raises(ModelError, match="is no GGUF file" if length < 4 else "is cut short") as caught:
        read_header(short)
    assert "\n" not in str(caught.value)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 9_000), content=st.binary(min_size=1, max_size=12))
def test_no_damage_does_more_than_raise_one_line(whole: Path, tmp_path: Path, place: int, content: bytes) -> None:
    said = ""
    try:
        read_header(changed(whole, tmp_path, place, content))
    except ModelError as error:
        said = str(error)
    assert "\n" not in said


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"There is no file .*gone.gguf"):
        find_model(str(tmp_path / "gone.gguf"))
    with pytest.raises(ModelError, match=r"gguf: needs a file"):
        find_model("")
    with pytest.raises(ModelError, match=r"cannot be read: Is a directory"):
        read_header(tmp_path)


def test_a_missing_library_is_one_line_that_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    monkeypatch.setitem(sys.modules, "llama_cpp.llama_cpp", None)
    with pytest.raises(
        ModelError, match=r"needs llama-cpp-python, which is not installed: .*pip install 'llama-cpp-python>="
    ):
        open_library.__wrapped__()


def test_reading_headers_loads_no_llama_cpp() -> None:
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from emotui.backends.gguf.files import find_model\n"
        f"find_model({str(TINY / 'tiny-Q8_0.gguf')!r})\n"
        "print([name for name in ('llama_cpp', 'torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_directory_with_one_model_names_it_and_one_with_more_asks_which(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no .gguf file"):
        find_model(str(tmp_path))
    (tmp_path / "a.gguf").write_bytes(whole.read_bytes())
    assert find_model(str(tmp_path)).parts == (tmp_path / "a.gguf",)
    (tmp_path / "b.gguf").write_bytes(whole.read_bytes())
    with pytest.raises(ModelError, match=r"holds 2 models \(a.gguf, b.gguf\): name the one you mean"):
        find_model(str(tmp_path))


def test_a_part_stands_for_all_and_a_missing_one_is_named(whole: Path, tmp_path: Path) -> None:
    parts = [tmp_path / f"m-{number:05d}-of-00003.gguf" for number in (1, 2, 3)]
    for part in parts[:2]:
        part.write_bytes(whole.read_bytes())
    with pytest.raises(ModelError, match=r"is one of 3 parts; missing beside it: m-00003-of-00003.gguf"):
        find_model(str(parts[0]))
    parts[2].write_bytes(whole.read_bytes())
    found = find_model(str(parts[1]))
    assert found.parts == tuple(parts)
    assert found.size == 3 * whole.stat().st_size
    assert models_in(tmp_path) == [parts[0]]


def test_options_given_as_text_are_read_as_what_they_are() -> None:
    assert parse_settings(
        {"context": "4096", "gpu_layers": "-1", "flash": "on", "check_memory": "no", "kv": "f32"}
    ) == Settings(context=4096, gpu_layers=-1, flash="on", check_memory=False, kv="f32")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"contxt": 1}, "has no option 'contxt'; it has: context, gpu_layers"),
        ({"context": "many"}, "option context cannot be 'many': it is a whole number of 0 or more"),
        ({"context": -1}, "option context cannot be -1"),
        ({"threads": True}, "option threads cannot be True"),
        ({"kv": "q4"}, "option kv cannot be 'q4': it is one of f16, f32, q8_0"),
        ({"flash": "yes"}, "option flash cannot be 'yes': it is one of auto, on, off"),
        ({"check_memory": "perhaps"}, "option check_memory cannot be 'perhaps': it is true or false"),
        ({"kv": "q8_0"}, "kv=q8_0 needs flash=on"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options: dict[str, object], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        parse_settings(options)


def test_a_tokens_cache_is_keys_and_values_of_every_layer() -> None:
    header = read_header(TINY / "tiny-Q8_0.gguf")
    # 3 layers, 2 key-value heads, 128 / 4 = 32 wide, keys and values, 2 bytes.
    assert bytes_a_token(header, "f16") == 3 * 2 * (32 + 32) * 2
    assert bytes_a_token(header, "f32") == 2 * bytes_a_token(header, "f16")


def test_the_context_is_the_models_own_where_it_fits_and_is_halved_until_it_does(whole: Path) -> None:
    tiny = find_model(str(TINY / "tiny-Q8_0.gguf"))
    assert make_plan(tiny, Settings(), [], 10**10).context == 512
    assert make_plan(tiny, Settings(), [], None).context == 512
    assert make_plan(tiny, Settings(context=100), [], 10**10).context == 100
    assert make_plan(find_model(str(whole)), Settings(), [], 10**10).context == 128


def test_a_long_context_shrinks_to_the_free_memory() -> None:
    tiny = find_model(str(TINY / "tiny-Q8_0.gguf"))
    fixed = tiny.size + 400_000_000
    header = tiny.header
    longer = type(header)(
        header.path, {**header.metadata, "llama.context_length": 100_000}, header.tensors, header.size
    )
    big = type(tiny)(tiny.parts, longer)
    assert make_plan(big, Settings(), [], 10**10).context == 8192
    assert make_plan(big, Settings(), [], fixed + 8192 * 768).context == 8192
    assert make_plan(big, Settings(), [], fixed + 8191 * 768).context == 4096


def test_no_memory_is_one_line_with_what_is_needed_and_what_is_free() -> None:
    tiny = find_model(str(TINY / "tiny-Q8_0.gguf"))
    with pytest.raises(ModelError, match=r"needs 401.5 MB of memory with a context of 512 tokens and 1.0 MB are free"):
        make_plan(tiny, Settings(), [], 10**6)
    with pytest.raises(ModelError, match=r"take a smaller quantisation or context"):
        make_plan(tiny, Settings(context=10**9), [], 10**9)
    assert make_plan(tiny, Settings(check_memory=False), [], 10**6).context == 512


def test_layers_go_to_the_gpu_as_far_as_its_free_memory_goes() -> None:
    tiny = find_model(str(TINY / "tiny-Q8_0.gguf"))
    cache = 512 * bytes_a_token(tiny.header, "f16")
    a_layer = (tiny.size + cache) / 4
    reserved = 400_000_000 + 2 * 512 * 512 * 4  # a batch's logits over 512 tokens, computed and handed out

    def layers(free: float, **options: int) -> int:
        return make_plan(tiny, Settings(**options), [Device("GPU", int(free), 10**10)], 10**10).gpu_layers

    assert layers(10**10) == 4
    assert layers(reserved + 2.5 * a_layer) == 2
    assert layers(reserved / 2) == 0
    assert layers(10**10, gpu_layers=1) == 1
    assert make_plan(tiny, Settings(gpu_layers=3), [], 10**10).gpu_layers == 0


def test_the_logits_of_a_batch_count_where_the_vocabulary_is_large() -> None:
    header = read_header(TINY / "tiny-Q8_0.gguf")
    assert header.vocabulary == 512
    large = type(header)(header.path, header.metadata, header.tensors, header.size, 152_000)
    assert logits_bytes(large, 512) == 2 * 512 * 152_000 * 4


def test_flash_attention_is_left_to_llama_cpp_on_a_gpu_only() -> None:
    on_cpu, on_gpu = Plan(512, 0, 4), Plan(512, 4, 4)
    assert [flash_type(Settings(), plan) for plan in (on_cpu, on_gpu)] == [0, -1]
    assert [flash_type(Settings(flash="on"), plan) for plan in (on_cpu, on_gpu)] == [1, 1]
    assert [flash_type(Settings(flash="off"), plan) for plan in (on_cpu, on_gpu)] == [0, 0]


def test_free_memory_is_a_plausible_number_where_it_is_known() -> None:
    free = free_memory()
    assert free is None or 10**6 < free < 10**14


def test_quantised_blocks_are_a_scale_and_whole_numbers() -> None:
    import numpy as np

    row = np.zeros((1, 32), np.float32)
    row[0, :3] = [127.0, -63.5, 1.0]
    block = quantise(row)
    assert len(block) == 34
    assert np.frombuffer(block[:2], "<f2")[0] == 1.0
    assert list(np.frombuffer(block[2:5], np.int8)) == [127, -64, 1]


_MANY = 150_000_000


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (struct.pack("<QQ", 0, 1) + struct.pack("<Q1sIIQ", 1, b"a", 9, 9, _MANY), "lists over 2,097,152 texts"),
        (struct.pack("<QQ", 0, 1) + struct.pack("<Q1sIIQ", 1, b"a", 9, 8, _MANY), "lists over 2,097,152 texts"),
        (struct.pack("<QQ", 0, _MANY), "counts 150,000,000 entries"),
        (struct.pack("<QQ", _MANY, 0), "counts 150,000,000 entries"),
    ],
    ids=["arrays", "texts", "keys", "tensors"],
)
def test_a_header_that_has_no_end_is_damaged_and_not_read_through(tmp_path: Path, head: bytes, why: str) -> None:
    path = tmp_path / "endless.gguf"
    with path.open("wb") as stream:
        stream.write(b"GGUF" + struct.pack("<I", 3) + head)
        stream.truncate(8 * _MANY * 3)  # zeros, which take no room on the disk
    with pytest.raises(ModelError, match=f"is damaged .*{why}"):
        read_header(path)


def test_arrays_within_arrays_count_together(tmp_path: Path) -> None:
    path = tmp_path / "deep.gguf"
    inner = struct.pack("<IQ", 8, 1 << 20) + bytes(8 << 20)
    with path.open("wb") as stream:
        stream.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"a", 9, 9, 3) + 3 * inner)
    with pytest.raises(ModelError, match="lists over"):
        read_header(path)
