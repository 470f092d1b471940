"""The benchmark for a GPU runs from end to end without one, with a toy of a model."""

import pytest

from benchmarks.models import gpu


def test_the_benchmark_for_a_gpu_runs_on_a_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    gpu.main(["--size", "toy", "--device", "cpu", "--scenarios", "2", "--tokens", "3"])
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown if line[0] != " "] == [
        "cpu:", "0.00", "scoring", "sharing", "writing", "rows", "continuous"
    ]  # fmt: skip
    assert "(2 of 2 texts equal)" in shown[4]
    assert shown[-1].endswith("2 of 2 texts equal")
