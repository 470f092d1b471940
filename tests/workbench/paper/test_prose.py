"""The two paragraphs that stand in a paper as they are."""

import json
from pathlib import Path

import pytest

from emotui.workbench.paper.material import described
from tests.conftest import Emotui

SPANS = [
    {"id": "1", "text": "I am glad.", "spans": [[5, 9]]},
    {"id": "2", "text": "The bus left, and I wept all day.", "spans": []},
]


@pytest.mark.parametrize(
    ("task", "records", "told"),
    [
        (
            "spans",
            SPANS,
            "The texts have 6 words on average; the gold annotation marks 1 span in 1 of them.",
        ),
        (
            "labels",
            [
                {"text": "a b", "labels": {"joy": 1, "fear": 0}},
                {"text": "c d", "labels": ["joy", "anger"]},
                {"text": "e"},
            ],
            "The texts have 2 words on average; the gold annotation assigns any of 3 labels to 2 of them (1.5 on"
            " average).",
        ),
        (
            "rephrase",
            [{"text": "a b", "label": "joy"}, {"text": "c d", "label": "joy"}],
            "The texts have 2 words on average; the gold annotation assigns one of 1 label to each.",
        ),
        (
            "masked",
            [{"text": "a <mask> and <mask>", "labels": ["Glad", "glad"]}],
            "The texts have 4 words on average; 2 emotion words, 1 of them different, are masked.",
        ),
        (
            "values",
            [{"text": "a b", "values": {"valence": 1, "arousal": 2}}],
            "The texts have 2 words on average; the gold annotation rates each for arousal, valence.",
        ),
        ("scenes", [{"labels": {"joy": 1}}], ""),
    ],
)
def test_the_data_are_described_by_their_length_and_by_what_gold_says(
    task: str, records: list[dict[str, object]], told: str
) -> None:
    assert described((json.dumps(one).encode() for one in records), task) == told


def test_the_paragraphs_say_what_was_asked_of_how_many_texts_and_define_just_what_is_reported(
    emotui: Emotui, tmp_path: Path
) -> None:
    (tmp_path / "g.jsonl").write_text("".join(json.dumps(one) + "\n" for one in SPANS))
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"id": one["id"], "spans": []}) + "\n" for one in SPANS))
    assert emotui("import", "spans", "g.jsonl", "--name", "few", "--db", "w.duckdb").status == 0
    source = ("--dataset", "few", "--db", "w.duckdb")
    assert emotui("import", "predictions", "p.jsonl", *source, "--source", "silence").status == 0
    assert emotui("paper", "silence", "--to", "p", "--db", "w.duckdb", "--no-sim").status == 0
    text = (tmp_path / "p" / "methods.md").read_text("utf-8")
    data, measures = text.partition("# Appendix")[0].strip().splitlines()[2::2]
    assert data.startswith(
        "We evaluate silence (imported) on *few* (2 texts) for extraction of the spans that are evidence of an emotion."
        " The texts have 6 words on average; the gold annotation marks 1 span in 1 of them."
    )
    assert measures.startswith("We report F1, P, R and Sim. Predicted and gold spans of a text are aligned one to one")
    assert "± is" not in measures
    assert measures.endswith("Differences between systems are not tested.")
    for screen in ("emotui ", "--", "Enter", "  "):
        assert screen not in data + measures


def test_the_column_by_which_texts_are_drawn_together_is_named(emotui: Emotui, tmp_path: Path) -> None:
    texts = [
        {"id": str(at), "text": "I am glad.", "label": "joy", "meta": {"thread": f"t{at // 2}"}} for at in range(60)
    ]
    said = [{"id": str(at), "label": ("joy", "fear")[at % 3 == 0]} for at in range(60)]
    (tmp_path / "g.jsonl").write_text("".join(json.dumps(one) + "\n" for one in texts))
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(one) + "\n" for one in said))
    assert emotui("import", "g.jsonl", "--name", "talk", "--db", "w.duckdb").status == 0
    source = ("--dataset", "talk", "--db", "w.duckdb")
    assert emotui("import", "predictions", "p.jsonl", *source, "--source", "theirs").status == 0
    assert emotui("paper", "theirs", "--to", "p", "--db", "w.duckdb").status == 0
    measures = (tmp_path / "p" / "methods.md").read_text("utf-8").partition("# Appendix")[0]
    assert "2,000 resamples of the texts, of which those that share a `thread` are drawn together; over" in measures
