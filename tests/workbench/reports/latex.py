"""Whether LaTeX compiles: by a LaTeX where one is installed, else by a parser of the subset that reports use."""

import re
import shutil
import subprocess
from pathlib import Path

_COMPILERS = (
    ("latexmk", ("latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error")),
    ("pdflatex", ("pdflatex", "-interaction=nonstopmode", "-halt-on-error")),
    ("tectonic", ("tectonic", "--only-cached")),
)
_TOKEN = re.compile(
    r"(?P<comment>(?<!\\)%[^\n]*\n?)|(?P<command>\\([A-Za-z]+\*?|.))|(?P<open>\{)|(?P<close>\})|(?P<row>&)"
    r"|(?P<special>[#^_~$])|(?P<other>[^\\{}&%#^_~$]+)",
    re.DOTALL,
)
_NAME = re.compile(r"\{([A-Za-z]+\*?)\}")


def compiles(document: Path) -> str:
    """How a document was found to compile. Raises: AssertionError with what is wrong."""
    for name, command in _COMPILERS:
        if shutil.which(name) is None:
            continue
        done = subprocess.run(
            [*command, document.name], cwd=document.parent, capture_output=True, check=False, timeout=300
        )
        told = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        assert done.returncode == 0, told[-2000:]
        return name
    check(whole(document))
    return "parser"


def whole(document: Path) -> str:
    """A document with what it includes in place."""
    text = document.read_text(encoding="utf-8")

    def included(found: re.Match[str]) -> str:
        return whole(document.parent / (found[1] if found[1].endswith(".tex") else f"{found[1]}.tex"))

    return re.sub(r"\\input\{([^}]*)\}", included, text)


def check(text: str) -> None:
    """Groups and environments close in the order in which they open, and a table's rows are as wide as its columns.

    Signs that mean something to LaTeX stand nowhere bare; each label stands once.

    Raises:
        AssertionError: with the place.
    """
    body = re.sub(r"\\providecommand\{\\emotuifit\}\[1\].*?\n.*?\}\n", "", text)
    closers: list[str] = []
    place = 0
    while place < len(body):
        found = _TOKEN.match(body, place)
        assert found is not None, body[place : place + 80]
        kind, place = found.lastgroup, found.end()
        if kind == "open":
            closers.append("}")
        elif kind == "close":
            assert closers, f"a brace too many: {_near(body, place)}"
            assert closers.pop() == "}", f"a brace too many: {_near(body, place)}"
        elif kind == "row":
            assert any("tabular" in one for one in closers), f"& outside a table: {_near(body, place)}"
        elif found[0] in ("\\begin", "\\end"):
            name = _NAME.match(body, place)
            assert name is not None, _near(body, place)
            place = name.end()
            if found[0] == "\\begin":
                closers.append(name[1])
            else:
                assert closers, f"{name[1]} ends too early: {_near(body, place)}"
                assert closers.pop() == name[1], f"{name[1]} ends too early: {_near(body, place)}"
        elif kind == "special":
            assert found[0] in "~$", f"{found[0]} is bare: {_near(body, place)}"
    assert not closers, f"never closed: {closers}"
    for columns, rows in re.findall(r"\\begin\{tabular\}\{([lrc]+)\}(.*?)\\end\{tabular\}", body, re.DOTALL):
        for row in re.split(r"\\\\\s*\n", re.sub(r"(?<!\\)%[^\n]*\n", "", rows))[:-1]:
            spans = [int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", row)]
            wide = len(re.findall(r"(?<!\\)&", row)) + 1 + sum(spans) - len(spans)
            assert wide == len(columns), f"{wide} cells in {len(columns)} columns: {row.strip()[:200]}"
    labels = re.findall(r"\\label\{([^}]*)\}", body)
    assert len(labels) == len(set(labels)), "a label stands twice"


def _near(text: str, place: int) -> str:
    return text[max(place - 60, 0) : place + 20]
