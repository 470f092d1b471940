"""`emotui report` and `emotui results`: tables as files, on the screen and as JSON."""

import html.parser
import json
import re
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.host import Cancelled
from emotui.commands.results import report, results
from emotui.errors import BadInput
from emotui.records import ScenesGold
from emotui.store.query import Dataset
from emotui.tables import Cell, Column, ResultsTable, Row, shown_cell
from emotui.workbench.datasets.samples import add_experiment, add_samples
from emotui.workbench.progress import RunProgress
from emotui.workbench.reports.escaping import latex, markdown, one_line
from emotui.workbench.reports.notes import footnotes
from emotui.workbench.reports.report import write_report
from emotui.workbench.results.service import Results
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.screens.scenes_workspace import add_scenes_run, scenarios
from tests.screens.scenes_workspace import workspace as scenes_workspace
from tests.templates import copy_of
from tests.workbench.reports.latex import check, compiles, whole
from tests.workbench.results_store import ERRING, EXACT, add_run, workspace

NASTY = r"a|b_<i>&amp;{x}\y $1% ~^ #[2]* `c` 模é" + "\x1b[31m\n- z"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[tuple[Workspace, Dataset]]:
    def make(template: Path) -> None:
        opened, dataset = workspace(template)
        add_run(opened, dataset, "r1", NASTY, "retrieve", ERRING)
        add_run(opened, dataset, "r2", "plain", "highlight", EXACT, n=5)
        opened.close()

    copy_of(tmp_path / "w.duckdb", __name__, make)
    opened = Workspace.open(tmp_path / "w.duckdb")
    (dataset,) = opened.store.datasets.all()
    yield opened, dataset
    opened.close()


def written(made: tuple[Workspace, Dataset], path: Path, *runs: str) -> str:
    write_report(made[0].store, made[0].results(), runs or ("r1", "r2"), str(path), sim=False, published=True)
    return path.read_text(encoding="utf-8")


class Page(html.parser.HTMLParser):
    """The rows of cells of a page, its tags, and whatever it would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag in ("script", "link", "img", "iframe", "i"):
            self.fetched.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_a_page_is_whole_fetches_nothing_and_shows_names_as_they_are(
    made: tuple[Workspace, Dataset], tmp_path: Path
) -> None:
    text = written(made, tmp_path / "r.html")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.fetched == []
    assert "url(" not in text
    assert "http" not in text
    (own,) = [row for row in page.rows if row[:2] == [one_line(NASTY), "r1"] and "[" in row[2]][:1]
    # Student's t over so few samples reaches as far as an F1 can.
    assert own[2] == "0.475 ± .035 [.000, 1.000]"
    (qwen,) = [row for row in page.rows if row[:2] == ["Qwen 3 32B †", "SEER, Table 3"]][:1]
    assert qwen[2:4] == ["0.673 ± .006", "—"]


def test_transitions_are_a_heatmap_on_a_page(made: tuple[Workspace, Dataset], tmp_path: Path) -> None:
    text = written(made, tmp_path / "r.html")
    cells = re.findall(
        r"<td(?: style=\"background: color-mix\(in srgb, royalblue (\d+)%, transparent\)\")?>(\d)</td>", text
    )
    assert [cell for cell in cells if cell[0]] == [("70", "1")] * 4


def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_heading(
    made: tuple[Workspace, Dataset], tmp_path: Path
) -> None:
    text = written(made, tmp_path / "r.md")
    widths: set[int] = set()
    tables = 0
    for line in text.splitlines():
        if line.startswith("|"):
            widths.add(len(re.findall(r"(?<!\\)\|", line)))
        else:
            assert len(widths) <= 1
            tables += bool(widths)
            widths = set()
    assert tables == 15
    assert "| Retrieve (Base) F1 |" in text
    assert "\x1b" not in text
    assert markdown(NASTY) in text
    (mark,) = re.findall(r"plain<sup>(\w)</sup> \| r2 \|", text.partition("### Task")[2].partition("### Task")[0])
    assert f"- <sup>{mark}</sup> 3 of 5 scored." in text
    assert "| Phi 4 Mini 3.8B † | SEER, section 10.2 | Retrieve (Base) | 0.163 |" in text


def test_latex_is_escaped_to_plain_signs_and_braces_stay_balanced(
    made: tuple[Workspace, Dataset], tmp_path: Path
) -> None:
    text = written(made, tmp_path / "r.tex")
    assert text.isascii() or set(re.sub(r"[\x00-\x7f]", "", text)) <= {"é"}
    plain = text.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 15
    for row in re.findall(r"^\{\}.*\\\\$", text, re.MULTILINE):
        assert len(re.findall(r"(?<!\\)&", row)) >= 1


def test_latex_is_tables_to_include_each_with_a_caption_and_a_label_of_its_own(
    made: tuple[Workspace, Dataset], tmp_path: Path
) -> None:
    text = written(made, tmp_path / "r.tex")
    assert "\\documentclass" not in text
    assert "\\begin{document}" not in text
    labels = re.findall(r"\\label\{tab:([^}]*)\}", text)
    assert len(labels) == len(set(labels)) == text.count(r"\caption") == text.count(r"\begin{tabular}")
    assert {"three-task-1", "three-asking", "three-transitions-emotion"} <= set(labels)
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", label) for label in labels)
    captions = re.findall(r"\\caption\[[^\]]*\]\{(.*)\}$", text, re.MULTILINE)
    assert any(
        one.startswith("Task 1: one sentence (three). n = 2 samples. In brackets: 95\\% intervals.") for one in captions
    )


INCLUDING = r"""\documentclass[11pt,twocolumn]{article}
\usepackage{graphicx}
\begin{document}
Table~\ref{tab:three-task-1}.
\input{r}
\end{document}
"""


def test_latex_compiles_inside_a_paper_and_as_a_document(made: tuple[Workspace, Dataset], tmp_path: Path) -> None:
    written(made, tmp_path / "r.tex")
    (tmp_path / "paper.tex").write_text(INCLUDING, encoding="utf-8")
    names = ("r1", "r2")
    write_report(made[0].store, made[0].results(), names, str(tmp_path / "d.tex"), sim=False, document=True)
    for name in ("paper", "d"):
        compiles(tmp_path / f"{name}.tex")
    check(whole(tmp_path / "paper.tex"))
    log = tmp_path / "paper.log"
    if shutil.which("latexmk") and log.exists():  # it runs as often as references need
        told = log.read_text(encoding="latin-1")
        assert "undefined references" not in told
        assert "multiply" not in told


@pytest.mark.parametrize(
    "wrong",
    [
        r"{\small x",
        r"a & b",
        r"x_1",
        r"\begin{tabular}{lr}" + "\n" + r"a & b & c \\" + "\n" + r"\end{tabular}",
        r"\begin{table}\begin{center}x\end{table}\end{center}",
        r"\label{a}\label{a}",
    ],
)
def test_what_latex_refuses_the_parser_refuses_too(wrong: str) -> None:
    check(r"{\small x} \& x\_1 \label{a}")
    with pytest.raises(AssertionError):
        check(wrong)


@given(st.text(max_size=40))
def test_whatever_a_name_holds_it_stays_on_one_line_and_inside_its_cell(name: str) -> None:
    for shown in (markdown(name), latex(name)):
        assert len(f"x{shown}x".splitlines()) == 1
    assert not re.search(r"(?<!\\)(\\\\)*\|", markdown(name))
    escaped = latex(name)
    assert not re.search(r"(?<!\\)[&%$#_~^]", re.sub(r"\\\\", "", escaped))
    assert escaped.replace(r"\{", "").count("{") == escaped.replace(r"\}", "").count("}")


@pytest.mark.parametrize(
    ("cell", "unit", "text"),
    [
        (Cell(0.62, 0.004), "share", "0.620 ± .004"),
        (Cell(1.0), "share", "1.000"),
        (Cell(-0.0251), "difference", "-0.025"),
        (Cell(0.5, 1.25), "share", "0.500 ± 1.250"),
        (Cell(211), "count", "211"),
        (Cell(4.5, 0.7071), "count", "4.5 ± 0.7"),
        (Cell("yes"), "words", "yes"),
        (Cell(), "share", "—"),
        (Cell(why="no neutral sentences"), "share", "n/a"),
        (Cell(12345678), "count", "12345678"),
    ],
)
def test_a_figure_is_written_as_the_papers_write_theirs(cell: Cell, unit: str, text: str) -> None:
    assert shown_cell(cell, unit) == text


def test_what_cannot_be_written_is_one_sentence_and_leaves_the_old_file(
    made: tuple[Workspace, Dataset], tmp_path: Path
) -> None:
    store, found = made[0].store, made[0].results()
    with pytest.raises(
        BadInput, match=r"x\.pdf: the format goes by the ending, and is one of \.md, \.tex, \.html, \.csv, "
    ):
        write_report(store, found, ["r1"], "x.pdf")
    with pytest.raises(BadInput, match="there is no run 'r9'"):
        write_report(store, found, ["r9"], "x.md")
    with pytest.raises(BadInput, match=r"gone/x\.md: there is no folder"):
        write_report(store, found, ["r1"], str(tmp_path / "gone" / "x.md"), sim=False)
    (tmp_path / "old.md").mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        write_report(store, found, ["r1"], str(tmp_path / "old.md"), sim=False)
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_wherever_a_report_is_stopped_the_file_is_as_it_was(made: tuple[Workspace, Dataset], tmp_path: Path) -> None:
    path, store = tmp_path / "r.md", made[0].store
    before = {one.name for one in tmp_path.iterdir()} | {"r.md"}
    path.write_text("as it was")
    asked, allowed = 0, 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > allowed

    while True:
        asked = 0
        try:
            # Counted anew each time: what is counted already is not asked about.
            fresh = Results(store, made[0].model)
            write_report(store, fresh, ["r1", "r2"], str(path), sim=False, cancelled=cancelled)
            break
        except Cancelled:
            assert path.read_text() == "as it was"
            assert {one.name for one in tmp_path.iterdir()} == before
        allowed += 1
    # Two runs, each beside the annotators, a batch of annotators and one of baselines, transitions, and at the end.
    assert allowed == 9
    assert path.read_text().startswith("# ")


def test_a_report_tells_how_far_it_is(made: tuple[Workspace, Dataset], tmp_path: Path) -> None:
    told: list[RunProgress] = []
    write_report(
        made[0].store, made[0].results(), ["r1", "r2"], str(tmp_path / "r.md"), sim=False, on_progress=told.append
    )
    # On a busy machine a step is told more than once.
    assert list(dict.fromkeys((one.step, one.n) for one in told)) == [
        ("report: answers", 6 + 3),
        ("report: annotators", 3),
        ("report: baselines", 3),
        ("report: transitions", 0),
    ]


def test_ctrl_c_leaves_no_report_and_exits_with_1(
    made: tuple[Workspace, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Results.transitions

    def interrupted(self: Results, *arguments: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return counted(self, *arguments, **named)

    monkeypatch.setattr(Results, "transitions", interrupted)
    path = tmp_path / "r.md"
    done = CliRunner().invoke(report, ["r1", "--no-sim", "--to", str(path), "--db", str(made[0].store.path)])
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == f"interrupted: {path} is not written"
    assert list(tmp_path.glob("*r.md*")) == []


def test_the_commands_print_one_document_and_tables_that_fit(emotui: Emotui, tmp_path: Path) -> None:
    sample = CHECKOUT / "sample_data"
    passages, sentences = (
        (sample / f"spans_{part}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        for part in ("passages", "sentences")
    )
    (tmp_path / "few.jsonl").write_text("".join(passages[:2] + sentences[:6]), encoding="utf-8")
    done = emotui("run", "spans", "--dataset", "few.jsonl", "--db", "w.duckdb", "--json")
    run = done.document["run"]
    document = emotui("results", "--db", "w.duckdb", "--json", "--no-sim", "--samples").document
    assert document["dataset"] == "few"
    tables = {table["key"]: table for table in document["tables"]}
    assert {"task-1", "task-2", "errors-task-2", "asking", "transitions-emotion"} <= set(tables)
    (own,) = [row for row in tables["task-1"]["rows"] if row["kind"] == "run"]
    figure = own["cells"]["own/f1"]
    assert figure["value"] == pytest.approx(done.document["metrics"]["by_task"]["task_1"]["f1"])
    assert (figure["n_samples"], len(figure["samples"]), figure["samples"][0]) == (6, 6, "t1-001")
    only = emotui("results", "--db", "w.duckdb", "--json", "--no-sim", "--table", "asking").document
    assert [table["key"] for table in only["tables"]] == ["asking"]
    assert "samples" not in only["tables"][0]["rows"][0]["cells"]["questions"]
    assert not any(row["kind"] == "published" for table in document["tables"] for row in table["rows"])
    shown = emotui("results", run[:6], "--db", "w.duckdb", "--no-sim", "--published").out
    assert "Task 2: five sentences: errors" in shown
    assert "Qwen 3 32B †" in shown
    assert max(map(len, shown.splitlines())) <= 100
    wrong = emotui("results", "--db", "w.duckdb", "--table", "tsk", "--no-sim")
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.err.startswith("there is no table 'tsk' here; there are: task-1, ")
    report = emotui("report", run, "--to", "r.md", "--db", "w.duckdb", "--no-sim", "--json").document
    assert (report["to"], report["runs"]) == ("r.md", [run])
    assert {one["table"] for one in report["tables"]} == set(tables)
    written = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert written.count("\n### ") == len(report["tables"])
    assert "†" not in written
    alone = emotui("report", "--dataset", "few", "--table", "asking", "--to", "a.md", "--db", "w.duckdb", "--no-sim")
    assert (alone.status, alone.out) == (0, "1 table of 1 run written to a.md\n")
    other = emotui("report", run, "--dataset", "mine", "--to", "b.md", "--db", "w.duckdb")
    assert other.err == f"run {run} is not one over the dataset 'mine'\n"


def test_a_narrow_terminal_gets_the_tables_in_parts_and_nothing_to_show_is_one_sentence(
    made: tuple[Workspace, Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_run(made[0], add_experiment(made[0].store, 1), "x1", "m", "experiment-1-retrieve", {"prompting-1-n02-0": [[]]})
    counted = made[0].results().tables(made[1].dataset, sim=False, published=True)
    monkeypatch.setattr(Results, "tables", lambda *_, **__: counted)  # once, not for each width

    @cache
    def shown(width: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        return (
            CliRunner()
            .invoke(results, ["--no-sim", "--published", "--db", str(made[0].store.path)])
            .output.splitlines()
        )

    assert not any("\x1b" in line for line in shown(70))
    tables = [line for line in shown(70) if not line.startswith("- ")]
    assert max(map(len, tables)) <= 70
    assert "Task 1: one sentence: errors (further columns)" in "\n".join(line.rstrip() for line in tables)
    assert len(shown(400)) < len(tables)
    # No width breaks a row's name in two, not even under a heading that is wider than its columns.
    for width in range(79, 200, 38):
        lines = [line for line in shown(width) if not line.startswith("- ")]
        assert max(map(len, lines)) <= width
        assert sum(line.startswith("Phi 4 Mini 3.8B †") for line in lines) >= 4
        assert not any(line.strip() in ("†", "3", "4B", "Mini") for line in lines)
    nothing_yet = Workspace.open(made[0].store.path.with_name("empty.duckdb")).store.path
    empty = CliRunner().invoke(results, ["--db", str(nothing_yet)])
    assert str(empty.exception).startswith("there is no run yet; make one: ")


def test_runs_over_scenarios_stand_beside_the_papers_table(emotui: Emotui, tmp_path: Path) -> None:
    run = emotui("run", "scenes", "--limit", 12, "--db", "w.duckdb", "--json").document["run"]
    report = emotui("report", run, "--to", "r.md", "--db", "w.duckdb", "--published", "--json").document
    tables = [one["table"] for one in report["tables"]]
    assert tables == ["scenes", "spread", "spread-annotators", f"reliability-{run}"]
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    row = re.search(
        rf"\| embedded<sup>[a-z,]+</sup> \| {run} \|( \d\.\d{{4}}[^|]*\|){{6}}( \d\.\d{{3}}[^|]*\|){{2}}", text
    )
    assert row
    assert row[0].count("[") >= 6  # none where no resample differs, as of twelve vectors that are all wrong
    assert "| Gemma-2-9b-it † | EmoScene, Table 1 | 0.8337 | 0.8348 | 0.2488 |" in text


def test_of_a_run_that_answers_in_words_nothing_is_said_of_logits_it_does_not_have(
    emotui: Emotui, tmp_path: Path
) -> None:
    opened = scenes_workspace(tmp_path / "w.duckdb", run=False, spans=False)
    dataset = next(one for one in opened.store.datasets.all() if one.name == "scenes")
    add_scenes_run(opened, dataset, scenarios(), way="yes-no", run="words-1")
    add_scenes_run(opened, dataset, scenarios(), run="logits-1")
    opened.close()
    texts = {}
    for runs in (("words-1",), ("logits-1",), ("words-1", "logits-1")):
        assert emotui("report", *runs, "--to", "r.md", "--force", "--db", "w.duckdb").status == 0
        texts[runs] = (tmp_path / "r.md").read_text(encoding="utf-8")
    words, logits, both = texts.values()
    assert "Answers in words, without logits" in words
    assert "Scored by the answers alone" in words
    assert "logits alone" not in words
    assert "sensitivity and specificity; Dawid and Skene 1979" in words
    assert "Alone: yes where its logit is the greater." in logits
    assert "in words" not in logits
    assert all(note in both for note in ("Answers in words have no logits", "the answers alone", "the logits alone"))

    assert emotui("paper", "words-1", "--to", "p", "--no-sim", "--db", "w.duckdb").status == 0
    methods = (tmp_path / "p" / "methods.md").read_text(encoding="utf-8")
    assert "an answer in words enters it with the sensitivity and specificity" in methods
    assert "logits alone" not in methods
    assert "Samples are scored by: scenes 1: labels as they are given, without scores" in methods


def test_a_run_of_a_task_that_is_not_known_is_one_sentence(made: tuple[Workspace, Dataset], tmp_path: Path) -> None:
    store = made[0].store
    rooms = add_samples(store, "scenes", "rooms", [ScenesGold(id="1", text="t", labels={"joy": 1})], "x")
    store.runs.start("g1", "g1", "guess", "m", rooms.dataset, {}, 1)
    with pytest.raises(BadInput, match="does not know the task 'guess'; it knows spans, scenes"):
        write_report(store, made[0].results(), ["g1"], str(tmp_path / "x.md"))
    assert json.dumps([path.name for path in tmp_path.glob("*.md")]) == "[]"


def test_a_footnote_is_what_several_cells_have_in_common() -> None:
    def table(*conventions: str, remark: str = "", source: str = "") -> ResultsTable:
        cells = tuple(Cell(1, convention=one) for one in conventions)
        columns = tuple(Column(str(at), str(at)) for at, _ in enumerate(cells))
        return ResultsTable("t", "t", columns, (Row("a", "people", source, cells, remark),))

    assert footnotes(table("ann says joy, bob joy", "ann says joy, bob fear")) == []
    assert footnotes(table("spans 5", "spans 5")) == ["Own rows are scored by: spans 5."]
    assert footnotes(table("spans 5")) == ["Own rows are scored by: spans 5."]
    assert footnotes(table(remark="a: gold fear")) == ["a: gold fear."]
    assert footnotes(table(remark="unfinished", source="r1")) == ["a (r1): unfinished."]
