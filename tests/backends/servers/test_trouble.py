"""A server in trouble leaves samples open, which a run can take up again; what it keeps back stays marked as such."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emotui.errors import ModelError
from emotui.workbench.files.predict import predict
from emotui.workbench.progress import RunOptions
from emotui.workbench.workspace import Workspace
from tests.backends.servers.faulty_server import FaultyServer
from tests.conftest import Emotui

pytestmark = pytest.mark.faults

pytest.importorskip("aiohttp")

ONCE = "#retries=0&concurrency=2"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with FaultyServer() as server:
        yield server


def records(folder: Path, *texts: str, **more: Any) -> Path:
    path = folder / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"id": str(n), "text": text, **more}) for n, text in enumerate(texts)))
    return path


def prompts(folder: Path, table: str = '[retrieve]\nuser = "{text}"\n') -> Path:
    """The text alone, so that its first word tells the server what to do; it answers in capitals."""
    path = folder / "own.toml"
    path.write_text(table)
    return path


SCENES = '[first-token]\nuser = "{text} {subject}\\n{emotion}?"\n'


def test_a_run_goes_past_a_request_that_fails_and_asks_it_once_more(
    emotui: Emotui, server: FaultyServer, tmp_path: Path
) -> None:
    texts = records(tmp_path, "I wept", "FAIL 1 I laughed", "I sang", spans=[])
    model = f"openai:{server.spec}{ONCE}"
    got = emotui("run", "spans", "--model", model, "--dataset", texts, "--prompts", prompts(tmp_path), "--json")
    assert got.status == 0, got.err
    assert (got.document["done"], got.document["failed"]) == (3, 0)
    first, last = server.prompts()[:3], server.prompts()[3:]
    assert (set(first), last) == ({"I wept", "FAIL 1 I laughed", "I sang"}, ["FAIL 1 I laughed"])


def test_what_stays_unanswered_fails_the_run_in_one_line_and_is_no_wrong_answer(
    emotui: Emotui, server: FaultyServer, tmp_path: Path
) -> None:
    texts = records(tmp_path, "I wept", "FAIL 2 I laughed", "I sang", spans=[])
    model = f"openai:{server.spec}{ONCE}"
    got = emotui("run", "spans", "--model", model, "--dataset", texts, "--prompts", prompts(tmp_path), "--json")
    assert (got.status, got.document["done"], got.document["failed"]) == (1, 2, 0)
    assert got.document["metrics"]["n"] == 2
    (line,) = got.err.splitlines()
    assert line == (
        "1 of 3 could not be answered: the server failed with HTTP 500: the accelerator is on fire: 2 of 3 are kept; "
        f"finish with --resume {got.document['run']}"
    )
    assert emotui("runs", "--json").document[0]["state"] == "failed"
    more = emotui("run", "spans", "--resume", got.document["run"], "--json")
    assert (more.status, more.document["done"], more.document["failed"]) == (0, 3, 0)
    assert emotui("runs", "--json").document[0]["state"] == "done"


def test_a_server_that_goes_away_ends_the_run_and_marks_nothing_as_failed(server: FaultyServer, tmp_path: Path) -> None:
    texts = records(tmp_path, *(f"I wept {n} times" for n in range(600)), spans=[])
    own = {"retrieve": {"user": "{text}"}}
    workspace = Workspace.open(str(tmp_path / "w.emotui"))
    try:
        dataset = workspace.import_files([str(texts)], name="d")

        def leave(step: Any) -> None:
            if step.done >= 16:
                server.stop()

        with pytest.raises(ModelError, match="No server answers at"):
            workspace.run_model(
                f"openai:{server.spec}", dataset.dataset, RunOptions(options={"prompts": own}), on_progress=leave
            )
        (run,) = workspace.runs(dataset.dataset)
        assert (run.state, run.failed) == ("failed", 0)
        assert 16 <= run.done < 600
        assert "No server answers" in str(run.error)
    finally:
        workspace.close()


def test_predict_writes_what_was_answered_and_tells_the_rest_in_one_line(
    emotui: Emotui, server: FaultyServer, tmp_path: Path
) -> None:
    texts = records(tmp_path, "I wept", "FAIL 2 I laughed", "LONG text", "FAIL 1 I sang")
    asked = ("predict", "spans", "--records", texts, "--prompts", prompts(tmp_path), "--to", "said.jsonl", "--json")
    got = emotui(*asked, "--model", f"openai:{server.spec}{ONCE}")
    assert got.status == 1
    said = [json.loads(line) for line in (tmp_path / "said.jsonl").read_text().splitlines()]
    assert [(one["id"], one.get("output")) for one in said] == [("0", "I WEPT"), ("2", None), ("3", "FAIL 1 I SANG")]
    refused, stopped = got.err.splitlines()
    assert ":3: the prompt is longer than the model's context" in refused
    assert stopped.startswith("1 of 4 could not be answered: the server failed with HTTP 500")
    assert stopped.endswith("3 of 4 are written")
    assert (got.document["n"], got.document["failed"], len(got.document["records"])) == (4, 1, 3)
    whole = emotui(*asked, "--model", f"openai:{server.spec}{ONCE}")
    assert (whole.document["stopped"], len(whole.document["records"])) == (None, 4)


@pytest.mark.parametrize(("shown", "side"), [({" Yes": -0.5, "The": -3.0}, "no"), ({"The": -1.0, "A": -2.0}, "both")])
def test_what_a_server_keeps_back_stays_marked_in_files_and_in_the_store(
    emotui: Emotui, server: FaultyServer, tmp_path: Path, shown: dict[str, float], side: str
) -> None:
    server.logprobs = shown
    texts = records(tmp_path, "I wept", labels={"joy": 0, "fear": 1})
    (tmp_path / "labels.txt").write_text("joy\nfear\n")
    asked = ("--model", f"openai:{server.spec}", "--prompts", prompts(tmp_path, SCENES), "--json")
    labelled = ("--records", texts, "--labels", "labels.txt", "--to", "said.jsonl")
    got = emotui("predict", "scenes", *labelled, *asked)
    (record,) = got.document["records"]
    assert record["censored"] == {"joy": side, "fear": side}
    assert json.loads((tmp_path / "said.jsonl").read_text())["censored"] == record["censored"]
    assert emotui("score", "scenes", "--gold", texts, "--pred", "said.jsonl", "--json").document["n"] == 1
    ran = emotui("run", "scenes", "--dataset", texts, *asked).document
    both = 2 if side == "both" else 0
    assert ran["metrics"]["censored"] == {"scores": 2, "both": both, "of": 2}
    emotui("export", ran["run"], "--to", "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text())["censored"] == record["censored"]


def test_a_wrong_mark_is_bad_input(emotui: Emotui, tmp_path: Path) -> None:
    gold = records(tmp_path, "I wept", labels={"joy": 0})
    for wrong in ({"joy": "maybe"}, {"fear": "yes"}):
        (tmp_path / "said.jsonl").write_text(json.dumps({"id": "0", "scores": {"joy": [1, 0]}, "censored": wrong}))
        got = emotui("score", "scenes", "--gold", gold, "--pred", "said.jsonl", "--json")
        assert (got.status, got.err.count("\n")) == (2, 1)
        assert "`censored`" in got.err


def test_predict_that_is_interrupted_returns_what_was_answered(tmp_path: Path) -> None:
    texts = records(tmp_path, *(f"I wept {n} times" for n in range(70)))

    def interrupt(done: int, n: int) -> None:
        if done >= 64:
            raise KeyboardInterrupt

    found = predict("spans", "embedded", str(texts), warn=print, progress=interrupt)
    assert (found.stopped, found.n, len(found.records)) == ("interrupted", 70, 64)


def test_a_probe_says_what_a_server_kept_back(emotui: Emotui, server: FaultyServer) -> None:
    server.logprobs = {" Yes": -0.5, "The": -3.0}
    shown = " ".join(emotui("probe", "I wept", "--model", f"openai:{server.spec}").out.split())
    assert "kept an answer's probability back: joy (at least this), trust" in shown
