"""The worked papers of docs/results.md are what comes out today, from the answers that are kept with them."""

import re
from pathlib import Path

import pytest

from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.workbench.reports.latex import check, compiles

PAPERS = CHECKOUT / "docs" / "papers"
NAMES = ("spans", "labels")
SIM = re.compile(r"(?<=\d)\.\d+|\d+(?=\.)|\.\d+")

SIZE = re.compile(r"The (?:model|number of parameters of) embedded [^;]*;")


@pytest.mark.parametrize("name", NAMES)
def test_a_worked_paper_is_what_comes_out_of_its_kept_answers(emotui: Emotui, tmp_path: Path, name: str) -> None:
    done = emotui("paper", "--again", str(PAPERS / name), "--to", "again", "--kept", "--json")
    kept = {path.name for path in (PAPERS / name / "tables").iterdir()}
    assert kept == {path.name for path in (tmp_path / "again" / "tables").iterdir()}
    # What an embedding model says of people's spans may differ from processor to processor in a last digit.
    for file in done.document["other"]:
        if file.startswith("tables/"):
            old, new = ((place / file).read_text("utf-8") for place in (PAPERS / name, tmp_path / "again"))
            assert SIM.sub("#", old) == SIM.sub("#", new), file
    # How big a model is is known where it was loaded, which it is not here.
    old, new = (
        SIZE.sub("", (place / "methods.md").read_text("utf-8").partition("\n# Appendix")[0])
        for place in (PAPERS / name, tmp_path / "again")
    )
    assert old == new


@pytest.mark.parametrize("name", NAMES)
def test_every_table_of_a_worked_paper_compiles(tmp_path: Path, name: str) -> None:
    tables = sorted((PAPERS / name / "tables").glob("*.tex"))
    for path in tables:
        (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
    inputs = "\n".join(f"\\input{{{path.stem}}}\\clearpage" for path in tables)
    text = f"\\documentclass{{article}}\n\\usepackage{{graphicx}}\n\\begin{{document}}\n{inputs}\n\\end{{document}}\n"
    (tmp_path / "d.tex").write_text(text)
    compiles(tmp_path / "d.tex")


@pytest.mark.parametrize("name", NAMES)
def test_every_mark_in_a_table_of_a_worked_paper_has_its_note_and_every_note_its_mark(name: str) -> None:
    for path in (PAPERS / name / "tables").glob("*.tex"):
        text = path.read_text("utf-8")
        check(text)
        over, _, under = text.partition("\\caption")
        marks = {mark for told in re.findall(r"\\textsuperscript\{([^}]*)\}", over) for mark in told.split(",")}
        assert marks == set(re.findall(r"^\\textsuperscript\{(\w+)\} ", under, re.MULTILINE)), path.name
