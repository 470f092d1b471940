"""Another engine answers, from file to file; and runs in parts that come together to the same bytes."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.servers import batch_files
from emotui.backends.servers.batch_files import AnswerFiles
from emotui.backends.servers.faults import Unanswered
from emotui.errors import BadInput, BadModel
from emotui.records import PLUTCHIK
from emotui.store.store import Store
from emotui.workbench.shards.shard import Shard, read_shard
from tests.conftest import Emotui

N = 7
TOPS = [{"token": "Yes", "logprob": -0.25}, {"token": "No", "logprob": -2.0}]


def engine(requests: Path, answers: Path, text: Callable[[dict[str, Any]], str] = lambda body: "Yes") -> None:
    """In place of `vllm run-batch`: the recorded shape of its answers. Yes is likelier to even letters of a prompt."""
    lines = []
    for line in requests.read_text().splitlines():
        asked = json.loads(line)
        assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
        body = asked["body"]
        tops = TOPS if len(body["messages"][-1]["content"]) % 2 else [{**TOPS[0], "logprob": -3.0}, TOPS[1]]
        said = text(body)
        tokens = [said] if said == "Yes" else [*said.partition("Yes")]
        content = [{"token": each, "logprob": -0.25, "top_logprobs": tops if each == "Yes" else []} for each in tokens]
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": said, "tool_calls": []},
            "logprobs": {"content": content} if body.get("logprobs") else None,
            "finish_reason": "stop",
            "stop_reason": None,
        }
        answer = {"id": "chatcmpl-1", "object": "chat.completion", "model": body["model"], "choices": [choice]}
        response = {"status_code": 200, "request_id": "vllm-batch-1", "body": answer}
        lines.append(json.dumps({"id": "vllm-1", "custom_id": asked["custom_id"], "response": response, "error": None}))
    with answers.open("a") as file:
        file.writelines(line + "\n" for line in lines)


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    path = tmp_path / "scenes.jsonl"
    labels = dict.fromkeys(PLUTCHIK, 0) | {"joy": 1}
    records = [{"id": f"s{n}", "text": "So " * n + "it is.", "subject": "Ines", "labels": labels} for n in range(N)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_labels_that_are_missing_are_asked_for_by_the_commands_own_option(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "texts.jsonl").write_text('{"id": "a", "text": "So it is."}\n')
    (tmp_path / "labels.txt").write_text("joy\nfear\n")
    asked = ("--model", "M", "--records", "texts.jsonl", "--to", "ask.jsonl")
    bare = emotui("batch", "write", "labels", *asked)
    assert (bare.status, bare.err.endswith(" has none of its own (--labels FILE gives them, one a line)\n")) == (
        2,
        True,
    )
    assert emotui("batch", "write", "labels", *asked, "--labels", "labels.txt", "--json").document["requests"] == 2
    strange = emotui("batch", "write", "spans", *asked, "--labels", "labels.txt", "--force")
    assert (strange.status, strange.err) == (
        2,
        "--labels is for scenes, class, labels, values and evidence, not for spans\n",
    )


def test_a_run_by_another_engine_is_written_answered_and_read(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    asked = ("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "ask.jsonl", "--json")
    assert emotui(*asked).document == {"to": "ask.jsonl", "n": N, "open": N, "requests": 8 * N}
    body = json.loads((tmp_path / "ask.jsonl").read_text().splitlines()[0])["body"]
    assert (body["model"], body["max_tokens"], body["top_logprobs"]) == ("M", 1, 20)
    assert body["chat_template_kwargs"] == {"enable_thinking": False, "thinking": False}
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    again = emotui(*asked[:-3], "--answers", "said.jsonl", "--to", "more.jsonl", "--json").document
    assert (again["open"], again["requests"]) == (0, 0)
    # From a store the same is asked; what is read is a run as any other.
    assert emotui("import", "scenes", scenes, "--db", "one.duckdb").status == 0
    from_store = ("batch", "write", "scenes", "--model", "M", "--dataset", "scenes", "--db", "one.duckdb")
    assert emotui(*from_store, "--to", "same.jsonl").status == 0
    assert (tmp_path / "same.jsonl").read_bytes() == (tmp_path / "ask.jsonl").read_bytes()
    read = ("batch", "read", "scenes", "--model", "M", "--answers", "said.jsonl", "--dataset", "scenes")
    run = emotui(*read, "--db", "one.duckdb", "--json").document
    assert (run["done"], run["failed"], run["metrics"]["n"]) == (N, 0, N)
    files = emotui("predict", "scenes", "--model", "batch:M@said.jsonl", "--records", scenes, "--json").document
    assert (files["n"], files["failed"]) == (N, 0)
    assert {yes > no for record in files["records"] for yes, no in record["scores"].values()} == {True, False}


def test_any_question_is_written_over_the_texts_of_a_dataset_that_came_for_another_one(
    emotui: Emotui, tmp_path: Path, scenes: Path
) -> None:
    assert emotui("import", "scenes", scenes, "--db", "one.duckdb").status == 0
    asked = ("--model", "M", "--dataset", "scenes", "--db", "one.duckdb")
    written = emotui("batch", "write", "labels", *asked, "--way", "yes-no", "--to", "ask.jsonl", "--json").document
    # Each of Plutchik's eight, which gold of the scenes names, is asked of each text.
    assert written == {"to": "ask.jsonl", "n": N, "open": N, "requests": 8 * N}
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    answered = ("--answers", "said.jsonl", "--json", "--", "--way", "yes-no")
    read = emotui("batch", "read", "labels", *asked, *answered).document
    assert (read["task"], read["done"], read["failed"], read["metrics"]["n"]) == ("labels", N, 0, N)
    lacking = emotui("batch", "write", "masked", *asked, "--to", "more.jsonl")
    assert lacking.status == 2
    assert lacking.err.startswith(f"scenes cannot be asked the masked task: of {N} of its {N} texts (s0, s1, s2, …) ")
    assert emotui("batch", "write", "labels", *asked[:-3], "none", *asked[-2:], "--to", "more.jsonl").err == (
        "the store has no dataset 'none' (there: scenes)\n"
    )
    assert not (tmp_path / "more.jsonl").exists()


def test_what_no_file_answers_stays_open_and_failures_are_refused(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    lines = (tmp_path / "said.jsonl").read_text().splitlines()
    wrong = json.loads(lines[0])
    wrong["response"] = {"status_code": 400, "request_id": "r", "body": {"error": {"message": "too long"}}}
    (tmp_path / "part.jsonl").write_text("\n".join([json.dumps(wrong), *lines[1:-1]]) + "\n")
    got = emotui("batch", "read", "scenes", "--model", "M", "--answers", "part.jsonl", "--dataset", scenes, "--json")
    assert got.status == 1
    assert "1 of 7 could not be answered: no file answers this yet" in got.err
    assert (got.document["done"], got.document["failed"]) == (N - 2, 1)
    with (tmp_path / "part.jsonl").open("a") as file:
        file.write(lines[-1] + "\n")
    done = emotui("run", "scenes", "--resume", got.document["run"], "--json").document
    assert (done["done"], done["failed"]) == (N - 1, 1)
    (tmp_path / "part.jsonl").write_text('{"custom_id": 3}\n')
    bad = emotui("batch", "read", "scenes", "--model", "M", "--answers", "part.jsonl", "--dataset", scenes)
    assert bad.status == 2
    assert "part.jsonl:1: is no line of a batch's answers" in bad.err


def _read(emotui: Emotui, answers: str, db: str) -> Any:
    asked = ("--model", "M", "--answers", answers, "--dataset", "scenes", "--db", db)
    return emotui("batch", "read", "scenes", *asked, "--json")


def _failed(line: str, response: Any, error: Any = None) -> str:
    return json.dumps({**json.loads(line), "response": response, "error": error})


def test_other_answers_to_the_same_questions_are_another_run(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    assert emotui("import", "scenes", scenes, "--db", "w.duckdb").status == 0
    emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    first = _read(emotui, "said.jsonl", "w.duckdb").document
    # In another order, in two files and with one line twice they are the same answers.
    lines = (tmp_path / "said.jsonl").read_text().splitlines()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.jsonl").write_text("\n".join(reversed(lines[3:])) + "\n")
    (tmp_path / "parts" / "b.jsonl").write_text("\n".join(lines[:5]) + "\n")
    assert _read(emotui, "parts", "w.duckdb").document["run"] == first["run"]
    # In place of its name, under which they were kept, are others.
    (tmp_path / "said.jsonl").write_text(
        "".join(line.replace('"logprob": -3.0', '"logprob": -0.1') + "\n" for line in lines)
    )
    second = _read(emotui, "said.jsonl", "w.duckdb")
    assert second.status == 0
    assert second.document["run"] != first["run"]
    assert second.document["metrics"] != first["metrics"]


def test_what_is_not_one_answer_to_one_question_is_counted_and_told(
    emotui: Emotui, tmp_path: Path, scenes: Path
) -> None:
    assert emotui("import", "scenes", scenes, "--db", "w.duckdb").status == 0
    emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    lines = (tmp_path / "said.jsonl").read_text().splitlines()
    other = lines[0].replace('"Yes", "logprob": -0.25', '"Yes", "logprob": -0.5')
    foreign = json.dumps({**json.loads(lines[0]), "custom_id": "request-1"})
    expired = _failed(lines[1], None, {"code": "batch_expired", "message": "expired"})
    (tmp_path / "odd.jsonl").write_text("\n".join([lines[0], other, foreign, expired, *lines[2:]]) + "\n")
    got = _read(emotui, "odd.jsonl", "w.duckdb")
    assert got.status == 1
    assert "1 answered more than once, and differently: the last answer counts" in got.err
    assert "1 with an id that emotui did not give: passed over" in got.err
    assert "1 at which the engine failed: emotui batch write --answers asks for them again" in got.err


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (None, None),
        (None, {"code": "batch_expired", "message": "This request could not be executed in time"}),
        ({"status_code": 500, "request_id": "r", "body": {"error": {"message": "worker died"}}}, None),
        ({"status_code": 429, "request_id": "r", "body": {}}, None),
    ],
)
def test_an_answer_that_failed_is_asked_for_again_and_its_run_goes_on(
    emotui: Emotui, tmp_path: Path, scenes: Path, response: Any, error: Any
) -> None:
    asked = ("batch", "write", "scenes", "--model", "M", "--records", scenes)
    emotui(*asked, "--to", "ask.jsonl")
    (tmp_path / "said").mkdir()
    engine(tmp_path / "ask.jsonl", tmp_path / "whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_text().splitlines()
    (tmp_path / "said" / "1.jsonl").write_text("\n".join([_failed(lines[0], response, error), *lines[1:]]) + "\n")
    assert emotui("import", "scenes", scenes, "--db", "w.duckdb").status == 0
    got = _read(emotui, "said", "w.duckdb")
    assert (got.status, got.document["done"], got.document["failed"]) == (1, N - 1, 1)
    assert "1 of 7 answers failed (emotui batch write --answers asks again)" in got.err
    again = emotui(*asked, "--answers", "said", "--to", "more.jsonl", "--json").document
    assert (again["open"], again["requests"]) == (1, 1)
    assert (tmp_path / "more.jsonl").read_text() == (tmp_path / "ask.jsonl").read_text().splitlines()[0] + "\n"
    engine(tmp_path / "more.jsonl", tmp_path / "said" / "2.jsonl")
    done = emotui("run", "scenes", "--resume", got.document["run"], "--db", "w.duckdb", "--json")
    assert (done.status, done.document["done"], done.document["failed"]) == (0, N, 0)
    assert _read(emotui, "said", "w.duckdb").document["run"] == got.document["run"]


def test_a_run_does_not_go_on_with_other_answers_than_it_has(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    asked = ("batch", "write", "scenes", "--model", "M", "--records", scenes)
    emotui(*asked, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    lines = (tmp_path / "said.jsonl").read_text().splitlines()
    (tmp_path / "said.jsonl").write_text("\n".join(lines[: 8 * 5]) + "\n")
    assert emotui("import", "scenes", scenes, "--db", "w.duckdb").status == 0
    begun = _read(emotui, "said.jsonl", "w.duckdb")
    assert (begun.status, begun.document["done"]) == (1, 5)
    others = [line.replace('"logprob": -3.0', '"logprob": -0.1') for line in lines]
    go_on = ("run", "scenes", "--resume", begun.document["run"], "--db", "w.duckdb", "--json")
    for beginning in (others[:8], [*lines[:8], *others[8:16]]):  # the first of its texts, the second one
        (tmp_path / "said.jsonl").write_text("\n".join([*beginning, *lines[len(beginning) :]]) + "\n")
        refused = emotui(*go_on)
        assert refused.status == 2
        assert "than the files have now: other answers are another run" in refused.err
    # What it has already may have gone from the files, whose other answers are more.
    (tmp_path / "said.jsonl").write_text("\n".join(lines[8 * 5 :]) + "\n")
    assert emotui(*go_on).document["done"] == N


def test_what_an_engine_refused_for_the_question_s_sake_is_not_asked_again(
    emotui: Emotui, tmp_path: Path, scenes: Path
) -> None:
    asked = ("batch", "write", "scenes", "--model", "M", "--records", scenes)
    emotui(*asked, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    lines = (tmp_path / "said.jsonl").read_text().splitlines()
    refused = _failed(lines[0], {"status_code": 400, "request_id": "r", "body": {"error": {"message": "too long"}}})
    (tmp_path / "said.jsonl").write_text("\n".join([refused, *lines[1:]]) + "\n")
    assert emotui(*asked, "--answers", "said.jsonl", "--to", "more.jsonl", "--json").document["requests"] == 0


def test_reasoned_answers_need_one_round_and_broken_ones_another(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    asked = ("batch", "write", "scenes", "--model", "M", "--records", scenes, "--way", "reasoned", "--limit", "2")
    emotui(*asked, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl", lambda body: "So. <answer>Yes</answer>")
    again = emotui(*asked, "--answers", "said.jsonl", "--to", "more.jsonl", "--json").document
    assert again["requests"] == 0
    (tmp_path / "said.jsonl").write_text("")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl", lambda body: "I cannot say.")
    more = emotui(*asked, "--answers", "said.jsonl", "--to", "more.jsonl", "--json").document
    assert (more["open"], more["requests"]) == (2, 16)
    assert json.loads((tmp_path / "more.jsonl").read_text().splitlines()[0])["body"]["temperature"] == 0.6


def test_reasoned_answers_may_be_judged_by_a_second_question_of_one_token(
    emotui: Emotui, tmp_path: Path, scenes: Path
) -> None:
    asked = ("--records", scenes, "--way", "reasoned")
    writes = ("batch", "write", "scenes", "--model", "M", *asked, "--limit", "2", "--options", "verdict=second")
    emotui(*writes, "--to", "ask.jsonl")
    thoughts = [json.loads(line)["body"] for line in (tmp_path / "ask.jsonl").read_text().splitlines()]
    assert {"logprobs", "top_logprobs"} & set().union(*thoughts) == set()
    assert all(body["stop"] == ["<answer>"] for body in thoughts)
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl", lambda body: "So. <confidence>4</confidence>")
    more = emotui(*writes, "--answers", "said.jsonl", "--to", "more.jsonl", "--json").document
    assert (more["open"], more["requests"]) == (2, 16)
    verdicts = [json.loads(line)["body"] for line in (tmp_path / "more.jsonl").read_text().splitlines()]
    for thought, verdict in zip(thoughts, verdicts, strict=True):
        begun = {"role": "assistant", "content": "So. <confidence>4</confidence><answer>"}
        assert verdict["messages"] == [*thought["messages"], begun]
        assert (verdict["max_tokens"], verdict["top_logprobs"]) == (1, 20)
        assert (verdict["continue_final_message"], verdict["add_generation_prompt"]) == (True, False)
    engine(tmp_path / "more.jsonl", tmp_path / "said.jsonl")
    assert emotui(*writes, "--answers", "said.jsonl", "--to", "none.jsonl", "--json").document["requests"] == 0
    said = emotui("predict", "scenes", "--model", "batch:M@said.jsonl#verdict=second", *asked)
    records = [json.loads(line) for line in said.out.splitlines()]
    assert [record["confidence"] for record in records] == [dict.fromkeys(PLUTCHIK, 4)] * 2
    assert all(record["scores"].keys() == set(PLUTCHIK) for record in records)


def test_a_way_of_judging_that_nobody_chose_is_no_part_of_an_identity() -> None:
    asked = {"engine": "vllm", "extra": {}, "thinking": "off", "thinking_room": 2048, "top_logprobs": 20}
    assert json.loads(batch_files.asked_only("M").card.identity["asked"]) == asked
    second = batch_files.asked_only("M#verdict=second").card.identity["asked"]
    assert json.loads(second) == asked | {"verdict": "second"}


@pytest.mark.parametrize("others", ["engine=openai", "top_logprobs=0"])
def test_a_second_question_needs_an_engine_that_can_be_asked_it(
    emotui: Emotui, tmp_path: Path, scenes: Path, others: str
) -> None:
    options = ("--options", f"verdict=second&{others}")
    done = emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, *options, "--to", "a.jsonl")
    assert done.status == 2
    assert "verdict=second needs engine=vllm" in done.err
    assert not (tmp_path / "a.jsonl").exists()


def test_openais_own_batches_hold_only_fields_that_it_knows(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    asked = ("batch", "write", "scenes", "--model", "gpt", "--records", scenes, "--options", "engine=openai")
    emotui(*asked, "--to", "ask.jsonl")
    body = json.loads((tmp_path / "ask.jsonl").read_text().splitlines()[0])["body"]
    known = {"model", "messages", "max_completion_tokens", "temperature", "logprobs", "top_logprobs"}
    assert set(body) == known


@given(st.integers(0, 1000), st.integers(1, 50))
def test_the_shards_of_a_run_are_all_of_it_once_and_in_order(n: int, of: int) -> None:
    parts = [Shard(number, of).places(n) for number in range(1, of + 1)]
    assert [place for part in parts for place in part] == list(range(n))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "1", "a/b", "1/3/4", "-1/3"])
def test_a_shard_that_there_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--shard is i/n"):
        read_shard(text)


def test_three_shards_in_three_processes_merge_to_the_same_bytes(
    emotui: Emotui, emotui_process: Emotui, tmp_path: Path, scenes: Path
) -> None:
    emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, "--repeats", "2", "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    run = ("run", "scenes", "--model", "batch:M@said.jsonl", "--dataset", scenes, "--repeats", "2", "--json")
    whole = emotui(*run, "--db", "whole.duckdb").document

    def shard(number: int) -> Any:
        return emotui_process(*run, "--shard", f"{number}/3", "--db", f"{number}.duckdb").document

    with ThreadPoolExecutor(3) as pool:
        parts = list(pool.map(shard, (1, 2, 3)))
    assert [part["n"] for part in parts] == [4, 4, 6]
    some = emotui("merge", "3.duckdb", "1.duckdb", "--db", "all.duckdb", "--json").document
    assert [(one["state"], one["done"], one["n"], one["shards"]) for one in some] == [
        ("stopped", 10, 14, ["1/3", "3/3"])
    ]
    (merged,) = emotui("merge", "2.duckdb", "3.duckdb", "--db", "all.duckdb", "--json").document
    assert (merged["state"], merged["done"], merged["failed"]) == ("done", 14, 0)
    (same,) = emotui("merge", "1.duckdb", "2.duckdb", "3.duckdb", "--db", "all.duckdb", "--json").document
    assert same["there"]
    for name, found in (("whole", whole["run"]), ("all", merged["run"])):
        emotui("export", found, "--to", f"{name}.jsonl", "--db", f"{name}.duckdb")
    assert (tmp_path / "all.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    # It is the run that asking for all of it finds done already.
    assert emotui(*run, "--db", "all.duckdb").document["run"] == merged["run"]
    twice = emotui("merge", "1.duckdb", "1.duckdb", "--db", "all.duckdb")
    assert (twice.status, twice.err) == (2, "1.duckdb is named twice\n")


def test_a_shard_is_resumed_as_what_it_was(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    whole = (tmp_path / "said.jsonl").read_text()
    (tmp_path / "said.jsonl").write_text("".join(line + "\n" for line in whole.splitlines()[: 8 * 5]))
    run = ("run", "scenes", "--model", "batch:M@said.jsonl", "--dataset", scenes, "--shard", "3/3", "--json")
    stopped = emotui(*run).document
    assert (stopped["done"], stopped["n"]) == (1, 3)
    (tmp_path / "said.jsonl").write_text(whole)
    assert emotui("run", "scenes", "--resume", stopped["run"], "--json").document["done"] == 3
    emotui("export", stopped["run"], "--to", "part.jsonl")
    assert [json.loads(line)["id"] for line in (tmp_path / "part.jsonl").read_text().splitlines()] == ["s4", "s5", "s6"]


def test_requests_go_into_no_folder_of_answers_and_through_a_link_to_its_file(
    emotui: Emotui, tmp_path: Path, scenes: Path
) -> None:
    (tmp_path / "said").mkdir()
    asked = ("batch", "write", "scenes", "--model", "M", "--records", scenes, "--limit", "1")
    refused = emotui(*asked, "--answers", "said", "--to", "said/ask.jsonl")
    assert (refused.status, list((tmp_path / "said").iterdir())) == (2, [])
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    assert emotui(*asked, "--to", "link.jsonl").status == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_bytes().count(b"\n") == 8


@pytest.mark.skipif(os.name != "posix", reason="no named pipes here")
def test_a_pipe_is_written_into_and_not_replaced(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with ThreadPoolExecutor() as beside:
        read = beside.submit((tmp_path / "pipe.jsonl").read_bytes)
        asked = ("batch", "write", "scenes", "--model", "M", "--records", scenes, "--limit", "1")
        assert emotui(*asked, "--to", "pipe.jsonl").status == 0
        assert read.result().count(b"\n") == 8
    assert (tmp_path / "pipe.jsonl").is_fifo()


@pytest.mark.parametrize(
    "body", [b'"\xff"', b'{"error": "\xff"}', b"{}", b'{"choices": []}', b"17", b'{"choices": [{"message": "\xff"}]}']
)
@pytest.mark.parametrize("status", [200, 500])
def test_a_broken_answer_in_a_file_costs_its_own_request(tmp_path: Path, body: bytes, status: int) -> None:
    path = tmp_path / "said.jsonl"
    path.write_bytes(b'{"custom_id": "emotui-a", "response": {"status_code": %d, "body": %s}}\n' % (status, body))
    with pytest.raises(Unanswered):
        AnswerFiles(str(path)).of("emotui-a")


def test_an_answer_without_end_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_files, "MOST_BYTES", 100)
    (tmp_path / "said.jsonl").write_bytes(b"x" * 1000)
    with pytest.raises(BadModel, match=r"said\.jsonl:1: a line of more than"):
        AnswerFiles(str(tmp_path / "said.jsonl"))


@pytest.mark.parametrize("config", [{"repeats": "x"}, {"repeats": 10**9}, {"whole": -1}, {"shard": "9/3"}])
def test_a_store_whose_runs_have_impossible_settings_is_not_merged(
    emotui: Emotui, tmp_path: Path, scenes: Path, config: dict[str, object]
) -> None:
    emotui("import", "scenes", scenes, "--db", "theirs.duckdb")
    store = Store.open(tmp_path / "theirs.duckdb")
    (dataset,) = [one for one in store.datasets.all() if one.name == "scenes"]
    store.runs.start("r\nx", "i", "scenes", "m", dataset.dataset, config, 7)
    store.runs.set_state("r\nx", "stopped")
    done = emotui("merge", "theirs.duckdb", "--db", "ours.duckdb")
    assert (done.status, len(done.err.splitlines())) == (2, 1), done.err


def test_runs_that_nobody_can_read_stand_in_no_way_of_a_merge(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "ask.jsonl")
    engine(tmp_path / "ask.jsonl", tmp_path / "said.jsonl")
    run = ("run", "scenes", "--model", "batch:M@said.jsonl", "--dataset", scenes, "--json")
    theirs = emotui(*run, "--db", "theirs.duckdb").document["run"]
    emotui("import", "scenes", scenes, "--db", "ours.duckdb")
    store = Store.open(tmp_path / "ours.duckdb")
    (dataset,) = [one for one in store.datasets.all() if one.name == "scenes"]
    store.runs.start("odd", "i", "scenes", "m", dataset.dataset, {"repeats": "many"}, 7)
    done = emotui("merge", "theirs.duckdb", "--db", "ours.duckdb", "--json")
    assert (done.status, [one["run"] for one in done.document]) == (0, [theirs])


def test_a_store_is_not_merged_into_itself_by_another_name(emotui: Emotui, tmp_path: Path, scenes: Path) -> None:
    emotui("import", "scenes", scenes, "--db", "w.duckdb")
    (tmp_path / "link.duckdb").symlink_to("w.duckdb")
    assert emotui("merge", "link.duckdb", "--db", "w.duckdb").status == 2
