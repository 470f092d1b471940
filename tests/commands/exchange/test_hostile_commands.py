"""Every command over names, labels, ids, files and answers that hold controls: none of it reaches the terminal."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.panel import Panel
from rich.text import Text

from emotui.commands import COMMANDS
from emotui.commands.output import as_written, terminal
from emotui.controls import CONTROLS
from emotui.workbench.models import doctor
from emotui.workbench.models.doctor import Check
from tests.backends.servers.faulty_server import FaultyServer
from tests.conftest import Emotui
from tests.effort import MINUTES, tried
from tests.hostile import FILE, FORGED, LONG, H, write_files

_ELSEWHERE = {"doctor"}
"""What has a test of its own."""

CALLS: dict[str, list[tuple[str, ...]]] = {
    "agreement": [("--dataset", H, "--no-gamma"), ("-", "--ratings", "ratings.jsonl"), ("--dataset", "no" + H)],
    "annotate": [
        ("progress", H),
        ("log", H),
        ("scheme", "show", H),
        ("assign", H, "--annotators", f"{H},{H}2"),
        ("progress", H),
        ("verify", H, f"openai:{H}@SERVER", "--annotators", H),
        ("refit", H, "--annotator", H),
        ("protocol", H, H),
        ("scheme", "show", LONG),
    ],
    "batch read": [("scenes", "--model", "M", "--answers", H), ("scenes", "--model", H, "--answers", "scenes.jsonl")],
    "batch write": [
        ("scenes", "--model", H, "--dataset", H, "--to", f"{FILE}.jsonl"),
        ("-", "scenes", "--model", "M", "--records", H, "--to", "requests.jsonl"),
    ],
    "bench": [
        ("-", "--model", f"openai:{H}@SERVER", "--seconds", "0.1", "--write", "4", "--batch", "1"),
        ("-", "--model", f"hf:{H}"),
        ("-", "--model", f"gguf:{H}"),
        ("-", "--model", H),
        ("-", H),
    ],
    "compare": [("-", "--a", "scores.jsonl", "--b", "scores.jsonl"), ("--runs", H, f"file {H}"), ("-", "--a", H)],
    "datasets": [()],
    "datasets join": [(H, f"values {H}"), (H, "no" + H)],
    "decode": [("-", "--train", "scenes.jsonl", "--scores", "pscenes.jsonl"), ("-", "--train", H, "--scores", H)],
    "delete": [(H,), (f"{H}2",)],
    "turns": [(H,), ("RUN", "--by", H), ("RUN", "--label", H), ("RUN", "--show", H)],
    "upgrade": [(), ("--dry-run",)],
    "export": [("no" + H, "--to", "out.jsonl"), (H, "--to", f"{FILE}.jsonl"), (H, "--to", H), (H, "--to", "x" + LONG)],
    "import": [
        (f"{H}.jsonl",),
        (f"{FILE}.csv",),
        ("bad.jsonl", "--as", "spans"),
        ("bad.jsonl",),
        ("spans.jsonl", "--dry-run"),
        ("spans.jsonl", "--format", H),
        ("spans.jsonl", "--map", f"{H}={H}"),
        ("values.jsonl", "--as", "values", "--name", f"values {H}"),
        ("labels.jsonl", "--as", "labels", "--name", f"labels {H}"),
        ("labels.jsonl", "--as", "labels", "--into", H, "--no-sim"),
    ],
    "import predictions": [
        ("pspans.jsonl", "--dataset", H, "--source", f"file {H}", "--no-sim"),
        ("pclass.jsonl", "--dataset", H, "--source", f"file {H}", "--no-sim"),
    ],
    "keys": [("-",)],
    "lens": [
        (H, "--model", "embedded"), (f"file {H}", "--model", H), ("no" + H, "--model", f"hf:{H}"),
        ("--model", "embedded", "--dataset", H, "--text", H),
        ("--model", "embedded", "--text", H, "--label", H),
        ("--model", f"hf:{H}", "--code", H), ("--model", "embedded", "--code", H, "--text", H),
    ],
    "lens gradients": [
        (H, "--model", H), ("--model", f"hf:{H}", "--dataset", f"file {H}", "--label", H),
        ("--model", f"hf:{H}", "--dataset", H, "--evidence", H), ("--model", "embedded", "--dataset", H, "--text", H),
    ],
    "lens push": [
        (H, "--model", H, "--layer", "1"), (H, "--model", f"hf:{H}", "--layer", "1", "--strength", H),
        (H, "--model", "embedded", "--layer", "1", "--dataset", H, "--write", H),
    ],
    "words": [
        (H, "--dataset", "no" + H),
        ("--model", "embedded", "--dataset", H, "--word", H),
        ("--model", "embedded", "--dataset", H, "--spans", f"file {H}"),
        ("--model", f"hf:{H}", "--dataset", H),
    ],
    "steady": [
        ("--dataset", "no" + H),
        ("--model", "embedded", "--dataset", f"labels {H}", "--names", H),
        ("--model", "embedded", "--dataset", f"labels {H}", "--names", "names.txt"),
        ("--model", H, "--dataset", H),
    ],
    "lexical": [("-", "--records", "class.jsonl"), ("-", "--records", H)],
    "make-gold": [(H, f"file {H}"), (H, "no" + H)],
    "map-labels": [(H,), (H, "--guess"), (H, "--set", f"{H}={H}2"), (H,), ("no" + H,), (H, "--from", H)],
    "masked": [
        ("-", "build", "--posts", "posts.jsonl", "--explain"),
        ("-", "build", "--posts", H),
        ("-", "questions", "--words", H, "--to", "questions.jsonl"),
        ("lexicon", H, "--to", "lexicon.csv"),
        ("study", "begin", H, "--dataset", H, "--b", H),
        ("study", "list"),
        ("review", "begin", H, "--posts", H),
        ("review", "list"),
        ("review", "write", H, "--to", "set.jsonl"),
        ("study", "results", H),
    ],
    "merge": [(H,), ("spans.jsonl",)],
    "models": [("-", "--folder", H), ("-", "--folder", "."), ("-", "--server", "SERVER"), ("-", "--server", H)],
    "notes": [
        ("add", H, f"{H}0", H, "--codes", f"{H},{H}2", "--annotator", H),
        ("add", H, "no" + H, H),
        *((word, H) for word in ("list", "codes", "export", "saturation", "agreement")),
        ("rename", H, " ".join(H.split()), "no" + H, "--annotator", H),
        ("import", H, "bad.jsonl"),
        ("import", H, H),
        ("undo", H, "--annotator", H),
        ("remove", H, f"{H}0", "--annotator", H),
    ],
    "paper": [("no" + H, "--to", "p"), (f"file {H}", "--to", "paper", "--no-sim"), ("-", "--again", H, "--to", "q")],
    "predict": [
        ("-", "class", "--model", f"openai:{H}@SERVER", "--records", "class.jsonl", "--labels", "names.txt"),
        ("-", "spans", "--model", f"hf:{H}", "--records", "spans.jsonl"),
        ("-", "spans", "--model", H, "--records", H),
    ],
    "probe": [("-", H, "--model", f"openai:{H}@SERVER"), ("-", H, "--model", f"gguf:{H}"), ("-", H, "--model", H)],
    "measure": [(H, "--nli", H), ("no" + H, "--ppl-model", "embedded"), (H,)],
    "project": [
        ("export", "folder", "--dataset", H),
        ("export", FILE, "--dataset", H),
        ("export", "folder", "--dataset", H),
        ("deal", "folder", "--annotators", f"{H},{H}2", "--consent", H),
        ("deal", "folder", "--annotators", f"{H},{H}2"),
        ("collect", "folder"),
        ("collect", "folder", H),
        ("import", "folder", "--name", H),
        ("import", H),
        ("import", "folder", "--db", "another.duckdb"),
    ],
    "ratings": [("-", "ratings.csv", "--records", "generation.jsonl"), ("-", H, "--records", H)],
    "ratings kept": [(H,), ("no" + H, "--to", "kept.csv")],
    "ratings rate": [(H, "--annotator", H), ("no" + H,)],
    "ratings subset": [("-", "spans.jsonl", "--source", H), ("-", H, "--source", H)],
    "rename": [(H, f"{H}2"), (f"{H}2", H), ("no" + H, H)],
    "rephrasings": [
        ("-", "statistics", "--chains", "chains.jsonl"),
        ("-", "sets", "--chains", "chains.jsonl", "--to", H),
        ("-", "split", "--chains", "chains.jsonl", "--to", f"{H}2"),
        ("import", "chains.jsonl", "--name", f"chains {H}"),
        ("export", "--dataset", f"chains {H}", "--to", "chains2.jsonl"),
        ("agreement", "--dataset", f"chains {H}"),
        ("contrast", "--dataset", f"chains {H}", "--to", "pairs.jsonl"),
        ("contrast", "--dataset", f"chains {H}", "--where", H, "--run", H, "--annotator", H, "--to", "pairs2.jsonl"),
        ("-", "consistency", "--pairs", "pairs.jsonl", "--model", f"openai:{H}@SERVER", "--labels", "names.txt"),
        ("-", "consistency", "--pairs", H, "--model", H),
        ("variants", "--dataset", f"chains {H}", f"{H}=class.jsonl"),
        ("prompt", "prompt.toml"),
        ("prompt",),
        ("-", "suggest", "--model", H, "--text", H, "--label", H),
        ("-", "evaluate", "--chains", "chains.jsonl", "--model", f"{H}=openai:{H}@SERVER", "--labels", "names.txt"),
    ],
    "replace-gold": [(H, "spans.jsonl", "--no-sim"), (H, "bad.jsonl"), (H, H)],
    "report": [("--to", "r.md", "--dataset", H, "--no-sim"), (H, "--to", "r.md"), ("--to", H, "--dataset", H)],
    "reproduce": [(H,), (f"file {H}",), ("RUN",)],
    "rescore": [(H, "--no-sim"), (f"file {H}", "--no-sim"), ("RUN", "--no-sim")],
    "restore": [(H,), (f"{H}2",)],
    "results": [("--dataset", H, "--no-sim"), ("--dataset", "no" + H), (H,)],
    "run": [
        ("spans", "--model", f"openai:{H}@SERVER", "--dataset", H),
        ("spans", "--model", H),
        ("spans", "--resume", H),
        ("spans", "--model", f"hf:{H}", "--dataset", H),
        ("spans", "--prompts", "prompt.toml", "--dataset", H),
        ("spans", "--experiment", H),
    ],
    "runs": [()],
    "runs pack": [("no" + H, "--to", "a.run"), ("RUN", "--to", f"{H}/x.run")],
    "runs unpack": [(H,), ("spans.jsonl",)],
    "scale": [
        ("-", "--texts", "1e8", "--task", "spans", "--model", f"hf:{H}", "--records", "spans.jsonl"),
        ("-", "--texts", "1e8", "--task", "spans", "--model", H, "--bench", "spans.jsonl"),
        ("-", "--texts", "1e8", "--task", "spans", "--records", H, "--answers", H, "--bench", H),
        ("-", "--texts", "1e8", "--task", "class", "--records", "spans.jsonl", "--labels", H),
        ("-", "--texts", "8", "--task", "scenes", "--model", f"openai:{H}@SERVER", "--sample", "8", "--way", H),
    ],
    "score": [
        ("-", "spans", "--gold", "spans.jsonl", "--pred", "pspans.jsonl", "--no-sim"),
        *(
            ("-", kind, "--gold", f"{kind}.jsonl", "--pred", f"p{kind}.jsonl")
            for kind in ("class", "labels", "scenes")
        ),
        ("-", "values", "--gold", "values.jsonl", "--pred", "values.jsonl"),
        ("-", "values", "--gold", "values.jsonl", "--pred", "values.jsonl", "--against", "people", "--scale", H),
        ("-", "masked", "--gold", "masked.jsonl", "--pred", "masked.jsonl"),
        ("-", "generation", "--records", "generation.jsonl"),
        ("-", "spans", "--gold", "bad.jsonl", "--pred", H),
        ("-", "pairs", "--gold", "bad.jsonl", "--pred", H),
        ("-", "pairs", "--gold", H, "--pred", "spans.jsonl"),
        ("-", "annotators", "--gold", "values.jsonl", "--pred", "values.jsonl"),
        ("-", "annotators", "--gold", H, "--pred", "bad.jsonl"),
        ("-", "spans", "--gold", "spans.jsonl", "--pred", "bad.jsonl"),
    ],
    "slices": [
        ("facets", H),
        ("save", H, H, f'emotion="{H}"'),
        ("save", H, H, H),
        ("list", H),
        ("ids", H, f'slice="{" ".join(H.split())}"'),
        ("ids", H, f"{H}=1"),
        ("figures", H, "--of", f"file {H}"),
        ("find", H, "--of", f"file {H}", "--against", H),
        ("find", H, "--of", f"file {H}"),
        ("remove", H, H),
    ],
    "serve": [("--port", "PORT", "--annotator", H), ("--port", H)],
    "snapshot": [("--to", f"{FILE}.duckdb"), ("--to", f"{H}/{H}/x.duckdb")],
    "sources": [(H,), (H, "--take", H, "--no-sim"), ("no" + H,)],
    "sql": [
        ("select * from texts",),
        ("select id from texts",),
        ("select * from said",),
        ("select * from runs",),
        (f"select '{H}' as \"{H}\"",),
        (f"select {H}",),
        ("select * from texts", "--to", H),
    ],
    "thresholds": [("-", "--gold", "labels.jsonl", "--pred", "plabels.jsonl"), ("-", "--gold", H, "--pred", H)],
    "train": [
        ("-", "classifier", "--train", "class.jsonl", "--base", f"hf:{H}", "--to", H),
        ("-", "classifier", "--train", "bad.jsonl", "--base", "hf:lying", "--to", H),
        ("-", "classifier", "--train", "class.jsonl", "--base", "hf:lying", "--to", H),
        ("-", "embedded", "--data", H, "--to", H),
        ("-", H),
    ],
    "view": [
        ("-", "spans.jsonl", "pspans.jsonl"),
        ("-", "spans.jsonl", "bad.jsonl", "--skip-bad"),
        ("-", "bad.jsonl"),
        ("-", H, H),
    ],
}  # fmt: skip
"""What each command is called with, in this order: what is made is there for those after it. `-`: without a store."""

_SLOW = {"bench", "train"}
"""What imports torch into this process, or measures: in `make test-faults` alone."""

FIRST = ("import", "import predictions")
LAST = ("rename", "delete", "restore")


pytestmark = pytest.mark.faults


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer(models=(H,)) as running:
        yield running


def filled(word: str, server: FaultyServer) -> str:
    """A word of a call, with where the server listens."""
    return word.replace("SERVER", server.url).replace("PORT", server.url.rsplit(":", 1)[1].split("/")[0])


def test_every_command_is_called() -> None:
    assert set(CALLS) | _ELSEWHERE == set(COMMANDS)


def test_no_command_hands_a_control_of_data_to_the_terminal(
    emotui: Emotui, tmp_path: Path, server: FaultyServer
) -> None:
    write_files(tmp_path)
    (tmp_path / "lying").mkdir()
    (tmp_path / "lying" / "config.json").write_text(json.dumps({"model_type": H, "architectures": [H]}), "utf-8")
    assert emotui("import", "spans.jsonl", "--as", "spans", "--name", H, "--db", "w.duckdb").status == 0
    leaked = {}
    for name in [
        *FIRST,
        *(name for name in CALLS if name not in FIRST + LAST and (MINUTES or name not in _SLOW)),
        *LAST,
    ]:
        for words in CALLS[name]:
            call = [*name.split(), *(filled(word, server) for word in words if word != "-")]
            if "-" not in words and "--db" not in words:
                call += ["--db", "w.duckdb"]
            done = emotui(*call)
            tried("hostile calls")
            said = done.out + done.err
            if set(CONTROLS.findall(said)) - {"\n", "\t"} or FORGED in said.splitlines():
                leaked[repr(call)] = said
    assert leaked == {}


@pytest.mark.skipif(not MINUTES, reason="three models are loaded")
def test_labels_and_templates_of_model_folders_reach_no_terminal(emotui: Emotui, tmp_path: Path) -> None:
    from tests.backends.hf.models import bert, changed_copy

    write_files(tmp_path)
    bert(tmp_path / "labels", head="classes", labels=(H, f"{H}2"))
    writer = changed_copy(tmp_path / "writer")
    template = "{% if messages|length > 1 %}{{ raise_exception(HERE) }}{% endif %}" + H + "{{ messages[0]['content'] }}"
    (writer / "chat_template.jinja").write_text(template.replace("HERE", json.dumps(H)), encoding="utf-8")
    for words in (
        ("models", "--folder", "."),
        ("probe", H, "--model", "hf:labels#threads=1"),
        ("predict", "class", "--model", "hf:labels#threads=1", "--records", "class.jsonl"),
        ("probe", H, "--model", "hf:writer#threads=1", "--task", "class"),
        ("predict", "spans", "--model", "hf:writer#threads=1", "--records", "spans.jsonl"),
    ):
        done = emotui(*words)
        tried("hostile calls")
        said = done.out + done.err
        assert set(CONTROLS.findall(said)) <= {"\n", "\t"}, words
        assert FORGED not in said.splitlines(), words


def test_doctor_shows_what_it_found_literally(emotui: Emotui, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Check(H, H, "broken", H, H), Check(H, LONG, "note", H, None)]
    monkeypatch.setattr(doctor, "examine", lambda *_, **__: found)
    done = emotui("doctor")
    assert done.status == 1
    assert set(CONTROLS.findall(done.out + done.err)) <= {"\n"}


def test_a_table_in_a_terminal_holds_its_own_colours_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = terminal()
    with console.capture() as printed:
        console.print(as_written(H, "bold"), Panel(Text(H), title=Text(H)), soft_wrap=True)
    said = printed.get()
    assert "\x1b[1m" in said
    assert set(CONTROLS.findall(re.sub("\x1b\\[[0-9;]*m", "", said))) <= {"\n"}
    assert "\\x1b]52" in said
