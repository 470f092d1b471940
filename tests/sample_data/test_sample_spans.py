"""The spans samples keep their promises: offsets, sentences, annotators, and the figures that their README states."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.records import SEER_EMOTIONS, VALENCES, Span, SpanSample
from emotui.store.store import Store
from emotui.workbench.sample_data import add_sample_data

Record = dict[str, Any]

FOLDER = files("emotui.sample_data")
WORDINGS = ("explicit", "implicit", "misleading")
ANNOTATORS = ("A1", "A2", "A3")
WORD = re.compile(r"\w+(?:['’-]\w+)*")
# Joiner, variation selector: characters that continue the one before, as combining accents do.
CONTINUES = "\u200d\ufe0f"


def lines(name: str) -> list[Record]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [msgspec.json.decode(line) for line in text.split("\n") if line]


SENTENCES = lines("spans_sentences.jsonl")
PASSAGES = lines("spans_passages.jsonl")
RECORDS = SENTENCES + PASSAGES
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def marked(record: Record) -> Iterator[list[list[int]]]:
    """Gold, then each annotator's spans."""
    yield record["spans"]
    yield from record["annotators"].values()


def touches(spans: list[list[int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans)


def overlap_f1(gold: list[list[int]], other: list[list[int]]) -> float:
    """F1 of the characters that two lists of spans cover; 1 if neither covers any."""
    one, two = ({i for start, end in spans for i in range(start, end)} for spans in (gold, other))
    if not one or not two:
        return float(one == two)
    return 2 * len(one & two) / (len(one) + len(two))


def mean_f1(records: list[Record], annotator: str) -> float:
    return sum(overlap_f1(r["spans"], r["annotators"][annotator]) for r in records) / len(records)


def readme_table(heading: str) -> dict[str, dict[str, str]]:
    """The first table under a heading: its cells by row name and column name."""
    below = README.split(f"\n### {heading}\n", 1)[1].split("\n#", 1)[0]
    table = (line.strip("|").split("|") for line in below.splitlines() if line.startswith("|"))
    rows = [[cell.strip() for cell in row] for row in table]
    header, body = rows[0], rows[2:]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in body}


def emotion_keywords() -> set[str]:
    """Empath's `positive_emotion` and `negative_emotion` words (SEER section 10.4)."""
    rows = (line.split("\t") for line in (files("empath") / "data" / "categories.tsv").read_text().splitlines())
    return {word for row in rows if row[0] in ("positive_emotion", "negative_emotion") for word in row[1:]}


def has_keyword_inside_longer_span(record: Record, keywords: set[str]) -> bool:
    spans = [record["text"][start:end].lower() for start, end in record["spans"]]
    tokens = [WORD.findall(span) for span in spans]
    return any(len(words) > 1 and keywords & set(words) for words in tokens)


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r["id"])
def test_every_span_lies_on_word_edges_in_order_and_without_overlap(record: Record) -> None:
    text = record["text"]
    words = [match.span() for match in WORD.finditer(text)]
    for spans in marked(record):
        for start, end in spans:
            assert 0 <= start < end <= len(text)
            span = text[start:end]
            assert span == span.strip()
            assert not [w for w in words if w[0] < start < w[1] or w[0] < end < w[1]], f"{span!r} cuts a word"
            for edge in (text[start], text[end : end + 1] or " "):
                assert edge not in CONTINUES
                assert not unicodedata.combining(edge)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


@pytest.mark.parametrize("record", PASSAGES, ids=lambda r: r["id"])
def test_a_passage_is_five_sentences_with_one_space_between_and_nothing_else(record: Record) -> None:
    sentences, text = record["sentences"], record["text"]
    assert len(sentences) == 5
    assert " ".join(text[s["start"] : s["end"]] for s in sentences) == text
    assert [s["start"] for s in sentences] == [0, *(s["end"] + 1 for s in sentences[:-1])]
    assert not {"emotion", "valence"} & set(record)


@pytest.mark.parametrize("record", PASSAGES, ids=lambda r: r["id"])
def test_gold_spans_stay_within_one_sentence_and_out_of_neutral_ones(record: Record) -> None:
    bounds = [(s["start"], s["end"]) for s in record["sentences"]]
    for start, end in record["spans"]:
        assert [b for b in bounds if b[0] <= start and end <= b[1]]
    for sentence in record["sentences"]:
        assert touches(record["spans"], sentence["start"], sentence["end"]) == (sentence["emotion"] != "neutral")


def test_each_line_is_a_gold_span_record_with_known_labels() -> None:
    for record in RECORDS:
        sample = msgspec.convert(record, SpanSample)
        assert tuple(sample.annotators) == ANNOTATORS
    for record in SENTENCES:
        assert record["emotion"] in SEER_EMOTIONS
        assert record["wording"] in WORDINGS
        assert record["spans"]
        assert record["valence"] in ("positive", "negative")
    for sentence in (s for record in PASSAGES for s in record["sentences"]):
        assert sentence["emotion"] in (*SEER_EMOTIONS, "neutral")
        assert sentence["valence"] in VALENCES
        assert (sentence["emotion"] == "neutral") <= (sentence["valence"] == "neutral")


def test_ids_and_texts_are_unique_and_ids_count_up() -> None:
    assert [r["id"] for r in SENTENCES] == [f"t1-{n:03d}" for n in range(1, len(SENTENCES) + 1)]
    assert [r["id"] for r in PASSAGES] == [f"t2-{n:03d}" for n in range(1, len(PASSAGES) + 1)]
    assert len({r["text"].casefold() for r in RECORDS}) == len(RECORDS)
    passage_sentences = [r["text"][s["start"] : s["end"]] for r in PASSAGES for s in r["sentences"]]
    assert len(set(passage_sentences)) == len(passage_sentences)


def test_no_text_holds_a_marker_of_the_output_contract() -> None:
    assert not [r["id"] for r in RECORDS if "**" in r["text"] or "|" in r["text"]]


def folded(text: str) -> str:
    """Lower case with punctuation blanked, character for character, so that offsets still hold."""
    return "".join(" " if unicodedata.category(c).startswith("P") else c.lower() for c in text)


def leftmost_free(text: str, span: str, taken: list[Span]) -> Span:
    """Where the span's leftmost occurrence that overlaps no taken one lies."""
    start = text.find(span)
    while any(first < start + len(span) and start < last for first, last in taken):
        start = text.find(span, start + 1)
    return start, start + len(span)


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r["id"])
def test_gold_spans_given_back_as_strings_are_found_where_they_were_marked(record: Record) -> None:
    """Else a perfect answer would be charged with a neutral sentence that happens to hold the same words."""
    text, taken = folded(record["text"]), list[Span]()
    for start, end in record["spans"]:
        taken.append(leftmost_free(text, text[start:end].strip(), taken))
        assert start <= taken[-1][0] < taken[-1][1] <= end


def test_most_passages_mix_neutral_and_emotional_sentences_and_two_are_all_neutral() -> None:
    neutral = [sum(s["emotion"] == "neutral" for s in record["sentences"]) for record in PASSAGES]
    assert Counter(neutral)[5] == 2
    assert sum(0 < n < 5 for n in neutral) / len(PASSAGES) > 0.8
    assert sum(neutral) / (5 * len(PASSAGES)) == pytest.approx(0.4, abs=0.03)


def test_readme_counts_of_sentences_by_emotion_wording_and_valence_are_right() -> None:
    table = readme_table("Sentences by emotion")
    assert list(table) == [*SEER_EMOTIONS, "all"]
    for name, row in table.items():
        chosen = [r for r in SENTENCES if name in ("all", r["emotion"])]
        counts = Counter(r["wording"] for r in chosen) + Counter(r["valence"] for r in chosen)
        assert {k: int(v) for k, v in row.items() if k != "sentences"} == {
            key: counts[key] for key in (*WORDINGS, "positive", "negative")
        }
        assert int(row["sentences"]) == len(chosen) >= 18


def test_readme_counts_of_passage_sentences_by_emotion_and_valence_are_right() -> None:
    table = readme_table("Passage sentences by emotion")
    assert list(table) == [*SEER_EMOTIONS, "neutral", "all"]
    sentences = [s for record in PASSAGES for s in record["sentences"]]
    for name, row in table.items():
        chosen = [s for s in sentences if name in ("all", s["emotion"])]
        counts = Counter(s["valence"] for s in chosen)
        assert {k: int(v) for k, v in row.items()} == {"sentences": len(chosen), **{v: counts[v] for v in VALENCES}}


def test_readme_counts_of_gold_spans_a_sample_are_right() -> None:
    table = readme_table("Gold spans a sample")
    found: Mapping[str, list[Record]] = {"sentences": SENTENCES, "passages": PASSAGES}
    for name, row in table.items():
        sizes = Counter(len(r["spans"]) for r in found[name])
        assert {int(k): int(v) for k, v in row.items() if k != "samples" and v != "0"} == sizes
        assert int(row["samples"]) == len(found[name])
    assert sum(len(r["spans"]) > 1 for r in SENTENCES) >= 35


def test_readme_counts_of_samples_with_an_emotion_keyword_inside_a_longer_span_are_right() -> None:
    keywords = emotion_keywords()
    stated = {name: int(row["keyword samples"]) for name, row in readme_table("Keyword samples").items()}
    assert stated == {
        name: sum(has_keyword_inside_longer_span(r, keywords) for r in records)
        for name, records in (("sentences", SENTENCES), ("passages", PASSAGES))
    }
    assert stated["sentences"] >= 45


def neutral_sentences_marked(annotator: str) -> int:
    return sum(
        sentence["emotion"] == "neutral"
        and touches(record["annotators"][annotator], sentence["start"], sentence["end"])
        for record in PASSAGES
        for sentence in record["sentences"]
    )


def test_readme_figures_of_the_annotators_are_right() -> None:
    figures: Mapping[str, Callable[[str], str]] = {
        "F1, sentences": lambda name: f"{mean_f1(SENTENCES, name):.2f}",
        "F1, passages": lambda name: f"{mean_f1(PASSAGES, name):.2f}",
        "same as gold": lambda name: str(sum(r["annotators"][name] == r["spans"] for r in RECORDS)),
        "neutral sentences marked": lambda name: str(neutral_sentences_marked(name)),
    }
    expected = {name: {column: figure(name) for column, figure in figures.items()} for name in ANNOTATORS}
    stated = readme_table("Annotators")
    assert {name: {column: row[column] for column in figures} for name, row in stated.items()} == expected


@pytest.mark.parametrize("records", [SENTENCES, PASSAGES], ids=["sentences", "passages"])
def test_annotators_differ_from_each_other_and_resemble_gold_without_copying_it(records: list[Record]) -> None:
    for one, two in combinations(ANNOTATORS, 2):
        assert sum(r["annotators"][one] != r["annotators"][two] for r in records) / len(records) > 0.5
    for name in ANNOTATORS:
        assert 0.2 < mean_f1(records, name) < 0.98


def test_the_first_samples_of_the_file_are_as_balanced_as_the_whole() -> None:
    """So that `--limit` gives a fair slice: every seven sentences in a row hold each emotion once."""
    for start in range(0, len(SENTENCES), len(SEER_EMOTIONS)):
        assert sorted(r["emotion"] for r in SENTENCES[start : start + 7]) == sorted(SEER_EMOTIONS)


@pytest.mark.parametrize("order", [("spans", "evidence"), ("evidence", "spans")])
def test_tasks_that_ask_about_the_same_samples_share_their_dataset(order: tuple[str, str], tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    first, second = (add_sample_data(store, task) for task in order)
    assert first == second
    assert [one.name for one in store.datasets.all()] == [first.name]
    assert len(store.samples.annotators(first.dataset)) == 3
