"""Write the two worked papers of docs/paper.md anew: `python docs/papers.py` (one of spans, one of labels)."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

PAPERS = Path(__file__).with_name("papers")
CUES = {
    "joy": ("glad", "happy", "laugh", "cheer", "delight", "love", "proud"),
    "sadness": ("sad", "cried", "tears", "lonely", "lost", "grief"),
    "anger": ("angry", "furious", "hate", "shout", "rage"),
    "fear": ("afraid", "fear", "scared", "terrif", "panic"),
    "disgust": ("disgust", "sick", "vile"),
    "surprise": ("surpris", "suddenly", "shock"),
    "trust": ("trust", "safe", "rely"),
    "anticipation": ("hope", "wait", "soon"),
}
KEPT = {
    "spans": ("methods.md", "sample-task-1.tex", "sample-task-2.tex", "sample-errors-task-2.tex"),
    "labels": ("methods.md", "scenes-labels.tex"),
}

FIGURES = {"spans": "sample-errors-task-1.svg", "labels": "scenes-labels.svg"}


def emotui(*words: str, folder: Path) -> str:
    """What a command prints. Raises: CalledProcessError where it fails."""
    command = [sys.executable, "-m", "emotui", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def cue_places(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a keyword rule finds a word of an emotion: (start, end, emotion)."""
    for emotion, begins in CUES.items():
        for found in re.finditer(rf"\b(?:{'|'.join(begins)})\w*", text, re.IGNORECASE):
            yield *found.span(), emotion


def lines(path: Path, records: list[dict[str, object]]) -> str:
    """A file of records; returns its name."""
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path.name


def spans(folder: Path) -> None:
    """The project's passages and sentences: the embedded model and a keyword rule."""
    run = json.loads(emotui("run", "spans", "--db", "w.duckdb", "--json", folder=folder))["run"]
    emotui("export", "sample", "--to", "gold.jsonl", "--db", "w.duckdb", folder=folder)
    gold = [json.loads(line) for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    said: list[dict[str, object]] = [
        {"id": one["id"], "spans": [[start, end] for start, end, _ in cue_places(one["text"])]} for one in gold
    ]
    rule = lines(folder / "rule.jsonl", said)
    source = ("--dataset", "sample", "--source", "keyword rule", "--db", "w.duckdb")
    emotui("import", "predictions", rule, *source, folder=folder)
    emotui("paper", run, "keyword rule", "--to", "paper", "--db", "w.duckdb", folder=folder)


def labels(folder: Path) -> None:
    """The project's scenes as texts with several labels: the embedded model and a keyword rule."""
    text = files("emotui.sample_data").joinpath("scenes.jsonl").read_text(encoding="utf-8")
    gold, said = list[dict[str, object]](), list[dict[str, object]]()
    for record in map(json.loads, text.splitlines()):
        names = [name for name, there in record["labels"].items() if there]
        gold.append({"id": record["id"], "text": record["text"], "labels": names})
        found = {emotion for _, _, emotion in cue_places(record["text"])}
        said.append({"id": record["id"], "labels": sorted(found & set(record["labels"]))})
    emotui(
        "import", "labels", lines(folder / "gold.jsonl", gold), "--name", "scenes", "--db", "w.duckdb", folder=folder
    )
    run = json.loads(emotui("run", "labels", "--dataset", "scenes", "--db", "w.duckdb", "--json", folder=folder))["run"]
    source = ("--dataset", "scenes", "--source", "keyword rule", "--db", "w.duckdb")
    emotui("import", "predictions", lines(folder / "rule.jsonl", said), *source, folder=folder)
    emotui("paper", run, "keyword rule", "--to", "paper", "--db", "w.duckdb", folder=folder)


def write(target: Path) -> None:
    """Both papers under a folder: what does not depend on the day and the machine."""
    for name, make in (("spans", spans), ("labels", labels)):
        with tempfile.TemporaryDirectory() as made:
            make(Path(made))
            paper, to = Path(made) / "paper", target / name
            shutil.rmtree(to, ignore_errors=True)
            to.mkdir(parents=True)
            for file in KEPT[name]:
                at = paper / file if file == "methods.md" else paper / "tables" / file
                told = at.read_text(encoding="utf-8")
                (to / file).write_text(
                    told.partition("\n# Appendix")[0].rstrip() + "\n" if file == "methods.md" else told, "utf-8"
                )
            shutil.copyfile(paper / "figures" / FIGURES[name], to / FIGURES[name])


if __name__ == "__main__":
    write(PAPERS)
