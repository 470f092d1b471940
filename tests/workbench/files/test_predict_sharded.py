"""`predict --shard I/N`: the parts after each other are the whole, byte for byte, however many parts there are."""

import json
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emotui.records import SpanPrediction
from emotui.workbench.files.predict import BATCH
from emotui.workbench.files.texts import Answered, Answers, Texts
from emotui.workbench.shards.shard import Shard
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

WORDS = ("sad", "glad", "afraid", "angry", "proud", "sorry", "calm", "lost")


def written(folder: Path, n: int) -> Path:
    path = folder / "texts.jsonl"
    records = [{"id": f"t{k}", "text": f"I was {WORDS[k % 8]} {'so ' * (k % 17)}today ({k})."} for k in range(n)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@given(st.integers(0, 3000), st.integers(1, 400), st.integers(1, 100))
@example(10, 11, 1)
@example(128, 2, 64)
@example(129, 3, 64)
@example(128, 3, 64)
def test_parts_are_all_texts_once_in_order_and_cut_no_group(n: int, parts: int, together: int) -> None:
    places = [Shard(number, parts).places(n, together) for number in range(1, parts + 1)]
    assert [place for part in places for place in part] == list(range(n))
    groups = -(-n // together)
    if groups >= parts:
        assert all(part.start % together == 0 for part in places)
        sizes = [-(-len(part) // together) for part in places]
    else:
        sizes = [len(part) for part in places]
    assert max(sizes) - min(sizes) <= 1
    assert all(one.stop == following.start for one, following in pairwise(places))


def test_a_part_of_the_texts_keeps_their_lines_and_its_bad_lines_are_those_of_the_whole(tmp_path: Path) -> None:
    path = written(tmp_path, 9)
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:2], "{\n", *lines[2:], lines[0]]), encoding="utf-8")
    with closing(Texts(str(path), skip_bad=True)) as whole:
        every = list(whole)
        assert [line for line, _ in every] == [1, 2, 4, 5, 6, 7, 8, 9, 10]
        for parts in (1, 2, 4, 9, 10, 25):
            found: list[object] = []
            for number in range(1, parts + 1):
                with closing(Texts(str(path), skip_bad=True, part=Shard(number, parts).places)) as texts:
                    assert texts.fingerprint == whole.fingerprint
                    assert len(texts.skipped) == 2
                    part = list(texts)
                    assert part == list(texts)
                    assert texts.n == len(part)
                    found += part
            assert found == every


@pytest.mark.parametrize(("kind", "n", "parts"), [("class", 2 * BATCH + 9, 3), ("spans", 2 * BATCH + 9, 2)])
def test_the_parts_of_the_embedded_model_are_the_whole_to_the_last_digit(
    emotui: Emotui, tmp_path: Path, kind: str, n: int, parts: int
) -> None:
    texts = written(tmp_path, n)
    whole = emotui("predict", kind, "--records", texts)
    assert whole.status == 0
    found = [emotui("predict", kind, "--records", texts, "--shard", f"{i}/{parts}").out for i in range(1, parts + 1)]
    assert all(found)
    assert "".join(found) == whole.out


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 8, 11])
def test_also_of_more_parts_than_texts(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    install_kind(monkeypatch, "killing", "tests.backends.killing_backend:load")
    asked = partial(emotui, "predict", "spans", "--model", "killing:", "--records", written(tmp_path, 7), "--to")
    assert asked("whole.jsonl").status == 0
    for number in range(1, parts + 1):
        done = asked(f"part-{number:02}.jsonl", "--shard", f"{number}/{parts}")
        assert (done.status, done.err) == (0, "")
    together = b"".join(path.read_bytes() for path in sorted(tmp_path.glob("part-*.jsonl")))
    assert together == (tmp_path / "whole.jsonl").read_bytes()


def test_a_document_says_which_part_it_is(emotui: Emotui, tmp_path: Path) -> None:
    texts = written(tmp_path, 5)
    part = emotui("predict", "class", "--records", texts, "--shard", "2/2", "--json").document
    assert (part["shard"], part["n"], [one["id"] for one in part["records"]]) == ("2/2", 3, ["t2", "t3", "t4"])
    assert "shard" not in emotui("predict", "class", "--records", texts, "--json").document


def test_answers_of_another_part_are_not_gone_on_with(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = []
    keep = Answers.keep

    def kept(self: Answers[SpanPrediction], answered: Sequence[Answered[SpanPrediction]]) -> None:
        keep(self, answered)
        heads.append(Path("out.jsonl.part").read_bytes())

    install_kind(monkeypatch, "killing", "tests.backends.killing_backend:load")
    monkeypatch.setattr(Answers, "keep", kept)
    texts = written(tmp_path, 6)
    asked = ("predict", "spans", "--model", "killing:", "--records", texts, "--to", "out.jsonl", "--force", "--shard")
    assert emotui(*asked, "1/2").status == 0
    (tmp_path / "out.jsonl.part").write_bytes(heads[-1])
    refused = emotui(*asked, "2/2")
    assert refused.status == 2
    assert "out.jsonl.part: holds answers to something else" in refused.err
    again = emotui(*asked, "1/2")
    assert (again.status, again.err) == (0, "3 of 3 were answered before: going on\n")


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1/0", "1", "1/3/4", "-1/3", "a/b", "1.0/2"])
def test_a_part_that_is_none_is_refused_in_a_line(emotui: Emotui, tmp_path: Path, shard: str) -> None:
    refused = emotui("predict", "class", "--records", written(tmp_path, 3), "--shard", shard)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == f"--shard is i/n with i from 1 to n, such as 2/8, and not {shard!r}\n"
