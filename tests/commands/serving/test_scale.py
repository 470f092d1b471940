"""`emotui scale`: what many texts cost is what some cost times how many there are, and each figure says from where."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from emotui.commands.models import _cost
from emotui.workbench.models import scale as scaling
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

N = 40
Costs = Mapping[tuple[str, str], Mapping[str, Any]]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    lines = [{"id": f"t{n:02}", "text": f"I wept {'so ' * (n % 7)}much ({n:02})."} for n in range(N)]
    path.write_text("".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def word(monkeypatch: pytest.MonkeyPatch) -> str:
    """A model that classifies, and with `,write` one that writes a label, by one token read and one written."""
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    return "word:wept"


def bench(folder: Path, **rates: float) -> Path:
    """A document of `emotui bench --json`, as far as it is read."""
    path = folder / "bench.json"
    named = {name.replace("_", " "): {"unit": "things", "per_second": rate} for name, rate in rates.items()}
    path.write_text(json.dumps({"model": "M", "rates": named}), encoding="utf-8")
    return path


def told(emotui: Emotui, *words: object) -> Costs:
    done = emotui("scale", "--texts", "1e6", *words, "--json")
    assert done.status == 0, done.err
    return {(cost["step"], cost["name"]): cost for cost in done.document["costs"]}


def test_files_are_as_large_as_those_that_are_written(emotui: Emotui, records: Path, word: str, tmp_path: Path) -> None:
    costs = told(emotui, "--task", "class", "--model", word, "--records", records)
    assert costs["texts", "JSON Lines"]["each"] == records.stat().st_size / N
    assert costs["texts", "JSON Lines"]["value"] == pytest.approx(1e6 * records.stat().st_size / N)
    assert emotui("predict", "class", "--model", word, "--records", records, "--to", "said.jsonl").status == 0
    assert costs["answers", "JSON Lines"]["each"] == (tmp_path / "said.jsonl").stat().st_size / N
    assert 0 < costs["texts", "Parquet"]["each"] < costs["texts", "JSON Lines"]["each"]
    assert (costs["model", "classify"]["each"], costs["model", "classify"]["value"]) == (1, 1e6)
    assert {cost["source"] for cost in costs.values() if cost["value"] is not None} == {"measured"}


def test_requests_are_those_of_batch_write_and_answers_of_a_file(emotui: Emotui, records: Path, tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text("x" * 99 + "\n" + "x" * 199 + "\n")
    # A model that answers elsewhere: nothing is asked here.
    costs = told(
        emotui, "--task", "scenes", "--records", records, "--model", "batch:M", "--rate", 5, "--answers", "said.jsonl"
    )
    written = ("batch", "write", "scenes", "--model", "M", "--records", records, "--to", "ask.jsonl", "--json")
    assert emotui(*written).document["requests"] == 8 * N
    assert (costs["requests", "requests"]["each"], costs["requests", "requests"]["value"]) == (8, 8e6)
    assert costs["requests", "JSON Lines"]["each"] == (tmp_path / "ask.jsonl").stat().st_size / N
    assert 0 < costs["requests", "Parquet"]["each"] < costs["requests", "JSON Lines"]["each"]
    answers = costs["requests", "their answers"]
    assert (answers["each"], answers["source"]) == (8 * 150, "given")
    assert costs["model", "time"]["value"] == 1e6 / 5
    assert not [step for step, _ in costs if step == "answers"]
    assert costs["store", "texts and a run"]["value"] is None
    unknown = told(emotui, "--task", "scenes", "--records", records, "--model", "batch:M")["model", "time"]
    assert (unknown["value"], unknown["how"]) == (None, "nobody answers here: say how fast it is (--rate)")


def test_time_is_that_of_a_bench_of_a_given_rate_or_measured(
    emotui: Emotui, records: Path, word: str, tmp_path: Path
) -> None:
    asked = ("--task", "class", "--model", word, "--records", records)
    benched = told(emotui, *asked, "--bench", bench(tmp_path, classify=50), "--copies", 4)["model", "time"]
    assert benched["each"] == pytest.approx(1 / 50)
    assert benched["value"] == pytest.approx(1e6 / 50 / 4)
    assert benched["source"] == "bench"
    assert benched["how"] == "50.0 things a second (classify); copies that do not hold each other up"
    given = told(emotui, *asked, "--rate", 200)["model", "time"]
    assert (given["value"], given["source"]) == (pytest.approx(5000), "given")
    own = told(emotui, *asked)["model", "time"]
    assert own["source"] == "measured"
    assert own["value"] > 0
    lacking = told(emotui, *asked, "--bench", bench(tmp_path, score=50))["model", "time"]
    assert (lacking["value"], lacking["source"]) == (None, "unknown")
    assert lacking["how"] == "the --bench has no rate of 'classify' (there: score)"


def test_questions_and_tokens_are_counted_for_a_bench(emotui: Emotui, records: Path, word: str, tmp_path: Path) -> None:
    scenes = told(emotui, "--task", "scenes", "--records", records, "--bench", bench(tmp_path, score=80))
    assert scenes["model", "questions"]["each"] == 8
    assert scenes["model", "time"]["each"] == pytest.approx(8 / 80)
    labels = tmp_path / "labels.txt"
    labels.write_text("joy\nsadness\n")
    asked = ("--task", "labels", "--model", "word:first,write", "--labels", labels, "--records", records)
    costs = told(emotui, *asked, "--bench", bench(tmp_path, tokens_in=100, tokens_out=10))
    read, wrote = costs["model", "tokens read"]["each"], costs["model", "tokens written"]["each"]
    assert (read, wrote) == (1, 1)
    assert costs["model", "time"]["each"] == pytest.approx(1 / 100 + 1 / 10)


def test_a_store_and_a_merge_are_told_of_a_sample_that_is_large_enough(
    emotui: Emotui, records: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("--task", "spans", "--model", word, "--records", records)
    few = told(emotui, *asked)
    late = (("store", "texts and a run"), ("store", "bringing in"), ("merge", "time"))
    for place in late:
        assert (few[place]["value"], few[place]["source"]) == (None, "unknown")
        assert few[place]["how"] == "the sample is too small to tell: --sample 4096 at least"
    monkeypatch.setattr(scaling, "ENOUGH", N)
    enough = told(emotui, *asked)
    for place in late:
        assert enough[place]["source"] == "measured"
        assert enough[place]["value"] == pytest.approx(1e6 * enough[place]["each"])
    assert enough["store", "texts and a run"]["each"] >= 0
    gold = told(emotui, "--task", "class", "--model", word, "--records", records)["store", "texts and a run"]
    assert gold["value"] is None
    assert gold["how"].startswith("texts of which nothing is known cannot be kept so: t00: ")


def test_the_sample_is_asked_once(emotui: Emotui, records: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "ENOUGH", N)
    costs = told(emotui, "--task", "spans", "--model", word, "--records", records)
    assert costs["model", "extract"]["each"] == 1
    assert costs["merge", "time"]["source"] == "measured"


def test_texts_of_emotuis_own_tell_nothing_of_packed_sizes(emotui: Emotui, word: str) -> None:
    costs = told(emotui, "--task", "class", "--model", word, "--sample", 16)
    assert (costs["texts", "Parquet"]["value"], costs["texts", "Parquet"]["source"]) == (None, "unknown")
    assert costs["texts", "JSON Lines"]["value"] > 0


def test_what_is_printed_has_units(emotui: Emotui, records: Path, word: str) -> None:
    printed = emotui("scale", "--texts", "1e8", "--task", "class", "--model", word, "--records", records, "--rate", 100)
    assert printed.status == 0
    assert printed.out.splitlines()[0] == f"100,000,000 texts   class   {word}   by 40 of these"
    assert "11.6 days" in printed.out
    assert "given: 100 texts a second" in " ".join(printed.out.split())


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("bytes", None, "–"),
        ("bytes", 999, "999 bytes"),
        ("bytes", 1.5e9, "1.5 GB"),
        ("seconds", 0.0123, "12 ms"),
        ("seconds", 90, "90.0 s"),
        ("seconds", 121, "2.0 minutes"),
        ("seconds", 5400, "1.5 hours"),
        ("seconds", 86400 * 4, "4.0 days"),
        ("questions", 8e8, "800,000,000"),
        ("questions", 7.5, "7.5"),
    ],
)
def test_a_figure_is_read_in_its_unit(unit: str, value: float | None, text: str) -> None:
    assert _cost(unit, value) == text


def test_what_cannot_be_computed_is_refused_in_a_line(emotui: Emotui, records: Path, tmp_path: Path) -> None:
    asked = ("scale", "--texts", "1e6", "--task", "class", "--records", records)
    both = emotui(*asked, "--rate", 3, "--bench", bench(tmp_path, classify=3))
    assert (both.status, both.err) == (2, "--bench and --rate both say how fast the model is: leave one out\n")
    for text in (
        "",
        "[]",
        "{}",
        '{"rates": 3}',
        '{"rates": {"a": {"per_second": 0, "unit": "b"}}}',
        '{"rates": {"a": 1}}',
    ):
        (tmp_path / "no.json").write_text(text)
        no = emotui(*asked, "--bench", "no.json")
        assert (no.status, no.err) == (2, "no.json: is no document of emotui bench --json\n"), text
    (tmp_path / "none.jsonl").write_text("")
    assert emotui(*asked, "--answers", "none.jsonl").err == "none.jsonl: has no line\n"
    assert emotui(*asked, "--answers", "missing.jsonl").status == 2
    for texts in ("0", "nan", "-3", "inf"):
        assert emotui("scale", "--texts", texts, "--task", "class").status == 2
