"""The scripts of docs/scaling/ come to what `emotui predict` writes of the same texts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.waiting import LONGEST

SCRIPTS = CHECKOUT / "docs" / "scaling"
N = 150

VLLM = """#!{python}
import sys
sys.path.insert(0, {checkout!r})
from pathlib import Path
from tests.commands.serving.test_batch import engine

assert sys.argv[1] == "run-batch"
engine(Path(sys.argv[sys.argv.index("-i") + 1]), Path(sys.argv[sys.argv.index("-o") + 1]))
"""
"""In place of vLLM: its answers' recorded shape."""


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    records = [{"id": f"{n:03}", "text": f"I wept {'so ' * (n % 11)}much ({n})."} for n in range(N)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def parquet(texts: Path) -> Path:
    path = texts.parent / "texts" / "a.parquet"
    path.parent.mkdir()
    columns = "{id: 'varchar', text: 'varchar'}"
    duckdb.execute(f"copy (from read_json('{texts}', columns={columns})) to '{path}' (format parquet)")
    return path


def ran(*words: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script in a shell of its own, with `emotui` of this environment."""
    places = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": places, "XDG_DATA_HOME": str(folder / "home"), **variables}
    command = [str(word) for word in words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
    )


def test_a_slurm_array_comes_to_the_file_that_predict_writes(emotui: Emotui, texts: Path, tmp_path: Path) -> None:
    assert emotui("predict", "class", "--records", texts, "--to", "whole.jsonl").status == 0
    asked = ("bash", SCRIPTS / "slurm_array.sh", 2, texts, tmp_path / "predicted", "class")
    for number in (2, 1):
        done = ran(*asked, folder=tmp_path, SLURM_ARRAY_TASK_ID=str(number))
        assert (done.returncode, done.stdout) == (0, "")
    again = ran(*asked, folder=tmp_path, SLURM_ARRAY_TASK_ID="2")
    assert (again.returncode, again.stdout) == (0, f"{tmp_path}/predicted/part-000002.jsonl is there\n")
    parts = sorted((tmp_path / "predicted").iterdir())
    assert b"".join(part.read_bytes() for part in parts) == (tmp_path / "whole.jsonl").read_bytes()
    none = ran(*asked, folder=tmp_path, SLURM_ARRAY_TASK_ID="3")
    assert (none.returncode, none.stderr) == (2, "--shard is i/n with i from 1 to n, such as 2/8, and not '3/2'\n")


def test_a_slurm_array_hands_on_further_options(texts: Path, tmp_path: Path) -> None:
    script = ("bash", SCRIPTS / "slurm_array.sh", 1, texts, tmp_path / "predicted", "class", "embedded")
    (tmp_path / "labels.txt").write_text("joy\nsadness\n")
    done = ran(*script, "--labels", "labels.txt", folder=tmp_path, SLURM_ARRAY_TASK_ID="1")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "predicted" / "part-000001.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == N
    assert set(json.loads(lines[0])["probs"]) == {"joy", "sadness"}


def test_vllms_batches_come_to_what_predict_reads_of_their_answers(emotui: Emotui, texts: Path, tmp_path: Path) -> None:
    vllm = tmp_path / "bin" / "vllm"
    vllm.parent.mkdir()
    vllm.write_text(VLLM.format(python=sys.executable, checkout=str(CHECKOUT)))
    vllm.chmod(0o755)
    asked = ("bash", SCRIPTS / "vllm_batch.sh", texts, tmp_path / "work", "ORG/M", "scenes")
    done = ran(*asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{8 * N} requests for {N} of {N} questions are in" in done.stdout
    said = tmp_path / "work" / "said"
    assert [path.name for path in said.iterdir()] == ["1.jsonl"]
    emotui("predict", "scenes", "--model", f"batch:ORG/M@{said}", "--records", texts, "--to", "own.jsonl")
    predicted = (tmp_path / "work" / "predicted.jsonl").read_bytes()
    assert predicted == (tmp_path / "own.jsonl").read_bytes()
    assert predicted.count(b"\n") == N
    before = (said / "1.jsonl").stat().st_mtime_ns
    assert ran(*asked, folder=tmp_path).returncode == 0
    assert (said / "1.jsonl").stat().st_mtime_ns == before


@pytest.mark.slow
def test_ray_data_comes_to_the_lines_that_predict_writes(
    emotui: Emotui, texts: Path, parquet: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ray.data")
    assert emotui("predict", "labels", "--records", texts, "--to", "whole.jsonl").status == 0
    done = ran(
        sys.executable, SCRIPTS / "ray_data.py", parquet.parent, tmp_path / "predicted", "--batch", 64, folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{N} texts, 0 without an answer (column why)"
    lines = duckdb.sql(f"select record from '{tmp_path}/predicted/*.parquet' order by id").fetchall()
    assert [line for (line,) in lines] == (tmp_path / "whole.jsonl").read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_datasets_come_to_the_lines_that_predict_writes(
    emotui: Emotui, texts: Path, parquet: Path, tmp_path: Path, processes: int
) -> None:
    datasets = pytest.importorskip("datasets")
    assert emotui("predict", "labels", "--records", texts, "--to", "whole.jsonl").status == 0
    script = (sys.executable, SCRIPTS / "hf_datasets.py", parquet, tmp_path / "predicted")
    done = ran(*script, "--processes", processes, folder=tmp_path, HF_HOME=str(tmp_path / "hf"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{N} texts, 0 without an answer (column why)"
    lines = datasets.load_from_disk(str(tmp_path / "predicted"))["record"]
    whole = (tmp_path / "whole.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == len(whole)
    for line, own in zip(lines, whole, strict=True):
        said, expected = json.loads(line), json.loads(own)
        assert said["id"] == expected["id"]
        # Each process begins its batches anew, and sums over other batches differ in the last digits.
        assert said["labels"] == pytest.approx(expected["labels"], abs=1e-6)
    if processes == 1:
        assert list(lines) == whole
