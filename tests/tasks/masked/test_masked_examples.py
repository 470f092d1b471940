"""Examples of few-shot prompts: as many masks, never the target's own post, drawn by its id, nearest by brute force."""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.base import Generate, Generation, ModelCard, Request
from emotui.errors import BadInput
from emotui.records import MaskedGold
from emotui.store.rows import ResultRow
from emotui.tasks.masked.examples import example_file, loaded, nearest_examples, post_of, random_examples
from emotui.tasks.masked.task import Masked, Prediction
from tests.conftest import Emotui

WRITER = ModelCard("some:model", "some", ("generate",), {})


def sample(key: str, masks: int = 1, post: str | None = None) -> MaskedGold:
    meta = {} if post is None else {"post": post}
    return MaskedGold(id=key, text=f"{key} <mask>" * masks, labels=("sad",) * masks, meta=meta)


POOL = [sample(f"a{n}") for n in range(30)] + [sample(f"b{n}", 2) for n in range(3)]
POOL += [sample(f"p-{n}", post="p") for n in range(40)]


def test_drawn_examples_have_as_many_masks_and_are_of_other_posts() -> None:
    for target, found in zip(POOL, random_examples(POOL, POOL), strict=True):
        assert len(found.examples) == (2 if len(target.labels) == 2 else 4)
        by_id = {one.id: one for one in POOL}
        for one in found.examples:
            assert len(one.labels) == len(target.labels)
            assert post_of(by_id[one.id]) != post_of(target)
        assert len({one.id for one in found.examples}) == len(found.examples)


def test_what_is_drawn_for_a_target_depends_on_its_id_and_the_seed_alone() -> None:
    first = random_examples(POOL, POOL, 3)
    assert random_examples(POOL[::-1], POOL, 3)[::-1] == first
    assert random_examples(POOL, POOL, 4) != first


@given(st.integers(0, 10_000))
def test_nearest_examples_are_those_of_a_brute_force_search_by_euclidean_distance(seed: int) -> None:
    source = np.random.default_rng(seed)
    vectors = source.normal(size=(len(POOL), 5)).round(1) + 0.01
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = nearest_examples(POOL, POOL, vectors, vectors)
    for number in source.choice(len(POOL), 5, replace=False):
        target = POOL[number]
        usable = [
            (float(np.linalg.norm(vectors[number] - vectors[at])), at)
            for at, one in enumerate(POOL)
            if len(one.labels) == len(target.labels) and post_of(one) != post_of(target)
        ]
        wanted = [distance for distance, _ in sorted(usable)[:4]]
        assert [one.distance for one in found[number].examples] == pytest.approx(wanted, abs=1e-5)
        assert all(one.id != target.id for one in found[number].examples)


def saying(text: str, asked: list[Request]) -> object:
    def answer(requests: Sequence[Request]) -> list[object]:
        asked.extend(requests)
        return [Generation(text, 1, 1, "stop") for _ in requests]

    return answer


def written(path: Path, records: Sequence[MaskedGold]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in records))
    return path


def test_a_few_shot_prompt_shows_the_examples_with_the_nearest_next_to_the_text(tmp_path: Path) -> None:
    file = tmp_path / "e.jsonl"
    rows = [{"id": name, "text": f"{name} <mask>", "labels": [f"word {name}"]} for name in ("near", "far")]
    file.write_text(json.dumps({"id": "t", "examples": rows}) + "\n")
    options = {"examples": msgspec.to_builtins(example_file(str(file)))}
    asked: list[Request] = []
    task = Masked().with_options(options, 1)
    answers = task.ask([sample("t"), sample("u")], saying('["sad"]', asked), "few-shot-nearest", (0, 0))  # type: ignore[arg-type]
    (request,) = asked
    assert isinstance(request, Generate)
    assert request.temperature == 0
    shown = request.messages[-1].content
    assert shown.index('Text: far <mask>\nAnswer: ["word far"]') < shown.index("Text: near") < shown.index("t <mask>")
    assert [answer.why for answer in answers] == [None, "the file of examples has none for this text"]
    with pytest.raises(BadInput, match="shows examples"):
        Masked().settings("few-shot-random")
    before = task.settings("few-shot-nearest")
    file.write_text(file.read_text().replace("near", "dear"))
    loaded.cache_clear()
    with pytest.raises(BadInput, match="not those that the run began with"):
        task.ask([sample("t")], saying("[]", []), "few-shot-nearest", (0,))  # type: ignore[arg-type]
    other = Masked().with_options({"examples": msgspec.to_builtins(example_file(str(file)))}, 1)
    assert other.settings("few-shot-nearest") != before


def test_the_share_of_valid_answers_is_over_all_that_were_asked_for() -> None:
    said = [Prediction(("sad",), form="json", asked=1), Prediction(("sad",), form="lenient", asked=2)]
    said.append(Prediction((), form="unread", asked=1))
    rows = [ResultRow(n, 0, 0, None, "", None, 0.0, prediction=msgspec.json.encode(one)) for n, one in enumerate(said)]
    rows.append(ResultRow(9, 0, 0, None, None, "refused", 0.0))
    answers = Masked().diagnostics(rows)["answers"]
    assert answers == {"n": 3, "json": 1, "lenient": 1, "unread": 1, "valid": 1, "valid_rate": 0.25}


def test_a_file_of_nearest_examples_is_written_for_a_file_of_records_and_asked_with(
    emotui: Emotui, tmp_path: Path
) -> None:
    records, to = written(tmp_path / "r.jsonl", POOL[:6]), tmp_path / "e.jsonl"
    got = emotui("masked", "examples", "--records", records, "--to", to, "--json").document
    assert got == {"records": 6, "examples": 24, "choose": "nearest"}
    for line in to.read_text().splitlines():
        row = json.loads(line)
        distances = [one["distance"] for one in row["examples"]]
        assert distances == sorted(distances)
        assert row["id"] not in [one["id"] for one in row["examples"]]
    bad = tmp_path / "bad.jsonl"
    bad.write_text(to.read_text() + "{}\n")
    done = emotui("predict", "masked", "--records", records, "--way", "few-shot-nearest", "--examples", bad)
    assert done.status == 2
    assert done.err.startswith(f"{bad}:7: not a line that")
    few = emotui(
        "masked", "examples", "--records", records, "--choose", "random", "--shots", "9", "--to", to, "--force"
    )
    assert "6 records have fewer than 9 others with as many masks (a0, a1, a2)" in few.err
