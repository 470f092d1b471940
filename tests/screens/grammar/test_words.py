"""The glossary of the help sheet: every figure, letter and mark that a screen shows has its sentence there."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.screens.dialogs.glossary import GLOSSARY, explained
from emotui.screens.dialogs.help import rows_of_words
from emotui.screens.places import SIGNS
from emotui.screens.widgets.cell_width import width
from emotui.tasks.generation.tables import TITLES as OF_GENERATION
from emotui.tasks.labels.tables import _BY_LABEL, _OF_PROBABILITIES, _SUMMARY
from emotui.tasks.masked.tables import _FIGURES as OF_MASKED
from emotui.tasks.registry import tasks
from emotui.workbench.agreement.of_values import _OF_TWO
from emotui.workbench.generation.figures import PEOPLE
from emotui.workbench.results.span_tables import HEADLINE
from tests.paths import CHECKOUT

NO_FIGURE = ("count", "words")
"""Units of columns that hold no figure: how many there are of what the title names, or words."""

DATA = {
    "annotate/units.py": "where sentences end in many scripts, and characters that tell them apart",
    "widgets/cell_width.py": "characters that are never shown as they are",
    "widgets/editor.py": "marks of direction, which are not shown",
}
"""Modules whose characters are no marks on a screen."""

TYPOGRAPHY = "\xa0“”’–…—•─┄┆│└┬┴┼┐┌┘├┤┝┥━┃,"
"""Punctuation and lines."""


def _calls(name: str) -> Iterator[ast.Call]:
    for folder in ("emotui", "metrics", "screens"):
        for path in sorted((CHECKOUT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name:
                    yield node


def _given(call: ast.Call, place: int, name: str) -> str:
    """A text that a call is given by its place or its name; empty where it is given none, or a computed one."""
    values = [*call.args[place : place + 1], *(one.value for one in call.keywords if one.arg == name)]
    return next((one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)), "")


def _of_columns() -> set[str]:
    calls = [call for call in _calls("Column") if _given(call, 3, "unit") not in NO_FIGURE]
    return {_given(call, 1, "title") for call in calls} | {_given(call, 4, "short") for call in calls}


def _of_agreement() -> set[str]:
    return {_given(call, 1, "title") for name in ("Measured", "_measured") for call in _calls(name)}


def _of_metrics() -> set[str]:
    metrics = [*PEOPLE, *(metric for task in tasks().values() for metric in task.metrics)]
    declared = {_given(call, 5 if len(call.args) > 5 else 4, "heading") for call in _calls("Metric")}
    return {metric.title for metric in metrics} | declared


def _of_tables() -> set[str]:
    several = {title for row in (*_SUMMARY, *_BY_LABEL, *_OF_PROBABILITIES) for title in row[1:]}
    of_two = {title for title, *_ in _OF_TWO.values()}
    return (
        several | of_two | {title for _, title in OF_MASKED} | {row[1] for row in HEADLINE} | {*OF_GENERATION.values()}
    )


@pytest.mark.parametrize("of", [_of_columns, _of_agreement, _of_metrics, _of_tables])
def test_every_figure_of_a_metric_or_a_table_is_explained(of: object) -> None:
    titles = of()  # type: ignore[operator]
    assert len(titles) > 5
    there = explained()
    assert sorted(title for title in titles if title and title.casefold() not in there) == []


def _characters(path: Path) -> set[str]:
    tree, skipped = ast.parse(path.read_text(encoding="utf-8")), set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            skipped |= {id(one.value) for one in body if isinstance(one, ast.Expr)}
    said = (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and id(one) not in skipped)
    return {letter for one in said if isinstance(one.value, str) for letter in one.value if not letter.isascii()}


def test_every_mark_and_greek_letter_that_a_screen_draws_is_explained() -> None:
    root = CHECKOUT / "screens"
    drawn = {
        letter: path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*.py"))
        if path.relative_to(root).as_posix() not in (*DATA, "dialogs/glossary.py")
        for letter in _characters(path)
    }
    there = set("".join(explained([*GLOSSARY, *SIGNS])))
    eighths = {chr(at) for at in range(0x2581, 0x2590)} | {"▕"}
    assert {one: where for one, where in drawn.items() if one not in there | eighths | {*TYPOGRAPHY}} == {}


@pytest.mark.parametrize(
    "name", ["F1", "Sim", "α", "κ", "ω", "n", "p", "nats", "M", "AUC", "Δ", "ECE", "R²", "ICC", "q", "±", "▸"]
)
def test_what_a_stranger_asks_about_is_explained(name: str) -> None:
    assert explained()[name.casefold()]


def test_each_entry_is_one_plain_sentence_under_a_heading_of_its_own() -> None:
    rows = rows_of_words((), SIGNS)
    own = rows_of_words((("F1", "of pairs"),), SIGNS)
    assert [row.about[:12] for row in own if row.sign == "F1"] == ["of pairs", "in general: "]
    assert [row.sign for row in rows if row.holds("carries") and row.sign == "carries"]
    assert len({heading for heading, _ in (*GLOSSARY, *SIGNS)}) == len((*GLOSSARY, *SIGNS))
    assert [
        row.sign for row in rows if not 1 <= width(row.about) <= 110 or row.about.endswith(".") or ". " in row.about
    ] == []
    assert [row.sign for row in rows if width(row.sign) > 30] == []
