"""Writes what metrics say of themselves into docs/figures.md: `python docs/figures.py`."""

from pathlib import Path

from emotui.store.query import MARKS
from emotui.tasks.registry import tasks

PAGE = Path(__file__).with_suffix(".md")
BEGIN, END = "<!-- by docs/figures.py -->", "<!-- to here -->"


def declared() -> str:
    """Tables of the metrics of every task, and of the letters of errors, in Markdown."""
    lines: list[str] = []
    for name, task in tasks().items():
        lines += [
            f"### {name}",
            "",
            "| figure | name in files | better | from, to | what it is |",
            "|---|---|---|---|---|",
        ]
        for metric in task.metrics:
            low, high = ("" if end is None else f"{end:g}" for end in metric.range)
            better = "higher" if metric.higher_is_better else "lower"
            lines.append(f"| {metric.title} | `{metric.name}` | {better} | {low}, {high} | {metric.help} |")
        lines.append("")
    lines += ["## The letters of errors", "", "| letter | error |", "|---|---|"]
    lines += [f"| `{letter}` | {words} |" for letter, words in MARKS.items()]
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with what is declared now."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{declared()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
