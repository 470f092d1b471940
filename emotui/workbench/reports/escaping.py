"""A report as Markdown, LaTeX or HTML. Whatever comes from data is escaped for the format that it lands in."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import jinja2

from emotui.workbench.reports.templates import TEMPLATES

ENDINGS = tuple(TEMPLATES)


class Verbatim(str):
    """Text of this project's own that no format changes: a label, a comment."""

    __slots__ = ()


def rendered(ending: str, values: Mapping[str, Any]) -> str:
    """The report's values in the format of an ending, one of `ENDINGS`."""
    shown: Callable[[str], str] = {".md": markdown, ".tex": latex, ".html": one_line}[ending]
    # LaTeX is full of braces.
    marks = ("<%", "%>", "<<", ">>", "<#", "#>") if ending == ".tex" else ("{%", "%}", "{{", "}}", "{#", "#}")
    environment = jinja2.Environment(
        autoescape=ending == ".html",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Verbatim) else shown(str(value)),
        block_start_string=marks[0],
        block_end_string=marks[1],
        variable_start_string=marks[2],
        variable_end_string=marks[3],
        comment_start_string=marks[4],
        comment_end_string=marks[5],
    )
    return environment.from_string(TEMPLATES[ending]).render(**values)


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, also in a cell of a table."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$!])", r"\\\1", one_line(text))


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "±": r"\ensuremath{\pm}",
    "†": r"\dag{}",
    "≥": r"\ensuremath{\geq}",
    "→": r"\ensuremath{\rightarrow}",
    "…": r"\ldots{}",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "'": "{'}",
    "`": r"\textasciigrave{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
# A bracket or asterisk would be an argument of the line break before it.
_LATEX |= {sign: f"{{{sign}}}" for sign in "[]*"}


def latex(text: str) -> str:
    """Text that LaTeX shows as it is. A letter that its standard fonts lack stands as its code, such as `[U+4E2D]`."""
    plain = "".join(_latex_sign(sign) for sign in one_line(text))
    return re.sub(r"(?<=-)-|^-|-$", "{-}", plain)  # several would be a dash


def _latex_sign(sign: str) -> str:
    if sign in _LATEX:
        return _LATEX[sign]
    if sign.isascii() or ("À" <= sign <= "ÿ" and sign not in "×÷ÐÞðþ"):
        return sign
    plain = unicodedata.normalize("NFKD", sign)
    if plain.isascii() and plain.isalnum():
        return plain
    return f"{{[}}U+{ord(sign):04X}{{]}}"


def one_line(text: str) -> str:
    """Without control characters, and on one line."""
    return "".join(
        " " if sign in "\n\r\t" else "\N{REPLACEMENT CHARACTER}" if _control(sign) else sign for sign in text
    )


def _control(sign: str) -> bool:
    return (
        unicodedata.category(sign) in ("Cc", "Cs") or sign in "\u2028\u2029\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
    )
