"""Write the two worked papers of docs/results.md anew: `python docs/papers.py` (one of spans, one of labels)."""

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
PLUTCHIK = {
    "happy": ("joy",),
    "surprise": ("surprise",),
    "sad": ("sadness",),
    "fear": ("fear",),
    "angry": ("anger",),
    "disgust": ("disgust",),
    "contempt": ("anger", "disgust"),
    "neutral": (),
}
"""Emotions of the project's sentences as Plutchik's; contempt is made of two of them (Plutchik 1980)."""
LABELS = tuple(dict.fromkeys(label for labels in PLUTCHIK.values() for label in labels))

FIGURES = {"spans": "sample-errors-task-1.svg", "labels": "emotions-labels.svg"}


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
    """The same texts with the emotions of their sentences as labels: the embedded model and a keyword rule."""
    gold, said = list[dict[str, object]](), list[dict[str, object]]()
    for name in ("spans_sentences.jsonl", "spans_passages.jsonl"):
        text = files("emotui.sample_data").joinpath(name).read_text(encoding="utf-8")
        for record in map(json.loads, text.splitlines()):
            named = [one["emotion"] for one in record.get("sentences") or [record]]
            there = dict.fromkeys(label for emotion in named for label in PLUTCHIK[emotion])
            gold.append({"id": record["id"], "text": record["text"], "labels": list(there)})
            found = {emotion for _, _, emotion in cue_places(record["text"])}
            said.append({"id": record["id"], "labels": sorted(found & set(LABELS))})
    source = ("--dataset", "emotions", "--db", "w.duckdb")
    emotui(
        "import", "labels", lines(folder / "gold.jsonl", gold), "--name", "emotions", "--db", "w.duckdb", folder=folder
    )
    run = json.loads(emotui("run", "labels", *source, "--json", folder=folder))["run"]
    rule = lines(folder / "rule.jsonl", said)
    emotui("import", "predictions", rule, *source, "--source", "keyword rule", folder=folder)
    emotui("paper", run, "keyword rule", "--to", "paper", "--db", "w.duckdb", folder=folder)


def write(target: Path) -> None:
    """Both papers as they come out, under a folder; of the figures one, and no pictures of pixels."""
    for name, make in (("spans", spans), ("labels", labels)):
        with tempfile.TemporaryDirectory() as made:
            make(Path(made))
            shutil.rmtree(target / name, ignore_errors=True)
            shutil.copytree(Path(made) / "paper", target / name, ignore=shutil.ignore_patterns("figures"))
            (target / name / "figures").mkdir()
            shutil.copyfile(Path(made) / "paper" / "figures" / FIGURES[name], target / name / "figures" / FIGURES[name])


if __name__ == "__main__":
    write(PAPERS)
