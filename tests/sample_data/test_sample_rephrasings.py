"""The sample rephrasings keep the promises of sample_data/README_rephrasings.md, and their verdicts are the model's."""

import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

from emotui.backends.base import Classify
from emotui.backends.host import ModelProcess
from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK, plutchik_of
from emotui.records import PLUTCHIK

ATTEMPTS = 4


def lines(name: str) -> list[dict[str, Any]]:
    text = files("emotui.sample_data").joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def chains() -> list[dict[str, Any]]:
    return lines("rephrasings.jsonl")


def right(chain: dict[str, Any]) -> bool:
    return bool(chain["predicted"] == chain["label"])


def succeeded(chain: dict[str, Any]) -> bool:
    return any(attempt["predicted"] != chain["label"] for attempt in chain["attempts"])


def test_there_are_at_least_60_originals_over_at_least_12_emotions_and_all_of_plutchiks(
    chains: list[dict[str, Any]],
) -> None:
    assert len(chains) >= 60
    labels = Counter(chain["label"] for chain in chains)
    assert set(labels) <= {*GOEMOTIONS_TO_PLUTCHIK, "neutral"}
    assert len(labels) >= 12
    assert {plutchik_of(label) for label in labels} >= set(PLUTCHIK)


def test_chains_of_every_length_are_there_and_end_at_their_first_success(chains: list[dict[str, Any]]) -> None:
    lengths = Counter(len(chain["attempts"]) for chain in chains if succeeded(chain))
    assert set(lengths) == {1, 2, 3, 4}
    for chain in chains:
        said = [attempt["predicted"] != chain["label"] for attempt in chain["attempts"]]
        assert not any(said[:-1]), chain["id"]
        assert len(said) <= ATTEMPTS, chain["id"]


def test_some_failed_and_some_were_skipped_and_none_is_left_open(chains: list[dict[str, Any]]) -> None:
    failed = [c for c in chains if right(c) and len(c["attempts"]) == ATTEMPTS and not succeeded(c)]
    skipped = [c for c in chains if c.get("skipped")]
    assert len(failed) >= 5
    assert len(skipped) >= 3
    closed = len(failed) + len(skipped) + sum(map(succeeded, chains))
    assert closed == sum(map(right, chains))


def test_an_original_that_the_model_gets_wrong_has_no_attempts(chains: list[dict[str, Any]]) -> None:
    wrong = [chain for chain in chains if not right(chain)]
    assert len(wrong) >= 5
    assert all(chain["attempts"] == [] and not chain.get("skipped") for chain in wrong)


def test_no_text_comes_twice(chains: list[dict[str, Any]]) -> None:
    texts = [chain["text"] for chain in chains] + [a["text"] for chain in chains for a in chain["attempts"]]
    assert [text for text, n in Counter(map(str.casefold, texts)).items() if n > 1] == []


def test_the_verdicts_are_what_the_embedded_model_says(chains: list[dict[str, Any]]) -> None:
    asked = [(chain, chain["text"], chain["predicted"], None) for chain in chains]
    asked += [(c, a["text"], a["predicted"], a["confidence"]) for c in chains for a in c["attempts"]]
    with ModelProcess("embedded") as model:
        said = model.ask([Classify(text, "goemotions") for _, text, _, _ in asked])
    for (chain, text, predicted, confidence), one in zip(asked, said, strict=True):
        assert one.label == predicted, text
        if confidence is not None:
            assert one.probs[chain["label"]] == pytest.approx(confidence, abs=0.002), text


def test_there_is_one_variant_for_each_original_that_the_model_gets_right(chains: list[dict[str, Any]]) -> None:
    variants = {record["id"]: record for record in lines("rephrasings_variants.jsonl")}
    assert list(variants) == [chain["id"] for chain in chains if right(chain)]
    assert not any("!" in record["text"] or not record["text"].strip() for record in variants.values())


def test_the_page_says_what_is_in_the_file(chains: list[dict[str, Any]]) -> None:
    page = files("emotui.sample_data").joinpath("README_rephrasings.md").read_text(encoding="utf-8")
    good = [chain for chain in chains if right(chain)]
    counts = Counter(len(chain["attempts"]) for chain in good if succeeded(chain))
    failed = sum(len(c["attempts"]) == ATTEMPTS and not succeeded(c) for c in good)
    assert f"{len(chains)} short texts" in page
    assert f"{len({chain['label'] for chain in chains})} of its 28" in page
    assert re.search(rf"right \(T_correct\) \| {len(good)} \|", page)
    assert f"| {', '.join(str(counts[k]) for k in range(1, 5))} |" in page
    assert re.search(rf"failed \(four attempts\) \| {failed} \|", page)
    assert re.search(rf"skipped [^|]*\| {sum(c.get('skipped', False) for c in chains)} \|", page)
    assert re.search(rf"without attempts \| {len(chains) - len(good)} \|", page)
