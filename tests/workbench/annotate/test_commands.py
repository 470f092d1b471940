"""`emotui annotate`: assignments, schemes, progress, protocols and the log."""

import json
from pathlib import Path

import pytest

from emotui.store.store import Store
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, SetLabels
from tests.conftest import Emotui
from tests.workbench.annotate.small_sets import store_with

SCHEME = """name = "mine"
tasks = ["labels"]

[[groups]]
name = "labels"
of = "text"
exclusive = false
labels = ["joy", { name = "fear", key = "f" }]
"""


@pytest.fixture
def db(emotui: Emotui, tmp_path: Path) -> Path:
    """Four texts with labels, called `mine`."""
    rows = [{"id": f"t{n}", "text": f"text {n}", "labels": ["joy"]} for n in range(4)]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert emotui("--db", "w.duckdb", "import", "gold.jsonl", "--as", "labels", "--name", "mine").status == 0
    return tmp_path / "w.duckdb"


def answer(db: Path, name: str, *said: str) -> None:
    work = Desk(Store.open(db)).begin("mine", name)
    for number, label in zip(work.order, said, strict=False):
        work.do(number, SetLabels((label,)), Accept(), seconds=2.0)


def test_texts_are_dealt_out_and_progress_is_told(emotui: Emotui, db: Path) -> None:
    made = emotui(
        *("annotate", "assign", "mine", "--annotators", "ann,ben,carl", "--overlap", "2", "--batch", "1"),
        *("--seed", "4", "--db", "w.duckdb", "--json"),
    ).document
    assert sum(made["texts"].values()) == 8
    assert max(made["texts"].values()) - min(made["texts"].values()) <= 1
    assert [batch["n"] for batch in made["batches"]] == [1] * 4
    answer(db, "ann", "joy")
    found = emotui("annotate", "progress", "mine", "--db", "w.duckdb", "--json").document
    assert [(row["annotator"], row["given"]) for row in found["annotators"]] == [("ann", 1), ("ben", 0), ("carl", 0)]
    assert found["texts_by_answers"] == {"0": 3, "1": 1}
    told = emotui("annotate", "progress", "mine", "--db", "w.duckdb")
    assert "3 with 0, 1 with 1" in told.out


def test_a_share_goes_to_all_and_open_texts_are_dealt_again(emotui: Emotui, db: Path) -> None:
    to_two = ("annotate", "assign", "mine", "--annotators", "ann,ben", "--overlap", "all", "--share", "50%")
    told = emotui(*to_two, "--batch", "1", "--db", "w.duckdb")
    assert "texts: 2 for 2, 2 for 1" in told.out
    answer(db, "ben", "joy")
    later = ("annotate", "assign", "mine", "--annotators", "ann,eva", "--overlap", "2", "--share", "0.5")
    again = emotui(*later, "--batch", "1", "--until", "2031-01-01", "--db", "w.duckdb")
    assert "answers of ben stand" in again.out
    found = emotui("annotate", "progress", "mine", "--db", "w.duckdb", "--json").document
    assert [(row["annotator"], row["given"]) for row in found["annotators"]] == [("ann", 0), ("eva", 0), ("ben", 1)]
    assert (found["until"], found["annotators"][2]["left"], found["annotators"][2]["a_day"]) == ("2031-01-01", 0, 1.0)
    assert (
        "wanted: answers a day from today until 2031-01-01"
        in emotui("annotate", "progress", "mine", "--db", "w.duckdb").out
    )
    for option in (("--share", "half"), ("--overlap", "most"), ("--until", "soon")):
        assert emotui(*later, *option, "--db", "w.duckdb").status == 2


def test_an_order_that_has_nothing_to_go_by_is_not_assigned(emotui: Emotui, db: Path) -> None:
    refused = emotui("annotate", "assign", "mine", "--annotators", "a", "--order", "uncertain", "--db", "w.duckdb")
    assert (refused.status, "no model has run over mine" in refused.err) == (2, True)
    assert emotui("annotate", "progress", "mine", "--db", "w.duckdb", "--json").document["annotators"] == []


def test_a_protocol_deals_out_by_its_paper(emotui: Emotui, db: Path) -> None:
    assert {one["name"] for one in emotui("annotate", "protocol", "--json").document} == {
        "seer",
        "seer-labels",
        "emoscene",
        "express-words",
    }
    made = emotui(
        "annotate", "protocol", "mine", "seer", "--annotators", "a,b,c", "--db", "w.duckdb", "--json"
    ).document
    assert (made["assignment"]["batch"], made["assignment"]["overlap"]) == (20, 3)
    refused = emotui("annotate", "protocol", "mine", "seer", "--annotators", "a,b", "--db", "w.duckdb")
    assert (refused.status, "takes 3 annotators" in refused.err) == (2, True)


def test_the_protocol_of_verified_labels_brings_the_scheme_of_sentences(emotui: Emotui, tmp_path: Path) -> None:
    store_with(tmp_path / "w.duckdb", "spans")
    told = ("annotate", "protocol", "spans", "seer-labels", "--annotators", "a,b", "--db", "w.duckdb")
    assert emotui(*told).status == 0
    shown = emotui("annotate", "scheme", "show", "spans", "--db", "w.duckdb", "--json").document
    assert [group["of"] for group in shown["groups"]] == ["sentence", "sentence"]
    emotui("annotate", "scheme", "use", "spans", "spans", "--db", "w.duckdb")
    shown = emotui("annotate", "scheme", "show", "spans", "--db", "w.duckdb", "--json").document
    assert [group["of"] for group in shown["groups"]] == ["span"]


def test_a_scheme_is_checked_kept_for_a_dataset_and_shown(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SCHEME)
    checked = emotui("annotate", "scheme", "check", "mine.toml", "--json").document
    assert checked["groups"][0]["labels"] == [
        {"name": "joy", "key": "J", "colour": ""},
        {"name": "fear", "key": "F", "colour": ""},
    ]
    emotui("annotate", "scheme", "use", "mine", "mine.toml", "--db", "w.duckdb")
    assert emotui("annotate", "scheme", "show", "mine", "--db", "w.duckdb", "--json").document["name"] == "mine"
    (tmp_path / "mine.toml").write_text(SCHEME.replace('"f"', '"j"').replace('"joy"', '{ name = "joy", key = "j" }'))
    refused = emotui("annotate", "scheme", "use", "mine", "mine.toml", "--db", "w.duckdb")
    assert refused.status == 2
    assert refused.err.strip() == "mine.toml:8: the key 'j' of labels: fear is that of labels: joy already"
    assert emotui("annotate", "scheme", "use", "mine", "--db", "w.duckdb").status == 2
    emotui("annotate", "scheme", "use", "mine", "--built-in", "--db", "w.duckdb")
    assert emotui("annotate", "scheme", "show", "mine", "--db", "w.duckdb", "--json").document["name"] != "mine"


def test_the_log_tells_how_answers_came_about(emotui: Emotui, db: Path) -> None:
    assert "No answers yet" in emotui("annotate", "log", "mine", "--db", "w.duckdb").out
    answer(db, "ann", "joy", "joy")
    answer(db, "ben", "joy")
    found = emotui("annotate", "log", "mine", "--annotator", "ann", "--db", "w.duckdb", "--json").document
    assert [(one["id"], one["answered"]) for one in found["answers"]] == [("t0", 2.0), ("t1", 2.0)]
    assert [event["what"]["type"] for event in found["events"]] == ["set-labels", "accept"] * 2
    assert "ben" in emotui("annotate", "log", "mine", "--db", "w.duckdb").out


def test_labels_of_a_source_are_verified_by_two_people(emotui: Emotui, db: Path) -> None:
    answer(db, "ann", "joy", "joy")
    answer(db, "ben", "joy", "joy")
    found = emotui(
        "annotate", "verify", "mine", "gold", "--annotators", "ann,ben", "--db", "w.duckdb", "--json"
    ).document
    assert (found["n"], found["annotators"], found["model"], found["kept"]) == (2, 1.0, 1.0, ["t0", "t1"])
    told = emotui("annotate", "verify", "mine", "gold", "--annotators", "ann,ben", "--db", "w.duckdb")
    assert "texts to keep                2" in told.out
