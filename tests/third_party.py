"""A tiny package that adds a kind of model, written to a folder as pip would have installed it."""

import os
from pathlib import Path

MODULE = '''"""`loud:WORD`: calls every word in capitals anger."""

import re

from emotui.backends.base import Classification, Evidence, ModelCard
from emotui.errors import ModelError


class Loud:
    def __init__(self, word):
        self.card = ModelCard(f"loud:{word}", "Loud", ("extract", "classify"), {"version": "1.0", "word": word},
                              labels={"volume": ("anger", "calm")})

    def extract(self, requests):
        return [
            [Evidence(*found.span(), "anger", 1.0) for found in re.finditer(r"\\\\b[A-Z]{2,}\\\\b", request.text)]
            for request in requests
        ]

    def classify(self, requests):
        answers = []
        for request, spans in zip(requests, self.extract(requests)):
            share = 0.9 if spans else 0.1
            probs = {"anger": share, "calm": 1 - share}
            answers.append(Classification(probs, max(probs, key=probs.get), multi_label=False))
        return answers


def load(argument, options, progress):
    progress("listening")
    if argument == "deaf":
        raise ModelError("loud: is deaf: give another word")
    return Loud(argument)
'''


def install(folder: Path) -> dict[str, str]:
    """Put the package and its metadata into `folder`; the environment in which it is installed."""
    folder.mkdir()
    (folder / "emotui_loud.py").write_text(MODULE.replace("\\\\", "\\"))
    metadata = folder / "emotui_loud-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: emotui-loud\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[emotui.backends]\nloud = emotui_loud:load\n")
    return {"PYTHONPATH": os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(folder)))}
