"""Every query of docs/store.md is asked of a workspace with the sample data."""

import re

import pytest

from emotui.metrics.locating import locate
from emotui.store import questions
from emotui.store.store import Store
from emotui.workbench.runs.elsewhere import Said, keep_said
from emotui.workbench.sample_data import add_sample_data
from emotui.workbench.texts import stored_samples
from tests.paths import CHECKOUT

PAGE = (CHECKOUT / "docs" / "store.md").read_text(encoding="utf-8").split("\n## SQL over the store\n")[1]
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.S)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store.open(tmp_path_factory.mktemp("sql") / "workspace.duckdb")
    for task in ("spans", "scenes"):
        add_sample_data(made, task)
    dataset = made.datasets.get("sample")
    assert dataset is not None
    for name, words in (("theirs", 1), ("others", 2)):
        said = []
        for number, sample in stored_samples(made, dataset, dataset.n):
            start = " ".join(sample.text.split()[:words])
            ((begin, end),) = [place for place in locate(sample.text, [start]) if place]
            said.append(Said(number, 0, {"spans": [{"start": begin, "end": end, "label": "first"}]}))
        keep_said(made, dataset, name, "file", said, sim=False)
    return made


def test_there_are_ten_queries() -> None:
    assert len(QUERIES) == 10


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_a_query_of_the_page_finds_something(store: Store, query: str) -> None:
    answer = questions.ask(store.path, query)
    assert answer.rows
    assert any(value is not None for value in answer.rows[0])


@pytest.mark.parametrize("view", questions.NAMES)
def test_the_page_names_the_columns_of_each_view(store: Store, view: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{view}` |"))
    there = questions.ask(store.path, f"SELECT * FROM {view} LIMIT 0").columns
    if view == "said":
        assert set(there) - {"source", "kind", "repeat"} == set(questions.ask(store.path, "SELECT * FROM gold").columns)
    else:
        assert tuple(re.findall(r"`(\w+)`", row.rsplit("|", 2)[1])) == there
