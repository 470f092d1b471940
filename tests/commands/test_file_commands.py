"""The commands over plain files, as a script calls them."""

import json
from pathlib import Path

import pytest

from tests.conftest import Emotui
from tests.paths import CHECKOUT

SENTENCES = CHECKOUT / "sample_data" / "spans_sentences.jsonl"


def _write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return _write(
        tmp_path / "gold.jsonl",
        {"id": "a", "text": "I was so happy to see her.", "spans": [[2, 14]], "emotion": "happy"},
        {"id": "b", "text": "Nothing matters now.", "spans": [[0, 19]], "emotion": "sad"},
    )


def test_score_spans_without_sim_needs_no_model(emotui: Emotui, gold: Path, tmp_path: Path) -> None:
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "spans": ["was so happy"]}, {"id": "b", "spans": []})
    got = emotui("score", "spans", "--gold", gold, "--pred", pred, "--no-sim", "--json").document
    assert got["n"] == 2
    assert got["f1"] == 0.5
    assert got["sim"] is None


def test_score_spans_with_sim_embeds_with_the_real_model(emotui: Emotui, gold: Path, tmp_path: Path) -> None:
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "spans": ["was so happy"]}, {"id": "b", "spans": ["now"]})
    got = emotui("score", "spans", "--gold", gold, "--pred", pred, "--json", "--per-sample").document
    first, second = got["samples"]
    assert first["sim"] == pytest.approx(1.0, abs=1e-5)
    assert 0 < second["sim"] < 1
    assert got["sim"] == pytest.approx((first["sim"] + second["sim"]) / 2)


def test_predictions_can_come_from_standard_input(emotui: Emotui, gold: Path) -> None:
    lines = '{"id": "a", "spans": []}\n{"id": "b", "spans": []}\n'
    got = emotui("score", "spans", "--gold", gold, "--pred", "-", "--no-sim", "--json", stdin=lines).document
    assert got["f1"] == 0


def test_a_prediction_about_no_gold_sample_is_named_by_its_line(emotui: Emotui, gold: Path, tmp_path: Path) -> None:
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "spans": []}, {"id": "zz", "spans": []})
    done = emotui("score", "spans", "--gold", gold, "--pred", pred, "--no-sim", "--json")
    assert done.status == 2
    assert done.err.startswith(f"{pred}:2: ")
    assert done.out == ""


def test_people_get_a_table(emotui: Emotui, gold: Path, tmp_path: Path) -> None:
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "spans": ["was so happy"]}, {"id": "b", "spans": []})
    out = emotui("score", "spans", "--gold", gold, "--pred", pred, "--no-sim").out
    assert "hallucination_rate" in out
    assert "by_emotion" in out


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"", ":1: "),
        (b"\xff\xfe\n", ":1: "),
        (b'{"id": "a", "text": "abc", "spans": [[0, 9]]}\n', ":1: "),
        (b'{"id": "a", "text": "abc", "spans": [[2, 1]]}\n', ":1: "),
        (b'{"id": "a", "text": "abc", "spans": "abc"}\n', ":1: "),
        (b'{"id": "a", "text": "abc", "spans": [[0.5, 1]]}\n', ":1: "),
        (b'{"id": "a", "text": "abc", "spans": []}\n{"id": "a", "text": "abc", "spans": []}\n', ":2: "),
    ],
)
def test_a_bad_gold_file_is_refused_with_its_line(emotui: Emotui, tmp_path: Path, content: bytes, where: str) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(content)
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "spans": []})
    done = emotui("score", "spans", "--gold", bad, "--pred", pred, "--no-sim", "--json")
    assert done.status == 2
    assert done.err.startswith(f"{bad}{where}")


def test_a_missing_file_and_a_directory_are_told(emotui: Emotui, gold: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.jsonl", tmp_path):
        done = emotui("score", "spans", "--gold", path, "--pred", gold, "--no-sim")
        assert done.status == 2
        assert str(path) in done.err
        assert len(done.err.splitlines()) == 1


def test_predict_then_score_fit_together(emotui: Emotui, tmp_path: Path) -> None:
    some = tmp_path / "some.jsonl"
    some.write_text("".join(SENTENCES.open(encoding="utf-8").readlines()[:12]), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    got = emotui("predict", "spans", "--model", "embedded", "--records", some, "--to", out, "--json").document
    assert (got["kind"], got["n"], got["failed"]) == ("spans", 12, 0)
    assert [record["id"] for record in got["records"]] == [json.loads(line)["id"] for line in some.open()]
    scored = emotui("score", "spans", "--gold", some, "--pred", out, "--no-sim", "--json").document
    assert scored["n"] == 12
    assert scored["hallucinated_spans"] == 0


def test_predict_class_gives_probabilities_over_all_labels(emotui: Emotui, tmp_path: Path) -> None:
    records = _write(tmp_path / "r.jsonl", {"id": "a", "text": "Thank you so much, this made my day!"})
    got = emotui("predict", "class", "--records", records, "--json").document
    (record,) = got["records"]
    assert set(record["probs"]) == set(got["labels"])
    assert len(got["labels"]) == 28
    assert all(0 <= p <= 1 for p in record["probs"].values())
    assert record["label"] == "gratitude"


def test_predict_scenes_gives_the_log_odds_that_decode_takes(emotui: Emotui, tmp_path: Path) -> None:
    scenes = (CHECKOUT / "sample_data" / "scenes.jsonl").read_text(encoding="utf-8").splitlines()[:10]
    records = tmp_path / "scenes.jsonl"
    records.write_text("\n".join(scenes) + "\n", encoding="utf-8")
    out = tmp_path / "scores.jsonl"
    got = emotui("predict", "scenes", "--records", records, "--to", out, "--json").document
    assert len(got["labels"]) == 8
    assert emotui("score", "scenes", "--gold", records, "--pred", out, "--json").document["n"] == 10
    decoded = emotui("decode", "--train", records, "--scores", out, "--json").document
    assert all(
        set(result["predictions"]) == {json.loads(line)["id"] for line in scenes} for result in decoded["results"]
    )


def test_predict_masked_gives_a_word_a_mask(emotui: Emotui, tmp_path: Path) -> None:
    masked = (CHECKOUT / "sample_data" / "masked.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    records = tmp_path / "masked.jsonl"
    records.write_text("\n".join(masked) + "\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    got = emotui("predict", "masked", "--records", records, "--to", out, "--json").document
    for line, record in zip(masked, got["records"], strict=True):
        assert len(record["labels"]) == json.loads(line)["text"].count("<mask>")
    assert emotui("score", "masked", "--gold", records, "--pred", out, "--json").document["n"] == 6


def test_decode_agreement_and_compare_print_one_document(emotui: Emotui, tmp_path: Path) -> None:
    ratings = _write(
        tmp_path / "r.jsonl", *({"item": str(i), "rater": r, "label": "joy"} for i in range(3) for r in "ab")
    )
    assert emotui("agreement", "--ratings", ratings, "--json").document["items"] == 3
    a = _write(tmp_path / "a.jsonl", *({"id": str(i), "score": i / 10} for i in range(5)))
    b = _write(tmp_path / "b.jsonl", *({"id": str(i), "score": i / 20} for i in range(5)))
    got = emotui("compare", "--a", a, "--b", b, "--json").document
    assert got["mean_difference"] == pytest.approx(0.1)
    short = _write(tmp_path / "c.jsonl", {"id": "0", "score": 1.0})
    assert emotui("compare", "--a", a, "--b", short, "--json").status == 2
    assert emotui("compare", "--a", a, "--b", short, "--inner", "--json").document["n"] == 1


def test_compare_averages_repeats_and_draws_samples_of_one_group_together(emotui: Emotui, tmp_path: Path) -> None:
    rows = ({"id": str(i), "score": i / 10 + repeat, "repeat": repeat} for i in range(6) for repeat in (0, 1))
    a = _write(tmp_path / "a.jsonl", *rows)
    b = _write(tmp_path / "b.jsonl", *({"id": str(i), "score": 0.0, "group": i // 2} for i in range(6)))
    got = emotui("compare", "--a", a, "--b", b, "--json").document
    assert (got["n"], got["groups"], got["mean_a"]) == (6, 3, pytest.approx(0.75))
    assert got["conventions"]["ci95"] == "95% Student's t over 3 groups: fewer than 20"
    other = _write(tmp_path / "c.jsonl", *({"id": str(i), "score": 0.0, "group": "x"} for i in range(6)))
    refused = emotui("compare", "--a", other, "--b", b)
    assert (refused.status, refused.err) == (2, f"{b}: 0 is of the group '0', and before of 'x'\n")


def test_infinite_scores_are_refused_by_line(emotui: Emotui, tmp_path: Path) -> None:
    train = _write(tmp_path / "t.jsonl", {"id": "1", "labels": {"joy": 1, "fear": 0}})
    scores = tmp_path / "s.jsonl"
    scores.write_text('{"id": "x", "scores": {"joy": [1e999, 0], "fear": [0, 1]}}\n')
    done = emotui("decode", "--train", train, "--scores", scores, "--json")
    assert done.status == 2
    assert done.err.startswith(f"{scores}:1: ")


@pytest.mark.parametrize(
    "content",
    [
        "abandon\tfear\t1\nabandon\tjoy\t0\n",
        "word,fear,joy\nabandon,1,0\n",
        '{"abandon": ["fear"]}',
        '{"word": "abandon", "fear": 1}\n',
        '{"abandon": [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]}',
    ],
)
def test_a_lexicon_file_is_read_in_every_shape_it_comes_in(emotui: Emotui, tmp_path: Path, content: str) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text(content)
    gold = _write(tmp_path / "g.jsonl", {"id": "1", "labels": ["abandon"]}, {"id": "2", "labels": ["other"]})
    pred = _write(tmp_path / "p.jsonl", {"id": "1", "labels": ["Abandon "]}, {"id": "2", "labels": ["other"]})
    got = emotui("score", "masked", "--gold", gold, "--pred", pred, "--lexicon", lexicon, "--json").document
    assert (got["acc_l"], got["acc_v"], got["f1_v"], got["gold_in_lexicon"]) == (1, 1, 1, 0.5)


def test_a_lexicon_that_is_none_of_these_is_told_by_line(emotui: Emotui, tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("abandon\tfear\t1\nabandon\tgloom\t1\n")
    gold = _write(tmp_path / "g.jsonl", {"id": "1", "labels": ["abandon"]})
    done = emotui("score", "masked", "--gold", gold, "--pred", gold, "--lexicon", lexicon, "--json")
    assert done.status == 2
    assert done.err.startswith(f"{lexicon}:2: ")


def test_a_scene_that_a_model_refused_scores_as_no_emotion_and_is_noted(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(tmp_path / "g.jsonl", *({"id": i, "labels": {"joy": 1, "fear": 0}} for i in "ab"))
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "labels": {"joy": 1, "fear": 0}}, {"id": "b", "labels": {}})
    got = emotui("score", "scenes", "--gold", gold, "--pred", pred, "--json").document
    assert got["lexical_accuracy"] == 0.75
    assert "1 record without an answer" in got["notes"]["n"]


def test_labels_in_a_table_are_no_markup_and_reach_no_terminal_raw(emotui: Emotui, tmp_path: Path) -> None:
    labels = ["[/b]", "[red]x", "\x1b[31my", "a\nb"]
    gold = _write(tmp_path / "[bold]g.jsonl", *({"id": x, "text": "t", "label": x} for x in labels))
    pred = _write(tmp_path / "p.jsonl", *({"id": x, "label": y} for x, y in zip(labels, labels[::-1], strict=True)))
    done = emotui("score", "class", "--gold", gold, "--pred", pred)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{pred} against {gold}\n")
    for shown in ("[/b]", "[red]x", "\\x1b[31my", "a\\nb"):
        assert shown in done.out
    assert ["0", "0", "0", "1"] in [line.split()[1:] for line in done.out.splitlines()]
    assert "\x1b" not in done.out


def test_people_get_the_interval_of_a_comparison_and_no_rounded_off_p_value(emotui: Emotui, tmp_path: Path) -> None:
    first = _write(tmp_path / "a.jsonl", *({"id": str(n), "score": 0.5 + n / 100} for n in range(30)))
    second = _write(tmp_path / "b.jsonl", *({"id": str(n), "score": 0.4} for n in range(30)))
    got = emotui("compare", "--a", first, "--b", second, "--json").document
    rows = dict(line.split(maxsplit=1) for line in emotui("compare", "--a", first, "--b", second).out.splitlines()[1:])
    assert rows["ci95"] == f"[{got['ci95'][0]:.3f}, {got['ci95'][1]:.3f}]"
    assert rows["wilcoxon_p"] == f"{got['wilcoxon_p']:.1e}"


def test_tables_cut_no_name_and_no_figure(emotui: Emotui, tmp_path: Path) -> None:
    chains, texts = (CHECKOUT / "sample_data" / f"rephrasings{which}.jsonl" for which in ("", "_variants"))
    variants = [each for name in ("back-and-forth", "there-and-back") for each in ("--variants", f"{name}={texts}")]
    out = emotui("rephrasings", "statistics", "--chains", chains, *variants).out
    assert "…" not in out
    assert "by set (further columns)" in out
    assert max(map(len, out.splitlines())) <= 100
    train = _write(tmp_path / "t.jsonl", *({"id": str(n), "labels": {"joy": n % 2, "fear": 1}} for n in range(4)))
    scores = _write(tmp_path / "s.jsonl", {"id": "a", "scores": {"joy": [1.0, 0.0], "fear": [0.0, 1.0]}})
    head = emotui("decode", "--train", train, "--scores", scores).out.splitlines()[0]
    assert head.split()[-2:] == ["lexical_accuracy", "vector_accuracy"]
