"""`emotui decode`: objectives, folds, temperature and statistics, against sums over all vectors; `emotui agreement`."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from emotui.commands import cli
from emotui.errors import BadInput
from emotui.metrics.agreement import agreement_report, fleiss_kappa, vectors_agreement_report
from emotui.metrics.expected import OBJECTIVES, decode_for, decode_marginals
from emotui.metrics.ising import Ising
from emotui.metrics.scenes import conditional, vector_statistics
from tests.screens.scenes_workspace import log_odds, scenarios

LABELS = ("joy", "fear", "anger")
GOLD = scenarios(40)
NAMES = list(GOLD[0].labels)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Gold vectors to fit a prior on, and logits with gold beside them."""
    train, scores = tmp_path / "train.jsonl", tmp_path / "scores.jsonl"
    train.write_text("".join(json.dumps({"id": one.id, "labels": dict(one.labels)}) + "\n" for one in GOLD[:20]))
    logits = log_odds(GOLD).tolist()
    with scores.open("w") as file:
        for one, row in zip(GOLD, logits, strict=True):
            pairs = {name: [value, 0.0] for name, value in zip(NAMES, row, strict=True)}
            file.write(json.dumps({"id": one.id, "labels": dict(one.labels), "scores": pairs}) + "\n")
    return str(train), str(scores)


def decode(*arguments: str) -> Any:
    done = CliRunner().invoke(cli, ["decode", *arguments, "--json"])
    if isinstance(done.exception, BadInput):
        raise done.exception
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def plain(odds: "list[float]", prior: Ising, alpha: float) -> "dict[tuple[int, ...], float]":
    """P(E | x) of every vector, by the sum over all of them."""
    weights = {}
    for bits in itertools.product((0, 1), repeat=len(odds)):
        e = np.array(bits)
        energy = prior.theta @ e + e @ prior.pairs @ e
        weights[bits] = math.exp(sum(d * b for d, b in zip(odds, bits, strict=True)) + alpha * energy)
    total = sum(weights.values())
    return {bits: weight / total for bits, weight in weights.items()}


def marginals(chances: "dict[tuple[int, ...], float]") -> "list[float]":
    return [sum(p for bits, p in chances.items() if bits[at]) for at in range(len(next(iter(chances))))]


@pytest.mark.parametrize("seed", range(4))
def test_each_objective_gives_the_set_of_vectors_that_is_best_for_it_in_expectation(seed: int) -> None:
    draw = np.random.default_rng(seed)
    prior = Ising(draw.normal(size=2), np.triu(draw.normal(size=(2, 2)), 1))
    odds = draw.normal(0, 1.5, (4, 2))
    chances = [plain(row.tolist(), prior, 0.7) for row in odds]
    likely = [max(one, key=one.__getitem__) for one in chances]
    assert decode_for(odds, prior, [0.7])[0].tolist() == [list(bits) for bits in likely]

    held = [marginals(one) for one in chances]
    losses = [
        {bits: sum(1 - p if b else p for p, b in zip(q, bits, strict=True)) for bits in one}
        for q, one in zip(held, chances, strict=True)
    ]
    least = [min(one, key=one.__getitem__) for one in losses]
    assert decode_for(odds, prior, [0.7], "hamming")[0].tolist() == [list(bits) for bits in least]

    got = decode_for(odds, prior, [0.7], "macro-f1")[0]
    best = max(_expected_macro_f1(held, choice) for choice in itertools.product((0, 1), repeat=8))
    assert _expected_macro_f1(held, tuple(got.ravel().tolist())) == pytest.approx(best)


def _expected_macro_f1(held: "list[list[float]]", choice: "tuple[int, ...]") -> float:
    """The expectation over all gold vectors of each label; records are independent of each other."""
    n, k = len(held), len(held[0])
    total = 0.0
    for label in range(k):
        q, said = [row[label] for row in held], choice[label::k]
        for gold in itertools.product((0, 1), repeat=n):
            chance = math.prod(p if g else 1 - p for p, g in zip(q, gold, strict=True))
            hits, size = sum(g * s for g, s in zip(gold, said, strict=True)), sum(gold) + sum(said)
            total += chance * (2 * hits / size if size else 0.0) / k
    return total


def test_the_most_probable_vector_does_not_follow_from_marginals() -> None:
    with pytest.raises(ValueError, match="marginals"):
        decode_marginals([[0.5]], "map")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_command_decodes_for_the_objective_and_says_so(files: tuple[str, str], objective: str) -> None:
    train, scores = files
    document = decode("--train", train, "--scores", scores, "--alpha", "0.5", "--objective", objective, "--output",
                      "marginals")  # fmt: skip
    assert document["objective"] == objective
    (result,) = document["results"]
    prior = Ising(np.array(document["theta"]), np.array(document["theta_pairs"]))
    odds = log_odds(GOLD)
    assert list(result["predictions"].values()) == decode_for(odds, prior, [0.5], objective)[0].tolist()  # type: ignore[arg-type]
    assert next(iter(result["marginals"].values())) == pytest.approx(marginals(plain(odds[0].tolist(), prior, 0.5)))


def test_a_temperature_divides_the_log_odds(files: tuple[str, str]) -> None:
    train, scores = files
    twice = decode("--train", train, "--scores", scores, "--alpha", "0.5", "--temperature", "2")
    once = decode("--train", train, "--scores", scores, "--alpha", "1")
    assert twice["temperature"] == 2
    assert twice["results"][0]["predictions"] == once["results"][0]["predictions"]  # T d + a E has T's best vector
    fitted = decode("--train", train, "--scores", scores, "--temperature", "fit")
    assert 0.02 <= fitted["temperature"] <= 50
    assert "folds" in fitted["notes"]["temperature"]


def test_couplings_only_has_no_biases(files: tuple[str, str]) -> None:
    train, scores = files
    base = ("--train", train, "--scores", scores, "--alpha", "1")
    plainly, only = decode(*base), decode(*base, "--couplings-only")
    assert only["theta"] == [0.0] * 8
    assert only["theta_pairs"] == plainly["theta_pairs"]
    assert (plainly["couplings_only"], only["couplings_only"]) == (False, True)


def test_exact_takes_a_smoothing_only_where_one_is_given(files: tuple[str, str]) -> None:
    train, scores = files
    base = ("--train", train, "--scores", scores, "--prior", "exact", "--alpha", "1")
    as_it_is, smoothed = decode(*base), decode(*base, "--smoothing", "3")
    assert (as_it_is["prior"], as_it_is["smoothing"]) == ("exact", None)
    assert (smoothed["prior"], smoothed["smoothing"]) == ("exact-smoothed", 3)
    assert smoothed["theta"] != as_it_is["theta"]
    assert decode(*base, "--smoothing", "0")["theta"] == as_it_is["theta"]


def test_folds_choose_without_the_record_and_are_told(files: tuple[str, str]) -> None:
    _, scores = files
    document = decode("--scores", scores, "--folds", "4", "--objective", "macro-f1")
    assert set(document["folds"]) == {one.id for one in GOLD}
    assert sorted(set(document["folds"].values())) == [0, 1, 2, 3]
    assert [one["n"] for one in document["by_fold"]] == [10] * 4
    assert {one["scaling"] for one in document["by_fold"]} <= {1.0, "fitted"}
    assert document["nested"]["macro_f1"] <= document["in_sample"]["macro_f1"]
    assert set(document["nested"]["predictions"]) == set(document["folds"])
    of_chosen = next(one for one in document["results"] if one["alpha"] == document["chosen"]["alpha"])
    assert 0 <= of_chosen["macro_f1"] <= 1


def test_what_is_given_is_settled_inside_folds_and_hamming_is_chosen_by_hamming(files: tuple[str, str]) -> None:
    _, scores = files
    document = decode("--scores", scores, "--folds", "2", "--prior", "exact", "--couplings-only", "--temperature", "2",
                      "--alpha", "0.5", "--objective", "hamming")  # fmt: skip
    (choice,) = {(one["prior"], one["scaling"], one["alpha"]) for one in document["by_fold"]}
    assert choice == ("exact-couplings", 2.0, 0.5)
    assert document["target"] == "hamming_loss"
    assert 0 <= document["chosen"]["hamming_loss"] <= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--folds", "3", "--output", "statistics"), "--output statistics makes no sense with --folds"),
        ((), "needs --train"),
    ],
)
def test_what_makes_no_sense_together_is_refused_in_one_line(
    files: tuple[str, str], arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(BadInput, match=said) as refused:
        decode("--scores", files[1], *arguments)
    assert len(refused.value.problems) == 1


def test_marginals_are_for_json_alone(files: tuple[str, str]) -> None:
    line = ["decode", "--train", files[0], "--scores", files[1], "--output", "marginals"]
    assert "--json" in str(CliRunner().invoke(cli, line).exception)


def test_a_temperature_cannot_be_fitted_and_folds_cannot_choose_without_gold(
    files: tuple[str, str], tmp_path: Path
) -> None:
    bare = tmp_path / "bare.jsonl"
    rows = [json.loads(line) for line in Path(files[1]).read_text().splitlines()]
    bare.write_text("".join(json.dumps({"id": row["id"], "scores": row["scores"]}) + "\n" for row in rows))
    with pytest.raises(BadInput, match="there are none"):
        decode("--train", files[0], "--scores", str(bare), "--temperature", "fit")
    with pytest.raises(BadInput, match="there are none"):
        decode("--scores", str(bare), "--folds", "3")
    found = decode("--scores", str(bare), "--folds", "3", "--train", files[0])
    assert (found["n"], found["unlabelled"]) == (20, 20)
    assert set(found["folds"]) == {one.id for one in GOLD[:20]}


def test_statistics_are_those_of_the_papers_table() -> None:
    vectors = [[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 0]]
    found = vector_statistics(vectors, LABELS)
    assert (found["n"], found["cardinality"], found["multi_label_share"], found["single_label"]) == (4, 1.25, 0.5, 1)
    assert found["counts"] == {"joy": 3, "fear": 2, "anger": 0}
    assert found["together"]["joy"]["fear"] == 2
    assert found["given"]["joy"] == {"joy": 1, "fear": pytest.approx(2 / 3), "anger": 0}
    assert found["given"]["fear"]["joy"] == 1
    assert found["given"]["anger"] == dict.fromkeys(LABELS)
    assert found["notes"] == {"given.anger": "anger is never there"}
    assert np.isnan(conditional(vectors)[2]).all()
    assert vector_statistics([], LABELS)["cardinality"] is None


def test_statistics_are_of_the_training_vectors(files: tuple[str, str]) -> None:
    document = decode("--train", files[0], "--scores", files[1], "--output", "statistics", "--output", "marginals")
    assert document["statistics"]["n"] == 20
    assert "marginals" in document["results"][0]
    assert "statistics" not in decode("--train", files[0], "--scores", files[1])


def test_a_table_fits_into_80_columns(files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    for line in (["--train", "train.jsonl", "--output", "statistics"], ["--folds", "3"]):
        done = CliRunner().invoke(cli, ["decode", "--scores", "scores.jsonl", *line])
        assert done.exit_code == 0, done.output
        assert "…" not in done.output
        assert max(map(len, done.output.splitlines())) <= 80


RATINGS = [
    ("i1", "A", "x"), ("i1", "B", "x"), ("i2", "A", "x"), ("i2", "B", "y"), ("i3", "A", "z"), ("i3", "B", "z"),
    ("i4", "A", "y"), ("i4", "B", "y"),
]  # fmt: skip


def test_agreement_on_a_label_is_that_label_against_all_others() -> None:
    report = agreement_report(RATINGS)
    for label in "xyz":
        two = agreement_report((item, rater, str(said == label)) for item, rater, said in RATINGS)
        found = report["by_label"][label]
        assert found["fleiss_kappa"] == pytest.approx(two["fleiss_kappa"])
        assert found["krippendorff_alpha"] == pytest.approx(two["krippendorff_alpha"])
    assert {label: one["ratings"] for label, one in report["by_label"].items()} == {"x": 3, "y": 3, "z": 2}
    unequal = agreement_report(RATINGS[:-1])["by_label"]["x"]
    assert unequal["fleiss_kappa"] is None
    assert unequal["krippendorff_alpha"] is not None


def test_agreement_on_vectors_is_over_every_label_of_every_item_and_by_label() -> None:
    said = {
        "a": {"A1": {"joy": 1, "fear": 0}, "A2": {"joy": 1, "fear": 1}},
        "b": {"A1": {"joy": 0, "fear": 0}, "A2": {"joy": 0, "fear": 0}},
        "c": {"A1": {"joy": 1, "fear": 1}, "A2": {"joy": 0, "fear": 1}},
    }
    report = vectors_agreement_report(said)
    counts = [[0, 2], [1, 1], [2, 0], [2, 0], [1, 1], [0, 2]]
    assert report["fleiss_kappa"] == pytest.approx(fleiss_kappa(counts))
    assert report["by_label"]["joy"]["fleiss_kappa"] == pytest.approx(fleiss_kappa([[0, 2], [2, 0], [1, 1]]))
    assert (report["items"], report["questions"], report["raters"]) == (3, 6, 2)
    (pair,) = report["pairwise_cohen_kappa"]
    assert (pair["a"], pair["b"], pair["n"]) == ("A1", "A2", 6)


def test_agreement_takes_ratings_or_records_and_one_of_them(tmp_path: Path) -> None:
    file = str(tmp_path / "scenes.jsonl")
    Path(file).write_text(
        '{"id": "a", "labels": {"joy": 1}, "annotators": {"A1": {"joy": 1}, "A2": {"joy": 0}}}\n'
        '{"id": "b", "labels": {"joy": 0}, "annotators": {"A1": {"joy": 0}, "A2": {"joy": 0}}}\n'
    )
    done = CliRunner().invoke(cli, ["agreement", "--records", file, "--json"])
    assert list(json.loads(done.output)["by_label"]) == ["joy"]
    assert "A1 and A2" in CliRunner().invoke(cli, ["agreement", "--records", file]).output
    for line in ([], ["--records", file, "--ratings", file]):
        assert "one of them" in str(CliRunner().invoke(cli, ["agreement", *line]).exception)
    Path(file).write_text('{"id": "a", "labels": {"joy": 1}}\n')
    assert "no record has annotators" in str(CliRunner().invoke(cli, ["agreement", "--records", file]).exception)


@pytest.mark.parametrize("folds", [(), ("--folds", "4")])
def test_of_hard_answers_the_rates_and_what_they_rest_on_are_printed(tmp_path: Path, folds: tuple[str, ...]) -> None:
    train, said = tmp_path / "train.jsonl", tmp_path / "said.jsonl"
    train.write_text("".join(json.dumps({"id": one.id, "labels": dict(one.labels)}) + "\n" for one in GOLD))
    rows = [
        {"id": one.id, "labels": dict(zip(NAMES, map(int, row), strict=True)), "hard": True}
        for one, row in zip(GOLD, log_odds(GOLD) > 0, strict=True)
    ]
    said.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["--train", str(train), "--scores", str(said), "--alpha", "0,1", *folds]
    done = CliRunner().invoke(cli, ["decode", *arguments])
    assert done.exit_code == 0, done.output
    document = decode(*arguments)
    rates = document["reliability"]["fear"]
    line = next(line for line in done.output.splitlines() if line.startswith("fear") and line.count(".") == 2)
    assert line.split() == ["fear", f"{rates['sensitivity']:.3f}", f"{rates['specificity']:.3f}"]
    rests = "those of the other folds" if folds else "those that the figures are of; folds are the honest way"
    assert rests in " ".join(done.output.split())
    assert document["notes"]["reliability"].endswith(rests)
    # At alpha 0 stands what the model said.
    alone = [list(row["labels"].values()) for row in rows]
    assert list(document["results"][0]["predictions"].values()) == alone

    for row in rows:
        del row["hard"]
    said.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(BadInput, match=f'said.jsonl:1: {GOLD[0].id}: labels without scores: "hard": true beside them'):
        decode(*arguments)
